#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod assignment;
mod bytes;
mod call_arguments;
mod candidate;
mod classify;
mod columns;
mod command_flags;
mod command_output;
mod context;
mod cookie_jar;
mod discord;
mod foreign_words;
mod formats;
mod harmless;
mod header;
mod jwt;
mod keywords;
mod kubernetes;
mod line_wrap;
mod marks;
mod password_files;
mod pem;
mod piped_password;
mod prefilter;
mod query_param;
mod randomness;
mod scan;
mod secret_names;
mod seed_phrase;
mod sentence;
mod separator;
mod url;
mod user_rules;
mod value;
mod word_list;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use keywords::Rule;
pub use marks::{Finding, OPENING};
use prefilter::Table;
pub use user_rules::{RuleError, UserRule};

/// The version of the shipped rules, raised whenever one of them changes. Whoever stores redacted texts stores it beside them, and
/// redacts them again when it is raised.
pub const RULES_VERSION: u32 = 3;

/// How often a text is looked at again, with marks in the places of what was found: a mark can bring what was far apart together.
const MOST_PASSES: usize = 4;

/// The rules, ready for use. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Redactor(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    keywords: Table,
    /// What each keyword stands for.
    rules: Vec<Rule>,
    user: Vec<user_rules::Compiled>,
}

impl Redactor {
    /// The shipped rules and a user's.
    ///
    /// # Errors
    /// When a rule's id cannot stand in a mark, or its pattern is no regular expression or matches nothing at all.
    pub fn new(rules: &[UserRule]) -> Result<Self, RuleError> {
        let user = rules.iter().map(user_rules::Compiled::new).collect::<Result<Vec<_>, _>>()?;
        let (words, rules) = keywords::all(&user);
        Ok(Self(Arc::new(Rules { keywords: Table::new(&words), rules, user })))
    }

    /// The shipped rules alone.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Redactor> = LazyLock::new(|| {
            let (words, rules): (Vec<&str>, _) = keywords::shipped().unzip();
            Redactor(Arc::new(Rules { keywords: Table::new(&words), rules, user: Vec::new() }))
        });
        &SHIPPED
    }

    /// The text with marks in the places of its secrets; the very text when there are none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let findings = self.findings(text);
        if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(marks::put(text, &findings)) }
    }

    /// The same, and whether more than half of the text went, white space aside.
    pub fn redact_weighed<'t>(&self, text: &'t str) -> (Cow<'t, str>, bool) {
        let findings = self.findings(text);
        if findings.is_empty() {
            return (Cow::Borrowed(text), false);
        }
        let weigh = |part: &str| part.bytes().filter(|b| !b.is_ascii_whitespace()).count();
        let went: usize = findings.iter().map(|f| weigh(&text[f.range.clone()])).sum();
        (Cow::Owned(marks::put(text, &findings)), went * 2 > weigh(text))
    }

    /// The secrets of a text, in order, none within another.
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        let mut findings = self.pass(text);
        for _ in 1..MOST_PASSES {
            if findings.is_empty() {
                break;
            }
            let again = self.pass(&marks::put(text, &findings));
            if again.is_empty() {
                break;
            }
            let more: Vec<Finding> = marks::trace_back(again, &findings).collect();
            findings = marks::join(findings.into_iter().chain(more).collect());
        }
        findings
    }

    fn pass(&self, text: &str) -> Vec<Finding> {
        let rules = &*self.0;
        let mut scan = scan::Scan::new(text);
        rules.keywords.each(text.as_bytes(), |number, range| scan.look(rules.rules[number], range));
        scan.finish(&rules.user)
    }
}

#[cfg(test)]
mod tests;
