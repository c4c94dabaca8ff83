//! The words that are looked for, and the rule each of them calls.

use super::{command, foreign, formats, header, jwt, marks, names, pem, piped, stored, url, user};

/// What is done where a keyword was seen.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// A mark: what is in it is left alone.
    Mark,
    /// A format, and its number.
    Format(usize, &'static formats::Format),
    Name,
    Authorization,
    Scheme,
    Cookie,
    Url,
    Dsn,
    Oracle,
    EncodedUrl,
    Piped,
    Foreign,
    Pem,
    PemBase64,
    Putty,
    Jwt,
    Command,
    /// A password's hash of at least so many characters.
    Hash(usize),
    LdapHash,
    PgPass,
    /// The user's rule with this number.
    User(usize),
}

/// The keywords of the shipped rules and of the user's, and the rule of each.
pub fn all(user: &[user::Compiled]) -> (Vec<&str>, Vec<Rule>) {
    let own = user.iter().enumerate().flat_map(|(n, rule)| rule.keywords.iter().map(move |word| (word.as_str(), Rule::User(n))));
    let (mut words, mut rules): (Vec<&str>, Vec<Rule>) = shipped().unzip();
    own.for_each(|(word, rule)| {
        words.push(word);
        rules.push(rule);
    });
    (words, rules)
}

/// Those of the shipped rules; none is shorter than two letters.
pub fn shipped() -> impl Iterator<Item = (&'static str, Rule)> {
    let single = [
        (marks::OPENING, Rule::Mark),
        (header::AUTHORIZATION, Rule::Authorization),
        (header::COOKIE, Rule::Cookie),
        (header::BEARER, Rule::Scheme),
        (header::BASIC, Rule::Scheme),
        (url::KEY, Rule::Url),
        (pem::BEGIN, Rule::Pem),
        (pem::BEGIN_BASE64, Rule::PemBase64),
        (pem::PUTTY, Rule::Putty),
        (jwt::KEY, Rule::Jwt),
        (url::ORACLE, Rule::Oracle),
    ];
    let groups = url::DSN
        .iter()
        .map(|word| (*word, Rule::Dsn))
        .chain(url::ENCODED.iter().map(|(word, ..)| (*word, Rule::EncodedUrl)))
        .chain(piped::READERS.iter().map(|word| (*word, Rule::Piped)))
        .chain(foreign::NAMES.iter().map(|word| (*word, Rule::Foreign)))
        .chain(stored::HASHES.iter().map(|(word, least)| (*word, Rule::Hash(*least))))
        .chain(stored::LDAP.iter().map(|word| (*word, Rule::LdapHash)))
        .chain(stored::PGPASS.iter().map(|word| (*word, Rule::PgPass)))
        .chain(names::KEYWORDS.iter().map(|word| (*word, Rule::Name)))
        .chain(command::keywords().map(|word| (word, Rule::Command)));
    let tokens = formats::TABLES.into_iter().flatten().enumerate().map(|(n, format)| (format.key, Rule::Format(n, format)));
    single.into_iter().chain(groups).chain(tokens)
}
