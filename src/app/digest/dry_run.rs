//! `--dry-run`: what would be read, digested and skipped, and what it would cost.
//!
//! Ingests into a temporary copy of the index, so the answer is exact and no file of the user changes.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::analyze::eligibility::SkipReason;
use crate::app::agents::Destination;
use crate::app::digest::from_pages::Outlived;
use crate::app::digest::ingest::parts;
use crate::app::digest::maker::DigestMaker;
use crate::app::digest::policy::{delete_excluded, forget_expired, unwanted_orphans};
use crate::app::digest::report::{Report, WaitingForModel, usd};
use crate::app::digest::request::{DigestRequest, DigestSelection};
use crate::app::digest::sandbox::open_sandbox;
use crate::app::digest::select::{DigestPlan, ModelCost};
use crate::app::list::title_of;
use crate::config::{Config, SummarizerChoice};
use crate::model::session_head::SessionHead;
use crate::policy::View;
use crate::store::{Memory, Reader};
use crate::sys::messages::Ui;
use crate::sys::pager;
use text::clean::{counted, fit_title, id8, one_line, size, without_controls};
use transcripts::client::Client;
use transcripts::session::Millis;

/// How many sessions of a group are named, unless all are asked for.
const EXAMPLES: usize = 10;
/// The most and the fewest characters of a title; between them it is as long as the terminal has room for.
const TITLE_CHARS: usize = 60;
const MIN_TITLE_CHARS: usize = 12;
/// What stands before a session, in columns.
const INDENT: usize = 10;

pub(crate) fn run(request: &DigestRequest, config: &Config, ui: &Ui, now: Millis, out: &mut impl Write) -> Result<()> {
    let mut report = Report::default();
    let Some((_folder, mut store)) = open_sandbox(request, config, ui, now, &mut report)? else {
        ui.note("another run is under way");
        if request.json {
            writeln!(out, "{}", json!({"dry_run": true, "another_run": true}))?;
        }
        return Ok(());
    };
    // Taken before what is excluded now is gone from the sandbox: what the owner does not see until the digest, no dry run names.
    let shown = Memory::beside_writer(&store, &config.policy(View::Owner))?;
    // Before the deletions below: the pages of sessions that these delete would count, too.
    unwanted_orphans(config, now, &store, &mut report)?;
    delete_excluded(config, &mut store, &mut report)?;
    parts::read(request, config, ui, now, &mut store, &mut report)?;
    forget_expired(config, now, &mut store, &mut report)?;
    let wanted = DigestSelection::of(request, config)?;
    if let Some(outlived) = Outlived::find(config, &store)? {
        outlived.take_back_digests(config, ui, now, &mut store)?;
    }
    if config.digest.summarizer.may_ask_model() {
        // As the run does, so that a request lists the same of earlier sessions.
        store.write_documents()?;
    }
    let maker = DigestMaker::new(config, ui, now, &wanted, &store)?;
    let mut plan = maker.plan(&store, wanted.newest)?;
    let outcome = Outcome::of(&maker, &store, &plan)?;
    if let Err(why) = &maker.model {
        // Of a model that is not there, nobody would ask for a backlog.
        for not_now in plan.chosen.iter_mut().map(|(_, not_now)| not_now).filter(|not_now| **not_now == Some(SkipReason::Backlog)) {
            *not_now = Some(SkipReason::ModelUnavailable(why.clone()));
        }
    }
    let model = maker.model.as_ref().map(|model| model.name()).map_err(String::as_str);
    let agents: Vec<AgentPlan> =
        store.sessions_by_client()?.into_iter().map(|of| AgentPlan::of(of.client, &report, model, config)).collect();
    if request.json {
        serde_json::to_writer(&mut *out, &DryRunReply::of(&report, &plan, &outcome, &agents))?;
        writeln!(out)?;
        return Ok(());
    }
    print(&report, &plan, &outcome, &agents, out)?;
    let named = if request.verbose { usize::MAX } else { EXAMPLES };
    groups(&plan).iter().try_for_each(|group| group.print(named, |head| describe(head, &shown, config), out))
}

/// What the report of the run would count.
struct Outcome {
    by_model: usize,
    without_model: usize,
    waiting: WaitingForModel,
    /// What the model's digests of the backlog would cost, if somebody asked for them.
    backlog: ModelCost,
    /// What a person is offered on a terminal.
    offer: Option<ModelCost>,
}

impl Outcome {
    fn of(maker: &DigestMaker<'_>, store: &Reader, plan: &DigestPlan) -> Result<Self> {
        let by_model = plan.for_model().count();
        let mut without_model = plan.interim.len();
        let mut waiting: BTreeMap<i64, SessionHead> = store.heads_for_model()?.into_iter().map(|head| (head.pk, head)).collect();
        for (head, not_now) in &plan.chosen {
            waiting.remove(&head.pk);
            let Some(made) = maker.would_make_without_model(store, head, not_now.as_ref())? else { continue };
            without_model += usize::from(made.is_new);
            if made.is_queued {
                waiting.insert(head.pk, head.clone());
            }
        }
        let waiting: Vec<SessionHead> = waiting.into_values().collect();
        let (waiting, backlog) = (maker.waiting(store, &waiting)?, maker.cost_of(store, &plan.backlog)?);
        let is_unchosen = maker.wanted.asked_for.is_none() && maker.config.digest.summarizer == SummarizerChoice::Auto;
        let offer = if is_unchosen { maker.offer(store, plan)?.map(|offer| offer.cost) } else { None };
        Ok(Self { by_model, without_model, waiting, backlog, offer })
    }
}

fn print(report: &Report, plan: &DigestPlan, outcome: &Outcome, agents: &[AgentPlan], out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "would read      {} of {}, {}, {}",
        report.files_read,
        counted(report.files_seen as usize, "file"),
        counted(report.rows_new as usize, "new line"),
        size(report.bytes_read)
    )?;
    if let Some(new) = report.new_by_agent() {
        writeln!(out, "                {new}")?;
    }
    if report.sessions_forgotten > 0 {
        let forgotten = counted(report.sessions_forgotten as usize, "session");
        writeln!(out, "would forget    {forgotten} older than `retention.days`")?;
    }
    if report.sessions_excluded > 0 {
        let excluded = counted(report.sessions_excluded as usize, "session");
        writeln!(out, "would delete    {excluded} with a part in an excluded project")?;
    }
    let Outcome { by_model, without_model, waiting, backlog, offer } = outcome;
    let all = counted(by_model + without_model, "session");
    writeln!(out, "would digest    {all}: {by_model} by the model, {without_model} without it")?;
    let of_backlog = if plan.cost.calls > 0 { "the others    " } else { "with the model" };
    for (label, cost) in [("would cost    ", &plan.cost), (of_backlog, backlog)].into_iter().filter(|(_, c)| c.calls > 0) {
        let (likely, worst) = (usd(cost.likely), usd(cost.worst));
        writeln!(out, "{label}  about {likely}, at most {worst} at list price, for {}", counted(cost.calls, "call"))?;
    }
    if let Some(offer) = offer {
        writeln!(
            out,
            "would ask       on a terminal: whether to digest the newest {} with the model, for about {}",
            offer.calls,
            usd(offer.likely)
        )?;
    }
    if waiting.waiting_for_model > 0 {
        writeln!(out, "would wait      {}", waiting.text())?;
    }
    if !plan.left.is_empty() {
        writeln!(out, "would leave     {} made without the model unchanged", counted(plan.left.len(), "digest"))?;
    }
    for (n, AgentPlan { agent, sent_to, .. }) in agents.iter().enumerate() {
        let label = if n == 0 { "what goes where" } else { "" };
        writeln!(out, "{label:<16}{}: {}", agent.name(), one_line(&without_controls(&sent_to.text())))?;
    }
    Ok(())
}

/// Sessions of which the same is to be told.
struct Group<'a> {
    /// What becomes of them.
    verb: &'static str,
    /// What they have in common.
    reason: String,
    /// Newest first, each with the whole reason.
    sessions: Vec<(&'a SessionHead, String)>,
}

/// The plan by what becomes of sessions and why, each reason where it comes first.
fn groups(plan: &DigestPlan) -> Vec<Group<'_>> {
    let who =
        |not_now: Option<String>| not_now.map_or_else(|| "with the model".to_owned(), |why| format!("without the model: {why}"));
    let chosen = plan.chosen.iter().map(|(head, not_now)| {
        let why = not_now.as_ref();
        ("digest", who(why.map(SkipReason::in_common)), head, who(why.map(ToString::to_string)))
    });
    let interim = plan.interim.iter().map(|head| ("so far", "it goes on".to_owned(), head, "it goes on".to_owned()));
    let skipped = plan
        .skipped
        .iter()
        .map(|(head, why)| (if why.is_for_good() { "skip" } else { "wait" }, why.in_common(), head, why.to_string()));
    let mut all: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    for (verb, reason, head, whole) in chosen.chain(interim).chain(skipped) {
        let at = *known.entry((verb, reason.clone())).or_insert_with(|| {
            all.push(Group { verb, reason, sessions: Vec::new() });
            all.len() - 1
        });
        all[at].sessions.push((head, whole));
    }
    for group in &mut all {
        group.sessions.sort_by_key(|(head, _)| std::cmp::Reverse((head.last_active(), &head.id)));
    }
    all
}

impl Group<'_> {
    /// One line for a single session; for several their number and reason, and at most `named` of them.
    fn print(&self, named: usize, describe: impl Fn(&SessionHead) -> Result<String>, out: &mut impl Write) -> Result<()> {
        let Self { verb, reason, sessions } = self;
        if let [(head, why)] = sessions.as_slice() {
            writeln!(out, "  {verb:<6}  {} ({})", describe(head)?, one_line(&without_controls(why)))?;
            return Ok(());
        }
        writeln!(out, "  {verb:<6}  {} sessions: {}", sessions.len(), one_line(&without_controls(reason)))?;
        for (head, _) in sessions.iter().take(named) {
            writeln!(out, "          {}", describe(head)?)?;
        }
        let more = sessions.len().saturating_sub(named);
        if more > 0 {
            writeln!(out, "          … and {more} more: `--verbose` names them all")?;
        }
        Ok(())
    }
}

/// A session's short id, day, project and title or first words, as far as it has them and its owner sees them.
fn describe(head: &SessionHead, shown: &Memory, config: &Config) -> Result<String> {
    let known = shown.look_up_session(&head.id)?.is_some();
    let title = known.then(|| title_of(shown, head)).transpose()?.flatten();
    let day = (head.started_at != Millis::MAX).then(|| config.local_time(Some(head.started_at), "%Y-%m-%d"));
    let parts = [Some(id8(&head.id).to_owned()), day, Some(head.project.name().to_owned())];
    let parts = parts.into_iter().flatten().map(|part| one_line(&without_controls(&part)));
    let mut described = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
    let title = title.map(|title| one_line(&without_controls(&title))).filter(|title| !title.is_empty());
    if let Some(title) = title {
        let taken = INDENT + described.chars().count() + "  ".len();
        let room =
            pager::terminal().map_or(TITLE_CHARS, |size| size.columns.saturating_sub(taken).clamp(MIN_TITLE_CHARS, TITLE_CHARS));
        described += &format!("  {}", fit_title(&title, room));
    }
    Ok(described)
}

/// What becomes of an agent's sessions.
#[derive(Debug, Serialize)]
struct AgentPlan {
    agent: Client,
    /// How many the run would store that are not stored yet.
    sessions_new: u64,
    sent_to: Destination,
}

impl AgentPlan {
    fn of(client: Client, report: &Report, model: Result<&str, &str>, config: &Config) -> Self {
        let sessions_new = report.sessions_new_by_agent.get(&client).copied().unwrap_or_default();
        Self { agent: client, sessions_new, sent_to: Destination::of(client, model, config) }
    }
}

/// What a dry run answers as data.
#[derive(Debug, Serialize)]
struct DryRunReply<'p> {
    dry_run: bool,
    agents: &'p [AgentPlan],
    files_seen: u64,
    files_read: u64,
    bytes_read: u64,
    rows_new: u64,
    sessions_forgotten: u64,
    sessions_excluded: u64,
    digest: Vec<ChosenSession<'p>>,
    interim: Vec<&'p str>,
    skip: Vec<SkippedSession<'p>>,
    digests_by_model: usize,
    digests_without_model: usize,
    waiting_for_model: u64,
    /// In US dollars, as all that follow; `None` where a price is unknown.
    waiting_cost_usd: Option<f64>,
    left_without_model: usize,
    calls: usize,
    likely_cost_usd: Option<f64>,
    worst_cost_usd: Option<f64>,
    backlog_cost_usd: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ChosenSession<'p> {
    session: &'p str,
    project: &'p str,
    with_model: bool,
    why_not: Option<String>,
}

#[derive(Debug, Serialize)]
struct SkippedSession<'p> {
    session: &'p str,
    why: String,
}

impl<'p> DryRunReply<'p> {
    fn of(report: &Report, plan: &'p DigestPlan, outcome: &Outcome, agents: &'p [AgentPlan]) -> Self {
        let chosen = |(head, not_now): &'p (SessionHead, Option<SkipReason>)| ChosenSession {
            session: &head.id,
            project: &head.project.key,
            with_model: not_now.is_none(),
            why_not: not_now.as_ref().map(SkipReason::to_string),
        };
        Self {
            dry_run: true,
            agents,
            files_seen: report.files_seen,
            files_read: report.files_read,
            bytes_read: report.bytes_read,
            rows_new: report.rows_new,
            sessions_forgotten: report.sessions_forgotten,
            sessions_excluded: report.sessions_excluded,
            digest: plan.chosen.iter().map(chosen).collect(),
            interim: plan.interim.iter().map(|head| head.id.as_str()).collect(),
            skip: plan.skipped.iter().map(|(head, why)| SkippedSession { session: &head.id, why: why.to_string() }).collect(),
            digests_by_model: outcome.by_model,
            digests_without_model: outcome.without_model,
            waiting_for_model: outcome.waiting.waiting_for_model,
            waiting_cost_usd: outcome.waiting.waiting_cost_usd,
            left_without_model: plan.backlog.len() + plan.left.len(),
            calls: plan.cost.calls,
            likely_cost_usd: plan.cost.likely,
            worst_cost_usd: plan.cost.worst,
            backlog_cost_usd: outcome.backlog.likely,
        }
    }
}
