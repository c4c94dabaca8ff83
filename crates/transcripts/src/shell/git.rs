//! Commands of git and of `gh pr`, and the lines in which they tell what they did.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::checks::begins_with_any;
use super::steps::{Step, text_of};

/// Commands that change what is committed, or tell it.
const VERBS: &[&str] = &[
    "commit", "cherry-pick", "revert", "log", "rev-parse", "push", "reset", "rebase", "pull", "merge", "am", "rm", "mv", "status",
    "checkout", "switch", "branch",
];
const PULL_REQUEST_VERBS: &[&str] =
    &["create", "merge", "view", "edit", "close", "checkout", "comment", "review", "diff", "checks", "ready", "reopen"];

/// A hash is known again by so many digits.
pub const SHORT_HASH: usize = 7;

/// Options of git itself that take a word.
const WITH_WORD: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// The words of a step from `git` or `gh` on, without git's own options; `None` if it is no such command.
pub(super) fn command(words: &[String]) -> Option<Vec<String>> {
    let (program, rest) = words.split_first()?;
    match program.rsplit('/').next()? {
        "git" => {
            let mut rest = rest;
            while let Some(option) = rest.first().filter(|word| word.starts_with('-')) {
                rest = &rest[if WITH_WORD.contains(&option.as_str()) { 2.min(rest.len()) } else { 1 }..];
            }
            let is_known = rest.first().is_some_and(|verb| VERBS.contains(&verb.as_str())) && !leaves_branches(rest);
            is_known.then(|| [&["git".to_owned()], rest].concat())
        }
        "gh" => {
            let [area, verb, ..] = rest else { return None };
            let is_known = area == "pr" && PULL_REQUEST_VERBS.contains(&verb.as_str()) || area == "api" && makes_pull_request(rest);
            is_known.then(|| [&["gh".to_owned()], rest].concat())
        }
        _ => None,
    }
}

/// `git checkout -- FILE` and `git branch -a` leave all branches as they are.
fn leaves_branches(words: &[String]) -> bool {
    match words[0].as_str() {
        "checkout" => words.iter().any(|word| word == "--"),
        "branch" => words[1..].iter().all(|word| word.starts_with('-')),
        _ => false,
    }
}

/// The folder that `git -C` names.
pub(super) fn folder(words: &[String]) -> Option<&str> {
    let [program, option, folder, ..] = words else { return None };
    (program.rsplit('/').next() == Some("git") && option == "-C").then_some(folder)
}

/// `gh api repos/a/b/pulls -f title=…`: a list of pull requests that is given fields gains one.
fn makes_pull_request(words: &[String]) -> bool {
    let names_list = words.iter().any(|word| word.trim_end_matches('/').ends_with("/pulls"));
    let gives = |word: &String| matches!(word.as_str(), "-f" | "-F" | "--field" | "--raw-field" | "--input" | "POST");
    names_list && words.iter().any(gives)
}

/// Splits the words of a command into those that say what it does, and the text that it is given: of a commit the message, of a pull
/// request title and body.
pub(super) fn without_message(words: Vec<String>, step: &Step) -> (Vec<String>, String) {
    let takes_text = |word: &str| match (words[0].as_str(), words[1].as_str()) {
        ("git", "commit") => is_short_with(word, 'm') || matches!(word, "--message"),
        ("gh", "pr") => matches!(word, "-t" | "--title" | "-b" | "--body"),
        _ => false,
    };
    let takes_file = |word: &str| words[1] == "commit" && (is_short_with(word, 'F') || word == "--file");
    let (mut kept, mut texts) = (Vec::new(), Vec::new());
    let mut all = words.iter();
    while let Some(word) = all.next() {
        let glued = ["--message=", "--title=", "--body="].iter().find_map(|option| word.strip_prefix(option));
        if let Some(text) = glued {
            texts.push(text_of(text).trim().to_owned());
        } else if takes_text(word) {
            // `-am` does more than to take a message.
            kept.extend(word.strip_suffix('m').filter(|flags| flags.len() > 1 && !flags.starts_with("--")).map(str::to_owned));
            texts.extend(all.next().map(|text| text_of(text).trim().to_owned()));
        } else if takes_file(word) {
            all.next();
            texts.extend(step.input.as_deref().map(|text| text.trim().to_owned()));
        } else {
            kept.push(word.clone());
        }
    }
    (kept, texts.join("\n\n"))
}

/// Is a word a group of short options that ends in this one, which takes the next word?
fn is_short_with(word: &str, option: char) -> bool {
    word.strip_prefix('-')
        .is_some_and(|flags| flags.ends_with(option) && flags.len() <= 4 && flags.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// An output line that tells what git or `gh` did; of an object that `gh` prints, what names a pull request and tells its state.
pub(super) fn told_by_git(line: &str) -> Option<Cow<'_, str>> {
    const TOLD: [&str; 5] = ["number", "title", "state", "url", "mergedAt"];
    if line.starts_with('{')
        && let Ok(Value::Object(all)) = serde_json::from_str(line)
    {
        let told: Map<String, Value> = all.into_iter().filter(|(name, _)| TOLD.contains(&name.as_str())).collect();
        return (!told.is_empty()).then(|| Value::Object(told).to_string().into());
    }
    let line = without_progress(line);
    (is_telling(line) || tells_pull_request(line)).then_some(line.into())
}

/// A line without the `Rebasing (1/2)` that a terminal would have written over.
fn without_progress(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, behind)) = rest.trim_start_matches('\r').strip_prefix("Rebasing (").and_then(|line| line.split_once(')')) {
        rest = behind;
    }
    rest.trim_start_matches('\r')
}

/// A line of `gh pr view`, or of an object that was laid out.
fn tells_pull_request(line: &str) -> bool {
    let named = ["title:\t", "state:\t", "number:\t", "url:\t"];
    let quoted = ["\"title\": ", "\"state\": ", "\"number\": "];
    named.iter().any(|start| line.starts_with(start)) || quoted.iter().any(|start| line.trim_start().starts_with(start))
}

/// Does an output line tell what git did?
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    const STARTS: [&str; 25] = [
        "HEAD is now at ", "Successfully rebased", "Current branch ", "Fast-forward", "Updating ", "Merge made by ",
        "Already up to date", "CONFLICT ", "Automatic merge failed", "Everything up-to-date", "nothing to commit",
        "no changes added", "error: ", "fatal: ", "! [", "* [new ", "To ", "Applied autostash", "could not apply", "Your branch ",
        "Aborting", "a pull request for branch", "Switched to ", "Already on '", "Deleted branch ",
    ];
    begins_with_any(line, &STARTS)
        || tells_commit(line)
        || counts_files(line)
        || line.contains(" -> ") && line.contains("..")
        || begins_with_hash(line)
        || line.contains("/pull/")
        || names_pull_request(line)
}

/// `✓ Closed pull request a/b#7 (title)`, `! Pull request #7 was already merged`.
fn names_pull_request(line: &str) -> bool {
    let named = line.split_once("ull request ").and_then(|(_, behind)| behind.split(' ').next());
    named.and_then(|named| named.split_once('#')).is_some_and(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// `[main abc1234] subject`, `[detached HEAD abc1234] subject`, `[main (root-commit) abc1234] subject`.
fn tells_commit(line: &str) -> bool {
    let head = line.strip_prefix('[').and_then(|line| line.split_once("] ")).map(|(head, _)| head);
    head.and_then(|head| head.rsplit(' ').next()).is_some_and(is_hash)
}

/// `3 files changed, 12 insertions(+)`.
fn counts_files(line: &str) -> bool {
    let count = line.split(' ').next().is_some_and(|count| !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()));
    count && (line.contains(" file changed") || line.contains(" files changed"))
}

/// A line of `log --oneline`, `reflog`, `rev-parse`, or the `commit …` of a log.
pub(super) fn begins_with_hash(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '|', '/', '\\', ' ']);
    let line = line.strip_prefix("commit ").unwrap_or(line);
    line.split([' ', '\t']).next().is_some_and(is_plain_hash)
}

/// A commit's hash, in full or shortened as git does it: seven hexadecimal digits or more.
pub fn is_hash(word: &str) -> bool {
    (SHORT_HASH..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A hash that is no word, such as `defaced`.
fn is_plain_hash(word: &str) -> bool {
    is_hash(word) && word.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::steps::steps;
    use super::*;

    fn first(typed: &str) -> Option<(String, String)> {
        let step = steps(typed).into_iter().next()?;
        let (words, message) = without_message(command(&step.words)?, &step);
        Some((words.join(" "), message))
    }

    #[test]
    fn a_commit_is_told_apart_from_its_message() {
        for (typed, words, message) in [
            ("git commit -am 'Fix it' -m 'Because.'", "git commit -a", "Fix it\n\nBecause."),
            ("git -C /x -c user.name=y commit --message=\"Fix it\" --amend", "git commit --amend", "Fix it"),
            ("git commit -q -F - <<'EOF'\nFix it\n\nWhy\nEOF", "git commit -q", "Fix it\n\nWhy"),
            ("git commit -m \"$(cat <<'EOF'\nFix it\n\nWhy\nEOF\n)\"", "git commit", "Fix it\n\nWhy"),
            ("git reset --hard HEAD~1", "git reset --hard HEAD~1", ""),
            ("gh pr create --title 'Add x' --body 'Because' --base main", "gh pr create --base main", "Add x\n\nBecause"),
        ] {
            assert_eq!(first(typed), Some((words.to_owned(), message.to_owned())), "{typed}");
        }
        for other in [
            "git stash", "git diff", "gh issue list", "gh api repos/a/b/pulls", "echo git commit", "git", "git checkout -- a.rs",
            "git branch -a", "git branch",
        ] {
            assert_eq!(first(other), None, "{other}");
        }
    }

    #[test]
    fn of_a_pull_request_its_name_and_state_are_kept() {
        let long = "x".repeat(400);
        let line = format!("{{\"body\":\"{long}\",\"number\":7,\"state\":\"MERGED\",\"title\":\"Page by key\"}}");
        assert_eq!(told_by_git(&line).as_deref(), Some(r#"{"number":7,"state":"MERGED","title":"Page by key"}"#));
        assert_eq!(told_by_git("title:\tPage by key").as_deref(), Some("title:\tPage by key"));
        assert_eq!(told_by_git("Rebasing (1/2)\rRebasing (2/2)Successfully rebased x").as_deref(), Some("Successfully rebased x"));
        assert_eq!((told_by_git("{\"body\":\"x\"}"), told_by_git("{ not json")), (None, None));
    }

    #[test]
    fn lines_of_git_are_known() {
        for line in [
            "[main 1a2b3c4] Fix it",
            "[main deadbee] Fix it",
            "[detached HEAD 1a2b3c4d] Fix it",
            "[main (root-commit) 1a2b3c4] x",
            " 3 files changed, 1 insertion(+)",
            "   1a2b3c4..5d6e7f8  main -> main",
            " + 1a2b3c4...5d6e7f8 x -> x (forced update)",
            " * [new branch]      x -> x",
            "HEAD is now at 1a2b3c4 Fix it",
            "1a2b3c4 Fix it",
            "commit 1a2b3c41a2b3c41a2b3c41a2b3c41a2b3c41a2b3",
            "https://github.com/x/y/pull/7",
            "! [rejected]        main -> main (fetch first)",
            "Everything up-to-date",
            "* 1a2b3c4 (HEAD -> main) Fix it",
            "Switched to a new branch 'x'",
            "Already on 'main'",
            "Deleted branch x (was 1a2b3c4).",
            "✓ Closed pull request x/y#7 (Fix it)",
            "! Pull request #7 was already merged",
        ] {
            assert!(is_telling(line), "{line}");
        }
        for line in ["", "added 3 packages", "defaced building", "Date:   Mon", "    Fix it", "1234 files"] {
            assert!(!is_telling(line), "{line}");
        }
    }
}
