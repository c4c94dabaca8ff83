//! Markup that pretends to be the client's or ours, made harmless. Pure.

use crate::clean::is_invisible;

/// Blocks that the client, an editor or `recall` itself inserts into a message; no one said them.
pub const INJECTED_TAGS: [&str; 10] = [
    "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "local-command-caveat", "local-command-stdout",
    "local-command-stderr", "user-prompt-submit-hook", "session-start-hook", "recall-context",
];

/// The tags around every text that recall injects.
pub const OPENING_TAG: &str = "<recall-context>\n";
pub const CLOSING_TAG: &str = "</recall-context>\n";

/// Other tags with which a client addresses its model.
const TOLD: [&str; 9] = [
    "function_calls", "function_results", "command-name", "command-message", "command-args", "task-notification", "tool_use_error",
    "persisted-output", "local-command",
];

/// Neutralizes the tags of injected blocks in any spelling, so that a model does not take quoted text for one.
pub fn disarm(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(may_open) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(c) = rest.chars().next() else { break };
        let opener = opener(rest).filter(|len| is_client_tag(&rest[*len..]));
        out.push(if opener.is_some() { '‹' } else { c });
        rest = &rest[opener.unwrap_or(c.len_utf8())..];
    }
    out.push_str(rest);
    out
}

/// May a character that begins with this byte be an [`opener`]? `＜` and `﹤` begin with 0xef, as no character within goes on.
fn may_open(byte: u8) -> bool {
    matches!(byte, b'<' | b'\\' | b'&' | 0xef)
}

/// The length of the character that opens a tag, if the text starts with it: literal, or escaped as in HTML or JSON.
fn opener(text: &str) -> Option<usize> {
    let starts = |text: &str, with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let name = match text.chars().next()? {
        c @ ('<' | '＜' | '﹤') => return Some(c.len_utf8()),
        '\\' => return starts(text, "\\u003c").then_some(6),
        '&' => &text[1..],
        _ => return None,
    };
    let code = |number: &str, of: &str| {
        let digits = number.trim_start_matches('0');
        starts(digits, of).then(|| text.len() - digits.len() + of.len())
    };
    let len = if starts(name, "lt") {
        3
    } else if starts(name, "#x") {
        code(&name[2..], "3c")?
    } else {
        code(name.strip_prefix('#')?, "60")?
    };
    Some(len + usize::from(text[len..].starts_with(';')))
}

/// Is this the name of such a tag? Spaces, slashes and invisible characters before and within it are skipped, as a model would.
fn is_client_tag(rest: &str) -> bool {
    let over = |c: &char| {
        c.is_whitespace()
            || c.is_control()
            || is_invisible(*c)
            || matches!(c, '/' | '\\' | '／' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
    };
    let seen = || rest.chars().filter(|c| !over(c)).map(|c| c.to_ascii_lowercase());
    let longest = INJECTED_TAGS.iter().chain(&TOLD).map(|name| name.len()).max().unwrap_or(0);
    let start: String = seen().take(longest).collect();
    INJECTED_TAGS.iter().chain(&TOLD).any(|name| start.starts_with(name))
}
