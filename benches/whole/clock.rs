//! Times whole commands in turn, so that disturbances of the machine affect all of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A command to time, with setup that runs before each run.
pub struct Contender<'a> {
    pub name: String,
    before: Box<dyn FnMut(u64) + 'a>,
    command: Box<dyn Fn() -> Command + 'a>,
    times: Vec<f64>,
}

impl<'a> Contender<'a> {
    pub fn new(name: &str, command: impl Fn() -> Command + 'a) -> Self {
        Self { name: name.into(), before: Box::new(|_| {}), command: Box::new(command), times: Vec::new() }
    }

    /// Sets up each run; gets the number of the round and is not timed.
    pub fn before(mut self, before: impl FnMut(u64) + 'a) -> Self {
        self.before = Box::new(before);
        self
    }

    /// The median, in milliseconds.
    pub fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Runs the contenders in turn: one warm-up round, then `rounds` timed ones.
pub fn race(rounds: u64, contenders: &mut [Contender<'_>]) {
    for round in 0..=rounds {
        for one in contenders.iter_mut() {
            (one.before)(round);
            let mut command = (one.command)();
            let began = Instant::now();
            let status = command.status().unwrap_or_else(|e| panic!("{}: {e}", one.name));
            let took = began.elapsed().as_secs_f64() * 1e3;
            assert!(status.success(), "{}: {status}", one.name);
            if round > 0 {
                one.times.push(took);
            }
        }
    }
}

/// The duration of a run in milliseconds, and its peak memory in KiB (0 if the system does not report it).
pub fn peak(mut command: Command) -> (f64, u64) {
    let began = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        let told = fs::read_to_string(&status).unwrap_or_default();
        let high = told.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        most = high.unwrap_or(most);
        sleep(Duration::from_millis(3));
    }
    (began.elapsed().as_secs_f64() * 1e3, most)
}

/// A command without input and with its output discarded.
pub fn quiet(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
