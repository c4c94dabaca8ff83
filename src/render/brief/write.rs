//! Writes a brief within a token budget: what a model said of the session, marked as its words, then the session's account. Pure.
//!
//! What a model claims stands above what was said and done, so that a reader can hold the one against the other.

use jiff::tz::TimeZone;

use super::frame::{BriefFrame, FrameFacts};
use crate::analyze::account::{RenamedCommit, SessionAccount};
use crate::model::digest::Digest;
use crate::model::item_state::{ItemStates, TaskItem};
use crate::model::section::{Section, Shown, View, shown_in};
use crate::model::since_then::SinceThen;
use crate::render::quoted::{Listener, QuotedParts};
use text::budget::max_bytes;
use transcripts::session::{Answer, said};

/// The most characters of each text.
const MAX_REQUEST_CHARS: usize = 500;
/// The length to which a text is cut if it does not fit in full.
const SHORTENED_CHARS: usize = 110;
/// What a model's words may claim of the room, in percent. What they or the account leave goes to the other.
const CLAIMS_SHARE: usize = 50;
/// What the request may claim of the room of a model's words, in percent.
const REQUEST_SHARE: usize = 35;

/// A session with everything that its brief needs.
#[derive(Debug, Clone)]
pub(crate) struct BriefInput<'a> {
    pub(crate) facts: FrameFacts<'a>,
    /// What a model said of it.
    pub(crate) claims: Option<ModelClaims<'a>>,
    /// What was said and done. Tasks that stand in the claims, or are closed, are taken out.
    pub(crate) account: &'a SessionAccount,
    /// The open items of its tasks.
    pub(crate) task_ids: &'a [TaskItem],
    /// Its commits that were made anew since.
    pub(crate) renamed: &'a [RenamedCommit],
    /// What came since of what it still says.
    pub(crate) since_then: &'a [SinceThen],
}

/// A model's digest, and how its open items stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelClaims<'a> {
    pub(crate) digest: &'a Digest,
    /// Who says so.
    pub(crate) by: &'static str,
    pub(crate) items: &'a ItemStates,
}

/// Writes the brief in at most `max_tokens`; the frame takes a few hundred of them. Only whoever has the session is told where more of it is.
pub(crate) fn write(told: &BriefInput<'_>, zone: &TimeZone, listener: Listener, max_tokens: usize) -> String {
    let mut frame = BriefFrame::of(&told.facts, zone);
    if listener == Listener::Assistant {
        frame.foot.clear();
    }
    let room = max_bytes(max_tokens).saturating_sub(frame.head.len() + frame.foot.len());
    let claims = |room: usize| told.claims.map_or_else(String::new, |claims| claims.write(&told.facts, room));
    let claimed = claims(room * CLAIMS_SHARE / 100).len();
    let quoted = QuotedParts::new(told.account, zone, listener)
        .with_task_ids(told.task_ids)
        .with_renamed(told.renamed)
        .with_since_then(told.since_then)
        .fill(room - claimed);
    frame.head + &claims(room - quoted.len()) + &quoted + &frame.foot
}

impl ModelClaims<'_> {
    /// The claims in at most so many bytes.
    fn write(&self, facts: &FrameFacts<'_>, room: usize) -> String {
        let mut text = self.request(room * REQUEST_SHARE / 100).unwrap_or_default();
        let mut sections = self.sections(&facts.session.id);
        fill(&mut sections, room - text.len());
        sections.iter().for_each(|section| section.render(&mut text));
        text
    }

    /// What was asked, if the title does not say it.
    fn request(&self, room: usize) -> Option<String> {
        let Digest { title, request, .. } = self.digest;
        let asked = said(request, MAX_REQUEST_CHARS);
        let is_new = !asked.is_empty() && asked != said(title, MAX_REQUEST_CHARS);
        let line = |most: usize| format!("\nAsked, in {}'s words: {}\n", self.by, said(request, most));
        [MAX_REQUEST_CHARS, SHORTENED_CHARS].map(line).into_iter().find(|line| is_new && line.len() <= room)
    }

    fn sections(&self, session: &str) -> Vec<BriefSection> {
        let list = |(shown, sections): (&'static Shown, Vec<Section>)| {
            BriefSection::new(
                shown,
                self.digest.told_by(self.by),
                sections.into_iter().flat_map(|section| self.lines(section, session, shown)).collect(),
            )
        };
        shown_in(View::Brief).into_iter().map(list).collect()
    }

    /// The statements of a section; of open items those that nobody closed, with the ids to close them by.
    fn lines(&self, section: Section, session: &str, shown: &Shown) -> Vec<String> {
        let Some(kind) = section.spec().open_kind() else {
            return self.digest.told_in(section).map(|claim| said(&claim.text, shown.chars)).collect();
        };
        let items = self.digest.open_items(session).filter(|(id, of, _)| *of == kind && !self.items.is_closed(id));
        let blocked = if section == Section::Blockers { "blocked: " } else { "" };
        items.map(|(id, _, claim)| format!("{} {blocked}{}", self.items.id_of(&id), said(&claim.text, shown.chars))).collect()
    }
}

/// A list that may be shown in part.
struct BriefSection {
    shown: &'static Shown,
    /// How its lines came about.
    by: String,
    /// In display order.
    lines: Vec<String>,
    /// The text to show for each line, if any.
    chosen: Vec<Option<String>>,
    /// In which order lines claim room.
    order: Vec<usize>,
}

impl BriefSection {
    fn new(shown: &'static Shown, by: String, lines: Vec<String>) -> Self {
        let mut order: Vec<usize> = (0..lines.len()).collect();
        if shown.last_first {
            order.reverse();
        }
        Self { shown, by, order, chosen: vec![None; lines.len()], lines }
    }

    fn label(&self) -> String {
        format!("{}, {}", self.shown.label, self.by)
    }

    /// The bytes of the label with its counts.
    fn frame_bytes(&self) -> usize {
        "\n (1000 of 1000):\n".len() + self.label().len()
    }

    fn render(&self, text: &mut String) {
        let told: Vec<&str> = self.chosen.iter().flatten().map(String::as_str).collect();
        if told.is_empty() {
            return;
        }
        let count =
            if told.len() < self.lines.len() { format!(" ({} of {})", told.len(), self.lines.len()) } else { String::new() };
        text.push_str(&format!("\n{}{count}:\n", self.label()));
        told.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
}

/// Adds lines to each section in turn, its share in each round, until nothing more fits.
fn fill(sections: &mut [BriefSection], mut room: usize) {
    let mut next = vec![0; sections.len()];
    loop {
        let mut told = 0;
        for (section, next) in sections.iter_mut().zip(&mut next) {
            for _ in 0..section.shown.share {
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

#[cfg(test)]
mod tests;
