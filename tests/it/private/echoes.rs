//! Echoes: what a partly private prompt fenced off is said again in a reply, a command, a title. A corpus of kinds of private words, each said
//! again in every way in which a session can.
//!
//! `RECALL_ECHOES=DIR` leaves the transcripts in a folder.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::private::outputs::{CONFIG, listen, listener, turn};
use crate::support::rows::{FOLDER, Rows, bash, put};
use crate::support::{World, copy_tree};

/// What somebody fences off, how it is said again, and what must not be read of it then.
struct Kind {
    fenced: &'static str,
    said: &'static [&'static str],
    /// In lower case.
    needles: &'static [&'static str],
}

const KINDS: [Kind; 18] = [
    Kind {
        fenced: "the customer is Qorvexa",
        said: &["Qorvexa", "QORVEXA", "qorvexa's", "qorvexaImport", "my_qorvexa"],
        needles: &["qorvexa"],
    },
    Kind {
        fenced: "ask Zoë Brändström in Uppsala",
        said: &["Zoë Brändström", "Zoe Brandstrom", "ZOË BRÄNDSTRÖM", "Braendstroem", "uppsala"],
        needles: &["brändström", "brandstrom", "braendstroem", "uppsala", "zoë", "zoe"],
    },
    Kind {
        fenced: "they call it Tidal Wombat",
        said: &["Tidal Wombat", "tidal-wombat", "TidalWombat", "wombat"],
        needles: &["wombat"],
    },
    Kind {
        fenced: "the offer is 4,215,000 euros",
        said: &["4,215,000", "4215000", "4 215 000", "4.215.000", "4.215 million"],
        needles: &["4,215,000", "4215000", "4 215 000", "4.215"],
    },
    Kind {
        fenced: "call +49 151 234 56789 first",
        said: &["+49 151 234 56789", "0151 23456789", "+4915123456789"],
        needles: &["23456789", "234 56789"],
    },
    Kind {
        fenced: "write to vilhelmina.osk@zyntrex.example",
        said: &["vilhelmina.osk@zyntrex.example", "Vilhelmina Osk", "Zyntrex"],
        needles: &["vilhelmina", "zyntrex"],
    },
    Kind {
        fenced: "pay to DE21 3012 0400 0098 7654 32",
        said: &["DE21 3012 0400 0098 7654 32", "DE21301204000098765432"],
        needles: &["3012", "0098"],
    },
    Kind {
        fenced: "the phrase is velvet anchor pumpkin trombone",
        said: &["velvet anchor pumpkin trombone", "Velvet-Anchor-Pumpkin-Trombone"],
        needles: &["pumpkin", "trombone"],
    },
    Kind {
        fenced: "she was born on 14.03.1979",
        said: &["14.03.1979", "1979-03-14", "14/3/1979"],
        needles: &["14.03.1979", "1979-03-14", "14/3/1979"],
    },
    Kind {
        fenced: "she has endometriosis and cannot travel",
        said: &["endometriosis", "Endometriosis", "endometriosisLeave"],
        needles: &["endometriosis"],
    },
    Kind { fenced: "患者は田中太郎です", said: &["田中太郎", "田中さん"], needles: &["田中"] },
    Kind { fenced: "고객은 홍길동입니다", said: &["홍길동", "홍길동에게"], needles: &["홍길동"] },
    Kind {
        fenced: "клиент Вяземский из Твери", said: &["Вяземский", "Вяземскому", "вяземский"], needles: &["вяземск"]
    },
    Kind {
        fenced: "it runs on kestrel-db7.inner.zyntrex.example",
        said: &["kestrel-db7.inner.zyntrex.example", "kestrel_db7", "zyntrex"],
        needles: &["kestrel", "zyntrex"],
    },
    Kind { fenced: "the contract is KX-4711-B", said: &["KX-4711-B", "kx4711b", "KX 4711 B"], needles: &["4711"] },
    Kind {
        fenced: "he lives at Lindenstraße 17, Wolfenbüttel",
        said: &["Lindenstraße 17", "lindenstrasse", "Wolfenbüttel", "Wolfenbuettel"],
        needles: &["lindenstr", "wolfenb"],
    },
    Kind {
        fenced: "we will lay off the whole Gdynia office in spring",
        said: &["lay off the whole Gdynia office", "Gdynia", "gdynia office"],
        needles: &["gdynia", "lay off the whole"],
    },
    Kind { fenced: "the contact there is Mark, who left Target", said: &["Mark, who left Target"], needles: &["mark", "target"] },
];

/// Says something again in one way; the word with the number is to be found there, and is kept.
type Way = (&'static str, fn(&mut Rows, &str, usize));

const WAYS: [Way; 27] = [
    ("reply", |rows, said, n| rows.assistant(&format!("way{n}: I mended the report for {said}."))),
    ("reply with a list", |rows, said, n| {
        rows.assistant(&format!("way{n}:\n\n- the report of **{said}**\n- `{said}` in the tests\n"))
    }),
    ("table", |rows, said, n| rows.assistant(&format!("| way{n} | {said} |\n|---|---|\n| 1 | {said} |"))),
    ("decision", |rows, said, n| {
        rows.assistant(&format!("Decision: way{n} uses {said} as the default.\n\nNext steps:\n- tell way{n} about {said}\n"))
    }),
    ("command", |rows, said, n| rows.uses(100 + n, &bash(&format!("./way{n}.sh --for '{said}'")))),
    ("failing output", |rows, said, n| {
        rows.uses(100 + n, &bash(&format!("./way{n}.sh")));
        rows.result(100 + n, &format!("Exit code 1\nerror: way{n} found no {said}"), true);
    }),
    ("telling output", |rows, said, n| {
        rows.uses(100 + n, &bash(&format!("git commit -F way{n}")));
        rows.result(100 + n, &format!("[main abc1234] way{n}: mend the report of {said}\n 1 file changed"), false);
    }),
    ("edited file", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "Edit", "input": {"file_path": format!("/home/dev/src/shop/way{n}/{said}.py"), "old_string": "a", "new_string": "b"}}))
    }),
    ("written file", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "Write", "input": {"file_path": format!("/home/dev/src/shop/way{n}_{said}_report.md"), "content": said}}))
    }),
    ("search", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "Grep", "input": {"pattern": format!("way{n}.*{said}"), "path": "/home/dev/src/shop"}}))
    }),
    ("web search", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "WebSearch", "input": {"query": format!("way{n} {said} report")}}))
    }),
    ("another tool", |rows, said, n| {
        rows.uses(
            100 + n,
            &json!({"name": "mcp__tracker__add", "input": {"title": format!("way{n}"), "text": format!("for {said}")}}),
        )
    }),
    ("subagent's task", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "Task", "input": {"description": format!("way{n}: look for {said}"), "prompt": said}}))
    }),
    ("to-do", |rows, said, n| {
        rows.uses(
            100 + n,
            &json!({"name": "TodoWrite", "input": {"todos": [{"content": format!("way{n}: ask {said}"), "status": "pending"}]}}),
        )
    }),
    ("task", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "TaskCreate", "input": {"subject": format!("way{n}: ask {said}")}}))
    }),
    ("plan", |rows, said, n| {
        rows.uses(100 + n, &json!({"name": "ExitPlanMode", "input": {"plan": format!("# way{n}\n1. Ask {said}.\n2. Mend it.")}}))
    }),
    ("question", |rows, said, n| {
        rows.uses(
            100 + n,
            &json!({"name": "AskUserQuestion", "input": {"questions": [{"question": format!("way{n}: is it {said}?")}]}}),
        )
    }),
    ("answer", |rows, said, n| {
        let asked = format!("way{n}: which one, {said}?");
        let content = json!([{"type": "tool_result", "tool_use_id": format!("toolu_{}", 100 + n), "content": "answered"}]);
        rows.row(json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": {"questions": [{"question": asked}], "answers": {asked: format!("the report of {said}")}}}));
    }),
    ("title of the client's", |rows, said, n| rows.row(json!({"type": "ai-title", "aiTitle": format!("way{n} mends {said}")}))),
    ("summary", |rows, said, n| {
        let leaf = rows.uuid.clone();
        rows.row(json!({"type": "summary", "summary": format!("way{n} mended {said}"), "leafUuid": leaf}));
    }),
    ("away", |rows, said, n| {
        rows.row(json!({"type": "system", "subtype": "away_summary", "content": format!("way{n}: you asked for the report of {said}. Next: mend it.")}))
    }),
    ("recap", |rows, said, n| {
        let recap = format!(
            "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n1. way{n}: the user works for {said}.\n2. It was mended."
        );
        rows.row(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": recap}}));
    }),
    ("pull request", |rows, said, n| {
        rows.row(json!({"type": "pr-link", "prUrl": format!("https://git.shop.example/way{n}/{said}/pull/7")}))
    }),
    ("branch", |rows, said, n| {
        let message = json!({"id": format!("msg_way{n}"), "role": "assistant", "content": [{"type": "text", "text": format!("way{n} is on its branch.")}]});
        rows.row(json!({"type": "assistant", "gitBranch": format!("feature/{said}"), "message": message}));
    }),
    ("the next prompt", |rows, said, n| rows.user(json!(format!("Now mend way{n} of {said}, too.")))),
    ("a waiting message", |rows, said, n| {
        rows.row(json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": format!("And way{n} for {said}.")}}))
    }),
    ("a reply turns later", |rows, said, n| {
        rows.user(json!("Run the tests again."));
        rows.assistant("They pass.");
        rows.user(json!("And the list?"));
        rows.assistant(&format!("way{n}: the list of {said} is written."));
    }),
];

/// A session in which a prompt of this kind is partly private, and all ways to say it again.
fn session(n: usize, kind: &Kind) -> Rows {
    let mut rows = turn(n, "Mend loudlist, please, and look at the tests.", "The loudlist is written again.");
    rows.user(json!(format!("Now loudreport. <private>{}</private> Run the tests then.", kind.fenced)));
    for (at, (_, say)) in WAYS.iter().enumerate() {
        say(&mut rows, kind.said[(at + n) % kind.said.len()], at);
    }
    rows.assistant("loudend: all 12 tests pass.");
    rows
}

/// A subagent of it, in its own file.
fn agents(world: &World, rows: &Rows, kind: &Kind) {
    let row = |text: String, n: usize| {
        let message = json!({"id": format!("msg_agent{n}"), "role": "assistant", "content": [{"type": "text", "text": text}]});
        json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "sessionId": rows.id, "timestamp": "2026-11-20T12:00:00Z", "cwd": "/home/dev/src/shop",
            "uuid": format!("{}aaaaaaaaaaa{n}", &rows.id[..24]), "message": message})
    };
    let lines: String =
        kind.said.iter().enumerate().map(|(n, said)| format!("{}\n", row(format!("loudagent{n} found {said}."), n))).collect();
    world.transcript(&format!("{FOLDER}/{}/subagents/agent-a1.jsonl", rows.id), lines);
}

fn corpus(world: &World) {
    for (n, kind) in KINDS.iter().enumerate() {
        let rows = session(n, kind);
        put(world, &rows.id, &rows.text);
        agents(world, &rows, kind);
    }
    if let Ok(folder) = std::env::var("RECALL_ECHOES") {
        copy_tree(&world.claude_dir(), folder.as_ref());
    }
}

/// The texts that are stored of a session.
fn texts(session: &Value) -> Vec<String> {
    fn strings(value: &Value, all: &mut Vec<String>) {
        match value {
            Value::String(text) => all.push(text.clone()),
            Value::Array(list) => list.iter().for_each(|one| strings(one, all)),
            Value::Object(fields) => fields.values().for_each(|one| strings(one, all)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    for source in session["sources"].as_array().into_iter().flatten() {
        strings(&source["branches"], &mut all);
        for row in source["rows"].as_array().into_iter().flatten() {
            let mut of_row = Vec::new();
            strings(&row["item"]["data"], &mut of_row);
            all.push(of_row.join(" "));
        }
    }
    strings(&session["titles"], &mut all);
    all
}

/// In which ways which kinds are read: way, kind, text.
fn leaks(world: &World) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for session in world.exported() {
        let n: usize = session["session"].as_str().expect("an id")[..8].parse().expect("a number");
        for text in texts(&session) {
            let lower = text.to_lowercase();
            if KINDS[n].needles.iter().any(|needle| lower.contains(needle)) {
                let way = (0..WAYS.len()).rev().find(|at| lower.contains(&format!("way{at}"))).map_or("elsewhere", |at| WAYS[at].0);
                found.push((way.to_owned(), format!("{}: {text}", KINDS[n].fenced)));
            }
        }
    }
    found
}

#[test]
fn nothing_says_again_what_was_fenced_off_in_whatever_way() {
    let listener = listener("");
    corpus(&listener.world);
    let ran = listener.world.recall(["digest", "--json"]);
    assert!(ran.code < 2, "{ran:#?}");
    let found = leaks(&listener.world);
    let mut by_way: BTreeMap<&str, usize> = BTreeMap::new();
    found.iter().for_each(|(way, _)| *by_way.entry(way).or_default() += 1);
    println!("{} tries in {} ways, {} leaks: {by_way:?}", KINDS.len() * (WAYS.len() + 1), WAYS.len() + 1, found.len());
    assert!(found.is_empty(), "{found:#?}");
    // What is no echo is there, way by way.
    for session in listener.world.exported() {
        let all = texts(&session).join("\n");
        let lost: Vec<&str> = (0..WAYS.len()).filter(|at| !all.contains(&format!("way{at}"))).map(|at| WAYS[at].0).collect();
        // Looking around is not kept, and a question stands with its answer.
        assert_eq!(lost, ["search", "question"], "{all}");
    }
    let needles: BTreeSet<String> = KINDS[..17].iter().flat_map(|kind| kind.needles).map(|needle| (*needle).to_owned()).collect();
    // A time may hold any digits, and the model's stand-in its own words.
    let needles = needles.into_iter().filter(|needle| needle.len() > 5 || !needle.bytes().all(|b| b.is_ascii_digit())).collect();
    listen(&listener, &needles, &["loudlist", "loudreport", "loudend", "loudagent0"].map(str::to_owned).into());
}

#[test]
fn nor_what_forks_and_subagents_say_whichever_is_read_first() {
    let kind = &KINDS[0];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let listener = listener("");
        let world = &listener.world;
        let first = session(0, kind);
        // The fork's beginning was compacted away: it holds copies of replies, and not the prompt.
        let mut fork = Rows::new(1);
        let copies: String = first
            .text
            .lines()
            .filter(|line| line.contains("\"assistant\""))
            .map(|line| format!("{}\n", line.replace(&first.id, &fork.id)))
            .collect();
        fork.user(json!("Now mend loudfork."));
        fork.assistant("loudforked is mended for Qorvexa.");
        let stamp =
            json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-19T09:00:00Z", "sessionId": fork.id});
        fork.text = format!("{stamp}\n{copies}{}", fork.text);
        let steps: [&dyn Fn(); 3] =
            [&|| put(world, &first.id, &first.text), &|| agents(world, &first, kind), &|| put(world, &fork.id, &fork.text)];
        for step in order {
            steps[step]();
            let ran = world.recall(["digest", "--ingest-only"]);
            assert!(ran.code < 2, "{ran:#?}");
        }
        let ran = world.recall(["digest"]);
        assert!(ran.code < 2, "{ran:#?}");
        listen(&listener, &["qorvexa".to_owned()].into(), &["loudforked", "loudagent1", "loudreport"].map(str::to_owned).into());
    }
}

#[test]
fn in_whatever_pieces_it_is_read() {
    let rows = session(2, &KINDS[2]);
    let whole = listener("");
    put(&whole.world, &rows.id, &rows.text);
    assert!(whole.world.recall(["digest", "--ingest-only"]).code < 2);
    let sliced = listener("");
    let lines: Vec<&str> = rows.text.lines().collect();
    for to in (1..=lines.len()).step_by(5).chain([lines.len()]) {
        let mut so_far = lines[..to].join("\n");
        so_far.push('\n');
        put(&sliced.world, &rows.id, &so_far);
        crate::support::age(
            &sliced.world.claude_dir().join(format!("projects/{FOLDER}/{}.jsonl", rows.id)),
            std::time::Duration::from_secs(7200 - to as u64),
        );
        assert!(sliced.world.recall(["digest", "--ingest-only"]).code < 2);
    }
    let rows_of = |world: &World| {
        let of = |session: &Value| {
            (session["sources"][0]["rows"].clone(), session["sources"][0]["branches"].clone(), session["titles"].clone())
        };
        world.exported().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(rows_of(&sliced.world), rows_of(&whole.world));
}

const REPLY: &str =
    "For Zanzibar the importer failed at 4215: the customer has a list, I fixed it with the tests and the loudcolumn.";

#[test]
fn words_that_everybody_says_and_those_of_the_public_part_stay() {
    let mut rows = turn(1, "Mend the loudimporter of Zanzibar, please.", "The loudimporter of Zanzibar reads 4215 rows now.");
    rows.user(json!("Now louder: <private>the importer of Zanzibar fails for the customer in row 4215, fix the list and the tests</private> the loudcolumn is wrong."));
    rows.assistant(REPLY);
    let listener = listener("");
    put(&listener.world, &rows.id, &rows.text);
    assert!(listener.world.recall(["digest", "--ingest-only"]).code < 2);
    let exported = listener.world.recall(["export"]).out;
    assert!(exported.contains(REPLY), "{exported}");
}

#[test]
fn a_hook_that_reads_the_end_of_a_transcript_does_not_say_it_either() {
    let world = World::new();
    world.configure(CONFIG);
    for (n, bytes) in [(3, 1_000), (4, 300_000), (5, 5_000_000)] {
        let mut rows = turn(n, "Mend the first page, please.", "It is mended.");
        rows.user(json!("Mend loudpage. <private>The customer is Qorvexa.</private> Thanks."));
        rows.assistant("Mended.");
        for at in 0..bytes / 20_000 {
            rows.uses(500 + at, &bash("./run.sh"));
            rows.result(500 + at, &"Exit code 1\nit is as long as ever\n".repeat(600), true);
        }
        rows.user(json!("And now the last page."));
        rows.assistant("The last page for Qorvexa is mended. All 12 tests pass. Next: call Qorvexa.");
        put(&world, &rows.id, &rows.text);
        let transcript = world.claude_dir().join(format!("projects/{FOLDER}/{}.jsonl", rows.id));
        let hook = |event: &str, theirs: &str, more: Value| {
            let mut payload = json!({"session_id": rows.id, "transcript_path": transcript, "cwd": "/home/dev/src/shop", "hook_event_name": theirs});
            payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            world.hook(event, payload.to_string()).out
        };
        hook("session-end", "SessionEnd", json!({"reason": "other"}));
        let compacted = hook("session-start", "SessionStart", json!({"source": "compact"}));
        assert!(
            (bytes > 1_000_000 || compacted.contains("last page")) && !compacted.to_lowercase().contains("qorvexa"),
            "{bytes}: {compacted}"
        );
    }
    let payload = json!({"session_id": "5e550000-0000-4000-8000-000000000000", "transcript_path": "/x", "cwd": "/home/dev/src/shop", "hook_event_name": "SessionStart", "source": "startup"});
    let told = world.hook("session-start", payload.to_string()).out;
    assert!(!told.to_lowercase().contains("qorvexa"), "{told}");
}
