//! No name leads out of the data folder, nor to a file that is none of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::hostile::scene::{Hostile, S, SHOP, world};
use crate::support::size::pairs;
use crate::support::{World, files_below};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// Names as an attacker likes them.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "../../../../escape", "/etc/passwd", "..", ".", "a/../../b", "CON", "con", "nul.md", "\0nul", "%2e%2e%2f", "~root", "-rf",
        "--help", "-", ".hidden", "trailing.", "trailing ", "a\nb", "a\r\nb", "C:\\Windows\\x", "\\\\host\\share",
        "$(touch owned)", "`touch owned`", "; touch owned", "a'b\"c", "ѕhор", "ｓｈｏｐ", "SHOP", "shop\u{202e}dm.",
        "sho\u{200b}p", "é", "e\u{301}", "🏴‍☠️", "*", "?", "[a]", "{a,b}", "a\tb", "\u{7f}", "\u{9b}31m", "2026-11-20", "sessions",
        "recall.db", "lock", ".recall-tmp-0123456789ab",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(4096));
    names.push("../".repeat(1365));
    names.push("水".repeat(1365));
    names
}

/// All files that are not the data folder's, with their bytes, and all links with where they lead.
fn outside(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = walkdir::WalkDir::new(world.root()).into_iter().filter_entry(|e| e.path() != world.data_dir());
    let read = |path: &Path| match fs::read_link(path) {
        Ok(target) => target.as_os_str().as_encoded_bytes().to_vec(),
        Err(_) if path.is_file() => fs::read(path).unwrap(),
        Err(_) => b"a folder".to_vec(),
    };
    all.map(|e| e.unwrap().into_path()).map(|path| (path.clone(), read(&path))).collect()
}

fn assert_harmless_names(world: &World) {
    for file in files_below(&world.data_dir()) {
        let below = file.strip_prefix(world.data_dir()).unwrap().to_str().expect("a name that is text");
        let plain = below.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b));
        assert!(plain && below.len() < 120 && below.split('/').all(|part| !part.starts_with('-')), "{below}");
    }
}

#[test]
fn no_name_of_anything_leads_out_of_the_data_folder() {
    let world = World::new();
    let (names, mut sessions) = (names(), Vec::new());
    for (n, name) in names.iter().enumerate() {
        // As a session's id, as a folder, as a branch, as a file, as a subagent.
        let cwd = format!("/home/dev/{name}");
        let id = format!("{n:08}-1111-4111-8111-111111111111");
        Hostile::new(name, SHOP, "main").say(name).put(&world);
        let hostile = Hostile::new(&id, &cwd, name).say(name);
        hostile.put(&world);
        world.transcript(
            &format!("-p/{id}/subagents/agent-{n}.jsonl"),
            hostile.rows.replace("\"uuid\":\"", &format!("\"agentId\":{},\"uuid\":\"sub-", serde_json::json!(name))),
        );
        sessions.push(id);
    }
    let before = outside(&world);
    let report = world.digest(&EXTRACT);
    assert!(report["sessions_digested"].as_u64().unwrap() as usize >= names.len(), "{report}");
    let mut commands: Vec<Vec<String>> = [
        "digest --rebuild-pages", "export", "status", "doctor", "forget --match pagination --dry-run", "context",
        "search pagination",
    ]
    .map(|line| line.split(' ').map(str::to_owned).collect())
    .into();
    for (name, command) in pairs(names.len(), 2) {
        let command = [&["show", "--full", "--"][..], &["timeline", "--"]][command];
        commands.push(command.iter().copied().chain([names[name].as_str()]).map(str::to_owned).collect());
    }
    commands.push(vec!["forget".into(), "--yes".into(), "--session".into(), sessions[0].clone()]);
    commands.push(vec!["forget".into(), "--yes".into(), "--match".into(), "escape".into()]);
    for command in &commands {
        // A NUL is no part of an argument.
        if command.iter().any(|word| word.contains('\0')) {
            continue;
        }
        let ran = world.recall(command);
        assert!(!ran.err.contains("panicked"), "{command:?}: {ran:#?}");
        assert_harmless_names(&world);
    }
    assert_eq!(outside(&world), before);
}

#[test]
fn what_a_hook_is_told_names_no_file_of_ours() {
    let world = world("nothing of note");
    let before = outside(&world);
    for name in names() {
        for (event, told) in [
            ("session-start", "SessionStart"),
            ("user-prompt-submit", "UserPromptSubmit"),
            ("session-end", "SessionEnd"),
            ("pre-compact", "PreCompact"),
        ] {
            let transcript = format!("{}/projects/-p/{name}.jsonl", world.claude_dir().display());
            for (session, transcript) in [(name.as_str(), transcript.as_str()), (S, name.as_str()), (name.as_str(), name.as_str())]
            {
                let payload = serde_json::json!({"hook_event_name": told, "session_id": session, "transcript_path": transcript, "cwd": name,
                    "source": name, "reason": name, "prompt": name, "prompt_id": name, "trigger": name});
                let ran = world.hook(event, payload.to_string());
                assert!(ran.code == 0 && ran.err.is_empty(), "{event} {name:?}: {ran:#?}");
            }
        }
        assert_harmless_names(&world);
    }
    assert_eq!(outside(&world), before);
}

#[test]
fn a_link_in_a_pages_place_is_replaced_and_not_written_through() {
    let world = world("nothing of note");
    let pages: Vec<PathBuf> = files_below(&world.daily());
    assert_eq!(pages.len(), 2);
    let mut kept = Vec::new();
    for (n, page) in pages.iter().enumerate() {
        let victim = world.root().join(format!("victim-{n}"));
        fs::write(&victim, "export PATH\n").unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
        fs::remove_file(page).unwrap();
        symlink(&victim, page).unwrap();
        kept.push(victim);
    }
    let ran = world.recall(["digest", "--rebuild-pages"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for (page, victim) in pages.iter().zip(&kept) {
        assert!(!page.is_symlink() && fs::read_to_string(page).unwrap().contains("# "), "{}", page.display());
        assert_eq!(fs::read_to_string(victim).unwrap(), "export PATH\n");
    }
    // Nor is what a link leads to removed with it.
    for (page, victim) in pages.iter().zip(&kept) {
        fs::remove_file(page).unwrap();
        symlink(victim, page).unwrap();
    }
    assert_eq!(world.recall(["forget", "--yes", "--session", S]).code, 0);
    assert!(kept.iter().all(|victim| fs::read_to_string(victim).unwrap() == "export PATH\n"));
}

/// The line that a page gives to continue a session, run in a shell.
#[test]
fn what_a_page_says_to_type_runs_the_client_and_nothing_else() {
    let names = [
        "$(touch owned)", "`touch owned`", "; touch owned", "a'b; touch owned; '", "-rf", "a b", "&& touch owned", "| touch owned",
        "{a,b}", "~", "!!", "*",
    ];
    let ids = [S, "--dangerously-skip-permissions", "-p", "x; touch owned", "$(touch owned)"];
    // No id is that of two sessions.
    let own = |id: &str, n: usize| if id == S { format!("{n:08x}{}", &S[8..]) } else { format!("{id}{n}") };
    let sessions: Vec<(&str, String)> =
        (0..names.len()).flat_map(|n| ids.map(|id| (names[n], if n == 0 { id.to_owned() } else { own(id, n) }))).collect();
    let world = World::new();
    world.fake_claude("#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$@\" > \"$HOME/args\"\n");
    let cwd = |name: &str| world.root().join("src").join(name);
    for (n, (name, id)) in sessions.iter().enumerate() {
        // Where a shell has somewhere to go.
        fs::create_dir_all(cwd(name)).unwrap();
        // What says nearly the same as another has no page of its own.
        let text: String = (0..12).map(|word| format!("note{n}of{word} ")).collect();
        let mut session = Hostile::new(id, cwd(name).to_str().unwrap(), "main").say(&text);
        // Nor is a row.
        session.rows = session.rows.replace("-0000-4000-8000-", &format!("-{n:04}-4000-8000-"));
        session.put(&world);
    }
    world.digest(&EXTRACT);
    let mut expected: BTreeSet<(PathBuf, Vec<String>)> = sessions
        .iter()
        .map(|(name, id)| {
            let resume = if id.starts_with('-') { vec![format!("--resume={id}")] } else { vec!["--resume".to_owned(), id.clone()] };
            (cwd(name), resume)
        })
        .collect();
    for (_, page) in world.pages().into_iter().filter(|(path, _)| path.contains("/sessions/")) {
        let (_, after) = page.split_once("```sh\n").unwrap_or_else(|| panic!("{page}"));
        let (line, _) = after.split_once("\n```").unwrap();
        let ran = world.shell(line);
        assert_eq!(ran.code, 0, "{line}: {ran:#?}");
        let told = fs::read_to_string(world.home().join("args")).unwrap_or_else(|e| panic!("{e}: {line}"));
        fs::remove_file(world.home().join("args")).unwrap();
        let mut args = told.lines().map(str::to_owned);
        let typed = (PathBuf::from(args.next().unwrap()), args.collect());
        assert!(expected.remove(&typed), "{line}: {typed:?}");
        let owned = files_below(world.root()).into_iter().find(|file| file.ends_with("owned"));
        assert_eq!(owned, None, "{line}");
    }
    assert!(expected.is_empty(), "not continued: {expected:#?}");
}
