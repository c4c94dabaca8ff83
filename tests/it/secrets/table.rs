//! The table: every kind of secret in every place.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::secrets::kinds::KINDS;
use crate::secrets::outputs::{Leaks, given, kept, leaks, said, watched, windows_of};
use crate::secrets::places::{PLACES, Place, Planted, Plot, TOGETHER, beside, plots, sow};
use crate::support::data_folder::Held;
use crate::support::rows::{FOLDER, SHOP, put};
use crate::support::stand_in::{StandIn, form, report};
use crate::support::{Ran, World};

/// As many sessions as there are, whatever they cost.
pub const CONFIG: &str = "[digest]\nbacklog = 1000\nmax_sessions = 1000\nmax_cost_usd = 100.0\nmax_cost_usd_per_day = 1000.0\nparallel_calls = 4\ninput_chars = 100000\n\n[hooks]\ndeadline_ms = 5000\n";

/// What is left of a world in which everything was planted, digested, and asked for.
struct Harvest {
    planted: Vec<Planted>,
    sinks: Vec<Held>,
    exported: Vec<Value>,
    plots: Vec<Plot>,
}

static BY_THE_MODEL: LazyLock<Harvest> = LazyLock::new(|| harvest("claude"));
static BY_OURSELVES: LazyLock<Harvest> = LazyLock::new(|| harvest("extract"));

fn harvest(summarizer: &str) -> Harvest {
    let stand_in = StandIn::new(&[], "cat \"$here/answer-$n\"");
    let world = &stand_in.world;
    world.configure(CONFIG);
    let plots = plots();
    let mut planted: Vec<Planted> = plots.iter().flat_map(|plot| plot.planted.clone()).collect();
    for plot in &plots {
        put(world, &plot.id, &plot.rows);
    }
    if summarizer == "claude" {
        for (n, plot) in plots.iter().enumerate() {
            let (answer, more) = answer(plot);
            stand_in.put(&format!("answer-{}", n + 1), &answer);
            planted.extend(more);
        }
    }
    let planned = world.recall(["digest", "--dry-run"]);
    let (ran, meanwhile) = watched(world, &["digest", "--json", "--summarizer", summarizer]);
    assert!(ran.code < 2, "{ran:#?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    assert_eq!(report["sessions_digested"], json!(plots.len()), "{ran:#?}");
    let mut sinks = said("digest", &ran).to_vec();
    sinks.extend(said("digest --dry-run", &planned));
    sinks.extend(meanwhile);
    sinks.extend(asked(world, &plots, summarizer == "extract"));
    sinks.extend(given(&stand_in.calls()));
    sinks.extend(kept(world));
    let exported = world.exported();
    Harvest { planted, sinks, exported, plots }
}

/// What the model says, with a secret of each kind in it.
fn answer(plot: &Plot) -> (String, Vec<Planted>) {
    let mut form = form();
    let mut planted = Vec::new();
    for at in &plot.kinds {
        let sown = sow(*at, &KINDS[*at], Place::Answer);
        let text = format!("The list was mended, and this is what it takes: {}", sown.text);
        match at % TOGETHER {
            0 => form["title"] = json!(format!("Mended with {}", sown.text)),
            1 => form["request"] = json!(text),
            2 => form["learned"][0] = json!(text),
            3 => form["completed"][0] = json!(text),
            4 => form["decisions"][0] = json!({"text": text, "rows": [1]}),
            5 => form["next_steps"][0] = json!({"text": text, "rows": [1]}),
            6 => form["questions"][0] = json!(text),
            7 => form["investigated"][0] = json!(text),
            8 => form["completed"].as_array_mut().expect("a list").push(json!(text)),
            _ => form["blockers"] = json!([{"text": text, "rows": [1]}]),
        }
        planted.push(sown.planted);
    }
    (report(&form, 0.01), planted)
}

/// Everything a person or a program may ask for.
fn asked(world: &World, plots: &[Plot], from_transcripts: bool) -> Vec<Held> {
    let ask = |args: &[&str]| {
        let ran = world.recall(args);
        assert!(ran.code < 2, "{args:?}: {ran:#?}");
        said(args[0], &ran)
    };
    let mut all = Vec::new();
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["export"],
        &["config"],
        &["config", "--json"],
        &["doctor", "--json"],
        &["context", "--cwd", SHOP],
        &["context", "--cwd", SHOP, "--json"],
    ] {
        all.extend(ask(args));
    }
    for word in ["pagination", "rounding", "sorting", "service takes", "log in", "mended", "customers Monday"] {
        all.extend(ask(&["search", "--limit", "1000", word]));
        all.extend(ask(&["search", "--limit", "1000", "--json", word]));
    }
    for (n, plot) in plots.iter().enumerate() {
        let how: &[&str] = [&["show"][..], &["show", "--json"], &["show", "--full"], &["timeline"]][n % 4];
        all.extend(ask(&[how, &[plot.id.as_str()]].concat()));
        all.extend(ask(&["show", "--raw", &plot.id]));
        // Told straight from the transcript, whoever writes the digests.
        if from_transcripts {
            all.extend(said("hook session-start (compact)", &started(world, &plot.id, "compact")));
        }
    }
    let ran = started(world, "5e550000-0000-4000-8000-000000000000", "startup");
    assert!(ran.out.contains("additionalContext"), "{ran:#?}");
    all.extend(said("hook session-start", &ran));
    all
}

/// What a session is told when it starts.
pub fn started(world: &World, session: &str, source: &str) -> Ran {
    let transcript = world.claude_dir().join(format!("projects/{FOLDER}/{session}.jsonl"));
    let payload = json!({"session_id": session, "transcript_path": transcript, "cwd": SHOP, "hook_event_name": "SessionStart",
        "source": source, "permission_mode": "default"});
    world.hook("session-start", payload.to_string())
}

/// Says for every secret whether it is nowhere, or where it is.
fn judge(title: &str, harvest: &Harvest) {
    let leaks = leaks(&harvest.planted, &harvest.sinks);
    println!("{title}");
    print!("{:44}", "kind");
    PLACES.iter().for_each(|place| print!("{place:>10}"));
    println!();
    for kind in KINDS {
        print!("{:44}", kind.name);
        for place in PLACES {
            let at = harvest.planted.iter().position(|one| one.kind == kind.name && one.place == place.to_string());
            print!("{:>10}", at.map_or("-", |at| if leaks.contains_key(&at) { "LEAK" } else { "ok" }));
        }
        println!();
    }
    tell(&harvest.planted, &leaks);
}

/// Names every leak; there must be none.
pub fn tell(planted: &[Planted], leaks: &Leaks) {
    for (at, sinks) in leaks {
        let one = &planted[*at];
        let sinks: Vec<&str> = sinks.iter().map(String::as_str).collect();
        println!("LEAK {} | {} | {} | {}", one.kind, one.place, one.form, sinks.join(", "));
    }
    println!("{} of {} secrets leaked", leaks.len(), planted.len());
    assert!(leaks.is_empty(), "{} of {} secrets leaked", leaks.len(), planted.len());
}

#[test]
fn the_table_has_enough_kinds_and_every_secret_is_another_one() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    let planted: Vec<Planted> = plots().into_iter().flat_map(|plot| plot.planted).collect();
    assert!(names.len() >= 65 && planted.len() >= 320, "{} kinds, {} secrets", names.len(), planted.len());
    assert!(planted.iter().all(|one| !one.parts.is_empty()), "a kind without a secret");
    let mut seen = BTreeSet::new();
    for one in &planted {
        for window in one.parts.iter().flat_map(|part| windows_of(part)) {
            assert!(seen.insert(window.to_lowercase()), "{} in the {} shares {window} with another one", one.kind, one.place);
        }
    }
}

#[test]
fn no_secret_of_any_kind_gets_anywhere_when_the_model_writes_the_digest() {
    judge("by the model", &BY_THE_MODEL);
}

#[test]
fn no_secret_of_any_kind_gets_anywhere_without_a_model() {
    judge("without a model", &BY_OURSELVES);
}

#[test]
fn what_stands_beside_a_secret_stays() {
    for harvest in [&*BY_THE_MODEL, &*BY_OURSELVES] {
        let mut gone = Vec::new();
        for plot in &harvest.plots {
            let session = harvest.exported.iter().find(|s| s["session"] == plot.id.as_str()).expect("the session").to_string();
            let lost =
                |at: &usize| [Place::Prompt, Place::Reply].map(|p| beside(*at, p)).into_iter().find(|b| !session.contains(b));
            gone.extend(plot.kinds.iter().filter_map(|at| lost(at).map(|beside| format!("{}: {beside}", KINDS[*at].name))));
        }
        assert!(gone.is_empty(), "gone with the secret beside it: {gone:#?}");
    }
}
