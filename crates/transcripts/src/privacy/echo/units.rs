//! Splits text into the units that are compared with private ones: words (also those joined in identifiers), numbers in any
//! grouping, and runs of scripts without spaces. Linear in the text.

use std::ops::Range;

/// A part of a text, with the key it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoUnit {
    pub range: Range<usize>,
    pub kind: EchoUnitKind,
    /// The word in lower case without accents, or the digits of a number.
    pub key: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoUnitKind {
    Word,
    /// Letters and digits mixed: a code, a plate, a password. Its parts follow as units of their own.
    Code,
    Number,
    /// Characters of a script that puts no spaces between words.
    Run,
}

/// Classes of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Letter,
    Digit,
    Han,
    Kana,
    Hangul,
    Other,
}

fn class(c: char) -> CharClass {
    match c {
        '0'..='9' | '０'..='９' => CharClass::Digit,
        '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' => CharClass::Letter,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}' | '々' => CharClass::Han,
        '\u{30a0}'..='\u{30ff}' => CharClass::Kana,
        '\u{ac00}'..='\u{d7a3}' => CharClass::Hangul,
        // Hiragana mostly spells grammar.
        '\u{3040}'..='\u{309f}' => CharClass::Other,
        c if c.is_numeric() => CharClass::Other,
        c if c.is_alphabetic() => CharClass::Letter,
        _ => CharClass::Other,
    }
}

/// The units of a text, in order.
pub fn units(text: &str) -> Vec<EchoUnit> {
    let chars: Vec<(usize, char, CharClass)> = text.char_indices().map(|(at, c)| (at, c, class(c))).collect();
    let end_of = |n: usize| chars.get(n).map_or(text.len(), |c| c.0);
    let (mut all, mut n) = (Vec::new(), 0);
    while n < chars.len() {
        let first = chars[n].2;
        let length = |fits: &dyn Fn(CharClass) -> bool| chars[n..].iter().take_while(|c| fits(c.2)).count();
        let to = match first {
            CharClass::Other => n + 1,
            CharClass::Han | CharClass::Kana | CharClass::Hangul => n + length(&|c| c == first),
            CharClass::Letter | CharClass::Digit => n + length(&|c| matches!(c, CharClass::Letter | CharClass::Digit)),
        };
        let range = chars[n].0..end_of(to);
        match first {
            CharClass::Other => {}
            CharClass::Letter | CharClass::Digit => {
                let run = &chars[n..to];
                let number = if run.iter().all(|c| c.2 == CharClass::Digit) { number_from(&chars, n) } else { None };
                if let Some(behind) = number {
                    all.push(EchoUnit {
                        range: range.start..end_of(behind),
                        kind: EchoUnitKind::Number,
                        key: digits(&text[range.start..end_of(behind)]),
                    });
                    n = behind;
                    continue;
                }
                add_run(text, run, range, &mut all);
            }
            _ => all.push(EchoUnit { key: text[range.clone()].to_owned(), range, kind: EchoUnitKind::Run }),
        }
        n = to;
    }
    all
}

/// The end of the number that begins at `from`: groups of digits joined by one separator each.
fn number_from(chars: &[(usize, char, CharClass)], from: usize) -> Option<usize> {
    let mut end = from;
    loop {
        // The letter of "4.2M" is a unit of its own.
        while chars.get(end).is_some_and(|c| c.2 == CharClass::Digit) {
            end += 1;
        }
        let joins =
            chars.get(end).is_some_and(|c| matches!(c.1, ',' | '.' | ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '-' | '/' | ':'));
        let more = chars[end.min(chars.len())..].iter().skip(1).take_while(|c| c.2 == CharClass::Digit).count();
        let is_point = chars.get(end).is_some_and(|c| matches!(c.1, ',' | '.'));
        let glued = !is_point && chars.get(end + 1 + more).is_some_and(|c| c.2 == CharClass::Letter);
        // In "12 4 files" the 4 is a number of its own: a space joins only groups of two or more digits.
        let spaced = chars.get(end).is_some_and(|c| c.1 == ' ') && more < 2;
        if !joins || more == 0 || glued || spaced {
            return Some(end);
        }
        end += 1;
    }
}

/// Adds the words of a run of letters and digits: the whole if it is mixed, and the parts that programmers join.
fn add_run(text: &str, run: &[(usize, char, CharClass)], range: Range<usize>, all: &mut Vec<EchoUnit>) {
    let mixed = run.iter().any(|c| c.2 == CharClass::Digit) && run.iter().any(|c| c.2 == CharClass::Letter);
    if mixed {
        all.push(EchoUnit { range: range.clone(), kind: EchoUnitKind::Code, key: fold(&text[range.clone()]) });
    }
    let mut from = 0;
    for n in 1..=run.len() {
        let ends = n == run.len() || {
            let (a, b) = (run[n - 1], run[n]);
            let next_lower = run.get(n + 1).is_some_and(|c| c.1.is_lowercase());
            a.2 != b.2 || b.1.is_uppercase() && (a.1.is_lowercase() || a.1.is_uppercase() && next_lower)
        };
        if ends {
            let part = run[from].0..run.get(n).map_or(range.end, |c| c.0);
            let kind = if run[from].2 == CharClass::Digit { EchoUnitKind::Number } else { EchoUnitKind::Word };
            let key = if kind == EchoUnitKind::Number { digits(&text[part.clone()]) } else { fold(&text[part.clone()]) };
            all.push(EchoUnit { range: part, kind, key });
            from = n;
        }
    }
}

fn digits(text: &str) -> String {
    text.chars()
        .filter_map(|c| if ('０'..='９').contains(&c) { char::from_u32(c as u32 - 0xfee0) } else { Some(c) })
        .filter(char::is_ascii_digit)
        .collect()
}

/// A word in lower case, without accents.
pub fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' => {}
            'ａ'..='ｚ' | '０'..='９' => folded.extend(char::from_u32(c as u32 - 0xfee0)),
            c if c.is_ascii() => folded.push(c),
            c => match LATIN_LETTERS.iter().find(|(with, _)| with.contains(c)) {
                Some((_, plain)) => folded.push_str(plain),
                None => folded.push(c),
            },
        }
    }
    folded
}

/// The word with umlauts and the like spelled as two letters (`ä` as `ae`), if that differs.
pub(crate) fn spelled_out(word: &str) -> Option<String> {
    let lower = word.to_lowercase().replace("a\u{308}", "ä").replace("o\u{308}", "ö").replace("u\u{308}", "ü");
    let spelled = lower.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue").replace('å', "aa").replace('ø', "oe");
    (spelled != lower).then(|| fold(&spelled))
}

/// Accented letters and their plain forms.
const LATIN_LETTERS: [(&str, &str); 28] = [
    ("àáâãäåāăąǎ", "a"),
    ("æ", "ae"),
    ("çćĉċč", "c"),
    ("ďđð", "d"),
    ("èéêëēĕėęěẽ", "e"),
    ("ĝğġģ", "g"),
    ("ĥħ", "h"),
    ("ìíîïĩīĭįıǐ", "i"),
    ("ĵ", "j"),
    ("ķ", "k"),
    ("ĺļľŀł", "l"),
    ("ñńņňŉ", "n"),
    ("òóôõöøōŏőǒ", "o"),
    ("œ", "oe"),
    ("ŕŗř", "r"),
    ("śŝşšș", "s"),
    ("ß", "ss"),
    ("ţťŧț", "t"),
    ("ùúûüũūŭůűųǔ", "u"),
    ("ŵ", "w"),
    ("ýÿŷ", "y"),
    ("źżž", "z"),
    ("þ", "th"),
    ("ạảấầẩẫậắằẳẵặ", "a"),
    ("ẹẻếềểễệ", "e"),
    ("ịỉ", "i"),
    ("ọỏốồổỗộớờởỡợ", "o"),
    ("ụủứừửữự", "u"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_what_people_and_programmers_write() {
        let keys = |text: &str| units(text).into_iter().map(|unit| unit.key).collect::<Vec<_>>();
        assert_eq!(keys("GlobexMerger's plan_v2.md"), ["globex", "merger", "s", "plan", "v2", "v", "2", "md"]);
        assert_eq!(keys("HTTPServer ÄPFEL Straße"), ["http", "server", "apfel", "strasse"]);
        assert_eq!(keys("$4,200,000 or 4 200 000, 4 files"), ["4200000", "or", "4200000", "4", "files"]);
        assert_eq!(keys("+49 151 234-5678"), ["491512345678"]);
        assert_eq!(keys("田中さんはカルテ를홍길동"), ["田中", "カルテ", "를홍길동"]);
        assert_eq!(keys("DE89 3704 0044"), ["de89", "de", "89", "37040044"]);
        assert_eq!(keys("Ｇｌｏｂｅｘ"), ["globex"]);
        assert_eq!(spelled_out("Müller"), Some("mueller".into()));
    }
}
