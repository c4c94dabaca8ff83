//! By what an error is known again: its words, without what differs from one time to the next.

/// The most words of a signature.
const MAX_WORDS: usize = 28;
/// Fewest words of a stored signature that may be found inside a longer line.
const MIN_WORDS_INSIDE: usize = 4;
/// Fewest characters of a hash, and of the part of a name behind `tmp`.
const MIN_HASH_CHARS: usize = 7;
const MIN_TEMPORARY_CHARS: usize = 5;
/// Fewest characters of a name that is not typed to its end.
const MIN_NAME_BEGINNING: usize = 8;
/// The most characters of a file's extension.
const MAX_EXTENSION_CHARS: usize = 4;
/// A line is no error line beyond this, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// Words that errors of any kind hold.
const GENERIC: &[&str] = &[
    "a", "an", "and", "at", "be", "build", "by", "can", "cannot", "code", "command", "could", "deselected", "directory", "due",
    "err", "error", "errored", "errors", "exception", "exit", "exitcode", "exited", "expected", "fail", "failed", "failing",
    "fails", "failure", "failures", "fatal", "file", "filtered", "finished", "for", "found", "from", "ignored", "in", "invalid",
    "is", "it", "job", "line", "measured", "missing", "module", "no", "not", "occurred", "of", "on", "or", "out", "passed",
    "process", "result", "results", "returned", "run", "skipped", "snapshots", "status", "such", "suite", "suites", "summary",
    "test", "tests", "that", "the", "this", "to", "todo", "total", "type", "unable", "undefined", "unexpected", "warning",
    "warnings", "was", "with", "xfailed",
];

/// The words of an error line in lower case, separated by spaces. Where it says so (`src/a.go:30:8:`) goes; paths are told by their last part;
/// numbers, addresses, hashes and durations are `#`, temporary names `tmp`. `None` for a line that says no more than that something failed.
pub(super) fn signature(line: &str) -> Option<String> {
    let words = normal_words(line);
    is_telling(&loose(&words.join(" "))).then(|| words.join(" "))
}

/// How well a line that is asked about fits a signature: the greater, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The line holds all of it.
    Inside,
    /// The line is a part of it, and ends within a name.
    PartOfName,
    /// The line is a part of it.
    Part,
    Same,
}

/// A line that is asked about.
pub(crate) struct Asked {
    signature: String,
    loose: String,
}

impl Asked {
    /// `None` for a line that fits errors of any kind.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let signature = normal_words(line).join(" ");
        let loose = loose(&signature);
        let words = loose.split(' ').filter(|word| !word.is_empty()).count();
        (is_telling(&loose) || words >= 3).then_some(Self { signature, loose })
    }

    pub(crate) fn fit(&self, known: &str) -> Option<Fit> {
        if self.signature == known {
            return Some(Fit::Same);
        }
        let known = loose(known);
        if holds(&known, &self.loose) {
            return Some(Fit::Part);
        }
        let is_cut = self.loose.rsplit(' ').next().is_some_and(|last| last.chars().count() >= MIN_NAME_BEGINNING);
        if is_cut && format!(" {known}").contains(&format!(" {}", self.loose)) {
            return Some(Fit::PartOfName);
        }
        // What follows may name another cause.
        let behind =
            format!(" {} ", self.loose).split_once(&format!(" {known} ")).map(|(_, behind)| behind.split_whitespace().count());
        let words = known.split(' ').count();
        let is_inside = words >= MIN_WORDS_INSIDE && behind.is_some_and(|behind| 2 * behind < words);
        is_inside.then_some(Fit::Inside)
    }
}

fn holds(text: &str, part: &str) -> bool {
    !part.is_empty() && format!(" {text} ").contains(&format!(" {part} "))
}

/// Words of letters and digits only, so that `libpq` is found in `libpq.so.5`.
fn loose(signature: &str) -> String {
    let words = signature.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn is_telling(loose: &str) -> bool {
    loose.split(' ').any(|word| word.chars().count() >= 3 && !GENERIC.contains(&word) && word.chars().any(char::is_alphabetic))
}

fn normal_words(line: &str) -> Vec<String> {
    let line = line[..line.floor_char_boundary(MAX_LINE_BYTES)].to_lowercase();
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '#' | '~');
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // Cut off: the last word is only a part of one.
    if words.last().is_some_and(|last| last.ends_with('…')) {
        words.pop();
    }
    // Where a thread panicked, and its number, change.
    if words.first() == Some(&"thread")
        && let Some(at) = words.iter().take(4).position(|word| *word == "panicked")
    {
        let is_place = words.get(at + 1) == Some(&"at") && words.get(at + 2).is_some_and(|word| is_position(word));
        words.drain(at + 1..if is_place { at + 3 } else { at + 1 });
        words.drain(2.min(at)..at);
    }
    if words.len() > 2
        && let Some(at) = words.iter().take(2).position(|word| is_position(word))
    {
        words.drain(..=at);
    }
    let bare = words.iter().map(|word| word.trim_matches(is_edge)).filter(|word| !word.is_empty());
    // `E` before what pytest prints.
    let normal: Vec<String> = bare.skip_while(|word| *word == "e").map(normal_word).take(MAX_WORDS).collect();
    // Runners name a test before or behind that it failed, and how far they are.
    let test = normal.iter().find(|word| word.contains("::")).filter(|_| normal.len() <= 3);
    match test.filter(|_| normal.iter().any(|word| word == "failed")) {
        Some(test) => vec!["failed".to_owned(), test.clone()],
        None => normal,
    }
}

/// Where a compiler says that something is: `src/a.go:30:8:`, `app/x.ts(52,11):`, `line 3:` is none.
fn is_position(word: &str) -> bool {
    let bare = word.trim_end_matches([':', ',', ')', '.']);
    let Some(at) = bare.find([':', '(']) else { return false };
    let (file, place) = bare.split_at(at);
    // `HolidaysTest.count:14` is a test of a class.
    let is_member = !file.contains('/') && file.rsplit('.').next().is_some_and(|end| end.len() > MAX_EXTENSION_CHARS);
    file.contains(['/', '.'])
        && !is_member
        && place.len() > 1
        && place.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '(' | ',' | ')'))
        && place.chars().any(|c| c.is_ascii_digit())
}

fn normal_word(word: &str) -> String {
    let is_temporary = |word: &str| ["/tmp/", "/var/folders/", "/temp/"].iter().any(|part| word.contains(part)) || is_random(word);
    if is_temporary(word) {
        return "tmp".to_owned();
    }
    let name = match word.trim_end_matches('/').rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => word,
    };
    let hex = name.strip_prefix("0x").unwrap_or(name);
    let is_hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_hash = hex.len() >= MIN_HASH_CHARS && is_hex(hex) && hex.contains(|c: char| c.is_ascii_digit());
    if is_hash || hex.len() < name.len() && is_hex(hex) || is_measure(name) {
        return "#".to_owned();
    }
    // Digits behind a letter belong to a name or to a code: `TS2307`, `sha256`.
    let mut normal = String::with_capacity(name.len());
    let mut before = ' ';
    for c in name.chars() {
        let is_part_of_name = before.is_alphanumeric() || before == '_';
        match c {
            c if !c.is_ascii_digit() || is_part_of_name => normal.push(c),
            _ if !normal.ends_with('#') => normal.push('#'),
            _ => {}
        }
        before = if c.is_ascii_digit() && !is_part_of_name { ' ' } else { c };
    }
    normal
}

/// `3`, `1.5s`, `20%`, `300ms`.
fn is_measure(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
    let unit = &word[number.len()..];
    !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-'))
        && matches!(unit, "" | "%" | "s" | "ms" | "us" | "µs" | "ns" | "m" | "h" | "kb" | "mb" | "gb" | "b")
}

/// `tmpd5vsst`, `.git_signing_buffer_tmpd5vsst`.
fn is_random(word: &str) -> bool {
    let behind = word.rsplit_once("tmp").map_or("", |(_, behind)| behind).trim_start_matches(['.', '_', '-']);
    behind.len() >= MIN_TEMPORARY_CHARS
        && behind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && behind.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        signature(line).unwrap_or_default()
    }

    #[test]
    fn what_differs_from_time_to_time_is_left_out() {
        for (line, expected) in [
            (
                "internal/auth/auth.go:30:8: ep.Protocol undefined (type *transport.Endpoint)",
                "ep.protocol undefined type transport.endpoint",
            ),
            ("/a/b/converter.py:459:29 - error: Type of \"name\" is unknown", "error type of name is unknown"),
            ("app/x.ts(52,11): error TS7034: Variable 'session' implicitly", "error ts7034 variable session implicitly"),
            ("E   ModuleNotFoundError: No module named 'extract_feedback'", "modulenotfounderror no module named extract_feedback"),
            ("ImportError: libpq.so.5: cannot open shared object file", "importerror libpq.so.# cannot open shared object file"),
            ("--- FAIL: TestRun_Fetch (0.18s)", "fail testrun_fetch #"),
            ("Signing /tmp/.git_signing_buffer_tmpd5vSST failed: agent refused", "signing tmp failed agent refused"),
            ("panic: at 0x7ffe12 of 3f2c9a1b8 in 12ms", "panic at # of # in #"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connect econnrefused #"),
            ("test/t.py::T::test_a FAILED [ 33%]", "failed t.py::t::test_a"),
            ("FAILED test/t.py::T::test_a", "failed t.py::t::test_a"),
            ("[ERROR] HolidaysTest.count:14 expected: <11> but was: <12>", "error holidaystest.count:# expected # but was #"),
            ("thread 'tests::reads' (4711) panicked at src/a.rs:1:2: it is empty", "thread tests::reads panicked it is empty"),
            ("cat: /home/x/y/lint: Is a directory", "cat lint is a directory"),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn what_says_no_more_than_that_something_failed_has_no_signature() {
        for line in [
            "Error",
            "error: command failed with exit code 1",
            "",
            "FAILED",
            "Process exited with code 127",
            "Build failed",
            "FAILED (failures=1)",
            "FAILED (failures=2, errors=1)",
            "1 failed, 3 passed in 0.21s",
            "Test Suites: 1 failed, 3 passed, 4 total",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            assert_eq!(signature(line), None, "{line}");
        }
    }

    #[test]
    fn a_part_of_a_line_fits_and_an_unrelated_line_does_not() {
        let known = of("ImportError: libpq.so.5: cannot open shared object file: No such file or directory");
        let fit = |asked: &str| Asked::of(asked).and_then(|asked| asked.fit(&known));
        assert_eq!(fit("importerror: libpq.so.6: cannot open shared object file: No such file or directory"), Some(Fit::Same));
        for part in
            ["libpq.so.5", "libpq", "cannot open shared object file", "ImportError: libpq.so.5: cannot open shared object file"]
        {
            assert_eq!(fit(part), Some(Fit::Part), "{part}");
        }
        let longer =
            "app: db.py:3: ImportError: libpq.so.5: cannot open shared object file: No such file or directory (core dumped)";
        assert_eq!(fit(longer), Some(Fit::Inside));
        let header = of("Gem::Ext::BuildError: ERROR: Failed to build gem native extension.");
        let other_cause =
            Asked::of("Gem::Ext::BuildError: ERROR: Failed to build gem native extension. checking for magick/MagickCore.h... no");
        assert_eq!(other_cause.and_then(|asked| asked.fit(&header)), None);
        for other in ["error", "not found", "libpng.so.5", "cannot open file", "ImportError: cannot import name 'x'", "open libpq"]
        {
            assert_eq!(fit(other), None, "{other}");
        }
    }
}
