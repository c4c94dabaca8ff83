//! What a session says that no digest has seen: taken from its rows as they stand, without a model. Pure.

use crate::clean::{one_line, shorten};
use crate::condense::gist;
use crate::digest::Digest;
use crate::extract::extract;
use crate::session::{Item, Session};
use crate::verify::verify;

/// The longest account, in characters.
const MAX_ACCOUNT: usize = 500;

/// A session's digest straight from its rows.
pub fn told_by(session: &Session) -> Digest {
    let mut digest = extract(session);
    verify(&mut digest, session);
    digest
}

/// The last thing asked, what came of it and what is open. `None` when that is nothing.
pub fn account(session: &Session) -> Option<String> {
    let part = |label: &str, text: &str, most: usize| format!("{label}: {}", shorten(&one_line(text), most));
    let digest = told_by(session);
    let outcome: Vec<&str> = digest.completed.iter().rev().take(2).rev().map(String::as_str).collect();
    let outcome = if outcome.is_empty() { last_reply(session).unwrap_or_default() } else { outcome.join(" ") };
    let open: Vec<&str> = digest.next_steps.iter().map(|c| c.text.as_str()).collect();
    // Of a long last turn only the end may be known, without the prompt.
    let mut parts: Vec<String> = session.prompts().last().map(|(_, asked)| part("asked", asked, 160)).into_iter().collect();
    let rest = [("ended with", outcome), ("left open", open.join("; "))];
    parts.extend(rest.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| part(label, text, 220)));
    let told = parts.join(" · ");
    (!told.is_empty()).then(|| shorten(&told, MAX_ACCOUNT - 1))
}

fn last_reply(session: &Session) -> Option<String> {
    session.entries.iter().rev().find_map(|e| match &e.item {
        Item::Reply(text) if e.is_main() => Some(gist(text, MAX_ACCOUNT)),
        _ => None,
    })
}
