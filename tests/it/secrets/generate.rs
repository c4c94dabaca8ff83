//! Secrets grown from patterns: none stands in the source, each is another one, and all are the same in every run.
//!
//! A pattern is text with holes: `{w36}` is 36 letters and digits, `{h40}` hex digits … A hole's content is what must not appear
//! anywhere; one that ends with `?` is public beside it, as an account's number. `{!WORD}` is the word itself, for the source not to
//! look like what it describes; `{{` is a brace.

use crate::support::size::Dice;

/// What a hole is filled with, by its letter.
const ALPHABETS: [(char, &str); 11] = [
    ('w', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    ('l', "abcdefghijklmnopqrstuvwxyz0123456789"),
    ('u', "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ('x', "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    ('h', "0123456789abcdef"),
    ('d', "0123456789"),
    ('b', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ('s', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"),
    ('p', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#%^*-_+=.?"),
    ('j', "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"),
    ('c', "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
];

/// Words of a wallet's list.
const SEEDS: [&str; 30] = [
    "apple", "bridge", "canyon", "dolphin", "engine", "fabric", "garden", "hammer", "island", "jungle", "kitchen", "lemon",
    "magnet", "napkin", "orbit", "pepper", "quantum", "ribbon", "salmon", "tunnel", "umbrella", "velvet", "window", "yellow",
    "zebra", "anchor", "basket", "candle", "desert", "elbow",
];

/// A text that holds a secret, and the parts of it that nobody may see.
#[derive(Debug, Clone)]
pub struct Grown {
    pub text: String,
    pub parts: Vec<String>,
}

/// Fills the holes of a pattern; the same seed gives the same text.
pub fn grow(pattern: &str, seed: &str) -> Grown {
    let mut chance = Chance::new(seed);
    let mut grown = Grown { text: String::new(), parts: Vec::new() };
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        grown.text.push_str(before);
        if let Some(after) = after.strip_prefix('{') {
            grown.text.push('{');
            rest = after;
            continue;
        }
        let (hole, after) = after.split_once('}').unwrap_or_else(|| panic!("a hole without an end: {pattern}"));
        fill(hole, &mut chance, &mut grown);
        rest = after;
    }
    grown.text.push_str(rest);
    grown
}

fn fill(hole: &str, chance: &mut Chance, grown: &mut Grown) {
    if let Some(word) = hole.strip_prefix('!') {
        grown.text.push_str(word);
        return;
    }
    let (is_public, hole) = hole.strip_suffix('?').map_or((false, hole), |hole| (true, hole));
    let one = |text: String| (text.clone(), vec![text]);
    // What encoded texts begin with is the same in all of them.
    let (content, parts) = match hole {
        "words" => {
            let words = format!("{}-{}-{}", chance.word(), chance.word(), chance.below(9000) + 1000);
            (words.clone(), vec![words])
        }
        "word" => {
            let word = format!("{}{}", chance.word(), chance.word()).to_lowercase();
            (word.clone(), vec![word])
        }
        "human" => one(chance.human()),
        "spaced" => one((0..4).map(|_| chance.word().to_lowercase()).collect::<Vec<_>>().join(" ")),
        "low16" => one((0..4).map(|_| chance.letters(4)).collect::<Vec<_>>().join(" ")),
        "uuid" => one([8, 4, 4, 4, 12].map(|len| chance.run('h', len)).join("-")),
        "code" => one([5, 5].map(|len| chance.run('l', len)).join("-")),
        "serial4" => one([5; 4].map(|len| chance.run('u', len)).join("-")),
        "serial5" => one([5; 5].map(|len| chance.run('u', len)).join("-")),
        "bech58" => one(chance.run('c', 58).to_lowercase()),
        "seed12" => one(chance.seeds(12).join(" ")),
        "seed24" => one(chance.seeds(24).join(" ")),
        "seedarray12" => one(chance.seeds(12).join("\", \"")),
        "seedlist12" => {
            let words = chance.seeds(12).into_iter().enumerate();
            one(words
                .map(|(n, word)| if n == 0 { word.to_owned() } else { format!("{}. {word}", n + 1) })
                .collect::<Vec<_>>()
                .join("\n"))
        }
        "basic" => {
            let encoded = base64(&format!("deploy:{}", chance.run('w', 24)));
            (encoded.clone(), vec![encoded[10..].to_owned()])
        }
        "jwt" => {
            let claims = format!(r#"{{"sub":"{}","scope":"orders","exp":17{}}}"#, chance.run('w', 24), chance.run('d', 8));
            let claims = base64(&claims).replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned();
            let signature = chance.run('s', 43);
            (format!("{claims}.{signature}"), vec![claims[12..40].to_owned(), signature])
        }
        _ => {
            let (kind, count) = hole.split_at(1);
            let count: usize = count.parse().unwrap_or_else(|e| panic!("{hole}: {e}"));
            let run = chance.run(kind.chars().next().expect("a letter"), count);
            (run.clone(), vec![run])
        }
    };
    grown.text.push_str(&content);
    if !is_public {
        assert!(content.len() >= 8, "{hole} is too short to be looked for");
        grown.parts.extend(parts);
    }
}

/// As of RFC 4648, with padding.
pub fn base64(text: &str) -> String {
    let alphabet = ALPHABETS[6].1.as_bytes();
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0u32, |all, b| all << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let six = (bits >> (18 - 6 * at)) as usize & 63;
            out.push(if at <= chunk.len() { alphabet[six] as char } else { '=' });
        }
    }
    out
}

/// Numbers that look like chance and are none.
struct Chance(Dice);

impl Chance {
    fn new(seed: &str) -> Self {
        Self(Dice(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }

    fn run(&mut self, kind: char, count: usize) -> String {
        let (_, alphabet) = ALPHABETS.iter().find(|(letter, _)| *letter == kind).unwrap_or_else(|| panic!("no alphabet {kind}"));

        (0..count).map(|_| alphabet.as_bytes()[self.below(alphabet.len())] as char).collect()
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| (b'a' + self.below(26) as u8) as char).collect()
    }

    /// Words of a wallet, each another one.
    fn seeds(&mut self, count: usize) -> Vec<&'static str> {
        let mut left = SEEDS.to_vec();
        (0..count).map(|_| left.remove(self.below(left.len()))).collect()
    }

    /// A password as people think one up: a word, a year or a number, a sign.
    fn human(&mut self) -> String {
        let (word, number) = (self.word(), self.below(47) + 1980);
        match self.below(4) {
            0 => format!("{word}{number}{}", ["!", "#", "$", "?"][self.below(4)]),
            1 => format!("{}{}!", word.to_lowercase(), self.below(990) + 10),
            2 => format!("{word}@{}", self.below(9900) + 100),
            _ => format!("{word}!{}{}", &self.word().to_lowercase()[..4], self.below(10)),
        }
    }

    /// A word that nobody has said yet, for passwords that people think up.
    fn word(&mut self) -> String {
        let mut syllable = || [b"bdfgjklmnprstvwz"[self.below(16)], b"aeiou"[self.below(5)]];
        let word = [syllable(), syllable(), syllable(), syllable()].concat();
        let first = word[0].to_ascii_uppercase() as char;
        format!("{first}{}", String::from_utf8_lossy(&word[1..]))
    }
}

#[test]
fn base64_is_as_everybody_writes_it() {
    for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("deploy:x", "ZGVwbG95Ong=")] {
        assert_eq!(base64(plain), encoded);
    }
}
