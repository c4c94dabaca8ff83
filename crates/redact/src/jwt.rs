//! JSON Web Tokens: two or more base64url parts, the first a JSON object with the members of a header.

use std::ops::Range;

use super::bytes::{self, ByteSet, URL64, byte_at, byte_before};
use super::line_wrap::{LineBreak, line_break, line_width_before};
use super::tokens::is_token_boundary;

pub(crate) const KEY: &str = "eyJ";
/// The most bytes of a token and of its header.
const MAX_BYTES: usize = 16 * 1024;
const MAX_HEADER_BYTES: usize = 2048;
const PARTS: ByteSet = ByteSet::of("a-zA-Z0-9_.-");

/// The token whose header begins at `start`, and how far the text was searched.
pub(crate) fn find(text: &[u8], start: usize) -> (Option<Range<usize>>, usize) {
    if !text[start..].starts_with(KEY.as_bytes()) || URL64.has(byte_before(text, start)) && !is_token_boundary(text, start) {
        return (None, start);
    }
    let mut end = bytes::run_end(text, start, PARTS, MAX_BYTES);
    let mut token: Vec<u8> = text[start..end].to_vec();
    while token.len() < MAX_BYTES {
        let Some((kind, next)) = line_break(text, end) else { break };
        let more = bytes::run_end(text, next, PARTS, MAX_BYTES - token.len());
        let is_wrapped = kind == LineBreak::Joined || line_width_before(text, end, 60) >= 60;
        if !is_wrapped || more < next + 2 || is_prose(text, next, more) {
            break;
        }
        token.extend_from_slice(&text[next..more]);
        end = more;
    }
    // The dots at the end belong to the sentence, except the two that a token has.
    bytes::count_steps(token.len());
    let dots = token.iter().filter(|b| **b == b'.').count();
    let trailing = token.iter().rev().take_while(|b| **b == b'.').count();
    let dropped = trailing.min(dots.saturating_sub(2));
    token.truncate(token.len() - dropped);
    end -= dropped;
    (is_token(&token).then_some(start..end), end)
}

/// A word followed by a space does not continue a token.
fn is_prose(text: &[u8], start: usize, end: usize) -> bool {
    byte_at(text, end) == b' ' && text[start..end].iter().all(|b| b.is_ascii_lowercase() || !b.is_ascii_alphanumeric())
}

fn is_token(token: &[u8]) -> bool {
    let mut parts = token.split(|b| *b == b'.');
    let (Some(header), Some(payload)) = (parts.next(), parts.next()) else { return false };
    if header.len() > MAX_HEADER_BYTES || payload.len() < 8 {
        return false;
    }
    let header = decode(header);
    let names = ["\"alg\"", "\"typ\"", "\"kid\"", "\"enc\"", "\"cty\"", "\"zip\""];
    header.starts_with(b"{\"") && names.iter().any(|name| bytes::find(&header, name.as_bytes()).is_some())
}

/// Decodes base64 of either alphabet, up to the first other character.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    bytes::count_steps(text.len());
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        (bits, held) = (bits << 6 | u32::from(six), held + 6);
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}
