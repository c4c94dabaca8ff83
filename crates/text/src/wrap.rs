//! Text in lines as wide as a terminal, with hanging indents.

use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm, wrap};

/// Narrower than that, words are cut off anyhow.
pub const MIN_COLUMNS: usize = 20;
/// Code of at most so many characters is not broken over lines.
const MAX_WHOLE_CODE: usize = 40;
/// A space at which no line ends.
const NO_BREAK: &str = "\u{a0}";

/// A text behind `begins` in lines as wide as the terminal, those behind the first begin with `rest`.
pub fn hanging(begins: &str, rest: &str, text: &str, columns: usize) -> Vec<String> {
    let words = text.split('`').enumerate().map(|(at, part)| if at % 2 == 1 { unbroken(part) } else { part.to_owned() });
    let least = begins.chars().count().max(rest.chars().count()) + MIN_COLUMNS;
    wrapped(&words.collect::<Vec<_>>().join("`"), begins, rest, columns.max(least))
}

/// The same of words in which some spaces break no line.
pub fn wrapped(words: &str, first: &str, rest: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    wrap(words, options).iter().map(|line| line.replace(NO_BREAK, " ").trim_end().to_owned()).collect()
}

/// Short code stays on a line, so that it can be copied.
pub fn unbroken(code: &str) -> String {
    if code.chars().count() <= MAX_WHOLE_CODE { code.replace(' ', NO_BREAK) } else { code.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_hangs_behind_its_beginning_and_short_commands_stay_whole() {
        let text = "none: `recall install --mcp` lets Claude search --this memory";
        assert_eq!(
            hanging("ok  mcp   ", "          ", text, 34),
            ["ok  mcp   none:", "          `recall install --mcp`", "          lets Claude search", "          --this memory"]
        );
        assert_eq!(hanging("- ", "  ", "a b", 1), ["- a b"]);
    }
}
