//! Generated sessions with the kinds and sizes of real ones. The same arguments give the same bytes, except for timestamps.
//!
//! Shares of bytes in 193 MB of real transcripts: tool results 49 % (half of it a second copy in `toolUseResult`), tool uses 16 %,
//! thinking 13 %, attachments 10 %, the assistant's text 6 %, prompts 2 %, bookkeeping 4 %. Word frequencies are like those of natural
//! language.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::size::Dice;

/// The number of days over which the sessions are spread.
const DAYS: u64 = 180;
const PROJECTS: u64 = 25;
/// The approximate size of a step, in bytes.
const STEP: usize = 12_000;

/// The size of a tree of sessions.
pub struct Size {
    pub files: u64,
    pub bytes: u64,
}

/// A generated session: its transcript and working folder.
pub struct Session {
    pub id: String,
    pub path: PathBuf,
    pub cwd: PathBuf,
}

impl Dice {
    fn in_hundred(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// A length around `mean`: most are shorter, a few much longer.
    fn length(&mut self, mean: u64) -> usize {
        let long = self.in_hundred(5);
        (mean / 5 + self.below(if long { mean * 12 } else { mean })) as usize
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 52, b & 0xffff_ffff_ffff)
    }
}

/// Long texts, escaped for JSON, from which pieces are cut.
pub struct Texts {
    prose: String,
    code: String,
    signature: String,
}

impl Texts {
    pub fn new() -> Self {
        let mut dice = Dice(1);
        let words = words(&mut dice);
        // The n-th word is about 1/n as frequent as the first (Zipf's law).
        let word =
            |dice: &mut Dice| words[((words.len() as f64).powf(dice.below(1 << 32) as f64 / 4_294_967_296.0)) as usize - 1].clone();
        let (mut prose, mut code, mut signature) = (String::new(), String::new(), String::new());
        while prose.len() < 4 << 20 {
            for _ in 0..6 + dice.below(12) {
                let _ = write!(prose, "{} ", word(&mut dice));
            }
            prose.push_str(["in src/order.rs. ", "again. ", "because it was slow.\\n", "for now. "][dice.below(4) as usize]);
        }
        while code.len() < 4 << 20 {
            let (a, b, n) = (word(&mut dice), word(&mut dice), dice.below(900));
            let _ = match dice.below(6) {
                0 => write!(code, "{n:>6}\\tpub fn {a}_{b}(&self) -> Result<{b}> {{\\n"),
                1 => write!(code, "{n:>6}\\t    let {a} = self.{b}.get(\\\"{a}\\\")?;\\n"),
                2 => write!(code, "src/{a}/{b}.rs:{n}:    {b}: {n},\\n"),
                3 => write!(code, "-rw-r--r-- 1 dev dev {n:>6} Nov 12 09:{:02} {a}-{b}.json\\n", n % 60),
                4 => writeln!(code, "{n:>6}\\t    // {a} {b} {a}\\n\\n"),
                _ => write!(code, "   Compiling {a} v0.{n}.1\\n"),
            };
        }
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        while signature.len() < 1 << 20 {
            signature.push(letters[dice.below(64) as usize] as char);
        }
        code.retain(|c| c != '\n');
        Self { prose, code, signature }
    }

    fn piece<'t>(text: &'t str, dice: &mut Dice, length: usize) -> &'t str {
        let from = dice.below((text.len() - length.min(text.len() / 2)) as u64) as usize;
        let piece = &text[from..(from + length).min(text.len())];
        // Do not cut an escape in two.
        let from = piece.find(' ').map_or(0, |at| at + 1);
        let to = piece.rfind(' ').filter(|to| *to > from).unwrap_or(from);
        &piece[from..to]
    }

    fn prose(&self, dice: &mut Dice, mean: u64) -> &str {
        let length = dice.length(mean);
        Self::piece(&self.prose, dice, length)
    }

    fn output(&self, dice: &mut Dice, mean: u64) -> &str {
        let length = dice.length(mean);
        Self::piece(&self.code, dice, length)
    }
}

fn words(dice: &mut Dice) -> Vec<String> {
    let syllable = |dice: &mut Dice| {
        let (c, v, e) = (dice.below(14) as usize, dice.below(5) as usize, dice.below(4) as usize);
        format!("{}{}{}", &"bdfgklmnprstvz"[c..=c], &"aeiou"[v..=v], ["", "n", "r", "s"][e])
    };
    (0..30_000).map(|_| (0..2 + dice.below(2)).map(|_| syllable(dice)).collect()).collect()
}

/// A session being written.
struct Rows<'t> {
    texts: &'t Texts,
    dice: Dice,
    out: String,
    /// The fields that all records share, from `"sessionId"` on.
    common: String,
    at: i64,
    /// The most seconds between two records.
    pace: u64,
    count: u64,
}

impl Rows<'_> {
    fn row(&mut self, kind: &str, rest: &str) {
        self.at += self.dice.below(self.pace + 1) as i64;
        self.count += 1;
        let (uuid, at) = (self.dice.uuid(), time(self.at));
        let _ =
            writeln!(self.out, r#"{{"parentUuid":null,{}"type":"{kind}","uuid":"{uuid}","timestamp":"{at}",{rest}}}"#, self.common);
    }

    fn said(&mut self, content: &str) {
        let n = self.dice.next();
        let usage = r#"{"input_tokens":4,"cache_creation_input_tokens":1200,"cache_read_input_tokens":42000,"cache_creation":{"ephemeral_5m_input_tokens":1200,"ephemeral_1h_input_tokens":0},"output_tokens":180,"service_tier":"standard"}"#;
        let message = format!(
            r#""message":{{"id":"msg_{n:024}","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{content}],"stop_reason":null,"usage":{usage}}},"requestId":"req_{n:024}""#
        );
        self.row("assistant", &message);
    }

    /// A prompt, steps while there is room up to `end`, and the reply.
    fn exchange(&mut self, end: usize) {
        let prompt = self.texts.prose(&mut self.dice, 400);
        self.row("user", &format!(r#""message":{{"role":"user","content":"Please {prompt}"}},"promptId":"{}""#, self.count));
        self.row("last-prompt", &format!(r#""lastPrompt":"{prompt}""#));
        for _ in 0..2 + self.dice.below(12) {
            if self.out.len() + STEP < end {
                self.step();
            }
        }
        let text = self.texts.prose(&mut self.dice, 1_200);
        let next = self.texts.prose(&mut self.dice, 80);
        self.said(&format!(
            r#"{{"type":"text","text":"Done: {text}\n\nDecision: we keep it because {next}\n\nNext steps:\n- {next}\n"}}"#
        ));
    }

    fn step(&mut self) {
        if self.dice.in_hundred(35) {
            let (thought, length) = (self.texts.prose(&mut self.dice, 400), self.dice.length(4_000));
            let signature = &self.texts.signature[..length.min(self.texts.signature.len())];
            self.said(&format!(r#"{{"type":"thinking","thinking":"{thought}","signature":"{signature}"}}"#));
        }
        if self.dice.in_hundred(30) {
            let text = self.texts.prose(&mut self.dice, 700);
            self.said(&format!(r#"{{"type":"text","text":"{text}"}}"#));
        }
        self.tool();
        if self.dice.in_hundred(30) {
            let listed = self.texts.prose(&mut self.dice, 3_500);
            self.row("attachment", &format!(r#""attachment":{{"type":"skill_listing","content":"{listed}"}}"#));
        }
        if self.dice.in_hundred(15) {
            let names = self.texts.output(&mut self.dice, 600);
            self.row(
                "file-history-snapshot",
                &format!(r#""snapshot":{{"trackedFileBackups":{{"a":"{names}"}}}},"isSnapshotUpdate":true"#),
            );
        }
    }

    fn tool(&mut self) {
        let id = format!("toolu_{:024}", self.dice.next());
        let (name, input) = match self.dice.below(4) {
            0 => ("Read", format!(r#""file_path":"/home/dev/src/shop/src/order_{}.rs""#, self.dice.below(60))),
            1 => {
                let (file, old) = (self.dice.below(60), self.texts.output(&mut self.dice, 2_000));
                let edit =
                    format!(r#""file_path":"/home/dev/src/shop/src/order_{file}.rs","old_string":"{old}","new_string":"{old} x""#);
                ("Edit", edit)
            }
            _ => (
                "Bash",
                format!(r#""command":"cargo test {} 2>&1 | tail -{}""#, self.texts.prose(&mut self.dice, 30), self.dice.below(90)),
            ),
        };
        self.said(&format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{{input}}}}}"#));
        let output = self.texts.output(&mut self.dice, 2_600);
        let n = self.dice.below(400);
        let (failed, end) = match self.dice.below(100) {
            0..6 => (false, format!("test result: ok. {n} passed; 0 failed")),
            6..12 => (true, format!("error[E0308]: mismatched types in order_{n}.rs")),
            _ => (false, String::new()),
        };
        let result = format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":"{output}\n{end}","is_error":{failed}}}"#);
        let again = format!(r#""toolUseResult":{{"stdout":"{output}\n{end}","stderr":"","interrupted":false}}"#);
        self.row("user", &format!(r#""message":{{"role":"user","content":[{result}]}},{again}"#));
    }
}

fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).map(|at| format!("{at:.3}")).unwrap_or_default()
}

/// Generates sessions in the config directory `claude` below `root`, in the order of their starts.
pub fn make(root: &Path, size: &Size, texts: &Texts) -> Vec<Session> {
    let now = Timestamp::now().as_second();
    let share = size.bytes / size.files.max(1);
    let mut made: Vec<Session> = Vec::new();
    for n in 0..size.files {
        let mut dice = Dice(n + 7);
        let project = dice.below(PROJECTS);
        let session = Session { id: dice.uuid(), path: PathBuf::new(), cwd: root.join(format!("src/project-{project}")) };
        // Every seventh file is of a subagent of the session before.
        let of_agent = made.last().filter(|_| n % 7 == 6);
        let folder = root.join(format!("claude/projects/-src-project-{project}"));
        let (path, common) = match of_agent {
            Some(parent) => {
                let agent = format!("{:016x}", dice.next());
                let path = parent.path.with_extension("").join(format!("subagents/agent-{agent}.jsonl"));
                (path, common(&parent.id, &parent.cwd, &format!(r#""isSidechain":true,"agentId":"{agent}","#)))
            }
            None => (folder.join(format!("{}.jsonl", session.id)), common(&session.id, &session.cwd, r#""isSidechain":false,"#)),
        };
        let began = now - 7_200 - (DAYS * 86_400 * (size.files - n) / size.files) as i64;
        let wanted = (share / 3 + dice.below(share * 4 / 3 + 1)) as usize;
        let mut rows = Rows { texts, dice, out: String::new(), common, at: began, pace: 20, count: 0 };
        while rows.out.len() < wanted.max(1) {
            rows.exchange(wanted);
        }
        write(&path, &rows.out, rows.at);
        if of_agent.is_none() {
            fs::create_dir_all(&session.cwd).expect("a folder for a project");
            made.push(Session { path, ..session });
        }
    }
    made
}

/// Generates one session of so many short prompts, each behind the reply to the one before, in the config directory `claude` below `root`.
pub fn prompts(root: &Path, prompts: u64) -> Session {
    let mut dice = Dice(prompts);
    let id = dice.uuid();
    let cwd = root.join("src/project-0");
    let path = root.join(format!("claude/projects/-src-project-0/{id}.jsonl"));
    let (common, began) =
        (common(&id, &cwd, r#""isSidechain":false,"#), Timestamp::now().as_second() - 7_200 - 20 * prompts as i64);
    let (mut out, mut parent) = (String::new(), "null".to_owned());
    for n in 0..prompts {
        let at = began + 20 * n as i64;
        let asked = r#""message":{"role":"user","content":"Look at the next step of the importer, please."}"#;
        let usage = r#""usage":{"input_tokens":4,"output_tokens":18}"#;
        let told = format!(
            r#""message":{{"id":"msg_{n:024}","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"Step {n} reads its orders once."}}],{usage}}}"#
        );
        for (kind, at, rest) in [("user", at, asked), ("assistant", at + 10, &told)] {
            let (uuid, at) = (dice.uuid(), time(at));
            let _ = writeln!(out, r#"{{"parentUuid":{parent},{common}"type":"{kind}","uuid":"{uuid}","timestamp":"{at}",{rest}}}"#);
            parent = format!("\"{uuid}\"");
        }
    }
    write(&path, &out, began + 20 * prompts as i64);
    fs::create_dir_all(&cwd).expect("a folder for a project");
    Session { id, path, cwd }
}

fn common(session: &str, cwd: &Path, more: &str) -> String {
    let cwd = cwd.display();
    format!(r#"{more}"userType":"external","cwd":"{cwd}","sessionId":"{session}","version":"2.1.197","gitBranch":"main","#)
}

fn write(path: &Path, text: &str, modified: i64) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for sessions");
    let file = File::create(path).expect("a session's file");
    let mut out = BufWriter::new(&file);
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).expect("room for sessions");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(modified as u64)).expect("a time");
}

/// Appends about `bytes` to a session.
pub fn append(session: &Session, bytes: usize, round: u64, texts: &Texts) {
    let dice = Dice(round + 1_000_003);
    let at = Timestamp::now().as_second();
    let mut rows = Rows { texts, dice, out: String::new(), common: common(&session.id, &session.cwd, ""), at, pace: 0, count: 0 };
    while rows.out.len() < bytes {
        rows.exchange(bytes);
    }
    let mut file = File::options().append(true).open(&session.path).expect("a session's file");
    file.write_all(rows.out.as_bytes()).expect("room for sessions");
}
