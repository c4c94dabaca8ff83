//! A session of claude-mem as one of ours. Pure.
//!
//! What it says is a claim of its model's about the session, so it becomes a digest, by the name of that tool. The rows behind a statement are
//! rows of its database.

use crate::analyze::prose::sentences_of_line;
use crate::app::claude_mem::place::Place;
use crate::inputs::claude_mem::{ClaudeMemObservation, ClaudeMemSession, ClaudeMemSummary};
use crate::model::digest::{CLAUDE_MEM, Claim, Digest, UNTITLED};
use crate::model::section::{MAX_STATEMENT_CHARS, MAX_STATEMENTS, MAX_TITLE_CHARS, Section};
use crate::store::transfer::{Exported, ExportedDigest, ExportedRow, ExportedSource};
use text::clean::{one_line, shorten};
use transcripts::privacy::Sanitizer;
use transcripts::session::{Item, Millis, RecordKey, hash_parts, hex, short_id};

/// Sentences of a paragraph stand together in a statement up to so many characters: as many as a session's start shows.
const MAX_TOGETHER_CHARS: usize = 240;
/// The longest id that is taken as it is.
const MAX_ID_BYTES: usize = 128;
/// With what a model begins who has nothing to say.
const NOTHING: [&str; 8] =
    ["none", "n/a", "nothing", "not applicable", "no next steps", "no further", "no additional", "no remaining"];

/// The session, as an import takes it; `None` if nothing was said in it that may be kept, or nobody knows when.
pub(super) fn exported(told: &ClaudeMemSession, place: &Place, sanitizer: &Sanitizer) -> Option<Exported> {
    let id = session_id(&told.id);
    let last = told.times().max()?;
    let mut rows = Vec::new();
    for (offset, prompt) in (0..).zip(&told.prompts) {
        let key = RecordKey::from_line(&id, format!("claude-mem prompt {} {}", prompt.number, prompt.text).as_bytes());
        let (at, item) = (prompt.at.or(told.started_at), Item::Prompt(prompt.text.clone()));
        rows.push(ExportedRow { offset, part: 0, key, at, item, undone: false });
    }
    let first_asked = rows.first().and_then(|row| row.at);
    let source = ExportedSource {
        file: CLAUDE_MEM.to_owned(),
        agent: String::new(),
        first_at: told.times().min(),
        last_at: Some(last),
        cwd: place.cwd.as_deref().map(|cwd| sanitizer.redact(cwd)),
        branches: Vec::new(),
        // In the place of the client: nobody else knows of these rows.
        versions: vec![CLAUDE_MEM.to_owned()],
        evident: false,
        placed: true,
        rows,
    };
    let mut session = Exported {
        session: id,
        project: sanitizer.redact(&place.key),
        started_at: first_asked.or_else(|| told.times().min()),
        grew_at: last,
        ended_at: told.ended_at,
        end_reason: None,
        client: Default::default(),
        sources: vec![source],
        folders: Vec::new(),
        usage: Vec::new(),
        titles: Vec::new(),
        asked: Vec::new(),
        dirty: false,
        digest: None,
        closed_by_user: Vec::new(),
        closers: Default::default(),
        wrong: Vec::new(),
        told: None,
        origin: None,
    };
    session.digest = digest(told, &session.session, place, sanitizer).map(|body| ExportedDigest {
        summarizer: CLAUDE_MEM.to_owned(),
        model: told.model.as_deref().and_then(|model| sanitizer.name(one_line(model))),
        input_hash: input_hash(&body),
        made_at: last,
        cost_usd: None,
        queued: false,
        interim_until: None,
        closed: Vec::new(),
        body,
    });
    session.pass(sanitizer);
    let is_told = session.digest.is_some() || session.sources.iter().any(|source| !source.rows.is_empty());
    is_told.then_some(session)
}

/// The client's id; one of another form, which claude-mem makes from the names of projects, as a hash.
fn session_id(id: &str) -> String {
    let is_plain = id.len() <= MAX_ID_BYTES && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    if is_plain && !id.is_empty() && !id.starts_with('.') { id.to_owned() } else { short_id("claude-mem-", &[id]) }
}

/// Of what the digest says, as nobody knows what its model was given.
fn input_hash(body: &Digest) -> String {
    let text = serde_json::to_string(body).unwrap_or_default();
    hex(&hash_parts(&[CLAUDE_MEM.as_bytes(), text.as_bytes()]))
}

/// What claude-mem said of a session; `None` if that is nothing.
fn digest(told: &ClaudeMemSession, id: &str, place: &Place, sanitizer: &Sanitizer) -> Option<Digest> {
    let writer = DigestWriter { id, root: &place.key, sanitizer };
    let mut digest = Digest::default();
    for section in [Section::Investigated, Section::Learned, Section::Completed, Section::Decisions] {
        digest[section] = writer.section(section, told);
    }
    if let Some(last) = told.summaries.iter().rfind(|summary| summary.next_steps.is_some()) {
        digest[Section::NextSteps] = writer.next_steps(last);
    }
    digest[Section::Files] = writer.files(told);
    digest.statements().next()?;
    let requests: Vec<String> = told.summaries.iter().filter_map(|summary| writer.line(summary.request.as_deref())).collect();
    digest.request = joined(&requests);
    let first_prompt = || told.prompts.first().and_then(|prompt| writer.line(Some(&prompt.text)));
    let first_title = || told.observations.iter().find_map(|one| writer.line(one.title.as_deref()));
    let title = writer.line(told.title.as_deref()).or_else(|| requests.first().cloned()).or_else(first_prompt).or_else(first_title);
    digest.title = title.map_or_else(|| UNTITLED.to_owned(), |title| shorten(&title, MAX_TITLE_CHARS));
    Some(digest)
}

/// As many different requests as there is room for.
fn joined(requests: &[String]) -> String {
    let mut all = String::new();
    let mut seen: Vec<&String> = Vec::new();
    for request in requests {
        let is_new =
            !seen.contains(&request) && (all.is_empty() || all.chars().count() + request.chars().count() < MAX_STATEMENT_CHARS);
        if is_new {
            all.push_str(if all.is_empty() { "" } else { "; " });
            all.push_str(request);
            seen.push(request);
        }
    }
    shorten(&all, MAX_STATEMENT_CHARS)
}

/// A statement, and when it was made.
type Dated = (Option<Millis>, Claim);

struct DigestWriter<'w> {
    id: &'w str,
    root: &'w str,
    sanitizer: &'w Sanitizer,
}

impl DigestWriter<'_> {
    /// The statements of a section. Summaries go before observations where there is no room for all, and later ones before earlier ones: they
    /// say where the session ended.
    fn section(&self, section: Section, told: &ClaudeMemSession) -> Vec<Claim> {
        let of_summary = |summary| self.of_summary(section, summary);
        let mut all: Vec<Dated> = distinct(told.summaries.iter().flat_map(of_summary).collect());
        all.drain(..all.len().saturating_sub(MAX_STATEMENTS));
        let of_section = told.observations.iter().filter(|one| section_of(&one.kind) == section);
        let mut observed = distinct(of_section.filter_map(|one| self.of_observation(one)).collect());
        observed.drain(..observed.len().saturating_sub(MAX_STATEMENTS - all.len()));
        all.extend(observed);
        all.sort_by_key(|(at, _)| *at);
        distinct(all).into_iter().map(|(_, claim)| claim).collect()
    }

    fn of_summary(&self, section: Section, summary: &ClaudeMemSummary) -> Vec<Dated> {
        let fields: &[&Option<String>] = match section {
            Section::Investigated => &[&summary.investigated],
            Section::Learned => &[&summary.learned, &summary.notes],
            Section::Completed => &[&summary.completed],
            _ => &[],
        };
        let texts = fields.iter().filter_map(|text| text.as_deref());
        let statements = texts.flat_map(|text| together(self.sentences(text)));
        statements
            .filter(|text| !says_nothing(text))
            .map(|text| (summary.at, self.claim("session_summaries", summary.row, text)))
            .collect()
    }

    fn of_observation(&self, one: &ClaudeMemObservation) -> Option<Dated> {
        let title = self.line(one.title.as_deref());
        let subtitle = || self.line(one.subtitle.as_deref());
        let narrative = || one.narrative.as_deref().and_then(|text| self.sentences(text).into_iter().next());
        let text = match title {
            Some(title) => match narrative().or_else(subtitle).filter(|more| *more != title) {
                Some(more) => format!("{}: {more}", title.trim_end_matches(['.', ':'])),
                None => title,
            },
            None => {
                one.narrative.as_deref().and_then(|text| together(self.sentences(text)).into_iter().next()).or_else(subtitle)?
            }
        };
        Some((one.at, self.claim("observations", one.row, text)))
    }

    /// What was left to do at the end, each step for itself: each can be closed.
    fn next_steps(&self, last: &ClaudeMemSummary) -> Vec<Claim> {
        let steps = last.next_steps.as_deref().map(|text| self.sentences(text)).unwrap_or_default();
        let steps = steps.into_iter().filter(|text| !says_nothing(text)).take(MAX_STATEMENTS);
        steps.map(|text| self.claim("session_summaries", last.row, text)).collect()
    }

    /// The files that were changed, relative to the project.
    fn files(&self, told: &ClaudeMemSession) -> Vec<Claim> {
        let summaries =
            told.summaries.iter().flat_map(|one| one.files_edited.iter().map(move |file| ("session_summaries", one.row, file)));
        let observations =
            told.observations.iter().flat_map(|one| one.files_modified.iter().map(move |file| ("observations", one.row, file)));
        let mut all: Vec<Claim> = Vec::new();
        for (table, row, file) in summaries.chain(observations) {
            let inside = file.strip_prefix(self.root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(file);
            let claim = self.line(Some(inside)).map(|text| self.claim(table, row, text));
            all.extend(claim.filter(|claim| all.iter().all(|known| known.text != claim.text)));
        }
        all.drain(..all.len().saturating_sub(MAX_STATEMENTS));
        all
    }

    fn claim(&self, table: &str, row: i64, text: String) -> Claim {
        let key = RecordKey::from_line(self.id, format!("claude-mem {table} {row}").as_bytes());
        Claim::supported(shorten(&text, MAX_STATEMENT_CHARS), vec![key])
    }

    /// A sanitized text in one line.
    fn line(&self, text: Option<&str>) -> Option<String> {
        let line = one_line(&self.sanitizer.clean(text?));
        (!line.is_empty()).then(|| shorten(&line, MAX_STATEMENT_CHARS))
    }

    /// The sentences of a sanitized text.
    fn sentences(&self, text: &str) -> Vec<String> {
        let clean = self.sanitizer.clean(text);
        clean.lines().flat_map(sentences_of_line).map(|sentence| one_line(&sentence)).filter(|one| !one.is_empty()).collect()
    }
}

/// Where an observation belongs.
fn section_of(kind: &str) -> Section {
    match kind {
        "decision" => Section::Decisions,
        "bugfix" | "feature" | "refactor" | "change" => Section::Completed,
        _ => Section::Learned,
    }
}

/// Short sentences that follow each other, as one statement.
fn together(sentences: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sentence in sentences {
        match all.last_mut() {
            Some(last) if last.chars().count() + sentence.chars().count() < MAX_TOGETHER_CHARS => {
                last.push(' ');
                last.push_str(&sentence);
            }
            _ => all.push(sentence),
        }
    }
    all
}

fn says_nothing(text: &str) -> bool {
    let lower = text.to_lowercase();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    NOTHING.iter().any(|words| lower.strip_prefix(words).is_some_and(ends))
}

/// Each text once, where it was said last.
fn distinct(all: Vec<Dated>) -> Vec<Dated> {
    let mut kept: Vec<Dated> = Vec::new();
    for one in all.into_iter().rev() {
        if kept.iter().all(|(_, claim)| claim.text != one.1.text) {
            kept.push(one);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::of_key("/home/dev/src/shop")
    }

    fn summary(row: i64, completed: &str, next_steps: &str) -> ClaudeMemSummary {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        ClaudeMemSummary {
            row,
            completed: some(completed),
            next_steps: some(next_steps),
            at: Some(row),
            ..ClaudeMemSummary::default()
        }
    }

    fn observation(row: i64, kind: &str, title: &str) -> ClaudeMemObservation {
        ClaudeMemObservation { row, kind: kind.into(), title: Some(title.into()), at: Some(row), ..ClaudeMemObservation::default() }
    }

    fn texts(told: &ClaudeMemSession, section: Section) -> Vec<String> {
        let digest = digest(told, "s", &place(), &Sanitizer::shipped()).unwrap_or_default();
        digest[section].iter().map(|claim| claim.text.clone()).collect()
    }

    #[test]
    fn summaries_go_before_observations_and_the_last_ones_before_the_first() {
        let told = ClaudeMemSession {
            summaries: (0..20).map(|n| summary(2 * n, &format!("Step {n} is done."), "")).collect(),
            observations: (0..20).map(|n| observation(2 * n + 1, "feature", &format!("Part {n}"))).collect(),
            ..ClaudeMemSession::default()
        };
        let all = texts(&told, Section::Completed);
        assert_eq!(all.len(), MAX_STATEMENTS);
        assert_eq!((all[0].as_str(), all[22].as_str(), all[23].as_str()), ("Step 0 is done.", "Step 19 is done.", "Part 19"));
        assert_eq!(all.iter().filter(|text| text.starts_with("Part")).count(), 4);
    }

    #[test]
    fn only_the_last_steps_are_open_and_nothing_is_no_step() {
        let with = |steps: &str| ClaudeMemSession {
            summaries: vec![summary(1, "Done.", "Old step"), summary(2, "", steps)],
            ..ClaudeMemSession::default()
        };
        assert_eq!(texts(&with("Write the docs. Tag it."), Section::NextSteps), ["Write the docs.", "Tag it."]);
        assert_eq!(texts(&with("1. Write the docs\n2. Tag it"), Section::NextSteps), ["Write the docs", "Tag it"]);
        for nothing in ["None", "None - work is complete.", "N/A", "No further steps.", "Nothing"] {
            assert_eq!(texts(&with(nothing), Section::NextSteps), [""; 0], "{nothing}");
        }
        assert_eq!(texts(&with("Nonetheless, tag it"), Section::NextSteps), ["Nonetheless, tag it"]);
    }

    #[test]
    fn a_kind_of_observation_decides_its_section() {
        for (kind, section) in [
            ("decision", Section::Decisions),
            ("bugfix", Section::Completed),
            ("change", Section::Completed),
            ("discovery", Section::Learned),
            ("security_note", Section::Learned),
            ("", Section::Learned),
        ] {
            let told = ClaudeMemSession { observations: vec![observation(1, kind, "It is so")], ..ClaudeMemSession::default() };
            assert_eq!(texts(&told, section), ["It is so"], "{kind}");
        }
    }

    #[test]
    fn an_id_that_is_no_plain_word_becomes_one() {
        assert_eq!(session_id("64b0b6d9-e371-40e8-affe-78e0505dfb3f"), "64b0b6d9-e371-40e8-affe-78e0505dfb3f");
        for id in ["manual-content-my shop-claude", "../../etc", "a/b", "", &"x".repeat(500)] {
            assert!(session_id(id).starts_with("claude-mem-"), "{id}");
        }
    }

    #[test]
    fn a_session_of_which_nothing_was_said_is_none() {
        let at = ClaudeMemSession { id: "s".into(), started_at: Some(1), ..ClaudeMemSession::default() };
        assert!(exported(&at, &place(), &Sanitizer::shipped()).is_none());
        let prompt = crate::inputs::claude_mem::ClaudeMemPrompt { number: 1, text: "<private>all</private>".into(), at: Some(1) };
        assert!(exported(&ClaudeMemSession { prompts: vec![prompt], ..at }, &place(), &Sanitizer::shipped()).is_none());
    }
}
