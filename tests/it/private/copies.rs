//! Rows of a private turn lie in other sessions too: forks, resumes and compactions copy them.

use serde_json::{Value, json};

use crate::private::outputs::{digest_and_listen, listener, turn};
use crate::private::turns::private_turn;
use crate::support::rows::{Rows, put};

/// The rows of a session as a fork holds them: same ids, another session.
fn forked(rows: &Rows, into: &str) -> String {
    let copy = |line: &str| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row["sessionId"] = json!(into);
        format!("{row}\n")
    };
    rows.text.lines().map(copy).collect()
}

fn original() -> Rows {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    private_turn(&mut rows, "hush");
    rows
}

fn fork(first: &Rows) -> Rows {
    let mut fork = Rows::new(2);
    fork.user(json!("Now mend loud3, please."));
    fork.assistant("loud4 is mended.");
    let stamp =
        json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-02T09:00:00Z", "sessionId": fork.id});
    fork.text = format!("{stamp}\n{}{}", forked(first, &fork.id), fork.text);
    fork
}

#[test]
fn a_forks_copy_of_a_private_turn_is_private() {
    for fork_first in [true, false] {
        let listener = listener("");
        let first = original();
        let fork = fork(&first);
        let order = if fork_first { [&fork, &first] } else { [&first, &fork] };
        for rows in order {
            put(&listener.world, &rows.id, &rows.text);
            let ran = listener.world.recall(["digest", "--ingest-only"]);
            assert!(ran.code < 2, "{ran:#?}");
        }
        digest_and_listen(&listener);
    }
}

#[test]
fn also_when_only_the_fork_is_left() {
    let listener = listener("");
    let fork = fork(&original());
    put(&listener.world, &fork.id, &fork.text);
    digest_and_listen(&listener);
}

#[test]
fn rows_that_a_compaction_copied_stay_private() {
    let listener = listener("");
    let mut rows = original();
    let copies = rows.text.clone();
    rows.row(json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}));
    // Some clients write the rows they keep once more, without the prompt they came of.
    let without_prompts = copies.lines().filter(|line| line.contains("\"assistant\"") && line.contains("hush"));
    rows.text += &without_prompts.map(|line| format!("{line}\n")).collect::<String>();
    rows.user(json!("Now mend loud3, please."));
    rows.assistant("loud4 is mended.");
    put(&listener.world, &rows.id, &rows.text);
    digest_and_listen(&listener);
}

#[test]
fn a_transcript_that_was_replaced_by_another_one_starts_anew() {
    let listener = listener("");
    put(&listener.world, &original().id, &original().text);
    digest_and_listen(&listener);
    // The same session under the same name, written anew and longer.
    let mut anew = turn(1, "Mend loud5, please.", "loud6 is mended.");
    private_turn(&mut anew, "hush");
    anew.user(json!("Now mend loud7, please."));
    anew.assistant("loud8 is mended.");
    anew.text = anew.text.replace("\"uuid\":\"0000", "\"uuid\":\"9999");
    put(&listener.world, &anew.id, &anew.text);
    digest_and_listen(&listener);
}
