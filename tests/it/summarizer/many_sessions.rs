//! Worlds of many small sessions, each with an answer of its own from the scripted `claude`.

use serde_json::Value;

use crate::support::stand_in::StandIn;
use crate::support::{assistant, user};

/// The folder they worked in.
pub const BLOG: &str = "/home/dev/src/blog";
/// No budget ends before the sessions do.
pub const WIDE: &str = "backlog = 100000\nmax_sessions = 100000\nmax_cost_usd = 100000.0\nmax_cost_usd_per_day = 100000.0\n";

/// In a scenario: `$q` is the number of the session that is asked about.
pub const WHICH: &str =
    "q=$(sed -n 's/.*Question \\([0-9][0-9]*\\):.*/\\1/p' \"$call/stdin\" | head -n 1); echo \"$q\" > \"$call/question\"\n";

pub struct Many {
    pub stand_in: StandIn,
    pub count: usize,
}

pub fn id(n: usize) -> String {
    format!("{n:08}-0000-4000-8000-000000000000")
}

/// The project of a session that has one of its own.
pub fn project(n: usize) -> String {
    format!("{BLOG}{n}")
}

impl Many {
    /// Sessions 1 to `count`, the last one the newest. `$q` in the scenario is whose turn it is.
    pub fn new(count: usize, scenario: &str) -> Self {
        Self::each_in(|_| BLOG.to_owned(), count, scenario)
    }

    /// The same, each in the folder that this says.
    fn each_in(folder: impl Fn(usize) -> String, count: usize, scenario: &str) -> Self {
        let stand_in = StandIn::new(&[], "");
        for n in 1..=count {
            let (id, at) = (id(n), format!("2026-11-{:02}T{:02}:{:02}:00Z", 1 + n / 1440, n / 60 % 24, n % 60));
            let uuid = |row: usize| format!("{n:08}-0000-4000-8000-00000000000{row}");
            let rows = [
                user(&id, &uuid(1), &at, &format!("Question {n}: why is the feed empty?")),
                assistant(&id, &uuid(2), &at, "It filters on drafts."),
            ];
            let cwd = folder(n);
            let path = format!("{}/{id}.jsonl", cwd.replace('/', "-"));
            stand_in.world.transcript(&path, rows.concat().replace("/home/dev/src/shop", &cwd));
        }
        let many = Self { stand_in, count };
        many.configure("");
        many.now_does(scenario);
        many
    }

    /// One session a reply; these are printed byte for byte.
    pub fn that_get<R: AsRef<[u8]>>(replies: &[R]) -> Self {
        Self::new(replies.len(), "").getting(replies)
    }

    /// The same, each session in a project of its own.
    pub fn apart_that_get<R: AsRef<[u8]>>(replies: &[R]) -> Self {
        Self::each_in(project, replies.len(), "").getting(replies)
    }

    fn getting<R: AsRef<[u8]>>(self, replies: &[R]) -> Self {
        self.now_does("cat \"$here/reply.$q\"");
        for (at, reply) in replies.iter().enumerate() {
            self.stand_in.put_bytes(&format!("reply.{}", at + 1), reply.as_ref());
        }
        self
    }

    pub fn now_does(&self, scenario: &str) {
        self.stand_in.now_does(&format!("{WHICH}{scenario}"));
    }

    /// With more in the `[digest]` part of the config.
    pub fn configure(&self, more: &str) {
        // A session's start waits as long as a busy machine takes.
        self.stand_in.world.configure(&format!("[hooks]\ndeadline_ms = 5000\n[digest]\n{WIDE}{more}"));
    }

    /// How often the client was asked about each session.
    pub fn asked(&self) -> Vec<usize> {
        let mut asked = vec![0; self.count + 1];
        let calls = (1..).map_while(|n| self.stand_in.left_in_call(n, "question"));
        for n in calls.filter_map(|q| q.trim().parse::<usize>().ok()) {
            asked[n] += 1;
        }
        asked.remove(0);
        asked
    }

    /// Runs digests until every session had its turn. Each run must get further; returns what they printed on stderr.
    pub fn digest_all(&self) -> String {
        self.digest_all_by(&["digest"])
    }

    /// The same by this command.
    pub fn digest_all_by(&self, command: &[&str]) -> String {
        let mut told = String::new();
        loop {
            let before = self.asked().iter().filter(|n| **n > 0).count();
            let ran = self.stand_in.recall(command);
            assert!(ran.code == 0 || ran.code == 1, "{ran:#?}");
            assert!(ran.code == 0 || !ran.err.is_empty(), "what is left undone is told: {ran:#?}");
            told.push_str(&ran.err);
            let after = self.asked().iter().filter(|n| **n > 0).count();
            if after == self.count {
                return told;
            }
            assert!(after > before, "{after} of {} were asked about: {ran:#?}", self.count);
        }
    }

    /// Digests that wait for the model, without a call.
    pub fn digest_all_without_the_model(&self) {
        let nowhere = self.stand_in.world.root().join("empty");
        let ran = self.stand_in.world.recall_with(["digest"], &[("PATH", nowhere.to_str().expect("a UTF-8 path"))]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    }

    pub fn show(&self, n: usize) -> Value {
        self.stand_in.show(&id(n))
    }

    /// Why a session's digest is not the model's: what became of its own call, else why there was none.
    pub fn reason(&self, n: usize) -> String {
        let sql = "SELECT coalesce((SELECT error FROM attempt WHERE session = pk), skip, '') FROM session WHERE id = ?1";
        self.stand_in.world.database().query_row(sql, [id(n)], |r| r.get(0)).expect("the session")
    }
}
