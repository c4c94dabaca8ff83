//! Copies a session's lines from its transcripts (`show --raw`), for as long as the client keeps them.
//!
//! ## Privacy
//! Only lines of the conversation are copied, in file order: the client's bookkeeping repeats prompts that may be private or
//! forgotten. Forgotten and private lines are left out by the current rules, from the lines themselves and from the index; of a
//! session that has since gone on in a folder that the policy hides, all are. In the lines that stay, secrets and private parts are
//! removed and every other byte is unchanged.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::config::Config;
use crate::model::digest::CLAUDE_MEM;
use crate::model::session_head::SessionHead;
use crate::policy::Policy;
use crate::store::Memory;
use crate::store::neighbours::{PrivateSpan, SourceFile};
use text::clean::id8;
use transcripts::privacy::echo::{PrivateWords, distinctive, hashes};
use transcripts::privacy::{AgentStart, ConversationState, Disposition, EXCLUDED_LINE, PrivateBoundary, Sanitizer, opens_private};
use transcripts::session::{Item, Millis, ParserState, Record, Title, Turn};
use transcripts::source::delta::{OpenTranscript, RawLine, TranscriptLines};
use transcripts::source::json;
use transcripts::source::live_session::title_keys;
use transcripts::source::{self, ParsedLine, TranscriptIdentity, parser_of};
use transcripts::undone_prompts::{ShortKey, mark};

/// The result of copying a session's transcripts.
#[derive(Debug, Default)]
pub(crate) struct CopyReport {
    pub(crate) rows: usize,
    /// Transcripts that could not be read, with the reason.
    pub(crate) missing: Vec<String>,
}

/// Writes the session's lines, one JSON object per line. Transcripts that cannot be read are listed in [`CopyReport::missing`].
///
/// # Errors
/// When the index cannot be read, or the session went on in an excluded folder, or lines that it does not know yet took place in one that the
/// policy hides.
pub(crate) fn copy(
    store: &Memory,
    policy: &Policy,
    config: &Config,
    head: &SessionHead,
    out: &mut impl Write,
) -> Result<CopyReport> {
    if store.is_excluded(&head.id)? {
        bail!("session {} went on in a folder that the config excludes: its transcript is not shown", head.id);
    }
    if let Some(origin) = store.origin_of(head.pk)? {
        let short = id8(&head.id);
        bail!(
            "session {short} is on the machine {}: its transcript is there. To read what came of it, run `recall show {short} --full`",
            origin.name
        );
    }
    let undone = store.undone_prompts(&head.id)?;
    let private_words = store.private_words(head)?;
    let reader = RawLineReader { store, policy, sanitizer: config.sanitizer()?, head, undone, private_words };
    let mut spans = store.private_spans(&head.id)?;
    let mut copied = CopyReport::default();
    let undone = store.undone_agents(head)?;
    let told = |file: &SourceFile| file.agent.as_ref().is_none_or(|agent| !undone.contains(agent));
    let files = store.source_files(head.pk)?;
    for file in &files {
        reader.check_fresh_folders(file)?;
    }
    for file in files.into_iter().filter(told) {
        if config.exclude_transcripts.is_match(&file.path) {
            copied.missing.push(format!("{} is excluded by `exclude_transcripts`", file.path));
            continue;
        }
        if file.path == CLAUDE_MEM {
            copied.missing.push("it was imported from claude-mem, which keeps no transcript".to_owned());
            continue;
        }
        match source::open(&reader.place_of(&file), Path::new(&file.path), None) {
            Ok(delta) => copied.rows += reader.file(&file, delta.lines, &mut spans, out)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                copied.missing.push(format!(
                    "the transcript {} is not there any more: {} may have deleted it",
                    file.path,
                    head.client.name()
                ));
            }
            Err(e) => copied.missing.push(format!("cannot read {}: {e}", file.path)),
        }
    }
    Ok(copied)
}

struct RawLineReader<'a> {
    store: &'a Memory,
    policy: &'a Policy,
    sanitizer: Sanitizer,
    head: &'a SessionHead,
    /// Prompts that the user took back, by the first bytes of their keys.
    undone: Vec<ShortKey>,
    /// Private words that the index knows.
    private_words: PrivateWords,
}

/// State carried from line to line of one file.
#[derive(Default)]
struct FileState {
    /// Private words from lines that are not digested yet.
    fresh: PrivateWords,
    conversation: ConversationState,
    /// Tool uses on private files and forgotten tool uses, by the client's id: their results are withheld. The oldest layout
    /// reuses ids.
    withheld: HashSet<String>,
    turn: PendingTurn,
    /// This line is not digested yet.
    is_fresh: bool,
}

/// The lines of a turn are held back until it ends: its last line may be the one that shows part of it was forgotten.
#[derive(Default)]
struct PendingTurn {
    /// Each line, and whether the index holds something of it.
    rows: Vec<(String, bool)>,
    has_forgotten: bool,
    /// The user took it back.
    undone: bool,
}

impl PendingTurn {
    /// Lines of which the index holds nothing (above all the model's thinking) have no key to be forgotten by. They are dropped
    /// with the forgotten part of their turn, which they may reveal.
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

impl RawLineReader<'_> {
    /// Checks that the lines the index does not know yet took place where the policy shows it. Of the others it knows.
    fn check_fresh_folders(&self, file: &SourceFile) -> Result<()> {
        // A transcript that cannot be opened is reported when its lines are asked for.
        let place = self.place_of(file);
        let Ok(OpenTranscript { mut lines, .. }) = source::open(&place, Path::new(&file.path), None) else { return Ok(()) };
        let mut parser = parser_of(&place, &self.sanitizer, &ParserState::default());
        let digested = self.store.read_offset(&file.path)?;
        while let Some((from, _, piece)) = lines.next_line().with_context(|| format!("cannot read {}", file.path))? {
            let (RawLine::Complete(line) | RawLine::Tail(line)) = piece else { continue };
            if let ParsedLine::Record(row) = parser.read(line)
                && from >= digested
                && row.session == self.head.id
                && row.cwd.is_some_and(|cwd| !self.policy.shows_folder(&cwd))
            {
                bail!(
                    "session {} went on in a folder that `[privacy]` in the config excludes or isolates: it is not shown here",
                    self.head.id
                );
            }
        }
        Ok(())
    }

    fn place_of(&self, file: &SourceFile) -> TranscriptIdentity {
        TranscriptIdentity {
            client: self.head.client,
            session: self.head.id.clone(),
            agent: file.agent.clone().filter(|agent| agent != "inline"),
            cwd: None,
        }
    }

    fn file(
        &self,
        file: &SourceFile,
        mut lines: TranscriptLines,
        spans: &mut Vec<PrivateSpan>,
        out: &mut impl Write,
    ) -> Result<usize> {
        let place = self.place_of(file);
        let mut parser = parser_of(&place, &self.sanitizer, &ParserState::default());
        let mut state = FileState::default();
        let mut rows = 0;
        let digested = self.store.read_offset(&file.path)?;
        while let Some((from, _, piece)) = lines.next_line().with_context(|| format!("cannot read {}", file.path))? {
            match piece {
                RawLine::Complete(line) | RawLine::Tail(line) => {
                    state.is_fresh = from >= digested;
                    rows += self.line((line, parser.read(line)), &place, &mut state, spans, out)?;
                }
                RawLine::TooLong { private: true } => state.conversation.note_malformed_private(),
                RawLine::TooLong { private: false } => {}
            }
        }
        Ok(rows + state.turn.end(out)?)
    }

    /// Adds a line, as it may be shown, to those of its turn. Returns the number of lines written, which are those of the turn
    /// before.
    fn line(
        &self,
        (line, parsed): (&[u8], ParsedLine),
        place: &TranscriptIdentity,
        state: &mut FileState,
        spans: &mut Vec<PrivateSpan>,
        out: &mut impl Write,
    ) -> Result<usize> {
        let row = match parsed {
            ParsedLine::Record(row) => *row,
            ParsedLine::Malformed(_) => {
                if opens_private(&String::from_utf8_lossy(line)) {
                    state.conversation.note_malformed_private();
                }
                return Ok(0);
            }
            ParsedLine::Empty
            | ParsedLine::Link(_)
            | ParsedLine::WentBack(_)
            | ParsedLine::SessionStart { .. }
            | ParsedLine::Cost { .. }
            | ParsedLine::Unknown(_) => return Ok(0),
        };
        if state.is_fresh {
            let names = distinctive(&row.fenced);
            state.fresh.add(&row.session, hashes(&row.session, names.iter().map(String::as_str)));
        }
        // Bookkeeping of the client's, of which something is known.
        if row.answered.is_empty() && row.items.iter().all(|item| matches!(item, Item::Evidence(_))) && !row.items.is_empty() {
            return Ok(0);
        }
        let begins = matches!(row.turn, Turn::Begins | Turn::BeginsPrivate);
        let rows = if begins { state.turn.end(out)? } else { 0 };
        if begins {
            state.turn.undone = self.undone.contains(&mark(row.key));
        }
        let kept = self.is_stored(&row)?;
        let is_own = row.session == self.head.id;
        if self.may_be_shown(row, place, state, spans)? && is_own {
            state.turn.rows.extend(self.shown(line, &state.fresh).map(|shown| (shown.into_owned(), kept)));
        }
        Ok(rows)
    }

    /// Does the index hold something of a record?
    fn is_stored(&self, row: &Record) -> Result<bool> {
        for item in &row.items {
            if let Item::Title(Title { text, leaf: Some(leaf), .. }) = item {
                return self.store.holds_title(*leaf, text);
            }
        }
        self.store.holds_row(self.head.pk, row.key)
    }

    /// May a line be shown at all?
    fn may_be_shown(
        &self,
        mut row: Record,
        place: &TranscriptIdentity,
        state: &mut FileState,
        spans: &mut Vec<PrivateSpan>,
    ) -> Result<bool> {
        let (mut tools, summed_up) = (Vec::new(), row.items.iter().filter(|item| is_summary(item)).count());
        // Lines of the oldest layout answer with an outcome alone.
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
        let (passed, boundary) = state.conversation.pass(&mut row, &self.sanitizer);
        note_boundary(spans, boundary.filter(|boundary| boundary.session == self.head.id));
        let mut withholds = answered.iter().any(|id| state.withheld.contains(id));
        for mut tool in tools {
            if tool.line == EXCLUDED_LINE || self.sanitizer.withhold(&mut tool) {
                withholds = true;
                state.withheld.insert(tool.id);
            }
        }
        let told = row.items.iter().filter(|item| is_summary(item)).count() == summed_up;
        let began = state.conversation.agent().filter(|_| place.agent.is_some());
        Ok(passed == Disposition::Kept && told && !withholds && !forgotten && !is_private(&row, began, spans))
    }

    /// Was a record forgotten, by its own key or by those of the title it carries?
    fn is_forgotten(&self, row: &Record) -> Result<bool> {
        for key in row.items.iter().filter_map(title_keys).flatten().chain([row.key]) {
            if self.store.is_forgotten_row(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A line without what must not be shown; `None` if nothing may be, or if the result would not be JSON.
    fn shown<'l>(&self, line: &'l [u8], fresh: &PrivateWords) -> Option<Cow<'l, str>> {
        let text = std::str::from_utf8(line.trim_ascii()).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let clean = json::map_strings(&text, |text| self.sanitizer.verbatim(text))?.into_owned();
        // The whole line is redacted too: a field's name may be what makes its value a secret.
        let redacted = self.without_echoes(self.sanitizer.redact(&clean), fresh)?;
        match redacted == text {
            true => Some(text),
            false => serde_json::from_str::<&serde_json::value::RawValue>(&redacted).is_ok().then_some(Cow::Owned(redacted)),
        }
    }
}

impl RawLineReader<'_> {
    /// A line without words that repeat private ones.
    fn without_echoes(&self, row: String, fresh: &PrivateWords) -> Option<String> {
        if self.private_words.is_empty() && fresh.is_empty() {
            return Some(row);
        }
        json::map_strings(&row, |text| Some(self.private_words.cleaned(text, fresh))).map(Cow::into_owned)
    }
}

/// Does an item summarize what came before? After a private turn it may reveal that turn.
fn is_summary(item: &Item) -> bool {
    matches!(item, Item::Title(_) | Item::Recap(_) | Item::Away(_))
}

/// Was the line written by a subagent working for a private prompt, or during a private turn?
fn is_private(row: &Record, began: Option<&AgentStart>, spans: &[PrivateSpan]) -> bool {
    let within = |at: Option<Millis>| at.is_some_and(|at| spans.iter().any(|span| span.holds(at)));
    let asked_in = |prompt: &String| spans.iter().any(|span| span.prompt.as_ref() == Some(prompt));
    row.agent.is_some() && (within(row.at) || began.is_some_and(|b| within(b.at) || b.prompt.as_ref().is_some_and(asked_in)))
}

/// Adds what the lines say about private turns to the spans that the index knows.
fn note_boundary(spans: &mut Vec<PrivateSpan>, boundary: Option<PrivateBoundary>) {
    let Some(boundary) = boundary else { return };
    if boundary.begins {
        spans.push(PrivateSpan { from: boundary.at, until: None, prompt: boundary.prompt });
    } else {
        let open = spans.iter_mut().filter(|span| span.until.is_none() && span.from <= boundary.at);
        open.for_each(|span| span.until = Some(boundary.at));
    }
}
