//! What a session leaves open (blockers, next steps, tasks, an unanswered question), and which open items of others it closes.

use std::collections::BTreeSet;

use super::claim;
use super::statements::{MAX_STATEMENT_CHARS, SeenStatements, Statement, pick_claims};
use crate::analyze::failures::FailedCommand;
use crate::analyze::signal;
use crate::analyze::signal::{SentenceTopic, has_failed};
use crate::model::digest::{Claim, OpenItem};
use crate::model::session::{Entry, Item, RecordKey, Session, Todo};
use crate::text::clean::{one_line, shorten};
use crate::text::tokenize::{covered_by, distinctive_words};

/// An open item is closed if what was done later holds this share of its words.
const CLOSED_SHARE: f64 = 0.75;

/// Checks that failed last, and what the assistant could not do at the end.
pub(super) fn blockers(session: &Session, failures: &[FailedCommand], pool: &[Statement], seen: &mut SeenStatements) -> Vec<Claim> {
    // A check called with a wrong path says nothing about the work.
    let mistyped = |f: &FailedCommand| f.brief.contains("file or directory not found");
    let open = failures.iter().filter(|f| f.fix.is_none() && !mistyped(f) && is_late(session, f.row));
    let mut all: Vec<Claim> = open
        .filter(|f| session.entries.iter().any(|e| e.key == f.row && matches!(&e.item, Item::Tool(t) if signal::is_check(t))))
        .map(|f| Claim { text: not_passed(f), rows: vec![f.row] })
        .collect();
    all.truncate(3);
    all.extend(pick_claims(pool, seen, 3, |s| {
        !s.offer && s.about(SentenceTopic::Blocker) && s.closing && s.turns_left < 2 && s.weight > 0.5
    }));
    all
}

fn not_passed(failure: &FailedCommand) -> String {
    let how = failure.describe(120);
    let how = if how.is_empty() { how } else { format!(": {how}") };
    format!("`{}` failed and was not seen to pass{how}", shorten(&failure.command, 100))
}

/// Is a record in the last third of the session?
fn is_late(session: &Session, row: RecordKey) -> bool {
    session.entries.iter().position(|e| e.key == row).is_some_and(|at| at * 3 >= session.entries.len() * 2)
}

pub(super) fn next_steps(session: &Session, pool: &[Statement], seen: &mut SeenStatements) -> Vec<Claim> {
    let mut all: Vec<Claim> = open_todos(session);
    all.extend(unanswered(session));
    all.retain(|c| seen.is_new(&c.text));
    all.extend(pick_claims(pool, seen, 8, |s| s.listed_next && s.closing && s.turns_left == 0));
    all.extend(pick_claims(pool, seen, 4, |s| {
        s.about(SentenceTopic::Next) && !s.history && !s.announces && s.closing && s.turns_left == 0
    }));
    all.extend(pick_claims(pool, seen, 3, |s| {
        !s.offer
            && !s.history
            && !s.announces
            && !s.progress
            && s.about(SentenceTopic::Next)
            && s.closing
            && (1..3).contains(&s.turns_left)
            && s.weight > 0.7
    }));
    all
}

/// Tasks that were not completed when the session ended.
fn open_todos(session: &Session) -> Vec<Claim> {
    let mut list: Vec<(Todo, RecordKey)> = Vec::new();
    for entry in session.entries.iter().filter(|e| e.is_main()) {
        match &entry.item {
            Item::Todos(todos) => list = todos.iter().map(|t| (t.clone(), entry.key)).collect(),
            Item::Task(change) => apply(&mut list, change, entry.key),
            _ => {}
        }
    }
    let open =
        list.into_iter().filter(|(t, _)| !t.text.is_empty() && !matches!(t.status.as_str(), "completed" | "deleted" | "cancelled"));
    open.take(8).map(|(todo, row)| Claim { text: shorten(&todo.text, MAX_STATEMENT_CHARS), rows: vec![row] }).collect()
}

/// A task is known by its text until the result of its creation numbers it; later changes refer to the number.
fn apply(list: &mut Vec<(Todo, RecordKey)>, change: &Todo, row: RecordKey) {
    let known = list.iter_mut().find(|(t, _)| {
        if change.id.is_empty() || t.id.is_empty() { t.text == change.text && t.id.is_empty() } else { t.id == change.id }
    });
    match known {
        Some((todo, at)) => {
            if !change.id.is_empty() {
                todo.id.clone_from(&change.id);
            }
            if !change.text.is_empty() {
                todo.text.clone_from(&change.text);
            }
            if !change.status.is_empty() {
                todo.status.clone_from(&change.status);
            }
            *at = row;
        }
        None => list.push((change.clone(), row)),
    }
}

/// The user's last prompt, if nothing answered it.
fn unanswered(session: &Session) -> Option<Claim> {
    let at = session.entries.iter().rposition(|e| matches!(e.item, Item::Prompt(_)) && e.is_main())?;
    let rest = &session.entries[at + 1..];
    let answered = rest.iter().any(|e| matches!(e.item, Item::Reply(_) | Item::Tool(_) | Item::Plan(_)));
    let Item::Prompt(text) = &session.entries[at].item else { return None };
    // The client answers these in another session, or beside the conversation.
    let elsewhere = ["/background ", "/branch ", "/btw ", "/fork "].iter().any(|command| text.starts_with(command));
    (!answered && !elsewhere && text.chars().count() > 12)
        .then(|| claim(format!("Unanswered: {}", shorten(&one_line(text), 200)), &session.entries[at]))
}

/// The ids of open items of earlier sessions that this session's work covers.
pub fn closed_items(open: &[OpenItem], completed: &[String], session: &Session) -> Vec<String> {
    let mut done: Vec<BTreeSet<String>> = completed.iter().map(|c| distinctive_words(c)).collect();
    let passed = |e: &&Entry| !e.outcome.as_ref().is_some_and(has_failed);
    done.extend(session.entries.iter().filter(passed).filter_map(|e| match &e.item {
        Item::Tool(tool) if signal::is_commit(tool) => Some(distinctive_words(&tool.line)),
        _ => None,
    }));
    let is_done = |item: &&OpenItem| {
        let wanted = distinctive_words(&item.text);
        wanted.len() >= 2 && done.iter().any(|deed| covered_by(&wanted, deed) >= CLOSED_SHARE)
    };
    open.iter().filter(is_done).map(|item| item.id.clone()).collect()
}
