//! By what words a session or a note is found: its texts in columns of different weight.
//!
//! Pure: the whole of what is kept goes in, and nothing else, so that a document made anew is the same.

use std::collections::BTreeSet;

use super::synonyms::markers;
use crate::digest::Digest;
use crate::session::{Item, Session};
use crate::terms::{index_document, index_document_names};

/// The names of the columns, in the order of the index.
pub const COLUMNS: [&str; 10] = ["title", "asked", "decided", "noted", "said", "files", "did", "extra", "tools", "branches"];

/// What search knows of a session or a note: indexed words by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    pub columns: [String; COLUMNS.len()],
}

/// Texts on their way into a column, each once.
#[derive(Default)]
struct Column<'t>(Vec<&'t str>, BTreeSet<&'t str>);

impl<'t> Column<'t> {
    fn add(&mut self, text: &'t str) {
        if !text.is_empty() && self.1.insert(text) {
            self.0.push(text);
        }
    }

    fn index(&self) -> String {
        index_document(&self.0.join("\n"))
    }

    /// Of names every word counts: `about.rs` is no `rs`.
    fn index_names(&self) -> String {
        index_document_names(&self.0.join("\n"))
    }
}

#[derive(Default)]
struct Columns<'t> {
    title: Column<'t>,
    asked: Column<'t>,
    decided: Column<'t>,
    noted: Column<'t>,
    said: Column<'t>,
    files: Column<'t>,
    did: Column<'t>,
    questions: Column<'t>,
    named: Column<'t>,
    tools: Column<'t>,
    branches: Column<'t>,
}

impl Document {
    /// What a session is found by. `None` when nothing was said in it.
    pub fn of_session(session: &Session, digest: Option<&Digest>) -> Option<Self> {
        let mut columns = Columns::default();
        if let Some(digest) = digest {
            columns.add_digest(digest);
        }
        for entry in &session.entries {
            columns.add_item(&entry.item, entry.agent.is_none());
            if let Some(outcome) = &entry.outcome {
                columns.did.add(&outcome.brief);
            }
        }
        session.branches.iter().for_each(|branch| columns.branches.add(branch));
        columns.named.add(session.project.name());
        let document = columns.finish();
        let says_something = document.columns.iter().take(7).any(|column| !column.is_empty());
        says_something.then_some(document)
    }

    /// What a note is found by.
    pub fn of_note(text: &str) -> Self {
        let mut columns = Columns::default();
        columns.decided.add(text);
        columns.finish()
    }
}

impl<'t> Columns<'t> {
    fn add_digest(&mut self, digest: &'t Digest) {
        self.title.add(&digest.title);
        self.asked.add(&digest.request);
        digest.decisions.iter().for_each(|claim| self.decided.add(&claim.text));
        let noted = [&digest.completed, &digest.learned, &digest.investigated].into_iter().flatten().map(String::as_str);
        let open = digest.blockers.iter().chain(&digest.next_steps).map(|claim| claim.text.as_str());
        noted.chain(open).for_each(|text| self.noted.add(text));
        digest.files.iter().for_each(|file| self.files.add(&file.path));
        digest.questions.iter().for_each(|question| self.questions.add(question));
    }

    fn add_item(&mut self, item: &'t Item, main: bool) {
        match item {
            Item::Prompt(text) if main => self.asked.add(text),
            Item::Answer(text) => self.asked.add(text),
            // What a subagent was told, the assistant said.
            Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) => self.said.add(text),
            Item::Title(title) => self.title.add(&title.text),
            Item::Recap(text) | Item::Away(text) | Item::PullRequest(text) => self.noted.add(text),
            Item::Todos(todos) => todos.iter().for_each(|todo| self.noted.add(&todo.text)),
            Item::Task(todo) => self.noted.add(&todo.text),
            Item::Tool(tool) => {
                self.tools.add(&tool.name);
                match &tool.file {
                    Some(file) => self.files.add(&file.path),
                    None => self.did.add(&tool.line),
                }
            }
            Item::Outcome(outcome) => self.did.add(&outcome.brief),
            Item::Interrupted => {}
        }
    }

    fn finish(self) -> Document {
        let [title, asked, decided, noted, said, did] =
            [&self.title, &self.asked, &self.decided, &self.noted, &self.said, &self.did].map(Column::index);
        let [files, tools, branches] = [&self.files, &self.tools, &self.branches].map(Column::index_names);
        let markers = markers(&[&title, &asked, &decided, &noted, &said]);
        let extra = [self.questions.index(), self.named.index(), markers];
        let extra = extra.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
        Document { columns: [title, asked, decided, noted, said, files, did, extra, tools, branches] }
    }
}
