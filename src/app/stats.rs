//! Figures over a time, by day, project and so on: what was done in sessions, what they took and what that cost.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Serialize;

use crate::analyze::account::SessionAccount;
use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::price::{costs_by_model, session_cost};
use crate::model::session_head::SessionHead;
use crate::store::receipts::ReceiptCounts;
use transcripts::session::{Millis, Tokens};

/// By what the figures are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    Day,
    Week,
    Month,
    Project,
    Branch,
    /// Pull request
    Pr,
    Model,
    Agent,
    /// Team member who shared the session: with --team
    Author,
}

/// The name of a week, as of ISO 8601.
pub(crate) const WEEK_NAME: &str = "%G-W%V";

pub(crate) struct StatsRequest<'a> {
    pub(crate) by: GroupBy,
    /// Only projects that this glob means.
    pub(crate) project: Option<&'a str>,
    /// Only what was since then, as of `--since`.
    pub(crate) since: Option<&'a str>,
    /// Only what was before this time.
    pub(crate) before: Option<Millis>,
}

/// As `stats --json` writes them.
#[derive(Debug, Serialize)]
pub(crate) struct StatsReply {
    /// From when on is counted.
    #[serde(skip)]
    pub(crate) since: Millis,
    /// In order of time, or what cost most first.
    pub(crate) rows: Vec<Figures>,
    pub(crate) total: Figures,
    /// What recall itself asked of the model.
    pub(crate) own: OwnCalls,
    /// What came of what sessions were told, in all.
    pub(crate) receipts: ReceiptCounts,
    /// Sessions of which tokens alone are counted, until the next run.
    pub(crate) undigested: usize,
}

#[cfg(feature = "web")]
impl StatsReply {
    /// The figures of the group with this name; empty if there is none.
    pub(crate) fn of(&self, name: &str) -> Figures {
        self.rows.iter().find(|row| row.name == name).cloned().unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct OwnCalls {
    pub(crate) calls: i64,
    pub(crate) cost_usd: f64,
}

/// The figures of a group. Turns count where they were said, commits where they were made, tokens where they were used, and a file where the
/// session edited it last. A session in which nobody said anything counts with its tokens alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// A day, a week as of ISO 8601, a month, or the name of what the group is.
    pub(crate) name: String,
    /// Those that were active.
    pub(crate) sessions: usize,
    pub(crate) turns: usize,
    pub(crate) commits: usize,
    pub(crate) files: usize,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_write: u64,
    pub(crate) cache_read: u64,
    /// At list price, without models that have none.
    pub(crate) cost_usd: f64,
    /// Models whose price is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unpriced: Vec<String>,
    /// Sessions of which not all tokens are known: they cost more than is counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) uncounted: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Figures {
    pub(crate) fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_write + self.cache_read
    }

    /// What it cost, in words: `$1.20`; with `at_least` before it if more is not known, and `unknown` if nothing is.
    pub(crate) fn told_cost(&self, at_least: &str) -> String {
        match (self.unpriced.is_empty() && self.uncounted == 0, self.cost_usd >= 0.005) {
            (false, false) => "unknown".to_owned(),
            (is_all, _) => format!("{}${:.2}", if is_all { "" } else { at_least }, self.cost_usd),
        }
    }
}

/// A group while it is added up.
#[derive(Default)]
struct Group {
    sessions: BTreeSet<i64>,
    turns: usize,
    commits: usize,
    files: usize,
    usage: BTreeMap<String, Tokens>,
    uncounted: BTreeSet<i64>,
}

impl Group {
    fn add_work(&mut self, session: i64, (turns, commits, files): (usize, usize, usize)) {
        self.sessions.insert(session);
        self.turns += turns;
        self.commits += commits;
        self.files += files;
    }

    fn figures(&self, name: String, config: &Config) -> Figures {
        let costs = costs_by_model(&self.usage, &config.prices);
        let unpriced = costs.iter().filter(|(_, usd)| usd.is_none()).map(|(model, _)| model.clone()).collect();
        let sum = |count: fn(&Tokens) -> u64| self.usage.values().map(count).sum();
        Figures {
            name,
            sessions: self.sessions.len(),
            turns: self.turns,
            commits: self.commits,
            files: self.files,
            input: sum(|tokens| tokens.input),
            output: sum(|tokens| tokens.output),
            cache_write: sum(|tokens| tokens.cache_write + tokens.cache_write_hour),
            cache_read: sum(|tokens| tokens.cache_read),
            cost_usd: session_cost(&costs).0,
            unpriced,
            uncounted: self.uncounted.len(),
        }
    }
}

/// # Errors
/// When the project or the time cannot be read, or the index.
pub(crate) fn stats(memory: &OpenMemory, config: &Config, asked: &StatsRequest<'_>) -> Result<StatsReply> {
    let since = parse_since(asked.since, config)?;
    stats_of(memory, config, asked, &memory.0.session_heads_since(since)?)
}

/// The same of these sessions.
///
/// # Errors
/// As [`stats`].
pub(crate) fn stats_of(
    memory: &OpenMemory,
    config: &Config,
    asked: &StatsRequest<'_>,
    heads: &[SessionHead],
) -> Result<StatsReply> {
    ensure!(
        asked.by != GroupBy::Author,
        "all sessions here are yours: `recall stats --team --by author` asks the server of your team"
    );
    let memory = &memory.0;
    let (filter, since) = (ProjectFilter::new(asked.project, config)?, parse_since(asked.since, config)?);
    let is_too_late = |at: Millis| asked.before.is_some_and(|before| at >= before);
    let (mut groups, mut total) = (BTreeMap::<String, Group>::new(), Group::default());
    let of_nobody = memory.sessions_of_nobody()?;
    let mut undigested = 0;
    for head in heads.iter().filter(|head| filter.fits(&head.project)) {
        let last = head.counts_at();
        if last < since || asked.before.is_some_and(|before| head.otherwise_at() >= before) {
            continue;
        }
        let account = memory.account_of(head.pk)?;
        undigested += usize::from(account.is_none() && head.has_grown());
        // Nothing is told of it, and nothing tells when it was: its file may have been copied since.
        if account.is_none() && head.last_active().is_none() {
            continue;
        }
        let account = account.unwrap_or_default();
        let name = |at: Millis, model: &str| group_name(asked.by, config, head, &account, at, model);
        let is_uncounted = memory.facts_of(head.pk)?.is_some_and(|(_, facts)| facts.lacks_usage);
        for used in memory.used_tokens(head)? {
            let at = used.at.unwrap_or(last);
            if at < since || is_too_late(at) {
                continue;
            }
            for group in [groups.entry(name(at, &used.model)).or_default(), &mut total] {
                if !of_nobody.contains(&head.pk) {
                    group.sessions.insert(head.pk);
                }
                *group.usage.entry(used.model.clone()).or_default() += used.tokens;
            }
        }
        for (at, done) in work(&account, last).into_iter().filter(|(at, _)| *at >= since && !is_too_late(*at)) {
            // Several models may have worked on it.
            let worked = (asked.by != GroupBy::Model).then(|| groups.entry(name(at, "")).or_default());
            for group in worked.into_iter().chain([&mut total]) {
                group.add_work(head.pk, done);
                group.uncounted.extend(is_uncounted.then_some(head.pk));
            }
        }
    }
    let mut rows: Vec<Figures> = groups.into_iter().map(|(name, group)| group.figures(name, config)).collect();
    if !matches!(asked.by, GroupBy::Day | GroupBy::Week | GroupBy::Month) {
        rows.sort_by(|a, b| b.cost_usd.total_cmp(&a.cost_usd).then_with(|| b.sessions.cmp(&a.sessions)));
    }
    let (calls, cost_usd) = memory.calls_since(since)?;
    Ok(StatsReply {
        since,
        rows,
        total: total.figures("total".into(), config),
        own: OwnCalls { calls, cost_usd },
        receipts: memory.receipt_counts()?,
        undigested,
    })
}

/// What was done in a session and when: turns, commits, files. What has no time of its own counts at its `last` activity.
fn work(account: &SessionAccount, last: Millis) -> Vec<(Millis, (usize, usize, usize))> {
    let all = account.turns.last().map_or(0, |turn| turn.number);
    let mut work: Vec<_> = account.turn_times().take(all).map(|at| (at, (1, 0, 0))).collect();
    let untimed = all - work.len();
    work.extend(account.commits.iter().map(|commit| (commit.at.unwrap_or(last), (0, 1, 0))));
    work.extend(account.files.with_times().map(|(_, at)| (at.unwrap_or(last), (0, 0, 1))));
    work.extend((untimed > 0).then_some((last, (untimed, 0, 0))));
    work
}

fn group_name(by: GroupBy, config: &Config, head: &SessionHead, account: &SessionAccount, at: Millis, model: &str) -> String {
    let project = head.project.name();
    match by {
        GroupBy::Day => config.local_time(Some(at), "%Y-%m-%d"),
        GroupBy::Week => config.local_time(Some(at), WEEK_NAME),
        GroupBy::Month => config.local_time(Some(at), "%Y-%m"),
        GroupBy::Project => head.project.key.clone(),
        GroupBy::Branch => format!("{project} {}", account.branch.as_deref().unwrap_or("(no branch)")),
        GroupBy::Pr => match account.pull_requests.iter().rev().find(|one| one.acted) {
            Some(pull_request) => format!("{} #{}", pull_request.repository().unwrap_or(project), pull_request.number),
            None => "(no pull request)".to_owned(),
        },
        GroupBy::Model => model.to_owned(),
        GroupBy::Agent => head.client.name().to_owned(),
        // Refused above.
        GroupBy::Author => String::new(),
    }
}
