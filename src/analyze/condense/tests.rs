use super::*;
use crate::analyze::distinct::{DistinctEntry, distinct_entries};
use crate::analyze::signal::{Tier, signal_of};
use proptest::prelude::*;
use transcripts::session::{Answer, Entry, FileTouch, Outcome, Project, ToolUse, Touch};

pub(super) fn entry(at: usize, item: Item) -> Entry {
    Entry { key: RecordKey([at as u8; 16]), at: Some(at as i64), agent: None, item, outcome: None }
}

pub(super) fn session(items: Vec<Item>) -> Session {
    Session {
        id: "s".into(),
        project: Project { key: "/r".into() },
        cwd: None,
        branches: vec![],
        versions: vec![],
        end_reason: None,
        client: Default::default(),
        entries: items.into_iter().enumerate().map(|(at, item)| entry(at, item)).collect(),
        evidence: Vec::new(),
        evident: true,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    }
}

pub(super) fn edit(path: &str) -> Item {
    let file = FileTouch { path: path.into(), how: Touch::Edited, added: 1, removed: 1 };
    Item::Tool(ToolUse::new("", "Edit", path, Some(file)))
}

#[test]
fn numbers_stand_for_rows_and_repeated_edits_for_one_line() {
    let items =
        vec![Item::Prompt("fix it".into()), edit("/r/a.rs"), edit("/r/a.rs"), Item::Reply("Fixed the cursor in `a.rs`.".into())];
    let condensed = condense(&session(items), 4000);
    assert_eq!(condensed.text, "[1] user: fix it\n[2] edited a.rs (2 times)\n[3] assistant: Fixed the cursor in `a.rs`.\n");
    assert_eq!(condensed.rows, [RecordKey([0; 16]), RecordKey([1; 16]), RecordKey([3; 16])]);
}

#[test]
fn what_is_said_several_times_is_one_line_that_says_so() {
    let items = vec![
        Item::Prompt("Mend the export.".into()),
        Item::Reply("The export fails with a timeout.".into()),
        Item::Prompt("mend the **export**".into()),
        Item::Reply("The export fails with a timeout".into()),
    ];
    let condensed = condense(&session(items), 4000);
    assert_eq!(condensed.text, "[1] user: Mend the export. (2 times)\n[2] assistant: The export fails with a timeout (2 times)\n");
    assert_eq!(condensed.rows, [RecordKey([0; 16]), RecordKey([3; 16])]);
}

pub(super) fn bash(line: &str, brief: &str, ok: bool) -> (Item, Option<Outcome>) {
    let tool = ToolUse::new("", "Bash", line, None);
    (Item::Tool(tool), Some(Outcome { tool: String::new(), ok, brief: brief.into() }))
}

/// An item of the given kind, which may be of any tier; `n` and `noise` provide its distinctive words.
fn item(kind: u8, n: usize, noise: &str) -> (Item, Option<Outcome>) {
    match kind {
        0 => (Item::Prompt(format!("please do step{n} of {noise}")), None),
        1 => (
            Item::Reply(format!("{noise} is read. The root cause was the lock{n}, held by {noise}. It is a long way to go.")),
            None,
        ),
        2 => (Item::Reply(format!("Looking around in part{n}: {noise}. There are some files.")), None),
        3 => bash(&format!("cargo test part{n}"), &format!("{n} failed: {noise}"), false),
        4 => bash(&format!("docker compose up svc{n} {noise}"), "", true),
        5 => (edit(&format!("/r/src/{noise}{n}.rs")), None),
        6 => (Item::Answer(Answer { said: format!("the one of step{n} {noise}"), asked: "which one?".into() }), None),
        7 => (Item::Reply(format!("For now part{n} is switched off as a workaround for {noise}.")), None),
        8 => bash(&format!("grep -rn {noise} src{n}"), "", true),
        _ => (Item::Interrupted, None),
    }
}

/// Must this entry be placed before anything moderate: the user's words, strong items, the last reply?
fn must(session: &Session, one: &DistinctEntry<'_>) -> bool {
    let last = closing_replies(session).last() == Some(&one.at);
    last || one.entry.user_words().is_some() || signal_of(one.entry).tier() == Tier::Strong
}

proptest! {
    // A case takes long: a quarter of as many.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn the_budget_holds_and_the_users_words_and_the_end_are_in(replies in prop::collection::vec("[a-z ]{20,200}\\. All tests passed\\.", 1..40), budget in 2_000usize..6_000) {
        let mut items = vec![Item::Prompt("please mend the pagination".into())];
        items.extend(replies.into_iter().map(Item::Reply));
        items.push(Item::Reply("It is mended: the cursor was wrong.".into()));
        let condensed = condense(&session(items), budget);
        prop_assert!(condensed.text.chars().count() <= budget);
        prop_assert!(condensed.text.starts_with("[1] user: please mend the pagination"));
        prop_assert!(condensed.text.ends_with("assistant: It is mended: the cursor was wrong.\n"));
        prop_assert_eq!(condensed.text.lines().count(), condensed.rows.len());
    }

    #[test]
    fn nothing_moderate_is_told_before_all_that_must_be(
        kinds in prop::collection::vec((0u8..10, "[a-z]{3,9}( [a-z]{3,9}){0,30}"), 1..90),
        budget in 500usize..24_000,
    ) {
        let mut session = session(Vec::new());
        for (at, (kind, noise)) in kinds.iter().enumerate() {
            let (item, outcome) = item(*kind, at, noise);
            session.entries.push(Entry { outcome, ..entry(at, item) });
        }
        let condensed = condense(&session, budget);
        prop_assert!(condensed.text.chars().count() <= budget);
        prop_assert_eq!(condensed.text.lines().count(), condensed.rows.len());
        let all = distinct_entries(&session);
        let (must, other): (Vec<_>, Vec<_>) = all.iter().partition(|one| must(&session, one));
        let is_in = |one: &&DistinctEntry<'_>| condensed.rows.contains(&one.entry.key);
        if other.iter().any(&is_in) {
            for one in &must {
                prop_assert!(is_in(one), "{:?} is missing from {} characters:\n{}", one.entry.item, budget, condensed.text);
            }
        }
        // The first and last request and the ending are included, whatever the budget.
        let words: Vec<_> = all.iter().filter(|one| one.entry.user_words().is_some()).collect();
        for one in words.first().into_iter().chain(words.last()) {
            prop_assert!(is_in(one));
        }
        if let Some(end) = closing_replies(&session).last() {
            prop_assert!(condensed.rows.contains(&session.entries[*end].key));
        }
    }
}
