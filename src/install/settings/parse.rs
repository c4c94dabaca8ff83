//! Parsing a settings file as strictly as the client does, and saying where it is broken. Pure.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::install::splice::range_of;

/// Why a text is no settings file, and where. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub line: usize,
    pub column: usize,
    pub what: String,
}

/// Parses what the client would read; `None` for a text with nothing in it.
pub fn read(text: &str) -> Result<Option<Object<'_>>, Broken> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict)
        .map_err(|e| located(text, e.range().start, uncapitalized(&e.kind().to_string())))?;
    // What that parser lets through and the client does not, such as a line break in a string.
    if let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let what = e.to_string();
        let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
        return Err(Broken { line: e.line(), column: e.column().max(1), what });
    }
    match parsed.value {
        Some(Value::Object(root)) => Ok(Some(root)),
        other => Err(located(text, other.map_or(0, |value| range_of(&value).start), "the file holds no object".into())),
    }
}

fn uncapitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().collect::<String>() + chars.as_str())
}

pub fn located(text: &str, at: usize, what: String) -> Broken {
    let before = &text[..at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Broken { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, what }
}
