//! Values that a person types to try something: `hunter2hunter2`, `changeme123`, `my-key-42`. They are words with a number and no more
//! random than an identifier, so only a name that announces a secret, in a place where a value is given, tells them from one.

use super::bytes;
use super::harmless::{is_dotted_name, is_id, is_path_or_url, is_placeholder, is_variable_name};
use super::randomness::{camel_humps, has_digit, has_letter};
use super::secret_names::kind_of_name;

/// Where a value is given to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `API_KEY=…`, as in an environment file: nothing but a value can follow.
    Variable,
    /// `"apiKey": "…"`, `--api-key …`, `<api_key>…</api_key>`: settings.
    Setting,
    /// `api_key: …`, `X-Api-Key: …`: YAML and headers, or a name with its type.
    Label,
    /// `apiKey = "…"`: code, in which texts are often names.
    Code,
}

/// The most bytes of what a person types.
const MAX_BYTES: usize = 64;
/// What stands between the words of a value, and what only a password has.
const JOINTS: &[u8] = b"-_.";
const SIGNS: &[u8] = b"!@#$%^&*+~?";
/// Names of algorithms, encodings and formats, which have numbers, too.
const TERMS: [&str; 40] = [
    "sha1", "sha2", "sha3", "sha5", "aes", "hmac", "rsa1", "rsa2", "rsa3", "rsa4", "ecdsa", "25519", "poly1305", "chacha",
    "keccak", "ripemd", "blake", "pbkdf2", "argon2", "secp", "prime256", "utf8", "utf16", "utf32", "base32", "base58", "base64",
    "iso8", "x509", "oauth", "windows", "latin1", "bytes", "uint", "string", "varchar", "int32", "int64", "float", "buffer",
];

/// Whether a value in this place is one that a person typed: letters and digits, and more of the latter than the name of a thing has.
pub(crate) fn is_typed(value: &[u8], place: Place) -> bool {
    bytes::count_steps(value.len());
    let least = if place == Place::Variable { 6 } else { 8 };
    let is_plain = value.iter().all(|b| b.is_ascii_alphanumeric() || JOINTS.contains(b) || SIGNS.contains(b));
    if place == Place::Variable && is_word(value) {
        return !is_placeholder(value) && !is_term(value);
    }
    let is_possible = (least..=MAX_BYTES).contains(&value.len()) && is_plain && has_digit(value) && has_letter(value);
    if !is_possible || is_reference(value) || is_term(value) {
        return false;
    }
    let has_sign = value[1..].iter().any(|b| SIGNS.contains(b));
    let has_joint = value.iter().any(|b| JOINTS.contains(b));
    let runs = value.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).filter(|run| run[0].is_ascii_digit()).count();
    let last = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    // `hunter2hunter2`
    let is_repeated = runs > 1 && !has_joint && value.split(u8::is_ascii_digit).all(|word| word.is_empty() || word.len() > 2);
    match place {
        Place::Variable => value[0].is_ascii_alphanumeric() && !value.contains(&b'.') || has_sign,
        Place::Label if value[0].is_ascii_uppercase() && !has_sign && !is_repeated => false,
        Place::Setting | Place::Label => {
            has_sign || is_repeated || runs == 1 && (2..=4).contains(&last) && value[0].is_ascii_alphabetic()
        }
        Place::Code => !has_joint && camel_humps(value) == 0 && (has_sign || is_repeated || runs == 1 && (3..=4).contains(&last)),
    }
}

/// `letmeinplease`: lower-case letters that neither name a secret nor say that one belongs here.
fn is_word(value: &[u8]) -> bool {
    let is_asked_for = ["your", "some", "any", "the", "this", "my"].iter().any(|word| value.starts_with(word.as_bytes()));
    (8..=MAX_BYTES).contains(&value.len())
        && value.iter().all(u8::is_ascii_lowercase)
        && !is_asked_for
        && kind_of_name(value).is_none()
}

fn is_reference(value: &[u8]) -> bool {
    is_placeholder(value) || is_path_or_url(value) || is_variable_name(value) || is_dotted_name(value) || is_id(value)
}

/// Whether the value contains the name of an algorithm or its like, or is a version or a date.
fn is_term(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let head = lower.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let is_version = (head == 0 || lower.starts_with(b"v") && head == 1) && lower[head].is_ascii_digit();
    is_version && !lower.iter().any(|b| SIGNS.contains(b)) || names_term(&lower)
}

/// Whether a value in lower case contains the name of an algorithm or its like.
pub(crate) fn names_term(lower: &[u8]) -> bool {
    TERMS.iter().any(|term| bytes::find(lower, term.as_bytes()).is_some())
}
