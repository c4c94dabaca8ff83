//! `recall stats`: figures over a time, as a table.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use super::reading::print_lines;
use super::status::{corrections, told_and_used, warnings};
use super::team;
use crate::app::Completion;
use crate::app::stats::{Figures, GroupBy, StatsReply, StatsRequest, stats};
use crate::app::status::ReceiptCounts;
use crate::cli::args::StatsArgs;
use crate::config::Config;
use crate::sys::{messages, pager};
use text::clean::{counted, one_line, shorten, without_controls};

/// The most characters of a group's name.
const MAX_NAME_CHARS: usize = 28;
/// A bar is not longer, and none is shown where there is room for less than that, in columns.
const MAX_BAR: usize = 30;
const MIN_BAR: usize = 5;

pub(crate) fn run(args: &StatsArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    if args.team {
        return team::stats(args, config, out);
    }
    let asked = StatsRequest { by: args.by, project: args.project.as_deref(), since: Some(&args.since), before: None };
    let reply = stats(&open_memory(config)?, config, &asked)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    print(&reply, args, &format!("since {}", config.short_day(reply.since)), out)?;
    Ok(Completion::Done)
}

fn print(reply: &StatsReply, args: &StatsArgs, since: &str, out: &mut impl Write) -> Result<()> {
    print_table(&reply.rows, &reply.total, args, since, out)?;
    writeln!(out)?;
    let calls = counted(reply.own.calls as usize, "call");
    writeln!(out, "recall itself: {calls} to the model, ${:.4}", reply.own.cost_usd)?;
    if reply.receipts.told > 0 {
        print_lines(&format!("in total, {}", told_and_used(&reply.receipts)), out)?;
        let counts = &reply.receipts;
        if counts.used + counts.warnings_passed_over + counts.corrections_repeated > 0 {
            print_lines(&rate(&reply.receipts), out)?;
        }
    }
    if reply.rows.is_empty() && reply.total.sessions == 0 {
        messages::report(format!("no work {since}: try an earlier `--since`, such as 365d"));
    }
    report_left_out(&reply.rows, &reply.total, args);
    if reply.undigested > 0 {
        let sessions = counted(reply.undigested, "session");
        messages::report(format!("{sessions} not digested yet, counted without turns, commits and files: `recall digest`"));
    }
    Ok(())
}

/// The groups and their total. Of the team there are tokens alone.
pub(super) fn print_table(all: &[Figures], total: &Figures, args: &StatsArgs, since: &str, out: &mut impl Write) -> Result<()> {
    let is_cost = args.cost || args.team || args.by == GroupBy::Model;
    let left_out = all.len().saturating_sub(args.limit);
    let rows = match args.by {
        GroupBy::Day | GroupBy::Week | GroupBy::Month => &all[left_out..],
        _ => &all[..all.len() - left_out],
    };
    let names: Vec<String> = rows.iter().map(|row| told_name(row, args.by, rows)).collect();
    let all = names.iter().map(String::as_str).chain([since, &total.name]);
    let width = all.map(|name| name.chars().count()).max().unwrap_or_default();
    let mut lines = vec![line(width, since, &headings(is_cost))];
    lines.extend(names.iter().zip(rows).map(|(name, row)| line(width, name, &cells(row, is_cost))));
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let room = pager::terminal().map_or(0, |size| size.columns.saturating_sub(longest + 3)).min(MAX_BAR);
    let most = rows.iter().map(measure).fold(0.0, f64::max);
    for (at, line) in lines.iter().enumerate() {
        let bar = at.checked_sub(1).map(|row| bar(measure(&rows[row]), most, room)).unwrap_or_default();
        writeln!(out, "{}", format!("{line}  {bar}").trim_end())?;
    }
    writeln!(out, "{}", line(width, &total.name, &cells(total, is_cost)))?;
    Ok(())
}

/// What the table does not show.
pub(super) fn report_left_out(rows: &[Figures], total: &Figures, args: &StatsArgs) {
    let left_out = rows.len().saturating_sub(args.limit);
    if left_out > 0 {
        messages::report(format!("{left_out} more: `--limit N`"));
    }
    if !total.unpriced.is_empty() {
        let models = one_line(&without_controls(&total.unpriced.join(", ")));
        let who = if args.team { "whoever used it sets it" } else { "set it" };
        messages::report(format!("unknown price for {models}, left out of the cost: {who} under `[prices]` in the config"));
    }
    if total.uncounted > 0 {
        let sessions = counted(total.uncounted, "session");
        messages::report(format!("the tokens of {sessions} are not all written down: the cost is more than is shown"));
    }
}

/// In how many of the sessions that were told something it was used, and what was not heeded.
fn rate(counts: &ReceiptCounts) -> String {
    let ReceiptCounts { told, used, names_told, names_used, .. } = counts;
    let share = (*used as f64 * 100.0 / *told as f64).round();
    let (warnings, corrections) = (warnings(counts), corrections(counts));
    format!(
        "{share} % of these sessions used the context: {names_used} of the {names_told} files, commands and ids in it; {warnings}, {corrections}"
    )
}

/// A project is told by its last folder, unless two have the same.
fn told_name(row: &Figures, by: GroupBy, rows: &[Figures]) -> String {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let name = match by {
        GroupBy::Project if rows.iter().filter(|other| last(&other.name) == last(&row.name)).count() == 1 => last(&row.name),
        _ => row.name.clone(),
    };
    end_of(&one_line(&without_controls(&name)), MAX_NAME_CHARS)
}

/// Paths differ at their ends.
fn end_of(name: &str, most: usize) -> String {
    let chars = name.chars().count();
    if !name.contains('/') || chars <= most {
        shorten(name, most)
    } else {
        format!("…{}", name.chars().skip(chars + 1 - most).collect::<String>())
    }
}

fn headings(is_cost: bool) -> Vec<String> {
    let all: &[&str] = match is_cost {
        true => &["sessions", "input", "output", "to cache", "cached", "cost"],
        false => &["sessions", "turns", "commits", "files", "tokens", "cost"],
    };
    all.iter().map(|heading| (*heading).to_owned()).collect()
}

fn cells(row: &Figures, is_cost: bool) -> Vec<String> {
    let cost = row.told_cost(">");
    let figures = match is_cost {
        true => [short(row.input), short(row.output), short(row.cache_write), short(row.cache_read)],
        false => [row.turns.to_string(), row.commits.to_string(), row.files.to_string(), short(row.tokens())],
    };
    [row.sessions.to_string()].into_iter().chain(figures).chain([cost]).collect()
}

fn line(width: usize, name: &str, cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>9}")).collect();
    format!("{name:width$} {cells}")
}

/// By what rows are compared: what they cost, or what they took where no price is known.
fn measure(row: &Figures) -> f64 {
    if row.cost_usd > 0.0 { row.cost_usd } else { row.tokens() as f64 / 1e9 }
}

fn bar(value: f64, most: f64, room: usize) -> String {
    let columns = if room < MIN_BAR || most <= 0.0 { 0 } else { (value / most * room as f64).round() as usize };
    "█".repeat(columns)
}

/// A count in at most five characters.
fn short(count: u64) -> String {
    let in_unit = |unit: f64, name: &str| {
        let value = count as f64 / unit;
        if value < 99.95 { format!("{value:.1}{name}") } else { format!("{value:.0}{name}") }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..999_500 => in_unit(1e3, "k"),
        999_500..999_500_000 => in_unit(1e6, "M"),
        _ => in_unit(1e9, "G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let shown = [0, 999, 1_000, 12_345, 99_960, 999_499, 999_500, 3_140_000, 999_500_000].map(short);
        assert_eq!(shown, ["0", "999", "1.0k", "12.3k", "100k", "999k", "1.0M", "3.1M", "1.0G"]);
    }

    #[test]
    fn the_largest_has_the_whole_bar() {
        assert_eq!(
            [bar(2.0, 2.0, 10), bar(1.0, 2.0, 10), bar(0.0, 2.0, 10), bar(1.0, 2.0, 3), bar(0.0, 0.0, 9)]
                .map(|b| b.chars().count()),
            [10, 5, 0, 0, 0]
        );
    }
}
