//! Waits for a process, but not for ever: what hangs is killed, and the test fails.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::Ran;

/// The longest one process may take, with many others beside it. No measure of speed: who sees this pass has found a hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// Tries all cases side by side, as each of them waits for seconds; fails if one of them does.
pub fn at_once<C: Sync>(cases: &[C], try_one: impl Fn(&C) + Sync) {
    std::thread::scope(|scope| {
        let all: Vec<_> = cases.iter().map(|case| scope.spawn(|| try_one(case))).collect();
        all.into_iter().for_each(|one| one.join().unwrap_or_else(|why| std::panic::resume_unwind(why)));
    });
}

/// Runs a command with this on its stdin, of which it may read as little as it likes.
pub fn ended(mut command: Command, stdin: &str, what: &str) -> Ran {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("recall starts");
    let pid = rustix::process::Pid::from_child(&child);
    let (mut to, text) = (child.stdin.take().expect("its stdin"), stdin.to_owned());
    // Both may wait for the process, so neither does it here.
    std::thread::spawn(move || _ = to.write_all(text.as_bytes()));
    let (send, receive) = channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    match receive.recv_timeout(PATIENCE) {
        Ok(output) => Ran::of(output.expect("its output")),
        Err(_) => {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            panic!("{what} does not end");
        }
    }
}
