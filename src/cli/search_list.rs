//! `recall search -i`: results as one types, with the sentence that fits of the chosen one. Enter shows it, Ctrl-R continues the session.

use std::io::{IsTerminal, Write};

use anyhow::{Result, ensure};
use console::{Key, Term};

use super::{resume, show};
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::search::{SearchReply, SearchRequest, SearchResult, search};
use crate::cli::args::{ResumeArgs, ShowArgs};
use crate::config::Config;
use text::clean::{one_line, shorten, without_controls};

/// Rows beside the results: the query, the sentence, the keys, and one for the prompt that follows.
const OTHER_ROWS: usize = 5;
const MAX_RESULTS: usize = 20;
const PASSAGE_CHARS: usize = 400;
/// As the terminal sends it.
const CTRL_R: char = '\u{12}';
const KEYS: &str = "enter: show   ctrl-r: resume   esc: leave";

/// What was chosen.
enum Choice {
    Show(String),
    Resume(String),
    Nothing,
}

pub(crate) fn run(asked: &SearchRequest<'_>, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    ensure!(is_terminal, "`recall search -i` needs a terminal: without `-i`, results are printed");
    let choice = choose(asked, config)?;
    match choice {
        Choice::Show(id) => show::run(&ShowArgs { ids: vec![id], ..ShowArgs::default() }, config, out),
        Choice::Resume(id) => resume::run(&ResumeArgs { id, print: false }, config, out),
        Choice::Nothing => Ok(Completion::Done),
    }
}

fn choose(asked: &SearchRequest<'_>, config: &Config) -> Result<Choice> {
    let memory = Asker::here(config).memory()?;
    let screen = Term::buffered_stderr();
    let mut list = ResultList { words: asked.words.to_owned(), chosen: 0, drawn: 0 };
    loop {
        let size = screen.size();
        let limit = usize::from(size.0).saturating_sub(OTHER_ROWS).clamp(1, MAX_RESULTS);
        let wanted = SearchRequest { words: &list.words, limit, as_typed: true, ..*asked };
        let reply = (!wanted.is_empty(config)).then(|| search(&memory, config, &wanted)).transpose()?;
        let results = reply.as_ref().map_or(&[][..], |reply| &reply.results);
        list.chosen = list.chosen.min(results.len().saturating_sub(1));
        list.draw(&screen, reply.as_ref(), usize::from(size.1))?;
        let id = || results.get(list.chosen).map(|result| result.short_id.clone());
        let choice = match screen.read_key() {
            Ok(Key::Enter) => id().map(Choice::Show),
            Ok(Key::Char(CTRL_R)) => results.get(list.chosen).and_then(|result| result.session.clone()).map(Choice::Resume),
            Ok(Key::Escape | Key::CtrlC) | Err(_) => Some(Choice::Nothing),
            Ok(key) => {
                list.take(&key);
                None
            }
        };
        if let Some(choice) = choice {
            list.wipe(&screen)?;
            return Ok(choice);
        }
    }
}

/// What is on the screen.
struct ResultList {
    words: String,
    /// The place of the chosen result.
    chosen: usize,
    /// How many lines were drawn.
    drawn: usize,
}

impl ResultList {
    fn take(&mut self, key: &Key) {
        match key {
            Key::ArrowUp => self.chosen = self.chosen.saturating_sub(1),
            Key::ArrowDown => self.chosen += 1,
            Key::Backspace => {
                self.words.pop();
                self.chosen = 0;
            }
            Key::Char(typed) if !typed.is_control() => {
                self.words.push(*typed);
                self.chosen = 0;
            }
            _ => {}
        }
    }

    fn draw(&mut self, screen: &Term, reply: Option<&SearchReply>, columns: usize) -> Result<()> {
        self.wipe(screen)?;
        let mut lines = vec![format!("search: {}", self.words)];
        let results = reply.map_or(&[][..], |reply| &reply.results);
        lines.extend(results.iter().enumerate().map(|(at, result)| line(result, at == self.chosen)));
        if let (Some(reply), Some(result)) = (reply, results.get(self.chosen)) {
            lines.push(format!("    {}", one_line(&without_controls(&reply.excerpt(&result.passage, PASSAGE_CHARS)))));
        }
        if results.is_empty() && reply.is_some() {
            lines.push("  nothing found".to_owned());
        }
        lines.push(KEYS.to_owned());
        // A line as wide as the terminal would break.
        let width = columns.saturating_sub(1).max(1);
        for line in &lines {
            screen.write_line(console::truncate_str(line, width, "…").as_ref())?;
        }
        self.drawn = lines.len();
        Ok(screen.flush()?)
    }

    /// Takes what was drawn away.
    fn wipe(&mut self, screen: &Term) -> Result<()> {
        screen.clear_last_lines(std::mem::take(&mut self.drawn))?;
        Ok(screen.flush()?)
    }
}

fn line(result: &SearchResult, is_chosen: bool) -> String {
    let clean = |text: &str| one_line(&without_controls(text));
    let mark = if is_chosen { '>' } else { ' ' };
    let title = shorten(&clean(&result.title), PASSAGE_CHARS);
    let remark = result.remark_with_agent().map(|remark| format!("  ({})", clean(&remark))).unwrap_or_default();
    format!("{mark} {}  {}  {}  {title}{remark}", result.day, clean(&result.short_id), clean(&result.project_name))
}
