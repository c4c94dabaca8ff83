//! Generates static tables from `formats.toml`, so that nothing is parsed at run time and a mistake in the file fails the build.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

#[path = "src/rule.rs"]
mod rule;
#[path = "src/syntax.rs"]
mod syntax;

use rule::Rule;
use syntax::{Command, Flag, Part, Token};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Formats {
    rules: Vec<Rule>,
}

fn main() {
    println!("cargo::rerun-if-changed=formats.toml");
    let text = fs::read_to_string("formats.toml").expect("formats.toml");
    let formats: Formats = toml::from_str(&text).unwrap_or_else(|error| panic!("formats.toml: {error}"));
    let (mut tokens, mut commands) = (Vec::new(), Vec::new());
    for rule in &formats.rules {
        let Rule { id, pattern, keywords, tokens: formats, commands: lines, needs } = rule;
        assert!(pattern.is_none() && keywords.is_empty(), "formats.toml: rule `{id}`: a pattern would be compiled at every start");
        assert!(!formats.is_empty() || !lines.is_empty(), "formats.toml: rule `{id}`: there are neither `tokens` nor `commands`");
        for format in formats {
            tokens.push(syntax::token(id, *needs, format).unwrap_or_else(|why| panic!("formats.toml: `{format}`: {why}")));
        }
        for line in lines {
            let added = syntax::add_command(&mut commands, id, *needs, line);
            added.unwrap_or_else(|why| panic!("formats.toml: `{line}`: {why}"));
        }
    }
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("formats.rs"), tables(&tokens, &commands)).expect("the tables");
}

/// The Rust source of the two tables, and of a static for each list inside them.
fn tables(tokens: &[Token], commands: &[Command]) -> String {
    let (mut lists, mut token_rows, mut command_rows) = (String::new(), String::new(), String::new());
    for (n, Token { rule, key, lead, parts, needs, keeps_key }) in tokens.iter().enumerate() {
        let list: String = parts.iter().map(part).collect();
        writeln!(lists, "static PARTS_{n}: [Part; {}] = [{list}];", parts.len()).expect("a string");
        writeln!(
            token_rows,
            "Token {{ rule: Cow::Borrowed({rule:?}), key: Cow::Borrowed({key:?}), lead: {lead:?}, parts: Cow::Borrowed(&PARTS_{n}), \
             needs: Need::{needs:?}, keeps_key: {keeps_key} }},"
        )
        .expect("a string");
    }
    for (n, Command { name, flags }) in commands.iter().enumerate() {
        let list: String = flags.iter().map(flag).collect();
        writeln!(lists, "static FLAGS_{n}: [Flag; {}] = [{list}];", flags.len()).expect("a string");
        writeln!(command_rows, "Command {{ name: Cow::Borrowed({name:?}), flags: Cow::Borrowed(&FLAGS_{n}) }},").expect("a string");
    }
    format!(
        "pub(crate) static TOKENS: [Token; {}] = [\n{token_rows}];\n\
         pub(crate) static COMMANDS: [Command; {}] = [\n{command_rows}];\n{lists}",
        tokens.len(),
        commands.len(),
    )
}

fn part(part: &Part) -> String {
    match part {
        Part::Literal(text) => format!("Part::Literal(Cow::Borrowed({text:?})), "),
        Part::Run { set, min, max } => format!("Part::Run {{ set: {set:?}, min: {min}, max: {max} }}, "),
    }
}

fn flag(Flag { rule, name, value, needs }: &Flag) -> String {
    format!(
        "Flag {{ rule: Cow::Borrowed({rule:?}), name: Cow::Borrowed({name:?}), value: FlagValue::{value:?}, needs: Need::{needs:?} }}, "
    )
}
