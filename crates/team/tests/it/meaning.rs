//! Vectors, where the server has the extension `vector`; and that nothing needs them where it has not.

use crate::server::{BANK, SHOP, Server, TEAM, patient, server};
use crate::{gone, id, note};
use std::time::Instant;
use team::{Access, Client, Meaning, Team};

const BOTH: Access = Access::ReadWrite;

/// A server that has the extension, or could have it. `.ci/install-servers` says where it comes from.
fn with_vectors() -> Option<Server> {
    let server = server()?;
    if server.admin("SELECT FROM pg_available_extensions WHERE name = 'vector'").is_empty() {
        eprintln!("LEFT OUT: this PostgreSQL has no extension `vector`");
        return None;
    }
    Some(server)
}

fn means(project: &str, name: &str, version: i64, vectors: &[&[f32]]) -> Meaning {
    Meaning { id: id(project, name), version, vectors: vectors.iter().map(|vector| vector.to_vec()).collect() }
}

fn late() -> Instant {
    Instant::now() + patient().search
}

fn found(client: &mut Client, model: &str, vector: &[f32]) -> Vec<(String, i32)> {
    let hits = client.search_meaning(&[SHOP, BANK], model, vector, 10, late()).expect("an answer");
    hits.into_iter().map(|hit| (hit.record.id, (hit.rank * 100.0).round() as i32)).collect()
}

fn vectors_there(server: &Server) -> usize {
    server.admin("SELECT FROM recall_team.meaning").len()
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn the_nearest_are_found_among_vectors_of_one_model_that_the_member_may_read() {
    let Some(server) = with_vectors() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let (mut anna, mut ben) = (server.client("anna"), server.client("ben"));
    assert!(anna.has_meaning().unwrap());
    anna.push(&[note(SHOP, "a", 1, "a"), note(SHOP, "b", 1, "b"), note(SHOP, "c", 1, "c"), note(BANK, "d", 1, "d")]).unwrap();
    let first = [
        means(SHOP, "a", 1, &[&[1.0, 0.0], &[0.0, 5.0]]),
        means(SHOP, "b", 1, &[&[3.0, 4.0]]),
        means(BANK, "d", 1, &[&[1.0, 0.0]]),
        // What nobody can compare, what does not stand there, and what is no project of hers.
        means(SHOP, "c", 1, &[&[0.0, 0.0], &[f32::NAN, 1.0]]),
        means(SHOP, "c", 2, &[&[1.0, 0.0]]),
        means("example.com/acme/gone", "a", 1, &[&[1.0, 0.0]]),
    ];
    assert_eq!(anna.put_meanings("words", &first).unwrap(), 4);
    assert_eq!(anna.put_meanings("others", &[means(SHOP, "c", 1, &[&[1.0, 0.0]])]).unwrap(), 1);
    let of = |all: &[(&str, i32)]| all.iter().map(|(id, rank)| ((*id).to_owned(), *rank)).collect::<Vec<_>>();
    assert_eq!(found(&mut ben, "words", &[0.6, 0.8]), of(&[("b", 100), ("a", 80)]));
    assert_eq!(found(&mut ben, "words", &[0.0, 1.0]), of(&[("a", 100), ("b", 80)]));
    assert_eq!(found(&mut ben, "others", &[1.0, 0.0]), of(&[("c", 100)]));
    assert_eq!(found(&mut ben, "words", &[1.0, 0.0, 0.0]), [], "a vector of other dimensions is of another model");
    assert_eq!(found(&mut anna, "words", &[1.0, 0.0]).len(), 3);
    assert_eq!(ben.search_meaning(&[SHOP], "words", &[1.0, 0.0], 1, late()).unwrap().len(), 1);
    // In place of what was there.
    assert_eq!(anna.put_meanings("words", &[means(SHOP, "a", 1, &[&[0.6, 0.8]])]).unwrap(), 1);
    assert_eq!(vectors_there(&server), 4);
    // Access that is taken away ends it.
    let mut team = Team::prepare(&server.address("postgres", "team")).unwrap();
    team.set_access(TEAM, "ben", SHOP, Access::None).unwrap();
    assert_eq!(found(&mut ben, "words", &[1.0, 0.0]), []);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn vectors_go_with_what_they_were_made_of() {
    let Some(server) = with_vectors() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let (mut anna, mut ben) = (server.client("anna"), server.client("ben"));
    let all = |client: &mut Client, version: i64, projects: &[&str]| {
        for project in projects {
            let names = ["a", "b"];
            client.push(&names.map(|name| note(project, name, version, "x"))).unwrap();
            client.put_meanings("words", &names.map(|name| means(project, name, version, &[&[1.0, 0.0], &[0.0, 1.0]]))).unwrap();
        }
    };
    all(&mut anna, 1, &[SHOP, BANK]);
    all(&mut ben, 1, &[SHOP]);
    assert_eq!(vectors_there(&server), 12);
    anna.withdraw(&[gone(SHOP, "a", 1)]).unwrap();
    assert_eq!(vectors_there(&server), 10);
    anna.push(&[note(SHOP, "b", 2, "y")]).unwrap();
    assert_eq!(vectors_there(&server), 8, "what changed has none until they are made again");
    assert_eq!(anna.put_meanings("words", &[means(SHOP, "b", 1, &[&[1.0, 0.0]]), means(SHOP, "a", 1, &[&[1.0, 0.0]])]).unwrap(), 0);
    team.remove_project(TEAM, BANK).unwrap();
    assert_eq!(vectors_there(&server), 4);
    ben.leave().unwrap();
    assert_eq!(vectors_there(&server), 0);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn no_member_reads_or_changes_vectors_by_sql() {
    let Some(server) = with_vectors() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "a", 1, "a")]).unwrap();
    anna.put_meanings("words", &[means(SHOP, "a", 1, &[&[1.0, 0.0]])]).unwrap();
    let _ben = server.client("ben");
    for sql in [
        "SELECT * FROM recall_team.meaning",
        "DELETE FROM recall_team.meaning",
        "UPDATE recall_team.meaning SET model = 'x'",
        "INSERT INTO recall_team.meaning SELECT * FROM recall_team.meaning",
        "SELECT recall_team.prepare_meaning()",
        "SET ROLE recall_team_search",
    ] {
        assert!(server.sql("ben", "team", sql).is_err(), "{sql}");
    }
    // What he says is of his own records only, whatever machine he names.
    let put = "SELECT recall_team.put_meaning(1, 'desk', 'words', (SELECT array_agg(id) FROM recall_team.project), ARRAY['note'], ARRAY['a'], ARRAY[1::bigint], ARRAY['[0,1]'])";
    assert_eq!(server.sql("ben", "team", put).unwrap_or_else(|error| panic!("{error}")), [["0"]]);
    assert_eq!(server.admin("SELECT direction FROM recall_team.meaning"), [["[1,0]"]]);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn without_the_extension_all_is_as_it_was_and_it_may_come_and_go() {
    let Some(server) = with_vectors() else { return };
    // Whoever prepares the database and may not create the extension has a server without it.
    server.admin("CREATE ROLE chief LOGIN CREATEROLE; ALTER DATABASE team OWNER TO chief");
    let prepare = || Team::prepare(&server.address("chief", "team")).expect("to prepare the database");
    let mut team = prepare();
    team.add_team(TEAM).unwrap();
    team.add_project(TEAM, SHOP).unwrap();
    server.admin("CREATE ROLE anna LOGIN");
    team.add_member(TEAM, "anna").unwrap();
    team.set_access(TEAM, "anna", SHOP, BOTH).unwrap();
    let mut anna = Client::join(&server.address("anna", "team"), "desk", patient()).unwrap();
    anna.push(&[note(SHOP, "a", 1, "water the plants")]).unwrap();
    let by_words = |anna: &mut Client| anna.search(&[SHOP], "plants", 10).unwrap().hits.len();
    assert_eq!((anna.has_meaning().unwrap(), by_words(&mut anna)), (false, 1));
    server.admin("CREATE EXTENSION vector");
    assert!(!anna.has_meaning().unwrap());
    for _ in 0..2 {
        prepare();
        assert!(anna.has_meaning().unwrap());
    }
    assert_eq!(anna.put_meanings("words", &[means(SHOP, "a", 1, &[&[1.0, 0.0]])]).unwrap(), 1);
    assert_eq!(anna.search_meaning(&[SHOP], "words", &[1.0, 0.0], 10, late()).unwrap().len(), 1);
    server.admin("DROP EXTENSION vector CASCADE");
    assert_eq!((anna.has_meaning().unwrap(), by_words(&mut anna)), (false, 1));
    anna.push(&[note(SHOP, "a", 2, "water the plants again")]).unwrap();
    prepare();
    assert!(!anna.has_meaning().unwrap());
    server.admin("CREATE EXTENSION vector");
    prepare();
    let mut anna = server.client("anna");
    assert_eq!(anna.put_meanings("words", &[means(SHOP, "a", 2, &[&[1.0, 0.0]])]).unwrap(), 1);
}
