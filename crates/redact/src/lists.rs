//! Lists and maps under a name in the plural: `passwords:` with `- …`, `user: …` or `- name: …` and `value: …` on the lines below,
//! `tokens = ["…"]`, `{"apiKeys": {"a": "…"}}`, the table `[credentials]` of a settings file.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, DIGIT, byte_at, byte_before};
use super::candidate::{is_given, is_secret};
use super::harmless::is_id;
use super::line_wrap::next_line;
use super::secret_names::{SecretKind, is_setting, kind_of_name};
use super::value::{ValueEnd, bare_value, opening_quote, quote_at, quoted_end};

/// The most elements of a list in brackets, the most lines of one below a name, and the most bytes of an element.
const MAX_ELEMENTS: usize = 24;
const MAX_LINES: usize = 48;
const MAX_BYTES: usize = 256;
/// How far back the start of the name's line is searched.
const MAX_INDENT: usize = 40;
const NAME: ByteSet = ByteSet::of("a-zA-Z0-9_.@\"'-");

/// What a list holds.
#[derive(Debug, Clone, Copy)]
struct Kind {
    secret: SecretKind,
    /// `credentials:` may hold addresses and users, too, so its values must look like passwords.
    is_credentials: bool,
}

impl Kind {
    /// The kind of list that this name heads. Most names in the plural count something.
    fn of(name: &[u8]) -> Option<Self> {
        let secret = kind_of_name(name.strip_suffix(b"s")?)?;
        let ends = |end: &str| name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes());
        let is_credentials = secret == SecretKind::Auth && (ends("credentials") || ends("creds"));
        let secret = if is_credentials { SecretKind::Password } else { secret };
        (secret != SecretKind::Auth).then_some(Self { secret, is_credentials })
    }

    /// Whether this element is a secret. `is_alone`: nothing else stands on its line.
    fn fits(self, name: &[u8], value: &[u8], is_alone: bool) -> bool {
        let is_setting = is_setting(name);
        if self.is_credentials {
            let is_strong = value.iter().any(|b| b"!@#$%^&*?+~".contains(b)) || value.iter().any(u8::is_ascii_uppercase);
            return is_alone && !is_setting && (is_secret(value, self.secret, true) || is_strong && is_given(value));
        }
        let is_given = || is_alone && !is_setting && self.secret == SecretKind::Password && is_given(value);
        is_secret(value, self.secret, true) && !(is_setting && is_id(value)) || is_given()
    }
}

/// Adds the secrets below the name that ends at `name.end`, from `to` on, which moves behind what was read.
pub(crate) fn values(text: &[u8], name: &Range<usize>, to: &mut usize, found: &mut Vec<Range<usize>>) -> Option<SecretKind> {
    if name.end < *to || !matches!(byte_before(text, name.end), b's' | b'S') {
        return None;
    }
    let is_table = byte_before(text, name.start) == b'[' && byte_at(text, name.end) == b']';
    let start = if is_table {
        name.end + 1
    } else {
        let closed = quote_at(text, name.end).map_or(name.end, |(_, after)| after);
        let sign = bytes::run_end(text, closed, BLANK, 8);
        if !matches!(byte_at(text, sign), b':' | b'=') {
            return None;
        }
        bytes::run_end(text, sign + 1, BLANK, 8)
    };
    let in_brackets = !is_table && matches!(byte_at(text, start), b'[' | b'{');
    if !in_brackets && next_line(text, start, MAX_BYTES).is_none_or(|next| next > start + 4) {
        return None;
    }
    let kind = Kind::of(&text[name.clone()])?;
    let before = found.len();
    *to = match () {
        () if in_brackets => elements(text, start + 1, kind, found),
        () if is_table => lines(text, start, kind, b'=', None, found),
        () => lines(text, start, kind, b':', Some(indent_of(text, name.start)), found),
    };
    (found.len() > before).then_some(kind.secret)
}

/// The quoted elements up to the closing bracket; behind the names of a map only what follows a `:`.
fn elements(text: &[u8], start: usize, kind: Kind, found: &mut Vec<Range<usize>>) -> usize {
    let mut offset = start;
    let mut name = start..start;
    for _ in 0..2 * MAX_ELEMENTS {
        offset = bytes::run_end(text, offset, ByteSet::of(" \t\r\n,{"), 60);
        let bare = bytes::run_end(text, offset, ByteSet::of("a-zA-Z0-9_"), 64);
        if bare > offset && byte_at(text, bare) == b':' {
            (name, offset) = (offset..bare, bare + 1);
            continue;
        }
        if byte_at(text, offset) == b'}' && byte_at(text, bytes::run_end(text, offset + 1, ByteSet::of(" \t\r\n"), 40)) == b',' {
            offset += 1;
            continue;
        }
        let Some((quote, inside)) = opening_quote(text, offset) else { break };
        let Some(end) = quoted_end(text, inside, quote, MAX_BYTES) else { return inside };
        offset = end + 1 + quote.backslashes;
        let colon = bytes::run_end(text, offset, BLANK, 8);
        if byte_at(text, colon) == b':' {
            (name, offset) = (inside..end, colon + 1);
        } else {
            found.extend(Some(inside..end).filter(|range| kind.fits(&text[name.clone()], &text[range.clone()], true)));
            name = offset..offset;
        }
    }
    offset
}

/// The elements on the lines below: `- …`, `name: …` and both, as far as they are indented more than the name or begin with `-`. `above` is
/// the indentation of the name; without it, the lines of a table up to the next one.
fn lines(text: &[u8], start: usize, kind: Kind, sign: u8, above: Option<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let mut offset = start;
    let mut first = None;
    for _ in 0..MAX_LINES {
        let Some(next) = next_line(text, offset, MAX_BYTES) else { break };
        let (content, indent) = content(text, next);
        let is_item = byte_at(text, content) == b'-' && byte_at(text, content + 1) == b' ';
        let least = above.map_or(0, |above| if is_item { above } else { above + 1 });
        if matches!(byte_at(text, content), b'#' | b'\n' | b'\r') {
            offset = content;
            continue;
        }
        if indent < *first.get_or_insert(indent) || indent < least {
            break;
        }
        let inner = if is_item { bytes::run_end(text, content + 1, BLANK, 8) } else { content };
        let name_end = bytes::run_end(text, inner, NAME, 80);
        let after = bytes::run_end(text, name_end, BLANK, 16);
        let is_pair = name_end > inner && byte_at(text, after) == sign && (sign == b'=' || !is_glued(text, after + 1));
        if !is_item && !is_pair {
            break;
        }
        let (name, value) =
            if is_pair { (inner..name_end, bytes::run_end(text, after + 1, BLANK, 8)) } else { (inner..inner, inner) };
        let range = match opening_quote(text, value) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, MAX_BYTES).unwrap_or(inside),
            None => bare_value(text, value, ValueEnd::Whitespace, MAX_BYTES),
        };
        offset = range.end.max(next);
        found.extend(element(text, &name, range, kind));
    }
    offset
}

/// The secret of an element: all of it, or in `user:password` what follows the colon.
fn element(text: &[u8], name: &Range<usize>, range: Range<usize>, kind: Kind) -> Option<Range<usize>> {
    let closed = quote_at(text, range.end).map_or(range.end, |(_, after)| after);
    let rest = bytes::run_end(text, closed, ByteSet::of(" \t\r,"), 16);
    let is_alone = matches!(byte_at(text, rest), 0 | b'\n' | b'#' | b'\\' | b'"' | b'\'');
    let user = bytes::run_end(text, range.start, ByteSet::of("a-zA-Z0-9_.@-"), 64);
    let is_login = name.is_empty() && user > range.start && user + 1 < range.end && byte_at(text, user) == b':';
    let range = if is_login && kind.secret == SecretKind::Password { user + 1..range.end } else { range };
    kind.fits(&text[name.clone()], &text[range.clone()], is_alone).then_some(range)
}

/// Whether something stands right here.
fn is_glued(text: &[u8], offset: usize) -> bool {
    !matches!(byte_at(text, offset), 0 | b' ' | b'\t' | b'\r' | b'\n' | b'\\')
}

/// Where a line's text begins behind a number or the sign of a diff, and by how much it is indented.
fn content(text: &[u8], line: usize) -> (usize, usize) {
    let number = bytes::run_end(text, line, BLANK, 16);
    let end = bytes::run_end(text, number, DIGIT, 7);
    let start = match byte_at(text, end) {
        b'\t' if end > number => end + 1,
        _ if end > number && text[end..].starts_with("→".as_bytes()) => end + "→".len(),
        _ if byte_at(text, line) == b'+' => line + 1,
        _ => line,
    };
    let content = bytes::run_end(text, start, BLANK, MAX_INDENT);
    (content, content - start)
}

/// By how much the line of a name is indented.
fn indent_of(text: &[u8], name: usize) -> usize {
    let from = name.saturating_sub(2 * MAX_INDENT);
    let head = &text[from..name];
    let line = bytes::rfind_sign(b'\n', head).map(|n| n + 1);
    let line = line.max(bytes::rfind(head, b"\\n").map(|n| n + 2));
    let (content, indent) = content(text, from + line.unwrap_or(0));
    if content <= name { indent } else { 0 }
}
