//! Dialogs between the assistant and the user: questions, plans, permissions. What the user said there is part of the tool's
//! result, among words of the client.

use super::fields::{Field, LineFields, RawBlock, ToolResult, text_of};
use crate::privacy::raw::RawText;
use crate::privacy::{SanitizedText, Sanitizer};
use crate::session::{Answer, Choice};
use crate::source::Release;
use crate::source::json::{self, Raw};
use crate::source::line::MAX_TEXT_CHARS;
use text::clean::{head_and_tail, one_line, shorten};

/// How the client's text begins when the user refused. An MCP server's tool may print the same: what becomes of that is decided
/// where the tool is known, in [`crate::privacy`].
const REFUSED: [&str; 2] =
    ["The user doesn't want to proceed with this tool use", "The agent proposed a plan that was rejected by the user"];
/// What precedes the user's own words.
const REASON_PREFIXES: [&str; 2] = ["the user said:", "provided the following reason for the rejection:"];
/// What the client appends to them.
const REASON_SUFFIX: &str = "\n\nNote: The user's next message";
const APPROVED: [&str; 2] = ["User has approved", "The user has approved"];

/// The oldest release that states in a tool's result who denied it (`toolDenialKind`); none before wrote the field.
const STATES_DENIALS: Release = Release([2, 1, 210]);

/// Longest stored description of an option, in characters.
const MAX_DESCRIPTION_CHARS: usize = 400;

/// How the client's text begins when the user would rather discuss the questions than answer them, and what precedes the
/// questions.
const ABANDONED_PREFIX: &str = "The user wants to clarify these questions";
const QUESTIONS_PREFIX: &str = "Questions asked:";

/// Value of `toolDenialKind` for a person; rules and modes of the client deny without one.
const BY_PERSON: &str = "user-rejected";

/// The user's refusal of a tool use, with the words given as a reason; empty if there are none.
pub(super) fn refusal<'a>(block: &RawBlock<'a>, fields: &LineFields<'a>) -> Option<RawText<'a>> {
    let result = block.content.filter(|_| block.is_error).map(text_of)?;
    // Newer clients state it in a field that no tool can write.
    let stated = fields.text(Field::ToolDenialKind);
    let states =
        || fields.text(Field::Version).and_then(|version| version.tells(Release::parse)).is_some_and(|r| r >= STATES_DENIALS);
    let refuses = match &stated {
        Some(kind) => kind.is(BY_PERSON),
        None => !states() && fields.raw(Field::McpMeta).is_none() && result.tells(begins_as_refusal),
    };
    let feedback = fields.text(Field::UserFeedback).filter(|_| stated.is_some());
    refuses.then(|| feedback.unwrap_or_else(|| result.part(reason_in).unwrap_or_default().into_owned()))
}

fn begins_as_refusal(result: &str) -> bool {
    REFUSED.iter().any(|start| result.trim_start().starts_with(start))
}

/// Does the result of a plan's tool say that the user agreed?
pub(super) fn approves(result: &str) -> bool {
    APPROVED.iter().any(|start| result.starts_with(start))
}

/// What the user said when refusing: a reason, or the answers given in a dialog before leaving it.
pub(super) fn refusal_answers(reason: &RawText<'_>, sanitizer: &Sanitizer) -> Vec<Answer> {
    let said = sanitizer.clean(reason);
    if let Some(questions) = abandoned_questions(&said) {
        return answers_before_leaving(questions);
    }
    // White space and punctuation alone say nothing.
    if !said.chars().any(char::is_alphanumeric) {
        return Vec::new();
    }
    vec![Answer::unasked(head_and_tail(&said, MAX_TEXT_CHARS))]
}

/// The user's text in a refusal, after the client's words.
fn reason_in(result: &str) -> Option<&str> {
    let after = REASON_PREFIXES.iter().find_map(|mark| result.split_once(mark).map(|(_, after)| after))?;
    after.split(REASON_SUFFIX).next()
}

/// The questions of a dialog that the user left, if that is the reason given.
fn abandoned_questions(reason: &str) -> Option<&str> {
    let is_left = reason.trim_start().starts_with(ABANDONED_PREFIX);
    is_left.then(|| reason.split_once(QUESTIONS_PREFIX).map_or("", |(_, questions)| questions))
}

/// Was everything the user said in dialogs private? Then so is what follows, up to the next prompt.
pub(super) fn all_private(said: &[SanitizedText]) -> bool {
    said.iter().any(|text| text.private) && said.iter().all(|text| !text.private && text.text.is_empty() || text.is_all_private())
}

/// The user's words in each dialog that ends in a record.
pub(super) fn said(blocks: &[RawBlock<'_>], fields: &LineFields<'_>) -> Vec<SanitizedText> {
    let (result, sanitizer) = (&fields.result, fields.sanitizer);
    let results = || blocks.iter().filter(|block| block.is("tool_result"));
    let given = [result.answers, result.response].into_iter().flatten().flat_map(json::strings);
    let notes = result.annotations.and_then(json::fields_by_name).unwrap_or_default().into_values().filter_map(notes_of).map(words);
    let given = given.chain(notes).filter(|_| results().next().is_some());
    let reasons = results().filter_map(|block| refusal(block, fields)).flat_map(|reason| reason.all_made(said_in_reason));
    given.chain(reasons).map(|said| sanitizer.pass(said)).collect()
}

/// The user's words in a reason, each by itself.
fn said_in_reason(reason: &str) -> Vec<String> {
    match abandoned_questions(reason) {
        Some(questions) => answers_before_leaving(questions).into_iter().map(|answer| answer.said).collect(),
        None => vec![reason.to_owned()],
    }
}

/// The part of a question that a line of an abandoned dialog belongs to.
#[derive(Clone, Copy)]
enum DialogPart {
    Question,
    Answer,
    Nothing,
}

/// Parses the answers given before the user left the dialog: `- "question"`, then an answer or none, then notes.
fn answers_before_leaving(questions: &str) -> Vec<Answer> {
    let mut all: Vec<Answer> = Vec::new();
    let mut part = DialogPart::Nothing;
    for line in questions.lines() {
        let (now, text) = match line.trim() {
            bare if bare.starts_with("- \"") => {
                all.push(Answer::default());
                (DialogPart::Question, bare.trim_start_matches("- \""))
            }
            "(No answer provided)" => (DialogPart::Nothing, ""),
            bare => match bare.strip_prefix("Answer:").or_else(|| bare.strip_prefix("User notes:")) {
                Some(said) => (DialogPart::Answer, said.trim()),
                None => (part, bare),
            },
        };
        part = now;
        let Some(answer) = all.last_mut().filter(|_| !text.is_empty()) else { continue };
        match part {
            DialogPart::Question => add(&mut answer.asked, " ", text.trim_end_matches('"')),
            DialogPart::Answer => add(&mut answer.said, "; ", text),
            DialogPart::Nothing => {}
        }
    }
    all.retain(|answer| !answer.said.is_empty());
    all
}

fn add(to: &mut String, between: &str, text: &str) {
    if !to.is_empty() {
        to.push_str(between);
    }
    to.push_str(text);
}

/// Questions that the assistant asked the user, each with its answer.
pub(super) fn answers(result: &ToolResult<'_>, sanitizer: &Sanitizer) -> Vec<Answer> {
    let Some(mut given) = result.answers.and_then(json::fields_by_name) else { return Vec::new() };
    let mut notes = result.annotations.and_then(json::fields_by_name).unwrap_or_default();
    let asked = result.questions.map(json::elements).unwrap_or_default().into_iter().filter_map(question);
    let mut asked: Vec<RawText<'_>> = asked.collect();
    // In case the client keys an answer by something other than its question.
    asked.extend(given.keys().filter(|key| !asked.contains(key)).cloned().collect::<Vec<_>>());
    let all = asked.iter().filter_map(|asked| {
        let said = [given.remove(asked), notes.remove(asked).and_then(notes_of)]
            .into_iter()
            .flatten()
            .map(words)
            .filter(|words| !words.is_empty());
        answer(asked, &RawText::joined(&said.collect::<Vec<_>>(), "; "), sanitizer)
    });
    let mut all: Vec<Answer> = all.collect();
    all.extend(result.response.and_then(|response| answer(&RawText::joined(&asked, " / "), &words(response), sanitizer)));
    all
}

/// The options that the user chose of those that the assistant had described.
pub(super) fn choices(result: &ToolResult<'_>, sanitizer: &Sanitizer) -> Vec<Choice> {
    let Some(given) = result.answers.and_then(json::fields_by_name) else { return Vec::new() };
    let described = |raw: Raw<'_>| {
        let [asked, options] = json::fields(raw, &["question", "options"]).ok()?;
        let asked = json::text(asked?)?;
        let chosen = words(*given.get(&asked)?);
        let option = json::elements(options?).into_iter().find_map(|option| {
            let [label, description] = json::fields(option, &["label", "description"]).ok()?;
            json::text(description.filter(|_| label.and_then(json::text).is_some_and(|label| label == chosen))?)
        })?;
        let line = |text: &RawText<'_>| one_line(&sanitizer.clean(text));
        let choice =
            Choice { asked: line(&asked), chosen: line(&chosen), description: shorten(&line(&option), MAX_DESCRIPTION_CHARS) };
        (!choice.chosen.is_empty() && !choice.description.is_empty()).then_some(choice)
    };
    result.questions.map(json::elements).unwrap_or_default().into_iter().filter_map(described).collect()
}

/// `None` if the user said nothing, or nothing that may be stored.
fn answer(asked: &RawText<'_>, said: &RawText<'_>, sanitizer: &Sanitizer) -> Option<Answer> {
    let said = one_line(&sanitizer.clean(said));
    let answer = Answer { said: head_and_tail(&said, MAX_TEXT_CHARS), asked: one_line(&sanitizer.clean(asked)) };
    (!answer.said.is_empty()).then_some(answer)
}

fn question(question: Raw<'_>) -> Option<RawText<'static>> {
    let [asked] = json::fields(question, &["question"]).ok()?;
    json::text(asked?).map(|asked| asked.into_owned())
}

/// The user's notes beside an answer. The client puts other fields there too.
fn notes_of(annotation: Raw<'_>) -> Option<Raw<'_>> {
    json::fields(annotation, &["notes"]).ok()?[0]
}

/// The text of an answer; several chosen options are joined.
fn words(value: Raw<'_>) -> RawText<'_> {
    match json::text(value) {
        Some(text) => text,
        None if json::is_object(value) => text_of(value),
        None => RawText::joined(&json::strings(value), ", "),
    }
}
