//! What `recall doctor --fix` does about a damaged index: sets it aside, puts together what is left, reads the transcripts again, and
//! says in numbers what is lost.
//!
//! The new index is made under another name and renamed into place when it is whole: a run that is cut short is done again, and until
//! then nothing is written to the damaged one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::digest::{self, run_lock};
use super::orphans;
use crate::clean::plain;
use crate::cli::DigestArgs;
use crate::config::{self, Config};
use crate::session::Millis;
use crate::store::mend::{Held, Salvaged};
use crate::store::unearth::Unearthed;
use crate::store::{Store, copy};
use crate::ui::Ui;

pub fn run(config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let before = {
        let mut lock = run_lock(config)?;
        let Ok(_held) = lock.try_write() else { bail!("a run is under way: try again when it has ended") };
        put_together(config, out)?
    };
    config::fault("mended", || std::process::exit(9));
    // A run as every other: what it costs, nothing, and what it does, all is known.
    digest::run(DigestArgs { ingest_only: true, ..DigestArgs::default() }, config.clone(), out)?;
    tell_lost(&before, config, ui, out)
}

/// What there was, as far as anything told.
struct Before {
    known: Held,
    /// Parts of the damaged index could not be read.
    torn: bool,
    /// Nothing of it could.
    unread: bool,
    /// What was forgotten is not known any more.
    forgets: bool,
}

/// Makes a new index of what is left and puts it in the place of the damaged one.
fn put_together(config: &Config, out: &mut impl Write) -> Result<Before> {
    // Where a link leads: that stays.
    let index = copy::beside(&config.database(), "");
    let (mending, mended) = (copy::beside(&index, copy::MENDING), copy::beside(&index, copy::MENDED));
    if mended.exists() && !index.exists() {
        fs::rename(&mended, &index)?;
        writeln!(out, "mended      {}: an earlier mending was cut short", index.display())?;
        let known = Store::open_aside(&index)?.held();
        return Ok(Before { known, torn: false, unread: false, forgets: false });
    }
    for file in [&mending, &mended] {
        copy::LOGS.iter().map(|log| with(file, log)).chain([file.clone()]).try_for_each(|file| copy::remove(&file))?;
    }
    let damaged = Unearthed::open(&index).ok();
    let lost = damaged.as_ref().map(|damaged| damaged.store.held()).unwrap_or_default();
    let mut base = Base::lay(&index, &mending, config)?;
    let salvaged = damaged.as_ref().map(|damaged| base.store.salvage(&damaged.store)).transpose()?.unwrap_or_default();
    drop(damaged);
    finish(base.store, &mending, &mended)?;
    let aside = set_aside(&index, config)?;
    config::fault("set-aside", || std::process::exit(9));
    fs::rename(&mended, &index)?;
    copy::sync_folder(&index)?;
    for file in aside.iter().filter(|file| !copy::LOGS.iter().any(|log| file.to_string_lossy().ends_with(log))) {
        writeln!(out, "set aside   {}", plain(&file.display().to_string()))?;
    }
    writeln!(out, "restored    {}", base.told)?;
    writeln!(out, "saved       from the damaged index, beyond that: {}", numbers(&salvaged))?;
    // The copy goes when something is forgotten: what it knows of that is all.
    let forgets = !lost.knows_forgotten && !base.is_copy;
    let unread = !lost.whole && lost.sessions.is_empty() && lost.digests.is_empty() && lost.notes.is_empty();
    Ok(Before { torn: !lost.whole, unread, known: joined(lost, base.held), forgets })
}

/// The index that what can be saved goes into.
struct Base {
    store: Store,
    held: Held,
    is_copy: bool,
    told: String,
}

impl Base {
    /// The copy, where there is one that is whole; else an empty index.
    fn lay(index: &Path, at: &Path, config: &Config) -> Result<Self> {
        let empty = |told| Ok(Self { store: Store::open(at)?, held: Held::default(), is_copy: false, told });
        let copy = copy::beside(index, copy::COPY);
        let Some(found) = copy::find(index) else { return empty("nothing: there is no copy of the index".into()) };
        let when = config.local_time(Some(found.at), "%Y-%m-%d %H:%M");
        if !Store::open_aside(&copy).and_then(|store| Ok(store.any_damage()?.is_none())).unwrap_or(false) {
            return empty(format!("nothing: the copy of {when} is damaged as well"));
        }
        // Its permissions come with it.
        fs::copy(&copy, at).with_context(|| format!("cannot copy {}", copy.display()))?;
        let store = Store::open(at)?;
        let held = store.held();
        let Held { sessions, digests, notes, .. } = &held;
        let numbers = numbers(&Salvaged { sessions: sessions.len(), digests: digests.len(), notes: notes.len() });
        Ok(Self { store, held, is_copy: true, told: format!("the copy of {when}: {numbers}") })
    }
}

/// All in the one file, on the disk, under the name that says so.
fn finish(store: Store, mending: &Path, mended: &Path) -> Result<()> {
    store.tidy()?;
    drop(store);
    fs::File::open(mending)?.sync_all()?;
    fs::rename(mending, mended)?;
    Ok(copy::sync_folder(mended)?)
}

/// Gives the damaged index a dated name, its log first: beside another index it would be taken for that one's.
fn set_aside(index: &Path, config: &Config) -> Result<Vec<PathBuf>> {
    let name = free_name(index, config.now(), config);
    let mut aside = Vec::new();
    for end in ["-journal", "-shm", "-wal", ""] {
        let from = with(index, end);
        match fs::metadata(&from).map(|found| found.len()) {
            Err(_) => {}
            // Of nothing there is nothing to keep; readers share nothing that lasts.
            Ok(len) if len == 0 || end == "-shm" => copy::remove(&from)?,
            Ok(_) => {
                let to = with(&name, end);
                fs::rename(&from, &to).with_context(|| format!("cannot set {} aside", from.display()))?;
                aside.push(to);
            }
        }
    }
    copy::sync_folder(index)?;
    Ok(aside)
}

fn free_name(index: &Path, now: Millis, config: &Config) -> PathBuf {
    let dated = with(index, &format!("{}{}", copy::DAMAGED, config.local_time(Some(now), "%Y-%m-%d-%H%M%S")));
    let further = (2..).map(|n| with(&dated, &format!("-{n}")));
    [dated.clone()].into_iter().chain(further).find(|name| !name.exists()).unwrap_or(dated)
}

fn with(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn joined(mut a: Held, b: Held) -> Held {
    a.sessions.extend(b.sessions);
    a.digests.extend(b.digests);
    a.notes.extend(b.notes);
    a.bare.extend(b.bare);
    a
}

/// Says what was there and is not any more.
fn tell_lost(before: &Before, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let store = Store::open_read_only(&config.database())?;
    let now = store.held();
    let gone = |before: &BTreeSet<String>, now: &BTreeSet<String>| before.difference(now).count();
    let lost = Salvaged {
        sessions: gone(&before.known.sessions, &now.sessions),
        digests: gone(&before.known.digests, &now.digests),
        notes: gone(&before.known.notes, &now.notes),
    };
    if lost != Salvaged::default() {
        ui.warn(&format!("lost: {}; where their sessions are still there, the next run makes digests anew", numbers(&lost)));
    } else if !before.torn {
        writeln!(out, "lost        nothing that is still known of")?;
    }
    let bare = gone(&now.bare, &before.known.bare);
    if bare > 0 {
        let which = if bare == 1 { "1 session is" } else { &format!("{bare} sessions are") };
        ui.warn(&format!("{which} left with the digest alone: what else was stored cannot be read any more"));
    }
    if before.unread {
        ui.warn(
            "the damaged index could not be read: it may have held more, stored since its copy, and what that was is not known",
        );
    } else if before.torn {
        ui.warn("parts of the damaged index could not be read: it may have held more than is known of");
    }
    if let Some(told) = orphans::told(&orphans::find(config, &store)?) {
        ui.warn(&told);
    }
    if before.forgets {
        ui.warn("what was ever forgotten is not known any more: where its transcripts are still there it is read again; forget it once more");
    }
    Ok(())
}

fn numbers(of: &Salvaged) -> String {
    let one = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    [one(of.sessions, "session"), one(of.digests, "digest"), one(of.notes, "note")].join(", ")
}
