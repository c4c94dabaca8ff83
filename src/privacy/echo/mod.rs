//! Echoes of what was private: a reply, a command or a title that says again what a prompt fenced off.
//!
//! Of a private block the distinctive words are remembered: not what everybody says, and not what the session said in public before. They
//! are taken out of all that the session says besides, of what subagents and forks say too. What is remembered are hashes of four bytes,
//! each with the session's id in it. They tell nobody who reads the index what was said, nor that two sessions said the same, and of a long
//! number there are many with the same hash; who has the index and a list of names can try them, as he could with the transcript beside it.
//! Words that mean the same, or a translation, are not known.

mod units;
mod vocabulary;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use self::units::{Kind, Unit, spelled_out, units};
use self::vocabulary::{is_common, is_function};
use super::says_something;
use crate::session::{Item, digest_of};

/// Stands for what was private.
pub const HUSHED: &str = "[private]";

/// Of one message so many are remembered at most: nobody fences off more that is distinctive, but who pastes a file.
const MOST: usize = 2_000;
/// A word in a longer one is known from this length on, in letters.
const WITHIN: usize = 5;
/// So many words in a row are a quotation, however common they are, if so many of them say something.
const QUOTED: usize = 4;
const TELLING: usize = 3;

/// What is remembered of a word: of the session's id and the word.
pub type Hash = u32;

fn hash(session: &str, name: &str) -> Hash {
    let [a, b, c, d, ..] = digest_of(&[b"echo", session.as_bytes(), name.as_bytes()]);
    u32::from_be_bytes([a, b, c, d])
}

/// The names under which distinctive parts of private blocks are remembered. Never stored as they are.
pub fn distinctive(fenced: &str) -> BTreeSet<String> {
    let all = units(fenced);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let capitals = all.iter().filter(|unit| unit.kind == Kind::Word && begins_upper(fenced, unit)).count();
    let is_heading = capitals * 2 > all.iter().filter(|unit| unit.kind == Kind::Word).count().max(3);
    for unit in &all {
        match unit.kind {
            Kind::Word => names.extend(names_of_word(fenced, unit, is_heading)),
            Kind::Code if unit.key.len() >= 4 => _ = names.insert(format!("w:{}", unit.key)),
            Kind::Code => {}
            Kind::Number => names.extend(names_of_number(fenced, unit)),
            Kind::Run => names.extend(names_of_run(&unit.key)),
        }
        if names.len() >= MOST {
            break;
        }
    }
    names.extend(phrases(fenced, &all).into_iter().map(|(_, name)| name).take(MOST));
    names
}

fn names_of_word(text: &str, unit: &Unit, is_heading: bool) -> Vec<String> {
    let word = &text[unit.range.clone()];
    let letters = unit.key.chars().count();
    let is_name = begins_upper(text, unit) && !begins_sentence(text, unit) && !is_heading;
    if is_function(&unit.key) || letters < 2 {
        return Vec::new();
    }
    // A name that is a common word, too, is known by its capital.
    if is_common(&unit.key) || letters == 2 {
        let shouted = word.chars().all(|c| !c.is_lowercase());
        return if is_name && !shouted { vec![format!("c:{word}")] } else { Vec::new() };
    }
    // No list tells what is common in other scripts.
    if !unit.key.is_ascii() && !is_name && letters < 7 {
        return Vec::new();
    }
    [Some(unit.key.clone()), spelled_out(word), stem(&unit.key)].into_iter().flatten().map(|key| format!("w:{key}")).collect()
}

/// A word without what grammar may change at its end, where that is more than a letter behind it: of Cyrillic and Greek ones.
fn stem(key: &str) -> Option<String> {
    let letters: Vec<char> = key.chars().collect();
    let inflected = letters.iter().all(|c| matches!(c, '\u{370}'..='\u{52f}'));
    let stem = &letters[..letters.len().saturating_sub(2)];
    (inflected && stem.len() >= WITHIN).then(|| stem.iter().collect())
}

fn names_of_number(text: &str, unit: &Unit) -> Vec<String> {
    let mut names = Vec::new();
    names.extend(date(&text[unit.range.clone()]));
    let values = [Some(unit.key.clone()), in_full(text, unit)];
    for digits in values.into_iter().flatten().filter(|digits| is_distinctive_number(digits)) {
        names.extend(endings(&digits));
    }
    names
}

/// A number by its digits, and a long one by its last seven: it may be said with or without a prefix.
fn endings(digits: &str) -> Vec<String> {
    let last = (digits.len() >= 9).then(|| format!("n:{}", &digits[digits.len() - 7..]));
    [Some(format!("n:{digits}")), last].into_iter().flatten().collect()
}

fn is_distinctive_number(digits: &str) -> bool {
    let year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    let round = digits.trim_end_matches('0').len() == 1 && digits.len() < 6
        || matches!(digits, "8080" | "8443" | "5432" | "6379" | "3306" | "1024" | "2048" | "4096");
    digits.len() >= 4 && !year && !round
}

/// A number with a unit behind it, as "4.2 million", without one.
fn in_full(text: &str, unit: &Unit) -> Option<String> {
    let behind = text[unit.range.end..].trim_start_matches([' ', '\u{a0}', '-']);
    let word: String = behind.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let zeros = match word.as_str() {
        "k" | "thousand" | "tsd" => 3,
        "m" | "mn" | "mio" | "million" | "millions" | "millionen" => 6,
        "b" | "bn" | "billion" | "billions" => 9,
        _ => return None,
    };
    let written = &text[unit.range.clone()];
    let (whole, part) = written.split_once(['.', ',']).unwrap_or((written, ""));
    let left = usize::checked_sub(zeros, part.len())?;
    let digits = format!("{whole}{part}{}", "0".repeat(left));
    (digits.len() < 16 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// A day, in whatever order its parts stand.
fn date(written: &str) -> Option<String> {
    let mut parts: Vec<&str> = written.split(['.', '-', '/']).collect();
    let year = parts.iter().filter(|part| part.len() == 4).count() == 1;
    let fits = parts.len() == 3
        && year
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()) && matches!(part.len(), 1 | 2 | 4));
    parts.iter_mut().for_each(|part| *part = part.trim_start_matches('0'));
    parts.sort_unstable();
    fits.then(|| format!("d:{}", parts.join(".")))
}

/// A run of a script without spaces, and the beginning of a longer one, which is a family's name as a rule.
fn names_of_run(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    let prefix = |n: usize| (chars.len() > n).then(|| format!("k:{}", chars[..n].iter().collect::<String>()));
    if chars.len() < 2 { Vec::new() } else { [Some(format!("k:{run}")), prefix(2), prefix(3)].into_iter().flatten().collect() }
}

/// Words in a row that are quoted if they stand so again, with the places of their units.
fn phrases(text: &str, all: &[Unit]) -> Vec<(Range<usize>, String)> {
    let words: Vec<usize> = (0..all.len()).filter(|n| all[*n].kind == Kind::Word).collect();
    let mut found = Vec::new();
    let tells = |n: usize| !is_function(&all[n].key) && all[n].key.chars().count() > 2;
    for row in words.windows(QUOTED) {
        let (first, last) = (row[0], row[QUOTED - 1]);
        // Not over the end of a sentence or a line.
        let between = &text[all[first].range.end..all[last].range.start];
        if row.iter().filter(|n| tells(**n)).count() < TELLING || between.contains(['\n', ';', '!', '?']) || between.contains(". ")
        {
            continue;
        }
        let keys: Vec<&str> = row.iter().map(|n| all[*n].key.as_str()).collect();
        found.push((first..last + 1, format!("p:{}", keys.join(" "))));
    }
    found
}

fn begins_upper(text: &str, unit: &Unit) -> bool {
    text[unit.range.clone()].chars().next().is_some_and(char::is_uppercase)
}

/// Does the word begin a sentence, a line, or stand behind a sign? Its capital tells nothing then.
fn begins_sentence(text: &str, unit: &Unit) -> bool {
    let before = text[..unit.range.start].trim_end_matches([' ', '\t', '"', '\'', '(', '*', '_', '“', '„']);
    before.is_empty() || before.ends_with(['\n', '.', '!', '?', ':', '-', '•', '#', '>'])
}

/// What a text says by the names that private words are remembered by.
pub fn names_in(text: &str, mut each: impl FnMut(&str)) {
    let all = units(text);
    for unit in &all {
        match unit.kind {
            Kind::Word | Kind::Code => {
                each(&format!("w:{}", unit.key));
                each(&format!("c:{}", &text[unit.range.clone()]));
                spelled_out(&text[unit.range.clone()]).into_iter().for_each(|key| each(&format!("w:{key}")));
            }
            Kind::Number => {
                let values = [Some(unit.key.clone()), in_full(text, unit)].into_iter().flatten();
                values.flat_map(|digits| endings(&digits)).chain(date(&text[unit.range.clone()])).for_each(|name| each(&name));
            }
            Kind::Run => names_of_run(&unit.key).iter().for_each(|name| each(name)),
        }
    }
    phrases(text, &all).iter().for_each(|(_, name)| each(name));
}

/// What sessions remember of private words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hushed {
    sessions: Vec<(String, HashSet<Hash>)>,
}

/// Hashes of names, for a session to remember.
pub fn hashes<'n>(session: &str, names: impl Iterator<Item = &'n str>) -> Vec<Hash> {
    names.map(|name| hash(session, name)).collect()
}

impl Hushed {
    pub fn is_empty(&self) -> bool {
        self.sessions.iter().all(|(_, words)| words.is_empty())
    }

    /// Remembers more of a session. Returns whether that is news.
    pub fn add(&mut self, session: &str, words: impl IntoIterator<Item = Hash>) -> bool {
        let at = self.sessions.iter().position(|(id, _)| id == session).unwrap_or_else(|| {
            self.sessions.push((session.to_owned(), HashSet::new()));
            self.sessions.len() - 1
        });
        let before = self.sessions[at].1.len();
        self.sessions[at].1.extend(words);
        self.sessions[at].1.len() > before
    }

    fn holds(&self, name: &str) -> bool {
        self.sessions.iter().any(|(session, words)| !words.is_empty() && words.contains(&hash(session, name)))
    }

    /// A text without what repeats private words; the very text where nothing does.
    pub fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let all = units(text);
        let mut gone: Vec<Range<usize>> =
            all.iter().filter(|unit| self.repeats(text, unit)).map(|unit| unit.range.clone()).collect();
        let quoted = phrases(text, &all).into_iter().filter(|(_, name)| self.holds(name));
        gone.extend(quoted.map(|(places, _)| all[places.start].range.start..all[places.end - 1].range.end));
        gone.sort_unstable_by_key(|range| range.start);
        if gone.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, &gone)) }
    }

    fn repeats(&self, text: &str, unit: &Unit) -> bool {
        let word = &text[unit.range.clone()];
        match unit.kind {
            Kind::Word | Kind::Code => {
                self.holds(&format!("c:{word}"))
                    || self.holds(&format!("w:{}", unit.key))
                    || !is_common(&unit.key)
                        && (spelled_out(word).is_some_and(|key| self.holds(&format!("w:{key}"))) || self.is_within(&unit.key))
            }
            Kind::Number => {
                let values = [Some(unit.key.clone()), in_full(text, unit)].into_iter().flatten();
                values.flat_map(|digits| endings(&digits)).chain(date(word)).any(|name| self.holds(&name))
            }
            Kind::Run => {
                let chars: Vec<(usize, char)> = unit.key.char_indices().collect();
                let part = |from: usize, to: usize| &unit.key[chars[from].0..chars.get(to).map_or(unit.key.len(), |c| c.0)];
                (0..chars.len())
                    .any(|from| (from + 2..=chars.len().min(from + 8)).any(|to| self.holds(&format!("k:{}", part(from, to)))))
            }
        }
    }

    /// Does the word begin or end with one of them: with an ending of grammar, or joined to others?
    fn is_within(&self, key: &str) -> bool {
        let ends: Vec<usize> = key.char_indices().map(|(at, _)| at).chain([key.len()]).collect();
        let letters = ends.len() - 1;
        let plural =
            ["s", "es", "n", "en"].iter().filter_map(|ending| key.strip_suffix(ending)).filter(|stem| stem.chars().count() > 2);
        plural.map(|stem| format!("w:{stem}")).any(|name| self.holds(&name))
            || (WITHIN..letters)
                .any(|n| self.holds(&format!("w:{}", &key[..ends[n]])) || self.holds(&format!("w:{}", &key[ends[letters - n]..])))
    }

    /// An item without what repeats private words; `None` where nothing of it is left that says anything. The very item where nothing does.
    pub fn clean_item<'i>(&self, item: &'i Item) -> Option<Cow<'i, Item>> {
        if self.is_empty() || item.texts().into_iter().all(|text| matches!(self.clean(text), Cow::Borrowed(_))) {
            return Some(Cow::Borrowed(item));
        }
        let mut clean = item.clone();
        clean.texts_mut().into_iter().for_each(|text| *text = self.clean(text).into_owned());
        let says = match &clean {
            Item::Title(title) => says_something(&title.text.replace(HUSHED, " ")),
            Item::Recap(text) | Item::Away(text) | Item::Reply(text) => says_something(&text.replace(HUSHED, " ")),
            _ => true,
        };
        says.then_some(Cow::Owned(clean))
    }
}

/// The text with a mark in the place of each range; of those that only signs part one for all.
fn without(text: &str, gone: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    let mut open = false;
    for range in gone {
        if range.end <= from {
            continue;
        }
        let start = range.start.max(from);
        let between = &text[from..start];
        let joined = open && between.len() <= 3 && !between.contains('\n') && between.chars().all(|c| !c.is_alphanumeric());
        if !joined {
            clean.push_str(between);
            clean.push_str(HUSHED);
        }
        open = true;
        from = range.end;
    }
    clean.push_str(&text[from..]);
    clean
}

#[cfg(test)]
mod tests;
