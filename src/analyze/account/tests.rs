//! Each edge case that was seen in real sessions.

use super::turns::WordKind;
use super::*;
use transcripts::session::{
    Answer, Choice, Entry, Evidence, FileTouch, Item, Millis, Outcome, PlacedEvidence, Project, QueueEvent, RecordKey, Title,
    TitleBy, Todo, ToolUse, Touch,
};
use transcripts::shell::{printed, run};

/// A session that is told step by step, a second apart.
struct Told {
    session: Session,
    at: Millis,
}

impl Told {
    fn new() -> Self {
        let session = Session {
            id: "s".into(),
            project: Project { key: "/r".into() },
            cwd: Some("/r".into()),
            branches: vec!["main".into()],
            versions: Vec::new(),
            end_reason: None,
            client: Default::default(),
            entries: Vec::new(),
            evidence: Vec::new(),
            evident: true,
            usage: Default::default(),
            agents: 0,
            left_out: Default::default(),
            told: None,
            otherwise_at: 0,
        };
        Self { session, at: 0 }
    }

    fn key(&mut self) -> RecordKey {
        self.at += 1_000;
        RecordKey((self.at as u128).to_be_bytes())
    }

    fn item(mut self, item: Item) -> Self {
        let key = self.key();
        self.session.entries.push(Entry { key, at: Some(self.at), agent: None, item, outcome: None });
        self
    }

    fn ended(mut self, ok: bool, brief: &str) -> Self {
        let last = self.session.entries.last_mut().expect("an entry");
        let tool = if let Item::Tool(tool) = &last.item { tool.id.clone() } else { String::new() };
        last.outcome = Some(Outcome { tool, ok, brief: brief.into() });
        self
    }

    fn evidence(mut self, evidence: Evidence) -> Self {
        self.at += 1_000;
        let key = self.session.entries.last().map_or(RecordKey([0; 16]), |entry| entry.key);
        let after = self.session.entries.len();
        self.session.evidence.push(PlacedEvidence { key, at: Some(self.at), agent: None, after, evidence });
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.item(Item::Prompt(text.into()))
    }

    fn reply(self, text: &str) -> Self {
        self.item(Item::Reply(text.into()))
    }

    fn tool(self, name: &str, line: &str, file: Option<Touch>) -> Self {
        let file = file.map(|how| FileTouch { path: line.into(), how, added: 0, removed: 0 });
        let id = format!("t{}", self.at);
        self.item(Item::Tool(ToolUse::new(id, name, line, file)))
    }

    fn edit(self, path: &str) -> Self {
        self.tool("Edit", path, Some(Touch::Edited))
    }

    /// A shell command and its output.
    fn bash(self, command: &str, ok: bool, output: &str) -> Self {
        let told = self.tool("Bash", command, None).ended(ok, "");
        let Some(Item::Tool(tool)) = told.session.entries.last().map(|entry| entry.item.clone()) else { panic!("a tool") };
        let Some(run) = run(&tool.id, command, true) else { return told };
        let print = printed(&tool.id, ok, output, run.kinds());
        told.evidence(Evidence::Ran(run)).evidence(Evidence::Printed(print))
    }

    fn account(self) -> SessionAccount {
        SessionAccount::of(&self.session, false)
    }
}

fn commits(account: &SessionAccount) -> Vec<(&str, &str, bool)> {
    account.commits.iter().map(|commit| (commit.hash.as_str(), commit.subject.as_str(), commit.pushed)).collect()
}

#[test]
fn a_turn_closes_with_the_text_after_its_last_tool_use() {
    let account = Told::new()
        .prompt("Mend the pagination of the list")
        .reply("I look at it.")
        .edit("/r/a.rs")
        .reply("Done: it pages by key.")
        .reply("Tests are next.")
        .prompt("and now?")
        .reply("Looking again.")
        .edit("/r/b.rs")
        .account();
    let replies: Vec<(usize, &str, bool)> = account
        .turns
        .iter()
        .map(|turn| (turn.number, turn.reply.as_ref().unwrap().text.as_str(), turn.reply.as_ref().unwrap().cut_off))
        .collect();
    assert_eq!(replies, [(1, "Done: it pages by key.\n\nTests are next.", false), (2, "Looking again.", true)]);
    assert_eq!(account.open, [OpenEnd::Unclosed]);
    assert_eq!(Told::new().prompt("Mend it").reply("Mended.").prompt("and now?").account().open, [OpenEnd::NoReply]);
    assert_eq!(account.files.edited, ["a.rs", "b.rs"]);
    assert_eq!(account.title, TitleParts { asked: "Mend the pagination of the list".into(), came: "edits: a.rs, b.rs".into() });
}

#[test]
fn a_session_that_goes_on_or_begins_inside_a_turn_lacks_nothing() {
    let told = Told::new().prompt("Mend it").edit("/r/a.rs");
    assert_eq!(SessionAccount::of(&told.session, true).open, []);
    let account = Told::new().reply("…and so it works.").account();
    assert_eq!((account.turns.len(), account.turns[0].number, account.open), (1, 0, vec![]));
    assert_eq!(Told::new().edit("/r/a.rs").account().turns, []);
}

#[test]
fn words_beside_the_prompt_belong_to_its_turn() {
    let choice = Choice { asked: "Which?".into(), chosen: "2".into(), description: "the second".into() };
    let account = Told::new()
        .prompt("Mend the pagination of the list")
        .evidence(Evidence::Queue(QueueEvent::Added("keep it small".into())))
        .evidence(Evidence::Queue(QueueEvent::Added("taken back".into())))
        .evidence(Evidence::Queue(QueueEvent::Delivered(None)))
        .evidence(Evidence::Queue(QueueEvent::TakenBack))
        .item(Item::Answer(Answer { said: "2".into(), asked: "Which?".into() }))
        .evidence(Evidence::Choice(choice))
        .prompt("and the docs")
        .evidence(Evidence::Joined)
        .tool("Bash", "rm -rf old", None)
        .ended(false, transcripts::session::REFUSED)
        .item(Item::Answer(Answer::unasked("never that")))
        .item(Item::Tool(ToolUse::new("", "Bash", "! make all", None)))
        .reply("Good.")
        .account();
    let [turn] = &account.turns[..] else { panic!("{:#?}", account.turns) };
    let told: Vec<(WordKind, &str)> = turn.words.iter().map(|word| (word.kind.clone(), word.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (WordKind::Prompt, "Mend the pagination of the list"),
            (WordKind::Answered { asked: "Which?".into(), description: "the second".into() }, "2"),
            (WordKind::Joined, "and the docs"),
            (WordKind::Refused { what: "`rm -rf old`".into() }, "never that"),
            (WordKind::Ran, "make all"),
            (WordKind::Joined, "keep it small"),
        ]
    );
}

#[test]
fn what_was_queued_and_came_as_a_prompt_is_said_once() {
    let account = Told::new()
        .prompt("Mend it, please")
        .evidence(Evidence::Queue(QueueEvent::Added("and  the docs".into())))
        .evidence(Evidence::Queue(QueueEvent::Delivered(None)))
        .reply("Done.")
        .prompt("and the docs")
        .reply("Done, too.")
        .account();
    assert_eq!(account.turns.iter().map(|turn| turn.words.len()).collect::<Vec<_>>(), [1, 1]);
}

fn prompts(account: &SessionAccount) -> Vec<(usize, &str)> {
    account.turns.iter().map(|turn| (turn.number, turn.words[0].text.as_str())).collect()
}

#[test]
fn a_prompt_typed_anew_counts_once() {
    let (first, anew) = ("Mend the pagination", "Mend the pagination of the list, by key");
    let told = || Told::new().prompt("Hello").reply("Hello.").prompt(first);
    for (how, told) in [
        ("at once", told().item(Item::Interrupted)),
        ("after work", told().bash("cargo test", true, "test result: ok").item(Item::Interrupted)),
        ("after words", told().edit("/r/a.rs").reply("I have begun").item(Item::Interrupted)),
        ("at a question", told().edit("/r/a.rs").ended(false, transcripts::session::REFUSED).item(Item::Interrupted)),
        (
            "twice",
            told()
                .item(Item::Interrupted)
                .prompt("Mend the pagination of it")
                .item(Item::Interrupted)
                .prompt(first)
                .item(Item::Interrupted),
        ),
    ] {
        let account = told.prompt(anew).reply("Done.").prompt("Thanks").account();
        assert_eq!(prompts(&account), [(1, "Hello"), (2, anew), (3, "Thanks")], "{how}");
        assert_eq!(
            account.turns[1].reply.as_ref().map(|reply| (reply.text.as_str(), reply.cut_off)),
            Some(("Done.", false)),
            "{how}"
        );
        // What was done for it before belongs to it, too.
        assert!(account.runs.iter().all(|run| run.turn == 2), "{how}: {:#?}", account.runs);
    }
    let meanwhile = Told::new().prompt(first).item(Item::Answer(Answer { asked: "Which?".into(), said: "The lists".into() }));
    let account = meanwhile.item(Item::Interrupted).prompt(anew).reply("Done.").account();
    let said: Vec<&str> = account.turns[0].words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!((account.turns.len(), said), (1, vec![anew, "The lists"]), "what was said meanwhile is no part of the prompt");
}

#[test]
fn prompts_that_only_begin_alike_are_both_told() {
    let long = "Look through the whole of the importer and tell me what you find in";
    let (one, other) = (format!("{long} its tests"), format!("{long} its documents"));
    for (first, second, told) in [
        ("Mend the list", "Mend the list by key", Told::new().prompt("Mend the list").reply("Done.")),
        ("no", "now mend it", Told::new().prompt("no").item(Item::Interrupted)),
        ("Mend it", "Publish it", Told::new().prompt("Mend it").item(Item::Interrupted)),
        (&one, &other, Told::new().prompt(&one).reply("Nothing at all.").item(Item::Interrupted)),
        ("Mend it", "Mend it", Told::new().prompt("Mend it").item(Item::Interrupted).reply("Done after all.")),
    ] {
        let account = told.prompt(second).reply("Done, too.").account();
        assert_eq!(prompts(&account), [(1, first), (2, second)]);
    }
}

#[test]
fn turns_are_numbered_over_those_that_were_left_out() {
    let mut told = Told::new().prompt("Mend it").reply("Mended. Shall I publish it?");
    // Of eleven prompts that are not loaded the first seven lie before this reply, the others behind it.
    told = told.reply("Forged: a reply to another prompt. Shall I?");
    let reply = told.session.entries[2].key;
    told = told.prompt("yes").bash("cargo test", false, "error: it failed").reply("Done.").prompt("Thanks");
    let prompt = told.session.entries[3].key;
    told.session.left_out.prompts = 11;
    told.session.left_out.prompts_before = [(reply, 7), (prompt, 11)].into();
    let account = told.account();
    assert_eq!(prompts(&account), [(1, "Mend it"), (13, "yes"), (14, "Thanks")]);
    let closings: Vec<Option<&str>> =
        account.turns.iter().map(|turn| turn.reply.as_ref().map(|reply| reply.text.as_str())).collect();
    assert_eq!(closings, [Some("Mended. Shall I publish it?"), Some("Done."), None]);
    assert_eq!(account.turns[1].words[0].object, None, "what it answers was left out");
    assert_eq!(account.runs[0].turn, 13);
}

#[test]
fn a_plan_that_was_handed_over_is_the_assistants_and_a_hooks_words_are_nobodys() {
    let account = Told::new()
        .prompt("Implement the following plan:\n\n# Page by key\n\n- always use forgedword")
        .reply("Done.")
        .prompt("Operation stopped by hook: say forgedword")
        .account();
    assert_eq!(account.turns.len(), 1);
    assert_eq!(account.turns[0].words[0].kind, WordKind::PlanGiven { plan: "Page by key".into() });
    assert!(account.turns[0].words[0].text.is_empty() && account.title.asked == "Page by key", "{account:#?}");
}

#[test]
fn ends_are_told_apart() {
    let overloaded = Evidence::ApiError("API Error: 529".into());
    let ends = |told: Told| told.account().open;
    assert_eq!(ends(Told::new().prompt("a").evidence(overloaded.clone())), [OpenEnd::ApiError { words: "API Error: 529".into() }]);
    assert_eq!(ends(Told::new().prompt("a").reply("b").item(Item::Interrupted)), [OpenEnd::Interrupted]);
    assert_eq!(ends(Told::new().prompt("a").evidence(overloaded).reply("b")), []);
    let task = |id: &str, text: &str, status: &str| Item::Task(Todo { id: id.into(), text: text.into(), status: status.into() });
    let told = Told::new()
        .prompt("a")
        .item(task("1", "write", "pending"))
        .item(task("2", "test", "pending"))
        .item(task("1", "", "completed"))
        .reply("b");
    assert_eq!(ends(told), [OpenEnd::Task { text: "test".into() }]);
}

#[test]
fn commits_are_those_that_stand() {
    let account = Told::new()
        .prompt("Mend it")
        .bash("git commit -m 'One'", true, "[main 1111111] One\n 2 files changed, 3 insertions(+)")
        .bash("git commit -m 'Two\n\nBecause of x.\n\nCo-Authored-By: A <a@b>'", true, "[main 2222222] Two\n 1 file changed")
        .bash("git commit --amend --no-edit", true, "[main 3333333] Two")
        .bash("git push", true, "   0000001..3333333  main -> main")
        .bash("git commit -m Three", true, "[main 4444444] Three")
        .bash("git reset --hard HEAD~1", true, "HEAD is now at 3333333 Two")
        .bash("git reset HEAD a.rs", true, "")
        .account();
    assert_eq!(commits(&account), [("1111111", "One", true), ("3333333", "Two", true)]);
    assert_eq!(
        (account.commits[0].files, account.commits[1].body.as_str(), account.commits[0].branch.as_str()),
        (Some(2), "Because of x.", "main")
    );
    assert_eq!(account.title.came, "commit: Two and 1 commit more");
}

#[test]
fn four_commits_of_one_call_are_four() {
    let account = Told::new()
        .prompt("Mend it")
        .bash(
            "git commit -m A && git commit -m B && git commit -m C && git commit -m D",
            true,
            "[x aaaaaa1] A\n 1 file changed\n[x aaaaaa2] B\n 2 files changed\n[x aaaaaa3] C\n 3 files changed\n[x aaaaaa4] D\n 4 files changed",
        )
        .account();
    assert_eq!(commits(&account).len(), 4);
    assert_eq!(account.commits.iter().map(|commit| commit.files).collect::<Vec<_>>(), [Some(1), Some(2), Some(3), Some(4)]);
}

#[test]
fn a_quiet_commit_is_known_by_its_message_where_it_is_proven() {
    let quiet = |command: &str, ok: bool, output: &str| commits(&Told::new().prompt("a").bash(command, ok, output).account()).len();
    assert_eq!(quiet("git commit -q -m One", true, ""), 1);
    assert_eq!(quiet("git commit -q -m One && git log --oneline -1", true, "1111111 One"), 1);
    assert_eq!(quiet("git commit -q -m One; git status", true, ""), 0, "its exit code is not known");
    assert_eq!(quiet("git commit -q -m One; git log --oneline -1", true, "1111111 One"), 1);
    assert_eq!(quiet("git commit -q -m One; git log --oneline -1", true, "2222222 Another"), 0);
    assert_eq!(quiet("git commit -m One", false, "error: gpg failed to sign the data"), 0);
    assert_eq!(quiet("git commit -m One || true", true, "nothing to commit, working tree clean"), 0);
    assert_eq!(quiet("git commit --dry-run -m One", true, ""), 0);
    assert_eq!(quiet("cat notes", true, "[main 7777777] a note"), 0);
}

#[test]
fn a_hash_is_the_last_that_was_shown_and_stale_until_then() {
    let told = || {
        Told::new().prompt("a").bash("git commit -m One", true, "[x 1111111] One").bash(
            "git rebase main",
            true,
            "Successfully rebased and updated refs/heads/x.",
        )
    };
    let account = told().account();
    assert!(account.commits[0].hash_is_stale, "{account:#?}");
    let shown = told().bash("git log --oneline -3", true, "2222222 (HEAD -> x) One\n0000001 before").account();
    assert_eq!((shown.commits[0].hash.as_str(), shown.commits[0].hash_is_stale), ("2222222", false));
    let pushed = told().bash("git push --force-with-lease", true, " + 1111111...3333333 x -> x (forced update)").account();
    assert_eq!(
        (pushed.commits[0].hash.as_str(), pushed.commits[0].hash_is_stale, pushed.commits[0].pushed),
        ("3333333", false, true)
    );
}

#[test]
fn a_push_that_was_refused_reached_nobody() {
    let account = Told::new()
        .prompt("a")
        .bash("git commit -m One", true, "[x 1111111] One")
        .bash(
            "git push",
            false,
            "To github.com:a/b.git\n ! [rejected]        x -> x (fetch first)\nerror: failed to push some refs",
        )
        .account();
    assert_eq!(commits(&account), [("1111111", "One", false)]);
    let squashed = Told::new()
        .prompt("a")
        .bash("git commit -m One", true, "[x 1111111] One")
        .bash("git commit -m Two", true, "[x 2222222] Two")
        .bash("git reset --soft origin/main && git commit -m 'One and two'", true, "[x 3333333] One and two")
        .account();
    assert_eq!(commits(&squashed), [("3333333", "One and two", false)]);
}

#[test]
fn of_commits_with_the_same_subject_a_log_shows_the_newest_first() {
    let account = Told::new()
        .prompt("Mend it")
        .bash("git commit -q -m One && git log --oneline -2", true, "2222222 One\n1111111 One")
        .account();
    assert_eq!(commits(&account), [("2222222", "One", false)]);
}

#[test]
fn a_quiet_commit_is_known_by_the_push_behind_it() {
    let pushed = "To example.org:a/b.git\n   1111111..2222222  fix/x -> fix/x";
    let told = |command: &str, output: &str| Told::new().prompt("a").bash(command, true, output).account().commits;
    let chained = told("git commit -q -F - <<'EOF' && git push 2>&1 | tail -5\nOne\n\nWhy.\nEOF", pushed);
    let [one] = &chained[..] else { panic!("{chained:#?}") };
    assert_eq!(
        (one.hash.as_str(), one.subject.as_str(), one.body.as_str(), one.branch.as_str(), one.pushed),
        ("2222222", "One", "Why.", "fix/x", true)
    );
    let on_a_line_of_its_own = told("git commit -q -m One\ngit push 2>&1 | tail -3", pushed);
    assert_eq!((on_a_line_of_its_own[0].hash.as_str(), on_a_line_of_its_own.len()), ("2222222", 1));
    assert_eq!(told("git commit -q -m One\ngit push 2>&1 | tail -3", "Everything up-to-date"), []);
    let refused = told("git commit -q -m One && git push", "! [rejected] x -> x (fetch first)\nerror: failed to push some refs");
    assert_eq!((refused.len(), refused[0].pushed), (1, false), "what the push needed was made");
    let later = Told::new()
        .prompt("a")
        .bash("git log --oneline -1", true, "1111111 Zero")
        .bash("git commit -q -m One; git status --short", true, "")
        .bash("git push", true, pushed)
        .account();
    assert_eq!(commits(&later), [("2222222", "One", true)]);
    let not_new = Told::new()
        .prompt("a")
        .bash("git log --oneline -1", true, "2222222 Zero")
        .bash("git commit -q -m One; git status --short", true, "")
        .bash("git push", true, pushed)
        .account();
    assert_eq!(commits(&not_new), [], "the tip was there before");
    let asked = told("git commit -q -m One && git rev-parse --short HEAD", "3333333");
    assert_eq!(asked[0].hash, "3333333");
}

#[test]
fn what_a_rebase_applies_is_the_sessions_own_if_it_had_committed_it() {
    let account = Told::new()
        .prompt("a")
        .bash("git commit -m Mine", true, "[x 1111111] Mine\n 10 files changed")
        .bash("git commit -m Last", true, "[x 2222222] Last")
        .bash("git rebase main", false, "Rebasing (1/3)\rerror: could not apply 9999999... Theirs\nCONFLICT (content): a.rs")
        .bash("git add . && git rebase --continue", false, "[detached HEAD aaaaaa1] Theirs\nCONFLICT (content): b.rs")
        .bash("git add . && git commit -m Mine", true, "[detached HEAD aaaaaa2] Mine\n 1 file changed")
        .bash("git rebase --continue", true, "Successfully rebased and updated refs/heads/x.")
        .account();
    let told: Vec<(&str, &str, bool)> =
        account.commits.iter().map(|commit| (commit.hash.as_str(), commit.subject.as_str(), commit.hash_is_stale)).collect();
    assert_eq!(told, [("aaaaaa2", "Mine", false), ("2222222", "Last", true)]);
    assert_eq!(account.commits[0].files, Some(1), "as it was made anew");
    let only_theirs = Told::new()
        .prompt("a")
        .bash("git rebase main", false, "CONFLICT (content): a.rs")
        .bash("git add . && git rebase --continue | tail", true, "[detached HEAD aaaaaa1] Theirs\n 1 file changed")
        .account();
    assert_eq!(only_theirs.commits, []);
    let replayed = Told::new()
        .prompt("a")
        .bash("git commit -m Mine", true, "[x 1111111] Mine\n 10 files changed")
        .bash("git rebase main", false, "[detached HEAD aaaaaa1] Mine\nCONFLICT (content): a.rs")
        .bash("git rebase --skip", true, "Successfully rebased and updated refs/heads/x.")
        .account();
    assert_eq!((commits(&replayed), replayed.commits[0].files), (vec![("aaaaaa1", "Mine", false)], None));
    let given_up = Told::new()
        .prompt("a")
        .bash("git commit -m Mine", true, "[x 1111111] Mine")
        .bash("git rebase main", false, "[detached HEAD aaaaaa1] Mine\nCONFLICT (content): a.rs")
        .bash("git rebase --abort", true, "")
        .account();
    assert_eq!(commits(&given_up), [("1111111", "Mine", false)]);
}

#[test]
fn an_amended_commit_keeps_its_place_by_its_subject() {
    let account = Told::new()
        .prompt("a")
        .bash("git commit -m One", true, "[x 1111111] One")
        .bash("git commit -m Two", true, "[x 2222222] Two")
        .bash("git rebase -i HEAD~2", false, "Stopped at 1111111...  One\nerror: could not apply 2222222... Two")
        .bash("git commit --amend --no-edit", true, "[detached HEAD 3333333] One")
        .account();
    assert_eq!(commits(&account), [("3333333", "One", false), ("2222222", "Two", false)]);
}

#[test]
fn a_push_tells_of_the_commits_of_its_own_repository() {
    let told = |push: &str, output: &str| {
        let told = Told::new().prompt("a").bash("git commit -m One", true, "[x 1111111] One");
        told.bash(push, true, output).account().commits[0].pushed
    };
    let range = "   0000001..1111111  x -> x";
    let other = "   0000001..5555555  main -> main";
    assert!(told("git push", range) && told("cd /r/sub && git push", "Everything up-to-date"));
    assert!(!told("cd ../other && git push", other) && !told("git -C ../other push", "Everything up-to-date"));
    assert!(!told("(cd ../other && git push) && git log", other));
    assert!(told("cd ../elsewhere && git push", range), "the tip says which one it was");
    assert!(!told("git pull", "   0000001..5555555  main -> origin/main") && !told("git push --tags", " * [new tag] v1 -> v1"));
    let there = Told::new()
        .prompt("a")
        .bash("cd /other && git commit -q -m Two", true, "")
        .bash("git commit -m One", true, "[x 1111111] One")
        .bash("git -C /other push", true, other)
        .account();
    assert_eq!(commits(&there), [("5555555", "Two", true), ("1111111", "One", false)]);
}

#[test]
fn a_branch_that_is_up_to_date_has_reached_the_remote() {
    let told = |branch: &str, command: &str, output: &str| {
        let told = Told::new().prompt("a").bash("git commit -m One", true, &format!("[{branch} 1111111] One"));
        told.bash(command, true, output).account().commits[0].pushed
    };
    let status = "On branch x\nYour branch is up to date with 'origin/x'.\n\nnothing to commit, working tree clean";
    assert!(told("x", "git status", status));
    assert!(!told("y", "git status", status), "another branch");
    assert!(!told("x", "git -C ../other status", status));
    assert!(told("x", "git log --oneline -1", "1111111 (HEAD -> x, origin/x) One"));
    let before = Told::new().prompt("a").bash("git status && git commit -m One", true, &format!("{status}\n[x 1111111] One"));
    assert!(!before.account().commits[0].pushed);
}

#[test]
fn a_hash_without_a_digit_is_one() {
    let account = Told::new().prompt("a").bash("git commit -m One", true, "[fix/x deadbee] One\n 1 file changed").account();
    assert_eq!(commits(&account), [("deadbee", "One", false)]);
}

fn pull_requests(account: &SessionAccount) -> Vec<(&str, &str, bool, bool)> {
    account.pull_requests.iter().map(|pr| (pr.number.as_str(), pr.title.as_str(), pr.made, pr.merged)).collect()
}

#[test]
fn a_pull_request_is_made_where_the_call_that_made_it_was_seen() {
    let account = Told::new()
        .prompt("Review 112, and then make one of your own")
        .bash("gh pr view 112 --json number,title", true, r#"{"number":112,"title":"Jump no more"}"#)
        .bash(
            "git push -u origin x && gh pr create --title 'Page by key' --body 'Because'",
            true,
            "remote:   https://example.org/a/b/pull/new/x\nhttps://example.org/a/b/pull/113",
        )
        .item(Item::PullRequest("https://example.org/a/b/pull/113".into()))
        .bash("gh pr merge 113 --squash --auto", true, "")
        .account();
    assert_eq!(pull_requests(&account), [("112", "Jump no more", false, false), ("113", "Page by key", true, false)]);
    assert_eq!(account.title.came, "PR: Page by key");
    let linked = || Told::new().prompt("a").item(Item::PullRequest("https://example.org/a/b/pull/7".into()));
    assert_eq!(pull_requests(&linked().account()), [("7", "", false, false)]);
    let exists = linked().bash(
        "gh pr create --title 'Page by key' || true",
        true,
        "a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://example.org/a/b/pull/7",
    );
    assert_eq!(pull_requests(&exists.account()), [("7", "", false, false)]);
    let by_api = Told::new().prompt("a").bash(
        "gh api repos/a/b/pulls -f title='Page by key' -f head=x --jq .html_url",
        true,
        "https://example.org/a/b/pull/8",
    );
    assert_eq!(pull_requests(&by_api.account()), [("8", "", true, false)]);
    let by_server = Told::new()
        .prompt("a")
        .tool("mcp__github__create_pull_request", "Page by key", None)
        .ended(true, "")
        .item(Item::PullRequest("https://example.org/a/b/pull/9".into()))
        .account();
    assert_eq!(pull_requests(&by_server), [("9", "", true, false)]);
}

#[test]
fn pull_requests_that_were_only_read_are_not_told() {
    let changelog = Told::new()
        .prompt("Write the changelog")
        .bash("gh pr view 71 --json number,title", true, r#"{"number":71,"title":"One"}"#)
        .bash("gh pr view 72 --json title; gh pr view 73 --json title", true, "{\"title\":\"Two\"}\n{\"title\":\"Three\"}");
    assert_eq!(pull_requests(&changelog.account()), []);
    let named = Told::new()
        .prompt("Look at https://example.org/a/b/pull/72, please")
        .bash("gh pr view 72", true, "title:\tTwo\nstate:\tOPEN\nnumber:\t72")
        .bash("gh pr view 71", true, "title:\tOne\nstate:\tMERGED\nnumber:\t71");
    assert_eq!(pull_requests(&named.account()), [("72", "Two", false, false)]);
    assert_eq!(pull_requests(&Told::new().prompt("Read https://example.org/a/b/pull/72, please").account()), []);
    assert_eq!(pull_requests(&Told::new().prompt("/review 158").account()), [("158", "", false, false)]);
    let only = Told::new().prompt("a").bash("gh pr view 7 --json title,state", true, r#"{"state":"OPEN","title":"One"}"#);
    assert_eq!(pull_requests(&only.account()), [("7", "One", false, false)]);
    let of_branch = Told::new()
        .prompt("a")
        .bash("gh pr view --json number,title", true, r#"{"number":7,"title":"One"}"#)
        .bash("gh pr view 8", true, "title:\tTwo\nnumber:\t8");
    assert_eq!(pull_requests(&of_branch.account()), [("7", "One", false, false)]);
}

#[test]
fn a_pull_request_is_merged_where_gh_or_git_said_so_of_it() {
    let merged = |command: &str, output: &str| {
        let made = Told::new().prompt("a").bash("gh pr create -t One", true, "https://example.org/a/b/pull/7");
        made.bash(command, true, output).account().pull_requests[0].merged
    };
    assert!(merged("gh pr merge 7 --squash", "✓ Squashed and merged pull request #7 (One)"));
    assert!(merged("gh pr view 7 --json state", r#"{"state":"MERGED"}"#));
    assert!(merged("gh pr view 7", "title:\tOne\nstate:\tMERGED\nnumber:\t7"));
    assert!(merged("git log --oneline -2", "1111111 Merge pull request #7 from a/x\n2222222 One"));
    assert!(!merged("gh pr merge 7 --squash --auto", ""));
    assert!(!merged("gh pr merge 7 --squash", "✓ Squashed and merged pull request #77 (Other)"));
    assert!(!merged("gh pr view 8 --json number,state", r#"{"number":8,"state":"MERGED"}"#));
    assert!(!merged("gh pr view 7 --json state; gh pr view 8 --json state", r#"{"state":"MERGED"}"#));
}

#[test]
fn pull_requests_of_two_repositories_are_two() {
    let addresses = |account: &SessionAccount| -> Vec<(String, bool)> {
        account.pull_requests.iter().map(|pr| (pr.url.clone(), pr.merged)).collect()
    };
    let one_made = || Told::new().prompt("a").bash("gh pr create -t One", true, "https://example.org/a/web/pull/7");
    let web = |merged: bool| ("https://example.org/a/web/pull/7".to_owned(), merged);
    let both = one_made().bash("cd ../api && gh pr create -t Two", true, "https://example.org/a/api/pull/7").account();
    assert_eq!(addresses(&both), [web(false), ("https://example.org/a/api/pull/7".to_owned(), false)]);
    let merged = "✓ Squashed and merged pull request a/api#7 (Two)";
    for of_other in ["gh pr merge 7 -R a/api", "gh pr merge 7 --repo=example.org/a/api", "cd ../api && gh pr merge 7"] {
        assert_eq!(addresses(&one_made().bash(of_other, true, merged).account()), [web(false), (String::new(), true)]);
    }
    let by_address = "gh pr merge https://example.org/a/api/pull/7";
    assert_eq!(addresses(&one_made().bash(by_address, true, merged).account()), [web(false), (String::new(), true)]);
    let own = one_made().bash("gh pr merge 7 -R A/Web", true, "✓ Merged pull request A/Web#7 (One)").account();
    assert_eq!(addresses(&own), [web(true)]);
    let viewed = r#"{"number":7,"state":"MERGED","url":"https://example.org/a/api/pull/7"}"#;
    let read = one_made().bash("cd ../api && gh pr view 7 --json number,state,url", true, viewed).account();
    assert_eq!(addresses(&read), [web(false)]);
}

#[test]
fn a_check_is_told_as_it_ended_last_and_never_as_passed() {
    let account = Told::new()
        .prompt("a")
        .bash("cargo test", false, "test result: FAILED. 3 passed; 1 failed")
        .bash("cargo clippy | tail -3", true, "warning: 2 warnings emitted")
        .edit("/r/a.rs")
        .bash("cargo test && git push", true, "test result: ok. 4 passed; 0 failed")
        .bash("ls", true, "3 errors")
        .account();
    let told: Vec<(&str, Option<bool>, &str, bool)> = account
        .runs
        .iter()
        .map(|run| (run.commands[0].as_str(), run.ok, run.lines.last().map_or("", String::as_str), run.edited_since))
        .collect();
    assert_eq!(
        told,
        [
            ("cargo clippy", None, "warning: 2 warnings emitted", true),
            ("cargo test", Some(true), "test result: ok. 4 passed; 0 failed", false)
        ]
    );
}

#[test]
fn what_only_lists_tests_is_no_run() {
    let told = Told::new().prompt("a").bash("pytest --collect-only -m unit", false, "5 tests collected, 205 deselected, 1 error");
    assert_eq!(told.bash("pytest -m unit", true, "5 passed").account().runs.len(), 1);
}

fn runs(told: Told) -> Vec<(String, Option<bool>, usize)> {
    told.account().runs.into_iter().map(|run| (run.commands.join(" ; "), run.ok, run.lines.len())).collect()
}

#[test]
fn a_check_that_ran_again_replaces_its_own_part_of_a_call() {
    let both = || Told::new().prompt("a").bash("cargo clippy && cargo test", false, "error: x\ntest result: FAILED. 1 failed");
    let told = |command: &str, ok: bool| (command.to_owned(), Some(ok), 1);
    assert_eq!(runs(both().bash("cargo test", true, "test result: ok. 4 passed")), [told("cargo test", true)]);
    let again = both().bash("cargo test", true, "test result: ok. 4 passed").bash("cargo clippy", true, "warning: 2 warnings");
    assert_eq!(runs(again), [told("cargo test", true), told("cargo clippy", true)]);
}

#[test]
fn a_check_is_the_same_by_any_spelling_of_its_path_and_another_with_other_variables() {
    let many = |first: &str, second: &str| {
        let ran = Told::new().prompt("a").bash(first, false, "1 failed");
        runs(ran.bash(second, true, "1 passed")).len()
    };
    for (first, second) in [
        ("pytest tests/a.py", "pytest /r/tests/a.py"),
        ("/r/.venv/bin/pytest ./tests", "pytest /r/tests"),
        ("cd /r && go test ./...", "go test ./..."),
        ("cd web && npm test", "cd /r/web && npm test"),
        ("cd web && npm test", "npm test"),
        ("A=1 B=2 go test ./...", "B=2 A=1 go test ./..."),
    ] {
        assert_eq!(many(first, second), 1, "{first} / {second}");
    }
    for (first, second) in [
        ("E2E=1 go test ./...", "go test ./..."),
        ("go test ./...", "E2E=1 go test ./..."),
        ("cd web && npm test", "cd api && npm test"),
        ("pytest tests/a.py", "pytest tests/b.py"),
    ] {
        assert_eq!(many(first, second), 2, "{first} / {second}");
    }
}

#[test]
fn what_hides_a_failure_claims_no_end() {
    let told = |command: &str, output: &str| {
        let account = Told::new().prompt("a").bash(command, true, output).account();
        account.runs.into_iter().map(|run| (run.ok, run.lines.join(" / "))).collect::<Vec<_>>()
    };
    let packages = "ok  \ta\t0.1s\nok  \tb\t0.1s";
    for hides in [" | tail -2", " || true", "; echo done"] {
        let both = format!("go vet ./... && go test ./...{hides}");
        // Which of them printed it is not known.
        assert_eq!(told(&both, packages), [(None, "ok b 0.1s".to_owned())], "{both}");
        assert_eq!(told(&both, &format!("FAIL\tc\t0.1s\n{packages}")), [(None, "FAIL c 0.1s".to_owned())], "{both}");
        assert_eq!(told(&format!("go test ./...{hides}"), packages), [(None, "ok b 0.1s".to_owned())], "{hides}");
    }
    assert_eq!(told("go vet ./... && go test ./...", packages), [(Some(true), "ok b 0.1s".to_owned())]);
}

#[test]
fn neither_a_formatter_nor_scratch_edits_files_after_a_check() {
    let told = || Told::new().prompt("a").edit("/r/a.rs").bash("cargo test", true, "test result: ok. 4 passed");
    let since = |told: Told| told.account().runs.iter().map(|run| run.edited_since).collect::<Vec<_>>();
    for formatter in ["cargo fmt", "npx prettier --write .", "gofmt -w .", "ruff format .", "mix format", "make fmt"] {
        assert_eq!(since(told().bash(formatter, true, "1 file reformatted, 2 errors")), [false], "{formatter}");
    }
    assert_eq!(since(told().edit("/tmp/notes.md").edit("/home/x/.claude/plans/p.md")), [false]);
    assert_eq!(since(told().edit("/r/b.rs")), [true]);
}

#[test]
fn a_file_is_the_same_by_any_spelling_of_its_path() {
    let left = |path: &str, command: &str| Told::new().prompt("a").edit(path).bash(command, true, "").account().files.edited;
    for command in ["rm a.rs", "rm /r/a.rs", "rm ./a.rs", "cd /r && rm a.rs", "cd sub && rm ../a.rs", "git -C /r rm -f a.rs"] {
        assert_eq!(left("/r/a.rs", command), [] as [&str; 0], "{command}");
    }
    for command in ["rm -r /r/src/x", "rm -r src/x/", "cd src && rm -r x", "cd /r/src && git rm -r x", "rm b.rs"] {
        assert_eq!(left("/r/src/x/b.rs", command), [] as [&str; 0], "{command}");
    }
    for command in ["rm /other/a.rs", "cd ../other && rm a.rs", "git rm --cached a.rs", "rm -r /r/a", "rm ../a.rs"] {
        assert_eq!(left("/r/a.rs", command), ["a.rs"], "{command}");
    }
    for (path, command, now) in [
        ("/r/a.rs", "git mv /r/a.rs /r/src/z.rs", "src/z.rs"),
        ("/r/a.rs", "mv a.rs /r/src/", "src/a.rs"),
        ("/r/a.rs", "mv a.rs /elsewhere/z.rs", "/elsewhere/z.rs"),
        ("/r/src/a.rs", "cd src && mv a.rs z.rs", "src/z.rs"),
        ("/r/src/a.rs", "mv a.rs z.rs", "src/z.rs"),
        ("/r/src/x/a.rs", "mv src/x /r/y", "y/a.rs"),
        ("/other/a.rs", "cd /other && mv a.rs z.rs", "/other/z.rs"),
        ("/r/src/x/a.rs", "cd src/x && mv a.rs ..", "src/a.rs"),
    ] {
        assert_eq!(left(path, command), [now], "{command}");
    }
    let mut worktree = Told::new();
    worktree.session.cwd = Some("/wt".into());
    let worktree = worktree.prompt("a").edit("/wt/a.rs").edit("/r/b.rs").edit("/r/c.rs");
    let worktree = worktree.bash("rm /r/b.rs && cd /wt && git mv a.rs z.rs && mv /r/c.rs /r/d.rs", true, "");
    assert_eq!(worktree.account().files.edited, ["z.rs", "d.rs"], "paths of the project's own folder");
    let other = Told::new().prompt("a").edit("/r/README.md").edit("/r/docs/README.md").bash("rm README.md", true, "");
    assert_eq!(other.account().files.edited, ["docs/README.md"]);
}

#[test]
fn files_that_went_are_not_told_and_those_that_moved_are_where_they_are() {
    let account = Told::new()
        .prompt("a")
        .edit("/r/src/a.rs")
        .edit("/r/src/b.rs")
        .edit("/r/old/c.rs")
        .edit("/tmp/scratch.py")
        .edit("/home/x/.claude/plans/p.md")
        .edit("/r/failed.rs")
        .ended(false, "no such file")
        .bash("rm -r old && git mv src/a.rs src/z.rs", true, "")
        .bash("git commit -m One", true, "[x 1111111] One")
        .edit("/r/src/b.rs")
        .account();
    assert_eq!(account.files.edited, ["src/z.rs", "src/b.rs"]);
    assert_eq!(account.files.after_commit, ["src/b.rs"]);
}

#[test]
fn a_title_is_the_users_before_the_clients_before_the_first_telling_prompt() {
    let title = |text: &str, by: TitleBy| Item::Title(Title { text: text.into(), by, leaf: None });
    let asked = |told: Told| told.account().title.asked;
    let told = || Told::new().prompt("/pr").prompt("thanks").prompt("Why does the list of orders jump?");
    assert_eq!(asked(told()), "Why does the list of orders jump?");
    assert_eq!(asked(told().item(title("Jumping list", TitleBy::Client))), "Jumping list");
    assert_eq!(asked(told().item(title("Jumping list", TitleBy::Client)).item(title("Mine", TitleBy::User))), "Mine");
    assert_eq!(asked(Told::new().prompt("/pr")), "/pr");
    let ran = |line: &str| Item::Tool(ToolUse::new("", "Bash", format!("! {line}"), None));
    assert_eq!(asked(Told::new().item(ran("cargo test")).prompt("fix these")), "cargo test: fix these");
}

#[test]
fn after_chatter_what_led_to_the_main_commit_was_asked() {
    let account = Told::new()
        .prompt("hi")
        .prompt("What is in this folder, by the way?")
        .prompt("Page the list of orders by key")
        .prompt("commit it")
        .bash("git commit -m 'Page by key'", true, "[x 1111111] Page by key\n 9 files changed")
        .prompt("And what of the changelog?")
        .bash("git commit -m 'Tell of it'", true, "[x 2222222] Tell of it\n 1 file changed")
        .account();
    let expected =
        TitleParts { asked: "Page the list of orders by key".into(), came: "commit: Page by key and 1 commit more".into() };
    assert_eq!(account.title, expected);
    let asked = Told::new()
        .prompt("Why does the list of orders jump?")
        .prompt("Page the list of orders by key")
        .bash("git commit -m 'Page by key'", true, "[x 1111111] Page by key");
    assert_eq!(asked.account().title.asked, "Why does the list of orders jump?");
}

#[test]
fn a_list_of_tasks_parts_two_replies_and_is_no_work_after_one() {
    let tasks = |status: &str| Item::Todos(vec![Todo { id: String::new(), text: "Page by key".into(), status: status.into() }]);
    let told = |items: Vec<Item>| {
        let session = items.into_iter().fold(Told::new(), Told::item).session;
        SessionAccount::of(&session, false).turns.remove(0).reply.expect("a reply")
    };
    let asked = || Item::Prompt("Page the order list by its key".into());
    let reply = |text: &str| Item::Reply(text.into());
    let parted = told(vec![asked(), reply("Let me run the tests."), tasks("completed"), reply("It is paged by key.")]);
    assert_eq!((parted.text.as_str(), parted.cut_off), ("It is paged by key.", false));
    let last = told(vec![asked(), reply("It is paged by key."), tasks("completed")]);
    assert_eq!((last.text.as_str(), last.cut_off), ("It is paged by key.", false));
}

#[test]
fn a_quiet_commit_is_on_the_branch_that_is_certain() {
    const COMMIT: &str = "git commit -q -m 'Page by key'";
    let branch = |client: Client, told: Option<&str>, commands: &[&str]| {
        let mut session = Told::new().prompt("a");
        for command in commands {
            session = session.bash(command, true, "");
        }
        session.session.client = client;
        for placed in &mut session.session.evidence {
            if let Evidence::Ran(run) = &mut placed.evidence {
                run.branch = told.map(str::to_owned);
            }
        }
        session.account().commits.remove(0).branch
    };
    let begun = "git checkout -q -b keys";
    assert_eq!(branch(Client::ClaudeCode, Some("main"), &[COMMIT]), "main");
    for (client, told) in [(Client::ClaudeCode, Some("main")), (Client::Codex, Some("main")), (Client::Gemini, None)] {
        assert_eq!(branch(client, told, &[begun, COMMIT]), "keys", "{client:?}");
        assert_eq!(branch(client, told, &[begun, &format!("cd /r && {COMMIT}")]), "keys", "{client:?}");
        // A folder inside may be a worktree of its own, and another repository is on a branch of its own.
        assert_eq!(branch(client, told, &[begun, &format!("cd trees/x && {COMMIT}")]), "", "{client:?}");
        assert_eq!(branch(client, told, &[begun, &format!("cd /other && {COMMIT}")]), "", "{client:?}");
        assert_eq!(branch(client, told, &["cd trees/x && git checkout -q -b other", COMMIT]), "", "{client:?}");
        assert_eq!(branch(client, told, &["gh pr checkout 7", COMMIT]), "", "{client:?}");
    }
    // It was said of the session's beginning.
    assert_eq!(branch(Client::Codex, Some("main"), &[COMMIT]), "");
    assert_eq!(branch(Client::Gemini, None, &[COMMIT]), "");
}
