//! A server that does not answer, and one that is busy.

use crate::note;
use crate::server::{SHOP, patient, server};
use std::net::TcpListener;
use std::time::Duration;
use team::{Access, Client, Deadlines, Error};

fn hasty() -> Deadlines {
    let short = Duration::from_millis(300);
    Deadlines { ask: short, push: short, pull: short, search: short, leave: short }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    // Its queue takes the connection, and nobody reads.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let outcome = Client::join(&format!("postgres://anna@127.0.0.1:{port}/team"), "desk", hasty());
    assert!(matches!(outcome, Err(Error::TooLate { .. })));
}

#[test]
fn a_server_that_is_not_there_is_tried_until_the_deadline() {
    // Nobody listens on port 1, and no other test is given it.
    match Client::join("postgres://anna:s3cret@127.0.0.1:1/team", "desk", hasty()) {
        Err(error @ Error::TooLate { source: Some(_), .. }) => {
            let told = error.to_string();
            assert!(told.contains("could not join the team at 127.0.0.1:1 within ") && told.contains("efused"), "{told}");
            assert!(told.contains("ask its administrator"), "{told}");
            assert!(!format!("{told} {error:?}").contains("s3cret"), "{told}");
        }
        other => panic!("{:?}", other.err()),
    }
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_call_that_was_given_up_can_be_made_again() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, Access::ReadWrite)])]);
    let deadlines = Deadlines { ask: patient().ask, ..hasty() };
    let mut anna = Client::join(&server.address("anna", "team"), "desk", deadlines).unwrap();
    let other = server.session("postgres");
    other.run("BEGIN; LOCK TABLE recall_team.sequence IN ACCESS EXCLUSIVE MODE").unwrap();
    let outcome = anna.push(&[note(SHOP, "a", 1, "tomatoes")]);
    assert!(matches!(outcome, Err(Error::TooLate { .. })), "{outcome:?}");
    // Also while the client does nothing, no transaction of hers is open.
    let open = "SELECT FROM pg_stat_activity WHERE usename = 'anna' AND state <> 'idle'";
    for _ in 0..3000 {
        if server.admin(open).is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.admin(open).len(), 0);
    other.run("ROLLBACK").unwrap();
    other.run("BEGIN; LOCK TABLE recall_team.record IN ACCESS EXCLUSIVE MODE").unwrap();
    let outcome = anna.search(&[SHOP], "tomatoes", 9);
    assert!(matches!(outcome, Err(Error::TooLate { .. })), "{outcome:?}");
    other.run("ROLLBACK").unwrap();

    let mut anna = server.client("anna");
    let pushed = anna.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap();
    assert_eq!(pushed.stored + pushed.unchanged, 1);
    assert_eq!(anna.search(&[SHOP], "tomatoes", 9).unwrap().hits.len(), 1);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_connection_that_the_server_closed_comes_back_by_itself() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, Access::ReadWrite)])]);
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap();
    let close = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'anna'";
    for _ in 0..3 {
        assert_eq!(server.admin(close).len(), 1);
        assert_eq!(anna.search(&[SHOP], "tomatoes", 9).unwrap().hits.len(), 1);
        assert_eq!(server.admin(close).len(), 1);
        assert_eq!(anna.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap().unchanged, 1);
    }
}
