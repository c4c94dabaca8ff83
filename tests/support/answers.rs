//! `recall` on a terminal: what it shows there, and where somebody answers what it asks.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::World;

/// How it ended, and what the terminal showed.
#[derive(Debug)]
pub struct Answered {
    pub code: i32,
    pub shown: String,
}

/// In columns and rows.
type Size = (u16, u16);

/// What a terminal has that tells no size.
const USUAL: Size = (80, 24);

/// A terminal: where somebody sits before it, and what opens it for a program.
fn new_terminal((columns, rows): Size) -> (fs::File, impl Fn() -> fs::File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("a terminal");
    unlockpt(&terminal).expect("a terminal");
    let name = ptsname(&terminal, Vec::new()).expect("its name").into_string().expect("UTF-8");
    let open = move || fs::OpenOptions::new().read(true).write(true).open(&name).expect("the terminal");
    tcsetwinsize(open(), Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
    (terminal.into(), open)
}

/// Runs what has the terminal, up to where nobody is at its other end any more.
fn run(mut command: Command, mut terminal: fs::File, mut each: impl FnMut(&[u8])) -> i32 {
    let mut child = command.spawn().expect("recall starts");
    // It holds the other end open.
    drop(command);
    let mut part = [0; 4096];
    // An end of the other side is an error on a terminal.
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        each(&part[..count]);
    }
    child.wait().expect("its end").code().unwrap_or(-1)
}

/// The same, with all that it wrote.
fn answer_of(command: Command, terminal: fs::File) -> Answered {
    let mut written = Vec::new();
    let code = run(command, terminal, |part| written.extend(part));
    Answered { code, shown: String::from_utf8_lossy(&written).into_owned() }
}

fn screen_of((columns, rows): Size) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().expect("rows"), columns.try_into().expect("columns"), 0)
}

/// Runs it in a folder with a terminal of this size on stdout, without a pager unless the variables name one; its lines, as they are shown.
pub fn on_terminal(world: &World, folder: &Path, size: Size, variables: &[(&str, &str)], args: &[&str]) -> Vec<String> {
    let (terminal, open) = new_terminal(size);
    let mut command = world.process();
    command.current_dir(folder).env("PAGER", "cat").env("TERM", "xterm").envs(variables.iter().copied()).args(args);
    command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(open());
    let ended = answer_of(command, terminal);
    assert!((0..2).contains(&ended.code), "{ended:#?}");
    ended.shown.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// Runs it in a folder as somebody at a terminal does, who types nothing.
pub fn at_terminal(world: &World, folder: &Path, args: &[&str]) -> Answered {
    let (terminal, open) = new_terminal(USUAL);
    let mut command = world.process();
    command.current_dir(folder).args(args).stdin(open()).stderr(open()).stdout(open());
    answer_of(command, terminal)
}

/// Runs it with a terminal of this size on stdout and stderr, without a pager; what it wrote there, with its colours and without what it
/// wiped away.
pub fn shown_at_terminal(world: &World, size: Size, args: &[&str]) -> String {
    let (terminal, open) = new_terminal(size);
    let mut command = world.process();
    command.env("PAGER", "cat").env("TERM", "xterm-256color").args(args);
    command.stdin(Stdio::null()).stderr(open()).stdout(open());
    let mut screen = screen_of(size);
    assert_eq!(run(command, terminal, |part| screen.process(part)), 0);
    screen.screen().rows_formatted(0, size.0).collect::<Vec<_>>().join("\r\n").trim_end().to_owned()
}

/// Runs it with a terminal of this size on stderr; what the screen shows after each time it was written to.
pub fn on_stderr_terminal(world: &World, size: Size, args: &[&str]) -> Vec<String> {
    let (terminal, open) = new_terminal(size);
    let mut command = world.process();
    command.env("TERM", "xterm").args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(open());
    let (mut screen, mut screens) = (screen_of(size), Vec::new());
    let code = run(command, terminal, |part| {
        screen.process(part);
        screens.push(screen.screen().contents());
    });
    assert!((0..2).contains(&code), "{screens:#?}");
    screens
}

/// Runs it in a folder; `answer` is typed line by line. stdout leads nowhere.
pub fn answered(world: &World, folder: &Path, variables: &[(&str, &str)], args: &[&str], answer: &str) -> Answered {
    let (mut terminal, open) = new_terminal(USUAL);
    let mut command = world.process();
    command.current_dir(folder).envs(variables.iter().copied()).args(args).stdin(open()).stderr(open()).stdout(Stdio::null());
    terminal.write_all(format!("{answer}\n").as_bytes()).expect("an answer");
    answer_of(command, terminal)
}

/// Runs it as somebody at a terminal of this size does, who types these keys; how it ended, and what the screen showed after each
/// line that was written to it.
pub fn typed(world: &World, size: Size, args: &[&str], keys: &str) -> (i32, Vec<String>) {
    let (mut terminal, open) = new_terminal(size);
    let mut command = world.process();
    command.env("PAGER", "cat").env("TERM", "xterm").args(args).stdin(open()).stderr(open()).stdout(open());
    terminal.write_all(keys.as_bytes()).expect("keys");
    let (mut screen, mut screens) = (screen_of(size), Vec::new());
    let code = run(command, terminal, |part| {
        for line in part.split_inclusive(|byte| *byte == b'\n') {
            screen.process(line);
            screens.push(screen.screen().contents());
        }
    });
    (code, screens)
}
