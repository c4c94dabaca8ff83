//! What was left open, as far as it can be counted: nothing is read out of words.

use serde::{Deserialize, Serialize};

use super::turns::Turn;
use crate::model::session::{Item, Session};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OpenEnd {
    /// The last turn has no reply that closes it.
    NoReply,
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

pub(super) fn of(session: &Session, turns: &[Turn]) -> Vec<OpenEnd> {
    let end = turns.last().and_then(|turn| {
        let closes = turn.reply.as_ref().is_some_and(|reply| !reply.cut_off);
        match &turn.api_error {
            Some(words) => Some(OpenEnd::ApiError { words: words.clone() }),
            None if turn.interrupted => Some(OpenEnd::Interrupted),
            None => (!closes && turn.number > 0).then_some(OpenEnd::NoReply),
        }
    });
    end.into_iter().chain(tasks(session).into_iter().map(|text| OpenEnd::Task { text })).collect()
}

/// The tasks of the lists' last states that are not ticked off.
fn tasks(session: &Session) -> Vec<String> {
    let is_open = |status: &str| !matches!(status, "completed" | "deleted" | "cancelled");
    let mut listed: Vec<(String, String, String)> = Vec::new();
    let mut last_list = Vec::new();
    for entry in session.entries.iter().filter(|entry| entry.is_main()) {
        match &entry.item {
            Item::Todos(todos) => {
                last_list = todos.iter().filter(|todo| is_open(&todo.status)).map(|todo| todo.text.clone()).collect();
            }
            Item::Task(todo) if !todo.id.is_empty() => match listed.iter_mut().find(|(id, ..)| *id == todo.id) {
                Some((_, text, status)) => {
                    if !todo.text.is_empty() {
                        text.clone_from(&todo.text);
                    }
                    if !todo.status.is_empty() {
                        status.clone_from(&todo.status);
                    }
                }
                None => listed.push((todo.id.clone(), todo.text.clone(), todo.status.clone())),
            },
            _ => {}
        }
    }
    let of_tasks = listed.into_iter().filter(|(_, text, status)| is_open(status) && !text.is_empty()).map(|(_, text, _)| text);
    last_list.into_iter().chain(of_tasks).collect()
}
