//! What is shared.

use serde_json::Value;

/// The most bytes of a machine's name, of a kind, and of an id, as the tables have them.
const AUTHOR_BYTES: usize = 128;
const KIND_BYTES: usize = 128;
const ID_BYTES: usize = 1024;
/// The most bytes of a body as text, and of a text for the search.
const BODY_BYTES: usize = 1 << 20;
const SEARCH_BYTES: usize = 1 << 20;

/// What a record is known by among those that one machine of a member shares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// The project, by the address of its repository: host and path, without scheme, user and `.git`.
    pub project: String,
    /// What sort of record it is, in the words of the caller: at most 128 bytes.
    pub kind: String,
    /// Which of its sort: at most 1024 bytes. It stays on the server when the record is withdrawn.
    pub id: String,
}

/// A record to share.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it is known by.
    pub id: RecordId,
    /// Grows whenever the record changes; the server keeps the highest.
    pub version: i64,
    /// What it says, at most 1 MiB of JSON. The server keeps its meaning and not its form: keys are sorted.
    pub body: Value,
    /// The words by which it is found, at most 1 MiB; those after the first 65,536 characters are found only by similarity.
    pub search: String,
}

/// A record to withdraw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    /// What it is known by.
    pub id: RecordId,
    /// The version that it has, or a higher one: the server keeps a record whose version is higher than this.
    pub version: i64,
}

/// What is wrong with a machine's name, if something is.
pub(crate) fn refuse_author(author: &str) -> Option<String> {
    (author.is_empty() || author.len() > AUTHOR_BYTES || author.contains('\0'))
        .then(|| format!("the name of the machine is empty, has more than {AUTHOR_BYTES} bytes or holds a NUL"))
}

impl RecordId {
    pub(crate) fn refusal(&self) -> Option<String> {
        if self.kind.len() > KIND_BYTES || self.id.len() > ID_BYTES {
            return Some(format!("its kind has more than {KIND_BYTES} bytes, or its id more than {ID_BYTES}"));
        }
        [&self.project, &self.kind, &self.id].iter().any(|text| text.contains('\0')).then(|| "its key holds a NUL".into())
    }
}

impl Record {
    /// Why the server would not take it: told here, since the server would refuse everything that is sent with it.
    pub(crate) fn refusal(&self) -> Option<String> {
        if let Some(why) = self.id.refusal() {
            return Some(why);
        }
        if self.body.to_string().len() > BODY_BYTES || self.search.len() > SEARCH_BYTES {
            return Some(format!("its body has more than {BODY_BYTES} bytes, or its words more than {SEARCH_BYTES}"));
        }
        (holds_nul(&self.body) || self.search.contains('\0')).then(|| "it holds a NUL, which PostgreSQL cannot store".into())
    }
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(body: Value) -> Record {
        let id = RecordId { project: "example.com/shop".into(), kind: "note".into(), id: "1".into() };
        Record { id, version: 1, body, search: "water".into() }
    }

    #[test]
    fn what_the_server_cannot_store_is_refused_here() {
        assert_eq!(record(json!({"text": "water \\u0000 the plants"})).refusal(), None);
        for body in [json!("a\0"), json!([{"k": ["a\0b"]}]), json!({"k\0": 1}), json!("x".repeat(BODY_BYTES))] {
            assert!(record(body.clone()).refusal().is_some());
        }
        let mut long = record(json!(1));
        long.id.id = "x".repeat(ID_BYTES + 1);
        assert!(long.refusal().is_some());
    }
}
