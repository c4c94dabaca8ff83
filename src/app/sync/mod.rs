//! `recall sync`: one memory on several machines, over something that they share: a folder, a host, a bucket.
//!
//! What travels is what came of sessions and what people said; never a transcript. Each machine keeps its own index and writes only its own
//! files on the other side; crate `sync` carries them. Nothing of this is opened unless the user set it up.

mod forgotten_rows;
mod names;
mod places;
mod projects;
mod said;
mod sessions;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use sync::{Change, Inbox, Machine, RecordId, carrier};

use self::forgotten_rows::{ForgottenRows, ROWS};
use self::names::MachineNames;
pub(crate) use self::places::{
    AddedPlace, Encryption, MachineStatus, PlaceNow, PlaceRequest, PlacesNow, RemovedPlace, SyncStatus, add, choose_project,
    forget_machine, key_text, look, remove, status, way_out, write_key,
};
use self::projects::KnownProjects;
use self::said::{Outcome, StoredWord, WordTaker, is_said};
use self::sessions::{SESSION, SessionTaker, TakenSession};
pub(crate) use self::state::is_set_up;
use self::state::{Place, SyncState};
use super::digest::{alone, apply_policy, erase_traces, pages, write_documents};
use crate::app::Completion;
use crate::app::forget::forget_sessions;
use crate::config::Config;
use crate::policy::View;
use crate::store::error::is_store_error;
use crate::store::{Maintenance, Memory, Writer};
use crate::sys::failpoints;
use crate::sys::messages::Ui;
use text::clean::{counted, one_line, without_controls};
use transcripts::privacy::Sanitizer;
use transcripts::session::RecordKey;

/// What an exchange did.
#[derive(Debug, Default)]
pub(crate) struct Exchanged {
    /// Sessions of other machines that are new or changed here.
    pub(crate) sessions: usize,
    /// Sessions that other machines tell of no more.
    pub(crate) withdrawn: usize,
    /// Notes, closed items and the like that came in.
    pub(crate) said: usize,
    /// Sessions that were forgotten on another machine, and now here.
    pub(crate) forgotten: usize,
    /// Records that this machine wrote.
    pub(crate) sent: usize,
    /// Sessions whose machine is called something else now.
    pub(crate) renamed: usize,
    /// Places that could be read, and to which what waited could not be written.
    pub(crate) unwritten: usize,
    /// A place could not be reached, or something there could not be read.
    pub(crate) incomplete: bool,
}

impl Exchanged {
    fn changed_index(&self) -> bool {
        self.sessions + self.withdrawn + self.said + self.forgotten + self.renamed > 0
    }

    /// In one line.
    pub(crate) fn in_words(&self) -> String {
        let list = |counts: &[(usize, &str)]| -> Option<String> {
            let named = counts.iter().filter(|(count, _)| *count > 0).map(|(count, thing)| counted(*count, thing));
            let named: Vec<String> = named.collect();
            (!named.is_empty()).then(|| named.join(", "))
        };
        let parts = [
            list(&[(self.sessions, "session"), (self.said, "change")]).map(|what| format!("received {what}")),
            list(&[(self.withdrawn, "session")]).map(|what| format!("dropped {what} that another machine withdrew")),
            list(&[(self.forgotten, "session")]).map(|what| format!("forgot {what}, as another machine did")),
            list(&[(self.sent, "record")]).map(|what| format!("sent {what}")),
            list(&[(self.unwritten, "place")]).map(|what| format!("could not write to {what}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "nothing new".to_owned() } else { parts.join("; ") }
    }
}

/// Exchanges with all places now.
///
/// # Errors
/// When none is set up, a run is under way, or the index cannot be written.
pub(crate) fn run(config: &Config, ui: &Ui) -> Result<(Exchanged, Completion)> {
    if !is_set_up(&config.data_dir) {
        bail!("no place is set up: `recall sync add DIR` exchanges over a folder that your machines share");
    }
    let done = alone(config, ui, || {
        let mut store = Maintenance::open(&config.database())?;
        apply_policy(config, &mut store, ui)?;
        let done = exchange(config, &mut store, ui)?;
        erase_traces(&store, ui)?;
        Ok(done)
    })?;
    let completion = if done.incomplete || ui.warned() { Completion::Partly } else { Completion::Done };
    Ok((done, completion))
}

/// Exchanges with all places, for a caller that holds the run lock. Pages and documents of what came in are written.
///
/// # Errors
/// When what is known of the exchange cannot be read or kept, or the index cannot be written. A place that cannot be reached is told and
/// waits for the next time.
pub(crate) fn exchange(config: &Config, store: &mut Maintenance, ui: &Ui) -> Result<Exchanged> {
    let Some(mut state) = SyncState::load(&config.data_dir)? else { return Ok(Exchanged::default()) };
    let key = state::key(&config.data_dir)?;
    let sanitizer = config.sanitizer()?;
    let mut done = Exchanged::default();
    // An index from a copy, or a new one: what it lacks is handed over again, also what this machine said itself.
    let seen = store.exchanges()?;
    // The index has one more where an exchange was killed when all of it was there.
    let is_other_index = seen != state.exchanges && seen != state.exchanges + 1;
    if is_other_index {
        state.places.iter_mut().for_each(|place| place.inbox.reset());
        state.said.clear();
    } else {
        state.exchanges = seen;
    }
    let known = KnownProjects::of(keys(store)?, &config.home);
    if state.projects.can_place(&known) {
        // What was heard is heard again, and put in its place.
        state.places.iter_mut().for_each(|place| place.inbox.reset());
    }
    // What an exchange that was killed had put into the index is no word of this machine's.
    if !is_other_index {
        state.take_note_of(store.heard_in_part()?);
        state.hear_own(&said::stored(store, &known)?, store)?;
    }
    state.save(&config.data_dir)?;
    let was_cut_short = store.pages_may_lag()?;
    store.begin_lag()?;
    failpoints::point("own words kept");
    let mut places = std::mem::take(&mut state.places);
    let mut out_of_reach = BTreeSet::new();
    let (mut again, mut heard) = (BTreeSet::new(), false);
    for step in [Step::Hear, Step::HearAgain, Step::Tell] {
        if step == Step::HearAgain {
            if heard {
                drop_untold(&places, &mut state, store, &mut done, &mut again)?;
            }
            if again.is_empty() {
                continue;
            }
            places.iter_mut().for_each(|place| again.iter().for_each(|id| place.inbox.again(id)));
        }
        if step == Step::Tell && is_other_index {
            state.hear_own(&said::stored(store, &known)?, store)?;
        }
        let names = machine_names(&state.me, &places, store.machines_from_afar()?, &sanitizer);
        for place in &mut places {
            if out_of_reach.contains(&place.address) {
                continue;
            }
            let key = if place.encrypted { Some(key.as_ref().context(places::NO_KEY)?) } else { None };
            let mut exchange = Exchange {
                config,
                sanitizer: &sanitizer,
                known: &known,
                names: &names,
                store,
                state: &mut state,
                done: &mut done,
                ui,
                is_other_index,
                rows: BTreeSet::new(),
                again: &mut again,
                heard: &mut heard,
            };
            let taken = exchange.take(step, place, key);
            failpoints::point(if step == Step::Tell { "told" } else { "heard" });
            if let Err(e) = taken {
                if is_store_error(&e) {
                    return Err(e);
                }
                done.incomplete = true;
                out_of_reach.insert(place.address.clone());
                let what = format!("sync: {}: {}", shown(&place.address), why(&e));
                // A place may be out of reach for days, and the next exchange does; one that can be read and takes nothing stays so.
                if step == Step::Tell && !is_gone(&e) {
                    done.unwritten += 1;
                    ui.warn(&what);
                } else {
                    ui.note(&what);
                }
            }
        }
    }
    state.places = places;
    done.renamed = rename_machines(&state, &sanitizer, store)?;
    // What an exchange that was killed had heard is nothing new to this one.
    if done.changed_index() || was_cut_short {
        write_documents(store, ui)?;
        pages::write(config, store, false, ui)?;
        store.drop_empty_sessions()?;
    }
    store.end_lag()?;
    // Until every place was heard, it is another index.
    if is_other_index && !out_of_reach.is_empty() {
        state.save(&config.data_dir)?;
        return Ok(done);
    }
    // First the index, and for good: one that lags behind the state counts as another one, where nothing that was said since is told from what
    // was said before.
    state.exchanges += 1;
    store.lasting(|store| store.set_exchanges(state.exchanges))?;
    failpoints::point("exchange counted");
    state.save(&config.data_dir)?;
    failpoints::point("exchange kept");
    store.end_hearing()?;
    Ok(done)
}

fn machine_names(me: &Machine, places: &[Place], stored: Vec<(String, String)>, sanitizer: &Sanitizer) -> MachineNames {
    MachineNames::of(me, places, stored, |name| sanitizer.clean(name))
}

/// Calls the machines of sessions what they are called now. Returns of how many sessions the machine has another name.
fn rename_machines(state: &SyncState, sanitizer: &Sanitizer, store: &mut Writer) -> Result<usize> {
    let stored = store.machines_from_afar()?;
    let names = machine_names(&state.me, &state.places, stored, sanitizer);
    let mut renamed = 0;
    for (id, name) in names.all() {
        renamed += store.rename_machine(id, name)?;
    }
    Ok(renamed)
}

/// The projects of this machine: those with a session of its own, and those of notes whose folder is here.
fn keys(store: &Writer) -> Result<Vec<String>> {
    let own: BTreeSet<String> = store.sessions_from_here()?.into_iter().map(|head| head.project.key).collect();
    let mut elsewhere = BTreeSet::new();
    for (_, session) in store.sessions_from_afar()? {
        elsewhere.insert(store.session_head(session)?.project.key);
    }
    let is_here = |key: &String| own.contains(key) || !elsewhere.contains(key) && Path::new(key).is_dir();
    Ok(store.projects()?.into_iter().map(|(_, project)| project.key).filter(is_here).collect())
}

/// Removes sessions that an exchange put into the index before it was killed, and that their machine withdrew before the next one.
fn drop_untold(
    places: &[Place],
    state: &mut SyncState,
    store: &mut Writer,
    done: &mut Exchanged,
    again: &mut BTreeSet<RecordId>,
) -> Result<()> {
    for (session, pk) in store.sessions_from_afar()? {
        let Some(origin) = store.origin_of(pk)? else { continue };
        let id = RecordId { kind: SESSION.to_owned(), id: session };
        let told: Vec<bool> = places.iter().filter_map(|place| place.inbox.tells(&origin.machine, &id)).collect();
        if !told.is_empty() && !told.contains(&true) {
            state.keep_words_of(&id.id, store)?;
            store.remove_from_afar(pk)?;
            done.withdrawn += 1;
            again.insert(id);
        }
    }
    Ok(())
}

/// What is wrong at a place, and what to do.
fn why(e: &anyhow::Error) -> String {
    match e.downcast_ref() {
        Some(sync::Error::WrongKey { .. }) => "what other machines wrote there is encrypted with another key: run `recall sync key --output FILE` on one of them, move FILE here, run `recall sync add` with the same place and `--key FILE`, and delete FILE".to_owned(),
        Some(sync::Error::Gone { .. }) => format!("{}; the next exchange catches up", places::GONE),
        _ => format!("{e:#}; the next exchange catches up"),
    }
}

fn shown(text: &str) -> String {
    one_line(&without_controls(text))
}

/// Does a place that was there not exist? It reads like an empty one, so that only who writes hears of it.
fn is_gone(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(sync::Error::Gone { .. }))
}

/// First all places are heard, then all are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Hear,
    /// Those that tell of what another machine tells of no more.
    HearAgain,
    Tell,
}

/// An exchange with one place.
struct Exchange<'a> {
    config: &'a Config,
    sanitizer: &'a Sanitizer,
    known: &'a KnownProjects,
    /// As far as machines were known when this began.
    names: &'a MachineNames,
    store: &'a mut Maintenance,
    state: &'a mut SyncState,
    done: &'a mut Exchanged,
    ui: &'a Ui,
    /// The index is not the one of the last exchange.
    is_other_index: bool,
    /// Keys of records that were forgotten elsewhere.
    rows: BTreeSet<RecordKey>,
    /// Records of which one machine's word was stored and goes: another one's comes in its place.
    again: &'a mut BTreeSet<RecordId>,
    /// Something was read.
    heard: &'a mut bool,
}

impl Exchange<'_> {
    fn take(&mut self, step: Step, place: &mut Place, key: Option<&sync::Key>) -> Result<()> {
        let carrier = carrier(&place.address)?;
        match step {
            Step::Hear | Step::HearAgain => self.hear(place, carrier.as_ref(), key),
            Step::Tell => match self.tell(place, carrier.as_ref(), key) {
                Err(e) if matches!(e.downcast_ref(), Some(sync::Error::Doubled { .. })) => {
                    self.ui.warn(&format!(
                        "sync: somebody else writes as this machine at {}: a copy of this disk, or this machine before its data was restored. From now on it has an id of its own; if the other one is no more, `recall sync forget-machine {}` deletes what it left",
                        shown(&place.address),
                        self.state.me.id
                    ));
                    self.state.go_on_as_another()?;
                    self.tell(place, carrier.as_ref(), key)
                }
                told => told,
            },
        }
    }

    /// Takes what other machines tell.
    fn hear(&mut self, place: &mut Place, carrier: &dyn sync::Carrier, key: Option<&sync::Key>) -> Result<()> {
        let mut forget = BTreeSet::new();
        let read = self.read(place, carrier, key, &mut forget);
        // Also if the rest could not be read: what was heard of is taken note of.
        self.done.forgotten += self.store.forget_rows(&std::mem::take(&mut self.rows))?;
        if !forget.is_empty() {
            self.done.forgotten += forget_sessions(&forget, self.config, self.store, self.ui)?;
        }
        let taken = read?;
        place.note_news(self.config.now());
        *self.heard |= !taken.machines.is_empty();
        for bad in &taken.set_aside {
            self.done.incomplete = true;
            self.ui.warn(&format!("sync: {}: {}: not read", shown(&bad.name), shown(&bad.why)));
        }
        for machine in &taken.incomplete {
            let name = shown(&self.names.called(machine));
            self.ui.note(&format!("sync: not all that {name} wrote has arrived: the next exchange takes it"));
        }
        self.retry_waiting()
    }

    fn read(
        &mut self,
        place: &mut Place,
        carrier: &dyn sync::Carrier,
        key: Option<&sync::Key>,
        forget: &mut BTreeSet<String>,
    ) -> Result<sync::Taken> {
        let me = self.state.me.clone();
        if self.is_other_index {
            // Nobody: so that its own words are handed over, too.
            let nobody = Machine::new(String::new())?;
            Inbox::default().read(carrier, key, &nobody, &mut |machine, change| match change {
                Change::Put(record) if machine.id == me.id && record.id.kind != SESSION => {
                    self.change(machine, Change::Put(record), forget)
                }
                _ => Ok(()),
            })?;
        }
        Ok(place.inbox.read(carrier, key, &me, &mut |machine, change| self.change(machine, change, forget))?)
    }

    fn change(&mut self, machine: &Machine, change: Change, forget: &mut BTreeSet<String>) -> Result<()> {
        let (id, taken) = match change {
            Change::Withdrawn(id) if id.kind == SESSION => {
                if sessions::is_from(machine, &id.id, self.store)? {
                    self.state.keep_words_of(&id.id, self.store)?;
                    sessions::remove(&id.id, self.store)?;
                    self.done.withdrawn += 1;
                }
                // Also if an exchange that was killed had removed it.
                if sessions::is_wanted(&id.id, self.store)? {
                    self.again.insert(id);
                }
                return Ok(());
            }
            Change::Withdrawn(id) if id.kind == ROWS => return Ok(()),
            Change::Withdrawn(id) => {
                self.state.adopt(machine, &id);
                return Ok(());
            }
            Change::Put(record) if record.id.kind == SESSION => {
                let taker = SessionTaker {
                    config: self.config,
                    sanitizer: self.sanitizer,
                    known: self.known,
                    here: self.config.project_keys(),
                    oldest: self.config.retention.oldest(self.config.now()),
                };
                let taken = taker.take(machine, &record, self.store, &mut self.state.projects);
                let taken = taken.map(|taken| {
                    self.done.sessions += usize::from(taken != TakenSession::Not);
                    if taken == TakenSession::Shorter {
                        self.again.insert(record.id.clone());
                    }
                });
                (record.id, taken)
            }
            Change::Put(record) if is_said(&record.id) => {
                if !self.state.is_later(machine, &record) {
                    return Ok(());
                }
                let id = record.id.clone();
                (id, self.word(machine, &record, forget))
            }
            Change::Put(record) if record.id.kind == ROWS => {
                let keys = forgotten_rows::keys(&record);
                (record.id, keys.map(|keys| self.rows.extend(keys)))
            }
            // Of a later recall.
            Change::Put(_) => return Ok(()),
        };
        // What one machine got wrong must not keep others from being heard.
        taken.or_else(|e| {
            if is_store_error(&e) {
                return Err(e);
            }
            self.done.incomplete = true;
            let name = shown(&self.names.called(machine));
            self.ui.warn(&format!("sync: {} {} of {name}: {e:#}: left out", id.kind, shown(&id.id)));
            Ok(())
        })
    }

    fn word(&mut self, machine: &Machine, record: &sync::Record, forget: &mut BTreeSet<String>) -> Result<()> {
        let body = record.body.as_ref().map(|body| body.get());
        if let Some(text) = self.state.text_over_unknown(record)
            && let Some(kept) = said::keep_replaced(&record.id.id, &text, self.store)?
        {
            let (note, name) = (shown(&record.id.id), shown(&self.names.called(machine)));
            self.ui.note(&format!(
                "sync: note {note} was changed here and on {name}, whose text it has now; yours is kept as note {kept}"
            ));
        }
        let outcome = self.take_word(&record.id, body)?;
        self.state.waiting.remove(&record.id);
        // Anything else is heard again if the exchange is killed.
        let is_settled = matches!(outcome, Outcome::Stored | Outcome::LeftOut);
        let stored = match outcome {
            Outcome::Stored => self.stored_word(&record.id)?,
            Outcome::LeftOut => None,
            Outcome::Waits => {
                self.state.waiting.insert(record.id.clone(), said::without_text(&record.id, body.unwrap_or_default())?);
                None
            }
            Outcome::Forget(session) => {
                forget.insert(session);
                Some(said::forgotten_word()?)
            }
        };
        let heard = self.state.heard(machine, record, stored.as_ref());
        if is_settled {
            self.store.note_heard(&serde_json::to_string(&record.id)?, &heard)?;
        }
        self.done.said += 1;
        Ok(())
    }

    fn take_word(&mut self, id: &RecordId, body: Option<&str>) -> Result<Outcome> {
        let taker = WordTaker { config: self.config, sanitizer: self.sanitizer, known: self.known };
        taker.take(id, body, self.store, &mut self.state.projects)
    }

    fn stored_word(&self, id: &RecordId) -> Result<Option<StoredWord>> {
        said::stored_one(self.store, self.known, id)
    }

    /// What waited for a session or note may have it now.
    fn retry_waiting(&mut self) -> Result<()> {
        for (id, body) in self.state.waiting.clone() {
            if said::is_of_forgotten(&id, self.store)? {
                self.state.waiting.remove(&id);
                continue;
            }
            if let Outcome::Stored = self.take_word(&id, Some(&body))? {
                self.state.waiting.remove(&id);
                let hash = self.stored_word(&id)?;
                self.state.arrived(&id, hash.as_ref());
            }
        }
        Ok(())
    }

    /// Writes what this machine tells: what its index holds, as far as today's policy shows it.
    fn tell(&mut self, place: &mut Place, carrier: &dyn sync::Carrier, key: Option<&sync::Key>) -> Result<()> {
        let memory = Memory::beside_writer(self.store, &self.config.policy(View::Owner))?;
        let visible = said::stored(&memory, self.known)?;
        let mut now: BTreeMap<RecordId, u64> = sessions::told_here(&memory)?;
        let rows = ForgottenRows::of(self.store)?;
        now.extend(self.state.said_here(&visible));
        now.extend(rows.versions());
        let greeting = places::greeting(&self.state.me);
        now.insert(greeting.clone(), 1);
        let versions = now.clone();
        let mut load = |id: &RecordId| match id.kind.as_str() {
            SESSION => {
                let version = versions.get(id).copied().unwrap_or_default();
                sessions::record(id, version, (&memory, self.sanitizer), self.known)
            }
            ROWS => rows.record(id),
            _ if *id == greeting => places::greeting_record(id),
            _ => self.state.said_record(id, &visible),
        };
        if place.told_as != self.state.me.id {
            // Also under its former id it told there: what is gone now is not made anew.
            place.outbox.list(carrier)?;
            place.outbox = sync::Outbox::default();
            place.told_as.clone_from(&self.state.me.id);
        }
        let data_dir = &self.config.data_dir;
        let address = place.address.clone();
        let mut save = |outbox: &sync::Outbox| state::save_outbox(data_dir, &address, outbox);
        let told = place.outbox.publish(carrier, key, &self.state.me, &now, &mut load, &mut save)?;
        self.done.sent += told.records;
        (place.records, place.exchanged_at) = (now.len(), Some(self.config.now()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_elsewhere_reads_well_in_any_number() {
        let words = |forgotten| Exchanged { forgotten, ..Exchanged::default() }.in_words();
        assert_eq!(words(1), "forgot 1 session, as another machine did");
        assert_eq!(words(2), "forgot 2 sessions, as another machine did");
    }
}
