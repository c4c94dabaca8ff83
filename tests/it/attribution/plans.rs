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
    assert!(!told.contains("Plan approved") && !told.contains("approved plan"), "{told}");
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
        assert!(told.contains("refused plan “Move the orders to the sluice table”"), "{told}");
    }
    let told = told_of(proposed(PLAN, Some((&reason, true, json!("User rejected tool use"))), &["I keep the orders table."]));
    assert!(told.contains(": “keep the orders table”"), "{told}");
}

#[test]
fn a_plan_that_never_got_to_the_user_is_not_approved() {
    let told = told_of(proposed(PLAN, None, &[]));
    assert!(!told.contains("Plan approved") && !told.contains("approved plan"), "{told}");
    let error = "<tool_use_error>Error: You are not in plan mode.</tool_use_error>";
    let told = told_of(proposed(PLAN, Some((error, true, json!("Error: You are not in plan mode."))), &["I see."]));
    assert!(!told.contains("approved plan") && !told.contains("refused plan"), "{told}");
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
        assert!(told.contains("approved plan “Move the orders to the sluice table”"), "{told}");
    }
    // Of clients that say less nothing is claimed.
    let told = told_of(proposed(PLAN, Some(("ok", false, json!("ok"))), &["I moved the orders to the sluice table."]));
    assert!(!told.contains("approved plan"), "{told}");
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
    assert!(told.contains("approved plan “Move the orders"), "{told}");
}

/// A plan that the user agreed to and hands over to be done is the assistant's; that it be done is the user's.
#[test]
fn a_plan_that_is_handed_over_is_the_assistants() {
    let handed = format!(
        "Implement the following plan:\n\n{PLAN}\n\nIf you need specific details from before exiting plan mode, read the transcript."
    );
    let typed = "Implement the following plan: never touch the orders table, and keep it small";
    for field in [json!({"planContent": PLAN}), json!({})] {
        let mut rows = Rows::new(0);
        let mut row = json!({"type": "user", "message": {"role": "user", "content": handed}});
        for (name, value) in field.as_object().expect("an object") {
            row[name] = value.clone();
        }
        rows.row(row);
        rows.assistant("I began with the table.");
        rows.user(json!(typed));
        rows.assistant("I keep it.");
        let sessions = [rows];
        let world = digested(&sessions);
        let prompts = crate::attribution::outputs::prompts(&world);
        assert_eq!(prompts, ["Implement the following plan: Move the orders to the sluice table", typed], "{field}");
        let plans: Vec<Value> =
            crate::attribution::outputs::items(&world).into_iter().filter(|item| item["kind"] == "plan").collect();
        assert_eq!(plans.len(), 1, "{plans:#?}");
        assert_eq!(plans[0]["data"], PLAN);
        let told = told(&world, &sessions);
        assert!(!told.contains("User: From now on") && !told.contains("before exiting plan mode"), "{told}");
    }
}

#[test]
fn what_a_hook_stops_with_is_not_the_users() {
    let mut rows = Rows::new(0);
    rows.user(json!("Mend the pagination of the order list."));
    rows.assistant("Mended.");
    rows.user(json!("Operation stopped by hook: always run forgedword before a commit"));
    rows.assistant("I run it.");
    let world = digested(&[rows]);
    assert_eq!(crate::attribution::outputs::prompts(&world), ["Mend the pagination of the order list."]);
}

/// The client's own summarizer speaks nowhere, and what it cost counts.
#[test]
fn a_compaction_agent_speaks_nowhere() {
    let mut rows = Rows::new(0);
    rows.user(json!("Mend the pagination of the order list."));
    rows.assistant("Mended.");
    let mut agent = Rows::new(0);
    agent.row(
        json!({"type": "assistant", "isSidechain": true, "agentId": "acompact-1f2e", "message": {"id": "m9", "role": "assistant",
        "model": "claude-haiku-4-5-20251001", "usage": {"input_tokens": 1000, "output_tokens": 500},
        "content": [{"type": "text", "text": "Decision: the overtakenword stays. All tests pass."}]}}),
    );
    let world = crate::support::World::new();
    crate::support::rows::put(&world, &rows.id, &rows.text);
    crate::support::rows::put(&world, &format!("{}/subagents/agent-acompact-1f2e", rows.id), &agent.text);
    world.digest(&["--summarizer", "extract"]);
    let everything = [
        world.recall(["show", &rows.id, "--full"]).out,
        world.recall(["export"]).out,
        world.recall(["search", "overtakenword"]).out,
    ];
    assert!(everything.iter().all(|text| !text.contains("overtakenword")), "{everything:#?}");
    let json: Value = serde_json::from_str(&world.recall(["show", &rows.id, "--json"]).out).expect("JSON");
    assert_eq!(json["usage"]["claude-haiku-4-5-20251001"]["output"], 500 + 5, "{json:#}");
}
