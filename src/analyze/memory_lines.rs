//! What a line of a memory file of Claude's says and names: for holding it against what is there. Pure.

use std::sync::LazyLock;

use regex::Regex;

use crate::analyze::overtaken::{Said, overtakings};
use transcripts::session::Millis;

/// `[Deploys](deploy.md)`
static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^()\s]+)\)").expect("a pattern"));
/// `` `src/app.rs` ``
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`\s]+)`").expect("a pattern"));
/// A line with one of these may name a file because it is not there.
static ABSENT: LazyLock<Regex> = LazyLock::new(|| {
    let words = "removed?|deleted?|gone|dropped|moved|renamed|replaced|formerly|former|old|was|were|used to|no longer|not|never|without|\
                 missing|create[sd]?|creating|generate[sd]?|will|new|add|ignored?|temporary|optional|if|e\\.g\\.|example";
    Regex::new(&format!(r"(?i)\b(?:{words})\b")).expect("a pattern")
});

/// A line without the marks of lists, headings and emphasis, and with the words of its links alone.
pub(crate) fn bare(line: &str) -> String {
    let line = line.trim().trim_start_matches(['-', '*', '+', '#', '>', ' ']);
    LINK.replace_all(line, "]").replace(['*', '[', ']'], "").trim().to_owned()
}

/// The files of its own folder that a line links to.
pub(crate) fn topics_in(line: &str) -> Vec<&str> {
    let targets = LINK.captures_iter(line).filter_map(|found| found.get(1)).map(|target| target.as_str());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default().trim_start_matches("./"));
    targets.filter(|target| target.ends_with(".md") && !target.contains(['/', ':', '%', '\\'])).collect()
}

/// The paths below the project's folder that a line names in backticks as what is there. A word without a slash may lie in any folder, and
/// one with a sign of patterns is none.
pub(crate) fn paths_in<'l>(line: &'l str, project: &str) -> Vec<&'l str> {
    if ABSENT.is_match(line) {
        return Vec::new();
    }
    let named = CODE.captures_iter(line).filter_map(|found| found.get(1)).map(|named| named.as_str());
    named.filter_map(|named| path_of(named, project)).collect()
}

fn path_of<'n>(named: &'n str, project: &str) -> Option<&'n str> {
    let below = named.strip_prefix(project).and_then(|rest| rest.strip_prefix('/'));
    let named = below.unwrap_or(named).trim_start_matches("./");
    // `src/app.rs:12`
    let (path, line) = named.split_once(':').unwrap_or((named, ""));
    let is_line = line.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '-'));
    let path = path.trim_end_matches('/');
    let is_path = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '@'));
    let parts: Vec<&str> = path.split('/').collect();
    let is_below = parts.len() > 1 && parts.iter().all(|part| !part.is_empty() && *part != ".." && *part != "...");
    (is_line && is_path && is_below).then_some(path)
}

/// A line that what was said later overtakes: the places of both among what was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OvertakenLine {
    pub(crate) line: usize,
    pub(crate) later: usize,
    pub(crate) later_sentence: String,
}

/// The lines, each with when its file was written, that something overtakes which was said after that; each by the last that does.
pub(crate) fn overtaken_lines(lines: &[(Millis, String)], later: &[(Millis, &str)]) -> Vec<OvertakenLine> {
    let of_files = lines.iter().map(|(at, text)| Said { of: 0, at: *at, text });
    let of_others = later.iter().map(|(at, text)| Said { of: 1, at: *at, text });
    let mut all: Vec<OvertakenLine> = Vec::new();
    for found in overtakings(&of_files.chain(of_others).collect::<Vec<_>>()) {
        if found.earlier >= lines.len() || found.later < lines.len() {
            continue;
        }
        let place = found.later - lines.len();
        let later_at = later[place].0;
        // Several files may say the same: only its last mention was found.
        let says = |(at, text): &(Millis, String)| *at < later_at && text.contains(&found.earlier_sentence);
        let places = lines.iter().enumerate().filter(|(_, line)| says(line)).map(|(line, _)| line);
        all.extend(places.map(|line| OvertakenLine { line, later: place, later_sentence: found.later_sentence.clone() }));
    }
    all.sort_by(|a, b| (a.line, later[b.later].0, &a.later_sentence).cmp(&(b.line, later[a.later].0, &b.later_sentence)));
    all.dedup_by(|a, b| a.line == b.line);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_without_its_marks() {
        assert_eq!(bare("- **Cache**: the [session cache](cache.md) uses Redis"), "Cache: the session cache uses Redis");
        assert_eq!(topics_in("- [A](a.md), [B](./b.md#x), [C](https://c.md), [D](../d.md), [E](e.txt)"), ["a.md", "b.md"]);
    }

    #[test]
    fn only_what_can_only_be_a_path_below_the_project_is_one() {
        for (line, paths) in [
            ("The rates lie in `src/rates.rs:12` and `/p/docs/a/`", &["src/rates.rs", "docs/a"][..]),
            ("See `./src/a.py`", &["src/a.py"]),
            (
                "Run `make`, `app.rs`, `git commit`, `src/*.rs`, `~/x/y`, `/etc/hosts`, `/pq/a/b`, `../a/b`, `a//b`, `https://a/b`",
                &[],
            ),
            ("`src/old.rs` was removed", &[]),
            ("Create `src/next.rs`", &[]),
        ] {
            assert_eq!(paths_in(line, "/p"), paths, "{line}");
        }
    }

    #[test]
    fn a_line_is_overtaken_by_what_was_said_after_its_file_was_written() {
        let lines = |at| vec![(at, "The session cache uses Redis.".to_owned()), (at, "Port 8081 is the staging port.".to_owned())];
        let later = [(5, "The session cache no longer uses Redis."), (7, "Look at the list of orders.")];
        let found = overtaken_lines(&lines(3), &later);
        assert_eq!(found.iter().map(|one| (one.line, one.later)).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(overtaken_lines(&lines(6), &later), []);
        let again = [later[0], (9, "The session cache uses Redis.")];
        assert_eq!(overtaken_lines(&lines(3), &again), [], "it stands again");
        let twice = [lines(3), lines(4)].concat();
        assert_eq!(overtaken_lines(&twice, &later).iter().map(|one| one.line).collect::<Vec<_>>(), [0, 2]);
    }
}
