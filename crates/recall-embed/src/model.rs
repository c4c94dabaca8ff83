//! A sentence transformer in a folder, in the layout of the Hugging Face hub: `config.json`, `tokenizer.json`, `model.safetensors`, and where
//! they are there `1_Pooling/config.json` and `sentence_bert_config.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::{Tokenizer, TruncationParams};

use crate::bert::{Bert, Shapes};
use crate::weights::{WeightFile, Weights};

/// The most tokens of a text, unless the model says otherwise.
const USUAL_MAX_TOKENS: usize = 512;
/// The largest settings file that is read. The tokenizer of a model for a hundred languages has 17 MB.
const MAX_SETTINGS_BYTES: u64 = 64 << 20;
/// How many tokens are computed at once on a core: more do not make it faster and take memory.
const BATCH_TOKENS: usize = 1024;

/// Is a text what somebody asks, or what may answer? Some models want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Query,
    Passage,
}

/// What families of models want before a text: part of the folder's name, before a question, before a passage.
const PREFIXES: [(&str, &str, &str); 2] =
    [("e5", "query: ", "passage: "), ("bge", "Represent this sentence for searching relevant passages: ", "")];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pooling {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Limits {
    max_seq_length: Option<usize>,
}

/// What lies in the folder.
pub struct ModelFolder {
    pub name: String,
    pub shapes: Shapes,
    pub max_tokens: usize,
    /// The vector of a text is that of its first token, not the mean of all.
    first_token: bool,
    tokenizer: Tokenizer,
    file: WeightFile,
}

impl ModelFolder {
    /// # Errors
    /// What is missing or cannot be used.
    pub fn open(folder: &Path) -> Result<Self> {
        let shapes: Shapes = settings(&folder.join("config.json"))?;
        shapes.check()?;
        let optional = |name: &str| folder.join(name).is_file().then(|| folder.join(name));
        let pooling: Pooling = optional("1_Pooling/config.json").map(|path| settings(&path)).transpose()?.unwrap_or_default();
        ensure!(
            !(pooling.pooling_mode_cls_token && pooling.pooling_mode_mean_tokens),
            "1_Pooling/config.json: only one of the mean and the first token can be used"
        );
        let limits: Limits = optional("sentence_bert_config.json").map(|path| settings(&path)).transpose()?.unwrap_or_default();
        let max_tokens = limits.max_seq_length.unwrap_or(USUAL_MAX_TOKENS).min(shapes.max_position_embeddings);
        let tokenizer = tokenizer(&folder.join("tokenizer.json"), max_tokens)?;
        let whole = folder.canonicalize().ok();
        let name = folder.file_name().or_else(|| whole.as_ref()?.file_name()).map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            name: name.unwrap_or_default(),
            shapes,
            max_tokens,
            first_token: pooling.pooling_mode_cls_token,
            tokenizer,
            file: WeightFile::open(&folder.join("model.safetensors"))?,
        })
    }

    /// # Errors
    /// When the weights are damaged.
    pub fn weights(&self) -> Result<Weights<'_>> {
        self.file.read()
    }

    /// What stands before a text in this role.
    fn prefix(&self, role: Role) -> &'static str {
        let name = self.name.to_ascii_lowercase();
        let family = PREFIXES.iter().find(|(family, ..)| name.split(['-', '_']).any(|part| part == *family));
        family.map_or("", |(_, query, passage)| if role == Role::Query { query } else { passage })
    }

    fn tokens(&self, text: &str, role: Role) -> Result<Vec<u32>> {
        let text = format!("{}{text}", self.prefix(role));
        let tokens = self.tokenizer.encode_fast(text, true).map_err(|e| anyhow!("tokenizer.json: {e}"))?;
        Ok(tokens.get_ids().to_vec())
    }
}

fn settings<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&bytes(path)?).with_context(|| format!("cannot read {}", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let size = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?.len();
    ensure!(size <= MAX_SETTINGS_BYTES, "{} is too large: {size} bytes", path.display());
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The tokenizer, without the padding that its file may ask for, and with the model's limit.
fn tokenizer(path: &Path, max_tokens: usize) -> Result<Tokenizer> {
    let mut all = Tokenizer::from_bytes(bytes(path)?).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
    all.with_padding(None);
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    all.with_truncation(Some(truncation)).map_err(|e| anyhow!("{}: {e}", path.display()))?;
    Ok(all)
}

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
    /// When a text cannot be read as tokens of the model.
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
        let vector = |range: &std::ops::Range<usize>| self.pooled(&rows, range.clone()).to_vec();
        Ok(batch.iter().copied().zip(ranges.iter().map(vector)).collect())
    }

    /// The vector of a text from those of its tokens.
    fn pooled(&self, rows: &Array2<f32>, range: std::ops::Range<usize>) -> Array1<f32> {
        let mut vector = match self.folder.first_token {
            true => rows.slice(s![range, ..]).index_axis(Axis(0), 0).to_owned(),
            false => rows.slice(s![range, ..]).mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(rows.ncols())),
        };
        let length = vector.fold(0.0, |sum, x| sum + x * x).sqrt();
        if length > 0.0 {
            vector /= length;
        }
        vector
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
