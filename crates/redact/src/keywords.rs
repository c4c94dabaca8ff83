//! The keywords that texts are searched for, and the detector that each of them calls.

use super::syntax::{Command, Token};
use super::user_rules::Pattern;
use super::{
    accounts, call_arguments, command_output, cookie_jar, foreign_words, header, here_string, jwt, key_files, link_path, marks,
    mnemonic, password_files, pem, piped_password, query_param, secret_names, seed_phrase, sentence, smtp_dialog, spoken_keys,
    sql_rows, url, wireless,
};

/// What looks for a secret where a keyword was found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Detector {
    /// A mark of an earlier run, which is left as it is.
    Mark,
    /// The token format with this index.
    Token(usize),
    Name,
    Authorization,
    AuthScheme,
    Cookie,
    Url,
    GoDsn,
    OracleUrl,
    EncodedUrl,
    PipedPassword,
    ForeignPassword,
    /// A word for a key in another language.
    ForeignKey,
    /// What announces a user and a password.
    Login,
    /// What announces an account.
    Account,
    Pem,
    Base64Pem,
    Putty,
    Jwt,
    /// The command with this index.
    Command(usize),
    /// The hash of a password, with at least this many characters.
    PasswordHash(usize),
    LdapHash,
    PgPass,
    /// A call that takes a password by position.
    CallArguments,
    /// A call that takes a password as its argument with this number.
    Connect(usize),
    /// A call that takes a key.
    KeyArguments,
    /// A call that fills in a field of a form.
    FieldArguments,
    /// The word beside the seed of an authenticator, the key of a wallet, the secret of an AWS key.
    AuthenticatorSeed,
    WalletKey,
    /// The word before keys of Ethereum accounts.
    AccountKeys,
    /// A question of a mail server for the password, and the command that gives it at once.
    SmtpQuestion,
    SmtpPlain,
    /// The name of a file that holds a key.
    RailsKey,
    KeyFile,
    /// The name of the key of a wireless network, and the text of its QR code.
    Wireless,
    WirelessCode,
    AwsSecret,
    /// A part of a link that lets in.
    LinkPath,
    HereString,
    /// Rows of a database dump.
    SqlRows,
    /// A parameter of a URL.
    QueryParam,
    SeedPhrase,
    /// A word of the list that seed phrases are made of.
    Mnemonic,
    RecoveryCodes,
    /// A command that prints a secret.
    CommandOutput,
    /// A line of a cookie file.
    CookieFile,
    /// The user's pattern with this index.
    Pattern(usize),
}

/// The keywords of all rules, each with its detector. None is shorter than two bytes.
pub(crate) fn all<'r>(
    tokens: &'r [Token],
    commands: &'r [Command],
    patterns: &'r [Pattern],
) -> impl Iterator<Item = (&'r str, Detector)> {
    let single = [
        (marks::OPENING, Detector::Mark),
        (header::AUTHORIZATION, Detector::Authorization),
        (header::COOKIE, Detector::Cookie),
        (header::BEARER, Detector::AuthScheme),
        (header::BASIC, Detector::AuthScheme),
        (url::KEY, Detector::Url),
        (pem::BEGIN, Detector::Pem),
        (pem::BEGIN_BASE64, Detector::Base64Pem),
        (pem::PUTTY, Detector::Putty),
        (jwt::KEY, Detector::Jwt),
        (url::ORACLE, Detector::OracleUrl),
        (here_string::KEY, Detector::HereString),
        (wireless::CODE, Detector::WirelessCode),
    ];
    let groups = url::DSN
        .iter()
        .map(|word| (*word, Detector::GoDsn))
        .chain(url::ENCODED.iter().map(|(word, ..)| (*word, Detector::EncodedUrl)))
        .chain(piped_password::READERS.iter().map(|word| (*word, Detector::PipedPassword)))
        .chain(foreign_words::NAMES.iter().map(|word| (*word, Detector::ForeignPassword)))
        .chain(foreign_words::KEYS.iter().map(|word| (*word, Detector::ForeignKey)))
        .chain(accounts::LOGINS.iter().map(|word| (*word, Detector::Account)))
        .chain(sentence::LOGINS.iter().map(|word| (*word, Detector::Login)))
        .chain(password_files::HASHES.iter().map(|(word, least)| (*word, Detector::PasswordHash(*least))))
        .chain(password_files::LDAP.iter().map(|word| (*word, Detector::LdapHash)))
        .chain(password_files::PGPASS.iter().map(|word| (*word, Detector::PgPass)))
        .chain(call_arguments::TAKERS.iter().map(|word| (*word, Detector::CallArguments)))
        .chain(call_arguments::CONNECTS.iter().map(|(word, number)| (*word, Detector::Connect(*number))))
        .chain(call_arguments::KEY_TAKERS.iter().map(|word| (*word, Detector::KeyArguments)))
        .chain(call_arguments::FIELDS.iter().map(|word| (*word, Detector::FieldArguments)))
        .chain(spoken_keys::SEEDS.iter().map(|word| (*word, Detector::AuthenticatorSeed)))
        .chain(spoken_keys::WALLETS.iter().map(|word| (*word, Detector::WalletKey)))
        .chain(spoken_keys::ACCOUNTS.iter().map(|word| (*word, Detector::AccountKeys)))
        .chain(smtp_dialog::QUESTIONS.iter().map(|word| (*word, Detector::SmtpQuestion)))
        .chain(smtp_dialog::PLAIN.iter().map(|word| (*word, Detector::SmtpPlain)))
        .chain(key_files::RAILS.iter().map(|word| (*word, Detector::RailsKey)))
        .chain(key_files::OTHERS.iter().map(|word| (*word, Detector::KeyFile)))
        .chain(wireless::NAMES.iter().map(|word| (*word, Detector::Wireless)))
        .chain(spoken_keys::AWS.iter().map(|word| (*word, Detector::AwsSecret)))
        .chain(link_path::PARTS.iter().map(|word| (*word, Detector::LinkPath)))
        .chain(sql_rows::KEYS.iter().map(|word| (*word, Detector::SqlRows)))
        .chain(query_param::NAMES.iter().map(|word| (*word, Detector::QueryParam)))
        .chain(seed_phrase::SEEDS.iter().map(|word| (*word, Detector::SeedPhrase)))
        .chain(mnemonic::keywords().map(|word| (word, Detector::Mnemonic)))
        .chain(seed_phrase::CODES.iter().map(|word| (*word, Detector::RecoveryCodes)))
        .chain(command_output::COMMANDS.iter().map(|word| (*word, Detector::CommandOutput)))
        .chain(cookie_jar::FLAGS.iter().map(|word| (*word, Detector::CookieFile)))
        .chain(secret_names::KEYWORDS.iter().map(|word| (*word, Detector::Name)))
        .chain(commands.iter().enumerate().map(|(n, command)| (&*command.name, Detector::Command(n))));
    let tokens = tokens.iter().enumerate().map(|(n, token)| (&*token.key, Detector::Token(n)));
    let patterns = patterns
        .iter()
        .enumerate()
        .flat_map(|(n, pattern)| pattern.keywords.iter().map(move |word| (word.as_str(), Detector::Pattern(n))));
    single.into_iter().chain(groups).chain(tokens).chain(patterns)
}
