//! The payload: all of stdin, if it comes in time. A caller that never closes its end is not waited for.

use std::io::{self, ErrorKind};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most a payload may have, in bytes; a compaction's summary or a last message are part of some.
const MAX_PAYLOAD: usize = 8 << 20;
const CHUNK: usize = 64 << 10;

/// # Errors
/// When it does not end in time, or cannot be read.
pub fn read(until: Instant) -> Result<Vec<u8>> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)).map_err(io::Error::from) {
            Ok(0) => bail!("stdin did not end in time, given up"),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            other => _ = other.context("cannot wait for stdin")?,
        }
        let held = bytes.len();
        bytes.resize(held + CHUNK, 0);
        let got = match rustix::io::read(&stdin, &mut bytes[held..]).map_err(io::Error::from) {
            Err(e) if e.kind() == ErrorKind::Interrupted => 0,
            Ok(0) => {
                bytes.truncate(held);
                return Ok(bytes);
            }
            other => other.context("cannot read stdin")?,
        };
        bytes.truncate(held + got);
        if bytes.len() > MAX_PAYLOAD {
            bail!("stdin is not JSON of a hook: more than {} MiB", MAX_PAYLOAD >> 20);
        }
    }
}
