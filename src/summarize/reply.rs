//! Parses the model's reply: one JSON object of a known schema, or no digest.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::prompt::ModelRequest;
use crate::model::digest::{Claim, ClaimedClosing, ClaimedReplacement, Digest};
use crate::model::section::{MAX_STATEMENT_CHARS, MAX_STATEMENTS, MAX_TITLE_CHARS, Section};
use text::clean::{one_line, shorten, without_controls};
use transcripts::session::RecordKey;

/// A reply is shortened, never refused for its length. Each citation is compared with the words of its record.
const MAX_CITED: usize = 24;

/// The fields of a reply, each once: of two of one name nobody knows which is meant.
struct ReplyFields(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for ReplyFields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = ReplyFields;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReplyFields, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if fields.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("`{key}` stands in it twice")));
                    }
                    fields.insert(key, value);
                }
                Ok(ReplyFields(fields))
            }
        }
        from.deserialize_map(Fields)
    }
}

/// Parses a reply. A model may give a list as a single string, or leave it out.
///
/// # Errors
/// When it contains no JSON object, or one without the fields a digest needs.
pub fn read(reply: &str, request: &ModelRequest) -> Result<Digest, String> {
    let ReplyFields(form) =
        serde_json::from_str(object_in(reply)?).map_err(|e| format!("the reply is not the JSON object asked for: {e}"))?;
    let field = |key: &str| form.get(key).unwrap_or(&Value::Null);
    let mut digest = Digest {
        title: shorten(&text(field("title")), MAX_TITLE_CHARS),
        request: text(field("request")),
        // Nothing is closed or overtaken before it is held against the rows.
        closes_left_out: closings(field("closes"), request),
        replaces_left_out: replacements(field("replaces"), request),
        ..Digest::default()
    };
    for section in Section::all() {
        let read = if section.spec().quoted.is_empty() { claims } else { quotations };
        digest[section] = read(field(section.spec().key), request);
    }
    validate(digest)
}

fn validate(digest: Digest) -> Result<Digest, String> {
    for (name, value) in [("title", &digest.title), ("request", &digest.request)] {
        if value.is_empty() {
            return Err(format!("the reply has no \"{name}\""));
        }
    }
    let says = digest.statements().any(|(section, _)| section.spec().kind.is_some() && !section.spec().is_open);
    if says { Ok(digest) } else { Err("the reply says nothing of what was done".into()) }
}

/// At how many braces an object is looked for.
const MAX_BRACES: usize = 100;

/// The JSON object in a reply, which may be inside a code fence or between sentences that hold braces: the longest one.
pub(crate) fn object_in(reply: &str) -> Result<&str, String> {
    let mut longest = "";
    let mut at = 0;
    for _ in 0..MAX_BRACES {
        let Some(from) = reply[at..].find('{').map(|next| at + next) else { break };
        let mut values = serde_json::Deserializer::from_str(&reply[from..]).into_iter::<serde::de::IgnoredAny>();
        at = match values.next() {
            Some(Ok(_)) => {
                let object = &reply[from..from + values.byte_offset()];
                if object.len() > longest.len() {
                    longest = object;
                }
                from + values.byte_offset()
            }
            // It never ends: what is inside is a part of it.
            Some(Err(e)) if e.is_eof() => break,
            _ => from + 1,
        };
    }
    if !longest.is_empty() {
        return Ok(longest);
    }
    // None is whole: the parser says what is wrong with the rest.
    let object = reply.find('{').zip(reply.rfind('}')).filter(|(from, to)| from < to).map(|(from, to)| &reply[from..=to]);
    object.ok_or_else(|| {
        let start = shorten(&one_line(&without_controls(reply)), 80);
        if start.is_empty() {
            "the reply is empty".into()
        } else {
            format!("the reply is prose, not the JSON object asked for: {start}")
        }
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(s) => shorten(&one_line(&without_controls(s)), MAX_STATEMENT_CHARS),
        Value::Array(_) => shorten(&texts(value).join(" "), MAX_STATEMENT_CHARS),
        Value::Object(o) => o.get("text").map(text).unwrap_or_default(),
        Value::Number(n) => n.to_string(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    items(value).iter().map(|v| text(v)).filter(|t| !t.is_empty()).take(MAX_STATEMENTS).collect()
}

fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

fn claims(value: &Value, request: &ModelRequest) -> Vec<Claim> {
    let all = items(value).into_iter().map(|item| Claim::supported(text(item), rows(item, request)));
    all.filter(|c| !c.text.is_empty()).take(MAX_STATEMENTS).collect()
}

/// The same of a section that quotes: what is quoted, for what is said. What quotes nothing has to be a quotation itself.
fn quotations(value: &Value, request: &ModelRequest) -> Vec<Claim> {
    let claim = |item: &Value| {
        let (said, quoted) = (text(item), text(item.get("said").unwrap_or(&Value::Null)));
        match quoted.is_empty() || said.is_empty() {
            true => Claim::supported(said, rows(item, request)),
            false => Claim { text: quoted, rows: rows(item, request), claimed: Some(said) },
        }
    };
    items(value).into_iter().map(claim).filter(|claim| !claim.text.is_empty()).take(MAX_STATEMENTS).collect()
}

/// The open items that a reply says were closed, with what it cites for that; those made up are dropped.
fn closings(value: &Value, request: &ModelRequest) -> Vec<ClaimedClosing> {
    of_listed(value, &request.open, request).into_iter().map(|(id, rows, _)| ClaimedClosing { id, rows }).collect()
}

/// The same of the statements that it says were overtaken.
fn replacements(value: &Value, request: &ModelRequest) -> Vec<ClaimedReplacement> {
    let all = of_listed(value, &request.statements, request).into_iter();
    let says = |item: &Value| item.get("says").map(text).unwrap_or_default();
    all.map(|(id, rows, item)| ClaimedReplacement { id, by: None, says: says(item), rows }).collect()
}

/// The ids that a reply names of those that were listed for it, each once, with what it cites, and all it says of it.
fn of_listed<'v>(value: &'v Value, listed: &[String], request: &ModelRequest) -> Vec<(String, Vec<RecordKey>, &'v Value)> {
    let mut all: Vec<(String, Vec<RecordKey>, &'v Value)> = Vec::new();
    for item in items(value).into_iter().take(MAX_STATEMENTS) {
        let id = text(item.get("id").unwrap_or(item));
        if listed.contains(&id) && all.iter().all(|(known, ..)| *known != id) {
            all.push((id, rows(item, request), item));
        }
    }
    all
}

/// The records a statement cites, by the numbers shown to the model. Invented numbers are dropped.
fn rows(item: &Value, request: &ModelRequest) -> Vec<RecordKey> {
    let cited = item.get("rows").map(items).unwrap_or_default();
    let number = |v: &Value| v.as_u64().or_else(|| v.as_str().and_then(|s| s.trim_matches(['[', ']', ' ']).parse().ok()));
    let mut rows = Vec::new();
    for row in cited.into_iter().filter_map(number).filter_map(|n| request.rows.get((n as usize).checked_sub(1)?)) {
        if rows.len() < MAX_CITED && !rows.contains(row) {
            rows.push(*row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> ModelRequest {
        let rows = vec![RecordKey([1; 16]), RecordKey([2; 16])];
        ModelRequest { rows, open: vec!["n1".into()], ..ModelRequest::default() }
    }

    #[test]
    fn numbers_become_rows_and_what_was_made_up_is_dropped() {
        let reply = r#"Here: ```json
            {"title":"T","request":"R","completed":"one","decisions":[{"text":"D","rows":[2,9,"[1]"]},"bare"],"closes":["n1",{"id":"n1","rows":[1]},{"id":"n9","rows":[2]}],"extra":1}
        ```"#;
        let digest = read(reply, &request()).unwrap();
        assert_eq!(digest[Section::Decisions][0].rows, [RecordKey([2; 16]), RecordKey([1; 16])]);
        assert_eq!(digest[Section::Decisions][1], Claim::new("bare"));
        assert_eq!(digest[Section::Completed], [Claim::new("one")]);
        assert!(digest.closes.is_empty());
        assert_eq!(digest.closes_left_out, [ClaimedClosing { id: "n1".into(), rows: vec![] }]);
        let cited = read(&reply.replace("[\"n1\",", "["), &request()).unwrap();
        assert_eq!(cited.closes_left_out, [ClaimedClosing { id: "n1".into(), rows: vec![RecordKey([1; 16])] }]);
    }

    #[test]
    fn prose_halves_and_empty_forms_are_failures() {
        for bad in [
            "",
            "You've hit your limit.",
            r#"{"title":"T","request":"#,
            r#"{"title":"T","request":"R"}"#,
            r#"{"title":"","request":"R","completed":["x"]}"#,
            "{}",
            "[1]",
        ] {
            assert!(read(bad, &request()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_reply_is_read_or_refused(reply in "[{}\\[\\]\":,a-z0-9 \\\\]{0,120}") {
            let _ = read(&reply, &request());
        }
    }
}
