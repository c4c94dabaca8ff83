//! One pass over a text: runs the detectors of the keywords, and remembers how far each of them has searched, so that the work stays
//! linear.

use std::ops::Range;

use super::Rules;
use super::keywords::Detector;
use super::marks::{self, Finding};
use super::{
    accounts, assignment, bytes, call_arguments, command_output, cookie_jar, discord, foreign_words, header, here_string, jwt,
    key_files, link_path, mnemonic, password_files, pem, piped_password, query_param, seed_phrase, sentence, smtp_dialog,
    spoken_keys, sql_rows, url, wireless,
};

/// The most commands that are searched on the line of another one.
const MAX_NESTED_COMMANDS: usize = 8;

pub(crate) struct Scan<'r, 't> {
    rules: &'r Rules,
    text: &'t str,
    found: Vec<Finding>,
    /// The end of the last mark.
    mark_end: usize,
    marks: Vec<Range<usize>>,
    /// How far names, headers, commands, JWTs, base64, rows of dumps and of words have been searched.
    names: assignment::Progress,
    headers_to: usize,
    command_end: usize,
    /// The number of commands on the line of an earlier one.
    nested_commands: usize,
    jwts_to: usize,
    base64_to: usize,
    rows_to: usize,
    phrases_to: usize,
    /// How far each token format has been searched; shorter than the formats until one is found.
    token_ends: Vec<usize>,
    /// The user's patterns with a keyword in the text.
    called_patterns: Vec<usize>,
}

impl<'r, 't> Scan<'r, 't> {
    pub(crate) fn new(rules: &'r Rules, text: &'t str) -> Self {
        let (found, marks, token_ends, called_patterns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            rules,
            text,
            found,
            mark_end: 0,
            marks,
            names: assignment::Progress::default(),
            headers_to: 0,
            command_end: 0,
            nested_commands: 0,
            jwts_to: 0,
            base64_to: 0,
            rows_to: 0,
            phrases_to: 0,
            token_ends,
            called_patterns,
        }
    }

    /// Runs the detector of a keyword at `hit`. Hits come ordered by start.
    pub(crate) fn detect(&mut self, detector: Detector, hit: Range<usize>) {
        if hit.start < self.mark_end {
            return;
        }
        let text = self.text.as_bytes();
        match detector {
            Detector::Mark => {
                if let Some(end) = marks::mark_end(text, hit.end) {
                    self.marks.push(hit.start..end);
                    self.mark_end = end;
                }
            }
            Detector::Token(n) => self.token(n, hit.start),
            Detector::Name => assignment::find(text, hit, &mut self.names, &mut self.found),
            Detector::CallArguments => {
                let mut ranges = Vec::new();
                call_arguments::find(text, hit.end, &mut ranges);
                ranges.into_iter().for_each(|range| self.add("password", range));
            }
            Detector::Connect(number) => self.add_some("password", call_arguments::connect(text, hit.end, number)),
            Detector::SqlRows => {
                let mut ranges = Vec::new();
                sql_rows::find(text, hit, &mut self.rows_to, &mut ranges);
                ranges.into_iter().for_each(|range| self.add("password", range));
            }
            Detector::KeyArguments => self.add_some("key", call_arguments::key(text, hit.end)),
            Detector::FieldArguments => self.add_some("password", call_arguments::field(text, hit)),
            Detector::AuthenticatorSeed => self.add_some("authenticator-seed", spoken_keys::seed(text, hit)),
            Detector::WalletKey => self.add_some("wallet-key", spoken_keys::wallet(text, hit)),
            Detector::AccountKeys => {
                let mut ranges = Vec::new();
                spoken_keys::accounts(text, hit, &mut ranges);
                ranges.into_iter().for_each(|range| self.add("wallet-key", range));
            }
            Detector::SmtpQuestion => self.add_some("smtp-password", smtp_dialog::answer(text, hit)),
            Detector::SmtpPlain => self.add_some("smtp-password", smtp_dialog::plain(text, hit)),
            Detector::RailsKey => self.add_some("key-file", key_files::rails(text, hit)),
            Detector::KeyFile => self.add_some("key-file", key_files::below(text, hit)),
            Detector::Wireless => self.add_some("wireless-key", wireless::find(text, hit)),
            Detector::WirelessCode => self.add_some("wireless-key", wireless::code(text, hit)),
            Detector::AwsSecret => self.add_some("aws-secret-key", spoken_keys::aws(text, hit)),
            Detector::LinkPath => self.add_some("link-token", link_path::find(text, hit)),
            Detector::HereString => self.add_some("command-password", here_string::find(text, hit)),
            Detector::QueryParam => self.add_some("parameter", query_param::find(text, hit)),
            Detector::SeedPhrase => self.add_some("seed-phrase", seed_phrase::seed(text, hit)),
            Detector::Mnemonic => {
                let range = mnemonic::find(text, hit, &mut self.phrases_to);
                self.add_some("seed-phrase", range);
            }
            Detector::RecoveryCodes => self.add_some("recovery-codes", seed_phrase::codes(text, hit.end)),
            Detector::CommandOutput => self.add_some("printed-secret", command_output::find(text, hit)),
            Detector::CookieFile => self.add_some("cookie", cookie_jar::find(text, hit)),
            Detector::Authorization => {
                let range = header::authorization(text, hit.end, &mut self.headers_to);
                self.add_some("authorization-header", range);
            }
            Detector::AuthScheme => self.add_some("bearer-token", header::scheme(text, hit)),
            Detector::Cookie => {
                let range = header::cookies(text, hit, &mut self.headers_to);
                self.add_some("cookie", range);
            }
            Detector::Url => self.add_some("url-password", url::find(text, hit.start)),
            Detector::OracleUrl => self.add_some("url-password", url::oracle(text, hit.end)),
            Detector::GoDsn => self.add_some("url-password", url::dsn(text, hit.start)),
            Detector::EncodedUrl => self.add_some("url-password", url::encoded(text, hit)),
            Detector::PipedPassword => self.add_some("command-password", piped_password::find(text, hit)),
            Detector::ForeignPassword => {
                let mut ranges = Vec::from_iter(foreign_words::find(text, hit.clone()));
                if ranges.is_empty() {
                    self.names.add_cells(text, &hit, &mut ranges);
                }
                ranges.into_iter().for_each(|range| self.add("password", range));
            }
            Detector::ForeignKey => self.add_some("key", foreign_words::key(text, hit)),
            Detector::Account => self.add_some("password", accounts::login(text, hit)),
            Detector::Login => self.add_some("password", sentence::after_login(text, hit.end)),
            Detector::Pem => self.add_some("private-key", pem::block(text, hit.start)),
            Detector::Putty => self.add_some("private-key", pem::putty(text, hit.start)),
            Detector::Base64Pem if hit.start >= self.base64_to => {
                let (range, end) = pem::in_base64(text, hit.start);
                self.base64_to = end;
                self.add_some("private-key", range);
            }
            Detector::Jwt if hit.start >= self.jwts_to => {
                let (range, end) = jwt::find(text, hit.start);
                self.jwts_to = end.max(self.jwts_to);
                self.add_some("jwt", range);
            }
            Detector::Command(n) if self.may_command(hit.start) => self.command(n, hit),
            Detector::PasswordHash(least) => self.add_some("password-hash", password_files::hash(text, hit, least)),
            Detector::LdapHash => self.add_some("password-hash", password_files::ldap(text, hit)),
            Detector::PgPass => self.add_some("pgpass", password_files::pgpass(text, hit)),
            Detector::Pattern(n) if !self.called_patterns.contains(&n) => self.called_patterns.push(n),
            Detector::Base64Pem | Detector::Jwt | Detector::Command(_) | Detector::Pattern(_) => {}
        }
    }

    fn token(&mut self, n: usize, start: usize) {
        if self.token_ends.get(n).is_some_and(|end| start < *end) {
            return;
        }
        let token = &self.rules.tokens[n];
        let (range, end) = token.find(self.text.as_bytes(), start);
        if end > start {
            self.token_ends.resize(self.token_ends.len().max(n + 1), 0);
            self.token_ends[n] = end;
        }
        if let Some(range) = range {
            self.found.push(Finding { rule: token.rule.clone(), range });
        }
    }

    /// Whether the command at `start` is searched. Their number on one line is limited, because in a JSON string all lines are one.
    fn may_command(&mut self, start: usize) -> bool {
        self.nested_commands = if start < self.command_end { self.nested_commands + 1 } else { 0 };
        self.nested_commands <= MAX_NESTED_COMMANDS
    }

    fn command(&mut self, n: usize, hit: Range<usize>) {
        let end = self.rules.commands[n].find(self.text.as_bytes(), hit, &mut self.found);
        self.command_end = end.max(self.command_end);
    }

    fn add_some(&mut self, rule: &'static str, range: Option<Range<usize>>) {
        if let Some(range) = range {
            self.add(rule, range);
        }
    }

    fn add(&mut self, rule: &'static str, range: Range<usize>) {
        self.found.push(Finding { rule: rule.into(), range });
    }

    /// The findings of the pass, with those of the rules without keywords.
    pub(crate) fn finish(mut self) -> Vec<Finding> {
        discord::find(self.text.as_bytes(), &mut self.found);
        for (n, pattern) in self.rules.patterns.iter().enumerate() {
            if pattern.keywords.is_empty() || self.called_patterns.contains(&n) {
                pattern.find(self.text, &mut self.found);
            }
        }
        if self.found.is_empty() {
            return self.found;
        }
        let (text, marks) = (self.text, self.marks);
        let mut found = self.found;
        found.retain(|f| !f.range.is_empty() && !is_in_any(&marks, &f.range));
        for finding in &mut found {
            finding.range = text.floor_char_boundary(finding.range.start)..text.ceil_char_boundary(finding.range.end);
        }
        marks::merge(found)
    }
}

/// Whether one of the marks, which are sorted and apart, reaches into the range.
fn is_in_any(marks: &[Range<usize>], range: &Range<usize>) -> bool {
    bytes::count_steps(1);
    let first = marks.partition_point(|mark| mark.end <= range.start);
    marks.get(first).is_some_and(|mark| mark.start < range.end)
}
