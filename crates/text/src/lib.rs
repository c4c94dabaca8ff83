//! Text without meaning: cleaning, escaping, tokens, how much room it takes. Imports nothing of recall.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod blocks;
pub mod budget;
pub mod byte_finder;
pub mod clean;
pub mod disarm;
pub mod file_names;
pub mod markdown;
pub mod paths;
pub mod phrase;
pub mod synonyms;
pub mod tokenize;
pub mod unified_diff;
pub mod wrap;
