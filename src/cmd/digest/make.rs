//! The second phase: digests. Money is reserved before it is spent; every session's digest is one transaction.
//!
//! Within a project sessions are digested in the order in which they began, because each is shown what earlier ones left open;
//! projects go side by side. So the result does not depend on what was read when.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use anyhow::{Context, Result};
use indicatif::ProgressBar;

use super::report::Report;
use crate::cmd::filter::ProjectFilter;
use crate::config::{Config, SummarizerChoice};
use crate::select::{Budget, Skip, Standing, affordable, deserves, may_retry};
use crate::session::{Millis, digest_of};
use crate::stop;
use crate::store::Store;
use crate::store::digests::NewDigest;
use crate::store::load::SessionHead;
use crate::summarize::{Claude, Extract, Failure, Input, Made, Summarizer, request};
use crate::ui::Ui;

/// What the command line asks for.
pub struct Wanted {
    pub since: Millis,
    pub project: ProjectFilter,
    pub session: Option<String>,
    pub limit: usize,
    pub asked_for: Option<SummarizerChoice>,
    pub settle: Millis,
}

/// How the sessions of a run are to be digested.
pub struct Plan {
    /// All sessions of the projects concerned, by project, in the order of their beginning.
    pub projects: BTreeMap<String, VecDeque<SessionHead>>,
    /// Sessions that want a digest.
    pub chosen: HashSet<i64>,
    /// Of these, the ones the model is to make.
    pub for_model: HashSet<i64>,
    pub skipped: Vec<(SessionHead, Skip)>,
    /// A first run over many sessions: without the model, and final until asked again.
    pub backlog: bool,
}

pub struct Maker<'a> {
    config: &'a Config,
    ui: &'a Ui,
    now: Millis,
    wanted: &'a Wanted,
    system: String,
    model: Result<Claude, String>,
}

/// What happens to a session.
enum Route {
    /// The model is asked; the reservation of its worst cost, unless an answer lies here already.
    Call(Option<i64>),
    /// Without the model, which stays wanted when there is a reason.
    Extract(Option<Skip>),
    /// The digest on record was made from the very same input.
    Keep,
}

/// A call that is under way.
struct Pending {
    head: SessionHead,
    input: Input,
    reservation: Option<i64>,
    made: Result<Made, Failure>,
}

/// What changes while a run goes on.
struct Run<'r> {
    store: &'r mut Store,
    report: &'r mut Report,
    bar: ProgressBar,
    plan: Plan,
    /// Why the model is not asked any more.
    model_off: Option<String>,
    budget: Budget,
    spent_run: f64,
}

impl<'a> Maker<'a> {
    pub fn new(config: &'a Config, ui: &'a Ui, now: Millis, wanted: &'a Wanted) -> Result<Self> {
        let model = match config.digest.summarizer {
            SummarizerChoice::Extract => Err("the model was not asked for".to_owned()),
            SummarizerChoice::Auto | SummarizerChoice::Claude => Claude::find(config),
        };
        if let (SummarizerChoice::Claude, Err(why)) = (config.digest.summarizer, &model) {
            ui.warn(&format!("{why}: going on without the model"));
        }
        let own = config.prompt_override();
        let system = match std::fs::read_to_string(&own) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => crate::summarize::SHIPPED.to_owned(),
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", own.display())),
        };
        Ok(Self { config, ui, now, wanted, system, model })
    }

    pub fn run(&self, store: &mut Store, report: &mut Report) -> Result<()> {
        let mut plan = self.plan(store)?;
        report.sessions_skipped = plan.skipped.len() as u64;
        for (head, skip) in std::mem::take(&mut plan.skipped) {
            self.record_skip(store, &head, &skip)?;
        }
        if plan.chosen.is_empty() {
            return Ok(());
        }
        if plan.backlog {
            self.ui.note(&format!("{} sessions at once: digested without the model; `recall digest --dry-run --summarizer claude` says what it would cost with it", plan.chosen.len()));
        }
        let bar = self.ui.sessions(plan.chosen.len() as u64);
        let budget = Budget { run_usd: self.config.digest.max_cost_usd, day_usd: self.config.digest.max_cost_usd_per_day };
        let mut run = Run { store, report, bar, plan, model_off: self.model.as_ref().err().cloned(), budget, spent_run: 0.0 };
        self.work(&mut run)?;
        run.bar.finish_and_clear();
        run.report.cost_usd = run.spent_run;
        Ok(())
    }

    /// Sessions that can never be digested as they are need not be looked at again until they grow.
    fn record_skip(&self, store: &Store, head: &SessionHead, skip: &Skip) -> Result<()> {
        if matches!(skip, Skip::NoPrompt | Skip::NoWork) {
            store.mark_clean(head.pk)?;
        }
        store.note_skip(head.pk, &skip.to_string())
    }

    /// Which sessions want a digest, who makes it, and why others get none.
    pub fn plan(&self, store: &Store) -> Result<Plan> {
        let only = self.wanted.session.as_deref().map(|id| store.find_session(id)).transpose()?;
        let mut plan = Plan { projects: BTreeMap::new(), chosen: HashSet::new(), for_model: HashSet::new(), skipped: Vec::new(), backlog: false };
        let mut candidates: Vec<SessionHead> = Vec::new();
        for head in store.session_heads()? {
            let asked = only.as_ref().is_some_and(|o| o.pk == head.pk);
            if (only.is_some() && !asked) || !self.is_asked_for(&head) || !self.wants_digest(store, &head, asked)? {
                continue;
            }
            match self.standing(store, &head).and_then(|s| Ok(deserves(&s, self.now, if asked { 0 } else { self.wanted.settle })))? {
                Ok(()) => candidates.push(head),
                Err(skip) => plan.skipped.push((head, skip)),
            }
        }
        // Newest first: what was done last is asked for first.
        candidates.sort_by_key(|h| std::cmp::Reverse((h.started_at, h.id.clone())));
        plan.backlog = self.model.is_ok() && self.wanted.asked_for.is_none() && candidates.len() > self.config.digest.backlog && !store.has_digests()?;
        for (at, head) in candidates.into_iter().enumerate() {
            if at >= self.wanted.limit {
                plan.skipped.push((head, Skip::Limit));
                continue;
            }
            plan.chosen.insert(head.pk);
            if self.model.is_ok() && !plan.backlog && plan.for_model.len() < self.config.digest.max_sessions && self.retry_due(store, &head)? {
                plan.for_model.insert(head.pk);
            }
        }
        self.group(store, &mut plan)?;
        Ok(plan)
    }

    fn is_asked_for(&self, head: &SessionHead) -> bool {
        self.wanted.project.fits(&head.project) && (head.grew_at >= self.wanted.since || (head.started_at != Millis::MAX && head.started_at >= self.wanted.since))
    }

    fn wants_digest(&self, store: &Store, head: &SessionHead, asked: bool) -> Result<bool> {
        if head.dirty || asked {
            return Ok(true);
        }
        let Some(state) = store.digest_state(head.pk)? else { return Ok(false) };
        let upgrade = self.wanted.asked_for == Some(SummarizerChoice::Claude) && state.summarizer == "extract";
        let downgrade_to_final = self.wanted.asked_for == Some(SummarizerChoice::Extract) && state.queued;
        Ok(self.model.is_ok() && (state.queued || upgrade) || downgrade_to_final)
    }

    fn standing(&self, store: &Store, head: &SessionHead) -> Result<Standing> {
        let (has_prompt, has_work) = store.has_prompt_and_work(head)?;
        Ok(Standing { grew_at: head.grew_at, ended_at: head.ended_at, has_prompt, has_work })
    }

    fn retry_due(&self, store: &Store, head: &SessionHead) -> Result<bool> {
        let Some(state) = store.digest_state(head.pk)? else { return Ok(true) };
        let last = state.last_failure.map(|(at, _)| at);
        Ok(self.wanted.session.is_some() || may_retry(state.failures, last, self.now).is_ok())
    }

    /// All sessions of the projects concerned: a digest may change what a later session is shown.
    fn group(&self, store: &Store, plan: &mut Plan) -> Result<()> {
        if plan.chosen.is_empty() {
            return Ok(());
        }
        for head in store.session_heads()? {
            plan.projects.entry(head.project.key.clone()).or_default().push_back(head);
        }
        plan.projects.retain(|_, heads| heads.iter().any(|h| plan.chosen.contains(&h.pk)));
        Ok(())
    }

    /// Walks all projects at once, as many calls of the model under way as the config allows.
    fn work(&self, run: &mut Run<'_>) -> Result<()> {
        let mut ready: VecDeque<VecDeque<SessionHead>> = std::mem::take(&mut run.plan.projects).into_values().collect();
        std::thread::scope(|scope| {
            let (send, receive): (Sender<(Pending, VecDeque<SessionHead>)>, Receiver<_>) = channel();
            let mut under_way = 0;
            loop {
                while under_way < self.config.digest.parallel_calls && !stop::asked() {
                    let Some(mut sessions) = ready.pop_front() else { break };
                    let Some(head) = sessions.pop_front() else { continue };
                    match self.begin(run, &head)? {
                        Some((input, reservation)) => {
                            self.call(scope, Pending { head, input, reservation, made: Err(Failure::Stopped) }, sessions, send.clone());
                            under_way += 1;
                        }
                        // Done without a call: the next of the project can follow at once.
                        None => ready.push_front(sessions),
                    }
                }
                if under_way == 0 {
                    return Ok(());
                }
                let (done, rest) = receive.recv().context("a call of the model vanished")?;
                under_way -= 1;
                self.end(run, done)?;
                ready.push_back(rest);
            }
        })
    }

    /// Digests a session without the model, or prepares the model's call and reserves its worst cost.
    fn begin(&self, run: &mut Run<'_>, head: &SessionHead) -> Result<Option<(Input, Option<i64>)>> {
        // What the run did before may have changed what this session is shown.
        let head = &run.store.session_head(head.pk)?;
        let chosen = run.plan.chosen.contains(&head.pk);
        if !chosen && !(head.dirty && run.store.digest_state(head.pk)?.is_some() && self.is_asked_for(head) && self.wanted.session.is_none()) {
            return Ok(None);
        }
        let input = self.input(run.store, head)?;
        match self.route(run, head, &input)? {
            Route::Call(reservation) => return Ok(Some((input, reservation))),
            Route::Extract(skip) => self.extract(run, head, &input, skip)?,
            Route::Keep => {
                run.store.refresh_pages(head.pk)?;
                run.bar.inc(1);
            }
        }
        Ok(None)
    }

    pub fn input(&self, store: &Store, head: &SessionHead) -> Result<Input> {
        let session = store.load_session(head)?;
        let open = store.open_before(head)?;
        let request = request(&session, &open, &self.system, self.config.digest.input_chars);
        Ok(Input { session, open, request })
    }

    /// Who makes this session's digest now. When it is the model, its worst cost is reserved.
    fn route(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input) -> Result<Route> {
        if run.plan.backlog {
            return Ok(Route::Extract(None));
        }
        let claude = match (&self.model, &run.model_off) {
            (Ok(claude), None) => claude,
            (_, why) => return Ok(Route::Extract(self.without_model(why.clone().unwrap_or_default()))),
        };
        let made_by_model = run.store.digest_state(head.pk)?.filter(|s| s.summarizer == "claude");
        let current = made_by_model.as_ref().is_some_and(|s| s.input_hash == input.request.hash(claude.model()));
        if current && self.wanted.session.is_none() {
            return Ok(Route::Keep);
        }
        if !run.plan.for_model.contains(&head.pk) && made_by_model.is_none() {
            return Ok(Route::Extract(Some(Skip::Limit)));
        }
        if claude.has_reply(input) {
            return Ok(Route::Call(run.store.open_reservation(&head.id)?));
        }
        let Some(worst) = claude.worst_cost(input) else {
            return Ok(Route::Extract(Some(Skip::UnknownPrice(claude.model().to_owned()))));
        };
        let today = run.store.spent_since(self.midnight())?;
        if let Err(skip) = affordable(worst, run.spent_run, today, &run.budget) {
            return Ok(Route::Extract(Some(skip)));
        }
        run.spent_run += worst;
        Ok(Route::Call(Some(run.store.reserve(self.now, &head.id, claude.model(), worst)?)))
    }

    /// Likely and worst cost of a call with this input; `None` without a model.
    pub fn price(&self, input: &Input) -> Option<(Option<f64>, Option<f64>)> {
        self.model.as_ref().ok().map(|claude| (claude.likely_cost(input), claude.worst_cost(input)))
    }

    /// Digests asked for without the model are final; others stay queued for it.
    fn without_model(&self, why: String) -> Option<Skip> {
        (self.config.digest.summarizer != SummarizerChoice::Extract).then_some(Skip::NoModel(why))
    }

    fn midnight(&self) -> Millis {
        let now = jiff::Timestamp::from_millisecond(self.now).unwrap_or_default().to_zoned(self.config.time_zone.clone());
        now.start_of_day().map_or(self.now - 86_400_000, |z| z.timestamp().as_millisecond())
    }

    fn call<'s>(&'s self, scope: &'s Scope<'s, '_>, mut pending: Pending, rest: VecDeque<SessionHead>, send: Sender<(Pending, VecDeque<SessionHead>)>) {
        scope.spawn(move || {
            if let Ok(claude) = &self.model {
                pending.made = claude.summarize(&pending.input);
            }
            // The receiver only goes away when the run has failed already.
            let _ = send.send((pending, rest));
        });
    }

    /// A call has ended: its money is settled, its digest stored; without one the session gets an extractive digest.
    fn end(&self, run: &mut Run<'_>, done: Pending) -> Result<()> {
        let cost = match &done.made {
            Ok(made) => made.cost_usd,
            Err(Failure::Session { cost_usd, .. } | Failure::Model { cost_usd, .. }) => *cost_usd,
            Err(Failure::Stopped) => None,
        };
        if let (Some(reservation), Some(actual)) = (done.reservation, cost) {
            run.spent_run += actual - run.store.settle(reservation, actual)?;
        }
        let head = &done.head;
        match done.made {
            Ok(made) => self.store_made(run, head, &done.input, made),
            Err(Failure::Stopped) => Ok(()),
            Err(failure) => {
                let what = failure.to_string();
                run.store.note_failure(head.pk, self.now, &what)?;
                run.report.sessions_failed += 1;
                if matches!(failure, Failure::Model { .. }) && run.model_off.is_none() {
                    self.ui.warn(&format!("{what}: going on without the model"));
                    run.model_off = Some(what.clone());
                } else {
                    self.ui.warn(&format!("session {}: {what}", head.id));
                }
                self.extract(run, head, &done.input, Some(Skip::NoModel(format!("failed: {what}"))))
            }
        }
    }

    fn store_made(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input, made: Made) -> Result<()> {
        let Ok(claude) = &self.model else { return Ok(()) };
        let input_hash = input.request.hash(claude.model());
        let new = NewDigest { summarizer: "claude", model: made.model, input_hash, made_at: self.now, cost_usd: made.cost_usd, queued: false, digest: made.digest };
        run.store.save_digest(head, &new)?;
        claude.forget_reply(input);
        run.report.sessions_digested += 1;
        run.bar.inc(1);
        Ok(())
    }

    /// An extractive digest; `skip` is why the model, which stays wanted, did not make it.
    fn extract(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input, skip: Option<Skip>) -> Result<()> {
        let input_hash = hash_of(input)?;
        let state = run.store.digest_state(head.pk)?;
        let queued = skip.is_some();
        let same = state.as_ref().is_some_and(|s| s.summarizer == "extract" && s.input_hash == input_hash && s.queued == queued);
        let paid = state.is_some_and(|s| s.summarizer == "claude") && !head.dirty;
        if same || paid && self.wanted.asked_for != Some(SummarizerChoice::Extract) {
            run.store.refresh_pages(head.pk)?;
        } else {
            let made = Extract.summarize(input).map_err(anyhow::Error::new)?;
            let new = NewDigest { summarizer: "extract", model: None, input_hash, made_at: self.now, cost_usd: None, queued, digest: made.digest };
            run.store.save_digest(head, &new)?;
            run.report.sessions_digested += 1;
        }
        if let Some(skip) = skip {
            run.store.note_skip(head.pk, &skip.to_string())?;
        }
        run.bar.inc(1);
        Ok(())
    }
}

/// Of everything an extractive digest depends on.
fn hash_of(input: &Input) -> Result<[u8; 32]> {
    let mut bytes = Vec::new();
    for entry in &input.session.entries {
        bytes.extend_from_slice(&entry.key.0);
        serde_json::to_writer(&mut bytes, &(&entry.at, &entry.agent, &entry.item, &entry.outcome))?;
    }
    let open: Vec<&str> = input.open.iter().map(|o| o.id.as_str()).collect();
    Ok(digest_of(&[b"extract", env!("CARGO_PKG_VERSION").as_bytes(), &bytes, open.join(" ").as_bytes()]))
}
