//! Markdown pages for a terminal: wrapped to its width, with hanging indents, without front matter. Pure.

use std::mem::take;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::model::page_path::{self, LinkedPage};
use text::wrap::{MIN_COLUMNS, unbroken, wrapped};

/// Longer lines are hard to read, in columns.
const MAX_COLUMNS: usize = 100;
const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const CODE: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// How a terminal shows text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) columns: usize,
    /// May it be bold and coloured?
    pub(crate) styled: bool,
}

/// A page as a terminal shows it.
pub(crate) fn for_terminal(markdown: &str, look: Look) -> String {
    let columns = look.columns.clamp(MIN_COLUMNS, MAX_COLUMNS);
    let mut page = Page { look: Look { columns, ..look }, ..Page::default() };
    let markdown = without_front_matter(markdown);
    let parser = Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES);
    parser.into_offset_iter().for_each(|(event, at)| match event {
        // As it is written: numbers of turns that are left out are left out, too.
        Event::Start(Tag::Item) => page.start_item(&markdown[at]),
        event => page.add(event),
    });
    page.end_block();
    page.out
}

pub(super) fn without_front_matter(markdown: &str) -> &str {
    let behind = || markdown.strip_prefix("---\n")?.split_once("\n---\n").map(|(_, page)| page);
    behind().unwrap_or(markdown)
}

/// What stands before the lines of a block in a list or a quotation.
struct Indent {
    /// Before the next line; then it is the same as `rest`.
    first: String,
    rest: String,
}

#[derive(Default)]
struct Page {
    look: Look,
    out: String,
    indents: Vec<Indent>,
    /// How many lists are around.
    lists: usize,
    /// The words of the block that is being read, styled.
    line: String,
    /// Styles around what is being read.
    styles: Vec<&'static str>,
    /// A link's target, and where its text begins in `line`.
    link: Option<(String, usize)>,
    in_code: bool,
    /// Something stands above, from which the next block is set off.
    follows: bool,
}

impl Page {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code_lines(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.say(&text),
            Event::Code(code) => self.code(&code),
            Event::SoftBreak | Event::HardBreak => self.end_lines(),
            Event::Rule => {
                self.begin_block();
                self.write_line("───");
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.styles.push(BOLD);
                // What cannot be bold is told by its mark.
                if !self.look.styled {
                    self.line = "#".repeat(level as usize) + " ";
                }
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.indents.push(Indent { first: "│ ".into(), rest: "│ ".into() });
                self.follows = false;
            }
            Tag::CodeBlock(_) => {
                self.begin_block();
                self.in_code = true;
                self.indents.push(Indent { first: "    ".into(), rest: "    ".into() });
            }
            Tag::List(_) => {
                self.end_lines();
                if self.lists == 0 {
                    self.set_off();
                }
                self.lists += 1;
            }
            Tag::Table(_) => self.begin_block(),
            Tag::TableCell if !self.line.is_empty() => self.line.push_str(" | "),
            Tag::Strong => self.styles.push(BOLD),
            Tag::Strikethrough => self.styles.push(FAINT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.line.len()));
            }
            _ => {}
        }
    }

    /// The item that is written so.
    fn start_item(&mut self, written: &str) {
        self.end_lines();
        let number: String = written.chars().take_while(char::is_ascii_digit).collect();
        let mark = if number.is_empty() { "- ".to_owned() } else { format!("{number}. ") };
        self.indents.push(Indent { rest: " ".repeat(mark.len()), first: mark });
        self.follows = false;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Table => self.end_block(),
            // A row is a line: columns that line up need more room than there is.
            TagEnd::TableHead | TagEnd::TableRow => self.end_lines(),
            TagEnd::Heading(_) => {
                self.end_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                self.indents.pop();
                self.follows = true;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.indents.pop();
                self.follows = true;
            }
            TagEnd::Item => {
                self.end_lines();
                self.indents.pop();
            }
            TagEnd::List(_) => {
                self.lists -= 1;
                self.follows = true;
            }
            TagEnd::Strong | TagEnd::Strikethrough => _ = self.styles.pop(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// A link to another page becomes the command that shows it: no terminal follows it.
    fn end_link(&mut self) {
        let Some((target, from)) = self.link.take() else { return };
        if let Some(command) = command(&target) {
            self.line.truncate(from);
            self.code(&command);
        } else if target.contains("://") && !self.line[from..].contains(&target) {
            self.say(&format!(" ({target})"));
        }
    }

    fn say(&mut self, text: &str) {
        match self.styles.last().copied() {
            Some(style) if self.look.styled => self.styled(style, text),
            _ => self.line.push_str(text),
        }
    }

    fn code(&mut self, code: &str) {
        let code = unbroken(code);
        if self.look.styled { self.styled(CODE, &code) } else { self.line.push_str(&format!("`{code}`")) }
    }

    /// Each word has its own style, so that it does not reach into the indent of the next line.
    fn styled(&mut self, style: &str, text: &str) {
        let words = text.split(' ').map(|word| if word.is_empty() { String::new() } else { format!("{style}{word}{PLAIN}") });
        self.line.push_str(&words.collect::<Vec<_>>().join(" "));
    }

    fn begin_block(&mut self) {
        self.end_lines();
        self.set_off();
    }

    /// An empty line, if something stands above.
    fn set_off(&mut self) {
        if take(&mut self.follows) {
            let rest: String = self.indents.iter().map(|indent| indent.rest.as_str()).collect();
            self.out.push_str(rest.trim_end());
            self.out.push('\n');
        }
    }

    fn end_block(&mut self) {
        self.end_lines();
        self.follows = !self.out.is_empty();
    }

    /// Writes the words that were read.
    fn end_lines(&mut self) {
        let words = take(&mut self.line);
        if !words.trim().is_empty() {
            self.write_line(words.trim());
        }
    }

    fn write_line(&mut self, words: &str) {
        let (first, rest) = self.next_indents();
        for line in wrapped(words, &first, &rest, self.look.columns) {
            self.out.push_str(&line);
            self.out.push('\n');
        }
        self.follows = true;
    }

    /// Code stands as it is: a line that is too long is the terminal's to wrap.
    fn code_lines(&mut self, text: &str) {
        for line in text.lines() {
            let (first, _) = self.next_indents();
            self.out.push_str(format!("{first}{line}").trim_end());
            self.out.push('\n');
        }
    }

    /// What stands before the next line and before those behind it.
    fn next_indents(&mut self) -> (String, String) {
        let rest: String = self.indents.iter().map(|indent| indent.rest.as_str()).collect();
        let first = self.indents.iter_mut().map(|indent| std::mem::replace(&mut indent.first, indent.rest.clone())).collect();
        (first, rest)
    }
}

/// What shows the page that a link leads to.
fn command(link: &str) -> Option<String> {
    Some(match page_path::linked_page(link)? {
        LinkedPage::Session(id) => format!("recall show {id}"),
        LinkedPage::Day(day) => format!("recall day {day}"),
        LinkedPage::DayList => "recall list".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "---\ndate: 2026-11-18\n---\n\n# Tuesday\n\n### 10:22 Page the *list* of orders by key\n\n10:22 · [session \
        page](sessions/2026-11-18-shop-aa5c5ada.md) · [docs](https://x.dev/a)\n\n> It is done:\n>\n> 1. **Key**: the list is paged by key, which is fast on large tables\n>    - nested `code span` here\n> 2. two\n>\n> ```sh\n> cargo test   --locked\n> ```\n\n- a\n- b\n";

    #[test]
    fn a_page_is_laid_out_with_hanging_indents_and_commands_in_place_of_links() {
        let text = for_terminal(PAGE, Look { columns: 40, styled: false });
        let shown = "\
# Tuesday

### 10:22 Page the list of orders by key

10:22 · `recall show aa5c5ada` · docs
(https://x.dev/a)

│ It is done:
│
│ 1. Key: the list is paged by key,
│    which is fast on large tables
│    - nested `code span` here
│ 2. two
│
│     cargo test   --locked

- a
- b
";
        assert_eq!(text, shown);
    }

    /// As the account of a session has them.
    #[test]
    fn numbers_and_lines_stay_as_they_are_written_and_a_row_of_a_table_is_a_line() {
        let account = "What you said:\n1. 16:34 “Add tests”\n[2 turns left out]\n4. 17:07 “Register”\n   refused `git log`\n\n\
            | v5 | v6 |\n|---|---|\n| `a` | new **b** |\n\nFiles: a.rs\nEdited after the last commit: b.rs\n";
        let shown = "What you said:\n\n1. 16:34 “Add tests”\n   [2 turns left out]\n4. 17:07 “Register”\n   refused `git log`\n\n\
            v5 | v6\n`a` | new b\n\nFiles: a.rs\nEdited after the last commit: b.rs\n";
        assert_eq!(for_terminal(account, Look { columns: 80, styled: false }), shown);
    }

    #[test]
    fn days_are_named_by_the_command_that_shows_them() {
        let links = "← [Friday](../2026-10/2026-10-30.md) · [all days](../../pages.md) · [Sunday](2026-11-01.md) →\n";
        let text = for_terminal(links, Look { columns: 80, styled: false });
        assert_eq!(text, "← `recall day 2026-10-30` · `recall list` · `recall day 2026-11-01` →\n");
    }

    #[test]
    fn styles_stand_in_place_of_marks_and_end_with_each_word() {
        let text = for_terminal(PAGE, Look { columns: 80, styled: true });
        assert!(text.starts_with("\x1b[1mTuesday\x1b[0m\n\n\x1b[1m10:22\x1b[0m \x1b[1mPage\x1b[0m"), "{text:?}");
        assert!(text.contains("\x1b[36mcode span\x1b[0m") && !text.contains('`') && !text.contains("**"), "{text:?}");
        for line in text.lines() {
            assert_eq!(line.matches("\x1b[0m").count() * 2, line.matches('\x1b').count(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_no_wider_than_the_terminal_but_for_words_that_are(
            page in "([#>*\\-a-z0-9. \\[\\]()]{0,60}\n){0,12}", columns in 20usize..110
        ) {
            let text = for_terminal(&page, Look { columns, styled: false });
            for line in text.lines() {
                let marks = |c: char| " │-#.".contains(c) || c.is_ascii_digit();
                let breaks = line.trim_start_matches(marks).trim().contains(' ');
                prop_assert!(line.chars().count() <= columns.min(MAX_COLUMNS) || !breaks || line.starts_with("    ") || line.contains("    "), "{line:?}");
            }
        }
    }
}
