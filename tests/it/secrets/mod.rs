//! No secret gets anywhere: through the whole program, every kind in every place in many forms, looked for in everything it leaves.

mod corpus;
mod everyday;
mod forms;
mod generate;
mod kinds;
mod lookalikes;
mod model_replies;
mod other_fields;
mod outputs;
mod places;
mod redact_command;
mod stored_before;
mod table;
mod truncated;
mod undigested;
