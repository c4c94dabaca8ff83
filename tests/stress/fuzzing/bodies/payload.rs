//! Hook payloads: what is taken for Claude Code's names a session that can be a file's name, and a transcript below a folder of ours.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use recall::testing::hook::payload::{Event, Payload};
use recall::testing::source::mark::Mark;

static DIRS: LazyLock<[PathBuf; 2]> = LazyLock::new(|| ["/home/dev/.claude".into(), "/home/dev/.config/claude".into()]);
const EVENTS: [Event; 7] = [
    Event::SessionStart,
    Event::UserPromptSubmit,
    Event::SessionEnd,
    Event::PreCompact,
    Event::PostCompact,
    Event::Stop,
    Event::SubagentStop,
];

pub fn check(data: &[u8]) {
    let name = String::from_utf8_lossy(data);
    assert!(Event::from_name(&name).is_none_or(|event| event.name() == name));
    let Ok(payload) = Payload::read(data) else { return };
    let parsed: serde_json::Value =
        serde_json::from_slice(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)).expect("what is read is JSON");
    assert!(parsed.is_object());
    assert!(payload.reason.len() <= 40 && payload.reason.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
    let ours: Vec<Event> = EVENTS.into_iter().filter(|event| payload.is_claude_codes(*event, &*DIRS)).collect();
    assert!(ours.len() <= 1, "a payload is of one event: {ours:?}");
    if let Some(event) = ours.first() {
        is_safe(&payload);
        let mark = Mark {
            session: payload.session.clone(),
            transcript: payload.transcript.display().to_string(),
            offset: 0,
            event: event.name().to_owned(),
            reason: payload.reason.clone(),
            at: 0,
        };
        let bytes = serde_json::to_vec(&mark).expect("a mark is JSON");
        assert_eq!(serde_json::from_slice::<Mark>(&bytes).expect("it is read again"), mark);
    }
}

fn is_safe(payload: &Payload) {
    let id = &payload.session;
    assert!((1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{id:?}");
    let path: &Path = &payload.transcript;
    assert!(path.components().all(|part| part != Component::ParentDir), "{path:?}");
    let below = DIRS.iter().find_map(|dir| path.strip_prefix(dir).ok()).unwrap_or_else(|| panic!("{path:?}"));
    let names: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    assert!(names.len() == 3 && names[0] == "projects" && names[2] == format!("{id}.jsonl"), "{path:?}");
}
