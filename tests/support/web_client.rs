//! A browser of few words: `recall serve` in a world, and requests as bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::World;

/// Nothing here takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct WebServer {
    child: Child,
    pub port: u16,
    /// `/…/`, below which the pages lie.
    pub folder: String,
    /// The word of the link that was printed.
    pub word: String,
    /// What a browser sends after it has followed the link.
    pub cookie: Option<String>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let is_named = |line: &&str| line.split_once(':').is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        self.head.lines().find(is_named).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    /// The value of a hidden field of the first form that sends to this address.
    pub fn field(&self, action: &str, name: &str) -> String {
        let form =
            self.body.split(&format!("action=\"{action}\"")).nth(1).unwrap_or_else(|| panic!("no form {action}: {}", self.body));
        let rest = form.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("a field");
        rest.split('"').next().expect("a value").to_owned()
    }
}

impl WebServer {
    /// In a folder, with more arguments; not let in yet.
    pub fn start(world: &World, folder: &Path, args: &[&str]) -> Self {
        Self::start_with(world, folder, args, &[])
    }

    /// The same with further variables.
    pub fn start_with(world: &World, folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(world.program());
        command.arg("serve").args(args).env_clear().envs(world.environment()).envs(variables.iter().copied()).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("recall serve");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a link");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("no link: {line:?}"));
        let (port, path) = rest.split_once('/').expect("a path");
        let (folder, word) = path.split_once("/enter/").expect("a word");
        Self { child, port: port.parse().expect("a port"), folder: format!("/{folder}/"), word: word.to_owned(), cookie: None }
    }

    /// The same, by the link.
    pub fn entered(world: &World, folder: &Path) -> Self {
        let mut server = Self::start(world, folder, &[]);
        server.enter();
        server
    }

    pub fn enter(&mut self) {
        let reply = self.send("GET", &format!("{}enter/{}", self.folder, self.word), &[], "");
        assert_eq!(reply.status, 200, "{reply:#?}");
        let cookie = reply.header("set-cookie").expect("a cookie");
        self.cookie = Some(cookie.split(';').next().expect("a value").to_owned());
    }

    /// A page below the folder, with the cookie.
    pub fn get(&self, address: &str) -> Reply {
        self.send("GET", &format!("{}{address}", self.folder), &[], "")
    }

    /// The first form of a page that sends to this address, as a browser sends it.
    pub fn submit(&self, page: &str, action: &str) -> Reply {
        let shown = self.get(page);
        let fields = ["word", "id", "back"].map(|name| format!("{name}={}", encoded(&shown.field(action, name))));
        self.post(action, &fields.join("&"), &[])
    }

    pub fn post(&self, address: &str, body: &str, headers: &[&str]) -> Reply {
        let kind = ["Content-Type: application/x-www-form-urlencoded"];
        self.send("POST", &format!("{}{address}", self.folder), &[&kind, headers].concat(), body)
    }

    /// A request with our own `Host`, unless the headers have one.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        if let Some(cookie) = &self.cookie {
            request += &format!("Cookie: {cookie}\r\n");
        }
        headers.iter().for_each(|header| request += &format!("{header}\r\n"));
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {request}: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
        stream
    }

    /// The lines of a stream of events, from now on.
    pub fn events(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.connect();
        let cookie = self.cookie.as_deref().unwrap_or_default();
        write!(stream, "GET {}live HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {cookie}\r\n\r\n", self.folder, self.port)
            .expect("a request");
        let lines = BufReader::new(stream).lines().map(|line| line.expect("a line"));
        lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned))
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Waits until it has ended by itself. Returns its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.wait().expect("an end").code()
    }

    pub fn interrupt(&self) {
        let id = rustix::process::Pid::from_raw(self.child.id() as i32).expect("an id");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("a signal");
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As a part of a form: everything but letters and digits is written in percent.
pub fn encoded(text: &str) -> String {
    text.bytes().map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
