//! Parses a transcript line into a [`Record`]: the only module that knows the keys of Claude Code's line format.
//!
//! The format is internal to the client and differs between releases, so every field is optional and may have any type; what is
//! unknown is counted by name and never fatal. Counts behind the rules come from 734 transcripts of clients 1.0 to 2.1.

mod costs;
mod dialog;
pub(crate) mod field_cache;
mod fields;
mod files;
mod naming;
mod origin;
mod outcome;
mod tools;
mod user;
mod wrapper;

use self::fields::{Field, LineFields, RawBlock, RawContent, RawMessage, RawUsage};
pub use self::origin::{is_user_text, is_wrapped, may_be_person};
pub use self::tools::ACTING as ACTING_TOOLS;
use self::user::UserContent;
use super::json::{self, Raw};
use super::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use crate::privacy::raw::RawText;
use crate::privacy::{Sanitizer, opens_private};
use crate::session::{
    Evidence, Item, MessageUsage, ParserState, PendingRuns, Record, RecordKey, Title, TitleBy, Tokens, Turn, is_compaction_agent,
};
use crate::session::{FAST_SUFFIX, US_SUFFIX};
use crate::source::claude_code::field_cache::{CachedField, FieldCache};
use crate::source::line::{MAX_TITLE_CHARS, malformed, numbered, text_of_line, timestamp};
use crate::source::said::reply;
use text::clean::{one_line, shorten};

/// Longest stored words of the client about the model's service, in characters.
const MAX_API_ERROR_CHARS: usize = 200;

/// The client of Anthropic's.
pub(super) struct ClaudeCode;

/// Line types that are known and hold no conversation: those seen up to client 2.1.330, and others that its binary names. Their
/// lines are not parsed: to read one of these types, remove its name from the list.
const BOOKKEEPING: [&str; 38] = [
    "file-history-delta", "last-prompt", "mode", "permission-mode", "agent-name", "bridge-session", "agent-setting", "agent-color",
    "tag", "worktree-state", "content-replacement", "atis-latch", "tools-used", "api-request", "api-request-shape",
    "api-request-blob", "api-request-resumed", "artifact-autoreact-ledger", "artifact-comment-monitor", "attribution-snapshot",
    "continued-in", "data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods", "ended-by-model", "fork-context-ref",
    "frame-link", "history-suppression", "host-row", "hybrid-organization", "isolation-latch", "memory-mode", "observer-ref",
    "relocated", "repl-mode", "resume-head-vouch", "session-owner",
];
/// Line types that are read.
const KINDS: [&str; 15] = [
    "user", "attachment", "assistant", "system", "tool", "tool_use", "tool_result", "progress", "summary", "ai-title",
    "custom-title", "pr-link", "queue-operation", "file-history-snapshot", "cost-state",
];
/// How a bookkeeping line begins. Such lines make up most bytes of a new transcript, and only this prefix and the type are read.
const TYPE_PREFIX: &[u8] = b"{\"type\":\"";

/// Does a line begin as bookkeeping? A line that states its type elsewhere is parsed.
fn is_bookkeeping(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(TYPE_PREFIX) else { return false };
    let name = memchr::memchr(b'"', &rest[..rest.len().min(MAX_TYPE_BYTES + 1)]).map(|end| &rest[..end]);
    name.is_some_and(|name| BOOKKEEPING.iter().any(|known| known.as_bytes() == name))
}

/// In bytes, of the names above.
const MAX_TYPE_BYTES: usize = 32;

/// Parses the lines of one file in order. Each result is independent of the others; repeated values are only sanitized once.
pub(super) struct ClaudeLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    repeated: FieldCache,
    /// Commands whose output is still to come.
    runs: PendingRuns,
    /// The file is of an agent that the client started to be quick later.
    is_warm_up: bool,
}

impl LineParser for ClaudeLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let mut runs = std::mem::take(&mut self.runs);
        let parsed = self.read_beside(line, &runs);
        if let ParsedLine::Record(row) = &parsed {
            row.answered.iter().for_each(|id| runs.end(id));
            for item in &row.items {
                if let Item::Evidence(Evidence::Ran(run)) = item {
                    runs.begin(run);
                }
            }
        }
        self.runs = runs;
        parsed
    }

    fn state(&self) -> ParserState {
        ParserState { runs: self.runs.clone(), own: if self.is_warm_up { WARM_UP.to_owned() } else { String::new() } }
    }
}

impl<'p> ClaudeLines<'p> {
    fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        let is_warm_up = state.own == WARM_UP;
        Self { place, sanitizer, repeated: FieldCache::default(), runs: state.runs.clone(), is_warm_up }
    }

    fn read_beside(&mut self, line: &[u8], runs: &PendingRuns) -> ParsedLine {
        // A line with a private tag may be the torn start of another one: it is parsed, and reported if it is malformed.
        if is_bookkeeping(line) && !text_of_line(line).1.tells(opens_private) {
            return ParsedLine::Empty;
        }
        let (line, text) = text_of_line(line);
        let Ok(mut fields) = LineFields::of(&text, self.sanitizer) else {
            return malformed(&text);
        };
        fields.runs = Some(runs);
        let stated = fields.text(Field::Type).unwrap_or_default();
        let kind = stated.known(&KINDS);
        let agent = agent_of(&fields, self.place);
        match self.said(&fields, kind, &stated, agent.is_some()) {
            Ok(said) if said.items.is_empty() && agent.is_none() => self.named(line, &fields, kind, said),
            Ok(said) => self.row(line, &fields, kind, agent, said),
            Err(ParsedLine::Empty) if agent.is_none() => self.link(&fields),
            Err(no_row) => no_row,
        }
    }

    /// The items of a record of this known type, or the result for a line that has none.
    #[inline]
    fn said(
        &self,
        fields: &LineFields<'_>,
        kind: &'static str,
        stated: &RawText<'_>,
        agent: bool,
    ) -> Result<UserContent, ParsedLine> {
        let items = match kind {
            "user" => return Ok(user::row(fields, agent)),
            "attachment" => return Ok(user::parse_attachment(fields, agent)),
            "assistant" => assistant(fields),
            "system" => system(fields),
            "tool" | "tool_use" | "tool_result" => tools::parse_old_line(fields, kind),
            // Written for subagents without a file of their own: their words come back as a tool's result, their token usage only
            // stands here.
            "progress" => Vec::new(),
            "summary" | "ai-title" | "custom-title" => title(fields, kind, self.place).into_iter().collect(),
            "pr-link" => pull_request(fields).into_iter().collect(),
            "queue-operation" => return user::queue_operation(fields).ok_or_else(|| session_start(fields, self.place)),
            "file-history-snapshot" => return Err(session_start(fields, self.place)),
            "cost-state" => return Err(costs::stated_cost(fields, self.place)),
            _ if stated.is_one_of(&BOOKKEEPING) => return Err(ParsedLine::Empty),
            _ if stated.is_empty() => return Err(ParsedLine::Unknown(NO_TYPE.into())),
            _ => return Err(ParsedLine::Unknown(self.sanitizer.clean(stated).chars().take(60).collect())),
        };
        Ok(UserContent { items, ..UserContent::default() })
    }

    /// A record without items of its own, which may still tell who named the session.
    fn named(&mut self, line: &[u8], fields: &LineFields<'_>, kind: &str, mut said: UserContent) -> ParsedLine {
        let (sign, title) = naming::title_event(fields, kind).unzip();
        said.items.extend(title.flatten());
        said.sign = sign;
        self.row(line, fields, kind, None, said)
    }

    /// Builds a record from its items and from what it says about other records.
    #[inline]
    fn row(
        &mut self,
        line: &[u8],
        fields: &LineFields<'_>,
        kind: &str,
        agent: Option<String>,
        mut said: UserContent,
    ) -> ParsedLine {
        // What it costs is counted, but nobody asked for it, and when it ran the session did nothing.
        self.is_warm_up |= kind == "user" && self.place.agent.is_some() && says_warm_up(fields);
        let is_warm_up = self.is_warm_up || kind == "assistant" && self.greets(fields, &said);
        if is_warm_up || agent.as_deref().is_some_and(is_compaction_agent) {
            said.items.clear();
        }
        let session = fields.id(Field::SessionId).unwrap_or_else(|| self.place.session.clone());
        let key = match fields.text(Field::Uuid) {
            Some(uuid) => uuid.key(&session),
            None => RecordKey::from_line(&session, line),
        };
        let model = &mut self.repeated.model;
        let usage = match kind {
            "assistant" => fields.message.as_ref().and_then(|message| usage(message, key, model, self.sanitizer)),
            "progress" => match fields.progress_message().and_then(|message| usage(&message, key, model, self.sanitizer)) {
                Some(usage) => Some(usage),
                None if agent.is_none() => return self.link(fields),
                None => return ParsedLine::Empty,
            },
            _ => None,
        };
        let prompt = fields.id(Field::PromptId);
        // A record also counts for what it says about later ones: a subagent's first record names the prompt it works for.
        let tells = said.turn != Turn::Continues
            || said.sign.is_some()
            || !said.fenced.is_empty()
            || !said.answered.is_empty()
            || agent.is_some() && prompt.is_some();
        if said.items.is_empty() && usage.is_none() && !tells {
            return if agent.is_none() { self.link(fields) } else { ParsedLine::Empty };
        }
        let sanitizer = self.sanitizer;
        let parent = parent_of(fields, &session);
        let (parts, items) = numbered(said.items);
        let FieldCache { cwd, branch, version, .. } = &mut self.repeated;
        let row = Record {
            key,
            session,
            agent,
            at: fields.raw(Field::Timestamp).and_then(timestamp).filter(|_| !is_warm_up),
            cwd: cwd.kept(fields.raw(Field::Cwd), |cwd| (!cwd.is_empty()).then(|| sanitizer.redact(cwd))),
            branch: branch.kept(fields.raw(Field::GitBranch), |b| sanitizer.name(b).filter(|b| b != "HEAD")),
            version: version.kept(fields.raw(Field::Version), |v| sanitizer.name(v)),
            turn: said.turn,
            sign: said.sign,
            parent,
            prompt,
            fenced: said.fenced,
            answered: said.answered,
            parts,
            items,
            usage,
        };
        ParsedLine::Record(Box::new(row.with_places()))
    }

    /// Some clients of 2.0 wrote only the reply of an agent that they had started to be quick later. Words without a task before them, and
    /// without a tool, answer nobody.
    fn greets(&self, fields: &LineFields<'_>, said: &UserContent) -> bool {
        let is_first = || fields.raw(Field::ParentUuid).is_some_and(|parent| parent.is("null"));
        self.place.agent.is_some()
            && is_first()
            && !said.items.is_empty()
            && said.items.iter().all(|item| matches!(item, Item::Reply(_)))
    }

    /// The link of a record without content, which keeps the chain of parents intact.
    fn link(&self, fields: &LineFields<'_>) -> ParsedLine {
        let session = fields.id(Field::SessionId).unwrap_or_else(|| self.place.session.clone());
        let key = fields.text(Field::Uuid).map(|uuid| uuid.key(&session));
        key.map_or(ParsedLine::Empty, |key| ParsedLine::Link(ParentLink { key, parent: parent_of(fields, &session) }))
    }
}

/// What clients of 2.0 said to agents that they started with a session, so that later ones find their caches warm.
const WARM_UP: &str = "Warmup";

fn says_warm_up(fields: &LineFields<'_>) -> bool {
    let content = fields.message.as_ref().and_then(|message| message.content.as_ref());
    content.is_some_and(|content| matches!(&content.texts()[..], [text] if text.is(WARM_UP)))
}

/// The parent of a record. A compaction boundary starts a new chain and names its predecessor in a field of its own.
fn parent_of(fields: &LineFields<'_>, session: &str) -> Option<RecordKey> {
    let parent = fields.text(Field::ParentUuid).or_else(|| fields.text(Field::LogicalParentUuid))?;
    Some(parent.key(session))
}

/// Older clients write subagent lines into the session's own file, marked as a side chain and without an id.
fn agent_of(fields: &LineFields<'_>, place: &TranscriptIdentity) -> Option<String> {
    let inline = || fields.flag(Field::IsSidechain).then(|| "inline".to_owned());
    place.agent.clone().or_else(|| fields.id(Field::AgentId)).or_else(inline)
}

fn session_start(fields: &LineFields<'_>, place: &TranscriptIdentity) -> ParsedLine {
    let in_snapshot = || json::fields(fields.raw(Field::Snapshot)?, &["timestamp"]).ok()?[0];
    let at = fields.raw(Field::Timestamp).or_else(in_snapshot).and_then(timestamp);
    let session = fields.id(Field::SessionId).unwrap_or_else(|| place.session.clone());
    at.map_or(ParsedLine::Empty, |at| ParsedLine::SessionStart { session, at })
}

fn assistant(fields: &LineFields<'_>) -> Vec<Item> {
    let Some(message) = &fields.message else {
        return match fields.raw(Field::Message).or_else(|| fields.raw(Field::Content)) {
            Some(object) if json::is_object(object) => items_in_content(object, fields).unwrap_or_default(),
            other => other.and_then(json::text).and_then(|t| reply(t, fields.sanitizer)).into_iter().collect(),
        };
    };
    model_items(message.content.as_ref(), message.model, fields)
}

/// The oldest layout holds the message in the line's `content`.
fn items_in_content(object: Raw<'_>, fields: &LineFields<'_>) -> Option<Vec<Item>> {
    let [content, model] = json::fields(object, &["content", "model"]).ok()?;
    Some(model_items(content.map(RawContent::of).as_ref(), model, fields))
}

fn model_items(content: Option<&RawContent<'_>>, model: Option<Raw<'_>>, fields: &LineFields<'_>) -> Vec<Item> {
    if fields.flag(Field::IsApiErrorMessage) {
        let words = content.map(|content| RawText::joined_or_only(content.texts(), " ")).unwrap_or_default();
        let words = shorten(&one_line(&fields.sanitizer.clean(words)), MAX_API_ERROR_CHARS);
        return vec![Item::Evidence(Evidence::ApiError(words))];
    }
    // The client's own notices ("API Error", "No response requested") are not the model's words.
    let synthetic = model.is_some_and(|m| m.is("\"<synthetic>\""));
    // Nor is text that an extension or the user wrote in its place. `other` stands for the model of another process.
    let synthetic = synthetic || fields.text(Field::MadeBy).is_some_and(|by| !by.is_one_of(&["model", "other"]));
    let Some(content) = content.filter(|_| !synthetic) else { return Vec::new() };
    if let Some(text) = json::text(content.raw) {
        return reply(text, fields.sanitizer).into_iter().collect();
    }
    content.blocks.iter().flat_map(|block| assistant_block(block, fields.sanitizer)).collect()
}

fn assistant_block(block: &RawBlock<'_>, sanitizer: &Sanitizer) -> Vec<Item> {
    match block.kind.as_ref().map(|kind| kind.known(&["text", "tool_use"])) {
        Some("text") => block.text.and_then(json::text).and_then(|t| reply(t, sanitizer)).into_iter().collect(),
        Some("tool_use") => {
            let name = block.name.and_then(json::text).unwrap_or_default();
            let id = json::id(block.id, sanitizer).unwrap_or_default();
            tools::items_of_use(&id, &name, block.input, sanitizer)
        }
        _ => Vec::new(),
    }
}

fn system(fields: &LineFields<'_>) -> Vec<Item> {
    let away = fields.text(Field::Subtype).is_some_and(|s| s.is("away_summary"));
    let Some(content) = fields.text(Field::Content).filter(|_| away) else { return Vec::new() };
    // The client appends a hint about its own settings.
    let content =
        content.part(|content| Some(content.trim_end().trim_end_matches("(disable recaps in /config)"))).unwrap_or_default();
    let text = fields.sanitizer.clean(content);
    if text.is_empty() { Vec::new() } else { vec![Item::Away(text)] }
}

fn pull_request(fields: &LineFields<'_>) -> Option<Item> {
    fields.text(Field::PrUrl).map(|url| Item::PullRequest(shorten(&one_line(&fields.sanitizer.clean(&url)), 300)))
}

fn title(fields: &LineFields<'_>, kind: &str, place: &TranscriptIdentity) -> Option<Item> {
    let (field, by) = match kind {
        "ai-title" => (Field::AiTitle, TitleBy::Client),
        "custom-title" => (Field::CustomTitle, TitleBy::User),
        _ => (Field::Summary, TitleBy::Summary),
    };
    let text = one_line(&fields.sanitizer.clean(&fields.text(field)?));
    let leaf = fields.text(Field::LeafUuid).filter(|_| by == TitleBy::Summary).map(|u| u.key(&place.session));
    (!text.is_empty()).then(|| Item::Title(Title { text: shorten(&text, MAX_TITLE_CHARS), by, leaf }))
}

/// Token usage of the message that a line belongs to. Lines of one message share its id; one without an id counts alone.
fn usage(message: &RawMessage<'_>, key: RecordKey, model: &mut CachedField, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let model = model.kept(message.model, |model| (!model.is("<synthetic>")).then(|| sanitizer.redact(model)))?;
    let RawUsage { input, output, written, read, split, speed, geo } = *message.usage.as_ref()?;
    let is = |field: Option<Raw<'_>>, word: &str| field.and_then(json::text).is_some_and(|text| text.is(word));
    let marks = [(FAST_SUFFIX, is(speed, "fast")), (US_SUFFIX, is(geo, "us"))];
    let model = marks.iter().filter(|(_, holds)| *holds).fold(model, |model, (mark, _)| model + mark);
    let hour =
        split.and_then(|s| json::fields(s, &["ephemeral_1h_input_tokens"]).ok()).and_then(|[hour]| json::number(hour)).unwrap_or(0);
    let written = json::number(written).unwrap_or(0);
    let tokens = Tokens {
        input: json::number(input).unwrap_or(0),
        output: json::number(output).unwrap_or(0),
        cache_write: written.saturating_sub(hour),
        cache_write_hour: hour.min(written),
        cache_read: json::number(read).unwrap_or(0),
        ..Tokens::default()
    };
    let message = message.id.and_then(json::text).map_or_else(|| key.to_string(), |id| sanitizer.id(id));
    (tokens.total() > 0).then_some(MessageUsage { message, model, tokens })
}

#[cfg(test)]
mod tests;
