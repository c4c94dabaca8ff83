//! What an administrator does.

use crate::address::Address;
use crate::error::Error;
use crate::link::Link;
use crate::migrate::migrate;
use std::time::Duration;
use tokio_postgres::types::ToSql;

/// How long a call of an administrator has: to erase what a member shared takes a while.
const DEADLINE: Duration = Duration::from_secs(600);

/// What a member may do in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing. What they shared stays until they withdraw it or leave.
    None,
    /// Read what others share.
    Read,
    /// Share, and read only what is their own.
    Write,
    /// Both.
    ReadWrite,
}

/// What members may share at most. It never adds to what a member chose to share.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Policy {
    /// Only these kinds of records; `None` for all.
    pub kinds: Option<Vec<String>>,
    /// Only bodies of at most so many bytes, counted in the form that PostgreSQL gives them.
    pub body_max: Option<i32>,
    /// Nothing new. What is there can still be read and withdrawn.
    pub closed: bool,
}

/// The database of one or more teams, for its administrator.
pub struct Team {
    link: Link,
}

impl Team {
    /// Brings the schema `recall_team` of the database to what this version needs. May be done at any time, and by several at once.
    ///
    /// The login has to be a superuser, or to own the database and have CREATEROLE. It becomes a member of the role `recall_team_owner`.
    ///
    /// # Errors
    /// [`Error::Server`] when the login may not do that.
    pub fn prepare(admin_url: &str) -> Result<Self, Error> {
        let mut link = Link::new(&Address::parse(admin_url)?)?;
        link.call("prepare the database", DEADLINE, migrate)?;
        Ok(Self { link })
    }

    /// Adds a team, if it is not there: lower-case letters, digits and hyphens.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn add_team(&mut self, name: &str) -> Result<(), Error> {
        self.run("add a team", "SELECT recall_team.add_team($1)", &[&name])
    }

    /// Invites a role of the server, which has to be there, into a team. It sees nothing before it has access to a project.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn add_member(&mut self, team: &str, login: &str) -> Result<(), Error> {
        self.run("add a member", "SELECT recall_team.add_member($1, $2::text::name)", &[&team, &login])
    }

    /// Adds a project by the address of its repository, if it is not there.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn add_project(&mut self, team: &str, project: &str) -> Result<(), Error> {
        self.run("add a project", "SELECT recall_team.add_project($1, $2)", &[&team, &project])
    }

    /// Says what a member may do in a project.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn set_access(&mut self, team: &str, login: &str, project: &str, access: Access) -> Result<(), Error> {
        let reads = matches!(access, Access::Read | Access::ReadWrite);
        let writes = matches!(access, Access::Write | Access::ReadWrite);
        let sql = "SELECT recall_team.set_access($1, $2::text::name, $3, $4, $5)";
        self.run("set the access of a member", sql, &[&team, &login, &project, &reads, &writes])
    }

    /// Replaces the policy of a project, or that of the whole team. Where both have one, both hold. What was shared before stays.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn set_policy(&mut self, team: &str, project: Option<&str>, policy: &Policy) -> Result<(), Error> {
        let sql = "SELECT recall_team.set_policy($1, $2, $3, $4, $5)";
        self.run("set a policy", sql, &[&team, &project, &policy.kinds, &policy.body_max, &policy.closed])
    }

    /// Erases what a member shared and removes them. The role of the server stays.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn remove_member(&mut self, team: &str, login: &str) -> Result<(), Error> {
        self.run("remove a member", "SELECT recall_team.remove_member($1, $2::text::name)", &[&team, &login])
    }

    /// Removes a project with all records in it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn remove_project(&mut self, team: &str, project: &str) -> Result<(), Error> {
        self.run("remove a project", "SELECT recall_team.remove_project($1, $2)", &[&team, &project])
    }

    fn run(&mut self, what: &'static str, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<(), Error> {
        self.link.call(what, DEADLINE, async |session| session.client.execute(sql, values).await.map(drop))
    }
}
