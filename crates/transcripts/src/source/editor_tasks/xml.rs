//! Calls of tools as older releases write them: XML in the assistant's text.

use serde_json::{Map, Value};

use super::tools::TOOLS;
use crate::privacy::raw::RawText;

/// A call, with its arguments as text each.
#[derive(Debug, PartialEq)]
struct XmlCall {
    name: String,
    given: Value,
}

/// The assistant's words in a text, without its thoughts, and the calls in it.
fn calls_in(text: &str) -> (String, Vec<XmlCall>) {
    let text = without(text, "thinking");
    let (mut said, mut calls) = (String::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some((before, name, inside, after)) = next_call(rest) {
        said.push_str(before);
        calls.push(XmlCall { name: name.to_owned(), given: Value::Object(arguments(inside)) });
        rest = after;
    }
    said.push_str(rest);
    (said, calls)
}

/// The same of a raw text: its words, and the name and the arguments of each call.
pub(super) fn raw_calls_in(text: &RawText<'_>) -> (RawText<'static>, Vec<[RawText<'static>; 2]>) {
    let mut all = text.all_made(|text| {
        let (said, calls) = calls_in(text);
        std::iter::once(said).chain(calls.into_iter().flat_map(|call| [call.name, call.given.to_string()])).collect()
    });
    let said = all.remove(0);
    let mut rest = all.into_iter();
    (said, std::iter::from_fn(|| Some([rest.next()?, rest.next()?])).collect())
}

/// The first tag of a tool that begins a line, with what is before, in and behind it. What is not closed goes to the end.
fn next_call(text: &str) -> Option<(&str, &str, &str, &str)> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let begins_line = text[..at].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n');
        let tag = text[at + 1..].split_once('>').filter(|_| begins_line);
        if let Some((name, inside)) = tag.filter(|(name, _)| TOOLS.class_of(name).is_some()) {
            let close = format!("</{name}>");
            let (inside, after) = inside.split_once(&close).unwrap_or((inside, ""));
            return Some((&text[..at], name, inside, after));
        }
        at += 1;
    }
}

/// Arguments that may hold tags themselves, their own name's among them.
const OF_ANY_TEXT: [&str; 5] = ["args", "content", "diff", "response", "result"];

/// The arguments of a call, by name.
fn arguments(inside: &str) -> Map<String, Value> {
    let mut all = Map::new();
    let mut rest = inside;
    while let Some((_, tag)) = rest.split_once('<') {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let Some((name, value)) = tag.split_once('>').filter(|(name, _)| is_name(name)) else {
            rest = tag;
            continue;
        };
        let close = format!("</{name}>");
        let parts = if OF_ANY_TEXT.contains(&name) { value.rsplit_once(&close) } else { value.split_once(&close) };
        let (value, after) = parts.unwrap_or((value, ""));
        all.insert(name.to_owned(), Value::String(value.strip_prefix('\n').unwrap_or(value).to_owned()));
        rest = after;
    }
    all
}

/// A text without what stands in tags of this name.
fn without(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = inside.split_once(&close).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// What stands in tags of this name in a text, from the first one on.
pub(super) fn inside<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).filter_map(|rest| rest.split_once(&close)).map(|(inside, _)| inside.trim()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_told_from_words() {
        let text = "<thinking>hm <read_file></thinking>I look at `<read_file>`.\n\n<execute_command>\n<command>ls <dir></command>\n<requires_approval>false</requires_approval>\n</execute_command>\nThen:\n<write_to_file>\n<path>a.md</path>\n<content>\n<path>x</path>\n</content></write_to_file>";
        let (said, calls) = calls_in(text);
        assert_eq!(said, "I look at `<read_file>`.\n\n\nThen:\n");
        let call = |name: &str, given: Value| XmlCall { name: name.to_owned(), given };
        assert_eq!(
            calls,
            [
                call("execute_command", json!({"command": "ls <dir>", "requires_approval": "false"})),
                call("write_to_file", json!({"path": "a.md", "content": "<path>x</path>\n"})),
            ]
        );
        assert_eq!(calls_in("<read_file>\n<path>a.rs</path>\n").1[0].given, json!({"path": "a.rs"}));
    }

    #[test]
    fn what_tags_hold_is_found() {
        assert_eq!(inside("<args><file><path>a.rs</path></file><file><path> b.rs </path></file></args>", "path"), ["a.rs", "b.rs"]);
        assert!(inside("<path>a.rs", "path").is_empty());
    }
}
