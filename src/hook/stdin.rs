//! The payload: all of stdin, if it comes in time. A caller that never closes its end is not waited for.

use std::io::{self, ErrorKind};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most a payload may have, in bytes; a compaction's summary or a last message are part of some.
const MAX_PAYLOAD: usize = 8 << 20;
/// Small, because memory that is touched for the first time costs more than another read, and payloads have a few hundred bytes.
const CHUNK: usize = 4 << 10;

/// # Errors
/// When it does not end in time, or cannot be read.
pub fn read(until: Instant) -> Result<Vec<u8>> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)).map_err(io::Error::from) {
            Ok(0) => bail!("stdin did not end in time, given up"),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            other => _ = other.context("cannot wait for stdin")?,
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
