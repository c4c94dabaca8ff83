//! Runs other programs with limits on time and output, and leaves no process of their group behind.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use subprocess::{Exec, ExecExt, ExitStatus, Redirection};

/// The longest wait between two checks of the limits.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The most bytes of stderr that are kept. Stderr does not count against the output limit.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The output and exit status of a child.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Why a child was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillReason {
    TimedOut,
    TooMuchOutput,
    /// The caller asked to stop.
    Stopped,
}

/// A killed child with its output so far.
#[derive(Debug)]
pub(crate) struct KilledChild {
    pub(crate) why: KillReason,
    pub(crate) ran: ChildOutput,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildLimits {
    pub(crate) time: Duration,
    /// The most bytes of stdout.
    pub(crate) output: usize,
    /// Polled while waiting; true stops the child.
    pub(crate) stop: fn() -> bool,
}

impl ChildLimits {
    /// Limits for small tools that answer quickly.
    pub(crate) fn seconds(seconds: u64) -> Self {
        Self { time: Duration::from_secs(seconds), output: 1 << 20, stop: || false }
    }
}

/// Runs a program and collects its output. Kills what is left of its process group in every case.
///
/// # Errors
/// When it cannot be started or its pipes break.
pub(crate) fn run(command: Exec, bounds: &ChildLimits) -> io::Result<Result<ChildOutput, KilledChild>> {
    let mut job = command.stdout(Redirection::Pipe).stderr(Redirection::Pipe).setpgid().start()?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let cut = collect(&mut job, bounds, &mut stdout, &mut stderr);
    // Kill what the child started as well, however it ended.
    let group = rustix::process::Pid::from_raw(job.pid() as i32);
    let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
    let status = job.wait();
    let cut = cut?;
    let ran = ChildOutput { stdout, stderr, status: status? };
    Ok(match cut {
        None => Ok(ran),
        Some(why) => Err(KilledChild { why, ran }),
    })
}

/// Runs a program in a folder in the place of this one, so that keys and signals are its own. Returns only if it cannot be started.
pub(crate) fn become_program(program: impl AsRef<OsStr>, args: &[String], folder: &Path) -> io::Error {
    Command::new(program).args(args).current_dir(folder).env("PWD", folder).exec()
}

/// Reads the child's output until it ends. Returns why it must be killed, if it must.
fn collect(
    job: &mut subprocess::Job,
    bounds: &ChildLimits,
    stdout: &mut Vec<u8>,
    stderr: &mut Vec<u8>,
) -> io::Result<Option<KillReason>> {
    // A limit beyond the range of the clock is no limit.
    let deadline = Instant::now().checked_add(bounds.time);
    let mut pipes = job.communicate()?.limit_time(POLL_INTERVAL).limit_size(64 << 10);
    let mut ended = false;
    loop {
        let before = stdout.len() + stderr.len();
        match pipes.read_to(&mut *stdout, &mut *stderr) {
            Ok(()) if stdout.len() + stderr.len() == before => break,
            Ok(()) => {}
            // A grandchild may hold the pipes open after the child ended. Output from just before the end is still read.
            Err(e) if e.kind() == ErrorKind::TimedOut && ended => break,
            Err(e) if e.kind() == ErrorKind::TimedOut => ended = job.poll().is_some(),
            // The child stopped reading its input; its output still counts.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {}
            Err(e) => return Err(e),
        }
        stderr.truncate(MAX_STDERR_BYTES);
        if let Some(cut) = exceeded(bounds, deadline, stdout.len()) {
            return Ok(Some(cut));
        }
    }
    loop {
        if job.wait_timeout(POLL_INTERVAL)?.is_some() {
            return Ok(None);
        }
        if let Some(cut) = exceeded(bounds, deadline, 0) {
            return Ok(Some(cut));
        }
    }
}

fn exceeded(bounds: &ChildLimits, deadline: Option<Instant>, printed: usize) -> Option<KillReason> {
    if (bounds.stop)() {
        Some(KillReason::Stopped)
    } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        Some(KillReason::TimedOut)
    } else if printed > bounds.output {
        Some(KillReason::TooMuchOutput)
    } else {
        None
    }
}

/// The path of a command, found by its path or by the search path.
pub(crate) fn which(name: &str, search_path: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    let runs = |path: &Path| std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|p| runs(p));
    }
    std::env::split_paths(search_path).map(|dir| dir.join(name)).find(|p| p.is_absolute() && runs(p))
}
