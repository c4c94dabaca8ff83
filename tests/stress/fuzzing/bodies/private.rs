//! Private tags: what stands between them never gets out, and what was never between them is not changed.

use std::sync::LazyLock;

use recall::testing::privacy::{Sanitizer, opens_private, strip};
use recall::testing::text::clean::without_controls;
use recall::testing::text::disarm::disarm;

use super::texts;

static SANITIZER: LazyLock<Sanitizer> = LazyLock::new(Sanitizer::shipped);
const WORDS: &str = "zebra-quartz";

pub fn check(data: &[u8]) {
    let [before, inside, after] = texts(data);
    let all = format!("{before}{inside}{after}");
    let stripped = strip(&all);
    assert!(stripped.text.len() <= all.len());
    assert!(!stripped.private || opens_private(&all));
    if !all.contains('<') {
        assert_eq!(stripped.text, all, "without a tag nothing goes");
    }
    let disarmed = disarm(&all);
    assert_eq!(disarm(&disarmed), disarmed);
    if [&before, &inside, &after].iter().all(|text| !without_controls(text).contains(WORDS)) {
        fenced(&before, &inside, &after);
    }
}

/// What closes the fence, or a block around it, would let the words out with good reason: it is not said inside.
fn fenced(before: &str, inside: &str, after: &str) {
    let inside = inside.replace('/', "|");
    for (open, close) in [("<private>", "</private>"), ("< PRIVATE reason=\"x\">", "</Private >"), ("<private>", "")] {
        let text = format!("{before} {open}{inside} {WORDS} {close}{after}");
        assert!(!SANITIZER.clean(&text).contains(WORDS), "{text:?}");
        assert!(!SANITIZER.output(&text, |_| true).contains(WORDS), "{text:?}");
        assert!(!strip(&text).text.contains(WORDS), "{text:?}");
    }
}
