//! Writes a brief from a session and its digest, within a token budget. Pure.

use jiff::tz::TimeZone;

use super::frame::{BriefFrame, FrameFacts};
use crate::analyze::failures::{FailedCommand, failures};
use crate::analyze::prose::sentences;
use crate::analyze::signal::{MemoryKind, signal_of_sentence};
use crate::model::digest::{Claim, Digest};
use crate::model::session::said;
use crate::model::session::{Answer, Entry, Item, Session, Touch};
use crate::text::budget::max_bytes;
use crate::text::tokenize::{covered_by, distinctive_words};

/// The most characters of each text.
const MAX_REQUEST_CHARS: usize = 500;
const MAX_STATEMENT_CHARS: usize = 320;
/// The length to which a statement is cut if it does not fit in full.
const SHORTENED_CHARS: usize = 110;
const MAX_REASON_CHARS: usize = 200;
/// The most files; longer lists are not read.
const MAX_FILES: usize = 24;

/// A session with everything that a brief of its digest needs.
#[derive(Debug, Clone)]
pub(crate) struct BriefInput<'a> {
    pub(crate) facts: FrameFacts<'a>,
    pub(crate) digest: &'a Digest,
    /// Ids of its closed items.
    pub(crate) closed: &'a [String],
}

/// Writes the brief in at most `max_tokens`; the frame takes a few hundred of them.
pub(crate) fn write(told: &BriefInput<'_>, zone: &TimeZone, max_tokens: usize) -> String {
    let frame = BriefFrame::of(&told.facts, zone);
    let mut room = max_bytes(max_tokens).saturating_sub(frame.head.len() + frame.foot.len());
    let mut text = frame.head;
    let asked = said(&told.digest.request, MAX_REQUEST_CHARS);
    if !asked.is_empty() && asked != said(&told.digest.title, MAX_REQUEST_CHARS) {
        let line = format!("\nAsked: {asked}\n");
        if line.len() <= room {
            room -= line.len();
            text.push_str(&line);
        }
    }
    let mut sections = sections(told);
    fill(&mut sections, room);
    sections.iter().for_each(|section| section.render(&mut text));
    text + &frame.foot
}

/// A list that may be shown in part.
struct BriefSection {
    label: &'static str,
    /// In display order.
    lines: Vec<String>,
    /// The text to show for each line, if any.
    chosen: Vec<Option<String>>,
    /// In which order lines claim room.
    order: Vec<usize>,
    /// How many lines it may claim in each round.
    share: usize,
    /// Render all lines on one line.
    joined: bool,
}

impl BriefSection {
    fn new(label: &'static str, share: usize, lines: Vec<String>) -> Self {
        let chosen = vec![None; lines.len()];
        Self { label, share, order: (0..lines.len()).collect(), chosen, lines, joined: false }
    }

    /// Lets the last lines claim room first: they say where the session ended.
    fn last_first(mut self) -> Self {
        self.order.reverse();
        self
    }

    /// The bytes of the label with its counts.
    fn frame_bytes(&self) -> usize {
        "\n (1000 of 1000):\n".len() + self.label.len()
    }

    fn render(&self, text: &mut String) {
        let told: Vec<&str> = self.chosen.iter().flatten().map(String::as_str).collect();
        if told.is_empty() {
            return;
        }
        let count =
            if told.len() < self.lines.len() { format!(" ({} of {})", told.len(), self.lines.len()) } else { String::new() };
        if self.joined {
            text.push_str(&format!("\n{}{count}: {}\n", self.label, told.join(", ")));
        } else {
            text.push_str(&format!("\n{}{count}:\n", self.label));
            told.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
        }
    }
}

/// Adds lines to each section in turn, its share in each round, until nothing more fits.
fn fill(sections: &mut [BriefSection], mut room: usize) {
    let mut next = vec![0; sections.len()];
    loop {
        let mut told = 0;
        for (section, next) in sections.iter_mut().zip(&mut next) {
            for _ in 0..section.share {
                let Some(at) = section.order.get(*next).copied() else { break };
                *next += 1;
                told += usize::from(add_line(section, at, &mut room));
            }
        }
        if told == 0 && sections.iter().zip(&next).all(|(section, next)| *next >= section.order.len()) {
            return;
        }
    }
}

/// Adds a line, whole or shortened, if it fits.
fn add_line(section: &mut BriefSection, at: usize, room: &mut usize) -> bool {
    let begun = section.chosen.iter().any(Option::is_some);
    let frame = if begun { 0 } else { section.frame_bytes() } + "- \n".len();
    let fitting = [section.lines[at].clone(), Answer::shorten_line(&section.lines[at], SHORTENED_CHARS)];
    let Some(line) = fitting.into_iter().find(|line| line.len() + frame <= *room) else { return false };
    *room -= line.len() + frame;
    section.chosen[at] = Some(line);
    true
}

fn sections(told: &BriefInput<'_>) -> Vec<BriefSection> {
    let (session, digest) = (told.facts.session, told.digest);
    let plain = |texts: &[String]| texts.iter().map(|text| said(text, MAX_STATEMENT_CHARS)).collect::<Vec<_>>();
    let decisions = digest.decisions.iter().map(|claim| decision(session, claim)).collect();
    let failed = failures(session);
    // What fixed a failure is shown with the failure.
    let learned = digest.learned.iter().filter(|text| !failed.iter().any(|failure| text.contains(&failure.command)));
    let learned: Vec<String> = learned.map(|text| said(text, MAX_STATEMENT_CHARS)).collect();
    let mut files = BriefSection::new("Files", 8, files(session));
    files.joined = true;
    files.order.truncate(MAX_FILES);
    vec![
        BriefSection::new("Outcome", 3, plain(&digest.completed)).last_first(),
        BriefSection::new("Decided", 3, decisions).last_first(),
        BriefSection::new("Open", 4, open(told)),
        BriefSection::new("Failed, and what helped", 2, failed.iter().map(failure).collect()).last_first(),
        BriefSection::new("Learned", 2, learned).last_first(),
        BriefSection::new("Looked into", 1, plain(&digest.investigated)).last_first(),
        files,
    ]
}

/// Open items with the ids to close them by.
fn open(told: &BriefInput<'_>) -> Vec<String> {
    let items = told.digest.open_items(&told.facts.session.id).filter(|(id, ..)| !told.closed.contains(id));
    let line = |(id, kind, claim): (String, &str, &Claim)| {
        let blocked = if kind == "blocker" { "blocked: " } else { "" };
        format!("{id} {blocked}{}", statement(claim))
    };
    items.map(line).collect()
}

fn statement(claim: &Claim) -> String {
    let mark = if claim.is_verified() { "" } else { " (unverified)" };
    format!("{}{mark}", said(&claim.text, MAX_STATEMENT_CHARS))
}

/// A decision with its reason, if the session gave one next to it.
fn decision(session: &Session, claim: &Claim) -> String {
    let line = statement(claim);
    match reason(session, claim) {
        Some(reason) => format!("{line} — {}", said(&reason, MAX_REASON_CHARS)),
        None => line,
    }
}

fn gives_reason(sentence: &str) -> bool {
    let says = |words: &&str| sentence.contains(*words);
    [" because ", " so that ", "; otherwise "].iter().any(says)
        || signal_of_sentence(sentence).is_some_and(|signal| signal.kind == MemoryKind::Cause)
}

/// If the decision names no reason: the sentence that does, at the decision's place in the records behind it or right after.
fn reason(session: &Session, claim: &Claim) -> Option<String> {
    if gives_reason(&claim.text) {
        return None;
    }
    let wanted = distinctive_words(&claim.text);
    let entries = claim.rows.iter().filter_map(|key| session.entries.iter().find(|entry| entry.key == *key));
    for text in entries.filter_map(words_of) {
        let all = sentences(text);
        let near = all.iter().position(|sentence| covered_by(&wanted, &distinctive_words(sentence)) >= 0.7);
        let found = near.and_then(|at| all[at..].iter().take(2).find(|sentence| gives_reason(sentence)));
        if let Some(sentence) = found.filter(|sentence| **sentence != claim.text) {
            return Some(sentence.clone());
        }
    }
    None
}

fn words_of(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::Reply(text) | Item::Plan(text) | Item::Prompt(text) => Some(text),
        Item::Answer(answer) => Some(&answer.said),
        _ => None,
    }
}

/// A failed command, how it failed, and what fixed it.
fn failure(failure: &FailedCommand) -> String {
    let times = if failure.times > 1 { format!(" ({} times)", failure.times) } else { String::new() };
    let how = failure.describe(120);
    let why = if how.is_empty() { how } else { format!(": {}", said(&how, 180)) };
    let fix = match failure.fix.as_ref().map(|fix| fix.told(3)) {
        None => "not seen to pass afterwards".to_owned(),
        Some(None) => "passed later".to_owned(),
        Some(Some(told)) => format!("passed after {}", said(&told, 140)),
    };
    format!("`{}`{times}{why} — {fix}", said(&failure.command, 80))
}

/// Changed files, the project's own first.
fn files(session: &Session) -> Vec<String> {
    let is_elsewhere = |path: &str| path.starts_with(['/', '~']) || path.starts_with(".claude/");
    let changed = session.files().into_iter().filter(|(_, touch)| touch.how > Touch::Read);
    let (elsewhere, own): (Vec<_>, Vec<_>) = changed.partition(|(path, _)| is_elsewhere(path));
    let line = |(path, touch): (String, crate::model::session::FileTouch)| {
        format!("{} +{} −{}", said(&path, 100), touch.added, touch.removed)
    };
    own.into_iter().chain(elsewhere).map(line).collect()
}

#[cfg(test)]
mod tests;
