//! One file per verb. Every error ends here, as a message and an exit code.

mod agents;
pub(crate) mod args;
mod close;
mod config;
mod context;
mod day;
mod digest;
mod doctor;
mod embed;
mod eval;
mod examples;
mod export;
mod fix;
mod forget;
mod friction;
mod how;
mod import;
mod install;
mod list;
mod manual;
mod numbers;
mod overview;
mod pause;
mod reading;
mod redact;
mod remember;
mod report;
mod resume;
mod rules;
mod search;
mod search_list;
#[cfg(feature = "web")]
mod serve;
mod share;
mod show;
mod stats;
mod status;
#[cfg(feature = "sync")]
mod sync;
mod team;
mod timeline;
pub(crate) mod todo;
mod topic;
mod uninstall;
mod why;
mod wrong;

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::FromArgMatches;

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::consent;
use crate::app::open_memory::{OpenMemory, explained};
#[cfg(feature = "sync")]
use crate::cli::args::SyncAction;
use crate::cli::args::{Cli, Command, TeamAction};
use crate::config::{Config, agent, pause as paused};
use crate::sys::messages;
use crate::sys::terminal_escape::TerminalEscaper;

/// Parses the command line and runs the command. Exit codes: 0 done, 1 something was skipped, 2 could not run.
pub fn run() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "hook") {
        return crate::hook::run(&words.collect::<Vec<_>>());
    }
    let words = std::env::args_os().map(pasted_as_text);
    let cli = Cli::from_arg_matches(&overview::command().get_matches_from(words)).unwrap_or_else(|e| e.exit());
    // Not locked: the MCP server writes to stdout from another thread.
    let screen = TerminalEscaper::new(io::stdout(), io::stdout().is_terminal());
    let screen = if cli.command.changes_something() { screen.keep_going() } else { screen };
    let mut out = io::BufWriter::new(screen);
    let ended = dispatch(cli.command, &mut out).and_then(|ended| Ok(out.flush().map(|()| ended)?));
    match ended.map(|ended| if output_printed(out.get_ref()) { ended } else { Completion::Partly }) {
        Ok(Completion::Done) => ExitCode::SUCCESS,
        Ok(Completion::Partly) => ExitCode::from(1),
        Err(e) if is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            messages::report(format!("{e:#}"));
            ExitCode::from(2)
        }
    }
}

/// The id of the session that `last`, `-2` or an id means, seen from this folder. If that is of another project, the user is told.
fn meant(memory: &OpenMemory, config: &Config, word: &str) -> Result<String> {
    let meant = crate::app::list::meant(memory, &Asker::here(config).project(), word)?;
    if let Some(project) = meant.elsewhere {
        messages::report(format!("this folder has no sessions, so `{word}` means a session of {project}"));
    }
    Ok(meant.id)
}

/// Pasted text such as `--- FAIL: TestPages (0.00s)` is no option: a space before it says so to the parser, and nothing else looks at it.
fn pasted_as_text(word: OsString) -> OsString {
    let is_text = |text: &str| {
        let first = text.split(' ').next().unwrap_or_default();
        text.starts_with('-') && first.len() < text.len() && !first.contains('=')
    };
    match word.to_str().filter(|text| is_text(text)) {
        Some(text) => format!(" {text}").into(),
        None => word,
    }
}

/// What a command does that only a person may decide, because an agent may have been talked into it. `remember` and `close` have
/// limits of their own. The match names every command, so that a new one has to be considered.
fn needs_person(command: &Command) -> Option<&'static str> {
    match command {
        // `--this` is exempt: an agent may forget its own session, if that is live here, which the command itself sees to.
        Command::Forget(args) if !args.dry_run && !args.what.this => Some("delete something from the memory for good"),
        Command::Doctor(args) if args.keep_transcripts.is_some() => Some("change for how long Claude Code keeps transcripts"),
        Command::Doctor(args) if args.seen => Some("mark the doctor's warnings as seen"),
        Command::Pause(args) if args.off || args.time.is_some() => Some("pause recall, or end a pause"),
        Command::Wrong(_) if command.changes_something() => Some("hide a statement about a session, or show it again"),
        Command::Rules(_) if command.changes_something() => Some("keep or dismiss a rule"),
        Command::Remember(args) if args.edit.is_some() => Some("change a note"),
        Command::Install(args) if args.allow && !args.dry_run => Some("let agents call recall without asking you"),
        Command::Import(_) => Some("import a file"),
        // Its pages can forget and close, and show what may be shown to a person.
        #[cfg(feature = "web")]
        Command::Serve(_) => Some("show the memory in a browser"),
        #[cfg(feature = "sync")]
        Command::Sync(args) => match args.action {
            // A digest does the same.
            None | Some(SyncAction::Status { .. }) => None,
            Some(_) => Some("change with which machines the memory is shared"),
        },
        Command::Team(args) => match args.action {
            None if args.yes => Some("agree to what a team gets"),
            // A digest does the same.
            None | Some(TeamAction::Status { .. }) => None,
            Some(_) => Some("change what is shared with a team"),
        },
        Command::Share(_) if command.changes_something() => Some("write or delete your team's files in the repository"),
        Command::Embed(args) if args.action.is_some() => Some("change the model for search by meaning"),
        Command::Uninstall(args) if args.purge && !args.dry_run => Some("delete the whole memory"),
        Command::Pause(_) | Command::Forget(_) | Command::Uninstall(_) | Command::Remember(_) | Command::Close(_) => None,
        Command::Wrong(_) | Command::Rules(_) | Command::Eval(_) | Command::Embed(_) | Command::Share(_) => None,
        Command::Digest(_) | Command::Install(_) | Command::Doctor(_) | Command::Search(_) | Command::Show(_) => None,
        Command::Fix(_) | Command::How(_) | Command::Friction(_) => None,
        Command::Day(_) | Command::List(_) | Command::Stats(_) | Command::Todo(_) | Command::Report(_) | Command::Resume(_) => None,
        Command::Why(_) | Command::Timeline(_) | Command::Context(_) | Command::Mcp | Command::Status(_) | Command::Config(_) => {
            None
        }
        Command::Export(_) | Command::Redact(_) | Command::Completions(_) | Command::Man(_) => None,
    }
}

/// The memory as it may be shown to a reader working in the current folder.
fn open_memory(config: &Config) -> Result<OpenMemory> {
    Asker::here(config).memory()
}

/// Whether a command shows what is remembered, or remembers something. While recall is off, agents may do neither.
fn uses_memory(command: &Command) -> bool {
    match command {
        Command::Search(_) | Command::Show(_) | Command::Timeline(_) | Command::Context(_) | Command::Export(_) => true,
        Command::Close(_) | Command::Remember(_) | Command::Fix(_) | Command::How(_) | Command::Friction(_) => true,
        Command::Why(_) | Command::Wrong(_) | Command::Rules(_) | Command::Share(_) => true,
        Command::Team(args) => args.dry_run || matches!(args.action, Some(TeamAction::Status { .. })),
        Command::Day(_) | Command::List(_) | Command::Stats(_) | Command::Todo(_) | Command::Report(_) | Command::Resume(_) => true,
        Command::Doctor(args) => args.memory,
        #[cfg(feature = "web")]
        Command::Serve(_) => true,
        #[cfg(feature = "sync")]
        Command::Sync(_) => false,
        // The server answers each request with that itself.
        Command::Mcp => false,
        Command::Digest(_) | Command::Install(_) | Command::Uninstall(_) | Command::Forget(_) => false,
        Command::Pause(_) | Command::Status(_) | Command::Config(_) | Command::Import(_) | Command::Redact(_) => false,
        Command::Completions(_) | Command::Man(_) | Command::Eval(_) | Command::Embed(_) => false,
    }
}

/// Reports a command whose work is done but whose output could not be printed. A closed pipe does not count: its reader chose to
/// stop.
fn output_printed(screen: &TerminalEscaper<io::Stdout>) -> bool {
    let unheard = screen.first_error().filter(|e| e.kind() != ErrorKind::BrokenPipe);
    unheard.inspect(|e| messages::report(format!("done, but cannot print the result: {e}"))).is_none()
}

fn dispatch(command: Command, out: &mut impl Write) -> Result<Completion> {
    if let (Some(what), Some(agent)) = (needs_person(&command), agent()) {
        consent::ask(&agent.name, what)?;
    }
    let config = Config::load();
    if let Ok(config) = &config
        && agent().is_some()
        && uses_memory(&command)
    {
        paused::check(config)?;
    }
    let index = config.as_ref().map(Config::database).ok();
    let ended = match command {
        // Doctor reports an unreadable config itself.
        Command::Doctor(args) => doctor::run(&args, config, out),
        // There may be no file yet where the variable says.
        Command::Config(args) if args.init => self::config::init(out),
        // Run while packages are built, where there may be no home.
        Command::Completions(args) => manual::completions(&args, out),
        Command::Man(args) => manual::pages(&args, out),
        Command::Digest(args) => digest::run(args, config?, out),
        Command::Install(args) => install::run(&args, &config?, out),
        Command::Uninstall(args) => uninstall::run(&args, &config?, out),
        Command::Search(args) => search::run(&args, &config?, out),
        Command::Show(args) => show::run(&args, &config?, out),
        Command::Day(args) => day::run(&args, &config?, out),
        Command::List(args) => list::run(&args, &config?, out),
        Command::Stats(args) => stats::run(&args, &config?, out),
        Command::Todo(args) => todo::run(&args, &config?, out),
        Command::Report(args) => report::run(&args, &config?, out),
        Command::Resume(args) => resume::run(&args, &config?, out),
        Command::Timeline(args) => timeline::run(&args, &config?, out),
        Command::Context(args) => self::context::run(&args, &config?, out),
        #[cfg(feature = "web")]
        Command::Serve(args) => serve::run(&args, config?, out),
        #[cfg(feature = "sync")]
        Command::Sync(args) => self::sync::run(&args, &config?, out),
        Command::Share(args) => share::run(&args, &config?, out),
        Command::Team(args) => team::run(&args, &config?, out),
        Command::Mcp => crate::mcp::serve(config?).map(|()| Completion::Done),
        Command::Close(args) => close::run(&args, &config?, out),
        Command::Fix(args) => fix::run(&args, &config?, out),
        Command::Friction(args) => friction::run(&args, &config?, out),
        Command::How(args) => how::run(&args, &config?, out),
        Command::Why(args) => why::run(&args, &config?, out),
        Command::Embed(args) => embed::run(&args, &config?, out),
        Command::Eval(args) => eval::run(&args, &config?, out),
        Command::Rules(args) => rules::run(&args, &config?, out),
        Command::Wrong(args) => wrong::run(&args, &config?, out),
        Command::Remember(args) => remember::run(&args, &config?, out),
        Command::Pause(args) => pause::run(&args, &config?, out),
        Command::Forget(args) => forget::run(args, &config?, out),
        Command::Status(args) => status::run(&args, &config?, out),
        Command::Config(args) => self::config::run(&args, &config?, out),
        Command::Export(args) => export::run(&args, &config?, out),
        Command::Import(args) => import::run(&args, &config?, out),
        Command::Redact(args) => redact::run(&args, &config?, out),
    };
    ended.map_err(|e| match &index {
        Some(index) => explained(e, index),
        None => e,
    })
}

/// The reader of our output closed the pipe, which is not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| {
        let direct = e.downcast_ref::<io::Error>().map(io::Error::kind);
        let through_json = e.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        direct.or(through_json) == Some(ErrorKind::BrokenPipe)
    })
}
