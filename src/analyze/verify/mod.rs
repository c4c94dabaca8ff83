//! Checks a digest against its session: the files it names, and the rows behind its statements.
//!
//! This is the only module that decides whether a row may carry a statement of a section. What fails keeps no row, and is told nowhere but
//! by `recall show --items`. A statement holds if
//! - its words are somebody's who may say it: tool output and what a speaker merely quotes carry no decision and no next step, a decision
//!   needs the user, and what is attributed to the user needs words of the user for all of it ([`speakers`], [`attribution`]);
//! - the code, paths, names, hashes and numbers in it are the session's ([`tokens`]), and the rows behind it hold no others in their place
//!   ([`instead`]);
//! - what it says was run, changed or tried out was so in the session ([`deeds`]);
//! - what stands behind it does not say the opposite ([`polarity`]);
//! - a check that it says to pass, or to fail still, did so when it ran last ([`last_state`]).
//!
//! That a session closed an open item holds only where the rows that are cited for it carry the item's words ([`verify_closings`]).

mod attribution;
mod deeds;
mod files;
mod instead;
mod last_state;
mod polarity;
mod speakers;
mod tokens;

use std::cell::LazyCell;
use std::collections::BTreeSet;

use self::attribution::{UserAttribution, claim_words, label_free, user_attribution};
use self::files::{mentioned_names, naming};
pub(crate) use self::last_state::passes_unseen;
use self::last_state::{LastStates, passes_otherwise};
pub(crate) use self::polarity::{denies, is_opposed};
use self::speakers::{EntryWords, Speaker, is_deed, is_refused, said_by, text_of};
use self::tokens::{FixedToken, fixed_tokens, holds_number};
pub(crate) use self::tokens::{SessionText, count_missing, counts_something};
use crate::analyze::account::SessionAccount;
use crate::analyze::prose::all_sentences;
use crate::analyze::signal::is_commit;
use crate::analyze::without_model::request;
use crate::model::digest::{Claim, Digest, OpenItem, UNTITLED};
use crate::model::section::{Carriers, Section};
use crate::model::session::{Entry, Item, RecordKey, Session};
use crate::text::clean::one_line;
use crate::text::tokenize::{covered_by, distinctive_words};

/// A cited row supports a statement if it holds at least this share of its distinctive words; one that was not cited needs more.
const MIN_CITED_SUPPORT: f64 = 0.15;
const MIN_SUPPORT: f64 = 0.34;
/// The share that a cited deed of the user's holds, with what it answers.
const MIN_USER_SUPPORT: f64 = 0.25;
/// The share that one holds which was not cited.
const MIN_FOUND_USER_SUPPORT: f64 = 0.4;
/// A text is somebody else's if one output or quotation holds this share.
const MIN_HEARSAY: f64 = 0.6;
/// What is labelled as the user's own words must hold this share in words of the user.
const MIN_LABELLED_SUPPORT: f64 = 0.6;
/// A claim of at least `MIN_ECHO_WORDS` distinctive words merely echoes an output that holds this share of them: a next step names what
/// failed and adds little.
const MIN_ECHO_WORDS: usize = 3;
const ECHO_SHARE: f64 = 0.9;
const MAX_ROWS: usize = 3;
/// A number is a statement's if a row that holds this share of its other words holds the number.
const NUMBER_SUPPORT: f64 = 0.4;
/// The share that an agreement which was not cited must hold, with what it agrees to.
const MIN_UNCITED_ASSENT: f64 = 0.7;
/// A row so near to a cited one may be the one that is meant.
const NEARBY: usize = 1;
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

/// Gives each statement the rows that carry it, and each file the row that touched or named it; what nothing carries keeps none.
pub fn verify(digest: &mut Digest, session: &Session) {
    let record = Record::of(session);
    // Lazy, because most files were touched and their mention need not be looked up.
    let mentioned = LazyCell::new(|| mentioned_names(session));
    for section in Section::all() {
        for claim in &mut digest[section] {
            match section.spec().carriers {
                Carriers::Mentions => claim.rows = naming(session, &claim.text, || &mentioned),
                Carriers::Unchecked => {}
                _ => claim.rows = record.carriers_of(section, claim),
            }
        }
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

/// A stored digest, held against its session by today's rules; of a session without rows it is all there is.
pub(crate) fn checked_anew(mut stored: Digest, session: &Session) -> Digest {
    if !session.entries.is_empty() {
        verify(&mut stored, session);
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
    text: LazyCell<SessionText, Box<dyn FnOnce() -> SessionText + 's>>,
    checks: LastStates,
}

impl<'s> Record<'s> {
    fn of(session: &'s Session) -> Self {
        let text = move || {
            let entries: Vec<String> = session.entries.iter().map(text_of).collect();
            let evidence = session.evidence.iter().flat_map(|placed| placed.evidence.texts());
            let about = session.branches.iter().map(String::as_str).chain([session.project.name()]);
            SessionText::of(entries.iter().map(String::as_str).chain(evidence).chain(about))
        };
        Self { said: EntryWords::of(session), text: LazyCell::new(Box::new(text)), checks: LastStates::of(session) }
    }

    fn entries(&self) -> &'s [Entry] {
        self.said.entries
    }

    /// The rows that carry a statement of a section; none if it must not be told.
    fn carriers_of(&self, section: Section, claim: &Claim) -> Vec<RecordKey> {
        let of_user = user_attribution(&claim.text);
        let rows = self.find_rows(section, claim, of_user);
        let text = label_free(&claim.text, of_user);
        if rows.is_empty()
            || !self.holds_tokens(text, &claim.rows, &rows)
            || self.holds_another(text, &claim.rows, &rows)
            || self.checks.deny(text)
            || self.checks.passed_since(section, text)
            || passes_otherwise(text, || self.texts())
            || self.did_otherwise(section, text, &claim.rows, &rows)
            || self.is_opposed(text, &rows)
        {
            return Vec::new();
        }
        let mut keys: Vec<RecordKey> = rows.into_iter().map(|at| self.entries()[at].key).collect();
        keys.dedup();
        keys.truncate(MAX_ROWS);
        keys
    }

    /// The entries whose words carry a statement: the cited ones that do, or else the best match in the session.
    fn find_rows(&self, section: Section, claim: &Claim, of_user: UserAttribution) -> Vec<usize> {
        let wanted = claim_words(&claim.text, of_user);
        let text = one_line(label_free(&claim.text, of_user));
        let named = self.places(&claim.rows);
        let cited = self.with_answers(&named);
        let share = |at: usize| match is_answer(&self.entries()[at], &text) {
            true => 1.0,
            false => self.share(section, of_user, &wanted, at, Cited::of(at, &named, &cited)),
        };
        let (least, least_found) = match (of_user, section.spec().carriers) {
            (UserAttribution::Label(_), _) => (MIN_LABELLED_SUPPORT, MIN_LABELLED_SUPPORT),
            // A report of the user's wish seldom uses the user's own words.
            (UserAttribution::Sentence, _) | (_, Carriers::User) => (MIN_USER_SUPPORT, MIN_FOUND_USER_SUPPORT),
            _ => (MIN_CITED_SUPPORT, MIN_SUPPORT),
        };
        // What it names goes before what may answer that.
        let carrying = |places: &[usize]| places.iter().copied().filter(|at| share(*at) >= least).collect::<Vec<_>>();
        let found = [&named, &cited].into_iter().map(|places| carrying(places)).find(|carrying| !carrying.is_empty());
        if let Some(carrying) = found {
            return carrying;
        }
        // Of equal matches the last one: what was said last holds.
        let best = (0..self.entries().len()).map(|at| (share(at), at)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(share, _)| *share >= least_found).map(|(_, at)| at).into_iter().collect()
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
        let share = |at: usize| self.share(Section::NextSteps, UserAttribution::Unattributed, &wanted, at, Cited::Itself);
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

    /// The share of a statement's words that an entry holds, among speakers who may carry it.
    fn share(&self, section: Section, of_user: UserAttribution, wanted: &BTreeSet<String>, at: usize, cited: Cited) -> f64 {
        let needs_user = of_user != UserAttribution::Unattributed || section.spec().carriers == Carriers::User;
        if needs_user {
            return self.user_share(of_user, wanted, at, cited);
        }
        let speakers: &[Speaker] = match section.spec().carriers {
            Carriers::Anyone => &[Speaker::User, Speaker::Assistant, Speaker::Output],
            _ => &[Speaker::User, Speaker::Assistant],
        };
        let shares = speakers.iter().filter_map(|speaker| self.said.words_of(at, *speaker)).map(|words| covered_by(wanted, words));
        let best = shares.fold(0.0, f64::max);
        // An output repeated verbatim is still the tool's statement.
        let may_echo =
            best >= MIN_SUPPORT && section.spec().carriers != Carriers::Anyone && self.said.is_of(at, Speaker::Assistant);
        if may_echo && self.is_echo(wanted, at) { 0.0 } else { best }
    }

    /// The share that the user's deed at an entry holds. Where they only agreed, refused or approved, with what that was about; else what
    /// it answers counts only beside enough words of their own.
    fn user_share(&self, of_user: UserAttribution, wanted: &BTreeSet<String>, at: usize, cited: Cited) -> f64 {
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

    /// Does the session hold the code, the names and the numbers of a statement? Numbers have to stand in what is cited or carries it, or
    /// beside its other words.
    fn holds_tokens(&self, text: &str, cited: &[RecordKey], rows: &[usize]) -> bool {
        let tokens = fixed_tokens(text);
        if !tokens.iter().all(|token| self.text.holds(token)) {
            return false;
        }
        let numbers = tokens.iter().filter_map(|token| match token {
            FixedToken::Number { number, beside } => Some((number, beside)),
            _ => None,
        });
        let mut numbers = numbers.peekable();
        if numbers.peek().is_none() {
            return true;
        }
        let words = distinctive_words(text);
        let cited = self.places(cited);
        let is_near = |at: &usize| cited.iter().any(|cited| cited.abs_diff(*at) <= NEARBY);
        let is_about = |at: &usize| covered_by(&words, self.said.all_words(*at)) >= NUMBER_SUPPORT;
        let near = (0..self.entries().len()).filter(|at| rows.contains(at) || is_near(at) || is_about(at));
        let near: Vec<String> = near.map(|at| self.said.text(at)).collect();
        numbers.all(|(number, beside)| near.iter().any(|text| holds_number(text, number, beside)))
    }

    /// All texts of the session, with what was printed.
    fn texts(&self) -> Vec<String> {
        (0..self.entries().len()).map(|at| self.said.text(at)).collect()
    }

    /// Do the rows behind a statement hold another hash, count or name in the place of its own?
    fn holds_another(&self, text: &str, cited: &[RecordKey], rows: &[usize]) -> bool {
        let places: BTreeSet<usize> = self.places(cited).into_iter().chain(rows.iter().copied()).collect();
        let texts: Vec<String> = places.iter().map(|at| self.said.text(*at)).collect();
        let sentences = || places.iter().flat_map(|at| all_sentences(&said_by(&self.entries()[*at]))).collect::<Vec<_>>();
        instead::another_hash(text, &texts, || self.texts())
            || instead::another_number(text, &texts)
            || instead::another_name(text, &sentences(), &texts)
    }

    /// Does a statement say that something was done which nobody did?
    fn did_otherwise(&self, section: Section, text: &str, cited: &[RecordKey], rows: &[usize]) -> bool {
        let behind = self.places(cited).into_iter().chain(rows.iter().copied());
        let behind: Vec<&Entry> = behind.map(|at| &self.entries()[at]).collect();
        deeds::ran_otherwise(section, text, self.entries())
            || deeds::changed_otherwise(section, text, self.entries(), &behind)
            || deeds::checked_otherwise(section, text, &behind)
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
