//! Checks a digest against its session: the files it names, and the words behind its statements.
//!
//! This is the only module that decides what is told of a model's statements: the session's own words, which the statement chooses, and never
//! its own ([`quote`]). What no words of somebody who may say it stand behind keeps no row, and is told nowhere but by `recall show --items`;
//! nor is what says that a check passes, or fails still, where it did not when it ran last ([`last_state`]).
//!
//! That a session closed an open item holds only where the rows that are cited for it carry the item's words ([`verify_closings`]) and do not
//! say the opposite ([`polarity`]). That it overtakes what an earlier session said holds only where its own words prove it ([`replaced`]).

mod attribution;
mod files;
mod instruction;
mod last_state;
mod polarity;
mod quote;
mod replaced;
mod speakers;
mod tokens;

use std::cell::LazyCell;
use std::collections::BTreeSet;

pub(crate) use self::attribution::speaks_for_user;
use self::attribution::{UserAttribution, claim_words, label_free, user_attribution};
use self::files::{mentioned_names, naming};
pub(crate) use self::last_state::passes_unseen;
use self::last_state::{LastStates, passes_otherwise};
pub(crate) use self::polarity::{denies, is_opposed};
use self::quote::Told;
pub(crate) use self::replaced::verify_replacements;
use self::speakers::{EntryWords, Speaker, is_deed, is_refused, said_by, text_of};
pub(crate) use self::tokens::{SessionText, count_missing, counts_something};
use crate::analyze::account::{SessionAccount, Task, tasks};
use crate::analyze::prose::all_sentences;
use crate::analyze::signal::is_commit;
use crate::analyze::without_model::request;
use crate::model::digest::{Claim, Digest, OpenItem, UNTITLED};
use crate::model::section::{Carriers, Section};
use text::clean::one_line;
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::{Entry, Item, RecordKey, Session};

/// A cited row may say that an open item was done if it holds at least this share of the item's distinctive words.
const MIN_CITED_SUPPORT: f64 = 0.15;
/// A speaker said a text if they said this share of its words; what holds less needs no look at whom it repeats.
const MIN_SUPPORT: f64 = 0.34;
/// The share that a deed of the user's holds which is cited, with what it answers; and one that may answer what is cited.
const MIN_NAMED_SUPPORT: f64 = 0.12;
const MIN_USER_SUPPORT: f64 = 0.25;
/// The share that one holds which was not cited.
const MIN_FOUND_USER_SUPPORT: f64 = 0.4;
/// A text is somebody else's if one output or quotation holds this share.
const MIN_HEARSAY: f64 = 0.6;
/// A claim of at least `MIN_ECHO_WORDS` distinctive words merely echoes an output that holds this share of them: a next step names what
/// failed and adds little.
const MIN_ECHO_WORDS: usize = 3;
const ECHO_SHARE: f64 = 0.9;
const MAX_ROWS: usize = 3;
/// The share that an agreement which was not cited must hold, with what it agrees to.
const MIN_UNCITED_ASSENT: f64 = 0.7;
/// Words of the user's own that a report of their wish needs, as a share of its words, where they did not only agree.
const MIN_OWN_SUPPORT: f64 = 0.2;
/// Stems with which a statement says that the user refused or approved what somebody else put forward.
const DECIDING: [&str; 11] =
    ["refus", "reject", "declin", "approv", "accept", "turn", "agre", "stop", "interrupt", "confirm", "chos"];
/// A sentence is about an open item if it holds this share of its words.
const MIN_ABOUT_ITEM: f64 = 0.5;
/// Words with which a sentence leaves something to do.
const LEAVING: [&str; 14] = [
    "next:", "next step", "remaining", "remains", "still to", "still has", "still have", "still need", "still wait", "left to do",
    "left:", "to do:", "todo", "not yet",
];
/// How a prompt begins that agrees, whatever follows.
const AGREEING: [&str; 17] = [
    "yes", "yep", "yeah", "y", "ok", "okay", "sure", "agreed", "good", "great", "perfect", "fine", "lgtm", "ja", "oui", "sí", "sim",
];
/// How a prompt begins that agrees if it has few words.
const CHOOSING: [&str; 16] =
    ["go", "do", "proceed", "sounds", "please", "continue", "correct", "right", "gerne", "si", "1", "2", "3", "a", "b", "both"];
const MAX_ASSENT_WORDS: usize = 6;

/// Gives each statement the rows that carry it and the session's words for it, and each file the row that touched or named it; what nothing
/// carries keeps no row. Statements with the same words behind them become one.
pub fn verify(digest: &mut Digest, session: &Session) {
    verify_where(digest, session, |_| true);
}

/// The same; only in sections for which it holds other words take the place of a statement's. What is told in the session's words keeps them.
fn verify_where(digest: &mut Digest, session: &Session, may_reword: impl Fn(Section) -> bool) {
    let record = Record::of(session);
    // Lazy, because most files were touched and their mention need not be looked up.
    let mentioned = LazyCell::new(|| mentioned_names(session));
    for section in Section::all() {
        for claim in &mut digest[section] {
            match section.spec().carriers {
                Carriers::Mentions => claim.rows = naming(session, &claim.text, || &mentioned),
                Carriers::UserSentence => record.prove_instruction(claim),
                Carriers::Unchecked => {}
                _ if claim.claimed.is_none() && may_reword(section) => record.reword(section, claim),
                _ if record.holds(section, claim) => {}
                _ => claim.rows.clear(),
            }
        }
    }
    join_same(digest);
}

/// Of statements with the same words behind them one is told, where it counts most.
fn join_same(digest: &mut Digest) {
    let mut sections: Vec<Section> = Section::all().filter(|section| section.spec().cites).collect();
    sections.sort_by(|a, b| b.spec().worth.total_cmp(&a.spec().worth));
    let mut told = BTreeSet::new();
    for section in sections {
        digest[section].retain(|claim| claim.claimed.is_none() || told.insert(claim.text.clone()));
    }
}

/// Closes what a model says was closed where a row that it cites says that it was done; the rest stays open.
pub(crate) fn verify_closings(digest: &mut Digest, session: &Session, open: &[OpenItem]) {
    if digest.closes_left_out.is_empty() {
        return;
    }
    let record = Record::of(session);
    for claimed in std::mem::take(&mut digest.closes_left_out) {
        let item = open.iter().find(|item| item.id == claimed.id);
        if item.is_some_and(|item| record.says_done(&item.text, &claimed.rows)) {
            digest.closes.push(claimed.id);
        } else {
            digest.closes_left_out.push(claimed);
        }
    }
}

/// A stored digest, held against its session by today's rules; of a session without rows it is all there is. What is told in the session's
/// words already keeps them, and so do open items, which are known by theirs.
pub(crate) fn checked_anew(mut stored: Digest, session: &Session) -> Digest {
    if !session.entries.is_empty() {
        verify_where(&mut stored, session, |section| !section.spec().is_open);
    }
    stored
}

/// Replaces a request or a title that a model took from tool output by the user's own words: both are presented as what the user
/// asked.
pub(crate) fn restore_user_words(digest: &mut Digest, session: &Session) {
    let record = Record::of(session);
    if record.is_others_text(&digest.request) {
        digest.request = request(session);
    }
    if record.is_others_text(&digest.title) {
        digest.title = SessionAccount::of(session, false).title.text().unwrap_or_else(|| UNTITLED.to_owned());
    }
}

/// Does a statement cite an entry?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cited {
    Itself,
    /// It cites what the entry may answer.
    WhatItAnswers,
    Not,
}

impl Cited {
    fn of(at: usize, named: &[usize], with_answers: &[usize]) -> Self {
        match (named.contains(&at), with_answers.contains(&at)) {
            (true, _) => Self::Itself,
            (_, true) => Self::WhatItAnswers,
            _ => Self::Not,
        }
    }
}

/// A session to hold statements against.
struct Record<'s> {
    said: EntryWords<'s>,
    checks: LastStates,
    tasks: Vec<Task>,
    /// What the assistant is called.
    assistant: &'static str,
}

impl<'s> Record<'s> {
    fn of(session: &'s Session) -> Self {
        Self {
            said: EntryWords::of(session),
            checks: LastStates::of(session),
            tasks: tasks(session),
            assistant: session.client.assistant(),
        }
    }

    fn entries(&self) -> &'s [Entry] {
        self.said.entries
    }

    /// Puts the session's own words in the place of a statement's. One that must not be told keeps its words and no row.
    fn reword(&self, section: Section, claim: &mut Claim) {
        let said = std::mem::take(claim);
        let words = self.words_for(section, &said);
        *claim = match words {
            Some(words) => Claim { text: words.text, rows: self.keys(&words.rows), claimed: Some(said.text) },
            None => Claim::new(said.text),
        };
    }

    /// The keys of the records with these entries, as many as a statement has.
    fn keys(&self, rows: &[usize]) -> Vec<RecordKey> {
        let mut keys: Vec<RecordKey> = rows.iter().map(|at| self.entries()[*at].key).collect();
        keys.dedup();
        keys.truncate(MAX_ROWS);
        keys
    }

    /// The session's words for a statement; `None` if it must not be told.
    fn words_for(&self, section: Section, said: &Claim) -> Option<Told> {
        let of_user = user_attribution(&said.text);
        // On a page it stands behind who said it.
        let bare = said.text.strip_prefix(self.assistant).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&said.text);
        let wanted = claim_words(bare, of_user);
        let told = match section.spec().carriers {
            // Its own check tells the user's words.
            Carriers::UserSentence => None,
            Carriers::User => {
                let mut deeds = self.deeds_behind(&wanted, said, of_user);
                // The one that says most of it first.
                let said = |at: &usize| self.said.words_of(*at, Speaker::User).map_or(0.0, |words| covered_by(&wanted, words));
                deeds.sort_by(|a, b| said(b).total_cmp(&said(a)));
                deeds.into_iter().find_map(|at| self.deed_told(&wanted, at))
            }
            _ => {
                let cited = self.places(&said.rows).into_iter().collect();
                // On a page a deed is told already.
                let is_it = |deed: &str| deed == said.text;
                let task = || self.task_told(&wanted).filter(|_| section.spec().carriers == Carriers::Assistant);
                let told = self.deed_among(section, &cited, is_it).or_else(task);
                told.or_else(|| self.sentences_told(section, &wanted, &cited))
            }
        }?;
        (!self.ended_otherwise(section, &told.text)).then_some(told)
    }

    /// May a statement be told as it is?
    fn holds(&self, section: Section, claim: &Claim) -> bool {
        match claim.claimed {
            Some(_) => !self.places(&claim.rows).is_empty() && !self.ended_otherwise(section, &claim.text),
            None => self.words_for(section, claim).is_some(),
        }
    }

    /// Does a text say of a check that it passes, or fails still, where it did not when it ran last?
    fn ended_otherwise(&self, section: Section, text: &str) -> bool {
        self.checks.deny(text) || self.checks.passed_since(section, text) || passes_otherwise(text, || self.texts())
    }

    /// What the user said or did that a statement is about: of what it cites, else of what answers that, else the best match in the session.
    fn deeds_behind(&self, wanted: &BTreeSet<String>, claim: &Claim, of_user: UserAttribution) -> Vec<usize> {
        let text = one_line(label_free(&claim.text, of_user));
        let named = self.places(&claim.rows);
        let cited = self.with_answers(&named);
        let share = |at: usize| match is_answer(&self.entries()[at], &text) {
            true => 1.0,
            false => self.share_of_user(of_user, wanted, at, Cited::of(at, &named, &cited)),
        };
        let carrying = |places: &[usize], least| places.iter().copied().filter(|at| share(*at) >= least).collect::<Vec<_>>();
        let found =
            [(&named, MIN_NAMED_SUPPORT), (&cited, MIN_USER_SUPPORT)].into_iter().map(|(places, least)| carrying(places, least));
        if let Some(carrying) = found.into_iter().find(|carrying| !carrying.is_empty()) {
            return carrying;
        }
        // Of equal matches the last one: what was said last holds.
        let best = (0..self.entries().len()).map(|at| (share(at), at)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(share, _)| *share >= MIN_FOUND_USER_SUPPORT).map(|(_, at)| at).into_iter().collect()
    }

    /// Cited places, with the first deed of the user's behind each: it may answer what is cited.
    fn with_answers(&self, named: &[usize]) -> Vec<usize> {
        let mut cited = named.to_vec();
        let answer = |at: &usize| (at + 1..self.entries().len()).find(|at| is_deed(&self.entries()[*at]));
        cited.extend(named.iter().filter_map(answer).filter(|at| !named.contains(at)));
        cited
    }

    /// Does a cited row say that an open item was done? What a tool prints does not: it may print the list of what is to be done.
    fn says_done(&self, item: &str, cited: &[RecordKey]) -> bool {
        let wanted = claim_words(item, UserAttribution::Unattributed);
        let share = |at: usize| self.share_of_speakers(&wanted, at);
        let carries = |at: &usize| share(*at) >= MIN_CITED_SUPPORT && !self.leaves_to_do(&wanted, *at);
        let rows: Vec<usize> = self.places(cited).into_iter().filter(carries).collect();
        !rows.is_empty() && !self.is_opposed(item, &rows)
    }

    /// Does an entry say what these words are about only as something that is left to do?
    fn leaves_to_do(&self, wanted: &BTreeSet<String>, at: usize) -> bool {
        let sentences = all_sentences(&said_by(&self.entries()[at]));
        let mut about = sentences.iter().filter(|said| covered_by(wanted, &distinctive_words(said)) >= MIN_ABOUT_ITEM).peekable();
        let leaves = |said: &String| {
            let said = said.to_lowercase();
            LEAVING.iter().any(|words| said.contains(words))
        };
        about.peek().is_some() && about.all(leaves)
    }

    /// The places of the entries with these keys.
    fn places(&self, keys: &[RecordKey]) -> Vec<usize> {
        (0..self.entries().len()).filter(|at| keys.contains(&self.entries()[*at].key)).collect()
    }

    /// The share of these words that the user or the assistant says at an entry.
    fn share_of_speakers(&self, wanted: &BTreeSet<String>, at: usize) -> f64 {
        let said = [Speaker::User, Speaker::Assistant].into_iter().filter_map(|speaker| self.said.words_of(at, speaker));
        let best = said.map(|words| covered_by(wanted, words)).fold(0.0, f64::max);
        // An output repeated verbatim is still the tool's statement.
        let is_echo = best >= MIN_SUPPORT && self.said.is_of(at, Speaker::Assistant) && self.is_echo(wanted, at);
        if is_echo { 0.0 } else { best }
    }

    /// The share that the user's deed at an entry holds. Where they only agreed, refused or approved, with what that was about; else what
    /// it answers counts only beside enough words of their own.
    fn share_of_user(&self, of_user: UserAttribution, wanted: &BTreeSet<String>, at: usize, cited: Cited) -> f64 {
        let entry = &self.entries()[at];
        if !is_deed(entry) {
            return 0.0;
        }
        let own = self.said.words_of(at, Speaker::User).cloned().unwrap_or_default();
        let share = covered_by(wanted, &own);
        let answers = match (of_user, &entry.item) {
            (UserAttribution::Label(_), _) => false,
            (_, Item::Prompt(prompt)) => match cited {
                Cited::Itself => is_assent(prompt) || share >= MIN_OWN_SUPPORT,
                Cited::WhatItAnswers | Cited::Not => is_assent(prompt),
            },
            // What was refused was not decided; that it was refused was.
            (of_user, _) if of_user == UserAttribution::Sentence || is_refused(entry) => {
                DECIDING.iter().any(|word| wanted.iter().any(|stem| stem.starts_with(word)))
            }
            _ => true,
        };
        if !answers {
            return share;
        }
        let about = covered_by(wanted, &own.union(&self.context_of(at)).cloned().collect());
        // What nobody cited has to fit better.
        if cited == Cited::Not && about < MIN_UNCITED_ASSENT { share } else { about }
    }

    /// What a deed of the user's answers: the words of what was refused or put forward, and of the reply before it.
    fn context_of(&self, at: usize) -> BTreeSet<String> {
        let mut words = distinctive_words(&text_of(&self.entries()[at]));
        words.extend(self.put_forward_before(at).into_iter().flat_map(|entry| distinctive_words(&text_of(entry))));
        words
    }

    /// The reply or the plan to which the user answers at an entry.
    fn put_forward_before(&self, at: usize) -> Option<&'s Entry> {
        let before = self.entries()[..at].iter().rev().filter(|entry| entry.is_main());
        let mut since = before.take_while(|entry| !matches!(entry.item, Item::Prompt(_)));
        since.find(|entry| matches!(entry.item, Item::Reply(_) | Item::Plan(_)))
    }

    /// Does a claim only repeat what a tool printed earlier, and what no one had said before that?
    fn is_echo(&self, wanted: &BTreeSet<String>, at: usize) -> bool {
        let holds =
            |at: usize, speaker| self.said.words_of(at, speaker).is_some_and(|words| covered_by(wanted, words) >= ECHO_SHARE);
        let printed = || (0..at).find(|at| holds(*at, Speaker::Output));
        // A commit's output repeats its message, which is part of its command.
        let said = |until: usize| (0..=until).any(|at| holds(at, Speaker::User) || holds(at, Speaker::Assistant));
        wanted.len() >= MIN_ECHO_WORDS && printed().is_some_and(|at| !said(at))
    }

    /// All texts of the session, with what was printed.
    fn texts(&self) -> Vec<String> {
        (0..self.entries().len()).map(|at| self.said.text(at)).collect()
    }

    /// Do the rows behind a statement say the opposite?
    fn is_opposed(&self, text: &str, rows: &[usize]) -> bool {
        // A command asserts nothing, but for the message of a commit.
        let asserts = |entry: &&Entry| !matches!(&entry.item, Item::Tool(tool) if !is_commit(tool));
        let said = rows.iter().map(|at| &self.entries()[*at]).filter(asserts);
        let sentences: Vec<String> = said.flat_map(|entry| all_sentences(&said_by(entry))).collect();
        polarity::is_opposed(text, &sentences) || rows.iter().any(|at| self.agrees_to_the_opposite(text, *at))
    }

    /// Does the user at an entry agree to a proposal that denies what a statement is about?
    fn agrees_to_the_opposite(&self, text: &str, at: usize) -> bool {
        let agrees = matches!(&self.entries()[at].item, Item::Prompt(prompt) if is_assent(prompt));
        let proposal = self.put_forward_before(at).filter(|_| agrees);
        proposal.is_some_and(|entry| polarity::is_denied(text, &all_sentences(&said_by(entry))))
    }

    /// The largest share of these words that a single output or quotation holds.
    fn hearsay_share(&self, wanted: &BTreeSet<String>) -> f64 {
        let of = |speaker| (0..self.entries().len()).filter_map(move |at| self.said.words_of(at, speaker));
        of(Speaker::Output).chain(of(Speaker::Quoted)).map(|said| covered_by(wanted, said)).fold(0.0, f64::max)
    }

    /// Does a text presented as the user's request come from tool output or a quotation, with little of it said by the user?
    fn is_others_text(&self, text: &str) -> bool {
        let wanted = distinctive_words(text);
        let asked = (0..self.entries().len()).filter_map(|at| self.said.words_of(at, Speaker::User));
        let asked: BTreeSet<String> = asked.flatten().filter(|word| wanted.contains(*word)).cloned().collect();
        covered_by(&wanted, &asked) < MIN_SUPPORT && self.hearsay_share(&wanted) >= MIN_HEARSAY
    }
}

/// Does a prompt agree to what it answers?
fn is_assent(prompt: &str) -> bool {
    let words: Vec<String> =
        prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let Some(first) = words.first().map(String::as_str) else { return false };
    AGREEING.contains(&first) || CHOOSING.contains(&first) && words.len() <= MAX_ASSENT_WORDS
}

/// Is a text an answer of the user, verbatim, with or without its question?
fn is_answer(entry: &Entry, text: &str) -> bool {
    let Item::Answer(answer) = &entry.item else { return false };
    entry.is_main() && !answer.said.trim().is_empty() && (text == one_line(&answer.said) || answer.matches_line(text))
}
