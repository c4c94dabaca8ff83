//! Judges a value that is not directly assigned to its name. Only its own looks, and what leads to it, say that it is a secret.

use super::bytes;
use super::classify::is_technical_term;
use super::harmless::{
    has_label_word, is_code, is_dotted_name, is_id, is_path_or_url, is_placeholder, is_public, is_variable_name,
};
use super::randomness::{
    camel_humps, entropy, has_digit, has_letter, is_gibberish, is_mixed, is_mostly_words, is_random, is_readable, is_uuid,
};
use super::secret_names::{SecretKind, kind_of_name};
use super::typed::names_term;

/// Symbols that are common in passwords and rare in prose.
const SIGNS: &[u8] = b"!@#$%^*?";
/// Beginnings of names that have a number inside.
const TYPES: [&str; 8] = ["http", "web3", "ipv4", "ipv6", "i18n", "log4", "win32", "k8s"];
/// The least bytes of a value: judged by its looks alone, and when a separator, quote or verb introduces it.
const MIN_BYTES: usize = 8;
const MIN_INTRODUCED_BYTES: usize = 6;
/// The most bytes of a value in a sentence.
const MAX_BYTES: usize = 512;

/// Whether this is the secret of a name of this kind. `introduced`: a separator, a quote or a verb leads to it.
pub(crate) fn is_secret(value: &[u8], secret_kind: SecretKind, introduced: bool) -> bool {
    bytes::count_steps(value.len());
    let least = if introduced { MIN_INTRODUCED_BYTES } else { MIN_BYTES };
    let is_written = (least..MAX_BYTES).contains(&value.len()) && value.iter().all(|b| (b'!'..0x7f).contains(b));
    let is_unusual = has_digit(value) && has_letter(value) || is_gibberish(value);
    if is_random_symbols(value) {
        return true;
    }
    if secret_kind == SecretKind::Password
        && introduced
        && (is_written && is_word_passphrase(value) || is_made_up(value) || is_phrase(value))
    {
        return true;
    }
    if !is_written || !is_unusual || is_harmless(value) {
        return false;
    }
    match (secret_kind.accepts_plain_words(), introduced) {
        (true, true) => !is_measurement(value) && !is_technical_term(value),
        (true, false) => is_password(value) || is_key(value) && value.len() >= 20,
        (false, true) => is_key(value) || is_serial_number(value) || is_uuid(value) && secret_kind != SecretKind::Auth,
        (false, false) => is_key(value) && value.len() >= 20,
    }
}

/// Whether this could be nothing in a sentence but a password.
pub(crate) fn is_password(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    if value.len() < MIN_BYTES {
        return false;
    }
    let inner = value.strip_suffix(b"!").or_else(|| value.strip_suffix(b"?")).unwrap_or(value);
    let has_sign =
        inner.iter().skip(1).any(|b| SIGNS.contains(b)) || inner.len() < value.len() && has_digit(&inner[inner.len() - 1..]);
    (has_digit(value) && has_letter(value) || is_gibberish(value))
        && !value.contains(&b'\\')
        && !is_measurement(value)
        && (is_gibberish(value) || has_sign || alternates_letters_and_digits(value) || is_mixed(value) && !is_readable(value))
}

/// A generated key, but not a UUID.
fn is_key(value: &[u8]) -> bool {
    value.len() >= 16 && (is_random(value) || is_gibberish(value)) && !is_uuid(value)
}

/// `abcd efgh ijkl mnop`: Google's passwords for apps.
pub(crate) fn is_app_password(value: &[u8]) -> bool {
    value.len() == 19 && value.iter().enumerate().all(|(n, b)| if n % 5 == 4 { *b == b' ' } else { b.is_ascii_lowercase() })
}

/// `correct-horse-staple-42`: words and a number.
fn is_word_passphrase(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let mut words = value.split(|b| *b == b'-').rev();
    let number = words.next().unwrap_or(b"");
    let is_numeric_literal = (2..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    let (mut count, mut are_words) = (0, true);
    for word in words {
        (count, are_words) = (count + 1, are_words && word.len() > 3 && word.iter().all(u8::is_ascii_alphabetic));
    }
    is_numeric_literal && are_words && count > 1 && !is_placeholder(value)
}

/// `himb33rsaft`, `Sommer2Garten`: a word with digits inside or behind it, and no name of an algorithm. Only what directly leads to it tells it
/// from the name of a type.
pub(crate) fn is_chosen_word(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let has_inner = value.windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    let is_plain = value.iter().all(u8::is_ascii_alphanumeric) && value.first().is_some_and(u8::is_ascii_alphabetic);
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    (MIN_BYTES..=32).contains(&value.len())
        && is_plain
        && has_inner
        && digits <= 4
        && camel_humps(value) == 0
        && !value.iter().all(u8::is_ascii_hexdigit)
        && !is_term(value)
        && !is_placeholder(value)
}

/// `haferFlocke_31`, `velvetOtter93`, `stoveRally#9`: what stands in a place that holds nothing but passwords, such as a list under `passwords:` or a
/// column of them. It may read like a name of code, but is no reference, term, version, or plain word.
pub(crate) fn is_given(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let is_written = (MIN_INTRODUCED_BYTES..=64).contains(&value.len()) && value.iter().all(|b| (b'!'..0x7f).contains(b));
    let has_sign = value.iter().skip(1).any(|b| SIGNS.contains(b) || b"+~=".contains(b));
    let is_unusual = has_letter(value) && (has_digit(value) || has_sign) || is_gibberish(value);
    let is_dotted = is_dotted_name(value) && !is_made_up(value);
    // `$2`, `@x`, `--flag`, `[a`: the beginning of something else.
    let is_begun = value.first().is_some_and(|b| b.is_ascii_alphanumeric() || SIGNS.contains(b) && *b != b'*');
    let is_call = value.iter().any(|b| b"()[]{}<>|\\\"'`".contains(b));
    is_written
        && is_unusual
        && is_begun
        && !is_call
        && !is_dotted
        && !is_measurement(value)
        && !is_term(value)
        && !is_placeholder(value)
        && !is_path_or_url(value)
        && !is_variable_name(value)
        && !is_address(value)
        && !is_id(value)
        && !is_code(value)
}

/// `HafenKran_7714`, `tr0ubleBarge77`: words joined by capitals, with a number of at least two digits at the end. In a sentence about a
/// password only what directly leads to it tells it from a name of code.
pub(crate) fn is_joined(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let last = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let is_plain = value.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
    let is_named = (MIN_BYTES..=32).contains(&value.len()) && is_plain && camel_humps(value) > 0;
    is_named && (2..=4).contains(&last) && digits <= last + 2 && is_given(value)
}

/// `Teapot.Shelf4`, `T3apot.Shelf`: two or three words with capitals, joined by dots, with a number, and none of them about passwords. Only where
/// nothing but a value is given this is not the name of a type.
pub(crate) fn is_dotted_words(value: &[u8]) -> bool {
    let mut pieces = value.split(|b| *b == b'.');
    let is_word = |piece: &[u8]| {
        let is_plain = piece.iter().all(u8::is_ascii_alphanumeric) && piece.iter().any(u8::is_ascii_lowercase);
        let is_written = piece.len() > 2 && piece[0].is_ascii_uppercase() && is_plain && camel_humps(piece) == 0;
        is_written && !has_label_word(piece) && kind_of_name(piece).is_none()
    };
    (MIN_BYTES..=64).contains(&value.len())
        && (2..=3).contains(&pieces.clone().count())
        && has_digit(value)
        && pieces.all(is_word)
        && !is_term(value)
        && !is_placeholder(value)
        && !is_path_or_url(value)
}

/// `Hotaru8mGx2`: digits in two places.
pub(crate) fn has_two_numbers(value: &[u8]) -> bool {
    value.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).filter(|run| run[0].is_ascii_digit()).count() > 1
}

/// Whether a value contains the name of an algorithm, or begins like the name of a type.
fn is_term(value: &[u8]) -> bool {
    names_term(&value.to_ascii_lowercase())
        || TYPES.iter().any(|begin| value.get(..begin.len()).is_some_and(|v| v.eq_ignore_ascii_case(begin.as_bytes())))
}

/// `lantern gravel 9 mosaic`: four to eight words of lower-case letters, one of them a number.
pub(crate) fn is_phrase(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let words = || value.split(|b| *b == b' ');
    let is_plain =
        |word: &[u8]| !word.is_empty() && (word.iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_digit));
    value.len() <= 80 && has_digit(value) && (4..=8).contains(&words().count()) && words().all(is_plain) && !has_label_word(value)
}

/// `Sturmhut_7713`, `Basalt.Otter.402`: words of which one has a capital, joined with a number as people make up passwords. Versions, dates
/// and names of code are not written so. A letter may be of any language.
pub(crate) fn is_made_up(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    const JOINTS: &[u8] = b"-_.";
    let is_plain = value.iter().all(|b| b.is_ascii_alphanumeric() || JOINTS.contains(b) || SIGNS.contains(b) || *b >= 0x80);
    let has_both = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(|b| b.is_ascii_lowercase() || *b >= 0x80);
    if !(MIN_BYTES..=64).contains(&value.len()) || !is_plain || !has_both || camel_humps(value) > 0 {
        return false;
    }
    let pieces = || value.split(|b| JOINTS.contains(b));
    let is_counted = pieces().any(|piece| piece.len() > 1 && has_digit(piece));
    // `Config.Users2` is code, `Users.402` is not.
    let is_member = !value.iter().any(|b| b"-_".contains(b)) && !pieces().any(|piece| piece.iter().all(u8::is_ascii_digit));
    let is_version = value.windows(3).any(|w| w[0].is_ascii_digit() && w[1] == b'.' && w[2].is_ascii_digit());
    let has_acronym = pieces().any(|piece| piece.len() > 1 && piece.iter().all(u8::is_ascii_uppercase));
    pieces().count() > 1
        && is_counted
        && !is_member
        && !is_version
        && !has_acronym
        && value[0].is_ascii_alphanumeric()
        && !names_term(&value.to_ascii_lowercase())
        && !is_placeholder(value)
        && !is_path_or_url(value)
        && !is_id(value)
}

/// Letters and digits that alternate as in no name: `f8fmv0wsogl7`. Hexadecimal values are excluded, because they could be hashes.
fn alternates_letters_and_digits(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let turns = value.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
    let is_plain = value.len() >= MIN_BYTES && value.iter().all(u8::is_ascii_alphanumeric);
    is_plain && turns > 2 && !value.iter().all(u8::is_ascii_hexdigit) && !is_mostly_words(value)
}

/// At least 32 characters with many symbols in random order, such as Django's `SECRET_KEY`. No code looks like that.
pub(crate) fn is_random_symbols(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let signs = value.iter().filter(|b| b"!@#$%^&*(-_=+)?~".contains(b)).count();
    let is_whole = value.len() >= 32 && value.iter().all(|b| (b'!'..0x7f).contains(b) && !b";{[\\<".contains(b));
    // Code seldom has several of these together.
    let kinds = b"@#$%^".iter().filter(|sign| value.contains(sign)).count();
    is_whole && kinds > 1 && signs * 8 > value.len() && has_digit(value) && entropy(value) > 4.4 && alternates_kinds(value)
}

/// Whether letters, digits and symbols alternate.
fn alternates_kinds(value: &[u8]) -> bool {
    let kind = |b: u8| if b.is_ascii_digit() { 0 } else { 1 + u8::from(b.is_ascii_alphabetic()) };
    value.windows(2).filter(|w| kind(w[0]) != kind(w[1])).count() * 5 > value.len() * 2
}

/// `7K2XT-XV92Q-4UTCV-UKDJR`: a licence key.
pub(crate) fn is_serial_number(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let groups = || value.split(|b| *b == b'-');
    let len = groups().next().map_or(0, <[u8]>::len);
    let fits = |group: &[u8]| group.len() == len && group.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    (4..=8).contains(&len) && groups().count() >= 3 && groups().all(fits) && has_digit(value) && has_letter(value)
}

/// References, code, addresses, public keys and hashes.
pub(crate) fn is_harmless(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    is_placeholder(value)
        || is_path_or_url(value)
        || is_code(value)
        || is_variable_name(value)
        || is_dotted_name(value)
        || is_public(value)
        || is_address(value)
        || b"-*~&.'".contains(&value[0]) && is_decorated_word(&value[1..])
        || value.iter().any(|b| b"\\[".contains(b))
        || ["a-z", "A-Z", "0-9", "*."].iter().any(|part| bytes::find(value, part.as_bytes()).is_some())
        || is_key_value(value)
        || is_program_name(value)
        || value.contains(&b'/') && value.split(|b| *b == b'/').all(|part| part.is_empty() || is_readable(part))
}

/// An identifier, path, version, or host with a port: letters and digits as names have them, joined by `_`, `.`, `:`, `/` or `-`.
fn is_program_name(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let value = value.trim_ascii_end().strip_suffix(b"*").unwrap_or(value);
    let is_joined = value.iter().all(|b| b.is_ascii_alphanumeric() || b"_.:/-".contains(b));
    let is_counted = |part: &[u8]| part.len() - part.iter().take_while(|b| b.is_ascii_alphabetic()).count() <= 2;
    let is_counted = |part: &[u8]| is_counted(part) && part.iter().skip_while(|b| b.is_ascii_alphabetic()).all(u8::is_ascii_digit);
    if value.contains(&b'_') && value.split(|b| *b == b'_').all(is_counted) {
        return true;
    }
    if !is_joined {
        return false;
    }
    let is_prose_word = is_mostly_words(value);
    if (is_gibberish(value) || alternates_letters_and_digits(value)) && !is_prose_word {
        return false;
    }
    let ends = value.len() - value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    // `Summer2024`, `Blue-Horse-4711`
    let is_chosen = (2..=4).contains(&(value.len() - ends))
        && value[..ends].iter().any(u8::is_ascii_lowercase)
        && (value[0].is_ascii_uppercase() || !value.contains(&b'-'))
        && camel_humps(value) == 0;
    let has_joints = value.iter().any(|b| b"_.:/".contains(b));
    let is_generated = !has_joints && is_random(value) && !is_prose_word;
    has_joints || !is_generated && !is_chosen
}

/// What remains of `--flag`, `*pointer` or `.method` without its first character.
fn is_decorated_word(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.=/*".contains(b)) && !is_gibberish(value)
}

/// `name=…`, `PKCS#12`: a word, a symbol, and more.
fn is_key_value(value: &[u8]) -> bool {
    let word = value.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
    word >= 3
        && (value[word..].starts_with(b"=") && word + 2 < value.len()
            || value[word..].starts_with(b"#") && value[word + 1..].iter().all(u8::is_ascii_digit) && value.len() < word + 4)
}

/// `dev@shop.example`, `package@1.2.3`, `@scope/name`
fn is_address(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let Some(sign) = value.iter().position(|b| *b == b'@') else { return false };
    let rest = &value[sign + 1..];
    let is_host = rest.contains(&b'.') && rest.iter().all(|b| b.is_ascii_alphanumeric() || b".-_:/".contains(b));
    is_host
        || rest.iter().all(u8::is_ascii_lowercase)
        || rest.len() > 6 && rest.iter().all(u8::is_ascii_hexdigit)
        || sign == 0 && rest.contains(&b'/')
}

/// Numbers with units, dates, times, versions: `10ms`, `2026-01-31T10:00`, `v1.2`, `3rd`, `#123a`.
fn is_measurement(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let value = value.trim_ascii_end();
    let rest = value.strip_prefix(b"v").or_else(|| value.strip_prefix(b"#")).unwrap_or(value);
    let digits = rest.iter().take_while(|b| b.is_ascii_digit() || b".,:-+_/xX%".contains(b)).count();
    digits > 0 && rest.len() - digits <= 4 || rest.len() > 9 && rest[0].is_ascii_digit() && is_date(rest)
}

/// `2026-01-31…`
fn is_date(value: &[u8]) -> bool {
    value.iter().take(10).enumerate().all(|(n, b)| if n == 4 || n == 7 { b"-/".contains(b) } else { b.is_ascii_digit() })
}
