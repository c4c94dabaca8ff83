//! The session's own words behind a statement.
//!
//! A check by words cannot tell whether a paraphrase is true: "kept" and "took out" are alike to it. So a model's statement only chooses
//! which words of the session are told: the sentences that hold most of it, of rows that may carry it. That these were said is so, whatever
//! the model makes of them.
//!
//! - A statement that needs the user is told by what the user said or did, with what they agreed to.
//! - Any other is told by the sentences of whoever may say it, those of the rows that it cites before all others, else by the deed that
//!   it cites, with how that ended.
//! - What was done or found out is told by no announcement, offer or question, and what is left to do by what says so, or was said last.
//! - What no words of the session stand behind is not told.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::speakers::{Speaker, is_refused, speaker_of};
use super::{Record, is_assent};
use crate::analyze::account::object_of;
use crate::analyze::prose::{SpokenSentence, Voice, outline, own_words, sentences_in_any_case};
use crate::analyze::signal::{SentenceTopic, is_announcement, is_commit, is_offer, only_inspects, topics};
use crate::model::section::{Carriers, Section};
use text::clean::{one_line, shorten};
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::APPROVED;
use transcripts::session::{Answer, Entry, Item, ToolClass, title_of_plan};

/// A sentence is told for a statement if it holds this share of its words; one of a row that is neither cited nor near one has to hold more.
/// One of a cited row may hold less, where no other is found, if it has so many words.
const MIN_SAID: f64 = 0.25;
const MIN_CITED: f64 = 0.15;
const MIN_CITED_WORDS: usize = 5;
const MIN_FOUND: f64 = 0.4;
/// How far a sentence of a cited row, and of one near it, is ahead of others, as a share of the statement's words.
const CITED: f64 = 0.15;
const NEAR: f64 = 0.08;
/// Of nearly equal ones the later is told: what was said last holds. So far is the end of a session ahead of its beginning, among cited rows
/// and among others.
const LAST: f64 = 0.03;
const LAST_FOUND: f64 = 0.1;
/// A task of the list is told for a statement if it holds this share of its words.
const MIN_TASK: f64 = 0.6;
/// So many entries behind a cited one are near it: what a command printed, and what was said of that.
const NEAR_ENTRIES: usize = 3;
/// A second sentence is told if it adds this share of the statement's words.
const MIN_ADDED: f64 = 0.18;
/// A shorter sentence before a list only leads to it, in characters.
const LEAD_IN: usize = 40;
/// The most characters: of a prompt that is told whole, of what is told of a longer one or of a reply, of a command and of how it ended,
/// of an answer with its question.
const WHOLE_PROMPT: usize = 240;
const MAX_QUOTE: usize = 400;
const MAX_COMMAND: usize = 200;
const MAX_RESULT: usize = 120;
const MAX_ANSWER: usize = 700;

/// What is told for a statement, and the places of the entries that it is taken from.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) rows: Vec<usize>,
}

/// A sentence of an entry, and which words of the statement it holds.
struct Candidate {
    at: usize,
    /// Its place in the entry.
    place: usize,
    text: String,
    held: BTreeSet<String>,
    /// As a share of all of them.
    share: f64,
    /// That, and how far it is ahead.
    score: f64,
    /// Is it all that stands there?
    is_whole: bool,
}

impl Record<'_> {
    /// What the user said or did at an entry.
    pub(super) fn deed_told(&self, wanted: &BTreeSet<String>, at: usize) -> Option<Told> {
        let entry = &self.entries()[at];
        let text = match &entry.item {
            Item::Prompt(prompt) => self.prompt_told(wanted, at, prompt)?,
            Item::Answer(answer) => {
                Answer { said: of_user(true, &one_line(&answer.said)), asked: answer.asked.clone() }.told(MAX_ANSWER)
            }
            Item::Plan(plan) if is_refused(entry) => format!("The user refused the plan “{}”.", title_of_plan(plan)),
            Item::Plan(plan) if entry.outcome.as_ref().is_some_and(|outcome| outcome.brief == APPROVED) => {
                format!("The user approved the plan “{}”.", title_of_plan(plan))
            }
            Item::Tool(tool) if is_refused(entry) => format!("The user refused `{}`.", shorten(&one_line(&tool.line), MAX_COMMAND)),
            _ => return None,
        };
        Some(Told { text, rows: vec![at] })
    }

    /// A prompt, with what it agrees to or chooses. One that has nothing to do with a statement is not told for it.
    fn prompt_told(&self, wanted: &BTreeSet<String>, at: usize, prompt: &str) -> Option<String> {
        let typed = typed(prompt);
        let chosen = best_two(candidates(wanted, at, &typed, Speaker::User, |_| true), wanted.len());
        let is_whole = chosen.first()?.is_whole && typed == prompt;
        let share = chosen.iter().map(|one| one.share).fold(0.0, f64::max);
        let said = joined(chosen)?;
        let before = self.put_forward_before(at).and_then(prose_in);
        let object = before.and_then(|text| object_of(prompt, text)).map(|object| (object.had(), one_line(object.text())));
        let proposed = before.filter(|_| is_assent(prompt) || share < MIN_SAID).and_then(|text| proposed(wanted, text));
        let object = match (proposed, object) {
            // What was put forward, and how it was asked about.
            (Some(proposed), Some((had, object))) if !object.contains(&proposed) && !proposed.contains(&object) => {
                Some((had, format!("{proposed} … {object}")))
            }
            (_, Some(object)) if share < MIN_SAID => Some(object),
            (Some(proposed), _) => Some((if proposed.ends_with('?') { "had asked" } else { "had said" }, proposed)),
            _ => None,
        };
        if object.is_none() && share == 0.0 {
            return None;
        }
        let object = object.map_or(String::new(), |(had, said)| format!(" ({} {had}: “{said}”)", self.assistant));
        Some(format!("{}{object}", of_user(is_whole, &said)))
    }

    /// The sentences of the session that hold most of a statement, before all of the entries that it cites, else a deed among these.
    pub(super) fn sentences_told(&self, section: Section, wanted: &BTreeSet<String>, cited: &BTreeSet<usize>) -> Option<Told> {
        let mut found = self.sentences_about(section, wanted, cited);
        if found.iter().any(|one| one.share >= MIN_SAID) {
            found.retain(|one| one.share >= MIN_SAID);
        }
        let chosen = best_two(found, wanted.len());
        let rows: BTreeSet<usize> = chosen.iter().map(|one| one.at).collect();
        let by = chosen.first().map(|one| &self.entries()[one.at]);
        let is_whole = chosen.first().is_some_and(|one| one.is_whole);
        let Some((by, text)) = by.zip(joined(chosen)) else { return self.deed_among(section, cited, |_| true) };
        let text = match speaker_of(by) {
            Some(Speaker::User) => of_user(is_whole, &text),
            _ => format!("{}: “{text}”", self.assistant),
        };
        Some(Told { text, rows: rows.into_iter().collect() })
    }

    /// The task that is told for a statement of what is left to do: one that was not ticked off.
    pub(super) fn task_told(&self, wanted: &BTreeSet<String>) -> Option<Told> {
        let open = self.tasks.iter().filter(|task| task.is_open());
        let open = open.map(|task| (covered_by(wanted, &distinctive_words(&task.text)), task));
        let (_, task) = open.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(held, _)| *held >= MIN_TASK)?;
        let rows = self.places(&[task.row]);
        Some(Told { text: one_line(&task.text), rows }).filter(|told| !told.rows.is_empty())
    }

    /// The last of these entries at which something was done that may be told so.
    pub(super) fn deed_among(&self, section: Section, cited: &BTreeSet<usize>, is_it: impl Fn(&str) -> bool) -> Option<Told> {
        let may_show = matches!(section.spec().carriers, Carriers::Work | Carriers::Anyone);
        let deed_at = |at: &usize| Some(Told { text: deed(&self.entries()[*at]).filter(|text| is_it(text))?, rows: vec![*at] });
        cited.iter().rev().filter(|_| may_show).find_map(deed_at)
    }

    fn sentences_about(&self, section: Section, wanted: &BTreeSet<String>, cited: &BTreeSet<usize>) -> Vec<Candidate> {
        let entries = self.entries();
        let near: BTreeSet<usize> = cited.iter().flat_map(|at| at + 1..=at + NEAR_ENTRIES).collect();
        let last_deed = entries.iter().rposition(|entry| entry.is_main() && matches!(entry.item, Item::Prompt(_) | Item::Tool(_)));
        let last_commit = entries.iter().rposition(commits);
        let mut all = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let speaking = speaker_of(entry).zip(prose_in(entry)).filter(|(speaker, _)| may_say(section, *speaker));
            let Some((speaker, text)) = speaking.filter(|_| entry.is_main() || cited.contains(&at) || near.contains(&at)) else {
                continue;
            };
            let (ahead, later, least) = match (cited.contains(&at), near.contains(&at)) {
                (true, _) => (CITED, LAST, MIN_CITED),
                (_, true) => (NEAR, LAST, MIN_SAID),
                _ => (0.0, LAST_FOUND, MIN_FOUND),
            };
            if covered_by(wanted, self.said.words_of_prose(at)) < least {
                continue;
            }
            let ahead = ahead + later * at as f64 / entries.len() as f64;
            let is_last = last_deed.is_none_or(|last| at > last);
            let is_committed = last_commit.is_some_and(|commit| at < commit);
            // An output repeated verbatim is still the tool's statement.
            let repeats = |said: &str| section.spec().carriers == Carriers::Assistant && self.is_echo(&distinctive_words(said), at);
            let is_overtaken = |said: &str| is_committed && section.spec().is_open && waits_for_commit(said);
            let mut found =
                candidates(wanted, at, text, speaker, |said| tells(section, said, is_last) && !is_overtaken(&said.text));
            let says = |one: &Candidate| one.share >= MIN_SAID || one.text.split_whitespace().nth(MIN_CITED_WORDS - 1).is_some();
            found.retain(|one| one.share >= least && says(one) && !repeats(&one.text));
            found.iter_mut().for_each(|one| one.score += ahead);
            all.extend(found);
        }
        all
    }
}

/// Words of the user's, as they are told. Of a part of a prompt nobody knows whether the user wrote or pasted it.
fn of_user(is_whole: bool, said: &str) -> String {
    let who = if is_whole { "User" } else { "From a prompt" };
    format!("{who}: “{said}”")
}

/// What the user typed of a prompt, and did not paste, as far as that can be told: all of a short one, of a longer one its first and its last
/// paragraph.
fn typed(prompt: &str) -> Cow<'_, str> {
    let paragraphs: Vec<&str> = prompt.split("\n\n").filter(|text| !text.trim().is_empty()).collect();
    match paragraphs.as_slice() {
        [first, _, .., last] if prompt.chars().count() > WHOLE_PROMPT => Cow::Owned(format!("{first}\n\n{last}")),
        _ => Cow::Borrowed(prompt),
    }
}

/// The sentence of a reply or a plan that holds most of a statement.
fn proposed(wanted: &BTreeSet<String>, text: &str) -> Option<String> {
    let all = candidates(wanted, 0, text, Speaker::Assistant, |_| true).into_iter();
    all.max_by(|a, b| a.share.total_cmp(&b.share)).filter(|best| best.share >= MIN_SAID).map(|best| best.text)
}

/// Are this speaker's sentences told in a section?
fn may_say(section: Section, speaker: Speaker) -> bool {
    match speaker {
        Speaker::Assistant => true,
        Speaker::User => section.spec().carriers == Carriers::Anyone,
        Speaker::Output | Speaker::Quoted => false,
    }
}

/// May a sentence be told in a section? `is_last`: nothing was done after it.
fn tells(section: Section, said: &SpokenSentence, is_last: bool) -> bool {
    const OPEN: [SentenceTopic; 2] = [SentenceTopic::Next, SentenceTopic::Blocker];
    let says_open = || topics(&said.text).into_iter().chain(said.under).any(|topic| OPEN.contains(&topic));
    let leads_in = || said.text.ends_with(':') && said.text.chars().count() < LEAD_IN;
    let tells = match section.spec().is_open {
        true => is_last || says_open(),
        false => !is_offer(&said.text) && !leads_in(),
    };
    tells && !is_announcement(&said.text)
}

/// Does a sentence say that something waits to be committed or pushed?
fn waits_for_commit(said: &str) -> bool {
    const WAITING: [&str; 7] =
        ["commit it", "commit them", "commit this", "uncommitted", "not committed", "unstaged", "committed too"];
    let said = said.to_lowercase();
    WAITING.iter().any(|words| said.contains(words))
}

/// Was something committed at an entry?
fn commits(entry: &Entry) -> bool {
    let Item::Tool(tool) = &entry.item else { return false };
    is_commit(tool) && entry.outcome.as_ref().is_none_or(|outcome| outcome.ok)
}

fn candidates(
    wanted: &BTreeSet<String>,
    at: usize,
    text: &str,
    speaker: Speaker,
    tells: impl Fn(&SpokenSentence) -> bool,
) -> Vec<Candidate> {
    let all: Vec<String> = match speaker {
        Speaker::User => match Some(one_line(&own_words(text))).filter(|own| own.chars().count() <= WHOLE_PROMPT) {
            Some(own) => vec![own],
            None => sentences_in_any_case(text),
        },
        _ => {
            let own = outline(text).into_iter().filter(|said| said.voice == Voice::Own && tells(said));
            own.map(|said| said.text).collect()
        }
    };
    let is_whole = all.len() == 1;
    let candidate = |(place, text): (usize, String)| {
        let held: BTreeSet<String> = distinctive_words(&text).intersection(wanted).cloned().collect();
        let share = held.len() as f64 / wanted.len().max(1) as f64;
        Candidate {
            at,
            place,
            text: shorten(one_line(&text).trim_end_matches(':'), MAX_QUOTE),
            held,
            share,
            score: share,
            is_whole,
        }
    };
    all.into_iter().filter(|text| !text.is_empty()).enumerate().map(candidate).collect()
}

/// The best candidate, and another one of its entry where that adds enough.
fn best_two(mut all: Vec<Candidate>, words: usize) -> Vec<Candidate> {
    // Of equals the last one.
    let Some(best) = (0..all.len()).max_by(|a, b| all[*a].score.total_cmp(&all[*b].score)) else { return Vec::new() };
    let best = all.swap_remove(best);
    let adds = |one: &Candidate| one.held.difference(&best.held).count() as f64 / words.max(1) as f64;
    let has_room = |one: &Candidate| one.text.chars().count() + best.text.chars().count() <= MAX_QUOTE;
    all.retain(|one| one.at == best.at && adds(one) >= MIN_ADDED && has_room(one));
    let second = (0..all.len()).max_by(|a, b| adds(&all[*a]).total_cmp(&adds(&all[*b])));
    let mut chosen: Vec<Candidate> = second.map(|at| all.swap_remove(at)).into_iter().collect();
    chosen.push(best);
    chosen.sort_by_key(|one| one.place);
    chosen
}

/// Sentences of an entry in one text; `None` if there are none.
fn joined(chosen: Vec<Candidate>) -> Option<String> {
    let is_next = chosen.windows(2).all(|two| two[0].place + 1 == two[1].place);
    let texts: Vec<String> = chosen.into_iter().map(|one| one.text).collect();
    (!texts.is_empty()).then(|| texts.join(if is_next { " " } else { " … " }))
}

/// What is said at an entry in sentences. A recap stands for what was said, and may say it otherwise.
fn prose_in(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Away(text) => Some(text),
        _ => None,
    }
}

/// What was done at an entry, and how it ended where that says more.
fn deed(entry: &Entry) -> Option<String> {
    let Item::Tool(tool) = &entry.item else { return None };
    if is_refused(entry) {
        return None;
    }
    let failed = entry.outcome.as_ref().is_some_and(|outcome| !outcome.ok);
    let brief = entry.outcome.as_ref().map_or(String::new(), |outcome| shorten(&one_line(&outcome.brief), MAX_RESULT));
    let line = shorten(&one_line(&tool.line), MAX_COMMAND);
    let done = match (&tool.file, tool.class()) {
        (Some(file), ToolClass::Edit) if !failed => return Some(format!("Edited `{}`.", file.path)),
        // What only looked, and found nothing that was kept, says nothing.
        (_, ToolClass::Shell) if failed || !brief.is_empty() || !only_inspects(&tool.line) => format!("`{line}`"),
        _ if failed => format!("`{} {line}`", tool.name),
        _ => return None,
    };
    Some(match (failed, brief.is_empty()) {
        (true, true) => format!("{done} failed"),
        (true, false) => format!("{done} failed: {brief}"),
        (false, true) => done,
        (false, false) => format!("{done}: {brief}"),
    })
}
