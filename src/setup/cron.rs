//! Our block in a user's crontab. Pure; every other line stays byte for byte.
//!
//! The variables are part of the command: an assignment on a line of its own would also hold for the user's lines below it.

use super::marked_block::{Marks, Unclosed};
use super::quote::{cron, shell};
use super::timer_calendar;
use super::timer_job::TimerJob;

const BEGIN: &str = "# >>> recall >>>";
const END: &str = "# <<< recall <<<";
const MARKS: Marks = Marks { begin: BEGIN, end: END };
/// The longest command that cron takes, in bytes; it rejects the whole table for a longer one.
const MAX_COMMAND: usize = 990;

/// Our block: the line between its two marks.
///
/// # Errors
/// When cron cannot run the command.
pub(crate) fn block(job: &TimerJob) -> Result<String, String> {
    // crontab(5) contradicts itself on what becomes of a backslash.
    if job.environment.iter().map(|(_, value)| value).chain([&job.program]).any(|value| value.contains('\\')) {
        return Err("cron cannot run a command with a backslash in a path".into());
    }
    let environment: String = job.environment.iter().map(|(name, value)| format!("{name}={} ", shell(value))).collect();
    // `env`, because the table may name a shell that has no assignments before a command. cron mails what is printed on stderr.
    let command = cron(&format!("/usr/bin/env {environment}nice -n 10 {} digest >/dev/null", shell(&job.program)));
    if command.len() > MAX_COMMAND {
        return Err(format!(
            "the command has {} characters, and cron takes {MAX_COMMAND}: shorten the paths in it, {command}",
            command.len()
        ));
    }
    Ok(format!(
        "{BEGIN}\n# Written by `recall install`; `recall uninstall` takes it out.\n{} {command}\n{END}\n",
        timer_calendar::cron(job.schedule)
    ))
}

/// The table with this block, in the place of the one it has, else at the end.
///
/// # Errors
/// When it cannot be told where a block ends.
pub fn add(table: &str, block: &str) -> Result<String, String> {
    MARKS.add(table, block).map_err(refusal)
}

/// The table without our block.
///
/// # Errors
/// When it cannot be told where a block ends.
pub fn remove(table: &str) -> Result<String, String> {
    MARKS.remove(table).map_err(refusal)
}

/// The block the table has.
pub fn find(table: &str) -> Option<String> {
    MARKS.find(table)
}

/// The five fields of the block's line.
pub fn fields(block: &str) -> Option<String> {
    let line = block.lines().find(|l| !l.starts_with('#') && !l.trim().is_empty())?;
    Some(line.split_whitespace().take(5).collect::<Vec<_>>().join(" "))
}

fn refusal(_: Unclosed) -> String {
    format!("the crontab has `{BEGIN}` without `{END}`: take our lines out with `crontab -e`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::timer_job;
    use proptest::prelude::*;

    #[test]
    fn the_line_holds_all_that_cron_lacks() {
        insta::assert_snapshot!(block(&timer_job::odd()).unwrap());
    }

    #[test]
    fn a_command_cron_would_reject_is_refused() {
        let long = TimerJob { program: format!("/{}", "x".repeat(1000)), ..timer_job::odd() };
        assert!(block(&long).unwrap_err().contains("990"));
        assert!(block(&TimerJob { program: r"/a\b".into(), ..timer_job::odd() }).is_err());
    }

    #[test]
    fn an_older_block_is_replaced_where_it_stands() {
        let table = format!("MAILTO=me\n{BEGIN}\nold\n{END}\n0 5 * * * theirs\n{BEGIN}\nolder\n{END}\n");
        assert_eq!(add(&table, "new\n").unwrap(), "MAILTO=me\nnew\n0 5 * * * theirs\n");
        assert_eq!(remove(&table).unwrap(), "MAILTO=me\n0 5 * * * theirs\n");
        assert!(add(&format!("{BEGIN}\n0 5 * * * theirs\n"), "new\n").unwrap_err().contains("crontab -e"));
        let cut = format!("{BEGIN}\nold\n0 5 * * * theirs\n{BEGIN}\nolder\n{END}\n");
        assert!(add(&cut, "new\n").is_err() && remove(&cut).is_err() && find(&cut).is_none(), "their line is in neither block");
    }

    proptest! {
        #[test]
        fn the_users_lines_stay(lines in prop::collection::vec("[ -~äß]{0,20}", 0..6)) {
            let table: String = lines.iter().map(|l| format!("{l}\n")).collect();
            let block = block(&timer_job::odd()).unwrap();
            let added = add(&table, &block).unwrap();
            prop_assert_eq!(find(&added), Some(block.clone()));
            prop_assert_eq!(add(&added, &block).unwrap(), added.clone());
            prop_assert_eq!(remove(&added).unwrap(), table);
        }
    }
}
