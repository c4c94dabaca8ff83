//! What is forgotten is nowhere any more, and stays so whatever is read again.

mod asking;
mod kept_out;
mod matching;
mod modes;
mod orphans;
mod private;
mod readers;
mod retention;
mod scene;
mod sessions;
