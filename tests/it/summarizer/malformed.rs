//! Answers in every form but the one asked for: each session ends with a digest, what was paid is counted, and nothing is asked for ever.

use serde_json::{Value, json};

use crate::summarizer::many_sessions::{BLOG, Many, id};
use crate::summarizer::outputs::nothing_acts;
use crate::support::stand_in::{COST, StandIn, form, refused, report, said};
use crate::support::{assistant, user};

/// What becomes of an answer, and what it counts with.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    Taken,
    Refused(&'static str),
}
use Then::{Refused, Taken};

/// A report with these fields in place of its own; those that are null are left out.
fn with(fields: Value) -> String {
    let mut report: Value = serde_json::from_str(&report(&form(), COST)).expect("JSON");
    let all = report.as_object_mut().expect("an object");
    for (name, value) in fields.as_object().expect("an object") {
        all.insert(name.clone(), value.clone());
        if value.is_null() {
            all.remove(name);
        }
    }
    report.to_string()
}

/// The same with a number that JSON may hold and Rust may not.
fn at_cost(number: &str) -> String {
    with(json!({"total_cost_usd": "HERE"})).replace("\"HERE\"", number)
}

/// What a client prints that is set to tell all.
fn listed(report: &str) -> String {
    let (begun, said) = (json!({"type": "system", "subtype": "init"}), json!({"type": "assistant", "message": {"content": []}}));
    format!("[{begun},{said},{report}]")
}

fn table() -> Vec<(&'static str, Vec<u8>, Then)> {
    let good = report(&form(), COST);
    let words = form().to_string();
    let text = |what, reply: String, then| (what, reply.into_bytes(), then);
    vec![
        text("nothing", String::new(), Refused("without an answer")),
        text("white space", " \n\t\r\n ".into(), Refused("without an answer")),
        text("zeroes", "\0\0\0\0".into(), Refused("did not print JSON")),
        text(
            "a page of a proxy",
            "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>".into(),
            Refused("502 Bad Gateway"),
        ),
        text("a list", format!("[{good}]"), Taken),
        text("a list of all that happened", listed(&good), Taken),
        text("a list without a report", listed("{}"), Refused("printed no report")),
        text("a string", format!("{words:?}"), Refused("")),
        text("a number", "42".into(), Refused("")),
        text("null", "null".into(), Refused("")),
        text("an empty object", "{}".into(), Refused("")),
        text("another form", json!({"id": "msg_1", "content": [{"type": "text", "text": words}]}).to_string(), Refused("")),
        text("two reports", format!("{good}\n{good}\n"), Taken),
        text("a stream of events", format!("{{\"type\":\"system\"}}\n{{\"type\":\"assistant\"}}\n{good}\n"), Taken),
        text("a report and a warning", format!("{good}\n(node:1) Warning: deprecated\n"), Taken),
        text("a report and a notice in JSON", format!("{good}\n{{\"update\":[\"2.1.331\"]}}\n"), Taken),
        text("a report behind a wrapper's line", format!("Now using node {{v20}} [npm 10]\n{good}"), Taken),
        text("a report behind a wrapper's words", format!("claude: {good} done"), Taken),
        text("a list behind a wrapper's line", format!("using [a] wrapper\n{}\n", listed(&good)), Taken),
        text("half a report", good[..good.len() / 2].into(), Refused("did not print JSON")),
        text("a report but its last byte", good[..good.len() - 1].into(), Refused("did not print JSON")),
        ("invalid UTF-8", [good.as_bytes(), b"\xff\xfe"].concat(), Taken),
        (
            "invalid UTF-8 inside of a string",
            good.replace("Orders go", "Orders \u{1}go").bytes().map(|b| if b == 1 { 0xff } else { b }).collect(),
            Taken,
        ),
        text("a lone surrogate", good.replace("Orders go", "\\ud800 go"), Refused("did not print JSON")),
        text("a lone surrogate in the form", said(&words.replace("Orders go", "\\udfff go"), COST), Refused("not the JSON object")),
        text("ten thousand brackets", "[".repeat(10_000), Refused("did not print JSON")),
        text(
            "ten thousand brackets in the form",
            said(&format!("{{\"title\":{}", "[".repeat(10_000)), COST),
            Refused("JSON object"),
        ),
        text("a byte order mark", format!("\u{feff}{good}"), Taken),
        text("no result", with(json!({"result": null})), Refused("the reply is empty")),
        text("a result that is the object itself", with(json!({"result": form()})), Refused("the reply is empty")),
        text("a result that is a list", with(json!({"result": [words]})), Refused("the reply is empty")),
        text("no mark of success", with(json!({"is_error": null})), Refused("")),
        text("a mark of success that is a word", with(json!({"is_error": "false"})), Refused("")),
        text("success in words and failure in the mark", with(json!({"is_error": true})), Refused("")),
        text(
            "failure in words and success in the mark",
            with(json!({"subtype": "error_during_execution", "result": "API Error: 500"})),
            Refused("prose"),
        ),
        text(
            "failure without words",
            with(json!({"is_error": true, "result": "", "subtype": "error_during_execution"})),
            Refused("error_during_execution"),
        ),
        text("failure without anything", json!({"is_error": true}).to_string(), Refused("does not say why")),
        text("another session's answer", with(json!({"session_id": "64b0b6d9-e371-40e8-affe-78e0505dfb3f", "uuid": 7})), Taken),
        text("no usage", with(json!({"modelUsage": null, "usage": null})), Taken),
        text("usage of another form", with(json!({"modelUsage": ["haiku"], "usage": "much"})), Taken),
        text("a model without a name", with(json!({"modelUsage": {"": {}}})), Taken),
        text("a form in a fence", said(&format!("```json\n{words}\n```"), COST), Taken),
        text("a form in prose", said(&format!("Certainly! Here it is:\n\n{words}\n\nLet me know."), COST), Taken),
        text("a form as a string", said(&format!("{words:?}"), COST), Refused("not the JSON object")),
        text("two forms", said(&format!("{words}\n{words}"), COST), Taken),
        text("a form twice over", said(&words.replacen('{', "{\"title\":\"x\",", 1), COST), Refused("not the JSON object")),
        text("half a form", said(&words[..words.len() / 2], COST), Refused("not the JSON object")),
        text(
            "a form of other keys",
            said(&json!({"titel": "x", "zusammenfassung": "y"}).to_string(), COST),
            Refused("no \"title\""),
        ),
        text("a form in YAML", said("title: x\nrequest: y\ncompleted:\n  - z\n", COST), Refused("prose")),
        text("a form in XML", said("<title>x</title><request>y</request>", COST), Refused("prose")),
        text(
            "a form of nothing but blanks",
            said(&json!({"title": " \u{200b}", "request": "\u{0}", "completed": [""]}).to_string(), COST),
            Refused("no \""),
        ),
        text(
            "numbers and truths",
            said(&json!({"title": 7, "request": true, "completed": [1]}).to_string(), COST),
            Refused("no \"request\""),
        ),
        text("a refusal", said("I can't help with that.", COST), Refused("I can't help with that")),
        text("a refusal by its mark", with(json!({"stop_reason": "refusal", "result": ""})), Refused("the reply is empty")),
        text("an answer that was cut", with(json!({"stop_reason": "max_tokens", "result": words[..90]})), Refused("JSON object")),
        text(
            "a policy",
            refused("Claude Code is unable to respond to this request, which appears to violate our Usage Policy", Some(400)),
            Refused("Usage Policy"),
        ),
        text("too long", refused("Prompt is too long", Some(400)), Refused("Prompt is too long")),
        text("words about a limit that were paid for", said("usage limit reached", COST), Refused("usage limit reached")),
        text("a cost that is a word", with(json!({"total_cost_usd": "0.0123"})), Taken),
        text("a cost below nothing", with(json!({"total_cost_usd": -5.0})), Taken),
        text("a cost beyond all money", at_cost("1e308"), Taken),
        text("a cost that is no number", at_cost("NaN"), Taken),
        text("a cost without end", at_cost("1e999"), Taken),
        text("a cost that is nothing", with(json!({"total_cost_usd": null})), Taken),
        text("a cost that is a list", with(json!({"total_cost_usd": [1]})), Taken),
        text("a cost below zero by a sign", at_cost("-0.0"), Taken),
    ]
}

/// What a report says it cost, if anybody can believe it.
fn told_cost(reply: &[u8]) -> Option<f64> {
    let text = String::from_utf8_lossy(reply);
    let report: Value = serde_json::from_str(&text).ok().filter(Value::is_object).or_else(|| {
        let from = text.rfind(r#"{"api_error_status"#)?;
        serde_json::Deserializer::from_str(&text[from..]).into_iter().next()?.ok()
    })?;
    report["total_cost_usd"].as_f64().filter(|usd| (0.0..1000.0).contains(usd))
}

#[test]
fn every_wrong_answer_leaves_a_digest_a_reason_and_its_price() {
    let table = table();
    let many = Many::that_get(&table.iter().map(|(_, reply, _)| reply).collect::<Vec<_>>());
    let told = many.digest_all();
    assert!(told.lines().all(|line| line.len() < 400), "{told}");
    let (db, asked) = (many.stand_in.world.database(), many.asked());
    for (at, (what, reply, then)) in table.iter().enumerate() {
        let (n, shown) = (at + 1, many.show(at + 1));
        let of_the_model = *then == Taken;
        assert_eq!(shown["summarizer"], if of_the_model { "claude" } else { "extract" }, "{what}: {}", many.reason(n));
        assert_eq!(shown["waits_for_model"], !of_the_model, "{what}");
        if let Refused(why) = then {
            let reason = many.reason(n);
            assert!(reason.contains(why) && reason.len() > 10, "{what}: {reason}");
        }
        let mut rows = db.prepare("SELECT actual_usd, reserved_usd FROM spend WHERE session = ?1").expect("the rows");
        let rows = rows.query_map([id(n)], |r| Ok((r.get::<_, Option<f64>>(0)?, r.get::<_, f64>(1)?))).expect("the rows");
        let rows: Vec<_> = rows.map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), asked[at], "{what}: one for each call");
        assert!(asked[at] == 1 || !of_the_model && asked[at] < 4, "{what}: {asked:?}");
        for (actual, reserved) in rows {
            assert_eq!(actual, told_cost(reply), "{what}");
            assert!(reserved > 0.02, "{what}: who tells no cost counts with this one: {reserved}");
        }
    }
    drop(db);
    nothing_acts(&many.stand_in.world, BLOG, &(1..=table.len()).map(id).collect::<Vec<_>>());
}

#[test]
fn what_always_fails_is_asked_less_and_less_and_heals_when_it_can() {
    let many = Many::that_get(&[said("I can't help with that.", COST), report(&form(), COST), "{}".to_owned()]);
    let start: jiff::Timestamp = "2026-11-21T12:00:00Z".parse().expect("a time");
    // Each run has one that it does not fail on: else it would be left alone as a whole.
    let (mut runs, rows) = (0, |n: usize| {
        let id = format!("{n:08}-0000-4000-8000-00000000aaaa");
        let uuid = |row: usize| format!("{n:08}-0000-4000-8000-00000000aaa{row}");
        let at = "2026-11-01T09:00:00Z";
        let said = assistant(&id, &uuid(2), at, "It filters on drafts.");
        (format!("-home-dev-src-blog/{id}.jsonl"), user(&id, &uuid(1), at, &format!("Question 2: why is feed {n} empty?")) + &said)
    });
    let mut digest = |minutes: i64| {
        runs += 1;
        let (path, rows) = rows(100 + runs);
        many.stand_in.world.transcript(&path, rows.replace("src/shop", "src/blog"));
        let now = (start + jiff::SignedDuration::from_mins(minutes)).to_string();
        let ran = many.stand_in.world.recall_with(["digest"], &[("RECALL_NOW", now.as_str())]);
        assert!(ran.code < 2, "{ran:#?}");
    };
    (0..3).for_each(&mut digest);
    let often = || many.asked().into_iter().step_by(2).collect::<Vec<_>>();
    assert_eq!(often(), [3, 3]);
    let mut last = 2;
    for (calls, wait) in [(4, 60), (5, 120), (6, 240)] {
        digest(last + wait - 1);
        assert_eq!(often(), [calls - 1, calls - 1], "it waits {wait} minutes");
        last += wait;
        digest(last);
        assert_eq!(often(), [calls, calls], "{wait} minutes have passed");
    }
    many.stand_in.put("reply.1", &report(&form(), COST));
    many.stand_in.put("reply.3", &report(&form(), COST));
    digest(last + 480);
    assert_eq!((&many.show(1)["summarizer"], &many.show(3)["summarizer"]), (&json!("claude"), &json!("claude")));
}

#[test]
fn a_clock_that_was_wrong_keeps_nothing_from_being_tried_again() {
    let stand_in = StandIn::new(&["plain"], "exit 1");
    for _ in 0..4 {
        stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2096-11-21T12:00:00Z")]);
    }
    assert_eq!(stand_in.calls().len(), 3);
    stand_in.now_answers_well();
    assert_eq!(stand_in.recall(&["digest"]).code, 0, "seventy years earlier");
    crate::summarizer::failures::has_the_models_digest(&stand_in);
}

#[test]
fn a_limit_is_met_once_a_run_however_many_sessions_wait() {
    for words in [
        "You've hit your limit · resets 3pm (Europe/Berlin)",
        "You've hit your limit · resets Jan 1, 1970, 0am (UTC)",
        "Claude AI usage limit reached|0",
        "Claude AI usage limit reached|99999999999999999999",
        "5-hour limit reached ∙ resets \u{1b}[31mnever",
        "Credit balance is too low",
        "Invalid API key · Please run /login",
    ] {
        let many = Many::new(6, "cat \"$here/said\"");
        for (reply, calls) in [(refused(words, Some(429)), 1), (said(words, 0.0), 2)] {
            many.stand_in.put("said", &reply);
            // After the window of the one before.
            let now = format!("2026-11-{}T12:00:00Z", 20 + calls);
            let ran = many.stand_in.world.recall_with(["digest"], &[("RECALL_NOW", now.as_str())]);
            assert_eq!(ran.code, 1, "{words}: {ran:#?}");
            assert_eq!(many.stand_in.calls().len(), calls, "{words}: one call a run finds it out");
        }
        assert_eq!(many.stand_in.status()["waiting_for_model"], 6, "{words}");
        assert_eq!(many.stand_in.status()["spent_usd"], 0.0, "{words}");
        many.stand_in.now_answers_well();
        let ran = many.stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-23T12:00:01Z")]);
        assert_eq!(ran.code, 0, "{words}: {ran:#?}");
        assert_eq!(many.stand_in.status()["waiting_for_model"], 0, "whatever time it told");
    }
}

#[test]
fn five_hundred_sessions_are_one_futile_call() {
    let many = Many::new(500, "cat \"$here/said\"; exit 1");
    many.stand_in.put("said", &refused("You've hit your weekly limit · resets Monday", Some(429)));
    let ran = many.stand_in.recall(&["digest"]);
    assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{ran:#?}");
    many.stand_in.only_call();
    let status = many.stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(500), &json!(500)), "{status:#}");
}

#[test]
fn a_session_that_is_refused_like_a_login_does_not_hold_up_the_others() {
    // A proxy that lets one session's words not pass answers as if nobody was logged in. It is the newest.
    let many = Many::new(6, "[ \"$q\" = 6 ] && { cat \"$here/no\"; exit 1; }; cat \"$here/good\"");
    many.stand_in.put("no", &refused("Request blocked", Some(403)));
    many.stand_in.put("good", &report(&form(), COST));
    assert_eq!(many.stand_in.recall(&["digest"]).code, 1);
    assert_eq!(many.asked(), [0, 0, 0, 0, 0, 1]);
    assert_eq!(many.stand_in.recall(&["digest"]).code, 1);
    assert_eq!(many.asked(), [1, 1, 1, 1, 1, 2], "it comes last now");
    assert_eq!(many.stand_in.status()["waiting_for_model"], 1);
}

#[test]
fn what_was_paid_for_is_not_tried_again_under_the_same_reservation() {
    for (report, cost) in [
        (json!({"is_error": true, "api_error_status": 529, "result": "Overloaded", "total_cost_usd": 0.02}), Some(0.02)),
        (json!({"is_error": true, "api_error_status": 500, "result": "Connection error."}), None),
    ] {
        let stand_in = StandIn::says(&["plain"], &report.to_string());
        let ran = stand_in.recall(&["digest"]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        stand_in.only_call();
        let spent = stand_in.status()["spent_usd"].as_f64().expect("a sum");
        assert!(cost.map_or(spent > 0.02, |cost| cost == spent), "{report}: {spent}");
    }
}

#[test]
fn a_flag_that_a_call_cannot_go_without_is_missed_once() {
    for flag in ["-p", "--output-format", "--model", "json", "haiku", "--no-such-flag", ""] {
        let stand_in = StandIn::new(&["plain"], &format!("echo \"error: unknown option '{flag}'\" >&2; exit 1"));
        let ran = stand_in.recall(&["digest"]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        stand_in.only_call();
        assert!(ran.err.contains("unknown option"), "{ran:#?}");
    }
    // Who complains of a flag and answers all the same has answered.
    let stand_in = StandIn::new(&["plain"], "echo \"error: unknown option '--max-turns'\" >&2; cat \"$here/good\"");
    stand_in.put("good", &report(&form(), COST));
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    stand_in.only_call();
}

#[test]
fn what_cannot_be_kept_is_not_bought() {
    let many = Many::new(5, "cat \"$here/good\"");
    many.stand_in.put("good", &report(&form(), COST));
    let replies = many.stand_in.world.data_dir().join("replies");
    many.digest_all_without_the_model();
    std::fs::write(&replies, "a file where a folder should be").expect("a file");
    let ran = many.stand_in.recall(&["digest"]);
    assert_eq!((ran.code, ran.err.matches("cannot keep replies in").count()), (1, 1), "{ran:#?}");
    assert!(many.stand_in.calls().is_empty());
    let status = many.stand_in.status();
    assert_eq!((&status["digests"], &status["spent_usd"]), (&json!(5), &json!(0.0)), "{status:#}");
    std::fs::remove_file(&replies).expect("removed");
    let ran = many.stand_in.recall(&["digest"]);
    assert_eq!((ran.code, many.asked()), (0, vec![1; 5]), "{ran:#?}");
    assert_eq!(many.stand_in.status()["waiting_for_model"], 0, "{}", many.stand_in.reasons());
}

#[test]
fn a_fault_of_our_own_with_an_answer_is_told_and_nobody_waits_for_it() {
    let many = Many::new(5, "cat \"$here/good\"");
    many.stand_in.put("good", &report(&form(), COST));
    let ran = many.stand_in.world.recall_with(["digest"], &[("RECALL_FAULT", "answer-panic")]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("please report this"), "{ran:#?}");
    assert_eq!(many.stand_in.status()["digests"], 5);
    assert_eq!(many.stand_in.recall(&["digest"]).code, 0, "and the next run goes on");
}
