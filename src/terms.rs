//! Words for search and comparison: names split where programmers join them, and words that say nothing left out.

use std::collections::BTreeSet;

/// English words too common to find or to compare by.
const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can",
    "could", "did", "do", "does", "done", "for", "from", "get", "got", "had", "has", "have", "he", "her", "here", "his", "how",
    "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "make", "me", "more", "my", "no", "not", "now", "of", "on",
    "one", "only", "or", "other", "our", "out", "over", "please", "s", "same", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "use", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "yes", "you", "your",
];

/// Text as it is indexed: itself, and after it the parts of every joined name in it.
pub fn index_text(text: &str) -> String {
    let mut out = text.to_owned();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let parts = parts(word);
        if parts.len() > 1 {
            for part in parts {
                out.push(' ');
                out.push_str(part);
            }
        }
    }
    out
}

/// The parts of a joined name: `getHTTPUser_id2` → `get HTTP User id2`.
pub fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    for (i, (at, c)) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| chars[i].1);
        let after = chars.get(i + 1).map(|(_, c)| *c);
        let starts_word = c.is_uppercase()
            && before
                .is_some_and(|b| b.is_lowercase() || b.is_numeric() || (b.is_uppercase() && after.is_some_and(char::is_lowercase)));
        if *c == '_' || starts_word {
            parts.push(&name[start..*at]);
            start = if *c == '_' { at + 1 } else { *at };
        }
    }
    parts.push(&name[start..]);
    parts.retain(|p| !p.is_empty());
    parts
}

/// The telling words of a text, lower case, without endings that English adds.
pub fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .flat_map(|word| parts(word).into_iter().map(str::to_lowercase).collect::<Vec<_>>())
        .filter(|w| w.chars().count() > 1 && !STOP.contains(&w.as_str()))
        .map(|w| stem(&w).to_owned())
        .collect()
}

/// What remains when the endings are off that most often tell two forms of a word apart.
fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
        {
            return stem;
        }
    }
    word
}

/// The share of the telling words of `text` that `other` holds too, 0 to 1.
pub fn covered_by(text: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    if text.is_empty() {
        return 0.0;
    }
    text.intersection(other).count() as f64 / text.len() as f64
}

/// A query for FTS5 from whatever somebody typed: each word quoted, any of them enough. `None` when nothing is left to look for.
pub fn match_any(query: &str) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()) {
        for form in std::iter::once(word).chain(parts(word)) {
            let form = form.to_lowercase();
            if !all.contains(&form) {
                all.push(form);
            }
        }
    }
    let telling: Vec<&String> = all.iter().filter(|w| !STOP.contains(&w.as_str())).collect();
    let chosen: Vec<&String> = if telling.is_empty() { all.iter().collect() } else { telling };
    let quoted: Vec<String> = chosen.iter().take(64).map(|w| format!("\"{w}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_they_were_joined() {
        assert_eq!(parts("getHTTPUser_id2"), ["get", "HTTP", "User", "id2"]);
        assert_eq!(parts("plain"), ["plain"]);
        assert_eq!(index_text("fix parseRow"), "fix parseRow parse Row");
    }

    #[test]
    fn a_query_of_signs_or_stop_words_is_no_error() {
        assert_eq!(match_any("\"(*) AND - ^"), Some("\"and\"".into()));
        assert_eq!(match_any("where is parseRow?"), Some("\"parserow\" OR \"parse\" OR \"row\"".into()));
        assert_eq!(match_any("!!! ---"), None);
    }

    #[test]
    fn forms_of_a_word_count_as_one() {
        let text = words("Migrating the admin exports");
        assert_eq!(covered_by(&text, &words("the admin export was migrated")), 1.0);
        assert_eq!(covered_by(&words(""), &text), 0.0);
    }
}
