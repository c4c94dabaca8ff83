//! Parses the tokens and commands of rules. `build.rs` compiles this file, too, and parses the shipped rules; only a user's are parsed at
//! run time.

use std::borrow::Cow;

use super::rule::Need;

/// The most bytes of a set whose length has no upper limit, such as `{20,}`.
const MAX_UNLIMITED_BYTES: usize = 640;

/// A set of ASCII characters, a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteSet(pub(crate) u128);

/// A piece of a token behind its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(Cow<'static, str>),
    /// From `min` to `max` characters of a set, as many as there are.
    Run {
        set: ByteSet,
        min: usize,
        max: usize,
    },
}

/// The format of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) rule: Cow<'static, str>,
    /// The literal that texts are searched for, in this case.
    pub(crate) key: Cow<'static, str>,
    /// The set and number of characters before the key.
    pub(crate) lead: Option<(ByteSet, usize)>,
    pub(crate) parts: Cow<'static, [Part]>,
    pub(crate) needs: Need,
    /// The key is part of a URL or the name of a parameter, and stays in the text.
    pub(crate) keeps_key: bool,
}

/// A command with the flags that a secret follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) name: Cow<'static, str>,
    pub(crate) flags: Cow<'static, [Flag]>,
}

/// A flag of a command; an empty name stands for the command itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flag {
    pub(crate) rule: Cow<'static, str>,
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: FlagValue,
    pub(crate) needs: Need,
}

/// Where the secret is behind a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagValue {
    /// `-p <secret>`: the next word.
    Word,
    /// `by '<secret>'`: what the quotes hold.
    Quoted,
    /// `-p<secret>`: the rest of the flag's own word.
    Glued,
    /// `-u <word>:<secret>`: behind a name and this separator.
    Pair(u8),
    /// `-b <file> <word> <secret>`: behind a file, which is left out if the flag's letters include `n`, and a name.
    Last,
    /// `<word> <secret>`: behind this many words.
    After(usize),
    /// `<word>=<secret> ...`: the value of each pair.
    Pairs,
    /// `... <secret>`: the first word that looks like a password.
    Any,
}

/// Parses the format of a token.
pub(crate) fn token(rule: &str, needs: Need, format: &str) -> Result<Token, &'static str> {
    let mut pieces = pieces(format)?.into_iter().peekable();
    let lead = match pieces.next_if(|piece| matches!(piece, Piece::Part(Part::Run { .. }))) {
        Some(Piece::Part(Part::Run { set, min, max })) if min == max => Some((set, max)),
        None => None,
        Some(_) => return Err("a set before the beginning has a fixed length"),
    };
    let Some(Piece::Part(Part::Literal(key))) = pieces.next() else { return Err("a token begins with literal characters") };
    if key.len() < 2 {
        return Err("a token begins with two literal characters or more");
    }
    let keeps_key = pieces.next_if_eq(&Piece::Open).is_some();
    let mut parts = Vec::new();
    let mut is_closed = false;
    for piece in pieces {
        match piece {
            Piece::Part(part) if !is_closed => parts.push(part),
            Piece::Close if keeps_key && !is_closed => is_closed = true,
            _ => return Err("parentheses stand around all that follows the beginning"),
        }
    }
    if keeps_key != is_closed || keeps_key && parts.is_empty() {
        return Err("parentheses stand around all that follows the beginning");
    }
    if lead.is_none() && !parts.iter().any(|part| matches!(part, Part::Run { .. })) {
        return Err("a token has a set besides its beginning");
    }
    Ok(Token { rule: rule.to_owned().into(), key, lead, parts: parts.into(), needs, keeps_key })
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Open,
    Close,
    Part(Part),
}

fn pieces(format: &str) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let piece = match c {
            '(' => Piece::Open,
            ')' => Piece::Close,
            '[' => {
                let set = set(&mut chars)?;
                let (min, max) = length(&mut chars)?;
                Piece::Part(Part::Run { set, min, max })
            }
            '\\' => {
                literal.push(chars.next().ok_or("a `\\` stands before a character")?);
                continue;
            }
            ']' | '{' | '}' => return Err("`]`, `{` and `}` belong to a set; a literal one has a `\\` before it"),
            c => {
                literal.push(c);
                continue;
            }
        };
        if !literal.is_empty() {
            pieces.push(Piece::Part(Part::Literal(std::mem::take(&mut literal).into())));
        }
        pieces.push(piece);
    }
    if !literal.is_empty() {
        pieces.push(Piece::Part(Part::Literal(literal.into())));
    }
    Ok(pieces)
}

/// Parses a set behind its `[`, up to its `]`.
fn set(chars: &mut std::str::Chars<'_>) -> Result<ByteSet, &'static str> {
    const OPEN: &str = "a set is closed by `]`";
    let mut bits = 0u128;
    loop {
        let first = match chars.next().ok_or(OPEN)? {
            ']' if bits != 0 => return Ok(ByteSet(bits)),
            ']' => return Err("a set has characters"),
            '\\' => chars.next().ok_or(OPEN)?,
            c => c,
        };
        let mut ahead = chars.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(c)) if c != ']' => {
                let last = if c == '\\' { ahead.next().ok_or(OPEN)? } else { c };
                *chars = ahead;
                last
            }
            _ => first,
        };
        if !last.is_ascii() || first > last {
            return Err("a set has ASCII characters and ranges of them, the smaller one first");
        }
        (first..=last).for_each(|c| bits |= 1 << u32::from(c));
    }
}

/// Parses the `{20}`, `{20,40}` or `{20,}` behind a set.
fn length(chars: &mut std::str::Chars<'_>) -> Result<(usize, usize), &'static str> {
    const WRONG: &str = "a set is followed by its length: `{20}`, `{20,40}` or `{20,}`, at most 4096";
    let (inner, rest) = chars.as_str().strip_prefix('{').and_then(|rest| rest.split_once('}')).ok_or(WRONG)?;
    let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=4096).contains(n)).ok_or(WRONG);
    let (min, max) = match inner.split_once(',') {
        None => (number(inner)?, number(inner)?),
        Some((min, "")) => (number(min)?, number(min)?.max(MAX_UNLIMITED_BYTES)),
        Some((min, max)) => (number(min)?, number(max)?),
    };
    *chars = rest.chars();
    if min <= max { Ok((min, max)) } else { Err(WRONG) }
}

/// Parses a command line and adds its flag to the command.
pub(crate) fn add_command(commands: &mut Vec<Command>, rule: &str, needs: Need, line: &str) -> Result<(), &'static str> {
    let (head, value) = flag_value(line)?;
    let head = head.trim_end();
    let (name, flag) = head.split_once(" ... ").unwrap_or((head, ""));
    if name.len() < 2 || [name, flag].iter().any(|part| part.contains('<') || part.contains("...")) {
        return Err("a command has a name, perhaps ` ... ` and a flag, then the secret");
    }
    let flag = Flag { rule: rule.to_owned().into(), name: flag.to_owned().into(), value, needs };
    match commands.iter_mut().find(|command| command.name == name) {
        Some(command) => command.flags.to_mut().push(flag),
        None => commands.push(Command { name: name.to_owned().into(), flags: vec![flag].into() }),
    }
    Ok(())
}

/// Splits a command line into what precedes the secret, and the form of the secret.
fn flag_value(line: &str) -> Result<(&str, FlagValue), &'static str> {
    if let Some(head) = line.strip_suffix("<word>=<secret> ...") {
        return Ok((head, FlagValue::Pairs));
    }
    if let Some(head) = line.strip_suffix("'<secret>'") {
        return Ok((head, FlagValue::Quoted));
    }
    let head = line.strip_suffix("<secret>").ok_or("a command ends with `<secret>`, `'<secret>'` or `<word>=<secret> ...`")?;
    if let Some(head) = head.strip_suffix("... ") {
        return Ok((head, FlagValue::Any));
    }
    if let Some(head) = head.strip_suffix("b <file> <word> ") {
        return Ok((head, FlagValue::Last));
    }
    let Some(words) = head.strip_suffix(' ') else {
        return Ok(match head.rsplit_once("<word>") {
            Some((head, sign)) if sign.len() == 1 => (head, FlagValue::Pair(sign.as_bytes()[0])),
            _ => (head, FlagValue::Glued),
        });
    };
    let name = words.trim_end_matches(" <word>");
    let count = (words.len() - name.len()) / " <word>".len();
    Ok((name, if count == 0 { FlagValue::Word } else { FlagValue::After(count) }))
}
