//! Examples at the end of each command's help.

use clap::Command;

/// Lines to type with what they do, by command.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "day",
        &[
            ("recall day", "today"),
            ("recall day yesterday", ""),
            ("recall day 2026-11-18", "a date"),
            ("recall day week", "the last seven days"),
        ],
    ),
    ("list", &[("recall list", ""), ("recall list --project shop --since 7d", "one project, one week")]),
    (
        "stats",
        &[
            ("recall stats", "by day, the last 30 days"),
            ("recall stats --by project --since 7d", ""),
            ("recall stats --by model --cost", "token types and cost"),
            ("recall stats --team --by author", "of your team, from its server"),
        ],
    ),
    ("todo", &[("recall todo", ""), ("recall todo --project shop --all", "also what is older than 30 days")]),
    (
        "report",
        &[
            ("recall report", "for a standup: since yesterday"),
            ("recall report --for week", ""),
            ("recall report --for pr | gh pr create --body-file -", "the text of a pull request, from this branch's sessions"),
            ("recall report --for changelog --since 2026-11-01", ""),
            ("recall report --summarizer claude --dry-run", "what it would cost if the model wrote it"),
            ("recall report --summarizer claude", "written by the model"),
        ],
    ),
    ("resume", &[("recall resume", "the newest session of this project"), ("recall resume 64b0b6d9", "")]),
    (
        "show",
        &[
            ("recall show last", "the newest session, in short"),
            ("recall show 64b0b6d9 --full", ""),
            ("recall show --team 0708a5fa", "what a colleague shared of a session"),
            ("recall show -2 --raw", "the transcript of the second newest session"),
        ],
    ),
    (
        "share",
        &[
            ("recall share", "what could be shared"),
            ("recall share m4e5f6a7", "write the file of one"),
            ("recall share --remove m4e5f6a7", "delete it again"),
            ("git add .recall && git commit", "then your team has it"),
        ],
    ),
    (
        "team",
        &[
            ("recall team join postgres://anna@db.example.com/team", ""),
            ("recall team", "exchange now"),
            ("recall team status", "what was shared"),
            ("recall team withdraw --session 64b0b6d9", "keep one session from the team"),
            ("recall team leave", "erase what you shared"),
            ("recall team records anna/projects > all.jsonl", "of a backlog"),
        ],
    ),
    (
        "sync",
        &[
            ("recall sync add ~/Sync/recall", "a folder that Syncthing or NFS carries"),
            ("recall sync key --output key.txt", "the key, for your other machines; delete the file afterwards"),
            ("recall sync add ~/Sync/recall --key key.txt", "on another machine, with the key of the first"),
            ("recall sync add ~/Sync/recall --name notebook", "rename this machine"),
            ("recall sync", "exchange now"),
            ("recall sync status", ""),
        ],
    ),
    (
        "serve",
        &[
            ("recall serve --open", ""),
            ("recall serve --export site", "the same pages as files"),
            ("recall serve --port 37777 --token-file token --no-idle-end", "for other programs"),
        ],
    ),
    (
        "search",
        &[
            ("recall search pagination cursor", "these words in any form; one of them is enough"),
            ("recall search '\"created_at index\" project:shop since:30d'", "a phrase, in a project, in the last 30 days"),
            ("recall search kind:decision cache", "decisions from notes and the model, else your own words"),
            ("recall search --team 'deadlock in checkout'", "also on your team's server"),
        ],
    ),
    ("timeline", &[("recall timeline 64b0b6d9", ""), ("recall timeline last --before 5 --after 0", "the 5 sessions before it")]),
    (
        "context",
        &[
            ("recall context", "the notes that a new session here starts with"),
            ("recall context -c 'where are we on pagination'", "what earlier sessions say on a topic"),
        ],
    ),
    ("why", &[("recall why session cache", "the current decision, and the earlier ones")]),
    ("fix", &[("recall fix 'libpq.so.5: cannot open'", "where it occurred, and what was done")]),
    ("how", &[("recall how", "all commands that passed here"), ("recall how test", "only tests")]),
    ("friction", &[("recall friction", ""), ("recall friction --project shop -n 5", "")]),
    (
        "remember",
        &[
            ("recall remember", "lists the notes of this project"),
            ("recall remember 'Deploys go through Gitea'", ""),
            ("recall remember --tag deploy 'Deploys go through Gitea'", "found by tag:deploy"),
            ("recall remember --due 2026-12-01 'Renew the certificate'", "a todo"),
            ("recall remember --edit m25bb9d96 'Deploys go through CI'", ""),
            ("recall remember --everywhere 'Answer in British English'", "for all projects"),
        ],
    ),
    (
        "close",
        &[
            ("recall close", "lists what is open here"),
            ("recall close n763131ea", "marks it as done"),
            ("recall close n763131ea --undo", ""),
        ],
    ),
    (
        "wrong",
        &[
            ("recall wrong 64b0b6d9", "lists the statements about a session, with ids"),
            ("recall wrong c1f8b2a90", "hides a statement"),
            ("recall wrong c1f8b2a90 --undo", ""),
        ],
    ),
    ("rules", &[("recall rules", "instructions that you keep repeating"), ("recall rules --diff", "as lines for CLAUDE.md")]),
    (
        "digest",
        &[
            ("recall digest --dry-run", "what it would do, and the cost"),
            ("recall digest", ""),
            ("recall digest --summarizer extract", "without a model"),
            ("recall digest --max-cost 2", "spend at most $2.00"),
        ],
    ),
    (
        "install",
        &[
            ("recall install --dry-run", "shows every change first"),
            ("recall install", "hooks and timer"),
            ("recall install --mcp", "also lets Claude search"),
            ("recall install --all --mcp", "for every agent used here; asks for each"),
        ],
    ),
    (
        "uninstall",
        &[
            ("recall uninstall --dry-run", ""),
            ("recall uninstall", "keeps the data"),
            ("recall uninstall --purge", "deletes the data, too"),
        ],
    ),
    ("status", &[("recall status", ""), ("recall status --json", "")]),
    (
        "doctor",
        &[
            ("recall doctor", ""),
            ("recall doctor --fix", "fixes what it can"),
            ("recall doctor --deep", "reads all of a large index, too"),
            ("recall doctor --memory", "what is out of date in Claude's memory files"),
        ],
    ),
    ("eval", &[("recall eval", ""), ("recall eval --project shop --since 30d", "")]),
    ("pause", &[("recall pause 2h", ""), ("recall pause --off", "ends it")]),
    (
        "forget",
        &[
            ("recall forget --session 64b0b6d9 --dry-run", "shows what would be deleted"),
            ("recall forget --match 'Project X'", "everything that contains it"),
            ("recall forget --before 365d", "sessions last active more than a year ago"),
        ],
    ),
    ("config", &[("recall config", ""), ("recall config --init", "writes a config file to edit")]),
    ("export", &[("recall export > all.jsonl", ""), ("recall export --project shop > shop.jsonl", "")]),
    (
        "import",
        &[("recall import all.jsonl", ""), ("recall import --from claude-mem", "what claude-mem has stored of older sessions")],
    ),
    (
        "embed",
        &[
            ("recall embed", "which model is in use"),
            ("recall embed install", "fetches all-MiniLM-L6-v2, 91 MB"),
            ("recall embed install ~/models/my-model", "copies it from a folder"),
        ],
    ),
    ("mcp", &[("claude mcp add recall -- recall mcp", "what `recall install --mcp` does")]),
    ("redact", &[("recall redact < notes.txt", ""), ("recall redact --list < notes.txt", "where, and by which rule")]),
    ("completions", &[("recall completions zsh > ~/.zfunc/_recall", "")]),
    ("man", &[("recall man | man -l -", ""), ("recall man ~/.local/share/man/man1", "")]),
];

/// The command line with examples.
pub(super) fn with_examples(plain: Command) -> Command {
    // Some commands are left out of the program by its features.
    let known: Vec<_> = EXAMPLES.iter().filter(|(name, _)| plain.find_subcommand(name).is_some()).collect();
    known.into_iter().fold(plain, |all, (name, lines)| all.mut_subcommand(*name, |one| one.after_help(text(lines))))
}

fn text(lines: &[(&str, &str)]) -> String {
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
    let told = |(line, what): &(&str, &str)| match *what {
        "" => format!("  {line}"),
        what if width + what.chars().count() + 6 > MAX_COLUMNS => format!("  {line}\n      # {what}"),
        what => format!("  {line:width$}  # {what}"),
    };
    format!("Examples:\n{}", lines.iter().map(told).collect::<Vec<_>>().join("\n"))
}

const MAX_COLUMNS: usize = 80;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_command_has_examples_and_each_of_them_is_understood() {
        let plain = Cli::command();
        let known: BTreeSet<&str> = plain.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let told: BTreeSet<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(told, known);
        for (name, lines) in EXAMPLES {
            for (line, what) in *lines {
                let own = line.split(['|', '>', '<']).next().expect("a command");
                let split = std::process::Command::new("/bin/sh").args(["-c", &format!("printf '%s\\n' {own}")]).output().unwrap();
                let words = String::from_utf8(split.stdout).unwrap();
                let words: Vec<&str> = words.lines().collect();
                if words[0] == "recall" {
                    let read = Cli::try_parse_from(&words);
                    assert!(read.is_ok(), "{line}: {:?}", read.err().map(|e| e.to_string()));
                    assert_eq!(words[1], *name, "{line}");
                }
                assert!(what.len() <= 70 && line.len() <= 76, "{line}");
            }
        }
    }
}
