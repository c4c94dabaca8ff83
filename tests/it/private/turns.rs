//! A turn whose prompt is private as a whole leaves nothing: not what was asked, not what came of it.

use serde_json::{Value, json};

use crate::private::outputs::{CONFIG, check, turn};
use crate::support::World;
use crate::support::rows::{FOLDER, Rows, SHOP, bash, put};

/// A private turn with all that may come of one. Words of other turns must differ.
pub fn private_turn(rows: &mut Rows, word: &str) {
    rows.user(json!(format!("<private>Who is {word}1?</private>")));
    rows.assistant(&format!("{word}2 is a customer."));
    rows.uses(1, &bash(&format!("./ask.sh {word}3")));
    rows.result(1, &format!("Exit code 1\nerror: {word}4 was not found"), true);
    rows.uses(2, &json!({"name": "Edit", "input": {"file_path": format!("/home/dev/src/shop/{word}5.py"), "old_string": "a", "new_string": "b"}}));
    rows.result(2, &format!("The file {word}6.py has been updated. 12 passed"), false);
    rows.uses(3, &json!({"name": "TodoWrite", "input": {"todos": [{"content": format!("{word}7"), "status": "pending"}]}}));
    rows.uses(4, &json!({"name": "TaskCreate", "input": {"subject": format!("{word}8")}}));
    rows.uses(5, &json!({"name": "ExitPlanMode", "input": {"plan": format!("Ask {word}9.")}}));
    rows.uses(6, &json!({"name": "AskUserQuestion", "input": {"questions": [{"question": format!("Is it {word}10?")}]}}));
    let content = json!([{"type": "tool_result", "tool_use_id": "toolu_6", "content": "answered"}]);
    let answers = json!({"questions": [{"question": format!("Is it {word}10?")}], "answers": {format!("Is it {word}10?"): format!("{word}11")}});
    rows.row(json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": answers}));
    let refusal =
        format!("The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{word}12");
    rows.result(5, &refusal, true);
    rows.row(json!({"type": "pr-link", "prUrl": format!("https://git.shop.example/pull/{word}13")}));
    rows.assistant(&format!("It was {word}14. All 12 tests pass."));
}

fn is(rows: &mut Rows, kind: &str, field: &str, text: &str) {
    rows.row(json!({"type": kind, field: text}));
}

#[test]
fn neither_it_nor_what_came_of_it_is_kept_and_the_next_one_is() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    private_turn(&mut rows, "hush");
    rows.user(json!("Now mend loud3, please."));
    rows.assistant("loud4 is mended.");
    check(&rows);
}

#[test]
fn nor_is_it_when_it_begins_the_session_or_is_all_of_it() {
    let mut rows = Rows::new(1);
    private_turn(&mut rows, "hush");
    check(&rows);
    rows.user(json!("Now mend loud1, please."));
    rows.assistant("loud2 is mended.");
    private_turn(&mut rows, "hushed");
    check(&rows);
}

#[test]
fn copies_of_the_prompt_and_free_summaries_after_it_are_not_kept_either() {
    let mut rows = Rows::new(1);
    is(&mut rows, "ai-title", "aiTitle", "Mending loud1");
    rows.user(json!("Mend loud2, please."));
    rows.assistant("loud3 is mended.");
    rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": "<private>Who is hush1?</private>"}));
    rows.row(
        json!({"type": "queue-operation", "operation": "enqueue", "content": [{"type": "text", "text": "<private>Who is hush2?"}]}),
    );
    private_turn(&mut rows, "hush");
    is(&mut rows, "last-prompt", "lastPrompt", "<private>Who is hush1?</priv");
    is(&mut rows, "ai-title", "aiTitle", "Asking about hushed1");
    rows.row(json!({"type": "system", "subtype": "away_summary", "content": "You asked who hushed2 is. Next: call hushed3."}));
    is(&mut rows, "summary", "summary", "About hushed4");
    let leaf = rows.uuid.clone();
    rows.row(json!({"type": "summary", "summary": "About hushed5", "leafUuid": leaf}));
    rows.user(json!("Now mend loud4, please."));
    rows.assistant("loud5 is mended.");
    is(&mut rows, "ai-title", "aiTitle", "Asking about hushed6, and mending");
    let recap = "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n1. The user asked who hushed7 is.\n2. It was mended.";
    rows.row(json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}));
    rows.row(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": recap}}));
    rows.user(json!("And loud6."));
    rows.assistant("loud7 is mended.");
    check(&rows);
}

/// What begins no turn, or no private one.
#[test]
fn a_slash_command_or_an_image_alone_is_no_private_turn() {
    let mut rows = Rows::new(1);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let command = |name: &str, args: &str| {
        format!(
            "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>{args}</command-args>"
        )
    };
    let prompts: [Value; 7] = [
        json!(command("review", "")),
        json!(command("model", "opus")),
        json!([image]),
        json!("<system-reminder>be brief</system-reminder>"),
        json!("Look at this <private>hush1</private>"),
        json!(command("review", "the list <private>hush2</private>")),
        json!(""),
    ];
    for (n, prompt) in prompts.into_iter().enumerate() {
        rows.user(prompt);
        rows.assistant(&format!("I have looked at it: loud{n} is mended."));
    }
    check(&rows);
}

#[test]
fn a_prompt_that_is_private_but_for_what_the_client_put_there_is_private() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let prompts: [Value; 7] = [
        json!("<system-reminder>be brief</system-reminder>\n<private>Who is hush?</private>"),
        json!("  \n<private>Who is hush?</private>\n\n<private>And hushed?</private>  "),
        json!([{"type": "text", "text": "<ide_opened_file>a.rs</ide_opened_file>"}, {"type": "text", "text": "<private>Who is hush?</private>"}]),
        json!([image, {"type": "text", "text": "<private>Who is hush?</private>"}]),
        json!("<private>Who is hush?"),
        json!([{"type": "text", "text": "<private>Who is"}, {"type": "text", "text": "hush?</private>"}]),
        json!("<PRIVATE reason='x'>Who is hush?</PRIVATE>"),
    ];
    let mut rows = turn(1, "Mend loud, please.", "loudest is mended.");
    for (n, prompt) in prompts.into_iter().enumerate() {
        rows.user(prompt);
        rows.assistant(&format!("hushword{n} is a customer."));
        rows.user(json!(format!("Now loud{n}.")));
        rows.assistant(&format!("loudly{n} is mended."));
    }
    check(&rows);
}

/// What is left beside the private blocks says nothing.
#[test]
fn nor_is_one_public_by_what_says_nothing() {
    let image = || json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let command = |args: &str| {
        format!(
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>{args}</command-args>"
        )
    };
    let waiting = |text: &str| json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}});
    let prompts: [Value; 12] = [
        json!("[Image #1] <private>Who is hush?</private>"),
        json!([{"type": "text", "text": "[Image #1] [Image #2] <private>Who is hush?</private>"}, image()]),
        json!("<private>Who is hush?</private>."),
        json!("<private>Who is hush?</private> — thanks!"),
        json!("Hi, <private>who is hush?</private> Thank you very much :)"),
        json!("FYI: <private>hush is a customer</private>"),
        json!("1. <private>Who is hush?</private>\n2. <private>And hushed?</private>\n"),
        json!("ok. <private>Who is hush?"),
        json!("[Pasted text #1 +12 lines] <private>Who is hush?</private>"),
        json!(command("<private>ask who hush is</private>")),
        json!(command("<private>ask who hush is</private>, please")),
        json!("<bash-input><private>./ask.sh hush</private></bash-input>"),
    ];
    let mut rows = turn(1, "Mend loud, please.", "loudest is mended.");
    for (n, prompt) in prompts.into_iter().enumerate() {
        rows.user(prompt);
        rows.assistant(&format!("hushword{n} is a customer."));
        rows.user(json!(format!("Now loud{n}.")));
        rows.assistant(&format!("loudly{n} is mended."));
    }
    rows.row(waiting("<private>Who is hush?</private>, thanks"));
    rows.assistant("hushwords are customers.");
    check(&rows);
}

/// From an answer on that says nothing but what is private, a turn is private.
#[test]
fn after_an_answer_or_a_refusal_that_is_all_private_nothing_of_the_turn_is_kept() {
    let answered = |answers: Value| {
        let content = json!([{"type": "tool_result", "tool_use_id": "toolu_6", "content": "answered"}]);
        let questions = answers.as_object().expect("an object").keys().map(|asked| json!({"question": asked})).collect::<Vec<_>>();
        json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": {"questions": questions, "answers": answers}})
    };
    let refused = |reason: &str| {
        let text = format!(
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{reason}\n\nNote: The user's next message may contain a correction."
        );
        let content = json!([{"type": "tool_result", "tool_use_id": "toolu_5", "is_error": true, "content": text}]);
        json!({"type": "user", "message": {"role": "user", "content": content}})
    };
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    for (n, end) in [
        answered(json!({"Who is it?": "<private>hush</private>"})),
        answered(json!({"Who is it?": "<private>hush</private>.", "And who pays?": "<private>hushed</private> thanks"})),
        refused("<private>ask hush first</private>"),
        refused("<private>ask hush first</private>, please."),
    ]
    .into_iter()
    .enumerate()
    {
        rows.user(json!(format!("Find out about loudly{n}.")));
        rows.uses(5, &json!({"name": "ExitPlanMode", "input": {"plan": format!("Ask loudest{n}.")}}));
        rows.uses(6, &json!({"name": "AskUserQuestion", "input": {"questions": [{"question": "Who is it?"}]}}));
        rows.row(end);
        rows.assistant(&format!("So hushword{n} it is."));
        rows.uses(7, &bash(&format!("./ask.sh hushing{n}")));
    }
    rows.row(json!({"type": "ai-title", "aiTitle": "Asking about hushhush"}));
    rows.user(json!("Now mend loud3, please."));
    rows.assistant("loud4 is mended.");
    // Something is said beside it.
    rows.row(answered(json!({"Which?": "<private>hushed1</private>", "And where?": "in loud5"})));
    rows.assistant("loud6 is mended.");
    rows.row(refused("use loud7 <private>hushed2</private>"));
    rows.assistant("loud8 is mended.");
    check(&rows);
}

#[test]
fn it_lasts_until_the_next_prompt_whatever_rows_lie_between() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.user(json!("<private>Who is hush1?</private>"));
    rows.assistant("hush2 is a customer.");
    for between in [
        json!({"type": "system", "subtype": "local_command", "content": "<local-command-stdout>x</local-command-stdout>"}),
        json!({"type": "user", "message": {"role": "user", "content": "<local-command-stdout>x</local-command-stdout>"}}),
        json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Caveat: nobody said this."}}),
        json!({"type": "attachment", "attachment": {"type": "task_reminder", "content": []}}),
        json!({"type": "user", "message": {"role": "user", "content": "<task-notification>\n<task-id>b1</task-id></task-notification>"}}),
        json!({"type": "user", "message": {"role": "user", "content": "[Request interrupted by user]"}}),
        json!({"type": "mode", "mode": "plan"}),
        json!({"type": "novelty", "content": "x"}),
    ] {
        rows.row(between);
        rows.assistant(&format!("hush{} is a customer, too.", rows.uuid.len() + rows.text.lines().count()));
    }
    rows.user(json!("Now mend loud3, please."));
    rows.assistant("loud4 is mended.");
    check(&rows);
}

#[test]
fn a_private_message_that_waited_for_its_turn_is_one_too() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    let waiting = |text: &str| json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}});
    rows.row(waiting("<private>Who is hush1?</private>"));
    rows.assistant("hush2 is a customer.");
    // This answers both.
    rows.row(waiting("And mend loud3."));
    rows.assistant("Both are mended.");
    rows.user(json!("Now loud4."));
    rows.assistant("loud5 is mended.");
    check(&rows);
}

#[test]
fn in_layouts_of_older_clients_too() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.row(json!({"type": "user", "content": "<private>Who is hush1?</private>"}));
    rows.row(json!({"type": "assistant", "message": "hush2 is a customer."}));
    rows.row(json!({"type": "tool_use", "tool_name": "bash", "tool_input": {"command": "./ask.sh hush3"}}));
    rows.row(json!({"type": "tool_result", "tool_name": "bash", "tool_input": {"command": "./ask.sh hush3"}, "tool_output": "error: hush4"}));
    rows.row(json!({"type": "user", "content": "And loud3."}));
    rows.row(json!({"type": "assistant", "message": "loud4 is mended."}));
    check(&rows);
}

#[test]
fn what_a_tool_of_it_says_later_is_private_too() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.user(json!("<private>Who is hush1?</private>"));
    rows.uses(41, &bash("./ask.sh hush2 &"));
    rows.uses(42, &json!({"name": "AskUserQuestion", "input": {"questions": [{"question": "Is it hush3?"}]}}));
    rows.user(json!("Now mend loud3, please."));
    rows.result(41, "Exit code 1\nerror: hush4 was not found", true);
    rows.result(42, "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nhush5", true);
    rows.uses(43, &bash("./run.sh loud4"));
    rows.result(43, "Exit code 1\nerror: loud5 is no number", true);
    rows.assistant("loud6 is mended.");
    check(&rows);
}

#[test]
fn private_parts_of_dialogs_go() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.uses(1, &bash("./run.sh"));
    rows.result(1, "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse loud3 <private>hush1</private>", true);
    let content = json!([{"type": "tool_result", "tool_use_id": "toolu_6", "content": "answered"}]);
    let answers = json!({"questions": [{"question": "Which?"}], "answers": {"Which?": "loud4 <private>hush2</private>"}});
    rows.row(json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": answers}));
    rows.assistant("Done.");
    check(&rows);
}

/// A turn so long that whoever reads only the end of the transcript does not see how it began.
fn long_turn(n: usize, prompt: &str, word: &str, bytes: usize) -> Rows {
    let mut rows = turn(n, "Mend the first page, please.", "It is mended.");
    rows.user(json!(prompt));
    for at in 0..bytes / 20_000 {
        rows.uses(500 + at, &bash(&format!("./ask.sh {word}")));
        rows.result(500 + at, &"Exit code 1\nit is as long as ever\n".repeat(600), true);
        rows.assistant(&format!("{word} is a customer. All 12 tests pass."));
    }
    rows.row(json!({"type": "ai-title", "aiTitle": format!("Asking about {word}")}));
    rows.assistant(&format!("It was {word}. Next: call {word}."));
    rows
}

#[test]
fn nor_is_it_told_by_who_reads_only_the_end_of_a_transcript() {
    let world = World::new();
    world.configure(CONFIG);
    let hook = |event: &str, theirs: &str, id: &str, more: Value| {
        let transcript = world.claude_dir().join(format!("projects/{FOLDER}/{id}.jsonl"));
        let mut payload = json!({"session_id": id, "transcript_path": transcript, "cwd": SHOP, "hook_event_name": theirs});
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let ran = world.hook(event, payload.to_string());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        ran.out
    };
    // A public turn of this length is told.
    for (n, (prompt, word, bytes)) in [
        ("Who is loudest?", "loudest", 300_000),
        ("<private>Who is hush?</private>", "hushed1", 300_000),
        ("<private>Who is hush?</private>", "hushed2", 5_000_000),
    ]
    .into_iter()
    .enumerate()
    {
        let rows = long_turn(n, prompt, word, bytes);
        put(&world, &rows.id, &rows.text);
        hook("session-end", "SessionEnd", &rows.id, json!({"reason": "other"}));
        let compacted = hook("session-start", "SessionStart", &rows.id, json!({"source": "compact"}));
        assert!(!compacted.contains("hush"), "{compacted}");
    }
    let told = hook("session-start", "SessionStart", "5e550000-0000-4000-8000-000000000000", json!({"source": "startup"}));
    assert!(told.contains("loudest") && !told.contains("hush"), "{told}");
}
