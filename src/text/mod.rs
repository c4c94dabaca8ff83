//! Text without meaning: cleaning, escaping, tokens, how much room it takes. Imports nothing of recall.

pub mod budget;
pub mod clean;
pub mod disarm;
pub mod markdown;
pub mod phrase;
pub mod synonyms;
pub mod tokenize;
