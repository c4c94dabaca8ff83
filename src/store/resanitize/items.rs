//! Resanitizes the items of records. What remains of a record keeps its position, so that a copy read later is recognised as one.

use anyhow::Result;
use rusqlite::Transaction;

use crate::store::chunk;
use crate::store::chunk::TextReader;
use redact::OPENING;
use transcripts::privacy::{ConversationState, Sanitizer};
use transcripts::session::Item;
use transcripts::source::is_wrapped;

/// What resanitizing did to a session's items.
#[derive(Debug, Default)]
pub(super) struct ItemChanges {
    /// Number of changed items.
    pub(crate) texts: u64,
    /// Was anything removed that digests may mention?
    pub(crate) left_out: bool,
}

/// `knows_speakers`: stored prompts are known to be the user's own words, not text that only came in the user's name.
pub(super) fn clean(tx: &Transaction<'_>, session: i64, sanitizer: &Sanitizer, knows_speakers: bool) -> Result<ItemChanges> {
    let mut conversation = ConversationState::default();
    let mut cleaned = ItemChanges::default();
    let mut source = None;
    let rows = chunk::items_of(tx, session)?;
    let mut texts = TextReader::new(tx);
    let mut changes = Vec::new();
    for kept in rows {
        if source.replace(kept.source) != Some(kept.source) {
            conversation = ConversationState::default();
        }
        let before = texts.take(&kept)?;
        let after = sanitizer.sanitize_item(kept.line.key, before.clone(), &mut conversation);
        let after = after.filter(|item| knows_speakers || !matches!(item, Item::Prompt(text) if is_wrapped(text)));
        if after.as_ref() != Some(&before) {
            cleaned.texts += 1;
            cleaned.left_out |= removes_content(sanitizer, &before, after.as_ref());
            changes.push((kept, after));
        }
    }
    if changes.iter().any(|(_, after)| after.is_none()) {
        // The session needs a new digest.
        tx.prepare_cached("UPDATE session SET dirty = 1 WHERE pk = ?1")?.execute([session])?;
    }
    chunk::replace_items(tx, session, changes.into_iter())?;
    Ok(cleaned)
}

/// Was more removed than a secret? Digests never mention the client's bookkeeping tools.
fn removes_content(sanitizer: &Sanitizer, before: &Item, after: Option<&Item>) -> bool {
    let Some(after) = after else {
        return match before {
            Item::Tool(tool) => !sanitizer.skips(tool),
            // Removed together with its tool use.
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
