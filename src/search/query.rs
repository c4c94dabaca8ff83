//! Parses a query: words, "quoted phrases" and filters such as `file:orders.py`. Every input is a valid query.

use std::collections::BTreeSet;

use super::kind::KindFilter;
use crate::config::{ProjectMatcher, QueryContext};
use crate::model::time_spec::parse_time;
use crate::store::search::{DocumentOf, TextKind};
use text::synonyms::group_of;
use text::tokenize::{index_text, is_stop_word, is_unsegmented, tokens_of, words_of};
use transcripts::client::Client;
use transcripts::session::Millis;

/// The most words used; a prompt may be a pasted log.
const MAX_WORDS: usize = 400;
/// Filters that not every value makes sense for.
const CHOICES: [&str; 4] = ["agent", "kind", "since", "before"];
/// The most bytes parsed.
const MAX_BYTES: usize = 64 << 10;

/// Conditions that every result must meet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    pub(crate) files: Vec<String>,
    pub(crate) projects: Vec<ProjectMatcher>,
    pub(crate) branches: Vec<String>,
    pub(crate) kinds: Vec<KindFilter>,
    pub(crate) tools: Vec<String>,
    /// Clients, one of which a session must be of.
    pub(crate) clients: Vec<Client>,
    /// Tags of notes, all of which one must have.
    pub(crate) tags: Vec<String>,
    /// Sessions active at this time or later.
    pub(crate) since: Option<Millis>,
    /// Sessions started before this time.
    pub(crate) before: Option<Millis>,
}

/// One search term.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The word, or the space-separated parts of a joined name, which must be adjacent.
    pub text: String,
    /// Its synonym group, if it has one.
    pub group: Option<&'static str>,
    /// The beginning of a word, matched as a prefix: a single character of a script without spaces, or a word that is being typed.
    pub is_part: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The input without its filters.
    pub text: String,
    /// Each term once, in the order typed.
    pub terms: Vec<Term>,
    /// Texts that must occur verbatim; with words beside them, they only should.
    pub phrases: Vec<String>,
    /// There are words beside the phrases, as in a question: if nothing contains the phrases verbatim, their words are used.
    pub asks: bool,
    pub filters: Filters,
    /// Filters with a value that they cannot have, as typed: they are words.
    pub(crate) misread: Vec<String>,
}

impl Query {
    /// Parses user input. An invalid filter is read as words; what holds no word is dropped.
    pub fn parse(text: &str, context: &QueryContext) -> Self {
        let mut query = Self::default();
        let mut words = String::new();
        let mut typed = Vec::new();
        for piece in query_tokens(&text[..text.floor_char_boundary(MAX_BYTES)]) {
            match piece {
                QueryToken::Phrase(phrase) if !index_text(phrase).is_empty() => {
                    query.phrases.push(phrase.to_owned());
                    typed.push(phrase);
                }
                QueryToken::Keyed(key, value) if query.filters.set(key, value, context) => {}
                QueryToken::Phrase(other) | QueryToken::Keyed(_, other) | QueryToken::Word(other) => {
                    if let QueryToken::Keyed(key, _) = piece {
                        if CHOICES.contains(&key.to_ascii_lowercase().as_str()) {
                            query.misread.push(format!("{key}:{other}"));
                        }
                        words.push_str(key);
                        words.push(' ');
                        typed.push(key);
                    }
                    typed.push(other);
                    words.push_str(other);
                    words.push(' ');
                }
            }
        }
        query.terms = terms(&words);
        query.asks = !query.phrases.is_empty() && !words.trim().is_empty();
        query.text = typed.join(" ");
        query
    }

    /// Reads a text such as a prompt as plain words, without phrases or filters.
    pub fn from_words(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        Self { text: text.to_owned(), terms: terms(text), ..Self::default() }
    }

    /// The query with its last word as the beginning of a word, while somebody types it.
    pub(crate) fn with_open_end(mut self) -> Self {
        let is_open = self.text.ends_with(char::is_alphanumeric);
        if let Some(last) = self.terms.last_mut().filter(|last| is_open && !last.text.contains(' ')) {
            last.is_part = true;
        }
        self
    }

    /// Narrows it to a project, as `project:` does: its folder's name or a part of it, its path, or a glob. An empty name is none.
    pub(crate) fn narrow_to(&mut self, project: &str, context: &QueryContext) {
        self.filters.set("project", project.trim(), context);
    }

    /// The query with its phrases replaced by their words.
    pub(crate) fn by_words(&self) -> Self {
        let mut by_words = Self { phrases: Vec::new(), asks: false, ..self.clone() };
        for term in terms(&self.phrases.join(" ")) {
            if !by_words.terms.contains(&term) {
                by_words.terms.push(term);
            }
        }
        by_words
    }

    /// Is there anything to look for in texts, beside the filters?
    pub(crate) fn has_words(&self) -> bool {
        !self.terms.is_empty() || !self.phrases.is_empty()
    }

    /// Are all claims of a kind asked for, whatever they say?
    pub(crate) fn lists_claims(&self) -> bool {
        !self.has_words() && self.filters.kinds.iter().any(|kind| kind.is_claimed())
    }

    /// Is there nothing to search for?
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.phrases.is_empty() && self.filters == Filters::default()
    }
}

impl Filters {
    /// Sets the named filter. False if there is no such filter or its value is invalid.
    fn set(&mut self, key: &str, value: &str, context: &QueryContext) -> bool {
        let says_something = value.chars().any(char::is_alphanumeric);
        let list = match key.to_ascii_lowercase().as_str() {
            "file" => &mut self.files,
            "project" => {
                self.projects.extend(says_something.then(|| ProjectMatcher::read_any(value, &context.home)));
                return says_something;
            }
            "branch" => &mut self.branches,
            "tool" => &mut self.tools,
            "tag" => &mut self.tags,
            "agent" => {
                let client = Client::named(value);
                self.clients.extend(client);
                return client.is_some();
            }
            "kind" => {
                let kind = KindFilter::named(value);
                self.kinds.extend(kind);
                return kind.is_some();
            }
            "since" => return set_time(&mut self.since, value, context),
            "before" => return set_time(&mut self.before, value, context),
            _ => return false,
        };
        if says_something {
            let has_home = !context.home.as_os_str().is_empty();
            let below_home =
                value.strip_prefix("~/").filter(|_| has_home).map(|rest| context.home.join(rest).to_string_lossy().into_owned());
            list.push(below_home.unwrap_or_else(|| value.to_owned()));
        }
        says_something
    }
}

impl Filters {
    /// Do the filters allow only notes, or only memory files? Nothing else has tags.
    pub(super) fn only(&self) -> Option<DocumentOf> {
        let all_are = |said: TextKind| !self.kinds.is_empty() && self.kinds.iter().all(|kind| kind.said() == [said]);
        let notes = (all_are(TextKind::Note) || !self.tags.is_empty()).then_some(DocumentOf::Notes);
        notes.or_else(|| all_are(TextKind::Memory).then_some(DocumentOf::MemoryFiles))
    }
}

fn set_time(slot: &mut Option<Millis>, value: &str, context: &QueryContext) -> bool {
    let read = parse_time(value, context.now, &context.zone).ok();
    *slot = read.or(*slot);
    read.is_some()
}

#[derive(Debug, Clone, Copy)]
enum QueryToken<'t> {
    Word(&'t str),
    Phrase(&'t str),
    Keyed(&'t str, &'t str),
}

/// Splits at white space, except inside quotes. An unclosed quote is an ordinary character.
fn query_tokens(text: &str) -> Vec<QueryToken<'_>> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (piece, after) =
            quoted(rest).map_or_else(|| unquoted_token(rest), |(phrase, after)| (QueryToken::Phrase(phrase), after));
        all.push(piece);
        rest = after.trim_start();
    }
    all
}

/// A quoted text at the start, and the rest behind it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (open, close) = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')].into_iter().find(|(open, _)| text.starts_with(*open))?;
    text[open.len_utf8()..].split_once(close)
}

fn unquoted_token(text: &str) -> (QueryToken<'_>, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    if let Some(at) = text[..end].find(':').filter(|at| *at > 0 && text[..*at].bytes().all(|b| b.is_ascii_alphabetic())) {
        let (key, value) = (&text[..at], &text[at + 1..]);
        if let Some((inside, after)) = quoted(value) {
            return (QueryToken::Keyed(key, inside), after);
        }
        return (QueryToken::Keyed(key, &text[at + 1..end]), &text[end..]);
    }
    (QueryToken::Word(&text[..end]), &text[end..])
}

/// German stop words, sorted. They are rare in a mostly English index and would outweigh the words that matter.
const GERMAN_STOP_WORDS: [&str; 58] = [
    "aber", "als", "auch", "auf", "aus", "bei", "beim", "bin", "das", "dem", "den", "der", "des", "die", "doch", "durch", "ein",
    "eine", "einem", "einen", "einer", "er", "es", "für", "gibt", "haben", "hat", "hatte", "hatten", "ich", "ihr", "im", "ist",
    "mit", "nach", "nicht", "noch", "nur", "oder", "sie", "sind", "und", "uns", "unser", "unsere", "vom", "von", "vor", "warum",
    "was", "wenn", "werden", "wie", "wir", "wird", "wurde", "zu", "zum",
];

/// Drops German stop words if the text holds at least two: one alone may be English.
fn without_german(terms: Vec<Term>) -> Vec<Term> {
    let says_nothing = |term: &Term| GERMAN_STOP_WORDS.binary_search(&term.text.as_str()).is_ok();
    let found = terms.iter().filter(|term| says_nothing(term)).count();
    if found < 2 || found == terms.len() { terms } else { terms.into_iter().filter(|term| !says_nothing(term)).collect() }
}

/// Each term once, in order: single words, and joined names as a whole beside their parts.
fn terms(text: &str) -> Vec<Term> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut add = |text: String| {
        if seen.insert(text.clone()) {
            let group = group_of(&text);
            let is_part = text.chars().count() == 1 && text.chars().any(is_unsegmented);
            all.push(Term { text, group, is_part });
        }
    };
    for piece in text.split_whitespace().take(MAX_WORDS) {
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words_of(bare).collect();
        // In scripts without spaces a run may be a whole sentence: any of its pairs may match.
        if words.len() > 1 && !bare.chars().any(is_unsegmented) {
            let whole = index_text(bare);
            if whole.contains(' ') {
                add(whole);
            }
        }
        let tokens = words.iter().flat_map(|word| tokens_of(word));
        tokens.filter(|token| is_searchable(token)).for_each(&mut add);
    }
    without_german(all)
}

/// Worth searching for: not a stop word, and not a single letter or digit, which occurs everywhere.
fn is_searchable(token: &str) -> bool {
    let mut chars = token.chars();
    let long = chars.next().is_some_and(is_unsegmented) || chars.next().is_some();
    long && !is_stop_word(token)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Query {
        // 2026-11-22T00:00:00Z
        Query::parse(text, &QueryContext { now: 1_795_305_600_000, zone: TimeZone::UTC, home: "/home/dev".into() })
    }

    fn words(query: &Query) -> Vec<&str> {
        query.terms.iter().map(|term| term.text.as_str()).collect()
    }

    #[test]
    fn names_are_looked_for_whole_and_in_parts() {
        assert_eq!(
            words(&parsed("where is parseRow in src/read_me.rs?")),
            ["parserow", "parse", "row", "src read rs", "src", "read", "rs"]
        );
        assert_eq!(words(&parsed("v1.2.30 E0599")), ["v1 2 30", "v1", "30", "e0599"]);
        assert_eq!(words(&parsed("分页 修复分页")), ["分页", "修复", "复分"]);
    }

    #[test]
    fn german_function_words_ask_for_nothing_and_english_ones_like_them_stay() {
        assert!(GERMAN_STOP_WORDS.is_sorted());
        assert_eq!(words(&parsed("Warum sind die Bilder beim Hochladen so groß")), ["bilder", "hochladen", "groß"]);
        assert_eq!(words(&parsed("why do workers die")), ["workers", "die"]);
    }

    #[test]
    fn quotes_and_filters_are_told_from_words() {
        let query = parsed(
            "index \"order list\" file:shop/orders.py project:\"my shop\" kind:decision before:2026-11-01 note:this since:never",
        );
        assert_eq!(words(&query), ["index", "note", "since", "never"]);
        assert_eq!(query.phrases, ["order list"]);
        assert_eq!(
            (&query.filters.files, &query.filters.projects),
            (&vec!["shop/orders.py".into()], &vec![ProjectMatcher::read_any("my shop", Path::new(""))])
        );
        assert_eq!(
            (query.filters.kinds.as_slice(), query.filters.before),
            (&[KindFilter::named("decision").unwrap()][..], Some(1_793_491_200_000))
        );
    }

    #[test]
    fn a_phrase_among_words_may_be_looked_for_by_its_words() {
        let query = parsed("why does \"order list\" lose an order file:db.py");
        assert!(query.asks);
        let by_words = query.by_words();
        assert_eq!((words(&by_words), by_words.phrases.len(), by_words.asks), (vec!["lose", "order", "list"], 0, false));
        assert_eq!(by_words.filters, query.filters);
        assert!(!parsed("\"order list\" file:db.py").asks && !parsed("\"order list\"").asks && !parsed("order list").asks);
    }

    #[test]
    fn a_filter_is_known_in_any_case_and_number() {
        let query = parsed("KIND:Decisions kind:unheard-of");
        assert_eq!((query.filters.kinds.len(), words(&query)), (1, vec!["kind", "unheard"]));
        assert_eq!(query.misread, ["kind:unheard-of"]);
    }

    #[test]
    fn signs_alone_ask_for_nothing() {
        for text in ["", "\"\"", "\"(*) - ^", "file:", "what is it?", "a : b", "\"unclosed"] {
            let query = parsed(text);
            assert!(query.phrases.is_empty() && query.filters == Filters::default(), "{text}: {query:?}");
        }
        assert!(parsed("what is it? \" ( * file:").terms.iter().all(|term| term.text == "file"));
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_read(text in "(\\PC|[\": \\-*()'«»“”]|since:|file:|AND |NEAR){0,60}") {
            let query = parsed(&text);
            prop_assert!(query.terms.iter().all(|term| !term.text.is_empty() && !term.text.contains('"')));
        }
    }
}
