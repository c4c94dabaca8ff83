//! Subagents that a private turn started, in their own files or inline, while it lasts and after it.

use serde_json::{Value, json};

use crate::private::outputs::{digest_and_listen, listener};
use crate::support::rows::{FOLDER, Rows, bash, put};
use crate::support::size::pairs;
use crate::support::stand_in::StandIn;

const AGENT: &str = "a6609bf8017d8985e";

/// A session of three turns, the middle one private, with a subagent in one of them. Clients differ in what ties the two together.
#[derive(Debug, Clone, Copy)]
struct Case {
    in_private_turn: bool,
    /// Rows name the prompt they came of.
    with_prompt_ids: bool,
    /// The tool's result names the subagent; it is missing while the subagent works.
    with_result: bool,
    /// A file beside the subagent's names the tool use.
    with_meta: bool,
}

fn main_file(case: Case) -> Rows {
    let mut rows = Rows::new(1);
    let prompt = |rows: &mut Rows, n: usize, text: &str| {
        let mut row = json!({"type": "user", "message": {"role": "user", "content": text}});
        if case.with_prompt_ids {
            row["promptId"] = json!(prompt_id(n));
        }
        rows.row(row);
    };
    let task = |rows: &mut Rows, n: usize, word: &str| {
        rows.uses(
            7,
            &json!({"name": "Task", "input": {"description": format!("Look for {word}"), "prompt": format!("Look for {word}.")}}),
        );
        if case.with_result {
            let content = json!([{"type": "tool_result", "tool_use_id": "toolu_7", "content": [{"type": "text", "text": format!("error: {word} found")}]}]);
            let mut row = json!({"type": "user", "message": {"role": "user", "content": content},
                "toolUseResult": {"status": "completed", "agentId": AGENT, "prompt": word, "content": [{"type": "text", "text": word}]}});
            if case.with_prompt_ids {
                row["promptId"] = json!(prompt_id(n));
            }
            rows.row(row);
        }
    };
    prompt(&mut rows, 1, "Mend loud1, please.");
    if !case.in_private_turn {
        task(&mut rows, 1, "loudtask");
    }
    rows.assistant("loud2 is mended.");
    prompt(&mut rows, 2, "<private>Who is hush1?</private>");
    if case.in_private_turn {
        task(&mut rows, 2, "hushtask");
    }
    rows.assistant("hush2 is a customer.");
    prompt(&mut rows, 3, "Now mend loud3, please.");
    rows.assistant("loud4 is mended.");
    rows
}

fn prompt_id(n: usize) -> String {
    format!("b1906f9e-8986-485f-863f-{n:012}")
}

/// The subagent's own file: it begins right after its task and works on when the main conversation is long elsewhere.
fn agent_file(case: Case, word: &str) -> String {
    let mut rows = Rows::new(2);
    let (session, own) = (Rows::new(1).id, rows.id.clone());
    let turn = if case.in_private_turn { 2 } else { 1 };
    let mut begin = json!({"type": "user", "message": {"role": "user", "content": format!("Look for {word}.")}});
    if case.with_prompt_ids {
        begin["promptId"] = json!(prompt_id(turn));
    }
    rows.row(begin);
    rows.assistant(&format!("I look for {word}3."));
    rows.uses(71, &bash(&format!("./look.sh {word}4")));
    rows.result(71, &format!("Exit code 1\nerror: {word}5"), true);
    rows.assistant(&format!("{word}6 was found; all tests pass."));
    let begun = begun_at(case);
    let of_the_agent = |(n, line): (usize, &str)| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        for (name, value) in [("isSidechain", json!(true)), ("agentId", json!(AGENT)), ("sessionId", json!(session))] {
            row[name] = value;
        }
        // The last rows come after the main conversation has gone on.
        let late = if n >= 3 { 3600 } else { 0 };
        let at = begun + jiff::SignedDuration::from_millis(1 + n as i64 * 10) + jiff::SignedDuration::from_secs(late);
        row["timestamp"] = json!(at.to_string());
        format!("{row}\n")
    };
    let text: String = rows.text.lines().enumerate().map(of_the_agent).collect();
    assert!(text.contains(&own[..24]), "its rows have ids of their own");
    text
}

/// When the tool was used that started it.
fn begun_at(case: Case) -> jiff::Timestamp {
    let main = main_file(case);
    let task = main.text.lines().find(|line| line.contains("\"Task\"")).expect("the task");
    let row: Value = serde_json::from_str(task).expect("a row");
    row["timestamp"].as_str().expect("a time").parse().expect("a time")
}

fn place_agent(listener: &StandIn, case: Case) {
    let session = Rows::new(1).id;
    let folder = format!("{FOLDER}/{session}/subagents");
    let word = if case.in_private_turn { "hush" } else { "loud" };
    listener.world.transcript(&format!("{folder}/agent-{AGENT}.jsonl"), agent_file(case, word));
    if case.with_meta {
        let meta = json!({"agentType": "Explore", "description": "Look", "toolUseId": "toolu_7", "spawnDepth": 1});
        listener.world.transcript(&format!("{folder}/agent-{AGENT}.meta.json"), meta.to_string());
    }
}

fn place_main(listener: &StandIn, case: Case) {
    let rows = main_file(case);
    put(&listener.world, &rows.id, &rows.text);
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (with_prompt_ids, with_result, with_meta) in
        [(true, true, true), (true, false, false), (false, true, false), (false, false, true)]
    {
        for in_private_turn in [true, false] {
            all.push(Case { in_private_turn, with_prompt_ids, with_result, with_meta });
        }
    }
    all
}

#[test]
fn what_it_did_is_as_private_as_the_turn_that_started_it() {
    for case in cases() {
        println!("{case:?}");
        let listener = listener("");
        place_main(&listener, case);
        place_agent(&listener, case);
        digest_and_listen(&listener);
    }
}

#[test]
fn in_whichever_order_the_files_are_read() {
    let cases = cases();
    for (case, main_first) in pairs(cases.len(), 2) {
        let (case, main_first) = (cases[case], main_first == 0);
        println!("{case:?}, main first: {main_first}");
        let listener = listener("");
        let place: [fn(&StandIn, Case); 2] = if main_first { [place_main, place_agent] } else { [place_agent, place_main] };
        place[0](&listener, case);
        let ran = listener.world.recall(["digest", "--ingest-only"]);
        assert!(ran.code < 2, "{ran:#?}");
        place[1](&listener, case);
        digest_and_listen(&listener);
    }
}

/// One that had to wait its turn begins when the user has asked something else already; it names the prompt it works for.
#[test]
fn also_when_it_begins_after_the_turn() {
    let listener = listener("");
    let case = Case { in_private_turn: true, with_prompt_ids: true, with_result: false, with_meta: false };
    place_main(&listener, case);
    let later = |line: &str| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        let at: jiff::Timestamp = row["timestamp"].as_str().expect("a time").parse().expect("a time");
        row["timestamp"] = json!((at + jiff::SignedDuration::from_hours(1)).to_string());
        format!("{row}\n")
    };
    let rows: String = agent_file(case, "hush").lines().map(later).collect();
    listener.world.transcript(&format!("{FOLDER}/{}/subagents/agent-{AGENT}.jsonl", Rows::new(1).id), rows);
    digest_and_listen(&listener);
}

#[test]
fn one_within_the_sessions_own_file_too() {
    let listener = listener("");
    let mut rows = main_file(Case { in_private_turn: true, with_prompt_ids: false, with_result: false, with_meta: false });
    let private_turn =
        rows.text.find("hush2").map(|at| rows.text[..at].rfind('\n').map_or(0, |end| end + 1)).expect("the private turn");
    let inline: String = ["Look for hush11.", "I look for hush12."]
        .iter()
        .enumerate()
        .map(|(n, text)| {
            let kind = if n == 0 { "user" } else { "assistant" };
            let row = json!({"type": kind, "isSidechain": true, "sessionId": rows.id, "uuid": format!("0000000{n}-aaaa-4000-8000-000000000000"),
                "message": {"role": kind, "model": "m", "content": [{"type": "text", "text": text}]}});
            format!("{row}\n")
        })
        .collect();
    rows.text.insert_str(private_turn, &inline);
    put(&listener.world, &rows.id, &rows.text);
    digest_and_listen(&listener);
}
