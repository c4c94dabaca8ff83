//! Words as every reader keeps them: the assistant's, and the names in what a hook of ours told.

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
