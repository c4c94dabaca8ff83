//! What rows say, by the rules of today. What stays of a row keeps its place in it, so that a copy that is read later is known for one.

use anyhow::Result;
use rusqlite::{Transaction, params};

use crate::privacy::{Conversation, Gate};
use crate::redact::OPENING;
use crate::session::{Item, RowKey};
use crate::store::pack::{pack, unpack};

/// What became of a session's items.
#[derive(Debug, Default)]
pub(super) struct Cleaned {
    /// How many changed.
    pub texts: u64,
    /// Was anything left out that digests may tell of?
    pub left_out: bool,
}

struct Stored {
    source: i64,
    offset: i64,
    part: i64,
    key: RowKey,
    body: Vec<u8>,
}

pub(super) fn clean(tx: &Transaction<'_>, session: i64, gate: &Gate) -> Result<Cleaned> {
    let mut conversation = Conversation::default();
    let mut cleaned = Cleaned::default();
    let mut source = None;
    for stored in all_of(tx, session)? {
        if source.replace(stored.source) != Some(stored.source) {
            conversation = Conversation::default();
        }
        let before: Item = unpack(&stored.body)?;
        let after = gate.pass_item(stored.key, before.clone(), &mut conversation);
        if after.as_ref() != Some(&before) {
            replace(tx, session, &stored, after.as_ref())?;
            cleaned.texts += 1;
            cleaned.left_out |= leaves_out(gate, &before, after.as_ref());
        }
    }
    Ok(cleaned)
}

fn all_of(tx: &Transaction<'_>, session: i64) -> Result<Vec<Stored>> {
    let sql = "SELECT i.source, i.offset, i.part, i.key, i.body FROM item i
         WHERE i.session = ?1 ORDER BY i.source, i.offset, i.part";
    let mut query = tx.prepare_cached(sql)?;
    let items = query.query_map([session], |r| {
        Ok(Stored { source: r.get(0)?, offset: r.get(1)?, part: r.get(2)?, key: RowKey(r.get(3)?), body: r.get(4)? })
    })?;
    Ok(items.collect::<rusqlite::Result<_>>()?)
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

fn replace(tx: &Transaction<'_>, session: i64, stored: &Stored, after: Option<&Item>) -> Result<()> {
    let place = params![session, stored.source, stored.offset, stored.part];
    let Some(after) = after else {
        tx.prepare_cached("DELETE FROM item WHERE session = ?1 AND source = ?2 AND offset = ?3 AND part = ?4")?.execute(place)?;
        // What was said of it has to be said anew.
        tx.prepare_cached("UPDATE session SET dirty = 1 WHERE pk = ?1")?.execute([session])?;
        return Ok(());
    };
    let sql = "UPDATE item SET body = ?5 WHERE session = ?1 AND source = ?2 AND offset = ?3 AND part = ?4";
    tx.prepare_cached(sql)?.execute(params![session, stored.source, stored.offset, stored.part, pack(after)?])?;
    Ok(())
}
