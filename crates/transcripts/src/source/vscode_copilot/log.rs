//! A chat as a log of changes: the document at first, then what was set, appended and removed in it.

use serde_json::Value;

/// Longest list to which a change may bring one: a number in a change is no reason to reserve memory.
const MAX_ELEMENTS: usize = 1 << 20;

/// The document to which a log leads. What cannot be read or does not fit is passed over: the last line may be half written.
pub(super) fn replayed(log: &str) -> Option<Value> {
    let mut document = None;
    for entry in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        apply(&mut document, entry);
    }
    document
}

fn apply(document: &mut Option<Value>, mut entry: Value) {
    let (kind, value) = (entry["kind"].as_u64(), entry["v"].take());
    if kind == Some(0) {
        *document = Some(value);
        return;
    }
    let Some((last, path)) = entry["k"].as_array().and_then(|path| path.split_last()) else { return };
    let Some(parent) = document.as_mut().and_then(|document| path.iter().try_fold(document, |at, key| child(at, key))) else {
        return;
    };
    match kind {
        Some(1) => set(parent, last, value),
        Some(2) => {
            let keep = entry["i"].as_u64().and_then(|keep| usize::try_from(keep).ok());
            append(parent, last, value, keep);
        }
        Some(3) => set(parent, last, Value::Null),
        _ => {}
    }
}

fn child<'v>(value: &'v mut Value, key: &Value) -> Option<&'v mut Value> {
    match key {
        Value::String(name) => value.get_mut(name.as_str()),
        key => value.get_mut(usize::try_from(key.as_u64()?).ok()?),
    }
}

fn set(parent: &mut Value, key: &Value, value: Value) {
    match (parent, key) {
        (Value::Object(fields), Value::String(name)) => _ = fields.insert(name.clone(), value),
        (Value::Array(all), key) => {
            let Some(at) = key.as_u64().and_then(|at| usize::try_from(at).ok()).filter(|at| *at <= all.len()) else { return };
            if at == all.len() { all.push(value) } else { all[at] = value }
        }
        _ => {}
    }
}

/// Appends to a list of which the first `keep` elements stay, or all.
fn append(parent: &mut Value, key: &Value, more: Value, keep: Option<usize>) {
    if child(parent, key).is_none_or(|list| !list.is_array()) {
        set(parent, key, Value::Array(Vec::new()));
    }
    let Some(Value::Array(list)) = child(parent, key) else { return };
    list.truncate(keep.unwrap_or(usize::MAX));
    if let Value::Array(more) = more {
        list.extend(more.into_iter().take(MAX_ELEMENTS.saturating_sub(list.len())));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_lead_to_the_document() {
        let log = [
            json!({"kind": 0, "v": {"requests": [], "customTitle": "old"}}),
            json!({"kind": 2, "k": ["requests"], "v": [{"id": 1}, {"id": 2}]}),
            json!({"kind": 2, "k": ["requests", 0, "response"], "v": ["a", "b"]}),
            json!({"kind": 2, "k": ["requests", 0, "response"], "v": ["c"], "i": 1}),
            json!({"kind": 1, "k": ["requests", 1, "result"], "v": {"ok": true}}),
            json!({"kind": 3, "k": ["customTitle"]}),
            json!({"kind": 1, "k": ["requests", 7, "result"], "v": 1}),
            json!({"kind": 1, "k": ["requests", 9], "v": 1}),
            json!({"kind": 1, "k": [], "v": 1}),
            json!({"kind": 9, "k": ["requests"], "v": 1}),
        ];
        let log = log.map(|entry| entry.to_string()).join("\n") + "\n{\"kind\":1,\"k\":[\"requ";
        let expected =
            json!({"requests": [{"id": 1, "response": ["a", "c"]}, {"id": 2, "result": {"ok": true}}], "customTitle": null});
        assert_eq!(replayed(&log), Some(expected));
        assert_eq!(replayed("{\"kind\":0,\"v\":1}\n{\"kind\":0,\"v\":2}"), Some(json!(2)));
        assert_eq!(replayed("{\"kind\":1,\"k\":[\"a\"],\"v\":1}"), None);
    }
}
