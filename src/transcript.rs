//! The rows of a session as its transcripts have them, for who wants to see all of what was said, as long as Claude Code keeps it.
//!
//! Only rows of the conversation, in their files' order: what the client writes for its own books repeats prompts that may be private
//! or forgotten. What was forgotten, what is private and what is excluded is left out by the rules of today, read from the rows
//! themselves and from the index; in the rows that stay, secrets and private parts are taken out and every other byte is as it was.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::chain::{Mark, mark};
use crate::config::Config;
use crate::delta::{self, Piece};
use crate::privacy::echo::{Hushed, distinctive, hashes};
use crate::privacy::{Began, Boundary, Conversation, Gate, LEFT_OUT, Passed, opens_private};
use crate::session::{Item, Millis, Row, Title, Turn};
use crate::source::claude_code::{self, Line, Place};
use crate::source::json;
use crate::source::project::Projects;
use crate::store::Memory;
use crate::store::around::{PrivateSpan, SourceFile};
use crate::store::load::SessionHead;
use crate::tail::title_keys;

/// What became of a session's transcripts.
#[derive(Debug, Default)]
pub struct Copied {
    pub rows: usize,
    /// Transcripts that could not be read, with the reason.
    pub missing: Vec<String>,
}

/// Writes the session's rows, one JSON object a line.
///
/// # Errors
/// When the index cannot be read, or `out` cannot be written.
pub fn copy(store: &Memory, config: &Config, head: &SessionHead, out: &mut impl Write) -> Result<Copied> {
    let undone = store.undone_prompts(&head.id)?;
    let hushed = store.hushed(head)?;
    let reader = Reader { store, config, projects: config.project_keys(), gate: config.gate()?, head, undone, hushed };
    let mut spans = store.private_spans(&head.id)?;
    let mut copied = Copied::default();
    let undone = store.undone_agents(head)?;
    let told = |file: &SourceFile| file.agent.as_ref().is_none_or(|agent| !undone.contains(agent));
    for file in store.source_files(head.pk)?.into_iter().filter(told) {
        if config.exclude_transcripts.is_match(&file.path) {
            copied.missing.push(format!("{} is excluded by `exclude_transcripts`", file.path));
            continue;
        }
        match delta::open(Path::new(&file.path), None) {
            Ok(delta) => copied.rows += reader.file(&file, delta.lines, &mut spans, out)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                copied.missing.push(format!("the transcript {} is not there any more: Claude Code deletes old ones", file.path));
            }
            Err(e) => copied.missing.push(format!("cannot read {}: {e}", file.path)),
        }
    }
    Ok(copied)
}

struct Reader<'a> {
    store: &'a Memory,
    config: &'a Config,
    projects: Projects,
    gate: Gate,
    head: &'a SessionHead,
    /// Prompts that the user took back, by the first bytes of their keys.
    undone: Vec<Mark>,
    /// What is known of private words.
    hushed: Hushed,
}

/// What the rows of a file have told so far.
#[derive(Default)]
struct State {
    /// Words that were fenced off in rows that no digest has seen.
    fresh: Hushed,
    conversation: Conversation,
    /// Tool uses on private files, and forgotten ones, by the client's id: their results are not shown. The oldest layout uses an id
    /// again.
    withheld: HashSet<String>,
    turn: TurnSoFar,
    /// No digest has seen this row.
    is_fresh: bool,
}

/// The rows of a turn wait for its end: whether something of it is forgotten may stand in its last row.
#[derive(Default)]
struct TurnSoFar {
    /// Each with whether the index keeps something of it.
    rows: Vec<(String, bool)>,
    has_forgotten: bool,
    /// The user took it back.
    undone: bool,
}

impl TurnSoFar {
    /// Rows of which the index keeps nothing, what the model thought above all, are known by no key of their own: they go with what was
    /// forgotten of their turn, which they may tell of.
    fn end(&mut self, out: &mut impl Write) -> Result<usize> {
        let turn = std::mem::take(self);
        let mut shown = 0;
        for (row, _) in turn.rows.iter().filter(|(_, kept)| !turn.undone && (*kept || !turn.has_forgotten)) {
            writeln!(out, "{row}")?;
            shown += 1;
        }
        Ok(shown)
    }
}

impl Reader<'_> {
    fn file(
        &self,
        file: &SourceFile,
        mut lines: delta::Lines<std::fs::File>,
        spans: &mut Vec<PrivateSpan>,
        out: &mut impl Write,
    ) -> Result<usize> {
        let place = Place { session: self.head.id.clone(), agent: file.agent.clone().filter(|agent| agent != "inline") };
        let mut state = State::default();
        let mut rows = 0;
        let digested = self.store.read_up_to(&file.path)?;
        while let Some((from, _, piece)) = lines.next_piece().with_context(|| format!("cannot read {}", file.path))? {
            match piece {
                Piece::Line(line) | Piece::Tail(line) => {
                    state.is_fresh = from >= digested;
                    rows += self.line(line, &place, &mut state, spans, out)?;
                }
                Piece::TooLong { private: true } => state.conversation.lost_something_private(),
                Piece::TooLong { private: false } => {}
            }
        }
        Ok(rows + state.turn.end(out)?)
    }

    /// Takes a line to the others of its turn, as it may be shown. Returns how many rows were written: those of the turn before.
    fn line(
        &self,
        line: &[u8],
        place: &Place,
        state: &mut State,
        spans: &mut Vec<PrivateSpan>,
        out: &mut impl Write,
    ) -> Result<usize> {
        let row = match claude_code::read_line(line, place, &self.gate) {
            Line::Row(row) => *row,
            Line::Bad(_) => {
                if opens_private(&String::from_utf8_lossy(line)) {
                    state.conversation.lost_something_private();
                }
                return Ok(0);
            }
            Line::Nothing | Line::Link(_) | Line::Stamp { .. } | Line::Cost { .. } | Line::Unknown(_) => return Ok(0),
        };
        if state.is_fresh {
            let names = distinctive(&row.fenced);
            state.fresh.add(&row.session, hashes(&row.session, names.iter().map(String::as_str)));
        }
        let begins = matches!(row.turn, Turn::Begins | Turn::BeginsPrivate);
        let rows = if begins { state.turn.end(out)? } else { 0 };
        if begins {
            state.turn.undone = self.undone.contains(&mark(row.key));
        }
        let (kept, cwd) = (self.is_kept(&row)?, row.cwd.clone());
        let is_own = row.session == self.head.id;
        if self.passes(row, place, state, spans)? && is_own && !self.is_excluded(cwd.as_deref())? {
            state.turn.rows.extend(self.shown(line, &state.fresh).map(|shown| (shown.into_owned(), kept)));
        }
        Ok(rows)
    }

    /// Does the index keep something of a row?
    fn is_kept(&self, row: &Row) -> Result<bool> {
        for item in &row.items {
            if let Item::Title(Title { text, leaf: Some(leaf), .. }) = item {
                return self.store.holds_title(*leaf, text);
            }
        }
        self.store.holds_row(self.head.pk, row.key)
    }

    /// Is a row of an excluded project? One without a folder is where the session is.
    fn is_excluded(&self, cwd: Option<&str>) -> Result<bool> {
        match cwd {
            Some(cwd) => Ok(self.config.excludes_folder(cwd, &self.projects)),
            None => self.store.is_excluded_session(&self.head.id),
        }
    }

    /// May a row be shown at all?
    fn passes(&self, mut row: Row, place: &Place, state: &mut State, spans: &mut Vec<PrivateSpan>) -> Result<bool> {
        let (mut tools, summed_up) = (Vec::new(), row.items.iter().filter(|item| sums_up(item)).count());
        // Rows of the oldest layout answer with nothing but an outcome.
        let mut answered = row.answered.clone();
        for item in &row.items {
            match item {
                Item::Tool(tool) => tools.push(tool.clone()),
                Item::Outcome(outcome) => answered.push(outcome.tool.clone()),
                _ => {}
            }
        }
        let forgotten = self.is_forgotten(&row)?;
        if forgotten {
            state.turn.has_forgotten = true;
            state.withheld.extend(tools.iter().map(|tool| tool.id.clone()).filter(|id| !id.is_empty()));
        }
        let (passed, boundary) = state.conversation.pass(&mut row, &self.gate);
        note(spans, boundary.filter(|boundary| boundary.session == self.head.id));
        let mut withholds = answered.iter().any(|id| state.withheld.contains(id));
        for mut tool in tools {
            if tool.line == LEFT_OUT || self.gate.withhold(&mut tool) {
                withholds = true;
                state.withheld.insert(tool.id);
            }
        }
        let told = row.items.iter().filter(|item| sums_up(item)).count() == summed_up;
        let began = state.conversation.agent().filter(|_| place.agent.is_some());
        Ok(passed == Passed::Kept && told && !withholds && !forgotten && !is_private(&row, began, spans))
    }

    /// Was a row forgotten, by its own key or by those of the title it gives?
    fn is_forgotten(&self, row: &Row) -> Result<bool> {
        for key in row.items.iter().filter_map(title_keys).flatten().chain([row.key]) {
            if self.store.is_forgotten_row(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A row without what may not be shown of it; `None` where nothing may.
    fn shown<'l>(&self, line: &'l [u8], fresh: &Hushed) -> Option<Cow<'l, str>> {
        let text = std::str::from_utf8(line.trim_ascii()).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let clean = json::map_texts(&text, |text| self.gate.verbatim(text))?.into_owned();
        // The name of a field may be what makes its value a secret.
        let redacted = self.without_echoes(self.gate.redact(&clean), fresh)?;
        match redacted == text {
            true => Some(text),
            false => serde_json::from_str::<&serde_json::value::RawValue>(&redacted).is_ok().then_some(Cow::Owned(redacted)),
        }
    }
}

impl Reader<'_> {
    /// A row without what repeats private words.
    fn without_echoes(&self, row: String, fresh: &Hushed) -> Option<String> {
        if self.hushed.is_empty() && fresh.is_empty() {
            return Some(row);
        }
        let clean = |text: &str| {
            let known = self.hushed.clean(text);
            let all = fresh.clean(&known);
            Some((all != text).then(|| all.into_owned()))
        };
        json::map_texts(&row, clean).map(Cow::into_owned)
    }
}

/// Tells of what came before: after a private turn it may tell of that.
fn sums_up(item: &Item) -> bool {
    matches!(item, Item::Title(_) | Item::Recap(_) | Item::Away(_))
}

/// Did a subagent do it for a private prompt, or while one was answered?
fn is_private(row: &Row, began: Option<&Began>, spans: &[PrivateSpan]) -> bool {
    let within = |at: Option<Millis>| at.is_some_and(|at| spans.iter().any(|span| span.holds(at)));
    let asked_in = |prompt: &String| spans.iter().any(|span| span.prompt.as_ref() == Some(prompt));
    row.agent.is_some() && (within(row.at) || began.is_some_and(|b| within(b.at) || b.prompt.as_ref().is_some_and(asked_in)))
}

/// What the rows say of private turns, beside what the index knows of them.
fn note(spans: &mut Vec<PrivateSpan>, boundary: Option<Boundary>) {
    let Some(boundary) = boundary else { return };
    if boundary.begins {
        spans.push(PrivateSpan { from: boundary.at, until: None, prompt: boundary.prompt });
    } else {
        let open = spans.iter_mut().filter(|span| span.until.is_none() && span.from <= boundary.at);
        open.for_each(|span| span.until = Some(boundary.at));
    }
}
