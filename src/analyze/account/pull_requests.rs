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
    /// `owner/name`, as a command named it or `gh` printed it; empty if neither did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) named_repository: String,
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

    /// `owner/name`, as far as it is known.
    pub(crate) fn repository(&self) -> Option<&str> {
        repository_of(&self.url).or_else(|| Some(self.named_repository.as_str()).filter(|named| !named.is_empty()))
    }

    /// Is it the one with this number? If one of the repositories is not known, the number decides.
    pub(crate) fn is(&self, number: &str, repository: Option<&str>) -> bool {
        let is_other = |own: &str, other: &str| !own.eq_ignore_ascii_case(other);
        self.number == number && !self.repository().zip(repository).is_some_and(|(own, other)| is_other(own, other))
    }

    /// Are both one, as far as is known?
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.is(&other.number, other.repository())
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
    /// Places in `all`.
    worked_on: BTreeSet<usize>,
    looked_at: BTreeSet<usize>,
    /// The session pushed something.
    pushes: bool,
    /// A tool that is no shell made one: the client links it next.
    awaits_link: bool,
}

impl Gathered {
    /// Its place in `all`, where it is entered if it is new.
    fn place_of(&mut self, Named { number, repository }: &Named, at: Option<Millis>) -> usize {
        let known = self.all.iter().rposition(|known| known.is(number, repository.as_deref()));
        let place = known.unwrap_or_else(|| {
            self.all.push(PullRequest { number: number.clone(), at, ..PullRequest::default() });
            self.all.len() - 1
        });
        let found = &mut self.all[place];
        found.at = match (found.at, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if let Some(repository) = repository.as_ref().filter(|_| found.named_repository.is_empty()) {
            repository.clone_into(&mut found.named_repository);
        }
        place
    }

    /// The client links a pull request that exists, whoever made it.
    fn linked(&mut self, url: &str, at: Option<Millis>) {
        let Some(named) = Named::by_address(url) else { return };
        let made = std::mem::take(&mut self.awaits_link);
        let place = self.place_of(&named, at);
        let found = &mut self.all[place];
        found.made |= made;
        found.acted = true;
        url.clone_into(&mut found.url);
        self.worked_on.insert(place);
    }

    fn call(&mut self, call: &Call<'_>) {
        let lines: &[String] = call.print.map_or(&[], |print| &print.git);
        for number in lines.iter().filter_map(|line| merged_by_git(line)) {
            if let Some(found) = self.all.iter_mut().rfind(|known| known.number == number) {
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
            let named = Named::by_arguments(&words[3..]);
            let number = named.as_ref().map(|named| named.number.as_str());
            match words[2].as_str() {
                _ if words[1] == "api" || words[2] == "create" => self.made(lines, message, call),
                "view" => {
                    let is_its = |told: &Told| told.number.is_none() || told.number.as_deref() == number;
                    let at = told.iter().position(|told| number.is_none() || is_its(told));
                    let told = at.filter(|_| is_paired).map(|at| told.remove(at)).unwrap_or_default();
                    self.viewed(named, told, call.at);
                }
                _ if call.failed => {}
                verb => {
                    let Some(mut named) = named else { continue };
                    named.repository =
                        named.repository.or_else(|| lines.iter().find_map(|line| told_repository(line, &named.number)));
                    let place = self.place_of(&named, call.at);
                    let (found, number) = (&mut self.all[place], &named.number);
                    found.acted |= !READS.contains(&verb);
                    match verb {
                        "merge" => found.merged |= lines.iter().any(|line| says_merged(line, number)),
                        "close" => found.closed |= !masked || lines.iter().any(|line| says_closed(line, number)),
                        "reopen" if !masked => found.closed = false,
                        _ => {}
                    }
                    self.worked_on.insert(place);
                }
            }
        }
    }

    /// `gh` prints the address of what it made on a line of its own.
    fn made(&mut self, lines: &[String], message: &str, call: &Call<'_>) {
        let exists = lines.iter().any(|line| line.trim_start().starts_with("a pull request for branch"));
        let is_address = |line: &&str| line.starts_with("https://") && !line.contains(' ') && !number_of(line).is_empty();
        let Some(url) = lines.iter().map(|line| line.trim()).find(is_address) else { return };
        let Some(named) = Named::by_address(url) else { return };
        let place = self.place_of(&named, call.at);
        let found = &mut self.all[place];
        url.clone_into(&mut found.url);
        if !exists && !call.failed {
            (found.made, found.acted) = (true, true);
            if let Some(title) = message.lines().next().filter(|_| found.title.is_empty()) {
                title.clone_into(&mut found.title);
            }
        }
        self.worked_on.insert(place);
    }

    fn viewed(&mut self, named: Option<Named>, told: Told, at: Option<Millis>) {
        let (of_branch, pushes) = (named.is_none(), self.pushes);
        let repository = told.url.as_deref().and_then(repository_of).map(str::to_owned);
        let named = match named {
            Some(named) => Named { repository: named.repository.or(repository), ..named },
            None => match told.number {
                Some(number) => Named { number, repository },
                None => return,
            },
        };
        let place = self.place_of(&named, at);
        let found = &mut self.all[place];
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
        if of_branch { &mut self.worked_on } else { &mut self.looked_at }.insert(place);
    }

    fn finish(mut self, turns: &[Turn]) -> Vec<PullRequest> {
        let of_user: BTreeSet<String> = turns.iter().flat_map(|turn| &turn.words).flat_map(|word| named_by(&word.text)).collect();
        for word in turns.iter().flat_map(|turn| &turn.words) {
            if let Some(named) = reviewed(&word.text) {
                let place = self.place_of(&named, word.at);
                self.all[place].acted = true;
                self.worked_on.insert(place);
            }
        }
        let is_only = self.looked_at.len() == 1 && self.worked_on.is_empty();
        let is_told = |place: usize, pr: &PullRequest| self.worked_on.contains(&place) || of_user.contains(&pr.number) || is_only;
        let told = self.all.into_iter().enumerate().filter(|(place, pr)| is_told(*place, pr)).map(|(_, pr)| pr);
        let mut told: Vec<PullRequest> = told.collect();
        told.sort_by_key(|pr| pr.at);
        told
    }
}

/// What a command, an address or a user names.
struct Named {
    number: String,
    /// `owner/name`, where that is told.
    repository: Option<String>,
}

impl Named {
    fn by_address(url: &str) -> Option<Self> {
        let number = Some(number_of(url)).filter(|number| !number.is_empty())?;
        Some(Self { number, repository: repository_of(url).map(str::to_owned) })
    }

    /// By the arguments of `gh pr`: a number or an address, and which repository's.
    fn by_arguments(arguments: &[String]) -> Option<Self> {
        let plain = |word: &String| {
            let number = word.trim_start_matches('#');
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| Self { number: number.to_owned(), repository: repository_option(arguments) })
        };
        let named = |word: &String| Self::by_address(word).or_else(|| plain(word));
        arguments.iter().filter(|word| !word.starts_with('-')).find_map(named)
    }
}

/// `-R owner/name`, `--repo=host/owner/name`
fn repository_option(arguments: &[String]) -> Option<String> {
    let mut behind = arguments.iter().skip_while(|word| !matches!(word.as_str(), "-R" | "--repo")).skip(1);
    let named = arguments.iter().find_map(|word| word.strip_prefix("--repo=")).or_else(|| behind.next().map(String::as_str))?;
    let mut parts = named.trim_end_matches(".git").rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    Some(format!("{owner}/{name}"))
}

/// `owner/name` in the address of a pull request.
fn repository_of(url: &str) -> Option<&str> {
    let (before, _) = url.split_once("/pull/")?;
    let name = before.rfind('/')?;
    let owner = before[..name].rfind('/')?;
    Some(&before[owner + 1..])
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
    named_behind(line, words, number).map(|(_, rest)| rest)
}

/// The repository that `gh` prints before the number of a pull request: `a/b#7`
fn told_repository(line: &str, number: &str) -> Option<String> {
    let (repository, _) = named_behind(line, "ull request ", number)?;
    repository.contains('/').then(|| repository.to_owned())
}

/// The repository of a pull request that a line names right behind these words, which may be empty, and what it says then.
fn named_behind<'l>(line: &'l str, words: &str, number: &str) -> Option<(&'l str, &'l str)> {
    let (_, named) = line.split_once(words)?;
    let (repository, behind) = named.split_once('#')?;
    let rest = behind.strip_prefix(number).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))?;
    (!repository.contains(' ')).then_some((repository, rest))
}

/// Numbers that stand by themselves in a text, with or without `#`.
fn named_by(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '#')
        .map(|word| word.trim_start_matches('#'))
        .filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
}

/// The pull request that a command of the client's is about: `/review 158`.
fn reviewed(prompt: &str) -> Option<Named> {
    let (command, argument) = prompt.trim().strip_prefix('/')?.split_once(' ')?;
    matches!(command, "review" | "pr-comments" | "security-review")
        .then(|| Named::by_arguments(&[argument.trim().to_owned()]))
        .flatten()
}

/// The number in an address; empty if it has none.
fn number_of(url: &str) -> String {
    let behind = url.split_once("/pull/").map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).collect()
}
