//! The words that are looked for, and the rule each of them calls.

use super::{
    call_arguments, command_flags, command_output, cookie_jar, foreign_words, formats, header, jwt, marks, password_files, pem,
    piped_password, query_param, secret_names, seed_phrase, url, user_rules,
};

/// What is done where a keyword was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
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
    /// A key in another language.
    ForeignKey,
    Pem,
    PemBase64,
    Putty,
    Jwt,
    Command,
    /// A password's hash of at least so many characters.
    Hash(usize),
    LdapHash,
    PgPass,
    /// A call that takes credentials by their places.
    Argument,
    /// A parameter of an address.
    Param,
    Seed,
    Codes,
    /// A command that prints a secret.
    Printed,
    /// A line of a browser's cookies.
    Jar,
    /// The user's rule with this number.
    User(usize),
}

/// The keywords of the shipped rules and of the user's, and the rule of each.
pub(crate) fn all(user: &[user_rules::Compiled]) -> (Vec<&str>, Vec<Rule>) {
    let own = user.iter().enumerate().flat_map(|(n, rule)| rule.keywords.iter().map(move |word| (word.as_str(), Rule::User(n))));
    let (mut words, mut rules): (Vec<&str>, Vec<Rule>) = shipped().unzip();
    own.for_each(|(word, rule)| {
        words.push(word);
        rules.push(rule);
    });
    (words, rules)
}

/// Those of the shipped rules; none is shorter than two letters.
pub(crate) fn shipped() -> impl Iterator<Item = (&'static str, Rule)> {
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
        .chain(piped_password::READERS.iter().map(|word| (*word, Rule::Piped)))
        .chain(foreign_words::NAMES.iter().map(|word| (*word, Rule::Foreign)))
        .chain(foreign_words::KEYS.iter().map(|word| (*word, Rule::ForeignKey)))
        .chain(password_files::HASHES.iter().map(|(word, least)| (*word, Rule::Hash(*least))))
        .chain(password_files::LDAP.iter().map(|word| (*word, Rule::LdapHash)))
        .chain(password_files::PGPASS.iter().map(|word| (*word, Rule::PgPass)))
        .chain(call_arguments::TAKERS.iter().map(|word| (*word, Rule::Argument)))
        .chain(query_param::NAMES.iter().map(|word| (*word, Rule::Param)))
        .chain(seed_phrase::SEEDS.iter().map(|word| (*word, Rule::Seed)))
        .chain(seed_phrase::CODES.iter().map(|word| (*word, Rule::Codes)))
        .chain(command_output::COMMANDS.iter().map(|word| (*word, Rule::Printed)))
        .chain(cookie_jar::FLAGS.iter().map(|word| (*word, Rule::Jar)))
        .chain(secret_names::KEYWORDS.iter().map(|word| (*word, Rule::Name)))
        .chain(command_flags::keywords().map(|word| (word, Rule::Command)));
    let tokens = formats::TABLES.into_iter().flatten().enumerate().map(|(n, format)| (format.key, Rule::Format(n, format)));
    single.into_iter().chain(groups).chain(tokens)
}
