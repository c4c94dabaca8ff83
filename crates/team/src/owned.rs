//! What the member shares, from whichever machine.

use crate::client::{Client, Me};
use crate::error::Error;
use crate::push::Pushed;
use crate::record::{Withdrawal, refuse_author};

/// A record that the member shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// Its project.
    pub project: String,
    /// The machine that shared it: the client's own or another one.
    pub machine: String,
    /// What sort of record it is.
    pub kind: String,
    /// Which of its sort.
    pub id: String,
    /// Its version.
    pub version: i64,
    /// The beginning of the first of the asked fields that its body has.
    pub title: Option<String>,
}

const OWNED: &str = "SELECT p.remote, r.author, r.kind, r.id, r.version, (
        SELECT left(r.body->>f.name, 300) FROM unnest($3::text[]) WITH ORDINALITY f(name, place)
        WHERE r.body->>f.name <> '' ORDER BY f.place LIMIT 1)
    FROM recall_team.record r JOIN recall_team.project p ON p.team = r.team AND p.id = r.project
    WHERE r.team = $1 AND r.member = $2 AND NOT r.deleted ORDER BY p.remote, r.author, r.kind, r.id";

impl Client {
    /// All that the member shares in the projects that they have, from any machine, in the order of project, machine, kind and id. `title` names
    /// the fields of a body that may tell what it is about; the first one that it has does.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn owned(&mut self, title: &[&str]) -> Result<Vec<Owned>, Error> {
        let Me { team, member } = self.me;
        let rows = self.link.call("list what you share", self.deadlines.pull, async |session| {
            let statement = session.statement(OWNED).await?;
            session.client.query(&statement, &[&team, &member, &title]).await
        })?;
        let owned = |row: &tokio_postgres::Row| Owned {
            project: row.get(0),
            machine: row.get(1),
            kind: row.get(2),
            id: row.get(3),
            version: row.get(4),
            title: row.get(5),
        };
        Ok(rows.iter().map(owned).collect())
    }

    /// Withdraws records that another machine of the member shared, as [`withdraw`](Self::withdraw) does those of this one.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn withdraw_of(&mut self, machine: &str, records: &[Withdrawal]) -> Result<Pushed, Error> {
        if let Some(why) = refuse_author(machine) {
            return Err(Error::Machine { why });
        }
        let own = std::mem::replace(&mut self.machine, machine.to_owned());
        let withdrawn = self.withdraw(records);
        self.machine = own;
        withdrawn
    }
}
