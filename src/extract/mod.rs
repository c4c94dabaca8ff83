//! A digest without a model: put together from what the user said, how the assistant closed each turn, what was answered,
//! changed, run and left open, and the client's own summaries.

mod statements;

use std::collections::{BTreeSet, HashSet};

use self::statements::{MAX_STATEMENT, Seen, Statement, pick, pick_rows, statements};
use crate::clean::{one_line, shorten};
use crate::digest::{Claim, Digest, FileNote, OpenItem, UNTITLED};
use crate::duplicates::normal;
use crate::fixes::{Failure, failures};
use crate::prose::sentences;
use crate::session::{Entry, Item, RowKey, Session, Todo, ToolUse, Touch};
use crate::signal::{self, Topic, has_failed};
use crate::terms::{covered_by, words};

const MAX_TITLE: usize = 90;
const MAX_FILES: usize = 24;
/// Statements about turns before the last.
const MAX_EARLIER: usize = 12;
/// The weightiest of them beyond one or two a turn.
const MAX_MORE: usize = 5;
/// A choice needs so many telling words to make sense on its own.
const MIN_WORDS: usize = 3;
/// An open item is closed when what was done later holds this much of its words.
const CLOSED: f64 = 0.75;

/// Makes the digest of a session, by itself: what it closes of others' is for [`closes`] to tell.
pub fn extract(session: &Session) -> Digest {
    let pool = statements(session);
    let failures = failures(session);
    let mut seen = Seen::default();
    let request = request(session);
    let next_steps = next_steps(session, &pool, &mut seen);
    let decisions = decisions(session, &pool, &mut seen);
    let completed = completed(session, &pool, &mut seen);
    let mut learned =
        pick(&pool, &mut seen, 7, |s| !s.offer && (s.about(Topic::Cause) || (s.about(Topic::Lesson) && s.weight > 0.5)));
    learned.extend(fixed(&failures));
    Digest {
        title: title(session),
        closes: Vec::new(),
        investigated: investigated(session),
        blockers: blockers(session, &failures, &pool, &mut seen),
        files: files(session),
        questions: Vec::new(),
        request,
        learned,
        completed,
        decisions,
        next_steps,
    }
}

/// The title the user gave, else the client's, else the start of the request.
fn title(session: &Session) -> String {
    let given = session.entries.iter().filter_map(|e| match &e.item {
        Item::Title(title) => Some(title),
        _ => None,
    });
    // Of equals the last: titles are rewritten as the session goes on.
    if let Some(best) = given.max_by_key(|t| t.by) {
        return shorten(&best.text, MAX_TITLE);
    }
    let first = session
        .prompts()
        .map(|(_, text)| text)
        .find(|t| t.chars().count() > 12)
        .or_else(|| session.prompts().next().map(|(_, t)| t));
    let line = first.and_then(|text| text.lines().find(|l| l.chars().any(char::is_alphanumeric))).unwrap_or(UNTITLED);
    let line = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    shorten(&one_line(line.trim_start_matches(['#', '-', '*', ' '])), MAX_TITLE)
}

/// What the user asked for: the first prompt, and what came after it in brief.
fn request(session: &Session) -> String {
    let mut asked = HashSet::new();
    let prompts = session.prompts().map(|(_, text)| text).filter(|t| t.chars().count() > 3);
    let prompts: Vec<&str> = prompts.filter(|text| asked.insert(normal(text))).collect();
    let Some((first, later)) = prompts.split_first() else { return String::new() };
    let mut request = shorten(&one_line(first), 500);
    let telling: Vec<String> = later.iter().filter(|t| t.chars().count() > 12).map(|t| shorten(&one_line(t), 140)).collect();
    if !telling.is_empty() {
        let shown = telling.len().min(12);
        // The first ones steer the work, the last ones say where it ended.
        let list: Vec<&str> =
            telling[..shown / 2].iter().chain(&telling[telling.len() - (shown - shown / 2)..]).map(String::as_str).collect();
        request.push_str(" Then: ");
        request.push_str(&list.join(" · "));
    }
    request
}

/// The end in some detail, and of every earlier turn what it came to.
fn completed(session: &Session, pool: &[Statement], seen: &mut Seen) -> Vec<String> {
    let stands = |s: &Statement| {
        !s.offer
            && !s.overruled
            && !s.listed_next
            && (!s.progress || s.turns_left == 0)
            && (s.about(Topic::Done) || !s.about(Topic::Next))
    };
    let says = |s: &Statement| {
        let elsewhere = s.about(Topic::Cause) || s.about(Topic::Decision);
        s.about(Topic::Done) || s.about(Topic::Outcome) || s.weight > 0.75 && !elsewhere
    };
    let done = |s: &Statement| s.closing && stands(s) && says(s);
    let last = pick(pool, seen, 5, |s| s.turns_left == 0 && done(s));
    let turns = pool.iter().map(|s| s.turns_left).max().unwrap_or(0);
    let few = if turns > 6 { 1 } else { 2 };
    let mut by_turn: Vec<Vec<String>> = Vec::new();
    for turn in 1..=turns {
        if by_turn.iter().map(Vec::len).sum::<usize>() >= MAX_EARLIER {
            break;
        }
        by_turn.push(pick(pool, seen, few, |s| s.turns_left == turn && done(s)));
    }
    let mut all: Vec<String> = by_turn.into_iter().rev().flatten().collect();
    all.extend(pick(pool, seen, MAX_MORE, |s| s.turns_left > 0 && done(s)));
    all.extend(last);
    if all.is_empty() {
        // An answer is an outcome too.
        all = pick(pool, seen, 4, |s| s.closing && !s.offer && !s.listed_next);
    }
    all.extend(commits(session).into_iter().filter(|c| seen.is_new(c)));
    all
}

/// Checks that failed and what they passed after.
fn fixed(failures: &[Failure]) -> Vec<String> {
    let told = failures.iter().filter_map(|failure| {
        // What was done first: it is what helps the next time, and what is cut off is the end.
        let done = failure.fix.as_ref()?.told(3)?;
        let done = done.strip_prefix("changes").map_or(done.clone(), |rest| format!("Changes{rest}"));
        Some(format!("{done} made `{}` pass, which had failed: {}", shorten(&failure.command, 60), shorten(&failure.brief, 120)))
    });
    told.take(5).collect()
}

/// Commits and pull requests, by what git and the client said of them.
fn commits(session: &Session) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in &session.entries {
        let text = match (&entry.item, &entry.outcome) {
            (Item::PullRequest(url), _) => format!("Pull request {url}"),
            (Item::Tool(tool), Some(outcome)) if tool.line.contains("git commit") && outcome.ok => {
                let Some(line) = outcome.brief.split(" | ").find(|l| l.starts_with('[')) else { continue };
                format!("Committed {}", shorten(line, 160))
            }
            _ => continue,
        };
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let from = all.len().saturating_sub(8);
    all.split_off(from)
}

fn decisions(session: &Session, pool: &[Statement], seen: &mut Seen) -> Vec<Claim> {
    let mut all = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        match &entry.item {
            Item::Answer(text) if entry.is_main() => {
                all.extend(
                    text.lines().take(6).map(|line| claim(format!("User: {}", shorten(&one_line(line), MAX_STATEMENT)), entry)),
                );
            }
            Item::Plan(text) if was_approved(session, at) => {
                let head = sentences(text).into_iter().next().unwrap_or_default();
                all.push(claim(format!("Plan approved: {}", shorten(&one_line(&head), 160)), entry));
            }
            _ => {}
        }
    }
    all.extend(corrections(session));
    all.retain(|c| seen.is_new(&c.text));
    all.truncate(12);
    all.extend(pick_rows(pool, seen, 7, |s| !s.offer && !s.announces && s.about(Topic::Decision) && s.weight > 0.5));
    all
}

fn claim(text: String, entry: &Entry) -> Claim {
    Claim { text, rows: vec![entry.key] }
}

/// The plan's own tool use follows it; refused plans have an outcome that says so.
fn was_approved(session: &Session, at: usize) -> bool {
    session
        .entries
        .get(at + 1)
        .is_some_and(|next| matches!(&next.item, Item::Tool(t) if t.line == "plan") && next.outcome.as_ref().is_none_or(|o| o.ok))
}

/// Short prompts after the first with which the user steered.
fn corrections(session: &Session) -> Vec<Claim> {
    const STEERING: [&str; 22] = [
        " no,", " no ", " not ", " don't", " dont ", " do not", " instead", " rather", " revert", " undo", " keep ", " let's ",
        " lets ", " use ", " never ", " always ", " only ", " remove", " change ", " without", " should ", " must ",
    ];
    // A question asks for an answer; "can you …?" asks for a deed.
    const ASKING: [&str; 14] = [
        " should it ", " should i ", " what ", " why ", " how ", " is ", " are ", " does ", " do you", " did ", " which ",
        " where ", " i wonder", " was ",
    ];
    let steers = |text: &str| {
        let lower = format!(" {} ", one_line(text).to_lowercase());
        let asks = text.trim_end().ends_with('?') && ASKING.iter().any(|mark| lower.starts_with(mark));
        // "Commit it" is no choice that anybody asks about later.
        !asks
            && words(text).len() >= MIN_WORDS
            && STEERING.iter().any(|mark| lower.contains(mark))
            && (8..320).contains(&text.chars().count())
    };
    session
        .prompts()
        .skip(1)
        .filter(|(_, text)| steers(text))
        .map(|(entry, text)| claim(format!("User: {}", shorten(&one_line(text), 200)), entry))
        .collect()
}

fn investigated(session: &Session) -> Vec<String> {
    let changed: BTreeSet<&str> = touched(session, |how| how > Touch::Read).collect();
    let mut read: Vec<&str> = Vec::new();
    for path in touched(session, |how| how == Touch::Read).filter(|p| !changed.contains(p)) {
        if !read.contains(&path) {
            read.push(path);
        }
    }
    let mut all: Vec<String> = session.entries.iter().filter_map(delegated).take(6).collect();
    if !read.is_empty() {
        let names: Vec<&str> = read.iter().take(10).map(|p| session.relative(p)).collect();
        let more = if read.len() > 10 { format!(" and {} more", read.len() - 10) } else { String::new() };
        all.push(format!("Read {}{more}", names.join(", ")));
    }
    all
}

fn delegated(entry: &Entry) -> Option<String> {
    match &entry.item {
        Item::Tool(tool) if entry.is_main() && matches!(tool.name.as_str(), "Task" | "Agent") => {
            Some(format!("Subagent: {}", tool.line))
        }
        Item::Tool(tool) if matches!(tool.name.as_str(), "WebFetch" | "WebSearch") => Some(format!("Looked up {}", tool.line)),
        _ => None,
    }
}

fn touched(session: &Session, fits: impl Fn(Touch) -> bool) -> impl Iterator<Item = &str> {
    session.entries.iter().filter_map(move |e| match &e.item {
        Item::Tool(ToolUse { file: Some(file), .. }) if fits(file.how) => Some(file.path.as_str()),
        _ => None,
    })
}

/// Changed files, the most changed first.
fn files(session: &Session) -> Vec<FileNote> {
    let mut changed: Vec<_> = session.files().into_iter().filter(|(_, t)| t.how > Touch::Read).collect();
    changed.sort_by_key(|(_, t)| std::cmp::Reverse(t.added.saturating_add(t.removed)));
    changed.into_iter().take(MAX_FILES).map(|(path, _)| FileNote { path, verified: true }).collect()
}

/// Checks that failed last, and what the assistant could not do at the end.
fn blockers(session: &Session, failures: &[Failure], pool: &[Statement], seen: &mut Seen) -> Vec<Claim> {
    // A check that was called with a wrong path tells nothing of the work.
    let mistyped = |f: &Failure| f.brief.contains("file or directory not found");
    let open = failures.iter().filter(|f| f.fix.is_none() && !mistyped(f) && is_late(session, f.row));
    let mut all: Vec<Claim> = open
        .filter(|f| session.entries.iter().any(|e| e.key == f.row && matches!(&e.item, Item::Tool(t) if signal::is_check(t))))
        .map(|f| Claim {
            text: format!("`{}` failed and was not seen to pass: {}", shorten(&f.command, 100), shorten(&f.brief, 140)),
            rows: vec![f.row],
        })
        .collect();
    all.truncate(3);
    all.extend(pick_rows(pool, seen, 3, |s| {
        !s.offer && s.about(Topic::Blocker) && s.closing && s.turns_left < 2 && s.weight > 0.5
    }));
    all
}

/// Does a row stand in the last third of the session?
fn is_late(session: &Session, row: RowKey) -> bool {
    session.entries.iter().position(|e| e.key == row).is_some_and(|at| at * 3 >= session.entries.len() * 2)
}

fn next_steps(session: &Session, pool: &[Statement], seen: &mut Seen) -> Vec<Claim> {
    let mut all: Vec<Claim> = open_todos(session);
    all.extend(unanswered(session));
    all.retain(|c| seen.is_new(&c.text));
    all.extend(pick_rows(pool, seen, 8, |s| s.listed_next && s.closing && s.turns_left == 0));
    all.extend(pick_rows(pool, seen, 4, |s| s.about(Topic::Next) && !s.history && !s.announces && s.closing && s.turns_left == 0));
    all.extend(pick_rows(pool, seen, 3, |s| {
        !s.offer
            && !s.history
            && !s.announces
            && !s.progress
            && s.about(Topic::Next)
            && s.closing
            && (1..3).contains(&s.turns_left)
            && s.weight > 0.7
    }));
    all
}

/// Tasks that were not completed when the session ended.
fn open_todos(session: &Session) -> Vec<Claim> {
    let mut list: Vec<(Todo, RowKey)> = Vec::new();
    for entry in session.entries.iter().filter(|e| e.is_main()) {
        match &entry.item {
            Item::Todos(todos) => list = todos.iter().map(|t| (t.clone(), entry.key)).collect(),
            Item::Task(change) => apply(&mut list, change, entry.key),
            _ => {}
        }
    }
    let open =
        list.into_iter().filter(|(t, _)| !t.text.is_empty() && !matches!(t.status.as_str(), "completed" | "deleted" | "cancelled"));
    open.take(8).map(|(todo, row)| Claim { text: shorten(&todo.text, MAX_STATEMENT), rows: vec![row] }).collect()
}

/// A task is first known by its text; its creation's result numbers it, and changes come by number.
fn apply(list: &mut Vec<(Todo, RowKey)>, change: &Todo, row: RowKey) {
    let known = list.iter_mut().find(|(t, _)| {
        if change.id.is_empty() || t.id.is_empty() { t.text == change.text && t.id.is_empty() } else { t.id == change.id }
    });
    match known {
        Some((todo, at)) => {
            if !change.id.is_empty() {
                todo.id.clone_from(&change.id);
            }
            if !change.text.is_empty() {
                todo.text.clone_from(&change.text);
            }
            if !change.status.is_empty() {
                todo.status.clone_from(&change.status);
            }
            *at = row;
        }
        None => list.push((change.clone(), row)),
    }
}

/// What the user asked last, when nothing answered it.
fn unanswered(session: &Session) -> Option<Claim> {
    let at = session.entries.iter().rposition(|e| matches!(e.item, Item::Prompt(_)) && e.is_main())?;
    let rest = &session.entries[at + 1..];
    let answered = rest.iter().any(|e| matches!(e.item, Item::Reply(_) | Item::Tool(_) | Item::Plan(_)));
    let Item::Prompt(text) = &session.entries[at].item else { return None };
    (!answered && text.chars().count() > 12)
        .then(|| claim(format!("Unanswered: {}", shorten(&one_line(text), 200)), &session.entries[at]))
}

/// Which items that earlier sessions of the project left open this one's deeds cover.
pub fn closes(open: &[OpenItem], completed: &[String], session: &Session) -> Vec<String> {
    let mut done: Vec<BTreeSet<String>> = completed.iter().map(|c| words(c)).collect();
    let passed = |e: &&Entry| !e.outcome.as_ref().is_some_and(has_failed);
    done.extend(session.entries.iter().filter(passed).filter_map(|e| match &e.item {
        Item::Tool(tool) if signal::is_commit(tool) => Some(words(&tool.line)),
        _ => None,
    }));
    let is_done = |item: &&OpenItem| {
        let wanted = words(&item.text);
        wanted.len() >= 2 && done.iter().any(|deed| covered_by(&wanted, deed) >= CLOSED)
    };
    open.iter().filter(is_done).map(|item| item.id.clone()).collect()
}
