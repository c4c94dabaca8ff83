//! The payload: all of stdin, or as much of it as is one whole JSON object. A caller that never closes its end is not waited for.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::IgnoredAny;

/// The most a payload may have, in bytes; a compaction's summary or a last message are part of some.
const MAX_PAYLOAD: usize = 8 << 20;
/// Small, because memory that is touched for the first time costs more than another read, and payloads have a few hundred bytes.
const CHUNK: usize = 4 << 10;

/// Reads until the end, or until what came is a whole object and nothing more is there.
///
/// # Errors
/// When it does not end in time, or cannot be read.
pub fn read(until: Instant) -> Result<Vec<u8>> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        // Looked into only when nothing more is there: it may come in many pieces.
        if !comes(&stdin, Duration::ZERO)? {
            if is_whole(&bytes) {
                return Ok(bytes);
            }
            if !comes(&stdin, until.saturating_duration_since(Instant::now()))? {
                bail!("stdin did not end in time, given up");
            }
        }
        match rustix::io::read(&stdin, &mut chunk).map_err(io::Error::from) {
            Ok(0) => return Ok(bytes),
            Ok(got) => bytes.extend_from_slice(&chunk[..got]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e).context("cannot read stdin"),
        }
        if bytes.len() > MAX_PAYLOAD {
            bail!("stdin is not JSON of a hook: more than {} MiB", MAX_PAYLOAD >> 20);
        }
    }
}

/// Is there something to read, or the end, within this time?
fn comes(stdin: &io::Stdin, within: Duration) -> Result<bool> {
    let wait = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
    match poll(&mut [PollFd::new(stdin, PollFlags::IN)], Some(&wait)).map_err(io::Error::from) {
        // A signal: rare, and the deadline of all that hooks do stands behind this one.
        Err(e) if e.kind() == ErrorKind::Interrupted => comes(stdin, within),
        other => Ok(other.context("cannot wait for stdin")? > 0),
    }
}

/// Is this one object, whole?
fn is_whole(bytes: &[u8]) -> bool {
    let trimmed = bytes.trim_ascii();
    trimmed.starts_with(b"{") && trimmed.ends_with(b"}") && serde_json::from_slice::<IgnoredAny>(trimmed).is_ok()
}
