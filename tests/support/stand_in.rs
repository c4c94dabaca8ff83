//! A scripted `claude`: it keeps what every call was given, then does what the scenario says. POSIX shell only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::timeout::ended;
use crate::support::{Ran, World};

/// Sessions of the fixtures, in the order in which they began; all of one project.
pub const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
pub const COMPACT: &str = "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae";
pub const RETRY: &str = "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1";

/// What the stand-in's good answers cost, in US dollars.
pub const COST: f64 = 0.0123;

/// Before the scenario: note the call. Calls may run side by side, so each takes the next free number. A
/// process is started for a number that looks free only.
const HEAD: &str = r#"#!/bin/sh
here='{here}'
n=1
until [ ! -e "$here/calls/$n" ] && mkdir "$here/calls/$n" 2>/dev/null; do n=$((n + 1)); done
call="$here/calls/$n"
printf '%s\0' "$@" > "$call/argv"
env > "$call/env"
pwd -P > "$call/cwd"
ls -A > "$call/listing"
cat > "$call/stdin"
"#;

/// In a scenario: the second and the third call wait for each other.
pub const SIDE_BY_SIDE: &str =
    "tries=0; while [ \"$n\" = 2 ] && [ ! -d \"$here/calls/3\" ] && [ $tries -lt 400 ]; do tries=$((tries + 1)); sleep 0.05; done;";

/// A world with a scripted `claude`.
pub struct StandIn {
    pub world: World,
}

/// What one call was given.
#[derive(Debug)]
pub struct Call {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub cwd: PathBuf,
    /// What lay in its working directory.
    pub listing: String,
    pub stdin: String,
}

impl Call {
    /// The value that follows a flag.
    pub fn value(&self, flag: &str) -> Option<&str> {
        let at = self.arguments.iter().position(|a| a == flag)?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    pub fn has(&self, flag: &str) -> bool {
        self.arguments.iter().any(|a| a == flag)
    }

    /// What stands inside the fence, and all that stands outside of it.
    pub fn record(&self) -> (String, String) {
        let (head, rest) = self.stdin.split_once("<record-").unwrap_or_else(|| panic!("no fence: {}", self.stdin));
        let (name, rest) = rest.split_once(">\n").expect("the end of the opening tag");
        let (text, tail) = rest.rsplit_once(&format!("</record-{name}>\n")).expect("the closing tag");
        (text.to_owned(), format!("{head}<record-{name}>\n</record-{name}>\n{tail}"))
    }
}

impl StandIn {
    /// A world with the named fixtures, whose `claude` does what the scenario says. In it `$here/NAME` is a file put there by
    /// `with`, and `$call` the folder of this call.
    pub fn new(fixtures: &[&str], scenario: &str) -> Self {
        let stand_in = Self { world: World::with_fixtures(fixtures) };
        fs::create_dir_all(stand_in.here().join("calls")).expect("the stand-in's folder");
        stand_in.now_does(scenario);
        stand_in
    }

    pub fn here(&self) -> PathBuf {
        self.world.root().join("stand-in")
    }

    /// From now on it does this.
    pub fn now_does(&self, scenario: &str) {
        let head = HEAD.replace("{here}", self.here().to_str().expect("a UTF-8 path"));
        self.world.fake_claude(&format!("{head}{scenario}\n"));
    }

    /// A file that the scenario can print.
    pub fn with(self, name: &str, text: &str) -> Self {
        self.put(name, text);
        self
    }

    pub fn put(&self, name: &str, text: &str) {
        self.put_bytes(name, text.as_bytes());
    }

    pub fn put_bytes(&self, name: &str, bytes: &[u8]) {
        fs::write(self.here().join(name), bytes).expect("a file of the stand-in");
    }

    /// From now on it gives a good answer.
    pub fn now_answers_well(&self) {
        self.put("good", &report(&form(), COST));
        self.now_does("cat \"$here/good\"");
    }

    /// A world whose `claude` gives a good answer.
    pub fn good(fixtures: &[&str]) -> Self {
        let stand_in = Self::new(fixtures, "");
        stand_in.now_answers_well();
        stand_in
    }

    /// A world whose `claude` prints this.
    pub fn says(fixtures: &[&str], what: &str) -> Self {
        Self::new(fixtures, "cat \"$here/said\"").with("said", what)
    }

    pub fn calls(&self) -> Vec<Call> {
        (1..)
            .map(|n| self.here().join("calls").join(n.to_string()))
            .take_while(|dir| dir.is_dir())
            .map(|dir| read_call(&dir))
            .collect()
    }

    /// The one call there was.
    pub fn only_call(&self) -> Call {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:#?}");
        calls.remove(0)
    }

    /// A file the scenario wrote into the folder of a call.
    pub fn left_in_call(&self, n: usize, name: &str) -> Option<String> {
        fs::read_to_string(self.here().join("calls").join(n.to_string()).join(name)).ok()
    }

    /// Runs `recall`. A client may sleep for longer than anybody waits for this.
    pub fn recall(&self, args: &[&str]) -> Ran {
        let mut command = self.world.process();
        command.args(args);
        ended(command, "", &format!("{args:?}"))
    }

    /// `recall status --json`
    pub fn status(&self) -> Value {
        parse(&self.recall(&["status", "--json"]))
    }

    /// `recall show --json`
    pub fn show(&self, session: &str) -> Value {
        parse(&self.recall(&["show", "--json", session]))
    }

    /// The page of a session.
    pub fn page(&self, session: &str) -> String {
        let pages = self.world.pages();
        let found = pages.iter().find(|(name, _)| name.contains("/sessions/") && name.contains(&session[..8]));
        found.map(|(_, text)| text.clone()).unwrap_or_else(|| panic!("no page of {session}: {pages:#?}"))
    }

    /// Why sessions have no digest by the model, in one text.
    pub fn reasons(&self) -> String {
        let status = self.status();
        ["waiting_reasons", "without_model_reasons", "skipped"].map(|key| status[key].to_string()).concat()
    }
}

fn read_call(dir: &Path) -> Call {
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let lines = read("env");
    let mut arguments: Vec<String> = read("argv").split('\0').map(str::to_owned).collect();
    arguments.pop();
    Call {
        arguments,
        environment: lines.lines().filter_map(|l| l.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        cwd: PathBuf::from(read("cwd").trim_end()),
        listing: read("listing"),
        stdin: read("stdin"),
    }
}

fn parse(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}

/// What the client reports of a successful call, with the model's words in it.
pub fn said(words: &str, cost_usd: f64) -> String {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "api_error_status": null, "duration_ms": 1058, "num_turns": 1,
        "result": words, "stop_reason": "end_turn", "session_id": "1b921730-27cb-4cd8-b8ea-521e71951572", "total_cost_usd": cost_usd,
        "modelUsage": {"claude-haiku-4-5-20251001": {"inputTokens": 4, "outputTokens": 10, "costUSD": cost_usd}},
        "terminal_reason": "completed",
    })
    .to_string()
}

/// The same with a filled form for words.
pub fn report(form: &Value, cost_usd: f64) -> String {
    said(&form.to_string(), cost_usd)
}

/// What the client reports of a call that failed. It says `success` then, too.
pub fn refused(words: &str, status: Option<u16>) -> String {
    json!({
        "type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "duration_ms": 400, "num_turns": 1,
        "result": words, "stop_reason": "stop_sequence", "total_cost_usd": 0, "modelUsage": {}, "terminal_reason": "completed",
    })
    .to_string()
}

/// The form, filled for the session of the fixture `plain`.
pub fn form() -> Value {
    json!({
        "title": "Orders go missing between pages of the order list",
        "request": "Find out why orders go missing, show it in a test before any change, keep list_orders small",
        "investigated": ["how shop/orders.py pages the list"],
        "learned": ["OFFSET counts rows of a list that moves: an order shipped between two pages makes the next page skip one"],
        "completed": ["paging by (created_at, id) with an index; 10 tests pass; committed on keyset-order-list"],
        "decisions": [
            {"text": "The order list uses keyset pagination by (created_at, id), because a row count moves with every order", "rows": [17]},
            {"text": "Prices are kept in Swiss francs from Tuesday on", "rows": [2, 999]},
        ],
        "files": ["shop/orders.py", "shop/db.py", "shop/ledger.py"],
        "blockers": [],
        "next_steps": [{"text": "Migrate the admin export (shop/admin.py), which walks through all orders with OFFSET", "rows": ["[22]"]}],
        "closes": [],
        "questions": [
            "Why do rows vanish while somebody scrolls?", "What replaced numeric jumping?", "Which composite sort tuple is unique?",
            "Where does nightly dumping still repeat lines?", "How was the regression demonstrated?",
        ],
    })
}

/// Is the process still there and not merely unburied?
pub fn is_alive(pid: &str) -> bool {
    let listed = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps starts");
    let state = String::from_utf8_lossy(&listed.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Looks again and again until it holds, for a minute at most.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "it never came true: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
