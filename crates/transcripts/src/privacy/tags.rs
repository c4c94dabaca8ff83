//! Removes whole blocks from a message: what the user marked with `<private>`, and what others inserted.
//!
//! ## Cost
//! One pass from left to right, linear for any text: each tag is searched once, a name that is not closed any more is not searched
//! again, and past [`MAX_TAGS`] tags the rest of the message is dropped.

use std::borrow::Cow;

use text::disarm::INJECTED_TAGS;

const PRIVATE: &str = "private";

/// Tags that are processed per message. No one writes as many, and pasting them must not let text slip through.
const MAX_TAGS: usize = 1_000;
/// Longest tag, in bytes: `<private reason="…">`.
const MAX_TAG_BYTES: usize = 200;

/// A message without its blocks.
#[derive(Debug, PartialEq, Eq)]
pub struct Stripped<'t> {
    pub text: Cow<'t, str>,
    /// A part was marked as private.
    pub private: bool,
    /// The private blocks, one after the other, possibly with tags inside.
    pub fenced: String,
}

/// Removes private and injected blocks. A block that is never closed extends to the end.
pub fn strip(text: &str) -> Stripped<'_> {
    let unclosed = [false; INJECTED_TAGS.len()];
    let mut scan = TagScanner { text, kept: String::new(), fenced: String::new(), from: 0, private: false, tags: 0, unclosed };
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'<', &text.as_bytes()[at..]).map(|found| at + found) {
        at = match scan.block_at(start) {
            Some(end) => {
                scan.cut(start, end);
                end
            }
            None => start + 1,
        };
    }
    if scan.from == 0 {
        return Stripped { text: Cow::Borrowed(text), private: false, fenced: String::new() };
    }
    scan.kept.push_str(&text[scan.from..]);
    Stripped { text: Cow::Owned(scan.kept), private: scan.private, fenced: scan.fenced }
}

/// A text block of a message in the user's name, up to what the client or an editor inserted into it.
///
/// A selected file or a reminder may hold closing tags of its own, so nothing behind an inserted block is taken for the user's. No
/// client is known to write the user's words there: in 220 transcripts of clients 1.0 to 2.1 none of 87 such blocks had any.
pub(crate) fn before_injected(text: &str) -> &str {
    let unclosed = [false; INJECTED_TAGS.len()];
    let mut scan = TagScanner { text, kept: String::new(), fenced: String::new(), from: 0, private: false, tags: 0, unclosed };
    let begins = |start: &usize| scan.injected_end(*start).is_some();
    memchr::memchr_iter(b'<', text.as_bytes()).find(begins).map_or(text, |start| &text[..start])
}

struct TagScanner<'t> {
    text: &'t str,
    kept: String,
    fenced: String,
    /// The offset up to which the text was kept or cut.
    from: usize,
    private: bool,
    tags: usize,
    /// Names that are not closed in the rest of the text.
    unclosed: [bool; INJECTED_TAGS.len()],
}

impl TagScanner<'_> {
    fn cut(&mut self, start: usize, end: usize) {
        self.kept.push_str(&self.text[self.from..start]);
        self.from = end;
    }

    /// The end of the block whose tag begins at `start`, if one does.
    fn block_at(&mut self, start: usize) -> Option<usize> {
        let end = match private_tag(&self.text[start..]) {
            Some((PrivateTag::Opens, len)) => {
                self.private = true;
                let end = self.private_end(start + len);
                self.fenced.push_str(&self.text[start + len..end]);
                self.fenced.push('\n');
                Some(end)
            }
            // A stray closing tag: the words after it were never private.
            Some((PrivateTag::Closes, len)) => Some(start + len),
            None => self.injected_end(start),
        };
        self.tags += usize::from(end.is_some());
        if self.tags > MAX_TAGS { Some(self.text.len()) } else { end }
    }

    /// The end of the private block whose content begins at `from`, including nested blocks.
    fn private_end(&mut self, from: usize) -> usize {
        let mut depth = 1;
        let mut at = from;
        while let Some(start) = memchr::memchr(b'<', &self.text.as_bytes()[at..]).map(|found| at + found) {
            at = start + 1;
            let Some((tag, len)) = private_tag(&self.text[start..]) else { continue };
            at = start + len;
            self.tags += 1;
            depth = if tag == PrivateTag::Opens { depth + 1 } else { depth - 1 };
            if self.tags > MAX_TAGS {
                break;
            }
            if depth == 0 {
                return at;
            }
        }
        self.text.len()
    }

    fn injected_end(&mut self, start: usize) -> Option<usize> {
        let after = &self.text[start + 1..];
        let which = INJECTED_TAGS
            .iter()
            .position(|name| after.strip_prefix(name).is_some_and(|tail| tail.starts_with(['>', ' ', '\n'])))?;
        let close = format!("</{}>", INJECTED_TAGS[which]);
        if !self.unclosed[which] {
            if let Some(at) = memchr::memmem::find(after.as_bytes(), close.as_bytes()) {
                return Some(start + 1 + at + close.len());
            }
            self.unclosed[which] = true;
        }
        // A tag that is only mentioned is not closed, and does not begin a line.
        let at_line_start = start == 0 || self.text.as_bytes()[start - 1] == b'\n';
        at_line_start.then_some(self.text.len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrivateTag {
    Opens,
    Closes,
}

/// The private tag that `text` starts with, and its length. Case, spaces and attributes are ignored.
fn private_tag(text: &str) -> Option<(PrivateTag, usize)> {
    let head = &text.as_bytes()[..text.len().min(MAX_TAG_BYTES)];
    let spaces = |from: usize| head.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_whitespace()).count());
    let mut at = 1 + spaces(1);
    let closes = head.get(at) == Some(&b'/');
    at += usize::from(closes);
    at += spaces(at);
    let name = head.get(at..at + PRIVATE.len())?;
    if !name.eq_ignore_ascii_case(PRIVATE.as_bytes()) {
        return None;
    }
    at += PRIVATE.len();
    // `<privately>` is another word; `<private/>` encloses nothing.
    if !matches!(head.get(at), Some(b'>')) && !head.get(at).is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let Some(end) = memchr::memchr2(b'>', b'<', &head[at..]).map(|end| at + end) else {
        // A tag that is longer than the part examined.
        let goes_on = head.len() == MAX_TAG_BYTES && head[at..].contains(&b'=');
        return goes_on.then_some((if closes { PrivateTag::Closes } else { PrivateTag::Opens }, at));
    };
    let inside = &head[at..end];
    // `<private key>` is a placeholder, as in a manual.
    let is_tag = inside.iter().all(u8::is_ascii_whitespace) || inside.contains(&b'=') && !inside.ends_with(b"/");
    (head[end] == b'>' && is_tag).then_some((if closes { PrivateTag::Closes } else { PrivateTag::Opens }, end + 1))
}

/// May this be the rest of a known tag after its `<`, in plain text or in JSON? Three letters rule out most others.
pub(crate) fn may_be_tag(rest: &str) -> bool {
    let mut name = rest;
    // JSON writes white space as a backslash and a letter.
    while let Some(after) = name.strip_prefix(['/', ' ', '\n', '\t', '\r']).or_else(|| name.strip_prefix('\\')?.get(1..)) {
        name = after;
    }
    let begins = |tag: &&str| name.as_bytes().get(..3).is_some_and(|head| head.eq_ignore_ascii_case(&tag.as_bytes()[..3]));
    INJECTED_TAGS.iter().chain(&[PRIVATE]).any(begins)
}

/// Does the text open a private block that it does not close?
pub(crate) fn leaves_private_open(text: &str) -> bool {
    const END: &str = "\u{0}";
    !strip(&format!("{text}{END}")).text.ends_with(END)
}

/// Does a tag in the text open a private block?
pub fn opens_private(text: &str) -> bool {
    memchr::memchr_iter(b'<', text.as_bytes()).any(|at| matches!(private_tag(&text[at..]), Some((PrivateTag::Opens, _))))
}

#[cfg(test)]
mod tests;
