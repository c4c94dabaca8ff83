//! Runs that meet: a second run, Ctrl-C, a reader that goes away.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Ran, World};

/// A stand-in for `claude` that says who it is and then hangs, with a child of its own.
const SLOW: &str = "#!/bin/sh\ncat > /dev/null\nsleep 300 &\necho $! > \"$HOME/grandchild\"\necho $$ > \"$HOME/child.new\"\nmv \"$HOME/child.new\" \"$HOME/child\"\nwait\n";

/// A run that does not outlive its test, and neither does the model it started.
struct Run(Option<Child>);

impl Run {
    fn start(world: &World) -> Self {
        let mut command = world.process();
        command.args(["digest", "--json", "--summarizer", "claude"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("recall starts")))
    }

    fn signal(&self, name: &str) {
        signal(self.0.as_ref().expect("it runs").id(), name);
    }

    fn ended(mut self) -> Ran {
        let child = self.0.take().expect("it ran");
        Ran::of(child.wait_with_output().expect("its output"))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            signal(child.id(), "INT");
            let _ = child.wait();
        }
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn pid_in(file: &Path) -> String {
    fs::read_to_string(file).unwrap().trim().to_owned()
}

fn is_alive(pid: &str) -> bool {
    // A zombie is gone: it only waits for its parent to notice.
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(state) => !state.contains(") Z "),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().is_ok_and(|s| s.success()),
    }
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap().success());
}

/// A world whose `claude` is slow, and a run that is in the middle of it.
fn under_way() -> (World, Run) {
    let world = World::with_fixtures(&["plain"]);
    world.fake_claude(SLOW);
    let run = Run::start(&world);
    wait_until("the model to be asked", || world.home().join("child").exists());
    (world, run)
}

#[test]
fn ctrl_c_ends_the_run_and_the_model_with_it_and_the_next_run_completes() {
    for name in ["INT", "TERM"] {
        let (world, run) = under_way();
        run.signal(name);
        let ran = run.ended();
        assert_eq!(ran.code, 1, "SIG{name}: {ran:#?}");
        assert!(ran.err.contains("stopping") && !ran.err.contains("panicked"), "{ran:#?}");
        for who in ["child", "grandchild"] {
            let pid = pid_in(&world.home().join(who));
            wait_until("the model's processes to be gone", || !is_alive(&pid));
        }
        assert_eq!(
            world.count("SELECT count(*) FROM spend WHERE actual_usd IS NULL"),
            1,
            "what may have been spent is kept as spent"
        );

        fs::remove_file(world.bin().join("claude")).unwrap();
        let report = world.digest(&["--summarizer", "extract"]);
        assert_eq!((&report["bytes_read"], &report["sessions_digested"]), (&0.into(), &1.into()), "{report}");
        assert_eq!(world.pages().len(), 2);
    }
}

#[test]
fn two_runs_at_once_are_one() {
    let (world, run) = under_way();
    let second = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(second.code, 0, "{second:#?}");
    assert!(second.err.contains("another run is under way"), "{second:#?}");
    assert_eq!(world.count("SELECT count(*) FROM digest"), 0, "the second did nothing");
    let import = world.shell("\"$RECALL\" export | \"$RECALL\" import");
    assert!(import.code == 2 && import.err.contains("under way"), "{import:#?}");

    // A program that asked for an object gets one.
    let json = world.recall(["digest", "--json"]);
    let report: Result<serde_json::Value, _> = serde_json::from_str(&json.out);
    run.signal("INT");
    assert_eq!(run.ended().code, 1);
    assert!(report.is_ok_and(|r| r["sessions_digested"] == 0), "{json:#?}");
}

#[test]
fn questions_are_answered_while_a_run_is_under_way() {
    let (world, run) = under_way();
    let found = world.recall(["search", "orders"]);
    let status = world.recall(["status"]);
    run.signal("INT");
    assert_eq!(run.ended().code, 1);
    assert!(found.code == 0 && found.out.contains("64b0b6d9"), "{found:#?}");
    assert!(status.code == 0 && status.out.contains("waiting     1 session for a digest"), "{status:#?}");
}

#[test]
fn a_killed_run_leaves_nothing_in_the_way_of_the_next() {
    let (world, run) = under_way();
    run.signal("KILL");
    run.ended();
    let child = pid_in(&world.home().join("child"));
    // Nobody could end the model: it is ours to clean up here.
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{child}")]).status();
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&report["bytes_read"], &report["sessions_digested"]), (&0.into(), &1.into()), "{report}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let world = World::with_fixtures(&["plain", "fork", "compact", "clear", "subagent", "hooks", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    for command in ["export", "status --json", "search orders", "show 64b0b6d9", "config", "digest --json"] {
        let ran = world.shell(&format!("{{ \"$RECALL\" {command}; echo $? > \"$HOME/code\"; }} | true"));
        let code = fs::read_to_string(world.home().join("code")).unwrap();
        assert_eq!((code.trim(), ran.err.as_str()), ("0", ""), "{command}: {ran:#?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_is_no_success() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.shell("\"$RECALL\" export > /dev/full");
    assert!(ran.code == 2 && ran.err.starts_with("recall: ") && !ran.err.contains("panicked"), "{ran:#?}");
}
