//! `recall serve` under connections that want it to fall: thousands at once, slow ones, broken ones. It stays up, lets nobody in, and changes nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::web_client::WebServer;
use crate::support::{World, assistant, user};

const SESSION: &str = "aaaa1111-0000-4000-8000-000000000000";
/// Connections one after the other, and held open at once: more than the server takes and than there are descriptors for.
const CONNECTIONS: usize = 10_000;
const HELD: usize = 600;
const THREADS: usize = 32;

fn world() -> World {
    let world = World::new();
    let at = "2026-11-20T10:00:00Z";
    let rows = user(SESSION, "11111111-0000-4000-8000-000000000001", at, "Sort the order list of the web shop by key")
        + &assistant(SESSION, "11111111-0000-4000-8000-000000000002", at, "It is sorted now.");
    world.transcript(&format!("-q/{SESSION}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn ten_thousand_connections_come_and_go() {
    let world = world();
    let mut server = WebServer::entered(&world, world.root());
    let before = world.exported();
    let one = |n: usize| {
        let mut stream = server.connect();
        // Nothing, a part of a head, something else than HTTP, a request without the cookie.
        let _ = match n % 4 {
            0 => Ok(()),
            1 => stream.write_all(b"GET / HTTP/1.1\r\nHost: 127"),
            2 => stream.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
            _ => stream.write_all(b"GET /api/v1/search?q=order HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        };
    };
    // At once, as one that finds no place in the queue waits a second for the next try.
    std::thread::scope(|threads| {
        (0..THREADS).for_each(|thread| {
            threads.spawn(move || (thread..CONNECTIONS).step_by(THREADS).for_each(one));
        });
    });
    assert_eq!(server.get("").status, 200);
    assert!(server.is_running());
    assert_eq!(world.exported(), before);
}

#[test]
fn connections_that_are_held_open_end() {
    let world = world();
    let server = WebServer::entered(&world, world.root());
    let held: Vec<TcpStream> = (0..HELD)
        .map(|n| {
            let mut stream = server.connect();
            let head = format!("POST {}do/close HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", server.folder, server.port);
            let cookie = server.cookie.as_deref().expect("a cookie");
            let _ = match n % 3 {
                0 => Ok(()),
                1 => stream.write_all(head.as_bytes()),
                // A body that never comes.
                _ => stream.write_all(format!("{head}Cookie: {cookie}\r\nContent-Length: 1000\r\n\r\nid=").as_bytes()),
            };
            stream
        })
        .collect();
    // Those that hold the places give them up.
    assert_eq!(server.get("").status, 200);
    for mut stream in held {
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
        let mut answer = Vec::new();
        // Ended or reset, but not held.
        if let Err(e) = stream.read_to_end(&mut answer) {
            assert!(!matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{e}");
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408") || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
}

#[test]
fn whatever_is_sent_without_the_cookie_nothing_comes_out() {
    let world = world();
    let server = WebServer::start(&world, world.root(), &[]);
    let folder = &server.folder;
    let paths = [
        "/", "//", "/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/api/v1/session/aaaa1111", "/api/search?q=order", "*",
        "http://127.0.0.1/", "/enter/x",
    ];
    let within = [
        "", "session/aaaa1111.html", "search.html?q=order", "do/forget", "enter/", "enter/..%2f", "live", "asset/style.css",
        "../../etc/passwd",
    ];
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "X"] {
        for path in paths.iter().map(|path| (*path).to_owned()).chain(within.iter().map(|path| format!("{folder}{path}"))) {
            let mut stream = server.connect();
            write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", server.port)
                .expect("a request");
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            let status = answer.split(' ').nth(1).unwrap_or_default();
            assert!(["400", "401", "403", "404", "405", "421", ""].contains(&status), "{method} {path}: {answer}");
            assert!(!answer.contains("order list") && !answer.contains("set-cookie"), "{method} {path}: {answer}");
        }
    }
}
