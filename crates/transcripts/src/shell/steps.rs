//! Splits a command line into steps, as a shell does: `cd x && git commit -m "$(cat <<'EOF' …)" | tail` has three.
//!
//! Nothing is expanded: a substitution stays in its word as it was typed. What no shell would accept is split in some way.
//!
//! ## Cost
//! One pass, and one more over a substitution for each that it is nested in, up to [`MAX_DEPTH`].

use std::mem::take;

/// Deeper substitutions are text.
const MAX_DEPTH: usize = 4;

/// One program with its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step<'t> {
    pub(super) words: Vec<String>,
    /// The same as they were typed, with their quotes.
    pub(super) typed: Vec<&'t str>,
    /// The text of the heredoc that it reads.
    pub(super) input: Option<String>,
    pub(super) then: Then,
    /// How many subshells it runs in.
    pub(super) level: usize,
    /// How many subshells were begun before it, its own included.
    pub(super) subshells: usize,
}

/// What follows a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Then {
    #[default]
    End,
    /// `&&`: the next one runs if this one succeeded.
    And,
    Pipe,
    /// `||`: the next one runs only if this one failed.
    Or,
    /// `;`, a new line, `&`: this one's exit code is lost.
    Whatever,
}

/// The steps of a command in order; none is without words.
pub(super) fn steps(command: &str) -> Vec<Step<'_>> {
    let mut splitter = Splitter::new(command, 0);
    while splitter.step() {}
    splitter.here = splitter.text.len();
    splitter.end_step(Then::End);
    splitter.steps
}

#[derive(Debug)]
struct Splitter<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    steps: Vec<Step<'t>>,
    words: Vec<String>,
    typed: Vec<&'t str>,
    word: Option<String>,
    /// Where what is taken now begins, and where the word does.
    here: usize,
    word_from: usize,
    /// Heredocs whose text begins on the next line: delimiter, and number of the step that reads it.
    heredocs: Vec<(String, usize)>,
    /// Parentheses that are open now, and that were at the first word.
    open: usize,
    level: usize,
    /// Parentheses that were opened up to now, and up to the first word.
    opened: usize,
    subshells: usize,
    /// The next word is the file of a redirection, or the delimiter of a heredoc.
    awaits: Awaited,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Awaited {
    #[default]
    Word,
    File,
    Delimiter,
}

impl<'t> Splitter<'t> {
    fn new(text: &'t str, depth: usize) -> Self {
        let (steps, words, typed, heredocs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (word, awaits) = (None, Awaited::Word);
        Self {
            text,
            at: 0,
            depth,
            steps,
            words,
            typed,
            word,
            here: 0,
            word_from: 0,
            heredocs,
            open: 0,
            level: 0,
            opened: 0,
            subshells: 0,
            awaits,
        }
    }

    /// Takes the next characters that mean themselves, or the next one that does not with what belongs to it. False at the end.
    fn step(&mut self) -> bool {
        self.here = self.at;
        let plain = self.up_to(is_sign);
        if !plain.is_empty() {
            self.word().push_str(plain);
            return true;
        }
        let Some(c) = self.next() else { return false };
        match c {
            ' ' | '\t' | '\r' => self.end_word(),
            '(' => {
                self.end_word();
                self.open += 1;
                self.opened += 1;
            }
            ')' => {
                self.end_word();
                self.open = self.open.saturating_sub(1);
            }
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c) => self.word().push(c),
            },
            '\'' => {
                let inside = self.until('\'');
                self.word().push_str(inside);
            }
            '"' => self.double_quoted(),
            '`' | '$' => self.substitution(c),
            '#' if self.word.is_none() => {
                self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |newline| self.at + newline);
            }
            '\n' => {
                self.end_step(Then::Whatever);
                self.heredoc_texts();
            }
            '&' if self.text[self.at..].starts_with('>') => self.end_word(),
            '&' if self.eat('&') => self.end_step(Then::And),
            '|' if self.eat('|') => self.end_step(Then::Or),
            '|' => {
                self.eat('&');
                self.end_step(Then::Pipe);
            }
            ';' | '&' => self.end_step(Then::Whatever),
            '<' | '>' => self.redirection(c),
            c => self.word().push(c),
        }
        true
    }

    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// The text up to the next of these signs, which are ASCII.
    fn up_to(&mut self, is_sign: impl Fn(u8) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let len = rest.bytes().position(is_sign).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn eat(&mut self, what: char) -> bool {
        let eats = self.text[self.at..].starts_with(what);
        self.at += if eats { what.len_utf8() } else { 0 };
        eats
    }

    /// The text up to a character, which is passed.
    fn until(&mut self, end: char) -> &'t str {
        let rest = &self.text[self.at..];
        let len = rest.find(end);
        self.at += len.map_or(rest.len(), |len| len + end.len_utf8());
        &rest[..len.unwrap_or(rest.len())]
    }

    fn word(&mut self) -> &mut String {
        if self.word.is_none() {
            self.word_from = self.here;
        }
        self.word.get_or_insert_default()
    }

    fn double_quoted(&mut self) {
        self.word();
        loop {
            let plain = self.up_to(|b| matches!(b, b'"' | b'\\' | b'`' | b'$'));
            self.word().push_str(plain);
            let Some(c) = self.next() else { return };
            match c {
                '"' => return,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.word().push(c),
                    Some(c) => self.word().extend(['\\', c]),
                },
                '`' | '$' => self.substitution(c),
                c => self.word().push(c),
            }
        }
    }

    /// `$(…)`, `` `…` `` or a bare `$`, as typed.
    fn substitution(&mut self, opening: char) {
        let from = self.at - 1;
        if opening == '`' {
            self.until('`');
        } else if self.depth < MAX_DEPTH && self.eat('(') {
            // A splitter of its own knows quotes and heredocs inside.
            let mut inside = Splitter::new(&self.text[self.at..], self.depth + 1);
            inside.closing();
            self.at += inside.at;
        }
        let typed = &self.text[from..self.at];
        self.word().push_str(typed);
    }

    /// Goes past the parenthesis that closes what begins here.
    fn closing(&mut self) {
        let mut open = 1;
        while open > 0 {
            match self.text[self.at..].chars().next() {
                Some('(') => open += 1,
                Some(')') => open -= 1,
                _ => {}
            }
            if !self.step() {
                return;
            }
        }
    }

    fn redirection(&mut self, c: char) {
        // `2>`: the number is no word.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.awaits = Awaited::File;
        if c == '<' && self.eat('<') && !self.eat('<') {
            self.eat('-');
            self.awaits = Awaited::Delimiter;
        } else {
            self.eat('>');
            self.eat('&');
        }
    }

    /// The texts of the heredocs that were named on the line before.
    fn heredoc_texts(&mut self) {
        for (delimiter, reader) in take(&mut self.heredocs) {
            let from = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let line_at = self.at;
                let line = self.until('\n');
                if line.trim() == delimiter {
                    end = line_at;
                    break;
                }
            }
            if let Some(step) = self.steps.get_mut(reader) {
                step.input = Some(self.text[from..end].to_owned());
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match take(&mut self.awaits) {
            Awaited::Word => {
                if self.words.is_empty() {
                    (self.level, self.subshells) = (self.open, self.opened);
                }
                self.words.push(word);
                self.typed.push(&self.text[self.word_from..self.here]);
            }
            Awaited::File => {}
            Awaited::Delimiter => self.heredocs.push((word, self.steps.len())),
        }
    }

    fn end_step(&mut self, then: Then) {
        self.end_word();
        self.awaits = Awaited::Word;
        if !self.words.is_empty() {
            let (words, typed) = (take(&mut self.words), take(&mut self.typed));
            self.steps.push(Step { words, typed, input: None, then, level: self.level, subshells: self.subshells });
        } else if let Some(last) = self.steps.last_mut().filter(|last| last.then == Then::End) {
            last.then = then;
        }
    }
}

/// May this byte mean something else than itself outside of quotes?
fn is_sign(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b'\\' | b'\'' | b'"' | b'`' | b'$' | b'#' | b'&' | b'|' | b';' | b'<' | b'>'
    )
}

/// The text that a word stands for where it is `$(cat <<'EOF' …)`; any other word is itself.
pub(super) fn text_of(word: &str) -> &str {
    let heredoc = || {
        let inside = word.trim().strip_prefix("$(")?.strip_suffix(')')?.trim_start().strip_prefix("cat")?.trim_start();
        let (delimiter, text) = inside.strip_prefix("<<")?.split_once('\n')?;
        let delimiter = delimiter.trim_start_matches('-').trim().trim_matches(['\'', '"', '\\']);
        let end = text.rfind(delimiter).filter(|end| !delimiter.is_empty() && text[*end + delimiter.len()..].trim().is_empty())?;
        Some(text[..end].trim_end_matches([' ', '\t']))
    };
    heredoc().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(command: &str) -> Vec<Vec<String>> {
        steps(command).into_iter().map(|step| step.words).collect()
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        for (command, expected) in [
            ("git status", vec!["git status"]),
            ("cd x && git add -A; git push 2>&1 | tail -3", vec!["cd x", "git add -A", "git push", "tail -3"]),
            ("(cd x && make test) || true # it fails", vec!["cd x", "make test", "true"]),
            ("git log \\\n  --oneline > /tmp/x", vec!["git log --oneline"]),
            ("FOO=1 cargo test -- 'a b'", vec!["FOO=1 cargo test -- a b"]),
            ("echo \"$(date)\" $HOME `pwd`", vec!["echo $(date) $HOME `pwd`"]),
            ("a &> log & b &>> log", vec!["a", "b"]),
            ("sleep 1&", vec!["sleep 1"]),
        ] {
            assert_eq!(words(command).iter().map(|words| words.join(" ")).collect::<Vec<_>>(), expected, "{command}");
        }
        let then: Vec<Then> = steps("a && b | c; d || e").into_iter().map(|step| step.then).collect();
        assert_eq!(then, [Then::And, Then::Pipe, Then::Whatever, Then::Or, Then::End]);
    }

    #[test]
    fn words_are_kept_as_they_were_typed() {
        let typed = |command: &str| steps(command).into_iter().map(|step| step.typed.join(" ")).collect::<Vec<_>>();
        for (command, expected) in [
            (
                "A=$HOME/x cmake  'a b' src/*.c \"$(date)\" 2>&1|tail -3",
                vec!["A=$HOME/x cmake 'a b' src/*.c \"$(date)\"", "tail -3"],
            ),
            ("(cd a\\ b&&make);x >y z", vec!["cd a\\ b", "make", "x z"]),
        ] {
            assert_eq!(typed(command), expected, "{command}");
        }
    }

    #[test]
    fn heredocs_are_texts_and_no_commands() {
        let typed = "git commit -q -F - <<'EOF' && git push\nFix it's \"end\"\n\ngit reset --hard\nEOF\ngit log -1";
        let all = steps(typed);
        assert_eq!(words(typed), [vec!["git", "commit", "-q", "-F", "-"], vec!["git", "push"], vec!["git", "log", "-1"]]);
        assert_eq!(all[0].input.as_deref(), Some("Fix it's \"end\"\n\ngit reset --hard\n"), "{all:?}");
        let typed = "git commit -m \"$(cat <<'EOF'\nIt's \"done\" (really\n\nBody; rm x\nEOF\n)\" && git push";
        let all = words(typed);
        assert_eq!((all.len(), all[0].len()), (2, 4), "{all:?}");
        assert_eq!(text_of(&all[0][3]), "It's \"done\" (really\n\nBody; rm x\n");
        assert_eq!(text_of("plain"), "plain");
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_split(command in "(git|commit|-m|'|\"|`|\\$\\(|\\)|\\(|<<|<<<|EOF|'EOF'|>|&|\\||;|\n| |\\\\|#|é|2>&1){0,40}") {
            prop_assert!(steps(&command).iter().all(|step| !step.words.is_empty() && step.words.len() == step.typed.len()));
        }
    }
}
