//! Rules as a change that the user may make to the CLAUDE.md of a project: a unified diff, which is only printed.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use super::RuleRecord;
use text::clean::{one_line, without_controls};
use text::unified_diff::{CONTEXT_LINES, range};

/// A larger file is none that anybody wrote, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The diff that adds a line for each of these rules, all of one project; empty if there are none.
///
/// # Errors
/// When the file is there and is not one that a line can be added to.
pub(crate) fn diff(project: &str, rules: &[&RuleRecord]) -> Result<String> {
    if rules.is_empty() {
        return Ok(String::new());
    }
    let lines: Vec<String> = rules.iter().map(|rule| format!("- {}", one_line(&without_controls(&rule.text)))).collect();
    let Some(text) = text_of(Path::new(project))? else { return Ok(diff_of_new_file(&lines)) };
    Ok(diff_of_text(&text, &lines))
}

/// The text of the project's CLAUDE.md, if it has one.
fn text_of(project: &Path) -> Result<Option<String>> {
    let file = project.join("CLAUDE.md");
    let Ok(kind) = fs::symlink_metadata(&file) else { return Ok(None) };
    if !kind.is_file() || kind.len() > MAX_BYTES {
        bail!("{} is a link, or not a file that lines can be added to", file.display());
    }
    Ok(Some(fs::read_to_string(&file)?))
}

fn diff_of_new_file(lines: &[String]) -> String {
    let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!("--- /dev/null\n+++ b/CLAUDE.md\n@@ -0,0 +{} @@\n{added}", range(1, lines.len()))
}

fn diff_of_text(text: &str, lines: &[String]) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    if old.is_empty() {
        let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        return format!("--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -0,0 +{} @@\n{added}", range(1, lines.len()));
    }
    let kept = &old[old.len().saturating_sub(CONTEXT_LINES)..];
    let from = old.len() - kept.len() + 1;
    let mut body = String::new();
    for line in kept {
        match line.strip_suffix('\n') {
            Some(line) => body.push_str(&format!(" {line}\n")),
            None => body.push_str(&format!("-{line}\n\\ No newline at end of file\n+{line}\n")),
        }
    }
    let last = old[old.len() - 1].trim();
    let gap = usize::from(!last.is_empty() && !last.starts_with("- "));
    body.push_str(&"+\n".repeat(gap));
    lines.iter().for_each(|line| body.push_str(&format!("+{line}\n")));
    let (before, after) = (range(from, kept.len()), range(from, kept.len() + gap + lines.len()));
    format!("--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -{before} +{after} @@\n{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_at_the_end_of_whatever_the_file_holds() {
        let lines = ["- Use pnpm.".to_owned()];
        assert_eq!(diff_of_new_file(&lines), "--- /dev/null\n+++ b/CLAUDE.md\n@@ -0,0 +1,1 @@\n+- Use pnpm.\n");
        for (text, hunk) in [
            ("# A\n\n- one\n- two\n", "@@ -2,3 +2,4 @@\n \n - one\n - two\n+- Use pnpm.\n"),
            ("Text.", "@@ -1,1 +1,3 @@\n-Text.\n\\ No newline at end of file\n+Text.\n+\n+- Use pnpm.\n"),
            ("", "@@ -0,0 +1,1 @@\n+- Use pnpm.\n"),
        ] {
            assert_eq!(diff_of_text(text, &lines), format!("--- a/CLAUDE.md\n+++ b/CLAUDE.md\n{hunk}"), "{text}");
        }
    }
}
