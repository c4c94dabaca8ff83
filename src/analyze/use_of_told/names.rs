//! What a text of ours names: sessions, notes, files and checks.

use super::warned::warned_in;
use crate::analyze::rules::statements_of;
use crate::model::note::NoteKind;
use crate::model::section::{Section, View, shown_in};
use text::budget;
use text::clean::one_line;
use text::file_names::file_names_in;
use transcripts::session::{ToldNames, ToldRule};
use transcripts::shell::is_check_line;

/// The most names of each sort: a start has room for fewer.
const MAX_NAMES: usize = 60;
const MAX_NAME_CHARS: usize = 200;

/// What is named in a text that a hook of ours told a session.
pub(crate) fn names_in(text: &str) -> ToldNames {
    let mut names = ToldNames { tokens: budget::tokens(text), ..ToldNames::default() };
    let mut is_decision = false;
    for line in text.lines() {
        is_decision = line.starts_with("- ") && is_decision || begins_decisions(line);
        let said = statement_said(line);
        let decided = line.strip_prefix("- ").filter(|_| is_decision);
        let warned = said.map(|(_, said)| said).or(decided).map(warned_in).unwrap_or_default();
        let rules = said.map(|(id, said)| rules_of(id, said)).unwrap_or_default();
        let sessions = session_in(line).map(str::to_owned).into_iter().collect();
        let statements = statement_in(line).map(str::to_owned).into_iter().collect();
        let spans: Vec<String> = code_spans(line).filter(|code| is_check_line(code)).map(one_line).collect();
        // What a command is run on is no file that was pointed out.
        let prose: String = spans.iter().fold(line.to_owned(), |line, check| line.replace(check.as_str(), ""));
        let files = file_names_in(&prose).map(|name| name.trim_end_matches('/')).filter(|name| is_file(name)).map(str::to_owned);
        let is_warned = |check: &String| warned.iter().any(|warned| check.starts_with(warned.as_str()));
        let checks: Vec<String> = spans.into_iter().filter(|check| !is_warned(check)).collect();
        names.add(ToldNames { sessions, statements, files: files.collect(), checks, warned, rules, tokens: 0 });
    }
    // A list names a file in short, and its account by the path.
    let longer = names.files.clone();
    names
        .files
        .retain(|name| !longer.iter().any(|path| path.strip_suffix(name.as_str()).is_some_and(|folder| folder.ends_with('/'))));
    for all in [&mut names.sessions, &mut names.statements, &mut names.files, &mut names.checks, &mut names.warned] {
        all.retain(|name| name.chars().count() <= MAX_NAME_CHARS);
        all.truncate(MAX_NAMES);
    }
    names.rules.truncate(MAX_NAMES);
    // What passed here is told as what to run.
    names.warned.retain(|warned| !names.checks.iter().any(|check| check.starts_with(warned.as_str())));
    names
}

/// Is it the label of what a model says was decided?
fn begins_decisions(line: &str) -> bool {
    let of_decisions = shown_in(View::Start).into_iter().find(|(_, sections)| sections.contains(&Section::Decisions));
    of_decisions.is_some_and(|(shown, _)| line.starts_with(&format!("{}, by ", shown.label)) && line.ends_with(':'))
}

/// The id and the words of the note or the rule that a line of a start or a notice tells; nothing of what is only to be done.
fn statement_said(line: &str) -> Option<(&str, &str)> {
    if let Some(id) = statement_in(line) {
        let behind = line.strip_prefix("- ")?[id.len()..].trim_start();
        if id.starts_with('r') {
            return Some((id, behind.split_once('“')?.1.strip_suffix('”')?));
        }
        let (kind, told) = behind.split_once(": ")?;
        let kind = NoteKind::named(kind.trim_start_matches("due "))?;
        let told = told.rsplit_once(" (").map_or(told, |(said, _)| said);
        return (kind != NoteKind::Todo).then_some((id, told));
    }
    // A notice: the day, the id, the note, and behind it how it was found.
    let (id, behind) = line.strip_prefix("- ")?.split_once(' ')?.1.split_once(' ')?;
    let is_note = id.starts_with('m') && statement_in(&format!("- {id}")).is_some();
    let end = behind.find(", relevance ")?;
    is_note.then_some((id, behind[..end].rsplit_once(" (")?.0))
}

/// What a statement says that the user wants, sentence by sentence, to know it again.
fn rules_of(id: &str, said: &str) -> Vec<ToldRule> {
    let all = statements_of(said).into_iter().map(|words| words.hashed(id));
    all.filter(|rule| !(rule.wanted.is_empty() && rule.unwanted.is_empty())).collect()
}

/// The session that a line is about, by its short id: a heading's `(when, ID, …)`, a list's `- when ID …`, a quotation's `[ID, when]`.
fn session_in(line: &str) -> Option<&str> {
    let is_id = |word: &&str| word.len() == 8 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if line.starts_with("## ") {
        return line.split_once('(')?.1.split([',', ')']).map(str::trim).find(is_id);
    }
    let listed = line.strip_prefix("- ")?;
    let begins = || listed.split(' ').skip(1).take(2).find(is_id);
    let ends = || listed.strip_suffix(']')?.rsplit_once('[')?.1.split(',').next().filter(is_id);
    begins().or_else(ends)
}

/// The id of the note, the rule or the open item that a line tells.
fn statement_in(line: &str) -> Option<&str> {
    let id = line.strip_prefix("- ")?.split([' ', ':']).next()?;
    let is_id = id.len() == 9 && id.starts_with(|c: char| c.is_ascii_lowercase()) && id[1..].bytes().all(|b| b.is_ascii_hexdigit());
    is_id.then_some(id)
}

pub(super) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Has it an ending, or a folder? Not a number, an abbreviation, an address.
fn is_file(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    let ending = last.rsplit_once('.').map(|(_, ending)| ending);
    let is_ending = |ending: &str| {
        (1..=10).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric) && ending.chars().any(char::is_alphabetic)
    };
    !name.contains("://") && ending.is_some_and(is_ending) && last.chars().filter(|c| c.is_alphabetic()).count() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_notes_files_and_checks_are_found_where_they_stand() {
        let text = [
            "## Remembered",
            "- n763131ea Deploys go through Gitea (note, 3 Nov), see deploy/prod.yml",
            "",
            "Commands that passed here: test `uv run pytest tests/a.py -q` (3 of 7, 18 Nov).",
            "## Last session (2026-11-03 13:00, 00000007, branch main): Green · edits: banner.css",
            "> See `src/banner.css`, e.g. deadbeef.",
            "## Other sessions, newest first",
            "- 2026-11-02 0a000004 Page the list. · edits: paging.py",
            "- Keyset it is. [00000001, 2026-11-20]",
        ]
        .join("\n");
        let told = names_in(&text);
        assert_eq!(told.sessions, ["00000007", "0a000004", "00000001"]);
        assert_eq!(told.statements, ["n763131ea"]);
        assert_eq!(told.files, ["deploy/prod.yml", "src/banner.css", "paging.py"]);
        assert_eq!(told.checks, ["uv run pytest tests/a.py -q"]);
    }

    #[test]
    fn what_is_told_not_to_be_run_is_no_check_to_run() {
        let told =
            names_in("## Remembered\n- m763131ea convention: Run `cargo nextest run` instead of `cargo test`. (note, 3 Nov)");
        assert_eq!((told.checks, told.warned), (vec!["cargo nextest run".to_owned()], vec!["cargo test".to_owned()]));
        let told = names_in("- m763131ea todo: Never run `go test`. (note, 3 Nov)\n- 2026-11-02 0a000004 Never run `go test`.");
        assert_eq!(told.warned, [""; 0], "what is to be done, and what a session is called");
        let notice = "- 2026-11-02 m763131ea Never run `go test`. (note, relevance 80 %): you said so";
        assert_eq!(names_in(notice).warned, ["go test"]);
        let decided = "Decided, by a model:\n- Use pnpm, not npm.\n\n- Use uv, not pip.";
        assert_eq!(names_in(decided).warned, ["npm"]);
        let passed =
            "Commands that passed here: test `npm test` (3 of 7, 18 Nov).\n- m763131ea fact: Never run `npm test`. (note, 3 Nov)";
        assert_eq!(names_in(passed).warned, [""; 0], "it is told as what passed");
    }
}
