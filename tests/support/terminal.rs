//! The real client on a terminal of its own: a tmux server whose socket lies in the world, gone with it.
//!
//! Everything waits for what the screen shows and for nothing else; a wait that fails shows the screen.

use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::client::Client;

/// The longest wait. Machines of test runs are slow; whoever sees this pass has found a failure.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// A key that the client did not take, because it was drawing, is pressed again after this.
const PRESS_AGAIN: Duration = Duration::from_secs(3);
/// Rules decide which tools may run. What newer clients begin with asks the service about each, which a stand-in cannot answer.
const BY_RULES: [&str; 2] = ["--permission-mode", "default"];

pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Starts the client in its project and waits until it takes input.
    pub fn start(client: &Client, args: &[&str]) -> Self {
        let terminal = Self { socket: client.world.root().join("tmux") };
        let claude = client.world.bin().join("claude").display().to_string();
        let project = client.project().display().to_string();
        let mut command = terminal.tmux();
        command.env_clear().envs(client.environment()).env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
        command.args(["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]);
        command
            .args(["new-session", "-d", "-x", "180", "-y", "60", "-c", &project, "/usr/bin/env", &claude])
            .args(BY_RULES)
            .args(args);
        let made = command.output().expect("tmux is installed");
        assert!(made.status.success(), "tmux starts: {made:?}");
        terminal.wait("a prompt", |screen| prompt(screen).is_some());
        terminal
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").arg("-u").arg("-S").arg(&self.socket).args(["-f", "/dev/null"]);
        command
    }

    fn ask(&self, args: &[&str]) -> String {
        let output = self.tmux().args(args).output().expect("tmux");
        assert!(output.status.success(), "tmux {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-J"])
    }

    /// Waits until the screen fits.
    pub fn wait(&self, what: &str, fits: impl Fn(&str) -> bool) {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if fits(&screen) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "waited in vain for {what}; the screen:\n{screen}");
            sleep(LOOK_AGAIN);
        }
    }

    /// Types a line when the client is at rest, and waits until it is taken.
    pub fn submit(&self, line: &str) {
        self.wait("rest", |screen| !is_busy(screen) && prompt(screen).is_some());
        self.ask(&["send-keys", "-l", line]);
        self.wait(&format!("`{line}` behind the prompt"), |screen| prompt(screen) == Some(line));
        let started = Instant::now();
        while !self.has_ended() && prompt(&self.screen()) == Some(line) {
            assert!(started.elapsed() < PATIENCE, "`{line}` is not taken; the screen:\n{}", self.screen());
            self.ask(&["send-keys", "Enter"]);
            let pressed = Instant::now();
            while pressed.elapsed() < PRESS_AGAIN && !self.has_ended() && prompt(&self.screen()) == Some(line) {
                sleep(LOOK_AGAIN);
            }
        }
    }

    /// Says something and waits for the end of what comes back.
    pub fn say(&self, line: &str, answer: &str) {
        self.submit(line);
        self.wait(&format!("`{answer}`"), |screen| screen.contains(answer) && !is_busy(screen));
    }

    pub fn has_ended(&self) -> bool {
        self.ask(&["list-panes", "-F", "#{pane_dead}"]).trim() == "1"
    }

    /// Waits until the client is gone.
    pub fn wait_for_the_end(self) {
        let started = Instant::now();
        while !self.has_ended() {
            assert!(started.elapsed() < PATIENCE, "the client does not end; the screen:\n{}", self.screen());
            sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// What stands behind the prompt that takes input: the last one on the screen.
fn prompt(screen: &str) -> Option<&str> {
    screen.lines().rev().find_map(|line| line.strip_prefix('❯')).map(str::trim)
}

fn is_busy(screen: &str) -> bool {
    screen.contains("esc to interrupt")
}
