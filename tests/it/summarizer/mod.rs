//! Digests by the model, with a scripted stand-in for `claude`: what it is given, what becomes of each kind of answer, what it may cost.

mod backoff;
mod caps;
mod child;
mod choice;
mod closes;
mod context_about;
mod dying_clients;
mod failures;
mod first_run;
mod hostile;
mod instructions;
mod limits;
mod login;
mod malformed;
mod many_sessions;
mod mutants;
mod older_clients;
mod outputs;
mod replaces;
mod replies;
mod report;
mod request;
mod sections;
mod spend;
mod survival;
mod wrong;
