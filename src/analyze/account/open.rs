//! What was left open, as far as it can be counted; and what the last reply says is left, in its own words.

use serde::{Deserialize, Serialize};

use super::SessionAccount;
use super::turns::{Turn, WordKind, last_reply};
use crate::analyze::prose::sentences;
use crate::model::digest::CLAUDE_MEM;
use text::blocks::{BlockKind, blocks};
use text::clean::one_line;
use transcripts::session::{Item, RecordKey, Session, Todo, said};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OpenEnd {
    /// Nothing followed the last prompt.
    NoReply,
    /// Work followed it, and no reply that closes that.
    Unclosed,
    Interrupted,
    ApiError {
        words: String,
    },
    /// A task that the assistant's list does not tick off; its replies often say done what the list does not.
    Task {
        text: String,
    },
}

impl OpenEnd {
    /// The words of a task.
    pub(crate) fn task(&self) -> Option<&str> {
        if let Self::Task { text } = self { Some(text) } else { None }
    }
}

/// Does the item of a digest stand for the task? Items are shorter.
pub(crate) fn is_task(item: &str, task: &str) -> bool {
    let words = item.trim_end_matches('…');
    !words.is_empty() && task.starts_with(words)
}

/// Phrases in lower case by which a reply says that something is left, whoever is to do it. Offers are none.
const LEFT: &[&str] = &[
    "still open", "still to do", "still to be done", "still needs", "still need to", "still pending", "not done yet",
    "not yet done", "left to do", "left undone", "remaining:", "remains to", "remaining work", "remaining step", "next step:",
    "next steps:", "needs your", "your call:", "for you to ", "for you:", "not pushed yet", "not yet pushed", "not committed yet",
    "is uncommitted", "are uncommitted", "to be continued", "follow-up:", "follow-ups:",
];
/// Words before such a phrase by which nothing is left, and how many may lie between: `nothing of it is still open`, but `a page with no title
/// still needs one`.
const NONE_BEFORE: &[(&str, usize)] = &[("nothing", 3), ("none", 3), ("no", 0)];
/// Words behind it that are all of what is left.
const NONE_BEHIND: &[&str] = &["nothing", "none", "n/a", "-", "–", "—"];
/// What was left may be done: `the remaining work was finished`.
const DONE: &[&str] = &["done", "finished", "completed", "complete", "closed", "resolved", "fixed", "merged"];
/// The most characters of it.
const MAX_LEFT_CHARS: usize = 300;

impl SessionAccount {
    /// The last prompt of the user's.
    pub(crate) fn last_prompt(&self) -> Option<&str> {
        let words = self.turns.iter().rev().flat_map(|turn| turn.words.iter().rev());
        words.filter(|word| matches!(word.kind, WordKind::Prompt | WordKind::Joined)).map(|word| word.text.as_str()).next()
    }

    /// What the last reply names as left, in its own sentences: those with words such as "still open", and the items below such a line.
    pub(crate) fn said_left(&self) -> Option<String> {
        let (_, reply) = last_reply(&self.turns).filter(|(_, reply)| !reply.cut_off)?;
        let mut told: Vec<String> = Vec::new();
        let mut is_below = false;
        for block in blocks(&reply.text) {
            let text = block.lines.join("\n");
            let is_item = block.kind == BlockKind::Item;
            is_below = match block.kind {
                BlockKind::Heading | BlockKind::Text | BlockKind::Item if names_left(&text) => {
                    let sentences = sentences(&text);
                    told.extend(if block.leads_in() || sentences.len() < 2 {
                        vec![text.clone()]
                    } else {
                        sentences.into_iter().filter(|one| names_left(one)).collect()
                    });
                    block.leads_in() || block.kind == BlockKind::Heading
                }
                BlockKind::Item | BlockKind::Text if is_below && is_none(&text) => {
                    told.pop();
                    false
                }
                BlockKind::Item if is_below => {
                    told.push(text.clone());
                    true
                }
                _ => is_below && is_item,
            };
        }
        let told = told.iter().map(|line| one_line(line.trim_start_matches(['#', ' ']))).collect::<Vec<_>>().join(" ");
        (!told.is_empty()).then(|| said(&told, MAX_LEFT_CHARS))
    }
}

/// Does a text name something as left?
fn names_left(text: &str) -> bool {
    let lower = text.to_lowercase().replace(['*', '`'], "");
    let is_left = |phrase: &str| lower.match_indices(phrase).any(|(at, _)| is_left(&lower[..at], &lower[at + phrase.len()..]));
    !lower.trim_end().ends_with('?') && LEFT.iter().any(|phrase| is_left(phrase))
}

/// Is something left by what stands before and behind a phrase of [`LEFT`]?
fn is_left(before: &str, behind: &str) -> bool {
    let clause = before.rsplit([',', ';', ':', '.', '!', '(', '\n']).next().unwrap_or_default();
    let is_near = |(at, word): (usize, &str)| NONE_BEFORE.iter().any(|(none, most)| word == *none && at <= *most);
    let says_none = clause.split_whitespace().rev().enumerate().any(is_near);
    let rest: Vec<&str> = behind.split(['.', ';', '\n']).next().unwrap_or_default().split_whitespace().collect();
    let word = |at: usize| rest.get(at).map_or("", |word: &&str| word.trim_matches(|c: char| ",!):".contains(c)));
    // An adverb may lie between: `is now done`.
    let ends = |at: usize| matches!(word(at), "is" | "are" | "was" | "were") && (1..=2).any(|on| DONE.contains(&word(at + on)));
    let is_done = (0..2).any(ends) || (0..rest.len()).any(|at| ends(at) && (2..=3).any(|on| word(at + on) == "now"));
    let goes_on = rest.iter().any(|word| matches!(*word, "but" | "except" | "besides"));
    !(says_none || is_none(behind) && !goes_on || is_done)
}

/// Does a text say that there is nothing, and no more?
fn is_none(text: &str) -> bool {
    let text = text.trim_start_matches([':', ' ', '*', '-', '\n']).to_lowercase();
    let first = text.split(['.', ',', ';', '!', '\n', '(']).next().unwrap_or_default();
    NONE_BEHIND.contains(&first.trim_matches(['*', '`', ' ']))
}

pub(super) fn of(session: &Session, turns: &[Turn]) -> Vec<OpenEnd> {
    let end = turns.last().and_then(|turn| {
        // Of a reply that was taken out it is not told how the turn ended.
        let closes = turn.reply.as_ref().map_or(!turn.reply_rows.is_empty(), |reply| !reply.cut_off);
        match &turn.api_error {
            Some(words) => Some(OpenEnd::ApiError { words: words.clone() }),
            None if turn.interrupted => Some(OpenEnd::Interrupted),
            None if closes || turn.number == 0 || is_for_client(turn) => None,
            // That tool keeps prompts alone.
            None if session.versions == [CLAUDE_MEM] => None,
            None => Some(if was_taken_up(session) { OpenEnd::Unclosed } else { OpenEnd::NoReply }),
        }
    });
    let open = tasks(session).into_iter().filter(Task::is_open);
    end.into_iter().chain(open.map(|task| OpenEnd::Task { text: task.text })).collect()
}

/// Does a turn end with a command that the client answers itself?
fn is_for_client(turn: &Turn) -> bool {
    const COMMANDS: [&str; 5] = ["/compact", "/clear", "/exit", "/quit", "/resume"];
    turn.words.last().is_some_and(|word| word.text.split_whitespace().next().is_some_and(|first| COMMANDS.contains(&first)))
}

/// Did anything follow the last prompt?
fn was_taken_up(session: &Session) -> bool {
    let last = session.entries.iter().rev().filter(|entry| entry.is_main());
    let mut turn = last.take_while(|entry| !matches!(entry.item, Item::Prompt(_)));
    turn.any(|entry| matches!(entry.item, Item::Tool(_) | Item::Reply(_)))
}

/// A task of the assistant's lists, as it was last.
pub(crate) struct Task {
    pub(crate) text: String,
    status: String,
    /// Where it was last changed.
    pub(crate) row: RecordKey,
}

impl Task {
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "deleted" | "cancelled")
    }

    /// Was it ticked off, and not given up?
    pub(crate) fn is_done(&self) -> bool {
        self.status == "completed"
    }
}

/// The tasks of the main conversation: those of its last list, and those that were created one by one.
pub(crate) fn tasks(session: &Session) -> Vec<Task> {
    let mut listed: Vec<(String, Task)> = Vec::new();
    let mut last_list = Vec::new();
    for entry in session.entries.iter().filter(|entry| entry.is_main()) {
        let task = |todo: &Todo| Task { text: todo.text.clone(), status: todo.status.clone(), row: entry.key };
        match &entry.item {
            Item::Todos(todos) => last_list = todos.iter().map(task).collect(),
            Item::Task(todo) if !todo.id.is_empty() => match listed.iter_mut().find(|(id, _)| *id == todo.id) {
                Some((_, task)) => {
                    if !todo.text.is_empty() {
                        task.text.clone_from(&todo.text);
                    }
                    if !todo.status.is_empty() {
                        task.status.clone_from(&todo.status);
                    }
                    task.row = entry.key;
                }
                None => listed.push((todo.id.clone(), task(todo))),
            },
            _ => {}
        }
    }
    last_list.into_iter().chain(listed.into_iter().map(|(_, task)| task)).filter(|task| !task.text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::names_left;

    #[test]
    fn what_says_that_nothing_is_left_names_nothing() {
        for text in [
            "Nothing left to do.",
            "There is nothing left to do here.",
            "All done, no next steps: enjoy.",
            "Still to do: nothing.",
            "Remaining: nothing",
            "I have no remaining work.",
            "No next steps: all is merged.",
            "All items are done. Left to do: none.",
            "Still open: **none**.",
            "Next steps: none, all is merged.",
            "Nothing of it is still open.",
            "The remaining work was finished yesterday.",
            "All remaining steps are now done.",
            "The only thing left to do was the docs, and they are done now.",
            "Is anything left to do?",
        ] {
            assert!(!names_left(text), "{text}");
        }
        for text in [
            "Still to do: migrate the admin export.",
            "Still open: none of the callers is migrated.",
            "Still open: no test covers the limit.",
            "There is no index, so the export still needs one.",
            "The page with no title still needs one.",
            "Nothing was lost; the export is still to be done.",
            "The remaining work is the export.",
            "Left to do: check that the job is done.",
            "Still to do: the export has to be fixed now.",
            "Still open: none, but the parser needs a test.",
            "The branch is not pushed yet.",
            "Remaining: 2 of 5 files.",
        ] {
            assert!(names_left(text), "{text}");
        }
    }
}
