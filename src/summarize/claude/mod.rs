//! The model, through the `claude` command: the only file that starts it.
//!
//! The child gets no tools, no hooks, no MCP servers, no project, writes no transcript, and is bounded in time and output. What it
//! answers is synced to disk before anything looks at it: a reply is paid for once.

pub mod report;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use subprocess::{Exec, ExitStatus, InputData, Redirection};

use self::report::{Try, session_with};
use super::{Failure, Input, Made, Request, Summarizer, reply};
use crate::child::{self, Bounds, Cut, Ran, which};
use crate::clean::{one_line, plain, shorten};
use crate::config::{Config, GUARD, Price};
use crate::fault;
use crate::price::{cost, price_of};
use crate::privacy::Gate;
use crate::private::Room;
use crate::redact::Redactor;
use crate::session::{Millis, Tokens};
use crate::stop;
use crate::verify::verify;

/// The most a child may print; a reply has a few kilobytes.
const MAX_OUTPUT: usize = 2 << 20;
/// The most the model may answer, in tokens; the form asks for some 600.
const MAX_ANSWER_TOKENS: u64 = 4_000;
/// What the client adds to our request, in bytes (measured: 1,236 with all flags known).
const CLIENT_BYTES: usize = 2_000;
/// What it adds when it knows no flag that keeps its own instructions and tools out, in bytes.
const CLIENT_BYTES_FULL: usize = 120_000;
/// Waits before trying again what may pass.
const BACKOFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// How long a question about itself may take: starting the client takes a second on a slow machine.
const ASK_SECONDS: u64 = 20;
/// Room that is taken on the disk before a reply is asked for, in bytes: for it and the digest that is made of it, with some to spare.
const ROOM: usize = 256 << 10;
/// How long a reply waits to be used.
const KEEP_REPLIES: Millis = 7 * 24 * 3_600_000;

/// Flags that keep the request small and the child quiet, with their values. A client that does not know one goes without.
const FLAGS: &[(&str, Option<&str>)] = &[
    ("--setting-sources", Some("user")),
    ("--no-session-persistence", None),
    ("--settings", Some(r#"{"disableAllHooks":true}"#)),
    ("--tools", Some("")),
    ("--strict-mcp-config", None),
    ("--max-turns", Some("1")),
];
/// Without these the client sends its own instructions and tools along.
pub const SIZE_FLAGS: [&str; 3] = ["--tools", "--system-prompt", "--setting-sources"];
/// Where `--tools` is not known, these are taken away by name.
const TOOLS: &str = "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,LS,Task,Agent,WebFetch,WebSearch,TodoWrite";

pub struct Claude {
    command: PathBuf,
    model: String,
    price: Option<Price>,
    timeout: Duration,
    child_dir: PathBuf,
    replies: PathBuf,
    /// What the client prints passes it before anything is written or told.
    gate: Gate,
    /// Flags this client turned out not to know.
    unknown: Mutex<Vec<String>>,
}

impl Claude {
    /// The summarizer the config describes, when its command is there.
    ///
    /// # Errors
    /// When it is not.
    pub fn find(config: &Config, gate: &Gate) -> Result<Self, String> {
        let name = &config.digest.claude;
        let command = which(name, &config.search_path).ok_or_else(|| format!("`{name}` was not found on the PATH"))?;
        Ok(Self {
            command,
            model: config.digest.model.clone(),
            price: price_of(&config.digest.model, &config.prices),
            timeout: Duration::from_secs(config.digest.timeout_seconds),
            child_dir: config.child_dir(),
            replies: config.data_dir.join("replies"),
            gate: gate.clone(),
            unknown: Mutex::default(),
        })
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// The most a call can cost, in US dollars; `None` when the model's price is unknown.
    ///
    /// Half a token a byte is more than any text of ours has; all input counts as written to the cache for an hour.
    pub fn worst_cost(&self, request: &Request) -> Option<f64> {
        let lean = !self.unknown().iter().any(|flag| SIZE_FLAGS.contains(&flag.as_str()));
        let bytes = request.bytes() + if lean { CLIENT_BYTES } else { CLIENT_BYTES_FULL };
        let tokens = Tokens { cache_write_hour: bytes as u64 / 2, output: MAX_ANSWER_TOKENS, ..Tokens::default() };
        self.price.map(|price| cost(&tokens, &price))
    }

    /// What a call will probably cost, for an estimate before a run: four bytes a token, an answer of 800 tokens.
    pub fn likely_cost(&self, request: &Request) -> Option<f64> {
        let tokens = Tokens { input: (request.bytes() + CLIENT_BYTES) as u64 / 4, output: 800, ..Tokens::default() };
        self.price.map(|price| cost(&tokens, &price))
    }

    fn unknown(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.unknown.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn reply_file(&self, request: &Request) -> PathBuf {
        let hash = request.hash(&self.model);
        let name: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
        self.replies.join(format!("{name}.json"))
    }

    /// Was this very request answered before, and the answer not used yet? One that cannot be read is none: it would be asked for
    /// again, and nothing be reserved for that.
    pub fn has_reply(&self, request: &Request) -> bool {
        fs::read(self.reply_file(request)).is_ok()
    }

    /// The reply is used: its file has done its work.
    pub fn forget_reply(&self, request: &Request) {
        let _ = fs::remove_file(self.reply_file(request));
    }

    /// Replies nobody came for: their sessions went on before they could be used.
    pub fn drop_old_replies(&self, now: Millis) {
        let Ok(files) = fs::read_dir(&self.replies) else { return };
        let age = |meta: fs::Metadata| {
            Some(now - meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as Millis)
        };
        for file in files.flatten() {
            if file.metadata().ok().and_then(age).is_some_and(|age| age > KEEP_REPLIES) {
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn arguments(&self, system: &str) -> Vec<String> {
        let unknown = self.unknown();
        let known = |flag: &str| !unknown.iter().any(|u| u == flag);
        let mut all: Vec<String> = ["-p", "--output-format", "json", "--model", &self.model].map(str::to_owned).into();
        for (flag, value) in FLAGS.iter().filter(|(flag, _)| known(flag)) {
            all.push((*flag).to_owned());
            all.extend(value.map(str::to_owned));
        }
        if !known("--tools") && known("--disallowedTools") {
            all.extend(["--disallowedTools".to_owned(), TOOLS.to_owned()]);
        }
        let flag = ["--system-prompt", "--append-system-prompt"].into_iter().find(|f| known(f));
        all.extend(flag.into_iter().flat_map(|flag| [flag.to_owned(), system.to_owned()]));
        all
    }

    /// The instructions go in front of the record when the client has no flag for them.
    fn stdin(arguments: &[String], request: &Request) -> Vec<u8> {
        let told = arguments.iter().any(|a| a.ends_with("system-prompt"));
        let instructions = if told { String::new() } else { format!("{}\n\n", request.system) };
        format!("{instructions}{}", unmentioned(&request.stdin)).into_bytes()
    }

    /// Runs the child once, within its limits. Whatever happens, none of its process group is left.
    fn run(&self, arguments: &[String], request: &Request) -> io::Result<Result<Ran, Failure>> {
        crate::private::create_dir(&self.child_dir)?;
        let job = quiet(&self.command, &self.child_dir)
            .args(arguments)
            .env("MAX_THINKING_TOKENS", "0")
            .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", MAX_ANSWER_TOKENS.to_string())
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
            // What a session says of files is no wish to have them read.
            .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
            .stdin(InputData::from_bytes(Self::stdin(arguments, request)));
        let bounds = Bounds { time: self.timeout, output: MAX_OUTPUT, stop: stop::asked };
        let clean = |ran: Ran| Ran { stdout: report::redacted(&ran.stdout, &self.gate), stderr: self.plain(&ran.stderr), ..ran };
        Ok(match child::run(job, &bounds)? {
            // Who has answered and then does not end has been paid for it.
            Err(killed) if report::is_whole(&killed.ran.stdout) => Ok(clean(killed.ran)),
            ran => ran.map(clean).map_err(|killed| self.cut(killed.why)),
        })
    }

    fn plain(&self, printed: &[u8]) -> Vec<u8> {
        self.gate.redact(&String::from_utf8_lossy(printed)).into_bytes()
    }

    fn cut(&self, cut: Cut) -> Failure {
        let killed = |what: String| Failure::Session { what, cost_usd: None };
        match cut {
            Cut::Stopped => Failure::Stopped,
            Cut::TookTooLong => killed(format!("claude took longer than {} s and was killed", self.timeout.as_secs())),
            Cut::SaidTooMuch => killed(format!("claude printed more than {} MiB and was killed", MAX_OUTPUT >> 20)),
        }
    }

    /// One try: the reply that is on disk already, else a new one.
    fn try_once<T>(&self, request: &Request, read: Reader<'_, T>) -> Try<T> {
        let file = self.reply_file(request);
        if let Ok(stored) = fs::read(&file) {
            let read = report::read(&stored, read, &self.model);
            if !matches!(read, Try::Answered(_)) {
                let _ = fs::remove_file(&file);
            }
            return read;
        }
        let session = |what: String| Try::Failed(Failure::Session { what, cost_usd: None });
        // Before it is paid for: an answer that cannot be kept may be lost.
        let room = match Room::take(&self.replies, ROOM) {
            Ok(room) => room,
            Err(e) => {
                let what = format!("cannot keep replies in {}, so none is asked for: {e}", self.replies.display());
                return Try::Failed(Failure::Model { what, cost_usd: Some(0.0) });
            }
        };
        let arguments = self.arguments(&request.system);
        fault::point("before the call");
        let ran = match self.run(&arguments, request) {
            Err(e) => {
                return Try::Failed(Failure::Model {
                    what: format!("cannot run {}: {e}", self.command.display()),
                    cost_usd: Some(0.0),
                });
            }
            Ok(Err(failure)) => return Try::Failed(failure),
            Ok(Ok(ran)) => ran,
        };
        let silent = ran.stdout.iter().all(u8::is_ascii_whitespace);
        // A client that answered all the same may have been paid for that.
        if let Some(flag) = unknown_flag(&ran.stderr).filter(|flag| silent && arguments.contains(flag) && can_go_without(flag)) {
            let costs_more = SIZE_FLAGS.contains(&flag.as_str());
            self.unknown().push(flag);
            return if costs_more { Try::Failed(Failure::CostsMore) } else { self.try_once(request, read) };
        }
        if silent {
            return session(format!("claude {} without an answer{}", describe(&ran.status), first_line(&ran.stderr)));
        }
        fault::point("reply arrived");
        // Paid for, kept or not: what can be made of it is made.
        let _ = room.fill(&file, &ran.stdout);
        fault::point("reply stored");
        let read = report::read(&ran.stdout, read, &self.model);
        if !matches!(read, Try::Answered(_)) {
            let _ = fs::remove_file(&file);
        }
        match read {
            Try::Failed(Failure::Session { what, cost_usd }) if !ran.status.success() => {
                session_with(format!("{what} (claude {}{})", describe(&ran.status), first_line(&ran.stderr)), cost_usd)
            }
            other => other,
        }
    }
}

/// What `claude` says of itself, on stdout: its version, its login. Asks no model. `None` when it does not run or does not end.
pub fn ask(command: &Path, arguments: &[&str], config: &Config) -> Option<String> {
    let folder = Some(config.child_dir()).filter(|dir| dir.is_dir()).unwrap_or_else(std::env::temp_dir);
    let job = quiet(command, &folder).args(arguments).stdin(Redirection::Null);
    let ran = child::run(job, &Bounds::seconds(ASK_SECONDS)).ok()?.ok()?;
    Some(Redactor::shipped().redact(&String::from_utf8_lossy(&ran.stdout)).into_owned())
}

/// The command in a folder where no project's settings are in scope, knowing itself as our child, not as part of a session.
fn quiet(command: &Path, folder: &Path) -> Exec {
    Exec::cmd(command)
        .cwd(folder)
        .env(GUARD, "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env_remove("CLAUDECODE")
        .env_remove("CLAUDE_CODE_SESSION_ID")
        .env_remove("CLAUDE_CODE_ENTRYPOINT")
}

/// What makes something of the model's words, or says why they are no answer.
pub type Reader<'r, T> = &'r dyn Fn(&str) -> Result<T, String>;

/// An answer and what it cost.
#[derive(Debug)]
pub struct Answer<T> {
    pub value: T,
    pub model: String,
    /// `None` when the client did not tell.
    pub cost_usd: Option<f64>,
}

impl Claude {
    /// Asks the model; what may pass is tried again. The reply stays on disk until it is forgotten.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read.
    pub fn ask<T>(&self, request: &Request, read: Reader<'_, T>) -> Result<Answer<T>, Failure> {
        let mut waits = BACKOFF.iter();
        loop {
            match self.try_once(request, read) {
                Try::Answered(answer) => return Ok(*answer),
                Try::Failed(failure) => return Err(failure),
                Try::Again(what) => match waits.next() {
                    Some(wait) if !stop::asked() => std::thread::sleep(*wait),
                    _ => return Err(Failure::Model { what, cost_usd: Some(0.0) }),
                },
            }
        }
    }
}

impl Summarizer for Claude {
    fn summarize(&self, input: &Input) -> Result<Made, Failure> {
        fault::happens("answer-panic", || panic!("asked for by a test"));
        let digest = |said: &str| {
            let mut digest = reply::read(said, &input.request)?;
            verify(&mut digest, &input.session);
            Ok(digest)
        };
        let Answer { value, model, cost_usd } = self.ask(&input.request, &digest)?;
        Ok(Made { digest: value, model: Some(model), cost_usd })
    }
}

/// Is a call possible without the flag? Then the next one is made without it, so that no flag is missed twice.
fn can_go_without(flag: &str) -> bool {
    FLAGS.iter().any(|(known, _)| *known == flag)
        || ["--disallowedTools", "--system-prompt", "--append-system-prompt"].contains(&flag)
}

/// A text in which no `@path` makes the client read that file and send it along, as it does for what a user types. What parts the two
/// is not seen and does not come back: replies are cleaned of it.
fn unmentioned(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut before = None;
    for c in text.chars() {
        out.push(c);
        // Behind a letter or a sign it is an address or part of a path, for the client too.
        if c == '@' && !before.is_some_and(|b: char| b.is_ascii_graphic()) {
            out.push('\u{2060}');
        }
        before = Some(c);
    }
    out
}

/// `error: unknown option '--tools'`
fn unknown_flag(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let (_, after) = text.split_once("unknown option '")?;
    after.split_once('\'').map(|(flag, _)| flag.split(['=', ' ']).next().unwrap_or(flag).to_owned())
}

fn describe(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|l| !l.trim().is_empty()).map(|l| shorten(&one_line(&plain(l)), 120));
    line.map_or_else(String::new, |l| format!(": {l}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mention_of_a_file_is_left() {
        let text = "@/etc/passwd see @~/.ssh/id_rsa, (@x) \n@\"a b\" 。@../y me@example.org a/@types/b @@z";
        let given = unmentioned(text);
        assert_eq!(given.matches("@\u{2060}").count(), 5, "{given}");
        assert!(given.contains("me@example.org a/@types/b") && given.contains("(@x)"), "{given}");
        assert_eq!(plain(&given), text, "what comes back is as it was");
    }
}
