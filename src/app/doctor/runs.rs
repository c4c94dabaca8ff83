//! Checks of the digest runs: when the last one was, what is waiting, and what is about to be lost.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Finding, ago};
use crate::app::hook_state::log;
use crate::config::Config;
use crate::config::pause::{self, OffReason};
use crate::inputs::mark;
use crate::setup::Host;
use crate::setup::transcript_retention::{DEFAULT, KEY, OFFERED, RetentionChange};
use crate::store::WholeIndex;
use crate::store::last_run::LastRun;
use crate::sys::data_folder;
use transcripts::client::Client;
use transcripts::session::Millis;
use transcripts::source::delta::open_regular;
use transcripts::source::discover::{TranscriptFile, discover};
use transcripts::source::look_into_all;

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;
/// Missed runs that are tolerated, since machines sleep. Less than a day without a run is never reported.
const LATE_RUNS: i64 = 3;
/// Warn if a client deletes unread transcripts in this many days or less.
const URGENT_DAYS: i64 = 5;
/// Errors of session-start hooks that only mean that a digest has yet to create or upgrade the index, which the `index` finding
/// reports.
const EXPECTED_ERRORS: [&str; 2] = ["there is no index", "made by an older recall"];
/// After how many days Gemini CLI deletes sessions unless told otherwise (seen with 0.61).
const GEMINI_DAYS: i64 = 30;
/// Older errors of hooks are not reported.
const LOG_WINDOW: Millis = 7 * DAY;

/// When the last run was and how it ended; with a timer, also whether it is overdue.
pub(crate) fn last_run(config: &Config, is_timed: bool, now: Millis) -> Finding {
    if is_under_way(config) {
        return Finding::ok("digest", "a run is under way");
    }
    match LastRun::read(&config.data_dir) {
        None => match last_change_at(config) {
            Some(at) => Finding::ok("digest", format!("ran {} ago, according to the index", ago(at, now))),
            None => Finding::warning("digest", "has never run", "run `recall digest` to read past sessions"),
        },
        Some(run) if run.failures > 0 => {
            let why = run.error.as_deref().unwrap_or("the reason is not known");
            let times = if run.failures == 1 { "failed".to_owned() } else { format!("failed {} times in a row", run.failures) };
            Finding::problem(
                "digest",
                format!("ran {} ago and {times}: {why}", ago(run.at, now)),
                "run `recall digest`: if it fails again, it shows the whole message",
            )
        }
        Some(run) if is_timed && now - run.at > (LATE_RUNS * config.schedule.period()).max(DAY) => {
            let found = format!("ran {} ago, although the timer should run it {}", ago(run.at, now), config.schedule);
            let advice = "if the machine was on: does cron, systemd or launchd run? `recall digest` catches up";
            Finding::warning("digest", found, advice)
        }
        Some(run) => Finding::ok("digest", format!("ran {} ago", ago(run.at, now))),
    }
}

/// Whether a run holds the run lock.
fn is_under_way(config: &Config) -> bool {
    let lock = std::fs::File::open(config.data_dir.join(data_folder::RUN_LOCK)).map(fd_lock::RwLock::new);
    lock.is_ok_and(|lock| lock.try_read().is_err())
}

/// When a run last changed something, according to the index.
fn last_change_at(config: &Config) -> Option<Millis> {
    WholeIndex::open(&config.database()).ok()?.last_run().ok()?.map(|(at, _)| at)
}

/// Marks that are waiting. Every run consumes them, so old ones mean that no run takes place.
pub(crate) fn marks(config: &Config, now: Millis) -> Finding {
    let waiting = mark::pending(&config.data_dir);
    let oldest = waiting.iter().filter_map(|(_, mark)| mark.as_ref().map(|m| m.at)).min();
    match oldest {
        None if waiting.is_empty() => Finding::ok("marks", "no session that ended waits for a digest"),
        Some(at) if now - at > DAY => {
            let found = format!("{} waiting, the oldest for {}: no digest has run since", waiting.len(), ago(at, now));
            Finding::problem("marks", found, "see `timer` above, or run `recall digest`")
        }
        _ => Finding::ok("marks", format!("{} waiting for the next digest", waiting.len())),
    }
}

/// Reports a pause, which the user may have forgotten.
pub(crate) fn paused(config: &Config) -> Option<Finding> {
    let Some(OffReason::Paused(until)) = pause::reason(config) else { return None };
    let until = pause::describe_end(until, config);
    let found = format!("until {until}: sessions get no context, and sessions that start before then are not recorded");
    Some(Finding::warning("paused", found, "`recall pause --off` ends it"))
}

pub(crate) fn hook_log(config: &Config, now: Millis) -> Option<Finding> {
    let since = jiff::Timestamp::from_millisecond(now - LOG_WINDOW).ok()?.to_string();
    let mut lines = log::last_lines(&config.data_dir, 200);
    // Timestamps of one format sort as text.
    lines.retain(|line| line.as_str() >= since.as_str() && !EXPECTED_ERRORS.iter().any(|known| line.contains(known)));
    let last = lines.last()?;
    let errors = if lines.len() == 1 { "1 error".to_owned() } else { format!("{} errors", lines.len()) };
    let found = format!("{errors} of hooks in the last 7 days, the last: {last}");
    let advice = format!(
        "the sessions continued without context; if it happens again, see {} for all errors",
        log::path(&config.data_dir).display()
    );
    Some(Finding::warning("hook log", found, advice).same_while(last.as_str()))
}

/// Transcripts that no digest has read yet, and how soon a client that is known to delete any deletes the first of them.
pub(crate) fn unread_transcripts(config: &Config, now: Millis) -> Finding {
    let opened = WholeIndex::open(&config.database());
    let (known, forgotten) = match opened.and_then(|store| Ok((store.known_files()?, store.forgotten_sessions()?))) {
        Ok(known) => known,
        Err(_) if config.database().exists() => return Finding::ok("transcripts", "unknown without the index"),
        Err(_) => Default::default(),
    };
    let mut found = discover(&config.client_folders(), &config.exclude_transcripts);
    if let Some(first) = found.unreadable.first() {
        let more = if found.unreadable.len() > 1 { format!(" and {} more", found.unreadable.len() - 1) } else { String::new() };
        let them = if more.is_empty() { "it" } else { "them" };
        let found = format!("{first}{more}: the sessions in {them} are in no digest");
        return Finding::problem("transcripts", found, "check that you can read it, or move files that are not transcripts");
    }
    let oldest = config.retention.oldest(now);
    found.files.retain(|file| !forgotten.contains(&file.place.session) && oldest.is_none_or(|oldest| file.mtime() >= oldest));
    // A file that is unchanged since it was last read has nothing new, even if its last line is incomplete.
    let looked_at = |file: &&TranscriptFile| known.get(file.stored_path().as_ref()).is_some_and(|known| known.is_as_seen(file));
    if found.files.is_empty() && !config.claude_dirs.iter().any(|dir| dir.join("projects").is_dir()) {
        let dirs = config.claude_dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ");
        return Finding::warning(
            "transcripts",
            format!("no sessions of Claude Code in {dirs}"),
            "is `claude_dirs` or $CLAUDE_CONFIG_DIR right?",
        );
    }
    let projects = config.project_keys();
    let all = found.files.len();
    let (mut may_be, mut unread): (Vec<TranscriptFile>, Vec<TranscriptFile>) =
        found.files.into_iter().filter(|file| !looked_at(&file)).partition(|file| config.may_exclude(file, &projects));
    // What they hold may tell.
    look_into_all(may_be.iter_mut());
    let (withheld, told): (Vec<TranscriptFile>, Vec<TranscriptFile>) =
        may_be.into_iter().partition(|file| config.may_exclude(file, &projects));
    unread.extend(told);
    unread.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    // What holds many sessions was read to find them.
    let is_closed = |file: &&TranscriptFile| !file.is_share && open_regular(&file.path).is_err();
    if let Some(closed) = unread.iter().find(is_closed) {
        return Finding::warning(
            "transcripts",
            format!("{} cannot be read", closed.path.display()),
            "make sure that you can read it",
        );
    }
    let not_read = match withheld.len() {
        0 => String::new(),
        count => format!("; {count} not read{}, possibly from an excluded project", by_client(&withheld)),
    };
    let files = all - withheld.len();
    if unread.is_empty() {
        return Finding::ok("transcripts", format!("all {files} are read{not_read}"));
    }
    let what = format!("{} of {files} have lines that no digest has read{}{not_read}", unread.len(), by_client(&unread));
    let days_left = |file: &TranscriptFile| {
        let client = file.place.client;
        days_kept(client, config).map(|days| (days - (now - file.mtime()) / DAY, client))
    };
    match unread.iter().filter_map(days_left).min_by_key(|(days, _)| *days) {
        Some((days, client)) => deletion_finding(days, client, &what),
        None => Finding::ok("transcripts", what),
    }
}

/// How many are whose, where any are of another client than the usual one: ` (1 of Claude Code, 3 of Codex)`.
fn by_client(files: &[TranscriptFile]) -> String {
    let mut all: BTreeMap<Client, usize> = BTreeMap::new();
    files.iter().for_each(|file| *all.entry(file.place.client).or_default() += 1);
    if all.keys().all(Client::is_usual) {
        return String::new();
    }
    let all: Vec<String> = all.into_iter().map(|(client, count)| format!("{count} of {}", client.name())).collect();
    format!(" ({})", all.join(", "))
}

/// After how many days a client deletes transcripts; `None` of one that is not known to delete any.
fn days_kept(client: Client, config: &Config) -> Option<i64> {
    match client {
        Client::ClaudeCode => Some(config.claude_dirs.iter().filter_map(|dir| cleanup_days(dir)).min().unwrap_or(DEFAULT)),
        Client::Gemini => {
            let folders = config.client_folders().into_iter().filter(|folder| folder.client == client);
            folders.filter_map(|folder| gemini_days(&folder.path)).min()
        }
        _ => None,
    }
}

/// How long the client keeps transcripts, with an offer to extend that if the user has not chosen a period.
pub(crate) fn cleanup(host: &Host<'_>) -> Option<Finding> {
    let raise = RetentionChange::plan(OFFERED, host).ok()?;
    let is_used = raise.path().parent().is_some_and(Path::is_dir);
    if raise.is_chosen() || !is_used {
        return None;
    }
    let found = format!(
        "Claude Code deletes its transcripts after {DEFAULT} days: recall keeps what it has read, but the transcript itself is lost"
    );
    Some(Finding {
        advice: Some(format!("`recall doctor --keep-transcripts` keeps them for {OFFERED} days, with this change")),
        difference: Some(raise.difference()),
        ..Finding::ok("cleanup", found)
    })
}

/// When a client deletes the first of the unread transcripts.
fn deletion_finding(days: i64, client: Client, what: &str) -> Finding {
    let name = client.name();
    if days > URGENT_DAYS {
        return Finding::ok("transcripts", format!("{what}; {name} deletes the oldest in {days} days"));
    }
    let when = if days <= 0 { "at its next start".to_owned() } else { format!("in {days} days") };
    Finding::problem(
        "transcripts",
        format!("{what}; {name} deletes the oldest {when}"),
        "`recall digest --ingest-only` saves them, at no cost",
    )
}

/// `cleanupPeriodDays` in the settings of a config directory.
fn cleanup_days(dir: &Path) -> Option<i64> {
    let text = std::fs::read(dir.join("settings.json")).ok()?;
    let settings: serde_json::Value = serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text)).ok()?;
    settings.get(KEY)?.as_i64()
}

/// How long Gemini CLI keeps sessions, by the settings in its folder; `None` if it keeps all.
fn gemini_days(dir: &Path) -> Option<i64> {
    let settings =
        std::fs::read(dir.join("settings.json")).ok().and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let retention = settings.as_ref().and_then(|settings| settings.pointer("/general/sessionRetention"));
    if retention.and_then(|retention| retention.get("enabled")).and_then(serde_json::Value::as_bool) == Some(false) {
        return None;
    }
    let age = retention.and_then(|retention| retention.get("maxAge")?.as_str()).and_then(days_in);
    Some(age.unwrap_or(GEMINI_DAYS))
}

/// The whole days of an age as Gemini CLI has it: `24h`, `30d`, `4w`, `1m`.
fn days_in(age: &str) -> Option<i64> {
    let unit = age.chars().last()?;
    let count: i64 = age.strip_suffix(unit)?.parse().ok()?;
    match unit {
        'h' => Some(count / 24),
        'd' => Some(count),
        'w' => count.checked_mul(7),
        'm' => count.checked_mul(30),
        _ => None,
    }
}
