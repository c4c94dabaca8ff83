//! `recall search`: searches sessions and notes by words, phrases and filters. Prints a line and the best sentence for each.

use std::io::{IsTerminal, Write};

use super::reading::print_hanging;
use super::search_list;
use super::team::TeamSearch;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::filter::parse_time;
use crate::app::search::{MoreResults, SearchReply, SearchRequest, SearchResult, search};
use crate::cli::args::SearchArgs;
use crate::config::Config;
use crate::sys::{messages, pager};
use anyhow::Result;
use text::clean::{fit_title, one_line, shorten, shorten_title, without_controls};

/// Limits of title and sentence in characters, so that a result is about fifty tokens.
pub(super) const TITLE: usize = 80;
pub(super) const PASSAGE_CHARS: usize = 150;
/// At least so many characters of a title, or of a line below it, are shown, however narrow the terminal.
const MIN_TITLE: usize = 12;
/// What stands before a line below a result.
pub(super) const INDENT: &str = "            ";
/// What overtakes a passage is told nearly whole: without it the passage would be false.
const SINCE_THEN: usize = 240;

pub(crate) fn run(args: &SearchArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let time = |flag: &str, text: &Option<String>| text.as_ref().map(|text| parse_time(flag, text, config)).transpose();
    let asker = Asker::here(config);
    let asked = SearchRequest {
        words: &args.words.join(" "),
        project: args.project.as_deref(),
        since: time("--since", &args.since)?,
        before: time("--before", &args.before)?,
        own: &asker.project(),
        limit: args.limit,
        ..SearchRequest::default()
    };
    if args.interactive {
        return search_list::run(&asked, config, out);
    }
    let team = TeamSearch::ask(args, &asker, config)?;
    let found = search(&asker.memory()?, config, &asked)?;
    for result in &found.results {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(result)?)?;
        } else {
            print_result(result, &found, out)?;
        }
    }
    let (team_has_some, ended) = team.print(&found, args.json, out)?;
    if found.more != MoreResults::None && !args.json {
        out.flush()?;
        messages::report("there are more: `--limit N` shows N");
    }
    if found.results.is_empty() && !team_has_some && !args.json {
        messages::report("nothing found");
    }
    found.notices.iter().for_each(messages::report);
    Ok(ended)
}

fn print_result(result: &SearchResult, found: &SearchReply, out: &mut impl Write) -> Result<()> {
    let SearchResult { day, short_id, title, .. } = result;
    let title = shorten_title(title, char_limit(title, TITLE));
    let line = |text: &str| one_line(&without_controls(text));
    let by = result.remark_with_agent().map(|by| format!("  ({})", line(&by))).unwrap_or_default();
    let columns = pager::terminal().map(|size| size.columns);
    let project = line(&result.project_name);
    let others = day.len() + short_id.len() + project.chars().count() + by.chars().count() + 6;
    let title = columns.map_or(title.clone(), |all| fit_title(&title, all.saturating_sub(others).max(MIN_TITLE)));
    writeln!(out, "{day}  {}  {project}  {title}{by}", bold(&line(short_id)))?;
    for line in result.since_then.iter().flatten() {
        print_hanging(INDENT, INDENT, &shorten(line, SINCE_THEN), out)?;
    }
    let passage = found.excerpt(&result.passage, char_limit(&result.passage, PASSAGE_CHARS));
    if !passage.is_empty() && !title.contains(&passage) {
        print_hanging(INDENT, INDENT, &highlighted(&passage, found), out)?;
    }
    Ok(())
}

/// Character limit of a text: lower for scripts in which one character is nearly a word (about three bytes each).
pub(super) fn char_limit(text: &str, max: usize) -> usize {
    let chars = text.chars().count();
    if chars == 0 { max } else { max * chars / text.len() }
}

/// The text with matching words in bold, if stdout is a terminal.
pub(super) fn highlighted(text: &str, found: &SearchReply) -> String {
    let mut out = String::new();
    let mut from = 0;
    for mark in found.marks(text) {
        out.push_str(&text[from..mark.start]);
        out.push_str(&bold(&text[mark.clone()]));
        from = mark.end;
    }
    out + &text[from..]
}

pub(super) fn bold(text: &str) -> String {
    let colour = std::io::stdout().is_terminal() && crate::config::wants_styles();
    if colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}
