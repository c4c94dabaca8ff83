//! Every word of help and every message, in two texts: a change of words is seen where it is reviewed, beside all others.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::support::{World, files_below};

/// Macros and functions whose texts a user reads.
const SPEAKERS: [&str; 20] = [
    "anyhow", "bail", "context", "ensure", "error", "format", "note", "notice", "ok", "print", "println", "problem", "push_str",
    "report", "some", "told", "warn", "warning", "with_context", "writeln",
];

#[test]
fn every_help() {
    let world = World::new();
    let mut text = world.recall(["--help"]).out;
    for command in world.commands() {
        let help = world.recall(["help", &command]);
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command}");
        let _ = write!(text, "\n=== recall help {command}\n\n{}", help.out);
    }
    insta::assert_snapshot!("help", text);
}

#[test]
fn every_message() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let in_project = |file: &PathBuf| file.strip_prefix(root).expect("in the project").to_owned();
    let is_tests = |file: &PathBuf| {
        let made_for_tests = ["tests.rs", "testing.rs", "promises.rs", "test_rows.rs"];
        file.iter().any(|part| part == "tests") || made_for_tests.iter().any(|name| file.ends_with(name))
    };
    let is_code = |file: &PathBuf| file.extension().is_some_and(|ext| ext == "rs") && !is_tests(&in_project(file));
    let mut text = String::new();
    let folders = ["crates/transcripts/src", "src"].map(|folder| files_below(&root.join(folder)));
    for file in folders.into_iter().flatten().filter(is_code) {
        let source = fs::read_to_string(&file).expect("UTF-8");
        let tokens: TokenStream = source.parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut found = BTreeSet::new();
        messages(tokens, false, &mut found);
        if !found.is_empty() {
            let _ = writeln!(text, "\n{}", in_project(&file).display());
            found.iter().for_each(|one| text.push_str(&format!("  {one}\n")));
        }
    }
    assert!(text.lines().count() > 500, "messages are not found any more");
    insta::assert_snapshot!("messages", text);
}

/// The texts of at least two words in calls of speakers; those of unit tests and of SQL are none.
fn messages(tokens: TokenStream, speaks: bool, found: &mut BTreeSet<String>) {
    let (mut speaker, mut is_test) = (false, false);
    for token in tokens {
        match token {
            TokenTree::Ident(name) => speaker = SPEAKERS.contains(&name.to_string().to_lowercase().as_str()),
            // `bail!(…)`, and the `.` and `::` before a name.
            TokenTree::Punct(_) => {}
            TokenTree::Literal(literal) => {
                if speaks {
                    found.extend(text_of(&literal.to_string()));
                }
                speaker = false;
            }
            TokenTree::Group(group) => {
                let attribute = group.stream().to_string();
                if attribute == "cfg (test)" || attribute == "cfg(test)" {
                    is_test = true;
                } else if is_test && group.delimiter() == Delimiter::Brace {
                    is_test = false;
                } else if !is_test && !attribute.starts_with("doc ") && !attribute.starts_with("doc=") {
                    messages(group.stream(), speaks || speaker, found);
                }
                speaker = false;
            }
        }
    }
}

/// The text of a literal, on one line, if a user may read it as words.
fn text_of(literal: &str) -> Option<String> {
    let text = literal.trim_start_matches('r').trim_matches('#').strip_prefix('"')?.strip_suffix('"')?;
    let lines: Vec<&str> = text.lines().map(|line| line.strip_suffix('\\').unwrap_or(line)).collect();
    let text = lines.iter().enumerate().map(|(n, line)| if n == 0 { line } else { line.trim_start() }).collect::<String>();
    let is_sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "WITH ", "PRAGMA "]
        .iter()
        .any(|verb| text.trim_start().starts_with(verb));
    let words = text.split(' ').filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1).count();
    (words > 1 && !is_sql).then_some(text)
}
