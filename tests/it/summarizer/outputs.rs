//! All places where words of a model come out again, and what they must never do there.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use regex::Regex;
use serde_json::{Value, json};

use crate::support::invisible;
use crate::support::mcp_client::Peer;
use crate::support::{Ran, World, strings};

/// A character that acts on a terminal or a viewer, or hides what it shows.
pub fn acts(c: char) -> bool {
    invisible::acts(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

pub fn is_harmless(what: &str, text: &str) {
    if let Some(c) = text.chars().find(|c| acts(*c)) {
        panic!("{what} holds {c:?}: {text:?}");
    }
}

/// What the program says: as it is for people, its strings for programs.
pub fn is_said(what: &str, ran: &Ran) {
    assert!(ran.code == 0 || ran.code == 1, "{what}: {ran:#?}");
    is_harmless(what, &ran.out);
    is_harmless(what, &ran.err);
    assert!(!ran.err.contains("panicked"), "{what}: {ran:#?}");
}

/// The database is whole and no text of a digest in it acts.
pub fn database_is_sound(world: &World) {
    let found: String = world.database().query_row("PRAGMA integrity_check", [], |r| r.get(0)).expect("a check");
    assert_eq!(found, "ok");
    assert_eq!(world.count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(
        world.count(
            "SELECT count(*) FROM session s WHERE (SELECT count(*) FROM digest WHERE session = s.pk AND superseded = 0) <> 1"
        ),
        0,
        "every session has one digest"
    );
}

/// What a line shows outside of its code spans; escaped characters are taken out.
fn outside_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let run = rest.bytes().take_while(|b| *b == b'`').count();
        if c == '\\' {
            let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
            rest = &rest[1 + escaped..];
        } else if run > 0 {
            let fence = "`".repeat(run);
            let end = rest[run..]
                .match_indices(&fence)
                .map(|(at, _)| run + at)
                .find(|at| !rest[..*at].ends_with('`') && !rest[at + run..].starts_with('`'));
            let end = end.unwrap_or_else(|| panic!("a code span without an end: {line}"));
            rest = &rest[end + run..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The headings of our own; all that stands behind them is ours or a title.
const HEADINGS: [&str; 16] = [
    "## Where it ended", "## Open", "## Done", "## Decisions", "## Learned", "## Looked into", "## Blockers", "## Next",
    "## Turn by turn", "## Commits that stood at the end", "## Pull requests", "## Last runs", "## Files", "## Evidence",
    "## Tokens", "## Resume",
];

/// A line without the links of our own: to a session's page, to a later session that says the same, and those at the foot of a page.
fn without_our_links(line: &str) -> String {
    if is_foot(line) {
        return String::new();
    }
    let day = |text: &str| text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let path = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b));
    let ours = line.split_once("[session page](").map(|(_, rest)| ("session page", rest)).or_else(|| {
        let (text, rest) = line.strip_prefix("Almost the same as a later session ([")?.split_once("](")?;
        day(text).then_some((text, rest))
    });
    let link = ours.and_then(|(text, rest)| Some((text, rest.split_once(')')?.0))).filter(|(_, to)| path(to));
    link.map_or_else(|| line.to_owned(), |(text, to)| line.replacen(&format!("[{text}]({to})"), "", 1))
}

/// Links to days and to the list of them, and nothing else.
fn is_foot(line: &str) -> bool {
    static FOOT: LazyLock<Regex> = LazyLock::new(|| {
        let day = r"\[\w+day, \d{1,2} \w+ \d{4}\]\(\.\./(?:\d{4}-\d\d/)?\d{4}-\d\d-\d\d\.md\)";
        Regex::new(&format!(r"^(?:← {day}|(?:← {day} · )?\[all days\]\(\.\./\.\./pages\.md\)(?: · {day} →)?)$")).expect("a pattern")
    });
    FOOT.is_match(line)
}

/// A page is what we make of it: no markup, no link, no block of anybody else's.
pub fn page_is_ours(name: &str, page: &str) {
    is_harmless(name, page);
    let body = page.split_once("\n---\n").unwrap_or_else(|| panic!("{name}: no front matter: {page}")).1;
    let shell = body.find("\n```sh\n").unwrap_or(body.len());
    let (said, resume) = body.split_at(shell);
    let below = resume.lines().skip(4).filter(|line| !line.is_empty());
    assert!(
        resume.is_empty() || below.clone().count() == 1 && below.clone().all(is_foot),
        "{name}: one fence with one command: {resume}"
    );
    let mut titles = 0;
    for line in said.lines() {
        let shown = outside_code(&without_our_links(line));
        assert!(!shown.contains('<') && !shown.contains("]("), "{name}: {line}");
        assert!(!shown.contains('['), "{name}: {line}");
        if line.starts_with("# ") {
            titles += 1;
        } else if line.starts_with('#') {
            let known = HEADINGS.contains(&line) || line.starts_with("### ") || line == "## blog";
            assert!(known && (!line.starts_with("### ") || !name.contains("/sessions/")), "{name}: {line}");
        } else if !line.is_empty() {
            let starts = [
                "- ", "  - ", "**", "`", "*So far", "*What you said, ", "*A model chose ", "Claude's last reply (",
                "The longer reply before it (", ">", "Almost the same as a later session ([",
            ];
            let span = line.starts_with(|c: char| c.is_ascii_digit()) && !name.contains("/sessions/");
            assert!(span || is_foot(line) || starts.iter().any(|start| line.starts_with(start)), "{name}: {line}");
        }
    }
    assert_eq!(titles, 1, "{name}: {page}");
}

/// Letters and opening brackets only, as somebody may read them who looks past the rest.
fn spelled(text: &str) -> String {
    static OPENER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)&(?:lt|#0*60|#x0*3c);?|\\u003c|[＜﹤]").expect("a pattern"));
    OPENER.replace_all(text, "<").chars().filter(|c| c.is_alphanumeric() || *c == '<').flat_map(char::to_lowercase).collect()
}

/// What Claude is told stands in one frame, and nothing in it opens or closes one.
pub fn frame_is_whole(told: &str) {
    is_harmless("the injection", told);
    assert!(told.starts_with("<recall-context>\n") && told.ends_with("\n</recall-context>\n"), "{told}");
    let spelled = spelled(told);
    assert_eq!(spelled.matches("<recallcontext").count(), 2, "{told}");
    assert!(!spelled.contains("<systemreminder"), "{told}");
}

/// What a new session in this folder is told. The same session would be told nothing a second time.
pub fn injected(world: &World, cwd: &str) -> String {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let session = format!("55551111-aaaa-4aaa-8aaa-{:012}", STARTED.fetch_add(1, Ordering::Relaxed));
    let payload = json!({
        "session_id": session, "transcript_path": world.claude_dir().join(format!("projects/-home-dev-src-blog/{session}.jsonl")),
        "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup",
    });
    let ran = world.hook("session-start", payload.to_string());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_owned()
}

pub fn no_string_acts(what: &str, value: &Value) {
    let mut all = Vec::new();
    strings(value, &mut all);
    all.iter().for_each(|text| is_harmless(what, text));
}

/// Looks at everything there is to see of these sessions.
pub fn nothing_acts(world: &World, cwd: &str, sessions: &[String]) {
    database_is_sound(world);
    for (name, page) in world.pages() {
        page_is_ours(&name, &page);
    }
    frame_is_whole(&injected(world, cwd));
    is_said("context", &world.recall(["context", "--cwd", cwd]));
    is_said("status", &world.recall(["status"]));
    is_said("search", &world.recall(["search", "zebra", "--limit", "100"]));
    for session in sessions {
        is_said("show", &world.recall(["show", session]));
        is_said("timeline", &world.recall(["timeline", session]));
        no_string_acts("show --json", &world.show(session));
    }
    over_mcp(world, sessions);
}

fn over_mcp(world: &World, sessions: &[String]) {
    let mut peer = Peer::greet(world);
    let (found, text) = peer.call("search", json!({"query": "zebra", "limit": 50}));
    let mut all = vec![text];
    strings(&found, &mut all);
    for some in sessions.chunks(5) {
        let (value, text) = peer.call("get", json!({"ids": some}));
        all.push(text);
        strings(&value, &mut all);
    }
    for text in all {
        is_harmless("an answer over MCP", &text);
        assert!(!spelled(&text).contains("<recallcontext"), "{text}");
    }
    assert_eq!(peer.leave().err, "");
}
