//! Builds the search document of a session or a note: its texts, in columns of different weight.
//!
//! Pure: a document depends only on what is stored, so rebuilding it gives the same result.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::digest::Digest;
use crate::model::session::{Evidence, Item, Project, QueueEvent, Session};
use crate::text::synonyms::markers;
use crate::text::tokenize::IndexedText;

/// Column names, in the order of the FTS index.
pub(crate) const COLUMNS: [&str; 10] = ["title", "asked", "decided", "noted", "said", "files", "did", "extra", "tools", "branches"];

/// The indexed words of a session or a note, by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) columns: [String; COLUMNS.len()],
}

/// A bounded column keeps this many bytes of text as it is; beyond that, only words the column does not hold yet, once each.
const VERBATIM_BYTES: usize = 1 << 20;
/// Beyond this many bytes only new words without digits are added: there is no end of distinct hashes and numbers.
const MAX_COLUMN_BYTES: usize = 2 << 20;

/// A column under construction; each text is added once.
#[derive(Default)]
struct ColumnBuilder {
    indexed: IndexedText,
    /// Hashes of the texts added so far.
    texts: HashSet<u64>,
    is_bounded: bool,
    /// Hashes of the words in the column, once it takes only new ones.
    words: Option<HashSet<u64>>,
}

impl ColumnBuilder {
    fn add(&mut self, text: &str) {
        self.add_with(text, IndexedText::add);
    }

    fn add_name(&mut self, name: &str) {
        self.add_with(name, IndexedText::add_name);
    }

    fn add_with(&mut self, text: &str, add: impl Fn(&mut IndexedText, &str)) {
        if text.is_empty() || !self.texts.insert(hash_of(text)) {
            return;
        }
        if !self.is_bounded || self.indexed.bytes() < VERBATIM_BYTES {
            return add(&mut self.indexed, text);
        }
        let known = self.words.get_or_insert_with(|| self.indexed.all().map(hash_of).collect());
        let mut more = IndexedText::default();
        add(&mut more, text);
        let is_full = self.indexed.bytes() >= MAX_COLUMN_BYTES;
        let fits = |word: &str| !is_full || !word.bytes().any(|b| b.is_ascii_digit());
        self.indexed.add_where(&more, |word| fits(word) && known.insert(hash_of(word)));
    }
}

/// Stable between runs.
fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A document under construction. Items are added in the order of their session.
#[derive(Default)]
pub(crate) struct DocumentBuilder {
    title: ColumnBuilder,
    asked: ColumnBuilder,
    decided: ColumnBuilder,
    noted: ColumnBuilder,
    said: ColumnBuilder,
    files: ColumnBuilder,
    did: ColumnBuilder,
    questions: ColumnBuilder,
    named: ColumnBuilder,
    tools: ColumnBuilder,
    branches: ColumnBuilder,
}

impl Document {
    /// The document of a session, or `None` when nothing was said in it.
    pub(crate) fn of_session(session: &Session, digest: Option<&Digest>) -> Option<Self> {
        let mut draft = DocumentBuilder::of(digest);
        for entry in &session.entries {
            draft.add(&entry.item, entry.agent.is_none());
            if let Some(outcome) = &entry.outcome {
                draft.did.add(&outcome.brief);
            }
        }
        session.evidence.iter().for_each(|placed| draft.add_evidence(&placed.evidence));
        draft.of_session(&session.project, &session.branches)
    }

    /// The document of a note.
    pub(crate) fn of_note(text: &str) -> Self {
        let mut draft = DocumentBuilder::default();
        draft.decided.add(text);
        draft.finish()
    }
}

impl DocumentBuilder {
    fn of(digest: Option<&Digest>) -> Self {
        let mut draft = Self::default();
        if let Some(digest) = digest {
            draft.add_digest(digest);
        }
        draft
    }

    /// For a session that is too long to load: the columns that grow with it are bounded.
    pub(crate) fn for_long_session(digest: Option<&Digest>) -> Self {
        let mut draft = Self::of(digest);
        for column in [&mut draft.asked, &mut draft.noted, &mut draft.said, &mut draft.did] {
            column.is_bounded = true;
        }
        draft
    }

    fn add_digest(&mut self, digest: &Digest) {
        self.title.add(&digest.title);
        self.asked.add(&digest.request);
        digest.decisions.iter().for_each(|claim| self.decided.add(&claim.text));
        let noted = [&digest.completed, &digest.learned, &digest.investigated].into_iter().flatten().map(String::as_str);
        let open = digest.blockers.iter().chain(&digest.next_steps).map(|claim| claim.text.as_str());
        noted.chain(open).for_each(|text| self.noted.add(text));
        digest.files.iter().for_each(|file| self.files.add_name(&file.path));
        digest.questions.iter().for_each(|question| self.questions.add(question));
    }

    /// Adds the text of an item of the `main` conversation or of a subagent's.
    pub(crate) fn add(&mut self, item: &Item, main: bool) {
        match item {
            Item::Prompt(text) if main => self.asked.add(text),
            Item::Answer(answer) => {
                self.asked.add(&answer.said);
                self.said.add(&answer.asked);
            }
            // The assistant writes the prompts of its subagents.
            Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) => self.said.add(text),
            Item::Title(title) => self.title.add(&title.text),
            Item::Recap(text) | Item::Away(text) | Item::PullRequest(text) => self.noted.add(text),
            Item::Todos(todos) => todos.iter().for_each(|todo| self.noted.add(&todo.text)),
            Item::Task(todo) => self.noted.add(&todo.text),
            Item::Tool(tool) => {
                self.tools.add_name(&tool.name);
                match &tool.file {
                    Some(file) => self.files.add_name(&file.path),
                    None => self.did.add(&tool.line),
                }
            }
            Item::Outcome(outcome) => self.did.add(&outcome.brief),
            Item::Evidence(evidence) => self.add_evidence(evidence),
            Item::Interrupted => {}
        }
    }

    /// Adds what was said beside prompts, and the messages of commits and pull requests; commands are added as tool uses.
    fn add_evidence(&mut self, evidence: &Evidence) {
        match evidence {
            Evidence::Queue(QueueEvent::Added(text)) => self.asked.add(text),
            Evidence::Choice(choice) => self.said.add(&choice.description),
            Evidence::Ran(run) => run.steps.iter().for_each(|step| self.noted.add(&step.message)),
            Evidence::Queue(_) | Evidence::Printed(_) | Evidence::Joined | Evidence::ApiError(_) => {}
        }
    }

    /// Completes a session's document; `None` when nothing was said.
    pub(crate) fn of_session(mut self, project: &Project, branches: &[String]) -> Option<Document> {
        branches.iter().for_each(|branch| self.branches.add_name(branch));
        self.named.add(project.name());
        let document = self.finish();
        let says_something = document.columns.iter().take(7).any(|column| !column.is_empty());
        says_something.then_some(document)
    }

    fn finish(self) -> Document {
        let of = |column: ColumnBuilder| column.indexed.finish();
        let [title, asked, decided, noted, said, did] =
            [self.title, self.asked, self.decided, self.noted, self.said, self.did].map(of);
        let markers = markers(&[&title, &asked, &decided, &noted, &said]);
        let extra = [of(self.questions), of(self.named), markers];
        let extra = extra.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
        let [files, tools, branches] = [self.files, self.tools, self.branches].map(of);
        Document { columns: [title, asked, decided, noted, said, files, did, extra, tools, branches] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_comes_late_in_a_session_without_end_is_in_its_document() {
        let mut draft = DocumentBuilder::for_long_session(None);
        let mut seed = 1_u64;
        for n in 0..4_000 {
            let hashes: Vec<String> = (0..60)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    format!("{seed:016x}")
                })
                .collect();
            draft.add(&Item::Reply(format!("The hashes are {}.", hashes.join(" "))), true);
            if n == 3_500 {
                draft.add(&Item::Reply("The sluice is closed.".to_owned()), true);
            }
        }
        let document = draft.finish();
        let said = &document.columns[4];
        assert!(said.split(' ').any(|word| word == "sluice"));
        assert!(said.len() < MAX_COLUMN_BYTES + MAX_COLUMN_BYTES / 8, "{}", said.len());
    }
}
