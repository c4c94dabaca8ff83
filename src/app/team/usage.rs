//! What sessions took: as the team gets it, and the sums that the team's server makes of it.
//!
//! ## Invariants
//! No word of a session is in it: days, names of models and figures.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Value, json};
use team::{UsageBy, UsageSum};

use super::PATIENCE;
use super::asked::{ask, readable};
use super::exchange::NO_TEAM;
use super::state::TeamState;
use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::stats::{Figures, GroupBy};
use crate::config::Config;
use crate::model::price::{costs_by_model, session_cost};
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use text::clean::{counted, one_line, shorten, without_controls};
use transcripts::privacy::Sanitizer;
use transcripts::session::{Project, Tokens};

const MAX_NAME_CHARS: usize = 100;

/// What a session took, by day and model.
pub(super) struct SessionUsage(Vec<Used>);

struct Used {
    day: String,
    model: String,
    tokens: Tokens,
    /// At list price; `None` where none is known.
    cost_usd: Option<f64>,
}

impl SessionUsage {
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of(store: &Reader, config: &Config, sanitizer: &Sanitizer, head: &SessionHead) -> Result<Self> {
        let mut by_day: BTreeMap<String, BTreeMap<String, Tokens>> = BTreeMap::new();
        for used in store.used_tokens(head)? {
            let day = config.local_time(used.at.or(head.last_active()), "%Y-%m-%d");
            *by_day.entry(day).or_default().entry(used.model).or_default() += used.tokens;
        }
        let mut all = Vec::new();
        for (day, by_model) in by_day {
            let mut costs = costs_by_model(&by_model, &config.prices);
            for (name, tokens) in by_model {
                let cost_usd = costs.remove(&name).flatten();
                // It comes from a transcript, as words do.
                let model = shorten(&one_line(&without_controls(&sanitizer.clean(name.as_str()))), MAX_NAME_CHARS);
                all.push(Used { day: day.clone(), model, tokens, cost_usd });
            }
        }
        all.retain(|used| count(&used.tokens) > 0);
        Ok(Self(all))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As the server keeps it.
    pub(super) fn body(&self) -> Value {
        let used = self.0.iter().map(|used| {
            let tokens = &used.tokens;
            json!({
                "day": used.day,
                "model": used.model,
                "input": tokens.input,
                "output": tokens.output,
                "cache_write": tokens.cache_write + tokens.cache_write_hour,
                "cache_read": tokens.cache_read,
                "cost_usd": used.cost_usd,
            })
        });
        json!({ "day": self.0.last().map(|used| &used.day), "usage": used.collect::<Vec<_>>() })
    }

    /// For whoever shares it: `2026-11-20, 1500 tokens, $0.01`.
    pub(super) fn in_words(&self) -> String {
        let tokens: u64 = self.0.iter().map(|used| count(&used.tokens)).sum();
        let costs = self.0.iter().enumerate().map(|(at, used)| (at.to_string(), used.cost_usd)).collect();
        let (usd, is_unknown) = session_cost(&costs);
        let day = self.0.last().map_or("", |used| &used.day);
        let more = if is_unknown { ">" } else { "" };
        format!("{day}, {}, {more}${usd:.2}", counted(usize::try_from(tokens).unwrap_or(usize::MAX), "token"))
    }
}

fn count(tokens: &Tokens) -> u64 {
    tokens.input + tokens.output + tokens.cache_write + tokens.cache_write_hour + tokens.cache_read
}

/// What sessions of the team took, as `stats --team --json` writes it.
#[derive(Debug, Serialize)]
pub(crate) struct TeamUsage {
    /// By day, or what cost most first.
    pub(crate) rows: Vec<Taken>,
    pub(crate) total: Taken,
}

/// What the sessions of a group took.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Taken {
    /// A day, a login, a model or the address of a repository.
    pub(crate) name: String,
    pub(crate) sessions: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_write: u64,
    pub(crate) cache_read: u64,
    /// By the prices of whoever shared it, without models of which they knew none.
    pub(crate) cost_usd: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unpriced: Vec<String>,
}

impl Taken {
    /// Names come from others: they pass as everything does.
    fn of(sum: UsageSum, name: &str, sanitizer: &Sanitizer) -> Self {
        let clean = |text: &str| one_line(&without_controls(&sanitizer.clean(text)));
        Self {
            name: clean(name),
            sessions: sum.sessions,
            input: sum.input,
            output: sum.output,
            cache_write: sum.cache_write,
            cache_read: sum.cache_read,
            cost_usd: sum.cost_usd,
            unpriced: sum.unpriced.iter().map(|model| clean(model)).collect(),
        }
    }

    /// For the table of `stats`, which shows nothing else of them.
    pub(crate) fn figures(&self) -> Figures {
        Figures {
            name: self.name.clone(),
            sessions: usize::try_from(self.sessions).unwrap_or(usize::MAX),
            input: self.input,
            output: self.output,
            cache_write: self.cache_write,
            cache_read: self.cache_read,
            cost_usd: self.cost_usd,
            unpriced: self.unpriced.clone(),
            ..Figures::default()
        }
    }
}

/// Asks the server what the sessions took that the team shares, of the projects that this glob means.
///
/// # Errors
/// When the user is in no team, cannot ask for this, or the server does not answer within a second.
pub(crate) fn team_usage(config: &Config, by: GroupBy, project: Option<&str>, since: &str) -> Result<TeamUsage> {
    let until = Instant::now() + PATIENCE;
    let by = match by {
        GroupBy::Author => UsageBy::Author,
        GroupBy::Project => UsageBy::Project,
        GroupBy::Day => UsageBy::Day,
        GroupBy::Model => UsageBy::Model,
        _ => bail!("your team's server can group only by author, project, day or model, for example `--by author`"),
    };
    let Some(state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
    let sanitizer = config.sanitizer()?;
    let filter = ProjectFilter::new(project, config)?;
    let since = config.local_time(Some(parse_since(Some(since), config)?), "%Y-%m-%d");
    let sums = ask(state, until, move |client| {
        let is_meant = |address: &str| filter.fits(&Project { key: address.to_owned() });
        let readable: Vec<String> = readable(client).into_iter().filter(|address| is_meant(address)).collect();
        let readable: Vec<&str> = readable.iter().map(String::as_str).collect();
        client.usage(&readable, by, &since, until)
    })?;
    let row = |sum: UsageSum| {
        let name = if sum.name.is_empty() { "(unknown)".to_owned() } else { sum.name.clone() };
        Taken::of(sum, &name, &sanitizer)
    };
    let mut rows: Vec<Taken> = sums.rows.into_iter().map(row).collect();
    if by != UsageBy::Day {
        rows.sort_by(|a, b| b.cost_usd.total_cmp(&a.cost_usd).then_with(|| b.sessions.cmp(&a.sessions)));
    }
    Ok(TeamUsage { rows, total: Taken::of(sums.total, "total", &sanitizer) })
}
