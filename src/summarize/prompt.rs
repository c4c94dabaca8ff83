//! The model's input: our instructions, and the session as fenced data.

use std::ops::Range;

use crate::analyze::condense::{Condensed, condense};
use crate::analyze::overtaken::OfferedStatement;
use crate::model::digest::OpenItem;
use crate::model::section::{SECTIONS, SectionSpec};
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, RecordKey, Session, hash_parts, short_id};

/// The instructions that ship; the user's own file takes their place.
const SHIPPED_INSTRUCTIONS: &str = include_str!("../../prompts/digest.md");
/// What stands in instructions for the fields of the sections.
const SECTIONS_MARK: &str = "{{sections}}";

/// What stands in instructions for how many words an answer has.
const WORDS_MARK: &str = "{{words}}";
/// How many words an answer has, by the most characters of the record: a short session has little to tell.
const WORDS_BY_RECORD: [(usize, &str); 3] = [(2_500, "50 to 120"), (7_000, "120 to 200"), (usize::MAX, "200 to 300")];

/// The limit of the list of open items, in bytes: non-Latin characters take several. The newest items are listed, as many as it holds.
const MAX_OPEN_BYTES: usize = 900;
/// The most characters of an item's words there.
const MAX_ITEM_CHARS: usize = 120;
/// The limit of the list of statements, in bytes, and the most characters of one there. The best are listed, as many as it holds.
const MAX_STATEMENTS_BYTES: usize = 1_200;
const MAX_STATEMENT_CHARS: usize = 200;
/// The same of the list of standing instructions. The newest are listed.
const MAX_INSTRUCTIONS_BYTES: usize = 500;
const MAX_INSTRUCTION_CHARS: usize = 100;

/// The input of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelRequest {
    pub system: String,
    pub stdin: String,
    /// The record behind each number the model may cite.
    pub rows: Vec<RecordKey>,
    /// Ids of the open items the model may close: those that it is shown.
    pub open: Vec<String>,
    /// Ids of the statements of earlier sessions that it may say are overtaken: those that it is shown.
    pub statements: Vec<String>,
    /// Where `stdin` lists both, and standing instructions of earlier sessions.
    pub earlier: Range<usize>,
    /// Bytes that it may still grow by.
    pub room: usize,
}

impl ModelRequest {
    /// Hash of who is asked, by the summarizer's word and the model's name, and of what it is asked about. What earlier sessions left open
    /// and said is no part of that: an answer that is paid for is found again, and a digest stays valid, whatever was digested since.
    pub(crate) fn hash(&self, summarizer: &str, model: &str) -> [u8; 32] {
        let (before, rest) = self.stdin.split_at(self.earlier.start);
        let asked = [before, &rest[self.earlier.len()..]].concat();
        hash_parts(&[summarizer.as_bytes(), model.as_bytes(), self.system.as_bytes(), asked.as_bytes()])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.system.len() + self.stdin.len() + self.room
    }

    /// Lists statements of earlier sessions, the best first and as many as have room, behind the open items.
    pub(crate) fn list_statements(&mut self, statements: &[OfferedStatement], sanitizer: &Sanitizer) {
        let (ids, list) = statement_list(statements, sanitizer);
        self.list(&list);
        self.statements = ids;
    }

    /// Lists standing instructions of earlier sessions in a model's words, the newest first and as many as have room, behind the statements.
    pub(crate) fn list_instructions(&mut self, wordings: &[String], sanitizer: &Sanitizer) {
        let line = |wording: &String| format!("- {}\n", visible_line(&sanitizer.redact(wording), MAX_INSTRUCTION_CHARS));
        let lines = wordings.iter().map(|wording| (wording, line(wording)));
        self.list(&listed("Standing instructions so far (use the same words for the same):\n", lines, MAX_INSTRUCTIONS_BYTES).1);
    }

    fn list(&mut self, list: &str) {
        self.stdin.insert_str(self.earlier.end, list);
        self.earlier.end += list.len();
    }

    /// Counts the room of full lists of statements and instructions, where they are not made yet.
    pub(crate) fn with_room_for_earlier_words(self) -> Self {
        Self { room: MAX_STATEMENTS_BYTES + MAX_INSTRUCTIONS_BYTES, ..self }
    }
}

/// The instructions for a model: the user's own, else those that ship. Where they hold `{{sections}}`, the fields of the sections are
/// written out.
pub fn instructions(own: Option<&str>) -> String {
    let fields: Vec<String> = SECTIONS.iter().map(field).collect();
    own.unwrap_or(SHIPPED_INSTRUCTIONS).replace(SECTIONS_MARK, &fields.join(",\n  "))
}

/// A section's field, as an example of what to answer.
fn field(spec: &SectionSpec) -> String {
    let SectionSpec { key, asked, quoted, .. } = spec;
    let said = if quoted.is_empty() { String::new() } else { format!(r#""said": "{quoted}", "#) };
    if spec.cites { format!(r#""{key}": [{{"text": "{asked}", {said}"rows": [17]}}]"#) } else { format!(r#""{key}": ["{asked}"]"#) }
}

/// Builds the request: a short head, the open items, of which the newest come first, and the condensed session inside a fence that its text
/// cannot contain. What else earlier sessions said is listed by [`ModelRequest::list_statements`] and [`ModelRequest::list_instructions`].
///
/// Stored texts are already redacted. They are redacted again here because that is cheap and rules may have been added since.
pub(crate) fn request(session: &Session, open: &[OpenItem], system: &str, budget: usize, sanitizer: &Sanitizer) -> ModelRequest {
    let Condensed { text, rows, .. } = condense(session, budget);
    let text = sanitizer.redact(&text);
    // The fence is named after a hash of the text, so the text cannot contain it.
    let fence = short_id("record-", &[&text]);
    let mut stdin = sanitizer.redact(head(session));
    let (open, list) = open_list(open, sanitizer);
    let earlier = stdin.len()..stdin.len() + list.len();
    stdin.push_str(&list);
    stdin.push_str(&format!("<{fence}>\n{text}</{fence}>\nThe record ends here. Answer with the JSON object.\n"));
    ModelRequest {
        system: system.replace(WORDS_MARK, words_for(&text)),
        stdin,
        rows,
        open,
        statements: Vec::new(),
        earlier,
        room: 0,
    }
}

/// The ids of the newest open items, as many as have room, and their list.
fn open_list(open: &[OpenItem], sanitizer: &Sanitizer) -> (Vec<String>, String) {
    let line = |item: &OpenItem| format!("{} {}\n", item.id, visible_line(&sanitizer.redact(&item.text), MAX_ITEM_CHARS));
    let lines = open.iter().map(|item| (&item.id, line(item)));
    listed("Open items of earlier sessions:\n", lines, MAX_OPEN_BYTES)
}

/// The same of statements.
fn statement_list(statements: &[OfferedStatement], sanitizer: &Sanitizer) -> (Vec<String>, String) {
    let line = |one: &OfferedStatement| format!("{} {}\n", one.id, visible_line(&sanitizer.redact(&one.text), MAX_STATEMENT_CHARS));
    let lines = statements.iter().map(|one| (&one.id, line(one)));
    listed("Said in earlier sessions:\n", lines, MAX_STATEMENTS_BYTES)
}

/// The ids of the first lines that have room in so many bytes, and these below a heading; nothing where there are none.
fn listed<'i>(heading: &str, lines: impl Iterator<Item = (&'i String, String)>, most: usize) -> (Vec<String>, String) {
    let (mut ids, mut list) = (Vec::new(), String::new());
    for (id, line) in lines {
        if list.len() + line.len() > most {
            break;
        }
        list.push_str(&line);
        ids.push(id.clone());
    }
    if !list.is_empty() {
        list.insert_str(0, heading);
    }
    (ids, list)
}

/// How many words an answer to this record has.
fn words_for(record: &str) -> &'static str {
    let length = record.chars().count();
    WORDS_BY_RECORD.iter().find(|(most, _)| length <= *most).map_or("", |(_, words)| words)
}

/// A text outside the fence, as one line without hidden characters.
fn visible_line(text: &str, most: usize) -> String {
    transcripts::session::said(text, most)
}

fn head(session: &Session) -> String {
    let minute = |at: Option<Millis>| {
        let time = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        time.map_or_else(|| "unknown".into(), |t| t.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let branch = session.branches.last().map_or(String::new(), |b| format!(", branch {}", visible_line(b, 60)));
    let project = visible_line(session.project.name(), 60);
    format!("Project {project}{branch}, {} to {}.\n", minute(session.began_at()), minute(session.last_at()))
}
