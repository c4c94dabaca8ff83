//! The state of the memory: what is stored, what is waiting, and what is wrong.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::app::agents::{self, AgentState};
use crate::app::doctor::{Depth, examine};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::config::pause::{self, OffReason};
use crate::inputs::mark;
use crate::model::finding::{Finding, Severity};
use crate::setup::Host;
use crate::store::files_beside;
use crate::store::maintenance::backup;
pub(crate) use crate::store::receipts::ReceiptCounts;
use crate::store::status::{IndexCounts, VectorCounts};
pub(crate) use crate::sys::run_progress::RunProgress;
use transcripts::session::Millis;

/// Figures on the memory, as `status --json` writes them. Times are milliseconds since the Unix epoch.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    /// There is an index: it comes of the first digest.
    #[serde(skip)]
    pub(crate) is_ready: bool,
    pub(crate) files: i64,
    pub(crate) transcript_bytes: i64,
    pub(crate) database_bytes: u64,
    pub(crate) sessions: i64,
    /// How many of them came from other machines; only if any did.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) from_other_machines: usize,
    /// Those that are used here, or have something of ours.
    pub(crate) agents: Vec<AgentState>,
    pub(crate) digests: i64,
    #[serde(skip)]
    pub(crate) by_model: i64,
    /// Digests that were imported from claude-mem.
    #[serde(skip)]
    pub(crate) from_claude_mem: i64,
    /// Digests of sessions that were ongoing when they were made.
    pub(crate) interim_digests: i64,
    /// Digests made without the model that still wait for it.
    pub(crate) waiting_for_model: i64,
    /// Sessions whose newest rows no digest holds yet.
    pub(crate) waiting_for_digest: i64,
    /// Why sessions wait for a digest or for the model.
    pub(crate) waiting_reasons: Vec<Reason>,
    /// Why digests are without the model, and will stay so.
    pub(crate) without_model_reasons: Vec<Reason>,
    /// Why sessions have no digest, and will get none.
    pub(crate) skipped: Vec<Reason>,
    pub(crate) failing: Vec<Failing>,
    pub(crate) bad_lines: i64,
    /// The first of them.
    pub(crate) bad_lines_at: Vec<BadLine>,
    /// Rows of unknown types, by type.
    pub(crate) unknown_rows: BTreeMap<String, i64>,
    /// At list price.
    pub(crate) spent_usd: f64,
    pub(crate) notes: i64,
    pub(crate) marks_waiting: usize,
    pub(crate) receipts: ReceiptCounts,
    pub(crate) last_run: Option<LastRun>,
    /// The digest under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) running: Option<RunProgress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vectors: Option<Vectors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paused_until: Option<Millis>,
    /// The last copy of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<IndexCopy>,
}

/// Why sessions are as they are.
#[derive(Debug, Serialize)]
pub(crate) struct Reason {
    pub(crate) why: String,
    pub(crate) sessions: i64,
}

/// A session on which the model failed.
#[derive(Debug, Serialize)]
pub(crate) struct Failing {
    pub(crate) session: String,
    pub(crate) failures: i64,
    pub(crate) error: String,
}

/// A line of a transcript that cannot be read.
#[derive(Debug, Serialize)]
pub(crate) struct BadLine {
    pub(crate) path: String,
    /// In bytes.
    pub(crate) offset: i64,
    pub(crate) why: String,
}

/// The last run that did something.
#[derive(Debug, Serialize)]
pub(crate) struct LastRun {
    pub(crate) at: Millis,
    pub(crate) report: Value,
}

/// How many sessions and notes are embedded, and by which model.
#[derive(Debug, Serialize)]
pub(crate) struct Vectors {
    pub(crate) model: String,
    pub(crate) dims: usize,
    pub(crate) checksum: String,
    pub(crate) complete: bool,
    pub(crate) embedded: u64,
    pub(crate) of: u64,
}

/// A copy of the index.
#[derive(Debug, Serialize)]
pub(crate) struct IndexCopy {
    pub(crate) at: Millis,
    pub(crate) bytes: u64,
}

/// The state of the memory, with at most so many bad lines. Before the first digest there is no memory, which is no error.
pub(crate) fn status(memory: Option<&OpenMemory>, config: &Config, most_bad_lines: usize) -> Result<Status> {
    let counts = memory.map(|memory| memory.0.index_counts(most_bad_lines)).transpose()?.unwrap_or_default();
    let last = memory.map(|memory| memory.0.last_run()).transpose()?.flatten();
    let report = |report: String| serde_json::from_str(&report).unwrap_or_default();
    let paused_until = match pause::reason(config) {
        Some(OffReason::Paused(until)) => Some(until),
        _ => None,
    };
    let agents = agents::states(&counts.by_client, &Host::new(config)?);
    let copy = backup::find(&config.database(), files_beside::COPY);
    Ok(Status {
        is_ready: memory.is_some(),
        from_other_machines: memory.map(|memory| memory.0.sessions_from_afar()).transpose()?.map_or(0, |sessions| sessions.len()),
        database_bytes: std::fs::metadata(config.database()).map_or(0, |file| file.len()),
        marks_waiting: mark::pending(&config.data_dir).len(),
        last_run: last.map(|(at, text)| LastRun { at, report: report(text) }),
        running: RunProgress::read(&config.data_dir),
        paused_until,
        agents,
        copy: copy.map(|copy| IndexCopy { at: copy.at, bytes: copy.bytes }),
        ..Status::of(counts)
    })
}

/// Takes a reference because serde passes one.
fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Status {
    /// What the index counts; the rest is empty.
    fn of(counts: IndexCounts) -> Self {
        let vectors = |VectorCounts { space, embedded, of }: VectorCounts| Vectors {
            model: space.model,
            dims: space.dims,
            checksum: space.checksum,
            complete: space.complete,
            embedded,
            of,
        };
        let reasons = |all: Vec<(String, i64)>| all.into_iter().map(|(why, sessions)| Reason { why, sessions }).collect();
        Self {
            receipts: counts.receipts,
            is_ready: false,
            files: counts.files,
            transcript_bytes: counts.transcript_bytes,
            database_bytes: 0,
            sessions: counts.sessions,
            from_other_machines: 0,
            agents: Vec::new(),
            digests: counts.digests,
            by_model: counts.by_model,
            from_claude_mem: counts.from_claude_mem,
            interim_digests: counts.interim,
            waiting_for_model: counts.queued,
            waiting_for_digest: counts.waiting,
            waiting_reasons: reasons(counts.waiting_reasons),
            without_model_reasons: reasons(counts.without_model_reasons),
            skipped: reasons(counts.skipped),
            failing: counts.failing.into_iter().map(|(session, failures, error)| Failing { session, failures, error }).collect(),
            bad_lines: counts.bad_lines,
            bad_lines_at: counts.bad_at.into_iter().map(|(path, offset, why)| BadLine { path, offset, why }).collect(),
            unknown_rows: counts.unknown.into_iter().collect(),
            spent_usd: counts.spent_usd,
            notes: counts.notes,
            marks_waiting: 0,
            last_run: None,
            running: None,
            vectors: counts.vectors.map(vectors),
            paused_until: None,
            copy: None,
        }
    }
}

/// The problems that `recall doctor` would report, as far as they can be found quickly.
pub(crate) fn problems(config: &Config) -> Result<Vec<Finding>> {
    let all = examine(config, &Host::new(config)?, Depth::Quick, config.now());
    Ok(alarms(all))
}

/// Those of the findings that are problems.
pub(crate) fn alarms(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| finding.alarm() != Severity::Ok).collect()
}
