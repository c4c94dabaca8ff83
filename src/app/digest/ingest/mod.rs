//! Ingest phase: stores what was appended to the transcripts, and what marks say about ended sessions. Costs no money; may be
//! interrupted and repeated at any point.

mod memory_files;
mod read;
mod team_files;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

pub(super) use self::read::parts;
use self::read::{TranscriptReader, pending_files, unread_files};
use crate::app::digest::report::Report;
use crate::app::digest::request::DigestRequest;
use crate::config::{Config, pause};
use crate::inputs::mark;
use crate::inputs::mark::Mark;
use crate::store::{Reader, Writer};
use crate::sys::messages::Ui;
use crate::sys::{failpoints, shutdown};
use transcripts::session::Millis;
use transcripts::source::discover::{TranscriptFile, discover};

/// Ingests what was appended to the transcripts, and nothing else.
pub(crate) fn ingest_only(config: &Config, ui: &Ui, now: Millis, store: &mut Writer) -> Result<()> {
    remove_marks(ingest(&DigestRequest::default(), config, ui, now, store, &mut Report::default())?, config);
    Ok(())
}

/// Takes in what the server of a team told, and takes out what it took back.
#[cfg(feature = "team")]
pub(crate) fn take_in_team_files(config: &Config, store: &mut Writer) -> Result<()> {
    let mut report = Report::default();
    memory_files::take_in(config, config.now(), store, &mut report)?;
    team_files::take_in(config, store, &mut report)
}

/// Ingests what was appended to the transcripts, and applies the marks. Returns the files of the marks it applied.
pub(super) fn ingest(
    request: &DigestRequest,
    config: &Config,
    ui: &Ui,
    now: Millis,
    store: &mut Writer,
    report: &mut Report,
) -> Result<Vec<PathBuf>> {
    store.go_through_lists()?;
    let projects = config.project_keys();
    if !config.moved_projects.is_empty() {
        store.move_projects(&projects)?;
    }
    // Read marks before transcripts, so that whatever a mark refers to is certain to be read.
    let marks = mark::pending(&config.data_dir);
    let found = find_transcripts(config, ui, report);
    // After the transcripts were found: a session that is off is noted before its transcript is there.
    let off = pause::noted_sessions(&config.data_dir);
    if !off.is_empty() {
        store.lasting(|store| off.iter().try_for_each(|(_, session)| store.shut_out(session)))?;
    }
    let (shut_out, wanted) = divided(found, config, now, store)?;
    let shut_out = without_known(shut_out, store)?;
    let work = pending_files(store.changed_files(wanted)?);
    failpoints::point("transcripts found");
    if !work.is_empty() {
        let sanitizer = config.sanitizer()?;
        failpoints::point("before what is shut out");
        let mut reader = TranscriptReader::new(config, &sanitizer, &projects, request.jobs, now, ui);
        let own = reader.own_records(&unread_files(shut_out.values().flatten().cloned().collect()))?;
        reader.leave_out(&own);
        reader.run(&work, store, report)?;
        // By now it is stored what of them other sessions said first.
        for (session, files) in shut_out.iter().filter(|_| !shutdown::requested()) {
            if let Some(records) = own.get(session).filter(|records| records.is_whole) {
                store.forbid_copies(session, records, stamp(files))?;
            }
        }
        store.ingested();
    }
    // Behind the transcripts, by which it is known to whom they belong.
    memory_files::take_in(config, now, store, report)?;
    team_files::take_in(config, store, report)?;
    if !marks.is_empty() {
        // Must be durable: the mark files are removed afterwards, and nothing else holds what they say.
        store.lasting(|store| store.in_transaction(|| marks.iter().try_for_each(|(_, mark)| apply_mark(mark.as_ref(), store))))?;
    }
    Ok(marks.into_iter().map(|(file, _)| file).chain(off.into_iter().map(|(file, _)| file)).collect())
}

fn apply_mark(mark: Option<&Mark>, store: &Writer) -> Result<()> {
    match mark {
        Some(mark) if mark.ends_session() => store.end_session(&mark.session, mark.at, &mark.reason),
        Some(mark) if mark.is_compaction() => store.record_compaction(&mark.session, mark.at),
        _ => Ok(()),
    }
}

fn find_transcripts(config: &Config, ui: &Ui, report: &mut Report) -> Vec<TranscriptFile> {
    let found = discover(&config.client_folders(), &config.exclude_transcripts);
    for unreadable in &found.unreadable {
        ui.warn(unreadable);
    }
    report.files_seen = found.files.len() as u64;
    if report.files_seen == 0 {
        let dirs: Vec<_> = config.claude_dirs.iter().map(|d| d.display().to_string()).collect();
        ui.note(&format!("no transcripts found in {}", dirs.join(", ")));
    }
    found.files
}

/// Files of sessions that are shut out, by session.
type ShutOut = BTreeMap<String, Vec<TranscriptFile>>;

/// The files of sessions that are shut out, and those that are wanted.
fn divided(found: Vec<TranscriptFile>, config: &Config, now: Millis, store: &Reader) -> Result<(ShutOut, Vec<TranscriptFile>)> {
    let (forgotten, oldest) = (store.forgotten_sessions()?, config.retention.oldest(now));
    let (out, mut wanted): (Vec<_>, Vec<_>) = found.into_iter().partition(|file| forgotten.contains(&file.place.session));
    wanted.retain(|file| oldest.is_none_or(|oldest| file.mtime() >= oldest));
    let mut shut_out = ShutOut::new();
    out.into_iter().for_each(|file| shut_out.entry(file.place.session.clone()).or_default().push(file));
    Ok((shut_out, wanted))
}

/// Without sessions whose files are as they were when the keys of their records were forbidden.
fn without_known(mut shut_out: ShutOut, store: &Reader) -> Result<ShutOut> {
    let known = store.forbidden_copies()?;
    shut_out.retain(|session, files| known.get(session) != Some(&stamp(files)));
    Ok(shut_out)
}

/// It is another one once any of the files has changed.
fn stamp(files: &[TranscriptFile]) -> i64 {
    files.iter().fold(0, |all, file| all.wrapping_add(file.stamp))
}

/// Removes the marks that were applied, and what an interrupted run left listed of them.
pub(super) fn remove_marks(heeded: Vec<PathBuf>, config: &Config) {
    for mark in heeded {
        let _ = std::fs::remove_file(mark);
    }
    mark::shorten_ends(&config.data_dir);
}
