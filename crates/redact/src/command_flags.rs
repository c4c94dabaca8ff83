//! Passwords that stand on a command line behind a flag without a telling name: `curl -u user:password`, `mysql -psecret`.

use std::ops::Range;

use super::bytes::{self, BLANK, Set, URL64, at, before};
use super::candidate::is_secret;
use super::formats::begins_token;
use super::harmless::{is_place, is_placeholder};
use super::randomness::has_digit;
use super::secret_names::Promise;
use super::value::{Ender, bare, opening, quoted_end};

/// What a flag is followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The password, after a blank or `=`.
    Word,
    /// The password in quotes, after a blank.
    Quoted,
    /// The password without a blank between: `-psecret`.
    Glued,
    /// `user:password`; the user stays.
    Pair(u8),
    /// The last of what is named behind a `-b`: `htpasswd -b file user password`.
    Last,
    /// The password after so many other words.
    After(usize),
    /// Each `NAME=password` that follows.
    Pairs,
    /// The first word that could be a password, behind names and flags.
    Any,
}

/// A command, its flag, and what follows.
struct Flag(&'static str, &'static str, Form);

const FLAGS: &[Flag] = &[
    Flag("curl", "-u", Form::Pair(b':')),
    Flag("curl", "--user", Form::Pair(b':')),
    Flag("curl", "-U", Form::Pair(b':')),
    Flag("curl", "--proxy-user", Form::Pair(b':')),
    Flag("curl", "-b", Form::Pair(b'=')),
    Flag("curl", "--cookie", Form::Pair(b'=')),
    Flag("mysql", "-p", Form::Glued),
    Flag("mysqldump", "-p", Form::Glued),
    Flag("mysqladmin", "-p", Form::Glued),
    Flag("mariadb", "-p", Form::Glued),
    Flag("sshpass", "-p", Form::Word),
    Flag("sshpass", "-p", Form::Glued),
    Flag("docker login", "-p", Form::Word),
    Flag("podman login", "-p", Form::Word),
    Flag("registry login", "-p", Form::Word),
    Flag("az login", "-p", Form::Word),
    Flag("redis-cli", "-a", Form::Word),
    Flag("ldapsearch", "-w", Form::Word),
    Flag("ldapadd", "-w", Form::Word),
    Flag("ldapmodify", "-w", Form::Word),
    Flag("mongosh", "-p", Form::Word),
    Flag("mongodump", "-p", Form::Word),
    Flag("smbclient", "-U", Form::Pair(b'%')),
    Flag("skopeo", "--creds", Form::Pair(b':')),
    Flag("sqlcmd", "-P", Form::Word),
    Flag("bcp", "-P", Form::Word),
    Flag("unzip", "-P", Form::Word),
    Flag("openssl", "pass:", Form::Glued),
    Flag("oc login", "-p", Form::Word),
    Flag("lftp", "-u", Form::Pair(b',')),
    Flag("httpie", "-a", Form::Pair(b':')),
    Flag("svn", "--password", Form::Word),
    Flag("7z", "-p", Form::Glued),
    Flag("ssh-keygen", "-N", Form::Word),
    Flag("ssh-keygen", "-P", Form::Word),
    Flag("convertto-securestring", "", Form::Word),
    Flag("convertto-securestring", "-String", Form::Word),
    Flag("identified by", "", Form::Quoted),
    Flag("identified with", "by", Form::Quoted),
    Flag("identified with", "BY", Form::Quoted),
    Flag("encrypt_string", "", Form::Quoted),
    Flag("gh secret set", "--body", Form::Word),
    Flag("gh secret set", "-b", Form::Word),
    Flag("htpasswd", "-", Form::Last),
    Flag("keytool", "-storepass", Form::Word),
    Flag("keytool", "-keypass", Form::Word),
    Flag("keytool", "-deststorepass", Form::Word),
    Flag("keytool", "-srcstorepass", Form::Word),
    Flag("keytool", "-new", Form::Word),
    Flag("jarsigner", "-storepass", Form::Word),
    Flag("jarsigner", "-keypass", Form::Word),
    Flag("apksigner", "pass:", Form::Glued),
    Flag("net use", "", Form::Any),
    Flag("net user", "", Form::Any),
    Flag("cmdkey", "/pass:", Form::Glued),
    Flag("cmdkey", "/p:", Form::Glued),
    Flag("xfreerdp", "/p:", Form::Glued),
    Flag("wfreerdp", "/p:", Form::Glued),
    Flag("rdesktop", "-p", Form::Word),
    Flag("schtasks", "/rp", Form::Word),
    Flag("psexec", "-p", Form::Word),
    Flag("wmic", "/password:", Form::Glued),
    Flag("zip", "-P", Form::Word),
    Flag("zip", "--password", Form::Word),
    Flag("7za", "-p", Form::Glued),
    Flag("7zz", "-p", Form::Glued),
    Flag("unrar", "-p", Form::Glued),
    Flag("rar a", "-hp", Form::Glued),
    Flag("rar a", "-p", Form::Glued),
    Flag("sqlplus", "", Form::Pair(b'/')),
    Flag("sqlplus", "-S", Form::Pair(b'/')),
    Flag("sqlplus", "-L", Form::Pair(b'/')),
    Flag("sqlplus", "-s", Form::Pair(b'/')),
    Flag("sqlcl", "", Form::Pair(b'/')),
    Flag("sqlldr", "", Form::Pair(b'/')),
    Flag("expdp", "", Form::Pair(b'/')),
    Flag("impdp", "", Form::Pair(b'/')),
    Flag("rman target", "", Form::Pair(b'/')),
    Flag("rabbitmqctl add_user", "", Form::After(1)),
    Flag("rabbitmqctl change_password", "", Form::After(1)),
    Flag("rabbitmqctl authenticate_user", "", Form::After(1)),
    Flag("useradd", "-p", Form::Word),
    Flag("usermod", "-p", Form::Word),
    Flag("elasticsearch-users", "-p", Form::Word),
    Flag("ldappasswd", "-s", Form::Word),
    Flag("ldappasswd", "-w", Form::Word),
    Flag("ldapwhoami", "-w", Form::Word),
    Flag("ldapdelete", "-w", Form::Word),
    Flag("plink", "-pw", Form::Word),
    Flag("pscp", "-pw", Form::Word),
    Flag("psftp", "-pw", Form::Word),
    Flag("putty", "-pw", Form::Word),
    Flag("vault login", "", Form::Word),
    Flag("vault unseal", "", Form::Word),
    Flag("operator unseal", "", Form::Word),
    Flag("mycli", "-p", Form::Word),
    Flag("pgcli", "-w", Form::Word),
    Flag("cqlsh", "-p", Form::Word),
    Flag("isql", "-P", Form::Word),
    Flag("isql", "-p", Form::Word),
    Flag("mongo -u", "-p", Form::Word),
    Flag("mongorestore", "-p", Form::Word),
    Flag("mongoexport", "-p", Form::Word),
    Flag("mongoimport", "-p", Form::Word),
    Flag("mysqlimport", "-p", Form::Glued),
    Flag("mariadb-dump", "-p", Form::Glued),
    Flag("ab -A", "", Form::Pair(b':')),
    Flag("ab -P", "", Form::Pair(b':')),
    Flag("wrk", "-u", Form::Pair(b':')),
    Flag("http -a", "", Form::Pair(b':')),
    Flag("http --auth", "", Form::Pair(b':')),
    Flag("https -a", "", Form::Pair(b':')),
    Flag("https --auth", "", Form::Pair(b':')),
    Flag("xh -a", "", Form::Pair(b':')),
    Flag("xh --auth", "", Form::Pair(b':')),
    Flag("ftp -u", "", Form::Pair(b':')),
    Flag("ncftp", "-p", Form::Word),
    Flag("ipmitool", "-P", Form::Word),
    Flag("snmpwalk", "-c", Form::Word),
    Flag("snmpget", "-c", Form::Word),
    Flag("snmpwalk", "-A", Form::Word),
    Flag("snmpwalk", "-X", Form::Word),
    Flag("iwconfig", "key", Form::Word),
    Flag("wpa_passphrase", "", Form::After(1)),
    Flag("qpdf", "--encrypt", Form::Word),
    Flag("qpdf", "--decrypt", Form::Word),
    Flag("pdftk", "user_pw", Form::Word),
    Flag("pdftk", "owner_pw", Form::Word),
    Flag("openssl enc", "-k", Form::Word),
    Flag("openssl passwd", "", Form::Any),
    Flag("mkpasswd", "", Form::Any),
    Flag("oathtool", "-b", Form::Any),
    Flag("oathtool", "--base32", Form::Any),
    Flag("oathtool", "--totp", Form::Any),
    Flag("config:set", "", Form::Pairs),
    Flag("secrets set", "", Form::Pairs),
    Flag("secret put", "", Form::Pairs),
    Flag("caddy hash-password", "--plaintext", Form::Word),
    Flag("caddy hash-password", "-p", Form::Word),
    Flag("--password-command", "", Form::Quoted),
    Flag("kv put", "", Form::Pairs),
    Flag("vault write", "", Form::Pairs),
    Flag("env:set", "", Form::Pairs),
    Flag("signtool", "/p", Form::Word),
    Flag("cargo login", "", Form::Any),
    Flag("snmp-server community", "", Form::Word),
    Flag("set password for", "", Form::Any),
];

/// The commands, each once.
pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().enumerate().filter(|(n, flag)| FLAGS[..*n].iter().all(|f| f.0 != flag.0)).map(|(_, flag)| flag.0)
}

const LONGEST: usize = 600;
/// The most words that are looked at for one that is a password.
const MOST_WORDS: usize = 8;

/// The secrets on the command line that begins here, and where it ends.
pub(crate) fn find(text: &[u8], hit: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let is_within = URL64.has(before(text, hit.start)) && before(text, hit.start) != b'n';
    if is_within && !begins_token(text, hit.start) || !matches!(at(text, hit.end), b' ' | b'\t' | b'.' | b'\\') {
        return hit.start;
    }
    let name = &text[hit.clone()];
    let mut place = hit.end;
    let end = line_end(text, place);
    let first = bytes::run(text, place, BLANK, LONGEST);
    while place < end {
        place = bytes::run(text, place, BLANK, LONGEST);
        let is_of = |flag: &&Flag| {
            name.eq_ignore_ascii_case(flag.0.as_bytes()) && (place == first || !flag.1.is_empty() || flag.2 == Form::Pairs)
        };
        for flag in FLAGS.iter().filter(is_of) {
            found.extend(flag.value(text, place).filter(|range| range.start < end));
        }
        place = bytes::until(text, place + 1, end.saturating_sub(place + 1), |b| b == b' ').0;
    }
    end
}

/// The end of a command: of its line, unless a backslash joins the next, or a `|`, `;`, `&&`.
fn line_end(text: &[u8], start: usize) -> usize {
    let mut place = start;
    let limit = text.len().min(start + LONGEST);
    loop {
        let (stop, found) = bytes::until(text, place, limit - place, |b| matches!(b, b'\n' | b'|' | b';'));
        if !found || at(text, stop) != b'\n' || before(text, stop) != b'\\' {
            return stop;
        }
        place = stop + 1;
    }
}

impl Flag {
    fn value(&self, text: &[u8], place: usize) -> Option<Range<usize>> {
        let Self(_, flag, form) = self;
        let after = text[place..].starts_with(flag.as_bytes()).then_some(place + flag.len())?;
        let start = match form {
            Form::Glued => after,
            Form::Last => behind_names(text, after)?,
            Form::After(count) => behind_words(text, after, *count),
            Form::Any => return any(text, after),
            _ => bytes::run(text, after, Set::of(" \t="), 4),
        };
        if start == after && *form != Form::Glued && !flag.is_empty() && !matches!(form, Form::Pair(b':')) {
            return None;
        }
        let range = match opening(text, start) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, LONGEST)?,
            None if *form == Form::Quoted => return None,
            None => bare(text, start, Ender::Blank, LONGEST),
        };
        let range = match form {
            Form::Quoted if before(text, range.start) != b'\'' && !has_digit(&text[range.clone()]) => return None,
            Form::Last if at(text, range.start) == b'-' => return None,
            Form::Pair(b'/') => slashed(text, range)?,
            Form::Pairs => range.start + text[range.clone()].iter().position(|b| *b == b'=')? + 1..range.end,
            Form::Pair(sign) => range.start + text[range.clone()].iter().position(|b| b == sign)? + 1..range.end,
            _ => range,
        };
        let value = &text[range.clone()];
        let is_flag = value.starts_with(b"-") || *form == Form::Glued && value.len() < 3;
        let is_port = value.iter().all(u8::is_ascii_digit) && value.len() < 6;
        let is_made = !matches!(form, Form::Pair(b'=' | b'/') | Form::Pairs) || has_digit(value) && value.len() >= 8;
        let is_secret = value.len() >= 3 && !is_flag && !is_port && is_made && !is_placeholder(value) && !is_place(value);
        (is_secret && !value.starts_with(b"$")).then_some(range)
    }
}

/// `scott/password@db`, `userid=scott/"password"`
fn slashed(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let slash = range.start + text[range.clone()].iter().position(|b| *b == b'/')?;
    let start = bytes::run(text, slash + 1, Set::of("\"'\\"), 2);
    let stop = bytes::until(text, start, 128, |b| b <= b' ' || b"\"'@\\".contains(&b)).0;
    (slash > range.start && stop > start && !text[start..stop].contains(&b'/')).then_some(start..stop)
}

/// Behind so many words and the blanks after them.
fn behind_words(text: &[u8], start: usize, count: usize) -> usize {
    (0..count).fold(bytes::run(text, start, BLANK, 8), |place, _| {
        bytes::run(text, bytes::until(text, place, 200, |b| b <= b' ').0, BLANK, 8)
    })
}

/// The first word on the line that nobody would write but for a password.
fn any(text: &[u8], start: usize) -> Option<Range<usize>> {
    let end = line_end(text, start);
    let mut place = start;
    for _ in 0..MOST_WORDS {
        place = bytes::run(text, place, Set::of(" \t="), 8);
        if place >= end {
            return None;
        }
        let range = match opening(text, place) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, LONGEST)?,
            None => bare(text, place, Ender::Blank, LONGEST),
        };
        let value = &text[range.clone()];
        let is_name = value.starts_with(b"/") || value.starts_with(b"-");
        if !is_name && is_secret(value, Promise::Password, true) {
            return Some(range);
        }
        place = range.end.max(place) + 1;
    }
    None
}

/// Where the password begins behind `-b file user` or `-nb user`, whose letters begin here.
fn behind_names(text: &[u8], letters: usize) -> Option<usize> {
    let end = bytes::run(text, letters, Set::of("a-zA-Z"), 8);
    let names = if text[letters..end].contains(&b'n') { 1 } else { 2 };
    let mut place = text[letters..end].contains(&b'b').then_some(end)?;
    for _ in 0..names {
        let start = bytes::run(text, place, BLANK, 8);
        place = bytes::until(text, start, 200, |b| b <= b' ').0;
    }
    Some(bytes::run(text, place, BLANK, 8))
}
