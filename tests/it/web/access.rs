//! Who is let in, and who is not.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use std::{fs, io::Read, io::Write};

use super::{SHOP, shop};
use crate::support::age;
use crate::support::web_client::WebServer;

/// On each answer, whatever it is.
const HEADERS: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

#[test]
fn nothing_is_answered_without_the_cookie() {
    let world = shop();
    let mut server = WebServer::start(&world, world.root(), &[]);
    let folder = server.folder.clone();
    let session = format!("{folder}session/{SHOP}.html");
    let paths = [
        "/",
        &folder,
        &session,
        "/api/v1/status",
        "/api/search?q=order",
        &format!("{folder}asset/style.css"),
        &format!("{folder}live"),
        "/../etc/passwd",
    ];
    for path in paths {
        let reply = server.send("GET", path, &[], "");
        assert_eq!(reply.status, 401, "{path}");
        assert!(!reply.body.contains("order") && reply.body.len() < 100, "{path}: {}", reply.body);
        for (name, value) in HEADERS {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        assert!(reply.header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'")));
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    for cookie in ["recall=", "recall=0000", &format!("recall={}", server.word)] {
        server.cookie = Some(cookie.to_owned());
        assert_eq!(server.get("").status, 401, "{cookie}");
    }
}

#[test]
fn the_link_lets_in_once() {
    let world = shop();
    let mut server = WebServer::start(&world, world.root(), &[]);
    let wrong = server.send("GET", &format!("{}enter/{}", server.folder, "0".repeat(64)), &[], "");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (403, None));
    server.enter();
    assert_eq!(server.get("").status, 200);
    let cookie = server.cookie.take();
    let again = server.send("GET", &format!("{}enter/{}", server.folder, server.word), &[], "");
    assert_eq!((again.status, again.header("set-cookie")), (403, None));
    let other = WebServer::start(&world, world.root(), &[]);
    let old = other.send("GET", &other.folder, &[&format!("Cookie: {}", cookie.expect("a cookie"))], "");
    assert_eq!(old.status, 401, "that of another run");
}

#[test]
fn the_file_that_starts_the_browser_goes_with_the_server_or_a_later_run() {
    let world = shop();
    let file = world.data_dir().join("open-in-browser.html");
    let mut server = WebServer::start(&world, world.root(), &["--open"]);
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o077, 0, "it holds the link");
    assert!(fs::read_to_string(&file).expect("the file").contains("/enter/"));
    server.interrupt();
    server.ended();
    assert!(!file.exists());
    // One that was killed leaves it.
    drop(WebServer::start(&world, world.root(), &["--open"]));
    assert!(file.exists());
    world.digest(&["--summarizer", "extract"]);
    assert!(file.exists(), "a browser may be about to read it");
    age(&file, Duration::from_secs(7200));
    world.digest(&["--summarizer", "extract"]);
    assert!(!file.exists());
}

#[test]
fn a_page_of_somebody_else_gets_nothing() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let port = server.port;
    for (header, status) in [
        ("Host: evil.example".to_owned(), 421),
        (format!("Host: evil.example:{port}"), 421),
        (format!("Host: 127.0.0.1:{}", port.wrapping_add(1)), 421),
        ("Origin: https://evil.example".to_owned(), 403),
        ("Origin: null".to_owned(), 403),
        (format!("Origin: http://127.0.0.1:{}", port.wrapping_add(1)), 403),
        (format!("Origin: http://127.0.0.1:{port}"), 200),
        (format!("Host: localhost:{port}"), 200),
    ] {
        let reply = server.send("GET", &server.folder, &[&header], "");
        assert_eq!(reply.status, status, "{header}");
    }
}

#[test]
fn what_changes_something_has_to_come_from_our_own_page() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let page = server.get("open.html");
    let (word, id) = (page.field("do/close", "word"), page.field("do/close", "id"));
    let body = format!("word={word}&id={id}&back=open.html");
    let before = world.everything();
    for (body, headers) in [
        (format!("id={id}"), vec![]),
        (format!("word=&id={id}"), vec![]),
        (format!("word={}&id={id}", "0".repeat(64)), vec![]),
        (body.clone(), vec!["Origin: https://evil.example"]),
        (body.clone(), vec!["Sec-Fetch-Site: cross-site"]),
        (body.clone(), vec!["Sec-Fetch-Site: same-site"]),
    ] {
        let reply = server.post("do/close", &body, &headers);
        assert_eq!(reply.status, 403, "{body} {headers:?}");
    }
    // By a link, nothing changes.
    assert_eq!(server.get(&format!("do/close?{body}")).status, 405);
    assert!(crate::support::changed(&before, &world.everything()).is_empty());
    let reply =
        server.post("do/close", &body, &["Sec-Fetch-Site: same-origin", &format!("Origin: http://127.0.0.1:{}", server.port)]);
    assert_eq!((reply.status, reply.header("location")), (303, Some(format!("{}open.html", server.folder).as_str())));
}

#[test]
fn what_is_too_long_is_refused() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let reply = server.post("do/close", &format!("id={}", "x".repeat(20_000)), &[]);
    assert_eq!(reply.status, 413);
    let reply = server.get(&format!("search.html?q={}", "x".repeat(40_000)));
    assert!([414, 431].contains(&reply.status), "{}", reply.head);
    assert_eq!(server.get("").status, 200);
}

#[test]
fn a_token_of_a_file_lets_programs_in() {
    let world = shop();
    let file = world.root().join("token");
    let args = ["--token-file", file.to_str().expect("UTF-8")];
    let server = WebServer::start(&world, world.root(), &args);
    let token = fs::read_to_string(&file).expect("a token").trim().to_owned();
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    let ask =
        |server: &WebServer, path: &str, token: &str| server.send("GET", path, &[&format!("Authorization: Bearer {token}")], "");
    assert_eq!(ask(&server, "/api/v1/status", &token).status, 200);
    assert_eq!(ask(&server, "/api/v1/status", "0000").status, 401);
    let pages = ask(&server, &server.folder, &token);
    assert_eq!(pages.status, 401, "for the pages there is the cookie");
    drop(server);
    // It is the same for the next run.
    let server = WebServer::start(&world, world.root(), &args);
    assert_eq!(ask(&server, "/api/v1/status", &token).status, 200);
    drop(server);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permissions");
    let ran = world.recall([&["serve"], &args[..]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("others can read") && !ran.err.contains(&token), "{}", ran.err);
}

#[test]
fn a_token_may_lie_in_a_file_of_this_folder() {
    let world = shop();
    let server = WebServer::start(&world, world.root(), &["--token-file", "token"]);
    let token = fs::read_to_string(world.root().join("token")).expect("a token");
    let line = format!("Authorization: Bearer {}", token.trim());
    assert_eq!(server.send("GET", "/api/v1/status", &[&line], "").status, 200);
}

#[test]
fn a_socket_is_for_its_owner() {
    let world = shop();
    let socket = world.root().join("s");
    let mut child = std::process::Command::new(world.program());
    child.args(["serve", "--socket"]).arg(&socket).env_clear().envs(world.environment()).current_dir(world.root());
    let mut child = child
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("a server");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().expect("a pipe")), &mut line).expect("a link");
    let path = line.trim().rsplit_once(')').map(|(_, path)| path.to_owned()).expect("a path");
    assert_eq!(socket.metadata().expect("a socket").permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&socket).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let second = world.recall(["serve", "--socket", socket.to_str().expect("UTF-8")]);
    assert!(second.code == 2 && second.err.contains("is there already"), "{}", second.err);
    UnixStream::connect(&socket).expect("the first still answers");
    let id = rustix::process::Pid::from_raw(child.id() as i32).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("a signal");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let world = shop();
    let [file, link] = ["file", "link"].map(|name| world.root().join(name));
    fs::write(&file, "precious").expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    for path in [&link, &file] {
        let ran = world.recall(["serve", "--socket", path.to_str().expect("UTF-8")]);
        assert!(ran.code == 2 && ran.err.contains("is there already"), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(&link).expect("both are there"), "precious");
}

#[test]
fn it_ends_when_nobody_looks_and_when_it_is_told_to() {
    let world = shop();
    let mut server = WebServer::start(&world, world.root(), &["--idle", "1s"]);
    assert_eq!(server.ended(), Some(0));
    let mut server = WebServer::start(&world, world.root(), &["--no-idle-end"]);
    assert!(server.is_running());
    server.interrupt();
    assert_eq!(server.ended(), Some(0));
}
