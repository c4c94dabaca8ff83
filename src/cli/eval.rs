//! `recall eval`: was the memory worth its tokens, on the user's own sessions?

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::eval::{EvalReply, EvalRequest, Hits, Told, eval};
use crate::cli::args::EvalArgs;
use crate::config::Config;
use text::clean::counted;

pub(crate) fn run(args: &EvalArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let reply = eval(config, &EvalRequest { project: args.project.as_deref(), since: args.since.as_deref() })?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?,
        false => write!(out, "{}", table(&reply))?,
    }
    Ok(Completion::Done)
}

fn table(reply: &EvalReply) -> String {
    let EvalReply { sessions, first_of_project, told, files, checks, said_again, overtaken, overtaken_alone, starts, prompts } =
        reply;
    if *sessions == 0 {
        return "no session to replay: none is digested that fits\n".into();
    }
    let earlier = match first_of_project {
        0 => String::new(),
        n => format!("; for {n} of them, the project had no earlier session"),
    };
    format!(
        "{} replayed, each with what came before it{earlier}\n\
         got context        {told:>6} of {sessions}{}\n\n\
         what the sessions then did\n\
         edited files       {}\n\
         ran checks         {}\n\
         repeated           {said_again} of {told}{} said something again that was in their context\n\n\
         outdated statements in the context: {overtaken} ({overtaken_alone} without the newer statement)\n\n\
         tokens (estimated)\n\
         at a start         {}\n\
         at a prompt        {}\n",
        counted(*sessions, "session"),
        percent(*told, *sessions),
        hits(files),
        hits(checks),
        percent(*said_again, *told),
        tokens(starts),
        tokens(prompts),
    )
}

fn hits(Hits { all, known, told }: &Hits) -> String {
    format!("{all}, of them {known} in earlier sessions, too; the context named {told} of those{}", percent(*told, *known))
}

fn tokens(Told { all, told, tokens, most_tokens }: &Told) -> String {
    let mean = tokens.checked_div(*told).unwrap_or_default();
    format!("{mean:>4} on average, {most_tokens} at most; {told} of {all}{} got context", percent(*told, *all))
}

/// ` (12 %)`; nothing of nothing.
fn percent(part: usize, whole: usize) -> String {
    (part * 100 + whole / 2).checked_div(whole).map(|share| format!(" ({share} %)")).unwrap_or_default()
}
