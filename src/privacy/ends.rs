//! The two ends of a long text, cut so that no secret is cut in two: half of one is not known for what it is.

use std::borrow::Cow;

/// How much is looked at from each end, in bytes: verdicts stand at the ends.
const LOOKED_AT: usize = 24_000;
/// How far from a cut a line's end is looked for, in bytes.
const NEAR: usize = 4_000;

pub fn of(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * LOOKED_AT {
        return Cow::Borrowed(text);
    }
    let head = &text[..text.floor_char_boundary(LOOKED_AT)];
    let tail_at = text.ceil_char_boundary(text.len() - LOOKED_AT);
    Cow::Owned(format!("{}\n{}", whole_head(head), whole_tail(text, tail_at)))
}

/// Up to the last line's end, else the last word's.
fn whole_head(head: &str) -> &str {
    let near = head.floor_char_boundary(head.len() - NEAR);
    let end = head[near..].rfind('\n').or_else(|| head[near..].rfind(char::is_whitespace));
    &head[..end.map_or(near, |at| near + at)]
}

fn whole_tail(text: &str, at: usize) -> &str {
    let tail = &text[at..];
    let near = tail.floor_char_boundary(NEAR);
    let start = tail[..near].find('\n').or_else(|| tail[..near].find(char::is_whitespace)).unwrap_or(near);
    let tail = &tail[start..];
    if !inside_key(&text[..at]) {
        return tail;
    }
    // A key block that began before the cut.
    tail.find("-----END").map_or("", |end| &tail[end..])
}

/// Does a text end inside a block of a private key?
fn inside_key(text: &str) -> bool {
    let last = |what: &str| memchr::memmem::rfind(text.as_bytes(), what.as_bytes());
    let Some(begins) = last("-----BEGIN") else { return false };
    last("-----END").is_none_or(|ends| ends < begins) && text[begins..].chars().take(80).collect::<String>().contains("PRIVATE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_cut_between_lines_and_a_key_goes_whole() {
        assert_eq!(of("short"), "short");
        let filler = "line of output\n".repeat(4_000);
        let cut = of(&filler);
        assert!(cut.len() < 2 * LOOKED_AT && cut.lines().all(|l| l == "line of output" || l.is_empty()));
        let key = format!("{}-----BEGIN {} KEY-----\n{}-----END", filler, "RSA PRIVATE", "MIIEabc\n".repeat(6_000));
        let whole = format!("{key} {} KEY-----\ntest result: ok\n", "RSA PRIVATE");
        assert!(!of(&whole).contains("MIIE"));
        assert!(of(&whole).contains("test result: ok"));
        let one_line = "x".repeat(200_000);
        assert!(of(&one_line).len() <= 2 * LOOKED_AT);
    }
}
