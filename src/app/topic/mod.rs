//! What earlier sessions say about a topic: the best passages within a budget, each with its source, or a model's account of them.
//!
//! `gather` selects, `Topic` applies the budget, `account` builds the request to the model and reads its reply, `ask_model` makes the call
//! and keeps to the caps; only `recall context --about` uses a model for it.

mod account;
mod ask_model;
mod gather;
mod passages;

pub(crate) use account::Sentence;
pub(crate) use ask_model::{AccountRequest, TopicAnswer, ask_model};
pub(crate) use gather::{Asker, TopicRequest, candidates, find_topic};

pub(crate) use crate::render::topic::{OmittedSource, Topic, TopicSource};
