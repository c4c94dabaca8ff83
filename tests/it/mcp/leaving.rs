//! A client that goes leaves no process, no lock and no file behind.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::mcp_client::Peer;
use crate::support::{FileState, World, changed};

const PATIENCE: Duration = Duration::from_secs(60);

/// All files with what they hold. What readers lock is shared memory in a file, whose bytes are nobody's.
fn left(world: &World) -> Vec<FileState> {
    let is_shared = |file: &FileState| file.0.extension().is_some_and(|ending| ending == "db-shm");
    let mut files = world.everything();
    for file in files.iter_mut().filter(|file| is_shared(file)) {
        file.1.clear();
        file.2 = std::time::SystemTime::UNIX_EPOCH;
    }
    files
}

/// A world with an index that was read before, as every reader finds it.
fn digested() -> World {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    world.status();
    world
}

#[test]
fn the_end_of_stdin_ends_it_and_leaves_all_as_it_was() {
    let world = digested();
    let before = left(&world);
    let mut peer = Peer::greet(&world);
    peer.call("status", json!({}));
    let ended = peer.leave();
    assert!(ended.status.success() && ended.err.is_empty(), "{ended:?}");
    assert_eq!(changed(&before, &left(&world)), [] as [std::path::PathBuf; 0]);
    world.digest(&[]);
}

#[test]
fn a_signal_ends_it_while_the_client_is_still_there() {
    let world = digested();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let before = left(&world);
        let mut peer = Peer::greet(&world);
        peer.call("status", json!({}));
        peer.kill(signal);
        let ended = peer.wait();
        assert!(ended.status.success() && ended.err.is_empty(), "{signal:?}: {ended:?}");
        assert_eq!(changed(&before, &left(&world)), [] as [std::path::PathBuf; 0], "{signal:?}");
        // Before anything was said, too.
        let mut silent = Peer::start(&world, world.root());
        silent.write(b"\n");
        sleep(Duration::from_millis(300));
        silent.kill(signal);
        silent.wait();
    }
}

#[test]
fn who_says_nothing_and_goes_is_no_trouble() {
    let world = World::new();
    let ended = Peer::start(&world, world.root()).leave();
    assert!(ended.status.success() && ended.err.is_empty(), "{ended:?}");
    assert!(!world.data_dir().exists());
}

#[test]
fn a_client_that_goes_in_the_middle_of_calls_is_not_mourned() {
    let world = digested();
    for _ in 0..3 {
        let mut peer = Peer::greet(&world);
        for _ in 0..20 {
            peer.send("tools/call", json!({"name": "status", "arguments": {}}));
        }
        let ended = peer.leave();
        assert!(ended.status.success() && ended.err.is_empty(), "{ended:?}");
    }
}

#[test]
fn a_killed_parent_takes_it_along() {
    let world = digested();
    // The shell holds the writing end, as a client does, and the server is its child.
    let script = "mkfifo in && { \"$RECALL\" mcp < in & } && exec 3> in && printf '%s\\n' \"$HELLO\" >&3 && wait";
    let client = json!({"name": "tests", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let mut command = Command::new("/bin/sh");
    command.env_clear().envs(world.environment()).env("PATH", "/usr/bin:/bin").env("RECALL", world.program());
    command.env("HELLO", hello.to_string()).args(["-c", script]).current_dir(world.root());
    let mut parent = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a shell");
    let mut out = BufReader::new(parent.stdout.take().expect("its stdout"));
    let mut greeting = String::new();
    out.read_line(&mut greeting).expect("a greeting");
    assert!(greeting.contains("serverInfo"), "the server is there: {greeting}");
    parent.kill().expect("a parent");
    parent.wait().expect("its end");
    // Only the server holds the other end now: the pipe ends when it does.
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(out.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(true), "the server ends");
}
