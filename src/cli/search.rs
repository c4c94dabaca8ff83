//! `recall search`: searches sessions and notes by words, phrases and filters. Prints a line and the best sentence for each.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use serde_json::{Value, json};

use super::open_memory;
use crate::app::Completion;
use crate::app::filter::parse_time;
use crate::app::search::{SearchRequest, search};
use crate::cli::args::SearchArgs;
use crate::config::Config;
use crate::search::{Highlighter, HitSource, Query, SearchHit};
use crate::store::Memory;
use crate::sys::messages;
use crate::text::clean::{id8, one_line, shorten, shorten_title, without_controls};

/// Limits of title and sentence in characters, so that a result is about fifty tokens.
const TITLE: usize = 80;
const PASSAGE_CHARS: usize = 150;
/// Printed length of a session id, unless another id shares the prefix.
const ID_CHARS: usize = 8;

pub(crate) fn run(args: &SearchArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let store = open_memory(config)?;
    let query = query(args, config)?;
    let here = std::env::current_dir().unwrap_or_default();
    let own = config.project_keys().key_of(&here.to_string_lossy());
    let found = search(&store, config, &SearchRequest { query: &query, own: &own, limit: args.limit, skip: 0 })?;
    let highlighter = Highlighter::of_query(&query);
    for hit in &found.hits {
        if args.json {
            writeln!(out, "{}", as_json(hit, config))?;
        } else {
            print_result(hit, &highlighter, &store, config, out)?;
        }
    }
    if found.has_more && !args.json {
        out.flush()?;
        messages::report("there are more: `--limit N` shows N");
    }
    if found.hits.is_empty() && !args.json {
        messages::report("nothing found");
    }
    found.notices.iter().for_each(messages::report);
    Ok(Completion::Done)
}

/// The query as typed, with the filters given as options.
fn query(args: &SearchArgs, config: &Config) -> Result<Query> {
    let context = config.query_context();
    let mut query = Query::parse(&args.words.join(" "), &context);
    query.narrow_to(args.project.as_deref().unwrap_or_default(), &context);
    if let Some(since) = &args.since {
        query.filters.since = Some(parse_time("--since", since, config)?);
    }
    if let Some(before) = &args.before {
        query.filters.before = Some(parse_time("--before", before, config)?);
    }
    Ok(query)
}

/// A result in the format of `--json`.
pub(crate) fn as_json(found: &SearchHit, config: &Config) -> Value {
    let passage = found.passages.first();
    let mut value = json!({
        "project": found.project().key,
        "day": config.local_time(Some(found.at()), "%Y-%m-%d"),
        "title": one_line(&without_controls(&found.title)),
        "found_in": passage.map(|passage| passage.kind),
        "passage": passage.map_or("", |passage| passage.text.as_str()),
        "score": found.score,
        "covered": (found.covered * 100.0).round() / 100.0,
    });
    match &found.origin {
        HitSource::Session(head) => value["session"] = json!(head.id),
        HitSource::Note(note) => {
            value["note"] = json!(note.id);
            value["author"] = json!(note.author);
            value["by"] = json!(note.origin());
        }
    }
    if !found.closed.is_empty() {
        value["closed_since"] = json!(found.closed_since(|at| config.local_time(Some(at), "%Y-%m-%d")));
    }
    if found.goes_on {
        value["goes_on"] = json!(true);
    }
    value
}

fn print_result(found: &SearchHit, highlighter: &Highlighter, store: &Memory, config: &Config, out: &mut impl Write) -> Result<()> {
    let day = config.local_time(Some(found.at()), "%Y-%m-%d");
    let id = match &found.origin {
        // The full id, so that what is printed can be opened.
        HitSource::Session(head) if store.shares_prefix(&head.id, ID_CHARS)? => one_line(&without_controls(&head.id)),
        HitSource::Session(head) => id8(&head.id),
        HitSource::Note(note) => note.id.clone(),
    };
    let title = one_line(&without_controls(&found.title));
    let title = shorten_title(&title, char_limit(&title, TITLE));
    let by = found.note().map(|note| format!("  ({})", one_line(&without_controls(&note.origin())))).unwrap_or_default();
    writeln!(out, "{day}  {}  {}  {title}{by}", bold(&id), one_line(&without_controls(found.project().name())))?;
    let passage = found
        .passages
        .first()
        .map(|passage| highlighter.excerpt(&passage.text, char_limit(&passage.text, PASSAGE_CHARS)))
        .unwrap_or_default();
    for line in found.closed_since(|at| config.local_time(Some(at), "%Y-%m-%d")) {
        writeln!(out, "            {}", shorten(&line, PASSAGE_CHARS))?;
    }
    if !passage.is_empty() && !title.contains(&passage) {
        writeln!(out, "            {}", highlighted(&passage, highlighter))?;
    }
    Ok(())
}

/// Character limit of a text: lower for scripts in which one character is nearly a word (about three bytes each).
fn char_limit(text: &str, max: usize) -> usize {
    let chars = text.chars().count();
    if chars == 0 { max } else { max * chars / text.len() }
}

/// The text with matching words in bold, if stdout is a terminal.
fn highlighted(text: &str, highlighter: &Highlighter) -> String {
    let mut out = String::new();
    let mut from = 0;
    for mark in highlighter.marks(text) {
        out.push_str(&text[from..mark.start]);
        out.push_str(&bold(&text[mark.clone()]));
        from = mark.end;
    }
    out + &text[from..]
}

fn bold(text: &str) -> String {
    let colour = std::io::stdout().is_terminal() && !crate::config::no_colour();
    if colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}
