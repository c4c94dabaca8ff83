//! Merges repeated entries of a session: compactions, resumes, repeated prompts, and subagents all repeat what was said.
//!
//! Pure, and a function of the entries in their order: the result does not depend on the slices in which a transcript was read. Each
//! distinct entry keeps the keys of all its occurrences, so that all of them can be cited.

use std::collections::HashMap;

use crate::analyze::signal::{MemoryKind, Signal, Tier, signal_of};
use transcripts::session::{Entry, Item, Outcome, RecordKey, Session, ToolUse, Touch};

/// An entry with all its occurrences.
#[derive(Debug, Clone)]
pub(crate) struct DistinctEntry<'s> {
    /// Index in the session of the occurrence that is kept.
    pub(crate) at: usize,
    pub(crate) entry: &'s Entry,
    pub(crate) signal: Signal,
    /// The record keys of all occurrences, in order.
    pub(crate) rows: Vec<RecordKey>,
}

impl DistinctEntry<'_> {
    pub(crate) fn times(&self) -> usize {
        self.rows.len()
    }
}

/// Which occurrence is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeptOccurrence {
    /// For requests and reads, the first.
    First,
    /// For statements and results, the latest.
    Last,
}

/// The distinct entries of a session, in order. Searches and the client's bookkeeping are left out; of reading a file, only the fact that
/// it was read remains.
pub(crate) fn distinct_entries(session: &Session) -> Vec<DistinctEntry<'_>> {
    let mut all: Vec<DistinctEntry<'_>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let signal = signal_of(entry);
        if !is_worth_keeping(entry, &signal) {
            continue;
        }
        let (hash, stays) = identity(entry);
        match hash.and_then(|hash| known.get(&hash).copied()) {
            Some(place) => {
                let kept = &mut all[place];
                kept.rows.push(entry.key);
                // A subagent's entries come after those of the main conversation, which reports what it said: keep the parent's.
                if stays == KeptOccurrence::Last && (entry.is_main() || !kept.entry.is_main()) {
                    (kept.at, kept.entry, kept.signal) = (at, entry, signal);
                }
            }
            None => {
                known.extend(hash.map(|hash| (hash, all.len())));
                all.push(DistinctEntry { at, entry, signal, rows: vec![entry.key] });
            }
        }
    }
    all.sort_by_key(|d| d.at);
    all
}

/// Is it worth remembering, that is, more than a search or bookkeeping?
fn is_worth_keeping(entry: &Entry, signal: &Signal) -> bool {
    match (&entry.item, signal.kind) {
        (Item::Tool(ToolUse { file: Some(_), .. }), _) => true,
        (Item::Tool(_), MemoryKind::Consulted | MemoryKind::Chatter) => signal.tier() > Tier::Weak,
        _ => true,
    }
}

/// The hash by which entries are equal, and which occurrence to keep. `None` means unique: two edits of a file are two entries.
fn identity(entry: &Entry) -> (Option<u64>, KeptOccurrence) {
    match &entry.item {
        Item::Prompt(text) => (text_hash("prompt", text), KeptOccurrence::First),
        Item::Answer(answer) => (text_hash("answer", &answer.whole()), KeptOccurrence::Last),
        Item::Reply(text) | Item::Away(text) => (text_hash("reply", text), KeptOccurrence::Last),
        Item::Plan(text) if entry.is_refused_plan() => (text_hash("refused plan", text), KeptOccurrence::Last),
        Item::Plan(text) => (text_hash("plan", text), KeptOccurrence::Last),
        Item::Recap(text) => (text_hash("recap", text), KeptOccurrence::Last),
        Item::PullRequest(url) => (text_hash("pull request", url), KeptOccurrence::First),
        Item::Tool(tool) => tool_identity(tool, entry.outcome.as_ref()),
        Item::Outcome(_) | Item::Todos(_) | Item::Task(_) | Item::Title(_) | Item::Interrupted | Item::Evidence(_) => {
            (None, KeptOccurrence::Last)
        }
    }
}

fn tool_identity(tool: &ToolUse, outcome: Option<&Outcome>) -> (Option<u64>, KeptOccurrence) {
    match &tool.file {
        Some(file) if file.how == Touch::Read => (Some(hash(&["read", &file.path])), KeptOccurrence::First),
        Some(_) => (None, KeptOccurrence::Last),
        // A plan's own tool use says whether the plan was approved.
        None if tool.line.is_empty() || tool.line == "plan" => (None, KeptOccurrence::Last),
        None => {
            let (ok, brief) = outcome.map_or((true, String::new()), |o| (o.ok, without_times(&o.brief)));
            let command = text::clean::one_line(&tool.line);
            (Some(hash(&["tool", &tool.name, &command, if ok { "ok" } else { "failed" }, &brief])), KeptOccurrence::Last)
        }
    }
}

/// The brief without durations, which differ between runs with the same outcome.
fn without_times(brief: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let number = word.trim_end_matches(['m', 's']);
        number.len() < word.len() && number.parse::<f64>().is_ok()
    };
    brief.split_whitespace().filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ")
}

fn text_hash(kind: &str, text: &str) -> Option<u64> {
    let normal = normalized(text);
    (!normal.is_empty()).then(|| hash(&[kind, &normal]))
}

/// The normal form for comparing texts: lower-case words joined by spaces, without punctuation and markup.
pub(crate) fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

fn hash(parts: &[&str]) -> u64 {
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let mut first = [0; 8];
    first.copy_from_slice(&transcripts::session::hash_parts(&bytes)[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use transcripts::session::{FileTouch, Project};

    fn session(items: Vec<(Item, Option<Outcome>)>) -> Session {
        let entry = |(at, (item, outcome)): (usize, (Item, Option<Outcome>))| Entry {
            key: RecordKey([at as u8; 16]),
            at: Some(at as i64),
            agent: None,
            item,
            outcome,
        };
        Session {
            id: "s".into(),
            project: Project { key: "/r".into() },
            cwd: None,
            branches: vec![],
            versions: vec![],
            end_reason: None,
            client: Default::default(),
            entries: items.into_iter().enumerate().map(entry).collect(),
            evidence: Vec::new(),
            evident: true,
            usage: Default::default(),
            agents: 0,
            left_out: Default::default(),
            told: None,
            otherwise_at: 0,
        }
    }

    fn prompt(text: &str) -> (Item, Option<Outcome>) {
        (Item::Prompt(text.into()), None)
    }

    fn reply(text: &str) -> (Item, Option<Outcome>) {
        (Item::Reply(text.into()), None)
    }

    fn bash(line: &str, ok: bool, brief: &str) -> (Item, Option<Outcome>) {
        let tool = ToolUse::new("", "Bash", line, None);
        (Item::Tool(tool), Some(Outcome { tool: String::new(), ok, brief: brief.into() }))
    }

    fn read(path: &str) -> (Item, Option<Outcome>) {
        let file = FileTouch { path: path.into(), how: Touch::Read, added: 0, removed: 0 };
        (Item::Tool(ToolUse::new("", "Read", path, Some(file))), None)
    }

    /// The indexes kept, with the number of occurrences of each.
    fn kept(items: Vec<(Item, Option<Outcome>)>) -> Vec<(usize, usize)> {
        distinct_entries(&session(items)).iter().map(|d| (d.at, d.times())).collect()
    }

    #[test]
    fn the_first_request_and_the_last_state_stay() {
        let said = vec![
            prompt("Fix the **export**."),
            reply("It's done."),
            prompt("fix the export"),
            reply("It`s done"),
            prompt("thanks"),
        ];
        assert_eq!(kept(said), [(0, 2), (3, 2), (4, 1)]);
    }

    #[test]
    fn a_command_is_told_once_for_each_way_it_ended() {
        let runs = vec![
            bash("cargo test", false, "2 failed in 0.31s"),
            bash("cargo test", false, "2 failed in 0.29s"),
            bash("cargo test", true, "12 passed"),
            bash("cargo test", false, "2 failed in 1.02s"),
        ];
        assert_eq!(kept(runs), [(2, 1), (3, 3)]);
    }

    #[test]
    fn a_file_is_read_once_and_searches_are_gone() {
        let mut looked = vec![read("/r/a.rs"), read("/r/b.rs"), read("/r/a.rs"), bash("grep -rn foo src | head", true, "")];
        looked.push((Item::Tool(ToolUse::new("", "Grep", "foo", None)), None));
        assert_eq!(kept(looked), [(0, 2), (1, 1)]);
    }

    #[test]
    fn what_has_no_words_is_like_nothing_else() {
        assert_eq!(kept(vec![prompt("👍"), prompt("👎"), prompt("数据库"), prompt("数据库")]), [(0, 1), (1, 1), (2, 2)]);
    }

    proptest! {
        /// Reading a session in slices gives the same result as reading it whole, and no record is lost or counted twice.
        #[test]
        fn every_row_stands_behind_exactly_one_entry(texts in prop::collection::vec("[ab]{1,2}[.!]?", 0..60)) {
            let items: Vec<_> = texts.iter().enumerate().map(|(at, t)| if at % 2 == 0 { prompt(t) } else { reply(t) }).collect();
            let session = session(items);
            let all = distinct_entries(&session);
            let mut rows: Vec<RecordKey> = all.iter().flat_map(|d| d.rows.clone()).collect();
            rows.sort_unstable();
            prop_assert_eq!(rows, session.entries.iter().map(|e| e.key).collect::<Vec<_>>());
            prop_assert!(all.iter().all(|d| d.rows.contains(&d.entry.key)));
        }
    }
}
