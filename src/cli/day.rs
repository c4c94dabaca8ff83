//! `recall day`: the pages of days.

use std::io::Write;

use anyhow::{Result, bail};
use jiff::ToSpan;
use jiff::civil::Date;

use super::reading::print_page;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::day::{DayReader, DaysRequest};
use crate::app::open_memory::OpenMemory;
use crate::cli::args::DayArgs;
use crate::config::Config;
use crate::model::page_path::parse_day;
use crate::sys::messages;

/// The days of a week.
const WEEK: i64 = 7;

pub(crate) fn run(args: &DayArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let today = config.local(config.now()).date();
    let days = match &args.when {
        Some(when) => days_of(when, today)?,
        None => vec![today],
    };
    let mut pages = String::new();
    for day in &days {
        if let Some(page) = page(config, *day)? {
            if !pages.is_empty() {
                pages.push('\n');
            }
            pages += &page;
        }
    }
    if pages.is_empty() {
        let newest = newest_day(config)?;
        let what = match (&args.when, newest) {
            (_, None) => "no day has a page yet: `recall digest` writes them".to_owned(),
            // In the morning, the day before is what is meant.
            (None, Some(newest)) => {
                pages = page(config, newest)?.unwrap_or_default();
                format!("no page for today yet; showing {newest}")
            }
            (Some(when), Some(newest)) if days.len() > 1 => {
                format!("the last seven days have no page ({when}); the newest day is {newest}")
            }
            (Some(when), Some(newest)) => format!("there is no page for {when}; the newest day is {newest}"),
        };
        messages::report(what);
    }
    print_page(&pages, out)?;
    Ok(Completion::Done)
}

/// The page of a day, as markdown, as it may be shown in this folder.
fn page(config: &Config, day: Date) -> Result<Option<String>> {
    let asker = Asker::here(config);
    reader(config, &asker).day(day)
}

pub(super) fn newest_day(config: &Config) -> Result<Option<Date>> {
    let asker = Asker::here(config);
    Ok(reader(config, &asker).days(DaysRequest { before: None, limit: 1 })?.days.first().map(|day| day.date))
}

fn reader<'a>(config: &'a Config, asker: &'a Asker<'_>) -> DayReader<'a, impl FnOnce() -> Result<Option<OpenMemory>>> {
    DayReader { config, policy: config.policy(asker.view()), open: || asker.memory_if_there() }
}

/// The days that somebody means, oldest first.
fn days_of(when: &str, today: Date) -> Result<Vec<Date>> {
    let back = |days: i64| today.saturating_sub(days.days());
    Ok(match when {
        "today" => vec![today],
        "yesterday" => vec![back(1)],
        "week" => (0..WEEK).rev().map(back).collect(),
        other => match parse_day(other) {
            Some(day) => vec![day],
            None => bail!("{other:?} is not a day: today, yesterday, week, or a date like 2026-01-31"),
        },
    })
}
