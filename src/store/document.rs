//! Builds the search document of a session or a note: its texts, in columns of different weight.
//!
//! Pure: a document depends only on what is stored, so rebuilding it gives the same result.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::analyze::account::AccountToStore;
use crate::model::digest::Digest;
use crate::model::memory_file::MemoryFile;
use crate::model::search_column::SearchColumn;
use text::synonyms::markers;
use text::tokenize::IndexedText;
use transcripts::session::{Evidence, Item, Project, QueueEvent, Session};

/// How many columns a document has.
const COLUMN_COUNT: usize = SearchColumn::ALL.len();

/// The indexed words of a session or a note, by [`SearchColumn`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) columns: [String; COLUMN_COUNT],
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
    columns: [ColumnBuilder; COLUMN_COUNT],
}

impl Document {
    /// The document of a session, or `None` when nothing was said in it.
    pub(crate) fn of_session(session: &Session, digest: Option<&Digest>) -> Option<Self> {
        let mut draft = DocumentBuilder::of(digest);
        for entry in &session.entries {
            draft.add(&entry.item, entry.agent.is_none());
            if let Some(outcome) = &entry.outcome {
                draft.column(SearchColumn::Did).add(&outcome.brief);
            }
        }
        session.evidence.iter().for_each(|placed| draft.add_evidence(&placed.evidence));
        if let Some(told) = AccountToStore::told_elsewhere(session) {
            draft.add_account(&told);
        }
        draft.of_session(&session.project, &session.branches)
    }

    /// The document of a memory file.
    pub(crate) fn of_memory_file(file: &MemoryFile) -> Self {
        let mut draft = DocumentBuilder::default();
        let (about, body) = file.parts();
        draft.column(SearchColumn::Title).add_name(file.name());
        about.iter().for_each(|text| draft.column(SearchColumn::Title).add(text));
        draft.column(SearchColumn::Noted).add(body);
        draft.finish()
    }

    /// The document of a note.
    pub(crate) fn of_note(text: &str) -> Self {
        let mut draft = DocumentBuilder::default();
        draft.column(SearchColumn::Decided).add(text);
        draft.finish()
    }
}

impl DocumentBuilder {
    fn column(&mut self, column: SearchColumn) -> &mut ColumnBuilder {
        &mut self.columns[column as usize]
    }

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
        for column in [SearchColumn::Asked, SearchColumn::Noted, SearchColumn::Said, SearchColumn::Did] {
            draft.column(column).is_bounded = true;
        }
        draft
    }

    fn add_digest(&mut self, digest: &Digest) {
        self.column(SearchColumn::Title).add(&digest.title);
        self.column(SearchColumn::Asked).add(&digest.request);
        for (section, claim) in digest.findable() {
            let column = section.spec().column;
            match column {
                SearchColumn::Files => self.column(column).add_name(&claim.text),
                _ => self.column(column).add(&claim.text),
            }
            // Other words for it.
            if let Some(claimed) = &claim.claimed {
                self.column(SearchColumn::Extra).add(claimed);
            }
        }
    }

    /// Adds what an account tells, where the items that it was made from are not here.
    fn add_account(&mut self, told: &AccountToStore) {
        let account = &told.account;
        for turn in &account.turns {
            turn.words.iter().for_each(|word| self.column(SearchColumn::Asked).add(&word.text));
            turn.reply.iter().for_each(|reply| self.column(SearchColumn::Said).add(&reply.text));
        }
        for commit in &account.commits {
            self.column(SearchColumn::Noted).add(&commit.subject);
            self.column(SearchColumn::Noted).add(&commit.body);
        }
        told.commands.iter().for_each(|command| self.column(SearchColumn::Did).add(&command.line));
        for failure in &told.failures {
            self.column(SearchColumn::Did).add(&failure.line);
        }
        account.files.edited.iter().for_each(|path| self.column(SearchColumn::Files).add_name(path));
    }

    /// Adds the text of an item of the `main` conversation or of a subagent's.
    pub(crate) fn add(&mut self, item: &Item, main: bool) {
        match item {
            Item::Prompt(text) if main => self.column(SearchColumn::Asked).add(text),
            Item::Answer(answer) => {
                self.column(SearchColumn::Asked).add(&answer.said);
                self.column(SearchColumn::Said).add(&answer.asked);
            }
            // The assistant writes the prompts of its subagents.
            Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) => self.column(SearchColumn::Said).add(text),
            Item::Title(title) => self.column(SearchColumn::Title).add(&title.text),
            Item::Recap(text) | Item::Away(text) | Item::PullRequest(text) => self.column(SearchColumn::Noted).add(text),
            Item::Todos(todos) => todos.iter().for_each(|todo| self.column(SearchColumn::Noted).add(&todo.text)),
            Item::Task(todo) => self.column(SearchColumn::Noted).add(&todo.text),
            Item::Tool(tool) => {
                self.column(SearchColumn::Tools).add_name(&tool.name);
                match &tool.file {
                    Some(file) => self.column(SearchColumn::Files).add_name(&file.path),
                    None => self.column(SearchColumn::Did).add(&tool.line),
                }
            }
            Item::Outcome(outcome) => self.column(SearchColumn::Did).add(&outcome.brief),
            Item::Evidence(evidence) => self.add_evidence(evidence),
            Item::Interrupted => {}
        }
    }

    /// Adds what was said beside prompts, and the messages of commits and pull requests; commands are added as tool uses.
    fn add_evidence(&mut self, evidence: &Evidence) {
        match evidence {
            Evidence::Queue(QueueEvent::Added(text)) => self.column(SearchColumn::Asked).add(text),
            Evidence::Choice(choice) => self.column(SearchColumn::Said).add(&choice.description),
            Evidence::Ran(run) => run.steps.iter().for_each(|step| self.column(SearchColumn::Noted).add(&step.message)),
            Evidence::Queue(_)
            | Evidence::Printed(_)
            | Evidence::Joined
            | Evidence::ApiError(_)
            | Evidence::Told(_)
            | Evidence::LookedUp(_) => {}
        }
    }

    /// Completes a session's document; `None` when nothing was said.
    pub(crate) fn of_session(mut self, project: &Project, branches: &[String]) -> Option<Document> {
        let says_something = self.columns[..=SearchColumn::Did as usize].iter().any(|column| column.indexed.bytes() > 0);
        branches.iter().for_each(|branch| self.column(SearchColumn::Branches).add_name(branch));
        self.column(SearchColumn::Extra).add(project.name());
        says_something.then(|| self.finish())
    }

    fn finish(self) -> Document {
        let mut columns = self.columns.map(|column| column.indexed.finish());
        let said = &columns[..=SearchColumn::Said as usize];
        let markers = markers(&said.iter().map(String::as_str).collect::<Vec<_>>());
        let extra = &mut columns[SearchColumn::Extra as usize];
        if !markers.is_empty() {
            extra.push_str(if extra.is_empty() { "" } else { " " });
            extra.push_str(&markers);
        }
        Document { columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::digest::Claim;
    use crate::model::section::Section;
    use transcripts::session::RecordKey;

    #[test]
    fn every_section_of_a_digest_is_found_in_its_column() {
        let digest = Section::all().fold(Digest::default(), |digest, section| {
            let text = format!("The quell{} lies here", section as usize);
            digest.with(section, [Claim::supported(text, vec![RecordKey([7; 16])])])
        });
        let document = DocumentBuilder::of(Some(&digest)).finish();
        for section in Section::all() {
            let column = &document.columns[section.spec().column as usize];
            assert!(column.contains(&format!("quell{}", section as usize)), "{section:?}: {column}");
        }
    }

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
        let said = &document.columns[SearchColumn::Said as usize];
        assert!(said.split(' ').any(|word| word == "sluice"));
        assert!(said.len() < MAX_COLUMN_BYTES + MAX_COLUMN_BYTES / 8, "{}", said.len());
    }
}
