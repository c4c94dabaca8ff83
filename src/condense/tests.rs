use super::*;
use crate::session::{Entry, FileTouch, Project, ToolUse, Touch};
use proptest::prelude::*;

fn entry(at: usize, item: Item) -> Entry {
    Entry { key: RowKey([at as u8; 16]), at: Some(at as i64), agent: None, item, outcome: None }
}

fn session(items: Vec<Item>) -> Session {
    Session {
        id: "s".into(),
        project: Project { key: "/r".into() },
        cwd: None,
        branches: vec![],
        versions: vec![],
        end_reason: None,
        entries: items.into_iter().enumerate().map(|(at, item)| entry(at, item)).collect(),
        usage: Default::default(),
        agents: 0,
    }
}

fn edit(path: &str) -> Item {
    let file = FileTouch { path: path.into(), how: Touch::Edited, added: 1, removed: 1 };
    Item::Tool(ToolUse { id: String::new(), name: "Edit".into(), line: path.into(), file: Some(file) })
}

#[test]
fn numbers_stand_for_rows_and_repeated_edits_for_one_line() {
    let items =
        vec![Item::Prompt("fix it".into()), edit("/r/a.rs"), edit("/r/a.rs"), Item::Reply("Fixed the cursor in `a.rs`.".into())];
    let condensed = condense(&session(items), 4000);
    assert_eq!(condensed.text, "[1] user: fix it\n[2] edited a.rs (2 times)\n[3] assistant: Fixed the cursor in `a.rs`.\n");
    assert_eq!(condensed.rows, [RowKey([0; 16]), RowKey([1; 16]), RowKey([3; 16])]);
}

proptest! {
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
}
