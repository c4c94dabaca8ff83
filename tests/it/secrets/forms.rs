//! The ways in which a secret stands in a text.

use serde_json::json;

use crate::secrets::kinds::{Kind, Shape};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Sentence,
    Assigned,
    Json,
    JsonInJson,
    JsonTwiceInJson,
    /// Behind an escaped line's end, as in a string that was printed.
    Escaped,
    /// Over lines of 64 or 76 characters.
    Wrapped(usize),
    Yaml,
    Header,
    Url,
    Quoted,
    Fence,
    Diff,
    Colored,
    /// With its first characters coloured, as a search shows what it found.
    Highlighted,
    Start,
    End,
    Table,
    /// In a language that puts no spaces between words.
    Spaceless,
}

use Form::*;

pub const ALL: &[Form] = &[
    Sentence,
    Assigned,
    Json,
    JsonInJson,
    JsonTwiceInJson,
    Escaped,
    Wrapped(64),
    Wrapped(76),
    Yaml,
    Header,
    Url,
    Quoted,
    Fence,
    Diff,
    Colored,
    Highlighted,
    Start,
    Table,
    Spaceless,
];
const OF_TOKENS: &[Form] = &[
    Sentence, Assigned, Json, JsonInJson, Yaml, Diff, Header, Fence, JsonTwiceInJson, Quoted, Colored, Url, Start, Escaped, End,
    Highlighted, Table,
];
/// Only a token that is longer than a line is broken.
const OF_LONG_TOKENS: &[Form] =
    &[Wrapped(64), Sentence, Json, Wrapped(76), JsonInJson, Assigned, Diff, JsonTwiceInJson, Escaped, Fence, Colored, Start];
const OF_NAMED: &[Form] = &[Assigned, Json, Yaml, JsonInJson, Diff, Header, JsonTwiceInJson, Quoted, Colored, Url, Fence];
const OF_TEXTS: &[Form] = &[Fence, JsonInJson, End, Diff, Start, Colored, JsonTwiceInJson, Json];

/// The form of a kind's `at`th secret; another one in each place.
pub fn form_of(kind_at: usize, kind: &Kind, text: &str, place_at: usize) -> Form {
    let forms = match kind.shape {
        Shape::Token if text.len() > 76 => OF_LONG_TOKENS,
        Shape::Token => OF_TOKENS,
        Shape::Named => OF_NAMED,
        Shape::Text => OF_TEXTS,
    };
    forms[(kind_at + 3 * place_at) % forms.len()]
}

/// The text in this form. What is told by its name is never without it.
pub fn written(form: Form, kind: &Kind, text: &str) -> String {
    let name = kind.variable;
    let lower = name.to_lowercase();
    let key = if kind.shape == Shape::Text { "content" } else { &lower };
    let object = || json!({key: text}).to_string();
    match form {
        Sentence => format!("Use {text}, please, when you log in."),
        Assigned => format!("{name}={text}"),
        Json => format!("{{\"region\": \"eu\", {}", &object()[1..]),
        JsonInJson => json!({"id": 7, "body": object()}).to_string(),
        JsonTwiceInJson => json!({"event": json!({"id": 7, "body": object()}).to_string()}).to_string(),
        Escaped => format!("stdout = \"it says:\\n{text}\\n\\nand ends\""),
        Wrapped(width) => wrapped(text, width),
        Yaml => format!("service:\n  region: eu\n  {lower}: {text}\n  retries: 3"),
        Header => format!("X-{}: {text}", name.replace('_', "-")),
        Url => format!("https://api.shop.example/v1/orders?{lower}={text}&page=2"),
        Quoted => format!("{name} = '{text}'"),
        Fence if kind.shape == Shape::Named => format!("```\n{name}={text}\n```"),
        Fence => format!("```\n{text}\n```"),
        Diff => diff(kind, text),
        Colored if kind.shape == Shape::Named => format!("\x1b[36m{name}\x1b[0m=\x1b[33m{text}\x1b[0m"),
        Colored => format!("\x1b[1;33m{text}\x1b[0m"),
        Highlighted => {
            let (head, tail) = text.split_at(text.floor_char_boundary(9));
            format!("config:3:\x1b[01;31m\x1b[K{head}\x1b[m\x1b[K{tail}")
        }
        Start | End => text.to_owned(),
        Spaceless => format!("接続には{text}を使ってください。"),
        Table => format!("| name | value |\n|---|---|\n| {lower} | `{text}` |"),
    }
}

fn wrapped(text: &str, width: usize) -> String {
    let signs: Vec<char> = text.chars().collect();
    signs.chunks(width).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

fn diff(kind: &Kind, text: &str) -> String {
    let head = "@@ -1,2 +1,3 @@\n region=eu\n";
    match kind.shape {
        Shape::Text => format!("{head}{}\n", text.lines().map(|l| format!("+{l}")).collect::<Vec<_>>().join("\n")),
        _ => format!("{head}+{}={text}\n", kind.variable),
    }
}
