//! What a summary leaves out is found by its words, names and numbers; what it may say in other words is not told again.

use super::*;
use transcripts::session::{Evidence, FileTouch, Outcome, Project, ShellPrint, ShellRun, ShellStep, StepKind};
use transcripts::session::{OmittedItems, RecordKey};

/// Entries and evidence of a conversation, a minute apart.
#[derive(Default)]
struct Talk {
    entries: Vec<Entry>,
    evidence: Vec<PlacedEvidence>,
}

const MINUTE: Millis = 60_000;

impl Talk {
    fn now(&self) -> Millis {
        1_795_000_000_000 + self.entries.len() as Millis * MINUTE
    }

    fn item(mut self, item: Item) -> Self {
        let key = RecordKey([self.entries.len() as u8; 16]);
        self.entries.push(Entry { key, at: Some(self.now()), agent: None, item, outcome: None });
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.item(Item::Prompt(text.into())).item(Item::Reply("Done as asked.".into()))
    }

    fn recap(self, text: &str) -> Self {
        self.item(Item::Recap(text.into()))
    }

    fn edit(self, path: &str) -> Self {
        let file = FileTouch { path: format!("/shop/{path}"), how: Touch::Edited, added: 1, removed: 0 };
        self.item(Item::Tool(ToolUse::new(path, "Edit", path, Some(file))))
    }

    fn check(mut self, line: &str, ok: bool) -> Self {
        let (tool, at, after) = (format!("t{}", self.entries.len()), Some(self.now()), self.entries.len());
        let step = ShellStep {
            kind: StepKind::Check,
            line: line.into(),
            message: String::new(),
            masked: false,
            needed: false,
            folder: String::new(),
        };
        let print = ShellPrint { tool: tool.clone(), ok, results: vec!["4 passed".into()], of: 1, ..ShellPrint::default() };
        self = self.item(Item::Tool(ToolUse::new(tool.clone(), "Bash", line, None)));
        let last = self.entries.len() - 1;
        self.entries[last].outcome = Some(Outcome { tool: tool.clone(), ok, brief: String::new() });
        for evidence in [Evidence::Ran(ShellRun { tool, steps: vec![step], cwd: None, branch: None }), Evidence::Printed(print)] {
            self.evidence.push(PlacedEvidence { key: RecordKey([9; 16]), at, agent: None, after, evidence });
        }
        self
    }

    fn session(self) -> Session {
        Session {
            id: "s".into(),
            project: Project { key: "/shop".into() },
            cwd: Some("/shop".into()),
            branches: vec![],
            versions: vec![],
            end_reason: None,
            client: Default::default(),
            entries: self.entries,
            evidence: self.evidence,
            evident: true,
            usage: Default::default(),
            agents: 0,
            left_out: OmittedItems::default(),
            told: None,
            otherwise_at: 0,
        }
    }

    /// What the last summary lacks: kind, turn, text.
    fn dropped(self) -> Vec<(QuoteKind, usize, String)> {
        let quotes = last_compaction(&self.session()).expect("a compaction").lacking.expect("a whole summary");
        quotes.into_iter().map(|quote| (quote.kind, quote.turn, quote.text)).collect()
    }
}

const SUMMARY: &str = "1. Primary Request:\n   The user wants the monthly report to agree with the invoices.\n\
    2. Files:\n   - `shop/report.py`: sums the invoices, 19 % VAT\n\
    3. All user messages:\n   - The report must not call the tax service\n   - Tests run with `python3 -m unittest`";

#[test]
fn what_the_user_demanded_is_quoted_with_its_turn_if_the_summary_lacks_it() {
    let talk = Talk::default()
        .prompt("Make the report agree with the invoices.")
        .prompt("Don't touch the archived statements of customers, please. Why is the list so slow?")
        .prompt("ok, go on")
        .recap(SUMMARY);
    assert_eq!(
        talk.dropped(),
        [(QuoteKind::Constraint, 2, "Don't touch the archived statements of customers, please.".to_owned())]
    );
}

#[test]
fn what_the_summary_says_in_other_words_is_not_told_again() {
    for said in [
        "The report should never call the tax service",
        "Always run the tests with `python3 -m unittest`, please",
        "You must keep 19 % as the VAT of the invoices in the report",
        "only change shop/report.py for the invoices",
    ] {
        assert_eq!(Talk::default().prompt(said).recap(SUMMARY).dropped(), [], "{said}");
    }
}

#[test]
fn names_code_and_numbers_that_are_missing_count_more_than_words_that_are_there() {
    for said in [
        "The report must not call `round_half` for the invoices",
        "Don't let the report run longer than 250 seconds on the invoices",
        "The invoices must stay with Lexware for the report",
    ] {
        let told = Talk::default().prompt(said).recap(SUMMARY).dropped();
        assert!(told.len() == 1 && told[0].0 == QuoteKind::Constraint, "{said}: {told:?}");
    }
    let told = Talk::default().prompt("we have 4800 customers in the archive").recap(SUMMARY).dropped();
    assert_eq!(told, [(QuoteKind::Number, 1, "we have 4800 customers in the archive".to_owned())]);
}

#[test]
fn chatter_questions_and_what_was_pasted_are_no_agreement() {
    let log = "INFO worker=3 took=4500 ms\n4 files changed, 120 insertions(+)\nnever retry the archive worker";
    for said in ["continue", "yes, only that", "Should the archive never be cleaned?", "I don't know the archive", log] {
        let told = Talk::default().prompt(said).recap(SUMMARY).dropped();
        assert!(told.iter().all(|(_, _, text)| text.starts_with("never retry")), "{said}: {told:?}");
    }
    let pasted = format!("The archive must be cleaned. {}", "It was said at length that nobody reads it. ".repeat(40));
    assert_eq!(Talk::default().prompt(&pasted).recap(SUMMARY).dropped(), []);
}

#[test]
fn what_the_user_took_back_later_is_not_told() {
    let talk = Talk::default().prompt("Always archive customers weekly.").prompt("Never archive customers weekly.").recap(SUMMARY);
    assert_eq!(talk.dropped(), [(QuoteKind::Constraint, 2, "Never archive customers weekly.".to_owned())]);
}

#[test]
fn answers_are_told_with_what_was_asked_and_refusals_as_they_were_said() {
    let answer = |said: &str, asked: &str| Item::Answer(Answer { said: said.into(), asked: asked.into() });
    let talk = Talk::default()
        .prompt("Store the sessions.")
        .item(answer("Keyset", "Which pagination for archived customers?"))
        .item(answer("look at the ledger of customers first", ""))
        .recap(SUMMARY);
    assert_eq!(
        talk.dropped(),
        [
            (QuoteKind::Constraint, 1, "look at the ledger of customers first".to_owned()),
            (QuoteKind::Decision, 1, "Keyset (asked by the assistant: Which pagination for archived customers?)".to_owned()),
        ]
    );
}

#[test]
fn checks_that_ended_well_and_files_without_a_commit_come_last() {
    let talk = Talk::default()
        .prompt("Go.")
        .edit("shop/report.py")
        .edit("shop/ledger.py")
        .check("cargo test --locked --workspace", true)
        .check("cargo clippy --all-targets", false)
        .check("python3 -m unittest", true)
        .recap(SUMMARY);
    assert_eq!(
        talk.dropped(),
        [(QuoteKind::Command, 1, "cargo test --locked --workspace".to_owned()), (QuoteKind::File, 1, "shop/ledger.py".to_owned()),]
    );
    let once = Talk::default().prompt("Go.").check("cargo test --locked -- parses::empty", true).recap(SUMMARY);
    assert_eq!(once.dropped(), [], "some tests by their names");
}

#[test]
fn each_quote_is_told_of_the_first_compaction_that_dropped_it() {
    let session = Talk::default()
        .prompt("Never archive customers weekly.")
        .edit("shop/ledger.py")
        .recap(SUMMARY)
        .prompt("Tests must use the fake clock.")
        .recap(SUMMARY)
        .session();
    let told: Vec<Vec<String>> =
        compactions(&session).into_iter().map(|one| one.lacking.unwrap().into_iter().map(|quote| quote.text).collect()).collect();
    assert_eq!(told, [vec!["Never archive customers weekly.", "shop/ledger.py"], vec!["Tests must use the fake clock."]]);
    // The session itself lacks both sentences now.
    let last = last_compaction(&session).unwrap().lacking.unwrap();
    assert_eq!(last.len(), 2, "{last:?}");
}

#[test]
fn of_a_summary_that_was_cut_nothing_is_known() {
    let cut = text::clean::head_and_tail(&SUMMARY.repeat(40), 8_000);
    let session = Talk::default().prompt("Never archive customers weekly.").recap(&cut).session();
    assert_eq!(last_compaction(&session).map(|one| one.lacking), Some(None));
    assert_eq!(last_recap(&Talk::default().prompt("Go.").session()), None);
}
