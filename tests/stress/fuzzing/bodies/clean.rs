//! Cleaning and redaction: what they do once holds, nothing grows beyond its bound, and a secret never gets through.

use std::sync::LazyLock;

use recall::testing::privacy::Sanitizer;
use recall::testing::text::clean::{both_ends, fold_lines, head_and_tail, one_line, shorten, without_controls};
use redact::Redactor;

use super::{acts, secrets, texts};

static OFTEN: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[]).expect("the shipped rules"));
static SANITIZER: LazyLock<Sanitizer> = LazyLock::new(Sanitizer::shipped);
static SECRETS: LazyLock<[String; 4]> = LazyLock::new(secrets);

pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let [before, after] = texts(rest);
    cleaning(&before, usize::from(*choice));
    redaction(&before);
    secret(&before, &after, usize::from(*choice));
}

fn cleaning(text: &str, max: usize) {
    let clean = without_controls(text);
    assert!(!clean.contains(acts) && clean.len() <= text.len(), "{clean:?}");
    assert_eq!(without_controls(&clean), clean, "cleaned once is clean");
    let folded = fold_lines(&clean);
    assert!(folded.len() <= clean.len());
    assert_eq!(fold_lines(&folded), folded, "folded once is folded");
    let line = one_line(&clean);
    assert!(!line.contains('\n') && line.len() <= clean.len());
    let short = shorten(&folded, max);
    assert!(short.chars().count() <= max + 1 && folded.starts_with(short.trim_end_matches('…')), "{short:?}");
    assert!(head_and_tail(&folded, max).chars().count() <= max + 3);
    assert!(both_ends(&folded, max).len() <= 2 * max + 7);
}

fn redaction(text: &str) {
    let findings = Redactor::shipped().findings(text);
    assert_eq!(findings, OFTEN.findings(text), "both ways to look for keywords see the same");
    let mut kept = 0;
    for finding in &findings {
        assert!(finding.range.start >= kept && !finding.range.is_empty() && finding.range.end <= text.len(), "{findings:?}");
        kept = finding.range.end;
    }
    let once = OFTEN.redact(text);
    assert_eq!(OFTEN.redact(&once), once, "what is redacted stays as it is");
}

/// A secret on a line of its own, whatever stands on the lines around it.
fn secret(before: &str, after: &str, choice: usize) {
    let secret = &SECRETS[choice % SECRETS.len()];
    // Within a longer word it is none.
    if [before, after].iter().any(|text| without_controls(text).contains(secret.as_str())) {
        return;
    }
    let text = format!("{before}\n{secret}\n{after}");
    assert!(!OFTEN.redact(&text).contains(secret), "{text:?}");
    assert!(!SANITIZER.clean(&text).contains(secret), "{text:?}");
    assert!(!SANITIZER.output(&text, |_| true).contains(secret), "{text:?}");
    if let Some(Some(shown)) = SANITIZER.verbatim(&text) {
        assert!(!shown.contains(secret), "{text:?}");
    }
}
