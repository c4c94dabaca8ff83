//! Phrases that tell the topic of a sentence. English; another language would be another table.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::analyze::prose::{report_end, unquoted, unquoted_keeping_code};

/// What a sentence is about. It may have several topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SentenceTopic {
    Next,
    Blocker,
    Decision,
    Cause,
    Outcome,
    Done,
    Lesson,
}

/// Phrases in lower case, by topic. A space at the start or end of a phrase requires a word boundary there.
const PHRASES: &[(SentenceTopic, &[&str])] = &[
    (
        SentenceTopic::Next,
        &[
            " next step", " next:", " next up", " next,", " to do:", " todo:", " to-do", " remaining", " still need", " still to ",
            " not yet ", " left to do", " follow-up", " follow up", " you'll need to", " you will need to", " you'll want to",
            " would you like", " want me to", " shall i", " should i ", " let me know", " pending", " when you're ready",
            " not pushed", " not committed", " uncommitted", " haven't ", " hasn't been", " before merging", " out of scope",
            " future work", " could be added", " worth ", " if you want", " if you'd like", " say the word", " happy to ",
            " needs to be ", " need to be ", " wasn't ", " not been ", " unpushed",
        ],
    ),
    (
        SentenceTopic::Blocker,
        &[
            " blocked", " blocker", " waiting for", " waiting on", " needs your", " still fail", " not possible",
            " permission denied", " unable to", " can't proceed", " cannot proceed", " requires manual", " couldn't ",
            " could not ", " doesn't work", " does not work", " unresolved", " remains broken", " no access",
        ],
    ),
    (
        SentenceTopic::Decision,
        &[
            " decided", " decision", " instead of", " rather than", " opted", " chose ", " chosen", " going with", " go with ",
            " we'll use", " will use ", " prefer", " agreed", " trade-off", " tradeoff", " switch to", " switched to",
            " keep the ", " kept the ", " dropped ", " on purpose", " deliberately", " intentionally", " recommend", " so that ",
            " the approach", " by design", " option a", " option b", " option c", " not needed", " no longer ", " declined",
            " reverted", " left as is", " left alone",
        ],
    ),
    (
        SentenceTopic::Cause,
        &[
            " root cause", " the issue was", " the issue is", " the problem was", " the problem is", " because", " caused by",
            " turns out", " turned out", " the bug ", " due to", " the reason", " culprit", " happens when", " that's why",
            " which means", " explains", " silently", " never ", " was missing", " is missing", " mismatch", " regression",
            " leak", " race ", " wrong ",
        ],
    ),
    (
        SentenceTopic::Outcome,
        &[
            " passed", " passes", " passing", " works now", " works again", " tests pass", " all tests", " all pass", " green",
            " failed", " failing", " lint", " build ", " builds ", " committed", " pushed", " merged", " pull request", " pr #",
            " released", " deployed", " commit ", " verified", " coverage", " exit code", " 0 issues",
        ],
    ),
    (
        SentenceTopic::Done,
        &[
            " fixed", " added", " created", " implemented", " updated", " removed", " renamed", " refactored", " replaced",
            " migrated", " moved", " wrote", " introduced", " configured", " installed", " changed", " extracted", " now ",
            " done", " completed", " resolved", " supports", " extended", " rewrote", " deleted", " set up", " simplified",
            " handles",
        ],
    ),
    (
        SentenceTopic::Lesson,
        &[
            " note that", " important", " gotcha", " caveat", " discovered", " found that", " actually", " learned", " only works",
            " requires ", " limitation", " workaround", " remember", " keep in mind", " convention", " must ", " always ",
            " means ", " confirmed", " found ",
        ],
    ),
];

/// Starts of sentences that announce what the next tool use shows anyway, or that are mere courtesy.
const FILLER_STARTS: &[&str] = &[
    "great", "perfect", "excellent", "sure", "okay", "ok,", "good,", "looking at", "you're right", "you're absolutely",
    "i can see", "i see", "good question", "here's ", "here is ", "here are ", "now update", "now i ",
];
/// How a sentence begins that says what comes next.
const ANNOUNCING_STARTS: &[&str] = &[
    "let me ", "now let me", "i'll ", "now i'll", "i will ", "now i need", "i need to", "let's ", "now let's", "i'm going to",
    "next, i'll", "first, let me",
];

/// All phrases of all topics, matched in one pass over a sentence.
static TOPICS: LazyLock<(AhoCorasick, Vec<SentenceTopic>)> = LazyLock::new(|| {
    let pairs = || PHRASES.iter().flat_map(|(topic, phrases)| phrases.iter().map(move |phrase| (*topic, *phrase)));
    (automaton(pairs().map(|(_, phrase)| phrase)), pairs().map(|(topic, _)| topic).collect())
});

fn automaton<'p>(phrases: impl IntoIterator<Item = &'p str>) -> AhoCorasick {
    // The tables are constants; a test builds every automaton.
    AhoCorasick::new(phrases).unwrap_or_else(|e| unreachable!("the phrases make no automaton: {e}"))
}

/// Topics that count only in the writer's own words, not in a report of what another decides or wants.
const WRITER_TOPICS: [SentenceTopic; 3] = [SentenceTopic::Next, SentenceTopic::Blocker, SentenceTopic::Decision];

/// The topics of a sentence, each once, in the order of [`SentenceTopic`]. Quotations do not count.
pub(crate) fn topics(sentence: &str) -> Vec<SentenceTopic> {
    let mut found = topics_in(&unquoted_keeping_code(sentence));
    if found.iter().any(|topic| WRITER_TOPICS.contains(topic)) {
        let own = unquoted(sentence);
        let own = report_end(&own).map_or(Some(&*own), |clause| clause.map(|at| &own[at..])).map(topics_in).unwrap_or_default();
        found.retain(|topic| !WRITER_TOPICS.contains(topic) || own.contains(topic));
    }
    found
}

fn topics_in(sentence: &str) -> Vec<SentenceTopic> {
    let (phrases, topic_of) = &*TOPICS;
    let mut found: Vec<SentenceTopic> = Vec::new();
    for hit in phrases.find_overlapping_iter(&padded(sentence)) {
        let topic = topic_of[hit.pattern().as_usize()];
        if !found.contains(&topic) {
            found.push(topic);
        }
    }
    found.sort_unstable();
    found
}

pub(crate) fn is_about(sentence: &str, topic: SentenceTopic) -> bool {
    topics(sentence).contains(&topic)
}

/// Lower case, without markup, with a space at both ends, so that phrases find word boundaries.
fn padded(sentence: &str) -> String {
    let mut lower = String::with_capacity(sentence.len() + 2);
    lower.push(' ');
    for c in sentence.chars() {
        match c {
            '*' | '`' | '"' | '(' | ')' | '[' | ']' => {}
            '\u{2019}' => lower.push('\''),
            _ if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
            _ => lower.extend(c.to_lowercase()),
        }
    }
    lower.push(' ');
    lower
}

/// Does a heading, or the line above a list, announce open work?
pub(crate) fn opens_next_steps(heading: &str) -> bool {
    const OPENING: &[&str] = &[
        " next", " to do", " todo", " to-do", " remaining", " remains", " left to", " left:", " still ", " open ", " outstanding",
        " follow-up", " follow up", " followup", " pending:", " pending work", " future", " you'll need", " you need to",
        " out of scope", " not done", " not yet", " want me to", " would you like", " if you want", " options", " before merging",
        " deferred",
    ];
    let lower = padded(heading);
    OPENING.iter().any(|phrase| lower.contains(phrase))
}

/// Is a sentence only an announcement or a courtesy?
pub(crate) fn is_filler(sentence: &str) -> bool {
    let lower = bare(sentence);
    let starts = FILLER_STARTS.iter().any(|start| lower.starts_with(start)) || is_announcement(sentence);
    starts && sentence.chars().count() < 160 || lower.ends_with(':') && lower.len() < 60
}

/// Does a sentence only say what its writer does next?
pub(crate) fn is_announcement(sentence: &str) -> bool {
    let lower = bare(sentence);
    ANNOUNCING_STARTS.iter().any(|start| lower.starts_with(start))
}

/// In lower case, without the markup before it.
fn bare(sentence: &str) -> String {
    sentence.trim_start_matches(['*', '#', ' ', '-']).to_lowercase().replace('\u{2019}', "'")
}

/// Does a sentence offer or ask rather than state?
pub(crate) fn is_offer(sentence: &str) -> bool {
    const OFFERS: &[&str] = &[
        " want me to", " would you like", " let me know", " shall i", " should i ", " if you want", " if you'd like",
        " say the word", " happy to ", " when you're ready",
    ];
    let lower = padded(sentence);
    sentence.trim_end().ends_with('?') || OFFERS.iter().any(|offer| lower.contains(offer))
}
