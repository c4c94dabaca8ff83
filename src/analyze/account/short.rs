//! An account for the start of another session: short enough to be stored beside the digest, and continued by what came later.

use super::SessionAccount;
use super::commits::{Commit, standing};
use super::object::PromptObject;
use super::own_words::first_telling_words;
use super::title::{COMMIT, told_subject};
use super::turns::{Turn, Word, WordKind, last_reply, longer_reply};
use text::blocks::without_long_parts;
use text::clean::{head_and_tail, shorten};

/// The most characters of a prompt, of a reply, of what a word answers. A start shows fewer: what is cut shows that it was.
const MAX_WORD_CHARS: usize = 600;
const MAX_REPLY_CHARS: usize = 2_400;
const MAX_BEGINNING_CHARS: usize = 700;
const MAX_ASIDE_CHARS: usize = 300;
/// How many of the newest turns keep their words and how their replies began, beside the first one.
const NEWEST_TURNS: usize = 24;

impl SessionAccount {
    /// Without what no start of a session shows: turns in the middle, the ends of replies, the bodies of commit messages. The last reply and
    /// the longer one before it keep more than the others. Turns keep their numbers.
    pub(crate) fn shortened(mut self) -> Self {
        let last = last_reply(&self.turns).map(|(at, _)| at);
        let longer = last.and_then(|last| longer_reply(&self.turns[..last])).map(|(at, _)| at);
        let newest = self.turns.len().saturating_sub(NEWEST_TURNS);
        for (at, turn) in self.turns.iter_mut().enumerate() {
            let is_quoted = Some(at) == last || Some(at) == longer;
            if at > 0 && at < newest {
                turn.words.clear();
                turn.reply.take_if(|_| !is_quoted);
            }
            if let Some(reply) = &mut turn.reply {
                reply.text = if is_quoted { shorten(&reply.text, MAX_REPLY_CHARS) } else { shortened_beginning(&reply.text) };
            }
            turn.words.iter_mut().for_each(shorten_word);
        }
        let stays = |turn: &Turn| !turn.words.is_empty() || turn.reply.is_some();
        let left_out = self.turns.iter().filter(|turn| turn.number > 0 && !stays(turn)).filter_map(|turn| turn.at);
        self.turns_left_out.extend(left_out);
        self.turns.retain(stays);
        self.commits.iter_mut().for_each(|commit| commit.body.clear());
        self
    }

    /// Was something asked or replied in so many words, or anything edited, so that the next session may go on from it?
    pub(crate) fn has_work(&self) -> bool {
        let mut words = self.turns.iter().flat_map(|turn| &turn.words);
        !self.files.edited.is_empty()
            || longer_reply(&self.turns).is_some()
            || words.any(|word| match word.kind {
                WordKind::Prompt | WordKind::Joined => first_telling_words(&word.text).is_some(),
                WordKind::PlanGiven { .. } | WordKind::Answered { .. } | WordKind::Approved { .. } => true,
                WordKind::Refused { .. } | WordKind::Ran => false,
            })
    }

    /// The commit that its title names, if it made no pull request.
    pub(crate) fn main_commit(&self) -> Option<&Commit> {
        let named = self.title.came.strip_prefix(COMMIT)?;
        self.commits.iter().rev().find(|commit| named.starts_with(&told_subject(commit)))
    }

    /// This account with what a `tail` of the session says that was read later.
    pub(crate) fn continued(mut self, mut tail: Self) -> Self {
        let first = tail.turns.iter().find(|turn| turn.number > 0).and_then(|turn| turn.at);
        self.turns.retain(|turn| first.is_none_or(|first| turn.at.is_none_or(|at| at < first)));
        self.turns_left_out.retain(|at| first.is_none_or(|first| *at < first));
        self.turns_left_out.append(&mut tail.turns_left_out);
        let known = self.turns.last().map_or(0, |turn| turn.number);
        for turn in &mut tail.turns {
            match (turn.number, self.turns.last_mut()) {
                // It began before the tail does.
                (0, Some(last)) => {
                    last.reply = turn.reply.take().or(last.reply.take());
                    last.words.append(&mut turn.words);
                    (last.interrupted, last.api_error) = (turn.interrupted, turn.api_error.take());
                }
                _ => turn.number += known,
            }
        }
        self.turns.extend(tail.turns.into_iter().filter(|turn| turn.number > 0 || known == 0));
        self.commits.retain(|commit| tail.commits.iter().all(|later| later.subject != commit.subject));
        self.commits.append(&mut tail.commits);
        let had_some = !self.commits.is_empty() || self.all_undone || tail.all_undone;
        self.commits = standing(self.commits);
        self.all_undone = had_some && self.commits.is_empty();
        self.pull_requests.retain(|pr| tail.pull_requests.iter().all(|later| !later.is_same_as(pr)));
        self.pull_requests.append(&mut tail.pull_requests);
        self.seen.append(&mut tail.seen);
        self.runs.retain(|run| tail.runs.iter().all(|later| later.commands != run.commands));
        self.runs.append(&mut tail.runs);
        self.files.continue_with(tail.files, known);
        let has_tasks = tail.open.iter().any(|open| open.task().is_some());
        self.open.retain(|open| open.task().is_some() && !has_tasks);
        self.open.splice(0..0, tail.open);
        if !tail.title.came.is_empty() {
            self.title.came = tail.title.came;
        }
        if self.title.asked.is_empty() {
            self.title.asked = tail.title.asked;
        }
        self.branch = tail.branch.or(self.branch);
        (self.evident, self.goes_on) = (self.evident && tail.evident, tail.goes_on);
        self
    }
}

/// What a start would not show is taken out before the end is: code that is cut could not be told by its length.
fn shortened_beginning(reply: &str) -> String {
    shorten(&without_long_parts(reply), MAX_BEGINNING_CHARS)
}

fn shorten_word(word: &mut Word) {
    word.text = head_and_tail(&word.text, MAX_WORD_CHARS);
    let aside = match (&mut word.object, &mut word.kind) {
        (Some(PromptObject::Listed(text) | PromptObject::Asked(text)), _)
        | (None, WordKind::Answered { asked: text, .. } | WordKind::Refused { what: text }) => text,
        _ => return,
    };
    *aside = shorten(aside, MAX_ASIDE_CHARS);
}
