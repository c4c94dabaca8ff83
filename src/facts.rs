//! What the page of a day tells of a session beside its digest: times and numbers, no text of the session's. With them, a day on which
//! one session changed is written anew without the rows of the others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::session::{Millis, Session, Tokens, Touch};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub began_at: Option<Millis>,
    pub last_at: Option<Millis>,
    pub prompts: usize,
    /// How many files were changed.
    pub files: usize,
    pub agents: usize,
    pub usage: BTreeMap<String, Tokens>,
}

impl Facts {
    pub fn of(session: &Session) -> Self {
        Self {
            began_at: session.began_at(),
            last_at: session.last_at(),
            prompts: session.count_prompts(),
            files: session.files().iter().filter(|(_, touched)| touched.how > Touch::Read).count(),
            agents: session.agents,
            usage: session.usage.clone(),
        }
    }
}
