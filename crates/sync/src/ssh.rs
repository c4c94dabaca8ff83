//! A folder on a host that one can log in to over ssh without a password prompt. The other side needs a POSIX shell and nothing else.
//!
//! Every call is one connection: the script goes along as the command, names and contents through standard input and output.

use crate::carrier::{Carrier, Entry, FILE_BYTES};
use crate::error::Error;
use crate::history::{self, HISTORY, History};
use crate::names;
use crate::process;
use std::ffi::OsString;
use std::time::Duration;

/// What a shell that greets everybody prints before it is skipped.
const BEGIN: &str = "sync-begin";
/// Without it the connection broke in the middle.
const END: &str = "sync-end";
/// Nothing has to take longer without a byte coming or going.
const PATIENCE: Duration = Duration::from_secs(60);
/// A manifest that is replaced while it is read is read again.
const ATTEMPTS: usize = 3;

/// `name length` for every file with one of our endings; of a link the length is 0, so that who gets it is told that it is one.
///
/// In all of these, line breaks become spaces: a login shell may know no line break between quotes (csh). For the same reason there is no quote, no
/// backslash and no exclamation mark in them.
const LIST: &str = "
echo sync-begin;
if [ -e \"$1\" ] || [ -L \"$1\" ]; then
    cd -- \"$1\" || exit 1;
    for f in *.manifest *.segment .*.part; do
        if [ -L \"$f\" ]; then echo \"$f 0\"; elif [ -f \"$f\" ]; then echo \"$f\" $(wc -c <\"$f\"); fi;
    done;
fi;
echo sync-end";

/// Prints something if the folder is there.
const THERE: &str = "
echo sync-begin;
if [ -e \"$1\" ] || [ -L \"$1\" ]; then echo there; fi;
echo sync-end";

/// For every name on standard input: its length, the bytes and an empty line; or `-` if it is not there, `x` if it is no plain file, `+` if it is
/// larger than `$2`.
const GET: &str = "
echo sync-begin;
if [ -e \"$1\" ]; then cd -- \"$1\" || exit 1; there=yes; fi;
while IFS= read -r f; do
    if [ -z \"$there\" ]; then echo -;
    elif [ -L \"$f\" ]; then echo x;
    elif [ -f \"$f\" ]; then
        s=$(wc -c <\"$f\") || exit 1;
        if [ $s -gt \"$2\" ]; then echo +; else echo $s; cat <\"$f\" || exit 1; echo; fi;
    elif [ -e \"$f\" ]; then echo x;
    else echo -;
    fi;
done;
echo sync-end";

/// What is on standard input becomes the file `$2`, if it has `$3` bytes. `set -C`: a link that somebody put there is not followed.
const PUT: &str = "
echo sync-begin;
umask 077;
set -C;
mkdir -p -- \"$1\" && cd -- \"$1\" && rm -f -- \".$2.part\" && cat >\".$2.part\" || exit 1;
if [ $(wc -c <\".$2.part\") -ne \"$3\" ]; then rm -f -- \".$2.part\"; echo \"the file came in part\" >&2; exit 1; fi;
mv -f -- \".$2.part\" \"$2\" || exit 1;
echo sync-end";

const DELETE: &str = "
echo sync-begin;
if [ -e \"$1\" ]; then
    cd -- \"$1\" || exit 1;
    while IFS= read -r f; do rm -f -- \"$f\" || exit 1; done;
fi;
echo sync-end";

/// Files in a folder of a host. It is made with mode 0700 when the first file is put there; files have mode 0600.
#[derive(Clone, Debug)]
pub struct Ssh {
    program: OsString,
    host: String,
    port: Option<u16>,
    folder: String,
    patience: Duration,
}

impl Ssh {
    /// The folder that `address` names: `ssh://[user@]host[:port]/path`. A path that begins with `/~/` is below the home folder.
    pub fn new(address: &str) -> Result<Self, Error> {
        Self::with_program(address, "ssh", PATIENCE)
    }

    /// The same with another program in place of `ssh`, and another time after which a connection over which nothing comes is given up.
    pub fn with_program(address: &str, program: impl Into<OsString>, patience: Duration) -> Result<Self, Error> {
        let refuse = |why: &str| Error::Address { address: address.into(), why: why.into() };
        let rest = address.strip_prefix("ssh://").ok_or_else(|| refuse("it does not begin with ssh://"))?;
        let (place, path) = rest.split_once('/').ok_or_else(|| refuse("the folder is missing"))?;
        let (host, port) = host_and_port(place).ok_or_else(|| refuse("this is no host"))?;
        if path.is_empty() || path == "~/" || path.contains(['\0', '\n', '\r', '\\']) {
            return Err(refuse("this is no folder for files of machines"));
        }
        // A relative path is one below the home folder, where a login begins.
        let folder = path.strip_prefix("~/").map_or_else(|| format!("/{path}"), |below| format!("./{below}"));
        Ok(Self { program: program.into(), host, port, folder, patience })
    }

    /// What the script prints between its marks.
    fn run(&self, what: &'static str, script: &str, arguments: &[&str], input: &[u8], most: u64) -> Result<Vec<u8>, Error> {
        let mut command = vec!["exec sh -c".to_owned(), quoted(&script.replace('\n', " ")), "sync".into(), quoted(&self.folder)];
        command.extend(arguments.iter().map(|argument| quoted(argument)));
        let mut ssh = std::process::Command::new(&self.program);
        ssh.args([
            "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
        ]);
        ssh.args(self.port.map(|port| format!("-p{port}")));
        ssh.args(["--", &self.host, &command.join(" ")]);
        let failed = |why: String| Error::Ssh { what, host: self.host.clone(), why };
        let outcome = match process::run(ssh, input, most + 64 * 1024, self.patience) {
            Err(process::Failure::TimedOut) => {
                return Err(Error::TimedOut { what, host: self.host.clone(), patience: self.patience });
            }
            outcome => outcome.map_err(|failure| failed(failure.to_string()))?,
        };
        if !outcome.success {
            return Err(failed(outcome.said));
        }
        let (begin, end) = (format!("{BEGIN}\n"), format!("{END}\n"));
        let start = find(&outcome.printed, begin.as_bytes()).map(|at| at + begin.len());
        let printed = start.map(|start| &outcome.printed[start..]).and_then(|printed| printed.strip_suffix(end.as_bytes()));
        printed.map(<[u8]>::to_vec).ok_or_else(|| failed("its answer has no beginning or no end".into()))
    }

    fn get_once(&self, names: &[&str]) -> Result<Option<Vec<Option<Vec<u8>>>>, Error> {
        let printed = self.run("read files", GET, &[&FILE_BYTES.to_string()], &lines(names), 2 * FILE_BYTES)?;
        parse_files(&printed, names)
    }
}

impl Carrier for Ssh {
    fn list(&self) -> Result<Vec<Entry>, Error> {
        let printed = self.run("list the files", LIST, &[], &[], 64 << 20)?;
        // Names that are no UTF-8 or have spaces or line breaks are none of ours; what they leave here has no length behind it.
        let entry = |line: &str| {
            let (name, bytes) = line.split_once(' ')?;
            Some(Entry { name: name.into(), bytes: bytes.trim().parse().ok()? })
        };
        Ok(String::from_utf8_lossy(&printed).lines().filter_map(entry).filter(|entry| names::check(&entry.name).is_ok()).collect())
    }

    fn check_there(&self) -> Result<(), Error> {
        let printed = self.run("look for the folder", THERE, &[], &[], 0)?;
        if printed.is_empty() { Err(Error::Gone { place: format!("{} on {}", self.folder, self.host) }) } else { Ok(()) }
    }

    fn get(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        names.iter().try_for_each(|name| names::check(name))?;
        for _ in 0..ATTEMPTS {
            if let Some(files) = self.get_once(names)? {
                return Ok(files);
            }
        }
        let why = "the files changed while they were read".into();
        Err(Error::Ssh { what: "read files", host: self.host.clone(), why })
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        names::check(name)?;
        self.run("write a file", PUT, &[name, &bytes.len().to_string()], bytes, 0).map(|_| ())
    }

    fn delete(&self, names: &[&str]) -> Result<(), Error> {
        names.iter().try_for_each(|name| names::check(name))?;
        self.run("delete files", DELETE, &[], &lines(names), 0).map(|_| ())
    }

    fn history(&self) -> Result<Option<History>, Error> {
        self.run("look around the folder", HISTORY, &[], &[], 0).map(|printed| history::parse(&printed))
    }
}

fn lines(names: &[&str]) -> Vec<u8> {
    names.iter().flat_map(|name| [name.as_bytes(), b"\n"]).collect::<Vec<_>>().concat()
}

/// The files that [`GET`] printed. Nothing if a length is not that of its file: another was put in its place in between.
fn parse_files(printed: &[u8], names: &[&str]) -> Result<Option<Vec<Option<Vec<u8>>>>, Error> {
    let (mut rest, mut files) = (printed, Vec::new());
    for name in names {
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let (head, after) = (&rest[..at], &rest[at + 1..]);
        rest = after;
        let refuse = |why: &str| Err(Error::Refused { name: (*name).into(), why: why.into() });
        match head {
            b"-" => files.push(None),
            b"x" => return refuse("it is a link or no plain file"),
            b"+" => return refuse("it is larger than any file that is published"),
            length => {
                let length = std::str::from_utf8(length).ok().and_then(|length| length.trim().parse::<usize>().ok());
                let Some(length) = length.filter(|length| after.get(*length) == Some(&b'\n')) else { return Ok(None) };
                files.push(Some(after[..length].to_vec()));
                rest = &after[length + 1..];
            }
        }
    }
    Ok(rest.is_empty().then_some(files))
}

/// `[user@]host[:port]`. Neither part can be an option of ssh or hold anything that a shell looks at.
fn host_and_port(place: &str) -> Option<(String, Option<u16>)> {
    let word = |text: &str| {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        !text.is_empty() && !text.starts_with('-') && text.bytes().all(harmless)
    };
    let (user, place) = place.rsplit_once('@').map_or((None, place), |(user, place)| (Some(user), place));
    // An IPv6 address stands in brackets, which ssh does not want.
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (address, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => {
            let (host, port) = place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
            (Some(host).filter(|host| word(host))?, port)
        }
    };
    let port = port.map(|port| port.parse().ok().filter(|port| *port != 0)).map_or(Some(None), |port| port.map(Some))?;
    match user {
        Some(user) if word(user) => Some((format!("{user}@{host}"), port)),
        Some(_) => None,
        None => Some((host.into(), port)),
    }
}

/// As one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let read = |address: &str| Ssh::new(address).ok().map(|ssh| (ssh.host, ssh.port, ssh.folder));
        let is = |host: &str, port, folder: &str| Some((host.to_owned(), port, folder.to_owned()));
        assert_eq!(read("ssh://me@host.example:2222/srv/it's"), is("me@host.example", Some(2222), "/srv/it's"));
        assert_eq!(read("ssh://host/~/below home"), is("host", None, "./below home"));
        assert_eq!(read("ssh://me@[::1]:22/x"), is("me@::1", Some(22), "/x"));
        let wrong = [
            "host:/x", "ssh://host", "ssh://host/", "ssh://host/~/", "ssh:///x", "ssh://-oProxyCommand=x/x", "ssh://-x@host/x",
            "ssh://a b/x", "ssh://host:0/x", "ssh://host:port/x", "ssh://@host/x", "ssh://[::1/x", "ssh://host/a\nb",
            "ssh://$(x)/x",
        ];
        for address in wrong {
            assert_eq!(read(address), None, "{address}");
        }
    }

    #[test]
    fn an_answer_whose_lengths_do_not_fit_is_none() {
        let names = ["a", "b"];
        let parse = |printed: &[u8]| parse_files(printed, &names).unwrap();
        assert_eq!(parse(b"3\na\nb\n-\n"), Some(vec![Some(b"a\nb".to_vec()), None]));
        for wrong in [&b"4\na\nb\n-\n"[..], b"2\na\nb\n-\n", b"3\na\nb\n", b"-\n-\n-\n", b"", b"99999999999\nx\n-\n", b"-1\n\n-\n"]
        {
            assert_eq!(parse(wrong), None, "{}", String::from_utf8_lossy(wrong));
        }
        assert!(matches!(parse_files(b"-\nx\n", &names), Err(Error::Refused { name, .. }) if name == "b"));
    }
}
