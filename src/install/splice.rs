//! Text edits of a JSON document that follow the form it has: line breaks, indentation, spaces. Pure.
//!
//! Nothing outside the spliced ranges changes, and taking out what was put in gives the text back, byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;

/// Replacements of ranges of one text, that do not overlap.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.0.push((range, with.into()));
    }

    pub fn extend(&mut self, other: Edits) {
        self.0.extend(other.0);
    }

    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut edited = String::with_capacity(text.len() + 512);
        let mut at = 0;
        for (range, with) in self.0 {
            edited.push_str(&text[at..range.start]);
            edited.push_str(&with);
            at = range.end;
        }
        edited + &text[at..]
    }
}

/// What a member is called.
pub type Name = Cow<'static, str>;

/// A value to be put in.
#[derive(Debug, Clone)]
pub enum New {
    Text(String),
    Number(u64),
    List(Vec<New>),
    Map(Vec<(Name, New)>),
}

/// A new member of an object, or with no name an element of an array.
pub type Member = (Option<Name>, New);

/// An object or array of the text: its whole range, and those of its members.
#[derive(Debug, Clone)]
pub struct Container {
    pub range: Range<usize>,
    pub members: Vec<Range<usize>>,
}

pub fn range_of(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        Self { range: range_of(object), members: object.properties.iter().map(range_of).collect() }
    }
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array<'_>) -> Self {
        Self { range: range_of(array), members: array.elements.iter().map(range_of).collect() }
    }
}

impl Container {
    /// Takes out some of the members, but not all of them, each with the comma that goes with it.
    pub fn remove(&self, gone: &[usize], edits: &mut Edits) {
        for &at in gone {
            let kept_before = (0..at).any(|i| !gone.contains(&i));
            let member = &self.members[at];
            edits.replace(
                if kept_before { self.members[at - 1].end..member.end } else { member.start..self.members[at + 1].start },
                "",
            );
        }
    }
}

/// How a document is written.
#[derive(Debug, Clone)]
pub struct Form {
    newline: &'static str,
    /// One step of indentation; `None` when everything stands on one line.
    unit: Option<String>,
    colon: String,
}

/// Where a value stands: on lines of its own with this indentation, or within a line.
#[derive(Debug, Clone)]
enum Place {
    Lines(String),
    Inline { pad: String },
}

impl Form {
    /// The form of a document, as far as its outermost object shows it.
    pub fn of(text: &str, root: &Object<'_>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let colon = root.properties.first().map(|p| &text[name_end(p)..range_of(&p.value).start]);
        let colon = colon.filter(|c| !c.contains('\n')).unwrap_or(": ").to_owned();
        let unit = match before_last(text, &root.into()) {
            None => Some("  ".to_owned()),
            Some(lead) => lead.rsplit_once('\n').map(|(_, indent)| {
                let outer = indent_at(text, root.range.start);
                indent.strip_prefix(outer).unwrap_or(indent).to_owned()
            }),
        };
        Self { newline, unit, colon }
    }

    /// The form of a document that is not there yet.
    pub fn usual() -> Self {
        Self { newline: "\n", unit: Some("  ".to_owned()), colon: ": ".to_owned() }
    }

    /// A whole document.
    pub fn document(&self, members: &[Member]) -> String {
        self.filled('{', members, &Place::Lines(String::new())) + self.newline
    }

    /// Puts members behind the last one of a container.
    pub fn insert(&self, text: &str, container: &Container, members: &[Member], edits: &mut Edits) {
        let Some(last) = container.members.last() else {
            let open = text[container.range.clone()].chars().next().unwrap_or('{');
            let place = match &self.unit {
                Some(_) => Place::Lines(indent_at(text, container.range.start).to_owned()),
                None => Place::Inline { pad: String::new() },
            };
            return edits.replace(container.range.clone(), self.filled(open, members, &place));
        };
        let lead = before_last(text, container).unwrap_or_default();
        let (separator, place) = match lead.rsplit_once('\n') {
            Some((_, indent)) => (format!("{}{indent}", self.newline), Place::Lines(indent.to_owned())),
            None => {
                let pad = &text[container.range.start + 1..container.members[0].start];
                let pad = if text[container.range.clone()].starts_with('{') && !pad.contains('\n') { pad } else { "" };
                let separator = if container.members.len() > 1 { lead } else { self.space() };
                (separator.to_owned(), Place::Inline { pad: pad.to_owned() })
            }
        };
        let new: String = members.iter().map(|member| format!(",{separator}{}", self.member(member, &place))).collect();
        edits.replace(last.end..last.end, new);
    }

    fn space(&self) -> &'static str {
        if self.colon.ends_with(' ') { " " } else { "" }
    }

    fn member(&self, (name, value): &Member, place: &Place) -> String {
        let value = match value {
            New::Text(text) => quoted(text),
            New::Number(number) => number.to_string(),
            New::List(items) => self.filled('[', &items.iter().map(|i| (None, i.clone())).collect::<Vec<_>>(), place),
            New::Map(pairs) => {
                self.filled('{', &pairs.iter().map(|(k, v)| (Some(k.clone()), v.clone())).collect::<Vec<_>>(), place)
            }
        };
        name.as_ref().map_or(value.clone(), |name| format!("{}{}{value}", quoted(name), self.colon))
    }

    /// An object or array with members, whose first line stands at this place.
    fn filled(&self, open: char, members: &[Member], place: &Place) -> String {
        let close = if open == '{' { '}' } else { ']' };
        match place {
            Place::Lines(indent) => {
                let inner = format!("{indent}{}", self.unit.as_deref().unwrap_or("  "));
                let (newline, place) = (self.newline, Place::Lines(inner.clone()));
                let lines: Vec<String> = members.iter().map(|m| format!("{newline}{inner}{}", self.member(m, &place))).collect();
                format!("{open}{}{newline}{indent}{close}", lines.join(","))
            }
            Place::Inline { pad } => {
                let all: Vec<String> = members.iter().map(|m| self.member(m, place)).collect();
                let pad = if open == '{' { pad.as_str() } else { "" };
                format!("{open}{pad}{}{pad}{close}", all.join(&format!(",{}", self.space())))
            }
        }
    }
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What stands between a container's last member and the bracket or comma before it.
fn before_last<'t>(text: &'t str, container: &Container) -> Option<&'t str> {
    let (last, before) = container.members.split_last()?;
    let start = match before.last() {
        Some(previous) => text[previous.end..last.start].find(',').map_or(previous.end, |comma| previous.end + comma + 1),
        None => container.range.start + 1,
    };
    Some(&text[start..last.start])
}

/// The indentation of the line on which something stands.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn name_end(property: &ObjectProp<'_>) -> usize {
    match &property.name {
        ObjectPropName::String(lit) => lit.range.end,
        ObjectPropName::Word(lit) => lit.range.end,
    }
}

/// The last property of this name: the one that counts.
pub fn property<'a, 't>(object: &'a Object<'t>, name: &str) -> Option<(usize, &'a Value<'t>)> {
    object.properties.iter().enumerate().rev().find(|(_, p)| p.name.as_str() == name).map(|(at, p)| (at, &p.value))
}
