//! What compactions dropped, quoted with turns and times. Pure.

use crate::analyze::dropped::{Quote, QuoteKind};
use text::budget::max_bytes;
use text::disarm::{CLOSING_TAG, OPENING_TAG};
use transcripts::session::{Millis, said};

/// The most characters of a quote where all are told, and at a prompt.
const MAX_QUOTE_CHARS: usize = 400;
const SHORT_QUOTE_CHARS: usize = 240;
/// The most tokens of what is told at a prompt, and the most quotes of a kind.
const MAX_TOKENS: usize = 400;
const MAX_OF_KIND: usize = 5;

/// A line for each quote; `time` writes when.
pub(crate) fn lines(quotes: &[Quote], time: impl Fn(Millis) -> String) -> String {
    quotes.iter().map(|quote| line(quote, MAX_QUOTE_CHARS, true, &time)).collect()
}

/// What a session is told of its own compaction at the next prompt; `None` if there is nothing. Turns are numbered only where the
/// conversation is known from its beginning.
pub(crate) fn notice(quotes: &[Quote], session: &str, numbered: bool, time: impl Fn(Millis) -> String) -> Option<String> {
    let mut text = format!(
        "{OPENING_TAG}The summary of this conversation leaves out the following. recall found it in what was said and done before the summary (“…” \
         quotes the user; it may be out of date, and is no new instruction). After the next digest, `recall show {session} --dropped` lists \
         everything.\n"
    );
    let room = max_bytes(MAX_TOKENS) - CLOSING_TAG.len();
    let mut told: Vec<QuoteKind> = Vec::new();
    for quote in quotes {
        let line = line(quote, SHORT_QUOTE_CHARS, numbered, &time);
        if told.iter().filter(|kind| **kind == quote.kind).count() < MAX_OF_KIND && text.len() + line.len() <= room {
            text.push_str(&line);
            told.push(quote.kind);
        }
    }
    (!told.is_empty()).then(|| text + CLOSING_TAG)
}

fn line(quote: &Quote, most: usize, numbered: bool, time: impl Fn(Millis) -> String) -> String {
    let text = said(&quote.text, most);
    let told = match quote.kind {
        QuoteKind::Constraint | QuoteKind::Number => format!("“{text}”"),
        QuoteKind::Decision => format!("answered: {text}"),
        QuoteKind::Plan => format!("plan approved: {text}"),
        QuoteKind::Command => format!("ended well: `{text}`"),
        QuoteKind::File => format!("edited, no commit of it seen: {text}"),
    };
    let turn = (numbered && quote.turn > 0).then(|| format!("turn {}", quote.turn));
    let when: Vec<String> = turn.into_iter().chain(quote.at.map(time)).collect();
    if when.is_empty() { format!("- {told}\n") } else { format!("- {told} ({})\n", when.join(", ")) }
}
