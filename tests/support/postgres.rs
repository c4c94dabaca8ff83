//! A PostgreSQL server of a test's own, in a temporary folder, reached over a socket in it.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use self::installed::{other_user, programs};

#[path = "../../crates/team/tests/it/installed.rs"]
mod installed;

/// Only where these tests are asked for: see `.ci/full servers`.
const WANTED: &str = "RECALL_TEST_POSTGRES";

pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
}

impl Postgres {
    /// A server with an empty database `team`. `None`, with a word on stderr, unless `RECALL_TEST_POSTGRES=1` asks for these tests.
    pub fn start() -> Option<Self> {
        if std::env::var_os(WANTED).is_none_or(|value| value != "1") {
            eprintln!("SKIPPED: this test starts a PostgreSQL server and runs only with {WANTED}=1");
            return None;
        }
        let programs =
            programs(&["initdb", "pg_ctl", "psql"]).expect("no initdb, neither on the PATH nor below /usr/lib/postgresql");
        let server = Self { folder: TempDir::with_prefix("recall-pg").expect("a temporary folder"), programs };
        if let Some((uid, gid)) = other_user() {
            chown(server.folder.path(), Some(uid), Some(gid)).expect("to give the folder away");
        }
        server.run("initdb", &["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        server.resume();
        server.sql("postgres", "CREATE DATABASE team");
        Some(server)
    }

    pub fn resume(&self) {
        let socket = self.folder.path().display();
        let options = format!("-k {socket} -c listen_addresses= -c fsync=off");
        self.run("pg_ctl", &["-D", "data", "-l", "log", "-w", "-o", &options, "start"]);
    }

    /// Nobody can reach it until [`Self::resume`].
    pub fn stop(&self) {
        self.run("pg_ctl", &["-D", "data", "-m", "immediate", "-w", "stop"]);
    }

    /// What a login of its database gives to the program.
    pub fn address(&self, login: &str) -> String {
        format!("postgres://{login}@{}/team", self.folder.path().display().to_string().replace('/', "%2F"))
    }

    /// What the administrator of the team's database gets for SQL: a line a row.
    pub fn admin(&self, sql: &str) -> String {
        self.sql("team", sql)
    }

    fn sql(&self, database: &str, sql: &str) -> String {
        let socket = self.folder.path().to_str().expect("UTF-8");
        let ran = self.command(
            "psql",
            &["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", socket, "-U", "postgres", "-d", database, "-c", sql],
        );
        assert!(ran.status.success(), "{sql}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("UTF-8")
    }

    /// All that the tables of the database hold, as text.
    pub fn all_text(&self) -> String {
        let tables =
            self.admin("SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'recall_team'::regnamespace");
        assert!(tables.contains("record_00"), "{tables}");
        tables.lines().map(|table| self.admin(&format!("SELECT t::text FROM {table} t"))).collect()
    }

    /// All statements that it ran, with their values, since [`Self::log_statements`].
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub fn log_statements(&self) {
        self.sql("postgres", "ALTER DATABASE team SET log_statement = 'all'");
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        if let Some((uid, gid)) = other_user() {
            command.uid(uid).gid(gid);
        }
        // Files and not pipes: the server that pg_ctl starts keeps them open.
        let (out, err) = (self.folder.path().join("out"), self.folder.path().join("err"));
        let file = |path: &PathBuf| fs::File::create(path).expect("a file");
        let status = command.stdout(file(&out)).stderr(file(&err)).status().expect("to run it");
        let read = |path: &PathBuf| fs::read(path).unwrap_or_default();
        Output { status, stdout: read(&out), stderr: read(&err) }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let ran = self.command(program, arguments);
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(ran.status.success(), "{program}: {}\n{log}", String::from_utf8_lossy(&ran.stderr));
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It may be stopped already.
        let _ = self.command("pg_ctl", &["-D", "data", "-m", "immediate", "-w", "stop"]);
    }
}
