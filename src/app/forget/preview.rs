//! What would go, found on a copy of the index: for a dry run, and for the question before it goes.

use std::io::Write;

use anyhow::Result;

use super::target::ForgetSelection;
use super::{ForgetSummary, files, print_summary};
use crate::app::digest::run_in_progress;
use crate::app::digest::{DigestRequest, open_sandbox, restore_notes};
use crate::config::Config;
use crate::policy::View;
use crate::store::files_beside;
use crate::store::forget::RemovalPlan;
use crate::store::{Memory, Reader};
use crate::sys::messages::Ui;
use text::clean::{counted, id8, one_line, shorten, without_controls};

/// Shown in place of the text of an excluded session or note.
const EXCLUDED_TEXT: &str = "(excluded)";
/// How many lines the question shows.
const SHOWN: usize = 10;

pub(super) struct Preview {
    /// A line for each session, page and note.
    lines: Vec<String>,
    summary: ForgetSummary,
    /// Damaged indexes that go, too.
    quarantined: usize,
}

impl Preview {
    /// Finds what would go. Changes nothing.
    ///
    /// # Errors
    /// If a run is under way, an id is ambiguous, or the index cannot be read.
    pub(super) fn find(what: &ForgetSelection, config: &Config, ui: &Ui) -> Result<Self> {
        let read = open_sandbox(&DigestRequest::default(), config, ui, config.now(), &mut Default::default())?;
        let Some((_folder, mut store)) = read else { return run_in_progress() };
        restore_notes(config, &mut store, ui)?;
        let shut_out = what.shut_out_by_name(config, &store)? + what.shut_out_unread(config, &store)?;
        let doomed = what.find(config, &store)?;
        let mut summary = ForgetSummary::new(&doomed, &store, shut_out)?;
        if let ForgetSelection::Text(phrase) = what {
            summary.notes = files::count_in_notes(phrase, config, ui);
        }
        let mut lines = Vec::new();
        for orphan in what.find_orphans(config, &store)? {
            let project = one_line(&without_controls(orphan.project.name()));
            lines.push(format!("{}  {project}  page  {}", id8(&orphan.session), one_line(&orphan.file.display().to_string())));
            summary.orphans += 1;
        }
        // Excluded sessions can be forgotten, but their text is not shown.
        let shown = Memory::beside_writer(&store, &config.policy(View::Owner))?;
        lines.extend(sessions(&doomed, &store, &shown, config)?);
        lines.extend(notes(&doomed, &store, &shown, config)?);
        lines.extend(memory_files(&doomed, &store, &shown, config)?);
        Ok(Self { lines, summary, quarantined: files_beside::quarantined(&config.database()).len() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.quarantined == 0
    }

    /// All of it.
    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        print_summary(&self.summary, "would forget", out)
    }

    /// The first lines, how many more there are, and the sums.
    pub(super) fn in_short(&self) -> Result<String> {
        let mut said = Vec::new();
        for line in self.lines.iter().take(SHOWN) {
            writeln!(said, "{line}")?;
        }
        let more = self.lines.len().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(said, "… and {more} more: `--dry-run` lists them all")?;
        }
        print_summary(&self.summary, "would forget", &mut said)?;
        if self.quarantined > 0 {
            writeln!(said, "would remove {} that may hold it", counted_indexes(self.quarantined))?;
        }
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

fn counted_indexes(n: usize) -> String {
    if n == 1 { "1 damaged index set aside".into() } else { format!("{n} damaged indexes set aside") }
}

fn sessions(doomed: &RemovalPlan, store: &Reader, shown: &Memory, config: &Config) -> Result<Vec<String>> {
    let line = |pk| {
        let head = store.session_head(pk)?;
        let lost = match doomed.rows.get(&pk) {
            _ if doomed.whole.contains(&pk) => format!("all {}", counted(store.rows_of(pk)?, "record")),
            Some(rows) => counted(rows.len(), "record"),
            None if doomed.digests.contains(&pk) => "digest".into(),
            None => "a digest that was replaced".into(),
        };
        let day = config.local_time(Some(head.started_at), "%Y-%m-%d");
        let title = match shown.look_up_session(&head.id)? {
            Some(_) => shown.title_of(pk)?.unwrap_or_else(|| "(no digest)".into()),
            None => EXCLUDED_TEXT.into(),
        };
        let project = one_line(&without_controls(head.project.name()));
        Ok(format!("{}  {day}  {project}  {lost}  {}", id8(&head.id), one_line(&without_controls(&title))))
    };
    doomed.sessions().into_iter().map(line).collect()
}

fn notes(doomed: &RemovalPlan, store: &Reader, shown: &Memory, config: &Config) -> Result<Vec<String>> {
    let line = |pk: &i64| {
        let note = store.note(*pk)?;
        let day = config.local_time(Some(note.at), "%Y-%m-%d");
        let known = shown.look_up_note(&note.id)?;
        let text = known.as_ref().map_or(EXCLUDED_TEXT, |note| &note.text);
        let text = shorten(&one_line(&without_controls(text)), 80);
        Ok(format!("{}  {day}  {}  note  {text}", note.id, one_line(&without_controls(note.project.name()))))
    };
    doomed.notes.iter().map(line).collect()
}

fn memory_files(doomed: &RemovalPlan, store: &Reader, shown: &Memory, config: &Config) -> Result<Vec<String>> {
    let line = |pk: &i64| {
        let file = store.memory_file(*pk)?;
        let day = config.local_time(Some(file.at), "%Y-%m-%d");
        let title = shown.look_up_memory_file(&file.id)?.map_or_else(|| EXCLUDED_TEXT.to_owned(), |file| file.title());
        Ok(format!(
            "{}  {day}  {}  {}",
            file.id,
            one_line(&without_controls(file.project.name())),
            one_line(&without_controls(&title))
        ))
    };
    doomed.memory_files.iter().map(line).collect()
}
