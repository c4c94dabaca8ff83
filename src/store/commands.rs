//! The commands that sessions ran, as rows of their own beside the account of their session. They go when the account does.

use anyhow::Result;
use rusqlite::{Connection, Row, params};

use super::Reader;
use crate::analyze::commands::UsedCommand;
use transcripts::shell::CommandClass;

impl Reader {
    /// Hands over the commands of the sessions of a project with the session's whole id, oldest first, one at a time: there may be many.
    pub(crate) fn for_each_command(&self, project: i64, mut take: impl FnMut(String, UsedCommand)) -> Result<()> {
        let sql = "SELECT s.id, c.same, c.class, c.line, c.folder, c.ran, c.passed, c.passed_last, c.at
             FROM command c JOIN digest d ON d.pk = c.digest AND d.superseded = 0 JOIN session s ON s.pk = d.session
             WHERE s.project = ?1 ORDER BY c.at, c.digest, c.place";
        let mut query = self.db.prepare_cached(sql)?;
        for row in query.query_map([project], used)? {
            row?.into_iter().for_each(|(session, used)| take(session, used));
        }
        Ok(())
    }
}

/// `None` for a class that this program does not know.
fn used(r: &Row<'_>) -> rusqlite::Result<Option<(String, UsedCommand)>> {
    let Some(class) = CommandClass::named(&r.get::<_, String>(2)?) else { return Ok(None) };
    let count = |column| Ok::<_, rusqlite::Error>(r.get::<_, i64>(column)? as usize);
    let command = UsedCommand {
        same: r.get(1)?,
        class,
        line: r.get(3)?,
        folder: r.get(4)?,
        ran: count(5)?,
        passed: count(6)?,
        passed_last: r.get(7)?,
        at: r.get(8)?,
    };
    Ok(Some((r.get(0)?, command)))
}

/// Stores the commands of a session in place of those that its digest has.
pub(super) fn save(db: &Connection, digest: i64, commands: &[UsedCommand]) -> Result<()> {
    db.prepare_cached("DELETE FROM command WHERE digest = ?1")?.execute([digest])?;
    let mut insert = db.prepare_cached("INSERT INTO command VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    for (place, one) in commands.iter().enumerate() {
        insert.execute(params![
            digest,
            place as i64,
            one.same,
            one.class.name(),
            one.line,
            one.folder,
            one.ran as i64,
            one.passed as i64,
            one.passed_last,
            one.at
        ])?;
    }
    Ok(())
}
