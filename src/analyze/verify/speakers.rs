//! Who says what in a session: the user, the assistant, a tool, or somebody whom one of them quotes.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use crate::analyze::prose::{others_words, own_words, unquoted};
use text::tokenize::distinctive_words;
use transcripts::session::{APPROVED, REFUSED};
use transcripts::session::{Entry, Evidence, Item, Session, ShellPrint};

/// Words with which a user asks to look at what follows.
const LOOKING: [&str; 8] = ["look at", "a look", "review", "what do you think", "thoughts on", "schau", "regarde", "read this"];

/// Whose words an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user: a prompt or an answer of the main conversation.
    User,
    /// The assistant and its subagents (words, plans, lists, tool uses) and the client's summaries, which a model wrote.
    Assistant,
    /// The output of a tool.
    Output,
    /// Someone whom a participant quotes.
    Quoted,
}

/// The distinctive words of each entry by speaker, computed on demand: most claims cite the entries behind them.
pub(super) struct EntryWords<'s> {
    pub(super) entries: &'s [Entry],
    /// What shell commands printed, by the ids of their tool uses.
    printed: HashMap<&'s str, &'s ShellPrint>,
    words: Vec<OnceCell<BTreeSet<String>>>,
    outputs: Vec<OnceCell<BTreeSet<String>>>,
    quoted: Vec<OnceCell<BTreeSet<String>>>,
    prose: Vec<OnceCell<BTreeSet<String>>>,
}

impl<'s> EntryWords<'s> {
    pub(super) fn of(session: &'s Session) -> Self {
        let empty = || vec![OnceCell::new(); session.entries.len()];
        let printed = session.evidence.iter().filter_map(|placed| match &placed.evidence {
            Evidence::Printed(print) => Some((print.tool.as_str(), print)),
            _ => None,
        });
        Self {
            entries: &session.entries,
            printed: printed.collect(),
            words: empty(),
            outputs: empty(),
            quoted: empty(),
            prose: empty(),
        }
    }

    /// All text of an entry, with what it printed.
    pub(super) fn text(&self, at: usize) -> String {
        format!("{} {}", text_of(&self.entries[at]), self.printed(at))
    }

    /// All words of an entry's prose, with its code and with what it quotes.
    pub(super) fn words_of_prose(&self, at: usize) -> &BTreeSet<String> {
        let text = prose_of(&self.entries[at]);
        self.prose[at].get_or_init(|| text.map_or_else(BTreeSet::new, distinctive_words))
    }

    /// The lines in which the tool of an entry told how it ended.
    fn printed(&self, at: usize) -> String {
        let entry = &self.entries[at];
        // Output of which no gist was kept has no outcome.
        let tool = match &entry.item {
            Item::Tool(tool) => tool.id.as_str(),
            _ => entry.outcome.as_ref().map_or("", |outcome| outcome.tool.as_str()),
        };
        let print = self.printed.get(tool).filter(|_| !tool.is_empty());
        print.map_or_else(String::new, |print| [print.git.as_slice(), &print.results].concat().join("\n"))
    }

    /// Does an entry hold words of this speaker, apart from output and quotations?
    pub(super) fn is_of(&self, at: usize, speaker: Speaker) -> bool {
        speaker_of(&self.entries[at]) == Some(speaker)
    }

    /// The words a speaker says in an entry; `None` if the entry has another speaker.
    pub(super) fn words_of(&self, at: usize, speaker: Speaker) -> Option<&BTreeSet<String>> {
        let entry = &self.entries[at];
        match speaker {
            Speaker::Output => {
                let brief = &entry.outcome.as_ref()?.brief;
                Some(self.outputs[at].get_or_init(|| distinctive_words(&format!("{brief}\n{}", self.printed(at)))))
            }
            Speaker::Quoted => {
                let text = prose_of(entry)?;
                Some(self.quoted[at].get_or_init(|| distinctive_words(&others_words(text))))
            }
            _ => self.is_of(at, speaker).then(|| self.words[at].get_or_init(|| distinctive_words(&said_by(entry)))),
        }
    }
}

/// Did the user refuse it?
pub(super) fn is_refused(entry: &Entry) -> bool {
    entry.outcome.as_ref().is_some_and(|outcome| outcome.brief == REFUSED)
}

/// Is it something that the user said or did: a prompt, an answer, a refusal, a plan approved?
pub(super) fn is_deed(entry: &Entry) -> bool {
    let approved = || entry.outcome.as_ref().is_some_and(|outcome| outcome.brief == APPROVED);
    let decided = match &entry.item {
        Item::Prompt(_) | Item::Answer(_) | Item::Interrupted => true,
        Item::Plan(_) => is_refused(entry) || approved(),
        _ => is_refused(entry),
    };
    decided && entry.is_main()
}

/// Whose words an entry holds, apart from tool output.
pub(super) fn speaker_of(entry: &Entry) -> Option<Speaker> {
    match &entry.item {
        Item::Prompt(_) | Item::Answer(_) if entry.is_main() => Some(Speaker::User),
        // A refused plan binds no one.
        Item::Plan(_) if entry.is_refused_plan() => None,
        Item::Prompt(_) | Item::Answer(_) | Item::Outcome(_) | Item::Title(_) | Item::PullRequest(_) | Item::Interrupted => None,
        Item::Evidence(_) => None,
        Item::Reply(_) | Item::Plan(_) | Item::Recap(_) | Item::Away(_) | Item::Tool(_) | Item::Todos(_) | Item::Task(_) => {
            Some(Speaker::Assistant)
        }
    }
}

/// The text of an entry that is prose and may quote others.
fn prose_of(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) => Some(text),
        _ => None,
    }
}

/// What the entry's speaker says, without quotations and tool output.
pub(super) fn said_by(entry: &Entry) -> String {
    match (&entry.item, prose_of(entry)) {
        (Item::Prompt(text), _) => own_words(before_what_is_shown(text)).lines().map(unquoted).collect::<Vec<_>>().join("\n"),
        (_, Some(text)) => own_words(text).lines().map(unquoted).collect::<Vec<_>>().join("\n"),
        (Item::Tool(tool), _) => {
            let path = tool.file.as_ref().map_or("", |f| f.path.as_str());
            format!("{} {} {path}", tool.name, tool.line)
        }
        // The question is the assistant's.
        (Item::Answer(answer), _) => answer.said.clone(),
        _ => text_of(entry),
    }
}

/// A prompt up to the document that it only asks to look at: one with headings, below a line like "Can you take a look at:".
fn before_what_is_shown(prompt: &str) -> &str {
    let mut end = 0;
    for line in prompt.split_inclusive('\n') {
        end += line.len();
        let said = line.trim().to_lowercase();
        let shows = said.ends_with(':') && LOOKING.iter().any(|words| said.contains(words));
        if shows && prompt[end..].lines().any(|line| line.starts_with('#')) {
            return &prompt[..end];
        }
    }
    prompt
}

/// All text of an entry.
pub(super) fn text_of(entry: &Entry) -> String {
    match &entry.item {
        Item::Answer(answer) => answer.whole(),
        Item::Prompt(t) | Item::Reply(t) | Item::Plan(t) | Item::Recap(t) | Item::Away(t) | Item::PullRequest(t) => t.clone(),
        Item::Tool(tool) => {
            let path = tool.file.as_ref().map_or("", |f| f.path.as_str());
            let brief = entry.outcome.as_ref().map_or("", |o| o.brief.as_str());
            format!("{} {} {path} {brief}", tool.name, tool.line)
        }
        Item::Todos(todos) => todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("\n"),
        Item::Task(todo) => todo.text.clone(),
        Item::Title(title) => title.text.clone(),
        Item::Outcome(_) | Item::Interrupted | Item::Evidence(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::before_what_is_shown;

    #[test]
    fn a_document_that_is_only_shown_is_not_what_the_user_says() {
        let shown = "Can you take a look at:\n\n# Report\n\nThe cellar should be pumped dry.\n";
        assert_eq!(before_what_is_shown(shown), "Can you take a look at:\n");
        for own in
            ["Do this:\n\n# Plan\n\nPump the cellar dry.\n", "Look at these:\n- the pump\n- the cellar\n", "Pump the cellar dry."]
        {
            assert_eq!(before_what_is_shown(own), own);
        }
    }
}
