//! Who must not see or change what.

use crate::server::{BANK, SHOP, Server, TEAM, patient, server};
use crate::{gone, note, pulled, refused};
use team::{Access, Client, Error, Policy, Team};

const BOTH: Access = Access::ReadWrite;
const INSERT: &str = "INSERT INTO recall_team.record (team, project, author, kind, id, version, deleted, body, search)";

fn sees(server: &Server, login: &str, table: &str) -> usize {
    let rows = server.sql(login, "team", &format!("SELECT 1 FROM recall_team.{table}"));
    rows.unwrap_or_else(|error| panic!("{login}: {error}")).len()
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn every_table_is_under_forced_row_security_and_partitions_are_closed() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    let tables = server.admin(
        "SELECT relname, relrowsecurity AND relforcerowsecurity,
            relispartition AND has_table_privilege('anna', oid, 'SELECT, INSERT, UPDATE, DELETE'),
            pg_get_userbyid(relowner) FROM pg_class
        WHERE relnamespace = 'recall_team'::regnamespace AND relkind IN ('r', 'p')",
    );
    assert!(tables.len() >= 8 + 16, "{tables:?}");
    for table in tables {
        assert_eq!(table[1..], ["t", "f", "recall_team_owner"], "{}", table[0]);
    }
    let roles =
        server.admin("SELECT rolname FROM pg_roles WHERE rolname LIKE 'recall%' AND (rolsuper OR rolbypassrls OR rolcanlogin)");
    assert_eq!(roles.len(), 0);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn another_team_and_another_project_are_not_seen() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)]), ("ben", &[(SHOP, BOTH)]), ("carl", &[])]);
    team.add_team("other").unwrap();
    team.add_project("other", SHOP).unwrap();
    server.admin("CREATE ROLE olga LOGIN; CREATE ROLE stranger LOGIN");
    team.add_member("other", "olga").unwrap();
    team.set_access("other", "olga", SHOP, BOTH).unwrap();

    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "s", 1, "tomatoes"), note(BANK, "b", 1, "tomatoes")]).unwrap();
    let mut ben = server.client("ben");
    let mut carl = server.client("carl");
    let mut olga = server.client("olga");

    assert_eq!(pulled(&mut ben, SHOP).len(), 1);
    assert_eq!(ben.search(&[SHOP, BANK], "tomatoes", 9).unwrap().hits.len(), 1);
    assert!(matches!(ben.pull(BANK, 0, 9), Err(Error::NoProject { .. })));
    assert!(matches!(carl.pull(SHOP, 0, 9), Err(Error::NoProject { .. })));
    assert_eq!(refused(&carl.push(&[note(SHOP, "c", 1, "basil")]).unwrap()), ["c"]);
    assert_eq!(olga.projects().unwrap().len(), 1);
    assert_eq!(pulled(&mut olga, SHOP), []);
    assert!(matches!(server.try_client("stranger"), Err(Error::NoMember { .. })));

    // The same with SQL of their own, past the client.
    for (login, records, projects) in [("anna", 2, 2), ("ben", 1, 1), ("carl", 0, 0), ("olga", 0, 1)] {
        assert_eq!((sees(&server, login, "record"), sees(&server, login, "project")), (records, projects), "{login}");
        assert_eq!(sees(&server, login, "team"), 1, "{login}");
        let search = "SELECT 1 FROM recall_team.search_words(1, ARRAY[1, 2, 3], 'tomatoes', 9)
            UNION ALL SELECT 1 FROM recall_team.search_similar(1, ARRAY[1, 2, 3], 'tomatos', 9)
            UNION ALL SELECT 1 FROM recall_team.search_named(1, ARRAY[1, 2, 3], 's', 9)
            UNION ALL SELECT 1 FROM recall_team.search_named(1, ARRAY[1, 2, 3], 'b', 9)";
        assert_eq!(server.sql(login, "team", search).unwrap().len(), records * 3, "{login}");
    }
    let partition = server.admin("SELECT tableoid::regclass FROM recall_team.record LIMIT 1").remove(0).remove(0);
    for sql in [
        format!("SELECT FROM {partition}").as_str(),
        "SELECT FROM recall_team.sequence",
        "SELECT FROM recall_team.migration",
        "SET ROLE recall_team_owner",
        "SET ROLE recall_team_search",
        "SET SESSION AUTHORIZATION anna",
        "SELECT recall_team.set_access('core', 'ben', 'example.com/acme/bank', true, true)",
        "SELECT recall_team.remove_member('core', 'anna')",
        "SELECT recall_team.erase(1, 1)",
        "UPDATE recall_team.membership SET may_write = true",
        "INSERT INTO recall_team.policy (team) VALUES (1)",
        "DELETE FROM recall_team.record",
        "TRUNCATE recall_team.record",
        "CREATE TABLE recall_team.mine_too ()",
        "CREATE TEMP TABLE t (team int, project bigint, seq bigint);
            CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION recall_team.stamp()",
    ] {
        let why = server.sql("ben", "team", sql).expect_err(sql);
        assert!(why.contains("permission denied"), "{sql}: {why}");
    }
    let why = server.sql("stranger", "team", "SELECT FROM recall_team.record").expect_err("a stranger");
    assert!(why.contains("permission denied"), "{why}");
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn who_is_in_two_teams_names_one_and_sees_only_that() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    team.add_team("other").unwrap();
    team.add_project("other", SHOP).unwrap();
    team.add_member("other", "anna").unwrap();
    team.set_access("other", "anna", SHOP, BOTH).unwrap();
    match server.try_client("anna") {
        Err(Error::SeveralTeams { teams }) => assert_eq!(teams, [TEAM, "other"]),
        other => panic!("{:?}", other.err()),
    }
    let join = |team: &str| Client::join(&format!("{}?team={team}", server.address("anna", "team")), "desk", patient());
    let mut core = join(TEAM).unwrap();
    let mut other = join("other").unwrap();
    core.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap();
    assert_eq!((pulled(&mut core, SHOP).len(), pulled(&mut other, SHOP).len()), (1, 0));
    assert_eq!(other.search(&[SHOP], "tomatoes", 9).unwrap().hits, []);
    assert!(matches!(join("third"), Err(Error::NoMember { .. })));
    // To leave one is not to leave the other.
    other.leave().unwrap();
    assert_eq!(pulled(&mut core, SHOP).len(), 1);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn sql_of_a_members_own_changes_neither_others_nor_numbers_nor_versions() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)]), ("ben", &[(SHOP, BOTH), (BANK, Access::Read)])]);
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "s", 5, "tomatoes")]).unwrap();
    let mut ben = server.client("ben");
    ben.push(&[note(SHOP, "mine", 5, "basil")]).unwrap();

    for (sql, expected) in [
        ("UPDATE recall_team.record SET seq = 0 WHERE id = 'mine'".to_owned(), "number was not taken"),
        ("UPDATE recall_team.record SET seq = 1000 WHERE id = 'mine'".into(), "number was not taken"),
        (
            "BEGIN; SELECT recall_team.take_numbers(1, 1, 2); UPDATE recall_team.record SET seq = 99 WHERE id = 'mine'".into(),
            "not taken",
        ),
        ("SELECT recall_team.take_numbers(1, 2, 1)".into(), "may not share"),
        ("SELECT recall_team.take_numbers(1, 1, 9000000000)".into(), "may not share"),
        ("UPDATE recall_team.record SET member = 1".into(), "permission denied"),
        ("UPDATE recall_team.record SET version = 4 WHERE id = 'mine'".into(), "is newer"),
        (format!("{INSERT} VALUES (1, 2, 'desk', 'note', 'x', 1, false, '1', '')"), "may not share"),
        (format!("{INSERT} VALUES (1, 2, 'desk', 'note', 'x', 1, true, NULL, NULL)"), "may not share"),
        (format!("{INSERT} VALUES (2, 1, 'desk', 'note', 'x', 1, false, '1', '')"), "no member"),
        (format!("{INSERT} VALUES (1, 99, 'desk', 'note', 'x', 1, false, '1', '')"), "may not share"),
        (format!("{INSERT} VALUES (1, 1, 'desk', 'note', 'x', 1, true, '1', '')"), "check constraint"),
    ] {
        let why = server.sql("ben", "team", &sql).expect_err(&sql);
        assert!(why.contains(expected), "{sql}: {why}");
    }
    // Of what others share, nothing is there to change.
    let withdraw = "UPDATE recall_team.record SET version = 9, deleted = true, body = NULL, search = NULL WHERE id = 's'";
    server.sql("ben", "team", withdraw).unwrap();
    assert_eq!(pulled(&mut anna, SHOP)[0], ("s".to_owned(), 5, Some("tomatoes".to_owned())));
    // A key of another's is not taken: the same machine, kind and id are another record.
    ben.push(&[note(SHOP, "s", 9, "thyme")]).unwrap();
    assert_eq!(pulled(&mut anna, SHOP).iter().filter(|(id, ..)| id == "s").count(), 2);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn who_only_reads_cannot_share_and_who_only_shares_cannot_read_others() {
    let Some(server) = server() else { return };
    let mut team =
        server.team(&[("anna", &[(SHOP, BOTH)]), ("reader", &[(SHOP, Access::Read)]), ("writer", &[(SHOP, Access::Write)])]);
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap();
    let mut reader = server.client("reader");
    let pushed = reader.push(&[note(SHOP, "r", 1, "basil")]).unwrap();
    assert_eq!((pushed.stored, refused(&pushed)), (0, vec!["r"]));
    assert_eq!(refused(&reader.withdraw(&[gone(SHOP, "r", 1)]).unwrap()), ["r"]);
    assert_eq!(pulled(&mut reader, SHOP).len(), 1);
    let past_the_client = format!("{INSERT} VALUES (1, 1, 'desk', 'note', 'x', 1, false, '1', '')");
    let why = server.sql("reader", "team", &past_the_client).expect_err("a reader who writes");
    assert!(why.contains("may not share"), "{why}");

    let mut writer = server.client("writer");
    assert_eq!(writer.push(&[note(SHOP, "w", 1, "basil")]).unwrap().stored, 1);
    assert!(matches!(writer.pull(SHOP, 0, 9), Err(Error::NoProject { .. })));
    assert_eq!(sees(&server, "writer", "record"), 1);
    assert_eq!(pulled(&mut anna, SHOP).len(), 2);

    // Access that was taken away: no more sharing, but what was shared can be withdrawn, also by a client that starts afresh.
    team.set_access(TEAM, "writer", SHOP, Access::None).unwrap();
    assert_eq!(refused(&writer.push(&[note(SHOP, "w", 2, "thyme")]).unwrap()), ["w"]);
    let mut writer = server.client("writer");
    assert_eq!(refused(&writer.withdraw(&[gone(SHOP, "never", 1)]).unwrap()), ["never"]);
    assert_eq!(writer.withdraw(&[gone(SHOP, "w", 1)]).unwrap().stored, 1);
    assert_eq!(pulled(&mut anna, SHOP)[1], ("w".to_owned(), 1, None));
    team.set_access(TEAM, "reader", SHOP, Access::None).unwrap();
    assert!(matches!(reader.pull(SHOP, 0, 9), Err(Error::NoProject { .. })));
    assert_eq!(reader.search(&[SHOP], "tomatoes", 9).unwrap().hits, []);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_member_who_leaves_takes_everything_and_sees_nothing() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    let notes: Vec<_> = (0..700).map(|i| note(SHOP, &i.to_string(), 1, "parsnips")).collect();
    anna.push(&notes).unwrap();
    anna.push(&[note(BANK, "b", 1, "parsnips")]).unwrap();
    let mut ben = server.client("ben");
    ben.push(&[note(SHOP, "ben", 1, "basil")]).unwrap();
    let before = ben.pull(SHOP, 0, 10_000).unwrap();
    assert_eq!(before.records.len(), 701);

    let mut laptop = server.client("anna");
    anna.leave().unwrap();
    let after = ben.pull(SHOP, before.after, 10_000).unwrap();
    assert_eq!(after.records.len(), 700);
    assert!(after.records.iter().all(|record| record.body.is_none() && record.login.is_none()));
    assert_eq!(ben.search(&[SHOP], "parsnips", 9).unwrap().hits, []);
    server.assert_no_table_holds("parsnips");

    assert!(matches!(laptop.push(&[note(SHOP, "late", 1, "parsnips")]), Err(Error::NoMember { .. })));
    assert!(matches!(laptop.pull(SHOP, 0, 9), Err(Error::NoProject { .. })));
    assert!(matches!(server.try_client("anna"), Err(Error::NoMember { .. })));
    assert_eq!(sees(&server, "anna", "record"), 0);
    laptop.leave().expect("to leave twice");

    // Invited again, they are somebody new.
    team.add_member(TEAM, "anna").unwrap();
    team.set_access(TEAM, "anna", SHOP, BOTH).unwrap();
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "0", 1, "back")]).unwrap();
    let again = ben.pull(SHOP, after.after, 9).unwrap().records;
    assert_eq!(again.len(), 1);
    assert_ne!(again[0].member, after.records[0].member);

    team.remove_member(TEAM, "ben").unwrap();
    assert!(matches!(server.try_client("ben"), Err(Error::NoMember { .. })));
    server.assert_no_table_holds("basil");
    team.remove_project(TEAM, SHOP).unwrap();
    assert_eq!(anna.projects().unwrap(), []);
    assert_eq!(server.admin("SELECT FROM recall_team.record WHERE project = 1").len(), 0);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn what_is_being_pushed_while_its_member_leaves_does_not_stay() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    let anna = server.client("anna");
    let insert = |machine: &str| format!("{INSERT} VALUES (1, 1, '{machine}', 'note', 'x', 1, false, '\"parsnips\"', 'parsnips')");
    // A push that is under way: leaving waits for it.
    let push = server.session("anna");
    push.run(&format!("BEGIN; {}", insert("laptop"))).unwrap();
    let leaving = std::thread::spawn(move || anna.leave());
    server.wait_for_lock();
    push.run("COMMIT").unwrap();
    leaving.join().unwrap().unwrap();
    server.assert_no_table_holds("parsnips");

    // Leaving that is under way: a push waits for it.
    team.add_member(TEAM, "anna").unwrap();
    team.set_access(TEAM, "anna", SHOP, BOTH).unwrap();
    server.client("anna").push(&[note(SHOP, "a", 1, "parsnips")]).unwrap();
    let leaving = server.session("anna");
    leaving.run("BEGIN; SELECT recall_team.leave_team(1)").unwrap();
    let push = server.session("anna");
    let sql = insert("phone");
    let pushing = std::thread::spawn(move || push.run(&sql));
    server.wait_for_lock();
    leaving.run("COMMIT").unwrap();
    let why = pushing.join().unwrap().expect_err("a push after leaving");
    assert!(why.contains("no member"), "{why}");
    server.assert_no_table_holds("parsnips");
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_policy_only_narrows() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, Access::Read)])]);
    let mut anna = server.client("anna");
    let narrow = Policy { kinds: Some(vec!["note".into()]), body_max: Some(40), closed: false };
    team.set_policy(TEAM, None, &narrow).unwrap();
    let mut digest = note(SHOP, "digest", 1, "short");
    digest.id.kind = "digest".into();
    let long = note(SHOP, "long", 1, &"long ".repeat(20));
    let pushed = anna.push(&[note(SHOP, "short", 1, "short"), digest, long.clone()]).unwrap();
    assert_eq!((pushed.stored, refused(&pushed)), (1, vec!["digest", "long"]));

    // What a project allows, the team may still refuse, and no policy gives access.
    team.set_policy(TEAM, Some(SHOP), &Policy { body_max: Some(4000), ..Policy::default() }).unwrap();
    team.set_policy(TEAM, Some(BANK), &Policy::default()).unwrap();
    assert_eq!(refused(&anna.push(&[long, note(BANK, "b", 1, "short")]).unwrap()), ["long", "b"]);
    let past_the_client = format!("{INSERT} VALUES (1, 1, 'desk', 'digest', 'x', 1, false, '1', '')");
    let why = server.sql("anna", "team", &past_the_client).expect_err("a kind");
    assert!(why.contains("row-level security"), "{why}");

    team.set_policy(TEAM, Some(SHOP), &Policy { closed: true, ..Policy::default() }).unwrap();
    assert_eq!(refused(&anna.push(&[note(SHOP, "short", 2, "new")]).unwrap()), ["short"]);
    assert_eq!(pulled(&mut anna, SHOP).len(), 1);
    assert_eq!(anna.withdraw(&[gone(SHOP, "short", 1)]).unwrap().stored, 1);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_project_is_added_only_by_the_address_that_clients_send() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[]);
    for remote in [
        "https://example.com/Acme/shop.git",
        "https://anna:secret@Example.com:8443/Acme/shop",
        "ssh://git@example.com:22/Acme/shop.git/",
        "git@example.com:Acme/shop.git",
        "example.com:/Acme/shop",
        "Example.com/Acme/shop",
        "example.com/Acme/shop.git",
    ] {
        let refused = team.add_project(TEAM, remote).unwrap_err().to_string();
        assert!(refused.contains("add it as \"example.com/Acme/shop\""), "{remote}: {refused}");
    }
    for remote in ["/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "https://example.com", "shop"] {
        let refused = team.add_project(TEAM, remote).unwrap_err().to_string();
        assert!(refused.contains("host/path, such as example.com/acme/shop"), "{remote}: {refused}");
    }
    team.add_project(TEAM, "example.com/Acme/shop").unwrap();
    assert_eq!(server.admin("SELECT FROM recall_team.project").len(), 3, "with the two that were there");
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn who_owns_a_database_prepares_it_without_being_superuser_and_twice_at_once() {
    let Some(server) = server() else { return };
    server.admin("CREATE ROLE keeper LOGIN CREATEROLE; CREATE ROLE anna LOGIN");
    server.admin("CREATE DATABASE theirs OWNER keeper");
    let address = server.address("keeper", "theirs");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| Team::prepare(&address).expect("to prepare it"));
        }
    });
    // A second database of the server finds the roles there.
    let mut team = Team::prepare(&server.address("postgres", "team")).unwrap();
    team.add_team(TEAM).unwrap();
    let mut theirs = Team::prepare(&address).unwrap();
    theirs.add_team("theirs").unwrap();
    theirs.add_project("theirs", SHOP).unwrap();
    theirs.add_member("theirs", "anna").unwrap();
    theirs.set_access("theirs", "anna", SHOP, BOTH).unwrap();
    let mut anna = Client::join(&server.address("anna", "theirs"), "desk", patient()).unwrap();
    assert_eq!(anna.push(&[note(SHOP, "a", 1, "tomatoes")]).unwrap().stored, 1);
    assert_eq!(anna.search(&[SHOP], "tomatos", 9).unwrap().hits.len(), 1);
    // Let into the one database, they are nobody in the other.
    assert!(matches!(server.try_client("anna"), Err(Error::NoMember { .. })));
    let unprepared = Client::join(&server.address("anna", "postgres"), "desk", patient());
    assert!(matches!(unprepared, Err(Error::Schema { found: 0, .. })));
}
