//! A project with a check that fails, a model that talks about it, and hooks in the places where they may be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::files_below;
use crate::support::messages_api::{Asked, Block};

/// Prompts and what the model says in the end.
pub type Talk = (&'static str, &'static str);
pub const FIX: Talk =
    ("The greeting check fails since this morning. Find out why and fix it.", "The check passes now: the greeting was misspelt.");
pub const EXCLAIM: Talk = ("Should it end with an exclamation mark?", "Decision: the greeting stays without an exclamation mark.");
pub const LANGUAGES: Talk = ("Which languages does it speak?", "English only, the greeting is never translated.");
pub const FAREWELL: Talk = ("And is there a farewell?", "There is no farewell in this project.");
pub const NEXT: Talk = ("What is the state of things?", "Everything is as it was left.");
pub const PRIVATE: Talk =
    ("<private>My sister is in the Rosenhof clinic.</private>", "I will not tell anybody about the Rosenhof.");
pub const MOTTO: Talk = ("Does the shop have a motto?", "It has one.");
pub const ASKS: Talk = ("Where did we leave off on the exclamation mark?", "It stays away, as you decided.");
pub const BEARS: Talk = ("Since this morning the greeting check fails again: is it misspelt?", "No, it is spelt well.");
pub const UNRELATED: Talk = ("Paint a green lighthouse above the harbour of Rotterdam.", "I cannot paint.");
const TALKS: [Talk; 10] = [FIX, EXCLAIM, LANGUAGES, FAREWELL, NEXT, PRIVATE, MOTTO, ASKS, BEARS, UNRELATED];

/// How the client introduces what a hook injects.
const INTRODUCED: &str = "SessionStart hook additional context: ";
/// Where our text begins and ends.
const OURS: (&str, &str) = ("<recall-context>\n", "</recall-context>\n");
/// The user's settings, laid out by hand.
pub const SETTINGS: &str = "{ \"permissions\":\n\t{\"allow\" : [\"Bash\"] } }";
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Scene {
    pub client: Client,
}

impl Scene {
    pub fn new() -> Self {
        let client = Client::new(script).with_recall();
        client.settle_in();
        // As patient as may be: how quick a hook is on a busy machine is measured elsewhere.
        client.world.configure("[hooks]\ndeadline_ms = 5000\n");
        let check = "grep -qx 'hello world' greeting.txt || { echo 'FAILED: no greeting'; exit 1; }\necho ok\n";
        fs::write(client.project().join("check.sh"), check).expect("a check");
        fs::write(client.project().join("greeting.txt"), "helo world\n").expect("a file");
        fs::write(client.settings(), SETTINGS).expect("the user's settings");
        Self { client }
    }

    /// `recall install` or `recall uninstall` for a scope, without a timer.
    pub fn run(&self, verb: &str, args: &[&str]) {
        let ran = self.client.recall(&[&[verb], args].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
    }

    pub fn install(&self, scope: &str) {
        self.run("install", &["--scope", scope, "--timer", "none"]);
    }

    pub fn project_settings(&self) -> PathBuf {
        self.client.project().join(".claude/settings.json")
    }

    /// The command of another tool's hook, which injects something too.
    pub fn other(&self, name: &str) -> String {
        let script = self.client.world.bin().join(name);
        let answer =
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": format!("noted by {name}")}});
        fs::write(&script, format!("#!/bin/sh\ngrep -q '\"SessionStart\"' && echo '{answer}'\n")).expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("its permissions");
        name.to_owned()
    }

    /// The marks that wait, oldest first.
    pub fn marks(&self) -> Vec<Value> {
        let files = files_below(&self.client.world.data_dir().join("marks/new"));
        let read = |file| serde_json::from_slice(&fs::read(file).expect("a mark")).expect("a whole mark");
        let mut marks: Vec<Value> = files.into_iter().map(read).collect();
        marks.sort_by_key(|mark| mark["at"].as_i64());
        marks
    }

    pub fn wait_for_marks(&self, count: usize) {
        let started = Instant::now();
        while self.marks().len() < count {
            assert!(started.elapsed() < PATIENCE, "not {count} marks: {:#?}", self.marks());
            sleep(Duration::from_millis(50));
        }
    }

    /// A digest of everything, which uses up the marks.
    pub fn digest(&self) {
        let ran = self.client.recall(&["digest", "--summarizer", "extract", "--settle", "0s"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        assert_eq!(self.marks(), [] as [Value; 0], "the marks are used up");
    }

    /// What the hook says to a session that begins here.
    pub fn hook_says(&self) -> String {
        let id = "00000000-1111-4222-8333-444444444444";
        let payload = json!({
            "session_id": id, "transcript_path": self.client.world.claude_dir().join(format!("projects/-greeter/{id}.jsonl")),
            "cwd": self.client.project(), "hook_event_name": "SessionStart", "source": "startup",
        });
        // Every asking is a start of its own.
        let _ = fs::remove_dir_all(self.client.world.data_dir().join("marks/started"));
        let ran = self.client.recall_hearing(&["hook", "session-start"], &payload.to_string());
        let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a context").to_owned()
    }

    /// The first request with this prompt.
    pub fn request_with(&self, prompt: &str) -> Request {
        let asked = self.client.api.asked();
        let of = |a: &Asked| a.messages().iter().any(|(role, said)| *role == "user" && said.iter().any(|t| t.starts_with(prompt)));
        Request(asked.into_iter().find(of).unwrap_or_else(|| panic!("no request with `{prompt}`")))
    }

    /// A session of one turn, and its first request.
    pub fn turn_and_request(&self, prompt: &str) -> Request {
        self.client.turn(prompt, &[]);
        self.request_with(prompt)
    }
}

/// A request of the client's.
pub struct Request(Asked);

impl Request {
    /// The texts of ours in it.
    pub fn injected(&self) -> Vec<String> {
        let messages = self.0.messages();
        let texts = messages.iter().flat_map(|(_, said)| said);
        let ours = texts.flat_map(|text| text.split(OURS.0).skip(1).filter_map(|rest| rest.split_once(OURS.1)));
        ours.map(|(inside, _)| [OURS.0, inside, OURS.1].concat()).collect()
    }

    /// Does the client say that a hook at the prompt put this in?
    pub fn says_it_came_with_the_prompt(&self, text: &str) -> bool {
        let messages = self.0.messages();
        messages
            .iter()
            .flat_map(|(_, said)| said)
            .any(|said| said.contains(&format!("UserPromptSubmit hook additional context: {text}")))
    }

    /// What the other tool's hooks said, in alphabetical order.
    pub fn injected_by_others(&self) -> Vec<String> {
        let messages = self.0.messages();
        let lines = messages.iter().flat_map(|(_, said)| said).flat_map(|text| text.lines());
        let noted = lines.filter_map(|line| line.find("noted by ").map(|at| line[at..].to_owned()));
        let mut noted: Vec<String> = noted.collect();
        noted.sort();
        noted
    }

    /// Our text is there once, word for word, before anything the model said. The client joins what all hooks inject. Models differ in
    /// where it puts that: in a message of the system's behind the first of the user's, or in a reminder in front of the user's words.
    pub fn holds_in_its_place(&self, context: &str) {
        assert_eq!(self.injected(), [context]);
        let messages = self.0.messages();
        let [(first, reminders), rest @ ..] = &messages[..] else { panic!("no message") };
        let is_behind = |text: &&str, opening: &str| text.starts_with(&format!("{opening}{INTRODUCED}")) && text.contains(context);
        let behind = rest.first().is_some_and(|(role, said)| *role == "system" && said.iter().any(|t| is_behind(t, "")));
        let within = reminders.iter().any(|t| is_behind(t, "<system-reminder>\n"));
        assert!(*first == "user" && (behind || within), "{messages:#?}");
    }
}

/// What the model says: it fixes the greeting with tools, answers the other prompts, and sums up when the client compacts.
fn script(asked: &Asked) -> Vec<Block> {
    let bash = |command: &str, why: &str| Block::Tool("Bash", json!({"command": command, "description": why}));
    let text = |words: &str| vec![Block::Text(words.to_owned())];
    if asked.prompt().contains("create a detailed summary") {
        return text("<analysis>Short.</analysis><summary>The greeting check was repaired.</summary>");
    }
    let messages = asked.messages();
    let talk = messages.iter().enumerate().rev().find_map(|(at, (role, said))| {
        let talk = TALKS.into_iter().find(|(prompt, _)| *role == "user" && said.iter().any(|t| t.starts_with(prompt)))?;
        Some((talk, messages[at..].iter().filter(|(role, _)| *role == "assistant").count()))
    });
    match talk {
        Some((FIX, 0)) => vec![Block::Text("I'll run the check first.".into()), bash("sh check.sh", "Run the check")],
        Some((FIX, 1)) => vec![bash("echo 'hello world' > greeting.txt", "Correct the greeting")],
        Some((FIX, 2)) => vec![bash("sh check.sh", "Run the check again")],
        Some((PRIVATE, 0)) => vec![bash("echo Rosenhof; false", "Look up the Rosenhof")],
        Some((MOTTO, 0)) => vec![bash("cat .env; false", "Look up the motto")],
        Some(((_, answer), _)) => text(answer),
        None => text("There is nothing to say."),
    }
}
