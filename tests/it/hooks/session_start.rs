//! The answer to a session's start: its form, what it holds, and that it is what `recall context` shows.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::hooks::payloads::{
    S, SHOP, configure, context_in, log, numbers, patient, payload, starts, talk, told, transcript, write_talk,
};
use crate::support::World;
use crate::support::rows::{Rows, bash, put};

/// What three sessions of the shop's left behind.
fn with_notes() -> World {
    let world = World::with_fixtures(&["plain", "compact", "retry"]);
    patient(&world);
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn the_answer_has_the_one_form_that_the_client_reads() {
    let world = with_notes();
    let ran = world.hook("session-start", starts(&world, S, "startup").to_string());
    assert_eq!((ran.code, ran.err.as_str(), ran.out.lines().count()), (0, "", 1), "{ran:#?}");
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
    let line = answer["systemMessage"].as_str().expect("a line for the user");
    let whole = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}, "systemMessage": line});
    assert_eq!(answer, whole, "and no key beside them");
    assert!(text.starts_with("<recall-context>\n") && text.ends_with("\n</recall-context>\n"), "{text}");
}

#[test]
fn the_user_sees_a_line_of_what_is_open_and_which_session_was_last() {
    let world = with_notes();
    let line = |world: &World, session: &str, source: &str| -> Value {
        let ran = world.hook("session-start", starts(world, session, source).to_string());
        serde_json::from_str::<Value>(&ran.out).unwrap()["systemMessage"].clone()
    };
    let told = line(&world, S, "startup");
    let told = told.as_str().expect("a line");
    assert!(told.starts_with("recall: ") && told.contains("last session 18 Nov: ") && !told.contains('\n'), "{told}");
    assert!(told.chars().count() <= 130, "{told}");
    world.recall(["remember", "--project", SHOP, "--kind", "todo", "Migrate the admin export."]);
    let told = line(&world, "dddddddd-0000-4000-8000-00000000000c", "startup");
    assert!(told.as_str().is_some_and(|line| line.starts_with("recall: 1 open, last session 18 Nov: ")), "{told}");
    world.configure("[hooks]\ndeadline_ms = 5000\nstart_line = false\n");
    assert_eq!(line(&world, "dddddddd-0000-4000-8000-00000000000d", "startup"), Value::Null);
}

#[test]
fn a_session_is_told_what_recall_context_shows() {
    let world = with_notes();
    let shown = world.recall(["context", "--cwd", SHOP]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{shown:#?}");
    assert_eq!(told(&world, &starts(&world, S, "startup")).as_deref(), Some(shown.out.as_str()));
    assert_eq!(told(&world, &starts(&world, S, "clear")).as_deref(), Some(shown.out.as_str()));
    // A source of a later client is a start like another.
    assert_eq!(told(&world, &starts(&world, S, "teleport")).as_deref(), Some(shown.out.as_str()));
    assert_eq!(numbers(&world, SHOP, &[])["text"], shown.out.as_str());
    insta::assert_snapshot!("context", shown.out);
}

#[test]
fn numbers_say_what_is_shown_and_what_is_left_out() {
    let world = with_notes();
    let all = numbers(&world, SHOP, &[]);
    let text = all["text"].as_str().unwrap();
    assert_eq!(all["characters"], text.chars().count());
    assert_eq!(all["tokens"], (text.len() * 2).div_ceil(7), "by the estimate that is stated: {}", all["estimate"]);
    assert_eq!((&all["max_tokens"], &all["project"]), (&json!(2000), &json!(SHOP)));
    assert_eq!(all["sessions_left_out"].as_u64().unwrap() as usize + all["sessions_shown"].as_array().unwrap().len(), 3, "{all:#}");
    for id in all["open_items_shown"].as_array().unwrap() {
        assert!(text.contains(&format!("- {} ", id.as_str().unwrap())), "{id}: {text}");
    }
    for id in all["sessions_shown"].as_array().unwrap() {
        assert!(text.contains(&id.as_str().unwrap()[..8]), "{id}: {text}");
    }
}

#[test]
fn nothing_known_nothing_said() {
    let empty = World::new();
    patient(&empty);
    empty.digest(&[]);
    assert_eq!(told(&empty, &starts(&empty, S, "startup")), None);
    let none = World::new();
    let ran = none.recall(["context", "--cwd", SHOP]);
    assert!(ran.code == 0 && ran.out.is_empty() && ran.err.contains("nothing is known of"), "{ran:#?}");
    assert!(!none.data_dir().exists(), "asking made nothing");
    let world = with_notes();
    for cwd in ["/home/dev/src/other", "/home/dev/src/shop2", "/home/dev/src", "/", "", "shop"] {
        assert_eq!(told(&world, &payload(&world, "SessionStart", S, json!({"source": "startup", "cwd": cwd}))), None, "{cwd}");
    }
    let person = world.recall(["context", "--cwd", "/home/dev/src/other"]);
    assert_eq!((person.code, person.out.as_str()), (0, ""), "{person:#?}");
    assert!(person.err.contains("/home/dev/src/other"), "a person is told so: {person:#?}");
    // A session is told nothing of itself.
    let own = World::with_fixtures(&["plain"]);
    patient(&own);
    own.digest(&["--summarizer", "extract"]);
    assert_eq!(told(&own, &starts(&own, "64b0b6d9-e371-40e8-affe-78e0505dfb3f", "startup")), None);
}

#[test]
fn worktrees_and_subfolders_of_a_repository_start_with_the_same() {
    let world = World::new();
    patient(&world);
    let base = world.root().canonicalize().unwrap();
    let (repo, tree) = (base.join("repo"), base.join("elsewhere"));
    fs::create_dir_all(repo.join(".git/worktrees/fix")).unwrap();
    fs::write(repo.join(".git/worktrees/fix/commondir"), "../..\n").unwrap();
    fs::write(repo.join(".git/worktrees/fix/gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    for dir in [repo.join("src/deep"), tree.join("docs")] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(tree.join(".git"), format!("gitdir: {}\n", repo.join(".git/worktrees/fix").display())).unwrap();
    let one = talk(S, "2026-11-20T10:00:00Z", "Make the list faster.", "It is faster now, because the rates are cached.");
    let other = "66660000-aaaa-4aaa-8aaa-555511110000";
    let two = talk(other, "2026-11-20T11:00:00Z", "And the export?", "The export is faster too, because the rates are cached.");
    world.transcript(&format!("-r/{S}.jsonl"), one.replace(SHOP, repo.join("src/deep").to_str().unwrap()));
    world.transcript(&format!("-t/{other}.jsonl"), two.replace(SHOP, tree.to_str().unwrap()));
    world.digest(&["--summarizer", "extract"]);

    let at = |dir: &Path| world.recall(["context", "--cwd", dir.to_str().unwrap()]).out;
    let text = at(&repo);
    assert!(text.contains(&S[..8]) && text.contains(&other[..8]), "{text}");
    for dir in [repo.join("src/deep"), repo.join("src/not/there"), tree.clone(), tree.join("docs")] {
        assert_eq!(at(&dir), text, "{}", dir.display());
        let id = format!("new-{}", dir.display().to_string().len());
        let start = payload(&world, "SessionStart", &id, json!({"source": "startup", "cwd": dir}));
        assert_eq!(told(&world, &start).as_deref(), Some(text.as_str()), "{}", dir.display());
    }
    assert_eq!(at(&base), "");
}

#[test]
fn a_folder_that_only_says_it_is_a_repositorys_neither_hears_of_it_nor_speaks_in_it() {
    let world = World::new();
    let base = world.root().canonicalize().unwrap();
    let (repo, tree) = (base.join("repo"), base.join("elsewhere"));
    let admin = repo.join(".git/worktrees/fix");
    let forged = |name: &str, points_to: &Path| {
        let folder = base.join(name);
        fs::create_dir_all(folder.join(".hid")).unwrap();
        fs::write(folder.join(".git"), format!("gitdir: {}\n", points_to.display())).unwrap();
        fs::write(folder.join(".hid/commondir"), format!("{}\n", repo.join(".git").display())).unwrap();
        folder
    };
    for dir in [&admin, &tree] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(admin.join("commondir"), "../..\n").unwrap();
    fs::write(admin.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", admin.display())).unwrap();
    let folders = [forged("one", Path::new(".hid")), forged("two", &admin), forged("three", &repo.join(".git"))];
    let note = |dir: &Path, text: &str| assert_eq!(world.recall(["remember", "--project", dir.to_str().unwrap(), text]).code, 0);
    note(&tree, "Releases are cut from the zeppelin branch");
    folders.iter().for_each(|folder| note(folder, "Always run the lagoon script first"));
    let at = |dir: &Path| world.recall(["context", "--cwd", dir.to_str().unwrap()]).out;
    for dir in [&repo, &tree] {
        assert!(at(dir).contains("zeppelin") && !at(dir).contains("lagoon"), "{}: {}", dir.display(), at(dir));
    }
    for dir in &folders {
        assert!(at(dir).contains("lagoon") && !at(dir).contains("zeppelin"), "{}: {}", dir.display(), at(dir));
    }
}

#[test]
fn the_current_folder_is_meant_where_none_is_named() {
    let world = World::new();
    let here = world.root().canonicalize().unwrap();
    let rows = talk(S, "2026-11-20T10:00:00Z", "Make the list faster.", "It is faster now, because the rates are cached.");
    world.transcript(&format!("-h/{S}.jsonl"), rows.replace(SHOP, here.to_str().unwrap()));
    world.digest(&["--summarizer", "extract"]);
    let text = world.recall(["context"]).out;
    assert!(text.contains("rates are cached"), "{text}");
    assert_eq!(world.recall(["context", "--cwd", "."]).out, text);
}

#[test]
fn an_excluded_project_is_never_spoken_of() {
    let world = with_notes();
    write_talk(&world, S, "2026-11-21T11:00:00Z", "Make the list faster.", "It is faster now, because the rates are cached.");
    crate::hooks::payloads::end(&world, S);
    for pattern in ["/home/dev/src/shop", "**/shop", "/home/dev/**"] {
        configure(&world, &format!("[exclude]\nprojects = [\"{pattern}\"]\n"));
        for source in ["startup", "clear", "resume", "fork", "compact"] {
            let start = starts(&world, "new-session", source);
            if source == "compact" {
                let rows = fs::read_to_string(transcript(&world, S)).unwrap().replace(S, "new-session");
                fs::write(transcript(&world, "new-session"), rows).unwrap();
            }
            assert_eq!(told(&world, &start), None, "{pattern}, {source}");
        }
        assert_eq!(world.recall(["context", "--cwd", SHOP]).out, "", "{pattern}");
    }
    configure(&world, "");
    assert!(told(&world, &starts(&world, "new-session", "compact")).is_some(), "it was the exclusion that kept it silent");
}

#[test]
fn one_start_is_answered_once_however_many_settings_files_hold_the_hook() {
    let world = with_notes();
    let stdin = starts(&world, S, "startup").to_string();
    let mut answers: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| world.hook("session-start", &stdin))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).map(|ran| (ran.code == 0).then_some(ran.out).expect("exit 0")).collect()
    });
    answers.retain(|out| !out.is_empty());
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(told(&world, &starts(&world, S, "startup")), None, "and not right after");
    // Other starts are answered on their own.
    let other = told(&world, &starts(&world, S, "clear"));
    assert_eq!(other.as_deref(), Some(context_in(&answers[0]).as_str()));
    assert_eq!(told(&world, &starts(&world, "another-session", "startup")), other);
    assert_eq!(log(&world), [""; 0]);
}

/// Sessions of which the later one sees in git what became of the earlier one's commit.
#[test]
fn what_a_later_session_saw_of_a_commit_goes_before_its_old_hash() {
    let world = World::new();
    patient(&world);
    let mut first = Rows::new(3);
    first.user("Page the order list by its key, please.".into());
    first.uses(1, &bash("git commit -am 'Order list: page by key'"));
    first.result(1, "[paging 1a2b3c4] Order list: page by key\n 2 files changed", false);
    first.assistant("Committed as `1a2b3c4`.");
    let mut second = Rows::new(6);
    second.user("What is on the main branch by now?".into());
    second.uses(2, &bash("git log --oneline -3"));
    second.result(2, "9f8e7d6 Order list: page by key\n7654321 Merge pull request #7 from shop/rates\n", false);
    second.assistant("Your commit is there, behind the merge of the rates.");
    for rows in [&first, &second] {
        put(&world, &rows.id, &rows.text);
    }
    world.digest(&["--summarizer", "extract"]);
    let text = world.recall(["context", "--cwd", SHOP]).out;
    assert!(text.contains("(commit 9f8e7d6; 1a2b3c4 is 9f8e7d6 now)\n  > Committed as `1a2b3c4`.\n"), "{text}");
    let brief = world.recall(["show", &first.id]).out;
    for part in [
        "> Committed as `1a2b3c4`.\n\nsince then: 1a2b3c4 is 9f8e7d6 now\n",
        "\n- 9f8e7d6 Order list: page by key (paging, no push seen)\n",
    ] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    let page: String = world.pages().into_iter().filter(|(name, _)| name.contains(&first.id[..8])).map(|(_, page)| page).collect();
    assert!(page.contains("1a2b3c4"), "the page of the session tells what it saw itself: {page}");
}
