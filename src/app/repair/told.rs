//! What is lost, in numbers, and what nobody can tell.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;

use crate::app::orphans;
use crate::config::Config;
use crate::privacy::Policy;
use crate::store::Memory;
use crate::store::mend::{Held, Salvaged};
use crate::sys::messages::Ui;

/// What there was, as far as anything told.
pub struct Before {
    known: Held,
    /// Parts of the damaged index could not be read.
    torn: bool,
    /// Which digests there were is known to the last.
    lists_digests: bool,
    /// Nothing of it could.
    unread: bool,
    /// What was forgotten is not known any more.
    forgets: bool,
}

impl Before {
    /// Of a damaged index, and of what the mended one was made from.
    pub fn new(damaged: Held, base: Held) -> Self {
        // The copy goes when something is forgotten: what it knows of that is all.
        let (torn, forgets) = (!damaged.whole, !damaged.knows_forgotten && !base.knows_forgotten);
        let unread = torn && damaged.sessions.is_empty() && damaged.digests.is_empty() && damaged.notes.is_empty();
        Self { torn, lists_digests: damaged.lists_digests, unread, forgets, known: damaged.and(base) }
    }

    /// What of it is not there now.
    fn missing(&self, now: &Held) -> Missing {
        let gone = |before: &BTreeSet<String>, now: &BTreeSet<String>| before.difference(now).count();
        let digests = || self.known.digests.difference(&now.digests);
        Missing {
            known: Salvaged {
                sessions: gone(&self.known.sessions, &now.sessions),
                digests: digests().count(),
                notes: gone(&self.known.notes, &now.notes),
            },
            paid: digests().filter(|id| self.known.paid.contains(*id)).count(),
            lists_digests: self.lists_digests,
        }
    }
}

/// What was there and is not any more, as far as anything told.
struct Missing {
    known: Salvaged,
    /// Of the digests, those that were paid for.
    paid: usize,
    /// There were no other digests than those.
    lists_digests: bool,
}

impl Missing {
    fn is_nothing(&self) -> bool {
        self.known == Salvaged::default()
    }

    /// `1 session, at least 5 digests (5 of them paid for), 0 notes`
    fn told(&self) -> String {
        let Salvaged { sessions, digests, notes } = self.known;
        let of_digests = match (self.lists_digests, digests) {
            (true, n) => counted(n, "digest"),
            (false, 0) => "an unknown number of digests".to_owned(),
            (false, n) => format!("at least {}", counted(n, "digest")),
        };
        let paid = if self.paid > 0 { format!(" ({} of them paid for)", self.paid) } else { String::new() };
        [counted(sessions, "session"), of_digests + &paid, counted(notes, "note")].join(", ")
    }
}

/// Says what is certain before the transcripts are read again.
pub fn tell_at_once(before: &Before, config: &Config, ui: &Ui) -> Result<()> {
    let store = Memory::open(&config.database(), &Policy::upkeep())?;
    let missing = before.missing(&store.held());
    if !missing.is_nothing() {
        ui.note(&format!("not in the mended index: {}; the transcripts are read again for them", missing.told()));
    }
    if before.unread {
        ui.warn(
            "the damaged index could not be read: it may have held more, stored since its copy, and what that was is not known",
        );
    } else if before.torn {
        let which = if before.lists_digests { "" } else { ", its digests among them," };
        ui.warn(&format!("parts of the damaged index{which} could not be read: it may have held more than is known of"));
    }
    if before.forgets {
        ui.warn("what was ever forgotten is not known any more: where its transcripts are still there it is read again; forget it once more");
    }
    Ok(())
}

/// Says what was there and is not any more.
pub fn tell_lost(before: &Before, is_read: bool, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let store = Memory::open(&config.database(), &Policy::upkeep())?;
    let now = store.held();
    let lost = before.missing(&now);
    match lost.is_nothing() {
        true if before.torn => {}
        true => writeln!(out, "lost        nothing that is still known of")?,
        false if is_read => {
            ui.warn(&format!("lost: {}; where their sessions are still there, the next run makes digests anew", lost.told()))
        }
        false => {
            ui.warn(&format!("lost: {}; the transcripts could not be read again: what they still hold comes in later", lost.told()))
        }
    }
    let bare = now.bare.difference(&before.known.bare).count();
    if bare > 0 {
        let which = if bare == 1 { "1 session is" } else { &format!("{bare} sessions are") };
        ui.warn(&format!("{which} left with the digest alone: what else was stored cannot be read any more"));
    }
    if let Some(told) = orphans::told(&orphans::find(config, &store)?) {
        ui.warn(&told);
    }
    Ok(())
}

pub fn numbers(of: &Salvaged) -> String {
    [counted(of.sessions, "session"), counted(of.digests, "digest"), counted(of.notes, "note")].join(", ")
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
