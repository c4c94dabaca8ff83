//! JSON files of Claude Code and other agents, edited in place: every byte outside an edit stays. Pure text → text.
//!
//! ## Strictness
//! The client ignores a file that is not strict JSON as a whole, without a word (seen with 2.1.197: a comment, a comma too many). So such
//! a file is never edited; [`Broken`] says where the first error is. Of two equal keys the last one counts, for the client as here.
//! A [`JsonText`] of a client that reads comments may have them, and a comma behind the last member.
//!
//! ## Undo
//! A member is inserted on lines of its own, which turns an object or array that stood on one line into several lines. Its [`Shapes`] entry
//! remembers how it was written, and [`JsonDocument::restore`] writes it that way again once the member is gone.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Why a text is not strict JSON with an object in it, and where. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl Broken {
    /// `path:line:column: what`, as compilers print it.
    pub(crate) fn located(&self, path: &Path) -> String {
        format!("{}:{}:{}: {}", path.display(), self.line, self.column, self.what)
    }
}

/// A path of keys → the object or array it leads to, as it was written before the first insertion, with [`MEMBER`] for each member.
///
/// One that was empty is kept on removal; [`BLANK`] stands for a file that held nothing but white space.
pub type Shapes = BTreeMap<String, String>;

/// The path of the outermost object.
pub(crate) const ROOT: &str = "";
/// The path of a whole file that held nothing.
pub(crate) const BLANK: &str = "file";
const MEMBER: char = '#';
/// Stands for that sign where it is part of a comment.
const SIGN_IN_COMMENT: &str = "\0";

/// A text with an insertion, and what its removal needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    pub text: String,
    pub shapes: Shapes,
}

impl Insertion {
    /// Drops the shapes that the removal of this insertion does not need to give `before` back.
    pub(crate) fn with_needed_shapes(mut self, before: &str, remove: impl Fn(&str, &Shapes) -> Result<String, Broken>) -> Self {
        let empty: Shapes =
            self.shapes.clone().into_iter().filter(|(path, shape)| path == BLANK || !shape.contains(MEMBER)).collect();
        if remove(&self.text, &empty).is_ok_and(|text| text == before) {
            self.shapes = empty;
        }
        self
    }
}

/// A text, and whether its client reads more than strict JSON; a bare text is strict.
#[derive(Debug, Clone, Copy)]
pub struct JsonText<'t> {
    pub(crate) text: &'t str,
    /// May it have comments, and a comma behind the last member?
    pub(crate) comments: bool,
}

impl<'t, T: AsRef<str> + ?Sized> From<&'t T> for JsonText<'t> {
    fn from(text: &'t T) -> Self {
        Self { text: text.as_ref(), comments: false }
    }
}

/// A parsed document whose outermost value is an object. Its nodes are only usable as long as it lives.
pub(crate) struct JsonDocument {
    root: CstRootNode,
    pub(crate) top: CstObject,
}

impl JsonDocument {
    /// Parses what the client would read; `None` for a text of white space alone.
    pub(crate) fn parse<'t>(text: impl Into<JsonText<'t>>) -> Result<Option<Self>, Broken> {
        let JsonText { text, comments } = text.into();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let options = ParseOptions {
            allow_comments: comments,
            allow_loose_object_property_names: false,
            allow_trailing_commas: comments,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        // Parsed twice: where tokens are collected, as for the tree, comments are not refused.
        let root = parse_to_ast(text, &CollectOptions::default(), &options)
            .and_then(|_| CstRootNode::parse(text, &options))
            .map_err(|e| broken_at(text, e.range().start, uncapitalized(&e.kind().to_string())))?;
        // What that parser lets through and the client does not, such as a line break in a string.
        if !comments && let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            let what = e.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
            return Err(Broken { line: e.line(), column: e.column().max(1), what });
        }
        match root.object_value() {
            Some(top) => Ok(Some(Self { root, top })),
            None => Err(broken_at(text, root.value().map_or(0, |value| offset(&value)), "the file holds no object".into())),
        }
    }

    /// Parses a text; one of white space alone becomes a new document, and is remembered in `shapes`.
    pub(crate) fn parse_or_new<'t>(text: impl Into<JsonText<'t>>, shapes: &mut Shapes) -> Result<Self, Broken> {
        let text = text.into();
        if let Some(document) = Self::parse(text)? {
            return Ok(document);
        }
        shapes.insert(BLANK.to_owned(), text.text.to_owned());
        let new = Self::parse("{}\n")?;
        new.ok_or_else(|| broken_at(text.text, 0, "the file holds no object".into()))
    }

    /// An error at this node.
    pub(crate) fn broken(&self, node: &CstNode, what: impl Into<String>) -> Broken {
        broken_at(&self.to_string(), offset(node), what.into())
    }

    /// The text once members were removed: what is left of each of these paths is written as it was before the insertion, as long as it
    /// has as many members as then. Inner paths come before outer ones, because a restored object or array can be searched no more.
    pub(crate) fn restore(self, paths: impl IntoIterator<Item = (String, CstContainerNode)>, shapes: &Shapes) -> String {
        if let Some(blank) = shapes.get(BLANK).filter(|_| self.top.properties().is_empty()) {
            return blank.clone();
        }
        for (path, container) in paths.into_iter().chain([(ROOT.to_owned(), self.top.clone().into())]) {
            let members = container.children_exclude_trivia_and_tokens();
            let Some(shape) = shapes.get(&path).filter(|shape| shape.matches(MEMBER).count() == members.len()) else { continue };
            let mut members = members.iter();
            let text = shape.split_inclusive(MEMBER).fold(String::new(), |text, gap| match gap.strip_suffix(MEMBER) {
                Some(gap) => text + &in_comment(gap) + &members.next().map(CstNode::to_string).unwrap_or_default(),
                None => text + &in_comment(gap),
            });
            // A string literal is the only node that can hold any text as it stands.
            let Some(node) = replace(container, CstInputValue::String(String::new())) else { continue };
            node.as_string_lit().iter().for_each(|raw| raw.set_raw_value(text.clone()));
        }
        self.to_string()
    }
}

impl fmt::Display for JsonDocument {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(out)
    }
}

fn replace(container: CstContainerNode, with: CstInputValue) -> Option<CstNode> {
    match container {
        CstContainerNode::Object(object) => object.replace_with(with),
        CstContainerNode::Array(array) => array.replace_with(with),
        CstContainerNode::Root(_) | CstContainerNode::ObjectProp(_) => None,
    }
}

/// What stood between two members.
fn in_comment(gap: &str) -> String {
    gap.replace(SIGN_IN_COMMENT, &MEMBER.to_string())
}

/// Remembers how an object or array is written, before the first insertion into it.
pub(crate) fn remember(shapes: &mut Shapes, path: &str, container: impl Into<CstContainerNode>) {
    let is_between = |node: &CstNode| node.is_trivia() || node.is_token();
    let shape = |node: CstNode| match is_between(&node) {
        true => node.to_string().replace(MEMBER, SIGN_IN_COMMENT),
        false => MEMBER.to_string(),
    };
    let container = container.into();
    shapes.entry(path.to_owned()).or_insert_with(|| container.children().into_iter().map(shape).collect());
}

/// Was the object or array at this path empty before the first insertion? Then it stays when it is empty again.
pub(crate) fn was_empty(shapes: &Shapes, path: &str) -> bool {
    shapes.get(path).is_some_and(|shape| !shape.contains(MEMBER))
}

/// The last property of this name: the one that counts.
pub(crate) fn property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rfind(|property| property.decoded_name().as_deref() == Some(name))
}

/// The value of the last property of this name.
pub(crate) fn value(object: &CstObject, name: &str) -> Option<CstNode> {
    property(object, name)?.value()
}

/// A string's value.
pub(crate) fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

/// Where a node begins, in bytes.
fn offset(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|sibling| sibling.to_string().len()).sum();
    before + node.parent().map_or(0, |parent| offset(&parent.into()))
}

pub(super) fn broken_at(text: &str, at: usize, what: String) -> Broken {
    let before = &text[..at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Broken { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, what }
}

pub(super) fn uncapitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().collect::<String>() + chars.as_str())
}
