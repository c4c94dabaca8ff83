//! What went wrong in hooks, a line each: they themselves are silent. Limited in size; no text of any session; never anywhere else, whatever
//! link lies in its place.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::clean::{one_line, plain, shorten};
use crate::{config, private};

/// A log that reaches this size is set aside; the one set aside before it goes.
const MAX_SIZE: u64 = 64 << 10;
/// Longest line, in characters.
const MAX_LINE: usize = 400;

pub fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("hooks.log")
}

/// Adds a line. Where that fails too (no home, a full disk), nothing is left to be done.
pub fn note(event: &str, what: &str) {
    let Ok(data_dir) = config::data_dir() else { return };
    let log = file(&data_dir);
    let at = jiff::Timestamp::from_millisecond(config::now().unwrap_or_default()).unwrap_or_default();
    let line = format!("{at:.0} {}: {}\n", shorten(&one_line(&plain(event)), 40), shorten(&one_line(&plain(what)), MAX_LINE));
    if fs::metadata(&log).is_ok_and(|m| m.len() >= MAX_SIZE) {
        let _ = fs::rename(&log, log.with_extension("log.old"));
    }
    let _ = private::create_dir(&data_dir);
    if private::is_led_elsewhere(&log) {
        // The link goes, what it leads to stays as it is.
        let _ = fs::remove_file(&log);
    }
    if let Ok(mut log) = private::open_itself(OpenOptions::new().create(true).append(true).mode(0o600), &log) {
        let _ = log.write_all(line.as_bytes());
    }
}

/// Takes lines out, also of the log that was set aside.
pub fn forget(data_dir: &Path, fits: impl Fn(&str) -> bool) -> std::io::Result<()> {
    let log = file(data_dir);
    for log in [log.with_extension("log.old"), log] {
        let mut bytes = Vec::new();
        let read = private::open_itself(OpenOptions::new().read(true), &log).and_then(|mut log| log.read_to_end(&mut bytes));
        if read.is_err() {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        let left: String = text.split_inclusive('\n').filter(|line| !fits(line)).collect();
        if left.len() < text.len() {
            private::replace(&log, left.as_bytes())?;
        }
    }
    Ok(())
}

/// The last lines, at most `most`, newest last.
pub fn last_lines(data_dir: &Path, most: usize) -> Vec<String> {
    let Ok(log) = private::open_itself(OpenOptions::new().read(true), &file(data_dir)) else { return Vec::new() };
    let mut lines: Vec<String> = std::io::BufReader::new(log).lines().map_while(Result::ok).collect();
    lines.split_off(lines.len().saturating_sub(most))
}
