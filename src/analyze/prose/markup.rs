//! Removes emphasis from a line of markdown, but not markers that belong to a name.

/// A line without its markers of bold text. `app/__init__.py`, `src/**/*.rs`, `**kwargs` and `__main__` are names and stay.
pub(super) fn without_emphasis(line: &str) -> String {
    if !line.contains("**") && !line.contains("__") {
        return line.to_owned();
    }
    let marks: Vec<EmphasisMarker> = markers(line);
    let mut gone = vec![false; marks.len()];
    let mut at = 0;
    while at < marks.len() {
        let pair = marks[at].opens.then(|| partner(line, &marks, at)).flatten();
        if let Some(end) = pair {
            (gone[at], gone[end]) = (true, true);
        }
        at += 1;
    }
    let (mut out, mut from) = (String::with_capacity(line.len()), 0);
    for mark in marks.iter().zip(&gone).filter(|(_, gone)| **gone).map(|(mark, _)| mark) {
        out.push_str(&line[from..mark.at]);
        from = mark.at + 2;
    }
    out.push_str(&line[from..]);
    out
}

/// Two asterisks or two underscores.
struct EmphasisMarker {
    at: usize,
    by: u8,
    opens: bool,
    closes: bool,
}

/// The markers outside of code spans.
fn markers(line: &str) -> Vec<EmphasisMarker> {
    let bytes = line.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let by = bytes[at];
        if by == b'`' {
            let run = bytes[at..].iter().take_while(|b| **b == b'`').count();
            let end = line[at + run..].find(&"`".repeat(run)).map_or(at + run, |end| at + run + end + run);
            at = end;
            continue;
        }
        if !matches!(by, b'*' | b'_') || bytes.get(at + 1) != Some(&by) {
            at += 1;
            continue;
        }
        let (before, after) = (line[..at].chars().next_back(), line[at + 2..].chars().next());
        // There is no emphasis within a path or a word; scripts without spaces have no such boundary.
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '/' || c == '\\' || c == '.';
        let opens = after.is_some_and(|c| !c.is_whitespace() && c != '/') && before.is_none_or(|c| !is_word(c) && c != by as char);
        let closes = before.is_some_and(|c| !c.is_whitespace())
            && after.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '/' && c != by as char);
        found.push(EmphasisMarker { at, by, opens, closes });
        at += 2;
    }
    found
}

/// The marker that closes the one at `opening`.
fn partner(line: &str, marks: &[EmphasisMarker], opening: usize) -> Option<usize> {
    let from = &marks[opening];
    let end = (opening + 1..marks.len()).find(|at| marks[*at].by == from.by)?;
    let mark = &marks[end];
    let inner = &line[from.at + 2..mark.at];
    // `__main__` and `__init__.py` are Python names.
    let is_name = from.by == b'_' && inner.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    (mark.closes && !inner.is_empty() && !is_name).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn emphasis_goes_and_names_stay() {
        for (line, left) in [
            ("**Fixed** the __last__-minute bug", "Fixed the __last__-minute bug"),
            ("__Very important__: read **this**.", "Very important: read this."),
            ("(**note**) **a**, **b**", "(note) a, b"),
            ("修复了**分页**问题", "修复了分页问题"),
            ("Moved app/__init__.py and __main__.py", "Moved app/__init__.py and __main__.py"),
            ("`__init__` and `**kw`, f(**kwargs), g(**more)", "`__init__` and `**kw`, f(**kwargs), g(**more)"),
            ("src/**/*.rs and lib/**/*.rs", "src/**/*.rs and lib/**/*.rs"),
            ("**/*.ts, 2**10 and 3**4", "**/*.ts, 2**10 and 3**4"),
            ("a__b__c", "a__b__c"),
            ("**open", "**open"),
        ] {
            assert_eq!(without_emphasis(line), left, "{line}");
        }
    }

    proptest! {
        #[test]
        fn only_marks_go(line in "[a_*`/ .é]{0,40}") {
            let left = without_emphasis(&line);
            let bare = |text: &str| text.replace(['*', '_'], "");
            prop_assert_eq!(bare(&left), bare(&line));
        }
    }
}
