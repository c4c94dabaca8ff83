//! The encoder of BERT: tokens in, a vector for each token out.
//!
//! The texts of a batch lie one below the other in one matrix, without padding. All but the attention works on single tokens, so it is done for
//! the whole matrix at once; attention sees each text by itself.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix1, Ix2, s};
use serde::Deserialize;

use crate::weights::Weights;

/// The shapes of a model, as `config.json` has them.
#[derive(Debug, Clone, Deserialize)]
pub struct Shapes {
    pub model_type: String,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub max_position_embeddings: usize,
    #[serde(default = "usual_epsilon")]
    pub layer_norm_eps: f32,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default = "usual_positions")]
    position_embedding_type: String,
}

fn usual_epsilon() -> f32 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn usual_positions() -> String {
    "absolute".to_owned()
}

/// No model that is meant for a laptop is larger.
const MAX_LAYERS: usize = 48;

impl Shapes {
    /// # Errors
    /// When it is no model that can be run here.
    pub fn check(&self) -> Result<()> {
        ensure!(self.model_type == "bert", "config.json: `{}` is not supported, only `bert`", self.model_type);
        ensure!(self.hidden_act == "gelu", "config.json: the activation `{}` is not supported, only `gelu`", self.hidden_act);
        let positions = &self.position_embedding_type;
        ensure!(positions == "absolute", "config.json: positions of type `{positions}` are not supported, only `absolute`");
        let heads = self.num_attention_heads;
        ensure!(
            heads > 0 && self.hidden_size > 0 && self.hidden_size.is_multiple_of(heads),
            "config.json: {} dimensions for {heads} heads",
            self.hidden_size
        );
        ensure!((1..=MAX_LAYERS).contains(&self.num_hidden_layers), "config.json: {} layers", self.num_hidden_layers);
        ensure!(self.layer_norm_eps.is_finite() && self.layer_norm_eps >= 0.0, "config.json: layer_norm_eps");
        Ok(())
    }
}

type Matrix<'w> = CowArray<'w, f32, Ix2>;
type Vector<'w> = CowArray<'w, f32, Ix1>;

/// `y = x Wᵀ + b`.
struct Linear<'w> {
    weight: Matrix<'w>,
    bias: Vector<'w>,
}

impl<'w> Linear<'w> {
    fn of(weights: &Weights<'w>, name: &str, from: usize, to: usize) -> Result<Self> {
        Ok(Self {
            weight: weights.matrix(&format!("{name}.weight"), (to, from))?,
            bias: weights.vector(&format!("{name}.bias"), to)?,
        })
    }

    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut y = x.dot(&self.weight.t());
        y += &self.bias;
        y
    }
}

/// Makes mean and variance of each row those that the model learned.
struct LayerNorm<'w> {
    weight: Vector<'w>,
    bias: Vector<'w>,
    epsilon: f32,
}

impl<'w> LayerNorm<'w> {
    fn of(weights: &Weights<'w>, name: &str, shapes: &Shapes) -> Result<Self> {
        let vector = |part: &str| weights.vector(&format!("{name}.{part}"), shapes.hidden_size);
        Ok(Self { weight: vector("weight")?, bias: vector("bias")?, epsilon: shapes.layer_norm_eps })
    }

    fn apply(&self, x: &mut Array2<f32>) {
        let width = x.ncols() as f32;
        for mut row in x.rows_mut() {
            let mean = row.sum() / width;
            row -= mean;
            let variance = row.fold(0.0, |sum, x| sum + x * x) / width;
            row /= (variance + self.epsilon).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

struct Layer<'w> {
    query: Linear<'w>,
    key: Linear<'w>,
    value: Linear<'w>,
    attention: Linear<'w>,
    after_attention: LayerNorm<'w>,
    inner: Linear<'w>,
    outer: Linear<'w>,
    after_outer: LayerNorm<'w>,
}

impl<'w> Layer<'w> {
    fn of(weights: &Weights<'w>, number: usize, shapes: &Shapes) -> Result<Self> {
        let (width, inner) = (shapes.hidden_size, shapes.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let linear = |part: &str, from, to| Linear::of(weights, &name(part), from, to);
        Ok(Self {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            attention: linear("attention.output.dense", width, width)?,
            after_attention: LayerNorm::of(weights, &name("attention.output.LayerNorm"), shapes)?,
            inner: linear("intermediate.dense", width, inner)?,
            outer: linear("output.dense", inner, width)?,
            after_outer: LayerNorm::of(weights, &name("output.LayerNorm"), shapes)?,
        })
    }

    /// `texts`: the rows of each text.
    fn apply(&self, mut x: Array2<f32>, texts: &[Range<usize>], heads: usize) -> Array2<f32> {
        let (query, key, value) = (self.query.apply(&x), self.key.apply(&x), self.value.apply(&x));
        let mut attended = Array2::zeros(x.raw_dim());
        let width = x.ncols() / heads;
        for rows in texts {
            for head in 0..heads {
                let part = s![rows.clone(), head * width..(head + 1) * width];
                attend(query.slice(part), key.slice(part), value.slice(part), attended.slice_mut(part));
            }
        }
        x += &self.attention.apply(&attended);
        self.after_attention.apply(&mut x);
        let mut inner = self.inner.apply(&x);
        inner.mapv_inplace(gelu);
        x += &self.outer.apply(&inner);
        self.after_outer.apply(&mut x);
        x
    }
}

/// What each token of a text takes from the others, for one head.
fn attend(query: ArrayView2<'_, f32>, key: ArrayView2<'_, f32>, value: ArrayView2<'_, f32>, mut to: ArrayViewMut2<'_, f32>) {
    let mut scores = query.dot(&key.t());
    scores /= (query.ncols() as f32).sqrt();
    for mut row in scores.rows_mut() {
        let most = row.fold(f32::NEG_INFINITY, |most, x| most.max(*x));
        row.mapv_inplace(|x| (x - most).exp());
        let sum = row.sum();
        row /= sum;
    }
    to.assign(&scores.dot(&value));
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function as a quotient of two polynomials, within 1e-6. Without branches, so that the compiler computes several at once.
fn erf(x: f32) -> f32 {
    const ABOVE: [f32; 7] =
        [-2.726_142_3e-10, 2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_6e-3, -1.609_603_3e-2];
    const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let value = |all: &[f32]| all.iter().fold(0.0, |sum, one| sum * square + one);
    x * value(&ABOVE) / value(&BELOW)
}

/// The encoder, with its weights where they lie in the file.
pub struct Bert<'w> {
    words: Matrix<'w>,
    positions: Matrix<'w>,
    /// The embedding of the first of two texts: there is only one here.
    kind: Vector<'w>,
    norm: LayerNorm<'w>,
    layers: Vec<Layer<'w>>,
    heads: usize,
}

impl<'w> Bert<'w> {
    /// # Errors
    /// When the weights are not those of such a model.
    pub fn of(weights: &Weights<'w>, shapes: &Shapes) -> Result<Self> {
        let width = shapes.hidden_size;
        let kinds = weights.matrix("embeddings.token_type_embeddings.weight", (2, width));
        let kinds = kinds.or_else(|_| weights.matrix("embeddings.token_type_embeddings.weight", (1, width)))?;
        Ok(Self {
            words: weights.matrix("embeddings.word_embeddings.weight", (shapes.vocab_size, width))?,
            positions: weights.matrix("embeddings.position_embeddings.weight", (shapes.max_position_embeddings, width))?,
            kind: kinds.index_axis(Axis(0), 0).to_owned().into(),
            norm: LayerNorm::of(weights, "embeddings.LayerNorm", shapes)?,
            layers: (0..shapes.num_hidden_layers).map(|number| Layer::of(weights, number, shapes)).collect::<Result<_>>()?,
            heads: shapes.num_attention_heads,
        })
    }

    /// A row for each token of all texts, and which rows are whose.
    ///
    /// # Errors
    /// When a token is none of the model's, or a text has no tokens or too many.
    pub fn encode(&self, texts: &[Vec<u32>]) -> Result<(Array2<f32>, Vec<Range<usize>>)> {
        let rows: usize = texts.iter().map(Vec::len).sum();
        let mut x = Array2::zeros((rows, self.words.ncols()));
        let mut ranges = Vec::with_capacity(texts.len());
        let mut row = 0;
        for tokens in texts {
            let most = self.positions.nrows();
            ensure!((1..=most).contains(&tokens.len()), "a text has {} tokens; the model reads 1 to {most}", tokens.len());
            for (position, token) in tokens.iter().enumerate() {
                let word = usize::try_from(*token).ok().filter(|token| *token < self.words.nrows());
                let word =
                    word.with_context(|| format!("tokenizer.json has token {token}, which model.safetensors does not know"))?;
                let mut at = x.row_mut(row);
                at += &self.words.row(word);
                at += &self.positions.row(position);
                at += &self.kind;
                row += 1;
            }
            ranges.push(row - tokens.len()..row);
        }
        self.norm.apply(&mut x);
        for layer in &self.layers {
            x = layer.apply(x, &ranges, self.heads);
        }
        Ok((x, ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the series of its definition.
    fn exact_erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn the_error_function_is_within_a_millionth() {
        for step in -400..=400 {
            let x = f64::from(step) / 100.0;
            assert!((f64::from(erf(x as f32)) - exact_erf(x)).abs() < 1e-6, "{x}: {} {}", erf(x as f32), exact_erf(x));
        }
        assert!((erf(40.0) - 1.0).abs() < 1e-6 && (erf(-40.0) + 1.0).abs() < 1e-6);
    }
}
