//! What this machine knows of the team: where it is, what was shared, how far was read. A file of its own in `team/` of the data folder. It
//! holds ids, versions and hashes, and no text of a session or note.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use team::Policies;

use crate::config::Config;
use crate::sys::random::random_hex;
use crate::sys::{data_folder, map_as_list, private_files};
use transcripts::session::Millis;

/// The bytes of what a machine is known by: no two have the same.
const MACHINE_BYTES: usize = 16;
/// How long a digest waits before it tries again, after the first failure and at most.
const FIRST_WAIT: Millis = 60_000;
const LONGEST_WAIT: Millis = 6 * 3_600_000;

/// All that is kept between two exchanges.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TeamState {
    /// The address of the server, as the user gave it: it may hold a password.
    pub(super) url: String,
    /// What this machine is known by on the server.
    pub(super) machine: String,
    /// What this machine left at the server under that name the last time, and what it leaves the next time: see [`Client::check_in`](team::Client::check_in).
    #[serde(default)]
    pub(super) token: Option<String>,
    #[serde(default)]
    pub(super) next_token: Option<String>,
    /// The highest version that was given.
    pub(super) last_version: i64,
    /// What was shared, or waits for it.
    #[serde(with = "map_as_list")]
    pub(super) shared: BTreeMap<ItemId, SharedItem>,
    /// The projects, by address, of which the user has seen what leaves and agreed. A digest sends nothing of others.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) confirmed: BTreeSet<String>,
    /// What an administrator lets in, as the server said last.
    #[serde(default)]
    pub(super) policies: Policies,
    /// Up to which number the changes of a project were read, by its address.
    pub(super) read_to: BTreeMap<String, i64>,
    /// When the server was last reached.
    pub(super) reached_at: Option<Millis>,
    /// How often in a row it was not, and when a digest tries next.
    pub(super) failures: u32,
    pub(super) wait_until: Option<Millis>,
    pub(super) last_failure: Option<String>,
}

/// What something is known by on the server, beside member and machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ItemId {
    /// The address of the repository.
    pub(super) project: String,
    /// `convention`, `command`, `session` …
    pub(super) kind: String,
    pub(super) id: String,
}

/// What is known of something that is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SharedItem {
    pub(super) version: i64,
    /// Of what it says.
    pub(super) hash: u64,
    /// The server has to forget it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) gone: bool,
    /// The server has it.
    pub(super) arrived: bool,
    /// The server has what it said before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) stands: bool,
    /// Why the server did not take it, or the policy keeps it here, and since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<(String, Millis)>,
    /// The model whose vectors of it the server was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) described_by: Option<String>,
}

impl TeamState {
    /// # Errors
    /// When the system gives no random bytes.
    pub(super) fn new(url: String) -> Result<Self> {
        Ok(Self {
            url,
            machine: random_hex(MACHINE_BYTES)?,
            token: None,
            next_token: None,
            last_version: 0,
            shared: BTreeMap::new(),
            confirmed: BTreeSet::new(),
            policies: Policies::default(),
            read_to: BTreeMap::new(),
            reached_at: None,
            failures: 0,
            wait_until: None,
            last_failure: None,
        })
    }

    /// Has the user agreed to what leaves of a project? So they have if something of it did, before anybody asked.
    pub(super) fn is_confirmed(&self, address: &str) -> bool {
        self.confirmed.contains(address) || self.shared.iter().any(|(id, one)| id.project == address && one.arrived)
    }

    /// What this machine leaves at the server next. Keep the state before it is sent.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(super) fn prepare_token(&mut self) -> Result<()> {
        if self.next_token.is_none() {
            self.next_token = Some(random_hex(MACHINE_BYTES)?);
        }
        Ok(())
    }

    /// The server has it.
    pub(super) fn left_token(&mut self) {
        self.token = self.next_token.take();
    }

    /// Another machine has the name of this one: it takes a new one, under which nothing is shared yet. What stands under the old one is the other's. Returns
    /// the old one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(super) fn go_on_as_another(&mut self) -> Result<String> {
        let other = random_hex(MACHINE_BYTES)?;
        let arrived = self.shared.iter().filter(|(_, one)| one.arrived || one.stands);
        let confirmed: BTreeSet<String> = arrived.map(|(id, _)| id.project.clone()).collect();
        self.confirmed.extend(confirmed);
        self.shared.clear();
        // What the other shares is read from now on as that of any other machine.
        self.read_to.clear();
        (self.token, self.next_token) = (None, None);
        self.prepare_token()?;
        Ok(std::mem::replace(&mut self.machine, other))
    }

    /// The server answered.
    pub(super) fn reached(&mut self, now: Millis) {
        self.reached_at = Some(now);
        self.failures = 0;
        (self.wait_until, self.last_failure) = (None, None);
    }

    /// It did not, or not to the end: digests try again after a minute, then after two, four …
    pub(super) fn failed(&mut self, now: Millis, why: &str) {
        let wait = FIRST_WAIT.saturating_mul(1 << self.failures.min(20)).min(LONGEST_WAIT);
        self.failures = self.failures.saturating_add(1);
        self.wait_until = Some(now.saturating_add(wait));
        self.last_failure = Some(why.to_owned());
    }

    /// Why the server was not reached the last time, and when digests ask it again.
    pub(super) fn failure_in_words(&self, config: &Config) -> Option<String> {
        let why = self.last_failure.as_ref()?;
        Some(match self.wait_until {
            Some(until) => format!("{why}; digests try again after {}", config.local_time(Some(until), "%H:%M")),
            None => why.clone(),
        })
    }

    /// What is kept; `None` if the user is in no team.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub(super) fn load(data_dir: &Path) -> Result<Option<Self>> {
        let file = file(data_dir);
        let Some(text) = private_files::read_if_there(&file)? else { return Ok(None) };
        let explain = || format!("{} is damaged: delete it and run `recall team join` again", file.display());
        serde_json::from_slice(&text).map(Some).with_context(explain)
    }

    pub(super) fn save(&self, data_dir: &Path) -> Result<()> {
        let file = file(data_dir);
        private_files::create_dir(&folder(data_dir))?;
        private_files::replace(&file, &serde_json::to_vec(self)?).with_context(|| format!("cannot write {}", file.display()))
    }

    /// The address of the server, without a password.
    pub(super) fn shown_address(&self) -> String {
        without_password(&self.url)
    }
}

/// Did the user join a team? One look, for whoever does nothing if not.
pub(crate) fn is_set_up(data_dir: &Path) -> bool {
    file(data_dir).exists()
}

pub(super) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::TEAM)
}

fn file(data_dir: &Path) -> PathBuf {
    folder(data_dir).join("state.json")
}

/// `postgres://anna@db.example.com/team` of `postgres://anna:secret@db.example.com/team?password=secret`.
pub(super) fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    // As the server's address is read, the login goes up to the first `@`, whatever its password holds.
    let (login, rest) = rest.split_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
    let (before, query) = rest.split_once('?').map_or((rest, None), |(before, query)| (before, Some(query)));
    let place = match login.and_then(|login| login.split([':', '/', '?']).next()) {
        // What stands before another `@` was meant as part of the password.
        Some(name) => format!("{name}@{}", before.rsplit('@').next().unwrap_or_default()),
        None => before.to_owned(),
    };
    let kept: Vec<&str> =
        query.into_iter().flat_map(|query| query.split('&')).filter(|one| !one.starts_with("password=")).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{place}{query}")
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://anna:s3cr:t@db.example.com/team", "postgres://anna@db.example.com/team"),
            ("postgres://anna@db.example.com/team?team=core", "postgres://anna@db.example.com/team?team=core"),
            ("postgres://anna@db/team?password=s3cret&team=core", "postgres://anna@db/team?team=core"),
            ("postgres://anna@%2Frun%2Fpg:5432/team", "postgres://anna@%2Frun%2Fpg:5432/team"),
            // A password goes up to the first `@`, whatever is in it; one with an `@` of its own is not shown in part either.
            ("postgres://anna:p?w@db/team", "postgres://anna@db/team"),
            ("postgres://anna:p/w?x=1&y@db/team?team=core", "postgres://anna@db/team?team=core"),
            ("postgres://anna:p?w@x@db/team?password=a@b", "postgres://anna@db/team"),
            ("postgres://anna@db/team?application_name=a@b", "postgres://anna@db/team?application_name=a@b"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
