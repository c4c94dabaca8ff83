//! What a row says before it is a record, for readers that share no more than that.

use crate::privacy::raw::RawText;
use crate::privacy::{SanitizedText, Sanitizer};
use crate::session::REFUSED;
use crate::session::{
    Evidence, Item, MessageUsage, Millis, Outcome, PendingRuns, Record, ShellPrint, StepKinds, TitleEvent, Tokens, Turn,
};
use crate::shell;
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, numbered};
use crate::source::{ParentLink, ParsedLine, outcome};
use text::clean::head_and_tail;

/// Longest name of an unknown row, in characters.
const MAX_NAME_CHARS: usize = 60;

/// How many lines of a client's own may stand before or behind what a command printed.
const CLIENT_LINES: usize = 6;
/// How a line begins in which a client says that a command runs on, that the user stopped it, and that the client did so because it took too long:
/// what the command printed itself seldom begins like it.
const GOES_ON: [&str; 2] = ["Command ", "command with shellId"];
const STOPPED_BY_USER: [&str; 2] = ["User aborted the command", "Command was cancelled by user"];
const STOPPED_BY_CLIENT: [&str; 1] = ["Command timed out after "];
/// Around what OpenCode says itself, by the name of its tool in each release.
const METADATA: [&str; 2] = ["<shell_metadata>", "<bash_metadata>"];

/// What a row says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) items: Vec<Item>,
    pub(super) turn: Turn,
    pub(super) sign: Option<TitleEvent>,
    pub(super) fenced: String,
    /// Ids of the tool uses whose results it holds.
    pub(super) answered: Vec<String>,
    pub(super) usage: Option<MessageUsage>,
}

/// What becomes of a row that is no record.
#[derive(Debug)]
pub(super) enum NoRecord {
    Known,
    /// The first row of a session, which tells when it began.
    Began,
    Unknown(RawText<'static>),
}

impl NoRecord {
    /// An unknown kind of what is called `of`; `missing` stands for one that is not named.
    pub(super) fn unknown(of: &str, kind: Option<RawText<'_>>, missing: &'static str) -> Self {
        Self::Unknown(RawText::joined(&[of.into(), kind.unwrap_or(missing.into())], ""))
    }
}

/// Where a row stands.
#[derive(Debug)]
pub(super) struct RowPlace<'s> {
    pub(super) link: ParentLink,
    pub(super) session: &'s str,
    pub(super) agent: Option<String>,
    pub(super) at: Option<Millis>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) version: Option<String>,
}

impl Said {
    pub(super) fn only(items: impl IntoIterator<Item = Item>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }

    /// The user's words; `has_more`: something came with them that is no text, `joins`: they were said while the assistant worked.
    pub(super) fn prompt(passed: SanitizedText, has_more: bool, joins: bool) -> Result<Self, NoRecord> {
        let text = passed.text.trim();
        let turn = match () {
            () if passed.is_all_private() => Turn::BeginsPrivate,
            () if text.is_empty() && !has_more => return Err(NoRecord::Known),
            () if joins => Turn::Joins,
            () => Turn::Begins,
        };
        let said = (!text.is_empty() && turn != Turn::BeginsPrivate).then(|| Item::Prompt(head_and_tail(text, MAX_TEXT_CHARS)));
        let joined = (turn == Turn::Joins && said.is_some()).then_some(Item::Evidence(Evidence::Joined));
        Ok(Self { turn, fenced: passed.fenced, ..Self::only(said.into_iter().chain(joined)) })
    }

    /// How a tool use ended: in the words that are kept, and what a command of `runs` printed that is evidence of something.
    pub(super) fn ended(
        id: String,
        refused: bool,
        ended: (bool, Option<i64>, &RawText<'_>),
        runs: &PendingRuns,
        sanitizer: &Sanitizer,
    ) -> Self {
        let (ok, code, output) = ended;
        let kinds = runs.of(&id).filter(|_| !refused);
        let Some(ok) = kinds.map_or(Some(ok), |_| seen_end(ok, code, output)) else { return Self::unended(id) };
        let printed = kinds.and_then(|kinds| printed(&id, ok, output, kinds, sanitizer));
        let outcome = outcome_of(&id, refused, (ok, code, output), sanitizer);
        Self { answered: vec![id], ..Self::only(outcome.into_iter().chain(printed)) }
    }

    /// A command whose end was not seen.
    pub(super) fn unended(id: String) -> Self {
        Self { answered: vec![id.clone()], ..Self::only([unended(id)]) }
    }

    /// Adds what another part of the row says.
    pub(super) fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.answered.extend(other.answered);
        self.fenced.push_str(&other.fenced);
        self.turn = if other.turn == Turn::Continues { self.turn } else { other.turn };
        self.sign = self.sign.take().or(other.sign);
        self.usage = self.usage.take().or(other.usage);
    }

    /// Does it tell anything that is kept?
    pub(super) fn tells(&self) -> bool {
        let tells = self.turn != Turn::Continues || self.sign.is_some() || !self.fenced.is_empty() || !self.answered.is_empty();
        tells || !self.items.is_empty() || self.usage.is_some()
    }

    /// Begins and ends the commands that it tells of.
    pub(super) fn note_runs(&self, runs: &mut PendingRuns) {
        self.answered.iter().for_each(|id| runs.end(id));
        for item in &self.items {
            match item {
                Item::Evidence(Evidence::Ran(run)) if !self.answered.contains(&run.tool) => runs.begin(run),
                _ => {}
            }
        }
    }

    /// The record that a row is. `prompt`: the id of the turn, where the client gives turns ids.
    pub(super) fn record(self, place: RowPlace<'_>, prompt: Option<String>) -> ParsedLine {
        let (parts, items) = numbered(self.items);
        let row = Record {
            key: place.link.key,
            session: place.session.to_owned(),
            agent: place.agent,
            at: place.at,
            cwd: place.cwd,
            branch: place.branch,
            version: place.version,
            turn: self.turn,
            sign: self.sign,
            parent: place.link.parent,
            prompt,
            fenced: self.fenced,
            answered: self.answered,
            items,
            parts,
            usage: self.usage,
        };
        ParsedLine::Record(Box::new(row.with_places()))
    }
}

/// How a tool use ended, in the words that are kept.
pub(super) fn outcome_of(id: &str, refused: bool, ended: (bool, Option<i64>, &RawText<'_>), sanitizer: &Sanitizer) -> Option<Item> {
    let (ok, code, output) = ended;
    if refused {
        return Some(Item::Outcome(Outcome { tool: id.to_owned(), ok: false, brief: REFUSED.to_owned() }));
    }
    outcome::of_text(id, ok, code, output, sanitizer).map(Item::Outcome)
}

/// That the end of a command was not seen.
pub(super) fn unended(tool: String) -> Item {
    Item::Evidence(Evidence::Printed(ShellPrint { tool, unended: true, ..ShellPrint::default() }))
}

/// How a command ended by the words that its client wrote beside the output, where the client calls it a success and tells no exit code; `None`
/// if its end was not seen.
pub(super) fn seen_end(ok: bool, code: Option<i64>, output: &RawText<'_>) -> Option<bool> {
    if !ok || code.is_some() {
        return Some(ok);
    }
    output.tells(|output| {
        let first = output.lines().take(CLIENT_LINES);
        let beside: Vec<&str> = first.chain(output.lines().rev().take(CLIENT_LINES)).map(str::trim).collect();
        let says = |all: &[&str]| beside.iter().any(|line| all.iter().any(|words| line.starts_with(words)));
        let goes_on = |line: &&str| {
            let said = line.strip_prefix('<').unwrap_or(line);
            GOES_ON.iter().any(|start| said.starts_with(start)) && said.contains("is still running")
        };
        let took_too_long = |line: &&str| {
            says(&METADATA)
                && line.split_once(" tool ").is_some_and(|(_, said)| said.starts_with("terminated command after exceeding timeout"))
        };
        match () {
            () if beside.iter().any(goes_on) || says(&STOPPED_BY_USER) => None,
            () => Some(!says(&STOPPED_BY_CLIENT) && !beside.iter().any(took_too_long)),
        }
    })
}

/// What a command printed that is evidence of something.
pub(super) fn printed(id: &str, ok: bool, output: &RawText<'_>, kinds: StepKinds, sanitizer: &Sanitizer) -> Option<Item> {
    if !kinds.git && !kinds.check {
        return None;
    }
    let output = sanitizer.output(output, |_| true);
    Some(Item::Evidence(Evidence::Printed(shell::printed(id, ok, &output, kinds))))
}

/// Tokens of a call of the model; `None` if there are none. `message` is what no other call has.
pub(super) fn tokens_of_call(message: String, model: Option<String>, tokens: Tokens) -> Option<MessageUsage> {
    let model = model.unwrap_or_else(|| "unknown".to_owned());
    (tokens.total() > 0).then_some(MessageUsage { message, model, tokens })
}

/// A name in a row, such as that of a model or a branch.
pub(super) fn name_in(raw: Option<Raw<'_>>, sanitizer: &Sanitizer) -> Option<String> {
    raw.and_then(json::text).and_then(|name| sanitizer.name(name))
}

/// A row of which a client names the id and that of its parent: a record, or a link between others.
pub(super) fn parsed(
    said: Result<Said, NoRecord>,
    place: RowPlace<'_>,
    runs: &mut PendingRuns,
    sanitizer: &Sanitizer,
) -> ParsedLine {
    // What subagents leave out is no link of the conversation.
    let link = |place: RowPlace<'_>| if place.agent.is_none() { ParsedLine::Link(place.link) } else { ParsedLine::Empty };
    match said {
        Ok(said) if said.tells() => {
            said.note_runs(runs);
            said.record(place, None)
        }
        Ok(_) | Err(NoRecord::Known) => link(place),
        Err(NoRecord::Began) => match place.at {
            Some(at) => ParsedLine::SessionStart { session: place.session.to_owned(), at },
            None => ParsedLine::Empty,
        },
        Err(NoRecord::Unknown(name)) => unknown(&name, sanitizer),
    }
}

pub(super) fn unknown(name: &RawText<'_>, sanitizer: &Sanitizer) -> ParsedLine {
    ParsedLine::Unknown(sanitizer.clean(name).chars().take(MAX_NAME_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_command_is_read_from_the_words_of_its_client() {
        let end = |output: &str| seen_end(true, None, &output.into());
        let timeout = "<shell_metadata>\nshell tool terminated command after exceeding timeout 120000 ms.\n</shell_metadata>";
        for (output, ok) in [
            ("", Some(true)),
            ("2 passed", Some(true)),
            ("the server is still running", Some(true)),
            ("PASS Signal: SIGTERM ends the worker\n4 passed", Some(true)),
            ("[main abc1234] retry when User aborted the command", Some(true)),
            ("curl: Command timed out after 5 s", Some(true)),
            ("Compiling\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>", None),
            ("Command was cancelled by user before it could complete. Below is the output:\nCompiling", None),
            ("Compiling\n<command with shellId: 1 is still running after 30 seconds>", None),
            ("Command is still running in the user's terminal.\nHere's the output so far:\nCompiling", None),
            (timeout, Some(false)),
            ("Command timed out after 5.0 minutes without output.", Some(false)),
        ] {
            assert_eq!(end(output), ok, "{output:?}");
        }
        assert_eq!(seen_end(true, Some(0), &"Command is still running".into()), Some(true), "a code says it better");
        assert_eq!(seen_end(false, None, &"User aborted the command".into()), Some(false), "the client calls it a failure");
    }
}
