//! Who said it: no word of a third party, of the client or of the assistant is told as the user's, and none of the user's is lost.

#[path = "../support/rows.rs"]
mod rows;
#[path = "../support/mod.rs"]
mod support;

mod corpus;
mod dialogs;
mod heard;
mod plans;
mod wrappers;
