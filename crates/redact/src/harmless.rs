//! Values that hold no secret: examples, placeholders, references, types, labels, paths.

use super::bytes::{self, BASE64, WORD};
use super::marks::has_mark;
use super::randomness::{has_digit, is_gibberish, is_mixed, is_mostly_words, is_readable, is_uuid};
use super::word_list::WordList;

/// Words within a value that mark it as an example.
const SAMPLES: [&str; 12] = [
    "example", "placeholder", "replace", "redacted", "dummy", "notreal", "not-real", "your-", "your_", "changeme", "change_me",
    "change-me",
];
/// The last of these are samples only without a number: `changeme123` was chosen.
const REQUESTS: usize = 3;
/// Beginnings of values that someone is to fill in.
const FILL_IN_PREFIXES: [&str; 8] = ["yourapi", "my-fake", "insert", "enter-", "todo", "fixme", "fake", "mock"];
/// Whole values that are words of programming languages and of settings.
#[rustfmt::skip]
const PLAIN_VALUES: &WordList = &WordList::of(&[
    "true", "false", "null", "nil", "none", "undefined", "nan", "void", "never", "any", "unknown", "object", "array", "string", "str",
    "bool", "boolean", "number", "int", "integer", "float", "double", "bytes", "byte", "char", "text", "varchar", "uuid", "date", "self",
    "this", "return", "await", "async", "function", "lambda", "typeof", "new", "const", "let", "var", "default", "optional", "required",
    "password", "passwd", "passphrase", "pass", "secret", "token", "value", "key", "test", "testing", "hidden", "masked", "empty", "env",
    "secure", "basic", "bearer", "digest", "oauth", "oauth2", "apikey", "api_key", "api-key", "api key", "session", "cookie", "cookies",
    "enabled", "disabled", "yes", "off", "auto", "optional[str]", "secretstr", "foo", "bar", "baz", "foobar", "foo123", "sha256", "sha512",
    "base64", "md5", "utf8", "utf-8", "hs256", "rs256", "es256", "aes256", "aes-256", "aes-256-gcm", "ed25519", "argon2", "argon2id",
    "bcrypt", "scrypt", "x509", "oidc", "pkce", "http", "https", "file", "stdin", "prompt", "keychain", "keyring", "include", "omit",
    "same-origin", "inherit", "write", "read", "admin", "user", "username", "login", "invalid", "wrong", "missing", "expired", "valid",
]);
/// Words of labels and messages about passwords.
#[rustfmt::skip]
const LABEL_WORDS: &WordList = &WordList::of(&[
    "your", "the", "a", "an", "is", "are", "be", "must", "enter", "please", "password", "passwords", "secret", "token", "key", "keys",
    "tokens", "invalid", "required", "forgot", "reset", "confirm", "with", "characters", "wrong", "not", "for", "to", "of", "new", "old",
    "change", "login", "log", "sign", "in", "and", "or", "from", "api", "field", "value", "missing", "use", "used", "using", "when",
    "if", "no", "passwort", "credentials", "authentication", "user", "this", "that", "should", "set", "stored", "you", "at", "least",
]);

#[cfg(test)]
pub(crate) const LISTS: [&WordList; 2] = [PLAIN_VALUES, LABEL_WORDS];

/// Whether a token is an example, as in documentation.
pub(crate) fn is_sample(body: &[u8]) -> bool {
    bytes::count_steps(body.len());
    let samples = if has_digit(body) { &SAMPLES[..SAMPLES.len() - REQUESTS] } else { &SAMPLES };
    let spoken = contains_any(body, samples) && (!has_digit(body) || body.iter().any(|b| b" _-".contains(b)) || body.len() < 16);
    // The secret key of AWS's documentation.
    let spoken = spoken || body.ends_with(b"EXAMPLEKEY");
    let is_filled = |len: usize| body.windows(len).any(|w| w.iter().all(|b| *b == b'x') || w.iter().all(|b| *b == b'X'));
    spoken || is_filled(if body.len() < 32 { 4 } else { 6 }) || is_fill_in(body)
}

/// `fake-key`, `todo`, `mockToken`, but no password that only begins like them.
fn is_fill_in(body: &[u8]) -> bool {
    let begun = FILL_IN_PREFIXES.iter().find(|begin| starts_any(body, &[begin]));
    let rest = begun.map(|begin| &body[begin.len()..]);
    rest.is_some_and(|rest| {
        !rest.first().is_some_and(u8::is_ascii_lowercase)
            || begun == Some(&"yourapi")
            || LABEL_WORDS.each().any(|label| label.len() > 2 && starts_any(rest, &[label]))
    })
}

/// Whether a value stands for something to fill in, is masked, or names a type.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let (Some(first), Some(last)) = (value.first(), value.last()) else { return true };
    let is_filler = |b: &u8| b"*xX.-_#?+=~0 ".contains(b) || *b >= 0x80;
    let enclosed = matches!((first, last), (b'<', b'>') | (b'[', b']') | (b'{', b'}') | (b'(', b')') | (b'%', b'%'));
    let repeated = value.iter().all(|b| b == first);
    let dotted = value.ends_with(b"...") || value.ends_with("…".as_bytes()) || value.starts_with(b"...");
    let hidden = value.len() > 4 && value.windows(3).any(|w| w == b"***");
    // The fingerprint of a public key.
    let is_fingerprint = value.starts_with(b"SHA256:");
    enclosed
        || is_fingerprint
        || repeated
        || dotted
        || hidden
        || value.iter().all(is_filler)
        || has_mark(value)
        || is_template(value)
        || is_sample(value)
        || is_algorithm(value)
        || is_type_or_call(value)
        || is_dotted_number(value)
        || is_public(value)
        || is_alphabet(value)
        || PLAIN_VALUES.has(value)
}

/// Letters in their order: all of them, or as many as nobody uses as a password but with a number.
fn is_alphabet(value: &[u8]) -> bool {
    contains_any(value, &["abcdefghijklm"]) && (!has_digit(value) || contains_any(value, &["uvwxyz"]))
}

/// `${…}`, `{{…}}`, `$NAME`, `%s`, `<%= … %>`, `#{…}`, `@name@`: filled in by a program.
fn is_template(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    const WITHIN: [&str; 7] = ["${", "{{", "$(", "<%", "#{", "%(", "}}"];
    let is_printf = bytes::find(value, b"%s").is_some_and(|n| !value.get(n + 2).is_some_and(u8::is_ascii_alphanumeric));
    if contains_any(value, &WITHIN) || is_printf {
        return true;
    }
    let name = |rest: &[u8]| !rest.is_empty() && rest.iter().all(|b| WORD.has(*b));
    match value {
        [b'$', rest @ ..] => name(rest) && !rest[0].is_ascii_digit() && !mixes_like_a_password(rest) || rest.starts_with(b"env:"),
        [b'%', rest @ ..] => rest.len() <= 3 || rest[0] == b'd' || name(rest.strip_suffix(b"%").unwrap_or(b"")),
        [b'{', ..] => value.contains(&b'}'),
        [b'@', rest @ ..] => rest.strip_suffix(b"@").is_some_and(name),
        [b'_', b'_', rest @ ..] => rest.strip_suffix(b"__").is_some_and(name),
        _ => false,
    }
}

/// `$ecr3t9`, but not `$secret` or `$DB_PASS2`.
fn mixes_like_a_password(name: &[u8]) -> bool {
    let turns = name.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
    turns > 1
}

/// The name of an environment variable, rather than its value: capitals with underscores.
pub(crate) fn is_variable_name(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.contains(&b'_')
        && value.iter().all(|b| b.is_ascii_uppercase() || *b == b'_' || b.is_ascii_digit())
        && value.split(|b| *b == b'_').all(|word| word.is_empty() || is_name_part(word))
}

/// A path or a URL: `/run/secrets/x`, `./x`, `~/x`, `C:\x`, `https://…`, `vault:…`.
pub(crate) fn is_path_or_url(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let starts = |begin: &str| value.starts_with(begin.as_bytes());
    let rooted = starts("/") && value[1..].contains(&b'/') && !value.ends_with(b"=") && !is_base64(value)
        || starts("./")
        || starts("../")
        || starts("~/");
    let drive = value.len() > 3 && value[1] == b':' && value[2] == b'\\';
    let address = bytes::find(&value[..value.len().min(32)], b"://").is_some();
    let file = value.len() > 4 && value.iter().rposition(|b| *b == b'.').is_some_and(|dot| is_extension(&value[dot + 1..]));
    let is_path = value.iter().filter(|b| **b == b'/').count() > 1
        && value.split(|b| *b == b'/').all(|part| !part.is_empty() && is_readable(part));
    rooted || is_path || drive || address || file || starts("arn:") || starts("op://") || starts("vault:") || starts("secretref:")
}

/// Base64 that happens to begin with `/`.
fn is_base64(value: &[u8]) -> bool {
    let longest = value.split(|b| *b == b'/').max_by_key(|part| part.len()).unwrap_or(b"");
    value.len() >= 32 && value.iter().all(|b| BASE64.has(*b)) && is_mixed(value) && is_gibberish(longest)
}

fn is_extension(end: &[u8]) -> bool {
    const KNOWN: [&str; 26] = [
        "js", "ts", "tsx", "jsx", "py", "rs", "go", "rb", "java", "json", "jsonl", "yaml", "yml", "toml", "md", "txt", "html",
        "css", "sh", "sql", "pem", "key", "crt", "log", "env", "lock",
    ];
    KNOWN.iter().any(|known| end.eq_ignore_ascii_case(known.as_bytes()))
}

/// Names joined by dots: `user.password`, `auth.errors.invalid`.
pub(crate) fn is_dotted_name(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    // TypeScript: `process.env.NAME!`.
    let value = value.strip_suffix(b"!").or_else(|| value.strip_suffix(b"?")).unwrap_or(value);
    value.contains(&b'.')
        && value.iter().any(u8::is_ascii_lowercase)
        && value.split(|b| *b == b'.').all(|part| {
            !part.is_empty()
                && part.iter().all(|b| WORD.has(*b) || *b == b'-')
                && (part.split(|b| b"_-".contains(b)).all(is_name_part)
                    || is_algorithm(part)
                    || is_mostly_words(part)
                    || is_short_name(part))
        })
}

/// A short name with a number in it: `win32api`.
fn is_short_name(part: &[u8]) -> bool {
    part.len() <= 8 && part.iter().filter(|b| b.is_ascii_digit()).count() <= 2 && part[0].is_ascii_lowercase()
}

/// `ed25519`, `Ed25519PrivateKey`, `base64`, `sha256`
fn is_algorithm(part: &[u8]) -> bool {
    const NAMES: [&str; 11] =
        ["ed25519", "x25519", "base64", "base32", "sha256", "sha512", "aes256", "x509", "pbkdf2", "hmacsha256", "argon2"];
    NAMES.iter().any(|name| starts_any(part, &[name]) && is_word_with_number(&part[name.len()..]))
}

/// Letters of a word, with at most three digits at the end.
fn is_word_with_number(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    value.len() - letters <= 3 && value[letters..].iter().all(u8::is_ascii_digit) && !is_gibberish(value)
}

/// `1.3.6.1.5.5.7.3.1`
fn is_dotted_number(value: &[u8]) -> bool {
    value.iter().all(|b| b.is_ascii_digit() || *b == b'.') && value.iter().filter(|b| **b == b'.').count() > 1
}

/// `VARCHAR(255)`, `now()`
fn is_type_or_call(value: &[u8]) -> bool {
    let open = value.iter().position(|b| *b == b'(').unwrap_or(0);
    open > 0
        && value[..open].iter().all(|b| WORD.has(*b))
        && value[open + 1..].strip_suffix(b")").is_some_and(|inner| inner.iter().all(u8::is_ascii_digit))
}

/// A part of a name: letters with at most two digits at the end, or at most three characters.
fn is_name_part(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let digits = word.len() - letters;
    word.len() <= 3 || digits <= 2 && word[letters..].iter().all(u8::is_ascii_digit)
}

/// A label or a message about passwords: words of which at least one is typical for these.
pub(crate) fn is_label(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let words = value.split(|b| !b.is_ascii_alphanumeric() && *b < 128 && *b != b'\'').filter(|w| !w.is_empty());
    let known = |word: &[u8]| LABEL_WORDS.has(word);
    let has_space = value.contains(&b' ');
    !has_digit(value) && (has_space && words.clone().any(known) || words.clone().all(known))
}

/// Whether a typical word of labels is among these.
pub(crate) fn has_label_word(words: &[u8]) -> bool {
    words.split(|b| *b == b' ').any(|word| LABEL_WORDS.has(word))
}

/// Code in the place of a value: a call, an index, an operator, a dotted name.
pub(crate) fn is_code(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let value = value.trim_ascii_end();
    let padding = value.iter().rev().take_while(|b| **b == b'=').count();
    let value = &value[..value.len() - padding];
    let called = value.iter().position(|b| *b == b'(').is_some_and(|n| n == 0 || WORD.has(value[n - 1]) || value[n - 1] == b'.');
    let indexed = value.iter().position(|b| *b == b'[').is_some_and(|n| n > 0 && WORD.has(value[n - 1]));
    let generic = value.iter().position(|b| *b == b'<').is_some_and(|n| n > 0 && value[0].is_ascii_uppercase());
    let pointed = contains_any(value, &["=>", "->", "::", "&&", "||", "?."])
        || value.windows(3).any(|w| w.starts_with(b"==") && WORD.has(w[2]));
    called
        || indexed
        || generic
        || pointed
        || is_dotted_name(value)
        || value.starts_with(b"&") && value[1..].iter().all(|b| WORD.has(*b))
}

/// An identifier: letters and `_`, with at most one digit at the end.
pub(crate) fn is_identifier(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let letters = value.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
    letters > 0 && value[letters..].iter().all(u8::is_ascii_digit) && value.len() - letters <= 1
}

/// An id rather than a key: a UUID, perhaps with words and a date around it.
pub(crate) fn is_id(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    is_uuid(value) || holds_uuid(value)
}

/// `2026-01-23-<uuid>`, `session-<uuid>`
fn holds_uuid(value: &[u8]) -> bool {
    let starts = (0..value.len().saturating_sub(35)).filter(|n| value[n + 8] == b'-' && is_uuid(&value[*n..n + 36]));
    let is_free = |n: usize| n == 0 || !value[n - 1].is_ascii_alphanumeric();
    starts.into_iter().any(|n| is_free(n) && is_readable(&value[..n]) && is_readable(&value[n + 36..]))
}

/// Public by nature: a public key, a hash that names its algorithm.
pub(crate) fn is_public(value: &[u8]) -> bool {
    const BEGINNINGS: [&str; 9] =
        ["AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "ssh-", "ecdsa-sha2", "sha256-", "sha384-", "sha512-", "sha256:"];
    BEGINNINGS.iter().any(|begin| value.starts_with(begin.as_bytes()))
}

fn contains_any(value: &[u8], parts: &[&str]) -> bool {
    value.iter().enumerate().any(|(at, first)| {
        let fits = |part: &&str| value.get(at..at + part.len()).is_some_and(|v| v.eq_ignore_ascii_case(part.as_bytes()));
        parts.iter().any(|part| part.as_bytes()[0].eq_ignore_ascii_case(first) && fits(part))
    })
}

fn starts_any(value: &[u8], parts: &[&str]) -> bool {
    parts.iter().any(|part| value.get(..part.len()).is_some_and(|v| v.eq_ignore_ascii_case(part.as_bytes())))
}
