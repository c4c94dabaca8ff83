//! Where the name of a secret stands: at the start of a line, behind a flag, in a list, in a sentence. That decides what its value may look
//! like.

use super::assignment::Name;
use super::bytes::{self, URL64, WORD, backslashes_before, byte_at, byte_before};
use super::line_wrap::skip_line_prefix;
use super::separator::{Separator, SeparatorKind};
use super::value::Quote;

impl Name<'_> {
    pub(crate) fn is_flag(&self) -> bool {
        byte_before(self.text, self.start) == b'-' && byte_at(self.text, self.end) != b'-'
    }

    /// `machine … login … password …`, as in `.netrc`.
    pub(crate) fn is_netrc_entry(&self) -> bool {
        let near = &self.text[self.start.saturating_sub(160)..self.start];
        bytes::rfind(near, b"login ")
            .is_some_and(|n| near[n + 6..].split(u8::is_ascii_whitespace).filter(|w| w.len() > 1).count() == 1)
    }

    /// `ENV NAME value`, `set -gx NAME value`, `requirepass value`.
    pub(crate) fn is_declared(&self) -> bool {
        let line = self.line_head();
        let is_directive = ["requirepass", "masterauth"].iter().any(|d| self.name().eq_ignore_ascii_case(d.as_bytes()));
        // `npm config set //registry.x.y/:_authToken …`
        let set = bytes::rfind(line, b"config set ").map(|n| &line[n + 11..]);
        is_directive
            || set.is_some_and(|rest| !rest.contains(&b' '))
            || [&b"ENV "[..], b"set -gx ", b"set -x ", b"setx ", b"setenv ", b"configure set ", b"CONFIG SET "]
                .iter()
                .any(|d| line.ends_with(d))
    }

    /// `with password …`, in a sentence.
    pub(crate) fn is_in_prose(&self) -> bool {
        self.is_password_word() && byte_before(self.text, self.start) == b' '
    }

    pub(crate) fn is_prose(&self) -> bool {
        !self.is_flag() && !self.is_declared() && !self.is_netrc_entry()
    }

    /// `pass` or `pw` alone, which have many meanings.
    pub(crate) fn is_pass(&self) -> bool {
        ["pass", "pw"].iter().any(|name| self.name().eq_ignore_ascii_case(name.as_bytes()))
    }

    /// `pass`, `pw`, `credentials` or `creds` alone.
    pub(crate) fn is_credentials(&self) -> bool {
        self.is_pass() || ["credentials", "creds"].iter().any(|name| self.name().eq_ignore_ascii_case(name.as_bytes()))
    }

    pub(crate) fn name(&self) -> &[u8] {
        &self.text[self.start..self.end]
    }

    /// What stands before the name on its line, without the line's prefix; at most 100 bytes.
    pub(crate) fn line_head(&self) -> &[u8] {
        let start = self.start.saturating_sub(100);
        let line = bytes::rfind_sign(b'\n', &self.text[start..self.start]).map_or(start, |n| start + n + 1);
        if byte_before(self.text, self.start) == b'n' && byte_before(self.text, self.start - 1) == b'\\' {
            return b"";
        }
        &self.text[skip_line_prefix(self.text, line).min(self.start)..self.start]
    }

    /// Whether the name is inside a string of this quote. Then the quote ends that string and opens no value.
    pub(crate) fn is_inside(&self, quote: Quote) -> bool {
        let head = self.line_head();
        let head = bytes::rfind(head, b"\\n").map_or(head, |n| &head[n + 2..]);
        let counts = |n: usize| {
            let is_letter = |n: usize| head.get(n).is_some_and(u8::is_ascii_alphabetic);
            let is_apostrophe = quote.mark == b'\'' && n > 0 && is_letter(n - 1) && is_letter(n + 1);
            bytes::count_steps(1);
            head[n] == quote.mark && !is_apostrophe && backslashes_before(head, n) == quote.backslashes
        };
        (0..head.len()).filter(|n| counts(*n)).count() % 2 == 1
    }

    pub(crate) fn is_uppercase(&self) -> bool {
        self.name().iter().all(|b| !b.is_ascii_lowercase())
    }

    /// `;Password=…;`, `?token=…&`.
    pub(crate) fn is_in_list(&self) -> bool {
        matches!(byte_before(self.text, self.start), b';' | b'?' | b'&')
    }

    /// `--set db.password=…`, `-o user=me,password=…`: part of an option's value.
    pub(crate) fn is_option(&self) -> bool {
        let head = self.line_head();
        let word = head.rsplit(|b| *b == b' ').next().unwrap_or(head);
        let before = &head[..head.len() - word.len()];
        let flag = before.trim_ascii_end().rsplit(|b| *b == b' ').next().unwrap_or(b"");
        word.last().is_some_and(|b| b".,[".contains(b)) && flag.len() > 1 && flag[0] == b'-'
    }

    /// `user=me,password=…`: after another pair in a list without spaces, as mounts have options.
    pub(crate) fn is_mount_option(&self) -> bool {
        let Some(head) = self.line_head().strip_suffix(b",") else { return false };
        let word = &head[head.iter().rposition(|b| *b <= b' ').map_or(0, |n| n + 1)..];
        word.contains(&b'=') && word.iter().all(|b| URL64.has(*b) || b"=,./:@".contains(b))
    }

    /// `password   …` on a line of its own, as programs print a name and a value.
    pub(crate) fn is_row(&self) -> bool {
        let gap = self.text.get(self.end..self.end + 2).unwrap_or(b"");
        self.is_password_word() && (gap == b"  " || gap.starts_with(b"\t")) && self.line_head().trim_ascii().is_empty()
    }

    fn is_password_word(&self) -> bool {
        ["password", "passphrase", "passwort"].iter().any(|name| self.name().eq_ignore_ascii_case(name.as_bytes()))
    }

    /// `"password=…"`: the quote before the name also ends the value.
    pub(crate) fn is_quoted_pair(&self) -> bool {
        matches!(byte_before(self.text, self.start), b'"' | b'\'')
    }

    /// `--from-literal=password=…`, `user=… password=…`: after another `=`, or after another pair.
    pub(crate) fn follows_pair(&self) -> bool {
        let head = self.line_head();
        let Some(pair) = head.strip_suffix(b" ").and_then(|head| head.rsplit(|b| *b == b' ').next()) else {
            return head.ends_with(b"=") && head.len() > 2 && head[head.len() - 2].is_ascii_alphanumeric();
        };
        let separator = pair.iter().position(|b| *b == b'=');
        separator.is_some_and(|n| n > 0 && n + 1 < pair.len() && pair[n + 1] != b'=' && WORD.has(pair[n - 1]))
            && pair.last().is_some_and(|b| URL64.has(*b))
    }

    /// Whether the name starts its line, as in an environment file or in YAML.
    pub(crate) fn starts_line(&self, separator: Separator) -> bool {
        if !matches!(separator.kind, SeparatorKind::Equals | SeparatorKind::Colon) {
            return false;
        }
        let mut head = self.line_head();
        for word in ["export ", "set ", "ENV ", "ARG ", "- ", "$env:", "//"] {
            head = head.strip_prefix(word.as_bytes()).unwrap_or(head);
        }
        head.iter().all(|b| URL64.has(*b) || matches!(b, b'.' | b' ' | b'/' | b':')) && !head.contains(&b' ')
    }
}
