//! Many clients while the server is killed and comes back.

use crate::note;
use crate::server::{BANK, SHOP, server};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use team::{Access, Client};

const CLIENTS: usize = 50;
const BATCHES: usize = 12;
const RECORDS: usize = 10;

/// Key and the version of it that was read last.
type Copy = BTreeMap<(i32, String, String), i64>;

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn nothing_is_lost_or_doubled_when_the_server_is_killed_under_fifty_clients() {
    let Some(server) = server() else { return };
    let names: Vec<String> = (0..CLIENTS).map(|i| format!("member{i:02}")).collect();
    let access: &[(&str, Access)] = &[(SHOP, Access::ReadWrite), (BANK, Access::ReadWrite)];
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), access)).collect();
    let _team = server.team(&members);

    let pushed = AtomicUsize::new(0);
    let clients: Vec<_> = names.iter().map(|name| server.client(name)).collect();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let start = |client| {
            let pushed = &pushed;
            scope.spawn(move || push_and_pull(client, pushed))
        };
        let running: Vec<_> = clients.into_iter().map(start).collect();
        for part in 1..=3 {
            while pushed.load(Ordering::SeqCst) < CLIENTS * BATCHES * part / 4 && running.iter().any(|thread| !thread.is_finished())
            {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            server.kill();
            server.start();
        }
        running.into_iter().map(|thread| thread.join().expect("a client without an error")).collect()
    });
    // All have pushed before anybody reads for the last time.
    for (mut client, mut copies, mut after) in ended {
        read(&mut client, &mut copies, &mut after);
        for copy in copies {
            assert_eq!(copy.len(), CLIENTS * BATCHES * RECORDS / 2);
            assert!(copy.iter().all(|((.., id), version)| *version == last_version(id)), "a copy is behind");
        }
    }
    let doubled = server.admin("SELECT FROM recall_team.record GROUP BY team, project, seq HAVING count(*) > 1");
    assert_eq!(doubled.len(), 0);
    let count = server.admin("SELECT count(*), count(DISTINCT (project, member, author, kind, id)) FROM recall_team.record");
    let expected = (CLIENTS * BATCHES * RECORDS).to_string();
    assert_eq!(count[0], [expected.clone(), expected]);
}

fn push_and_pull(mut client: Client, pushed: &AtomicUsize) -> (Client, [Copy; 2], [i64; 2]) {
    let mut copies = [Copy::new(), Copy::new()];
    let mut after = [0; 2];
    for batch in 0..BATCHES {
        push(&mut client, batch);
        pushed.fetch_add(1, Ordering::SeqCst);
        read(&mut client, &mut copies, &mut after);
    }
    (client, copies, after)
}

/// Ten new records, half in each project, and a newer version of each of those of the batch before.
fn push(client: &mut Client, batch: usize) {
    let of = |batch: usize, version: i64| {
        (0..RECORDS).map(move |i| note([SHOP, BANK][i % 2], &format!("{batch}-{i}"), version, &format!("text {version}")))
    };
    let older = batch.checked_sub(1).into_iter().flat_map(|batch| of(batch, 2));
    let records: Vec<_> = of(batch, 1).chain(older).collect();
    let pushed = client.push(&records).expect("to push");
    assert_eq!(pushed.stored + pushed.unchanged, records.len());
    assert_eq!(pushed.refused, []);
}

fn last_version(id: &str) -> i64 {
    if id.starts_with(&format!("{}-", BATCHES - 1)) { 1 } else { 2 }
}

/// As a client keeps its copy: what comes again is newer than what it had.
fn read(client: &mut Client, copies: &mut [Copy; 2], after: &mut [i64; 2]) {
    for (place, project) in [SHOP, BANK].into_iter().enumerate() {
        loop {
            let page = client.pull(project, after[place], 500).expect("to pull");
            assert!(page.after >= after[place]);
            after[place] = page.after;
            for record in page.records {
                let key = (record.member, record.machine, record.id);
                let before = copies[place].insert(key, record.version);
                assert!(before.is_none_or(|before| before < record.version), "a record came twice");
            }
            if !page.more {
                break;
            }
        }
    }
}
