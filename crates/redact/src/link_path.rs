//! Links that let in whoever has them: `https://…/invite/<token>`, `…/reset-password/<token>`.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at};
use super::harmless::{is_path_or_url, is_placeholder};
use super::randomness::{has_digit, has_letter, is_gibberish, is_random, is_uuid};

/// The parts of a path before such a token.
#[rustfmt::skip]
pub(crate) const PARTS: [&str; 43] = [
    "/invite/", "/invites/", "/invitation/", "/invitations/", "/reset/", "/reset-password/", "/password-reset/", "/reset_password/", "/verify/",
    "/verify-email/", "/verification/", "/confirm/", "/confirmation/", "/confirm-email/", "/magic/", "/magic-link/", "/activate/", "/activation/",
    "/unsubscribe/", "/signup/", "/webhook/", "/webhooks/", "/password_reset/", "/password_resets/", "/password-resets/", "/passwords/",
    "/forgot-password/", "/forgot_password/", "/set-password/", "/set_password/", "/new-password/", "/verify_email/", "/confirm_email/",
    "/activate-account/", "/email-login/", "/magic_link/", "/signin/", "/sign-in/", "/sign_in/", "/login/", "/passwordless/",
    "/one-time-login/", "/autologin/",
];
/// The most segments of the path before the token: the user it is for, the time, a word of the framework.
const MAX_SEGMENTS: usize = 3;
const MIN_BYTES: usize = 16;
/// How far before the part its `://` may be.
const REACH_BYTES: usize = 160;

/// The token behind the part of a path at `hit`, perhaps behind the user whose it is: `/reset/MTI/c2wq9x-…/`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    const TOKEN: ByteSet = ByteSet::of("a-zA-Z0-9_.~%=:-");
    let mut start = hit.end;
    let mut end = bytes::run_end(text, start, TOKEN, 512);
    for _ in 0..MAX_SEGMENTS {
        if end - start >= MIN_BYTES || end == start || byte_at(text, end) != b'/' {
            break;
        }
        start = end + 1;
        end = bytes::run_end(text, start, TOKEN, 512);
    }
    // What ends a sentence.
    end = bytes::run_start(text, end, ByteSet::of(".:"), 3).max(start);
    let value = &text[start..end];
    if value.len() < MIN_BYTES {
        return None;
    }
    // A word may stand before a token only where a framework puts it there.
    let is_direct = start == hit.end || is_random_piece(value);
    let is_generated = is_uuid(value) || has_digit(value) && has_letter(value) && (is_random(value) || is_gibberish(value));
    let head = &text[hit.start.saturating_sub(REACH_BYTES)..hit.start];
    let line = &head[bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1)..];
    let word = &line[line.iter().rposition(|b| *b <= b' ').map_or(0, |n| n + 1)..];
    let is_requested = || [&b"GET "[..], b"POST ", b"PUT "].iter().any(|method| line[..line.len() - word.len()].ends_with(method));
    let is_link =
        is_generated && is_direct && (bytes::find(word, b"://").is_some() || word.first() == Some(&b'/') && is_requested());
    (is_link && !is_placeholder(value) && !is_path_or_url(value) && !has_extension(value)).then_some(start..end)
}

/// Whether a piece of the value between its signs is random, as in `c2wq9x-3f9a…`.
fn is_random_piece(value: &[u8]) -> bool {
    let is_mixed = |piece: &[u8]| piece.len() >= 16 && has_digit(piece) && (is_random(piece) || is_gibberish(piece));
    value.split(|b| b"-:.".contains(b)).any(is_mixed)
}

/// `bundle-4f9c….js`: a file.
fn has_extension(value: &[u8]) -> bool {
    value.iter().rposition(|b| *b == b'.').is_some_and(|dot| (2..=5).contains(&(value.len() - dot)) && dot > 0)
}
