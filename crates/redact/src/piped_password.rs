//! Passwords piped into a command: `echo password | sudo -S …`, `echo 'user:password' | chpasswd`.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, byte_at};
use super::candidate;
use super::harmless::{is_path_or_url, is_placeholder};
use super::secret_names::SecretKind;
use super::value::{ValueEnd, bare_value, opening_quote, quoted_end};

/// Commands that read a password from standard input.
pub(crate) const READERS: [&str; 22] = [
    "sudo -S", "chpasswd", "--password-stdin", "--with-token", "passwd --stdin", "base64", "passwd ", "sudo --stdin", "smbpasswd",
    "--passphrase-fd", "--data-file=-", "secret create", "kinit", "cryptsetup", "su -", "vault login", "ssh-add", "pass insert",
    "docker login", "gpg ", "bw unlock", "zfs load-key",
];
/// Of these, the ones that mostly read something else.
const OTHERS: [&[u8]; 6] = [b"base64", b"passwd ", b"secret create", b"su -", b"docker login", b"gpg "];
/// How far before the reader the pipe may be, and the commands that write into it.
const REACH_BYTES: usize = 160;
const WRITERS: [&[u8]; 2] = [b"echo ", b"printf "];

/// The password written into the pipe before the reader at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let is_reader = READERS.iter().any(|reader| text[hit.clone()] == *reader.as_bytes());
    let pipe = back_to(text, is_reader.then_some(hit.start)?, |b| b == b'|')?;
    let line = back_to(text, pipe, |b| matches!(b, b'\n' | b'|' | b';')).map_or(pipe.saturating_sub(REACH_BYTES), |n| n + 1);
    let ends = WRITERS.iter().filter_map(|word| bytes::rfind(&text[line..pipe], word).map(|n| line + n + word.len()));
    let mut start = bytes::run_end(text, ends.max()?, BLANK, 8);
    while byte_at(text, start) == b'-' || byte_at(text, start + usize::from(b"'\"".contains(&byte_at(text, start)))) == b'%' {
        start = bytes::run_end(text, bytes::find_byte(text, start, 16, |b| b == b' ').0, BLANK, 8);
        if start >= pipe {
            return None;
        }
    }
    let range = match opening_quote(text, start) {
        Some((quote, inside)) => inside..quoted_end(text, inside, quote, REACH_BYTES)?,
        None => bare_value(text, start, ValueEnd::Whitespace, REACH_BYTES),
    };
    let colon = text[range.clone()].iter().position(|b| *b == b':');
    let is_pair = text[hit.clone()].starts_with(b"chpasswd");
    let range = if is_pair { range.start + colon? + 1..range.end } else { range };
    let value = &text[range.clone()];
    let is_secret =
        range.end <= pipe && value.len() >= 4 && !value.contains(&b' ') && !is_placeholder(value) && !is_path_or_url(value);
    let is_plausible = !OTHERS.contains(&&text[hit]) || candidate::is_secret(value, SecretKind::Password, true);
    (is_secret && is_plausible && !ByteSet::of("$-").has(value[0])).then_some(range)
}

/// The last fitting byte before `place`, on the same line and within `REACH_BYTES`.
fn back_to(text: &[u8], offset: usize, fits: impl Fn(u8) -> bool) -> Option<usize> {
    let start = offset.saturating_sub(REACH_BYTES);
    bytes::count_steps(offset - start);
    text[start..offset].iter().rposition(|b| fits(*b) || *b == b'\n').map(|n| start + n).filter(|n| fits(text[*n]))
}
