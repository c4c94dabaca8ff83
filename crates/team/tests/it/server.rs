//! A PostgreSQL server of a test's own, in a temporary folder, reached over a socket in it.

use crate::installed::{other_user, programs};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use team::{Access, Client, Deadlines, Error, Team};
use tempfile::TempDir;
use tokio_postgres::SimpleQueryMessage;

/// The team that tests use.
pub(crate) const TEAM: &str = "core";
pub(crate) const SHOP: &str = "example.com/acme/shop";
pub(crate) const BANK: &str = "example.com/acme/bank";

pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    settings: String,
}

/// `None`, with a word on stderr, unless `RECALL_TEST_POSTGRES=1` asks for these tests.
///
/// # Panics
/// When it asks for them and there is no PostgreSQL.
pub(crate) fn server() -> Option<Server> {
    server_with("", |_| {})
}

pub(crate) fn server_with(settings: &str, prepare: impl Fn(&Path)) -> Option<Server> {
    if std::env::var_os("RECALL_TEST_POSTGRES").is_none_or(|value| value != "1") {
        eprintln!("SKIPPED: this test starts a PostgreSQL server and runs only with RECALL_TEST_POSTGRES=1");
        return None;
    }
    let programs = programs(&["initdb", "pg_ctl"])
        .expect("RECALL_TEST_POSTGRES=1, and initdb is neither on the PATH nor below /usr/lib/postgresql");
    let folder = TempDir::with_prefix("team").expect("a temporary folder");
    let server = Server { folder, programs, settings: settings.to_owned() };
    if let Some((uid, gid)) = other_user() {
        std::os::unix::fs::chown(server.folder.path(), Some(uid), Some(gid)).expect("to give the folder away");
    }
    server.run("initdb", &["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
    prepare(&server.folder.path().join("data"));
    server.start();
    server.sql("postgres", "postgres", "CREATE DATABASE team").expect("a database");
    Some(server)
}

impl Server {
    pub(crate) fn start(&self) {
        let socket = self.folder.path().display();
        // Killed is only the server, never the machine: nothing has to reach the disk.
        let options = format!("-k {socket} -c listen_addresses= -c fsync=off -c max_connections=200 {}", self.settings);
        self.run("pg_ctl", &["-D", "data", "-l", "log", "-w", "-o", &options, "start"]);
    }

    /// As if its processes were killed: nothing is written before they end.
    pub(crate) fn kill(&self) {
        self.run("pg_ctl", &["-D", "data", "-m", "immediate", "-w", "stop"]);
    }

    fn port(&self) -> &str {
        self.settings.split_whitespace().find_map(|word| word.strip_prefix("port=")).unwrap_or("5432")
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        if let Some((uid, gid)) = other_user() {
            command.uid(uid).gid(gid);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // A file and not a pipe: the server that pg_ctl starts keeps it open.
        let out = self.folder.path().join(format!("{program}.out"));
        let file = fs::File::create(&out).expect("a file");
        let mut command = self.command(program, arguments);
        let status = command.stdout(file.try_clone().expect("a file")).stderr(file).status().expect("to run it");
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(status.success(), "{program}: {}\n{log}", fs::read_to_string(&out).unwrap_or_default());
    }

    pub(crate) fn address(&self, login: &str, database: &str) -> String {
        let socket = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{login}@{socket}:{}/{database}", self.port())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What a login gets for its SQL: the rows, `NULL` for nothing; or the message of the server.
    pub(crate) fn sql(&self, login: &str, database: &str, sql: &str) -> Result<Vec<Vec<String>>, String> {
        Session::new(&self.address(login, database)).run(sql)
    }

    /// The same for the superuser in the database of the team.
    pub(crate) fn admin(&self, sql: &str) -> Vec<Vec<String>> {
        self.sql("postgres", "team", sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn session(&self, login: &str) -> Session {
        Session::new(&self.address(login, "team"))
    }

    /// A prepared database with the team, its two projects, and these logins with their access.
    pub(crate) fn team(&self, members: &[(&str, &[(&str, Access)])]) -> Team {
        let mut team = Team::prepare(&self.address("postgres", "team")).expect("to prepare the database");
        team.add_team(TEAM).expect("a team");
        for project in [SHOP, BANK] {
            team.add_project(TEAM, project).expect("a project");
        }
        for (login, projects) in members {
            self.admin(&format!("CREATE ROLE {login} LOGIN"));
            team.add_member(TEAM, login).expect("a member");
            for (project, access) in *projects {
                team.set_access(TEAM, login, project, *access).expect("access");
            }
        }
        team
    }

    pub(crate) fn client(&self, login: &str) -> Client {
        self.try_client(login).unwrap_or_else(|error| panic!("{login}: {error}"))
    }

    pub(crate) fn try_client(&self, login: &str) -> Result<Client, Error> {
        Client::join(&self.address(login, "team"), "desk", patient())
    }

    /// Until a connection waits for a lock of another.
    pub(crate) fn wait_for_lock(&self) {
        for _ in 0..3000 {
            if !self.admin("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'").is_empty() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("nothing waits for a lock");
    }

    /// No row of any table of the database, those of sessions included, has this word in its text.
    pub(crate) fn assert_no_table_holds(&self, word: &str) {
        let tables = self.admin("SELECT oid::regclass FROM pg_class WHERE relkind = 'r'");
        assert!(tables.iter().any(|table| table[0].contains("record_00")));
        for table in tables {
            let sql = format!("SELECT t::text FROM {} t WHERE t::text LIKE '%' || '{word}' || '%'", table[0]);
            assert_eq!(self.admin(&sql), Vec::<Vec<String>>::new(), "{}", table[0]);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be stopped already.
        let _ = self.command("pg_ctl", &["-D", "data", "-m", "immediate", "-w", "stop"]).output();
    }
}

/// The machine that runs the tests may be slow.
pub(crate) fn patient() -> Deadlines {
    let long = std::time::Duration::from_secs(120);
    Deadlines { ask: long, push: long, pull: long, search: long, leave: long }
}

/// A connection on which transactions stay open.
pub(crate) struct Session {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Session {
    fn new(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.expect("to connect");
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    pub(crate) fn run(&self, sql: &str) -> Result<Vec<Vec<String>>, String> {
        let outcome = self.runtime.block_on(self.client.simple_query(sql));
        let messages =
            outcome.map_err(|error| error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned()))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows.map(|row| (0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned()).collect()).collect())
    }
}
