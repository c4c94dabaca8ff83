#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

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
mod rule;
mod scan;
mod secret_names;
mod seed_phrase;
mod sentence;
mod separator;
mod syntax;
mod tokens;
mod url;
mod user_rules;
mod value;
mod version;
mod word_list;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use keywords::Detector;
pub use marks::{Finding, OPENING};
use prefilter::Prefilter;
pub use rule::{Need, Rule};
use syntax::{Command, Token};
use user_rules::Pattern;
pub use user_rules::RuleError;
pub use version::RULES_VERSION;

/// How often a text is looked at again, with marks in the places of what was found: a mark can bring what was far apart together.
const MAX_PASSES: usize = 4;

/// The rules, ready for use. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Redactor(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    tokens: Cow<'static, [Token]>,
    commands: Cow<'static, [Command]>,
    patterns: Vec<Pattern>,
    /// Made when the first text comes: many programs have a redactor and no text.
    keywords: OnceLock<Keywords>,
}

#[derive(Debug)]
struct Keywords {
    prefilter: Prefilter,
    /// What each keyword of the prefilter calls.
    detectors: Vec<Detector>,
}

impl Rules {
    fn new(tokens: Cow<'static, [Token]>, commands: Cow<'static, [Command]>, patterns: Vec<Pattern>) -> Self {
        Self { tokens, commands, patterns, keywords: OnceLock::new() }
    }

    fn keywords(&self) -> &Keywords {
        self.keywords.get_or_init(|| {
            let (words, detectors): (Vec<&str>, _) = keywords::all(&self.tokens, &self.commands, &self.patterns).unzip();
            Keywords { prefilter: Prefilter::new(&words), detectors }
        })
    }
}

impl Redactor {
    /// The shipped rules and a user's.
    ///
    /// # Errors
    /// The first rule that cannot be used, and why.
    pub fn new(rules: &[Rule]) -> Result<Self, RuleError> {
        let (mut patterns, mut tokens, mut commands) = (Vec::new(), formats::TOKENS.to_vec(), Vec::new());
        for rule in rules {
            user_rules::add(rule, &mut patterns, &mut tokens, &mut commands)?;
        }
        let commands = [formats::COMMANDS.as_slice(), &commands].concat();
        Ok(Self(Arc::new(Rules::new(tokens.into(), commands.into(), patterns))))
    }

    /// The shipped rules alone; made when they are first asked for.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Redactor> =
            LazyLock::new(|| Redactor(Arc::new(Rules::new((&formats::TOKENS).into(), (&formats::COMMANDS).into(), Vec::new()))));
        &SHIPPED
    }

    /// The text with marks in the places of its secrets; the very text when there are none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let findings = self.findings(text);
        if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(marks::insert(text, &findings)) }
    }

    /// The same, and whether more than half of the text went, white space aside.
    pub fn redact_weighed<'t>(&self, text: &'t str) -> (Cow<'t, str>, bool) {
        let findings = self.findings(text);
        if findings.is_empty() {
            return (Cow::Borrowed(text), false);
        }
        let weigh = |part: &str| part.bytes().filter(|b| !b.is_ascii_whitespace()).count();
        let went: usize = findings.iter().map(|f| weigh(&text[f.range.clone()])).sum();
        (Cow::Owned(marks::insert(text, &findings)), went * 2 > weigh(text))
    }

    /// The secrets of a text, in order, none within another.
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        let mut findings = self.pass(text);
        for _ in 1..MAX_PASSES {
            if findings.is_empty() {
                break;
            }
            let again = self.pass(&marks::insert(text, &findings));
            if again.is_empty() {
                break;
            }
            let more: Vec<Finding> = marks::map_back(again, &findings).collect();
            findings = marks::merge(findings.into_iter().chain(more).collect());
        }
        findings
    }

    fn pass(&self, text: &str) -> Vec<Finding> {
        let rules = &*self.0;
        let Keywords { prefilter, detectors } = rules.keywords();
        let mut scan = scan::Scan::new(rules, text);
        prefilter.for_each_match(text.as_bytes(), |number, range| scan.detect(detectors[number], range));
        scan.finish()
    }
}

#[cfg(test)]
mod tests;
