//! Token usage of sessions message by message, for sums over a time.

use anyhow::Result;

use super::Reader;
use crate::model::price::of_one_message;
use crate::model::session_head::SessionHead;
use crate::store::chunk::StoredUsage;
use transcripts::session::{Millis, Tokens};

/// What a message took.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UsedTokens {
    pub(crate) model: String,
    pub(crate) tokens: Tokens,
    /// To the minute; `None` in an index of an older program.
    pub(crate) at: Option<Millis>,
}

impl Reader {
    /// What the messages took that belong to a session, in no order.
    pub(crate) fn used_tokens(&self, head: &SessionHead) -> Result<Vec<UsedTokens>> {
        let used = |used: StoredUsage| UsedTokens {
            model: used.model.to_string(),
            tokens: of_one_message(used.tokens, &used.model),
            at: used.minute.map(|minute| minute * 60_000),
        };
        Ok(StoredUsage::owned_messages(&self.db, head)?.map(used).collect())
    }
}
