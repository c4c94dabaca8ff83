//! What a search finds, with the sentence that fits.

use anyhow::Result;
use maud::{Markup, html};

use crate::app::search::{MoreResults, SearchReply, SearchRequest, SearchResult, search};
use crate::web::addresses;
use crate::web::layout::{Page, project_link};
use crate::web::viewer::Viewer;

const A_PAGE: usize = 20;
const MAX_PASSAGE_CHARS: usize = 300;
/// Filters that one click adds, with their names.
const OFFERED: [(&str, &str); 6] = [
    ("kind:decision", "decisions"),
    ("kind:prompt", "what you said"),
    ("kind:error", "errors"),
    ("kind:command", "commands"),
    ("since:7d", "last 7 days"),
    ("since:30d", "last 30 days"),
];

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(in crate::web) struct Asked {
    pub(in crate::web) words: String,
    pub(in crate::web) skip: usize,
    /// Somebody is typing.
    pub(in crate::web) as_typed: bool,
}

pub(in crate::web) fn page(viewer: &Viewer<'_>, asked: &Asked) -> Result<Page> {
    let body = html! {
        h1 { "Search" }
        form #search .search role="search" action=(addresses::SEARCH) method="get" {
            input type="search" name="q" value=(asked.words) aria-label="Words, phrases in quotes and filters" autocomplete="off" autofocus;
            button type="submit" { "Search" }
        }
        div #results aria-live="polite" { (results(viewer, asked)?) }
    };
    let title = if asked.words.is_empty() { "Search".to_owned() } else { format!("Search: {}", asked.words) };
    Ok(Page { title, address: addresses::SEARCH.into(), place: addresses::SEARCH, body })
}

/// The results alone, as a script puts them into the page.
pub(in crate::web) fn results(viewer: &Viewer<'_>, asked: &Asked) -> Result<Markup> {
    let own = viewer.asker.project();
    let request = SearchRequest {
        words: &asked.words,
        own: &own,
        limit: A_PAGE,
        skip: asked.skip,
        as_typed: asked.as_typed,
        ..SearchRequest::default()
    };
    if request.is_empty(viewer.config) {
        return Ok(html! {
            (chips(&asked.words))
            p .hint { "Words in any form, \"phrases in quotes\", and filters such as " code { "file:orders.py" } ", " code { "project:shop" } " or " code { "kind:decision" } "." }
        });
    }
    let found = search(&viewer.memory, viewer.config, &request)?;
    Ok(html! {
        (chips(&asked.words))
        @for notice in &found.notices { p .hint { (notice) } }
        @if found.results.is_empty() { p { "Nothing found." } }
        ol .results start=(asked.skip.saturating_add(1)) { @for one in &found.results { (result(one, &found)) } }
        @match found.more {
            MoreResults::From(next) => {
                form method="get" action=(addresses::SEARCH) {
                    input type="hidden" name="q" value=(asked.words);
                    input type="hidden" name="skip" value=(next);
                    button type="submit" { "More" }
                }
            }
            other => { @if let Some(notice) = other.notice() { p .hint { (notice) } } }
        }
    })
}

fn result(one: &SearchResult, found: &SearchReply) -> Markup {
    let address = match (&one.session, &one.note, &one.memory_file) {
        (Some(session), ..) => addresses::session(session),
        (_, Some(id), _) | (_, _, Some(id)) => addresses::note(id),
        _ => String::new(),
    };
    let passage = found.excerpt(&one.passage, MAX_PASSAGE_CHARS);
    html! {
        li {
            a href=(address) { (one.title) } " "
            span .when { (one.day) } " "
            span .chip { (project_link(&one.project, &one.project_name)) }
            @if !one.client.is_usual() { " " span .chip { (one.client.name()) } }
            @if let Some(by) = one.remark() { " " span .hint { (by) } }
            @for line in one.since_then.iter().flatten() { p .since { (line) } }
            @if !passage.is_empty() && !one.title.contains(&passage) {
                p .passage { @if let Some(kind) = one.found_in { span .kind { (kind) } " " } (marked(&passage, found)) }
            }
        }
    }
}

fn marked(text: &str, found: &SearchReply) -> Markup {
    let mut from = 0;
    let mut parts = Vec::new();
    for mark in found.marks(text) {
        parts.push((&text[from..mark.start], &text[mark.clone()]));
        from = mark.end;
    }
    html! {
        @for (before, word) in &parts { (before) mark { (word) } }
        (text[from..])
    }
}

/// The filters that were typed, to be taken away, and others, to be added.
fn chips(words: &str) -> Markup {
    let parts: Vec<&str> = words.split_whitespace().collect();
    let is_filter =
        |word: &str| word.split_once(':').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase()));
    let without =
        |at: usize| parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
    html! {
        p .chips {
            @for (at, word) in parts.iter().enumerate().filter(|(_, word)| is_filter(word)) {
                a .chip.on href=(address(&without(at))) aria-label=(format!("Remove the filter {word}")) { (word) " ×" }  " "
            }
            @for (filter, name) in OFFERED.iter().filter(|(filter, _)| !parts.contains(filter)) {
                a .chip href=(address(&format!("{words} {filter}"))) { "+ " (name) } " "
            }
        }
    }
}

/// The address of a search.
fn address(words: &str) -> String {
    format!("{}?q={}", addresses::SEARCH, encoded(words.trim()))
}

/// As a part of a query: everything but letters and digits is written in percent.
fn encoded(text: &str) -> String {
    text.bytes().map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_taken_away_or_added_by_a_link() {
        let shown = chips("keyset kind:decision \"a b\"").into_string();
        assert!(shown.contains("href=\"search.html?q=keyset%20%22a%20b%22\""), "{shown}");
        assert!(shown.contains("kind:decision ×") && !shown.contains("+ decisions"), "{shown}");
        assert!(shown.contains("since%3A7d"), "{shown}");
    }
}
