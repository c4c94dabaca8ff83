//! Links that let in whoever has them: `https://…/invite/<token>`, `…/reset-password/<token>`.

use std::ops::Range;

use super::bytes::{self, ByteSet};
use super::harmless::{is_path_or_url, is_placeholder};
use super::randomness::{has_digit, has_letter, is_gibberish, is_random, is_uuid};

/// The parts of a path before such a token.
#[rustfmt::skip]
pub(crate) const PARTS: [&str; 22] = [
    "/invite/", "/invites/", "/invitation/", "/invitations/", "/reset/", "/reset-password/", "/password-reset/", "/reset_password/", "/verify/", "/verify-email/", "/verification/", "/confirm/", "/confirmation/", "/confirm-email/", "/magic/", "/magic-link/", "/activate/", "/activation/", "/unsubscribe/", "/signup/", "/webhook/", "/webhooks/",
];
const MIN_BYTES: usize = 16;
/// How far before the part its `://` may be.
const REACH_BYTES: usize = 160;

/// The token behind the part of a path at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = bytes::run_end(text, hit.end, ByteSet::of("a-zA-Z0-9_.~%=-"), 512);
    let value = &text[hit.end..end];
    if value.len() < MIN_BYTES {
        return None;
    }
    let is_generated = is_uuid(value) || has_digit(value) && has_letter(value) && (is_random(value) || is_gibberish(value));
    let head = &text[hit.start.saturating_sub(REACH_BYTES)..hit.start];
    let head = &head[head.iter().rposition(|b| *b <= b' ').map_or(0, |n| n + 1)..];
    let is_link = is_generated && bytes::find(head, b"://").is_some();
    (is_link && !is_placeholder(value) && !is_path_or_url(value)).then_some(hit.end..end)
}
