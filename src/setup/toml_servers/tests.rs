//! Servers of ours in TOML of every form.

use super::*;

/// Whatever program has our name.
const ANY: IsOurProgram<'static> = &|_| true;

fn own(program: &str, environment: &[(&'static str, &str)]) -> Invocation {
    Invocation::Own { program: program.into(), environment: environment.iter().map(|(n, v)| (*n, (*v).to_owned())).collect() }
}

fn toml(text: &str) -> toml::Table {
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

const FILES: [&str; 14] = [
    "",
    "\n",
    "model = \"gpt-5.5\"",
    "model = \"gpt-5.5\"\n",
    "# mine\nmodel = \"gpt-5.5\"\n\n\n",
    "model = \"gpt-5.5\"\r\n[tools]\r\nweb = true\r\n",
    "[mcp_servers.other]\ncommand = \"x\"\n# the end",
    "[mcp_servers]\n[mcp_servers.other]\ncommand = \"x\"\n",
    "[mcp_servers]\nother = { command = \"x\", args = [] }\n",
    "mcp_servers.other.command = \"x\"\n",
    "text = \"\"\"\n[mcp_servers.recall]\ncommand = 1\n\"\"\"\n[projects.\"/src/recall\"]\ntrust_level = \"trusted\"\n",
    "[mcp_servers.a]\ncommand = \"recall\"\nargs = [\"digest\"]\n[mcp_servers.b]\nurl = \"https://x\"\n",
    "[mcp_servers.\"re call\"]\ncommand = \"/opt/recall\"\nargs = []\n",
    "[[profiles]]\nname = 'a'\n[[profiles]]\nname = 'b'\n   \t",
];

#[test]
fn what_was_put_in_is_there_and_goes_without_a_trace() {
    for command in [own("/opt/a \"b\"/recall", &[("RECALL_DATA_DIR", "/d'\\")]), own("/opt/recall", &[]), Invocation::Shared] {
        for before in FILES {
            let added = add(before, &command, ANY).unwrap();
            assert!(added.text.starts_with(before), "{}", added.text);
            let server = find(&added.text, ANY).unwrap().unwrap_or_else(|| panic!("{}", added.text));
            assert!(server.matches(&command) && server.name == NAME, "{server:?}");
            let again = add(&added.text, &command, ANY).unwrap();
            assert_eq!((again.text, again.shapes), (added.text.clone(), Shapes::new()), "once is enough");
            assert_eq!(remove(&added.text, &added.shapes, ANY).unwrap(), before, "{}", added.text);
            assert_eq!(remove(before, &Shapes::new(), ANY).unwrap(), before, "nothing of ours");
        }
    }
    let added = add("a = 1\n", &own("/opt/recall", &[("RECALL_DATA_DIR", "/d")]), ANY).unwrap().text;
    let expected = "a = 1\n\n[mcp_servers.recall]\ncommand = \"/opt/recall\"\nargs = [\"mcp\"]\n\n[mcp_servers.recall.env]\nRECALL_DATA_DIR = \"/d\"\n";
    assert_eq!(added, expected);
}

#[test]
fn what_the_client_writes_since_stays() {
    let command = own("/opt/recall", &[("RECALL_DATA_DIR", "/d")]);
    for before in FILES {
        let added = add(before, &command, ANY).unwrap();
        let more = "[projects.\"/src/shop\"]\ntrust_level = \"trusted\"\n";
        for later in [
            format!("{}{more}", added.text),
            format!("{}\n[mcp_servers.recall.tools.search]\napproval_mode = \"approve\"\n\n{more}", added.text),
            format!("{}{more}\n[mcp_servers.recall.tools.search]\napproval_mode = \"approve\"\n", added.text),
        ] {
            let left = remove(&later, &added.shapes, ANY).unwrap();
            let mut expected = toml(before);
            expected.extend(toml(more).into_iter().filter(|(name, _)| name != "projects"));
            let projects = expected.entry("projects").or_insert_with(|| toml::Table::new().into()).as_table_mut().unwrap();
            projects.extend(toml(more)["projects"].as_table().unwrap().clone());
            assert_eq!(toml(&left), expected, "{left}");
        }
    }
}

#[test]
fn what_is_there_of_ours_is_mended_and_what_a_person_added_stays() {
    let cases = [
        (
            "[mcp_servers.memory]\ncommand = '/old/recall' # mine\nargs = [\"mcp\"]\nstartup_timeout_sec = 5\n[x]\n",
            &[][..],
            "[mcp_servers.memory]\ncommand = \"/new/recall\" # mine\nargs = [\"mcp\"]\nstartup_timeout_sec = 5\n[x]\n",
        ),
        (
            "[mcp_servers.recall]\ncommand = \"recall\"\nargs = [\"mcp\"]",
            &[("RECALL_DATA_DIR", "/d")],
            "[mcp_servers.recall]\ncommand = \"recall\"\nargs = [\"mcp\"]\n\n[mcp_servers.recall.env]\nRECALL_DATA_DIR = \"/d\"\n",
        ),
        (
            "[mcp_servers.recall]\ncommand = \"/old/recall\"\nargs = [\"mcp\"]\nenv = { TZ = 'UTC', RECALL_CONFIG = \"/c\" }\n",
            &[("RECALL_DATA_DIR", "/d")],
            "[mcp_servers.recall]\ncommand = \"/new/recall\"\nargs = [\"mcp\"]\nenv = { TZ = 'UTC', RECALL_DATA_DIR = \"/d\" }\n",
        ),
        (
            "[mcp_servers.recall]\ncommand = \"/new/recall\"\nargs = [\"mcp\"]\n[mcp_servers.recall.env]\nRECALL_CONFIG = \"/c\"\nTZ = \"UTC\" # mine\n",
            &[("RECALL_DATA_DIR", "/d")],
            "[mcp_servers.recall]\ncommand = \"/new/recall\"\nargs = [\"mcp\"]\n[mcp_servers.recall.env]\nRECALL_DATA_DIR = \"/d\"\nTZ = \"UTC\" # mine\n",
        ),
        (
            "[mcp_servers.recall]\ncommand = \"/new/recall\"\nargs = [\"mcp\"]\n[mcp_servers.recall.env]\nRECALL_DATA_DIR = \"/c\"\n",
            &[("RECALL_DATA_DIR", "/d")],
            "[mcp_servers.recall]\ncommand = \"/new/recall\"\nargs = [\"mcp\"]\n[mcp_servers.recall.env]\nRECALL_DATA_DIR = \"/d\"\n",
        ),
        (
            "[mcp_servers]\nrecall = { command = \"/old/recall\", args = [\"mcp\"] }\nother = { command = \"x\" }\n",
            &[],
            "[mcp_servers]\nrecall = { command = \"/new/recall\", args = [\"mcp\"] }\nother = { command = \"x\" }\n",
        ),
    ];
    for (before, environment, after) in cases {
        let command = own("/new/recall", environment);
        assert_eq!(add(before, &command, ANY).unwrap().text, after);
        let left = remove(after, &Shapes::new(), ANY).unwrap();
        assert_eq!((find(&left, ANY).unwrap(), left.contains("[x]")), (None, after.contains("[x]")), "{left}");
        assert_eq!(left.contains("other = "), after.contains("other = "), "{left}");
    }
}

#[test]
fn what_cannot_be_edited_is_located_and_stays() {
    let command = own("/opt/recall", &[("RECALL_DATA_DIR", "/d")]);
    for (text, line, what) in [
        ("a = 1\nb = \n", 2, ""),
        ("[mcp_servers.recall]\ncommand = \"total-recall\"\nargs = [\"mcp\"]\n", 1, "another program's"),
        ("\n[mcp_servers.recall]\nurl = \"https://x\"\n", 2, "another program's"),
        ("mcp_servers = { other = { command = \"x\" } }\n", 1, "by hand"),
        ("mcp_servers = 7\n", 1, "by hand"),
        ("[mcp_servers]\nrecall = { command = \"/opt/recall\", args = [\"mcp\"] }\nother = { command = \"x\" }\n", 1, "by hand"),
        ("[mcp_servers]\nrecall.command = \"/opt/recall\"\nrecall.args = [\"mcp\"]\nother = { command = \"x\" }\n", 1, "by hand"),
    ] {
        let broken = add(text, &command, ANY).unwrap_err();
        assert!(broken.line == line && broken.what.contains(what), "{text}: {broken:?}");
    }
    let within = "mcp_servers = { recall = { command = \"recall\", args = [\"mcp\"] }, other = { command = \"x\" } }\n";
    assert!(remove(within, &Shapes::new(), ANY).unwrap_err().what.contains("does not edit"));
}

/// Lines of which files are made, some of which do not go together.
const LINES: [&str; 14] = [
    "",
    "# recall",
    "a = 1",
    "b = \"\"\"\n[mcp_servers.recall]\n\"\"\"",
    "c = [\n  [1],\n]",
    "[mcp_servers]",
    "[mcp_servers.other]",
    "command = 'x' # mine",
    "[mcp_servers.other.env]",
    "[ mcp_servers . \"ä\" ]",
    "url = { a = 1 }\r",
    "[[profiles]]",
    "[projects.\"/src/recall\"]",
    "mcp_servers.dotted.command = \"y\"",
];

proptest::proptest! {
    #[test]
    fn whatever_the_file_it_is_there_and_back(
        lines in proptest::collection::vec(proptest::sample::select(&LINES[..]), 0..9), ends in "\n{0,3}", data in "[ -~ä]{0,9}",
    ) {
        let before = lines.join("\n") + &ends;
        let command = own("/opt/re call/recall", &[("RECALL_DATA_DIR", &data)]);
        if let Ok(added) = add(&before, &command, ANY) {
            let moved = own("/new/recall", &[("RECALL_CONFIG", &data)]);
            let updated = add(&added.text, &moved, ANY).unwrap();
            proptest::prop_assert!(find(&updated.text, ANY).unwrap().is_some_and(|server| server.matches(&moved)));
            for text in [&added.text, &updated.text] {
                proptest::prop_assert_eq!(&remove(text, &added.shapes, ANY).unwrap(), &before);
            }
        } else {
            proptest::prop_assert!(before.parse::<toml::Table>().is_err() || before.contains("mcp_servers"));
        }
    }
}

#[test]
fn another_program_of_our_name_is_left_alone() {
    let known: IsOurProgram<'_> = &|program| program == "/opt/ours/recall";
    let theirs = "[mcp_servers.memory]\ncommand = \"/opt/other/recall\"\nargs = [\"mcp\"]\n";
    assert_eq!((find(theirs, known).unwrap(), foreign(theirs, known).unwrap()), (None, vec!["memory".to_owned()]));
    assert_eq!(remove(theirs, &Shapes::new(), known).unwrap(), theirs);
    let both = add(theirs, &own("/opt/ours/recall", &[]), known).unwrap();
    assert!(both.text.contains("/opt/other/recall") && both.text.contains("/opt/ours/recall"), "{}", both.text);
    assert_eq!(remove(&both.text, &both.shapes, known).unwrap(), theirs);
}
