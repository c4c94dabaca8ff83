//! A model that is ready to run: texts in, vectors out.

use std::ops::Range;

use anyhow::{Result, ensure};
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;

use crate::bert::Bert;
pub use crate::folder::{ModelFolder, Role};
use crate::weights::Weights;

/// How many tokens are computed at once on a core: more do not make it faster and take memory.
const BATCH_TOKENS: usize = 1024;

/// A model that is ready to run.
pub struct Model<'m> {
    folder: &'m ModelFolder,
    bert: Bert<'m>,
}

impl<'m> Model<'m> {
    /// # Errors
    /// When the weights are not those that `config.json` describes.
    pub fn of(folder: &'m ModelFolder, weights: &Weights<'m>) -> Result<Self> {
        Ok(Self { folder, bert: Bert::of(weights, &folder.shapes)? })
    }

    /// A vector of length 1 for each text, in their order.
    ///
    /// # Errors
    /// When a text cannot be read as tokens of the model, or its weights give no vector.
    pub fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>> {
        let tokens: Vec<Vec<u32>> = texts.par_iter().map(|text| self.folder.tokens(text, role)).collect::<Result<_>>()?;
        let batches = batches(&tokens);
        let embedded: Vec<Vec<(usize, Vec<f32>)>> =
            batches.par_iter().map(|batch| self.batch(batch, &tokens)).collect::<Result<_>>()?;
        let mut all = vec![Vec::new(); texts.len()];
        embedded.into_iter().flatten().for_each(|(at, vector)| all[at] = vector);
        Ok(all)
    }

    fn batch(&self, batch: &[usize], tokens: &[Vec<u32>]) -> Result<Vec<(usize, Vec<f32>)>> {
        let texts: Vec<Vec<u32>> = batch.iter().map(|at| tokens[*at].clone()).collect();
        let (rows, ranges) = self.bert.encode(&texts)?;
        batch.iter().copied().zip(ranges).map(|(at, range)| Ok((at, self.pooled(&rows, range)?))).collect()
    }

    /// The vector of a text from those of its tokens.
    fn pooled(&self, rows: &Array2<f32>, range: Range<usize>) -> Result<Vec<f32>> {
        let mut vector = match self.folder.first_token {
            true => rows.slice(s![range, ..]).index_axis(Axis(0), 0).to_owned(),
            false => rows.slice(s![range, ..]).mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(rows.ncols())),
        };
        let length = vector.fold(0.0, |sum, x| sum + x * x).sqrt();
        ensure!(length.is_normal(), "the weights in model.safetensors give no vector: they are damaged; fetch the file again");
        vector /= length;
        Ok(vector.to_vec())
    }
}

/// Texts that are computed together, by their places: at most [`BATCH_TOKENS`] tokens, and texts of like length.
fn batches(tokens: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(tokens[*at].len()));
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for at in order {
        let length = tokens[at].len();
        match all.last_mut().filter(|_| length <= room) {
            Some(batch) => batch.push(at),
            None => {
                all.push(vec![at]);
                room = BATCH_TOKENS.max(length);
            }
        }
        room -= length;
    }
    all
}
