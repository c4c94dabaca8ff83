use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::setup::hook_command::{HookForm, TIMEOUT};

fn own() -> Invocation {
    Invocation::Own { program: "/opt/recall".into(), environment: Vec::new() }
}

fn added(text: &str) -> Insertion {
    add(text, &own(), HookForm::USUAL, false).unwrap_or_else(|e| panic!("{e:?}: {text}"))
}

fn permitted(text: &str) -> Insertion {
    add(text, &own(), HookForm::USUAL, true).unwrap_or_else(|e| panic!("{e:?}: {text}"))
}

/// Puts ours in and takes it out again: the text is what it was, and in between the client reads our three hooks.
fn there_and_back(text: &str) -> String {
    let new = added(text);
    assert_eq!(state(&new.text).unwrap().missing(HookForm::USUAL), [""; 0], "{}", new.text);
    assert_eq!(added(&new.text), Insertion { text: new.text.clone(), shapes: Shapes::new() }, "a second time changes nothing");
    assert_eq!(remove(&new.text, &new.shapes).unwrap(), text, "taken out of {}", new.text);
    let both = permitted(text);
    assert!(state(&both.text).unwrap().permitted, "{}", both.text);
    assert_eq!(
        permitted(&both.text),
        Insertion { text: both.text.clone(), shapes: Shapes::new() },
        "a second time changes nothing"
    );
    assert_eq!(remove(&both.text, &both.shapes).unwrap(), text, "taken out of {}", both.text);
    new.text
}

#[test]
fn a_client_with_flat_hooks_gets_them_so_and_loses_no_other() {
    let add = |text: &str| add(text, &own(), HookForm::COPILOT, false).unwrap_or_else(|e| panic!("{e:?}: {text}"));
    let theirs = r#"{"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "say hello", "timeoutSec": 9}], "agentStop": []}}"#;
    for text in ["", "{}\n", theirs] {
        let new = add(text);
        assert_eq!(state(&new.text).unwrap().missing(HookForm::COPILOT), [""; 0], "{}", new.text);
        assert_eq!(add(&new.text), Insertion { text: new.text.clone(), shapes: Shapes::new() }, "a second time changes nothing");
        assert_eq!(remove(&new.text, &new.shapes).unwrap(), text, "taken out of {}", new.text);
        let parsed: Json = serde_json::from_str(&new.text).unwrap();
        let hook = serde_json::json!({"type": "command", "bash": "'/opt/recall' hook user-prompt-submit", "timeoutSec": TIMEOUT});
        assert_eq!((&parsed["version"], &parsed["hooks"]["userPromptSubmitted"]), (&1.into(), &serde_json::json!([hook])));
    }
    // What is outdated is mended where it stands.
    let old = r#"{"version": 1, "hooks": {"sessionEnd": [{"type": "command", "bash": "/old/recall hook session-end", "timeoutSec": 60}]}}"#;
    let new: Json = serde_json::from_str(&add(old).text).unwrap();
    let hook = serde_json::json!({"type": "command", "bash": "'/opt/recall' hook session-end", "timeoutSec": TIMEOUT});
    assert_eq!(new["hooks"]["sessionEnd"], serde_json::json!([hook]));
}

#[test]
fn the_rule_goes_into_the_list_there_is_and_one_of_the_users_stays() {
    let new = there_and_back("{\"permissions\": {\"allow\": [\"Bash(ls:*)\"], \"deny\": []}}\n");
    assert!(!new.contains(RULE));
    let both = permitted("{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}}\n");
    assert!(both.text.contains("[\"Bash(ls:*)\", \"mcp__recall\"]"), "{}", both.text);
    // What others allowed meanwhile stays, and so does a rule that the user wrote.
    let later = both.text.replace("\"mcp__recall\"", "\"mcp__recall\", \"WebSearch\"");
    assert!(remove(&later, &both.shapes).unwrap().contains("[\"Bash(ls:*)\", \"WebSearch\"]"), "{later}");
    let theirs = "{\"permissions\": {\"allow\": [\"mcp__recall\"]}}\n";
    let both = permitted(theirs);
    assert_eq!(remove(&both.text, &both.shapes).unwrap(), theirs);
    for (text, what) in [
        ("{\"permissions\": []}", "`permissions` is no object"),
        ("{\"permissions\": {\"allow\": 1}}", "`permissions.allow` is no array"),
    ] {
        assert_eq!(add(text, &own(), HookForm::USUAL, true).expect_err(text).what, what);
        assert!(add(text, &own(), HookForm::USUAL, false).is_ok(), "the hooks do not need it: {text}");
    }
}

#[test]
fn the_form_of_the_file_is_followed() {
    insta::assert_snapshot!("one_line", there_and_back(r#"{"a":1, "b": [1, 2]}"#));
    let lines = there_and_back("{\n\t\"model\": \"opus\"\n}\n");
    assert!(
        lines.starts_with("{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n"),
        "{lines}"
    );
    assert!(lines.ends_with("\t\t]\n\t}\n}\n"), "{lines}");
    let crlf = there_and_back("{\r\n    \"a\": 1\r\n}");
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
    assert!(crlf.contains("\r\n        \"SessionStart\": [\r\n            {\r\n"), "{crlf}");
    insta::assert_snapshot!(there_and_back("{}\n"));
}

#[test]
fn every_form_comes_back_byte_for_byte() {
    for text in [
        "",
        " \n",
        "{}",
        "{ }",
        "{\n}\n",
        "\u{feff}{}",
        "\u{feff}",
        "{\"hooks\":{}}",
        "{ \"a\" : 1 }",
        "{\"a\":1\n,\"b\":2\n}\n",
        "{\n  \"hooks\": {},\n  \"a\": {}\n}",
        "{\n  \"hooks\": { },\n  \"a\": 1\n}",
        "  {\n    \"a\": 1\n  }\n",
        "{\n\"a\": 1\n}",
        "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n",
        "{\"hooks\":{\"SessionStart\":[],\"SessionEnd\":[ ],\"Stop\":[{\"hooks\":[]}]}}",
        "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n",
        "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\n        \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]\n      }\n    ]\n  },\n  \"z\": 1\n}\n",
        "{\"a\":{\"b\":[1,2,{\"c\":\"}]\\\"\"}]},\"hooks\":{\"SessionEnd\":[{\"matcher\":\"\",\"hooks\":[{\"type\":\"command\",\"command\":\"theirs\"}]}]}}",
        "{\"hooks\":1,\"a\":2,\"hooks\":{\"SessionStart\":3,\"SessionStart\":[]}}",
    ] {
        there_and_back(text);
    }
}

#[test]
fn one_line_is_one_line_again_with_what_others_changed_meanwhile() {
    let new = added(r#"{ "a" : 1, "hooks":{"SessionEnd":[{"hooks":[]}] }}"#);
    let changed = new.text.replace("1", "[2, 3]");
    assert_eq!(remove(&changed, &new.shapes).unwrap(), r#"{ "a" : [2, 3], "hooks":{"SessionEnd":[{"hooks":[]}] }}"#);
    let new = added(r#"{ "a" : 1}"#);
    let more = new.text.replace("\"a\" : 1", "\"a\" : 1,\n  \"b\": 2");
    assert_eq!(remove(&more, &new.shapes).unwrap(), "{\n  \"a\" : 1,\n  \"b\": 2\n}");
}

#[test]
fn hooks_of_others_stay_before_and_behind_ours() {
    let theirs = |name: &str| format!(r#"{{"hooks":[{{"type":"command","command":"{name}"}}]}}"#);
    let first = added(&format!(r#"{{"hooks":{{"SessionEnd":[{}]}}}}"#, theirs("first"))).text;
    // Another program installs itself behind us, and one puts its hook into our entry.
    let mut last: Json = serde_json::from_str(&first).unwrap();
    let json = |text: String| serde_json::from_str::<Json>(&text).unwrap();
    last["hooks"]["SessionEnd"].as_array_mut().unwrap().push(json(theirs("last")));
    let in_ours = &mut last["hooks"]["PreCompact"][0]["hooks"];
    in_ours.as_array_mut().unwrap().push(serde_json::json!({"type": "command", "command": "in ours"}));
    let left = remove(&last.to_string(), &Shapes::new()).unwrap();
    let expected = json(format!(
        r#"{{"hooks":{{"PreCompact":[{}],"SessionEnd":[{},{}]}}}}"#,
        theirs("in ours"),
        theirs("first"),
        theirs("last")
    ));
    assert_eq!(left, expected.to_string());
}

#[test]
fn what_is_outdated_is_mended_where_it_stands() {
    let old = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"command":"x"},{"type":"command","command":"'/old/recall' hook session-start","timeout":60,"mine":true}]}],
"Stop":[{"hooks":[{"type":"command","command":"/old/recall hook stop 2>>/tmp/log"}]}]}}"#;
    let new = added(old).text;
    let start = old.lines().next().unwrap();
    let start =
        start.replace("'/old/recall' hook session-start\",\"timeout\":60", "'/opt/recall' hook session-start\",\"timeout\":5");
    assert!(new.starts_with(&start), "{new}");
    let parsed: Json = serde_json::from_str(&new).unwrap();
    let stop = serde_json::json!({"type": "command", "command": "'/opt/recall' hook stop 2>>/tmp/log", "timeout": 5});
    assert_eq!(parsed["hooks"]["Stop"][0]["hooks"], serde_json::json!([stop]));
    assert_eq!(new.matches("session-start").count(), 1, "{new}");
    assert_eq!(added(&new).text, new);
    let left: Json = serde_json::from_str(&remove(&new, &Shapes::new()).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"command": "x"}]}]}}));
}

#[test]
fn of_two_hooks_that_do_the_same_one_stays() {
    let twice = r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"/a/recall hook session-end","timeout":5}]},{"matcher":"*","hooks":[{"type":"command","command":"/b/recall hook session-end"}]}]}}"#;
    let new = added(twice).text;
    assert_eq!(new.matches("session-end").count(), 1, "{new}");
    let by_matcher = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"recall hook session-start"}]},{"matcher":"resume","hooks":[{"type":"command","command":"recall hook session-start"}]}]}}"#;
    assert_eq!(added(by_matcher).text.matches("session-start").count(), 2, "each for its own occasion");
}

#[test]
fn a_file_the_client_ignores_is_located_and_not_edited() {
    let cases = [
        ("{\n  // mine\n  \"a\": 1\n}", 2, 3, "comments"),
        ("{\"a\": 1,}", 1, 8, "trailing comma"),
        ("{\n  \"a\": 1\n", 1, 1, "unterminated object"),
        ("{\"a\": 'x'}", 1, 7, "single-quoted"),
        ("{\"ä\": tru}", 1, 7, "token"),
        ("[]", 1, 1, "no object"),
        ("{\n \"hooks\": []}", 2, 11, "`hooks` is no object"),
        ("{\"hooks\": null}", 1, 11, "`hooks` is no object"),
        ("{\"hooks\": {\"SessionEnd\": {}}}", 1, 26, "`hooks.SessionEnd` is no array"),
        ("{} {}", 1, 4, "more than one"),
        ("{\"a\": \"line\nbreak\"}", 1, 0, "control character"),
        ("{\"a\": 01}", 1, 8, ""),
    ];
    for (text, line, column, what) in cases {
        for text in [text.to_owned(), format!("\u{feff}{text}")] {
            let broken = add(&text, &own(), HookForm::USUAL, false).expect_err(&text);
            assert_eq!(broken.line, line, "{text}: {broken:?}");
            assert!(column == 0 || broken.column == column, "{text}: {broken:?}");
            assert!(broken.what.contains(what), "{text}: {broken:?}");
        }
    }
}

#[test]
fn switched_off_hooks_are_noticed() {
    assert!(state(r#"{"disableAllHooks": true}"#).unwrap().disabled);
    assert!(!state(r#"{"disableAllHooks": false}"#).unwrap().disabled);
}

/// A JSON value that says the same whatever the order and place of our hooks.
fn without_ours(text: &str) -> Json {
    serde_json::from_str(&remove(text, &Shapes::new()).unwrap()).unwrap()
}

fn json(depth: u32) -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        "[ -~ä\n]{0,8}".prop_map(Json::from)
    ];
    leaf.prop_recursive(depth, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-z\"\\\\]{1,6}", inner, 0..4).prop_map(|m| Json::Object(m.into_iter().collect())),
        ]
    })
}

fn entries() -> impl Strategy<Value = Json> {
    let command =
        prop_oneof![Just("echo theirs".to_owned()), "[ -~]{0,12}".prop_filter("not ours", |c| HookCall::find(c).is_none()),];
    let hook = command.prop_map(|c| serde_json::json!({"type": "command", "command": c}));
    let entry = (prop::collection::vec(hook, 0..3), any::<bool>()).prop_map(|(hooks, matched)| {
        if matched { serde_json::json!({"matcher": "a|b", "hooks": hooks}) } else { serde_json::json!({"hooks": hooks}) }
    });
    prop::collection::vec(entry, 0..3).prop_map(Json::from)
}

fn settings() -> impl Strategy<Value = Json> {
    let event = prop_oneof![Just("SessionStart"), Just("SessionEnd"), Just("PreCompact"), Just("Stop"), Just("PostToolUse")];
    let hooks = prop::option::of(prop::collection::btree_map(event.prop_map(str::to_owned), entries(), 0..4));
    (prop::collection::vec(("[a-z]{1,5}", json(3)), 0..4), hooks, any::<prop::sample::Index>()).prop_map(|(others, hooks, at)| {
        let mut all: Vec<(String, Json)> = others.into_iter().filter(|(key, _)| key != "hooks").collect();
        if let Some(hooks) = hooks {
            all.insert(at.index(all.len() + 1), ("hooks".into(), Json::Object(hooks.into_iter().collect())));
        }
        all.dedup_by(|a, b| a.0 == b.0);
        Json::Object(all.into_iter().collect())
    })
}

/// The value in one of the many forms a file may have.
fn written(value: &Json, form: usize) -> String {
    let pretty = |indent: &[u8]| {
        let mut out = Vec::new();
        let mut to = serde_json::Serializer::with_formatter(&mut out, serde_json::ser::PrettyFormatter::with_indent(indent));
        serde::Serialize::serialize(value, &mut to).unwrap();
        String::from_utf8(out).unwrap()
    };
    match form {
        0 => value.to_string(),
        1 => pretty(b"  ") + "\n",
        2 => pretty(b"\t"),
        3 => pretty(b"    ").replace('\n', "\r\n") + "\r\n",
        4 => format!("\u{feff}{}", pretty(b"")),
        // White space at every place that allows it, unevenly.
        _ => {
            let mut out = String::new();
            let (mut inside, mut escaped, mut turn) = (false, false, 0);
            for c in value.to_string().chars() {
                let structural = !inside && "{}[],:".contains(c);
                turn = (turn * 5 + 3) % 11;
                let space = ["", " ", "\n", "  ", "\t", "\n  "][turn % 6];
                out += if structural { space } else { "" };
                out.push(c);
                turn = (turn * 7 + 1) % 11;
                out += if structural { ["", " ", "\n ", ""][turn % 4] } else { "" };
                inside ^= c == '"' && !escaped;
                escaped = inside && c == '\\' && !escaped;
            }
            out + "\n\n"
        }
    }
}

proptest! {
    #[test]
    fn whatever_the_file_it_is_there_and_back(value in settings(), form in 0usize..6) {
        let text = written(&value, form);
        let new = there_and_back(&text);
        let parsed: Json = serde_json::from_str(new.trim_start_matches(BOM)).unwrap();
        for (key, theirs) in value.as_object().unwrap().iter().filter(|(key, _)| *key != "hooks") {
            prop_assert_eq!(&parsed[key], theirs);
        }
        for (event, theirs) in value["hooks"].as_object().into_iter().flatten() {
            let now = parsed["hooks"][event].as_array().unwrap();
            prop_assert_eq!(&now[..theirs.as_array().unwrap().len()], theirs.as_array().unwrap().as_slice());
        }
    }

    #[test]
    fn without_a_memory_of_the_file_all_that_is_not_ours_stays(value in settings(), form in 0usize..6) {
        let text = written(&value, form);
        let left = without_ours(added(text.trim_start_matches(BOM)).text.as_str());
        // What was empty goes with ours: nothing remembers that it was there.
        let mut expected = value.clone();
        if let Some(hooks) = expected["hooks"].as_object_mut() {
            hooks.retain(|event, list| !(HookForm::USUAL.events.iter().any(|e| e.name == event) && list.as_array().unwrap().is_empty()));
        }
        if expected["hooks"].as_object().is_none_or(serde_json::Map::is_empty) {
            expected.as_object_mut().unwrap().remove("hooks");
        }
        prop_assert_eq!(left, expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\",:a-z0-9/ \n\\\\]{0,60}") {
        let _ = add(&text, &own(), HookForm::USUAL, true);
        let _ = remove(&text, &Shapes::new());
    }
}
