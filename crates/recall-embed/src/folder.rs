//! A sentence transformer in a folder, in the layout of the Hugging Face hub: `config.json`, `tokenizer.json`, `model.safetensors`, and where
//! they are there `1_Pooling/config.json`, `sentence_bert_config.json` and `modules.json`.
//!
//! What the folder asks for and is not done here is refused: a vector that is computed in another way finds the wrong things and nobody sees it.

use std::collections::BTreeMap;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use blake3::Hasher;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

use crate::bert::Shapes;
use crate::weights::{WeightFile, Weights};

/// The most tokens of a text, unless the model says otherwise.
const USUAL_MAX_TOKENS: usize = 512;
/// The largest settings file that is read. The tokenizer of a model for a hundred languages has 17 MB.
const MAX_SETTINGS_BYTES: u64 = 64 << 20;
/// What makes the vectors, beside the weights. The last ones need not be there.
const SETTINGS: [&str; 4] = ["config.json", "tokenizer.json", "1_Pooling/config.json", "sentence_bert_config.json"];
/// Steps of a sentence transformer that are done here.
const MODULES: [&str; 3] = ["Transformer", "Pooling", "Normalize"];

/// Is a text what somebody asks, or what may answer? Some models want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A question.
    Query,
    /// What may answer one.
    Passage,
}

/// What families of models want before a text: part of the model's name, before a question, before a passage.
const PREFIXES: [(&str, &str, &str); 2] =
    [("e5", "query: ", "passage: "), ("bge", "Represent this sentence for searching relevant passages: ", "")];

/// `pooling_mode_cls_token: true` and the like, or, from newer versions of the library, `pooling_mode: "cls"`.
#[derive(Debug, Default, Deserialize)]
struct Pooling {
    #[serde(flatten)]
    settings: BTreeMap<String, Value>,
}

impl Pooling {
    /// Is the vector of a text that of its first token, and not the mean of all?
    ///
    /// # Errors
    /// When it is neither.
    fn first_token(&self) -> Result<bool> {
        let mode = |(key, value): (&String, &Value)| match value {
            Value::String(mode) if key == "pooling_mode" => vec![mode.clone()],
            Value::Array(modes) if key == "pooling_mode" => {
                modes.iter().map(|mode| mode.as_str().unwrap_or_default().to_owned()).collect()
            }
            Value::Bool(true) => key.strip_prefix("pooling_mode_").map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        };
        let modes: Vec<String> = self.settings.iter().flat_map(mode).collect();
        match modes.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cls" | "cls_token"] => Ok(true),
            [] | ["mean" | "mean_tokens"] => Ok(false),
            _ => bail!("1_Pooling/config.json: only one of the mean and the first token can be used, not {}", modes.join(" and ")),
        }
    }
}

/// A step of a sentence transformer, by the class that does it.
#[derive(Debug, Deserialize)]
struct Module {
    #[serde(rename = "type")]
    class: String,
}

/// What `config.json` says of the model's origin.
#[derive(Debug, Deserialize)]
struct Origin {
    #[serde(rename = "_name_or_path")]
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Limits {
    max_seq_length: Option<usize>,
}

/// What lies in the folder.
pub struct ModelFolder {
    /// The name of the folder.
    pub name: String,
    /// Which model it is, as 64 hex digits: the same wherever it lies, another after a change of what makes the vectors.
    pub hash: String,
    /// The shapes of its matrices.
    pub shapes: Shapes,
    /// The most tokens of a text; what comes after them is not read.
    pub max_tokens: usize,
    /// The vector of a text is that of its first token, not the mean of all.
    pub(crate) first_token: bool,
    /// What stands before a question and before a passage.
    prefixes: (&'static str, &'static str),
    tokenizer: Tokenizer,
    file: WeightFile,
}

impl ModelFolder {
    /// # Errors
    /// What is missing or cannot be used.
    pub fn open(folder: &Path) -> Result<Self> {
        let shapes: Shapes = settings(&folder.join("config.json"))?;
        shapes.check()?;
        let origin: Origin = settings(&folder.join("config.json"))?;
        check_modules(&optional::<Vec<Module>>(folder, "modules.json")?)?;
        let first_token = optional::<Pooling>(folder, "1_Pooling/config.json")?.first_token()?;
        let limits: Limits = optional(folder, "sentence_bert_config.json")?;
        let max_tokens = limits.max_seq_length.unwrap_or(USUAL_MAX_TOKENS).min(shapes.max_position_embeddings);
        let tokenizer = tokenizer(&folder.join("tokenizer.json"), max_tokens)?;
        let file = WeightFile::open(&folder.join("model.safetensors"))?;
        let whole = folder.canonicalize().ok();
        let name = folder.file_name().or_else(|| whole.as_ref()?.file_name()).map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let prefixes = prefixes(&name).or_else(|| prefixes(origin.name.as_deref()?)).unwrap_or_default();
        let hash = hash(folder, &file)?;
        Ok(Self { name, hash, shapes, max_tokens, first_token, prefixes, tokenizer, file })
    }

    /// # Errors
    /// When the weights are damaged.
    pub fn weights(&self) -> Result<Weights<'_>> {
        self.file.read()
    }

    pub(crate) fn tokens(&self, text: &str, role: Role) -> Result<Vec<u32>> {
        let prefix = if role == Role::Query { self.prefixes.0 } else { self.prefixes.1 };
        let tokens = self.tokenizer.encode_fast(format!("{prefix}{text}"), true).map_err(|e| anyhow!("tokenizer.json: {e}"))?;
        Ok(tokens.get_ids().to_vec())
    }
}

/// What the family of this model wants before a question and before a passage.
fn prefixes(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.to_ascii_lowercase();
    let family = PREFIXES.iter().find(|(family, ..)| name.split(['-', '_', '/']).any(|part| part == *family));
    family.map(|(_, query, passage)| (*query, *passage))
}

fn check_modules(modules: &[Module]) -> Result<()> {
    for module in modules {
        let class = module.class.rsplit('.').next().unwrap_or_default();
        ensure!(MODULES.contains(&class), "modules.json: `{class}` is not supported, only {}", MODULES.join(", "));
    }
    Ok(())
}

fn hash(folder: &Path, file: &WeightFile) -> Result<String> {
    let mut hasher = Hasher::new();
    for name in SETTINGS {
        let path = folder.join(name);
        let content = if path.exists() { bytes(&path)? } else { Vec::new() };
        hasher.update(&(content.len() as u64).to_le_bytes()).update(&content);
    }
    file.identify(&mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn settings<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&bytes(path)?).with_context(|| format!("cannot read {}", path.display()))
}

/// What a file says that need not be there.
fn optional<T: DeserializeOwned + Default>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    if path.exists() { settings(&path) } else { Ok(T::default()) }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let about = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
    // A pipe would never end.
    ensure!(about.is_file(), "{} is no file", path.display());
    let size = about.len();
    ensure!(size <= MAX_SETTINGS_BYTES, "{} is too large: {size} bytes", path.display());
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The tokenizer, without the padding that its file may ask for, and with the model's limit.
fn tokenizer(path: &Path, max_tokens: usize) -> Result<Tokenizer> {
    let content = bytes(path)?;
    // The library panics on some damaged files.
    let read = catch_unwind(|| Tokenizer::from_bytes(content));
    let read = read.map_err(|_| anyhow!("cannot read {}: it is damaged; fetch it again", path.display()))?;
    let mut all = read.map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
    all.with_padding(None);
    let around = all.get_post_processor().map_or(0, |after| after.added_tokens(false));
    ensure!(around > 0, "{} adds no tokens around a text, as BERT needs them", path.display());
    ensure!(
        max_tokens > around,
        "no room for a text in {max_tokens} tokens: see max_position_embeddings in config.json and max_seq_length in \
         sentence_bert_config.json"
    );
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    all.with_truncation(Some(truncation)).map_err(|e| anyhow!("{}: {e}", path.display()))?;
    Ok(all)
}
