//! Pull requests: those that the session made, and those that it worked on.
//!
//! One that was only looked at is worked on if the user named it, or if it is the only one that was looked at: who writes a changelog
//! reads many.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::commits::Commit;
use super::shell::{Call, words};
use super::turns::Turn;
use transcripts::session::{Item, Millis, Session, StepKind};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    pub number: String,
    /// Empty if it is not known.
    pub url: String,
    pub title: String,
    /// The session made it, and not only worked on it.
    pub made: bool,
    /// Git or `gh` said so.
    pub merged: bool,
    /// The same: closed without a merge, and not opened again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// The session changed something of it, or said something there, and not only read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) acted: bool,
    pub at: Option<Millis>,
}

/// What `gh pr` does with one that only reads it.
const READS: [&str; 4] = ["view", "diff", "checks", "checkout"];

impl PullRequest {
    /// What became of it.
    pub(crate) fn state(&self) -> Option<&'static str> {
        if self.merged { Some("merged") } else { self.closed.then_some("closed") }
    }

    /// `owner/name`, as its address tells.
    pub(crate) fn repository(&self) -> Option<&str> {
        let (before, _) = self.url.split_once("/pull/")?;
        let name = before.rfind('/')?;
        let owner = before[..name].rfind('/')?;
        Some(&before[owner + 1..])
    }
}

/// In the order in which they were first seen.
pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn], commits: &[Commit]) -> Vec<PullRequest> {
    let pushes = commits.iter().any(|commit| commit.pushed && commit.elsewhere.is_none());
    let mut all = Gathered { pushes, ..Gathered::default() };
    for entry in &session.entries {
        match &entry.item {
            Item::PullRequest(url) => all.linked(url, entry.at),
            Item::Tool(tool) if tool.name.ends_with("create_pull_request") => {
                all.awaits_link = entry.outcome.as_ref().is_none_or(|outcome| outcome.ok);
            }
            Item::Tool(_) => all.awaits_link = false,
            _ => {}
        }
    }
    calls.iter().for_each(|call| all.call(call));
    all.finish(turns)
}

#[derive(Default)]
struct Gathered {
    all: Vec<PullRequest>,
    worked_on: BTreeSet<String>,
    looked_at: BTreeSet<String>,
    /// The session pushed something.
    pushes: bool,
    /// A tool that is no shell made one: the client links it next.
    awaits_link: bool,
}

impl Gathered {
    fn of(&mut self, number: &str, at: Option<Millis>) -> &mut PullRequest {
        let known = self.all.iter().position(|known| known.number == number);
        let index = known.unwrap_or_else(|| {
            self.all.push(PullRequest { number: number.to_owned(), at, ..PullRequest::default() });
            self.all.len() - 1
        });
        let found = &mut self.all[index];
        found.at = match (found.at, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        found
    }

    /// The client links a pull request that exists, whoever made it.
    fn linked(&mut self, url: &str, at: Option<Millis>) {
        let number = number_of(url);
        if number.is_empty() {
            return;
        }
        let made = std::mem::take(&mut self.awaits_link);
        let found = self.of(&number, at);
        found.made |= made;
        found.acted = true;
        url.clone_into(&mut found.url);
        self.worked_on.insert(number);
    }

    fn call(&mut self, call: &Call<'_>) {
        let lines: &[String] = call.print.map_or(&[], |print| &print.git);
        for number in lines.iter().filter_map(|line| merged_by_git(line)) {
            if let Some(found) = self.all.iter_mut().find(|known| known.number == number) {
                found.merged = true;
            }
        }
        let steps: Vec<(Vec<String>, &str, bool)> = call
            .steps
            .iter()
            .filter(|step| step.kind == StepKind::Git && step.line.starts_with("gh "))
            .map(|step| (words(step), step.message.as_str(), step.masked || call.print.is_none()))
            .filter(|(words, ..)| words.len() > 2)
            .collect();
        let mut told = pull_requests_in(lines);
        let views = steps.iter().filter(|(words, ..)| words[2] == "view").count();
        let is_paired = told.len() == views;
        for (words, message, masked) in &steps {
            let named = number_in(&words[3..]);
            match words[2].as_str() {
                _ if words[1] == "api" || words[2] == "create" => self.made(lines, message, call),
                "view" => {
                    let at = told.iter().position(|told| named.is_none() || told.number.is_none() || told.number == named);
                    let told = at.filter(|_| is_paired).map(|at| told.remove(at)).unwrap_or_default();
                    self.viewed(named, told, call.at);
                }
                _ if call.failed => {}
                _ => {
                    let Some(number) = named else { continue };
                    let found = self.of(&number, call.at);
                    found.acted |= !READS.contains(&words[2].as_str());
                    match words[2].as_str() {
                        "merge" => found.merged |= lines.iter().any(|line| says_merged(line, &number)),
                        "close" => found.closed |= !masked || lines.iter().any(|line| says_closed(line, &number)),
                        "reopen" if !masked => found.closed = false,
                        _ => {}
                    }
                    self.worked_on.insert(number);
                }
            }
        }
    }

    /// `gh` prints the address of what it made on a line of its own.
    fn made(&mut self, lines: &[String], message: &str, call: &Call<'_>) {
        let exists = lines.iter().any(|line| line.trim_start().starts_with("a pull request for branch"));
        let is_address = |line: &&str| line.starts_with("https://") && !line.contains(' ') && !number_of(line).is_empty();
        let Some(url) = lines.iter().map(|line| line.trim()).find(is_address) else { return };
        let number = number_of(url);
        let found = self.of(&number, call.at);
        url.clone_into(&mut found.url);
        if !exists && !call.failed {
            (found.made, found.acted) = (true, true);
            if let Some(title) = message.lines().next().filter(|_| found.title.is_empty()) {
                title.clone_into(&mut found.title);
            }
        }
        self.worked_on.insert(number);
    }

    fn viewed(&mut self, named: Option<String>, told: Told, at: Option<Millis>) {
        let (of_branch, pushes) = (named.is_none(), self.pushes);
        let Some(number) = told.number.filter(|_| of_branch).or(named) else { return };
        let found = self.of(&number, at);
        found.merged |= told.merged;
        found.closed = told.closed.unwrap_or(found.closed);
        // That of the branch on which the session works has what was pushed.
        found.acted |= of_branch && pushes;
        if let Some(title) = told.title {
            found.title = title;
        }
        if let Some(url) = told.url.filter(|_| found.url.is_empty()) {
            found.url = url;
        }
        // Without a number it is that of the branch on which the session works.
        if of_branch { &mut self.worked_on } else { &mut self.looked_at }.insert(number);
    }

    fn finish(mut self, turns: &[Turn]) -> Vec<PullRequest> {
        let of_user: BTreeSet<String> = turns.iter().flat_map(|turn| &turn.words).flat_map(|word| named_by(&word.text)).collect();
        for word in turns.iter().flat_map(|turn| &turn.words) {
            if let Some(number) = reviewed(&word.text) {
                self.of(&number, word.at).acted = true;
                self.worked_on.insert(number);
            }
        }
        let is_only = self.looked_at.len() == 1 && self.worked_on.is_empty();
        self.all.retain(|pr| self.worked_on.contains(&pr.number) || of_user.contains(&pr.number) || is_only);
        self.all.sort_by_key(|pr| pr.at);
        self.all
    }
}

/// What `gh pr view` printed of one pull request.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    number: Option<String>,
    title: Option<String>,
    url: Option<String>,
    merged: bool,
    /// Missing if its state was not told.
    closed: Option<bool>,
}

fn pull_requests_in(lines: &[String]) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    for line in lines.iter().map(|line| line.trim()) {
        if line.starts_with('{') {
            let Ok(object) = serde_json::from_str::<Value>(line) else { continue };
            let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
            let url = text("url").filter(|url| !number_of(url).is_empty());
            let number = object.get("number").and_then(Value::as_u64).map(|number| number.to_string());
            let number = number.or_else(|| url.as_deref().map(number_of));
            let state = text("state");
            let merged = state.as_deref() == Some("MERGED") || text("mergedAt").is_some();
            let closed = state.map(|state| state == "CLOSED");
            all.push(Told { number, title: text("title"), url, merged, closed });
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_end_matches(',').trim_matches('"');
        let name = name.trim_matches('"');
        if !matches!(name, "title" | "state" | "number" | "url") {
            continue;
        }
        let slot = |told: &Told| match name {
            "title" => told.title.is_some(),
            "number" => told.number.is_some(),
            _ => false,
        };
        if all.last().is_none_or(slot) {
            all.push(Told::default());
        }
        let Some(last) = all.last_mut() else { continue };
        match name {
            "title" => last.title = Some(value.to_owned()),
            "number" => last.number = Some(value.to_owned()),
            "url" => last.url = Some(value.to_owned()),
            _ => {
                last.merged |= value == "MERGED";
                last.closed = Some(value == "CLOSED");
            }
        }
    }
    all
}

/// `Merge pull request #75 from a/b`, beside a hash.
fn merged_by_git(line: &str) -> Option<String> {
    let behind = line.split_once("Merge pull request #")?.1;
    let number: String = behind.chars().take_while(char::is_ascii_digit).collect();
    behind[number.len()..].starts_with(" from ").then_some(number)
}

/// `✓ Squashed and merged pull request a/b#7 (title)`, `! Pull request #7 was already merged`; older ones name no repository.
fn says_merged(line: &str, number: &str) -> bool {
    says_of(line, "erged pull request ", number).is_some()
        || says_of(line, "ull request ", number).is_some_and(|rest| rest.starts_with(" was already merged"))
}

/// `✓ Closed pull request a/b#7 (title)`, `! Pull request a/b#7 (title) is already closed`.
fn says_closed(line: &str, number: &str) -> bool {
    says_of(line, "losed pull request ", number).is_some()
        || says_of(line, "ull request ", number).is_some_and(|rest| rest.ends_with(" is already closed"))
}

/// What a line says of a pull request that it names right behind these words.
fn says_of<'l>(line: &'l str, words: &str, number: &str) -> Option<&'l str> {
    let (_, named) = line.split_once(words)?;
    let (repository, behind) = named.split_once('#')?;
    let rest = behind.strip_prefix(number).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))?;
    (!repository.contains(' ')).then_some(rest)
}

/// The number among the arguments of `gh pr`.
fn number_in(arguments: &[String]) -> Option<String> {
    let number = |word: &String| {
        let number = number_of(word);
        let number = if number.is_empty() { word.trim_start_matches('#') } else { &number };
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| number.to_owned())
    };
    arguments.iter().filter(|word| !word.starts_with('-')).find_map(number)
}

/// Numbers that stand by themselves in a text, with or without `#`.
fn named_by(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '#')
        .map(|word| word.trim_start_matches('#'))
        .filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
}

/// The pull request that a command of the client's is about: `/review 158`.
fn reviewed(prompt: &str) -> Option<String> {
    let (command, argument) = prompt.trim().strip_prefix('/')?.split_once(' ')?;
    matches!(command, "review" | "pr-comments" | "security-review").then(|| number_in(&[argument.trim().to_owned()])).flatten()
}

/// The number in an address; empty if it has none.
fn number_of(url: &str) -> String {
    let behind = url.split_once("/pull/").map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).collect()
}
