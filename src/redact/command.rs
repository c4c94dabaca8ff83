//! Passwords that stand on a command line behind a flag without a telling name: `curl -u user:password`, `mysql -psecret`.

use std::ops::Range;

use super::harmless::{is_place, is_placeholder};
use super::random::has_digit;
use super::value::{Ender, bare, opening, quoted_end};
use super::walk::{self, BLANK, Set, URL64, at, before};

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
];

/// The commands, each once.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().enumerate().filter(|(n, flag)| FLAGS[..*n].iter().all(|f| f.0 != flag.0)).map(|(_, flag)| flag.0)
}

const LONGEST: usize = 600;

/// The secrets on the command line that begins here, and where it ends.
pub fn find(text: &[u8], hit: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    if URL64.has(before(text, hit.start)) && before(text, hit.start) != b'n'
        || !matches!(at(text, hit.end), b' ' | b'\t' | b'.' | b'\\')
    {
        return hit.start;
    }
    let name = &text[hit.clone()];
    let mut place = hit.end;
    let end = line_end(text, place);
    let first = walk::run(text, place, BLANK, LONGEST);
    while place < end {
        place = walk::run(text, place, BLANK, LONGEST);
        let is_of = |flag: &&Flag| name.eq_ignore_ascii_case(flag.0.as_bytes()) && (place == first || !flag.1.is_empty());
        for flag in FLAGS.iter().filter(is_of) {
            found.extend(flag.value(text, place).filter(|range| range.start < end));
        }
        place = walk::until(text, place + 1, end.saturating_sub(place + 1), |b| b == b' ').0;
    }
    end
}

/// The end of a command: of its line, unless a backslash joins the next, or a `|`, `;`, `&&`.
fn line_end(text: &[u8], start: usize) -> usize {
    let mut place = start;
    let limit = text.len().min(start + LONGEST);
    loop {
        let (stop, found) = walk::until(text, place, limit - place, |b| matches!(b, b'\n' | b'|' | b';'));
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
            _ => walk::run(text, after, Set::of(" \t="), 4),
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
            Form::Pair(sign) => range.start + text[range.clone()].iter().position(|b| b == sign)? + 1..range.end,
            _ => range,
        };
        let value = &text[range.clone()];
        let is_flag = value.starts_with(b"-") || *form == Form::Glued && value.len() < 3;
        let is_port = value.iter().all(u8::is_ascii_digit) && value.len() < 6;
        let is_made = !matches!(form, Form::Pair(b'=')) || has_digit(value) && value.len() >= 8;
        let is_secret = value.len() >= 3 && !is_flag && !is_port && is_made && !is_placeholder(value) && !is_place(value);
        (is_secret && !value.starts_with(b"$")).then_some(range)
    }
}

/// Where the password begins behind `-b file user` or `-nb user`, whose letters begin here.
fn behind_names(text: &[u8], letters: usize) -> Option<usize> {
    let end = walk::run(text, letters, Set::of("a-zA-Z"), 8);
    let names = if text[letters..end].contains(&b'n') { 1 } else { 2 };
    let mut place = text[letters..end].contains(&b'b').then_some(end)?;
    for _ in 0..names {
        let start = walk::run(text, place, BLANK, 8);
        place = walk::until(text, start, 200, |b| b <= b' ').0;
    }
    Some(walk::run(text, place, BLANK, 8))
}
