//! What the README and the book show is what the program does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::World;

const GUIDE: &str = "docs/src/guide";
const CONFIGURATION: &str = "docs/src/configuration.md";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_day_in_the_readme_is_the_one_the_fixture_gives() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let (_, page) = world.pages().into_iter().find(|(path, _)| path.ends_with("2026-11-17.md")).expect("the page of the day");
    assert!(read("README.md").contains(&format!("````markdown\n{page}````\n")), "the README shows another page than:\n{page}");
}

#[test]
fn the_notes_in_the_guide_are_the_ones_the_fixture_gives() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall_with(["context", "--cwd", "/home/dev/src/shop"], &[("RECALL_NOW", "2026-11-18T09:00:00Z")]);
    let chapter = read(&format!("{GUIDE}/sessions.md"));
    assert!(chapter.contains(&format!("````markdown\n{}````\n", ran.out)), "the guide shows other notes than:\n{}", ran.out);
}

#[test]
fn every_command_of_the_program_stands_in_the_guide() {
    let commands = World::new().commands();
    assert!(commands.len() > 25 && commands.iter().any(|name| name == "redact"), "{commands:?}");
    let chapter = read(&format!("{GUIDE}/commands.md"));
    for command in commands {
        assert!(chapter.contains(&format!("recall {command}")), "the guide does not name `recall {command}`");
    }
}

/// Every command that the README gives in code is one.
#[test]
fn the_readme_names_only_commands_that_there_are() {
    let readme = read("README.md");
    let commands: BTreeSet<String> = World::new().commands().into_iter().collect();
    let named = readme.split('`').flat_map(str::lines).filter_map(|line| line.strip_prefix("recall ")).map(|rest| {
        let word: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
        word
    });
    let named: Vec<String> = named.filter(|word| !word.is_empty()).collect();
    assert!(named.len() > 10, "commands are not found any more: {named:?}");
    for name in named {
        assert!(commands.contains(&name), "README.md names `recall {name}`, which is no command");
    }
}

/// What stands in the chapter at replies that only a server gives.
const IN_TEAM: &str = "--json`, in a team |";

/// The replies in the chapter on formats have the keys that it lists, no more and no fewer.
#[test]
fn the_json_replies_have_the_keys_that_the_chapter_lists() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    // `recall share` asks for a repository.
    fs::create_dir(world.root().join(".git")).expect("a folder");
    let kept =
        world.recall(["remember", "--kind", "todo", "--project", "/home/dev/src/shop", "Rotate the staging certificate in May"]);
    assert_eq!(kept.code, 0, "{kept:#?}");
    let chapter = read("docs/src/formats.md");
    let rows: Vec<Vec<&str>> = chapter
        .lines()
        .filter(|line| line.starts_with("| `recall ") && (line.contains("--json` |") || line.contains(IN_TEAM)))
        .map(|line| line.trim_matches('|').split(" | ").collect())
        .collect();
    assert!(rows.len() > 15, "the replies are not found any more: {rows:?}");
    for command in world.commands() {
        // Itself, or the `status` of one that has commands of its own.
        let gives =
            [&["help", &command][..], &["help", &command, "status"]].iter().any(|args| world.recall(*args).out.contains("--json"));
        let is_listed = rows.iter().any(|row| row[0].split([' ', '`']).any(|word| word == command));
        assert_eq!(gives, is_listed, "`recall {command} --json` and the chapter on formats");
    }
    // Those of a team's server: tests/it/team.
    for row in rows.into_iter().filter(|row| !row[0].contains("in a team")) {
        let [command, _, keys] = row[..] else { panic!("three columns: {row:?}") };
        let words: Vec<&str> = command.trim().trim_matches('`').split(' ').skip(1).collect();
        let ran = world.recall(&words);
        let whole = serde_json::from_str::<serde_json::Value>(&ran.out);
        let first_line = || serde_json::from_str(ran.out.lines().next().unwrap_or_default());
        let reply = whole.or_else(|_| first_line()).unwrap_or_else(|e| panic!("{command}: {e}: {ran:#?}"));
        let reply = if reply.is_array() { &reply[0] } else { &reply };
        let there: BTreeSet<&str> = reply.as_object().expect("an object").keys().map(String::as_str).collect();
        let listed: BTreeSet<&str> = keys.split('`').skip(1).step_by(2).collect();
        assert_eq!(there, listed, "{command}");
    }
}

/// The part of a chapter below a heading, up to the next one of its rank.
fn section<'c>(chapter: &'c str, heading: &str) -> &'c str {
    let start = format!("\n## {heading}\n");
    let (_, rest) = chapter.split_once(&start).unwrap_or_else(|| panic!("no heading {heading}"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// What stands between backticks in the first columns of its tables.
fn names_in_tables(section: &str) -> BTreeSet<&str> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect()
}

#[test]
fn the_chapter_on_formats_has_the_format_and_tables_of_the_index() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let chapter = read("docs/src/formats.md");
    let section = section(&chapter, "The index");
    let format = world.count("PRAGMA user_version");
    assert!(section.replace('\n', " ").contains(&format!("is its format: {format} today")), "the format is {format}");
    let names = names_in_tables(section);
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let found = world.count(&format!("SELECT count(*) FROM sqlite_schema WHERE name = '{name}'"));
        assert_eq!(found, 1, "the index has no table {name}");
    }
}

#[test]
fn the_chapter_on_formats_has_every_key_in_the_headers_of_pages() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let chapter = read("docs/src/formats.md");
    let listed = names_in_tables(section(&chapter, "Pages"));
    let pages = world.pages();
    let headers = pages.iter().filter_map(|(_, page)| page.strip_prefix("---\n")?.split("\n---\n").next());
    let keys: BTreeSet<&str> = headers.flat_map(str::lines).filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(keys, listed);
}

/// The first block of settings in the chapter is a config that the program takes.
#[test]
fn the_config_in_the_chapter_is_one_the_program_takes() {
    let chapter = read(CONFIGURATION);
    let block = chapter.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let world = World::new();
    world.configure(block);
    let ran = world.recall(["config", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

/// The settings that `recall config` prints without a config file, each with its default, in its order.
fn settings_with_defaults() -> Vec<(String, String)> {
    let ran = World::new().recall(["config", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let all: Vec<serde_json::Value> = serde_json::from_str(&ran.out).expect("the settings as JSON");
    let text = |setting: &serde_json::Value, name: &str| setting[name].as_str().expect("text").to_owned();
    let default = |key: &str, value: String| match key {
        // Where it was found here says nothing.
        "claude_dirs" => "`$CLAUDE_CONFIG_DIR`, else `~/.claude`".to_owned(),
        "sources.codex.dirs" => "`$CODEX_HOME`, else `~/.codex`".to_owned(),
        "sources.copilot-cli.dirs" => "`~/.copilot`".to_owned(),
        "sources.cursor.dirs" => "`~/.cursor`".to_owned(),
        "sources.antigravity.dirs" | "sources.gemini.dirs" => "`~/.gemini`".to_owned(),
        "sources.windsurf.dirs" => "`~/.windsurf`".to_owned(),
        "sources.pi.dirs" => "`$PI_CODING_AGENT_DIR`, else `~/.pi/agent`".to_owned(),
        "sources.cline.dirs" => "`$CLINE_DIR`, else `~/.cline`; the user folders of editors".to_owned(),
        "sources.kilo-code.dirs" | "sources.roo-code.dirs" | "sources.vscode-copilot.dirs" => {
            "the user folders of editors".to_owned()
        }
        "sources.cowork.dirs" => {
            "`~/Library/Application Support/Claude`, `$XDG_CONFIG_HOME/Claude` or `~/.config/Claude`".to_owned()
        }
        "sources.opencode.dirs" => "`$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`".to_owned(),
        "sources.qwen-code.dirs" => "`$QWEN_HOME`, else `~/.qwen`".to_owned(),
        "timezone" => "the system's".to_owned(),
        _ if value.len() > 60 => "`recall config` prints it".to_owned(),
        _ => format!("`{value}`"),
    };
    let row = |setting: &serde_json::Value| {
        let key = text(setting, "key");
        let default = default(&key, text(setting, "value"));
        (key, default)
    };
    // These two are paths, and no keys of the file.
    all.iter().map(row).filter(|(key, _)| !["config_file", "data_dir"].contains(&key.as_str())).collect()
}

/// The table of settings is the program's list. What each does is written by hand, in the last column.
///
/// `RECALL_WRITE_DOCS=1 cargo test --test it the_table_of_settings` writes the first two columns anew.
#[test]
fn the_table_of_settings_is_the_list_of_the_program() {
    const HEAD: &str = "| setting | default | what it does |\n|---|---|---|\n";
    let chapter = read(CONFIGURATION);
    let (before, rest) = chapter.split_once(HEAD).expect("the table of settings");
    let (table, after) = rest.split_once("\n\n").expect("an end of the table");
    let meaning_of = |key: &str| {
        let start = format!("| `{key}` | ");
        let row = table.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(row.split_once(" | ")?.1.strip_suffix(" |")?.to_owned()).filter(|meaning| !meaning.is_empty())
    };
    let settings = settings_with_defaults();
    assert!(settings.len() > 30, "{settings:?}");
    let row = |(key, default): &(String, String)| {
        format!("| `{key}` | {default} | {} |", meaning_of(key).unwrap_or_else(|| "TO WRITE".to_owned()))
    };
    let made = settings.iter().map(row).collect::<Vec<_>>().join("\n");
    if std::env::var_os("RECALL_WRITE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CONFIGURATION);
        fs::write(path, format!("{before}{HEAD}{made}\n\n{after}")).expect("the chapter");
    } else {
        assert_eq!(table, made, "RECALL_WRITE_DOCS=1 writes the first two columns of the table in {CONFIGURATION}");
    }
    assert!(!made.contains("TO WRITE"), "say in {CONFIGURATION} what these do:\n{made}");
}

/// The keys that the program takes in a table of the config file: those it names when it is given another.
fn keys_of(table: &str) -> Vec<String> {
    let world = World::new();
    let no_key = "no_such_key = 1\n";
    world.configure(&if table.is_empty() { no_key.to_owned() } else { format!("[{table}]\n{no_key}") });
    let ran = world.recall(["config"]);
    let (_, named) = ran.err.split_once("expected ").unwrap_or_else(|| panic!("[{table}]: {ran:#?}"));
    named.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_that_the_config_file_takes_stands_in_the_chapter() {
    let chapter = read(CONFIGURATION);
    let stands = |key: &str| assert!(chapter.contains(&format!("\n| `{key}` | ")), "no row of {CONFIGURATION} is of `{key}`");
    let tables = [
        "hooks", "digest", "privacy", "exclude", "retention", "signal", "embeddings", "prices.MODEL", "team.PROJECT",
        "sources.claude-code", "sources.codex", "sources.copilot-cli", "sources.qwen-code", "sources.pi", "sources.opencode",
        "sources.cline", "sources.cowork", "sources.gemini", "sources.cursor", "sources.roo-code", "sources.kilo-code",
        "sources.vscode-copilot", "sources.antigravity", "sources.windsurf",
    ];
    let top = keys_of("");
    assert!(top.len() >= 12, "{top:?}");
    for key in top {
        let of: Vec<&&str> = tables.iter().filter(|table| table.split('.').next() == Some(&key)).collect();
        if of.is_empty() {
            stands(&key);
        }
        of.into_iter().for_each(|table| keys_of(table).iter().for_each(|name| stands(&format!("{table}.{name}"))));
    }
}
