//! Figures of a run, printed and logged.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::store::ingest::Ingested;
use crate::store::last_run::{ModelBackoff, ModelRunOutcome};
use text::clean::{counted, size};
use transcripts::client::Client;

/// An amount as it is told.
pub(crate) fn usd(amount: Option<f64>) -> String {
    amount.map_or_else(|| "an unknown price".into(), |usd| format!("${usd:.2}"))
}

#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub(crate) struct Report {
    pub(crate) files_seen: u64,
    pub(crate) files_read: u64,
    /// Transcripts that may be from an excluded project; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) files_withheld: u64,
    pub(crate) bytes_read: u64,
    pub(crate) rows_new: u64,
    pub(crate) rows_unknown: u64,
    pub(crate) rows_bad: u64,
    pub(crate) sessions_new: u64,
    /// The same by agent; printed only if there are any of another than Claude Code.
    #[serde(skip_serializing_if = "is_usual")]
    pub(crate) sessions_new_by_agent: BTreeMap<Client, u64>,
    /// Memory files of Claude's that came or changed, and those that went; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) memory_files_read: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) memory_files_gone: u64,
    /// Statements of teams that came or changed; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) team_files_read: u64,
    /// Those by the model and those without it together.
    pub(crate) sessions_digested: u64,
    pub(crate) digests_by_model: u64,
    /// With those of sessions that go on.
    pub(crate) digests_without_model: u64,
    /// Sessions for which the model would have to be asked by a command: no later run does it unasked. Printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) left_without_model: u64,
    /// `None` where the run stopped before digesting.
    #[serde(flatten)]
    pub(crate) waiting: Option<WaitingForModel>,
    /// Digests that were paid for and came back from their pages; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) digests_taken_back: u64,
    /// Sessions with nothing to tell.
    pub(crate) sessions_skipped: u64,
    /// Sessions that a later run digests: they may still grow, or a limit was reached.
    pub(crate) sessions_waiting: u64,
    pub(crate) sessions_failed: u64,
    /// Sessions past the configured retention; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) sessions_forgotten: u64,
    /// Sessions with a part in a project that is excluded, which were stored before; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) sessions_excluded: u64,
    /// Files that had to be written, because they were missing or held another text.
    pub(crate) pages_written: u64,
    /// Pages that were made anew on request; printed only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages_rebuilt: Option<u64>,
    /// Stored texts that today's rules shortened; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) texts_cleaned: u64,
    /// Documents that got vectors; printed only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) documents_embedded: u64,
    /// What was exchanged with the user's other machines; printed only where a place is set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) synced: Option<String>,
    /// What was exchanged with the server of the team, in words; only where the user joined one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) team: Option<String>,
    /// Cost of this run's model calls in US dollars. A call of unknown cost counts with its worst.
    pub(crate) cost_usd: f64,
    pub(crate) elapsed_ms: u64,
    /// A model call succeeded.
    #[serde(skip)]
    pub(crate) model_worked: bool,
    /// A failed call cost money, or may have.
    #[serde(skip)]
    pub(crate) paid_in_vain: bool,
    /// The account's usage limit is reached.
    #[serde(skip)]
    pub(crate) limited: Option<ModelBackoff>,
    /// Reason of the last failed call.
    #[serde(skip)]
    pub(crate) last_failure: Option<String>,
}

/// Sessions whose digest was made without the model, and which a later run gives to it.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub(crate) struct WaitingForModel {
    pub(crate) waiting_for_model: u64,
    /// What that likely costs, in US dollars; `None` if a price is unknown or the model is not asked now.
    pub(crate) waiting_cost_usd: Option<f64>,
    /// The config wants the model.
    #[serde(skip)]
    pub(crate) is_wanted: bool,
    /// The most that a day may cost, in US dollars.
    #[serde(skip)]
    pub(crate) day_usd: f64,
}

impl WaitingForModel {
    /// How many wait, and what later runs spend on them.
    pub(crate) fn text(&self) -> String {
        let count = self.waiting_for_model;
        let price = match self.waiting_cost_usd {
            _ if count == 0 => return "none for the model to redo in a later run".to_owned(),
            Some(likely) => format!("about {} at list price, at most {} a day", usd(Some(likely)), usd(Some(self.day_usd))),
            None => "price unknown".to_owned(),
        };
        format!("{count} for the model to redo in a later run, {price}")
    }
}

fn is_usual(by_agent: &BTreeMap<Client, u64>) -> bool {
    by_agent.keys().all(Client::is_usual)
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Report {
    pub(crate) fn ingested(&mut self, done: &Ingested) {
        self.rows_new += done.rows_new;
        self.rows_bad += done.rows_bad;
        self.rows_unknown += done.rows_unknown;
        for (client, new) in &done.sessions_new {
            self.sessions_new += new;
            *self.sessions_new_by_agent.entry(*client).or_default() += new;
        }
    }

    /// Outcome of asking the model; `None` if it was not asked, or if nothing follows from it.
    pub(crate) fn asked(&self) -> Option<ModelRunOutcome> {
        match &self.limited {
            Some(rest) => Some(ModelRunOutcome::Limited(rest.clone())),
            None if self.model_worked => Some(ModelRunOutcome::Worked),
            None => self.paid_in_vain.then_some(ModelRunOutcome::Futile),
        }
    }

    /// Whether the run changed anything worth a log entry.
    pub(crate) fn did_something(&self) -> bool {
        let sessions = self.sessions_digested
            + self.digests_taken_back
            + self.sessions_failed
            + self.sessions_forgotten
            + self.sessions_excluded;
        let memory_files = self.memory_files_read + self.memory_files_gone;
        self.files_read + memory_files + sessions + self.pages_written + self.texts_cleaned + self.documents_embedded > 0
    }

    /// Prints the figures as text, or as one line of JSON.
    pub(crate) fn print(&self, json: bool, out: &mut impl Write) -> Result<()> {
        if json {
            serde_json::to_writer(&mut *out, self)?;
            writeln!(out)?;
            return Ok(());
        }
        out.write_all(self.text().as_bytes())?;
        Ok(())
    }

    /// How many sessions of which agent are new, unless they are the usual one's.
    pub(super) fn new_by_agent(&self) -> Option<String> {
        let of = |(client, new): (&Client, &u64)| format!("{new} of {}", client.name());
        let all = || self.sessions_new_by_agent.iter().map(of).collect::<Vec<_>>().join(", ");
        (!is_usual(&self.sessions_new_by_agent)).then(|| format!("new sessions: {}", all()))
    }

    fn text(&self) -> String {
        let cost = if self.cost_usd > 0.0 { format!(", ${:.4} at list price", self.cost_usd) } else { String::new() };
        let line = |label: &str, text: String| format!("{label:<10}{text}\n");
        let mut text = line(
            "read",
            format!(
                "{} of {}: {}, {}, {}",
                self.files_read,
                counted(self.files_seen as usize, "file"),
                counted(self.sessions_new as usize, "new session"),
                counted(self.rows_new as usize, "new line"),
                size(self.bytes_read)
            ),
        );
        if self.files_withheld > 0 {
            let files = counted(self.files_withheld as usize, "file");
            text += &line("", format!("{files} not read, possibly from a project that you exclude"));
        }
        if self.rows_bad + self.rows_unknown > 0 {
            let (bad, unknown) = (counted(self.rows_bad as usize, "unreadable line"), counted(self.rows_unknown as usize, "line"));
            text += &line("", format!("{bad}, {unknown} of unknown types"));
        }
        if let Some(new) = self.new_by_agent() {
            text += &line("", new);
        }
        if self.memory_files_read + self.memory_files_gone > 0 {
            let read = self.memory_files_read;
            text += &line("", format!("Claude's memory files: {read} read, {} no longer exist", self.memory_files_gone));
        }
        if self.team_files_read > 0 {
            text += &line("", format!("{} of teams", counted(self.team_files_read as usize, "statement")));
        }
        let (by_model, without) = (self.digests_by_model, self.digests_without_model);
        let who = format!("{by_model} by the model, {without} without it");
        text += &line("digested", format!("{}: {who}{cost}", counted(self.sessions_digested as usize, "session")));
        if let Some(waiting) =
            self.waiting.as_ref().filter(|w| w.waiting_for_model > 0 || w.is_wanted && self.sessions_digested > 0)
        {
            text += &line("waiting", waiting.text());
        }
        if self.left_without_model > 0 {
            text += &line("left", format!("{} without the model; later runs leave them as they are", self.left_without_model));
        }
        if self.digests_taken_back > 0 {
            text += &line("restored", format!("{} by the model, from pages", counted(self.digests_taken_back as usize, "digest")));
        }
        if let Some(synced) = &self.synced {
            text += &line("synced", synced.clone());
        }
        if let Some(team) = &self.team {
            text += &line("team", team.clone());
        }
        if self.sessions_forgotten > 0 {
            text +=
                &line("forgot", format!("{} older than `retention.days`", counted(self.sessions_forgotten as usize, "session")));
        }
        if self.sessions_excluded > 0 {
            text += &line(
                "deleted",
                format!("{} with a part in an excluded project", counted(self.sessions_excluded as usize, "session")),
            );
        }
        let others = [
            (self.sessions_waiting, "left for a later run"),
            (self.sessions_skipped, "skipped: nothing to tell"),
            (self.sessions_failed, "failed"),
        ];
        let others: Vec<String> =
            others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if !others.is_empty() {
            text += &line("", format!("{} (`recall status` says more)", others.join(", ")));
        }
        if self.documents_embedded > 0 {
            text += &line("embedded", format!("{} sessions and notes", self.documents_embedded));
        }
        text += &match self.pages_rebuilt {
            Some(made) => line("rebuilt", format!("{}, {} of them changed", counted(made as usize, "page"), self.pages_written)),
            None => line("wrote", counted(self.pages_written as usize, "page")),
        };
        text
    }
}
