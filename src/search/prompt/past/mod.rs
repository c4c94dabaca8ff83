//! Detects whether a prompt asks for the past: for what earlier sessions said, not for the code or this conversation.

mod phrases;

use std::collections::HashSet;
use std::sync::LazyLock;

use self::phrases::{
    ASKS_FOR_PAST, CONTINUES, LEADING_PARTICLES, PHRASES, TRAILING_PARTICLES, UNSEGMENTED_AROUND, UNSEGMENTED_PHRASES,
};
use crate::analyze::signal::language::Matcher;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PastIntent {
    No,
    /// It continues something: an earlier session's work, or what this one was just doing.
    Continues,
    /// It asks what was said, done or decided.
    Asks,
}

static MATCHER: LazyLock<Matcher> = LazyLock::new(|| Matcher::new(&PHRASES));

/// Classes whose words belong to the question; the words of other classes may be its topic.
const ASKING_CLASSES: [&str; 6] = ["US", "LEFT", "ON", "SETTLE", "SETTLED", "RECENTLY"];

/// All words of the phrases that ask.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let asking =
        PHRASES.rules.iter().filter(|rule| [ASKS_FOR_PAST, CONTINUES].contains(&rule.name)).flat_map(|rule| rule.phrases.iter());
    let classes = PHRASES.classes.iter().filter(|(name, _)| ASKING_CLASSES.contains(name)).flat_map(|(_, of)| of.iter());
    let words = asking.chain(classes).flat_map(|phrase| phrase.split_whitespace());
    // "go" is left out: "go on" usually means this conversation.
    words.filter(|word| word.chars().any(char::is_alphabetic) && !word.starts_with('{') && *word != "go").collect()
});

/// The phrases of scripts without spaces and the words around them, longest first.
static PIECES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut all: Vec<&str> = UNSEGMENTED_PHRASES.iter().chain(&UNSEGMENTED_AROUND).copied().collect();
    all.sort_by_key(|piece| std::cmp::Reverse(piece.chars().count()));
    all
});

/// Is it a word (or several joined ones) of a phrase that asks?
pub(crate) fn is_phrase_word(lower: &str) -> bool {
    WORDS.contains(lower)
}

/// Does a text in a script without spaces ask for the past?
pub(crate) fn asks_unsegmented(text: &str) -> bool {
    UNSEGMENTED_PHRASES.iter().any(|phrase| text.contains(phrase))
}

/// Such a text without the words that ask; what is left is separated by spaces.
pub(crate) fn strip_asking(text: &str) -> String {
    let left = PIECES.iter().fold(text.to_owned(), |left, piece| left.replace(piece, " "));
    let topics = left.split(' ').map(|part| part.trim_start_matches(LEADING_PARTICLES).trim_end_matches(TRAILING_PARTICLES));
    topics.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Prefixes of words that ask about decisions.
const DECIDING: [&str; 19] = [
    "decid", "decis", "agreed", "chose", "settled", "why", "reason", "beschlossen", "beschluss", "entschieden", "entscheid",
    "warum", "wieso", "weshalb", "décid", "pourquoi", "elegimos", "deciso", "escolhemos",
];
const DECIDING_UNSEGMENTED: [&str; 5] = ["决定", "決定", "決め", "결정", "为什么"];

/// Does the text ask what was decided, or why?
pub(crate) fn wants_decisions(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| DECIDING.iter().any(|start| word.starts_with(start)))
        || DECIDING_UNSEGMENTED.iter().any(|piece| lower.contains(piece))
}

/// Does a clause of these lines begin with a word for "why"?
pub(crate) fn asks_why(lines: &[String]) -> bool {
    let begins = |clause: &str| clause.split_whitespace().next().is_some_and(|word| WHY.contains(&word.to_lowercase().as_str()));
    lines.iter().flat_map(|line| clauses(line)).any(begins)
}

const WHY: [&str; 6] = ["why", "warum", "wieso", "weshalb", "pourquoi", "perché"];

/// What the user's own lines ask for.
pub(crate) fn classify(lines: &[String]) -> PastIntent {
    let found = lines.iter().flat_map(|line| clauses(line)).map(|clause| {
        if asks_unsegmented(clause) {
            return PastIntent::Asks;
        }
        let named = MATCHER.named(clause);
        let says = |name| named.contains(&name);
        if says(ASKS_FOR_PAST) {
            PastIntent::Asks
        } else if says(CONTINUES) {
            PastIntent::Continues
        } else {
            PastIntent::No
        }
    });
    let all: Vec<PastIntent> = found.collect();
    [PastIntent::Asks, PastIntent::Continues].into_iter().find(|past| all.contains(past)).unwrap_or(PastIntent::No)
}

/// The sentences of a line, whatever the case of their first letter, without a leading `¿` or `¡`.
fn clauses(line: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): (usize, char)| {
        let next = line[at + c.len_utf8()..].chars().next();
        let parts = matches!(c, '!' | '?' | '。' | '？' | '！' | ';') || c == '.' && next.is_none_or(char::is_whitespace);
        parts.then_some(at + c.len_utf8())
    };
    let mut ends: Vec<usize> = line.char_indices().filter_map(ends).collect();
    ends.push(line.len());
    let mut from = 0;
    ends.into_iter()
        .map(move |to| line[std::mem::replace(&mut from, to)..to].trim().trim_start_matches(['¿', '¡']))
        .filter(|clause| !clause.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::prompt::read;

    fn past(prompt: &str) -> PastIntent {
        read(prompt).map_or(PastIntent::No, |asked| asked.past)
    }

    #[test]
    fn the_table_has_no_phrase_that_cannot_be_found() {
        assert_eq!(PHRASES.mistakes(), [""; 0]);
    }

    #[test]
    fn who_asks_for_the_past_is_heard() {
        for prompt in [
            "where did we leave off on pagination?",
            "Where did we leave off",
            "hey, where did we leave off with the export",
            "where were we?",
            "ok where were we on the invoice job",
            "Where are we on the migration?",
            "where are we with auth",
            "where do we stand with the keyset work",
            "where was I?",
            "Remind me where we got to on the importer",
            "what did we decide about the cursor format?",
            "What did we decide regarding retries",
            "what had we decided on caching?",
            "why did we drop the offset column?",
            "Why did we choose keyset over offset",
            "how did we fix the umlaut bug?",
            "when did we switch to zstd?",
            "which library did we pick for uploads?",
            "did we already fix the flaky login test?",
            "didn't we solve this before?",
            "have we ever tried sharding it?",
            "what have we tried for the memory leak so far?",
            "do it as last time",
            "Same procedure as last time for the release, please",
            "like last time, deploy to staging",
            "deploy the way we did last week",
            "as we discussed, use zstd for the bodies",
            "the approach we agreed on: apply it to export",
            "Do you remember the port of the staging database?",
            "remember how we mocked the clock?",
            "what was I working on yesterday?",
            "what were we doing in the parser",
            "we talked about this last week: what came out?",
            "in our last session you suggested a lock file",
            "pick up where we left off",
            "let's pick up where you left off on the parser",
            "Continue where we left off",
            "What did you find out yesterday about the leak?",
            "what was the decision on rate limits?",
            "can you recall why the cache is disabled?",
            "what did we end up doing about CORS?",
            "last time we used a fixture for this",
            "Wo waren wir?",
            "wo waren wir beim Export stehen geblieben?",
            "Was hatten wir zur Paginierung beschlossen?",
            "Warum haben wir den Offset verworfen?",
            "mach es wie beim letzten Mal",
            "Weißt du noch, wie wir den Test repariert haben?",
            "Was haben wir gestern gemacht?",
            "Où en étions-nous sur la pagination ?",
            "qu'avons-nous décidé pour le cache ?",
            "¿dónde nos quedamos con la migración?",
            "¿Qué decidimos sobre el caché?",
            "onde paramos na migração?",
            "dove eravamo rimasti con la cache?",
            "上次我们做到哪里了？",
            "前回の続きをお願いします",
        ] {
            assert_eq!(past(prompt), PastIntent::Asks, "{prompt}");
        }
    }

    #[test]
    fn who_goes_on_is_heard_less_loudly() {
        for prompt in [
            "continue with the pagination",
            "Continue on the export job",
            "let's continue with the importer",
            "continue the work on the parser",
            "continue our refactoring of the store",
            "resume work on the CLI",
            "keep working on the migration",
            "carry on with the docs",
            "continue",
            "Weiter",
            "weiter geht's mit dem Export",
            "mach weiter mit der Paginierung",
            "go on with the export",
            "continuons avec la migration",
            "continua con la migrazione",
            "继续",
            "Please continue with the release notes.",
        ] {
            assert_eq!(past(prompt), PastIntent::Continues, "{prompt}");
        }
    }

    #[test]
    fn who_asks_for_something_else_is_not() {
        for prompt in [
            "continue the loop in the for statement",
            "add a continue statement when the row is empty",
            "the loop should continue with the next row if parsing fails",
            "why did the test fail?",
            "where is the parser?",
            "where are we calling parseRow?",
            "Where are we setting the timeout",
            "why do we get a 500 here?",
            "why did we get a 404?",
            "where did you put the file?",
            "update last_time in the table",
            "show the last time the job ran",
            "the last time a user logged in",
            "store the previous session token",
            "restore the last session on start",
            "what is a decision tree?",
            "the field left_off is wrong",
            "fix the off-by-one where the list is left off by one row",
            "remind me to push later",
            "remember to run the linter",
            "what should we decide?",
            "we need to decide on a format",
            "what do we do if it fails?",
            "implement a detector for prompts like \"where did we leave off\"",
            "translate `wo waren wir` to French",
            "```\nwhere did we leave off\n```\nrun this",
            "> where did we leave off\nWhat does the quote mean?",
            "yes",
            "go ahead",
            "how do we start the server?",
            "when we continue, the counter must be reset",
            "the migration should resume from the checkpoint",
            "add a function resume_session",
            "Weiterleitung auf https funktioniert nicht",
            "was ist das?",
            "log the time since yesterday",
            "delete logs from yesterday",
            "can we agree on a name?",
            "who decides which thread runs?",
            "make it look like before",
        ] {
            assert_eq!(past(prompt), PastIntent::No, "{prompt}");
        }
    }
}
