//! Keys whose own form tells them only beside a word: the seed of an authenticator (base32), the key of a wallet (base58) or of an
//! Ethereum account, the secret of an AWS access key.

use std::ops::Range;

use super::bytes::{self, ALNUM, BASE64, ByteSet, WORD, byte_at, byte_before};
use super::randomness::{distinct_bytes, has_digit, is_mixed, is_random};

/// Words beside the seed of an authenticator.
pub(crate) const SEEDS: [&str; 6] = ["2fa", "otp", "totp", "mfa", "authenticator", "two-factor"];
/// Words before the key of a wallet.
pub(crate) const WALLETS: [&str; 5] = ["dumpprivkey", "importprivkey", "wif", "private key", "privkey"];
/// Words before the key of an Ethereum account: 64 hexadecimal digits.
pub(crate) const ACCOUNTS: [&str; 15] = [
    "pk ", "pk: 0x", "pk=0x", "pk=\"0x", "pk = \"0x", "sk 0x", "sk: 0x", "sk=0x", "sk = 0x", "pkey", "privkey", "priv key",
    "private key", "deployer=0x", "accounts: [",
];
/// The most keys of a list of accounts.
const MAX_KEYS: usize = 20;
/// Beginnings of an AWS access key.
pub(crate) const AWS: [&str; 2] = ["AKIA", "ASIA"];

/// How far from its word a key may be.
const REACH_BYTES: usize = 120;

/// The seed in the line of the word at `hit`, behind or before it.
pub(crate) fn seed(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    const BASE32: ByteSet = ByteSet::of("A-Z2-7");
    if !is_word(text, &hit) {
        return None;
    }
    let behind = hit.end..bytes::find_byte(text, hit.end, REACH_BYTES, |b| b == b'\n').0;
    let before = hit.start.saturating_sub(REACH_BYTES / 2)..hit.start;
    let fits = |range: &Range<usize>| {
        let value = &text[range.clone()];
        // A name has digits at its end only.
        let has_inner = value.windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
        (16..=128).contains(&value.len()) && has_inner && distinct_bytes(value) >= 8
    };
    runs(text, behind.clone(), BASE32)
        .find(fits)
        .or_else(|| runs(text, before.clone(), BASE32).find(fits))
        .or_else(|| in_groups(text, behind))
        .or_else(|| in_groups(text, before))
}

/// `JBSW Y3DP EHPK 3PXP`: four or more groups of four.
fn in_groups(text: &[u8], reach: Range<usize>) -> Option<Range<usize>> {
    const GROUPS: ByteSet = ByteSet::of("A-Z2-7 ");
    const LOWER_GROUPS: ByteSet = ByteSet::of("a-z2-7 ");
    let fits = |range: &Range<usize>| {
        let value = &text[range.clone()];
        let groups = || value.split(|b| *b == b' ');
        groups().count() >= 4 && groups().all(|group| group.len() == 4) && has_digit(value)
    };
    let trimmed = |range: Range<usize>| {
        let value = &text[range.clone()];
        let start = range.start + value.len() - value.trim_ascii_start().len();
        start..start + value.trim_ascii().len()
    };
    [GROUPS, LOWER_GROUPS].into_iter().find_map(|set| runs(text, reach.clone(), set).map(trimmed).find(fits))
}

/// The key of a wallet behind the word at `hit`, on its line or the next.
pub(crate) fn wallet(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    const BASE58: ByteSet = ByteSet::of("1-9A-HJ-NP-Za-km-z");
    if !is_word(text, &hit) {
        return None;
    }
    let reach = hit.end..text.len().min(hit.end + REACH_BYTES);
    let fits = |range: &Range<usize>| {
        let first = text[range.start];
        let len = if matches!(first, b'K' | b'L' | b'c') { 52 } else { 51 };
        b"5KL9c".contains(&first) && range.len() == len && is_mixed(&text[range.clone()])
    };
    runs(text, reach, BASE58).find(fits)
}

/// Adds the keys of accounts behind the word at `hit`; of several, as test networks print them, all.
pub(crate) fn accounts(text: &[u8], hit: Range<usize>, found: &mut Vec<Range<usize>>) {
    if byte_before(text, hit.start).is_ascii_alphanumeric() {
        return;
    }
    // The `0x` of the keyword is part of the key.
    let mut from = hit.end - if text[..hit.end].ends_with(b"0x") { 2 } else { 0 };
    let is_plural = byte_at(text, hit.end) == b's' || byte_before(text, hit.end) == b'[';
    for _ in 0..if is_plural { MAX_KEYS } else { 1 } {
        let reach = from..text.len().min(from + REACH_BYTES / 2);
        let Some(range) = runs(text, reach, ALNUM).find(|range| is_account_key(&text[range.clone()])) else { return };
        if !leads_to_key(&text[from..range.start], text[range.start + 1] == b'x') {
            return;
        }
        from = range.end;
        found.push(range);
    }
}

fn is_account_key(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit) && distinct_bytes(digits) >= 8
}

/// Whether the text between a word and a number says of no other thing that it is one: a transaction, a hash. Without `0x` there may be hardly
/// anything between.
fn leads_to_key(between: &[u8], is_prefixed: bool) -> bool {
    const OTHERS: [&str; 10] = ["tx", "hash", "sig", "fingerprint", "sha", "digest", "addr", "public", "table", "block"];
    let lower = between.to_ascii_lowercase();
    let is_short = is_prefixed || lower.iter().filter(|b| b.is_ascii_alphabetic()).count() <= 4;
    is_short && !OTHERS.iter().any(|word| bytes::find(&lower, word.as_bytes()).is_some())
}

/// Whether a name is a word of its own, perhaps joined to others with `_`.
fn is_word(text: &[u8], name: &Range<usize>) -> bool {
    !byte_before(text, name.start).is_ascii_alphanumeric() && !byte_at(text, name.end).is_ascii_alphanumeric()
}

/// The secret near the access key that begins at `hit`: 40 characters of base64.
pub(crate) fn aws(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = bytes::run_end(text, hit.start, ByteSet::of("A-Z0-9"), 21);
    if end - hit.start != 20 || WORD.has(byte_before(text, hit.start)) {
        return None;
    }
    let reach = end..text.len().min(end + REACH_BYTES);
    let fits = |range: &Range<usize>| {
        let value = &text[range.clone()];
        value.len() == 40 && is_mixed(value) && is_random(value) && !value.ends_with(b"EXAMPLEKEY")
    };
    let before = hit.start.saturating_sub(REACH_BYTES)..hit.start;
    runs(text, reach, BASE64).find(fits).or_else(|| runs(text, before, BASE64).find(fits))
}

/// The runs of this set that begin in the reach, each with no character of a word beside it.
pub(crate) fn runs(text: &[u8], reach: Range<usize>, set: ByteSet) -> impl Iterator<Item = Range<usize>> {
    let mut offset = reach.start;
    std::iter::from_fn(move || {
        while offset < reach.end {
            let start = bytes::find_byte(text, offset, reach.end - offset, |b| set.has(b)).0;
            let end = bytes::run_end(text, start, set, REACH_BYTES);
            offset = end.max(start + 1);
            let is_free = |inner: u8, outer: u8| inner == b' ' || !WORD.has(outer);
            let is_free =
                is_free(byte_at(text, start), byte_before(text, start)) && is_free(byte_before(text, end), byte_at(text, end));
            if end > start && is_free {
                return Some(start..end);
            }
        }
        None
    })
}
