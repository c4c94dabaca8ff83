//! Tags that the client puts around text that is not the user's: `<ci-monitor-event …>…</ci-monitor-event>`.
//!
//! A name of several words is a client's tag: no HTML element has one, and people who structure prompts with tags use single
//! words.

/// Longest opening tag, in bytes: attributes may hold titles and addresses.
const MAX_TAG_BYTES: usize = 8_192;
/// Longest name of a tag, in bytes.
const MAX_NAME_BYTES: usize = 80;
/// Markup without content that may precede a tag, by its start and end.
const SILENT_MARKUP: [(&str, &str); 3] = [("<!--", "-->"), ("<?", "?>"), ("<!", ">")];

/// The wrapped blocks at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapped<'t> {
    /// The names of the tags, in order.
    pub(crate) names: Vec<&'t str>,
    /// The text after the blocks; empty if it has no letters or digits.
    pub(crate) rest: &'t str,
}

/// The multi-word tags that a text begins with, each with its content; `None` if it begins with anything else. A block extends to
/// the last closing tag of its name, as its content may contain closing tags too.
pub(super) fn at_start(text: &str) -> Option<Wrapped<'_>> {
    let mut names = Vec::new();
    let mut rest = after_silent_markup(text);
    while let Some((name, behind)) = block(rest) {
        names.push(name);
        rest = after_silent_markup(behind);
    }
    let says_something = rest.chars().any(char::is_alphanumeric);
    (!names.is_empty()).then_some(Wrapped { names, rest: if says_something { rest } else { "" } })
}

/// The text from its first word or tag on.
fn after_silent_markup(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c != '<' && !c.is_alphanumeric());
        let Some((_, close)) = SILENT_MARKUP.iter().find(|(open, _)| rest.starts_with(open)) else { return rest };
        rest = rest.split_once(close).map_or("", |(_, behind)| behind);
    }
}

/// The name of the tag that a text begins with, and the text after its block.
fn block(text: &str) -> Option<(&str, &str)> {
    let tag = OpeningTag::at_start(text)?;
    if tag.closes_itself {
        return Some((tag.name, tag.behind));
    }
    if let Some(behind) = after_last_close(tag.behind, tag.name) {
        return Some((tag.name, behind));
    }
    // The block is truncated, or the tag is only mentioned: then text follows it on the same line.
    let alone = tag.behind.lines().next().is_none_or(|line| line.trim().is_empty());
    (alone || tag.has_attributes).then_some((tag.name, ""))
}

struct OpeningTag<'t> {
    name: &'t str,
    has_attributes: bool,
    closes_itself: bool,
    behind: &'t str,
}

impl<'t> OpeningTag<'t> {
    /// The opening multi-word tag that a text begins with.
    fn at_start(text: &'t str) -> Option<Self> {
        let inside = text.strip_prefix('<')?.trim_start();
        let name = &inside[..inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len())];
        if name.len() > MAX_NAME_BYTES || !has_several_words(name) {
            return None;
        }
        let after = &inside[name.len()..];
        let near = &after[..after.floor_char_boundary(MAX_TAG_BYTES)];
        let end = end_of_tag(near).or_else(|| near.find('>'))?;
        let attributes = near[..end].trim();
        let starts = after.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
        let bare = attributes.trim_end_matches('/').trim();
        starts.then_some(Self {
            name,
            has_attributes: !bare.is_empty(),
            closes_itself: attributes.ends_with('/'),
            behind: &after[end + 1..],
        })
    }
}

/// The offset of the `>` that ends a tag, outside of quotes.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        None
    })
}

/// Letters, digits, and characters that join words; dashes of all kinds look alike.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// `ci-event`, `ci_event`, `ci:event`, `ciEvent`; not `div`, `Task` or `HTML`.
fn has_several_words(name: &str) -> bool {
    let joined = name.trim_matches(|c: char| !c.is_alphanumeric()).contains(|c: char| !c.is_alphanumeric());
    let cased = name.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && (joined || cased)
}

/// What follows the last closing tag of a name, ignoring case.
fn after_last_close<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.rmatch_indices("</").find_map(|(at, open)| {
        let inside = text[at + open.len()..].trim_start();
        let closed = inside.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        inside[if closed { name.len() } else { return None }..].trim_start().strip_prefix('>')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rest(text: &str) -> Option<&str> {
        at_start(text).map(|wrapped| wrapped.rest)
    }

    #[test]
    fn what_a_tag_holds_does_not_stand_outside_of_it() {
        for wrapped in [
            "<ci-event>x</ci-event>",
            " \n<ci-event repo=\"a > b\" n='1'>\nx\n</CI-EVENT >\n",
            "<ci-event/>",
            "<ci_event id=\"1\" />\n---",
            "<a-b>x</a-b>\n\n<c-d>y</c-d>",
            "<a-b>x</a-b> do it <a-b>y</a-b>",
            "<!-- c --><?p?><x:event>y</x:event>",
            "<ciEvent>x</ciEvent>",
            "<ci-event>\ncut off",
            "<ci-event a=1>cut off",
            "<ci\u{2011}event>x</ci\u{2011}event>",
            "<ci-event title=\"a \" b\">x</ci-event>",
        ] {
            assert_eq!(rest(wrapped), Some(""), "{wrapped}");
        }
        assert_eq!(rest("<ci-event>x</ci-event>\nfix it"), Some("fix it"));
        assert_eq!(rest("<a-b>x</a-b> why is <c-d>y</c-d> blue"), Some("why is <c-d>y</c-d> blue"));
    }

    #[test]
    fn what_people_write_is_not_wrapped() {
        for own in [
            "", "fix it", "<div class=\"a\">x</div>", "<task>do it</task>", "why is <my-card>x</my-card> blue?",
            "<my-card> is not shown", "<https://example.com/a-b>", "<me@example.com>", "a < b-c > d", "< 3 -4 >",
            "Vec<Some-Thing>", "```xml\n<ci-event>x</ci-event>\n```", "<ci-event", "</ci-event>", "<-->", "<a-b@c>x</a-b@c>",
        ] {
            assert_eq!(at_start(own), None, "{own}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "(<|>|/|a-b|</a-b>|<a-b>|<!--|-->|<\\?|\"|=| |\n|x|é|\u{2011}|\\PC){0,60}") {
            if let Some(wrapped) = at_start(&text) {
                prop_assert!(text.ends_with(wrapped.rest) && !wrapped.names.is_empty());
            }
        }

        #[test]
        fn nothing_that_is_wrapped_gets_out(name in "[a-z]{1,8}[-_:.][a-z]{1,8}", inside in "(</a-b>|<x-y>|[a-z]{1,9}|>|\"| |\n){0,20}", attributes in "( [a-z]+=\"[a-z >]*\")?") {
            let text = format!("<{name}{attributes}>{inside}</{name}>");
            prop_assert_eq!(rest(&text), Some(""));
        }
    }
}
