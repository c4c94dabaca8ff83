//! What can go wrong.

use std::time::Duration;
use tokio_postgres::error::SqlState;

/// Why something was not done. Each text says what failed and what to do; none holds the password of an address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that names no server.
    #[error(
        "the address of the team's server: {why}. It looks like postgres://login@host/database, with ?team=name if there are several teams"
    )]
    Address {
        /// What is wrong with it.
        why: String,
    },
    /// This machine cannot run the client.
    #[error("could not start the client for the team's server: {why}")]
    Machine {
        /// What the system says.
        why: String,
    },
    /// The deadline of the call passed. What it was to do may be done or not; do it again.
    #[error(
        "could not {what} at {place} within {} s{}. Check that this machine reaches the server, or ask its administrator whether it runs; then try again",
        deadline.as_secs_f32(),
        source.as_ref().map(|source| format!(" ({})", described(source))).unwrap_or_default()
    )]
    TooLate {
        /// What was tried, as "push records".
        what: &'static str,
        /// Where: host and port.
        place: String,
        /// How long it had.
        deadline: Duration,
        /// What went wrong the last time, where something did.
        source: Option<tokio_postgres::Error>,
    },
    /// The server is not a server of a team, or an older one.
    #[error(
        "the database has {found} of {wanted} migrations of recall_team. Its administrator has to prepare it with this version"
    )]
    Schema {
        /// How many migrations it has.
        found: usize,
        /// How many this client needs.
        wanted: usize,
    },
    /// The login is not invited to a team, or has left.
    #[error("{login} is no member of {}. Ask an administrator of the team to add this login", team.as_deref().unwrap_or("any team"))]
    NoMember {
        /// The role that logged in.
        login: String,
        /// The team that was named.
        team: Option<String>,
    },
    /// The login is invited to several teams.
    #[error("this login is in several teams: {}. Name one in the address: ?team=name", teams.join(", "))]
    SeveralTeams {
        /// Their names.
        teams: Vec<String>,
    },
    /// A project that the team has not, or that the member may not see: the server does not tell which. Remove what was pulled from it.
    #[error(
        "this team does not have the project {project}, or you have no access to it. Ask an administrator of the team to add it"
    )]
    NoProject {
        /// What was asked for.
        project: String,
    },
    /// The server did not do it, and would not the next time.
    #[error("could not {what}: {}", described(source))]
    Server {
        /// What was tried, as "push records".
        what: &'static str,
        /// What it says.
        source: tokio_postgres::Error,
    },
}

/// With what the server says: the error itself only says "db error".
fn described(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => {
            let mut text = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            text
        }
    }
}

/// What becomes of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Again, on a new connection.
    Reconnect,
    /// Again, on this one.
    Repeat,
    /// The server ended it because of its deadline.
    TooLate,
    /// It would fail again.
    Failed,
}

pub(crate) fn fate(error: &tokio_postgres::Error) -> Fate {
    if let Some(code) = error.code() {
        return match code {
            &SqlState::QUERY_CANCELED => Fate::TooLate,
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => Fate::Repeat,
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::TOO_MANY_CONNECTIONS
            | &SqlState::IDLE_SESSION_TIMEOUT
            | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Fate::Reconnect,
            // Class 08: the connection.
            code if code.code().starts_with("08") => Fate::Reconnect,
            _ => Fate::Failed,
        };
    }
    if error.is_closed() {
        return Fate::Reconnect;
    }
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            // What TLS does not accept is `InvalidData`: a certificate does not get better.
            let is_final = matches!(io.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput);
            return if is_final { Fate::Failed } else { Fate::Reconnect };
        }
        cause = error.source();
    }
    Fate::Failed
}
