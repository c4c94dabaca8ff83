//! Summarizes a session without a digest straight from its records, without a model. Pure.

use crate::analyze::condense::gist;
use crate::analyze::extracted_digest;
use crate::model::session::{Item, Session};
use crate::text::clean::{one_line, shorten};

/// The longest summary, in characters.
const MAX_SUMMARY_CHARS: usize = 500;

/// The last request, its outcome and what is open, on one line. `None` if all are empty.
pub(crate) fn summary_line(session: &Session) -> Option<String> {
    let part = |label: &str, text: &str, most: usize| format!("{label}: {}", shorten(&one_line(text), most));
    let digest = extracted_digest(session);
    let outcome: Vec<&str> = digest.completed.iter().rev().take(2).rev().map(String::as_str).collect();
    let outcome = if outcome.is_empty() { last_reply(session).unwrap_or_default() } else { outcome.join(" ") };
    let open: Vec<&str> = digest.next_steps.iter().map(|c| c.text.as_str()).collect();
    // Only the end of a long last turn may have been read, without its prompt.
    let mut parts: Vec<String> = session.prompts().last().map(|(_, asked)| part("asked", asked, 160)).into_iter().collect();
    let rest = [("ended with", outcome), ("left open", open.join("; "))];
    parts.extend(rest.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| part(label, text, 220)));
    let told = parts.join(" · ");
    (!told.is_empty()).then(|| shorten(&told, MAX_SUMMARY_CHARS - 1))
}

fn last_reply(session: &Session) -> Option<String> {
    session.entries.iter().rev().find_map(|e| match &e.item {
        Item::Reply(text) if e.is_main() => Some(gist(text, MAX_SUMMARY_CHARS)),
        _ => None,
    })
}
