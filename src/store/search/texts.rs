//! What was said in a session, for showing the best of it.

use anyhow::Result;
use rusqlite::params;

use super::Store;
use crate::find::Said;
use crate::session::{Item, Millis, ToolUse};
use crate::signal::has_failed;
use crate::store::load::{NOT_OWNED_EARLIER, SessionHead};
use crate::store::pack::unpack;

/// A text of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub kind: Said,
    pub text: String,
    pub at: Option<Millis>,
}

impl Store {
    /// The conversation of a session as it is kept, in order; where `all`, what was done and what failed too.
    pub fn texts_of(&self, head: &SessionHead, all: bool) -> Result<Vec<Text>> {
        let kinds = if all { "" } else { "AND i.kind IN ('prompt', 'answer', 'reply', 'plan', 'recap', 'away')" };
        let sql = format!(
            "SELECT i.at, i.body FROM item i WHERE i.session = ?1 {kinds} AND {NOT_OWNED_EARLIER} ORDER BY i.source, i.offset, i.part"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query(params![head.pk, head.started_at, head.id])?;
        let mut texts = Vec::new();
        while let Some(row) = rows.next()? {
            let at: Option<Millis> = row.get(0)?;
            texts.extend(said(unpack(row.get_ref(1)?.as_blob()?)?).map(|(kind, text)| Text { kind, text, at }));
        }
        Ok(texts)
    }
}

fn said(item: Item) -> Option<(Said, String)> {
    match item {
        Item::Prompt(text) | Item::Answer(text) => Some((Said::Prompt, text)),
        Item::Reply(text) => Some((Said::Reply, text)),
        Item::Plan(text) => Some((Said::Plan, text)),
        Item::Recap(text) | Item::Away(text) => Some((Said::Recap, text)),
        Item::Tool(ToolUse { file: Some(file), .. }) => Some((Said::File, file.path)),
        Item::Tool(tool) => Some((Said::Command, tool.line)),
        Item::Outcome(outcome) if has_failed(&outcome) => Some((Said::Error, outcome.brief)),
        _ => None,
    }
}
