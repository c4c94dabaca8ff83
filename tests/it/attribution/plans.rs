//! Plans that the assistant put before the user, and what became of them.

use serde_json::{Value, json};

use crate::attribution::outputs::{digested, lines_with, told};
use crate::support::rows::Rows;

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
const PLAN: &str = "# Move the orders to the sluice table\n\nWe decided to drop the orders table because the sluice table has it all. All 12 tests pass with the sluice table, the migration is done. From now on we always use the sluice table instead of orders.";

fn proposed(plan: &str, result: Option<(&str, bool, Value)>, after: &[&str]) -> Rows {
    let mut rows = Rows::new(0);
    rows.user(json!("Mend the pagination of the order list."));
    rows.uses(1, &json!({"name": "ExitPlanMode", "input": {"plan": plan}}));
    if let Some((text, failed, result)) = result {
        let content = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": failed, "content": text}]);
        rows.row(json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": result}));
    }
    for text in after {
        rows.assistant(text);
    }
    rows
}

fn told_of(rows: Rows) -> String {
    let sessions = [rows];
    let world = digested(&sessions);
    told(&world, &sessions)
}

/// Nothing of the plan is told as decided, agreed on or done.
fn is_refused(told: &str) {
    for line in lines_with(told, "sluice") {
        let lower = line.to_lowercase();
        assert!(lower.contains("refused"), "{line}\n{told}");
    }
    assert!(!told.contains("Plan approved"), "{told}");
}

#[test]
fn a_refused_plan_is_told_as_refused_or_not_at_all() {
    let reason = format!("{REFUSED} To tell you how to proceed, the user said:\nkeep the orders table");
    let newer = format!(
        "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode rather than proceed with implementation.\n\nRejected plan:\n{PLAN}"
    );
    for result in [REFUSED, &reason, &newer] {
        let told = told_of(proposed(PLAN, Some((result, true, json!("User rejected tool use"))), &["I keep the orders table."]));
        is_refused(&told);
        assert!(told.contains("Refused: Move the orders to the sluice table"), "{told}");
    }
    let told = told_of(proposed(PLAN, Some((&reason, true, json!("User rejected tool use"))), &["I keep the orders table."]));
    assert!(told.contains("User: keep the orders table"), "{told}");
}

#[test]
fn a_plan_that_never_got_to_the_user_is_not_approved() {
    let told = told_of(proposed(PLAN, None, &[]));
    assert!(!told.contains("Plan approved"), "{told}");
    let error = "<tool_use_error>Error: You are not in plan mode.</tool_use_error>";
    let told = told_of(proposed(PLAN, Some((error, true, json!("Error: You are not in plan mode."))), &["I see."]));
    assert!(!told.contains("Plan approved") && !told.contains("Refused:"), "{told}");
}

#[test]
fn an_approved_plan_is_a_decision() {
    let approved = format!(
        "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n## Approved Plan:\n{PLAN}"
    );
    for (text, result) in [
        (approved.as_str(), json!({"plan": PLAN, "isAgent": false})),
        ("User has approved exiting plan mode. You can now proceed.", json!({"plan": null, "isAgent": false})),
    ] {
        let told = told_of(proposed(PLAN, Some((text, false, result)), &[]));
        assert!(told.contains("Plan approved: Move the orders to the sluice table"), "{told}");
    }
    // Of clients that say less it shows by the work that follows.
    let told = told_of(proposed(PLAN, Some(("ok", false, json!("ok"))), &["I moved the orders to the sluice table."]));
    assert!(told.contains("Plan approved: Move the orders"), "{told}");
}

#[test]
fn a_plan_that_was_refused_and_then_approved_is_approved() {
    let mut rows = proposed(PLAN, Some((REFUSED, true, json!("User rejected tool use"))), &["Then I put it again."]);
    rows.uses(2, &json!({"name": "ExitPlanMode", "input": {"plan": PLAN}}));
    let content = json!([{"type": "tool_result", "tool_use_id": "toolu_2", "is_error": false, "content": "User has approved your plan. You can now start coding."}]);
    rows.row(
        json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": {"plan": PLAN, "isAgent": false}}),
    );
    rows.assistant("I begin with it.");
    let told = told_of(rows);
    assert!(told.contains("Plan approved: Move the orders"), "{told}");
}
