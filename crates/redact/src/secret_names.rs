//! Decides which names announce a secret, and of what kind: `DB_PASSWORD`, `clientSecret`, `x-api-key`, but not `passwordField`,
//! `max_tokens`, `tokenizer`.

use super::bytes;
use super::word_list::WordList;

/// The kind of secret that a name announces. It decides what its value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretKind {
    /// Any value that is not harmless.
    Password,
    Secret,
    /// The value must look generated; so for the kinds below.
    Token,
    Key,
    Auth,
}

impl SecretKind {
    pub(crate) const fn rule_id(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Key => "key",
            Self::Auth => "auth",
        }
    }

    /// Whether even a plain word can be the secret.
    pub(crate) const fn accepts_plain_words(self) -> bool {
        matches!(self, Self::Password | Self::Secret)
    }
}

/// Parts of names that announce a secret.
pub(crate) const KEYWORDS: [&str; 16] = [
    "pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "cookie", "session", "salt", "jwt", "mnemonic", "kennwort",
    "pat", "psk",
];

#[rustfmt::skip]
const QUALIFIERS: &WordList = &WordList::of(&[
    "api", "access", "private", "secret", "auth", "signing", "sign", "signature", "encryption", "encrypt", "enc", "crypto", "master",
    "account", "storage", "shared", "preshared", "session", "subscription", "license", "webhook", "deploy", "hmac", "jwt", "aes", "rsa",
    "ssh", "server", "service", "stripe", "openai", "anthropic", "admin", "write", "ingest", "ingestion", "integration", "routing",
    "app", "application", "consumer", "client", "stream", "functions", "host", "psk", "derivation", "data", "unseal", "vapid", "spaces", "ticket", "wallet",
    "signer", "validator", "recovery", "bot", "push", "sender", "tenant", "cluster", "join", "node", "activation", "product", "partner", "merchant",
    "terminal", "hec",
]);
/// Words that may follow and change nothing: `password_value`.
#[rustfmt::skip]
const NEUTRAL_WORDS: &WordList = &WordList::of(&[
    "value", "val", "str", "string", "text", "plain", "plaintext", "raw", "b64", "base64", "base", "hex", "bytes", "default", "dev", "prod",
    "production", "staging", "stage", "live", "old", "new", "current", "previous", "primary", "secondary", "main", "local", "root",
    "admin", "user", "db", "key", "data", "enc", "backup", "ci",
]);
/// Words that follow when the name is about a secret and does not hold it: `password_length`.
#[rustfmt::skip]
const NEGATING_WORDS: &WordList = &WordList::of(&[
    "id", "ids", "name", "names", "field", "length", "len", "count", "type", "types", "kind", "url", "uri", "endpoint", "path", "file",
    "filename", "dir", "ttl", "expiry", "expires", "expiration", "age", "limit", "limits", "max", "min", "size", "policy", "label",
    "input", "placeholder", "hint", "error", "errors", "message", "env", "var", "regex", "pattern", "prefix", "suffix", "header",
    "param", "params", "index", "class", "required", "enabled", "version", "usage", "used", "strength", "reset", "manager", "provider",
    "service", "store", "storage", "format", "algorithm", "alg", "rotation", "ref", "refs", "arn", "scope", "scopes", "status", "state",
    "source", "method", "mode", "form", "page", "link", "button", "title", "text", "description", "map", "list", "set", "helper", "utils",
    "config", "options", "settings", "schema", "validator", "exists", "changed", "at", "date", "time", "budget", "cost", "estimate", "stream",
    "callback", "handler", "middleware", "guard", "check", "test", "tests", "match", "matches", "mismatch", "points", "code", "press",
    "board", "down", "up", "frame", "frames", "word", "words", "point", "fn", "func", "function", "s",
]);

/// The kind of secret that a name announces, if any.
pub(crate) fn kind_of_name(name: &[u8]) -> Option<SecretKind> {
    bytes::count_steps(name.len());
    let mut words = [(0, 0); MAX_WORDS];
    let count = split(name, &mut words);
    let word = |n: usize| &name[words[n].0..words[n].1];
    let mut last = count;
    while last > 0 && word(last - 1).iter().all(u8::is_ascii_digit) {
        last -= 1;
    }
    for n in (0..last).rev() {
        let earlier = n.checked_sub(1).map(word);
        if let Some(secret_kind) = kind_of_word(word(n), earlier, n + 1 == last, n == 0) {
            return Some(weakened(secret_kind, (n + 1..last).map(word)));
        }
        if NEGATING_WORDS.has(word(n)) && !NEUTRAL_WORDS.has(word(n)) {
            return None;
        }
    }
    None
}

/// Unknown words behind the one that announces the secret: then the value must look generated.
fn weakened<'n>(secret_kind: SecretKind, mut behind: impl Iterator<Item = &'n [u8]>) -> SecretKind {
    if behind.all(|word| NEUTRAL_WORDS.has(word)) { secret_kind } else { SecretKind::Auth }
}

fn kind_of_word(word: &[u8], earlier: Option<&[u8]>, is_last: bool, is_first: bool) -> Option<SecretKind> {
    let is_alone = is_last && is_first;
    let is = |list: &[&str]| is_one_of(word, list);
    let ends = |end: &str| word.len() >= end.len() && word[word.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes());
    if ["password", "passwd", "passphrase", "passcode", "passwort", "kennwort"].iter().any(|end| ends(end)) {
        return Some(SecretKind::Password);
    }
    if is(&["dbpass", "userpass", "smtppass", "mailpass", "rootpass", "requirepass", "masterauth", "pgpass", "sshpass", "mnemonic"])
    {
        return Some(SecretKind::Password);
    }
    if is(&["pwd", "psw", "pswd", "psk"]) {
        return Some(SecretKind::Password);
    }
    if is(&["pass", "pw"]) {
        return Some(if is_alone { SecretKind::Auth } else { SecretKind::Password });
    }
    if ends("secret") || is(&["secretkey"]) {
        return Some(SecretKind::Secret);
    }
    if ends("token") && !is(&["pretoken", "subtoken", "detoken"]) {
        return Some(SecretKind::Token);
    }
    if is(&["key"]) && earlier.is_some_and(|before| QUALIFIERS.has(before)) || JOINED_KEY_NAMES.has(word) {
        return Some(SecretKind::Key);
    }
    // An environment variable, not a word of code.
    let is_variable = is(&["key"]) && (is_last || word == b"KEY") && earlier.is_some_and(|before| !HARMLESS_KEYS.has(before));
    let is_personal = is(&["pat"]) && earlier.is_some();
    (WEAK_NAMES.has(word) || is_variable || is_personal).then_some(SecretKind::Auth)
}

#[rustfmt::skip]
const JOINED_KEY_NAMES: &WordList = &WordList::of(&[
    "apikey", "accesskey", "privatekey", "authkey", "signingkey", "encryptionkey", "masterkey", "accountkey", "sharedkey", "sessionkey",
    "accountkey", "sharedaccesskey", "presharedkey", "licensekey", "secretaccesskey", "awssecretaccesskey", "hmackey", "serverkey",
]);
const WEAK_NAMES: &WordList = &WordList::of(&[
    "auth", "credential", "credentials", "cred", "creds", "cookie", "session", "sessionid", "sid", "salt", "jwt", "pepper",
    "authorization",
]);

const HARMLESS_KEYS: &WordList = &WordList::of(&[
    "public", "cache", "primary", "foreign", "sort", "partition", "idempotency", "group", "row", "lock", "pub", "object", "query",
    "map", "dict", "hash", "index", "unique", "name", "file", "event", "item", "entry", "column", "s3", "blob", "dedup", "message",
    "state", "config", "feature", "shape", "registry", "trace", "version", "bucket", "route", "routing", "translation", "i18n",
]);

/// Words before `key` in prose and code that name no kind of key.
#[rustfmt::skip]
const NO_KEY_WORDS: &WordList = &WordList::of(&[
    "the", "this", "that", "a", "an", "each", "every", "which", "any", "same", "arrow", "enter", "escape", "hot", "map",
    "with", "for", "of", "no", "to", "by", "on", "in", "is", "as", "from", "and", "or", "not", "new", "old", "first", "last",
    "one", "two", "its", "their", "object", "dict", "json", "index", "unique", "composite", "registry", "config", "i18n",
    "translation", "string", "known", "return", "press", "per", "wrong", "missing", "unknown", "duplicate", "type", "left",
    "right", "up", "down", "tab", "modifier", "const", "let", "var", "val", "static", "final", "pub", "def", "mut", "char",
    "int", "auto", "if", "assert", "del", "case",
]);

/// Words of names whose values programs make and no person types: of parsers, of models, of pages, and against forged requests.
#[rustfmt::skip]
const PROGRAM_WORDS: &WordList = &WordList::of(&[
    "next", "prev", "previous", "last", "first", "page", "cursor", "continuation", "sync", "csrf", "xsrf", "pad", "eos", "bos", "unk",
    "mask", "sep", "cls", "special", "stop", "start", "end", "begin", "cancel", "cancellation", "design", "color", "input", "output",
    "expected", "lookahead", "paging", "pagination", "syntax", "theme", "css", "resume", "idempotency", "concurrency", "fencing", "position",
]);

/// Whether a program makes the values of this name.
pub(crate) fn is_of_a_program(name: &[u8]) -> bool {
    let mut words = [(0, 0); MAX_WORDS];
    let count = split(name, &mut words);
    words[..count].iter().any(|(from, to)| PROGRAM_WORDS.has(&name[*from..*to]))
}

#[cfg(test)]
pub(crate) const LISTS: [&WordList; 9] =
    [QUALIFIERS, NEUTRAL_WORDS, NEGATING_WORDS, JOINED_KEY_NAMES, WEAK_NAMES, HARMLESS_KEYS, NO_KEY_WORDS, PROGRAM_WORDS, SETTINGS];

const MAX_WORDS: usize = 16;

/// Splits a name at separators and where the case changes. Returns the number of words.
fn split(name: &[u8], words: &mut [(usize, usize); MAX_WORDS]) -> usize {
    let mut count = 0;
    let mut start = 0;
    for at in 0..=name.len() {
        let here = name.get(at).copied().unwrap_or(b'_');
        let last = at.checked_sub(1).map_or(b'_', |n| name[n]);
        let next = name.get(at + 1).copied().unwrap_or(b'_');
        let humps = last.is_ascii_lowercase() && here.is_ascii_uppercase()
            || last.is_ascii_uppercase() && here.is_ascii_uppercase() && next.is_ascii_lowercase()
            || last.is_ascii_alphabetic() && here.is_ascii_digit();
        if (!here.is_ascii_alphanumeric() || humps) && start < at && count < MAX_WORDS {
            words[count] = (start, at);
            count += 1;
        }
        if !here.is_ascii_alphanumeric() {
            start = at + 1;
        } else if humps {
            start = at;
        }
    }
    count
}

/// The kind of secret of a `… key` in prose, by the word before it.
pub(crate) fn kind_of_key(kind: &[u8]) -> Option<SecretKind> {
    if HARMLESS_KEYS.has(kind) || NO_KEY_WORDS.has(kind) {
        return None;
    }
    Some(if QUALIFIERS.has(kind) { SecretKind::Key } else { SecretKind::Auth })
}

/// Whether a key of this kind is no secret: `primary`, `cache`.
pub(crate) fn is_harmless_key(kind: &[u8]) -> bool {
    HARMLESS_KEYS.has(kind)
}

/// Whether this word behind a name takes the announcement back: `hash` in `password hash`.
pub(crate) fn is_negating(word: &[u8]) -> bool {
    NEGATING_WORDS.has(word) && !is_one_of(word, &["is", "set", "list", "code", "at", "for"])
}

/// Names beside which a map of secrets holds something else: `user: …`, `id: …`, `- name: …`.
#[rustfmt::skip]
const SETTINGS: &WordList = &WordList::of(&[
    "user", "username", "usernames", "login", "email", "mail", "host", "hostname", "port", "db", "database", "region", "zone", "account", "client",
    "role", "profile", "project", "bucket", "group", "issuer", "audience", "domain", "address", "image", "tag", "key", "hash", "salt", "from",
    "created", "updated", "owner", "comment", "note", "notes", "namespace", "engine", "driver", "external", "encoder", "hasher", "rounds",
]);

/// Whether this name in a map of secrets says something about them: `minLength`, `user`, `keyId`.
pub(crate) fn is_setting(name: &[u8]) -> bool {
    bytes::count_steps(name.len());
    let mut words = [(0, 0); MAX_WORDS];
    let count = split(name, &mut words);
    let last = count.checked_sub(1).map_or(&b""[..], |n| &name[words[n].0..words[n].1]);
    SETTINGS.has(last) || NEGATING_WORDS.has(last)
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_promise_what_they_say() {
        let table = [
            ("DB_PASSWORD", Some(SecretKind::Password)),
            ("dbPassword", Some(SecretKind::Password)),
            ("PGPASSWORD", Some(SecretKind::Password)),
            ("smtp_pass", Some(SecretKind::Password)),
            ("clientSecret", Some(SecretKind::Secret)),
            ("SECRET_KEY_BASE", Some(SecretKind::Key)),
            ("x-api-key", Some(SecretKind::Key)),
            ("AccountKey", Some(SecretKind::Key)),
            ("GITHUB_TOKEN", Some(SecretKind::Token)),
            ("accessToken2", Some(SecretKind::Token)),
            ("AWS_SECRET_ACCESS_KEY", Some(SecretKind::Key)),
            ("auth", Some(SecretKind::Auth)),
            ("passwordField", None),
            ("max_tokens", None),
            ("tokenizer", None),
            ("secret_name", None),
            ("api_key_id", None),
            ("compass", None),
            ("keyboard", None),
            ("author", None),
            ("monkey", None),
            ("bypass", None),
            ("token_count", None),
        ];
        for (name, promised) in table {
            assert_eq!(kind_of_name(name.as_bytes()), promised, "{name}");
        }
    }
}
