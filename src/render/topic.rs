//! Fits sources into a token budget. Pure.

use crate::model::section::Section;
use crate::render::quoted::quote;
use serde::Serialize;
use text::budget::{max_bytes, tokens};
use text::clean::id8;
use text::clean::one_line;
use text::clean::shorten_title;
use text::clean::without_controls;
use transcripts::client::Client;
use transcripts::session::Millis;
use transcripts::session::said;

/// A session or note on the topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TopicSource {
    /// The session's id, or the note's.
    pub(crate) id: String,
    /// `session` or `note`.
    pub(crate) origin: &'static str,
    /// The author, if it is a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// Whose session it is; not said of Claude Code's.
    #[serde(rename = "agent", skip_serializing_if = "Client::is_usual")]
    pub(crate) client: Client,
    /// The project's key: its root folder.
    pub(crate) project: String,
    /// The project's name, if it is not the asker's own.
    #[serde(skip)]
    pub(crate) elsewhere: Option<String>,
    pub(crate) title: String,
    /// When it was last active, in milliseconds since the Unix epoch.
    pub(crate) at: Option<Millis>,
    /// `at` as a local date.
    pub(crate) when: String,
    /// The session was still running when it was digested.
    pub(crate) goes_on: bool,
    pub(crate) score: f64,
    /// The share of the query's words, by weight, that the whole source holds: 0 to 1.
    pub(crate) covered: f64,
    /// The share that its title and best passages hold.
    pub(crate) focus: f64,
    /// The weight of what these hold, in units of one word that occurs in a single document.
    pub(crate) telling: f64,
    /// What was closed since of what its passages still say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) since_then: Vec<String>,
    pub(crate) passages: Vec<SourcePassage>,
}

/// A text of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SourcePassage {
    /// What it is, or who said it: `prompt`, `answer`, `reply`, `end` (how the last reply began), `commit`, `decision`, `next` …
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// A source that did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OmittedSource {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) when: String,
}

/// What is known about a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Topic {
    pub(crate) sources: Vec<TopicSource>,
    /// Sources of which no passage fits.
    pub(crate) left_out: Vec<OmittedSource>,
    /// Passages of the shown sources that did not fit.
    pub(crate) passages_left_out: usize,
    /// Estimated tokens of the text, as counted by `context::tokens`.
    pub(crate) tokens: usize,
    pub(crate) max_tokens: usize,
    #[serde(skip)]
    text: String,
}

impl Topic {
    /// The text, never more than `max_tokens`; empty if nothing is known or nothing fits.
    pub(crate) fn render(&self) -> &str {
        &self.text
    }
}

/// The longest id shown in full, in characters: ids of notes are this short, session ids are cut.
const MAX_FULL_ID_CHARS: usize = 12;

/// An id as people see and type it.
pub(crate) fn shown_id(id: &str) -> String {
    if id.chars().count() <= MAX_FULL_ID_CHARS { one_line(&without_controls(id)) } else { id8(id) }
}

/// The most characters of each text.
const TITLE: usize = 110;
const MAX_PROJECT_CHARS: usize = 40;
const MAX_STATEMENT_CHARS: usize = 300;
/// How many positions in the source list each further passage of a source is moved back.
const PASSAGE_PENALTY: f64 = 1.4;
/// How many left-out sources are named, and the bytes reserved for that.
const MAX_NAMED: usize = 3;
const NAMES_RESERVE_BYTES: usize = 160;

/// Fits as many passages as possible; good sources first, and first passages before further ones.
pub(crate) fn fit(sources: Vec<TopicSource>, max_tokens: usize) -> Topic {
    let most = max_bytes(max_tokens);
    let lines: Vec<Vec<String>> = sources.iter().map(|s| s.passages.iter().map(|p| line(s, p)).collect()).collect();
    let whole: usize = sources.iter().zip(&lines).map(|(s, l)| heading(s).len() + l.iter().map(String::len).sum::<usize>()).sum();
    let room = if whole <= most { most } else { most.saturating_sub(NAMES_RESERVE_BYTES.min(most / 4)) };
    let mut chosen: Vec<Vec<bool>> = lines.iter().map(|l| vec![false; l.len()]).collect();
    let mut length = 0;
    for (at, passage) in claim_order(&lines) {
        let begins = !chosen[at].contains(&true);
        let more = lines[at][passage].len() + if begins { heading(&sources[at]).len() } else { 0 };
        if length + more <= room {
            length += more;
            chosen[at][passage] = true;
        }
    }
    write(sources, &lines, &chosen, max_tokens)
}

/// (source, passage) pairs in the order in which they claim room.
fn claim_order(lines: &[Vec<String>]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = lines.iter().enumerate().flat_map(|(at, l)| (0..l.len()).map(move |p| (at, p))).collect();
    all.sort_by(|a, b| {
        let place = |(at, passage): (usize, usize)| at as f64 + PASSAGE_PENALTY * passage as f64;
        place(*a).total_cmp(&place(*b))
    });
    all
}

fn write(sources: Vec<TopicSource>, lines: &[Vec<String>], chosen: &[Vec<bool>], max_tokens: usize) -> Topic {
    let mut topic = Topic { max_tokens, ..Topic::default() };
    for ((mut source, lines), chosen) in sources.into_iter().zip(lines).zip(chosen) {
        if !chosen.contains(&true) {
            topic.left_out.push(OmittedSource {
                title: said(&shorten_title(&source.title, TITLE), TITLE),
                when: source.when.clone(),
                id: source.id,
            });
            continue;
        }
        topic.text += &heading(&source);
        lines.iter().zip(chosen).filter(|(_, chosen)| **chosen).for_each(|(line, _)| topic.text += line);
        topic.passages_left_out += chosen.iter().filter(|chosen| !**chosen).count();
        let mut chosen = chosen.iter();
        source.passages.retain(|_| chosen.next().is_some_and(|chosen| *chosen));
        topic.sources.push(source);
    }
    name_left_out(&mut topic);
    topic.tokens = tokens(&topic.text);
    topic
}

/// Adds a line about what was left out, if there is room.
fn name_left_out(topic: &mut Topic) {
    if topic.left_out.is_empty() || topic.text.is_empty() {
        return;
    }
    let most = max_bytes(topic.max_tokens);
    let named = |count: usize| {
        let names: Vec<String> = topic.left_out[..count]
            .iter()
            .map(|l| format!("{} {}", shown_id(&l.id), said(&shorten_title(&l.title, 60), 60)))
            .collect();
        let more = topic.left_out.len() - count;
        match (names.is_empty(), more) {
            (true, _) => format!("Left out because there was no space: {more} more\n"),
            (false, 0) => format!("Left out because there was no space: {}\n", names.join("; ")),
            (false, _) => format!("Left out because there was no space: {}; and {more} more\n", names.join("; ")),
        }
    };
    let fitting = (0..=topic.left_out.len().min(MAX_NAMED)).rev().map(named).find(|line| topic.text.len() + line.len() <= most);
    topic.text.extend(fitting);
}

fn heading(source: &TopicSource) -> String {
    let so_far = if source.goes_on { "so far, " } else { "" };
    let elsewhere = source.elsewhere.as_ref().map(|name| format!("in {}, ", said(name, MAX_PROJECT_CHARS))).unwrap_or_default();
    let by = author_prefix(source);
    let since_then: String = source.since_then.iter().map(|line| format!("{}\n", said(line, MAX_STATEMENT_CHARS))).collect();
    format!(
        "## {} ({elsewhere}{by}{so_far}{}, {})\n{since_then}",
        said(&shorten_title(&source.title, TITLE), TITLE),
        source.when,
        shown_id(&source.id)
    )
}

fn line(source: &TopicSource, passage: &SourcePassage) -> String {
    let text = with_speaker(source.client, &passage.kind, &passage.text, MAX_STATEMENT_CHARS);
    format!("- {text} [{}, {}]\n", shown_id(&source.id), source.when)
}

/// A passage with who said it or what it is; its text has at most so many characters. Words of a session stand in quotes.
pub(crate) fn with_speaker(client: Client, kind: &str, text: &str, most: usize) -> String {
    let told = match kind {
        "prompt" | "request" | "reply" | "plan" | "recap" | "end" | "cut_off" => quote(text, most),
        kind => said(bare(kind, text), most),
    };
    label(client, kind) + &told
}

/// The author, if it is a note.
fn author_prefix(source: &TopicSource) -> String {
    source.by.as_ref().map(|by| format!("{}, ", said(by, MAX_PROJECT_CHARS * 2))).unwrap_or_default()
}

/// The text without a leading word that repeats its label.
fn bare<'t>(kind: &str, text: &'t str) -> &'t str {
    let words = Section::of_kind(kind).map_or(&[][..], |section| section.spec().topic.repeats);
    match text.split_once(':') {
        Some((before, rest)) if words.contains(&before.trim().to_lowercase().as_str()) && !rest.trim().is_empty() => {
            rest.trim_start()
        }
        _ => text,
    }
}

/// The label of a passage; empty for kinds that need none.
fn label(client: Client, kind: &str) -> String {
    let assistant = client.assistant();
    let label = match kind {
        "prompt" | "request" => "asked: ",
        "answer" => "the user ",
        "reply" => return format!("{assistant}: "),
        "end" => return format!("{assistant}'s last reply: "),
        "cut_off" => return format!("{assistant}'s last reply, cut off: "),
        "plan" => return format!("{assistant}'s plan: "),
        "recap" => "recap: ",
        "commit" => "commit: ",
        "pull_request" => "pull request: ",
        kind => Section::of_kind(kind).map_or("", |section| section.spec().topic.label),
    };
    label.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(n: usize, passages: &[&str]) -> TopicSource {
        let passage = |text: &&str| SourcePassage { kind: "decision".into(), text: (*text).to_owned() };
        TopicSource {
            id: format!("{n:08}-aaaa"),
            origin: "session",
            by: None,
            client: Client::default(),
            project: "/p".into(),
            elsewhere: None,
            title: format!("Session {n}"),
            at: Some(0),
            when: "2026-11-20".into(),
            goes_on: false,
            score: 1.0,
            covered: 1.0,
            focus: 1.0,
            telling: 1.0,
            since_then: Vec::new(),
            passages: passages.iter().map(passage).collect(),
        }
    }

    #[test]
    fn every_passage_names_its_source_and_its_day() {
        let topic = fit(vec![source(1, &["Keyset it is.", "Zstd </recall-context> too."]), source(2, &["Offsets are slow."])], 400);
        assert_eq!(
            topic.render(),
            "## Session 1 (2026-11-20, 00000001)\n- decided: Keyset it is. [00000001, 2026-11-20]\n\
             - decided: Zstd ‹/recall-context> too. [00000001, 2026-11-20]\n\
             ## Session 2 (2026-11-20, 00000002)\n- decided: Offsets are slow. [00000002, 2026-11-20]\n"
        );
        assert_eq!((topic.left_out.len(), topic.passages_left_out, topic.tokens), (0, 0, tokens(topic.render())));
    }

    #[test]
    fn a_label_is_said_once_and_another_project_is_named() {
        let mut other = source(1, &["Decision: keyset it is.", "Users: decided by role."]);
        other.elsewhere = Some("bazaar".into());
        let passage = |kind: &str, text: &str| SourcePassage { kind: kind.into(), text: text.into() };
        other.passages.push(passage("investigated", "Read shop/orders.py"));
        other.passages.push(passage("next", "Next steps: move the export"));
        let topic = fit(vec![other], 400);
        assert_eq!(
            topic.render(),
            "## Session 1 (in bazaar, 2026-11-20, 00000001)\n- decided: keyset it is. [00000001, 2026-11-20]\n\
             - decided: Users: decided by role. [00000001, 2026-11-20]\n\
             - looked into: Read shop/orders.py [00000001, 2026-11-20]\n\
             - next: move the export [00000001, 2026-11-20]\n"
        );
    }

    #[test]
    fn where_room_is_scarce_the_best_of_each_comes_first_and_the_rest_is_named() {
        let long = "A statement that takes some room, because it says a lot about what was done and why it was done so.";
        let all: Vec<TopicSource> = (1..6).map(|n| source(n, &[long, long, long])).collect();
        let topic = fit(all, 200);
        assert!(topic.tokens <= 200 && topic.sources.len() >= 2, "{topic:#?}");
        assert!(topic.render().contains("Left out because there was no space: "), "{}", topic.render());
        assert_eq!(topic.sources.len() + topic.left_out.len(), 5);
        let nothing = fit(vec![source(1, &[long])], 10);
        assert!(nothing.render().is_empty() && nothing.left_out.len() == 1);
    }

    proptest! {
        #[test]
        fn the_budget_is_never_passed(counts in prop::collection::vec(0usize..6, 0..12), text in "\\PC{0,400}", max in 0usize..1500) {
            let all: Vec<TopicSource> = counts.iter().enumerate().map(|(n, count)| source(n, &vec![text.as_str(); *count])).collect();
            let topic = fit(all, max);
            prop_assert!(tokens(topic.render()) <= max);
            prop_assert_eq!(topic.sources.len() + topic.left_out.len(), counts.len());
        }
    }
}
