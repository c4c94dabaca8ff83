//! What the user says again and again in a project: corrections and standing instructions such as "pnpm, not npm", "never push to main" and
//! "stop adding emojis". Pure.
//!
//! ## Invariants
//! - A function of the set of mentions of a project: whatever order they are given in.
//! - Precision first, for a rule that is none is told to every session: a sentence counts only if its words say that it holds from now on, and
//!   two are one rule only if they want and forbid the same in nearly the same words. Questions, quotations, output and what is for this time
//!   are none. What one wants and the other forbids is never one rule.
//! - Where a model names an instruction, that it holds from now on needs no words of the user's; what it quotes does ([`passages_with`]). Its wording
//!   only helps to tell whether two are one rule: nobody is told it.
//! - What a copy of a session holds counts once.

mod said;
mod sentence;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::said::SaidWords;
pub(crate) use self::sentence::{ForbiddenPart, RuleWords, forbidden_parts};
use crate::analyze::prose::sentences_in_any_case;
use text::tokenize::{covered_by, distinctive_words, words_of as words_in};
use transcripts::session::Millis;

/// The number of the rules by which they are found. Raise it with the rules: all are found anew then.
pub(crate) const INSTRUCTION_RULES: u32 = 1;
/// In so many sessions it has to be said.
pub(crate) const MIN_SESSIONS: usize = 2;
/// What is longer was pasted, or describes work, in characters.
const MAX_PROMPT_CHARS: usize = 1_500;
/// The same words of at least so many characters are one text that was sent several times, by a script or from a template.
const TEMPLATE_CHARS: usize = 120;
/// What a model quotes may go over so many sentences.
const MAX_SENTENCES: usize = 3;
/// Of more mentions the newest are compared.
const MAX_MENTIONS: usize = 400;

/// The sentences of a text of the user's that are standing instructions, each once.
pub(crate) fn instructions_in(text: &str) -> Vec<String> {
    if text.chars().count() > MAX_PROMPT_CHARS {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let said = sentences_in_any_case(text).into_iter().filter(|said| sentence::rule_of(said).is_some());
    said.filter(|said| seen.insert(said.clone())).collect()
}

/// The passages of a text of the user's that hold what a model quotes for a standing instruction: the fewest sentences, the last ones first. One
/// word of many says nothing.
pub(crate) fn passages_with(text: &str, quoted: &str) -> Vec<String> {
    if text.chars().count() > MAX_PROMPT_CHARS {
        return Vec::new();
    }
    let parts = quoted_parts(quoted);
    let words = parts.iter().map(Vec::len).sum::<usize>();
    let sentences = sentences_in_any_case(text);
    let passages = (1..=MAX_SENTENCES).flat_map(|count| sentences.windows(count).rev().map(|some| some.join(" ")));
    let holds = |said: &[String]| holds_quotation(said, &parts) && (words > 1 || words == said.len());
    let holding = passages.filter(|said| words > 0 && holds(&plain_words(said)));
    // A longer one holds no more of it.
    let mut found: Vec<String> = Vec::new();
    holding.for_each(|said| {
        if !found.iter().any(|one| said.contains(one.as_str())) {
            found.push(said);
        }
    });
    found.retain(|said| sentence::may_instruct(said));
    found
}

/// Do words hold these parts of a quotation, one behind the other?
fn holds_quotation(said: &[String], parts: &[Vec<String>]) -> bool {
    let mut rest = said;
    parts.iter().all(|part| match rest.windows(part.len()).position(|words| words == part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The words of a quotation, in parts between which something is left out.
fn quoted_parts(quoted: &str) -> Vec<Vec<String>> {
    let parts = quoted.split("...").flat_map(|part| part.split('…')).map(plain_words);
    parts.filter(|part| !part.is_empty()).collect()
}

fn plain_words(text: &str) -> Vec<String> {
    words_in(text).map(str::to_lowercase).collect()
}

/// May this passage be what a model words so? Not if it wants the opposite.
pub(crate) fn may_prove(passage: &str, wording: &str) -> bool {
    let wording = words_of(wording);
    !sentence::stances_of(passage).iter().any(|stance| stance.is_opposite(&wording))
}

/// A standing instruction where it was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mention {
    pub(crate) at: Millis,
    /// The whole id of the session.
    pub(crate) session: String,
    /// The turn's number; 0 if that is not known.
    pub(crate) turn: usize,
    /// The user's sentence.
    pub(crate) text: String,
    /// What a model says it says, if a model named it.
    pub(crate) wording: Option<String>,
}

/// One rule in the words of several sessions, oldest mention first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recurring {
    pub(crate) mentions: Vec<Mention>,
}

impl Recurring {
    /// In how many sessions it was said.
    pub(crate) fn sessions(&self) -> usize {
        self.mentions.iter().map(|one| &one.session).collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn first(&self) -> &Mention {
        &self.mentions[0]
    }

    pub(crate) fn newest(&self) -> &Mention {
        &self.mentions[self.mentions.len() - 1]
    }

    /// The mention that tells it: the newest one that is an instruction by its own words, else the one that says most of what a model says of
    /// it.
    pub(crate) fn telling(&self) -> &Mention {
        let share = |one: &Mention| match (&one.wording, sentence::rule_of(&one.text)) {
            (Some(wording), None) => covered_by(&distinctive_words(wording), &distinctive_words(&one.text)),
            _ => f64::INFINITY,
        };
        // Of equals the newest.
        self.mentions.iter().max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(self.newest())
    }

    /// Does a text want what it forbids, or forbid what it wants?
    pub(crate) fn is_opposed_in(&self, statements: &[RuleWords]) -> bool {
        self.mentions.iter().map(SaidWords::of).any(|own| own.is_opposed_in(statements))
    }

    /// Does a text say it already, in its newest words or others?
    pub(crate) fn is_said_in(&self, statements: &[RuleWords]) -> bool {
        self.mentions.iter().map(SaidWords::of).any(|own| own.is_said_in(statements))
    }
}

/// What a text of statements says, for [`Recurring::is_said_in`]: its lines, and the sentences in them.
pub(crate) fn statements_of(text: &str) -> Vec<RuleWords> {
    let bare = |line: &str| line.trim().trim_start_matches(['-', '*', '+', '#', '>', ' ']).replace(['*', '_'], " ");
    let lines = text.lines().map(bare).filter(|line| line.chars().any(char::is_alphanumeric));
    lines.flat_map(|line| [sentences_in_any_case(&line), vec![line]].concat()).map(|said| RuleWords::of_text(&said)).collect()
}

/// What a sentence says, if it is a standing instruction.
pub(crate) fn instruction_of(sentence: &str) -> Option<RuleWords> {
    sentence::rule_of(sentence)
}

/// Does a sentence of a text speak to whoever reads it, as an instruction to them does?
pub(crate) fn speaks_to_reader(text: &str) -> bool {
    sentences_in_any_case(text).iter().any(|said| sentence::speaks_to_reader(said))
}

fn words_of(text: &str) -> RuleWords {
    sentence::rule_of(text).unwrap_or_else(|| RuleWords::of_text(text))
}

/// The rules that were said in several sessions of a project and that hold, the one said last first. What the user said the opposite of later
/// is none of them.
pub(crate) fn recurring(mentions: &[Mention]) -> Vec<Recurring> {
    let mentions = each_once(mentions);
    let words: Vec<SaidWords> = mentions.iter().map(SaidWords::of).collect();
    let mut found: Vec<Recurring> = Vec::new();
    for group in groups(&words) {
        let rule = Recurring { mentions: group.iter().map(|at| mentions[*at].clone()).collect() };
        let newest = rule.newest().at;
        let is_overtaken =
            (0..mentions.len()).any(|at| mentions[at].at >= newest && group.iter().any(|own| words[*own].is_opposite(&words[at])));
        if rule.sessions() >= MIN_SESSIONS && !is_overtaken {
            found.push(rule);
        }
    }
    found.sort_by(|a, b| (b.newest(), b.first()).cmp(&(a.newest(), a.first())));
    found
}

/// The newest mentions in the order in which they were made, without copies.
fn each_once(mentions: &[Mention]) -> Vec<Mention> {
    let mut all: Vec<&Mention> = mentions.iter().collect();
    all.sort();
    let mut seen: BTreeSet<(Option<Millis>, &str)> = BTreeSet::new();
    all.retain(|one| {
        let is_template = one.text.chars().count() >= TEMPLATE_CHARS;
        seen.insert((Some(one.at).filter(|_| !is_template), one.text.as_str()))
    });
    all[all.len().saturating_sub(MAX_MENTIONS)..].iter().map(|one| (*one).clone()).collect()
}

/// Groups of which all say the same: first those that share most words. Each in order.
fn groups(words: &[SaidWords]) -> Vec<Vec<usize>> {
    let mut by_words: BTreeMap<&SaidWords, Vec<usize>> = BTreeMap::new();
    words.iter().enumerate().for_each(|(at, one)| by_words.entry(one).or_default().push(at));
    let kinds: Vec<&SaidWords> = by_words.keys().copied().collect();
    let mut holding: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, kind) in kinds.iter().enumerate() {
        kind.words().for_each(|word| holding.entry(word).or_default().push(at));
    }
    let pairs: BTreeSet<(usize, usize)> = holding
        .values()
        .flat_map(|all| all.iter().enumerate().flat_map(|(n, one)| all[n + 1..].iter().map(|other| (*one, *other))))
        .filter(|(one, other)| kinds[*one].is_same(kinds[*other]))
        .collect();
    // Who says the same as most others comes first; kinds are in an order of their own, so nothing depends on that of the mentions.
    let mut groups: Vec<BTreeSet<usize>> = (0..kinds.len()).map(|at| BTreeSet::from([at])).collect();
    for (one, other) in &pairs {
        let place = |at: &usize, groups: &[BTreeSet<usize>]| groups.iter().position(|group| group.contains(at)).unwrap_or_default();
        let (a, b) = (place(one, &groups), place(other, &groups));
        let fits = |x: &usize, y: &usize| pairs.contains(&((*x).min(*y), (*x).max(*y)));
        if a != b && groups[a].iter().all(|x| groups[b].iter().all(|y| fits(x, y))) {
            let joined = groups.remove(a.max(b));
            groups[a.min(b)].extend(joined);
        }
    }
    let members = |group: BTreeSet<usize>| {
        let mut all: Vec<usize> = group.into_iter().flat_map(|kind| by_words[kinds[kind]].clone()).collect();
        all.sort_unstable();
        all
    };
    groups.into_iter().map(members).collect()
}
