//! Terminal escaping: nothing that recall prints can control the terminal, wherever the text comes from.
//!
//! Texts for people are sanitized where they are made. Transcript lines, exports and JSON are printed byte for byte, and a terminal would
//! obey control characters in them: there they are written as JSON escapes, which keeps JSON valid. A pipe or a file gets every byte.
//!
//! A write error ends a command that only shows something; a command that changes something continues.

use std::io::{self, ErrorKind, Write};

use text::clean::is_invisible;

/// The only escape sequences that recall writes itself.
const OWN_SEQUENCES: [&str; 4] = ["\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"];
/// The most bytes of an incomplete character or sequence that wait for the rest.
const MAX_HELD_BYTES: usize = 4;

pub(crate) struct TerminalEscaper<W> {
    to: W,
    is_terminal: bool,
    /// The start of an incomplete character or sequence.
    held: Vec<u8>,
    goes_on: bool,
    /// The first write error.
    unheard: Option<io::Error>,
}

impl<W: Write> TerminalEscaper<W> {
    pub(crate) fn new(to: W, is_terminal: bool) -> Self {
        Self { to, is_terminal, held: Vec::new(), goes_on: false, unheard: None }
    }

    /// Continues after write errors; [`TerminalEscaper::first_error`] gives the first one.
    pub(crate) fn keep_going(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// The first write error, if writing continued after one.
    pub(crate) fn first_error(&self) -> Option<&io::Error> {
        self.unheard.as_ref()
    }

    fn absorb_error<T>(&mut self, written: io::Result<T>, instead: T) -> io::Result<T> {
        match written {
            Err(e) if self.goes_on && e.kind() != ErrorKind::Interrupted => {
                self.unheard.get_or_insert(e);
                Ok(instead)
            }
            other => other,
        }
    }

    /// Writes the complete part of what is held; at the `end`, all of it.
    fn show(&mut self, end: bool) -> io::Result<()> {
        let whole = if end { self.held.len() } else { self.held.len() - incomplete_tail(&self.held) };
        let rest = self.held.split_off(whole);
        let shown = escape_controls(&String::from_utf8_lossy(&self.held));
        self.held = rest;
        self.to.write_all(shown.as_bytes())
    }
}

impl<W: Write> Write for TerminalEscaper<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            let written = self.to.write(bytes);
            return self.absorb_error(written, bytes.len());
        }
        self.held.extend_from_slice(bytes);
        let shown = self.show(false);
        self.absorb_error(shown, ())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let shown = if self.is_terminal { self.show(true) } else { Ok(()) };
        let flushed = shown.and_then(|()| self.to.flush());
        self.absorb_error(flushed, ())
    }
}

/// How many bytes at the end begin an incomplete character or sequence.
fn incomplete_tail(bytes: &[u8]) -> usize {
    let ends = (1..=MAX_HELD_BYTES.min(bytes.len())).rev();
    let starts = |tail: &[u8]| {
        let is_ours = OWN_SEQUENCES.iter().any(|ours| ours.len() > tail.len() && ours.as_bytes().starts_with(tail));
        is_ours || std::str::from_utf8(tail).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
    };
    ends.into_iter().find(|len| starts(&bytes[bytes.len() - len..])).unwrap_or(0)
}

fn escape_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(ours) = OWN_SEQUENCES.iter().find(|ours| text[at..].starts_with(**ours)) {
            out.push_str(ours);
            at += ours.len();
            continue;
        }
        if c.is_control() && !matches!(c, '\n' | '\t') || is_invisible(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
        at += c.len_utf8();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The output for a text that is written in these pieces.
    fn got(text: &[u8], cuts: &[usize], is_terminal: bool) -> Vec<u8> {
        let mut screen = TerminalEscaper::new(Vec::new(), is_terminal);
        let mut rest = text;
        for cut in cuts {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            screen.write_all(now).unwrap();
            rest = later;
        }
        screen.write_all(rest).unwrap();
        screen.flush().unwrap();
        screen.to
    }

    #[test]
    fn a_terminal_obeys_nobody_but_us() {
        let text = "\x1b[1mbold\x1b[0m \x1b[31m \x1b]52;c;eA==\x07 \u{9b}2J \r \u{202e} 日本\n\tx";
        let shown = String::from_utf8(got(text.as_bytes(), &[], true)).unwrap();
        assert_eq!(shown, "\x1b[1mbold\x1b[0m \\u001b[31m \\u001b]52;c;eA==\\u0007 \\u009b2J \\u000d \\u202e 日本\n\tx");
        assert_eq!(got(text.as_bytes(), &[], false), text.as_bytes(), "a pipe gets every byte");
    }

    #[test]
    fn json_stays_what_it_was() {
        let value = serde_json::json!({"a": "\u{9b}31m \u{202e}x\u{e0041}\u{7f}\x1b[2J", "b": ["日本"]});
        let shown = got(value.to_string().as_bytes(), &[], true);
        assert!(!String::from_utf8_lossy(&shown).contains(|c: char| c.is_control() || is_invisible(c)));
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&shown).unwrap(), value);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_writing_is_cut(
            text in "(\\PC|[\x00-\x1f\u{7f}-\u{9f}\u{202a}-\u{202e}]|\x1b\\[[01]?m?){0,40}", cuts in prop::collection::vec(0usize..9, 0..30)
        ) {
            let whole = got(text.as_bytes(), &[], true);
            prop_assert_eq!(&got(text.as_bytes(), &cuts, true), &whole);
            let left = String::from_utf8(whole).unwrap().replace("\x1b[1m", "").replace("\x1b[0m", "");
            prop_assert!(!left.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{:?}", left);
        }
    }
}
