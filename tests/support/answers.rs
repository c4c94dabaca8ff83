//! `recall` on a terminal: what it shows there, and where somebody answers what it asks.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::World;

/// How it ended, and what the terminal showed.
#[derive(Debug)]
pub struct Answered {
    pub code: i32,
    pub shown: String,
}

/// A terminal: where somebody sits before it, and what opens it for a program.
fn new_terminal() -> (fs::File, impl Fn() -> fs::File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("a terminal");
    unlockpt(&terminal).expect("a terminal");
    let name = ptsname(&terminal, Vec::new()).expect("its name").into_string().expect("UTF-8");
    (terminal.into(), move || fs::OpenOptions::new().read(true).write(true).open(&name).expect("the terminal"))
}

/// Runs it in a folder with a terminal of this size on stdout, without a pager unless the variables name one; its lines, as they are shown.
pub fn on_terminal(
    world: &World,
    folder: &Path,
    (columns, rows): (u16, u16),
    variables: &[(&str, &str)],
    args: &[&str],
) -> Vec<String> {
    let (mut terminal, open) = new_terminal();
    let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let stdout = open();
    rustix::termios::tcsetwinsize(&stdout, size).expect("its size");
    let mut command = world.process();
    command.current_dir(folder).env("PAGER", "cat").env("TERM", "xterm").envs(variables.iter().copied()).args(args);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(stdout).spawn().expect("recall starts");
    drop(command);
    let mut shown = Vec::new();
    // It ends with an error where nobody is at the other end any more.
    let _ = terminal.read_to_end(&mut shown);
    assert!(child.wait().expect("its end").code().is_some_and(|code| code < 2));
    String::from_utf8_lossy(&shown).lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// Runs it in a folder as somebody at a terminal does, who types nothing.
pub fn at_terminal(world: &World, folder: &Path, args: &[&str]) -> Answered {
    let (mut terminal, open) = new_terminal();
    let mut command = world.process();
    command.current_dir(folder).args(args);
    let mut child = command.stdin(open()).stderr(open()).stdout(open()).spawn().expect("recall starts");
    drop(command);
    let mut shown = Vec::new();
    let _ = terminal.read_to_end(&mut shown);
    let ended = child.wait().expect("its end");
    Answered { code: ended.code().unwrap_or(-1), shown: String::from_utf8_lossy(&shown).into_owned() }
}

/// Runs it with a terminal of this size on stdout and stderr, without a pager; what it wrote there, with its colours and without what it
/// wiped away.
pub fn shown_at_terminal(world: &World, (columns, rows): (u16, u16), args: &[&str]) -> String {
    let (mut terminal, open) = new_terminal();
    let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(open(), size).expect("its size");
    let mut command = world.process();
    command.env("PAGER", "cat").env("TERM", "xterm-256color").args(args);
    let mut child = command.stdin(Stdio::null()).stderr(open()).stdout(open()).spawn().expect("recall starts");
    drop(command);
    let mut written = Vec::new();
    let _ = terminal.read_to_end(&mut written);
    assert!(child.wait().expect("its end").success());
    let mut screen = vt100::Parser::new(rows.try_into().expect("rows"), columns.try_into().expect("columns"), 0);
    screen.process(&written);
    screen.screen().rows_formatted(0, columns).collect::<Vec<_>>().join("\r\n").trim_end().to_owned()
}

/// Runs it with a terminal of this size on stderr; what the screen shows after each time it was written to.
pub fn on_stderr_terminal(world: &World, (columns, rows): (u16, u16), args: &[&str]) -> Vec<String> {
    let (mut terminal, open) = new_terminal();
    let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let stderr = open();
    rustix::termios::tcsetwinsize(&stderr, size).expect("its size");
    let mut command = world.process();
    command.env("TERM", "xterm").args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = command.spawn().expect("recall starts");
    drop(command);
    let mut screen = vt100::Parser::new(rows.try_into().expect("rows"), columns.try_into().expect("columns"), 0);
    let (mut screens, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        screen.process(&part[..count]);
        screens.push(screen.screen().contents());
    }
    assert!(child.wait().expect("its end").code().is_some_and(|code| code < 2), "{screens:#?}");
    screens
}

/// Runs it in a folder; `answer` is typed line by line. stdout leads nowhere.
pub fn answered(world: &World, folder: &Path, variables: &[(&str, &str)], args: &[&str], answer: &str) -> Answered {
    let (mut terminal, open) = new_terminal();
    let mut command = world.process();
    command.current_dir(folder).envs(variables.iter().copied()).args(args);
    let mut child = command.stdin(open()).stderr(open()).stdout(Stdio::null()).spawn().expect("recall starts");
    terminal.write_all(format!("{answer}\n").as_bytes()).expect("an answer");
    let ended = child.wait().expect("its end");
    drop(command);
    // What was said, up to where nobody is at the other end any more, which is an error on a terminal.
    let mut shown = Vec::new();
    let _ = terminal.read_to_end(&mut shown);
    Answered { code: ended.code().unwrap_or(-1), shown: String::from_utf8_lossy(&shown).into_owned() }
}
