//! An embeddings endpoint: what it is sent, what becomes of what it answers, and that nothing depends on it.

mod digest;
mod failures;
mod forget;
mod keys;
mod local;
mod scene;
mod search;
mod spaces;
mod status;
