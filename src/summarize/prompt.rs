//! What the model is given: our instructions, and the session as fenced data.

use crate::condense::{Condensed, condense};
use crate::digest::OpenItem;
use crate::privacy::Gate;
use crate::session::{Millis, RowKey, Session, digest_of, short_id};

/// The instructions that ship. The user's own file takes their place.
pub const SHIPPED: &str = include_str!("../../prompts/digest.md");

/// Room for open items in a request, in bytes.
const MAX_OPEN_BYTES: usize = 900;

/// One call's input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    pub system: String,
    pub stdin: String,
    /// The row behind each number the model may cite.
    pub rows: Vec<RowKey>,
    /// Ids it may close.
    pub open: Vec<String>,
}

impl Request {
    /// Of everything the model is given, and the model.
    pub fn hash(&self, model: &str) -> [u8; 32] {
        digest_of(&[b"claude", model.as_bytes(), self.system.as_bytes(), self.stdin.as_bytes()])
    }

    pub fn bytes(&self) -> usize {
        self.system.len() + self.stdin.len()
    }
}

/// Builds the request: a head of a few lines, open items, the condensed session inside a fence its text cannot hold.
///
/// What is stored has no secrets any more; that it is looked through once more is cheap, and rules may have been added since.
pub fn request(session: &Session, open: &[OpenItem], system: &str, budget: usize, gate: &Gate) -> Request {
    let Condensed { text, rows, .. } = condense(session, budget);
    let text = gate.redact(&text);
    // The fence's name is a hash over the text, so the text cannot have known it.
    let fence = short_id("record-", &[&text]);
    let mut stdin = gate.redact(&head(session));
    if !open.is_empty() {
        stdin.push_str("Open items of earlier sessions:\n");
        // Characters of other scripts have several bytes; the list as a whole keeps to its room.
        let end = stdin.len() + MAX_OPEN_BYTES;
        for item in open {
            let line = format!("{} {}\n", item.id, told(&gate.redact(&item.text), 100));
            if stdin.len() + line.len() <= end {
                stdin.push_str(&line);
            }
        }
    }
    stdin.push_str(&format!("<{fence}>\n{text}</{fence}>\nThe record ends here. Answer with the JSON object.\n"));
    Request { system: system.to_owned(), stdin, rows, open: open.iter().map(|o| o.id.clone()).collect() }
}

/// A text that stands outside the fence: one line in which nothing is hidden.
fn told(text: &str, most: usize) -> String {
    crate::context::said(text, most)
}

fn head(session: &Session) -> String {
    let minute = |at: Option<Millis>| {
        let time = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        time.map_or_else(|| "unknown".into(), |t| t.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let branch = session.branches.last().map_or(String::new(), |b| format!(", branch {}", told(b, 60)));
    let project = told(session.project.name(), 60);
    format!("Project {project}{branch}, {} to {}.\n", minute(session.began_at()), minute(session.last_at()))
}
