//! `recall digest`: ingest what was appended to the transcripts, digest the sessions that settled, write the pages.

mod background;
mod digests;
mod dry_run;
mod embed;
mod from_pages;
mod in_hand;
mod ingest;
mod maker;
pub(crate) mod pages;
mod policy;
mod report;
mod repository;
mod request;
mod run_lock;
mod sandbox;
mod select;

use std::io::Write;
use std::time::Instant;

use anyhow::Result;

pub(crate) use self::digests::accounts;
use self::from_pages::Outlived;
pub(crate) use self::from_pages::{restore_notes, take_back_notes};
use self::in_hand::SessionsInHand;
pub(crate) use self::ingest::ingest_only;
#[cfg(feature = "team")]
pub(crate) use self::ingest::take_in_team_files;
use self::ingest::{ingest, remove_marks};
use self::maker::DigestMaker;
pub(crate) use self::maker::why_model_rests;
pub(crate) use self::policy::secure_erase as erase_traces;
use self::policy::{delete_excluded, delete_orphans, forget_expired, resanitize, secure_erase};
use self::report::Report;
pub(crate) use self::report::usd;
pub use self::request::DigestRequest;
use self::request::DigestSelection;
pub(crate) use self::run_lock::{alone, prepare_folder, run_in_progress, run_lock};
pub(crate) use self::sandbox::open_sandbox;
use crate::app::Completion;
use crate::config::Config;
use crate::store::error::{explained, is_damage};
use crate::store::last_run::LastRun;
use crate::store::leftovers;
use crate::store::{Maintenance, Writer};
use crate::sys::messages::Ui;
use crate::sys::run_progress::ToldRun;
use crate::sys::{failpoints, shutdown, threads};
use transcripts::session::Millis;

pub(crate) fn run(request: DigestRequest, config: Config, out: &mut impl Write) -> Result<Completion> {
    run_using(request, config, out, run_if_free)
}

/// Like [`run`], for a caller that already holds the run lock.
pub(crate) fn run_with_lock(request: DigestRequest, config: Config, out: &mut impl Write) -> Result<Completion> {
    run_using(request, config, out, |request, config, ui, now| run_locked(request, config, ui, now).map(Some))
}

fn run_using(
    request: DigestRequest,
    mut config: Config,
    out: &mut impl Write,
    run: impl FnOnce(&DigestRequest, &Config, &Ui, Millis) -> Result<Option<Report>>,
) -> Result<Completion> {
    apply_overrides(&request, &mut config)?;
    // What is typed wrong is no digest that failed.
    DigestSelection::of(&request, &config)?;
    if request.in_background {
        background::enter()?;
        if !request.ingest_only {
            background::wait_until_settled();
        }
    }
    shutdown::install_handlers();
    let ui = Ui::default();
    let now = config.now();
    if request.dry_run {
        dry_run::run(&request, &config, &ui, now, out)?;
        ui.finish();
        return Ok(if ui.warned() { Completion::Partly } else { Completion::Done });
    }
    let report = match run(&request, &config, &ui, now) {
        Ok(Some(report)) => report,
        Ok(None) => {
            ui.note("another run is under way");
            if request.json {
                Report::default().print(true, out)?;
            }
            return Ok(Completion::Done);
        }
        Err(e) => {
            let e = explained(e, &config.database());
            LastRun::record_failure(&config.data_dir, now, &format!("{e:#}"));
            return Err(e);
        }
    };
    report.print(request.json, out)?;
    ui.finish();
    let failed = ui.warned() || report.sessions_failed > 0 || shutdown::requested();
    Ok(if failed { Completion::Partly } else { Completion::Done })
}

/// Does the run unless another one is in progress, which then does the same work.
fn run_if_free(request: &DigestRequest, config: &Config, ui: &Ui, now: Millis) -> Result<Option<Report>> {
    prepare_folder(config, ui)?;
    let mut lock = run_lock(config)?;
    let held = if request.in_background { background::wait_for_lock(&mut lock)? } else { lock.try_write().ok() };
    held.map(|_held| run_locked(request, config, ui, now)).transpose()
}

fn run_locked(request: &DigestRequest, config: &Config, ui: &Ui, now: Millis) -> Result<Report> {
    let started = Instant::now();
    let mut report = Report::default();
    failpoints::point("lock held");
    let _told = ToldRun::begin(&config.data_dir, now);
    let mut store = Maintenance::open(&config.database())?;
    failpoints::point("index open");
    from_pages::catch_up(config, &mut store, ui)?;
    let outlived = Outlived::find(config, &store)?;
    if let Some(outlived) = &outlived {
        outlived.take_back(config, &mut store, ui)?;
    }
    if let Some(jobs) = request.jobs {
        store.set_threads(jobs);
        // These compress chunks.
        threads::set_most(jobs);
    }
    store.relax_durability()?;
    leftovers::remove_half_written(&config.data_dir);
    leftovers::remove_used_replies(&config.data_dir, &store)?;
    let ran = phases(request, config, ui, now, (&mut store, outlived.as_ref()), &mut report);
    let ran = ran.and_then(|()| exchange(request, config, &mut store, ui, &mut report));
    let ran = ran.and_then(|()| ask_team(request, config, &mut store, ui, &mut report));
    failpoints::point("exchanged");
    let ran = ran.and_then(|()| delete_orphans(config, now, &mut store, ui, &mut report));
    if let (Some(outlived), Ok(())) = (&outlived, &ran) {
        outlived.report(config, &store, ui)?;
    }
    // Runs also after a failure: no trace may remain of what this run deleted, or an interrupted one before it.
    let erased = secure_erase(&store, ui);
    failpoints::point("erased");
    // Report the phases' error first: it may have caused the other one.
    ran.and(erased)?;
    keep_copy(&store, ui, now);
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    crate::app::hook_state::tidy(&config.data_dir);
    if let Some(asked) = report.asked() {
        LastRun::record_model_outcome(&config.data_dir, now, asked);
    }
    match &report.last_failure {
        Some(why) if !report.model_worked => LastRun::record_model_failure(&config.data_dir, now, why),
        _ if report.model_worked || !config.digest.summarizer.may_ask_model() || !store.waits_for_model()? => {
            LastRun::record_success(&config.data_dir, now)
        }
        // The model was not asked, so it is unknown whether it works.
        _ => LastRun::record_without_model(&config.data_dir, now),
    }
    failpoints::point("last run noted");
    Ok(report)
}

/// Exchanges with the user's other machines, where that is set up.
#[cfg(feature = "sync")]
fn exchange(request: &DigestRequest, config: &Config, store: &mut Maintenance, ui: &Ui, report: &mut Report) -> Result<()> {
    use crate::app::sync;
    if request.ingest_only || shutdown::requested() || !sync::is_set_up(&config.data_dir) {
        return Ok(());
    }
    report.synced = Some(sync::exchange(config, store, ui)?.in_words());
    Ok(())
}

#[cfg(not(feature = "sync"))]
fn exchange(_: &DigestRequest, _: &Config, _: &mut Maintenance, _: &Ui, _: &mut Report) -> Result<()> {
    Ok(())
}

/// Exchanges with the server of the user's team, where they joined one.
#[cfg(feature = "team")]
fn ask_team(request: &DigestRequest, config: &Config, store: &mut Maintenance, ui: &Ui, report: &mut Report) -> Result<()> {
    use crate::app::team;
    if !request.ingest_only && !shutdown::requested() && team::is_set_up(&config.data_dir) {
        report.team = team::exchange(config, store, ui)?;
    }
    Ok(())
}

#[cfg(not(feature = "team"))]
fn ask_team(_: &DigestRequest, _: &Config, _: &mut Maintenance, _: &Ui, _: &mut Report) -> Result<()> {
    Ok(())
}

/// Keeps a copy of the index when one is due. A failure does not undo what was stored.
fn keep_copy(store: &Maintenance, ui: &Ui, now: Millis) {
    if shutdown::requested() {
        return;
    }
    if let Err(e) = store.copy_when_due(now) {
        // Only damage is explained: a failure to write the copy says nothing about the index.
        let e = if is_damage(&e) { store.explained(e) } else { e };
        ui.warn(&format!("{e:#}: data that is only in the damaged index would be lost"));
    }
}

fn phases(
    request: &DigestRequest,
    config: &Config,
    ui: &Ui,
    now: Millis,
    (store, outlived): (&mut Maintenance, Option<&Outlived>),
    report: &mut Report,
) -> Result<()> {
    let started = Instant::now();
    delete_excluded(config, store, report)?;
    resanitize(config, ui, store, report)?;
    let heeded = ingest(request, config, ui, now, store, report)?;
    // Sessions that have moved to an excluded project since.
    delete_excluded(config, store, report)?;
    failpoints::point("marks heeded");
    remove_marks(heeded, config);
    failpoints::point("marks removed");
    ingest::parts::read(request, config, ui, now, store, report)?;
    forget_expired(config, now, store, report)?;
    if let Some(outlived) = outlived {
        report.digests_taken_back = outlived.take_back_digests(config, ui, now, store)?;
        failpoints::point("digests taken back");
    }
    let mut in_hand = SessionsInHand::default();
    if !request.ingest_only && !shutdown::requested() {
        let wanted = DigestSelection::of(request, config)?;
        // Before there are digests that bring theirs: in a new index these would be found twice.
        store.find_rule_mentions()?;
        let mut maker = DigestMaker::new(config, ui, now, &wanted, store)?;
        maker.in_hand = SessionsInHand::from_now(store)?;
        maker.run(store, report)?;
        in_hand = maker.in_hand;
        leftovers::remove_used_replies(&config.data_dir, store)?;
    }
    if !shutdown::requested() {
        accounts::make_missing(store, ui)?;
    }
    failpoints::point("digests made");
    write_documents(store, ui)?;
    failpoints::point("documents written");
    let pages = pages::write_with(config, store, request.rebuild_pages, in_hand, ui)?;
    report.pages_written = pages.written;
    report.pages_rebuilt = request.rebuild_pages.then_some(pages.made);
    failpoints::point("pages written");
    store.drop_empty_sessions()?;
    if !shutdown::requested() {
        repository::look(config, now, store)?;
    }
    failpoints::point("repositories seen");
    if !request.ingest_only && !shutdown::requested() {
        embed::run(config, ui, store, report)?;
    }
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    if report.did_something() {
        store.log_run(now, &serde_json::to_string(&report)?)?;
        failpoints::point("run logged");
        store.vacuum()?;
    }
    Ok(())
}

/// Reads and digests, without a model, all that a config names into its index, for who tells of it at once: no pages are written, and no
/// repository is looked at.
#[cfg(feature = "team")]
pub(crate) fn digest_apart(config: &Config, jobs: Option<usize>, ui: &Ui) -> Result<Maintenance> {
    prepare_folder(config, ui)?;
    let mut store = Maintenance::open(&config.database())?;
    if let Some(jobs) = jobs {
        store.set_threads(jobs);
        threads::set_most(jobs);
    }
    store.relax_durability()?;
    let request = DigestRequest { jobs, settle: Some("0m".to_owned()), ..DigestRequest::default() };
    let (now, mut report) = (config.now(), Report::default());
    resanitize(config, ui, &mut store, &mut report)?;
    ingest(&request, config, ui, now, &mut store, &mut report)?;
    delete_excluded(config, &mut store, &mut report)?;
    ingest::parts::read(&request, config, ui, now, &mut store, &mut report)?;
    let wanted = DigestSelection::of(&request, config)?;
    DigestMaker::without_model(config, ui, now, &wanted)?.run(&mut store, &mut report)?;
    accounts::make_missing(&store, ui)?;
    write_documents(&mut store, ui)?;
    store.find_lives(true)?;
    store.find_overtaken(true)?;
    store.find_near_duplicates(true)?;
    anyhow::ensure!(!shutdown::requested(), "asked to stop");
    Ok(store)
}

/// Applies today's config to what is stored, for who tells of it without a digest: deletes what it excludes, and passes the rest through the
/// sanitizer if its rules changed.
#[cfg(feature = "sync")]
pub(crate) fn apply_policy(config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    take_back_notes(config, store, ui)?;
    let mut report = Report::default();
    delete_excluded(config, store, &mut report)?;
    resanitize(config, ui, store, &mut report)?;
    if report.texts_cleaned == 0 && report.sessions_excluded == 0 {
        return Ok(());
    }
    accounts::make_missing(store, ui)?;
    write_documents(store, ui)?;
    pages::write(config, store, false, ui)?;
    store.drop_empty_sessions()
}

/// Updates the search documents of sessions that changed.
pub(crate) fn write_documents(store: &mut Writer, ui: &Ui) -> Result<()> {
    for (session, why) in store.write_documents()?.failed {
        ui.warn(&format!("session {session}: {:#}: search does not find what is new in this session", store.explained(why)));
    }
    Ok(())
}

/// Opens the index for a command that changes it and then calls [`refresh_pages`]. What stands on pages alone is taken in first, unless a run
/// is in progress, which does so.
pub(crate) fn open_to_change(config: &Config, ui: &Ui) -> Result<Writer> {
    let mut store = Writer::open_existing(&config.database())?;
    if store.unread_pages()?.is_some()
        && let Ok(_held) = run_lock(config)?.try_write()
    {
        take_back_notes(config, &mut store, ui)?;
    }
    Ok(store)
}

/// Updates the pages, unless a run is in progress, which will do so.
pub(crate) fn refresh_pages(config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    let mut lock = run_lock(config)?;
    if let Ok(_held) = lock.try_write() {
        // Apply the policy first, so that no page shows what the config now excludes.
        delete_excluded(config, store, &mut Report::default())?;
        pages::write(config, store, false, ui)?;
        store.drop_empty_sessions()?;
    }
    Ok(())
}

/// Applies the overrides of the command line.
fn apply_overrides(request: &DigestRequest, config: &mut Config) -> Result<()> {
    if !request.claude_dirs.is_empty() {
        config.claude_dirs = request.claude_dirs.iter().map(std::path::absolute).collect::<std::io::Result<_>>()?;
    }
    if let Some(usd) = request.max_cost {
        anyhow::ensure!(usd.is_finite() && usd >= 0.0, "--max-cost must be zero or more");
        config.digest.max_cost_usd = usd;
        // An explicit amount for this run also raises the cap of the day.
        config.digest.max_cost_usd_per_day = config.digest.max_cost_usd_per_day.max(usd);
    }
    if let Some(summarizer) = request.summarizer {
        config.digest.summarizer = summarizer;
    }
    Ok(())
}
