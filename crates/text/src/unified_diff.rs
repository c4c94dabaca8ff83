//! Unified diffs that are only printed. Pure.

/// So many lines around what changes stand in a diff.
pub const CONTEXT_LINES: usize = 3;

/// `12,3`: so many lines from this one on, as a hunk's head has them. Lines are counted from 1.
pub fn range(from: usize, lines: usize) -> String {
    format!("{from},{lines}")
}

/// The diff that removes these lines of a text, by their places from 0 on, in order; empty if there are none. Around them only lines stand
/// that `may_show`.
pub fn removal(name: &str, text: &str, removed: &[usize], may_show: impl Fn(usize) -> bool) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut diff = String::new();
    let mut gone = 0;
    for hunk in hunks(lines.len(), removed, may_show) {
        let out = removed.iter().filter(|at| hunk.contains(at)).count();
        let body: String = hunk
            .clone()
            .map(|at| {
                let sign = if removed.contains(&at) { '-' } else { ' ' };
                let end = if lines[at].ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
                format!("{sign}{}{end}", lines[at])
            })
            .collect();
        // A part without lines stands behind the one before it.
        let kept = hunk.len() - out;
        let from = hunk.start + 1 - gone - usize::from(kept == 0);
        diff.push_str(&format!("@@ -{} +{} @@\n{body}", range(hunk.start + 1, hunk.len()), range(from, kept)));
        gone += out;
    }
    if diff.is_empty() { diff } else { format!("--- a/{name}\n+++ b/{name}\n{diff}") }
}

/// The parts of a text that stand in the diff: the removed lines with those around them, parts that touch as one.
fn hunks(lines: usize, removed: &[usize], may_show: impl Fn(usize) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut all: Vec<std::ops::Range<usize>> = Vec::new();
    for at in removed.iter().copied() {
        let before = (0..at).rev().take(CONTEXT_LINES).take_while(|one| may_show(*one)).count();
        let behind = (at + 1..lines).take(CONTEXT_LINES).take_while(|one| may_show(*one)).count();
        let part = at - before..at + 1 + behind;
        match all.last_mut() {
            Some(last) if part.start <= last.end => last.end = part.end.max(last.end),
            _ => all.push(part),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_removed_with_those_around_them() {
        let ten: String = (0..10).map(|n| format!("l{n}\n")).collect();
        let all = |_: usize| true;
        for (text, removed, hunks) in [
            (ten.as_str(), &[4][..], "@@ -2,7 +2,6 @@\n l1\n l2\n l3\n-l4\n l5\n l6\n l7\n"),
            (&ten, &[0, 9], "@@ -1,4 +1,3 @@\n-l0\n l1\n l2\n l3\n@@ -7,4 +6,3 @@\n l6\n l7\n l8\n-l9\n"),
            (&ten, &[2, 4], "@@ -1,8 +1,6 @@\n l0\n l1\n-l2\n l3\n-l4\n l5\n l6\n l7\n"),
            ("a\nb", &[1], "@@ -1,2 +1,1 @@\n a\n-b\n\\ No newline at end of file\n"),
            ("a\n", &[0], "@@ -1,1 +0,0 @@\n-a\n"),
        ] {
            assert_eq!(removal("M.md", text, removed, all), format!("--- a/M.md\n+++ b/M.md\n{hunks}"));
        }
        assert_eq!(removal("M.md", &ten, &[], all), "");
        let without = removal("M.md", &ten, &[4], |at| at != 3 && at != 6);
        assert_eq!(without, "--- a/M.md\n+++ b/M.md\n@@ -5,2 +5,1 @@\n-l4\n l5\n");
    }
}
