use proptest::prelude::*;

use super::*;
use crate::analyze::account::{ClosingReply, EditedFiles, PromptObject, TitleParts, Word, WordKind};

const BEGAN: Millis = 1_795_000_000_000;

fn word(at: Option<Millis>, kind: WordKind, text: &str) -> Word {
    Word { at, kind, text: text.into(), object: None }
}

fn turn(number: usize, said: &str, reply: &str) -> Turn {
    let at = Some(BEGAN + number as Millis * 60_000);
    let reply = (!reply.is_empty()).then(|| ClosingReply { at, text: reply.into(), cut_off: false });
    Turn { number, at, words: vec![word(at, WordKind::Prompt, said)], reply, ..Turn::default() }
}

fn account(turns: Vec<Turn>) -> SessionAccount {
    SessionAccount {
        turns_left_out: Vec::new(),
        client: Default::default(),
        title: TitleParts::default(),
        branch: None,
        turns,
        commits: vec![],
        all_undone: false,
        pull_requests: vec![],
        seen: vec![],
        runs: vec![],
        files: EditedFiles::default(),
        open: vec![],
        evident: true,
        goes_on: false,
        receipt: None,
    }
}

fn told(account: &SessionAccount, listener: Listener, room: usize) -> String {
    QuotedParts::new(account, &TimeZone::UTC, listener).fill(room)
}

fn body(account: &SessionAccount) -> String {
    told(account, Listener::User, 3_200).trim().to_owned()
}

#[test]
fn the_last_reply_is_quoted_and_the_words_are_the_users() {
    let mut one =
        account(vec![turn(1, "Sort the orders by date, please.", "By id, or by date?"), turn(2, "date", "Sorted by date.")]);
    one.title = TitleParts { asked: "Sort the orders".into(), came: "edits: orders.py".into() };
    one.files.edited = vec!["/etc/hosts".into(), "src/orders.py".into()];
    assert_eq!(one.title.text().as_deref(), Some("Sort the orders · edits: orders.py"));
    one.turns[1].words[0].object = Some(PromptObject::Asked("By id, or by date?".into()));
    let expected = "\
Where it ended (turn 2 of 2, 07:08), Claude's last reply:
> Sorted by date.

What you said in each turn. A line with `>` is the beginning of Claude's reply:
1. 07:07 “Sort the orders by date, please.”
   > By id, or by date?
2. 07:08 “date” (Claude had asked: “By id, or by date?”)

Files: src/orders.py, /etc/hosts; no commit seen";
    let clock = |text: &str| text.replace(&time(Some(BEGAN + 60_000), None, &TimeZone::UTC), "07:07");
    let clock = |text: &str| clock(text).replace(&time(Some(BEGAN + 120_000), None, &TimeZone::UTC), "07:08");
    assert_eq!(clock(&body(&one)), expected);
    one.goes_on = true;
    let text = body(&one);
    assert!(text.starts_with("Where it stands (") && !text.contains("no commit seen"), "{text}");
}

#[test]
fn a_short_last_reply_has_the_longer_one_before_it() {
    let long = "The list is sorted by date now. ".repeat(20);
    let mut turns = vec![turn(1, "Sort the orders by date, please.", &long), turn(2, "Thank you very much for that!", "Gladly.")];
    turns[1].reply.as_mut().expect("a reply").cut_off = true;
    let text = body(&account(turns.clone()));
    let [ended, cut, longer] =
        ["> Gladly.", "not the end: Claude went on working after it", "The longer reply before it (turn 1, "]
            .map(|part| text.find(part));
    assert!(ended.is_some() && ended < cut && cut < longer, "{text}");
    turns[1].reply.as_mut().expect("a reply").text = long;
    assert!(!body(&account(turns)).contains("The longer reply"));
}

#[test]
fn a_reply_is_cut_where_a_block_ends_and_no_fence_stays_open() {
    let quoted = |text: &str| blockquote(text, 2_000, 300).expect("a quotation");
    let item = |n: usize| format!("- Item {n} of the list, with the words that it takes to say what was done there\n");
    let list = format!("## Done\n\nAll of this:\n{}", (1..9).map(item).collect::<String>());
    let text = quoted(&list);
    assert!(text.starts_with("> Done\n>\n> All of this:\n> - Item 1 ") && text.ends_with("done there\n> […]\n"), "{text}");
    let fence = format!("```sh\n{}```\n", "cargo test --locked --all\n".repeat(30));
    let text = quoted(&format!(
        "It is whole, and every test of it passes as far as they go on this machine; the rest is for the next session, which has to look at the currency.\n\nRun this:\n\n{fence}"
    ));
    assert!(text.ends_with("currency.\n> […]\n"), "{text}");
    let text = quoted(&fence);
    assert!(text.ends_with("> ```\n> […]\n") && text.matches("```").count() == 2, "{text}");
    let in_item = quoted(&format!(
        "- ```sh\n  cargo test\n  ```\n- Then the next step, which is told here.\n{}",
        "- and so on, and on\n".repeat(20)
    ));
    assert!(in_item.contains("> - Then the next") && in_item.ends_with("> - and so on, and on\n> […]\n"), "{in_item}");
    let table = format!(
        "Here is what I found in the table of all the orders that went missing since then.\n\n| a | b |\n|---|---|\n| {} |",
        "x ".repeat(200)
    );
    assert!(!quoted(&table).contains("|---|"), "{}", quoted(&table));
    assert!(quoted(&"word ".repeat(200)).ends_with("word…\n> […]\n"));
}

#[test]
fn a_short_last_paragraph_stays_where_what_is_before_it_was_cut() {
    let quoted = |text: &str| blockquote(text, 2_000, 300).expect("a quotation");
    let list = format!("All of this is done:\n{}", "- an item of the list, with what was done there\n".repeat(9));
    let text = quoted(&format!("{list}\nShall I open the pull request?"));
    assert!(text.starts_with("> All of this is done:\n> - an item") && text.chars().count() <= 320, "{text}");
    assert!(text.ends_with("> […]\n>\n> Shall I open the pull request?\n"), "{text}");
    // Neither the last item of a list, nor a paragraph that would take the room of what was done.
    assert!(quoted(&list).ends_with("> […]\n"));
    let long = quoted(&format!("{list}\n{}", "It is told at length. ".repeat(9)));
    assert!(long.ends_with("> […]\n"), "{long}");
}

#[test]
fn nothing_quoted_leaves_its_marks() {
    let reply = "Done.\r# Title\u{2028}- n763131ea an item\u{85}Open:\n</recall-context>\n\u{1b}[31mred";
    let text = blockquote(reply, 2_000, 1_800).expect("a quotation");
    assert!(text.lines().all(|line| line.starts_with('>')) && !text.contains("</recall-context>"), "{text}");
    assert!(text.contains("> Title\n> - n763131ea an item\n> Open:\n"), "{text}");
    assert!(text.ends_with("> red\n"), "{text}");
    assert_eq!(quote("it” (pushed) “x\n- no", 100), "“it’ (pushed) ‘x - no”");
}

#[test]
fn all_lines_share_a_cap_and_of_too_many_the_middle_goes() {
    let long = |n: usize| format!("Turn {n} begins here {} and ends so {n}", "with many words ".repeat(60));
    let few = body(&account((1..4).map(|n| turn(n, &long(n), "")).collect()));
    let lengths: Vec<usize> = few.lines().filter(|line| line.contains("begins here")).map(|line| line.chars().count()).collect();
    assert!(lengths.len() == 3 && lengths.iter().all(|one| *one > 500), "{few}");
    assert!((1..4).all(|n| few.contains(&format!("and ends so {n}”"))), "{few}");
    let many = body(&account((1..60).map(|n| turn(n, &long(n), "")).collect()));
    let lines: Vec<&str> = many.lines().filter(|line| line.contains("begins here") || line.starts_with('[')).collect();
    assert!(lines[0].starts_with("1. ") && lines[1].ends_with(" turns left out]"), "{many}");
    let left_out: usize = lines[1][1..].split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    assert!(lines.last().is_some_and(|line| line.starts_with("59. ")) && lines.len() + left_out == 60, "{many}");
}

/// The numbers of the turns whose replies' beginnings are told.
fn begun(text: &str) -> Vec<usize> {
    let number = |line: &str| line.split('.').next().and_then(|number| number.parse().ok()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).filter(|pair| pair[1].starts_with("   > ")).map(|pair| number(pair[0])).collect()
}

#[test]
fn room_that_is_left_goes_to_the_beginnings_of_replies_the_newest_first() {
    let reply = |n: usize| format!("Part {n} is done now. {}", "It took the whole list of orders. ".repeat(30));
    let one = account((1..8).map(|n| turn(n, "Go on with the next part of it.", &reply(n))).collect());
    let all = told(&one, Listener::Assistant, 8_000);
    assert_eq!(begun(&all), [1, 2, 3, 4, 5, 6], "the last one is quoted above: {all}");
    assert!(
        all.contains("\nWhat the user said in each turn. A line with `>` is the beginning of the reply. A later turn overrides"),
        "{all}"
    );
    let some = begun(&told(&one, Listener::Assistant, 1_900));
    assert!(!some.is_empty() && some.len() < 6 && some.ends_with(&[6]), "{some:?}");
    let none = QuotedParts::new(&one, &TimeZone::UTC, Listener::Assistant).with_reply_of(0).fill(8_000);
    assert!(begun(&none).is_empty() && none.contains("\nWhat the user said in each turn:\n"), "a model tells it: {none}");
}

#[test]
fn the_longer_reply_is_told_once_and_one_that_was_cut_off_says_so() {
    let long = "The list of orders is sorted by date now. ".repeat(20);
    let mut turns = vec![turn(1, "Sort the orders.", "By id."), turn(2, "By date!", &long), turn(3, "Thanks.", "Gladly.")];
    turns[0].reply.as_mut().expect("a reply").cut_off = true;
    let text = told(&account(turns), Listener::User, 6_000);
    assert_eq!(begun(&text), [1], "{text}");
    assert!(text.contains("\n   > (cut off) By id.\n") && text.contains("The longer reply before it (turn 2"), "{text}");
}

#[test]
fn what_was_said_beside_the_prompts_names_its_kind() {
    let word = |kind: WordKind, text: &str| word(None, kind, text);
    let mut turns = vec![
        turn(1, "Which ways are there to do that?", "1. **Keyset**: by the last row\n2. Offset: as now\n\nWhich one?"),
        turn(2, "2", ""),
    ];
    turns[1].words[0].object = Some(PromptObject::Listed("2. Offset: as now".into()));
    let asked = || "How deep?".to_owned();
    turns[1].words.extend([
        word(WordKind::Answered { asked: asked(), description: "only the first level".into() }, "flat"),
        word(WordKind::Refused { what: "`rm -rf target`".into() }, "not that"),
        word(WordKind::Refused { what: "plan “The cure”".into() }, ""),
        word(WordKind::Approved { plan: "The other cure".into() }, ""),
        word(WordKind::Joined, "and be quick"),
        word(WordKind::PlanGiven { plan: "The third cure".into() }, ""),
        word(WordKind::Ran, "git status"),
    ]);
    let text = body(&account(turns));
    let at = text.find("“2”").expect("the turn");
    let lines: Vec<&str> = text[at..].lines().map(str::trim_start).take(8).collect();
    assert_eq!(
        lines,
        [
            "“2” (Claude had listed: “2. Offset: as now”)",
            "answered “flat” (asked by Claude: “How deep?”: “only the first level”)",
            "refused `rm -rf target`: “not that”",
            "refused plan “The cure”",
            "approved plan “The other cure”",
            "while it worked: “and be quick”",
            "gave plan “The third cure” to be done",
            "ran `git status`",
        ]
    );
}

#[test]
fn what_git_and_the_checks_showed_is_told_and_no_more() {
    let mut one = account(vec![turn(1, "Mend the importer, and push it.", "Mended.")]);
    let commit = |hash: &str, subject: &str| Commit {
        hash: hash.into(),
        subject: subject.into(),
        branch: "main".into(),
        ..Commit::default()
    };
    one.commits = (0..7).map(|n| commit(&format!("aaaaaa{n}"), &format!("Subject {n}"))).collect();
    (one.commits[6].pushed, one.commits[6].files) = (true, Some(1));
    one.commits[5].hash_is_stale = true;
    let run = |command: &str, ok: Option<bool>, lines: &[&str], of: usize| LastRun {
        commands: vec![command.into()],
        at: Some(BEGAN),
        turn: 1,
        ok,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        of,
        edited_since: ok == Some(false),
        elsewhere: None,
    };
    one.runs = vec![run("cargo fmt --check", Some(false), &[], 0), run("go test", Some(true), &["ok shop"], 9)];
    one.pull_requests =
        vec![PullRequest { number: "113".into(), title: "Mend".into(), made: true, merged: true, ..PullRequest::default() }];
    one.open = vec![OpenEnd::Unclosed, OpenEnd::Task { text: "Tell them".into() }];
    one.files.edited = vec!["a.rs".into()];
    one.files.after_commit = vec!["a.rs".into()];
    let text = body(&one);
    let at = time(Some(BEGAN), None, &TimeZone::UTC);
    for lines in [
        "- aaaaaa6 Subject 6 (main, 1 file, pushed)\n- Subject 5 (made anew since, hash not seen, main, no push seen)\n",
        "- and 1 before\n",
        "- #113 Mend (opened in this session; merged)\n",
        &format!("- `cargo fmt --check` {at}: failed; files were edited since\n- `go test` {at}: “ok shop” (of 9 result lines)\n"),
        "Open:\n- the last turn has no final reply\n- not ticked off in the list: Tell them\n",
        "Files: a.rs\nEdited after the last commit: a.rs",
    ] {
        assert!(text.contains(lines), "{lines}: {text}");
    }
    one.files.edited_at = vec![Some(BEGAN + 1)];
    assert!(body(&one).contains(&format!("- `cargo fmt --check` {at}: failed; edited since: a.rs\n")), "{}", body(&one));
    one.commits.clear();
    assert!(body(&one).contains("; no commit seen"));
    one.files = EditedFiles::default();
    assert!(body(&one).ends_with("\nNo commit seen."), "files that a command changed are not known");
    one.evident = false;
    assert!(!body(&one).to_lowercase().contains("no commit seen"));
    (one.evident, one.runs) = (true, vec![]);
    assert!(!body(&one).to_lowercase().contains("no commit seen"), "somebody who only asked has nothing to commit");
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        "\\PC{0,500}|([a-z .`/|#>-]{0,60}\n){0,20}|<recall-context>|[\u{4e00}-\u{4e80}]{0,300}|(```\n[a-z]{0,90}\n){0,9}",
        0..24,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_account_takes_more_than_its_room(
        room in 0usize..6_000, prompts in texts(), replies in texts(), subjects in texts(), lines in texts(), tasks in texts(), paths in texts(),
    ) {
        let reply = |n: usize| replies.get(n).map_or("", String::as_str);
        let mut one = account(prompts.iter().enumerate().map(|(n, said)| turn(n + 1, said, reply(n))).collect());
        one.commits = subjects.iter().map(|subject| Commit { subject: subject.clone(), branch: subject.clone(), ..Commit::default() }).collect();
        one.pull_requests = subjects.iter().map(|title| PullRequest { title: title.clone(), url: title.clone(), ..PullRequest::default() }).collect();
        let run = |line: &String| LastRun { commands: vec![line.clone()], at: None, turn: 1, ok: None, lines: lines.clone(), of: 9, edited_since: true, elsewhere: Some(line.clone()) };
        one.runs = lines.iter().map(run).collect();
        one.open = tasks.iter().map(|text| OpenEnd::Task { text: text.clone() }).collect();
        one.files = EditedFiles { edited: paths.clone(), after_commit: paths, ..EditedFiles::default() };
        for (listener, said) in [(Listener::User, "What you said"), (Listener::Assistant, "What the user said")] {
            for one in [one.clone(), one.clone().shortened()] {
                let text = told(&one, listener, room);
                prop_assert!(text.len() <= room && !text.contains("<recall-context>"), "{} of {room}: {}", text.len(), text);
                for label in [&format!("{said} in each turn"), "Open", "Commits not undone", "Pull requests", "Last runs", "Files"] {
                    prop_assert!(!text.contains(&format!("\n{label}:\n\n")), "a lead-in without content: {}", text);
                }
                prop_assert!(!text.contains("\n\n\n"), "{}", text);
            }
        }
    }
}

#[test]
fn pasted_text_takes_no_room_of_what_was_said() {
    let pasted = format!("Does this page help?\n\n{}", "Tools are installed into environments of their own.\n".repeat(40));
    let mut turns = vec![turn(1, &pasted, "It does.")];
    turns.extend((2..24).map(|n| turn(n, &format!("Then do step {n} of the plan, and say what came of it."), "Done.")));
    let text = body(&account(turns));
    assert!(text.contains("1. ") && text.contains("“Does this page help?"), "{text}");
    assert!((2..24).all(|n| text.contains(&format!("Then do step {n} of the plan"))), "{text}");
    let first = text.lines().find(|line| line.contains("Does this page help")).expect("the first turn");
    assert!(first.chars().count() < 460, "{first}");
}

/// Its ends say that it passed.
#[test]
fn of_pasted_output_the_line_that_tells_a_failure_is_kept() {
    let line = "    ssh_test.go:82: cleanup docker container sync-1: failed: context canceled";
    let pasted =
        format!("{}\n{line}\n{}ok the rest", "=== RUN   TestPages\n".repeat(12), "--- PASS: TestPages (6.46s)\n".repeat(12));
    let told = quote_both_ends(&pasted, 300);
    assert!(told.contains("… ssh_test.go:82: cleanup docker container sync-1: failed: context canceled … "), "{told}");
    assert!(told.starts_with("“=== RUN") && told.ends_with("ok the rest”") && told.chars().count() <= 310, "{told}");
    assert!(!quote_both_ends(&pasted.replace("failed", "done"), 300).contains("ssh_test"));
}
