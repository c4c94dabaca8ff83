//! Servers of ours in files of every form.

use super::*;

fn own(program: &str, environment: &[(&'static str, &str)]) -> Invocation {
    Invocation::Own { program: program.into(), environment: environment.iter().map(|(n, v)| (*n, (*v).to_owned())).collect() }
}

/// Whatever program has our name.
const ANY: IsOurProgram<'static> = &|_| true;
const TYPED: EntryForm = EntryForm::TYPED;

fn here() -> ServerLocation {
    ServerLocation::Project("/src/a.b/shop".to_owned())
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

const FILES: [&str; 12] = [
    "",
    "\n",
    "{}",
    "{ }\n",
    "{\n  \"numStartups\": 1,\n  \"tips\": {}\n}",
    "{\n\t\"mcpServers\": {},\n\t\"projects\": {\n\t\t\"/src/a.b/shop\": {}\n\t}\n}\n",
    "{\"mcpServers\":{\"other\":{\"command\":\"x\",\"args\":[]}},\"projects\":{}}",
    "{\"projects\":{\"/else\":{\"mcpServers\":{}},\"/src/a.b/shop\":{\"mcpServers\":{ \n }}}}",
    "{\"projects\":{\"/src/a.b/shop\":{\"allowedTools\":[]}}, \"z\": 1}",
    "{\r\n  \"mcpServers\": {\r\n    \"other\": {\"command\": \"x\"}\r\n  }\r\n}\r\n",
    "{\"mcpServers\": {\"a\": {\"command\": \"recall\", \"args\": [\"digest\"]}, \"b\": {\"url\": \"https://x\"}}}",
    "{\"mcpServers\": {\"recall-notes\": {\"command\": \"/opt/recall\", \"args\": []}}}",
];

#[test]
fn what_was_put_in_is_there_and_goes_without_a_trace() {
    let command = own("/opt/a \"b\"/recall", &[("RECALL_DATA_DIR", "/d")]);
    let named = [OPENCODE_SERVERS, VS_CODE_SERVERS].map(ServerLocation::Named);
    for place in [ServerLocation::TopLevel, here()].into_iter().chain(named) {
        for before in FILES {
            let added = add(before, &place, TYPED, &command, ANY).unwrap();
            let server = find(&added.text, &place, ANY).unwrap().unwrap_or_else(|| panic!("{}", added.text));
            assert!(server.matches(&command) && server.name == NAME, "{server:?}");
            assert_eq!(locations(&added.text, ANY).unwrap(), std::slice::from_ref(&place));
            let at = place.path().iter().fold(json(&added.text), |object, name| object[name].clone())["recall"].clone();
            let entry = serde_json::json!({"type": "stdio", "command": "/opt/a \"b\"/recall", "args": ["mcp"], "env": {"RECALL_DATA_DIR": "/d"}});
            assert_eq!(at, entry);
            assert_eq!(add(&added.text, &place, TYPED, &command, ANY).unwrap().text, added.text, "once is enough");
            assert_eq!(remove(&added.text, &place, &added.shapes, ANY).unwrap(), before);
            assert_eq!(remove(before, &place, &Shapes::new(), ANY).unwrap(), before, "nothing of ours");
        }
    }
}

#[test]
fn two_places_of_a_file_do_not_mind_each_other() {
    let command = own("/opt/recall", &[]);
    for before in FILES {
        let top = add(before, &ServerLocation::TopLevel, TYPED, &command, ANY).unwrap();
        let both = add(&top.text, &here(), TYPED, &command, ANY).unwrap();
        assert_eq!(locations(&both.text, ANY).unwrap(), [ServerLocation::TopLevel, here()]);
        assert_eq!(remove(&both.text, &here(), &both.shapes, ANY).unwrap(), top.text);
        let shapes = top.shapes.clone().into_iter().chain(both.shapes).collect();
        let without = remove(&both.text, &ServerLocation::TopLevel, &shapes, ANY).unwrap();
        assert_eq!(locations(&without, ANY).unwrap(), [here()]);
        json(&without);
    }
}

#[test]
fn the_form_of_the_file_is_followed() {
    let text = "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t}\n}\n";
    let added = add(text, &ServerLocation::TopLevel, TYPED, &own("/opt/recall", &[]), ANY).unwrap();
    let expected = "\t\t\"other\": {\"command\": \"x\"},\n\t\t\"recall\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/recall\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t}\n}\n";
    assert!(added.text.ends_with(expected), "{}", added.text);
}

#[test]
fn every_client_has_its_form_of_an_entry() {
    for (form, entry) in [
        (EntryForm::TYPED, serde_json::json!({"type": "stdio", "command": "/opt/recall", "args": ["mcp"]})),
        (EntryForm::PLAIN, serde_json::json!({"command": "/opt/recall", "args": ["mcp"]})),
        (EntryForm::COPILOT, serde_json::json!({"type": "local", "command": "/opt/recall", "args": ["mcp"], "tools": ["*"]})),
        (EntryForm::OPENCODE, serde_json::json!({"type": "local", "command": ["/opt/recall", "mcp"]})),
    ] {
        for before in FILES {
            let added = add(before, &ServerLocation::TopLevel, form, &own("/opt/recall", &[]), ANY).unwrap();
            assert_eq!(json(&added.text)["mcpServers"]["recall"], entry);
            assert_eq!(remove(&added.text, &ServerLocation::TopLevel, &added.shapes, ANY).unwrap(), before);
        }
    }
}

fn commented(text: &str) -> JsonText<'_> {
    JsonText { text, comments: true }
}

#[test]
fn comments_stay_where_the_client_reads_them_and_are_refused_elsewhere() {
    let (place, command) = (ServerLocation::Named(OPENCODE_SERVERS), own("/opt/recall", &[("RECALL_DATA_DIR", "/d")]));
    for before in [
        "// #1\n{}",
        "{ /* nothing # yet */ }\n",
        "{\n  \"a\": 1, // #2: one\n}\n// the end",
        "{\"a\": 1 /* one */ , \"mcp\": { /* ## none */ } /* more */}",
        "{\n  // mine\n  \"mcp\": {\n    // #3\n    \"x\": { \"command\": [\"y\"] }, // #4\n    // \"z\": {},\n  },\n}\n",
        "{\r\n\t\"mcp\": {\"x\": {},},\r\n\t// #5\r\n}",
    ] {
        let added = add(commented(before), &place, EntryForm::OPENCODE, &command, ANY).unwrap();
        for comment in before.split(['\n', '*']).filter(|part| part.contains('#')) {
            assert!(added.text.contains(comment.trim()), "{comment}: {}", added.text);
        }
        let server = find(commented(&added.text), &place, ANY).unwrap().unwrap_or_else(|| panic!("{}", added.text));
        assert!(server.matches(&command), "{server:?}");
        let twice = add(commented(&added.text), &place, EntryForm::OPENCODE, &command, ANY).unwrap();
        assert_eq!(twice.text, added.text, "once is enough");
        let moved = add(commented(&added.text), &place, EntryForm::OPENCODE, &own("/new/recall", &[]), ANY).unwrap().text;
        let server = find(commented(&moved), &place, ANY).unwrap().unwrap();
        assert!(server.matches(&own("/new/recall", &[])), "{moved}");
        assert_eq!(remove(commented(&added.text), &place, &added.shapes, ANY).unwrap(), before);
        assert!(add(before, &place, EntryForm::OPENCODE, &command, ANY).is_err(), "{before}");
    }
}

#[test]
fn what_is_there_of_ours_is_mended_and_what_a_person_added_stays() {
    let entry = |text: &str| format!("{{\"mcpServers\": {{\"memory\": {text}}}}}");
    let cases = [
        (
            r#"{"command": "/old/recall", "args": ["mcp"], "timeout": 5}"#,
            &[][..],
            r#"{"command": "/new/recall", "args": ["mcp"], "timeout": 5}"#,
        ),
        (r#"{"command": "recall", "args": ["mcp"]}"#, &[], r#"{"command": "recall", "args": ["mcp"]}"#),
        (
            r#"{"command": "/old/recall", "args": ["mcp", "--x"], "env": {"TZ": "UTC", "RECALL_CONFIG": "/c"}}"#,
            &[("RECALL_DATA_DIR", "/d")],
            r#"{"command": "/new/recall", "args": ["mcp", "--x"], "env": {"TZ": "UTC", "RECALL_DATA_DIR": "/d"}}"#,
        ),
        (
            r#"{"command": "/new/recall", "args": ["mcp"], "env": {"RECALL_CONFIG": "/c"}}"#,
            &[],
            r#"{"command": "/new/recall", "args": ["mcp"], "env": {}}"#,
        ),
        (
            r#"{"command": "/new/recall", "args": ["mcp"], "env": {"RECALL_CONFIG": "/c", "A": "b"}}"#,
            &[("RECALL_CONFIG", "/e"), ("RECALL_DATA_DIR", "/d")],
            r#"{"command": "/new/recall", "args": ["mcp"], "env": {"RECALL_CONFIG": "/e", "A": "b", "RECALL_DATA_DIR": "/d"}}"#,
        ),
    ];
    for (before, environment, after) in cases {
        let command = own("/new/recall", environment);
        let added = add(&entry(before), &ServerLocation::TopLevel, TYPED, &command, ANY).unwrap();
        // A variable that is added gets a line of its own.
        let spaceless = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(spaceless(&added.text), spaceless(&entry(after)));
        assert!(!environment.is_empty() || added.text == entry(after), "{}", added.text);
        assert!(
            find(&added.text, &ServerLocation::TopLevel, ANY).unwrap().is_some_and(|server| server.matches(&command)),
            "{}",
            added.text
        );
    }
}

#[test]
fn what_cannot_be_edited_is_located() {
    let command = own("/opt/recall", &[]);
    for (text, what) in [
        ("{ // no\n}", "comment"),
        ("{\"mcpServers\": []}", "`mcpServers` is no object"),
        ("[]", "no object"),
        ("{\"mcpServers\": {\"recall\": {\"command\": \"total-recall\", \"args\": [\"mcp\"]}}}", "another program's"),
    ] {
        let broken = add(text, &ServerLocation::TopLevel, TYPED, &command, ANY).unwrap_err();
        assert!(broken.what.to_lowercase().contains(&what.to_lowercase()), "{text}: {}", broken.what);
    }
}

#[test]
fn another_program_of_our_name_is_left_alone() {
    let entry = |name: &str, more: &str| {
        format!("{{\"mcpServers\": {{\"{name}\": {{\"command\": \"/opt/other/recall\", \"args\": [\"mcp\"]{more}}}}}}}")
    };
    let known: IsOurProgram<'_> = &|program| program == "/opt/ours/recall";
    let ours = own("/opt/ours/recall", &[]);
    let theirs = entry("memory", "");
    assert_eq!((locations(&theirs, known).unwrap(), foreign(&theirs, known).unwrap()), (vec![], vec!["memory".to_owned()]));
    assert_eq!(remove(&theirs, &ServerLocation::TopLevel, &Shapes::new(), known).unwrap(), theirs);
    let both = add(&theirs, &ServerLocation::TopLevel, TYPED, &ours, known).unwrap();
    assert!(both.text.contains("/opt/other/recall") && both.text.contains("/opt/ours/recall"), "{}", both.text);
    assert_eq!(remove(&both.text, &ServerLocation::TopLevel, &both.shapes, known).unwrap(), theirs);
    for ours in [
        entry("recall", ""),
        entry("memory", ", \"env\": {\"RECALL_DATA_DIR\": \"/d\"}"),
        theirs.replace("/opt/other", "/opt/ours"),
    ] {
        assert_eq!(
            (locations(&ours, known).unwrap(), foreign(&ours, known).unwrap()),
            (vec![ServerLocation::TopLevel], vec![]),
            "{ours}"
        );
    }
}
