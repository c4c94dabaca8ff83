//! What a paraphrase keeps as it is: code, paths, names, hashes and numbers. A statement that holds one which the session does not is wrong.

use std::collections::HashSet;

use text::tokenize::{distinctive_words, is_stop_word, is_unsegmented, stem};

/// A part of a statement that a true one takes over as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FixedToken {
    /// In lower case: code, a path, an identifier, a hash. One that has spaces is a command or a line of code.
    Code(String),
    /// A name of a person, a product or a tool, in lower case.
    Name(String),
    /// A number without its unit, and the words beside it, stemmed, of which one has to stand beside it in the session as well.
    Number { number: String, beside: Vec<String> },
    /// The number of an issue or a pull request.
    Reference(String),
}

/// How many words on each side of a number say what it counts, and how near one of them stands to it in the session.
const WORDS_BESIDE: usize = 3;
const NEAR_WORDS: usize = 12;
const MAX_SMALL: u32 = 12;
/// Smaller numbers are part of how people talk.
const MIN_NUMBER: u32 = 3;
const NUMBER_WORDS: [(&str, &str); 18] = [
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("drei", "3"),
    ("vier", "4"),
    ("fünf", "5"),
    ("sechs", "6"),
    ("sieben", "7"),
    ("acht", "8"),
    ("neun", "9"),
    ("zehn", "10"),
];
const FILE_EXTENSIONS: [&str; 34] = [
    "bash", "c", "cfg", "cpp", "css", "csv", "ex", "go", "h", "html", "ini", "java", "js", "json", "jsonl", "jsx", "kt", "lock",
    "md", "mjs", "php", "py", "rb", "rs", "scss", "sh", "sql", "svelte", "toml", "ts", "tsx", "txt", "xml", "yaml",
];
/// What stands before the number of an issue or a pull request.
const REFERENCES: [&str; 6] = ["#", "/pull/", "/issues/", "pr ", "issue ", "pull request "];
/// Capitals that name no one thing of a session.
const COMMON_NAMES: [&str; 40] = [
    "api", "apis", "ci", "cd", "cli", "css", "html", "http", "https", "i", "id", "ids", "json", "ok", "os", "pr", "prs", "sql",
    "tests", "todo", "tui", "ui", "uri", "url", "urls", "ux", "xml", "yaml", "faq", "readme", "english", "german", "monday",
    "tuesday", "wednesday", "thursday", "friday", "claude", "user", "git",
];

/// The fixed tokens of a statement.
pub(super) fn fixed_tokens(statement: &str) -> Vec<FixedToken> {
    let mut tokens = Vec::new();
    for (at, part) in statement.split('`').enumerate() {
        // Between two backticks lies code; of an odd number the last one opens nothing.
        let is_code = at % 2 == 1 && statement.matches('`').count() > at;
        if is_code {
            tokens.extend(code(part).map(FixedToken::Code));
        } else {
            of_prose(part, at == 0, &mut tokens);
        }
    }
    tokens
}

fn of_prose(text: &str, begins: bool, tokens: &mut Vec<FixedToken>) {
    let mut starts_sentence = begins;
    let mut last: Option<&str> = None;
    let all: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || is_unsegmented(c) || "、。・「」（）".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in all.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '#' | '-' | '.' | '~' | '@'));
        // `fix(a)` and `(a1b2c3d).` end with what is no part of a name.
        let bare = bare.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let bare = bare.trim_end_matches(['.', '-', '/']).trim_start_matches('~');
        let bare = ["'s", "\u{2019}s"].iter().find_map(|end| bare.strip_suffix(end)).unwrap_or(bare);
        starts_sentence |= word.starts_with(['"', '“', '„', '\'', '(']);
        let ends = word.ends_with(['.', '!', '?', ':', ';']) || word.ends_with(".)");
        // Tools that check have names of their own, which no dictionary holds: "the headernorm linter".
        if bare.starts_with("linter")
            && let Some(before) = last.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        {
            tokens.push(FixedToken::Name(before.to_owned()));
        }
        last = Some(bare).filter(|word| !is_stop_word(word));
        // Both ends of a span count.
        if let Some((from, to)) = bare.split_once('-')
            && let (Some(from), Some(to)) = (number(from), number(to))
        {
            tokens.extend([from, to].map(|number| FixedToken::Number { number, beside: beside(&all, at) }));
            continue;
        }
        match token_of(bare, starts_sentence) {
            Some(FixedToken::Number { number, .. }) => tokens.push(FixedToken::Number { number, beside: beside(&all, at) }),
            token => tokens.extend(token),
        }
        starts_sentence = ends;
    }
}

fn token_of(word: &str, starts_sentence: bool) -> Option<FixedToken> {
    let lower = word.to_lowercase();
    if let Some((_, digits)) = NUMBER_WORDS.iter().find(|(name, _)| *name == lower) {
        return Some(FixedToken::Number { number: (*digits).to_owned(), beside: Vec::new() });
    }
    // The number of an issue or a pull request.
    if let Some(number) = lower.strip_prefix('#').filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())) {
        return Some(FixedToken::Reference(number.to_owned()));
    }
    // A version stands where it stands: nobody counts with it.
    let is_version = lower.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || lower.matches('.').count() > 1;
    if is_version && lower.chars().any(|c| c.is_ascii_digit()) {
        return code(lower.trim_start_matches('v')).map(FixedToken::Code);
    }
    if let Some(number) = number(&lower) {
        let is_small = number.parse::<u32>().is_ok_and(|n| n < MIN_NUMBER);
        return (!is_small).then_some(FixedToken::Number { number, beside: Vec::new() });
    }
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let inner_capital = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let joined = word.contains(['_', '/', '@']) || word.contains("::") || names_file(&lower);
    let is_hash = word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit()) && word.bytes().any(|b| b.is_ascii_digit());
    let is_mixed = letters > 0 && word.chars().any(|c| c.is_ascii_digit());
    if is_hash || inner_capital || joined && letters > 0 || word.starts_with("--") || is_mixed && !word.contains('-') {
        return code(word).map(FixedToken::Code);
    }
    let is_capital = word.starts_with(char::is_uppercase) && !starts_sentence;
    let name = lower.split('-').next().unwrap_or_default();
    (is_capital && letters >= 3 && word.is_ascii() && !COMMON_NAMES.contains(&name)).then(|| FixedToken::Name(name.to_owned()))
}

/// Does a word end like the name of a file?
pub(super) fn names_file(word: &str) -> bool {
    let Some((name, extension)) = word.rsplit_once('.') else { return false };
    name.chars().any(char::is_alphanumeric) && FILE_EXTENSIONS.contains(&extension)
}

/// Code as it is looked for: in lower case, without the arguments of a call and without the number of a line.
fn code(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let text =
        text.split_once('(').filter(|(name, _)| !name.is_empty() && !name.contains(' ')).map_or(text.as_str(), |(name, _)| name);
    let text = match text.rsplit_once(':') {
        Some((path, line)) if names_file(path) && line.bytes().all(|b| b.is_ascii_digit()) => path,
        _ => text,
    };
    let text = text.trim_matches(['\'', '"', '…', ',', ';']).trim_start_matches("./").trim_end_matches('/');
    text.chars().any(char::is_alphanumeric).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A word that is a number with at most a short unit: its digits, without separators of thousands.
pub(super) fn number(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['#', '+', '-', '$', '€', '~', '≈', '<', '>', '=', 'v']);
    let digits = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let is_unit = unit.is_empty()
        || ["%", "s", "ms", "m", "h", "k", "kb", "mb", "gb", "b", "px", "x", "×", "th", "st", "nd", "rd", "min"].contains(&unit)
        || unit.starts_with('-') && unit[1..].chars().all(char::is_alphabetic);
    let number = number.trim_matches(['.', ',']);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && is_unit;
    is_number.then(|| number.replace(',', ""))
}

/// The words on both sides of a number that say what it counts, stemmed.
fn beside(words: &[&str], at: usize) -> Vec<String> {
    let content = |word: &&str| {
        let stems = distinctive_words(word);
        stems.into_iter().find(|stem| stem.chars().all(char::is_alphabetic))
    };
    let after = words[at + 1..].iter().filter_map(content).take(WORDS_BESIDE);
    after.chain(words[..at].iter().rev().filter_map(content).take(WORDS_BESIDE)).collect()
}

/// Does a text hold a number, with one of these words near it? Without any, the number alone counts.
pub(super) fn holds_number(text: &str, number: &str, beside: &[String]) -> bool {
    let words: Vec<&str> = text
        .lines()
        .map(without_number_of_item)
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "()[]{}|*`\"'=;:/_<>".contains(c)))
        .filter(|w| !w.is_empty())
        .collect();
    let is_it = |word: &str| {
        let word = word.to_lowercase();
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let spelled = NUMBER_WORDS.iter().any(|(name, digits)| *name == word && *digits == number);
        // A number with whatever hangs on it: `30s,`, `4.6gb`, `3-5`, `v0.1.0`.
        let runs = word.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
        spelled || runs.into_iter().any(|run| run.trim_matches(['.', ',']).replace(',', "") == number)
    };
    let near = |at: usize| {
        let window = &words[at.saturating_sub(NEAR_WORDS)..words.len().min(at + NEAR_WORDS + 1)];
        window.iter().any(|word| distinctive_words(word).iter().any(|stem| beside.contains(stem)))
    };
    // Small numbers stand everywhere.
    let is_small = number.parse::<u32>().is_ok_and(|n| n <= MAX_SMALL);
    words.iter().enumerate().any(|(at, word)| is_it(word) && (!is_small || beside.is_empty() || near(at)))
}

/// A line without the number that only tells its place in a list.
fn without_number_of_item(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '#', '*']);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() { rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')).unwrap_or(line) } else { line }
}

/// How many fixed tokens a statement has, and how many of them a text does not hold: once by itself and once as it is searched.
pub(crate) fn count_missing(statement: &str, text: &str, searched: &SessionText) -> (usize, usize) {
    let tokens = fixed_tokens(statement);
    let holds = |token: &&FixedToken| match token {
        FixedToken::Number { number, beside } => holds_number(text, number, beside),
        token => searched.holds(token),
    };
    (tokens.len(), tokens.iter().filter(|token| !holds(token)).count())
}

/// Does a statement count or measure something: is there a number with words beside it?
pub(crate) fn counts_something(statement: &str) -> bool {
    fixed_tokens(statement).iter().any(|token| matches!(token, FixedToken::Number { beside, .. } if !beside.is_empty()))
}

/// All that was said, done and printed in a session, to look fixed tokens up.
pub(crate) struct SessionText {
    /// In lower case, with one space between words.
    text: String,
    words: HashSet<String>,
}

impl SessionText {
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut text = String::new();
        for one in texts {
            for word in one.split_whitespace() {
                text.extend(word.chars().flat_map(char::to_lowercase));
                text.push(' ');
            }
            text.push('\n');
        }
        let words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| stem(word).to_owned()).collect();
        Self { text, words }
    }

    /// Does the session hold it? Numbers are looked for elsewhere: most sessions hold most small ones.
    pub(super) fn holds(&self, token: &FixedToken) -> bool {
        match token {
            FixedToken::Code(code) => self.holds_code(code),
            FixedToken::Name(name) => self.words.contains(stem(name)) || self.text.contains(name.as_str()),
            FixedToken::Number { .. } => true,
            FixedToken::Reference(number) => REFERENCES.iter().any(|before| self.holds_whole(&format!("{before}{number}"))),
        }
    }

    fn holds_code(&self, code: &str) -> bool {
        if self.holds_whole(code) {
            return true;
        }
        // A path may be told from another folder, and a command with its words elsewhere.
        if let Some((folders, name)) = code.rsplit_once('/').filter(|_| !code.contains(' ')) {
            return self.holds_whole(name) && folders.split('/').all(|folder| self.holds_whole(folder));
        }
        let words = distinctive_words(code);
        code.contains(' ') && self.text.lines().any(|line| words.iter().all(|word| line.contains(word.as_str())))
    }

    /// Does it stand there as a word, or as the beginning of one? A hash is cut, and a name goes on with what it ends in.
    fn holds_whole(&self, code: &str) -> bool {
        let begins_word = code.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_version = code.starts_with(|c: char| c.is_ascii_digit());
        let mut found = self.text.match_indices(code);
        found.any(|(at, _)| {
            let before = &self.text[..at];
            let before = before.strip_suffix('v').filter(|_| is_version).unwrap_or(before);
            !begins_word || !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    }
}
