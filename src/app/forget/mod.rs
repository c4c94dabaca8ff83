//! `recall forget`: deletes sessions, or whatever contains a text, from the memory for good.
//!
//! Ingests first, so that new records are known by their keys and stay out as well. Then the index, the pages and the files
//! beside them are cleaned, in an order in which an interrupted run can be repeated.

pub(crate) mod current_session;
mod files;
mod preview;
pub(crate) mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

use self::preview::Preview;
use super::digest::{alone, ingest_only, pages, restore_notes, take_back_notes, write_documents};
use crate::app::forget::target::ForgetSelection;
use crate::app::{Completion, consent, orphans};
use crate::config::Config;
use crate::inputs::team_files::{MAX_FILES, read, team_paths};
use crate::model::team_file::TeamFile;
use crate::store::error::{is_damage, is_store_error};
use crate::store::files_beside;
use crate::store::forget::{Permanence, RemovalPlan, RemovalSize};
use crate::store::leftovers;
use crate::store::pages::UnreadPages;
use crate::store::{Maintenance, Reader, Writer};
use crate::sys::failpoints;
use crate::sys::messages::Ui;
use text::clean::{counted, without_controls};

/// What is to be forgotten, as a person says it.
#[derive(Debug, Clone)]
pub(crate) struct ForgetRequest {
    pub(crate) what: ForgetTarget,
    /// Do not ask.
    pub(crate) yes: bool,
    /// Change nothing; report what would go.
    pub(crate) dry_run: bool,
}

/// Which sessions and notes are meant.
#[derive(Debug, Clone)]
pub(crate) enum ForgetTarget {
    /// The session the command is run in.
    This,
    /// One session, by its id or the start of it.
    Session(String),
    /// One note, likewise.
    Note(String),
    /// All of the projects whose root matches this glob.
    Project(String),
    /// All that was last active before this date, or longer ago than this age.
    Before(String),
    /// Whatever holds this text.
    Matching(String),
}

pub(crate) fn run(request: &ForgetRequest, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let what = ForgetSelection::from_args(request, config)?;
    let ui = Ui::default();
    if request.dry_run {
        Preview::find(&what, config, &ui)?.print(out)?;
    } else {
        ask_first(&what, request.yes, config, &ui)?;
        alone(config, &ui, || forget(&what, config, &ui, out))?;
    }
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Shows a person what would go and asks whether it shall: unless it was said beforehand, or an agent takes back its own live session. That
/// the newest session of a folder is the one that is meant is a guess, which nobody can have confirmed beforehand.
///
/// # Errors
/// When it shall not go, or nobody can be asked.
fn ask_first(what: &ForgetSelection, yes: bool, config: &Config, ui: &Ui) -> Result<()> {
    let guessed = match what {
        ForgetSelection::This(session) if session.guessed.is_none() => return Ok(()),
        ForgetSelection::This(session) => session.guessed,
        _ if yes => return Ok(()),
        _ => None,
    };
    let otherwise = "`--dry-run` shows what would be deleted, `--yes` deletes it for good without asking";
    let question = match guessed {
        Some(at) => {
            format!("Forget the newest session of this folder, last active {}?", config.local_time(Some(at), "%Y-%m-%d %H:%M"))
        }
        None => "Forget this for good?".to_owned(),
    };
    if !consent::has_terminal() {
        return consent::confirm_change(&question, otherwise);
    }
    let preview = Preview::find(what, config, ui)?;
    if preview.is_empty() {
        return Ok(());
    }
    consent::confirm_change(&format!("{}{question}", preview.in_short()?), otherwise)
}

/// What was deleted, or would be.
struct ForgetSummary {
    whole: usize,
    in_part: usize,
    extent: RemovalSize,
    /// Sessions that were shut out before anything of them was stored.
    shut_out: usize,
    notes: Vec<(String, usize)>,
    /// Notes remembered on request.
    remembered: usize,
    /// Memory files of Claude's, and files that teams keep.
    memory_files: usize,
    team_files: usize,
    /// Pages whose session the index does not know.
    orphans: usize,
}

impl ForgetSummary {
    fn new(doomed: &RemovalPlan, store: &Reader, shut_out: usize) -> Result<Self> {
        let (whole, all) = (doomed.whole.len(), doomed.sessions().len());
        let team_files =
            if doomed.memory_files.is_empty() { 0 } else { store.team_files()?.intersection(&doomed.memory_files).count() };
        Ok(Self {
            whole,
            in_part: all - whole,
            extent: store.removal_size(doomed)?,
            shut_out,
            notes: Vec::new(),
            remembered: doomed.notes.len(),
            memory_files: doomed.memory_files.len() - team_files,
            team_files,
            orphans: 0,
        })
    }

    fn is_empty(&self) -> bool {
        self.whole
            + self.in_part
            + self.shut_out
            + self.notes.len()
            + self.remembered
            + self.memory_files
            + self.team_files
            + self.orphans
            == 0
    }
}

fn forget(what: &ForgetSelection, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let mut store = Maintenance::open(&config.database())?;
    // Durability can wait: what is ingested on the way can be ingested again by any later run.
    store.relax_durability()?;
    store.lasting(|store| take_back_notes(config, store, ui))?;
    if store.unread_pages()?.is_some() {
        store.lasting(|store| store.record_unread_pages(UnreadPages::AfterForget))?;
    }
    let shut_out = ingest_and_shut_out(what, config, &mut store, ui)?;
    // Of projects that only transcripts know.
    store.lasting(|store| restore_notes(config, store, ui))?;
    failpoints::point("taken in before forgetting");
    let doomed = what.find(config, &store)?;
    let mut account = ForgetSummary::new(&doomed, &store, shut_out)?;
    let orphans = what.find_orphans(config, &store)?;
    account.orphans = orphans.len();
    let shared = shared_files(&doomed, &store)?;
    if store.unread_pages()?.is_some() {
        // They go with what was read again of their sessions.
        store.lasting(|store| pages::record_outlived(&doomed.sessions(), config, store))?;
    }
    let mut ids = doomed.whole.iter().map(|pk| Ok(store.session_head(*pk)?.id)).collect::<Result<Vec<_>>>()?;
    store.lasting(|store| store.take_out(&doomed, Permanence::ForGood))?;
    failpoints::point("taken out");
    remove_quarantined(config, out)?;
    if let ForgetSelection::Text(phrase) = what {
        store.lasting(|store| store.remove_text(phrase))?;
        account.notes = files::remove_from_notes(phrase, config, ui)?;
    }
    write_pages(what, config, &mut store, ui)?;
    store.lasting(|store| orphans.iter().try_for_each(|orphan| store.shut_out(&orphan.session)))?;
    ids.extend(orphans.into_iter().map(|orphan| orphan.session));
    orphans::remove(&orphans::of_sessions(&ids, config, &store)?, config, &mut store, ui)?;
    failpoints::point("pages cleaned");
    if !account.is_empty() || matches!(what, ForgetSelection::Text(_)) {
        files::remove_traces(config, &ids, |line| what.is_in(line))?;
    }
    leftovers::remove_half_written_anywhere(&config.data_dir);
    failpoints::point("traces dropped");
    erase_and_copy(config, &store, ui)?;
    verify_gone(what, config, &store, ui)?;
    print_summary(&account, "forgot", out)?;
    for file in shared {
        let file = without_controls(&file.display().to_string()).into_owned();
        writeln!(
            out,
            "one of these notes is also in {file}, which recall does not change: delete that file for your team as well"
        )?;
    }
    if account.in_part > 0 {
        writeln!(out, "`recall digest` makes new digests for what is left of these sessions")?;
    }
    Ok(())
}

/// The files in their repositories in which notes were shared.
fn shared_files(doomed: &RemovalPlan, store: &Reader) -> Result<Vec<PathBuf>> {
    if doomed.notes.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for note in store.notes()?.into_iter().filter(|note| doomed.notes.contains(&note.pk)) {
        ids.entry(note.project.key).or_default().insert(note.id);
    }
    let of_project = |(project, ids): (String, BTreeSet<String>)| {
        let files = team_paths(Path::new(&project), MAX_FILES).into_iter().map(|file| file.path);
        files.filter(move |file| read(file).is_some_and(|text| ids.contains(&TeamFile::read(&text).id)))
    };
    Ok(ids.into_iter().flat_map(of_project).collect())
}

/// Forgets sessions that were forgotten on another machine, whether they are known here or not. Pages on record are left to the caller.
/// Returns how many were known.
///
/// # Errors
/// When the index cannot be written, or a page or a trace cannot be removed.
pub(crate) fn forget_sessions(ids: &BTreeSet<String>, config: &Config, store: &mut Maintenance, ui: &Ui) -> Result<usize> {
    let ids: Vec<String> = ids.iter().cloned().collect();
    // Before the sessions are shut out: of one that is, whoever is interrupted does not come back here.
    orphans::remove(&orphans::of_sessions(&ids, config, store)?, config, store, ui)?;
    let mut whole = BTreeSet::new();
    for id in &ids {
        store.lasting(|store| store.shut_out(id))?;
        whole.extend(store.session_pk(id)?);
    }
    let (known, doomed) = (whole.len(), RemovalPlan { whole, ..RemovalPlan::default() });
    store.lasting(|store| store.take_out(&doomed, Permanence::ForGood))?;
    files_beside::delete_quarantined(&config.database())?;
    files::remove_traces(config, &ids, |_| false)?;
    Ok(known)
}

/// Ingests what was appended to the transcripts, except sessions that are to be forgotten whole. Returns how many were shut out.
fn ingest_and_shut_out(what: &ForgetSelection, config: &Config, store: &mut Writer, ui: &Ui) -> Result<usize> {
    // Sessions that are not stored yet need not be read at all.
    let unread = store.lasting(|store| what.shut_out_unread(config, store))?;
    if let Err(e) = ingest_only(config, ui, config.now(), store) {
        if is_store_error(&e) {
            return Err(e);
        }
        ui.warn(&format!("{e:#}: new transcript lines were not read; matching text in them may be stored later"));
    }
    let named = store.lasting(|store| what.shut_out_by_name(config, store))?;
    Ok(unread + named)
}

/// Removes quarantined damaged indexes even if nothing was found: what the repair lost may be exactly what is to be forgotten.
fn remove_quarantined(config: &Config, out: &mut impl Write) -> Result<()> {
    for file in files_beside::delete_quarantined(&config.database())? {
        writeln!(out, "removed {}, because it may have contained what you deleted", without_controls(&file.display().to_string()))?;
    }
    Ok(())
}

/// Secure erase of the index's files, then a new copy of the index.
fn erase_and_copy(config: &Config, store: &Maintenance, ui: &Ui) -> Result<()> {
    if !store.secure_erase()? {
        ui.warn("something else is reading the index: until this is run again, what was forgotten is still in its files");
    } else if let Err(e) = store.copy_when_due(config.now()) {
        // The previous copy was deleted with the forgotten data. Without a copy, a lost index would lose the record of what must
        // not come back.
        let e = if is_damage(&e) { store.explained(e) } else { e };
        ui.warn(&format!("{e:#}"));
    }
    Ok(())
}

fn write_pages(what: &ForgetSelection, config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    write_documents(store, ui)?;
    pages::write(config, store, false, ui)?;
    if let ForgetSelection::Text(phrase) = what
        && files::any_page_contains(phrase, config, store)?
    {
        // A user wrote the text above the notes, where pages are ours: rewrite all pages.
        pages::write(config, store, true, ui)?;
    }
    store.drop_empty_sessions()?;
    Ok(())
}

/// Verifies that the text is gone, and warns where it is not.
fn verify_gone(what: &ForgetSelection, config: &Config, store: &Reader, ui: &Ui) -> Result<()> {
    let ForgetSelection::Text(phrase) = what else { return Ok(()) };
    for table in store.tables_containing(phrase)? {
        ui.warn(&format!("the text still stands in the index, in `{table}`: please report this"));
    }
    for file in files::files_containing(phrase, config) {
        ui.warn(&format!("the text still stands in {}, which recall does not change", file.display()));
    }
    Ok(())
}

fn print_summary(account: &ForgetSummary, verb: &str, out: &mut impl Write) -> Result<()> {
    if account.is_empty() {
        writeln!(out, "nothing found")?;
        return Ok(());
    }
    let kinds = [
        (account.whole, format!("{} whole", counted(account.whole, "session"))),
        (account.in_part, format!("parts of {}", counted(account.in_part, "session"))),
        (
            account.shut_out,
            format!(
                "{} that {} never read",
                counted(account.shut_out, "session"),
                if account.shut_out == 1 { "was" } else { "were" }
            ),
        ),
    ];
    let kinds: Vec<String> = kinds.into_iter().filter(|(n, _)| *n > 0).map(|(_, kind)| kind).collect();
    if !kinds.is_empty() {
        let RemovalSize { rows, digests, pages } = account.extent;
        let extent = [counted(rows, "transcript line"), counted(digests, "digest"), counted(pages, "page")].join(", ");
        writeln!(out, "{verb} {}: {extent}", kinds.join(", "))?;
    }
    if account.remembered > 0 {
        writeln!(out, "{verb} {}", counted(account.remembered, "note"))?;
    }
    for (count, thing, whose) in [(account.memory_files, "memory file", "Claude's"), (account.team_files, "file", "your team's")] {
        if count > 0 {
            let files = counted(count, thing);
            writeln!(out, "{verb} the stored copies of {files} of {whose} (the files themselves are not changed)")?;
        }
    }
    if account.orphans > 0 {
        writeln!(out, "{verb} {} of sessions that the index does not know", counted(account.orphans, "page"))?;
    }
    for (page, lines) in &account.notes {
        writeln!(out, "{verb} {} of your notes in {page}", counted(*lines, "line"))?;
    }
    Ok(())
}
