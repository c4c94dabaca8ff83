//! Text without meaning: cleaning, escaping, tokens, how much room it takes. Imports nothing of recall.

pub(crate) mod blocks;
pub(crate) mod budget;
pub(crate) mod clean;
pub(crate) mod disarm;
pub(crate) mod file_names;
pub(crate) mod markdown;
pub(crate) mod phrase;
pub(crate) mod synonyms;
pub(crate) mod tokenize;
pub(crate) mod unified_diff;
pub(crate) mod wrap;
