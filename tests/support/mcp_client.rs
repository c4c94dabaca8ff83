//! A client of the protocol, of the tests' own: JSON-RPC over the server's stdin and stdout, a line a message.
//!
//! Whatever the server writes to stdout has to be such a message, and what it writes to stderr is kept.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::World;

/// The longest wait. Machines of test runs are slow; whoever sees this pass has found a failure.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Peer {
    child: Child,
    to: Option<ChildStdin>,
    messages: Receiver<Value>,
    errors: Option<JoinHandle<String>>,
    reader: Option<JoinHandle<()>>,
    asked: i64,
    answers: HashMap<i64, Value>,
    /// What is answered when the server asks for the roots.
    roots: Option<Vec<String>>,
    /// How often it asked.
    pub asked_for_roots: usize,
    /// The roots are told later: by [`Peer::tell_roots`].
    pub waits_with_roots: bool,
    owed_roots: Option<Value>,
    /// The codes of errors about what had no form in which an id could be found.
    pub refused_as_a_whole: Vec<i64>,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub err: String,
}

impl Peer {
    /// Starts the server in a folder; nothing is said yet.
    pub fn start(world: &World, folder: &Path) -> Self {
        Self::start_with(world, folder, &[])
    }

    /// The same with further variables.
    pub fn start_with(world: &World, folder: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = world.process();
        command.arg("mcp").current_dir(folder).envs(variables.iter().copied());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("recall starts");
        let (sender, messages) = channel();
        let out = BufReader::new(child.stdout.take().expect("its stdout"));
        let reader = std::thread::spawn(move || {
            for line in out.lines() {
                let line = line.expect("UTF-8");
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("no message: {e}: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                // Whoever does not listen any more still wants nothing else than messages.
                let _ = sender.send(message);
            }
        });
        let mut err = child.stderr.take().expect("its stderr");
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).expect("UTF-8");
            text
        });
        Self {
            to: child.stdin.take(),
            child,
            messages,
            errors: Some(errors),
            reader: Some(reader),
            asked: 0,
            answers: HashMap::new(),
            roots: None,
            asked_for_roots: 0,
            waits_with_roots: false,
            owed_roots: None,
            refused_as_a_whole: Vec::new(),
        }
    }

    /// Starts it in the world's own folder and greets it.
    pub fn greet(world: &World) -> Self {
        Self::greet_in(world, world.root())
    }

    /// Starts it in a folder and greets it.
    pub fn greet_in(world: &World, folder: &Path) -> Self {
        let mut peer = Self::start(world, folder);
        peer.initialize(json!({}));
        peer
    }

    /// The same as a client that works in these folders.
    pub fn with_roots(world: &World, roots: &[&Path]) -> Self {
        let mut peer = Self::start(world, world.root());
        peer.roots = Some(roots.iter().map(|root| format!("file://{}", root.display())).collect());
        peer.initialize(json!({"roots": {"listChanged": true}}));
        peer
    }

    pub fn initialize(&mut self, capabilities: Value) -> Value {
        let client = json!({"name": "tests", "version": "1"});
        let asked = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client});
        let answer = self.ask("initialize", asked);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.to.as_mut().expect("an open stdin").write_all(bytes).expect("the server listens");
    }

    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let id = self.asked;
        self.write(format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).as_bytes());
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params})).as_bytes());
    }

    /// The answer to a request: the whole message.
    pub fn answer(&mut self, id: i64) -> Value {
        self.answer_within(id, PATIENCE).unwrap_or_else(|| panic!("no answer to request {id}"))
    }

    fn answer_within(&mut self, id: i64, patience: Duration) -> Option<Value> {
        let until = Instant::now() + patience;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Some(answer);
            }
            let message = self.messages.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            self.take(message);
        }
    }

    fn take(&mut self, message: Value) {
        if message["method"] == "roots/list" {
            self.asked_for_roots += 1;
            self.owed_roots = Some(message["id"].clone());
            if !self.waits_with_roots {
                self.tell_roots();
            }
            return;
        }
        assert!(message.get("method").is_none(), "nobody asked for that: {message}");
        match message["id"].as_i64() {
            Some(id) => assert!(self.answers.insert(id, message.clone()).is_none(), "answered twice: {message}"),
            None => {
                assert!(message["error"].is_object(), "{message}");
                self.refused_as_a_whole.extend(message["error"]["code"].as_i64());
            }
        }
    }

    /// Answers the question for the roots.
    pub fn tell_roots(&mut self) {
        let id = self.owed_roots.take().expect("the server asked");
        let roots: Vec<_> = self.roots.iter().flatten().map(|uri| json!({"uri": uri})).collect();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": roots}});
        self.write(format!("{answer}\n").as_bytes());
    }

    pub fn roots_will_be(&mut self, roots: &[&Path]) {
        self.roots = Some(roots.iter().map(|root| format!("file://{}", root.display())).collect());
    }

    pub fn roots_are(&mut self, roots: &[&Path]) {
        self.roots_will_be(roots);
        self.notify("notifications/roots/list_changed", json!({}));
    }

    /// Has this been answered by now?
    pub fn is_answered(&mut self, id: i64) -> bool {
        while let Ok(message) = self.messages.try_recv() {
            self.take(message);
        }
        self.answers.contains_key(&id)
    }

    /// What a request comes to.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// Why a request is refused: the code and the message.
    pub fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.send(method, params);
        let answer = self.answer(id);
        let error = &answer["error"];
        (error["code"].as_i64().unwrap_or_else(|| panic!("{answer:#}")), error["message"].as_str().unwrap_or_default().to_owned())
    }

    /// What a tool answers when all is well: the value and the text.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result:#}");
        (result["structuredContent"].clone(), text_of(&result))
    }

    /// What a tool answers when it cannot do it.
    pub fn fail(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        text_of(&result)
    }

    pub fn kill(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("a process to tell");
    }

    /// The client is gone; the server has to be, too.
    pub fn leave(mut self) -> Ended {
        drop(self.to.take());
        self.wait()
    }

    pub fn wait(&mut self) -> Ended {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        // To the last byte.
        if let Some(reader) = self.reader.take() {
            reader.join().expect("nothing but messages on stdout");
        }
        Ended { status, err: self.errors.take().map(|errors| errors.join().expect("its stderr")).unwrap_or_default() }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("content");
    blocks.iter().map(|block| block["text"].as_str().unwrap_or_else(|| panic!("{block}"))).collect()
}
