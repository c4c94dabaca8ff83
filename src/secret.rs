//! Does a text look as if it held a secret? Errs on the side of yes: it decides what is left out of a session's start.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// Names that stand before a secret, as `AWS_SECRET_ACCESS_KEY` or `dbPassword`; not `passengers`, `tokenizer` or `bypass`.
const NAMES: &str = r"(?:[\w-]*(?:password|passwd|passphrase|passcode|pwd|secret|token|credentials?|(?:api|access|account|private|auth|encryption)[_-]?key)|\b(?:\w+[_-])?pass)(?:[_-][\w-]*|key|value)?";

/// Beginnings of credentials that providers document, names with a value behind them, and the forms keys are written in.
static TELLING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `NAME=…`, `"name": "…"`, `name := …`, `'name' => …`, `name is …`; with quotes that may be escaped.
    let assigned = format!(r#"(?i){NAMES}\\?["'`]?\s*(:=|=>|={{1,2}}|:|\bis\b:?)\s*\\?["'`]?[^\s"'`\\]{{4}}"#);
    let flag = format!(r"(?i)\s--?{NAMES}[ =]\S{{4}}");
    let parts = [
        r"-----BEGIN [A-Z ]*(PRIVATE|KEY)",
        r"\b(sk|pk|rk)[-_](live|test|ant|proj|or)[-_]",
        r"\bsk-[A-Za-z0-9]{16}",
        r"\b(gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|pypi-|hf_|dop_v1_|shpat_|SG\.)[A-Za-z0-9_.-]{10}",
        r"\b(AKIA|ASIA|AROA)[A-Z0-9]{12}",
        r"\bAIza[A-Za-z0-9_-]{20}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"hooks\.slack\.com/services/",
        r"[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@",
        r"(?i)\b(authorization|cookie)\s*[:=]",
        r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/_.=-]{12}",
        &assigned,
        &flag,
    ];
    // Without Unicode tables it is compiled in a tenth of the time, which a session's start waits for.
    RegexBuilder::new(&parts.join("|")).unicode(false).build().ok()
});

/// Longest run of letters, digits and base64 signs that is still taken for a word or a path's part.
const LONG: usize = 32;

pub fn looks_secret(text: &str) -> bool {
    // Without its rules nothing can be called clean.
    TELLING.as_ref().is_none_or(|rules| rules.is_match(text.as_bytes())) || text.split(|c: char| !is_key_char(c)).any(is_random)
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '=' | '_')
}

/// A long run that mixes upper and lower case and digits; commit ids and other hashes do not.
fn is_random(run: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| run.as_bytes().iter().filter(|b| fits(b)).count() > 2;
    run.len() >= LONG && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_seen_and_ordinary_words_are_not() {
        let bad = [
            "use ghp_abcdefghij0123456789 for it", "export API_KEY=abcd1234", "the password is hunter22",
            "postgres://me:pw1234@db/shop", "Authorization: Basic abc", "-----BEGIN RSA PRIVATE KEY-----", "AKIAIOSFODNN7EXAMPLE",
            "\"token\": \"a1b2c3\"", "q8Zt3Kp0Vb7Nw2Xc5Ld9Rf4Hs6Jg1Ty8Ue",
        ];
        for text in bad {
            assert!(looks_secret(text), "{text}");
        }
        let good = [
            "All 10 tests pass; committed 27fa148c0a1be5d2f3a4b5c6d7e8f90123456789 on main",
            "the tokenizer counts tokens, and the password field is checked by validate_password_field_of_the_login_form",
            "session 64b0b6d9-e371-40e8-affe-78e0505dfb3f",
            "see src/components/CustomerOrderListPageWithPagination.tsx",
        ];
        for text in good {
            assert!(!looks_secret(text), "{text}");
        }
    }
}
