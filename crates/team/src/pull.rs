//! What others share, as it changes.

use crate::client::{Client, Me};
use crate::error::Error;
use serde_json::Value;
use tokio_postgres::Row;

/// A record of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The number of the member. It stays when they leave, and nobody else gets it.
    pub member: i32,
    /// Their login; `None` after they left.
    pub login: Option<String>,
    /// The machine that shared it.
    pub machine: String,
    /// What sort of record it is.
    pub kind: String,
    /// Which of its sort. Member, machine, kind and id together are the key of a record in its project.
    pub id: String,
    /// Its version.
    pub version: i64,
    /// Its place among the changes of the project.
    pub seq: i64,
    /// What it says; `None` if it was withdrawn.
    pub body: Option<Value>,
}

/// Some changes of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulled {
    /// In the order of `seq`; each record once, as it stands now.
    pub records: Vec<Shared>,
    /// Where to go on. A reader who stores this with the records misses nothing.
    pub after: i64,
    /// Whether there may be more now.
    pub more: bool,
}

/// The right to read is asked for in the same statement, so that it and the records are of one moment.
const PULL: &str = "SELECT r.member, m.login::text, r.author, r.kind, r.id, r.version, r.seq, r.body
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
        SELECT * FROM recall_team.record
        WHERE team = $1 AND project = $2 AND seq > $3 ORDER BY seq LIMIT $4
    ) r ON true
    LEFT JOIN recall_team.member m ON m.team = r.team AND m.id = r.member
    WHERE EXISTS (SELECT FROM recall_team.readable() f WHERE f.team = $1 AND f.project = $2)
    ORDER BY r.seq";

impl Client {
    /// The changes of a project after a place, at most `limit`: begin with 0, and go on with [`Pulled::after`].
    ///
    /// # Errors
    /// [`Error::NoProject`] when the member may not read it, or no longer.
    pub fn pull(&mut self, project: &str, after: i64, limit: usize) -> Result<Pulled, Error> {
        let Me { team, .. } = self.me;
        let number = self.project_number(project)?;
        let most = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
        let rows = self.link.call("pull records", self.deadlines.pull, async |session| {
            let statement = session.statement(PULL).await?;
            session.client.query(&statement, &[&team, &number, &after, &most]).await
        })?;
        // One row without a record: there is nothing new.
        if rows.is_empty() {
            return Err(Error::NoProject { project: project.to_owned() });
        }
        let records: Vec<Shared> = rows.iter().filter(|row| row.get::<_, Option<i64>>(6).is_some()).map(shared).collect();
        let more = records.len() >= limit.max(1);
        Ok(Pulled { after: records.last().map_or(after, |last| last.seq), more, records })
    }
}

/// From the first eight columns.
pub(crate) fn shared(row: &Row) -> Shared {
    Shared {
        member: row.get(0),
        login: row.get(1),
        machine: row.get(2),
        kind: row.get(3),
        id: row.get(4),
        version: row.get(5),
        seq: row.get(6),
        body: row.get(7),
    }
}
