//! Does a text say anything? What is left of a prompt beside its private blocks makes its turn public only if it does.

/// Words without meaning of their own: courtesies, assent, and lead-ins. Sorted, in lower case.
const FILLER_WORDS: &[&str] = &[
    "a", "ack", "again", "ah", "aha", "all", "also", "an", "and", "any", "arigato", "as", "at", "att", "background", "below",
    "bitte", "bonjour", "btw", "but", "by", "cheers", "ciao", "confidential", "context", "dank", "danke", "dear", "done", "e",
    "eg", "eh", "et", "etc", "for", "from", "fyi", "gracias", "grazie", "guys", "hallo", "hello", "here", "heres", "hey", "hi",
    "hm", "hmm", "hola", "i", "ie", "image", "in", "info", "is", "it", "its", "ja", "just", "k", "kk", "kthx", "merci", "mm",
    "much", "my", "n", "nb", "nein", "no", "non", "nope", "note", "notes", "now", "obrigado", "of", "oh", "ok", "okay", "okey",
    "on", "or", "oui", "please", "pls", "plus", "plz", "private", "privately", "ps", "psst", "re", "right", "s", "salut", "secret",
    "si", "so", "sorry", "sure", "ta", "thank", "thanks", "that", "thats", "the", "then", "there", "these", "they", "this",
    "those", "thx", "tia", "to", "too", "ty", "tysm", "uh", "um", "und", "very", "vielen", "well", "which", "with", "y", "ya",
    "yay", "yeah", "yep", "yes", "you",
];

/// Placeholders that the client inserts for pasted content, without their opening bracket.
const PLACEHOLDERS: [&str; 4] = ["Image #", "Image: ", "Pasted text #", "...Truncated text #"];

/// Does a text have a meaningful word, apart from filler words and the client's placeholders?
pub(crate) fn is_meaningful(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, after) = (&rest[..open], &rest[open + 1..]);
        if has_meaningful_word(before) {
            return true;
        }
        let placeholder = PLACEHOLDERS.iter().any(|start| after.starts_with(start)).then(|| after.find(']')).flatten();
        rest = placeholder.map_or(after, |end| &after[end + 1..]);
    }
    has_meaningful_word(rest)
}

fn has_meaningful_word(text: &str) -> bool {
    // "it's" is one word here.
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    words
        .map(|word| word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>())
        .any(|word| is_meaningful_word(&word))
}

fn is_meaningful_word(word: &str) -> bool {
    // A number or a single letter only answers something said elsewhere.
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let alone = letters == 1 && word.is_ascii();
    letters > 0 && !alone && FILLER_WORDS.binary_search(&word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courtesies_signs_and_placeholders_say_nothing() {
        for text in [
            "", " \n", ".", "…", "- \n- ", "thanks", "Thanks!", "thank you very much :)", "ok, thx", "[Image #1]",
            "[Image #1] [Image #12] please", "[Pasted text #1 +12 lines]", "👍", "1.", "FYI:", "yes", "No, thanks.", "it's this:",
            "P.S.", "Danke", "---", "x", "[]", "(please)",
        ] {
            assert!(!is_meaningful(text), "{text:?}");
        }
        for text in [
            "mend it", "[Image #1] what is it?", "Look at this", "thanks, now push", "why?", "继续", "なぜ", "[WIP] push",
            "почему", "fix", "/review main", "Ok, mach weiter",
        ] {
            assert!(is_meaningful(text), "{text:?}");
        }
    }

    #[test]
    fn the_words_are_in_order() {
        assert!(FILLER_WORDS.is_sorted(), "{:?}", FILLER_WORDS.windows(2).find(|two| two[0] > two[1]));
    }
}
