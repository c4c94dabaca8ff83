//! Joining a team, sharing and reading, leaving.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result, bail, ensure};
use team::{CheckIn, Client, Deadlines, Pushed, Record, RecordId, Team, Withdrawal};

use super::elsewhere::withdraw_forgotten;
use super::inbox::{keep, keep_only};
use super::kept_back::{self, kept_back};
use super::meaning::describe;
use super::projects::{TeamProject, team_projects};
use super::state::{ItemId, TeamState, folder, is_set_up, without_password};
use super::to_share::ToShare;
use crate::app::Completion;
use crate::app::digest::{alone, apply_policy, erase_traces, take_in_team_files};
use crate::config::Config;
use crate::store::{Maintenance, WholeIndex};
use crate::sys::failpoints;
use crate::sys::messages::Ui;
use text::clean::{counted, one_line, without_controls};

/// How many records are made before they are sent.
const BATCH: usize = 500;
/// By how much of its name another installation is told.
const NAME_CHARS: usize = 12;
pub(super) const NO_TEAM: &str = "you are in no team: `recall team join URL` joins one";

/// A team that was joined.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The address of the server, without a password.
    pub(crate) address: String,
    /// The projects that the team has, by the addresses of their repositories, and whether this machine may share in each.
    pub(crate) projects: Vec<(String, bool)>,
    /// The keys of the user's projects that are among them.
    pub(crate) here: Vec<String>,
    /// Those of them that the config lets the team have.
    pub(crate) shared: Vec<String>,
}

/// Joins a team. Nothing is shared yet.
///
/// # Errors
/// When the user is in one already, the server cannot be reached, or nobody invited them.
pub(crate) fn join(config: &Config, url: &str) -> Result<Joined> {
    alone(config, &Ui::default(), || join_alone(config, url))
}

fn join_alone(config: &Config, url: &str) -> Result<Joined> {
    let mut state = match TeamState::load(&config.data_dir)? {
        None => TeamState::new(url.to_owned())?,
        Some(known) => {
            let (before, wanted) = (known.shown_address(), without_password(url));
            ensure!(before == wanted, "this machine is in a team at {before} already: `recall team leave` leaves it");
            // Perhaps with a new password.
            TeamState { url: url.to_owned(), ..known }
        }
    };
    let mut client = Client::join(url, &state.machine, Deadlines::default())?;
    state.heard_policies(client.policies()?);
    let projects = client.listed_projects();
    state.reached(config.now());
    state.save(&config.data_dir)?;
    let addresses: BTreeSet<&str> = projects.iter().map(|project| project.name.as_str()).collect();
    let here = match WholeIndex::open_if_there(&config.database())? {
        Some(store) => team_projects(&store, config)?,
        None => Vec::new(),
    };
    let here: Vec<TeamProject> = here.into_iter().filter(|project| addresses.contains(project.address.as_str())).collect();
    let keys = |wanted: fn(&TeamProject) -> bool| here.iter().filter(|one| wanted(one)).map(|one| one.key.clone()).collect();
    Ok(Joined {
        address: state.shown_address(),
        here: keys(|_| true),
        shared: keys(|one| one.consent.share),
        projects: projects.iter().map(|project| (project.name.clone(), project.may_write)).collect(),
    })
}

/// What an exchange did.
#[derive(Debug, Default)]
pub(crate) struct Exchanged {
    /// Records that the server took.
    sent: usize,
    withdrawn: usize,
    /// Records that it did not take.
    refused: usize,
    /// Records that were not sent, because a policy of the team forbids them.
    kept: usize,
    /// Statements of others that are new or changed, and that are gone.
    received: usize,
    removed: usize,
    /// Projects of which nothing was sent, because the user has not agreed to it yet.
    unconfirmed: usize,
    /// The user lets the team have no project.
    pub(crate) shares_nothing: bool,
    /// Why the server has no vectors of some that it has.
    not_described: Option<String>,
}

impl Exchanged {
    /// In one line.
    pub(crate) fn in_words(&self) -> String {
        let parts = [
            ("shared", self.sent, "record"),
            ("withdrew", self.withdrawn, "record"),
            ("not taken by the server:", self.refused, "record"),
            ("kept here by the policy of your team:", self.kept, "record"),
            ("received", self.received, "statement"),
            ("removed", self.removed, "statement"),
        ];
        let told = parts.into_iter().filter(|(_, count, _)| *count > 0);
        let told = told.map(|(verb, count, thing)| format!("{verb} {}", counted(count, thing)));
        let described = self.not_described.iter().map(|why| format!("until later, found only by words: {why}"));
        let unconfirmed = (self.unconfirmed > 0).then(|| {
            format!("{} not shared until you agree: `recall team` shows what would go", counted(self.unconfirmed, "project"))
        });
        let told: Vec<String> = told.chain(unconfirmed).chain(described).collect();
        if told.is_empty() { "nothing new".to_owned() } else { told.join("; ") }
    }
}

/// Exchanges with the server now. `confirmed`: the projects, by address, of which the user just saw what leaves and agreed.
///
/// # Errors
/// When the user is in no team, a run is under way, the server cannot be reached, or the index cannot be written.
pub(crate) fn run(config: &Config, confirmed: &[String], ui: &Ui) -> Result<(Exchanged, Completion)> {
    ensure!(is_set_up(&config.data_dir), NO_TEAM);
    let done = alone(config, ui, || {
        let Some(mut state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
        let mut store = Maintenance::open(&config.database())?;
        apply_policy(config, &mut store, ui)?;
        state.confirmed.extend(confirmed.iter().cloned());
        let done = exchange_now(config, &mut store, &mut state, true, ui)?;
        erase_traces(&store, ui)?;
        Ok(done)
    })?;
    let completion = if done.refused > 0 || done.unconfirmed > 0 || ui.warned() { Completion::Partly } else { Completion::Done };
    Ok((done, completion))
}

/// Exchanges with the server, for a digest, which holds the run lock. `None` while it waits after failures. A server that cannot be reached is
/// told, and asked again later.
///
/// # Errors
/// When what is known of the team cannot be read or kept, or the index cannot be written.
pub(crate) fn exchange(config: &Config, store: &mut Maintenance, ui: &Ui) -> Result<Option<String>> {
    let Some(mut state) = TeamState::load(&config.data_dir)? else { return Ok(None) };
    if state.wait_until.is_some_and(|until| config.now() < until) {
        return Ok(None);
    }
    match exchange_now(config, store, &mut state, false, ui) {
        Ok(done) => Ok(Some(done.in_words())),
        Err(e) if e.downcast_ref::<team::Error>().is_some() => {
            let why = state.failure_in_words(config).unwrap_or_else(|| one_line(&without_controls(&format!("{e:#}"))));
            ui.note(&format!("team: {why}"));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

fn exchange_now(config: &Config, store: &mut Maintenance, state: &mut TeamState, by_hand: bool, ui: &Ui) -> Result<Exchanged> {
    let mut exchange = Exchange {
        config,
        ui,
        projects: team_projects(store, config)?,
        taken_back: store.forgotten_sessions()?.into_iter().chain(kept_back(&config.data_dir)?).collect(),
        done: Exchanged::default(),
        has_new: false,
    };
    let done = exchange.all(state, by_hand);
    match &done {
        Ok(_) => state.reached(config.now()),
        Err(e) => state.failed(config.now(), &one_line(&without_controls(&format!("{e:#}")))),
    }
    state.save(&config.data_dir)?;
    // Also what came before a failure. A digest has taken in already what an exchange left that was killed.
    if by_hand || exchange.has_new {
        take_in_team_files(config, store)?;
    }
    done.map(|()| exchange.done)
}

/// An exchange under way.
struct Exchange<'a> {
    config: &'a Config,
    ui: &'a Ui,
    /// Those of this machine.
    projects: Vec<TeamProject>,
    /// The sessions that the user forgot or keeps back.
    taken_back: HashSet<String>,
    done: Exchanged,
    /// Files of statements came, changed or went.
    has_new: bool,
}

impl Exchange<'_> {
    fn all(&mut self, state: &mut TeamState, by_hand: bool) -> Result<()> {
        let to_share = ToShare::of(&self.confirmed(state), self.config)?;
        state.plan(&to_share);
        state.prepare_token()?;
        // Before anything is sent: a version that may have been sent is never given to something else.
        state.save(&self.config.data_dir)?;
        failpoints::point("team planned");
        let mut client = self.checked_in(&to_share, state)?;
        // First: what they forbid is not sent at all.
        state.heard_policies(client.policies()?);
        self.withdraw_elsewhere(state, &mut client)?;
        self.withdraw(state, &mut client)?;
        self.send(&to_share, state, &mut client, by_hand)?;
        self.read(state, &mut client)?;
        // At last: without vectors, all is shared and read.
        if let Err(e) = describe(self.config, &to_share, state, &mut client) {
            self.done.not_described = Some(one_line(&without_controls(&format!("{e:#}"))));
        }
        Ok(())
    }

    /// A client under a name that no other machine has. If this one was copied, whoever comes second takes a new name, and shares under that.
    fn checked_in(&self, to_share: &ToShare<'_>, state: &mut TeamState) -> Result<Client> {
        let come = |state: &TeamState| -> Result<(Client, CheckIn)> {
            let mut client = Client::join(&state.url, &state.machine, Deadlines::default())?;
            let came = client.check_in(state.token.as_deref(), state.next_token.as_deref().unwrap_or_default())?;
            Ok((client, came))
        };
        let (mut client, mut came) = come(state)?;
        if came == CheckIn::Taken {
            let before = state.go_on_as_another()?;
            self.ui.warn(&format!(
                "team: somebody else shares under this machine's name: a copy of this disk, or this machine before its data was restored. This machine now has a name of its own, and leaves what the other shared as it is. If the other no longer exists, `recall team withdraw {}` deletes what it shared",
                before.get(..NAME_CHARS).unwrap_or(&before)
            ));
            state.plan(to_share);
            state.save(&self.config.data_dir)?;
            (client, came) = come(state)?;
        }
        if came == CheckIn::Doubled {
            self.ui.warn(
                "team: a copy of this machine's data came to your team's server, and has a name of its own from now on: `recall team status` lists what it shares",
            );
        }
        state.left_token();
        state.save(&self.config.data_dir)?;
        failpoints::point("team came");
        Ok(client)
    }

    /// The projects, without those that the user lets the team have and has not agreed to yet. Whoever takes a project back is asked again.
    fn confirmed(&mut self, state: &mut TeamState) -> Vec<TeamProject> {
        let shared: BTreeSet<&String> = self.projects.iter().filter(|one| one.consent.share).map(|one| &one.address).collect();
        state.confirmed.retain(|address| shared.contains(address));
        self.done.shares_nothing = shared.is_empty();
        let new: BTreeSet<String> = shared.into_iter().filter(|address| !state.is_confirmed(address)).cloned().collect();
        self.done.unconfirmed = new.len();
        let mut projects = self.projects.clone();
        projects.iter_mut().filter(|one| new.contains(&one.address)).for_each(|one| one.consent.share = false);
        projects
    }

    /// What the user forgot or keeps back here is forgotten wherever they shared it from. Before what this machine shared, which is known until then.
    fn withdraw_elsewhere(&mut self, state: &TeamState, client: &mut Client) -> Result<()> {
        let shared: BTreeSet<&str> = self.projects.iter().filter(|one| one.consent.share).map(|one| one.address.as_str()).collect();
        let gone = state.to_withdraw().into_iter().map(|(id, _)| id).filter(|id| shared.contains(id.project.as_str())).collect();
        self.done.withdrawn += withdraw_forgotten(client, state, &self.taken_back, &gone)?;
        Ok(())
    }

    fn withdraw(&mut self, state: &mut TeamState, client: &mut Client) -> Result<()> {
        let gone = state.to_withdraw();
        if gone.is_empty() {
            return Ok(());
        }
        let records: Vec<Withdrawal> =
            gone.iter().map(|(id, version)| Withdrawal { id: record_id(id), version: *version }).collect();
        client.withdraw(&records)?;
        self.done.withdrawn += gone.len();
        state.withdrawn(&gone);
        state.save(&self.config.data_dir)
    }

    fn send(&mut self, to_share: &ToShare<'_>, state: &mut TeamState, client: &mut Client, by_hand: bool) -> Result<()> {
        for batch in state.to_send(self.config.now(), by_hand).chunks(BATCH) {
            let (mut records, mut kept) = (Vec::new(), Vec::new());
            for (id, version) in batch {
                // Before it is made: most that a policy forbids is of a kind that it forbids.
                if let Some(why) = state.policies.refusal(&record_id(id)) {
                    kept.push((id.clone(), why));
                    continue;
                }
                let Some(text) = to_share.text(id)? else { continue };
                let record = Record { id: record_id(id), version: *version, body: text.body, search: text.search };
                match state.policies.refusal_of(&record) {
                    Some(why) => kept.push((id.clone(), why)),
                    None => records.push(record),
                }
            }
            let pushed = if records.is_empty() { Pushed::default() } else { client.push(&records)? };
            let mut refused: Vec<(ItemId, String)> = pushed.refused.into_iter().map(|(id, why)| (item_id(id), why)).collect();
            self.done.refused += refused.len();
            self.done.kept += kept.len();
            refused.extend(kept);
            let ids = batch.iter().map(|(id, _)| id.clone()).collect();
            self.done.sent += state.sent(&ids, &refused, self.config.now());
            self.withdraw_outdated(&refused, state, client)?;
            state.save(&self.config.data_dir)?;
            failpoints::point("team told");
        }
        Ok(())
    }

    /// What changed and may not go there any more: the server does not keep what it said before.
    fn withdraw_outdated(&mut self, refused: &[(ItemId, String)], state: &mut TeamState, client: &mut Client) -> Result<()> {
        let outdated = state.outdated(refused);
        if outdated.is_empty() {
            return Ok(());
        }
        // First, so that the version that is withdrawn is given to nothing else.
        state.save(&self.config.data_dir)?;
        let withdrawals: Vec<Withdrawal> =
            outdated.iter().map(|(id, version)| Withdrawal { id: record_id(id), version: *version }).collect();
        client.withdraw(&withdrawals)?;
        state.none_stands(&outdated);
        self.done.withdrawn += outdated.len();
        Ok(())
    }

    /// Reads what others share of the projects that are here and that the user may read.
    fn read(&mut self, state: &mut TeamState, client: &mut Client) -> Result<()> {
        let listed = client.listed_projects().iter().filter(|project| project.may_read);
        let readable: BTreeSet<&str> = listed.map(|project| project.name.as_str()).collect();
        let addresses = self.projects.iter().map(|project| &project.address);
        let here: BTreeSet<String> = addresses.filter(|address| readable.contains(address.as_str())).cloned().collect();
        self.has_new |= keep_only(&self.config.data_dir, &here)?;
        state.read_to.retain(|address, _| here.contains(address));
        for address in &here {
            loop {
                let after = state.read_to.get(address).copied().unwrap_or_default();
                let page = client.pull(address, after, BATCH)?;
                for shared in &page.records {
                    let is_own = shared.machine == state.machine;
                    if !is_own && keep(&self.config.data_dir, address, shared)? {
                        let count = if shared.body.is_some() { &mut self.done.received } else { &mut self.done.removed };
                        *count += 1;
                        self.has_new = true;
                    }
                }
                state.read_to.insert(address.clone(), page.after);
                state.save(&self.config.data_dir)?;
                failpoints::point("team heard");
                if !page.more {
                    break;
                }
            }
        }
        Ok(())
    }
}

pub(super) fn record_id(id: &ItemId) -> RecordId {
    RecordId { project: id.project.clone(), kind: id.kind.clone(), id: id.id.clone() }
}

fn item_id(id: RecordId) -> ItemId {
    ItemId { project: id.project, kind: id.kind, id: id.id }
}

/// Leaves the team: what the user shared from any machine is erased on the server, and what others shared is removed here. `only_here`: the
/// server is not asked, and keeps what was shared.
///
/// # Errors
/// When the user is in no team, or the server cannot be reached.
pub(crate) fn leave(config: &Config, only_here: bool, ui: &Ui) -> Result<()> {
    ensure!(is_set_up(&config.data_dir), NO_TEAM);
    alone(config, ui, || leave_alone(config, only_here, ui))
}

fn leave_alone(config: &Config, only_here: bool, ui: &Ui) -> Result<()> {
    let Some(state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
    if !only_here {
        match Client::join(&state.url, &state.machine, Deadlines::default()) {
            Ok(client) => client.leave().map(drop)?,
            // They left on another machine.
            Err(team::Error::NoMember { .. }) => {}
            Err(e) => return Err(e).context(
                "you are still in the team, and nothing was erased: `recall team leave --only-here` forgets the team on this machine alone, and the server keeps what was shared",
            ),
        }
    }
    let folder = folder(&config.data_dir);
    forget_team(&folder, &kept_back::file(&config.data_dir)).with_context(|| format!("cannot remove {}", folder.display()))?;
    let mut store = Maintenance::open(&config.database())?;
    take_in_team_files(config, &mut store)?;
    erase_traces(&store, ui)
}

/// Removes what is in the folder of the team, but for the list of what the user keeps back from any.
fn forget_team(folder: &Path, kept_back: &Path) -> io::Result<()> {
    if !kept_back.exists() {
        return fs::remove_dir_all(folder);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false if path != kept_back => fs::remove_file(&path)?,
            false => {}
        }
    }
    Ok(())
}

/// Makes the schema in a database, or brings an older one up to date.
///
/// # Errors
/// When the login may not do that.
pub(crate) fn prepare(admin_url: &str) -> Result<()> {
    Ok(Team::prepare(admin_url).map(drop)?)
}
