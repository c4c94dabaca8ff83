//! Reads a prompt: which words to search earlier sessions for, and whether it asks for the past. Pure; the work is bounded, however much
//! text was pasted into the prompt.

mod past;
mod words;

use crate::analyze::failures::error_signature;
use crate::search::Query;
use text::clean::without_controls;
use transcripts::privacy::strip;
use transcripts::source::is_user_text;

pub(crate) use past::{PastIntent, wants_decisions};

/// The most bytes of a prompt that are read. A fence opened before the cut stays in effect.
const MAX_PROMPT_BYTES: usize = 1 << 20;
/// The most lines that are looked at for errors, and the most errors.
const MAX_PASTED_LINES: usize = 400;
const MAX_ERRORS: usize = 8;
/// The most names that are looked up.
const MAX_NAMES: usize = 12;
/// A shorter word is no name, in characters.
const MIN_NAME_CHARS: usize = 4;

/// The query without the words that only ask for the past: "what did we decide on retries" becomes "retries".
pub(crate) fn topic_only(query: &Query) -> Query {
    if past::asks_unsegmented(&query.text) {
        return Query { terms: Query::from_words(&past::strip_asking(&query.text)).terms, ..query.clone() };
    }
    let for_the_past = past::classify(std::slice::from_ref(&query.text)) == PastIntent::Asks;
    let asks = for_the_past || query.terms.iter().any(|term| words::only_asks(&term.text));
    let is_asking = |text: &str| if for_the_past { words::asks_for_past(text) } else { asks && words::is_asking_word(text) };
    let topic = query.terms.iter().filter(|term| !is_asking(&term.text)).cloned().collect();
    Query { terms: topic, ..query.clone() }
}

/// What a prompt asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptIntent {
    /// The words to search for, most distinctive first; empty if the prompt has no topic.
    pub(crate) words: Vec<String>,
    /// Those of `words` that say what the prompt is about, not only what to do.
    pub(crate) topic: Vec<String>,
    /// Tickets and identifiers that the user wrote, such as `ENT-228`, `parse_row` and `src/list.rs`.
    pub(crate) names: Vec<String>,
    pub(crate) past: PastIntent,
    /// It asks what was decided, or why.
    pub(crate) decisions: bool,
    /// It asks why something is the way it is.
    pub(crate) why: bool,
    /// The signatures of the errors that it holds.
    pub(crate) errors: Vec<String>,
}

impl PromptIntent {
    /// `words` as a query without filters.
    pub(crate) fn query(&self) -> Query {
        Query::from_words(&self.words.join(" "))
    }

    /// `topic` as a query without filters.
    pub(crate) fn topic_query(&self) -> Query {
        Query::from_words(&self.topic.join(" "))
    }
}

/// Reads a prompt. `None` for commands, for text that the user did not write, and for private prompts.
pub fn read(prompt: &str) -> Option<PromptIntent> {
    let plain = without_controls(&prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)]);
    let stripped = strip(&plain);
    let text = stripped.text.trim();
    if stripped.private || text.is_empty() || is_command(text) || !is_user_text(text) {
        return None;
    }
    let own = own_lines(text);
    let past = past::classify(&own);
    let words = words::pick_words(&own, text, past != PastIntent::No);
    let topic = words.iter().filter(|word| words::is_topic(word)).cloned().collect();
    let decisions = own.iter().any(|line| wants_decisions(line));
    let errors = text.lines().take(MAX_PASTED_LINES).filter_map(error_signature).take(MAX_ERRORS).collect();
    let names = own.iter().flat_map(|line| names_in(line)).take(MAX_NAMES).map(str::to_owned).collect();
    Some(PromptIntent { words, topic, names, past, decisions, why: past::asks_why(&own), errors })
}

/// The words of a line that are names of something: more than letters, as in a ticket, a path or an identifier.
fn names_in(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '_'))
        .filter(|word| is_name(word))
}

fn is_name(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let joined = chars
        .windows(3)
        .any(|w| w[0].is_alphanumeric() && matches!(w[1], '_' | '/' | ':') && (w[2].is_alphanumeric() || w[2] == ':'));
    let file = word.rsplit_once('.').is_some_and(|(name, end)| {
        name.chars().last().is_some_and(char::is_alphanumeric)
            && (1..=4).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_lowercase())
    });
    let ticket = word.split_once('-').is_some_and(|(team, number)| {
        team.len() >= 2
            && team.bytes().all(|b| b.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    });
    let camel = chars.windows(2).any(|w| w[0].is_lowercase() && w[1].is_uppercase());
    chars.len() >= MIN_NAME_CHARS && chars.iter().any(|c| c.is_alphabetic()) && (joined || file || ticket || camel)
}

/// Does a text name this, as a whole?
pub(crate) fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(&name).any(|(at, found)| !text[..at].ends_with(part) && !text[at + found.len()..].starts_with(part))
}

/// A client command: `/name …` or `!command`, but not a path.
fn is_command(text: &str) -> bool {
    let name = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    text.starts_with('!') || text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()).is_some_and(name)
}

/// How many lines at each end of the prompt count as the user's own; what lies between was pasted.
const OWN_LINES: usize = 12;
/// The longest line a person writes, in bytes.
const MAX_LINE_BYTES: usize = 1_200;

/// The lines the user seems to have written: at both ends, outside code and block quotes, and without quoted text.
fn own_lines(text: &str) -> Vec<String> {
    let mut in_code = false;
    let written = |line: &&str| {
        let bare = line.trim_start();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        in_code ^= fence;
        let indented = line.len() - bare.len() >= 4 || line.starts_with('\t');
        !fence
            && !in_code
            && !indented
            && !bare.is_empty()
            && !bare.starts_with(['>', '[', '{', '<', '$', '|'])
            && !has_timestamp(bare)
    };
    let lines: Vec<&str> = text.lines().filter(written).collect();
    let middle = OWN_LINES..lines.len().saturating_sub(OWN_LINES).max(OWN_LINES);
    let ends = lines.iter().enumerate().filter(|(at, _)| !middle.contains(at));
    ends.map(|(_, line)| unquoted(&line[..line.floor_char_boundary(MAX_LINE_BYTES)])).collect()
}

/// Does the line begin with a date or time, like a log line?
fn has_timestamp(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 2
        && matches!(line.as_bytes().get(digits), Some(b':' | b'-' | b'/'))
        && line.as_bytes().get(digits + 1).is_some_and(u8::is_ascii_digit)
}

/// The line without text in double quotes, guillemets or backquotes: someone else's words.
fn unquoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(from) = rest.find(['"', '“', '„', '`', '«']) {
        let open = rest[from..].chars().next().unwrap_or('"');
        let close: &[char] = match open {
            '“' | '„' => &['”', '“'],
            '«' => &['»'],
            '`' => &['`'],
            _ => &['"'],
        };
        let after = from + open.len_utf8();
        let Some(end) = rest[after..].find(close) else { break };
        out.push_str(&rest[..from]);
        out.push(' ');
        rest = rest[after + end..].trim_start_matches(close);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(prompt: &str) -> Vec<String> {
        read(prompt).map(|asked| asked.words).unwrap_or_default()
    }

    #[test]
    fn what_is_no_prompt_is_silent() {
        for prompt in [
            "",
            "  \n",
            "/compact",
            "/review src/main.rs",
            "/plugin:command x",
            "!git status",
            "! ls",
            "<private>where did we leave off on the audit</private>",
            "Look at this. <private>x</private>",
            "<system-reminder>where did we leave off</system-reminder>",
            "<task-notification><id>1</id></task-notification>",
            "<command-name>/recall</command-name>",
            "<bash-input>ls</bash-input>",
            "[Request interrupted by user]",
            "This session is being continued from a previous conversation that ran out of context.",
            "<recall-context>notes on the pagination</recall-context>",
        ] {
            assert_eq!(read(prompt), None, "{prompt}");
        }
        for prompt in ["/home/dev/src/shop/list.rs fails", "/tmp/x.log is full", "<div> is not closed in the header template"] {
            assert!(read(prompt).is_some(), "{prompt}");
        }
    }

    #[test]
    fn the_users_words_come_first_and_names_stay_whole() {
        let prompt = "The parseRow helper in src/list.rs drops umlauts, why?\n```\npanicked at src/other.rs:17: bad thing\n```";
        let words = words(prompt);
        assert_eq!(&words[..5], ["parseRow", "helper", "src/list.rs", "drops", "umlauts"]);
        assert!(words.contains(&"src/other.rs".to_owned()) && !words.contains(&"why".to_owned()), "{words:?}");
    }

    #[test]
    fn a_name_is_told_from_a_word() {
        let names = |line: &str| names_in(line).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            names("Do ENT-228 now, in `parse_row` of src/list.rs (see std::io)"),
            ["ENT-228", "parse_row", "src/list.rs", "std::io"]
        );
        assert_eq!(names("fix getUser in list.rs"), ["getUser", "list.rs"]);
        assert_eq!(names("well-known and/or up-to-date e.g. v1.2 A-1 10:30 http: ok. Yes-no 1/2 a/b"), ["and/or"]);
        assert!(super::names("Rotate the key (ent-228).", "ENT-228") && !super::names("see ENT-2281", "ENT-228"));
        assert!(!super::names("parse_rows", "parse_row") && super::names("in `parse_row`", "parse_row"));
    }

    #[test]
    fn a_question_for_the_past_is_not_its_own_topic() {
        assert_eq!(words("Where did we leave off?"), [""; 0]);
        assert_eq!(words("where did we leave off on the pagination"), ["pagination"]);
        assert_eq!(words("What did we decide about retry budgets last week?"), ["retry", "budgets"]);
        assert_eq!(words("Wo waren wir bei der Paginierung?"), ["Paginierung"]);
        for prompt in [
            "où en étions-nous ?", "Où nous sommes-nous arrêtés ?", "donde lo dejamos", "上次我们做到哪里了？", "继续上次的工作",
            "前回の続きをお願いします", "前回どこまでやりましたか", "지난번에 어디까지 했지?",
        ] {
            assert_eq!(words(prompt), [""; 0], "{prompt}");
        }
        assert_eq!(words("上次我们做到哪里了 pagination"), ["pagination"]);
        assert_eq!(words("前回のセーブデータの続き"), ["セーブデータ"]);
        assert_eq!(words("上次的分页修复做到哪里了"), ["分页修复"]);
    }

    #[test]
    fn a_pasted_log_asks_nothing_however_long_it_is() {
        let line = "2026-11-20T10:00:00Z worker-3 retry: where did we leave off, as last time\n";
        let log = format!("The worker dies.\n{}\nWhy?", line.repeat(20_000));
        let asked = read(&log).unwrap();
        assert_eq!(asked.past, PastIntent::No);
        assert!(asked.words.len() <= words::MAX_WORDS && asked.words.contains(&"worker".to_owned()), "{:?}", asked.words);
    }

    proptest! {
        #[test]
        fn any_prompt_is_read_and_gives_few_plain_words(prompt in "(\\PC|\n|\"|`|<private>|/|where did we leave off on |a){0,200}") {
            if let Some(asked) = read(&prompt) {
                prop_assert!(asked.words.len() <= words::MAX_WORDS);
                prop_assert!(asked.words.iter().all(|word| !word.contains(['"', ':', '\n', ' '])), "{:?}", asked.words);
            }
        }
    }
}
