//! `recall team push`: records from a stream of lines, to the team's server.

use std::io::{self, BufRead, Read};

use anyhow::{Context, Result};
use team::{Client, Deadlines, Record, RecordId};

use super::records::RecordLine;
use crate::sys::messages::Ui;
use text::clean::{one_line, without_controls};

/// How many records, and about how many bytes of lines, go to the server at once.
const BATCH_RECORDS: usize = 500;
const BATCH_BYTES: usize = 8 << 20;
/// The longest line: a record of the largest size with every character escaped.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// What became of the lines.
#[derive(Debug, Default)]
pub(crate) struct PushedLines {
    /// New on the server, or newer than what it had.
    pub(crate) stored: usize,
    /// The server has them already.
    pub(crate) unchanged: usize,
    /// No records, or none that the server takes.
    pub(crate) refused: usize,
}

/// Pushes records, a line each, as [`super::records()`] writes them, in the name of a machine. A line that is refused is named on stderr, and does not keep
/// others from being pushed.
///
/// # Errors
/// When the server cannot be reached, or the stream cannot be read. What went before is pushed, and all can be pushed again.
pub(crate) fn push_lines(url: &str, machine: &str, lines: &mut impl BufRead, ui: &Ui) -> Result<PushedLines> {
    let client = Client::join(url, machine, Deadlines::default())?;
    let mut pusher = Pusher { client, batch: Vec::new(), bytes: 0, done: PushedLines::default(), ui };
    let mut number = 0;
    let mut line = Vec::new();
    while read_line(lines, &mut line).context("cannot read the records")? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match record_in(&line) {
            Ok(record) => pusher.add(record, line.len())?,
            Err(why) => pusher.refuse(&format!("line {number}"), &why),
        }
    }
    pusher.send()?;
    Ok(pusher.done)
}

/// Reads a line; of one that is too long the beginning. False at the end.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', line)?;
    if line.len() as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
        from.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

fn record_in(line: &[u8]) -> Result<Record, String> {
    if line.len() as u64 >= MAX_LINE_BYTES {
        return Err(format!("it has {MAX_LINE_BYTES} bytes or more"));
    }
    let RecordLine { project, kind, id, version, body, search } =
        serde_json::from_slice(line).map_err(|e| format!("it is no record: {e}"))?;
    Ok(Record { id: RecordId { project, kind, id }, version, body, search })
}

struct Pusher<'a> {
    client: Client,
    batch: Vec<Record>,
    bytes: usize,
    done: PushedLines,
    ui: &'a Ui,
}

impl Pusher<'_> {
    fn add(&mut self, record: Record, bytes: usize) -> Result<()> {
        if self.batch.len() >= BATCH_RECORDS || self.bytes + bytes > BATCH_BYTES {
            self.send()?;
        }
        self.bytes += bytes;
        self.batch.push(record);
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let pushed = self.client.push(&self.batch).context("not all was pushed; push the same again")?;
        self.batch.clear();
        self.bytes = 0;
        self.done.stored += pushed.stored;
        self.done.unchanged += pushed.unchanged;
        for (id, why) in pushed.refused {
            self.refuse(&format!("{} {} of {}", id.kind, id.id, id.project), &why);
        }
        Ok(())
    }

    fn refuse(&mut self, what: &str, why: &str) {
        self.done.refused += 1;
        self.ui.warn(&one_line(&without_controls(&format!("refused: {what}: {why}"))));
    }
}
