//! Row parsing: any line is a row, something known that says nothing, an unknown kind or a bad line, and nothing it leaves is dangerous.

use std::sync::LazyLock;

use recall::testing::model::client::Client;
use recall::testing::model::session::{Item, Record};
use recall::testing::privacy::Sanitizer;
use recall::testing::source::json::{self, fields};
use recall::testing::source::{ParsedLine, TranscriptIdentity, is_complete, parse_line};
use serde_json::Value;
use serde_json::value::RawValue;

use super::acts;

static SANITIZER: LazyLock<Sanitizer> = LazyLock::new(Sanitizer::shipped);
/// The longest text that is kept, in characters, with room for what says that something was cut out.
const LONGEST: usize = 16_100;

pub fn check(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n').take(16) {
        one(line);
    }
}

fn one(line: &[u8]) {
    let place = TranscriptIdentity { session: "a-session".into(), ..TranscriptIdentity::default() };
    let read = parse_line(line, &place, &SANITIZER);
    // Bookkeeping is known by how it begins: how it ends makes no difference.
    let is_passed_over = read == ParsedLine::Empty && line.starts_with(b"{\"type\":\"");
    assert!(is_passed_over || is_complete(line) != matches!(read, ParsedLine::Malformed(_)));
    assert_eq!(parse_line(&[line, b" \r"].concat(), &place, &SANITIZER), read, "the same with its line's end");
    of_line(&read);
    [
        Client::Codex,
        Client::CopilotCli,
        Client::QwenCode,
        Client::Pi,
        Client::OpenCode,
        Client::Cline,
        Client::Gemini,
        Client::Cursor,
        Client::RooCode,
        Client::KiloCode,
        Client::VscodeCopilot,
        Client::Antigravity,
        Client::Windsurf,
    ]
    .into_iter()
    .for_each(|client| of_other(line, client));
    let bare = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if let Some(text) = std::str::from_utf8(bare).ok().filter(|_| !is_passed_over || is_complete(line)) {
        of_json(text, &read);
    }
}

/// Other clients pass over no line before they know that it is JSON.
fn of_other(line: &[u8], client: Client) {
    let place = TranscriptIdentity { client, session: "a-session".into(), agent: None, cwd: None };
    let read = parse_line(line, &place, &SANITIZER);
    assert_eq!(is_complete(line), !matches!(read, ParsedLine::Malformed(_)), "{client:?}");
    assert_eq!(parse_line(&[line, b" \r"].concat(), &place, &SANITIZER), read, "{client:?}: the same with its line's end");
    of_line(&read);
}

fn of_line(read: &ParsedLine) {
    match read {
        ParsedLine::Record(row) => of_row(row),
        ParsedLine::Unknown(name) => assert!(name.chars().count() <= 60 && !name.contains(acts), "{name:?}"),
        ParsedLine::Cost { by_model, .. } => {
            assert!(by_model.iter().flatten().all(|(model, usd)| *usd >= 0.0 && usd.is_finite() && !model.contains(acts)));
        }
        ParsedLine::Malformed(_)
        | ParsedLine::Empty
        | ParsedLine::Link(_)
        | ParsedLine::WentBack(_)
        | ParsedLine::SessionStart { .. } => {}
    }
}

fn of_row(row: &Record) {
    assert_eq!(row.items.len(), row.parts.len());
    for text in row.items.iter().flat_map(Item::texts).chain(row.branch.as_deref()).chain(row.version.as_deref()) {
        assert!(!text.contains(acts), "{text:?}");
        assert!(text.chars().count() <= LONGEST, "{} characters", text.chars().count());
    }
    // What is stored is read again as it was.
    for item in &row.items {
        let stored = serde_json::to_vec(item).expect("an item is JSON");
        assert_eq!(serde_json::from_slice::<Item>(&stored).expect("it is read again"), *item);
    }
}

/// The reader of fields and serde_json's own values agree.
fn of_json(text: &str, read: &ParsedLine) {
    const NAMES: [&str; 4] = ["type", "uuid", "message", "content"];
    let value = serde_json::from_str::<Value>(text).ok();
    if let Some(Value::Object(object)) = &value {
        assert!(!matches!(read, ParsedLine::Malformed(_)), "an object is no bad line: {text:?}");
        let found = fields(text, &NAMES).expect("it is an object");
        for (name, raw) in NAMES.into_iter().zip(found) {
            let raw = raw.map(|raw| serde_json::from_str::<Value>(raw.written().seen_by_test()).expect("a part of a value is one"));
            assert_eq!(raw.as_ref(), object.get(name), "{name} of {text:?}");
        }
    }
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    // In the name of a field a control character is let through, as half a surrogate pair is.
    assert!(is_json || matches!(read, ParsedLine::Malformed(_)) || text.contains(char::is_control), "{text:?}");
    if is_json {
        mapped(text, value.as_ref());
    }
}

/// Other strings in the same JSON.
fn mapped(text: &str, value: Option<&Value>) {
    if let Some(same) = json::map_strings(text, |_| Some(None)) {
        assert_eq!(same, text, "nothing was changed");
    }
    let again =
        json::map_strings(text, |text| Some(Some(text.seen_by_test().to_owned()))).map(|json| serde_json::from_str::<Value>(&json));
    if let (Some(again), Some(value)) = (again, value) {
        assert_eq!(&again.expect("it is JSON"), value, "written in another way, it says the same");
    }
    if let Some(shown) = json::map_strings(text, |text| SANITIZER.verbatim(text)) {
        assert!(serde_json::from_str::<&RawValue>(&shown).is_ok(), "{shown}");
    }
}
