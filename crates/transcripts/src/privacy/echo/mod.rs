//! Echoes of private text: a reply, a command or a title that repeats what a prompt marked as private.
//!
//! The distinctive words of a private block are remembered: not common words, and not what the session said in public before. They
//! are removed from everything else the session says, including subagents and forks.
//!
//! ## Privacy
//! Only hashes of four bytes are stored, each salted with the session's id. A reader of the index learns neither what was said nor
//! that two sessions said the same, and a long number shares its hash with many others. Someone with the index and a list of names
//! can try them out, but they could search the transcript beside it just as well.
//!
//! Synonyms and translations are not recognized.

mod units;
mod vocabulary;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use self::units::{EchoUnit, EchoUnitKind, spelled_out, units};
use self::vocabulary::{is_common, is_function};
use super::is_meaningful;
use super::raw::RawText;
use crate::session::{Item, hash_parts};

/// Replaces private text.
pub(crate) const PRIVATE_MARK: &str = "[private]";

/// At most this many names are remembered per message: only a pasted file has more distinctive words.
const MOST: usize = 2_000;
/// Shortest private word that is also recognized inside a longer one, in letters.
const MIN_LETTERS_WITHIN: usize = 5;
/// A run of `QUOTATION_WORDS` words counts as a quotation, however common they are, if at least `TELLING` of them are meaningful.
const QUOTATION_WORDS: usize = 4;
const MIN_MEANINGFUL_WORDS: usize = 3;

/// A remembered word: the hash of the session's id and the word's name.
pub type WordHash = u32;

fn hash(session: &str, name: &str) -> WordHash {
    let [a, b, c, d, ..] = hash_parts(&[b"echo", session.as_bytes(), name.as_bytes()]);
    u32::from_be_bytes([a, b, c, d])
}

/// The names under which the distinctive parts of private text are remembered. Only their hashes are stored.
pub fn distinctive(fenced: &str) -> BTreeSet<String> {
    let all = units(fenced);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let capitals = all.iter().filter(|unit| unit.kind == EchoUnitKind::Word && begins_upper(fenced, unit)).count();
    let is_heading = capitals * 2 > all.iter().filter(|unit| unit.kind == EchoUnitKind::Word).count().max(3);
    for unit in &all {
        match unit.kind {
            EchoUnitKind::Word => names.extend(names_of_word(fenced, unit, is_heading)),
            EchoUnitKind::Code if unit.key.len() >= 4 => _ = names.insert(format!("w:{}", unit.key)),
            EchoUnitKind::Code => {}
            EchoUnitKind::Number => names.extend(names_of_number(fenced, unit)),
            EchoUnitKind::Run => names.extend(names_of_run(&unit.key)),
        }
        if names.len() >= MOST {
            break;
        }
    }
    names.extend(phrases(fenced, &all).into_iter().map(|(_, name)| name).take(MOST));
    names
}

fn names_of_word(text: &str, unit: &EchoUnit, is_heading: bool) -> Vec<String> {
    let word = &text[unit.range.clone()];
    let letters = unit.key.chars().count();
    let is_name = begins_upper(text, unit) && !begins_sentence(text, unit) && !is_heading;
    if is_function(&unit.key) || letters < 2 {
        return Vec::new();
    }
    // A name that is also a common word is recognized by its capital.
    if is_common(&unit.key) || letters == 2 {
        let shouted = word.chars().all(|c| !c.is_lowercase());
        return if is_name && !shouted { vec![format!("c:{word}")] } else { Vec::new() };
    }
    // There is no list of common words for other scripts.
    if !unit.key.is_ascii() && !is_name && letters < 7 {
        return Vec::new();
    }
    [Some(unit.key.clone()), spelled_out(word), stem(&unit.key)].into_iter().flatten().map(|key| format!("w:{key}")).collect()
}

/// A Cyrillic or Greek word without its last two letters, which inflection may change, if enough letters are left.
fn stem(key: &str) -> Option<String> {
    let letters: Vec<char> = key.chars().collect();
    let inflected = letters.iter().all(|c| matches!(c, '\u{370}'..='\u{52f}'));
    let stem = &letters[..letters.len().saturating_sub(2)];
    (inflected && stem.len() >= MIN_LETTERS_WITHIN).then(|| stem.iter().collect())
}

fn names_of_number(text: &str, unit: &EchoUnit) -> Vec<String> {
    let mut names = Vec::new();
    names.extend(date(&text[unit.range.clone()]));
    let values = [Some(unit.key.clone()), full_value(text, unit)];
    for digits in values.into_iter().flatten().filter(|digits| is_distinctive_number(digits)) {
        names.extend(endings(&digits));
    }
    names
}

/// The names of a number: all its digits, and for a long one its last seven, as it may be written with or without a prefix.
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

/// The full value of a number with a unit word, such as "4.2 million".
fn full_value(text: &str, unit: &EchoUnit) -> Option<String> {
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

/// The name of a date, whatever the order of its parts.
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

/// The names of a run in a script without spaces: the run, and its first two and three characters, which are often a family name.
fn names_of_run(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    let prefix = |n: usize| (chars.len() > n).then(|| format!("k:{}", chars[..n].iter().collect::<String>()));
    if chars.len() < 2 { Vec::new() } else { [Some(format!("k:{run}")), prefix(2), prefix(3)].into_iter().flatten().collect() }
}

/// The names of quotable word sequences, each with the range of its units.
fn phrases(text: &str, all: &[EchoUnit]) -> Vec<(Range<usize>, String)> {
    let words: Vec<usize> = (0..all.len()).filter(|n| all[*n].kind == EchoUnitKind::Word).collect();
    let mut found = Vec::new();
    let tells = |n: usize| !is_function(&all[n].key) && all[n].key.chars().count() > 2;
    for row in words.windows(QUOTATION_WORDS) {
        let (first, last) = (row[0], row[QUOTATION_WORDS - 1]);
        // Not across the end of a sentence or a line.
        let between = &text[all[first].range.end..all[last].range.start];
        if row.iter().filter(|n| tells(**n)).count() < MIN_MEANINGFUL_WORDS
            || between.contains(['\n', ';', '!', '?'])
            || between.contains(". ")
        {
            continue;
        }
        let keys: Vec<&str> = row.iter().map(|n| all[*n].key.as_str()).collect();
        found.push((first..last + 1, format!("p:{}", keys.join(" "))));
    }
    found
}

fn begins_upper(text: &str, unit: &EchoUnit) -> bool {
    text[unit.range.clone()].chars().next().is_some_and(char::is_uppercase)
}

/// Does a word begin a sentence or a line, or follow punctuation? Then its capital means nothing.
fn begins_sentence(text: &str, unit: &EchoUnit) -> bool {
    let before = text[..unit.range.start].trim_end_matches([' ', '\t', '"', '\'', '(', '*', '_', '“', '„']);
    before.is_empty() || before.ends_with(['\n', '.', '!', '?', ':', '-', '•', '#', '>'])
}

/// Calls `each` with every name in a text that a private word might be remembered by.
pub fn names_in(text: &str, mut each: impl FnMut(&str)) {
    let all = units(text);
    for unit in &all {
        match unit.kind {
            EchoUnitKind::Word | EchoUnitKind::Code => {
                each(&format!("w:{}", unit.key));
                each(&format!("c:{}", &text[unit.range.clone()]));
                spelled_out(&text[unit.range.clone()]).into_iter().for_each(|key| each(&format!("w:{key}")));
            }
            EchoUnitKind::Number => {
                let values = [Some(unit.key.clone()), full_value(text, unit)].into_iter().flatten();
                values.flat_map(|digits| endings(&digits)).chain(date(&text[unit.range.clone()])).for_each(|name| each(&name));
            }
            EchoUnitKind::Run => names_of_run(&unit.key).iter().for_each(|name| each(name)),
        }
    }
    phrases(text, &all).iter().for_each(|(_, name)| each(name));
}

/// The remembered private words of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateWords {
    sessions: Vec<(String, HashSet<WordHash>)>,
}

/// Hashes names for a session to remember.
pub fn hashes<'n>(session: &str, names: impl Iterator<Item = &'n str>) -> Vec<WordHash> {
    names.map(|name| hash(session, name)).collect()
}

impl PrivateWords {
    pub fn is_empty(&self) -> bool {
        self.sessions.iter().all(|(_, words)| words.is_empty())
    }

    /// Remembers more words of a session. Returns whether any of them is new.
    pub fn add(&mut self, session: &str, words: impl IntoIterator<Item = WordHash>) -> bool {
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

    /// Does the text repeat private words?
    pub fn are_in(&self, text: &str) -> bool {
        matches!(self.clean(text), Cow::Owned(_))
    }

    /// The same for a string of a line that the sanitizer has passed whole; `None` if nothing in it repeats private words, nor such as `fresh`.
    pub fn cleaned(&self, shown: &RawText<'_>, fresh: &Self) -> Option<String> {
        let known = self.clean(shown.inside());
        let all = fresh.clean(&known);
        (all != shown.inside()).then(|| all.into_owned())
    }

    /// Removes what repeats private words; borrows the text if nothing does.
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

    fn repeats(&self, text: &str, unit: &EchoUnit) -> bool {
        let word = &text[unit.range.clone()];
        match unit.kind {
            EchoUnitKind::Word | EchoUnitKind::Code => {
                self.holds(&format!("c:{word}"))
                    || self.holds(&format!("w:{}", unit.key))
                    || !is_common(&unit.key)
                        && (spelled_out(word).is_some_and(|key| self.holds(&format!("w:{key}"))) || self.is_within(&unit.key))
            }
            EchoUnitKind::Number => {
                let values = [Some(unit.key.clone()), full_value(text, unit)].into_iter().flatten();
                values.flat_map(|digits| endings(&digits)).chain(date(word)).any(|name| self.holds(&name))
            }
            EchoUnitKind::Run => {
                let chars: Vec<(usize, char)> = unit.key.char_indices().collect();
                let part = |from: usize, to: usize| &unit.key[chars[from].0..chars.get(to).map_or(unit.key.len(), |c| c.0)];
                (0..chars.len())
                    .any(|from| (from + 2..=chars.len().min(from + 8)).any(|to| self.holds(&format!("k:{}", part(from, to)))))
            }
        }
    }

    /// Does a word begin or end with a private one, as in an inflected or a compound form?
    fn is_within(&self, key: &str) -> bool {
        let ends: Vec<usize> = key.char_indices().map(|(at, _)| at).chain([key.len()]).collect();
        let letters = ends.len() - 1;
        let plural =
            ["s", "es", "n", "en"].iter().filter_map(|ending| key.strip_suffix(ending)).filter(|stem| stem.chars().count() > 2);
        plural.map(|stem| format!("w:{stem}")).any(|name| self.holds(&name))
            || (MIN_LETTERS_WITHIN..letters)
                .any(|n| self.holds(&format!("w:{}", &key[..ends[n]])) || self.holds(&format!("w:{}", &key[ends[letters - n]..])))
    }

    /// Removes what repeats private words from an item; `None` if nothing meaningful is left. Borrows the item if nothing changes.
    pub fn clean_item<'i>(&self, item: &'i Item) -> Option<Cow<'i, Item>> {
        if self.is_empty() || !item.texts().into_iter().any(|text| self.are_in(text)) {
            return Some(Cow::Borrowed(item));
        }
        let mut clean = item.clone();
        clean.texts_mut().into_iter().for_each(|text| *text = self.clean(text).into_owned());
        let says = match &clean {
            Item::Title(title) => is_meaningful(&title.text.replace(PRIVATE_MARK, " ")),
            Item::Recap(text) | Item::Away(text) | Item::Reply(text) => is_meaningful(&text.replace(PRIVATE_MARK, " ")),
            _ => true,
        };
        says.then_some(Cow::Owned(clean))
    }
}

/// Replaces each range by a mark; ranges separated only by punctuation share one.
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
            clean.push_str(PRIVATE_MARK);
        }
        open = true;
        from = range.end;
    }
    clean.push_str(&text[from..]);
    clean
}

#[cfg(test)]
mod tests;
