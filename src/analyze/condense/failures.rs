//! What was done before a command that had failed passed. Pure.

use std::collections::BTreeMap;

use crate::analyze::failures::{Between, failed_in};
use transcripts::session::{RecordKey, Session};

/// What was done between a check's first failure and the run that passed, by the record of that failure: the changed files, else the last
/// command that may explain it. Checks that passed again without either, or that did not pass, are left out.
pub(super) fn cures(session: &Session) -> BTreeMap<RecordKey, String> {
    let mut told = Vec::new();
    let mut cures = BTreeMap::new();
    for failed in failed_in(session) {
        if let Some(passed) = failed.passed.filter(|passed| !told.contains(passed)) {
            told.push(passed);
            cures.extend(cure(&failed.between).map(|cure| (session.entries[failed.at].key, cure)));
        }
    }
    cures
}

fn cure(between: &Between) -> Option<String> {
    match (between.changed.as_str(), between.ran.as_str()) {
        ("", "") => None,
        ("", ran) => Some(format!("`{ran}`")),
        (changed, _) => Some(format!("changes to {changed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::condense::tests::{bash, edit, entry, session};
    use transcripts::session::{Entry, Item, Outcome};

    /// The cures of a session of such items, by the number of their record.
    fn cured(items: Vec<(Item, Option<Outcome>)>) -> Vec<(u8, String)> {
        let mut session = session(Vec::new());
        session.entries = items.into_iter().enumerate().map(|(at, (item, outcome))| Entry { outcome, ..entry(at, item) }).collect();
        cures(&session).into_iter().map(|(key, cure)| (key.0[0], cure)).collect()
    }

    #[test]
    fn a_failure_is_told_with_the_changes_or_the_command_before_it_passed() {
        let (fails, passes) = (|| bash("cargo test cart", "1 failed", false), || bash("cargo test cart", "", true));
        let edits = |path: &str| (edit(path), None);
        let refused = |path: &str| (edit(path), Some(Outcome { tool: String::new(), ok: false, brief: String::new() }));
        let starts = || bash("docker compose up -d", "", true);
        let told = |at: u8, cure: &str| vec![(at, cure.to_owned())];
        for (items, cures) in [
            (vec![fails(), edits("/r/a.rs"), edits("/r/a.rs"), starts(), passes()], told(0, "changes to a.rs")),
            (vec![fails(), edits("/r/a.rs")], vec![]),
            (
                vec![fails(), refused("/r/a.rs"), starts(), bash("git status", "", true), passes()],
                told(0, "`docker compose up -d`"),
            ),
            (vec![fails(), bash("docker compose up -d", "", false), passes()], vec![]),
            (vec![fails(), edits("/r/a.rs"), fails(), edits("/r/b.rs"), passes()], told(0, "changes to a.rs, b.rs")),
            (vec![passes(), edits("/r/a.rs"), passes()], vec![]),
            (vec![bash("grep -rn cart src", "exit code 1", false), edits("/r/a.rs"), bash("grep -rn cart src", "", true)], vec![]),
        ] {
            assert_eq!(cured(items.clone()), cures, "{items:?}");
        }
        let files = ["/r/a", "/r/b", "/r/c", "/r/d"].map(edits);
        let many = [fails()].into_iter().chain(files).chain([passes()]).collect();
        assert_eq!(cured(many), told(0, "changes to a, b, c and 1 more"));
        let twice = vec![fails(), edits("/r/a.rs"), passes(), fails(), starts(), passes()];
        let both = vec![(0, "changes to a.rs".to_owned()), (3, "`docker compose up -d`".to_owned())];
        assert_eq!(cured(twice), both, "what passed and fails again has a cure of its own");
    }
}
