//! The command line: types and help text.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::app::search::FOR_PERSON;
use crate::app::stats::GroupBy;
use crate::cli::numbers::{agent, count, dollars, some, within};
use crate::config::SummarizerChoice;
use crate::model::note::NoteKind;
use crate::render::report::ReportFor;
use crate::setup::{InstallScope, TimerChoice};
use transcripts::client::Client;

/// A memory for Claude Code and other coding agents: turns new transcripts into daily pages and a searchable index.
#[derive(Debug, Parser)]
#[command(name = "recall", version = env!("RECALL_VERSION"), max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read new transcripts, digest finished sessions, write the pages
    Digest(DigestArgs),
    /// Add a digest timer, and hooks to Claude Code or another agent
    Install(InstallArgs),
    /// Remove the hooks and the timer
    Uninstall(UninstallArgs),
    /// Check the installation; suggest fixes, or make them (`--fix`)
    Doctor(DoctorArgs),
    /// Search sessions and notes
    Search(SearchArgs),
    /// What was done today, yesterday, on a date or in the last 7 days
    Day(DayArgs),
    /// List sessions, the last active first
    List(ListArgs),
    /// Count sessions, commits, tokens and cost by day, project and more
    Stats(StatsArgs),
    /// Continue a session in its agent
    Resume(ResumeArgs),
    /// What is open: next steps, todos and unfinished sessions
    Todo(TodoArgs),
    /// What was done, as text for a standup, a PR or a changelog
    Report(ReportArgs),
    /// Show a session: in brief, in full, or its transcript
    Show(ShowArgs),
    /// What came before and after a session in its project
    Timeline(TimelineArgs),
    /// What a new session starts with, or what is known on a topic
    Context(ContextArgs),
    /// What was last said on a topic, and what it replaced
    Why(WhyArgs),
    /// Replay your sessions and measure how useful the memory would have been
    Eval(EvalArgs),
    /// Instructions you keep repeating, to accept or dismiss
    Rules(RulesArgs),
    /// Where an error occurred, and what was done until a rerun passed
    Fix(FixArgs),
    /// The commands that passed in this project, and how often
    How(HowArgs),
    /// Repeated errors, and how long until the command succeeded
    Friction(FrictionArgs),
    /// Serve the memory over the Model Context Protocol (stdin and stdout)
    Mcp,
    /// Show the memory in a browser
    #[cfg(feature = "web")]
    Serve(ServeArgs),
    /// Mark an open item as done
    Close(CloseArgs),
    /// Hide a wrong statement
    Wrong(WrongArgs),
    /// Keep a note: a convention, a decision, a fact, a todo
    Remember(RememberArgs),
    /// Delete sessions, or everything that contains a text, for good
    Forget(ForgetArgs),
    /// For a while, record no new sessions and give no context
    Pause(PauseArgs),
    /// What is stored, what is waiting and why
    Status(StatusArgs),
    /// Print the configuration and where each value comes from
    Config(ConfigArgs),
    /// Install an embedding model, so that search also compares meaning
    Embed(EmbedArgs),
    /// Exchange digests and notes between your machines
    ///
    /// Each machine keeps its own index. Digests and notes travel through a shared folder, an ssh host or a bucket (a "place"); transcripts
    /// stay where they are. Without a subcommand, `recall sync` exchanges now; each `recall digest` does so, too.
    #[cfg(feature = "sync")]
    Sync(SyncArgs),
    #[cfg_attr(feature = "team", doc = "Exchange with your team over a PostgreSQL server")]
    #[cfg_attr(not(feature = "team"), doc = "Exchange with your team over a server (not in this build)")]
    ///
    /// Your notes, commands that pass, fixes of errors and digests go to the server; transcripts never do. Nothing of a project leaves this
    /// machine unless your config says `share = true` for it: see `recall team join`. Without a subcommand, exchange with the server now;
    /// each `recall digest` does so, too. Before it first sends anything of a project, it lists that and asks.
    Team(TeamArgs),
    /// Write notes, passing commands and fixed errors as files into this repository, for your team
    ///
    /// Without an ID, it lists what the repository does not have yet: your notes on this project, commands that pass, and errors with their fixes. With
    /// IDs, it writes those to `.recall/` as plain text: review and commit them like code. `--remove` deletes such files again.
    Share(ShareArgs),
    /// Write everything stored to stdout as JSON lines
    Export(ExportArgs),
    /// Import what `recall export` wrote, or the database of claude-mem
    Import(ImportArgs),
    /// Show what redaction removes from a text (stdin to stdout)
    Redact(RedactArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page, or write all pages to a folder
    Man(ManArgs),
}

impl Command {
    /// Does it do more than print? Then it goes on to its end, whoever reads what it prints.
    pub(crate) fn changes_something(&self) -> bool {
        match self {
            Self::Digest(args) => !args.dry_run,
            Self::Install(args) => !args.dry_run,
            Self::Forget(args) => !args.dry_run,
            Self::Doctor(args) => args.fix || args.seen || args.keep_transcripts.is_some(),
            Self::Man(args) => args.dir.is_some(),
            Self::Uninstall(args) => !args.dry_run,
            Self::Wrong(args) => {
                args.undo || !args.reply.is_empty() || args.ids.iter().any(|id| crate::app::wrong::is_statement_id(id))
            }
            Self::Config(args) => args.init,
            Self::Share(args) => args.all || !args.ids.is_empty() || !args.remove.is_empty(),
            Self::Embed(args) => args.action.is_some(),
            Self::Rules(args) => args.accept.is_some() || args.dismiss.is_some(),
            Self::Remember(args) => !args.text.is_empty() || args.edit.is_some(),
            Self::Close(_) | Self::Import(_) | Self::Pause(_) => true,
            #[cfg(feature = "web")]
            Self::Serve(_) => true,
            Self::Team(args) => {
                !args.dry_run && !matches!(args.action, Some(TeamAction::Status { .. } | TeamAction::Records { .. }))
            }
            #[cfg(feature = "sync")]
            Self::Sync(args) => !matches!(args.action, Some(SyncAction::Status { .. } | SyncAction::Key { output: None })),
            Self::Search(_)
            | Self::Show(_)
            | Self::Day(_)
            | Self::List(_)
            | Self::Stats(_)
            | Self::Todo(_)
            | Self::Report(_)
            | Self::Resume(_)
            | Self::Timeline(_)
            | Self::Why(_)
            | Self::Eval(_)
            | Self::Fix(_)
            | Self::How(_)
            | Self::Friction(_)
            | Self::Context(_)
            | Self::Mcp
            | Self::Status(_)
            | Self::Export(_)
            | Self::Redact(_)
            | Self::Completions(_) => false,
        }
    }
}

#[derive(Debug, Args, Default)]
pub(crate) struct DigestArgs {
    /// Only sessions active since then: 7d, 12h, 2w, a date like 2026-01-31, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only this session, by id or prefix, even if not idle long enough or already digested
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Digest at most this many sessions
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: Option<usize>,
    /// With `--summarizer claude`: digest only the newest N of the sessions that have no digest by the model
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count, requires = "summarizer", conflicts_with = "session")]
    pub(crate) newest: Option<usize>,
    /// Spend at most this much on the model in this run
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Number of reader threads (default: one per core)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) jobs: Option<usize>,
    /// Read new transcripts but digest nothing; costs nothing
    #[arg(long)]
    pub(crate) ingest_only: bool,
    /// Apart from the terminal, at low priority and for a bounded time: for hooks
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// What writes the digests (default: `digest.summarizer` in the config). `claude` also redoes the digests
    /// that were made without the model; `auto` leaves them as they are
    #[arg(long, value_enum)]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// Only digest sessions idle for this long (default: `digest.settle_minutes` in the config, 10m), or for 30 seconds if a hook
    /// reported the session's end
    #[arg(long, value_name = "TIME")]
    pub(crate) settle: Option<String>,
    /// Show what would be read, digested and skipped, and the cost; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With `--dry-run`: name all sessions, not only the newest ten of each kind
    #[arg(long, requires = "dry_run")]
    pub(crate) verbose: bool,
    /// Rebuild all pages from the index
    #[arg(long)]
    pub(crate) rebuild_pages: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// A Claude Code config directory to read instead of $CLAUDE_CONFIG_DIR or ~/.claude; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) claude_dir: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which agent to install for: claude-code, cline, codex, copilot-cli, cursor, gemini, opencode, pi, qwen-code, antigravity, windsurf; with `--mcp` also vscode-copilot
    #[arg(long, value_name = "NAME", value_parser = agent, default_value = "claude-code")]
    pub(crate) agent: Client,
    /// Install for every agent that is used here: show each change, and ask before making it
    #[arg(long, conflicts_with_all = ["agent", "scope", "allow"])]
    pub(crate) all: bool,
    /// Install without asking: only `--all` asks
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Which sessions of Claude Code get the hooks
    #[arg(long, value_enum, default_value_t = InstallScope::User)]
    pub(crate) scope: InstallScope,
    /// What starts the digest (default: your last choice, else `auto`); `schedule` in the config sets how often
    #[arg(long, value_enum)]
    pub(crate) timer: Option<TimerChoice>,
    /// Let the agent search the memory itself: register the MCP server `recall mcp` for the same sessions
    #[arg(long)]
    pub(crate) mcp: bool,
    /// With `--mcp`, for Claude Code: add `mcp__recall` to `permissions.allow`, so that it does not ask before each call
    #[arg(long, requires = "mcp")]
    pub(crate) allow: bool,
    /// Show every diff and command; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Remove only this agent's hooks, MCP server and rule, and keep the timer: claude-code, cline, codex, copilot-cli, cursor, gemini, opencode, pi, qwen-code, antigravity, vscode-copilot or windsurf
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with_all = ["purge", "scope"])]
    pub(crate) agent: Option<Client>,
    /// Remove only Claude Code's hooks and MCP server of this scope, and keep the timer. Without `--scope` and `--agent`: remove everything
    /// that you installed in all projects, and the timer; hooks that somebody else added to a project's settings stay
    #[arg(long, value_enum, conflicts_with = "purge")]
    pub(crate) scope: Option<InstallScope>,
    /// Delete the data folder too, with the index and the pages
    #[arg(long)]
    pub(crate) purge: bool,
    /// Delete the data folder without asking
    #[arg(long, requires = "purge")]
    pub(crate) yes: bool,
    /// Show every diff and command; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Fix without asking: outdated hooks and timer, permissions, a damaged index
    #[arg(long)]
    pub(crate) fix: bool,
    /// Read every value of the index, also if it is larger than 64 MB: of a large one only the structure is checked without this
    #[arg(long)]
    pub(crate) deep: bool,
    /// Make Claude Code keep its transcripts for DAYS days (its default: 30): shows the diff and raises `cleanupPeriodDays` in your
    /// settings; never lowers it
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "365", allow_negative_numbers = true, value_parser = within(1..=36_500_u64, 365))]
    pub(crate) keep_transcripts: Option<u64>,
    /// Mark today's warnings as seen: after that, only problems and new warnings lead to exit code 1
    #[arg(long)]
    pub(crate) seen: bool,
    /// List outdated lines in Claude's memory files: lines that a later session contradicts, and lines that name a file, or another memory
    /// file, that no longer exists. Also print a diff that removes such lines from `MEMORY.md`. Changes nothing
    #[arg(long, conflicts_with_all = ["fix", "deep", "keep_transcripts", "seen"])]
    pub(crate) memory: bool,
    /// With `--memory`: only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB", requires = "memory")]
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words in any form, "phrases in quotes", and filters: `file:`, `project:`, `branch:`, `kind:`, `tool:`, `agent:`, `tag:`, `since:`, `before:`
    /// (`kind:decision since:30d`); put words that start with a dash after `--`
    #[arg(required_unless_present = "interactive", value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// List results as you type: arrows choose, Enter shows a result, Ctrl-R resumes the session
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) interactive: bool,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions active since then: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only sessions that began before then (unlike `recall forget --before`, which compares the last activity)
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) before: Option<String>,
    /// Show at most N
    #[arg(short = 'n', long, value_name = "N", default_value_t = FOR_PERSON.usual, allow_negative_numbers = true, value_parser = within(1..=FOR_PERSON.most, 20))]
    pub(crate) limit: usize,
    /// Also search your team's server, which gets your words; waits for at most a second
    #[arg(long, conflicts_with = "interactive")]
    pub(crate) team: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The page of a day: what was asked, done and left open in each session. On a terminal it is laid out and goes through your pager
/// ($RECALL_PAGER, $PAGER, `less`); a pipe or a file gets it as markdown.
#[derive(Debug, Args)]
pub(crate) struct DayArgs {
    /// today (default; if it has no page yet, the newest day that has one), yesterday, a date like 2026-01-31, or week (the last seven days)
    #[arg(value_name = "DAY")]
    pub(crate) when: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions of this agent, such as codex
    #[arg(long, value_name = "NAME", value_parser = agent)]
    pub(crate) agent: Option<Client>,
    /// Only sessions active since then: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Show at most N
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = some)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was done in sessions and what they cost at list price. Turns, commits and tokens count on their own day, a file on the day of its last edit.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// What to group by
    #[arg(long, value_enum, default_value = "day")]
    pub(crate) by: GroupBy,
    /// Ask your team's server for the tokens and costs of all sessions that the team shares, by day, author, project or model; waits for at most a second
    #[arg(long)]
    pub(crate) team: bool,
    /// Split the tokens into input, output, cache writes and cache reads, in place of turns, commits and files (always so with `--by model`)
    #[arg(long)]
    pub(crate) cost: bool,
    /// Only work since then: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE", default_value = "30d")]
    pub(crate) since: String,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Show at most N
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40, allow_negative_numbers = true, value_parser = some)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Starts Claude Code in the session's folder with the session's conversation. Without a terminal, prints the command that does.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Session id or prefix; `last` is the newest session of this project (of all projects if it has none), `-2` the one
    /// before it
    #[arg(value_name = "ID", allow_hyphen_values = true, default_value = "last")]
    pub(crate) id: String,
    /// Print the command, start nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// What was asked, decided, committed, checked and left open, from what is stored. No model is asked without `--summarizer`. Markdown, ready to paste.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// What the report is for
    #[arg(long = "for", value_name = "PURPOSE", value_enum, default_value = "standup")]
    pub(crate) purpose: ReportFor,
    /// Only work since then: 7d, 12h, a date, today or yesterday. Default: yesterday for `standup`, 7 days ago for `week` and `changelog`, no limit for `pr`
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only projects whose root matches this glob (a bare name matches the folder's name); default for `pr`: this folder's project
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only work on this branch (default for `pr`: the current branch)
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// What writes the text (default: no model). The model costs money, within the same limits as digests. It gets only the report that
    /// recall makes without it
    #[arg(long, value_enum)]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// With `--summarizer`: show what the model's report would cost; do not call the model
    #[arg(long, requires = "summarizer")]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// By project: next steps and blockers that sessions left and nobody closed since, unfinished items of Claude's task lists, notes of kind `todo`,
/// and sessions that ended in mid-work or whose last reply names something as left.
#[derive(Debug, Args)]
pub(crate) struct TodoArgs {
    /// Include items and sessions from more than 30 days ago
    #[arg(long)]
    pub(crate) all: bool,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ShowArgs {
    /// Ids or prefixes of sessions, digests (`d…`, at the top of a session's page) or notes (`m…`). `last` is the newest session
    /// of this project (of all projects if it has none), `-2` the one before it. A single date like 2026-01-31 shows that day's page
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
    pub(crate) ids: Vec<String>,
    /// Show everything, as on the session's page
    #[arg(long, conflicts_with_all = ["raw", "items"])]
    pub(crate) full: bool,
    /// Print the original transcript lines, if they still exist
    #[arg(long, conflicts_with_all = ["items", "json"])]
    pub(crate) raw: bool,
    /// List what the index keeps of the session: time, importance from 0 to 1 (as a number and a word), kind, the reason for the importance, and text
    #[arg(long)]
    pub(crate) items: bool,
    /// Show what was agreed before a compaction but is missing from its summary
    #[arg(long, conflicts_with_all = ["full", "raw", "items"])]
    pub(crate) dropped: bool,
    /// If it is not here, ask your team's server for what a colleague shared under this id; waits for at most a second
    #[arg(long, conflicts_with_all = ["raw", "items", "dropped"])]
    pub(crate) team: bool,
    /// Print the whole digest and its counts as JSON; an array for several sessions
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// Id or prefix of a session, digest or note; `last` is the newest session of this project, `-2` the one before it
    #[arg(default_value = "last", allow_negative_numbers = true)]
    pub(crate) id: String,
    /// How many sessions before it
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = count)]
    pub(crate) before: usize,
    /// How many sessions after it
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = count)]
    pub(crate) after: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Statements and notes of a project that a later one replaces: "no longer", "instead of", "replaced", another value, or the same in other
/// words. Finds only changes that somebody stated. The first line of each is the newest: nothing stored replaces it. Where nothing was replaced, it
/// quotes what was last said on the topic.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Words of the topic, such as `session cache`
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Corrections and standing instructions ("pnpm, not npm", "never push to main") that you gave in two or more sessions of a project, and that
/// are in no note, not in its CLAUDE.md or rules, and not in Claude's own memory of the project. Never writes your files.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Only projects whose root matches this glob (a bare name matches the folder's name; default: this project)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Print a unified diff that proposes lines for CLAUDE.md
    #[arg(long, conflicts_with_all = ["accept", "dismiss", "json"])]
    pub(crate) diff: bool,
    /// Save this rule as a convention note
    #[arg(long, value_name = "ID", conflicts_with_all = ["dismiss", "json"])]
    pub(crate) accept: Option<String>,
    /// Stop showing this rule
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    pub(crate) dismiss: Option<String>,
    /// Undo --dismiss: show the rule again
    #[arg(long, requires = "dismiss")]
    pub(crate) undo: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Simulates, for each stored session, the context that its start and its first three prompts would have got from earlier sessions. Counts how
/// much of it the session then used: files it edited, checks it ran, sentences said again. Asks no model and changes nothing.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions that began since then: a date like 2026-01-31, or an age: 90d, 12h
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Errors that commands in sessions printed, compared without paths, numbers, hashes and durations. Shows a later run of the same check that
/// passed, and what was done in between. That need not be the reason why it passed.
#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    /// The error line, part of it, or output that contains it
    #[arg(required = true, value_name = "ERROR")]
    pub(crate) error: Vec<String>,
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Show at most N
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = some)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commands that passed at least twice in sessions, or in their last run. Different spellings of a command count as one; it is shown as it
/// was written when it last passed.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// Only commands of this kind (test, lint, format, types, build, check, run, deploy, migrate) or with this word
    #[arg(value_name = "WORD")]
    pub(crate) word: Option<String>,
    /// Projects whose root matches this glob (a bare name matches the folder's name) instead of the current project
    #[arg(long, value_name = "GLOB", conflicts_with = "all_projects")]
    pub(crate) project: Option<String>,
    /// All projects, this one first
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Errors that occurred in a project at least three times, or in at least two sessions. Those that took longest from the first failure to the
/// run that passed come first.
#[derive(Debug, Args)]
pub(crate) struct FrictionArgs {
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Show at most N per project
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = some)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows days, sessions, projects, search, what is open and the settings as pages, on this machine only. Whoever opens the printed link is let in,
/// once; the pages can close items, hide wrong statements and forget sessions. It ends when you end it, or when nobody has looked for a while.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Open the browser
    #[arg(long, conflicts_with = "socket")]
    pub(crate) open: bool,
    /// The port to listen on (default: any that is free)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Listen on a Unix socket that only you can open, instead of a port: for machines with other users
    #[arg(long, value_name = "FILE", conflicts_with = "port")]
    pub(crate) socket: Option<PathBuf>,
    /// Also let in programs that send the token in FILE (`Authorization: Bearer TOKEN`); the file is made if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Stop after this long without a request
    #[arg(long, value_name = "TIME", default_value = "30m")]
    pub(crate) idle: String,
    /// Run until you stop it
    #[arg(long, conflicts_with = "idle")]
    pub(crate) no_idle_end: bool,
    /// Instead, write all pages as files into DIR, which a browser opens without a server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["open", "port", "socket", "token_file", "idle", "no_idle_end"])]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// Use the project of this folder (default: the current folder)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Limit the text to about N tokens (estimated)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) max_tokens: Option<usize>,
    /// Instead, show what earlier sessions say about TOPIC, this project first. TOPIC may have words, "phrases" and filters, as in `recall search`
    #[arg(short = 'c', long, value_name = "TOPIC")]
    pub(crate) about: Option<String>,
    /// With `--about`: answer with the model, in 200 to 300 words, or with passages from the sessions (default: `digest.summarizer` in
    /// the config)
    #[arg(long, value_enum, requires = "about")]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// Print JSON: the text and its token counts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// What to remember, in at most 2,000 characters; `-` reads the text from stdin. Without a text, list this project's notes
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// What kind of note (default: fact, or todo with `--due`)
    #[arg(long, value_enum)]
    pub(crate) kind: Option<NoteKind>,
    /// A word to find it by (`recall search tag:WORD`); may be repeated. It is written into the text, as #WORD. Without a text: list only notes with it
    #[arg(long = "tag", value_name = "WORD")]
    pub(crate) tags: Vec<String>,
    /// Due day of a todo: a date, today, tomorrow, 3d or 2w. New sessions get the todo at their start from that day on
    #[arg(long, value_name = "DAY")]
    pub(crate) due: Option<String>,
    /// Change this note's text, or add tags with `--tag` and a due day with `--due`
    #[arg(long, value_name = "ID", conflicts_with_all = ["kind", "project", "everywhere", "json"])]
    pub(crate) edit: Option<String>,
    /// A folder in the note's project (default: the current folder)
    #[arg(long, value_name = "DIR", conflicts_with = "everywhere")]
    pub(crate) project: Option<PathBuf>,
    /// Keep the note for all projects
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// Ids of open items, or their beginnings; `recall todo` shows them. Without an id, list this project's open items
    #[arg(value_name = "ID", required_if_eq("undo", "true"))]
    pub(crate) ids: Vec<String>,
    /// Reopen the items
    #[arg(long)]
    pub(crate) undo: bool,
}

/// Hides a statement in the digest, the pages and the search, also when a later digest of the session repeats it in other words. Deletes
/// nothing of the session itself: `recall forget` does that.
#[derive(Debug, Args)]
pub(crate) struct WrongArgs {
    /// Ids of statements to hide, as `recall wrong SESSION` lists them. With a session id or prefix: list what can be hidden in it
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// With a session id: hide the agent's last reply in turn N; repeatable
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) reply: Vec<usize>,
    /// Show the statement or reply again
    #[arg(long)]
    pub(crate) undo: bool,
}

/// Deletes from the index, the pages and the files behind them. A transcript that still exists is not read for it again. A deleted session
/// stays deleted when it is resumed; `recall import` restores what an export contains.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) what: ForgetWhat,
    /// Delete without asking (required without a terminal)
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show what would be deleted; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetWhat {
    /// Inside an agent: the session that runs this command, if the session is still running in this folder. In your own terminal: the
    /// newest session of this project, after a question
    #[arg(long)]
    pub(crate) this: bool,
    /// One session, by id, prefix or id of its digest. A session that no digest has read yet needs its full id
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// One note, by id or prefix
    #[arg(long, value_name = "ID")]
    pub(crate) note: Option<String>,
    /// All sessions and notes of projects whose root matches this glob (a bare name matches the folder's name); to exclude later ones too,
    /// set `privacy.exclude_projects` in the config
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// All sessions last active before then, and older notes: a date like 2026-01-31, or an age: 90d, 12h
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) before: Option<String>,
    /// Everything that contains this text, ignoring case and line breaks: what sessions said, digests, notes, and lines that you added to pages. A session whose
    /// project, folder or branch contains it is deleted whole
    #[arg(long = "match", value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// During the pause, hooks and the MCP server give no context, and hooks leave no marks. A session that begins in the pause (also by /clear or
/// as a fork) is never recorded: the hooks note it, and no later digest reads it. A session that began before is digested as always; `recall forget --this` deletes
/// it. The timer still runs digests. For a single session: `RECALL_OFF=1 claude`.
#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// How long: 30m, 2h, 3d. Without a time, show whether recall is paused, and until when
    #[arg(value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// End the pause
    #[arg(long, conflicts_with = "time")]
    pub(crate) off: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Without a model, search compares words only. The model runs on this machine, in `recall-embed`, only while a digest or a search needs it.
/// Files come from huggingface.co, or the mirror in `HF_ENDPOINT`, and are checked against their SHA-256. Without ACTION: show the model.
#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    /// What to do with the embedding model
    #[arg(value_enum)]
    pub(crate) action: Option<EmbedAction>,
    /// With `install`: its name (all-MiniLM-L6-v2, bge-small-en-v1.5 or multilingual-e5-small), or a folder with a model (default:
    /// all-MiniLM-L6-v2)
    #[arg(value_name = "MODEL|DIR", requires = "action")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmbedAction {
    /// Fetch or copy an embedding model and use it
    Install,
    /// Delete all embedding models
    Remove,
}

#[cfg(feature = "sync")]
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SyncAction>,
}

#[cfg(feature = "sync")]
#[derive(Debug, Subcommand)]
pub(crate) enum SyncAction {
    /// Add a place (a folder, a host, a bucket), or rename this machine
    Add(SyncAddArgs),
    /// Show the places, the machines, the last exchange, and projects whose paths differ
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the key that your other machines need, or write it to a file. Whoever has it can read everything at the places
    Key {
        /// Write it to this new file, which only you can read; delete the file when your other machines have the key
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Leave a place: withdraw what this machine wrote there, so that your other machines drop it
    Remove {
        /// As `recall sync status` shows it
        #[arg(value_name = "PLACE")]
        place: String,
    },
    /// Match a project of another machine to one here
    Project {
        /// Its path on the other machine
        #[arg(value_name = "PATH-THERE")]
        there: String,
        /// Its path here
        #[arg(value_name = "PATH-HERE")]
        here: String,
    },
    /// Delete the files of a machine that you no longer have. Your other machines keep what they already received
    ForgetMachine {
        /// Its name, or at least 8 digits of its id, as `recall sync status --json` shows it
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[cfg(feature = "sync")]
#[derive(Debug, Args)]
pub(crate) struct SyncAddArgs {
    /// A folder that your machines share, ssh://HOST/DIR or s3://BUCKET/PREFIX
    #[arg(value_name = "PLACE")]
    pub(crate) place: String,
    /// The key of your other machines, in a file (- for stdin). Without --key, this machine uses the key that it has. If it has none, it makes one for
    /// a new place; for a place that other machines use, it asks for theirs and adds nothing
    #[arg(long, value_name = "FILE", conflicts_with = "unencrypted")]
    pub(crate) key: Option<PathBuf>,
    /// Encrypt nothing: whoever sees the place can read it
    #[arg(long)]
    pub(crate) unencrypted: bool,
    /// Accept that the place keeps what is deleted (git, Syncthing's file versioning, versions of a bucket): what you forget stays in its history
    #[arg(long)]
    pub(crate) keeps_history: bool,
    /// What the others call this machine (default: its host name). If the place is set up, this renames the machine
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TeamArgs {
    /// Only list what would be sent
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Agree to what would be sent of projects that you newly share, without being asked
    #[arg(long, short, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(subcommand)]
    pub(crate) action: Option<TeamAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamAction {
    /// Join the team that an administrator invited you to. This sends nothing yet: in the config, `share = true` under `[team."~/work/shop"]`
    /// shares that project
    Join {
        /// postgres://LOGIN[:PASSWORD]@HOST/DATABASE, with ?team=NAME if the server has several teams; - reads it from stdin
        #[arg(value_name = "URL")]
        url: String,
    },
    /// Show what the team has from this machine, by project, and what is not shared and why
    Status {
        /// Print JSON: everything that is shared, one by one
        #[arg(long)]
        json: bool,
    },
    /// Leave the team: delete from the server what any of your machines shared, and from this machine what others shared
    Leave {
        /// Only forget the team on this machine: the server keeps what you shared
        #[arg(long)]
        only_here: bool,
    },
    /// Delete a session from the server and do not share it again, or delete what another of your machines shared
    Withdraw {
        /// The name of the other machine (or of an older data folder), or its beginning: `recall team status` lists the names
        #[arg(value_name = "NAME", required_unless_present = "session")]
        installation: Option<String>,
        /// The session that the team no longer gets, by id or prefix; `recall team status` lists such sessions
        #[arg(long, value_name = "ID", conflicts_with = "installation")]
        session: Option<String>,
        /// Share that session again
        #[arg(long, requires = "session")]
        undo: bool,
    },
    /// Convert transcripts to JSON lines for `recall team push`, for a backlog from other machines. This reads each folder whole and does not use your
    /// index; it applies `[privacy]` and `timezone` of your config
    Records {
        /// A transcript, a folder of transcripts such as ~/.claude/projects/-home-anna-shop, or a folder called projects
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<PathBuf>,
        /// Which folder is which repository, in lines like "/home/anna/work/shop" = "example.com/acme/shop"; others by their git remote, if they
        /// are here
        #[arg(long, value_name = "FILE")]
        projects: Option<PathBuf>,
        /// Use at most this many threads; default: one for each core
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
        jobs: Option<usize>,
    },
    /// Upload the lines of `recall team records`. Uploading them twice changes nothing
    Push {
        /// postgres://LOGIN[:PASSWORD]@HOST/DATABASE; - reads it from the first line of stdin
        #[arg(value_name = "URL")]
        url: String,
        /// The JSON lines; default: stdin
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// A name for where they come from; what other machines of this login shared stays
        #[arg(long, value_name = "NAME", default_value = "backfill")]
        machine: String,
    },
    /// Prepare a database for teams, as its administrator: create or update the schema recall_team
    Prepare {
        /// postgres://ADMIN[:PASSWORD]@HOST/DATABASE; - reads it from stdin
        #[arg(value_name = "URL")]
        url: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Items to write to `.recall/`
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Write every listed item that may be shared
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Delete the files of these shared items from `.recall/`, by id or file name as listed
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with_all = ["ids", "all"])]
    pub(crate) remove: Vec<String>,
    /// Print the list as JSON
    #[arg(long, conflicts_with_all = ["ids", "all", "remove"])]
    pub(crate) json: bool,
}

/// Every setting with its value, and where the value comes from.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Write a config file with every setting and its default, as comments
    #[arg(long, conflicts_with = "json")]
    pub(crate) init: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only projects whose root matches this glob (a bare name matches the folder's name)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// List position, rule and size of each secret, one per line, never the secret itself
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages recall.1, recall-digest.1 …; without it, print recall.1
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The exported file; without a file, or with `-`, reads stdin. With `--from`: the other tool's database (default: where that tool
    /// keeps it)
    pub(crate) file: Option<PathBuf>,

    /// Read another tool's memory instead of an export
    #[arg(long, value_name = "TOOL", value_enum)]
    pub(crate) from: Option<OtherTool>,
}

/// A tool whose memory can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OtherTool {
    /// its sessions, prompts, summaries and observations
    ClaudeMem,
}
