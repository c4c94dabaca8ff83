//! Cuts a document into the pieces that are embedded: about 900 characters each, every one with the title. Pure.
//!
//! Small models read about 256 tokens and ignore the rest, and one vector cannot represent a long text. A document's similarity is that
//! of its nearest piece.

use crate::analyze::account::{SessionAccount, last_reply};
use crate::model::digest::Digest;
use crate::text::clean::shorten;

/// Raise whenever the same text would be cut differently: vectors of different versions are never compared.
pub(crate) const VERSION: i64 = 2;

/// The most characters in a piece.
pub(crate) const PIECE_CHARS: usize = 900;
/// The most pieces per document; the first ones say what it is about.
pub(crate) const MAX_PIECES: usize = 6;
/// The most characters of the title repeated in every piece.
const TITLE: usize = 160;

/// What a model claimed of a session, and the questions that it answers by the model's word.
pub(crate) fn of_claims(digest: &Digest) -> Vec<String> {
    let statements = digest.findable().map(|(_, claim)| claim.text.as_str());
    let lines = std::iter::once(digest.request.as_str()).chain(statements);
    pieces(&digest.title, &lines.collect::<Vec<_>>().join("\n"))
}

/// What was said and done in a session that no model read: what the user asked, how it ended, what was committed, what is open.
pub(crate) fn of_account(digest: &Digest, account: &SessionAccount) -> Vec<String> {
    let reply = last_reply(&account.turns).map(|(_, reply)| reply.text.as_str());
    let commits = account.commits.iter().rev().map(|commit| commit.subject.as_str());
    let counted = digest.findable().map(|(_, claim)| claim.text.as_str());
    let lines = std::iter::once(digest.request.as_str()).chain(reply).chain(commits).chain(counted);
    pieces(&digest.title, &lines.collect::<Vec<_>>().join("\n"))
}

pub(crate) fn of_note(text: &str) -> Vec<String> {
    pieces("", text)
}

/// The pieces of a text: filled with whole lines while they fit, then with whole words.
pub(crate) fn pieces(title: &str, text: &str) -> Vec<String> {
    let title = shorten(title.trim(), TITLE);
    let room = PIECE_CHARS - title.chars().count() - 1;
    let mut all = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for part in text.lines().map(str::trim).filter(|line| !line.is_empty()).flat_map(|line| split_line(line, room)) {
        let chars = part.chars().count();
        if length > 0 && length + 1 + chars > room {
            all.push(std::mem::take(&mut piece));
            length = 0;
        }
        if length > 0 {
            piece.push('\n');
            length += 1;
        }
        piece.push_str(part);
        length += chars;
    }
    all.push(piece);
    let whole =
        |piece: String| [title.as_str(), &piece].iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>().join("\n");
    all.into_iter().map(whole).filter(|piece| !piece.is_empty()).take(MAX_PIECES).collect()
}

/// A line in parts of at most `room` characters, cut between words where possible.
fn split_line(line: &str, room: usize) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((cut, _)) = rest.char_indices().nth(room) else { return Some(std::mem::take(&mut rest)) };
        let at = rest[..cut].rfind(char::is_whitespace).filter(|at| *at > cut / 2).unwrap_or(cut);
        let (part, next) = rest.split_at(at);
        rest = next.trim_start();
        Some(part.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::digest::Claim;
    use crate::model::section::Section;

    #[test]
    fn a_short_text_is_one_piece_with_its_title() {
        assert_eq!(
            pieces("Keyset pagination", "Orders went missing.\n\n  Now they do not. "),
            ["Keyset pagination\nOrders went missing.\nNow they do not."]
        );
        assert_eq!(pieces("", "Only this."), ["Only this."]);
        assert_eq!(pieces("Only a title", " \n"), ["Only a title"]);
        assert_eq!(pieces("", ""), Vec::<String>::new());
    }

    #[test]
    fn questions_are_part_of_what_is_embedded() {
        let digest = Digest { title: "T".into(), request: "R".into(), ..Digest::default() };
        let digest = digest.with(Section::Questions, [Claim::new("why do rows vanish?")]);
        assert_eq!(of_claims(&digest), ["T\nR\nwhy do rows vanish?"]);
    }

    #[test]
    fn a_long_text_is_cut_between_lines_and_words() {
        let line = "word ".repeat(100);
        let all = pieces("Title", &[line.trim(), line.trim(), line.trim()].join("\n"));
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|piece| piece.starts_with("Title\nword") && piece.ends_with("word")));
        let without_end = pieces("", &"語".repeat(2_000));
        assert_eq!(without_end.iter().map(|piece| piece.chars().count()).collect::<Vec<_>>(), [899, 899, 202]);
        assert_eq!(pieces("", &"line of words\n".repeat(5_000)).len(), MAX_PIECES);
    }

    proptest! {
        #[test]
        fn pieces_are_bounded_and_hold_nothing_new(title in "\\PC{0,300}", text in "(\\PC{0,80}[ \n]?){0,80}") {
            let all = pieces(&title, &text);
            prop_assert!(all.len() <= MAX_PIECES);
            for piece in &all {
                prop_assert!(!piece.is_empty() && piece.chars().count() <= PIECE_CHARS, "{}", piece.chars().count());
                let known = |word: &str| title.contains(word.trim_end_matches('…')) || text.contains(word);
                prop_assert!(piece.split_whitespace().all(known), "{piece:?}");
            }
        }
    }
}
