//! The output of commands that print a secret, such as `pass show shop` or `openssl rand -hex 32`: the line after the command.

use std::ops::Range;

use super::bytes;
use super::candidate::is_secret;
use super::line_wrap::{after_escaped_newline, after_newline, skip_line_prefix};
use super::secret_names::SecretKind;
use super::sentence::only_word_of_line;

/// Commands that print a secret.
#[rustfmt::skip]
pub(crate) const COMMANDS: [&str; 42] = [
    "pass show ", "pass -c ", "gopass show ", "op item get ", "op read ", "bw get ", "lpass show ", "keepassxc-cli show ", "find-generic-password",
    "find-internet-password", "secret-tool lookup", "printenv ", "gh auth token", "glab auth token", "openssl rand ", "pwgen ", "apg ", "wg genkey",
    "wg genpsk", "token_urlsafe(", "token_hex(", "gcloud auth print-", "secrets versions access", "keyvault secret show", "get-parameter ",
    "get-secret-value", "get-login-password", "get-access-token", "create token ", "terraform output -raw", "tofu output -raw",
    "config:get ", "ansible-vault view", "kubectl get secret", "vault kv get -field", "vault read -field", "vault print token", "fnox get ", "get secret ", "get secrets ", "cat /run/secrets/", "mkpasswd ",
];
/// The most bytes of a command line.
const REACH_BYTES: usize = 300;

/// The secret on the line after the command at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let (end, found) = bytes::find_byte(text, hit.end, REACH_BYTES, |b| b == b'\n');
    // Within a string, newlines are escaped.
    let written = bytes::find(&text[hit.end..end], b"\\n").map(|n| hit.end + n);
    let next = match written {
        Some(offset) => after_escaped_newline(text, offset)?,
        None if found => after_newline(text, end)?,
        None => return None,
    };
    let range = only_word_of_line(text, skip_line_prefix(text, next))?;
    is_secret(&text[range.clone()], SecretKind::Password, true).then_some(range)
}
