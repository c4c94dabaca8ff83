//! No secret gets anywhere: through the whole program, every kind in every place in many forms, looked for in everything it leaves.

#[path = "../support/rows.rs"]
mod rows;
#[allow(dead_code, reason = "the stand-in is shared; other tests use the rest of it")]
#[path = "../summarizer/stand_in.rs"]
mod stand_in;
#[path = "../support/stored.rs"]
mod stored;
#[path = "../support/mod.rs"]
mod support;

mod alone;
mod comes_back;
mod corpus;
mod cut;
mod elsewhere;
mod everyday;
mod forms;
mod fresh;
mod grow;
mod kinds;
mod old;
mod places;
mod sinks;
mod stay;
mod table;
