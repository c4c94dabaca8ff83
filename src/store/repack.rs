//! Brings what an older program stored row by row into bundles.
//!
//! What cannot be read stays behind: the transcripts that it came from are read once more, where they are still there.

use std::borrow::Cow;

use anyhow::Result;
use rusqlite::{Connection, Row};

use super::bundle::{Gathered, Message, Place, Used, Whereabouts};
use super::pack::unpack;
use crate::session::{Item, Millis, RowKey, Tokens};

/// Items that are held at once, about.
const TOGETHER: usize = 4000;

pub(super) fn all(db: &Connection) -> Result<()> {
    let sessions: Vec<i64> =
        db.prepare("SELECT pk FROM session ORDER BY pk")?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut whereabouts = Whereabouts::default();
    let (mut gathered, mut held) = (Gathered::default(), 0);
    for session in sessions {
        held += items(db, &mut gathered, session)?;
        usage(db, &mut gathered, session)?;
        if held >= TOGETHER {
            gathered.flush(db, &mut whereabouts)?;
            held = 0;
        }
    }
    gathered.flush(db, &mut whereabouts)
}

fn items(db: &Connection, gathered: &mut Gathered<'_>, session: i64) -> Result<usize> {
    let sql = "SELECT source, offset, part, key, at, body FROM item WHERE session = ?1 ORDER BY source, offset, part";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([session])?;
    let mut count = 0;
    while let Some(r) = rows.next()? {
        let source: i64 = r.get(0)?;
        match stored(r) {
            Ok((offset, part, key, at, item)) => {
                let place = Place { session, source, offset, part };
                gathered.put(db, &place, key, at, Cow::Owned(item), |_| Ok(false))?;
                count += 1;
            }
            Err(_) => read_again(db, source)?,
        }
    }
    Ok(count)
}

fn stored(r: &Row<'_>) -> Result<(i64, i64, RowKey, Option<Millis>, Item)> {
    Ok((r.get(1)?, r.get(2)?, RowKey(r.get(3)?), r.get(4)?, unpack(r.get_ref(5)?.as_blob()?)?))
}

fn read_again(db: &Connection, source: i64) -> Result<()> {
    let sql = "UPDATE file SET size = -1, offset = 0 WHERE path = (SELECT file FROM source WHERE pk = ?1)";
    db.prepare_cached(sql)?.execute([source])?;
    Ok(())
}

fn usage(db: &Connection, gathered: &mut Gathered<'_>, session: i64) -> Result<()> {
    let source: Option<i64> =
        db.prepare_cached("SELECT min(pk) FROM source WHERE session = ?1")?.query_row([session], |r| r.get(0))?;
    let sql = "SELECT message, model, input, output, cache_write, cache_write_hour, cache_read FROM usage WHERE session = ?1 ORDER BY message";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([session])?;
    while let Some(r) = rows.next()? {
        match used(r) {
            Ok(used) => _ = gathered.put_used(db, session, source, used)?,
            Err(_) => source.map_or(Ok(()), |source| read_again(db, source))?,
        }
    }
    Ok(())
}

fn used(r: &Row<'_>) -> rusqlite::Result<Used> {
    let count = |at| r.get::<_, i64>(at).map(|n| n as u64);
    Ok(Used {
        message: Message::of_text(&r.get::<_, String>(0)?),
        model: r.get(1)?,
        tokens: Tokens {
            input: count(2)?,
            output: count(3)?,
            cache_write: count(4)?,
            cache_write_hour: count(5)?,
            cache_read: count(6)?,
            ..Tokens::default()
        },
    })
}
