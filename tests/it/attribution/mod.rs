//! Who said it: no word of a third party, of the client or of the assistant is told as the user's, and none of the user's is lost.

mod corpus;
mod dialogs;
mod outputs;
mod plans;
mod wrappers;
