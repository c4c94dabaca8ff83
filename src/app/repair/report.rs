//! What is lost, in numbers and by name, and what cannot be known.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;

use crate::app::orphans;
use crate::app::page_facts::Pages;
use crate::config::Config;
use crate::store::maintenance::{Category, Contents, Salvaged};
use crate::store::{Reader, WholeIndex};
use crate::sys::messages::Ui;
use text::clean::counted;

/// What there was, as far as anything told.
pub(crate) struct Before {
    known: Contents,
    /// What of the damaged index could not be listed to the end.
    unread: BTreeSet<Category>,
    /// Nothing of it could be read.
    is_unknown: bool,
    /// What was forgotten is no longer known.
    forgets: bool,
}

impl Before {
    /// From a damaged index and what the restored one was made from. Pages stand in for lists that could not be read.
    pub(crate) fn new(damaged: Contents, base: Contents, pages: &Pages, restored: &Reader) -> Result<Self> {
        // Copies are deleted when something is forgotten: what they know of that is all.
        let forgets = damaged.unread.contains(&Category::Forgotten) && base.unread.contains(&Category::Forgotten);
        let (is_unknown, unread) = (damaged.is_unknown(), damaged.unread.clone());
        let mut known = damaged.and(base);
        let (digests, paid) = pages.digests(restored)?;
        if unread.contains(&Category::Sessions) {
            known.sessions.extend(digests.iter().cloned());
        }
        if unread.contains(&Category::Digests) {
            known.digests.extend(digests);
            known.paid.extend(paid);
        }
        Ok(Self { known, unread, is_unknown, forgets })
    }

    /// From an index that stays as it is.
    pub(crate) fn of(known: Contents) -> Self {
        Self { unread: known.unread.clone(), is_unknown: false, forgets: false, known }
    }

    /// What of it is not there now.
    fn missing(&self, now: &Contents) -> Losses {
        let gone = |before: &BTreeSet<String>, now: &BTreeSet<String>| before.difference(now).count();
        let digests = || self.known.undigested(now);
        Losses {
            known: Salvaged {
                sessions: gone(&self.known.sessions, &now.sessions),
                digests: digests().count(),
                notes: gone(&self.known.notes, &now.notes),
            },
            settled: gone(&self.known.settled, &now.settled),
            denied: gone(&self.known.denied, &now.denied),
            shortened: self.known.shortened(now).count(),
            paid: digests().filter(|id| self.known.is_paid(id)).count(),
            lists_digests: !self.unread.contains(&Category::Digests),
        }
    }

    /// What could not be listed, in words: `its digests and record of spending`.
    fn unread_told(&self) -> String {
        let names = self.unread.iter().filter_map(|part| match part {
            Category::Sessions | Category::Forgotten => None,
            Category::Digests => Some("digests"),
            Category::Notes => Some("notes"),
            Category::Settled => Some("closed items"),
            Category::Denied => Some("list of what was hidden"),
            Category::Spend => Some("record of spending"),
        });
        match names.collect::<Vec<_>>().split_last() {
            None => String::new(),
            Some((last, [])) => format!("its {last}"),
            Some((last, others)) => format!("its {} and {last}", others.join(", ")),
        }
    }
}

/// What was there and is not any more, as far as anything told.
struct Losses {
    known: Salvaged,
    settled: usize,
    /// What was taken out because it is not so, and is told again.
    denied: usize,
    /// Sessions that are there with fewer rows.
    shortened: usize,
    /// Digests that were paid for.
    paid: usize,
    /// There were no other digests than those.
    lists_digests: bool,
}

impl Losses {
    fn is_nothing(&self) -> bool {
        self.known == Salvaged::default() && self.settled == 0 && self.denied == 0 && self.shortened == 0
    }

    /// `1 session, at least 5 digests (5 of them by the model), 0 notes`; closed items, hidden statements and records only if there are any.
    fn told(&self) -> String {
        let Salvaged { sessions, digests, notes } = self.known;
        let of_digests = match (self.lists_digests, digests) {
            (true, n) => counted(n, "digest"),
            (false, 0) => "an unknown number of digests".to_owned(),
            (false, n) => format!("at least {}", counted(n, "digest")),
        };
        let paid = if self.paid > 0 { format!(" ({} of them by the model)", self.paid) } else { String::new() };
        let settled = if self.settled > 0 { format!(", {}", counted(self.settled, "closed item")) } else { String::new() };
        let denied = if self.denied > 0 { format!(", {}", counted(self.denied, "hidden statement")) } else { String::new() };
        let rows = if self.shortened > 0 { format!(", records of {}", counted(self.shortened, "session")) } else { String::new() };
        [counted(sessions, "session"), of_digests + &paid, counted(notes, "note") + &settled + &denied + &rows].join(", ")
    }
}

/// Reports what is certain before the transcripts are read again.
pub(crate) fn report_at_once(before: &Before, config: &Config, ui: &Ui) -> Result<()> {
    let store = WholeIndex::open(&config.database())?;
    let missing = before.missing(&Contents::of(&store));
    if !missing.is_nothing() {
        ui.note(&format!(
            "not in the repaired index: {}; the transcripts and the pages are read again to find them",
            missing.told()
        ));
    }
    if before.is_unknown {
        ui.warn(
            "the damaged index could not be read: data stored since the last copy may be lost: notes and closed items that are on no page, statements marked as wrong, digests by the model, the record of spending",
        );
    } else if !before.unread.is_empty() {
        let which = before.unread_told();
        let which = if which.is_empty() { which } else { format!(", {which} among them,") };
        ui.warn(&format!("parts of the damaged index{which} could not be read: it may have contained more data"));
    }
    if before.unread.contains(&Category::Spend) {
        ui.warn("money spent since the last copy does not count towards the limits, unless pages show it");
    }
    if before.forgets {
        ui.warn("the list of forgotten sessions is lost: those that still have transcripts are read again; forget them again");
    }
    Ok(())
}

/// Reports what was there and is not any more.
pub(crate) fn report_lost(before: &Before, is_read: bool, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let store = WholeIndex::open(&config.database())?;
    let now = Contents::of(&store);
    let lost = before.missing(&now);
    match lost.is_nothing() {
        true if !before.unread.is_empty() => {}
        true => writeln!(out, "lost        nothing, as far as is known")?,
        false if is_read => {
            ui.warn(&format!("lost: {}; if the sessions still exist, the next run makes new digests for them", lost.told()))
        }
        false => ui.warn(&format!(
            "lost: {}; the transcripts could not be read again: the next digest reads what is in them",
            lost.told()
        )),
    }
    let bare = now.bare.difference(&before.known.bare).count();
    if bare > 0 {
        let which = if bare == 1 { "1 session is" } else { &format!("{bare} sessions are") };
        ui.warn(&format!("{which} left with the digest only: the other data is unreadable"));
    }
    if let Some(told) = orphans::describe(&orphans::find(config, &store)?) {
        ui.warn(&told);
    }
    Ok(())
}

pub(crate) fn numbers(of: &Salvaged) -> String {
    [counted(of.sessions, "session"), counted(of.digests, "digest"), counted(of.notes, "note")].join(", ")
}
