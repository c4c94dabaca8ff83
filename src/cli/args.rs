//! The command line: types and help text.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::app::search::FOR_PERSON;
use crate::app::stats::GroupBy;
use crate::cli::numbers::{count, dollars, within};
use crate::config::SummarizerChoice;
use crate::model::note::NoteKind;
use crate::render::report::ReportFor;
use crate::setup::{InstallScope, TimerChoice};

/// A memory for Claude Code: digests what its transcripts gained into daily pages and a searchable index.
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
    /// Add hooks to Claude Code and a timer that runs the digest
    Install(InstallArgs),
    /// Remove the hooks and the timer
    Uninstall(UninstallArgs),
    /// Check the installation and suggest fixes
    Doctor(DoctorArgs),
    /// Search sessions and notes
    Search(SearchArgs),
    /// What was done today, yesterday, on a date or this week
    Day(DayArgs),
    /// List sessions, newest first
    List(ListArgs),
    /// Figures by day, project, branch: sessions, commits, tokens, cost
    Stats(StatsArgs),
    /// Continue a session in Claude Code
    Resume(ResumeArgs),
    /// What is still open, in all projects
    Todo(TodoArgs),
    /// What was done, as text for a standup, a PR or a changelog
    Report(ReportArgs),
    /// Show a session: in short, in full, or its transcript
    Show(ShowArgs),
    /// What came before and after a session in its project
    Timeline(TimelineArgs),
    /// What a new session is told, or what is known about a topic
    Context(ContextArgs),
    /// How a decision changed, and what holds now
    Why(WhyArgs),
    /// Measure on your own sessions how useful the memory was
    Eval(EvalArgs),
    /// Instructions that you repeat, to keep or dismiss
    Rules(RulesArgs),
    /// Where an error was seen before, and what was done until it passed
    Fix(FixArgs),
    /// The commands that work in this project
    How(HowArgs),
    /// What keeps failing, and how long it took until it passed
    Friction(FrictionArgs),
    /// Serve the memory over the Model Context Protocol (stdin and stdout)
    Mcp,
    /// Mark something open as done
    Close(CloseArgs),
    /// Mark a statement as wrong: it is not shown again
    Wrong(WrongArgs),
    /// Keep a note: a convention, a decision, a fact, a to-do
    Remember(RememberArgs),
    /// Delete sessions, or everything that contains a text, for good
    Forget(ForgetArgs),
    /// Stop recording and injecting for a while
    Pause(PauseArgs),
    /// What is stored, what is pending and why
    Status(StatusArgs),
    /// Print the configuration and where each value comes from
    Config(ConfigArgs),
    /// Write everything stored to stdout as JSON lines
    Export(ExportArgs),
    /// Read what `recall export` wrote
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
            Self::Rules(args) => args.accept.is_some() || args.dismiss.is_some(),
            Self::Remember(args) => !args.text.is_empty() || args.edit.is_some(),
            Self::Close(_) | Self::Import(_) | Self::Pause(_) => true,
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
    /// Only sessions that were active in this time: 7d, 12h, 2w, a date like 2026-01-31, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only this session, by id or its start; settled or not, and anew if it has a digest
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Digest at most this many sessions
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: Option<usize>,
    /// With a `--summarizer` that asks a model: it digests the newest N sessions that have none by it, however many there are
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count, requires = "summarizer", conflicts_with = "session")]
    pub(crate) newest: Option<usize>,
    /// Spend at most this much on the model in this run
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Threads for reading (default: one a core)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) jobs: Option<usize>,
    /// Store what the transcripts gained and stop before digesting: costs nothing
    #[arg(long)]
    pub(crate) ingest_only: bool,
    /// Apart from the terminal, at low priority and for a bounded time: for the hook before a compaction
    #[arg(long, hide = true, requires = "ingest_only")]
    pub(crate) in_background: bool,
    /// Who writes the digests; asked for here, `extract` is final and one that asks a model also redoes what `extract` made
    #[arg(long, value_enum)]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// Digest sessions that have been quiet for this long (default 10m)
    #[arg(long, value_name = "TIME")]
    pub(crate) settle: Option<String>,
    /// Say what would be read, digested and skipped, and what it would cost; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write all pages anew from the index
    #[arg(long)]
    pub(crate) rebuild_pages: bool,
    /// End with one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// A Claude Code config directory to read instead of $CLAUDE_CONFIG_DIR or ~/.claude; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) claude_dir: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Whose sessions get the hooks
    #[arg(long, value_enum, default_value_t = InstallScope::User)]
    pub(crate) scope: InstallScope,
    /// Who starts the digest: what was chosen before, at first `auto`; how often is `schedule` in the config
    #[arg(long, value_enum)]
    pub(crate) timer: Option<TimerChoice>,
    /// Let Claude ask the memory by itself: register `recall mcp` for the same sessions
    #[arg(long)]
    pub(crate) mcp: bool,
    /// Show every difference and every command; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Only the hooks of this scope, and the server that is registered there; without it all that were installed, also in other projects, and the timer
    #[arg(long, value_enum, conflicts_with = "purge")]
    pub(crate) scope: Option<InstallScope>,
    /// Delete the data folder too: index, pages, marks
    #[arg(long)]
    pub(crate) purge: bool,
    /// Do not ask before the data folder is deleted
    #[arg(long, requires = "purge")]
    pub(crate) yes: bool,
    /// Show every difference and every command; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without asking: hooks and a timer that are out of date, permissions, a damaged index
    #[arg(long)]
    pub(crate) fix: bool,
    /// Let Claude Code keep its transcripts for so many days before it deletes them (it does so after 30): shows the difference and changes
    /// `cleanupPeriodDays` in your settings, never to less
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "365", allow_negative_numbers = true, value_parser = within(1..=36_500_u64, 365))]
    pub(crate) keep_transcripts: Option<u64>,
    /// Mark what it warns of now as seen: it is told without an alarm until it says something new; what does not work stays an alarm
    #[arg(long)]
    pub(crate) seen: bool,
    /// What is out of date in the memory files of Claude's, and a diff that would prune `MEMORY.md`: lines that later sessions overtake, that name
    /// files which are not there, or topic files that are gone. Changes none of them
    #[arg(long, conflicts_with_all = ["fix", "keep_transcripts", "seen"])]
    pub(crate) memory: bool,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB", requires = "memory")]
    pub(crate) project: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words in any form, "phrases in quotes", and filters: file: project: branch: kind: tool: since: before: (`kind:decision since:30d`); words
    /// that start with a dash go behind `--`
    #[arg(required = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions that were active since: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only sessions that began before
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) before: Option<String>,
    #[arg(long, value_name = "N", default_value_t = FOR_PERSON.usual, allow_negative_numbers = true, value_parser = within(1..=FOR_PERSON.most, 20))]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

/// The page of a day: what was asked, done and left open in each session. On a terminal it is laid out and goes through your pager
/// ($RECALL_PAGER, $PAGER, `less`); a pipe or a file gets it as markdown.
#[derive(Debug, Args)]
pub(crate) struct DayArgs {
    /// today (the default; while nothing is written of it, the newest day that has a page), yesterday, a date like 2026-01-31, or week: the
    /// last seven days
    #[arg(value_name = "DAY")]
    pub(crate) when: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions that were active since: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was done in sessions and what they cost at list price. A session counts where it was active last, its tokens where they were used.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[arg(long, value_enum, default_value = "day")]
    pub(crate) by: GroupBy,
    /// Kinds of tokens in place of turns, commits and files
    #[arg(long)]
    pub(crate) cost: bool,
    /// Only what was since: 7d, 12h, a date, today or yesterday
    #[arg(long, value_name = "AGE|DATE", default_value = "30d")]
    pub(crate) since: String,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40, allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Starts Claude Code in the session's folder with the session's conversation. Without a terminal, prints the command that does.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Id of a session, or its beginning; `last` is the newest of this project, `-2` the one before it
    #[arg(value_name = "ID", allow_hyphen_values = true, default_value = "last")]
    pub(crate) id: String,
    /// Print the command, start nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// What was asked, decided, committed, checked and left open, from what is stored: no model is asked. Markdown, ready to paste.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[arg(long = "for", value_name = "PURPOSE", value_enum, default_value = "standup")]
    pub(crate) purpose: ReportFor,
    /// Only what was since: 7d, 12h, a date, today or yesterday; if not given, `standup` begins yesterday, `week` and `changelog` 7 days ago, `pr` with its branch
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    /// Only projects whose root matches this glob (a bare name matches the last folder); `pr` takes this folder's
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only what was done on this branch; `pr` takes the one that is checked out
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Next steps and blockers that sessions left and that nobody closed since, and notes of kind `todo`, by project.
#[derive(Debug, Args)]
pub(crate) struct TodoArgs {
    /// Also what was last said more than 30 days ago
    #[arg(long)]
    pub(crate) all: bool,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Ids of sessions or the starts of them, or digests' ids; last is the newest session of this folder's project, -2 the one before it;
    /// a date is the page of that day
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
    pub(crate) ids: Vec<String>,
    /// All of it, as on the session's page
    #[arg(long, conflicts_with_all = ["raw", "items"])]
    pub(crate) full: bool,
    /// The conversation's own rows from its transcripts, while those are there
    #[arg(long, conflicts_with_all = ["items", "json"])]
    pub(crate) raw: bool,
    /// List what was kept of the session instead: importance, tier, kind and rule of each item
    #[arg(long)]
    pub(crate) items: bool,
    /// List instead what the summaries of its compactions leave out of what was agreed before them, quoted
    #[arg(long, conflicts_with_all = ["full", "raw", "items"])]
    pub(crate) dropped: bool,
    /// The whole digest with the numbers behind it; of several sessions an array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// A session's id or the start of it, or a digest's id
    pub(crate) id: String,
    /// Sessions before it
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = count)]
    pub(crate) before: usize,
    /// Sessions after it
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = count)]
    pub(crate) after: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Statements of sessions and notes of a project that a later one overtakes: "no longer", "instead of", "replaced", another value, or the same
/// said otherwise. Only what says so in words is known; what stands first was overtaken by nothing.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// What it is about, in words: session cache
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Corrections and standing instructions ("pnpm, not npm", "never push to main") that you said in two or more sessions of a project and that
/// neither a note, its CLAUDE.md and rules nor Claude's own memory of it says. None of your files is ever written.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Projects whose root matches this glob (a bare name matches the last folder; default: that of this folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Print a unified diff that proposes lines for CLAUDE.md
    #[arg(long, conflicts_with_all = ["accept", "dismiss", "json"])]
    pub(crate) diff: bool,
    /// Keep this one as a note of kind convention
    #[arg(long, value_name = "ID", conflicts_with_all = ["dismiss", "json"])]
    pub(crate) accept: Option<String>,
    /// Tell this one no more
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    pub(crate) dismiss: Option<String>,
    /// Tell one again that was dismissed
    #[arg(long, requires = "dismiss")]
    pub(crate) undo: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Tells each stored session again what its start and its first three prompts would have been told from what came before it, and counts what
/// of that came up in it: files it edited, checks it ran, sentences said again. Asks no model and changes nothing.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// Only sessions that began since this: a date like 2026-01-31, or so long ago: 90d, 12h
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) since: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Errors that commands of sessions printed, compared without what differs from time to time: paths, numbers, hashes, durations. Told is what
/// the rows show: a later run of the same check that passed, and what was done in between. That need not be the reason.
#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    /// The error line, or a part of it; output that holds it
    #[arg(required = true, value_name = "ERROR")]
    pub(crate) error: Vec<String>,
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of the commands that sessions ran, those that were seen to pass at least twice, or when they ran last. However it is written, a command
/// counts as one; it is told as it was written when it passed last.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// Only these: test, lint, types, build, check, run, deploy, migrate; or a word of the command
    #[arg(value_name = "WORD")]
    pub(crate) word: Option<String>,
    /// Projects whose root matches this glob (a bare name matches the last folder) instead of this one
    #[arg(long, value_name = "GLOB", conflicts_with = "all_projects")]
    pub(crate) project: Option<String>,
    /// All projects, this one first
    #[arg(long)]
    pub(crate) all_projects: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

/// Errors that a project met at least three times, or in two sessions, by project; first those that took longest from the first failure to the
/// run that passed.
#[derive(Debug, Args)]
pub(crate) struct FrictionArgs {
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// At most this many of each project
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = count)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The folder whose project is meant (default: this one)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// At most this much, in tokens by an estimate
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) max_tokens: Option<usize>,
    /// What earlier sessions say about this instead, those of the project first: words, "phrases" and filters as in search
    #[arg(short = 'c', long, value_name = "TOPIC")]
    pub(crate) about: Option<String>,
    /// Who puts it into words: the model, in 200 to 300 of them, or nobody but the sessions themselves
    #[arg(long, value_enum, requires = "about")]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// The text with the numbers behind it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// What to remember, in at most 2,000 characters; `-` reads it from stdin. Without it, the notes of this project are listed
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// fact if not given, todo with `--due`
    #[arg(long, value_enum)]
    pub(crate) kind: Option<NoteKind>,
    /// A word to find it by (`recall search tag:WORD`); may be repeated. It is written into the text, as #WORD
    #[arg(long = "tag", value_name = "WORD")]
    pub(crate) tags: Vec<String>,
    /// The day on which a todo is due: a date, today, tomorrow, 3d or 2w. Sessions are told from that day on
    #[arg(long, value_name = "DAY")]
    pub(crate) due: Option<String>,
    /// Give this note another text, or with `--tag` and `--due` more marks
    #[arg(long, value_name = "ID", conflicts_with_all = ["kind", "project", "everywhere", "json"])]
    pub(crate) edit: Option<String>,
    /// A folder of the project it is for (default: this one)
    #[arg(long, value_name = "DIR", conflicts_with = "everywhere")]
    pub(crate) project: Option<PathBuf>,
    /// It is for all projects
    #[arg(long)]
    pub(crate) everywhere: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// Ids of next steps, blockers or notes of kind todo, or their starts, as `recall context` and the pages show them. Without any, what is open
    /// in the project of this folder is listed
    #[arg(value_name = "ID", required_if_eq("undo", "true"))]
    pub(crate) ids: Vec<String>,
    /// Take it back: they are open again
    #[arg(long)]
    pub(crate) undo: bool,
}

/// It goes from the digest, the pages and the search, and stays away when the session is digested again, in other words as well. Nothing of
/// what was said and done in the session goes: `recall forget` does that.
#[derive(Debug, Args)]
pub(crate) struct WrongArgs {
    /// Ids of statements, titles or open items; or a session, by its id or the start of it: then what a model said of it, and Claude in it,
    /// is listed with ids and turns
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Of the session that is given: the reply of Claude's that closed this turn; may be repeated
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) reply: Vec<usize>,
    /// Take it back: what was taken out is told again
    #[arg(long)]
    pub(crate) undo: bool,
}

/// What is forgotten is gone from the index, the pages and the files behind them, and is not taken in again from a transcript that still
/// lies there. A session that was forgotten stays so when it is resumed; `recall import` brings back what an export holds.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) what: ForgetWhat,
    /// Do not ask before it goes; without a terminal there is nobody to ask, and this is needed
    #[arg(long)]
    pub(crate) yes: bool,
    /// Say what would go; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetWhat {
    /// The session this is run in: the one whose id an agent gives its commands, as Claude Code does, if it is live in this folder; else
    /// the newest of this folder's project, which a person is asked about
    #[arg(long)]
    pub(crate) this: bool,
    /// One session, by its id or the start of it, or a digest's id; one that was never digested by its whole id
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// One note that was remembered, by its id or the start of it
    #[arg(long, value_name = "ID")]
    pub(crate) note: Option<String>,
    /// All sessions and notes of projects whose root matches this glob (a bare name matches the last folder); later ones are not kept out:
    /// `privacy.exclude_projects` in the config does that
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
    /// All sessions that were last active before this, and notes from before it: a date like 2026-01-31, or so long ago: 90d, 12h
    #[arg(long, value_name = "AGE|DATE")]
    pub(crate) before: Option<String>,
    /// Whatever holds this text, in any case and over line breaks: rows, digests, notes, lines of yours in pages; sessions whose project, folder
    /// or branch is named so go whole
    #[arg(long = "match", value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// Until the time is over hooks and the MCP server say nothing, and hooks leave no marks. A session that begins meanwhile (also by /clear or
/// as a fork) is never kept: no later digest reads it. One that began before is digested as always; `recall forget --this` takes it out.
/// Digests by the timer go on. For a single session: `RECALL_OFF=1 claude`.
#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// For how long: 30m, 2h, 3d; without it, say whether and until when it is paused
    #[arg(value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// End the pause
    #[arg(long, conflicts_with = "time")]
    pub(crate) off: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[arg(long)]
    pub(crate) json: bool,
}

/// Every setting, its value, and where that came from.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Write a config file with every setting and its default, as comments
    #[arg(long, conflicts_with = "json")]
    pub(crate) init: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only projects whose root matches this glob (a bare name matches the last folder)
    #[arg(long, value_name = "GLOB")]
    pub(crate) project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// Only say where which rule found how many bytes, one line a secret; never the secret
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
    /// The folder to write recall.1, recall-digest.1 … into
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The exported file; `-` is stdin
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}
