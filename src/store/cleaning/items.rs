//! What rows say, by the rules of today. What stays of a row keeps its place in it, so that a copy that is read later is known for one.

use anyhow::Result;
use rusqlite::Transaction;

use crate::privacy::{Conversation, Gate};
use crate::redact::OPENING;
use crate::session::Item;
use crate::source::claude_code::is_wrapped;
use crate::store::bundle::{self, Texts};

/// What became of a session's items.
#[derive(Debug, Default)]
pub(super) struct Cleaned {
    /// How many changed.
    pub texts: u64,
    /// Was anything left out that digests may tell of?
    pub left_out: bool,
}

/// `knows_speakers`: prompts are what the user said, and not what only came in the user's name.
pub(super) fn clean(tx: &Transaction<'_>, session: i64, gate: &Gate, knows_speakers: bool) -> Result<Cleaned> {
    let mut conversation = Conversation::default();
    let mut cleaned = Cleaned::default();
    let mut source = None;
    let rows = bundle::rows_of(tx, session)?;
    let mut texts = Texts::new(tx);
    let mut changes = Vec::new();
    for kept in rows {
        if source.replace(kept.source) != Some(kept.source) {
            conversation = Conversation::default();
        }
        let before = texts.take(&kept)?;
        let after = gate.pass_item(kept.line.key, before.clone(), &mut conversation);
        let after = after.filter(|item| knows_speakers || !matches!(item, Item::Prompt(text) if is_wrapped(text)));
        if after.as_ref() != Some(&before) {
            cleaned.texts += 1;
            cleaned.left_out |= leaves_out(gate, &before, after.as_ref());
            changes.push((kept, after));
        }
    }
    if changes.iter().any(|(_, after)| after.is_none()) {
        // What was said of it has to be said anew.
        tx.prepare_cached("UPDATE session SET dirty = 1 WHERE pk = ?1")?.execute([session])?;
    }
    bundle::change(tx, session, changes.into_iter())?;
    Ok(cleaned)
}

/// Was more than a secret taken out? Of tools that the client only keeps its books with, digests never tell.
fn leaves_out(gate: &Gate, before: &Item, after: Option<&Item>) -> bool {
    let Some(after) = after else {
        return match before {
            Item::Tool(tool) => !gate.skips(tool),
            // It goes with its tool.
            Item::Outcome(_) => false,
            _ => true,
        };
    };
    let marks = |text: &str| text.matches(OPENING).count();
    let texts = before.texts().into_iter().zip(after.texts());
    let names_files = matches!(before, Item::Tool(_) | Item::Outcome(_));
    texts.filter(|(before, after)| before != after).any(|(before, after)| {
        after.is_empty() || names_files && marks(after) <= marks(before) || before.to_ascii_lowercase().contains("<private")
    })
}
