//! Splits a text into lines, each with its speaker: blockquotes, elements and lists below an attribution line stay marked as
//! another's words.
//!
//! Pure, in one pass over the lines.

use std::borrow::Cow;
use std::rc::Rc;

use super::attribution::{AttributionKind, announced_from, attribution_of_heading, attribution_of_line};
use super::quotation::{quotation_end, quotations};
use super::{Voice, is_heading, is_item};
use text::clean::{one_line, shorten};

/// Longest attribution line shown with the words it introduces, in characters.
const MAX_SOURCE_CHARS: usize = 80;
/// A quotation over several paragraphs ends within this many lines.
const MAX_QUOTED_LINES: usize = 60;
/// The indent that makes a line code, in columns.
const CODE_INDENT: usize = 4;

/// A line outside of code, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VoicedLine<'t> {
    pub(crate) text: &'t str,
    pub(crate) voice: Voice,
    /// The line that attributes the words, if there is one.
    pub(crate) by: Option<Rc<str>>,
    /// It begins a line.
    pub(crate) starts: bool,
}

/// An attribution in effect: whose words follow, and how far.
#[derive(Debug, Clone)]
struct Attribution {
    voice: Voice,
    by: Rc<str>,
    /// The indent of the list item that made the attribution; `None` if a paragraph did.
    item: Option<usize>,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    List,
    Paragraph {
        announces: bool,
    },
    Table,
    /// A blockquote followed: a list may still continue the attribution.
    Quote,
}

/// A quotation over several lines: its last line, and the marks that end it there.
#[derive(Debug, Clone)]
struct OpenQuotation {
    to: usize,
    marks: &'static [char],
    by: Option<Rc<str>>,
}

struct BlockReader<'t> {
    lines: Vec<&'t str>,
    pieces: Vec<VoicedLine<'t>>,
    fence: Option<(u8, usize)>,
    /// The closing tag of an element whose content is all quoted.
    element: Option<String>,
    /// Whether the line before was empty, part of a blockquote, or indented code.
    blank: bool,
    quote: bool,
    code: bool,
    in_list: bool,
    told: Option<Attribution>,
    /// The attribution of a heading, with its level: it covers the whole section.
    section: Option<(usize, Voice, Rc<str>)>,
    open: Option<OpenQuotation>,
}

/// The lines of a text that hold words, without code.
pub(super) fn pieces(text: &str) -> Vec<VoicedLine<'_>> {
    let mut reader = BlockReader {
        lines: text.lines().collect(),
        pieces: Vec::new(),
        fence: None,
        element: None,
        blank: true,
        quote: false,
        code: false,
        in_list: false,
        told: None,
        section: None,
        open: None,
    };
    for at in 0..reader.lines.len() {
        reader.line(at);
    }
    reader.pieces
}

impl<'t> BlockReader<'t> {
    fn line(&mut self, at: usize) {
        let line = self.lines[at];
        if self.is_fenced(line) {
            (self.blank, self.quote) = (false, false);
            return;
        }
        if line.trim().is_empty() {
            (self.blank, self.quote) = (true, false);
            return;
        }
        let is_code = self.is_code(line);
        let voice = if is_code { None } else { Some(self.voice(at)) };
        self.blank = false;
        self.code = is_code;
        if let Some((voice, by)) = voice {
            self.say(at, voice, by);
        }
    }

    /// Is the line part of a fenced block, or its fence?
    fn is_fenced(&mut self, line: &str) -> bool {
        let bare = without_item(line);
        let run = |by: u8| bare.bytes().take_while(|b| *b == by).count();
        if let Some((by, len)) = self.fence {
            if run(by) >= len && bare[run(by)..].trim().is_empty() {
                self.fence = None;
            }
            return true;
        }
        let opening = [b'`', b'~'].into_iter().map(|by| (by, run(by))).find(|(_, len)| *len >= 3);
        // "```x```" on one line opens nothing.
        let Some((by, len)) = opening.filter(|(by, len)| !bare[*len..].contains(char::from(*by))) else { return false };
        self.fence = Some((by, len));
        // The fence is what was announced; a list continues after a fence inside one of its items.
        self.told = self.told.take().filter(|told| told.stage != Stage::Waiting && indent(line) > 0);
        true
    }

    /// Is the line code by its indent: after an empty line and outside of lists?
    fn is_code(&self, line: &str) -> bool {
        (self.blank || self.code) && !self.in_list && self.told.is_none() && indent(line) >= CODE_INDENT
    }

    /// Whose words a line is, and the line that attributes them.
    fn voice(&mut self, at: usize) -> (Voice, Option<Rc<str>>) {
        let line = self.lines[at];
        if self.is_in_element(at) {
            return (Voice::Quoted, None);
        }
        if self.is_quote(line) {
            self.quote = true;
            let by = self.told.as_mut().map(|told| {
                told.stage = Stage::Quote;
                Rc::clone(&told.by)
            });
            return (Voice::Quoted, by);
        }
        self.quote = false;
        let told = self.attributed_voice(line);
        let unindented = indent(line) == 0;
        self.in_list = is_item(line) || self.in_list && !(self.blank && unindented) && !is_heading(line);
        if let Some(told) = told {
            return told;
        }
        self.announce(line);
        match &self.section {
            Some((_, voice, by)) => (*voice, Some(Rc::clone(by))),
            None => (Voice::Own, None),
        }
    }

    /// Is the line in an element on lines of its own, as in `<page>` … `</page>`?
    fn is_in_element(&mut self, at: usize) -> bool {
        let line = self.lines[at].trim();
        if let Some(end) = &self.element {
            if line.to_ascii_lowercase().contains(end.as_str()) {
                self.element = None;
            }
            return true;
        }
        let Some(name) = opened_element(line) else { return false };
        let end = format!("</{name}");
        let closes = |line: &&str| line.to_ascii_lowercase().contains(&end);
        if closes(&line) {
            return true;
        }
        if !self.lines[at + 1..].iter().any(closes) {
            return false;
        }
        self.element = Some(end);
        true
    }

    /// Is the line part of a blockquote, or its continuation?
    fn is_quote(&self, line: &str) -> bool {
        let goes_on = self.quote && !is_item(line) && !is_heading(line) && !line.trim_start().starts_with('|') && !is_rule(line);
        without_item(line).starts_with('>') || goes_on
    }

    /// The speaker of a line according to an earlier attribution, which is dropped where it ends.
    fn attributed_voice(&mut self, line: &str) -> Option<(Voice, Option<Rc<str>>)> {
        let mut told = self.told.take()?;
        let row = line.trim_start().starts_with('|');
        let item = is_item(line) && !row;
        let ends = line.starts_with('#') || is_rule(line) || is_heading(line) && self.blank;
        if ends && told.stage != Stage::Waiting {
            return None;
        }
        let inside = told.item.is_some_and(|from| indent(line) > from);
        let paragraph = Stage::Paragraph { announces: line.trim_end().trim_end_matches('*').ends_with([':', '：']) };
        told.stage = match (told.stage, told.item) {
            // Nothing is nested below the item, so the items beside it are what it announces.
            (Stage::Waiting, Some(from)) if item && indent(line) == from => {
                told.item = None;
                Stage::List
            }
            (_, Some(_)) if inside || !self.blank && !item => told.stage,
            (_, Some(_)) => return None,
            (Stage::Waiting | Stage::Quote | Stage::Paragraph { .. }, None) if item => Stage::List,
            (Stage::Waiting | Stage::Table, None) if row => Stage::Table,
            (Stage::Waiting, None) => paragraph,
            (Stage::Paragraph { announces }, None) if !self.blank || announces => paragraph,
            (Stage::List, None) if item || indent(line) > 1 || !self.blank => Stage::List,
            _ => return None,
        };
        if told.item.is_some() && told.stage == Stage::Waiting {
            told.stage = Stage::List;
        }
        let said = (told.voice, Some(Rc::clone(&told.by)));
        self.told = Some(told);
        Some(said)
    }

    /// Notes an attribution that a line of the writer makes for the lines after it.
    fn announce(&mut self, line: &str) {
        let bare = without_item(line);
        let by = || Rc::from(shorten(&one_line(bare.trim_matches(['*', '#', ' ', '_'])), MAX_SOURCE_CHARS));
        let voice = |telling| if telling == AttributionKind::Says { Voice::Quoted } else { Voice::Reported };
        if line.starts_with('#') {
            let level = line.bytes().take_while(|b| *b == b'#').count();
            self.section = self.section.take().filter(|(above, ..)| *above < level);
            if let Some(telling) = attribution_of_heading(bare) {
                self.section = Some((level, voice(telling), by()));
            }
            return;
        }
        let item = (is_item(line) && !line.trim_start().starts_with('|')).then(|| indent(line));
        let telling = attribution_of_line(bare).or_else(|| if is_heading(line) { attribution_of_heading(bare) } else { None });
        self.told = telling.map(|telling| Attribution { voice: voice(telling), by: by(), item, stage: Stage::Waiting });
    }

    /// Adds a line, split where a quotation over several lines begins or ends.
    fn say(&mut self, at: usize, voice: Voice, by: Option<Rc<str>>) {
        let line = self.lines[at];
        if let Some(open) = self.open.take().filter(|open| at <= open.to) {
            let end = if at == open.to { quotation_end(line, 0, open.marks).unwrap_or(line.len()) } else { line.len() };
            self.push(&line[..end], Voice::Quoted, open.by.clone(), true);
            self.push(&line[end..], voice, by, false);
            self.open = Some(open).filter(|open| at < open.to);
            return;
        }
        let open = quotations(line).open.filter(|_| voice == Voice::Own);
        let found = open.and_then(|(from, marks)| Some((from, self.end_of_quotation(at, from, marks)?, marks)));
        let Some((from, to, marks)) = found else { return self.push(line, voice, by, true) };
        self.push(&line[..from], voice, by.clone(), true);
        self.push(&line[from..], Voice::Quoted, by.clone(), from == 0);
        self.open = (to > at).then_some(OpenQuotation { to, marks, by });
    }

    fn push(&mut self, text: &'t str, voice: Voice, by: Option<Rc<str>>, starts: bool) {
        if text.chars().any(char::is_alphanumeric) {
            self.pieces.push(VoicedLine { text, voice, by, starts });
        }
    }

    /// The last line of a quotation that begins on this one. It continues over an empty line only if it is announced or its marks
    /// are not plain `"`; its end may be missing only if it is announced or begins its line.
    fn end_of_quotation(&self, at: usize, from: usize, marks: &'static [char]) -> Option<usize> {
        let before = self.lines[at][..from].trim_end();
        let announced = attribution_of_line(before).is_some() || announced_from(self.lines[at]).is_some_and(|rest| rest <= from);
        let last = self.lines.len().min(at + MAX_QUOTED_LINES);
        let paragraph = (at + 1..last).find(|next| self.lines[*next].trim().is_empty()).unwrap_or(last);
        let over = if announced || marks != ['"'] { last } else { paragraph };
        let end = (at + 1..over).find(|next| quotation_end(self.lines[*next], 0, marks).is_some());
        let alone = announced || without_item(before).is_empty();
        end.or_else(|| alone.then_some(paragraph - 1))
    }
}

/// The name of the element that a line opens. `<details>` and the like only format their content.
fn opened_element(line: &str) -> Option<String> {
    let name: String =
        line.strip_prefix('<')?.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    let name = name.to_ascii_lowercase();
    let own = matches!(name.as_str(), "details" | "summary" | "div" | "p" | "br" | "hr" | "b" | "i" | "code" | "kbd" | "a" | "img");
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && !own).then_some(name)
}

/// The indent of a line, in columns.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn is_rule(line: &str) -> bool {
    let bare = line.trim();
    bare.len() > 2 && ["-", "*", "_"].iter().any(|mark| bare.replace(mark, "").trim().is_empty())
}

/// A line without the list markers it begins with.
fn without_item(line: &str) -> &str {
    let mut bare = line.trim_start();
    loop {
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = (1..4).contains(&digits).then(|| bare[digits..].strip_prefix(['.', ')'])).flatten();
        let listed = bare.strip_prefix(['-', '*', '+', '•']).or(numbered);
        match listed.and_then(|rest| rest.strip_prefix(' ')) {
            Some(rest) => bare = rest.trim_start(),
            None => return bare,
        }
    }
}

/// A line without the list and blockquote markers it begins with.
pub(super) fn without_quote(line: &str) -> &str {
    let mut bare = line;
    loop {
        let less = without_item(bare).trim_start_matches(['>', ' ', '\t']);
        if less.len() == bare.len() {
            return bare;
        }
        bare = less;
    }
}

/// A line as it is shown if it is another's: in quotation marks, after its attribution.
pub(super) fn with_attribution(text: &str, voice: Voice, by: Option<&str>) -> String {
    let source = by.map_or(Cow::Borrowed(""), |by| Cow::Owned(format!("{by} ")));
    match voice {
        Voice::Own => text.to_owned(),
        Voice::Reported => format!("{source}{text}"),
        Voice::Quoted => format!("{source}“{}”", text.trim_matches(['"', '“', '”', '„', '»', '«', ' '])),
    }
}
