//! What who asks for the past hears: in any language, of whose project, and what was decided before the rest.

use crate::hooks::payloads::{S, SHOP, configure, patient, write_talk};
use crate::hooks::prompt::{heard, says, with_sessions};
use crate::support::World;

const LAST: &str = "[33330000, 2026-11-14]";

#[test]
fn who_names_no_topic_hears_of_the_last_session_in_any_language() {
    let world = with_sessions();
    for (n, prompt) in [
        "où en étions-nous ?",
        "Où nous sommes-nous arrêtés ?",
        "donde lo dejamos",
        "¿dónde lo dejamos?",
        "onde paramos?",
        "dove eravamo rimasti?",
        "wo waren wir stehengeblieben?",
        "上次我们做到哪里了？",
        "继续上次的工作",
        "前回の続きをお願いします",
        "前回どこまでやりましたか",
        "지난번에 어디까지 했지?",
        "what's left to do?",
        "What is still open?",
        "bring the rest of the code over, same as last time",
    ]
    .iter()
    .enumerate()
    {
        let text = heard(&world, &says(&world, &format!("session-{n}"), prompt)).unwrap_or_else(|| panic!("{prompt}"));
        assert!(text.contains(LAST) && !text.contains("11110000"), "{prompt}: {text}");
    }
    for (n, prompt) in ["上次我们做到哪里了 order list pagination", "前回の続き pagination", "上次pagination"].iter().enumerate()
    {
        let text = heard(&world, &says(&world, &format!("topic-{n}"), prompt)).unwrap_or_else(|| panic!("{prompt}"));
        assert!(text.contains("[11110000, 2026-11-10]") && !text.contains(LAST), "{prompt}: {text}");
    }
}

#[test]
fn passages_of_another_project_name_it_and_have_to_say_more() {
    let world = with_sessions();
    let asks = "Why did we sharpen the thumbnails with Lanczos?";
    assert_eq!(heard(&world, &says(&world, S, asks)), None, "by default other projects are not told of");
    configure(&world, "scope = \"all\"\n");
    let text = heard(&world, &says(&world, S, asks)).expect("another project's");
    assert!(text.contains("(in gallery, 2026-11-11, 44440000)"), "{text}");
    for prompt in ["what did we decide about the gallery?", "yesterday we fixed something?", "wo waren wir beim Filter?"] {
        let text = heard(&world, &says(&world, prompt, prompt)).unwrap_or_default();
        assert!(!text.contains("44440000"), "{prompt}: {text}");
    }
    let told = world.recall(["context", "--cwd", SHOP, "--about", "thumbnails lanczos", "--summarizer", "extract"]).out;
    assert!(told.contains("(in gallery, 2026-11-11, 44440000)"), "{told}");
    let own = world.recall(["context", "--cwd", SHOP, "--about", "keyset pagination", "--summarizer", "extract"]).out;
    assert!(own.contains("(2026-11-10, 11110000)"), "{own}");
}

const CLIENT: &str = "55550000-aaaa-4aaa-8aaa-555511110000";

fn with_a_client(summarizer: &str) -> World {
    let world = World::new();
    patient(&world);
    let reply = "I'll read the payment client, its retries and its settings first.\n\n\
        The retries of the payment client give up after a 503, because the loop counts them as errors.\n\n\
        Decision: a hand-written loop instead of tenacity, because the dependency is large.\n\n\
        ## Next steps\n\n- Test the retries of the payment client against the sandbox\n- Log each retry of the payment client\n";
    write_talk(
        &world,
        CLIENT,
        "2026-11-10T10:00:00Z",
        "The retries of the payment client stop at a 503. Write a loop by hand instead of taking tenacity, because that dependency is large.",
        reply,
    );
    let form = r#"{\"title\":\"Retries of the payment client\",\"request\":\"r\",\"completed\":[\"Read the payment client\"],\"learned\":[\"The retries of the payment client give up after a 503, because the loop counts them as errors\"],\"decisions\":[{\"text\":\"a hand-written loop instead of tenacity, because the dependency is large\",\"rows\":[2]}]}"#;
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{form}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
    world.digest(&["--summarizer", summarizer]);
    world
}

/// Of what a model claims; without one, the user's own answers come first.
#[test]
fn who_asks_what_was_decided_hears_that_first() {
    let world = with_a_client("claude");
    let first = |text: &str| text.lines().find(|line| line.starts_with("- ")).unwrap_or_default().to_owned();
    let text = heard(&world, &says(&world, S, "What did we decide about retries in the payment client?")).expect("the decision");
    let decided =
        "- decided: User: “The retries of the payment client stop at a 503. Write a loop by hand instead of taking tenacity";
    assert!(first(&text).starts_with(decided), "{text}");
    let topic = "what was decided about the retries of the payment client?";
    let told = world.recall(["context", "--cwd", SHOP, "--about", topic, "--summarizer", "extract"]).out;
    assert!(first(&told).starts_with(decided), "{told}");
    // Where there is room for one line only, it is that.
    configure(&world, "max_prompt_tokens = 150\n");
    let text = heard(&world, &says(&world, "scarce", "What did we decide about retries in the payment client?")).expect("one line");
    assert!(first(&text).starts_with(decided), "{text}");
}

/// Nobody judged it: each line says who said it.
#[test]
fn who_asks_what_was_decided_where_no_model_read_it_hears_who_said_what() {
    let world = with_a_client("extract");
    let text = heard(&world, &says(&world, S, "What did we decide about retries in the payment client?")).expect("quotes");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("- Claude: “")), "{text}");
    assert!(!text.contains("decided: "), "{text}");
}

#[test]
fn where_only_the_question_fits_the_outcome_is_told() {
    let world = World::new();
    patient(&world);
    let reply = "The signature is verified before anything is parsed now, because the body was read twice.";
    write_talk(&world, CLIENT, "2026-11-10T10:00:00Z", "Paylane webhooks fail for some.", reply);
    world.digest(&["--summarizer", "extract"]);
    let told = world.recall(["context", "--cwd", SHOP, "--about", "paylane webhooks", "--summarizer", "extract"]).out;
    assert!(told.contains("verified before anything is parsed"), "{told}");
    assert!(!told.contains("asked: Paylane webhooks fail"), "the heading says it: {told}");
}

#[test]
fn who_wonders_why_it_is_so_hears_the_decision() {
    let world = with_sessions();
    let text = heard(&world, &says(&world, S, "Why does the order list use keyset pagination?")).expect("the decision");
    assert!(text.contains("offsets shift when orders arrive") && text.contains("- Claude: “Decision: "), "{text}");
    for prompt in ["why does the test fail?", "why is the list empty?", "Why does the webhook handler return a 404?"] {
        assert_eq!(heard(&world, &says(&world, prompt, prompt)), None, "{prompt}");
    }
    let asked = heard(&world, &says(&world, "reason", "what was the reason for keyset pagination again?"));
    assert!(asked.is_some_and(|text| text.contains("offsets shift")), "who asks for the reason");
}
