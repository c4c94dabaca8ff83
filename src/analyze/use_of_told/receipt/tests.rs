//! Made scenes: what a note or a rule told, what the user then said, and what was run.

use serde::Deserialize;

use super::{Receipt, is_same_check};
use crate::analyze::account::SessionAccount;
use crate::analyze::use_of_told::names_in;
use text::clean::one_line;
use transcripts::session::REFUSED;
use transcripts::session::{
    Entry, Evidence, Item, Millis, Outcome, PlacedEvidence, Project, RecordKey, Session, ShellStep, StepKind, ToolUse,
};

#[derive(Deserialize)]
struct Scene {
    told: String,
    /// `note` or `rule`.
    by: String,
    /// Prompts, one a turn; all that was run was run behind the first.
    said: Vec<String>,
    ran: Vec<String>,
    passed_over: Vec<String>,
    again: bool,
}

impl Scene {
    fn receipt(&self) -> Receipt {
        SessionAccount::of(&self.session(), false).receipt.expect("a receipt")
    }

    fn session(&self) -> Session {
        let line = match self.by.as_str() {
            "rule" => format!("- r00000001 the user said in 3 sessions, last 3 Nov: “{}”", self.told),
            _ => format!("- m00000001 convention: {} (note, 3 Nov)", self.told),
        };
        let told = PlacedEvidence {
            key: RecordKey([0; 16]),
            at: Some(0),
            agent: None,
            after: 0,
            evidence: Evidence::Told(names_in(&line)),
        };
        let prompts = self.said.iter().map(|said| Item::Prompt(said.clone()));
        let ran =
            self.ran.iter().enumerate().map(|(n, line)| Item::Tool(ToolUse::new(format!("t{n}"), "Bash", one_line(line), None)));
        let mut items: Vec<Item> = prompts.collect();
        items.splice(1..1, ran);
        items.push(Item::Reply("So it is.".into()));
        let entry = |(n, item)| Entry {
            key: RecordKey((n as u128 + 1).to_be_bytes()),
            at: Some((n as Millis + 1) * 1_000),
            agent: None,
            item,
            outcome: None,
        };
        Session {
            id: "s".into(),
            project: Project { key: "/r".into() },
            cwd: Some("/r".into()),
            branches: Vec::new(),
            versions: Vec::new(),
            end_reason: None,
            client: Default::default(),
            entries: items.into_iter().enumerate().map(entry).collect(),
            evidence: vec![told],
            evident: true,
            usage: Default::default(),
            agents: 0,
            left_out: Default::default(),
            told: None,
            otherwise_at: 0,
        }
    }
}

/// How many accusations are right, are missing and are false.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    right: usize,
    missing: usize,
    wrong: usize,
}

/// Of warnings and of corrections, with the scenes that came out otherwise.
fn score(scenes: &str) -> (Score, Score, Vec<String>) {
    let mut others = Vec::new();
    let (mut warnings, mut corrections) = (Score::default(), Score::default());
    for scene in scenes.lines() {
        let scene: Scene = serde_json::from_str(scene).expect("a scene");
        let receipt = scene.receipt();
        let repeated = !receipt.repeated.is_empty();
        if receipt.passed_over != scene.passed_over || repeated != scene.again {
            others.push(format!("{} {:?}: {:?} {repeated}", scene.told, scene.ran, receipt.passed_over));
        }
        let right = receipt.passed_over.iter().filter(|one| scene.passed_over.contains(one)).count();
        warnings.right += right;
        warnings.missing += scene.passed_over.len() - right;
        warnings.wrong += receipt.passed_over.len() - right;
        corrections.right += usize::from(repeated && scene.again);
        corrections.missing += usize::from(!repeated && scene.again);
        corrections.wrong += usize::from(repeated && !scene.again);
    }
    (warnings, corrections, others)
}

#[test]
fn of_made_scenes_no_accusation_is_false_and_most_are_made() {
    let (warnings, corrections, others) = score(include_str!("../../../../fixtures/warnings-1.jsonl"));
    assert_eq!((warnings.wrong, corrections.wrong), (0, 0), "{others:#?}");
    assert_eq!((warnings.missing, corrections.missing), (0, 0), "{others:#?}");
}

/// What never ran, and what a subagent ran that was told nothing, is no fault.
#[test]
fn only_what_the_assistant_was_seen_to_run_is_passed_over() {
    let scene = include_str!("../../../../fixtures/warnings-1.jsonl")
        .lines()
        .chain(include_str!("../../../../fixtures/warnings-2.jsonl").lines());
    let mut scenes = scene.map(|scene| serde_json::from_str::<Scene>(scene).expect("a scene"));
    let scene = scenes.find(|scene| scene.ran == ["npm install"] && scene.passed_over == ["npm"]).expect("such a scene");
    let passed_over = |change: &dyn Fn(&mut Session)| {
        let mut session = scene.session();
        change(&mut session);
        SessionAccount::of(&session, false).receipt.expect("a receipt").passed_over
    };
    let run = |session: &Session| session.entries.iter().position(|entry| matches!(entry.item, Item::Tool(_))).expect("a run");
    let ended = |session: &mut Session, ok: bool, brief: &str| {
        let at = run(session);
        session.entries[at].outcome = Some(Outcome { tool: "t0".into(), ok, brief: brief.into() });
    };
    assert_eq!(passed_over(&|_| {}), ["npm"]);
    assert_eq!(passed_over(&|session| ended(session, false, "npm error code E404")), ["npm"], "it ran and failed");
    assert_eq!(passed_over(&|session| ended(session, false, REFUSED)), [""; 0]);
    assert_eq!(passed_over(&|session| session.entries.truncate(run(session) + 1)), [""; 0], "cut off");
    let by_subagent = |session: &mut Session| {
        let at = run(session);
        session.entries[at].agent = Some("a1".into());
    };
    assert_eq!(passed_over(&by_subagent), [""; 0]);
    assert_eq!(passed_over(&|session| session.evidence[0].after = session.entries.len()), [""; 0], "told after it");
}

/// The half that a coin held out before the rules were written.
#[test]
fn of_scenes_held_out_no_accusation_is_false() {
    let (warnings, corrections, others) = score(include_str!("../../../../fixtures/warnings-2.jsonl"));
    assert_eq!((warnings.wrong, corrections.wrong), (0, 0), "{others:#?}");
    assert_eq!((warnings.right, corrections.right), (9, 2), "{others:#?}");
}

#[test]
fn a_check_is_the_told_one_on_what_it_was_told_to_be_run_on_a_part_of_that_or_more() {
    let step = |line: &str| ShellStep {
        kind: StepKind::Check,
        line: line.into(),
        message: String::new(),
        masked: false,
        needed: false,
        folder: String::new(),
    };
    for (told, ran, same) in [
        ("pytest tests/test_orders.py", "pytest tests/test_orders.py -q", true),
        ("pytest tests/test_orders.py", "pytest tests/test_users.py", false),
        ("pytest tests/test_orders.py", "pytest", true),
        ("pytest tests/api", "pytest ./tests/api/test_users.py", true),
        ("pytest tests/a.py", "pytest tests/a.py::test_one", true),
        ("pytest tests/a.py::test_one", "pytest tests/a.py::test_two", false),
        ("cargo test -p core", "cargo test --locked -p cli", false),
        ("cargo test", "RUST_LOG=1 cargo test -p cli", true),
        ("go test ./orders/...", "go test ./users/...", false),
        ("go test ./...", "go test ./users/...", true),
        ("npm run lint", "npm run build", false),
    ] {
        assert_eq!(is_same_check(told, &step(ran)), same, "{told} | {ran}");
    }
}
