//! Reads the payload: all of stdin, or one complete JSON object. Does not wait for a caller that never closes the pipe.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::IgnoredAny;

/// Largest payload in bytes. Some include a compaction's summary or a last message.
const MAX_PAYLOAD_BYTES: usize = 8 << 20;
/// Small, because touching fresh memory costs more than another read, and payloads have a few hundred bytes.
const READ_BYTES: usize = 4 << 10;

/// Reads until the end, or until the input is a complete object and nothing more is available.
///
/// # Errors
/// If the input does not end in time, or cannot be read.
pub fn read(until: Instant) -> Result<Vec<u8>> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = [0; READ_BYTES];
    loop {
        // Parse only when no more input is available, since a payload may arrive in many pieces.
        if !wait_readable(&stdin, Duration::ZERO)? {
            if is_complete(&bytes) {
                return Ok(bytes);
            }
            if !wait_readable(&stdin, until.saturating_duration_since(Instant::now()))? {
                bail!("stdin did not end in time, given up");
            }
        }
        match rustix::io::read(&stdin, &mut chunk).map_err(io::Error::from) {
            Ok(0) => return Ok(bytes),
            Ok(got) => bytes.extend_from_slice(&chunk[..got]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e).context("cannot read stdin"),
        }
        if bytes.len() > MAX_PAYLOAD_BYTES {
            bail!("stdin is not JSON of a hook: more than {} MiB", MAX_PAYLOAD_BYTES >> 20);
        }
    }
}

/// Whether input, or its end, is available within this time.
fn wait_readable(stdin: &io::Stdin, within: Duration) -> Result<bool> {
    let wait = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
    match poll(&mut [PollFd::new(stdin, PollFlags::IN)], Some(&wait)).map_err(io::Error::from) {
        // Interrupted by a signal: try again. This is rare, and the deadline of the whole hook still applies.
        Err(e) if e.kind() == ErrorKind::Interrupted => wait_readable(stdin, within),
        other => Ok(other.context("cannot wait for stdin")? > 0),
    }
}

/// Whether the bytes are one complete object.
fn is_complete(bytes: &[u8]) -> bool {
    let trimmed = bytes.trim_ascii();
    trimmed.starts_with(b"{") && trimmed.ends_with(b"}") && serde_json::from_slice::<IgnoredAny>(trimmed).is_ok()
}
