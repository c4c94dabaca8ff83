//! Parses the lines of a session, whichever form its documents have.

use super::rows::ClineLines;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::editor_tasks::TaskLines;
use crate::source::{LineParser, ParsedLine, TranscriptIdentity};

/// How each line begins that is made of a task of the extension.
const OF_TASK: &[u8] = br#"{"task":"#;

/// A parser of one form or the other, as the first line tells.
pub(super) struct ClineParser<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: ParserState,
    chosen: Option<Box<dyn LineParser + 'p>>,
}

impl<'p> ClineParser<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: state.clone(), chosen: None }
    }
}

impl LineParser for ClineParser<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (place, sanitizer, state) = (self.place, self.sanitizer, &self.state);
        let parser = self.chosen.get_or_insert_with(|| {
            if line.trim_ascii_start().starts_with(OF_TASK) {
                Box::new(TaskLines::new(place, sanitizer, state))
            } else {
                Box::new(ClineLines::new(place, sanitizer, state))
            }
        });
        parser.read(line)
    }

    fn state(&self) -> ParserState {
        self.chosen.as_ref().map_or_else(|| self.state.clone(), |parser| parser.state())
    }
}
