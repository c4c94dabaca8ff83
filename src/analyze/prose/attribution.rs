//! Recognizes attributions: lines and sentences with which a writer passes on what someone or something else says.
//!
//! "What the page says:", "The issue reads:", "From the README:", "Im Ticket steht:". The tables here cover English, German,
//! French and Spanish, and the common forms of "it says" in some other languages. Pure.

/// How a line announces what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributionKind {
    /// Someone's words.
    Says,
    /// What something shows, in the writer's words.
    Shows,
}

/// Verbs that pass on words, whatever their subject.
const SAYING_VERBS: &[&str] = &[
    "says", "said", "saying", "reads", "writes", "wrote", "sagt", "sagte", "schreibt", "schrieb", "steht", "lautet", "lautete",
    "heißt", "hieß", "meint", "besagt", "dit", "disait", "écrit", "indique", "dice", "decía", "escribe", "indica",
];
/// Verbs that pass on words if their subject is a source or a person.
const SOURCE_VERBS: &[&str] = &[
    "say", "state", "stated", "write", "ask", "asks", "asked", "tell", "tells", "told", "instruct", "instructs", "instructed",
    "suggest", "suggests", "suggested", "recommend", "recommends", "recommended", "propose", "proposes", "proposed", "demand",
    "demands", "demanded", "request", "requested", "mention", "mentions", "mentioned", "claim", "claimed", "argue", "argues",
    "argued", "insist", "insists", "insisted", "advise", "advises", "advised", "warn", "warns", "warned", "want", "wants",
    "wanted", "listed", "contain", "contains", "contained", "include", "includes", "describe", "describes", "described",
    "reported", "print", "printed", "returned", "replied", "replies", "reply", "answered", "responds", "responded", "announces",
    "announced", "noted", "commented", "explains", "explained", "requires", "required", "goes", "decided", "decides", "fordert",
    "verlangt", "bittet", "empfiehlt", "rät", "meldet", "behauptet", "enthält", "antwortet", "verkündet", "demande", "recommande",
    "contient", "pide", "recomienda", "contiene",
];
/// Such verbs that are also nouns: "the page lists", but "error states".
const SOURCE_VERBS_OR_NOUNS: &[&str] =
    &["states", "lists", "notes", "comments", "reports", "outputs", "prints", "returns", "requests", "claims", "answers", "logs"];
/// Verbs with which a sentence passes on a statement without quoting it.
const REPORTING_VERBS: &[&str] = &[
    "say", "says", "said", "states", "stated", "claims", "claimed", "ask", "asks", "asked", "tell", "tells", "told", "instructs",
    "instructed", "suggests", "suggested", "recommends", "recommended", "proposes", "proposed", "demands", "demanded", "requests",
    "requested", "mentions", "mentioned", "argues", "argued", "insists", "insisted", "advises", "advised", "warns", "warned",
    "wants", "decided", "decides", "announced", "sagt", "sagte", "schreibt", "schrieb", "heißt", "besagt", "fordert", "verlangt",
    "empfiehlt", "behauptet", "dit", "demande", "dice", "pide",
];
/// Verbs for what can be seen.
const SHOWING_VERBS: &[&str] = &[
    "show", "shows", "showed", "reveal", "reveals", "revealed", "indicate", "indicates", "indicated", "zeigt", "zeigte", "zeigen",
    "montre", "muestra",
];
/// Nouns for sources that carry others' words.
const SOURCES: &[&str] = &[
    "page", "pages", "site", "website", "webpage", "homepage", "article", "post", "blog", "issue", "issues", "ticket", "comment",
    "comments", "review", "reviewer", "reviewers", "reviews", "pr", "description", "docs", "doc", "documentation", "readme",
    "changelog", "file", "guide", "manual", "spec", "specification", "rfc", "email", "e-mail", "mail", "message", "letter",
    "thread", "answer", "tool", "tools", "output", "log", "logs", "error", "server", "api", "response", "ci", "bot", "maintainer",
    "maintainers", "author", "vendor", "wiki", "transcript", "prompt", "skill", "instructions", "instruction", "snippet", "banner",
    "memo", "header", "footer", "docstring", "advisory", "result", "results", "link", "url", "chat", "discussion", "forum",
    "command", "command's", "console", "terminal", "stderr", "stdout", "report", "seite", "webseite", "artikel", "beitrag",
    "kommentar", "kommentare", "beschreibung", "doku", "dokumentation", "datei", "anleitung", "nachricht", "ausgabe", "protokoll",
    "fehlermeldung", "autor", "antwort", "meldung", "hinweis", "quelle", "commentaire", "fichier", "sortie", "página", "sitio",
    "artículo", "comentario", "mensaje", "documentación", "archivo", "salida", "registro",
];
/// Unnamed speakers.
const UNNAMED_SPEAKERS: &[&str] = &[
    "he", "she", "they", "somebody", "someone", "it", "this", "er", "sie", "es", "dort", "darin", "da", "il", "elle", "él", "ella",
];
/// The writer, whose statements are their own.
const WRITER_WORDS: &[&str] = &[
    "i", "we", "i'd", "i'll", "i've", "i'm", "we'd", "we'll", "we've", "my", "our", "let", "let's", "me", "us", "ich", "wir",
    "mein", "meine", "unser", "unsere", "je", "nous", "yo", "nosotros",
];
/// Words between a writer and their verb.
const SKIPPED_BEFORE_VERB: &[&str] = &[
    "would", "will", "have", "had", "has", "also", "just", "now", "then", "already", "could", "should", "can", "must", "did", "do",
    "to", "strongly", "still", "am", "was", "are", "were", "being", "it", "würde", "habe", "hatte", "haben", "auch",
];
/// Prepositions that make a participle name its source: "quoted from", "requested by".
const SOURCE_PREPOSITIONS: &[&str] =
    &["in", "on", "from", "by", "at", "of", "aus", "von", "auf", "im", "vom", "de", "du", "par", "del", "por"];
/// Words that name a text as someone else's.
const QUOTATION_NOUNS: &[&str] = &[
    "quote", "quotes", "quotation", "quoted", "excerpt", "excerpts", "verbatim", "citation", "zitat", "zitate", "auszug",
    "wortlaut", "extrait", "cita",
];
/// Nouns for a text of someone: "message from Bob", "body of the issue".
const TEXT_NOUNS: &[&str] = &[
    "text", "content", "contents", "body", "wording", "words", "message", "comment", "comments", "reply", "letter", "mail",
    "email", "answer", "instructions", "inhalt", "text", "kommentar", "nachricht", "antwort",
];
/// Lines of only these words name a program's output.
const OUTPUT_NOUNS: &[&str] =
    &["output", "stdout", "stderr", "log", "logs", "response", "ausgabe", "protokoll", "sortie", "salida"];
const OUTPUT_MODIFIERS: &[&str] = &[
    "the", "its", "tool", "test", "tests", "console", "command", "terminal", "error", "full", "raw", "ci", "server", "program",
    "build", "make", "die", "der", "das",
];
/// "According to the page".
const ACCORDING_PREPOSITIONS: &[&str] = &["laut", "gemäß", "selon", "según", "per"];
/// Ends of announcing lines in scripts without spaces.
const UNSPACED_ENDINGS: &[&str] = &[
    "说", "說", "写道", "寫道", "写着", "寫著", "指出", "表示", "显示", "顯示", "声称", "书写", "書かれて", "とあります", "とある",
    "述べて", "言って", "말합니다", "적혀",
];

/// Does a line announce what another says or shows? It ends in a colon, or reads "here is what … says".
pub(super) fn attribution_of_line(line: &str) -> Option<AttributionKind> {
    let bare = line.trim().trim_end_matches(['*', '_', '"', '\u{201d}', ' ', '`']);
    let (head, colon) = match bare.strip_suffix([':', '：']) {
        Some(head) => (head, true),
        None => (bare.trim_end_matches(['.', '…']), false),
    };
    if colon || is_what(head) { attribution_before_colon(head) } else { None }
}

/// The same for a heading, which needs no colon.
pub(super) fn attribution_of_heading(line: &str) -> Option<AttributionKind> {
    /// A longer heading is a statement of its own.
    const MOST: usize = 7;
    let raw: Vec<&str> = line.trim().trim_start_matches(['#', ' ']).split_whitespace().collect();
    let words = clause_words(&raw);
    let names = names_a_text(&words) && !words.last().is_some_and(|w| is_in(w, OUTPUT_NOUNS));
    let told = is_attribution(&words, &raw).or_else(|| (names || is_according_to(&words, &raw)).then_some(AttributionKind::Says));
    told.filter(|_| words.len() <= MOST)
}

/// Where another's words begin in a sentence that announces them itself: "The page says: always …".
pub(super) fn announced_from(sentence: &str) -> Option<usize> {
    // Most sentences hold no colon: neither the one of ASCII, nor the first byte of the other.
    memchr::memchr2(b':', 0xef, sentence.as_bytes())?;
    let colon = sentence.char_indices().take(MAX_ATTRIBUTION_CHARS).find(|(at, c)| {
        let rest = &sentence[at + c.len_utf8()..];
        *c == '：' || *c == ':' && rest.starts_with([' ', '*', '"', '\u{201c}'])
    });
    let (at, c) = colon?;
    let rest = at + c.len_utf8();
    (sentence[rest..].chars().any(char::is_alphanumeric)
        && attribution_before_colon(&sentence[..at]) == Some(AttributionKind::Says))
    .then_some(rest)
}

/// Does a sentence report another's statement without quoting it ("The page says that we decided …")? If so, returns where the
/// writer's own words resume, if they do.
pub(crate) fn report_end(sentence: &str) -> Option<Option<usize>> {
    /// The subject of such a sentence is short.
    const MOST: usize = 6;
    const OWN_CLAUSES: [&str; 12] = [
        ", so i ", ", so we ", " so i ", "; i ", "; we ", ", but i ", ", but we ", ", therefore i ", ", so i'", ", daher ",
        ", also habe ich ", ", deshalb ",
    ];
    let start: Vec<&str> = sentence.split_whitespace().take(MOST).collect();
    let told = (1..=start.len()).any(|n| {
        let words = clause_words(&start[..n]);
        is_report(&words, &start[..n]) || is_according_to(&words, &start[..n])
    });
    if !told {
        return None;
    }
    let lower = sentence.to_ascii_lowercase();
    Some(OWN_CLAUSES.iter().filter_map(|mark| lower.find(mark)).min())
}

/// Longest attribution line, in characters: of a longer one, the end counts.
const MAX_ATTRIBUTION_CHARS: usize = 300;

/// What a line without its colon passes on.
fn attribution_before_colon(head: &str) -> Option<AttributionKind> {
    let head = tail(head, MAX_ATTRIBUTION_CHARS);
    if head.chars().any(text::tokenize::is_unsegmented) {
        return UNSPACED_ENDINGS.iter().any(|end| tail(head, 12).contains(end)).then_some(AttributionKind::Says);
    }
    let last = head.rsplit(". ").next().unwrap_or(head);
    let (mut found, mut strong) = (None, false);
    for raw in last.split([',', ';', '—', '–', '(']).map(|part| part.split_whitespace().collect::<Vec<_>>()) {
        let words = clause_words(&raw);
        match clause(&words, &raw) {
            Some(told) => (found, strong) = (Some(told), words.iter().any(|w| is_in(w, SAYING_VERBS))),
            // "…, so here is what I did:"
            None if !strong || words.iter().any(|w| is_in(w, WRITER_WORDS)) || begins_own(&words) => found = None,
            None => {}
        }
    }
    found
}

fn begins_own(words: &[String]) -> bool {
    words.first().is_some_and(|w| matches!(w.as_str(), "here's" | "here" | "hier" | "done" | "changes" | "fixed"))
}

fn tail(text: &str, most: usize) -> &str {
    let from = text.char_indices().rev().nth(most).map_or(0, |(at, _)| at);
    &text[from..]
}

fn clause(words: &[String], raw: &[&str]) -> Option<AttributionKind> {
    let says = || (is_according_to(words, raw) || names_a_text(words)).then_some(AttributionKind::Says);
    is_attribution(words, raw).or_else(says).or_else(|| are_comments(words).then_some(AttributionKind::Shows))
}

/// "Review comments": others' wishes, or what became of them.
fn are_comments(words: &[String]) -> bool {
    let [.., of, what] = words else { return false };
    let wishes = matches!(what.as_str(), "comments" | "feedback" | "suggestions" | "requests" | "instructions" | "kommentare");
    wishes && is_source(of) && words.len() < 5 && !begins_open(&words[0])
}

/// Words in lower case, without markup and punctuation at their edges.
fn clause_words(raw: &[&str]) -> Vec<String> {
    bare_words(raw.iter().copied()).map(in_lower_case).collect()
}

fn in_lower_case(word: &str) -> String {
    if word.is_ascii() { word.to_ascii_lowercase() } else { word.replace('\u{2019}', "'").to_lowercase() }
}

fn bare_words<'w>(raw: impl Iterator<Item = &'w str>) -> impl Iterator<Item = &'w str> {
    raw.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@' && c != '#')).filter(|word| !word.is_empty())
}

fn is_in(word: &str, table: &[&str]) -> bool {
    table.contains(&word)
}

/// A page, an issue, a file name, an address, a handle.
fn is_source(word: &str) -> bool {
    let bare = word.strip_suffix("'s").unwrap_or(word);
    let dotted = || {
        let (name, end) = bare.rsplit_once('.').unwrap_or_default();
        !name.is_empty() && (1..6).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphabetic())
    };
    is_in(bare, SOURCES)
        || bare.starts_with(['@', '#']) && bare.len() > 1
        || bare.contains("://")
        || dotted()
        || bare.rsplit('-').next().is_some_and(|end| end.len() < bare.len() && is_in(end, SOURCES))
}

/// Does a verb pass on words of a subject other than the writer?
fn is_attribution(words: &[String], raw: &[&str]) -> Option<AttributionKind> {
    words.iter().enumerate().find_map(|(at, verb)| {
        let subject = &words[..at];
        if is_writer(subject) {
            return None;
        }
        if is_participle_of_source(words, at) {
            return Some(AttributionKind::Says);
        }
        // Without a subject it is an instruction, as in "Say:", or labels the writer's own text, as in "Suggested:".
        if subject.is_empty() || is_phrase(subject, verb) {
            return None;
        }
        let known = || is_known(subject, raw) && !is_thing(subject);
        if is_in(verb, SAYING_VERBS)
            || is_in(verb, SOURCE_VERBS) && known()
            || is_in(verb, SOURCE_VERBS_OR_NOUNS) && known() && is_named_as_one(subject)
        {
            return Some(AttributionKind::Says);
        }
        (is_in(verb, SHOWING_VERBS) && subject.iter().rev().take(2).any(|w| is_source(w))).then_some(AttributionKind::Shows)
    })
}

/// Does a sentence begin with someone or something that said so?
fn is_report(words: &[String], raw: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, verb)| {
        let subject = &words[..at];
        is_in(verb, REPORTING_VERBS)
            && !subject.is_empty()
            && !is_writer(subject)
            && !is_phrase(subject, verb)
            && is_known(subject, raw)
    })
}

/// Is the subject a source, a person or a pronoun?
fn is_known(subject: &[String], raw: &[&str]) -> bool {
    subject.iter().any(|w| is_source(w)) || subject.last().is_some_and(|w| is_in(w, UNNAMED_SPEAKERS)) || is_name(subject, raw)
}

fn is_named_as_one(subject: &[String]) -> bool {
    const DETERMINERS: [&str; 12] = ["the", "this", "that", "its", "his", "her", "their", "a", "die", "der", "das", "la"];
    subject.first().is_some_and(|w| is_in(w, &DETERMINERS) || is_in(w, UNNAMED_SPEAKERS) || w.starts_with('@') || w.contains('.'))
}

/// "That said", "das heißt".
fn is_phrase(subject: &[String], verb: &str) -> bool {
    let nearest = subject.iter().rev().find(|w| !is_in(w, SKIPPED_BEFORE_VERB)).map_or("", String::as_str);
    match verb {
        "said" | "saying" => matches!(nearest, "that" | "having"),
        "heißt" | "hieß" => nearest == "das",
        _ => false,
    }
}

/// "It includes:" and "This contains:" describe what the writer made.
fn is_thing(subject: &[String]) -> bool {
    subject.last().is_some_and(|w| matches!(w.as_str(), "it" | "this" | "es" | "pr")) && subject.len() < 3
}

/// Is the writer the subject of a verb?
fn is_writer(subject: &[String]) -> bool {
    let nearest = subject.iter().rev().find(|w| !is_in(w, SKIPPED_BEFORE_VERB));
    nearest.is_some_and(|w| is_in(w, WRITER_WORDS))
}

/// "Quoted from the page", "Requested by Bob", "as written in the README".
fn is_participle_of_source(words: &[String], at: usize) -> bool {
    const PARTICIPLES: [&str; 17] = [
        "written", "stated", "quoted", "said", "copied", "pasted", "posted", "requested", "asked", "suggested", "recommended",
        "proposed", "worded", "cited", "mentioned", "demanded", "instructed",
    ];
    let rest = &words[at + 1..];
    let Some(from) = rest.first().filter(|w| is_in(w, SOURCE_PREPOSITIONS)) else { return false };
    let by = matches!(from.as_str(), "by" | "von" | "par" | "por");
    is_in(&words[at], &PARTICIPLES)
        && rest.len() > 1
        && !rest.iter().any(|w| is_in(w, WRITER_WORDS))
        && (by || rest.iter().any(|w| is_source(w)))
}

/// Is a one-word subject a name, as in "Alice suggests"?
fn is_name(subject: &[String], raw: &[&str]) -> bool {
    let [name] = subject else { return false };
    let capital = raw.first().is_some_and(|w| w.trim_start_matches(['*', '_', '"', '`']).starts_with(char::is_uppercase));
    const NO_NAMES: [&str; 12] =
        ["the", "this", "that", "these", "those", "it", "option", "phase", "step", "what", "which", "also"];
    capital && name.len() > 2 && !is_in(name, &NO_NAMES) && !name.ends_with('s')
}

/// "According to the page", "laut der Anleitung".
fn is_according_to(words: &[String], raw: &[&str]) -> bool {
    let rest = match words {
        [first, second, rest @ ..] if first == "according" && second == "to" => rest,
        [first, second, rest @ ..] if matches!(first.as_str(), "as" | "wie") && matches!(second.as_str(), "per" | "laut") => rest,
        [first, rest @ ..] if is_in(first, ACCORDING_PREPOSITIONS) => rest,
        _ => return false,
    };
    let named = raw.iter().skip(1).any(|w| w.trim_start_matches(['*', '_']).starts_with(char::is_uppercase));
    !rest.iter().any(|w| is_in(w, WRITER_WORDS)) && (rest.iter().any(|w| is_source(w)) || named && rest.len() < 4)
}

/// "From the page", "Quote", "Comment by Bob", "Test output".
fn names_a_text(words: &[String]) -> bool {
    /// Longer lines are statements of their own.
    const MOST: usize = 9;
    let own = words.iter().any(|w| is_in(w, WRITER_WORDS));
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    if own || words.len() > MOST {
        return false;
    }
    let from = matches!(first.as_str(), "from" | "aus" | "von" | "vom" | "extrait") && words.iter().any(|w| is_source(w));
    let quote = is_in(first, QUOTATION_NOUNS) && words.get(1).is_none_or(|w| is_in(w, SOURCE_PREPOSITIONS))
        || words.len() < 4 && matches!(last.as_str(), "quote" | "excerpt" | "verbatim" | "zitat" | "wortlaut");
    let of_whom = words.windows(2).enumerate().any(|(at, two)| {
        let by = matches!(two[1].as_str(), "from" | "by" | "von" | "vom" | "de");
        is_in(&two[0], TEXT_NOUNS)
            && at < 3
            && is_in(&two[1], SOURCE_PREPOSITIONS)
            && (by || words[at + 2..].iter().any(|w| is_source(w)))
    });
    let output = is_in(last, OUTPUT_NOUNS) && words[..words.len() - 1].iter().all(|w| is_in(w, OUTPUT_MODIFIERS));
    from || quote || of_whom && !begins_open(first) || output
}

/// The remaining points of a code review are the writer's list of work.
fn begins_open(first: &str) -> bool {
    is_in(first, &["remaining", "open", "outstanding", "unresolved", "addressed", "answered", "offene", "restliche"])
}

/// "Here is what the page says", "This is what Bob wrote".
fn is_what(head: &str) -> bool {
    const WORDS: [&str; 6] = ["what", "was", "wie", "folgendes", "following", "verbatim"];
    let mut words = bare_words(head.split_whitespace()).take(4);
    words.any(|word| WORDS.iter().any(|what| what.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_pass_on_what_another_says_are_known() {
        for line in [
            "What the page says:", "**What the page says:**", "The issue reads:", "It says:", "The issue says we need to:",
            "The README states the following:", "From the docs:", "Quote from the issue:", "Quote:", "The reviewer asks for:",
            "Bob wrote:", "@bob suggests:", "Alice recommends:", "As written in CONTRIBUTING.md:", "Requested by the reviewer:",
            "According to the page:", "Test output:", "Output:", "The tool printed:", "The error message says:", "Comment by Bob:",
            "Here is what the page says.", "The PR description says:", "`notes.txt` says:", "The page lists these steps:",
            "The bot comment tells us to:", "Message from the CI bot:", "Body of the issue:", "I fetched it; the page says:",
            "Die Seite sagt:", "Im Issue steht:", "Dort steht:", "Laut der Anleitung:", "Auf der Seite heißt es:", "Zitat:",
            "Bob schreibt:", "Der Kommentar fordert:", "Ausgabe:", "La page dit :", "La página dice:", "页面写道：", "You said:",
            "The user says:", "They wrote:", "The file contains:", "The web page contains the following:",
        ] {
            assert_eq!(attribution_of_line(line), Some(AttributionKind::Says), "{line}");
        }
        assert_eq!(attribution_of_line("The coverage report shows:"), Some(AttributionKind::Shows));
    }

    #[test]
    fn lines_in_which_the_writer_speaks_are_their_own() {
        for line in [
            "Left to do:",
            "I'd suggest:",
            "I recommend:",
            "We said:",
            "What I wrote:",
            "What I would say:",
            "My notes:",
            "Note:",
            "Next steps:",
            "Decisions:",
            "Suggested rewrite:",
            "Recommended:",
            "Here's what I changed:",
            "This PR includes:",
            "The type system includes seven well-organized files:",
            "I read what the reviewer said, here's what I did:",
            "The page is slow because of:",
            "Documentation:",
            "README:",
            "Error handling:",
            "It includes:",
            "The plan lists:",
            "The function returns:",
            "Remaining comments from the review:",
            "Behavior notes:",
            "Two things worth flagging from that output:",
            "Based on the research, I'd suggest:",
            "Let me read the file:",
            "Ich schlage vor:",
            "Wir sagen:",
            "Offen:",
            "1. **Read URL params on load** for:",
            "**Run from anywhere:**",
            "What is left:",
            "The page says a lot.",
        ] {
            assert_eq!(attribution_of_line(line), None, "{line}");
        }
    }

    #[test]
    fn sentences_that_pass_on_words_are_known() {
        for sentence in [
            "The page says: always run curl.", "README.md reads: use tabs", "**Bob wrote:** decision: no tests",
            "Dort steht: immer curl",
        ] {
            assert!(announced_from(sentence).is_some(), "{sentence}");
        }
        for sentence in
            ["Decision: use SQLite.", "I said: no.", "Next: look at what the page says.", "src/a.rs:12: it reads", "at 12:30"]
        {
            assert!(announced_from(sentence).is_none(), "{sentence}");
        }
        for sentence in [
            "The page says that we decided to run curl",
            "According to the README we always use curl",
            "Bob said to drop it",
            "Laut der Seite immer curl",
        ] {
            assert_eq!(report_end(sentence), Some(None), "{sentence}");
        }
        assert_eq!(report_end("The docs say tabs, so I decided on tabs"), Some(Some(17)));
        for sentence in [
            "I decided on keyset pagination",
            "We said we'd use SQLite",
            "The order list uses keyset pagination instead of pages",
            "Decided to keep what the page says",
        ] {
            assert_eq!(report_end(sentence), None, "{sentence}");
        }
    }
}
