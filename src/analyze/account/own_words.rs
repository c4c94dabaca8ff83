//! What a prompt says in words of its own, in one line: without what was mentioned, pasted or marked up in it.

use text::clean::one_line;

/// Fewer characters hardly say what something is about.
pub(super) const TELLING_CHARS: usize = 20;
/// Most characters that are looked at: what is longer was pasted.
const MAX_LOOKED_AT: usize = 4_000;
/// A line is of words if at least so many of a hundred characters are letters or spaces.
const LETTERS_PERCENT: usize = 70;

/// The first words of a prompt that tell something; `None` if none do.
pub(super) fn first_telling_words(prompt: &str) -> Option<String> {
    let text: String = prompt.chars().take(MAX_LOOKED_AT).collect();
    let text = without_command(text.trim_start());
    let mut told = String::new();
    for paragraph in paragraphs(text) {
        told = if told.is_empty() { paragraph } else { format!("{told} {paragraph}") };
        // What ends in a colon leads to what follows.
        if is_telling(&told) && !(told.ends_with(':') && told.chars().count() < 2 * TELLING_CHARS) {
            break;
        }
    }
    let told = after_short_sentences(&told);
    is_telling(told).then(|| told.to_owned())
}

/// Does a prompt tell something in words of its own? "Go ahead" does not.
pub(crate) fn tells_something(prompt: &str) -> bool {
    first_telling_words(prompt).is_some()
}

fn is_telling(text: &str) -> bool {
    // Scripts that write no spaces say twice as much with a character.
    let dense =
        text.chars().filter(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}')).count();
    text.chars().count() + dense >= TELLING_CHARS && (text.contains(' ') || dense > 0)
}

/// `/plan add a list` without the command, if there are words behind it.
fn without_command(text: &str) -> &str {
    let Some(behind) = text.strip_prefix('/').and_then(|text| text.split_once(char::is_whitespace)) else {
        return if text.starts_with('/') { "" } else { text };
    };
    // A path is no command.
    if behind.0.contains('/') { text } else { behind.1 }
}

/// A prompt without its command and without the lines that are code, a quotation or what a program printed. Such a line leaves an empty one.
pub(crate) fn without_pasted(prompt: &str) -> String {
    let lines = lines_of_words(without_command(prompt.trim_start()));
    lines.map(|line| line.map_or("", |(line, _)| line)).collect::<Vec<_>>().join("\n")
}

/// The lines of a text, each as it stands and without markup; `None` for one that is code, a quotation or what a program printed, or empty.
fn lines_of_words(text: &str) -> impl Iterator<Item = Option<(&str, String)>> {
    let mut in_fence = false;
    text.lines().map(move |line| {
        let line = line.trim().trim_end_matches('\\').trim_end();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_fence ^= is_fence;
        let plain = plain(line);
        (!is_fence && !in_fence && !plain.is_empty() && !is_printed(line, &plain)).then_some((line, plain))
    })
}

/// The paragraphs of words.
fn paragraphs(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in lines_of_words(text) {
        let Some((_, plain)) = line else {
            all.push(String::new());
            continue;
        };
        if let Some(last) = all.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(&plain);
        }
    }
    all.retain(|paragraph| !paragraph.is_empty());
    all
}

/// Does a line look as if a program had printed it?
fn is_printed(line: &str, plain: &str) -> bool {
    let letters = plain.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    let begins = line.starts_with(['$', '>', '|', '<', '{', '}', '❯', '➜', '⎿', '[']) && !line.starts_with("[Image");
    begins || letters * 100 < plain.chars().count() * LETTERS_PERCENT
}

/// A line without markup, images, addresses and the folders of files that it mentions.
fn plain(line: &str) -> String {
    let line = line.trim_start_matches(['#', '>', '*', '-', '•', ' ']);
    let line = without_link_targets(&without_images(line)).replace(['*', '`'], "");
    let words = line.split_whitespace().map(|word| match word.trim_start_matches(['(', '<', '"']).strip_prefix('@') {
        Some(path) => path.trim_end_matches('/').rsplit('/').next().unwrap_or(path),
        None => word,
    });
    let words = words.map(|word| if word.contains("://") { end_of_address(word) } else { word.to_owned() });
    let all: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    // Mentions and addresses alone say nothing.
    let mentions = line.split_whitespace().filter(|word| word.starts_with('@') || word.contains("://")).count();
    if all.len() == mentions { String::new() } else { one_line(&all.join(" ")) }
}

/// Without `[Image #1]`.
fn without_images(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("[Image") {
        kept.push_str(before);
        rest = behind.split_once(']').map_or("", |(_, behind)| behind);
    }
    kept + rest
}

/// `a [link](https://example.org)` as `a link`.
fn without_link_targets(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("](") {
        let opened = before.rfind('[').filter(|_| behind.contains(')'));
        let (Some(opened), Some((_, after))) = (opened, behind.split_once(')')) else {
            kept.push_str(before);
            kept.push_str("](");
            rest = behind;
            continue;
        };
        kept.push_str(&before[..opened]);
        kept.push_str(&before[opened + 1..]);
        rest = after;
    }
    kept + rest
}

/// Of an address the last two parts, by which a person would name it.
fn end_of_address(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let parts: Vec<&str> = path.split('/').skip(2).filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// From the first sentence on that is not short, if there is one.
fn after_short_sentences(text: &str) -> &str {
    let mut rest = text;
    while let Some(end) = rest.find(['.', '!', '?']).map(|at| at + 1) {
        let (sentence, behind) = rest.split_at(end);
        let is_short = sentence.chars().count() < TELLING_CHARS && behind.starts_with(' ');
        if !is_short || !is_telling(behind.trim_start()) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_that_tell_something_are_found() {
        for (prompt, told) in [
            ("Why does the list of orders jump?", "Why does the list of orders jump?"),
            ("[Image #1] Add a margin to the list, please", "Add a margin to the list, please"),
            ("@src/a.rs @src/b.rs why does the list jump?", "a.rs b.rs why does the list jump?"),
            ("Read @src/list/page.rs and do a review", "Read page.rs and do a review"),
            ("Thanks! Please update the list of orders", "Please update the list of orders"),
            ("## The **list** jumps\n\nand so on", "The list jumps and so on"),
            ("Fix what the linter found:\n\n[lint] a.rs:12: x\n[lint] done", "Fix what the linter found:"),
            ("look at this:\n\nThe list of orders jumps\n\nand more", "look at this: The list of orders jumps"),
            ("look at https://example.org/shop/list/issues/70 please", "look at issues/70 please"),
            (
                "Sort [the list](https://example.org) of orders by date[1] (as before)",
                "Sort the list of orders by date[1] (as before)",
            ),
            ("为什么订单列表会跳来跳去", "为什么订单列表会跳来跳去"),
            ("/orchestrator create a list of orders", "create a list of orders"),
            ("Not supported by that browser :(\\\n\\\nThe style is this", "Not supported by that browser :("),
        ] {
            assert_eq!(first_telling_words(prompt).as_deref(), Some(told), "{prompt}");
        }
    }

    #[test]
    fn chatter_and_what_was_pasted_tell_nothing() {
        for prompt in [
            "hi",
            "continue",
            "/pr",
            "/review 158",
            "@docs/a-long-name-of-a-plan.md",
            "https://example.org/shop/list/issues/70",
            "[Image #1]",
            "[test:e2e] $ E2E=1 go test ./...\n=== RUN TestList\n--- FAIL: TestList (0.00s)",
            "```\nthe list of orders jumps\n```",
        ] {
            assert_eq!(first_telling_words(prompt), None, "{prompt}");
        }
    }
}
