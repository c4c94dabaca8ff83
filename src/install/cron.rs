//! Our block in a user's crontab. Pure; every other line stays, byte for byte.
//!
//! The environment stands in the command itself: an assignment on a line of its own would hold for the user's lines below it too.

use super::job::Job;
use super::quote::{cron, shell};
use super::schedule;

const BEGIN: &str = "# >>> recall >>>";
const END: &str = "# <<< recall <<<";
/// What cron takes as a command; it rejects the whole table for a longer one.
const MAX_COMMAND: usize = 990;

/// Our block: the line, between marks.
///
/// # Errors
/// When cron could not take the command.
pub fn block(job: &Job) -> Result<String, String> {
    // crontab(5) is at odds with itself on what becomes of one.
    if job.environment.iter().map(|(_, value)| value).chain([&job.program]).any(|value| value.contains('\\')) {
        return Err("cron cannot run a command with a backslash in a path".into());
    }
    let environment: String = job.environment.iter().map(|(name, value)| format!("{name}={} ", shell(value))).collect();
    // `env`, because the table may name a shell that has no assignments before a command. What is said on stderr is cron's to mail.
    let command = cron(&format!("/usr/bin/env {environment}nice -n 10 {} digest >/dev/null", shell(&job.program)));
    if command.len() > MAX_COMMAND {
        return Err(format!(
            "the command has {} characters, and cron takes {MAX_COMMAND}: shorten the paths in it, {command}",
            command.len()
        ));
    }
    Ok(format!(
        "{BEGIN}\n# Written by `recall install`; `recall uninstall` takes it out.\n{} {command}\n{END}\n",
        schedule::cron(job.schedule)
    ))
}

/// The table with this block: in the place of the one it has, else at the end.
///
/// # Errors
/// When a block has no end.
pub fn add(table: &str, block: &str) -> Result<String, String> {
    let pieces = pieces(table)?;
    let rest: String = pieces.after.iter().copied().collect();
    if pieces.ours.is_empty() {
        let newline = if table.is_empty() || table.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{table}{newline}{block}"));
    }
    Ok(format!("{}{block}{rest}", pieces.before))
}

/// The table without our block.
///
/// # Errors
/// When a block has no end.
pub fn remove(table: &str) -> Result<String, String> {
    let pieces = pieces(table)?;
    Ok(format!("{}{}", pieces.before, pieces.after.concat()))
}

/// The block the table has.
pub fn find(table: &str) -> Option<String> {
    pieces(table).ok().and_then(|p| p.ours.first().map(|block| (*block).to_owned()))
}

/// The five fields of the block's line.
pub fn fields(block: &str) -> Option<String> {
    let line = block.lines().find(|l| !l.starts_with('#') && !l.trim().is_empty())?;
    Some(line.split_whitespace().take(5).collect::<Vec<_>>().join(" "))
}

struct Pieces<'t> {
    before: &'t str,
    ours: Vec<&'t str>,
    /// What stands behind each block.
    after: Vec<&'t str>,
}

fn pieces(table: &str) -> Result<Pieces<'_>, String> {
    let line_at = |text: &str, mark: &str| {
        let mut at = 0;
        text.split_inclusive('\n').find_map(|line| {
            let start = at;
            at += line.len();
            (line.trim_end() == mark).then_some(start..at)
        })
    };
    let Some(begin) = line_at(table, BEGIN) else { return Ok(Pieces { before: table, ours: Vec::new(), after: Vec::new() }) };
    let end = line_at(&table[begin.start..], END)
        .ok_or_else(|| format!("the crontab has `{BEGIN}` without `{END}`: take our lines out with `crontab -e`"))?;
    let (ours, rest) = table[begin.start..].split_at(end.end);
    let further = pieces(rest)?;
    Ok(Pieces {
        before: &table[..begin.start],
        ours: [vec![ours], further.ours].concat(),
        after: [vec![further.before], further.after].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::job;
    use proptest::prelude::*;

    #[test]
    fn the_line_holds_all_that_cron_lacks() {
        insta::assert_snapshot!(block(&job::odd()).unwrap());
    }

    #[test]
    fn a_command_cron_would_reject_is_refused() {
        let long = Job { program: format!("/{}", "x".repeat(1000)), ..job::odd() };
        assert!(block(&long).unwrap_err().contains("990"));
        assert!(block(&Job { program: r"/a\b".into(), ..job::odd() }).is_err());
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
            let block = block(&job::odd()).unwrap();
            let added = add(&table, &block).unwrap();
            prop_assert_eq!(find(&added), Some(block.clone()));
            prop_assert_eq!(add(&added, &block).unwrap(), added.clone());
            prop_assert_eq!(remove(&added).unwrap(), table);
        }
    }
}
