//! Tags that the client puts around text that is not the user's: `<ci-monitor-event …>…</ci-monitor-event>`.
//!
//! Only names that a client is known to write count, in any spelling. People paste markup and structure prompts with tags of any name, and
//! newer clients say in the line itself what no person said.

use text::disarm::INJECTED_TAGS;

/// Tags that clients write around messages that came in the user's name.
const CLIENT_TAGS: &[&str] = &[
    // Background tasks and subagents that ended; the second is the name in clients of the end of 2025.
    "task-notification", "agent-notification",
    // Messages of other agents: of a team, of another session, of a subagent that hands back.
    "teammate-message", "cross-session-message", "agent-message",
    // Checks and reviews of a pull request: by the desktop application, and by a subscription to the pull request.
    "ci-monitor-event", "github-webhook-activity",
    // What the desktop application runs at a time that was set before.
    "scheduled-task", // What a command that the user ran printed, and the client's words about it.
    "local-command-caveat", "local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr", "command-args",
    // A result that was too long, as the client saved it.
    "persisted-output",
];

/// Longest opening tag, in bytes: attributes may hold titles and addresses.
const MAX_TAG_BYTES: usize = 8_192;
/// Longest name of a tag, in bytes.
const MAX_NAME_BYTES: usize = 80;
/// Markup without content that may precede a tag, by its start and end.
const SILENT_MARKUP: [(&str, &str); 3] = [("<!--", "-->"), ("<?", "?>"), ("<!", ">")];

/// The wrapped blocks at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapped<'t> {
    /// The names of the tags as they are written, in order.
    pub names: Vec<&'t str>,
    /// The text after the blocks; empty if it has no letters or digits.
    pub rest: &'t str,
}

/// The client's tags that a text begins with, each with its content; `None` if it begins with anything else. A block extends to
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
    /// The opening tag of the client's that a text begins with.
    fn at_start(text: &'t str) -> Option<Self> {
        let inside = text.strip_prefix('<')?.trim_start();
        let name = &inside[..inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len())];
        if name.len() > MAX_NAME_BYTES || !is_clients(name) {
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

/// Is it the name of a tag that a client writes, however its words are joined: `ci-monitor-event`, `ci_monitor_event`, `ciMonitorEvent`?
fn is_clients(name: &str) -> bool {
    let plain = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let name = plain(name);
    CLIENT_TAGS.iter().chain(&INJECTED_TAGS).any(|known| plain(known) == name)
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
            "<ci-monitor-event>x</ci-monitor-event>",
            " \n<ci-monitor-event repo=\"a > b\" n='1'>\nx\n</CI-MONITOR-EVENT >\n",
            "<ci-monitor-event/>",
            "<ci_monitor_event id=\"1\" />\n---",
            "<agent-message>x</agent-message>\n\n<bash-stdout>y</bash-stdout>",
            "<agent-message>x</agent-message> do it <agent-message>y</agent-message>",
            "<!-- c --><?p?><ci:monitor:event>y</ci:monitor:event>",
            "<ciMonitorEvent>x</ciMonitorEvent>",
            "<ci-monitor-event>\ncut off",
            "<ci-monitor-event a=1>cut off",
            "<ci\u{2011}monitor\u{2011}event>x</ci\u{2011}monitor\u{2011}event>",
            "<ci-monitor-event title=\"a \" b\">x</ci-monitor-event>",
        ] {
            assert_eq!(rest(wrapped), Some(""), "{wrapped}");
        }
        assert_eq!(rest("<agent-message>x</agent-message>\nfix it"), Some("fix it"));
        let shown = "<agent-message>x</agent-message> why is <bash-stdout>y</bash-stdout> blue";
        assert_eq!(rest(shown), Some("why is <bash-stdout>y</bash-stdout> blue"));
    }

    #[test]
    fn what_people_write_is_not_wrapped() {
        for own in [
            "",
            "fix it",
            "<div class=\"a\">x</div>",
            "<task>do it</task>",
            "why is <bash-stdout>x</bash-stdout> blue?",
            "<bash-stdout> is not shown",
            "<https://example.com/a-b>",
            "<me@example.com>",
            "a < b-c > d",
            "< 3 -4 >",
            "Vec<Some-Thing>",
            "```xml\n<ci-monitor-event>x</ci-monitor-event>\n```",
            "<ci-monitor-event",
            "</ci-monitor-event>",
            "<-->",
            "<a-b@c>x</a-b@c>",
            "<my-card>x</my-card>",
            "<MyCard title=\"x\"> does not render",
            "<bug-report>\nx\n</bug-report>",
            "<scheduled-tasks>x</scheduled-tasks>",
        ] {
            assert_eq!(at_start(own), None, "{own}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "(<|>|/|agent-message|</agent-message>|<agent-message>|<!--|-->|<\\?|\"|=| |\n|x|é|\u{2011}|\\PC){0,60}") {
            if let Some(wrapped) = at_start(&text) {
                prop_assert!(text.ends_with(wrapped.rest) && !wrapped.names.is_empty());
            }
        }

        #[test]
        fn nothing_that_is_wrapped_gets_out(name in "ci[-_:.]monitor[-_:.]event|scheduled[-_:.]?[Tt]ask", inside in "(</a-b>|<x-y>|[a-z]{1,9}|>|\"| |\n){0,20}", attributes in "( [a-z]+=\"[a-z >]*\")?") {
            let text = format!("<{name}{attributes}>{inside}</{name}>");
            prop_assert_eq!(rest(&text), Some(""));
        }
    }
}
