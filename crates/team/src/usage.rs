//! Sums of what sessions took, over the records that the member may read.

use crate::client::{Client, Me};
use crate::error::Error;
use std::time::Instant;

/// The kind of the records that are summed: `{"day": "2026-11-20", "usage": [{"day": "2026-11-20", "model": "…", "input": 1, "output": 1,
/// "cache_write": 1, "cache_read": 1, "cost_usd": 0.1}]}`, one a session, with the last of its days first. Without `cost_usd` the price of the model is not known.
pub const USAGE: &str = "usage";

/// By what it is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// The login of who shared it.
    Author,
    /// The address of the repository.
    Project,
    /// The day, as the record has it.
    Day,
    /// The name of the model.
    Model,
}

/// A sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageSum {
    /// An author, a project, a day or a model; empty for the total.
    pub name: String,
    /// How many sessions it is of.
    pub sessions: u64,
    /// Tokens of the prompts that came from no cache.
    pub input: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Tokens that were written to a cache.
    pub cache_write: u64,
    /// Tokens that were read from one.
    pub cache_read: u64,
    /// In US dollars, without models that have no known price.
    pub cost_usd: f64,
    /// Those.
    pub unpriced: Vec<String>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageSums {
    /// By name.
    pub rows: Vec<UsageSum>,
    /// Of all rows, each session once.
    pub total: UsageSum,
}

const SUMS: &str = "SELECT f.is_total, f.name, f.sessions, f.input, f.output, f.cache_write, f.cache_read, f.cost_usd, f.unpriced
    FROM recall_team.usage_by($1, $2, $3, $4) f ORDER BY f.name COLLATE \"C\"";

impl Client {
    /// Sums of what the sessions of these projects took since a day (`2026-11-20`). A project that the member may not read adds nothing, but for what
    /// they shared in it themself. Ends at [`Deadlines::search`](crate::Deadlines), or at `until` if that is earlier.
    ///
    /// # Errors
    /// [`Error::TooLate`] when there was no time for it.
    pub fn usage(&mut self, projects: &[&str], by: UsageBy, since: &str, until: Instant) -> Result<UsageSums, Error> {
        let numbers: Vec<i64> = projects.iter().filter_map(|name| self.projects.get(*name).copied()).collect();
        let mut sums = UsageSums::default();
        if numbers.is_empty() || since.contains('\0') {
            return Ok(sums);
        }
        let Me { team, .. } = self.me;
        let by = match by {
            UsageBy::Author => "author",
            UsageBy::Project => "project",
            UsageBy::Day => "day",
            UsageBy::Model => "model",
        };
        let end = until.min(Instant::now() + self.deadlines.search);
        let rows = self.link.call_until("sum what sessions took", self.deadlines.search, end, async |session| {
            let statement = session.statement(SUMS).await?;
            session.client.query(&statement, &[&team, &numbers, &by, &since]).await
        })?;
        for row in rows {
            let count = |at: usize| u64::try_from(row.get::<_, i64>(at)).unwrap_or(0);
            let sum = UsageSum {
                name: row.get(1),
                sessions: count(2),
                input: count(3),
                output: count(4),
                cache_write: count(5),
                cache_read: count(6),
                cost_usd: row.get(7),
                unpriced: row.get(8),
            };
            if row.get(0) { sums.total = sum } else { sums.rows.push(sum) }
        }
        Ok(sums)
    }
}
