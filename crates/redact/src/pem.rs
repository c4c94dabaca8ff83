//! Private keys as text: PEM and PGP blocks, whole or cut off, also inside strings; PuTTY files; PEM in base64.

use std::ops::Range;

use super::bytes::{self, ALL64, BASE64, ByteSet, byte_at, byte_before};
use super::harmless::is_sample;
use super::line_wrap::{line_break, skip_line_prefix};
use super::randomness::distinct_bytes;

pub(crate) const BEGIN: &str = "-----BEGIN ";
/// `-----BEGIN ` in base64.
pub(crate) const BEGIN_BASE64: &str = "LS0tLS1CRUdJTi";
pub(crate) const PUTTY: &str = "PuTTY-User-Key-File-";
/// The most bytes of a block; PGP keys with signatures are far smaller.
const MAX_BYTES: usize = 128 * 1024;
/// The least bytes of a line of a key, except the last.
const MIN_LINE_BYTES: usize = 16;

/// The block whose `-----BEGIN ` starts at `start`.
pub(crate) fn block(text: &[u8], start: usize) -> Option<Range<usize>> {
    let label = start + BEGIN.len();
    let label_end = bytes::run_end(text, label, ByteSet::of("A-Z0-9 "), 48);
    if !text[label_end..].starts_with(b"-----") || !is_private(&text[label..label_end]) {
        return None;
    }
    let body = label_end + 5;
    let end = closed_end(text, body).or_else(|| open_end(text, body))?;
    Some(start..end)
}

fn is_private(label: &[u8]) -> bool {
    bytes::find(label, b"PRIVATE KEY").is_some()
}

/// The end of a complete block. Only the next five dashes are considered, so that the search stays linear.
fn closed_end(text: &[u8], body: usize) -> Option<usize> {
    let reach = &text[body..text.len().min(body + MAX_BYTES)];
    let dashes = bytes::find(reach, b"-----");
    let dashes = dashes.map(|n| body + n)?;
    let label = text[dashes..].starts_with(b"-----END ").then_some(dashes + 9)?;
    let label_end = bytes::run_end(text, label, ByteSet::of("A-Z0-9 "), 48);
    let end = bytes::run_end(text, label_end, ByteSet::of("-"), 5);
    has_key(&text[body..dashes]).then_some(end)
}

/// Whether the body holds a key and not only dots.
fn has_key(body: &[u8]) -> bool {
    bytes::count_steps(body.len());
    body.split(|b| !BASE64.has(*b)).any(|run| run.len() >= MIN_LINE_BYTES && distinct_bytes(run) > 4 && !is_sample(run))
}

/// The end of a block that was cut off: the end of its last line.
fn open_end(text: &[u8], body: usize) -> Option<usize> {
    let mut end = body;
    let mut next = skip_separators(text, body);
    while next < body + MAX_BYTES {
        let line = bytes::run_end(text, next, BASE64, 4096);
        let header = header_end(text, next);
        if let Some(after) = header {
            next = skip_separators(text, after);
            continue;
        }
        let is_full = line - next >= MIN_LINE_BYTES && distinct_bytes(&text[next..line]) > 4;
        let is_last = !is_full && end > body && line > next && byte_at(text, line) != b' ';
        if !is_full && !is_last {
            break;
        }
        end = line;
        next = skip_separators(text, line);
        if is_last || next == line {
            break;
        }
    }
    (end > body && !is_sample(&text[body..end.min(body + 200)])).then_some(end)
}

/// `Proc-Type: 4,ENCRYPTED`, `DEK-Info: …`, `Version: …`
fn header_end(text: &[u8], line: usize) -> Option<usize> {
    const NAMES: [&str; 6] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"];
    NAMES
        .iter()
        .any(|name| text[line..].starts_with(name.as_bytes()))
        .then(|| bytes::find_byte(text, line, 120, |b| matches!(b, b'\n' | b'\\')).0)
}

/// Skips newlines, escaped newlines, line prefixes, and what joins string literals in code.
fn skip_separators(text: &[u8], offset: usize) -> usize {
    const JOINTS: ByteSet = ByteSet::of("\"'+, \t\r");
    let mut next = offset;
    for _ in 0..8 {
        let joint = bytes::run_end(text, next, JOINTS, 32);
        let quote =
            if byte_at(text, joint) == b'\\' && matches!(byte_at(text, joint + 1), b'"' | b'\'') { joint + 2 } else { joint };
        let after = line_break(text, quote).map_or(quote, |(_, next)| next);
        if after == next {
            break;
        }
        next = after;
    }
    next
}

/// A private key as PEM in base64, such as `client-key-data` of a kubeconfig, and how far the text was searched.
pub(crate) fn in_base64(text: &[u8], start: usize) -> (Option<Range<usize>>, usize) {
    let end = bytes::run_end(text, start, ALL64, MAX_BYTES);
    let head: Vec<u8> = super::jwt::decode(&text[start..end.min(start + 80)]);
    let is_key = !ALL64.has(byte_before(text, start)) && bytes::find(&head, b"PRIVATE KEY").is_some();
    ((is_key && end - start > 80).then_some(start..end), end)
}

/// A PuTTY file: the lines behind `Private-Lines:`.
pub(crate) fn putty(text: &[u8], start: usize) -> Option<Range<usize>> {
    let reach = &text[start..text.len().min(start + 8192)];
    // The beginning of another file ends this one, so that the search stays linear.
    let own = bytes::find(&reach[PUTTY.len()..], PUTTY.as_bytes()).map_or(reach.len(), |n| n + PUTTY.len());
    let lines = start + bytes::find(&reach[..own], b"Private-Lines:")?;
    let mut next = line_break(text, bytes::find_byte(text, lines, 40, |b| matches!(b, b'\n' | b'\\')).0)?.1;
    let from = next;
    let mut end = next;
    loop {
        let line = bytes::run_end(text, next, BASE64, 80);
        if line == next || text[next..].starts_with(b"Private-MAC") {
            break;
        }
        end = line;
        match line_break(text, line) {
            Some((_, after)) => next = skip_line_prefix(text, after).max(after),
            None => break,
        }
    }
    // The MAC is derived from the key.
    if text[next..].starts_with(b"Private-MAC: ") {
        end = bytes::run_end(text, next + 13, super::bytes::ANY_HEX, 64);
    }
    (end > from + MIN_LINE_BYTES).then_some(from..end)
}
