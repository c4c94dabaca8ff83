use super::*;
use crate::model::author::Author;
use crate::model::item_state::{Closer, Closing, ItemState, ItemStates};
use crate::model::section::{SECTION_COUNT, Section, View};
use crate::render::page::{PaidDigest, SessionPageInput, session_page};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use text::clean::{one_line, without_controls};
use transcripts::session::{Entry, Item, Outcome, Project, RecordKey, ToolUse};

const ID: &str = "77777777-aaaa-4aaa-8aaa-777777777777";

/// What a page is made of, and what could be taken for it.
const PIECES: [&str; 22] = [
    "## Next",
    "- x",
    " *(unverified)*",
    "*(unverified)*",
    "~~",
    "(done)",
    " (done, by the user)",
    "`n12345678`",
    "**Asked** x",
    "# T",
    "---",
    " ← ",
    "; `00000000-0000-0000-0000-000000000002` x",
    "`02020202-0202-0202-0202-020202020202`",
    "&#125;",
    "}",
    "## Notes",
    "\n",
    "…",
    "(asked by the assistant: why?)",
    "\\",
    "session: \"other\"",
];

fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        3 => "[a-z]{1,7} ",
        2 => "[`<>\\[\\]()!#*_~|\\\\&;:=\\-+.$%{} \n]{1,5}",
        1 => "[\u{0}\u{1b}\u{202e}\u{200b}\u{85}\u{2028}\u{a0}]",
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

fn key(n: u8) -> RecordKey {
    RecordKey([n; 16])
}

fn session(said: &[String; 4]) -> Session {
    let entry = |n: u8, item, outcome| Entry { key: key(n), at: Some(1_000 * i64::from(n)), agent: None, item, outcome };
    let tool = ToolUse::new("t", "Bash", &*said[2], None);
    let entries = vec![
        entry(1, Item::Prompt(said[0].clone()), None),
        entry(2, Item::Reply(said[1].clone()), None),
        entry(3, Item::Tool(tool), Some(Outcome { tool: "t".into(), ok: false, brief: said[3].clone() })),
    ];
    Session {
        id: ID.into(),
        project: Project { key: "/home/dev/shop".into() },
        cwd: None,
        branches: Vec::new(),
        versions: Vec::new(),
        end_reason: None,
        client: Default::default(),
        entries,
        evidence: Vec::new(),
        evident: true,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    }
}

fn page(session: &Session, digest: &Digest, items: &ItemStates) -> String {
    let paid = PaidDigest { model: Some("claude-\"x\""), cost_usd: Some(0.0123), is_outdated: false };
    let shown = SessionPageInput {
        session,
        digest,
        digest_id: "d12345678",
        summarizer: "claude",
        paid: Some(paid),
        goes_on: false,
        items,
        overtaken: &[],
        costs: Default::default(),
        costs_by_day: Default::default(),
        repeated_by: None,
        page: "2026-11-20-shop-77777777.md".into(),
    };
    session_page(&shown, &TimeZone::UTC)
}

proptest! {
    #[test]
    fn a_digest_is_read_as_it_was_written(
        said in [words(), words(), words(), words()],
        (title, request) in (words(), words()),
        claims in [(); SECTION_COUNT].map(|()| prop::collection::vec((words(), prop::collection::vec(1u8..5, 1..4)), 0..3)),
        settled in 0usize..3,
    ) {
        let mut digest = Digest { title, request, ..Digest::default() };
        for (section, claims) in Section::all().zip(claims).filter(|(section, _)| section.shown(View::Page).is_some()) {
            digest[section] = claims.into_iter().map(|(text, rows)| Claim::supported(text, rows.into_iter().map(key).collect())).collect();
        }
        // As whatever is stored.
        digest.pass(|text| one_line(&without_controls(text)));
        prop_assume!(digest.texts().skip(1).any(|text| !text.is_empty()));
        let session = session(&said);
        let by = [Author::User, Author::agent("by (done)", Some("64b0b6d9"))];
        let closing = |by: &Author| Closing { by: Closer::Author(by.clone()), at: None, text: String::new() };
        let items = digest.open_items(ID).zip(by.iter().cycle());
        let items = items.map(|((own, ..), by)| ItemState { id: own.clone(), own, since: None, closed: Some(closing(by)) });
        let closed = ItemStates(items.take(settled).collect());
        let written = page(&session, &digest, &closed);
        let read = super::digest(&written, &session).expect("a digest");
        prop_assert_eq!(&read.digest, &digest, "{}", written);
        prop_assert_eq!(&page(&session, &read.digest, &closed), &written);
        let head = (read.id.as_deref(), read.model.as_deref(), read.cost_usd, read.ended_at, read.is_outdated);
        prop_assert_eq!(head, (Some("d12345678"), Some("claude-\"x\""), Some(0.0123), Some(3_000), false));
        let again: Vec<String> = crate::render::page::read::settled(&written, ID).into_iter().map(|item| item.id).collect();
        let mut ids: Vec<&String> = closed.0.iter().map(|item| &item.id).collect();
        // Blockers stand above next steps, and the same item twice is struck through twice.
        ids.retain(|id| again.contains(id));
        prop_assert_eq!(ids.len(), closed.0.len(), "{}", written);
        prop_assert!(again.iter().all(|id| closed.0.iter().any(|item| item.id == *id)), "{}", written);
    }
}

const EDITED: &str =
    "---\nsession: \"s\"\ndigest: d1\nsummarizer: claude\nproject: \"/p\"\nended: 2026-11-20T10:00:00+01:00\n---\n\n# Retries\n
My own line.\n\n**Asked** Retry *once*\n\n## Done\n\n- one\n* no item of ours\n- \n\n  - nor this\n\n## Mine\n\n- not theirs\n
## Next\n\n- without an id\n- reworded by me `n00000000`\n- ~~Done with *(unverified)*~~ (done, by the user) `n00000001`\n
## Evidence\n\n- reworded by ← `not-a-key` x\n\n## Notes\n\n## Learned\n\n- mine\n";

#[test]
fn of_a_page_that_was_edited_what_is_in_our_form_is_read() {
    let session = Session { id: "s".into(), ..session(&Default::default()) };
    for page in [EDITED.to_owned(), EDITED.replace('\n', "\r\n")] {
        let read = super::digest(&page, &session).expect("a digest");
        let wanted = Digest { title: "Retries".into(), request: "Retry *once*".into(), ..Digest::default() }
            .with(Section::Completed, [Claim::new("one")])
            .with(Section::NextSteps, ["reworded by me", "Done with"].map(Claim::new));
        assert_eq!(read.digest, wanted);
        assert_eq!((read.cost_usd, read.model.as_deref()), (None, None));
        let ended = read.ended_at.expect("a time");
        assert!(!read.lacks(Some(ended + 999)) && read.lacks(Some(ended + 1000)) && !read.lacks(None));
    }
}

#[test]
fn a_page_without_a_digest_holds_none() {
    let link = "---\nsession: \"s\"\n---\n\n# Retries\n\nAlmost the same as a later session ([2026-11-20](../../x.md)). Full text: `recall show s --full`\n";
    for page in ["", "# T\n", "---\n---\n", "---\nsession: \"s\"\n---\n\n# T\n\n## Notes\n\n## Done\n\n- mine\n", link] {
        assert!(!holds_digest(page, "s"), "{page}");
    }
    for head in ["digest_cost_usd: 1e308\nended: soon\n", "interim: true\n", "digest_outdated: true\n"] {
        let read = super::digest(&EDITED.replace("summarizer", &format!("{head}summarizer")), &session(&Default::default()));
        let read = read.expect("a digest");
        assert!(read.cost_usd.is_none() && read.lacks(Some(0)), "{head}");
    }
}
