//! Words as every reader keeps them: the assistant's, and the names in what a hook of ours told.

use std::borrow::Cow;

use crate::privacy::Sanitizer;
use crate::privacy::raw::RawText;
use crate::session::{Evidence, Item, Title, TitleBy, ToldNames};
use crate::source::line::{MAX_RECAP_CHARS, MAX_TEXT_CHARS, MAX_TITLE_CHARS};
use text::clean::{head_and_tail, one_line, shorten};
use text::disarm::{CLOSING_TAG, OPENING_TAG};

/// The assistant's words; `None` for what clients write where nothing was said.
pub(super) fn reply<'t>(text: impl Into<RawText<'t>>, sanitizer: &Sanitizer) -> Option<Item> {
    let text = text.into();
    let said = !text.trim().is_one_of(&["", "No response requested.", "(no content)"]);
    // A reply that was sanitized to nothing keeps its place in the record.
    said.then(|| Item::Reply(head_and_tail(&sanitizer.clean(text), MAX_TEXT_CHARS)))
}

/// What the user typed, with files that were picked from a list, which some clients write as `@[src/parse.rs]`, called as others call them.
pub(super) fn plain_mentions(text: &str) -> Cow<'_, str> {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("@[") {
        let named = after.split_once(']').filter(|(name, _)| !name.is_empty() && !name.contains(['\n', '[']));
        let (name, behind) = named.unwrap_or(("[", after));
        plain.extend([before, "@", name]);
        rest = behind;
    }
    if plain.is_empty() { text.into() } else { (plain + rest).into() }
}

/// Does a text begin with one of these tags, whatever attributes it has? A tag alone does not make a text the client's: people write
/// tags, too.
pub(super) fn begins_with_tag(text: &str, names: &[&str]) -> bool {
    let after = text.trim_start().strip_prefix('<');
    let is = |name: &&str| after.and_then(|after| after.strip_prefix(*name)).is_some_and(|rest| rest.starts_with(['>', ' ', '\n']));
    names.iter().any(is)
}

/// What the client went on with once it had compacted; sanitized.
pub(super) fn recap(text: &str) -> Option<Item> {
    (!text.is_empty()).then(|| Item::Recap(head_and_tail(text, MAX_RECAP_CHARS)))
}

/// A session's title; sanitized.
pub(super) fn title(text: &str, by: TitleBy) -> Option<Item> {
    let text = one_line(text);
    (!text.is_empty()).then(|| Item::Title(Title { text: shorten(&text, MAX_TITLE_CHARS), by, leaf: None }))
}

/// The names in what a hook of ours told: no more of it is kept.
pub(super) fn told_by_hook(texts: &[RawText<'_>], sanitizer: &Sanitizer) -> Option<Item> {
    let mut told = ToldNames::default();
    for text in texts.iter().filter_map(|text| text.strip_prefix(OPENING_TAG)) {
        let before = text.split_once(CLOSING_TAG.trim_end()).map(|(before, _)| before);
        told.add(sanitizer.names_told(before.as_ref().unwrap_or(&text)));
    }
    (!told.is_empty()).then_some(Item::Evidence(Evidence::Told(told)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_by_all_of_its_name() {
        let begins = |text: &str| begins_with_tag(text, &["rules", "user_info"]);
        for text in ["<rules>", "\n <rules>x</rules>", "<user_info a=\"b\">", "<rules\na>"] {
            assert!(begins(text), "{text:?}");
        }
        for text in ["", "<", "rules>", "<rule>", "<rules2>", "<rules", "</rules>", "<private>", "see <rules>"] {
            assert!(!begins(text), "{text:?}");
        }
    }

    #[test]
    fn a_file_that_was_picked_is_called_like_any_other() {
        for (said, kept) in [
            ("Cure @[src/parse.rs] and @[a b.md], @[ not", "Cure @src/parse.rs and @a b.md, @[ not"),
            ("no files, a[0]@[\n]", "no files, a[0]@[\n]"),
            ("@[a.rs]", "@a.rs"),
            ("", ""),
        ] {
            assert_eq!(plain_mentions(said), kept);
        }
    }
}
