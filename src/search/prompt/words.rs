//! Picks the words of a prompt to search earlier sessions for.

use std::collections::HashSet;

use super::past;
use text::tokenize;
use text::tokenize::is_unsegmented;

/// The most words in a query.
pub(crate) const MAX_WORDS: usize = 24;
/// How many bytes of pasted text are searched for words.
const MAX_PASTED_BYTES: usize = 8 << 10;
/// Longer words are machine-made tokens, in bytes.
const MAX_WORD_BYTES: usize = 80;

/// Words that ask for the past or for help, and are not topics.
const ASKING_WORDS: &[&str] = &[
    // English
    "ago", "again", "agree", "agreed", "already", "anyway", "back", "begin", "call", "can't", "catch", "chat", "conclude",
    "concluded", "continue", "conversation", "day", "decide", "decided", "decision", "decisions", "didn't", "discuss", "discussed",
    "discussion", "doing", "don't", "earlier", "ever", "far", "finish", "finished", "going", "happen", "happened", "help", "hey",
    "hi", "hello", "keep", "know", "last", "latest", "leave", "left", "let's", "list", "look", "month", "need", "off", "ok",
    "okay", "old", "regarding", "pick", "picking", "plan", "planned", "prior", "previous", "previously", "recall", "recap",
    "remember", "remind", "resume", "said", "say", "session", "sessions", "show", "stand", "start", "started", "state", "status",
    "still", "stop", "stopped", "summarize", "summary", "talk", "talked", "tell", "thing", "things", "thread", "time", "today",
    "tried", "try", "want", "week", "went", "we're", "we've", "work", "worked", "working", "yesterday", "carry", "choose", "chose",
    "chosen", // German
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bitte", "da", "damals", "das", "dass", "dem",
    "den", "der", "des", "die", "dies", "diese", "diesem", "diesen", "dieser", "doch", "du", "ein", "eine", "einem", "einen",
    "einer", "entschieden", "er", "es", "für", "gestern", "haben", "hast", "hat", "hatten", "hier", "ich", "ihr", "im", "ist",
    "jetzt", "kann", "kannst", "können", "letzte", "letzten", "letztes", "machen", "mach", "mal", "mir", "mit", "nach", "nicht",
    "noch", "nun", "nur", "ob", "oder", "schon", "sie", "sind", "sitzung", "stehen", "stehengeblieben", "und", "uns", "unsere",
    "unserer", "vom", "von", "vor", "war", "waren", "warum", "was", "weiter", "weitermachen", "welche", "wenn", "wie", "wieder",
    "wir", "wo", "woche", "wurde", "zu", "zum", "zur", "zuletzt", "aufgehört", "beschlossen", "besprochen", "erinnere",
    // French
    "au", "aux", "avec", "avait", "avons", "ce", "cette", "comme", "continuons", "continuer", "dans", "de", "des", "dernière",
    "dernier", "du", "décidé", "elle", "en", "est", "et", "étions", "étais", "fois", "hier", "il", "je", "la", "le", "les", "lors",
    "mais", "ne", "nous", "où", "ou", "par", "pas", "pour", "pourquoi", "quand", "que", "quel", "quelle", "qu'est", "qu'avons",
    "qui", "quoi", "rappelle", "reprendre", "reprenons", "sommes", "sur", "un", "une", "vous",
    // Spanish, Portuguese, Italian
    "ayer", "ci", "com", "como", "con", "continuar", "continuemos", "cosa", "cuál", "da", "dal", "decidido", "decidimos", "del",
    "della", "deciso", "di", "dónde", "dove", "dejamos", "e", "el", "em", "era", "eravamo", "estábamos", "estávamos", "fa", "foi",
    "fue", "gli", "ha", "hemos", "hicimos", "i", "ieri", "las", "lo", "los", "na", "nel", "no", "nos", "o", "onde", "ontem", "ora",
    "os", "para", "paramos", "per", "perché", "por", "porque", "quale", "qué", "quedamos", "rimasti", "se", "sessione", "sesión",
    "sessão", "si", "siamo", "sobre", "su", "sul", "sulla", "última", "último", "ultima", "una", "uno", "uma", "vez", "volta", "y",
];

/// Everyday words of programming: sessions that share only these are unrelated.
const EVERYDAY_WORDS: &[&str] = &[
    "able", "actual", "bring", "bringing", "brings", "brought", "repeat", "redo", "actually", "add", "added", "adding", "adds",
    "address", "ahead", "allow", "another", "app", "apply", "around", "ask", "asked", "assume", "avoid", "aware", "away", "bad",
    "because", "best", "better", "big", "bigger", "bit", "both", "branch", "branches", "break", "broke", "broken", "bug", "bugs",
    "build", "builds", "bump", "case", "cases", "change", "changed", "changelog", "changes", "changing", "check", "checked",
    "checks", "ci", "class", "clean", "clear", "code", "com", "command", "commands", "comment", "comments", "commit", "commits",
    "committed", "complete", "completed", "complex", "concern", "consider", "copy", "correct", "correctly", "could", "create",
    "created", "current", "currently", "data", "default", "delete", "detail", "details", "different", "diff", "directory", "doc",
    "docs", "documentation", "down", "due", "each", "easy", "else", "enough", "ensure", "error", "errors", "especially", "etc",
    "even", "every", "everything", "exact", "exactly", "example", "examples", "exist", "existing", "expected", "explain", "fail",
    "failed", "failing", "fails", "failure", "feature", "feedback", "few", "file", "files", "find", "fine", "first", "fix",
    "fixed", "fixes", "fixing", "folder", "follow", "following", "found", "full", "function", "functions", "general", "gets",
    "getting", "git", "github", "give", "given", "gives", "go", "goes", "good", "great", "guess", "handle", "handles", "handling",
    "happens", "hard", "having", "high", "however", "http", "https", "idea", "ideally", "ideas", "image", "implement",
    "implementation", "implemented", "important", "improve", "include", "included", "info", "information", "inside", "instead",
    "instruction", "instructions", "interesting", "issue", "issues", "item", "items", "key", "kind", "less", "level", "line",
    "lines", "link", "lint", "linter", "linters", "linting", "little", "local", "locally", "log", "long", "longer", "looking",
    "looks", "lot", "low", "main", "many", "master", "match", "maybe", "mean", "means", "medium", "merge", "merged", "message",
    "messages", "method", "methods", "mind", "minor", "missing", "mode", "module", "move", "moved", "much", "multiple", "must",
    "name", "named", "names", "never", "new", "next", "nice", "non", "note", "nothing", "number", "numbers", "object", "one",
    "onto", "open", "option", "options", "order", "original", "others", "output", "outside", "own", "package", "page", "part",
    "phase", "parts", "pass", "passes", "path", "paths", "perfect", "place", "point", "points", "possible", "pr", "print",
    "probably", "problem", "problems", "project", "proper", "properly", "prs", "pull", "pulled", "push", "pushed", "put",
    "question", "questions", "quick", "quickly", "rather", "read", "readme", "real", "really", "reason", "rebase", "rebased",
    "ref", "release", "remaining", "remove", "removed", "rename", "renamed", "replace", "repo", "repository", "required", "rest",
    "result", "results", "return", "returns", "reuse", "review", "reviewed", "reviewer", "reviews", "rewrite", "right", "root",
    "run", "running", "runs", "safe", "second", "section", "see", "seem", "seems", "seen", "separate", "set", "several", "simple",
    "simplify", "single", "small", "solution", "something", "sorry", "sort", "specific", "split", "step", "steps", "string",
    "style", "such", "suggest", "suggestion", "super", "support", "sure", "switch", "take", "takes", "task", "tasks", "test",
    "testing", "tests", "text", "thank", "thanks", "think", "thought", "though", "three", "through", "thx", "todo", "together",
    "tool", "tools", "top", "touch", "true", "turn", "two", "type", "types", "understand", "unit", "unless", "until", "update",
    "updated", "updates", "used", "useful", "user", "users", "uses", "using", "usage", "value", "values", "verify", "version",
    "versions", "via", "wait", "way", "ways", "well", "whether", "whole", "wonder", "won't", "without", "word", "words", "worth",
    "write", "writing", "written", "wrong", "www", "yeah", "yep", "yet", // German
    "alle", "alles", "änderung", "änderungen", "aufruf", "bauen", "baue", "behebe", "beispiel", "datei", "dateien", "daten",
    "dann", "danke", "durch", "fehler", "füge", "funktion", "funktionen", "geht", "gib", "hinzu", "immer", "kein", "keine",
    "klasse", "lösche", "mehr", "möchte", "muss", "neue", "neuen", "neues", "ohne", "prüfe", "schreibe", "sehr", "sich", "soll",
    "sollte", "statt", "über", "um", "unter", "warte", "werden", "wird", "zeig", "zeige", "zeile", "zeilen", "zwischen",
];

/// The distinctive words of a prompt, each once: first the user's own in their order, then names in pasted text, then other pasted words.
pub(crate) fn pick_words(own: &[String], text: &str, asks: bool) -> Vec<String> {
    let mut chosen = WordPicker { seen: HashSet::new(), words: Vec::new(), asks };
    own.iter().for_each(|line| chosen.add(line, |_| true));
    let pasted = &text[..text.floor_char_boundary(MAX_PASTED_BYTES)];
    chosen.add(pasted, is_name);
    chosen.add(pasted, |_| true);
    chosen.words
}

/// Does the word say what a prompt is about, and not only what to do?
pub(crate) fn is_topic(word: &str) -> bool {
    is_name(word) || !EVERYDAY_WORDS.contains(&word.to_lowercase().as_str())
}

/// Is it a word of a question for the past? It may still be the topic.
pub(crate) fn is_asking_word(lower: &str) -> bool {
    ASKING_WORDS.contains(&lower)
}

/// Is it such a word and unlikely to be the topic?
pub(crate) fn only_asks(lower: &str) -> bool {
    is_asking_word(lower) && !is_english_topic(lower)
}

/// Is it a word that asks for the past, or several joined ones like `étions-nous`?
pub(crate) fn asks_for_past(lower: &str) -> bool {
    let asks = |word: &str| is_asking_word(word) || past::is_phrase_word(word);
    asks(lower) || lower.split(['-', '\'']).all(|part| part.chars().count() < 2 || asks(part) || tokenize::is_stop_word(part))
}

struct WordPicker {
    seen: HashSet<String>,
    words: Vec<String>,
    asks: bool,
}

impl WordPicker {
    fn add(&mut self, text: &str, fits: impl Fn(&str) -> bool) {
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '/' | '-' | '\'' | '’'));
        for word in words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')) {
            if self.words.len() >= MAX_WORDS {
                return;
            }
            if !fits(word) {
                continue;
            }
            if self.asks && word.chars().any(is_unsegmented) {
                past::strip_asking(word).split(' ').for_each(|part| self.keep(part));
            } else {
                self.keep(word);
            }
        }
    }

    fn keep(&mut self, word: &str) {
        if self.words.len() < MAX_WORDS && self.is_distinctive(word) && self.seen.insert(word.to_lowercase()) {
            self.words.push(word.to_owned());
        }
    }

    fn is_distinctive(&self, word: &str) -> bool {
        let lower = word.to_lowercase().replace('’', "'");
        let asking = if self.asks {
            asks_for_past(&lower)
        } else {
            is_asking_word(&lower) && (!word.is_ascii() || !is_english_topic(&lower))
        };
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        word.len() <= MAX_WORD_BYTES
            && letters >= 2
            && !asking
            && !is_machine_made(word)
            && !tokenize::distinctive_words(word).is_empty()
    }
}

/// Words of [`ASKING_WORDS`] that may be the topic where the prompt does not ask for the past.
fn is_english_topic(word: &str) -> bool {
    matches!(
        word,
        "list"
            | "session"
            | "sessions"
            | "status"
            | "state"
            | "plan"
            | "summary"
            | "thread"
            | "resume"
            | "call"
            | "chat"
            | "conversation"
            | "discussion"
            | "time"
            | "stop"
            | "start"
    )
}

/// A name of a file, function or version: it has punctuation or a change of case inside.
fn is_name(word: &str) -> bool {
    word.contains(['_', '/', '.']) || tokenize::parts(word).len() > 1
}

/// An id, hash or time: useless for search, since no two are alike.
fn is_machine_made(word: &str) -> bool {
    let hex =
        |part: &str| part.len() >= 6 && part.bytes().all(|b| b.is_ascii_hexdigit()) && part.bytes().any(|b| b.is_ascii_digit());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.split('-').all(hex) || digits * 2 > word.len()
}
