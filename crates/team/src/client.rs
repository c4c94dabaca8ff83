//! A member's side: who they are, and which projects they have.

use crate::address::Address;
use crate::error::Error;
use crate::link::Link;
use crate::migrate::{MIGRATIONS, is_missing};
use crate::record::refuse_author;
use std::collections::HashMap;
use std::time::Duration;

/// How long each kind of call has, connecting and trying again included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Joining, and the list of projects.
    pub ask: Duration,
    /// Each batch that is pushed or withdrawn.
    pub push: Duration,
    /// Each page that is pulled.
    pub pull: Duration,
    /// A search.
    pub search: Duration,
    /// Leaving: all that the member shared is erased in one transaction.
    pub leave: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { ask: seconds(10), push: seconds(30), pull: seconds(30), search: seconds(1), leave: seconds(600) }
    }
}

/// A project of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The address of its repository.
    pub name: String,
    /// Whether the member reads what others share.
    pub may_read: bool,
    /// Whether the member shares.
    pub may_write: bool,
}

/// A member on one machine. Every call has a deadline and is done again when the connection is lost; see [`Deadlines`].
pub struct Client {
    pub(crate) link: Link,
    pub(crate) deadlines: Deadlines,
    pub(crate) machine: String,
    pub(crate) me: Me,
    /// The numbers of the projects that the member has.
    pub(crate) projects: HashMap<String, i64>,
    listed: Vec<Project>,
    login: String,
}

/// Whether a machine has its name for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckIn {
    /// As far as the server knows.
    Alone,
    /// Yes, but another one came under it since this one last did, and was told that it is [`Taken`](Self::Taken).
    Doubled,
    /// No: another machine left the last token. Share nothing under this name.
    Taken,
}

/// The numbers of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Me {
    pub(crate) team: i32,
    pub(crate) member: i32,
}

const JOIN: &str = "SELECT team, name, member FROM recall_team.join_team($1)";
const PROJECTS: &str = "SELECT p.remote, p.id, m.may_read, m.may_write
    FROM recall_team.membership m JOIN recall_team.project p ON p.team = m.team AND p.id = m.project
    WHERE m.team = $1 AND m.member = $2 ORDER BY p.remote";

impl Client {
    /// Logs in and accepts the invitation to the team that the address names, or to the only one: `postgres://login@host/database?team=name`.
    /// `machine` is what this machine is known by: at most 128 bytes, and no other machine of the member has the same.
    ///
    /// # Errors
    /// [`Error::NoMember`] without an invitation; [`Error::SeveralTeams`]; [`Error::Schema`] when the database is not prepared.
    pub fn join(url: &str, machine: &str, deadlines: Deadlines) -> Result<Self, Error> {
        if let Some(why) = refuse_author(machine) {
            return Err(Error::Machine { why });
        }
        let address = Address::parse(url)?;
        let mut link = Link::new(&address)?;
        let login = address.config.get_user().unwrap_or_default().to_owned();
        let me = join(&mut link, &deadlines, address.team.as_deref(), &login)?;
        let mut client =
            Self { link, deadlines, machine: machine.to_owned(), me, projects: HashMap::new(), listed: Vec::new(), login };
        client.projects()?;
        Ok(client)
    }

    /// The projects that the member had when the server was asked last: by [`join`](Self::join) at the latest.
    #[must_use]
    pub fn listed_projects(&self) -> &[Project] {
        &self.listed
    }

    /// Asks for the projects that the member has now. Remove what was pulled of a project that is no longer among them, or no longer `may_read`.
    ///
    /// # Errors
    /// See [`Error`]. A member who was removed has none.
    pub fn projects(&mut self) -> Result<&[Project], Error> {
        let Me { team, member } = self.me;
        let rows = self.link.call("list your projects", self.deadlines.ask, async |session| {
            let statement = session.statement(PROJECTS).await?;
            session.client.query(&statement, &[&team, &member]).await
        })?;
        self.projects = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        self.listed = rows.iter().map(|row| Project { name: row.get(0), may_read: row.get(2), may_write: row.get(3) }).collect();
        Ok(&self.listed)
    }

    /// Leaves a new token at the server, under the name of this machine, in place of the last one: `None` the first time. Keep both before the call, and the
    /// new one as the last after it. After a failure call it with the same two.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn check_in(&mut self, last: Option<&str>, next: &str) -> Result<CheckIn, Error> {
        let (team, machine) = (self.me.team, self.machine.clone());
        let answer: String = self.link.call("check the name of this machine", self.deadlines.ask, async |session| {
            let sql = "SELECT recall_team.check_in($1, $2, $3, $4)";
            Ok(session.client.query_one(sql, &[&team, &machine, &last, &next]).await?.get(0))
        })?;
        Ok(match answer.as_str() {
            "alone" => CheckIn::Alone,
            "doubled" => CheckIn::Doubled,
            _ => CheckIn::Taken,
        })
    }

    /// Erases all that the member shared, from any machine, and takes them out of the team. Nothing if they have left already.
    ///
    /// # Errors
    /// See [`Error`]. After [`Error::TooLate`] they may have left or not: do it again.
    pub fn leave(mut self) -> Result<(), Error> {
        let team = self.me.team;
        self.link.call("leave the team", self.deadlines.leave, async |session| {
            session.client.execute("SELECT recall_team.leave_team($1)", &[&team]).await.map(drop)
        })
    }

    /// The number of a project, asked for once more if it is not known: it may be new.
    pub(crate) fn project_number(&mut self, name: &str) -> Result<i64, Error> {
        if let Some(number) = self.projects.get(name) {
            return Ok(*number);
        }
        self.projects()?;
        self.projects.get(name).copied().ok_or_else(|| Error::NoProject { project: name.to_owned() })
    }

    pub(crate) fn no_member(&self) -> Error {
        Error::NoMember { login: self.login.clone(), team: None }
    }
}

fn join(link: &mut Link, deadlines: &Deadlines, team: Option<&str>, login: &str) -> Result<Me, Error> {
    let asked = link.call("join the team", deadlines.ask, async |session| {
        let version = session.client.query_one("SELECT recall_team.schema_version()", &[]).await?;
        let teams = session.client.query(JOIN, &[&team]).await?;
        Ok((version.get::<_, i32>(0), teams))
    });
    let wanted = MIGRATIONS.len();
    let (version, teams) = match asked {
        Err(Error::Server { source, .. }) if is_missing(&source) => return Err(Error::Schema { found: 0, wanted }),
        Err(Error::Server { source, .. }) if source.code() == Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE) => {
            // Nobody let this login into any team of this database or another.
            return Err(Error::NoMember { login: login.to_owned(), team: team.map(str::to_owned) });
        }
        other => other?,
    };
    let found = usize::try_from(version).unwrap_or(0);
    if found < wanted {
        return Err(Error::Schema { found, wanted });
    }
    match teams.as_slice() {
        [] => Err(Error::NoMember { login: login.to_owned(), team: team.map(str::to_owned) }),
        [one] => Ok(Me { team: one.get(0), member: one.get(2) }),
        several => Err(Error::SeveralTeams { teams: several.iter().map(|row| row.get(1)).collect() }),
    }
}
