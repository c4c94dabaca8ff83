#![doc = include_str!("../README.md")]
//!
//! # How it works, and where to change it
//!
//! [`Redactor::findings`] runs up to `MAX_PASSES` passes over a text (`scan`). In each, `prefilter` reports the keywords of the text, and
//! `keywords` says which detector each of them calls. A detector reads the text around its keyword, within a limit, and returns the range
//! of a secret. `marks` merges the ranges and puts marks in their places.
//!
//! - **To add the format of a token or a command:** add it to `formats.toml`, which explains itself. `build.rs` parses it with `syntax` into
//!   static tables (`formats`); `tokens` and `command_flags` match them.
//! - **To recognise another name of a secret:** `secret_names`; in another language: `foreign_words`. How a name leads to its value is in
//!   `assignment`, with `separator` (what stands between), `value` (where the value ends), `context` (where the name stands), `sentence`
//!   (words between), `lists`, `columns`, `sql_rows` and `kubernetes`.
//! - **To take or leave another kind of value:** `harmless` for what is no secret, `classify` and `candidate` for what is one, `typed` for
//!   what only its name tells from a word, `stated` for what only a sentence tells from one, `randomness` for what all of them measure.
//! - **To add a detector:** a file with the keywords and a function that returns a range, a variant of `Detector` in `keywords`, and a line in
//!   `scan::Scan::detect`. There are `accounts`, `header`, `url`, `query_param`, `jwt`, `pem`, `cookie_jar`, `call_arguments`,
//!   `piped_password`, `here_string`, `command_output`, `password_files`, `seed_phrase`, `mnemonic`, `spoken_keys`,
//!   `link_path`, `key_files`, `smtp_dialog` and `wireless`. `discord` looks for what has no keyword.
//! - **To change what a user's rule can say:** `rule` (the fields), `syntax` (tokens and commands) and `user_rules` (checks).
//!
//! After any of these raise [`RULES_VERSION`]: the test in `version` goes red and says how. Walk along texts only with the functions of
//! `bytes`, whose steps tests count.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod accounts;
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
mod here_string;
mod jwt;
mod key_files;
mod keywords;
mod kubernetes;
mod line_wrap;
mod link_path;
mod lists;
mod marks;
mod mnemonic;
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
mod smtp_dialog;
mod spoken_keys;
mod sql_rows;
mod stated;
mod syntax;
mod tokens;
mod typed;
mod url;
mod user_rules;
mod value;
mod version;
mod wireless;
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

/// The most passes over a text. A mark can bring together what was too far apart before.
const MAX_PASSES: usize = 4;

/// The rules, ready for use. Cheap to clone, and usable from several threads.
#[derive(Debug, Clone)]
pub struct Redactor(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    tokens: Cow<'static, [Token]>,
    commands: Cow<'static, [Command]>,
    patterns: Vec<Pattern>,
    /// Made for the first text: a redactor is often created and not used.
    keywords: OnceLock<Keywords>,
}

#[derive(Debug)]
struct Keywords {
    prefilter: Prefilter,
    /// The detector of each keyword of the prefilter.
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
    /// The first rule that is not valid, and why.
    pub fn new(rules: &[Rule]) -> Result<Self, RuleError> {
        let (mut patterns, mut tokens, mut commands) = (Vec::new(), formats::TOKENS.to_vec(), Vec::new());
        for rule in rules {
            user_rules::add(rule, &mut patterns, &mut tokens, &mut commands)?;
        }
        let commands = [formats::COMMANDS.as_slice(), &commands].concat();
        Ok(Self(Arc::new(Rules::new(tokens.into(), commands.into(), patterns))))
    }

    /// The shipped rules.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Redactor> =
            LazyLock::new(|| Redactor(Arc::new(Rules::new((&formats::TOKENS).into(), (&formats::COMMANDS).into(), Vec::new()))));
        &SHIPPED
    }

    /// The text with a mark in the place of each secret; borrowed if there are none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let findings = self.findings(text);
        if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(marks::insert(text, &findings)) }
    }

    /// The redacted text, and whether secrets made up more than half of it, not counting white space.
    pub fn redact_weighed<'t>(&self, text: &'t str) -> (Cow<'t, str>, bool) {
        let findings = self.findings(text);
        if findings.is_empty() {
            return (Cow::Borrowed(text), false);
        }
        let weigh = |part: &str| part.bytes().filter(|b| !b.is_ascii_whitespace()).count();
        let went: usize = findings.iter().map(|f| weigh(&text[f.range.clone()])).sum();
        (Cow::Owned(marks::insert(text, &findings)), went * 2 > weigh(text))
    }

    /// The secrets of a text, sorted; none overlaps another.
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
