//! The machine: disk space, permissions, clock.

use std::fs;
use std::path::Path;

use super::{Finding, Repair};
use crate::config::Config;
use crate::sys::private_files;
use text::clean::size;
use transcripts::session::Millis;

/// Free space in bytes: below the first it is scarce, below the second writing will soon fail.
const LOW_SPACE_BYTES: u64 = 500 << 20;
const MIN_SPACE_BYTES: u64 = 50 << 20;
/// 2025-01-01: an earlier clock is wrong, since recall did not exist yet.
const EARLIEST_TIME: Millis = 1_735_689_600_000;

pub(crate) fn findings(config: &Config, now: Millis) -> Vec<Finding> {
    let mut all = vec![disk(&config.data_dir), permissions(&config.data_dir)];
    if now < EARLIEST_TIME {
        all.push(Finding::problem("clock", "is years behind", "set it: digests and limits use the time of the system"));
    }
    all
}

fn disk(data_dir: &Path) -> Finding {
    // The folder does not exist before the first run, so an existing ancestor is used.
    let Some(existing) = data_dir.ancestors().find(|dir| dir.exists()) else {
        return Finding::problem("disk", format!("{} cannot be reached", data_dir.display()), "check the path");
    };
    let Ok(stat) = rustix::fs::statvfs(existing) else {
        return Finding::warning("disk", "cannot read the free space", "check that the folder can be read");
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let found = format!("{} free for {}", size(free), data_dir.display());
    match free {
        0..MIN_SPACE_BYTES => Finding::problem("disk", found, "make room: digests fail soon"),
        MIN_SPACE_BYTES..LOW_SPACE_BYTES => Finding::warning("disk", found, "make room"),
        _ => Finding::ok("disk", found),
    }
}

fn permissions(data_dir: &Path) -> Finding {
    if !data_dir.exists() {
        return Finding::ok("permissions", "nothing is stored yet");
    }
    if private_files::is_open_to_others(data_dir) {
        let found = format!("others can read {}", data_dir.display());
        return Finding::warning("permissions", found, format!("`chmod 700 '{}'`", data_dir.display()))
            .fixed_by(Repair::Permissions);
    }
    if let Some(closed) = private_files::inaccessible_in(data_dir).first() {
        let found = format!("you cannot read and write {}", closed.display());
        return Finding::problem("permissions", found, format!("`chmod u+rwX '{}'`", closed.display()))
            .fixed_by(Repair::Permissions);
    }
    let writable = fs::read_dir(data_dir).is_ok() && rustix::fs::access(data_dir, rustix::fs::Access::WRITE_OK).is_ok();
    if !writable {
        return Finding::problem(
            "permissions",
            format!("{} cannot be written", data_dir.display()),
            "make it yours: `chown`, `chmod 700`",
        );
    }
    Finding::ok("permissions", "only you can read what is stored")
}
