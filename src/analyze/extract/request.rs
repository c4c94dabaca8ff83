//! What a session was for: its title, and what the user asked.

use std::collections::HashSet;

use crate::analyze::distinct::normalized;
use crate::model::digest::UNTITLED;
use crate::model::session::{Item, Session};
use crate::text::clean::{one_line, shorten};

const MAX_TITLE: usize = 90;

/// The title the user gave, else the client's, else the start of the request.
pub fn title(session: &Session) -> String {
    let given = session.entries.iter().filter_map(|e| match &e.item {
        Item::Title(title) => Some(title),
        _ => None,
    });
    // Of equal titles the last: they are rewritten as the session continues.
    if let Some(best) = given.max_by_key(|t| t.by) {
        return shorten(&best.text, MAX_TITLE);
    }
    let first = session
        .prompts()
        .map(|(_, text)| text)
        .find(|t| t.chars().count() > 12)
        .or_else(|| session.prompts().next().map(|(_, t)| t));
    let line = first.and_then(|text| text.lines().find(|l| l.chars().any(char::is_alphanumeric))).unwrap_or(UNTITLED);
    let line = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    shorten(&one_line(line.trim_start_matches(['#', '-', '*', ' '])), MAX_TITLE)
}

/// What the user asked for: the first prompt, and later ones in brief.
pub fn request(session: &Session) -> String {
    let mut asked = HashSet::new();
    let prompts = session.prompts().map(|(_, text)| text).filter(|t| t.chars().count() > 3);
    let prompts: Vec<&str> = prompts.filter(|text| asked.insert(normalized(text))).collect();
    let Some((first, later)) = prompts.split_first() else { return String::new() };
    let mut request = shorten(&one_line(first), 500);
    let telling: Vec<String> = later.iter().filter(|t| t.chars().count() > 12).map(|t| shorten(&one_line(t), 140)).collect();
    if !telling.is_empty() {
        let shown = telling.len().min(12);
        // The first ones direct the work, the last ones tell where it ended.
        let list: Vec<&str> =
            telling[..shown / 2].iter().chain(&telling[telling.len() - (shown - shown / 2)..]).map(String::as_str).collect();
        request.push_str(" Then: ");
        request.push_str(&list.join(" · "));
    }
    request
}
