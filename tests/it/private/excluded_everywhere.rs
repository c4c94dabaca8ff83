//! Every way out of the memory, in one table: what the config has come to leave out is told by none of them, from the moment it says so
//! and not from the next digest on.
//!
//! The ways there are, are asked of the program: its commands and their options, the hooks, the tools of the server with their arguments,
//! its prompts and resources. One that is not in the table fails the test that compares them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::CommandFactory;
use recall::testing::cli::args::Cli;
use recall::testing::hook::payload::Event;
use serde_json::{Value, json};

use crate::support::mcp_client::Peer;
use crate::support::web_client::WebServer;
use crate::support::{World, assistant, fed, files_below, ran, strings, tasks, user};

pub const CLINIC: &str = "cccc1111-0000-4000-8000-000000000000";
pub const SHOP: &str = "aaaa1111-0000-4000-8000-000000000000";
/// Of the shop, but a subagent of it worked in the clinic.
const MIXED: &str = "bbbb1111-0000-4000-8000-000000000000";
/// Of the clinic, before [`CLINIC`]: both say the same rule.
const RULED: &str = "eeee1111-0000-4000-8000-000000000000";
const RULE: &str = "Never paint the hushonyx valve.";
const NEW: &str = "dddd1111-0000-4000-8000-000000000000";
/// What the clinic's sessions say and nobody else does. No question holds it.
const HUSH: &str = "hush";
pub const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// How somebody asks. `{…}` stands for what [`Scene::filled`] knows.
pub enum Ask {
    /// A command, with these arguments.
    Cli(&'static [&'static str]),
    /// A hook, with more fields of its payload.
    Hook(&'static str, &'static str),
    Tool(&'static str, &'static str),
    Prompt(&'static str, &'static str),
    /// All resources: the list, and each of them.
    Resource(&'static str),
    /// The files below the folder of the pages.
    Pages,
    /// A page of `recall serve`, or an answer of its interface for programs.
    Web(&'static str),
    /// All pages of `recall serve`, as files.
    Exported,
}

use Ask::{Cli as Command, Exported, Hook, Pages, Prompt, Resource, Tool, Web};

/// When a way out shows the clinic's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Never,
    /// Unless the clinic is excluded or isolated.
    Openly,
    /// Also where it is isolated: somebody asks from within, or owns the whole of the memory and counts, forgets or exports it.
    Inside,
}

/// A way out, and when it shows the clinic's words: a way that never shows any proves nothing.
pub struct Way(pub Ask, pub Shown);

const SHOWS: Shown = Shown::Openly;
const INSIDE: Shown = Shown::Inside;
const SILENT: Shown = Shown::Never;

#[rustfmt::skip]
pub const WAYS: &[Way] = &[
    Way(Command(&["search", "ledger"]), SHOWS),
    Way(Command(&["search", "ledger", "--json", "--project", "clinic", "--since", "30d", "--before", "0d", "--limit", "50"]), SHOWS),
    Way(Command(&["show", "{clinic}"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--full"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--team"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--raw"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--items"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--dropped"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--dropped", "--json"]), SHOWS),
    Way(Command(&["show", "{clinic}", "--json", "--items"]), SHOWS),
    Way(Command(&["show", "{digest}"]), SHOWS),
    Way(Command(&["show", "{note}"]), SHOWS),
    Way(Command(&["show", "{memory}"]), SHOWS),
    Way(Command(&["show", "{memory}", "--json"]), SHOWS),
    Way(Command(&["search", "kind:memory"]), SHOWS),
    // Without a terminal it only says so; on one it lists what `search` prints.
    Way(Command(&["search", "ledger", "--interactive"]), SILENT),
    Way(Command(&["embed"]), SILENT),
    // Of sessions it tells numbers only; that another machine hears nothing of them: tests/it/sync.
    // In no repository.
    Way(Command(&["share"]), SILENT),
    Way(Command(&["share", "--json"]), SILENT),
    Way(Command(&["share", "--all"]), SILENT),
    Way(Command(&["share", "--remove", "m1234567"]), SILENT),
    Way(Command(&["sync"]), SILENT),
    // What leaves with a server: tests/it/team.
    Way(Command(&["team"]), SILENT),
    Way(Command(&["team", "--dry-run"]), SILENT),
    Way(Command(&["team", "--yes"]), SILENT),
    Way(Command(&["team", "withdraw", "nobody"]), SILENT),
    Way(Command(&["team", "status"]), SILENT),
    Way(Command(&["team", "status", "--json"]), SILENT),
    // Of folders that are no repository: tests/it/team has what is excluded of others.
    Way(Command(&["team", "records", "{transcript}"]), SILENT),
    Way(Command(&["team", "push", "nowhere"]), SILENT),
    Way(Command(&["search", "ledger", "--team"]), SILENT),
    Way(Command(&["sync", "status"]), SILENT),
    Way(Command(&["sync", "status", "--json"]), SILENT),
    Way(Command(&["show", "{note}", "{clinic}", "{mixed}", "{shop}", "--json"]), SHOWS),
    Way(Command(&["show", "{mixed}", "--items"]), SHOWS),
    Way(Command(&["show", "{mixed}", "--full"]), SILENT),
    Way(Command(&["show", "{mixed}", "--raw"]), SHOWS),
    Way(Command(&["day", "2026-11-20"]), SHOWS),
    Way(Command(&["show", "2026-11-20"]), SHOWS),
    Way(Command(&["list"]), SHOWS),
    Way(Command(&["list", "--agent", "claude-code"]), SHOWS),
    Way(Command(&["list", "--json", "--project", "clinic", "--since", "90d", "--limit", "9"]), SHOWS),
    Way(Command(&["stats"]), SILENT),
    Way(Command(&["stats", "--json", "--by", "project", "--since", "2020-01-01", "--project", "clinic"]), SILENT),
    Way(Command(&["stats", "--team"]), SILENT),
    Way(Command(&["stats", "--by", "branch", "--cost", "--limit", "5"]), SILENT),
    Way(Command(&["report", "--since", "2020-01-01"]), SHOWS),
    Way(Command(&["report", "--for", "week", "--since", "2020-01-01", "--json"]), SHOWS),
    Way(Command(&["report", "--for", "pr", "--branch", "main", "--project", "clinic"]), SHOWS),
    Way(Command(&["report", "--since", "2020-01-01", "--summarizer", "extract", "--json"]), SHOWS),
    Way(Command(&["report", "--since", "2020-01-01", "--summarizer", "extract", "--dry-run"]), SILENT),
    Way(Command(&["resume", "{clinic}"]), SILENT),
    Way(Command(&["resume", "{mixed}", "--print"]), SILENT),
    Way(Command(&["todo"]), SHOWS),
    Way(Command(&["todo", "--project", "clinic", "--json", "--all"]), SHOWS),
    Way(Command(&["timeline", "{clinic}"]), SHOWS),
    Way(Command(&["timeline", "{clinic}", "--json", "--before", "3", "--after", "3"]), SHOWS),
    Way(Command(&["timeline", "{note}"]), SHOWS),
    Way(Command(&["timeline", "{mixed}"]), SILENT),
    Way(Command(&["eval"]), SILENT),
    Way(Command(&["eval", "--project", "clinic", "--since", "90d", "--json"]), SILENT),
    Way(Command(&["why", "ledger"]), SHOWS),
    Way(Command(&["why", "ledger", "--project", "clinic"]), SHOWS),
    Way(Command(&["why", "ledger", "--json"]), SHOWS),
    Way(Command(&["rules"]), SILENT),
    Way(Command(&["rules", "--project", "clinic"]), SHOWS),
    Way(Command(&["rules", "--project", "clinic", "--json"]), SHOWS),
    Way(Command(&["rules", "--project", "clinic", "--diff"]), SHOWS),
    Way(Command(&["fix", "cannot open shared object file"]), SHOWS),
    Way(Command(&["fix", "shared object file", "--json", "--project", "clinic", "--limit", "9"]), SHOWS),
    Way(Command(&["how"]), SILENT),
    Way(Command(&["how", "test", "--all-projects"]), SHOWS),
    Way(Command(&["how", "--project", "clinic", "--json"]), SHOWS),
    Way(Command(&["friction"]), SHOWS),
    Way(Command(&["friction", "--project", "clinic", "--json", "--limit", "3"]), SHOWS),
    Way(Command(&["context", "--cwd", "{clinic_dir}"]), INSIDE),
    Way(Command(&["context", "--cwd", "{clinic_dir}", "--json", "--max-tokens", "3000"]), INSIDE),
    Way(Command(&["context"]), SILENT),
    Way(Command(&["context", "--about", "the ledger", "--summarizer", "extract", "--cwd", "{clinic_dir}"]), INSIDE),
    Way(Command(&["context", "--about", "the ledger", "--summarizer", "extract", "--json"]), SHOWS),
    Way(Command(&["export"]), INSIDE),
    Way(Command(&["export", "--project", "clinic"]), INSIDE),
    Way(Command(&["status"]), SILENT),
    Way(Command(&["status", "--json"]), SILENT),
    Way(Command(&["doctor"]), SILENT),
    Way(Command(&["doctor", "--json"]), SILENT),
    Way(Command(&["doctor", "--seen"]), SILENT),
    Way(Command(&["doctor", "--memory"]), SHOWS),
    Way(Command(&["doctor", "--memory", "--project", "clinic", "--json"]), SHOWS),
    Way(Command(&["config"]), SILENT),
    Way(Command(&["config", "--json"]), SILENT),
    Way(Command(&["config", "--init"]), SILENT),
    Way(Command(&["remember", "--project", "{clinic_dir}", "The ledger is written in green ink."]), SILENT),
    Way(Command(&["remember"]), SILENT),
    Way(Command(&["remember", "--project", "{clinic_dir}", "--kind", "fact", "--json"]), SHOWS),
    Way(Command(&["remember", "--everywhere", "--tag", "ledger"]), SILENT),
    Way(Command(&["remember", "--edit", "{note}", "--tag", "ledger", "--due", "today"]), SILENT),
    Way(Command(&["search", "tag:ledger"]), SILENT),
    Way(Command(&["redact"]), SILENT),
    Way(Command(&["completions", "bash"]), SILENT),
    Way(Command(&["man"]), SILENT),
    Way(Command(&["install", "--dry-run"]), SILENT),
    Way(Command(&["uninstall", "--dry-run"]), SILENT),
    Way(Command(&["import"]), SILENT),
    Way(Command(&["mcp"]), SILENT),
    Way(Command(&["digest", "--dry-run"]), SILENT),
    Way(Command(&["digest", "--dry-run", "--verbose"]), SILENT),
    Way(Command(&["forget", "--dry-run", "--session", "{clinic}"]), INSIDE),
    Way(Command(&["forget", "--dry-run", "--note", "{note}"]), INSIDE),
    Way(Command(&["forget", "--dry-run", "--project", "clinic"]), INSIDE),
    Way(Command(&["forget", "--dry-run", "--before", "0d"]), INSIDE),
    Way(Command(&["forget", "--dry-run", "--match", "ledger"]), INSIDE),
    Way(Command(&["forget", "--dry-run", "--yes", "--this"]), SILENT),
    Way(Command(&["pause"]), SILENT),
    Way(Command(&["pause", "--off"]), SILENT),
    Way(Hook("session-start", r#"{"cwd": "{clinic_dir}", "source": "startup"}"#), INSIDE),
    Way(Hook("session-start", r#"{"cwd": "{shop_dir}", "source": "startup"}"#), SILENT),
    Way(Hook("session-start", r#"{"cwd": "{clinic_dir}", "source": "compact", "session_id": "{clinic}", "transcript_path": "{transcript}"}"#), INSIDE),
    Way(Hook("user-prompt-submit", r#"{"cwd": "{clinic_dir}", "prompt": "What did we decide about the ledger last time?"}"#), INSIDE),
    Way(Hook("user-prompt-submit", r#"{"cwd": "{shop_dir}", "prompt": "What did we decide about the ledger and its sluice last time?"}"#), SHOWS),
    Way(Hook("user-prompt-submit", r#"{"cwd": "{clinic_dir}", "prompt": "ImportError: libpq.so.5: cannot open shared object file"}"#), INSIDE),
    Way(Hook("user-prompt-submit", r#"{"cwd": "{shop_dir}", "prompt": "ImportError: libpq.so.5: cannot open shared object file"}"#), SILENT),
    Way(Hook("session-end", r#"{"cwd": "{clinic_dir}", "reason": "other"}"#), SILENT),
    Way(Hook("pre-compact", r#"{"cwd": "{clinic_dir}"}"#), SILENT),
    Way(Hook("post-compact", r#"{"cwd": "{clinic_dir}"}"#), SILENT),
    Way(Hook("stop", r#"{"cwd": "{clinic_dir}"}"#), SILENT),
    Way(Hook("subagent-stop", r#"{"cwd": "{clinic_dir}"}"#), SILENT),
    Way(Tool("search", r#"{"query": "ledger"}"#), SHOWS),
    Way(Tool("search", r#"{"query": "ledger", "project": "clinic", "since": "30d", "before": "0d", "kind": "decision", "limit": 50, "scope": "all"}"#), SHOWS),
    Way(Tool("search", r#"{"query": "ledger", "cursor": "1-x"}"#), SILENT),
    Way(Tool("timeline", r#"{"id": "{clinic}", "before": 3, "after": 3}"#), SHOWS),
    Way(Tool("timeline", r#"{"id": "{note}"}"#), SHOWS),
    Way(Tool("get", r#"{"ids": ["{clinic}"]}"#), SHOWS),
    Way(Tool("get", r#"{"ids": ["{memory}"]}"#), SHOWS),
    Way(Tool("search", r#"{"query": "sluices", "kind": "memory", "scope": "all"}"#), SHOWS),
    Way(Tool("get", r#"{"ids": ["{shop}", "{note}", "{mixed}", "{clinic}"], "detail": "full"}"#), SHOWS),
    Way(Tool("recall", r#"{"topic": "the ledger"}"#), SHOWS),
    Way(Tool("recall", r#"{"topic": "ledger", "mode": "why"}"#), SHOWS),
    Way(Tool("recall", r#"{"topic": "what did we decide about the ledger?", "project": "clinic", "max_tokens": 2000, "scope": "all"}"#), SHOWS),
    Way(Tool("recall", r#"{"topic": "cannot open shared object file", "mode": "fix"}"#), SHOWS),
    Way(Tool("recall", r#"{"topic": "tests", "mode": "how", "project": "clinic"}"#), SHOWS),
    Way(Tool("remember", r#"{"text": "The ledger is written in green ink.", "kind": "fact"}"#), SILENT),
    Way(Tool("close", r#"{"ids": ["{item}"], "undo": true}"#), SILENT),
    Way(Tool("status", "{}"), SILENT),
    Way(Prompt("where-did-we-leave-off", r#"{"topic": "the ledger"}"#), SHOWS),
    Way(Prompt("where-did-we-leave-off", "{}"), SILENT),
    Way(Resource("recall://day/{date}"), SHOWS),
    Way(Command(&["serve", "--idle", "1s"]), SILENT),
    Way(Web("search.html?q=ledger"), SHOWS),
    Way(Web("session/{clinic}.html"), SHOWS),
    Way(Web("rows/{clinic}.html"), SHOWS),
    Way(Web("rows/{mixed}.html"), SHOWS),
    Way(Web("note/{note}.html"), SHOWS),
    Way(Web("note/{memory}.html"), SHOWS),
    Way(Web("forget/{clinic}.html"), SHOWS),
    Way(Web("api/v1/session/{clinic}"), SHOWS),
    Way(Web("api/v1/timeline/{clinic}"), SHOWS),
    Way(Web("api/v1/search?q=ledger"), SHOWS),
    Way(Web("api/v1/context/topic?q=ledger"), SHOWS),
    Way(Web("api/v1/context/prompt?q=What%20did%20we%20decide%20about%20the%20ledger%20and%20its%20sluice%20last%20time%3F"), SHOWS),
    Way(Web("api/v1/context/start"), SILENT),
    Way(Web("api/v1/context/start?project=clinic"), SHOWS),
    Way(Web("api/v1/sessions"), SHOWS),
    Way(Web("api/v1/notes"), SILENT),
    Way(Web("api/v1/open"), SHOWS),
    Way(Exported, SHOWS),
    // From here on the memory changes. Whatever writes pages writes none of what is left out.
    Way(Command(&["close"]), SILENT),
    Way(Command(&["close", "{item}"]), SHOWS),
    Way(Command(&["close", "{item}", "--undo"]), SHOWS),
    Way(Command(&["close", "{shop_item}"]), SILENT),
    Way(Command(&["wrong", "{clinic}"]), SHOWS),
    Way(Command(&["wrong", "--undo", "{item}"]), SILENT),
    Way(Command(&["wrong", "{clinic}", "--reply", "1"]), SHOWS),
    Way(Command(&["wrong", "{clinic}", "--reply", "1", "--undo"]), SHOWS),
    Way(Command(&["rules", "--dismiss", "{rule}"]), SHOWS),
    Way(Command(&["rules", "--dismiss", "{rule}", "--undo"]), SHOWS),
    Way(Command(&["rules", "--accept", "{rule}"]), SILENT),
    Way(Pages, INSIDE),
    Way(Command(&["digest"]), SILENT),
    Way(Pages, INSIDE),
    Way(Command(&["export"]), INSIDE),
];

/// Options of these show nothing more than the command without them, or nothing at all.
const OF_NO_ACCOUNT: [&str; 10] =
    ["digest", "install", "uninstall", "doctor", "redact", "remember", "completions", "man", "import", "serve"];

pub struct Scene {
    pub world: World,
    note: String,
}

impl Scene {
    /// Two projects, of which nothing was said yet.
    pub fn bare() -> Self {
        let scene = Self { world: World::new(), note: String::new() };
        for dir in ["shop", "clinic"] {
            std::fs::create_dir_all(scene.dir(dir)).expect("a project");
        }
        scene.configure("");
        scene
    }

    fn set() -> Self {
        let scene = Self::bare();
        let asked = format!("Balance the ledger with the hushquartz pump. {RULE}");
        let clinic = scene.talk("clinic", CLINIC, "2026-11-20T09:00:00Z", &asked, "hushquartz");
        let summary = json!({"type": "user", "isCompactSummary": true, "sessionId": CLINIC, "uuid": "clinic-summary",
            "timestamp": "2026-11-20T09:20:00Z", "cwd": scene.dir("clinic"), "message": {"role": "user", "content": "Summary:\nAll is balanced."}});
        let clinic = format!("{clinic}{summary}\n") + &scene.failure("clinic", CLINIC, "2026-11-20T09:10:00Z", "hushopal");
        let ruled = scene.talk("clinic", RULED, "2026-11-18T09:00:00Z", &format!("Look at the sluice. {RULE}"), "hushagate");
        scene.world.transcript(&format!("-p/{RULED}.jsonl"), ruled);
        scene.world.transcript(&format!("-p/{CLINIC}.jsonl"), clinic);
        scene.world.transcript(
            &format!("-q/{SHOP}.jsonl"),
            scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt"),
        );
        let mixed = scene.talk("shop", MIXED, "2026-11-20T11:00:00Z", "Compare the two billing tables", "loudgranite");
        scene.world.transcript(&format!("-q/{MIXED}.jsonl"), mixed);
        let agent = scene.talk("clinic", MIXED, "2026-11-20T11:01:00Z", "Look up the hushagate table", "hushagate");
        let agent = agent.replace("\"type\":", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\":");
        scene.world.transcript(&format!("-q/{MIXED}/subagents/agent-a1.jsonl"), agent);
        let memory = scene.world.claude_dir().join("projects/-p/memory");
        std::fs::create_dir_all(&memory).expect("a folder");
        std::fs::write(memory.join("wards.md"), "All sluices of the hushberyl ward are shut at noon.\n").expect("a memory file");
        std::fs::write(memory.join("MEMORY.md"), "- [The hushjade ward](gone.md)\n").expect("a memory file");
        scene.world.digest(&EXTRACT);
        let scene = scene.with_note("The ledger of the hushgarnet ward closes at noon.");
        scene.world.digest(&EXTRACT);
        scene
    }

    /// With a note of the clinic's.
    pub fn with_note(self, text: &str) -> Self {
        let dir = self.dir("clinic").display().to_string();
        let ran = self.world.recall(["remember", "--project", &dir, "--json", text]);
        let kept: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        Self { note: kept["id"].as_str().expect("an id").to_owned(), ..self }
    }

    pub fn dir(&self, name: &str) -> PathBuf {
        self.world.home().canonicalize().expect("a home").join("src").join(name)
    }

    pub fn configure(&self, more: &str) {
        self.world.configure(&format!("[digest]\nsummarizer = \"extract\"\n[hooks]\ndeadline_ms = 5000\n{more}"));
    }

    /// A session of some turns, in a project of this world.
    pub fn talk(&self, project: &str, id: &str, at: &str, prompt: &str, word: &str) -> String {
        let reply = format!(
            "Decision: the ledger and its sluice keep the {word} valve, because the {word} seal held.\n\nThe {word} pump is balanced now."
        );
        let left = format!("Paint the {word} gauge of the ledger blue before the audit of the {project}");
        let uuid = |part: u32| format!("{}-{word}-{part}", &id[..8]);
        let rows = user(id, &uuid(1), at, prompt) + &tasks(id, &uuid(3), at, &[&left]) + &assistant(id, &uuid(2), at, &reply);
        rows.replace("/home/dev/src/shop", &self.dir(project).display().to_string())
    }

    /// A check that fails, and passes after something was installed.
    fn failure(&self, project: &str, id: &str, at: &str, word: &str) -> String {
        let error = "Exit code 1\nImportError: libpq.so.5: cannot open shared object file";
        let row = |n: u32, command: &str, printed| ran(id, &format!("{}-{word}-{n}", &id[..8]), at, command, printed);
        let check = format!("pytest tests/{word}");
        let rows = row(1, &check, Err(error))
            + &row(4, &check, Err(error))
            + &row(5, &check, Err(error))
            + &row(2, &format!("apt-get install lib{word}"), Ok("done"))
            + &row(3, &check, Ok("== 3 passed in 1s =="));
        rows.replace("/home/dev/src/shop", &self.dir(project).display().to_string())
    }

    fn text(&self, sql: &str) -> String {
        self.world.database().query_row(sql, [], |r| r.get(0)).unwrap_or_default()
    }

    fn item_of(&self, session: &str) -> String {
        self.text(&format!("SELECT i.id FROM open_item i JOIN session s ON s.pk = i.session WHERE s.id = '{session}'"))
    }

    /// Today's names, which a digest may take out of the index: they are looked up before anything is left out.
    pub fn names(&self) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        let rules = self.world.recall(["rules", "--project", "clinic", "--json"]).out;
        let rules: Value = serde_json::from_str(&rules).unwrap_or_default();
        vec![
            ("{rule}", rules["rules"][0]["id"].as_str().unwrap_or("r00000000").to_owned()),
            ("{clinic}", CLINIC.to_owned()),
            ("{mixed}", MIXED.to_owned()),
            ("{shop}", SHOP.to_owned()),
            ("{note}", self.note.clone()),
            ("{memory}", self.text("SELECT id FROM memory_file WHERE path LIKE '%wards.md'")),
            (
                "{digest}",
                self.text(&format!("SELECT d.id FROM digest d JOIN session s ON s.pk = d.session WHERE s.id = '{CLINIC}'")),
            ),
            ("{item}", self.item_of(CLINIC)),
            ("{shop_item}", self.item_of(SHOP)),
            ("{clinic_dir}", path(self.dir("clinic"))),
            ("{shop_dir}", path(self.dir("shop"))),
            ("{transcript}", path(self.world.claude_dir().join(format!("projects/-p/{CLINIC}.jsonl")))),
        ]
    }
}

/// All that a way tells, good and bad, as one text.
fn told(scene: &Scene, names: &[(&str, String)], way: &Ask, n: usize) -> String {
    let fill = |text: &str| names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let value = |text: &str| -> Value { serde_json::from_str(&fill(text)).unwrap_or_else(|e| panic!("{e}: {text}")) };
    let here = scene.dir("shop");
    match way {
        Command(args) => {
            let mut command = scene.world.process();
            command.args(args.iter().map(|arg| fill(arg))).current_dir(&here);
            let ran = fed(command, b"");
            format!("{}\n{}", ran.out, ran.err)
        }
        Hook(event, more) => {
            // A session of its own each time: nothing is told twice to one.
            let session = format!("{}{n:04}", &NEW[..32]);
            let transcript = scene.world.claude_dir().join(format!("projects/-p/{session}.jsonl"));
            let mut payload = json!({"session_id": session, "transcript_path": transcript, "hook_event_name": pascal(event)});
            payload.as_object_mut().expect("an object").extend(value(more).as_object().expect("an object").clone());
            scene.world.hook(event, payload.to_string()).out
        }
        Tool(name, arguments) => {
            let mut peer = Peer::greet_in(&scene.world, &here);
            peer.ask("tools/call", json!({"name": name, "arguments": value(arguments)})).to_string()
        }
        Prompt(name, arguments) => {
            let mut peer = Peer::greet_in(&scene.world, &here);
            peer.ask("prompts/get", json!({"name": name, "arguments": value(arguments)})).to_string()
        }
        Resource(_) => {
            let mut peer = Peer::greet_in(&scene.world, &here);
            let listed = peer.ask("resources/list", json!({}));
            let mut all = listed.to_string();
            for resource in listed["resources"].as_array().expect("resources") {
                all += &peer.ask("resources/read", json!({"uri": resource["uri"]})).to_string();
            }
            all
        }
        Web(address) => WebServer::entered(&scene.world, &here).get(&fill(address)).body,
        Exported => {
            let folder = scene.world.root().join("site");
            let ran = fed(
                {
                    let mut command = scene.world.process();
                    command.args(["serve", "--export"]).arg(&folder).current_dir(&here);
                    command
                },
                b"",
            );
            let files = files_below(&folder).into_iter().map(|file| std::fs::read_to_string(file).expect("a page"));
            let all = format!("{}\n{}\n{}", ran.out, ran.err, files.collect::<String>());
            std::fs::remove_dir_all(folder).expect("a folder");
            all
        }
        Pages => scene.world.pages().into_iter().map(|(name, text)| format!("{name}\n{text}")).collect(),
    }
}

fn pascal(event: &str) -> String {
    event.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The way in words, for who reads of a leak.
fn called(way: &Ask) -> String {
    match way {
        Command(args) => format!("recall {}", args.join(" ")),
        Hook(event, more) => format!("hook {event} {more}"),
        Tool(name, arguments) => format!("tool {name} {arguments}"),
        Prompt(name, arguments) => format!("prompt {name} {arguments}"),
        Resource(template) => format!("resources {template}"),
        Pages => "the pages".to_owned(),
        Web(address) => format!("recall serve: {address}"),
        Exported => "recall serve --export".to_owned(),
    }
}

/// The ways that show the clinic's words.
fn showing(scene: &Scene, names: &[(&str, String)]) -> Vec<(usize, String)> {
    showing_word(scene, names, HUSH)
}

/// The ways that show a word, with the places of it.
pub fn showing_word(scene: &Scene, names: &[(&str, String)], word: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (n, Way(way, _)) in WAYS.iter().enumerate() {
        let told = told(scene, names, way, n);
        if let Some(at) = told.find(word) {
            let (from, to) = (told.floor_char_boundary(at.saturating_sub(80)), told.ceil_char_boundary((at + 80).min(told.len())));
            found.push((n, told[from..to].to_owned()));
        }
    }
    found
}

/// Each way in words, with all that it tells.
pub fn outputs(scene: &Scene, names: &[(&str, String)]) -> Vec<(String, String)> {
    WAYS.iter().enumerate().map(|(n, Way(way, _))| (called(way), told(scene, names, way, n))).collect()
}

#[test]
fn what_is_excluded_leaves_by_no_way_from_the_moment_the_config_says_so() {
    let scene = Scene::set();
    let names = scene.names();
    assert!(names.iter().all(|(_, value)| !value.is_empty()), "{names:?}");
    scene.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    assert_none_leaks(&showing(&scene, &names), &[]);
}

/// No way shows it, but those that may.
pub fn assert_none_leaks(shown: &[(usize, String)], may: &[Shown]) {
    let leaks = shown.iter().filter(|(n, _)| !may.contains(&WAYS[*n].1));
    let leaks: Vec<String> = leaks.map(|(n, text)| format!("{}: …{text}…", called(&WAYS[*n].0))).collect();
    assert!(leaks.is_empty(), "{} of {} ways:\n{}", leaks.len(), WAYS.len(), leaks.join("\n"));
}

/// Its sessions are told and found in itself, also those of others that had a part in it, and what it says is lost to nobody who owns it.
#[test]
fn what_is_isolated_is_shown_in_itself_alone() {
    let scene = Scene::set();
    let names = scene.names();
    scene.configure("[privacy]\nisolate = [\"~/src/clin*\"]\n");
    let shown = showing(&scene, &names);
    assert_none_leaks(&shown, &[INSIDE]);
    let is_shown = |n: &usize| shown.iter().any(|(other, _)| other == n);
    let lost = WAYS.iter().enumerate().filter(|(n, Way(_, shows))| *shows == INSIDE && !is_shown(n));
    let lost: Vec<String> = lost.map(|(_, Way(way, _))| called(way)).collect();
    assert!(lost.is_empty(), "these are silent within, too:\n{}", lost.join("\n"));
}

/// Without this the tests above would prove nothing.
#[test]
fn every_way_shows_what_is_not_excluded() {
    let scene = Scene::set();
    let names = scene.names();
    let shown: BTreeSet<usize> = showing(&scene, &names).into_iter().map(|(n, _)| n).collect();
    let wrong = WAYS.iter().enumerate().filter(|(n, Way(_, shows))| shown.contains(n) == (*shows == SILENT));
    let wrong: Vec<String> = wrong
        .map(|(_, Way(way, shows))| format!("{}: {}", called(way), if *shows == SILENT { "shows it" } else { "is silent" }))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A new command, option, hook, tool, argument, prompt or resource has to join the table.
#[test]
fn every_way_there_is_stands_in_the_table() {
    let scene = Scene::set();
    let mut missing = Vec::new();
    let mut wants = |what: String, is_there: bool| {
        if !is_there {
            missing.push(what)
        }
    };
    let commands: Vec<&[&str]> =
        WAYS.iter().filter_map(|Way(way, _)| if let Command(args) = way { Some(*args) } else { None }).collect();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        wants(format!("recall {name}"), commands.iter().any(|args| args[0] == name));
        let options = command.get_arguments().filter(|_| !OF_NO_ACCOUNT.contains(&name)).filter_map(clap::Arg::get_long);
        for option in options.filter(|option| !matches!(*option, "help" | "version")) {
            let option = format!("--{option}");
            let named = commands.iter().any(|args| args[0] == name && args.contains(&option.as_str()));
            wants(format!("recall {name} {option}"), named);
        }
    }
    let hooks: BTreeSet<&str> =
        WAYS.iter().filter_map(|Way(way, _)| if let Hook(event, _) = way { Some(*event) } else { None }).collect();
    Event::names().for_each(|event| wants(format!("hook {event}"), hooks.contains(event)));
    let mut peer = Peer::greet(&scene.world);
    let called: Vec<(&str, Value)> = WAYS
        .iter()
        .filter_map(|Way(way, _)| if let Tool(name, given) | Prompt(name, given) = way { Some((*name, *given)) } else { None })
        .map(|(name, given)| (name, serde_json::from_str(given).expect("JSON")))
        .collect();
    let gives = |name: &str, argument: &str| called.iter().any(|(tool, given)| *tool == name && given.get(argument).is_some());
    for tool in peer.ask("tools/list", json!({}))["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        wants(format!("tool {name}"), called.iter().any(|(tool, _)| *tool == name));
        let arguments = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        arguments.keys().for_each(|argument| wants(format!("tool {name} {argument}"), gives(name, argument)));
    }
    for prompt in peer.ask("prompts/list", json!({}))["prompts"].as_array().expect("prompts") {
        let name = prompt["name"].as_str().expect("a name");
        wants(format!("prompt {name}"), called.iter().any(|(prompt, _)| *prompt == name));
        let arguments = prompt["arguments"].as_array().cloned().unwrap_or_default();
        arguments.iter().filter_map(|a| a["name"].as_str()).for_each(|a| wants(format!("prompt {name} {a}"), gives(name, a)));
    }
    let mut templates = Vec::new();
    strings(&peer.ask("resources/templates/list", json!({}))["resourceTemplates"], &mut templates);
    for template in templates.iter().filter(|text| text.contains("://")) {
        wants(format!("resource {template}"), WAYS.iter().any(|Way(way, _)| matches!(way, Resource(known) if known == template)));
    }
    assert!(
        missing.is_empty(),
        "these ways stand in no line of the table WAYS, which proves that they show nothing private: {missing:#?}"
    );
}
