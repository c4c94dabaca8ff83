//! Has a report written by a model, under the same caps as digests: what it may cost is told and reserved before it is paid.

use anyhow::Result;

use super::StoredWork;
use super::written::{Facts, Written, read, request};
use crate::analyze::eligibility::SkipReason;
use crate::app::digest::{usd, why_model_rests};
use crate::app::model_call::{ModelCall, ModelOutcome, NotAsked, tell_not_asked};
use crate::config::{Config, SummarizerChoice};
use crate::model::digest::WITHOUT_MODEL;
use crate::render::report::{WorkReport, report_text, written_text};
use crate::store::Writer;
use crate::summarize::{self, ModelAnswer, ModelRequest, Summarizer};
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use text::clean::counted;
use transcripts::privacy::Sanitizer;
use transcripts::session::short_id;

/// How every message ends that says why the model did not write the report.
const INSTEAD: &str = "here is the report without the model";

/// The report that was asked for, by the model or without it.
pub(crate) struct AskedReport {
    pub(crate) text: String,
    /// The word of who wrote it.
    pub(crate) summarizer: &'static str,
    /// `None` without a model.
    pub(crate) model: Option<String>,
    /// What was paid, in US dollars, for a call that failed, too; `None` when the client did not report it.
    pub(crate) cost_usd: Option<f64>,
    /// Lines of the model's that do not hold.
    pub(crate) lines_left_out: usize,
    /// Sessions for which the request had no room.
    pub(crate) sessions_left_out: usize,
}

/// What a report would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlannedReport {
    /// 0 where no model would be asked, or its answer is kept.
    pub(crate) calls: usize,
    /// In US dollars; `None` where the price is unknown.
    pub(crate) likely_usd: Option<f64>,
    pub(crate) worst_usd: Option<f64>,
    pub(crate) sessions: usize,
    pub(crate) sessions_left_out: usize,
}

impl PlannedReport {
    fn free(sessions: usize, sessions_left_out: usize) -> Self {
        Self { calls: 0, likely_usd: Some(0.0), worst_usd: Some(0.0), sessions, sessions_left_out }
    }

    /// As the dry run of a digest says it.
    pub(crate) fn text(&self) -> String {
        let told = told_of(self.sessions, self.sessions_left_out);
        let cost = match self.calls {
            0 => "nothing".to_owned(),
            calls => {
                let (likely, worst) = (price(self.likely_usd), price(self.worst_usd));
                format!("about {likely}, at most {worst} at list price, for {}", counted(calls, "call"))
            }
        };
        format!("would contain   {told}\nwould cost      {cost}\n")
    }
}

/// A price in whole cents, rounded up: one call often costs less than a cent.
fn price(amount: Option<f64>) -> String {
    usd(amount.map(|usd| (usd * 100.0).ceil() / 100.0))
}

/// `3 sessions`, `3 of 5 sessions`
fn told_of(sessions: usize, left_out: usize) -> String {
    let all = counted(sessions + left_out, "session");
    if left_out == 0 { all } else { format!("{sessions} of {all}") }
}

/// Has a report of stored work written.
pub(crate) struct ReportWriter<'a> {
    pub(crate) config: &'a Config,
    pub(crate) choice: SummarizerChoice,
    pub(crate) work: &'a StoredWork,
    pub(crate) ui: &'a Ui,
}

/// What the model is given.
struct Given {
    report: WorkReport,
    facts: Facts,
    request: ModelRequest,
    sessions: usize,
    sessions_left_out: usize,
}

impl ReportWriter<'_> {
    /// The report by the model; the one without it where that fails, after telling why.
    ///
    /// # Errors
    /// When the index cannot be read or written.
    pub(crate) fn write(&self) -> Result<AskedReport> {
        let sanitizer = self.config.sanitizer()?;
        let Some(given) = self.given(&sanitizer) else { return Ok(self.without_model(Some(0.0))) };
        let Some(model) = self.model(&sanitizer)? else { return Ok(self.without_model(Some(0.0))) };
        if given.sessions_left_out > 0 {
            let told = told_of(given.sessions, given.sessions_left_out);
            self.ui.note(&format!("the model gets the newest {told}: more do not fit (`digest.input_chars`)"));
        }
        shutdown::install_handlers();
        let before = |worst: f64| {
            let likely = price(model.likely_cost(&given.request));
            self.ui.note(&format!("asking {}: about {likely}, at most {} at list price", model.name(), price(Some(worst))));
        };
        let call = self.call(model.as_ref(), &given.request);
        match call.make(&|said: &str| read(said, &given.facts, &sanitizer), &before)? {
            ModelOutcome::Answered(answer) => {
                model.replies().forget(&given.request);
                Ok(self.answered(&given, model.word(), answer))
            }
            ModelOutcome::NotAsked(not_asked) => {
                tell_not_asked(self.choice, &format!("{}; {INSTEAD}", self.refusal(&not_asked)), self.ui);
                Ok(self.without_model(Some(0.0)))
            }
            ModelOutcome::Failed(failure) => {
                let what = sanitizer.name(failure.to_string()).unwrap_or_else(|| "the model failed".into());
                self.ui.warn(&format!("{what}: {INSTEAD}"));
                Ok(self.without_model(failure.cost_usd()))
            }
        }
    }

    /// What it would cost, after telling why it would not be done. Changes nothing and asks no model.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn plan(&self) -> Result<PlannedReport> {
        let sanitizer = self.config.sanitizer()?;
        let Some(given) = self.given(&sanitizer) else { return Ok(PlannedReport::free(0, 0)) };
        let Some(model) = self.model(&sanitizer)? else {
            return Ok(PlannedReport::free(given.sessions + given.sessions_left_out, 0));
        };
        let free = PlannedReport::free(given.sessions, given.sessions_left_out);
        if summarize::has_answer(model.as_ref(), &given.request, &|said: &str| read(said, &given.facts, &sanitizer)) {
            return Ok(free);
        }
        if let Err(not_asked) = self.call(model.as_ref(), &given.request).check()? {
            tell_not_asked(self.choice, &self.refusal(&not_asked), self.ui);
        }
        let (likely_usd, worst_usd) = (model.likely_cost(&given.request), model.worst_cost(&given.request));
        Ok(PlannedReport { calls: 1, likely_usd, worst_usd, ..free })
    }

    fn call<'c>(&'c self, model: &'c dyn Summarizer, request: &'c ModelRequest) -> ModelCall<'c> {
        let name = short_id("report-", &[&request.system, &request.stdin]);
        ModelCall { config: self.config, model, request, name }
    }

    /// The summarizer that was chosen; `None` where none is asked, after telling why, if somebody wants it.
    fn model(&self, sanitizer: &Sanitizer) -> Result<Option<Box<dyn Summarizer>>> {
        let Self { config, choice, ui, .. } = self;
        if !choice.may_ask_model() {
            return Ok(None);
        }
        let rests = if choice.names_model() { None } else { why_model_rests(config, config.now(), "report") };
        if let Some(why) = rests {
            ui.note(&why);
            return Ok(None);
        }
        let answered_by = Writer::open_existing(&config.database())?.answered_by(&config.digest.model)?;
        let found = summarize::find(*choice, config, sanitizer, answered_by);
        if let (Err(why), true) = (&found, choice.names_model()) {
            ui.warn(&format!("{why}: the report is made without the model, at no cost"));
        }
        Ok(found.ok())
    }

    /// The report of as many of the newest sessions as a request has room for; `None` where there is nothing to tell.
    fn given(&self, sanitizer: &Sanitizer) -> Option<Given> {
        let (purpose, most) = (self.work.purpose, self.config.digest.input_chars);
        let (withheld, shown) = self.work.for_model(|client| self.config.sources.may_show_model(client));
        if withheld > 0 {
            let sessions = counted(withheld, "session");
            self.ui.note(&format!(
                "the model does not get {sessions} of other agents: you can allow it for an agent under `[sources]` in the config"
            ));
        }
        let of_newest = |count: usize| {
            let report = shown.report_of_newest(count);
            let facts = Facts::of(&report_text(&report, purpose, &self.config.time_zone), sanitizer);
            (report, facts)
        };
        let count = |report: &WorkReport| report.projects.iter().map(|work| work.sessions.len()).sum::<usize>();
        let (mut report, mut facts) = of_newest(usize::MAX);
        if facts.is_blank() {
            return None;
        }
        let all = count(&report);
        if facts.chars() > most {
            let (mut fits, mut too_many) = (0, all);
            while too_many - fits > 1 {
                let middle = usize::midpoint(fits, too_many);
                if of_newest(middle).1.chars() <= most { fits = middle } else { too_many = middle }
            }
            let newest = of_newest(fits);
            // Where not even one session has room, its first lines are told.
            (report, facts) = if newest.1.is_blank() { of_newest(too_many) } else { newest };
            facts = facts.cut_to(most);
        }
        let sessions = count(&report);
        let request = request(&purpose.word(), &facts);
        Some(Given { report, facts, request, sessions, sessions_left_out: all - sessions })
    }

    /// The model's report, after telling what it cost and what of it does not hold.
    fn answered(&self, given: &Given, summarizer: &'static str, answer: ModelAnswer<Written>) -> AskedReport {
        let ModelAnswer { value: written, model, cost_usd } = answer;
        let paid = cost_usd.map_or_else(|| "an unknown price".to_owned(), |usd| format!("${usd:.4} at list price"));
        self.ui.note(&format!("paid {paid}"));
        for (count, one, many) in [
            (written.unknown, "it names what the sessions do not have", "they name what the sessions do not have"),
            (written.opposed, "the sessions say the opposite", "the sessions say the opposite"),
        ] {
            if count > 0 {
                self.ui.note(&format!("{} left out: {}", counted(count, "line"), if count == 1 { one } else { many }));
            }
        }
        let by = format!("{model} from {}", told_of(given.sessions, given.sessions_left_out));
        AskedReport {
            text: written_text(&given.report, self.work.purpose, &self.config.time_zone, &written.parts, &by),
            summarizer,
            model: Some(model),
            cost_usd,
            lines_left_out: written.left_out(),
            sessions_left_out: given.sessions_left_out,
        }
    }

    fn without_model(&self, cost_usd: Option<f64>) -> AskedReport {
        let text = report_text(&self.work.report(), self.work.purpose, &self.config.time_zone);
        AskedReport { text, summarizer: WITHOUT_MODEL, model: None, cost_usd, lines_left_out: 0, sessions_left_out: 0 }
    }

    /// Why a call is not made: which cap it would pass, and what to do.
    fn refusal(&self, not_asked: &NotAsked) -> String {
        let digest = &self.config.digest;
        let worst = price(not_asked.worst_usd);
        match &not_asked.why {
            SkipReason::RunBudget => format!(
                "the report may cost {worst}, over the {} of a run: raise `digest.max_cost_usd` in the config, or ask for less with \
                 `--since` or `--project`",
                usd(Some(digest.max_cost_usd))
            ),
            SkipReason::DayBudget => format!(
                "the report may cost {worst}, and {} of today's limit of {} is spent: raise `digest.max_cost_usd_per_day` in the config, \
                 or ask again tomorrow",
                usd(Some(not_asked.spent_day)),
                usd(Some(digest.max_cost_usd_per_day))
            ),
            why => why.to_string(),
        }
    }
}
