//! Log of errors in hooks, which print none themselves: one line each, limited in size, without text of any session. Never
//! follows a symbolic link that lies in its place.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config;
use crate::sys::{data_folder, private_files};
use text::clean::{one_line, shorten, without_controls};

/// Size in bytes at which the log is rotated. One rotated log is kept.
const MAX_SIZE: u64 = 64 << 10;
/// Longest line, in characters.
const MAX_LINE: usize = 400;

pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::HOOKS_LOG)
}

/// Appends a line. Errors (no home, a full disk) are ignored: there is no other place to report them.
pub(crate) fn note(event: &str, what: &str) {
    let Ok(data_dir) = config::data_dir() else { return };
    let log = path(&data_dir);
    let at = jiff::Timestamp::from_millisecond(config::now().unwrap_or_default()).unwrap_or_default();
    let line = format!(
        "{at:.0} {}: {}\n",
        shorten(&one_line(&without_controls(event)), 40),
        shorten(&one_line(&without_controls(what)), MAX_LINE)
    );
    if fs::metadata(&log).is_ok_and(|m| m.len() >= MAX_SIZE) {
        let _ = fs::rename(&log, log.with_extension("log.old"));
    }
    let _ = private_files::create_dir(&data_dir);
    if private_files::is_link(&log) {
        // Removes the link itself; its target stays untouched.
        let _ = fs::remove_file(&log);
    }
    if let Ok(mut log) = private_files::open_regular(OpenOptions::new().create(true).append(true).mode(0o600), &log) {
        let _ = log.write_all(line.as_bytes());
    }
}

/// Removes lines, also from the rotated log.
pub(crate) fn remove_lines(data_dir: &Path, fits: impl Fn(&str) -> bool) -> std::io::Result<()> {
    let log = path(data_dir);
    for log in [log.with_extension("log.old"), log] {
        let mut bytes = Vec::new();
        let read = private_files::open_regular(OpenOptions::new().read(true), &log).and_then(|mut log| log.read_to_end(&mut bytes));
        if read.is_err() {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        let left: String = text.split_inclusive('\n').filter(|line| !fits(line)).collect();
        if left.len() < text.len() {
            private_files::replace(&log, left.as_bytes())?;
        }
    }
    Ok(())
}

/// The last lines, at most `most`, newest last.
pub fn last_lines(data_dir: &Path, most: usize) -> Vec<String> {
    let Ok(log) = private_files::open_regular(OpenOptions::new().read(true), &path(data_dir)) else { return Vec::new() };
    let mut lines: Vec<String> = std::io::BufReader::new(log).lines().map_while(Result::ok).collect();
    lines.split_off(lines.len().saturating_sub(most))
}
