//! What of a session answers a question: the passages that the search found, with what a model claimed of it; where none did, with what the
//! user answered, what was committed and how its last reply began.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::analyze::account::{Commit, SessionAccount, WordKind, last_reply};
use crate::model::digest::{Claim, Digest};
use crate::model::section::{SECTIONS, Section, SectionSpec};
use crate::render::quoted::turn_lines;
use crate::render::topic::SourcePassage;
use crate::store::Memory;
use text::blocks::beginning;
use text::tokenize::distinctive_words;

/// The most decisions and open items without a topic, and the most decisions or answers where they are asked for.
const MAX_CLAIMS: usize = 3;
/// How many open items, and how many decisions, answers or commits, are added to the passages found.
const MAX_ADDED: usize = 2;
/// A session with fewer informative passages than this is also told by where it ended.
const MIN_INFORMATIVE: usize = 2;
/// A prompt that begins with the title and is at most this many bytes longer only repeats it.
const TITLE_SLACK_BYTES: usize = 24;
/// The most characters of what the user said, and of the last reply's beginning.
const MAX_WORDS_CHARS: usize = 200;
const MAX_REPLY_CHARS: usize = 280;

/// Passages of one session, best first; none contains another.
#[derive(Default)]
pub(super) struct Passages(Vec<SourcePassage>);

impl Passages {
    pub(super) fn add(&mut self, kind: &str, text: &str) {
        let known = self.0.iter().any(|known| known.text.contains(text) || text.contains(&known.text));
        if !known && !text.is_empty() {
            self.0.push(SourcePassage { kind: kind.to_owned(), text: text.to_owned() });
        }
    }

    fn add_all(&mut self, passages: impl IntoIterator<Item = SourcePassage>) {
        passages.into_iter().for_each(|passage| self.add(&passage.kind, &passage.text));
    }

    fn are_few(&self) -> bool {
        let repeats = |kind: &str| Section::of_kind(kind).is_some_and(|section| section.spec().repeats_rows);
        let tells = |passage: &&SourcePassage| !matches!(&*passage.kind, "prompt" | "file" | "command") && !repeats(&passage.kind);
        self.0.iter().filter(tells).count() < MIN_INFORMATIVE
    }

    /// Without the prompt if it only repeats the title and other passages remain.
    pub(super) fn without_title(self, title: &str) -> Vec<SourcePassage> {
        let title = title.trim_end_matches('…').trim_end();
        let says_it = |passage: &SourcePassage| {
            let begins = passage.text.starts_with(title) && passage.text.len() <= title.len() + TITLE_SLACK_BYTES;
            passage.kind == "prompt" && (title.contains(passage.text.trim_end_matches('…')) || begins)
        };
        let Self(mut passages) = self;
        if passages.iter().any(|passage| !says_it(passage)) {
            passages.retain(|passage| !says_it(passage));
        }
        passages
    }
}

/// A digested session.
pub(super) struct KnownSession {
    pub(super) digest: Digest,
    by_model: bool,
    account: SessionAccount,
    /// Open items that nobody closed, with their kinds.
    open: Vec<(&'static str, String)>,
}

impl KnownSession {
    /// `None` without a digest.
    pub(super) fn of(store: &Memory, pk: i64, id: &str) -> Result<Option<Self>> {
        let Some(stored) = store.digest_of(pk)? else { return Ok(None) };
        let closed = store.closed_item_ids(pk)?;
        let open = stored.digest.open_items(id).filter(|(id, ..)| !closed.contains(id));
        let open = open.map(|(_, kind, claim)| (kind, claim.text.clone())).collect();
        // Where today's rules have not made it yet, the passages found speak for themselves.
        let account = store.account_of(pk)?.unwrap_or_default();
        Ok(Some(Self { by_model: stored.is_by_model(), digest: stored.digest, account, open }))
    }

    /// The passages found about a topic of these words, with what belongs to them; where `decisions` are asked for, those first.
    pub(super) fn complete(&self, found: Passages, words: &BTreeSet<String>, decisions: bool) -> Passages {
        if self.by_model { self.with_claims(found, words, decisions) } else { self.with_words(found, words, decisions) }
    }

    fn with_claims(&self, Passages(found): Passages, words: &BTreeSet<String>, decisions: bool) -> Passages {
        // Later decisions hold over earlier ones; of the last ones, those with the most words of the query come first.
        let mut decided: Vec<&str> = self.digest.told_in(Section::Decisions).rev().map(|claim| claim.text.as_str()).collect();
        decided.sort_by_key(|text| std::cmp::Reverse(held(text, words)));
        let mut passages = Passages::default();
        if decisions {
            let (first, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|passage| passage.kind == "decision");
            passages.add_all(first);
            decided.iter().take(MAX_CLAIMS).for_each(|text| passages.add("decision", text));
            passages.add_all(rest);
        } else {
            passages.add_all(found);
        }
        self.open.iter().take(MAX_ADDED).for_each(|(kind, text)| passages.add(kind, text));
        decided.iter().take(MAX_ADDED).for_each(|text| passages.add("decision", text));
        if passages.are_few() {
            self.add_last_claims(&mut passages);
        }
        passages
    }

    fn with_words(&self, Passages(mut found): Passages, words: &BTreeSet<String>, decisions: bool) -> Passages {
        // Nobody claimed an outcome: it is what git or `gh` told.
        for passage in found.iter_mut().filter(|passage| passage.kind == "outcome") {
            if passage.text.contains("://") { "pull_request" } else { "commit" }.clone_into(&mut passage.kind);
        }
        let about = |texts: Vec<String>| {
            let mut texts: Vec<(usize, String)> = texts.into_iter().map(|text| (held(&text, words), text)).collect();
            texts.retain(|(held, _)| *held > 0);
            texts.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
            texts.into_iter().map(|(_, text)| text)
        };
        let mut passages = Passages::default();
        if decisions {
            about(self.answers()).take(MAX_CLAIMS).for_each(|text| passages.add("answer", &text));
        }
        passages.add_all(found);
        self.open.iter().take(MAX_ADDED).for_each(|(kind, text)| passages.add(kind, text));
        about(self.answers()).take(MAX_ADDED).for_each(|text| passages.add("answer", &text));
        about(self.commits()).take(MAX_ADDED).for_each(|text| passages.add("commit", &text));
        if passages.are_few() {
            self.add_end(&mut passages);
        }
        passages
    }

    /// Of the latest sessions nobody asked for a topic: where it ended, what is open, what was decided or made.
    pub(super) fn latest(&self) -> Passages {
        let mut passages = Passages::default();
        let open = |passages: &mut Passages| self.open.iter().take(MAX_CLAIMS).for_each(|(kind, text)| passages.add(kind, text));
        if self.by_model {
            self.add_last_claims(&mut passages);
            open(&mut passages);
            last(self.digest.told_in(Section::Decisions), MAX_CLAIMS).for_each(|claim| passages.add("decision", &claim.text));
        } else {
            self.add_end(&mut passages);
            open(&mut passages);
            self.commits().into_iter().take(MAX_CLAIMS).for_each(|text| passages.add("commit", &text));
        }
        passages.add("prompt", &self.digest.request);
        passages
    }

    /// Adds the claims that tell where the session ended, those that tell most of it first.
    fn add_last_claims(&self, passages: &mut Passages) {
        let mut telling: Vec<&SectionSpec> = SECTIONS.iter().filter(|spec| spec.topic.ends > 0).collect();
        telling.sort_by_key(|spec| std::cmp::Reverse(spec.topic.ends));
        for spec in telling {
            let kind = spec.kind.unwrap_or_default();
            last(self.digest.told_in(spec.section), spec.topic.ends).for_each(|claim| passages.add(kind, &claim.text));
        }
    }

    /// What the user answered, approved and refused, newest first.
    fn answers(&self) -> Vec<String> {
        let is_answer = |kind: &WordKind| !matches!(kind, WordKind::Prompt | WordKind::Joined | WordKind::Ran);
        let mut lines = Vec::new();
        for turn in self.account.turns.iter().rev() {
            let told = turn.words.iter().zip(turn_lines(turn, self.account.client, MAX_WORDS_CHARS));
            lines.extend(told.filter(|(word, _)| is_answer(&word.kind)).map(|(_, line)| line));
        }
        lines
    }

    /// Subjects of commits that stand, newest first, with their hashes.
    fn commits(&self) -> Vec<String> {
        let hash = |commit: &Commit| if commit.hash_is_stale { String::new() } else { commit.hash.clone() };
        let line = |commit: &Commit| format!("{} {}", hash(commit), commit.subject).trim_start().to_owned();
        self.account.commits.iter().rev().map(line).collect()
    }

    fn add_end(&self, passages: &mut Passages) {
        let Some((_, reply)) = last_reply(&self.account.turns) else { return };
        let begins = beginning(&reply.text, MAX_REPLY_CHARS);
        passages.add(if reply.cut_off { "cut_off" } else { "end" }, &begins);
    }
}

/// How many words of the query a text holds.
fn held(text: &str, words: &BTreeSet<String>) -> usize {
    distinctive_words(text).intersection(words).count()
}

/// The last ones, in their order.
fn last<'d>(claims: impl DoubleEndedIterator<Item = &'d Claim>, most: usize) -> impl Iterator<Item = &'d Claim> {
    let mut last: Vec<&Claim> = claims.rev().take(most).collect();
    last.reverse();
    last.into_iter()
}
