//! Figures of a session that its day page shows beside the digest: times and counts, no session text. They allow writing the page of a
//! day again without loading the records of sessions that did not change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Millis, Session, Tokens};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    pub began_at: Option<Millis>,
    pub last_at: Option<Millis>,
    pub prompts: usize,
    pub agents: usize,
    /// See [`Session::lacks_usage`].
    #[serde(rename = "lacks_subagents", default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_usage: bool,
    pub usage: BTreeMap<String, Tokens>,
}

impl SessionFacts {
    pub fn of(session: &Session) -> Self {
        Self {
            began_at: session.began_at(),
            last_at: session.last_at(),
            prompts: session.count_prompts(),
            agents: session.agents,
            lacks_usage: session.lacks_usage(),
            usage: session.usage.clone(),
        }
    }
}
