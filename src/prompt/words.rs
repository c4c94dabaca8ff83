//! The words of a prompt by which earlier sessions are looked for.

use std::collections::HashSet;

use crate::terms;

/// Words of a query at most.
pub const MOST: usize = 24;
/// How much of what the user pasted is looked through, in bytes.
const PASTED: usize = 8 << 10;
/// Words longer than this are tokens of some machine's, in bytes.
const MAX_WORD: usize = 80;

/// Words that ask for the past and for somebody's help, and are no topic.
const ASKING: &[&str] = &[
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

/// The telling words of a prompt, each once: the user's own in their order, then names in what they pasted, then its other words.
pub fn of(own: &[String], text: &str, asks: bool) -> Vec<String> {
    let mut chosen = Chosen { seen: HashSet::new(), words: Vec::new(), asks };
    own.iter().for_each(|line| chosen.add(line, |_| true));
    let pasted = &text[..text.floor_char_boundary(PASTED)];
    chosen.add(pasted, is_name);
    chosen.add(pasted, |_| true);
    chosen.words
}

/// Is it a word that a question for the past has, and that may be its topic, too?
pub fn may_ask(lower: &str) -> bool {
    ASKING.contains(&lower)
}

/// The same, and it is no likely topic.
pub fn only_asks(lower: &str) -> bool {
    may_ask(lower) && !is_english_topic(lower)
}

struct Chosen {
    seen: HashSet<String>,
    words: Vec<String>,
    asks: bool,
}

impl Chosen {
    fn add(&mut self, text: &str, fits: impl Fn(&str) -> bool) {
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '/' | '-' | '\'' | '’'));
        for word in words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')) {
            if self.words.len() >= MOST {
                return;
            }
            if fits(word) && self.is_telling(word) && self.seen.insert(word.to_lowercase()) {
                self.words.push(word.to_owned());
            }
        }
    }

    fn is_telling(&self, word: &str) -> bool {
        let lower = word.to_lowercase().replace('’', "'");
        let asking = ASKING.contains(&lower.as_str()) && (self.asks || !word.is_ascii() || !is_english_topic(&lower));
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        word.len() <= MAX_WORD && letters >= 2 && !asking && !is_machines(word) && !terms::words(word).is_empty()
    }
}

/// Words that may be a topic where nobody asks for the past.
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

/// Something with a sign or a change of case inside, as names of files, functions and versions have.
fn is_name(word: &str) -> bool {
    word.contains(['_', '/', '.']) || terms::parts(word).len() > 1
}

/// An id, a hash, a time: nobody looks for a session by it, and no two are alike.
fn is_machines(word: &str) -> bool {
    let hex =
        |part: &str| part.len() >= 6 && part.bytes().all(|b| b.is_ascii_hexdigit()) && part.bytes().any(|b| b.is_ascii_digit());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.split('-').all(hex) || digits * 2 > word.len()
}
