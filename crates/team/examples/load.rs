//! How long a push, a pull and a search take on a server that holds many records.
//!
//! `cargo run --release -p team --example load -- postgres://admin@host/database [records] [clients] [words]`
//!
//! The database has to be empty, and its administrator a superuser whose connections need no password; the logins `load0` and so on are made. Prints
//! the median and the 99th percentile of each call as a client sees it, how many calls there were, and what a record takes on the disk. A record has so
//! many words: 25 as a note, 450 as what came of a session.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use team::{Access, Client, Deadlines, Record, RecordId, Team, Withdrawal};

const TEAM: &str = "load";
const PROJECTS: usize = 40;
const BATCH: usize = 100;
const PAGE: usize = 500;
const WORDS: u64 = 20_000;
const CALLS: usize = 400;
/// Of each of many clients.
const LEAST_PULLS: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let admin = arguments.next().ok_or("which server? postgres://admin@host/database")?;
    let records: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let clients: usize = arguments.next().map_or(Ok(4), |text| text.parse())?;
    let words: usize = arguments.next().map_or(Ok(25), |text| text.parse())?;
    let logins = make_team(&admin, clients)?;

    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let pushes = at_once(&logins, |url| fill(url, records, words, &next));
    let seconds = began.elapsed().as_secs_f64();
    println!("{records} records in {seconds:.0} s, {:.0} a second, {clients} clients at once", records as f64 / seconds);
    print(&format!("push of {BATCH}, {clients} at once"), pushes);
    println!("{} bytes a record on the disk, indexes included", bytes(&admin)? / records as i64);
    let each_project = records / PROJECTS;
    let began = Instant::now();
    let pulls = at_once(&logins, |url| read(url, each_project, CALLS.div_ceil(clients).max(LEAST_PULLS)));
    let (seconds, calls) = (began.elapsed().as_secs_f64(), pulls.len());
    print(&format!("pull of {PAGE}, {clients} at once"), pulls);
    println!("{:.0} pulls a second, {clients} clients at once", calls as f64 / seconds);

    let mut client = join(&logins[0])?;
    let mut random = Random(7);
    let mut each = |what: &str, call: &mut dyn FnMut(&mut Client, usize, &mut Random) -> Result<(), team::Error>| {
        let mut times = Vec::new();
        for place in 0..CALLS {
            let begin = Instant::now();
            call(&mut client, place, &mut random)?;
            times.push(begin.elapsed());
        }
        print(what, times);
        Ok::<(), team::Error>(())
    };
    each(&format!("push of {BATCH}, alone"), &mut |client, place, random| {
        client.push(&batch(records + place * BATCH, BATCH, words, random)).map(drop)
    })?;
    each(&format!("the same again, {BATCH} unchanged"), &mut |client, place, random| {
        client.push(&batch(records + place * BATCH, BATCH, words, random)).map(drop)
    })?;
    each(&format!("withdraw {BATCH}"), &mut |client, place, random| {
        let withdrawals: Vec<_> = batch(records + place * BATCH, BATCH, words, random)
            .into_iter()
            .map(|record| Withdrawal { id: record.id, version: record.version })
            .collect();
        client.withdraw(&withdrawals).map(drop)
    })?;
    each(&format!("pull of {PAGE}, alone"), &mut |client, _, random| {
        let after = random.below(each_project as u64) as i64;
        client.pull(&project(random.below(PROJECTS as u64) as usize), after, PAGE).map(drop)
    })?;
    each("pull of nothing new", &mut |client, place, _| client.pull(&project(place % PROJECTS), i64::MAX - 1, PAGE).map(drop))?;
    let names: Vec<String> = (0..PROJECTS).map(project).collect();
    for (projects, of) in [(1, "1 project"), (PROJECTS, "all projects")] {
        let names: Vec<&str> = names.iter().take(projects).map(String::as_str).collect();
        let (mut late, mut partial) = (0, 0);
        let mut search = |client: &mut Client, words: &str| match client.search(&names, words, 10) {
            Ok(found) => {
                partial += usize::from(!found.complete);
                Ok(())
            }
            Err(team::Error::TooLate { .. }) => {
                late += 1;
                Ok(())
            }
            Err(error) => Err(error),
        };
        each(&format!("search of 1 frequent word, {of}"), &mut |client, _, random| search(client, &word(random.below(20))))?;
        each(&format!("search of 2 words, {of}"), &mut |client, _, random| {
            search(client, &format!("{} {}", word(random.below(200)), word(random.below(200))))
        })?;
        each(&format!("search of 1 rare word, {of}"), &mut |client, _, random| search(client, &word(random.below(WORDS))))?;
        each(&format!("search of 1 mistyped word, {of}"), &mut |client, _, random| {
            let mut mistyped = word(random.below(WORDS));
            mistyped.insert(4, 'q');
            search(client, &mistyped)
        })?;
        println!("  of these, {partial} had no time for similar words, and {late} for anything");
    }
    Ok(())
}

fn make_team(admin: &str, clients: usize) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut team = Team::prepare(admin)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(admin, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        for place in 0..clients {
            client.batch_execute(&format!("DROP ROLE IF EXISTS load{place}; CREATE ROLE load{place} LOGIN")).await?;
        }
        Ok::<(), tokio_postgres::Error>(())
    })?;
    team.add_team(TEAM)?;
    for place in 0..PROJECTS {
        team.add_project(TEAM, &project(place))?;
    }
    let (_, host) = admin.split_once("://").and_then(|(_, rest)| rest.split_once('@')).ok_or("an address with a login")?;
    let mut logins = Vec::new();
    for place in 0..clients {
        let login = format!("load{place}");
        team.add_member(TEAM, &login)?;
        for place in 0..PROJECTS {
            team.set_access(TEAM, &login, &project(place), Access::ReadWrite)?;
        }
        logins.push(format!("postgres://{login}@{host}"));
    }
    Ok(logins)
}

/// How large the tables are.
fn bytes(admin: &str) -> Result<i64, Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(admin, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let sql = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = 'recall_team'::regnamespace";
        Ok(client.query_one(sql, &[]).await?.get(0))
    })
}

/// What all clients do at the same time; returns how long each of their calls took.
fn at_once(logins: &[String], act: impl Fn(&str) -> Vec<Duration> + Sync) -> Vec<Duration> {
    let act = &act;
    std::thread::scope(|scope| {
        let threads: Vec<_> = logins.iter().map(|url| scope.spawn(move || act(url))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
    })
}

fn join(url: &str) -> Result<Client, team::Error> {
    Client::join(url, "desk", Deadlines { push: Duration::from_secs(300), ..Deadlines::default() })
}

/// Pushes until all clients together have pushed so many records; returns how long each batch took.
fn fill(url: &str, records: usize, words: usize, next: &AtomicUsize) -> Vec<Duration> {
    let mut client = join(url).expect("to join");
    let mut times = Vec::new();
    loop {
        let from = next.fetch_add(BATCH, Ordering::Relaxed);
        if from >= records {
            return times;
        }
        let batch = batch(from, BATCH.min(records - from), words, &mut Random(from as u64));
        let begin = Instant::now();
        let pushed = client.push(&batch).expect("to push");
        times.push(begin.elapsed());
        assert_eq!(pushed.stored, batch.len());
    }
}

/// Pulls so many pages from anywhere in any project; returns how long each took.
fn read(url: &str, each_project: usize, calls: usize) -> Vec<Duration> {
    let mut client = join(url).expect("to join");
    let mut random = Random(url.bytes().map(u64::from).sum());
    let mut pull = |_| {
        let after = random.below(each_project as u64) as i64;
        let place = random.below(PROJECTS as u64) as usize;
        let begin = Instant::now();
        let page = client.pull(&project(place), after, PAGE).expect("to pull");
        assert!(!page.records.is_empty());
        begin.elapsed()
    };
    (0..calls).map(&mut pull).collect()
}

/// A batch is of one project, as it is after a session.
fn batch(from: usize, records: usize, words: usize, random: &mut Random) -> Vec<Record> {
    let of = project(from / BATCH % PROJECTS);
    let make = |place: usize| {
        let text: Vec<String> = (0..words).map(|_| word(random.skewed())).collect();
        let text = text.join(" ");
        let body = serde_json::json!({ "text": text, "session": place / 8, "files": ["src/lib.rs", "src/main.rs"] });
        Record { id: RecordId { project: of.clone(), kind: "note".into(), id: place.to_string() }, version: 1, body, search: text }
    };
    (from..from + records).map(make).collect()
}

fn project(place: usize) -> String {
    format!("example.com/acme/project{place:02}")
}

/// A word of four to six syllables, always the same for a number.
fn word(number: u64) -> String {
    let mut rest = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
    let syllables = 4 + number % 3;
    let mut text = String::new();
    for _ in 0..syllables {
        text.push(char::from(b"bdfghklmnprstvwz"[(rest % 16) as usize]));
        text.push(char::from(b"aeiou"[(rest / 16 % 5) as usize]));
        rest /= 80;
    }
    text
}

struct Random(u64);

impl Random {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// As words are: the first is in every second text, the last in few.
    fn skewed(&mut self) -> u64 {
        let part = self.next() as f64 / u64::MAX as f64;
        ((WORDS as f64).powf(part) - 1.0) as u64
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
    println!("{what:45} p50 {:8.1} ms   p99 {:8.1} ms   {} calls", at(0.5), at(0.99), times.len());
}
