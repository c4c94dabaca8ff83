//! Items that were stored before: they are sanitized again when the rules change and when they are imported.

use super::{ConversationState, Disposition, EXCLUDED_LINE, Sanitizer};
use crate::session::{Item, Record, RecordKey, ToolUse};
use text::clean::one_line;

impl Sanitizer {
    /// Sanitizes an item; `None` if nothing of it is left. `conversation` has seen the items before it.
    pub fn sanitize_item(&self, key: RecordKey, mut item: Item, conversation: &mut ConversationState) -> Option<Item> {
        if !self.sanitize_texts(&mut item) {
            return None;
        }
        let mut row = Record::of(key, item);
        let passed = conversation.pass(&mut row, self).0;
        row.items.pop().filter(|_| passed == Disposition::Kept)
    }

    fn sanitize_texts(&self, item: &mut Item) -> bool {
        match item {
            Item::Answer(answer) => {
                answer.said = self.clean(&answer.said);
                answer.asked = self.clean(&answer.asked);
                !answer.said.is_empty()
            }
            Item::Prompt(text)
            | Item::Reply(text)
            | Item::Plan(text)
            | Item::Recap(text)
            | Item::Away(text)
            | Item::PullRequest(text) => {
                *text = self.clean(&*text);
                !text.is_empty()
            }
            Item::Title(title) => {
                title.text = self.line(&title.text);
                !title.text.is_empty()
            }
            Item::Tool(tool) => {
                self.sanitize_tool(tool);
                true
            }
            Item::Outcome(outcome) => {
                outcome.brief = self.line(&outcome.brief);
                true
            }
            Item::Todos(todos) => {
                todos.iter_mut().for_each(|todo| todo.text = self.line(&todo.text));
                true
            }
            Item::Task(todo) => {
                todo.text = self.line(&todo.text);
                true
            }
            Item::Evidence(evidence) => {
                evidence.texts_mut().into_iter().for_each(|text| *text = self.clean(&*text));
                true
            }
            Item::Interrupted => true,
        }
    }

    fn sanitize_tool(&self, tool: &mut ToolUse) {
        if self.excludes_any(|| vec![(&tool.line).into()]) {
            tool.line = EXCLUDED_LINE.to_owned();
        }
        tool.name = self.line(&tool.name);
        tool.line = self.line(&tool.line);
        if let Some(file) = &mut tool.file {
            file.path = self.line(&file.path);
        }
    }

    fn line(&self, text: &str) -> String {
        one_line(&self.clean(text))
    }
}
