//! What tests of every reader do: have rows read, and say in a word each what was kept.

use serde_json::Value;

use super::{ParsedLine, TranscriptIdentity, parser_of};
use crate::client::Client;
use crate::privacy::{OwnWords, Sanitizer};
use crate::session::{Evidence, Item, ParserState, Record, ToldNames};

/// Of what a hook told: the files that were changed. The server has one tool.
const OWN_WORDS: OwnWords = OwnWords {
    names_in: |text| {
        let files = text.lines().filter_map(|line| line.strip_prefix("- changed ")).map(str::to_owned);
        ToldNames { files: files.collect(), ..ToldNames::default() }
    },
    tools: &["search"],
};

/// The file of a session, or that of a subagent of it.
pub(super) fn place(client: Client, session: &str, agent: Option<&str>) -> TranscriptIdentity {
    TranscriptIdentity { client, session: session.to_owned(), agent: agent.map(str::to_owned), cwd: None }
}

/// What is made of rows; `cuts` tells behind which of them the reading stops and goes on with what is stored.
pub(super) fn parsed(rows: &[Value], place: &TranscriptIdentity, cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    let sanitizer = Sanitizer::shipped().knowing(OWN_WORDS);
    let mut parser = parser_of(place, &sanitizer, &ParserState::default());
    let mut all = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        all.push(parser.read(row.to_string().as_bytes()));
        if cuts(n) {
            parser = parser_of(place, &sanitizer, &parser.state());
        }
    }
    all
}

pub(super) fn records(rows: &[Value], place: &TranscriptIdentity) -> Vec<Record> {
    let of_record = |line| if let ParsedLine::Record(row) = line { Some(*row) } else { None };
    parsed(rows, place, |_| false).into_iter().filter_map(of_record).collect()
}

/// What each item of the records says; the kind of one that has no words.
pub(super) fn told(records: &[Record]) -> Vec<String> {
    let of_item = |item: &Item| match item {
        Item::Prompt(text) | Item::Reply(text) | Item::Recap(text) | Item::Plan(text) => text.clone(),
        Item::Tool(tool) => format!("{} {}", tool.name, tool.line),
        Item::Outcome(outcome) => outcome.brief.clone(),
        Item::Answer(answer) => format!("{}: {}", answer.asked, answer.said),
        Item::Evidence(Evidence::Ran(_)) => "ran".into(),
        Item::Evidence(Evidence::Printed(print)) => print.results.join("; "),
        other => other.kind().to_owned(),
    };
    records.iter().flat_map(|row| &row.items).map(of_item).collect()
}
