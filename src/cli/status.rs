//! `recall status`: what is stored, what is waiting, and why.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::open_memory::OpenMemory;
use crate::app::status::{BadLine, Failing, Reason, ReceiptCounts, Status, Vectors, problems, status};
use crate::cli::agents;
use crate::cli::args::StatusArgs;
use crate::config::Config;
use crate::policy::View;
use text::clean;
use text::clean::{counted, size};
use transcripts::source::NO_TYPE;

/// Bad lines that are listed; the others are only counted.
const MAX_LISTED: usize = 10;

pub(crate) fn run(args: &StatusArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = OpenMemory::if_there(config, View::Owner)?;
    let status = status(memory.as_ref(), config, MAX_LISTED)?;
    drop(memory);
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&status)?)?;
    } else {
        print(&status, config, out)?;
        print_problems(config, out)?;
    }
    Ok(Completion::Done)
}

/// One line per problem that `recall doctor` would report, as far as it can be found quickly.
fn print_problems(config: &Config, out: &mut impl Write) -> Result<()> {
    let problems = problems(config)?;
    for finding in &problems {
        writeln!(out, "{:<11} {}", finding.about, line(&finding.found))?;
    }
    if !problems.is_empty() {
        writeln!(out, "            `recall doctor` says what to do")?;
    }
    Ok(())
}

fn print(status: &Status, config: &Config, out: &mut impl Write) -> Result<()> {
    let time = |at| config.local_time(Some(at), "%Y-%m-%d %H:%M");
    let ran = status.last_run.as_ref().map_or_else(|| "never".into(), |run| time(run.at));
    let so_far = match status.interim_digests {
        0 => String::new(),
        interim => format!(", {interim} of them cover only the first part, because the session is still running"),
    };
    let imported = match status.from_claude_mem {
        0 => String::new(),
        count => format!(", {count} from claude-mem"),
    };
    let from_others = match status.from_other_machines {
        0 => String::new(),
        1 => ", 1 from another machine".to_owned(),
        count => format!(", {count} from other machines"),
    };
    writeln!(out, "data        {}", config.data_dir.display())?;
    writeln!(
        out,
        "index       {} for {} of transcripts in {}",
        size(status.database_bytes),
        size(status.transcript_bytes.unsigned_abs()),
        counted(status.files as usize, "file")
    )?;
    if let Some(copy) = &status.copy {
        writeln!(out, "index copy  {}, made {}", size(copy.bytes), time(copy.at))?;
    }
    writeln!(
        out,
        "sessions    {}, {} digested ({} by the model, {} without it{imported}{so_far}){from_others}",
        status.sessions,
        status.digests,
        status.by_model,
        status.digests - status.by_model - status.from_claude_mem
    )?;
    for (n, agent) in status.agents.iter().enumerate() {
        let label = if n == 0 { "agents" } else { "" };
        writeln!(out, "{label:<12}{}", agents::line(agent, config))?;
    }
    for (n, agent) in status.agents.iter().enumerate() {
        let label = if n == 0 { "model" } else { "" };
        writeln!(out, "{label:<12}{}: {}", agent.agent.name(), line(&agent.destination.text()))?;
    }
    if status.notes > 0 {
        writeln!(out, "notes       {}", counted(status.notes as usize, "note"))?;
    }
    writeln!(out, "waiting     {}", waiting(status))?;
    print_reasons("", &status.waiting_reasons, out)?;
    print_reasons("no model", &status.without_model_reasons, out)?;
    if let Some(Vectors { model, dims, embedded, of, .. }) = &status.vectors {
        let model = line(model);
        writeln!(out, "vectors     {embedded} of {of} sessions and notes, by {model} ({dims} dimensions)")?;
    }
    if let told @ ReceiptCounts { told: 1.., .. } = &status.receipts {
        writeln!(out, "context     {}", told_and_used(told))?;
        if told.warnings_told > 0 {
            writeln!(out, "            {}", warnings(told))?;
        }
        if told.corrections_repeated > 0 {
            writeln!(out, "            {}", corrections(told))?;
        }
    }
    let spent = if status.spent_usd > 0.0 { format!("${:.4}", status.spent_usd) } else { "nothing".to_owned() };
    writeln!(out, "spent       {spent} on the model in total, at list price")?;
    writeln!(out, "last digest {ran}")?;
    if let Some(running) = &status.running {
        writeln!(out, "now         {} (since {})", running.in_words(), time(running.since))?;
    }
    print_skipped(status, out)
}

/// What the next digests have to do.
fn waiting(status: &Status) -> String {
    let sessions = |count: i64| counted(count as usize, "session");
    let all = [
        (status.waiting_for_digest > 0).then(|| format!("{} for a digest", sessions(status.waiting_for_digest))),
        (status.waiting_for_model > 0).then(|| format!("{} for the model", sessions(status.waiting_for_model))),
        (status.marks_waiting > 0).then(|| format!("{} left by hooks", counted(status.marks_waiting, "mark"))),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

/// What came of what sessions were told.
pub(super) fn told_and_used(counts: &ReceiptCounts) -> String {
    let ReceiptCounts { told, used, files_told, files_used, checks_told, checks_used, looked_up, .. } = counts;
    let sessions = counted(*told as usize, "session");
    if *used == 0 {
        return format!("{sessions} got context, and none was seen to use it");
    }
    format!(
        "{sessions} got context, {used} of them used some of it: {files_used} of {files_told} files opened, {checks_used} of {checks_told} checks \
         run, {looked_up} sessions and notes looked up"
    )
}

/// What came of what sessions were told not to run.
pub(super) fn warnings(counts: &ReceiptCounts) -> String {
    format!("{} of {} ignored", counts.warnings_passed_over, counted(counts.warnings_told as usize, "warning"))
}

/// What the user had to say once more.
pub(super) fn corrections(counts: &ReceiptCounts) -> String {
    format!("{} repeated by the user", counted(counts.corrections_repeated as usize, "correction"))
}

/// How many sessions each reason holds for, the first behind the label.
fn print_reasons(label: &str, reasons: &[Reason], out: &mut impl Write) -> Result<()> {
    for (n, Reason { why, sessions }) in reasons.iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        writeln!(out, "{label:<12}{sessions}: {}", line(why))?;
    }
    Ok(())
}

/// What was not digested, not readable or of unknown type, and why.
fn print_skipped(status: &Status, out: &mut impl Write) -> Result<()> {
    print_reasons("skipped", &status.skipped, out)?;
    for Failing { session, failures, error } in &status.failing {
        writeln!(out, "failing     {}: {failures} times, last: {}", line(session), line(error))?;
    }
    if status.bad_lines > 0 {
        writeln!(out, "unreadable  {}", status.bad_lines)?;
        for BadLine { path, offset, why } in &status.bad_lines_at {
            writeln!(out, "            {} at byte {offset}: {why}", line(path))?;
        }
    }
    for (name, rows) in &status.unknown_rows {
        let of_type = if name == NO_TYPE { "without a type".to_owned() } else { format!("of type {}", line(name)) };
        writeln!(out, "unknown     {} {of_type}", counted(*rows as usize, "line"))?;
    }
    Ok(())
}

/// The text on one line and without terminal escapes, so that it cannot fake a line of output.
fn line(text: &str) -> String {
    clean::one_line(&clean::without_controls(text))
}
