//! What earlier sessions say about a topic: the best passages within a budget, each with its source, or a model's account of them.
//!
//! `gather` selects, `fit` applies the budget, and `account` builds the request to the model and reads its reply; only
//! `recall context --about` uses a model.

mod account;
mod gather;
mod passages;

pub use account::{Sentence, TopicAccount, read, request};
pub(crate) use gather::{Asker, candidates, gather};
