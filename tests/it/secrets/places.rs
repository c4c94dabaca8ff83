//! Sessions in which every kind of secret is planted in every place.

use std::fmt;

use serde_json::{Value, json};

use crate::secrets::forms::{Form, form_of, written};
use crate::secrets::kinds::{KINDS, Kind};
use crate::support::rows::{Rows, SHOP, bash};

/// Kinds in one session: as many as a digest has fields.
pub const TOGETHER: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Prompt,
    Reply,
    /// A tool's argument.
    Input,
    /// What a tool printed.
    Output,
    /// A text within a command.
    Heredoc,
    /// What the model answers that writes the digest.
    Answer,
}

pub const PLACES: [Place; 6] = [Place::Prompt, Place::Reply, Place::Input, Place::Output, Place::Heredoc, Place::Answer];

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&format!("{self:?}").to_lowercase())
    }
}

/// One secret in its place.
#[derive(Debug, Clone)]
pub struct Planted {
    pub kind: &'static str,
    pub place: String,
    pub form: String,
    pub parts: Vec<String>,
}

/// A secret with the text it stands in.
pub struct Sown {
    pub planted: Planted,
    pub form: Form,
    pub text: String,
    /// Of the secret alone.
    pub length: usize,
}

pub fn sow(kind_at: usize, kind: &'static Kind, place: Place) -> Sown {
    let grown = kind.grown(&place.to_string());
    let form = form_of(kind_at, kind, &grown.text, place as usize);
    let text = written(form, kind, &grown.text);
    let planted = Planted { kind: kind.name, place: place.to_string(), form: format!("{form:?}"), parts: grown.parts };
    Sown { planted, form, text, length: grown.text.len() }
}

/// The sentence that stands beside a secret, and has to stay.
pub fn beside(kind_at: usize, place: Place) -> String {
    const WHAT: [&str; 8] =
        ["pagination", "rounding", "sorting", "caching", "translation", "validation", "throttling", "archiving"];
    const OF: [&str; 20] = [
        "orders", "invoices", "baskets", "refunds", "vouchers", "parcels", "returns", "reviews", "tariffs", "pallets", "coupons",
        "receipts", "suppliers", "drawers", "labels", "shelves", "barcodes", "warranties", "ledgers", "deposits",
    ];
    let (what, of) = (WHAT[kind_at / OF.len() % WHAT.len()], OF[kind_at % OF.len()]);
    let where_ = if place == Place::Prompt { "on the first page" } else { "after the last page" };
    format!("The {what} of the list of {of} breaks {where_}.")
}

/// Ordinary words around a secret, longer than the secret itself.
fn around(sown: &Sown, beside: &str) -> String {
    const MORE: [&str; 4] = [
        "It was seen by two customers on Monday, and again by the night shift.",
        "Nobody has touched that module since the move to the new warehouse.",
        "The tests of the list are green, so they do not look at this.",
        "Please keep the change small and write down what you find.",
    ];
    let mut words = beside.to_owned();
    for more in MORE.iter().cycle() {
        if words.len() > 2 * sown.length + 80 {
            break;
        }
        words.push(' ');
        words.push_str(more);
    }
    match sown.form {
        Form::Start => format!("{} is what the service takes.\n\n{words}", sown.text),
        Form::End => format!("{words}\n\nThe service takes this:\n{}", sown.text),
        Form::Sentence => format!("{words} {}", sown.text),
        _ => format!("{words}\n\n{}\n\nThat is all there is.", sown.text),
    }
}

/// A session with its id and what was planted in it.
pub struct Plot {
    pub id: String,
    pub rows: String,
    pub planted: Vec<Planted>,
    /// Kinds by their place in the table.
    pub kinds: Vec<usize>,
}

/// All sessions.
pub fn plots() -> Vec<Plot> {
    let all: Vec<usize> = (0..KINDS.len()).collect();
    all.chunks(TOGETHER).enumerate().map(|(n, kinds)| plot(n, kinds)).collect()
}

fn plot(n: usize, kinds: &[usize]) -> Plot {
    let mut rows = Rows::new(n);
    let mut planted = Vec::new();
    for &at in kinds {
        let [prompt, reply, input, output, heredoc] =
            [Place::Prompt, Place::Reply, Place::Input, Place::Output, Place::Heredoc].map(|place| sow(at, &KINDS[at], place));
        rows.user(json!(around(&prompt, &beside(at, Place::Prompt))));
        rows.uses(at * 2, &tool(at, &input.text));
        let (text, failed) = printed(at, &output);
        rows.result(at * 2, &text, failed);
        rows.uses(at * 2 + 1, &bash(&format!("cat > setup-{at}.sh <<'EOF'\n{}\nEOF", heredoc.text)));
        rows.result(at * 2 + 1, "", false);
        rows.assistant(&around(&reply, &beside(at, Place::Reply)));
        planted.extend([prompt, reply, input, output, heredoc].map(|sown| sown.planted));
    }
    Plot { id: rows.id, rows: rows.text, planted, kinds: kinds.to_vec() }
}

/// A tool with the text for an argument; which one differs from kind to kind.
fn tool(at: usize, text: &str) -> Value {
    match at % 12 {
        0 | 3 | 6 | 9 => bash(&format!("./import.sh --from '{text}'")),
        1 | 5 | 7 => json!({"name": "mcp__tracker__update_issue", "input": {"id": "SHOP-7", "text": text}}),
        2 | 8 => bash(text),
        4 | 10 => json!({"name": "mcp__tracker__add_comment", "input": {"title": "Log in", "text": text}}),
        _ => json!({"name": "Write", "input": {"file_path": format!("{SHOP}/src/part{at}.py"), "content": text}}),
    }
}

/// What a command printed that failed, or whose last line is its verdict; and whether it failed.
fn printed(at: usize, sown: &Sown) -> (String, bool) {
    let text = &sown.text;
    if text.contains('\n') {
        return (format!("Exit code 1\n{text}"), true);
    }
    match at % 4 {
        0 => (format!("Exit code 1\nerror: cannot log in with {text}"), true),
        1 => (format!("Exit code 1\nconnecting\nRequest failed: {text} was refused\nerror: 1 error"), true),
        2 => (format!("Exit code 1\n{text}"), true),
        _ => (format!("collected 14 items\n12 passed, 2 failed while it had {text}"), false),
    }
}
