//! Which sessions are due for a digest, and why the others are not. Pure.

use transcripts::client::Client;
use transcripts::session::{Millis, Session};

/// How long a session must have been quiet once the client said that it ended.
pub(crate) const SETTLED_AFTER_END: Millis = 30_000;
/// How much work in an ongoing session earns an interim digest, and the longest pause that counts as work.
const INTERIM_WORK: Millis = 30 * 60_000;
const MAX_PAUSE: Millis = 5 * 60_000;
/// After this many failures in a row the model is no longer asked in every run.
const FAILURES_BEFORE_WAIT: u32 = 3;
const HOUR: Millis = 3_600_000;
/// An hour doubled 13 times is 341 days.
const MAX_DOUBLINGS: u32 = 13;

/// Why a session gets no digest in this run, or none by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// It may still grow; the time left, in milliseconds.
    Unsettled(Millis),
    NoPrompt,
    NoWork,
    RunLimit,
    RunBudget,
    DayBudget,
    UnknownPrice(String),
    FailedOften(u32),
    /// The model answered, was paid, and would answer the same again.
    Declined,
    /// Part of a backlog of sessions that never had a digest.
    Backlog,
    /// The user has not said that a model may see what was said to this client.
    NotForModel(Client),
    ModelUnavailable(String),
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SkipReason::Unsettled(left) => write!(out, "not settled yet ({} s to go)", left / 1000 + 1),
            SkipReason::NoPrompt => out.write_str("no prompt of the user's"),
            SkipReason::NoWork => out.write_str("nothing answered the prompt"),
            SkipReason::RunLimit => out.write_str("over the number of sessions for one run"),
            SkipReason::RunBudget => out.write_str("over the budget of the run"),
            SkipReason::DayBudget => out.write_str("over the budget of the day"),
            SkipReason::UnknownPrice(model) => write!(out, "the price of `{model}` is unknown: set [prices] in the config"),
            SkipReason::FailedOften(times) => {
                let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
                write!(out, "failed {times}, waiting before the next try (`recall digest --session` tries now)")
            }
            SkipReason::Declined => out
                .write_str("what came back is no digest and would not be one the next time (`recall digest --session` asks again)"),
            SkipReason::Backlog => out.write_str("one of a backlog"),
            SkipReason::NotForModel(client) => {
                write!(
                    out,
                    "a session of {}: `[sources.{}] model = true` in the config lets the model see it",
                    client.name(),
                    client.key()
                )
            }
            SkipReason::ModelUnavailable(why) => out.write_str(why),
        }
    }
}

impl SkipReason {
    /// Is a digest without the model what the user wants of it? Then it waits for nothing.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Backlog | Self::NotForModel(_))
    }

    /// Is there nothing to tell, whatever a later run does? Else the session waits for one.
    pub(crate) fn is_for_good(&self) -> bool {
        matches!(self, Self::NoPrompt | Self::NoWork)
    }

    /// The reason without what differs from session to session, to tell once what many have in common.
    pub(crate) fn in_common(&self) -> String {
        match self {
            SkipReason::Unsettled(_) => "not settled yet".to_owned(),
            SkipReason::Backlog => "too many at once to use it unasked".to_owned(),
            SkipReason::FailedOften(_) => "failed, waiting before the next try (`recall digest --session` tries now)".to_owned(),
            _ => self.to_string(),
        }
    }
}

/// A session's state, as eligibility needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionActivity {
    /// When it last grew, and when the client said that it ended.
    pub(crate) grew_at: Millis,
    pub(crate) ended_at: Option<Millis>,
    pub(crate) has_prompt: bool,
    pub(crate) has_work: bool,
}

/// Why a session can never get a digest as it stands, however long one waits.
pub(crate) fn permanent_skip(session: &Session) -> Option<SkipReason> {
    if session.prompts().next().is_none() {
        return Some(SkipReason::NoPrompt);
    }
    (!session.has_work()).then_some(SkipReason::NoWork)
}

/// Is the session worth a digest, and has it been quiet long enough?
pub(crate) fn check_ready(standing: &SessionActivity, now: Millis, settle: Millis) -> Result<(), SkipReason> {
    if !standing.has_prompt {
        return Err(SkipReason::NoPrompt);
    }
    if !standing.has_work {
        return Err(SkipReason::NoWork);
    }
    let quiet = now - standing.grew_at;
    // Lines after the end belong to a resumed session; the end's own lines arrive within this slack.
    let ended = standing.ended_at.is_some_and(|end| standing.grew_at <= end + SETTLED_AFTER_END);
    let needed = if ended { settle.min(SETTLED_AFTER_END) } else { settle };
    if quiet < needed { Err(SkipReason::Unsettled(needed - quiet)) } else { Ok(()) }
}

/// Has an ongoing session seen enough work since its last digest, if any, to get an interim one? `times` are those of its records
/// since.
pub(crate) fn is_interim_due(digested: Option<Millis>, times: &[Millis]) -> bool {
    let all: Vec<Millis> = digested.into_iter().chain(times.iter().copied()).collect();
    let worked: Millis = all.windows(2).map(|pair| (pair[1] - pair[0]).min(MAX_PAUSE)).sum();
    worked >= INTERIM_WORK
}

/// How the model failed on a session, several times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelFailures {
    pub(crate) times: u32,
    pub(crate) last: Millis,
    /// The last answer was paid for, and the same request would bring no other.
    pub(crate) declined: bool,
}

/// May the model be asked again about a session it failed on? What it declined only once the session grew. Else the wait doubles from an
/// hour up to 341 days: a permanent failure costs a handful of calls and then next to nothing, and what failed for a week is retried
/// within a week. A session that has grown since the failure waits the hour only.
pub(crate) fn may_retry(failed: ModelFailures, grew_at: Millis, now: Millis) -> Result<(), SkipReason> {
    let ModelFailures { times: failures, last, declined } = failed;
    if declined && grew_at <= last {
        return Err(SkipReason::Declined);
    }
    if failures < FAILURES_BEFORE_WAIT {
        return Ok(());
    }
    let doublings = if grew_at > last { 0 } else { (failures - FAILURES_BEFORE_WAIT).min(MAX_DOUBLINGS) };
    let wait = HOUR << doublings;
    // A failure dated in the future comes from a wrong clock and is ignored.
    if (0..wait).contains(&(now - last)) { Err(SkipReason::FailedOften(failures)) } else { Ok(()) }
}

/// What a run may spend. Reservations count until the real cost is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Budget {
    pub(crate) run_usd: f64,
    pub(crate) day_usd: f64,
}

/// Does a call with this worst-case cost fit into what is left?
pub(crate) fn check_budget(worst_usd: f64, spent_run: f64, spent_day: f64, budget: &Budget) -> Result<(), SkipReason> {
    // A millionth of a cent, for rounding in floating-point sums.
    const SLACK: f64 = 1e-8;
    if spent_run + worst_usd > budget.run_usd + SLACK {
        return Err(SkipReason::RunBudget);
    }
    if spent_day + worst_usd > budget.day_usd + SLACK {
        return Err(SkipReason::DayBudget);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Millis = 600_000;

    fn standing(grew_at: Millis, ended_at: Option<Millis>) -> SessionActivity {
        SessionActivity { grew_at, ended_at, has_prompt: true, has_work: true }
    }

    #[test]
    fn a_session_settles_by_silence_or_by_its_end() {
        let now = 10_000_000;
        let at = |quiet, ended: Option<Millis>| check_ready(&standing(now - quiet, ended.map(|e| now - e)), now, SETTLE);
        assert_eq!(at(600_000, None), Ok(()));
        assert_eq!(at(599_000, None), Err(SkipReason::Unsettled(1_000)));
        assert_eq!(at(30_000, Some(30_500)), Ok(()));
        assert_eq!(at(29_000, Some(29_500)), Err(SkipReason::Unsettled(1_000)));
        // Resumed after its end: the end no longer counts.
        assert_eq!(at(60_000, Some(300_000)), Err(SkipReason::Unsettled(540_000)));
    }

    #[test]
    fn half_an_hour_of_work_wants_a_digest_and_pauses_hardly_count() {
        let minutes = |list: &[i64]| list.iter().map(|m| m * 60_000).collect::<Vec<_>>();
        assert!(is_interim_due(None, &minutes(&[0, 5, 10, 15, 20, 25, 30])));
        assert!(!is_interim_due(None, &minutes(&[0, 5, 10, 15, 20, 25, 29])));
        // Out for lunch.
        assert!(!is_interim_due(None, &minutes(&[0, 120, 240, 360, 480, 600])));
        assert!(is_interim_due(None, &minutes(&[0, 120, 240, 360, 480, 600, 720])));
        assert!(is_interim_due(Some(0), &minutes(&[5, 10, 15, 20, 25, 30])));
        assert!(!is_interim_due(Some(0), &[]) && !is_interim_due(None, &[]));
    }

    #[test]
    fn patience_grows_with_failures() {
        let retry = |times, now| may_retry(ModelFailures { times, last: 0, declined: false }, -1, now);
        assert_eq!(retry(2, 1), Ok(()));
        assert_eq!(retry(3, HOUR - 1), Err(SkipReason::FailedOften(3)));
        assert_eq!(retry(3, HOUR), Ok(()));
        assert_eq!(retry(4, HOUR), Err(SkipReason::FailedOften(4)));
        assert_eq!(retry(10, 128 * HOUR - 1), Err(SkipReason::FailedOften(10)));
        assert_eq!(retry(10, 128 * HOUR), Ok(()));
        assert_eq!(retry(u32::MAX, 342 * 24 * HOUR), Ok(()));
        // It grew since.
        let failed = |times, last| ModelFailures { times, last, declined: false };
        assert_eq!(may_retry(failed(10, 0), 1, HOUR - 1), Err(SkipReason::FailedOften(10)));
        assert_eq!(may_retry(failed(10, 0), 1, HOUR), Ok(()));
        // The clock was set back.
        assert_eq!(may_retry(failed(4, HOUR), 0, HOUR - 1), Ok(()));
        let declined = ModelFailures { times: 1, last: HOUR, declined: true };
        assert_eq!(may_retry(declined, 0, 1_000 * HOUR), Err(SkipReason::Declined));
        assert_eq!(may_retry(declined, 2 * HOUR, 3 * HOUR), Ok(()), "another request");
    }

    #[test]
    fn money_is_counted_for_the_run_and_the_day() {
        let budget = Budget { run_usd: 0.5, day_usd: 1.0 };
        assert_eq!(check_budget(0.1, 0.4, 0.4, &budget), Ok(()));
        assert_eq!(check_budget(0.1, 0.41, 0.41, &budget), Err(SkipReason::RunBudget));
        assert_eq!(check_budget(0.1, 0.0, 0.95, &budget), Err(SkipReason::DayBudget));
    }
}
