//! A private part of a message goes, the rest stays.

use serde_json::json;

use crate::private::outputs::{check, turn};
use crate::support::rows::{Rows, bash};

#[test]
fn however_the_tags_are_written() {
    let mut rows = Rows::new(1);
    for (n, (open, close)) in [
        ("<private>", "</private>"),
        ("<PRIVATE>", "</PRIVATE>"),
        ("<Private>", "</pRIVATE>"),
        ("<private >", "</private >"),
        ("< private>", "</ private>"),
        ("<private\n>", "< / private >"),
        ("<private\t>", "</private\n>"),
        ("<private reason=\"pay\">", "</private>"),
        ("<private id='a' x>", "</private>"),
    ]
    .into_iter()
    .enumerate()
    {
        rows.user(json!(format!("The list breaks at loud{n}a {open}where hush{n}a pays{close} and at loud{n}b, please mend it.")));
        rows.assistant(&format!("It is mended at loud{n}c {open}as hush{n}b wished{close} and loud{n}d."));
    }
    check(&rows);
}

#[test]
fn wherever_they_stand() {
    let mut rows = Rows::new(1);
    for text in [
        "<private>hush0 at the start</private> and loud0 after it",
        "loud1 first and then <private>hush1 at the end</private>",
        "<private>hush2</private>loud2<private>hush3</private>",
        "over lines\n<private>\nhush4\n\nhush5\n</private>\nloud3",
        "```\nloud4\n<private>\nhush6 in a code fence\n</private>\n```\nloud5",
        "`<private>hush7</private>` in a code span, and loud6",
        "    <private>hush8</private> in an indented block, and loud7",
        "<b>loud8</b> <private><b>hush9</b></private> <i>loud9</i>",
        "<private>hush10 <private>hush11</private> hush12</private> loud10",
        "<private>a<private>b<PRIVATE>hush13</private>hush14</Private>hush15</private> loud11",
        "loud12 </private> loud13: nothing was opened",
    ] {
        rows.user(json!(text));
        rows.assistant("Noted.");
    }
    check(&rows);
}

#[test]
fn one_that_is_never_closed_reaches_to_the_end_of_its_message() {
    let mut rows = turn(1, "loud1 <private> hush1\n\nhush2 </privat> hush3", "loud2, as you say. <private>hush4");
    rows.user(json!("loud3 <private>hush5 <private> hush6 </private> hush7"));
    rows.assistant("loud4");
    check(&rows);
}

#[test]
fn other_tags_that_begin_alike_are_none() {
    check(&turn(
        1,
        "<privateKey>loud1</privateKey> <private-note>loud2</private-note> <privates>loud3</privates> &lt;private&gt; loud4",
        "private loud5, <privately> loud6; a < private and loud7 > b",
    ));
}

#[test]
fn over_the_blocks_of_one_message() {
    let mut rows = Rows::new(1);
    rows.user(json!([
        {"type": "text", "text": "loud1 <private>hush1"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "text", "text": "hush2</private>"}, {"type": "text", "text": "loud2"},
    ]));
    rows.assistant("loud3");
    check(&rows);
}

#[test]
fn in_commands_outputs_plans_to_dos_and_titles_too() {
    let mut rows = turn(1, "Mend loud1, please.", "I will.");
    rows.uses(1, &bash("echo loud2 <<'EOF'\n<private>hush1</private>\nEOF"));
    rows.result(1, "Exit code 1\nerror: loud3 <private>hush2</private> was not found", true);
    rows.uses(2, &json!({"name": "ExitPlanMode", "input": {"plan": "1. loud4 <private>hush3</private>\n2. Done."}}));
    rows.uses(
        3,
        &json!({"name": "TodoWrite", "input": {"todos": [{"content": "loud5 <private>hush4</private>", "status": "pending"}]}}),
    );
    rows.uses(4, &json!({"name": "mcp__tracker__add", "input": {"text": "loud6 <private>hush5</private>"}}));
    rows.row(json!({"type": "ai-title", "aiTitle": "Mend loud7 <private>hush6</private>"}));
    rows.row(json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "and loud8 <private>hush7</private>"}}));
    rows.user(json!("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>loud9 <private>hush8</private></command-args>"));
    rows.user(json!("<bash-input>./run.sh loud10 <private>hush9</private></bash-input>"));
    rows.assistant("Done.");
    check(&rows);
}

#[test]
fn in_layouts_of_older_clients_too() {
    let mut rows = turn(1, "Mend it, please.", "I will.");
    rows.row(json!({"type": "user", "content": "loud1 <private>hush1</private>"}));
    rows.row(json!({"type": "assistant", "message": "loud2 <private>hush2</private>"}));
    rows.row(
        json!({"type": "tool_use", "tool_name": "bash", "tool_input": {"command": "./run.sh loud3 <private>hush3</private>"}}),
    );
    check(&rows);
}

#[test]
fn past_ten_thousand_tags_the_rest_of_a_message_is_dropped_and_not_passed() {
    let many = 10_000;
    let mut rows = turn(1, "Mend loud1, please.", "I will, loud2.");
    let nested = format!("loud3 {}hush1{} hush2", "<private>".repeat(many), "</private>".repeat(many - 1));
    let pairs = format!("loud4 {} <private>hush4</private>", "<private>hush3</private> ".repeat(many));
    let unclosed = format!("loud5 {} hush5", "<private>".repeat(100_000));
    let never = format!("loud6 {}<private>hush6 {}", "</private>".repeat(many), "<".repeat(100_000));
    for text in [nested, pairs, unclosed, never] {
        rows.user(json!(text));
        rows.assistant("Noted.");
    }
    check(&rows);
}

#[test]
fn what_was_put_into_a_message_is_nobodys_word() {
    let mut rows = Rows::new(1);
    for (n, (tag, attributes)) in [
        ("recall-context", ""),
        ("recall-context", " sessions=\"3\""),
        ("system-reminder", ""),
        ("ide_opened_file", ""),
        ("ide_selection", ""),
        ("user-prompt-submit-hook", ""),
        ("local-command-caveat", ""),
    ]
    .into_iter()
    .enumerate()
    {
        rows.user(json!([
            {"type": "text", "text": format!("Mend loud{n}a, please.\n<{tag}{attributes}>\nhush{n}a was here\n</{tag}>")},
            {"type": "text", "text": format!("And loud{n}b.")},
        ]));
        rows.assistant(&format!("loud{n}c is mended.\n<{tag}{attributes}>\nhush{n}b\n</{tag}>"));
        rows.uses(n, &bash("./run.sh"));
        rows.result(n, &format!("Exit code 1\nerror: loud{n}d\n<{tag}{attributes}>\nerror: hush{n}c\n</{tag}>"), true);
        rows.user(json!([{"type": "text", "text": format!("<{tag}{attributes}>hush{n}d</{tag}>")}, {"type": "text", "text": format!("loud{n}e")}]));
        rows.assistant("Done.");
    }
    check(&rows);
}

#[test]
fn nor_is_what_hooks_and_local_commands_said() {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    rows.row(json!({"type": "attachment", "attachment": {"type": "hook_success", "hookEvent": "SessionStart", "stdout": "hush1", "content": "hush2"}}));
    rows.row(json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["hush3"], "hookEvent": "SessionStart"}}));
    rows.row(
        json!({"type": "system", "subtype": "local_command", "content": "<local-command-stdout>hush4</local-command-stdout>"}),
    );
    rows.row(
        json!({"type": "system", "subtype": "stop_hook_summary", "hookErrors": ["hush5"], "hookAdditionalContext": ["hush6"]}),
    );
    rows.user(json!("<local-command-stdout>hush7</local-command-stdout>"));
    rows.user(json!(
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>hush8</command-args>"
    ));
    rows.user(json!("<bash-stdout>hush9</bash-stdout><bash-stderr>hush10</bash-stderr>"));
    rows.user(json!("Caveat: The messages below were generated by the user while running local commands. hush11"));
    rows.row(json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "hush12"}}));
    rows.user(json!("And loud3."));
    rows.assistant("loud4");
    check(&rows);
}
