//! Undone turns: what the user rewound in a session. Determined from the prompts of its files alone, so that it does not depend on the
//! slices in which they were read.

use std::collections::HashMap;

use anyhow::Result;
use rusqlite::{Connection, params};

use super::Reader;
use crate::model::session_head::SessionHead;
use crate::store::chunk::{ItemKind, StoredItem};
use transcripts::session::Millis;
use transcripts::undone_prompts::{NOT_SAID_YET, PromptLink, ShortKey, undone};

/// Stores a prompt of a session's file. Returns whether it may replace another one.
pub(crate) fn note(db: &Connection, session: &str, file: &str, asked: &PromptLink) -> Result<bool> {
    if asked.key == NOT_SAID_YET {
        return note_went_back(db, session, file, Some(asked));
    }
    // Earlier programs stored first prompts of some clients without a parent.
    let sql = "INSERT INTO asked VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET parent = excluded.parent WHERE parent IS NULL AND excluded.parent IS NOT NULL";
    let values = params![session, file, asked.key, asked.parent, asked.follows, asked.offset, asked.at];
    let new = db.prepare_cached(sql)?.execute(values)? > 0;
    let sql = "SELECT EXISTS (SELECT 1 FROM asked WHERE session = ?1 AND file = ?2 AND parent = ?3 AND key <> ?4)";
    Ok(new && db.prepare_cached(sql)?.query_row(params![session, file, asked.parent, asked.key], |r| r.get(0))?)
}

/// Stores to where the user went back in a session's file, or that nothing of it is taken back any more. Returns whether that is new.
pub(crate) fn note_went_back(db: &Connection, session: &str, file: &str, back: Option<&PromptLink>) -> Result<bool> {
    let Some(PromptLink { key, parent, follows, offset, at }) = back else {
        let sql = "DELETE FROM asked WHERE session = ?1 AND file = ?2 AND key = ?3";
        return Ok(db.prepare_cached(sql)?.execute(params![session, file, NOT_SAID_YET])? > 0);
    };
    let sql = "INSERT INTO asked VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET parent = excluded.parent, follows = excluded.follows, offset = excluded.offset, at = excluded.at
         WHERE (parent, follows, offset, at) IS NOT (excluded.parent, excluded.follows, excluded.offset, excluded.at)";
    Ok(db.prepare_cached(sql)?.execute(params![session, file, key, parent, follows, offset, at])? > 0)
}

/// The prompts of a session, file by file, in file order.
pub(crate) fn prompts_of(db: &Connection, session: &str) -> Result<Vec<(String, Vec<PromptLink>)>> {
    let sql = "SELECT file, key, parent, follows, offset, at FROM asked WHERE session = ?1 ORDER BY file";
    let mut query = db.prepare_cached(sql)?;
    let mut found = query.query([session])?;
    let mut files: Vec<(String, Vec<PromptLink>)> = Vec::new();
    while let Some(r) = found.next()? {
        let file = r.get_ref(0)?.as_str()?;
        if files.last().is_none_or(|(last, _)| last != file) {
            files.push((file.to_owned(), Vec::new()));
        }
        let asked = PromptLink { key: r.get(1)?, parent: r.get(2)?, follows: r.get(3)?, offset: r.get(4)?, at: r.get(5)? };
        if let Some((_, all)) = files.last_mut() {
            all.push(asked);
        }
    }
    files.iter_mut().for_each(|(_, all)| all.sort_unstable_by_key(|asked| (asked.offset, asked.key)));
    Ok(files)
}

/// The same, but empty if nothing of the session was undone: then no one needs them.
pub(crate) fn prompts_if_any_undone(db: &Connection, session: &str) -> Result<Vec<(String, Vec<PromptLink>)>> {
    let files = prompts_of(db, session)?;
    Ok(if files.iter().any(|(_, asked)| undone(asked).contains(&true)) { files } else { Vec::new() })
}

/// What is undone of a session; empty for nearly all.
#[derive(Debug, Default)]
pub(crate) struct Undone {
    sources: HashMap<i64, UndoneSource>,
    /// Subagents whose whole work is undone.
    agents: Vec<String>,
}

/// What is undone of a source.
#[derive(Debug)]
enum UndoneSource {
    /// All of it: a subagent's work for an undone turn.
    All,
    /// Offsets at which the turns of the file begin, ascending, and whether each is undone.
    Turns(Vec<(i64, bool)>),
}

impl Undone {
    /// Reads what is undone of a session.
    pub(crate) fn of(db: &Connection, head: &SessionHead) -> Result<Self> {
        let mut files = HashMap::new();
        let mut spans = Vec::new();
        for (file, asked) in prompts_of(db, &head.id)? {
            let undone = undone(&asked);
            if undone.contains(&true) {
                spans.extend(spans_of(&asked, &undone));
                files.insert(file, asked.iter().map(|asked| asked.offset).zip(undone).collect::<Vec<_>>());
            }
        }
        let mut all = Self::default();
        if files.is_empty() {
            return Ok(all);
        }
        let mut query = db.prepare_cached("SELECT pk, file, agent, first_at FROM source WHERE session = ?1")?;
        let mut found = query.query([head.pk])?;
        while let Some(r) = found.next()? {
            let (file, agent, began): (String, String, Option<Millis>) = (r.get(1)?, r.get(2)?, r.get(3)?);
            let within = |(from, until): &(Millis, Option<Millis>)| {
                began.is_some_and(|at| *from <= at && until.is_none_or(|until| at < until))
            };
            let of = match files.get(&file) {
                Some(turns) => Some(UndoneSource::Turns(turns.clone())),
                None => (!agent.is_empty() && spans.iter().any(within)).then_some(UndoneSource::All),
            };
            all.agents.extend(matches!(of, Some(UndoneSource::All)).then_some(agent));
            all.sources.extend(of.map(|of| (r.get_unwrap(0), of)));
        }
        Ok(all)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Is the item part of an undone turn? A title is that of the whole session, in whichever turn it was given.
    pub(crate) fn holds(&self, kept: &StoredItem) -> bool {
        match self.sources.get(&kept.source) {
            None => false,
            Some(UndoneSource::Turns(_)) if kept.line.kind == ItemKind::Title => false,
            Some(UndoneSource::All) => true,
            Some(UndoneSource::Turns(turns)) => {
                let behind = turns.partition_point(|(offset, _)| *offset <= kept.line.offset);
                behind.checked_sub(1).is_some_and(|at| turns[at].1)
            }
        }
    }
}

/// The time spans of undone turns, each up to the next prompt.
fn spans_of(asked: &[PromptLink], undone: &[bool]) -> Vec<(Millis, Option<Millis>)> {
    let gone = (0..asked.len()).filter(|n| undone[*n]);
    gone.filter_map(|n| Some((asked[n].at?, asked.get(n + 1).and_then(|next| next.at)))).collect()
}

impl Reader {
    /// The subagents of a session whose work was for undone turns.
    pub(crate) fn undone_agents(&self, head: &SessionHead) -> Result<Vec<String>> {
        Ok(Undone::of(&self.db, head)?.agents)
    }

    /// The prompts of a session that were undone.
    pub(crate) fn undone_prompts(&self, session: &str) -> Result<Vec<ShortKey>> {
        let files = prompts_of(&self.db, session)?;
        let gone = files.iter().flat_map(|(_, asked)| asked.iter().zip(undone(asked)));
        Ok(gone.filter(|(_, undone)| *undone).map(|(asked, _)| asked.key).collect())
    }
}
