//! What was decided, and in whose words: the user's answers and corrections, plans that were approved, the assistant's choices.

use super::claim;
use super::statements::{MAX_STATEMENT, Seen, Statement, pick_rows};
use crate::clean::{one_line, shorten};
use crate::digest::Claim;
use crate::prose::sentences;
use crate::session::{Item, Session};
use crate::signal::Topic;
use crate::terms::words;

/// A choice needs so many telling words to make sense on its own.
const MIN_WORDS: usize = 3;

pub(super) fn decisions(session: &Session, pool: &[Statement], seen: &mut Seen) -> Vec<Claim> {
    let mut all = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        match &entry.item {
            Item::Answer(text) if entry.is_main() => {
                all.extend(
                    text.lines().take(6).map(|line| claim(format!("User: {}", shorten(&one_line(line), MAX_STATEMENT)), entry)),
                );
            }
            Item::Plan(text) if was_approved(session, at) => {
                let head = sentences(text).into_iter().next().unwrap_or_default();
                all.push(claim(format!("Plan approved: {}", shorten(&one_line(&head), 160)), entry));
            }
            _ => {}
        }
    }
    all.extend(corrections(session));
    all.retain(|c| seen.is_new(&c.text));
    all.truncate(12);
    all.extend(pick_rows(pool, seen, 7, |s| !s.offer && !s.announces && s.about(Topic::Decision) && s.weight > 0.5));
    all
}

/// The plan's own tool use follows it; refused plans have an outcome that says so.
fn was_approved(session: &Session, at: usize) -> bool {
    session
        .entries
        .get(at + 1)
        .is_some_and(|next| matches!(&next.item, Item::Tool(t) if t.line == "plan") && next.outcome.as_ref().is_none_or(|o| o.ok))
}

/// Short prompts after the first with which the user steered.
fn corrections(session: &Session) -> Vec<Claim> {
    const STEERING: [&str; 22] = [
        " no,", " no ", " not ", " don't", " dont ", " do not", " instead", " rather", " revert", " undo", " keep ", " let's ",
        " lets ", " use ", " never ", " always ", " only ", " remove", " change ", " without", " should ", " must ",
    ];
    // A question asks for an answer; "can you …?" asks for a deed.
    const ASKING: [&str; 14] = [
        " should it ", " should i ", " what ", " why ", " how ", " is ", " are ", " does ", " do you", " did ", " which ",
        " where ", " i wonder", " was ",
    ];
    let steers = |text: &str| {
        let lower = format!(" {} ", one_line(text).to_lowercase());
        let asks = text.trim_end().ends_with('?') && ASKING.iter().any(|mark| lower.starts_with(mark));
        // "Commit it" is no choice that anybody asks about later.
        !asks
            && words(text).len() >= MIN_WORDS
            && STEERING.iter().any(|mark| lower.contains(mark))
            && (8..320).contains(&text.chars().count())
    };
    session
        .prompts()
        .skip(1)
        .filter(|(_, text)| steers(text))
        .map(|(entry, text)| claim(format!("User: {}", shorten(&one_line(text), 200)), entry))
        .collect()
}
