//! What was done over a time, put together from stored accounts: for a standup, a week, a pull request or a changelog.
//!
//! No model is asked, unless somebody wants it written by one: `written` builds the request and reads the reply, `ask_model` makes the call
//! and keeps to the caps.

mod ask_model;
mod written;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

pub(crate) use self::ask_model::{AskedReport, PlannedReport, ReportWriter};
use crate::analyze::account::{Commit, LastRun, LaterEvidence, SessionAccount, WordKind, undoes};
use crate::app::close_items::open_in;
use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::digest::is_by_model;
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::render::report::{Decided, LeftOpen, ProjectWork, ReportFor, WorkReport, WorkedSession};
use crate::store::Memory;
use crate::sys::git::Git;
use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// Since when a report tells, if nothing else was asked.
fn usual_since(purpose: ReportFor) -> Option<&'static str> {
    match purpose {
        ReportFor::Standup => Some("yesterday"),
        ReportFor::Week | ReportFor::Changelog => Some("7d"),
        ReportFor::Pr => None,
    }
}

pub(crate) struct ReportRequest<'a> {
    pub(crate) purpose: ReportFor,
    /// As of `--since`.
    pub(crate) since: Option<&'a str>,
    /// Only projects that this glob means.
    pub(crate) project: Option<&'a str>,
    /// Only what was done on this branch.
    pub(crate) branch: Option<&'a str>,
}

/// What is stored of the sessions that a report is of.
#[derive(Clone)]
pub(crate) struct StoredWork {
    since: Option<Millis>,
    until: Millis,
    /// Nothing older is told: the first moment of `since`.
    begin: Millis,
    branch: Option<String>,
    purpose: ReportFor,
    projects: Vec<StoredProject>,
    undigested: usize,
}

/// A project's part of it, with what is open in the project. Sessions stand in the order in which they ended.
#[derive(Clone)]
struct StoredProject {
    project: Project,
    sessions: Vec<StoredSession>,
    open: Vec<LeftOpen>,
}

#[derive(Clone)]
struct StoredSession {
    head: SessionHead,
    account: SessionAccount,
    title: String,
    /// What a model found to be decided.
    stated: Vec<Decided>,
}

/// # Errors
/// When the project or the time cannot be read, when no branch is known that is asked for, or the index cannot be read.
pub(crate) fn stored_work(memory: &OpenMemory, config: &Config, asked: &ReportRequest<'_>, here: &Path) -> Result<StoredWork> {
    let since = asked.since.or(usual_since(asked.purpose));
    let since = since.map(|text| parse_since(Some(text), config)).transpose()?;
    let of_pr = asked.purpose == ReportFor::Pr;
    // A pull request is one project's: the folder's, where none is named.
    let keys = config.project_keys();
    let own = (of_pr && asked.project.is_none()).then(|| keys.key_of(&here.to_string_lossy()));
    let filter = ProjectFilter::new(asked.project, config)?;
    let branch = match asked.branch {
        Some(branch) => Some(branch.to_owned()),
        None if of_pr => Some(branch_of(here, config)?),
        None => None,
    };
    let fits = |project: &Project| filter.fits(project) && own.as_ref().is_none_or(|own| project.key == *own);
    let mut projects: BTreeMap<String, Vec<SessionHead>> = BTreeMap::new();
    let begin = since.unwrap_or(Millis::MIN);
    for head in memory.0.session_heads()?.into_iter().filter(|head| fits(&head.project)) {
        if head.counts_at() >= begin {
            projects.entry(head.project.key.clone()).or_default().push(head);
        }
    }
    let purpose = asked.purpose;
    let mut work = StoredWork { since, until: config.now(), begin, branch, purpose, projects: Vec::new(), undigested: 0 };
    for (project, heads) in projects {
        let is_own = |folder: &str| keys.key_of(folder) == project;
        let sessions = work.sessions_of(&memory.0, heads, is_own)?;
        if sessions.is_empty() {
            continue;
        }
        let open = open_in(memory, &project)?.into_iter().filter(|line| !line.is_of_all);
        let open = open.map(|line| {
            let said_in = line.session.map(|id| memory.0.look_up_session(&id)).transpose()?.flatten();
            let client = said_in.map(|head| head.client).unwrap_or_default();
            Ok(LeftOpen { id: line.id, kind: line.kind, text: line.text, last_at: line.last_at, client })
        });
        let open = open.collect::<Result<_>>()?;
        work.projects.push(StoredProject { project: Project { key: project }, sessions, open });
    }
    Ok(work)
}

impl StoredWork {
    /// What is stored of these sessions of a project. A worktree beside it `is_own`: what was committed there is the project's.
    fn sessions_of(
        &mut self,
        memory: &Memory,
        mut heads: Vec<SessionHead>,
        is_own: impl Fn(&str) -> bool,
    ) -> Result<Vec<StoredSession>> {
        heads.sort_by(|a, b| (b.last_active(), &b.id).cmp(&(a.last_active(), &a.id)));
        let mut sessions = Vec::new();
        // A commit is told by the hash that it has now: the newest session knows best.
        let mut later = LaterEvidence::default();
        for head in heads {
            // A later session holds all of it.
            if memory.repeated_by(head.pk)?.is_some() {
                continue;
            }
            let (Some(mut account), Some(stored)) = (memory.account_of(head.pk)?, memory.digest_of(head.pk)?) else {
                self.undigested += usize::from(head.has_grown());
                continue;
            };
            later.amend(&mut account);
            later.add(&account);
            for commit in &mut account.commits {
                commit.elsewhere.take_if(|folder| is_own(folder));
            }
            if self.branch.as_ref().is_some_and(|branch| !is_on(&account, branch)) {
                continue;
            }
            let mut stated = Vec::new();
            if is_by_model(&stored.summarizer) {
                let overtaken = memory.overtaken_of(&head)?;
                let stands = |text: &str| overtaken.iter().all(|one| one.earlier.text != text);
                let told = stored.digest.told_in(Section::Decisions).filter(|claim| stands(&claim.text));
                stated.extend(told.map(|claim| Decided::Stated { text: claim.text.clone() }));
            }
            // What came of it stands among the commits.
            let asked = Some(account.title.asked_and_undone()).filter(|asked| !asked.is_empty());
            let title = if is_by_model(&stored.summarizer) { Some(stored.digest.title) } else { asked.or(account.title.text()) };
            sessions.push(StoredSession { head, account, title: title.unwrap_or_default(), stated });
        }
        sessions.reverse();
        Ok(sessions)
    }

    /// How many of its sessions a model may not see, and the same without them.
    pub(crate) fn for_model(&self, may_show: impl Fn(Client) -> bool) -> (usize, Self) {
        let mut shown = self.clone();
        let mut withheld = 0;
        for project in &mut shown.projects {
            let all = project.sessions.len();
            project.sessions.retain(|session| may_show(session.head.client));
            project.open.retain(|line| may_show(line.client));
            withheld += all - project.sessions.len();
        }
        (withheld, shown)
    }

    /// The report of all of it.
    pub(crate) fn report(&self) -> WorkReport {
        self.report_of_newest(usize::MAX)
    }

    /// The report of the sessions that were active last, as many as that, whatever their projects are.
    pub(crate) fn report_of_newest(&self, count: usize) -> WorkReport {
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        let mut times: Vec<_> = sessions.map(StoredSession::time).collect();
        times.sort_unstable();
        let first = times.get(times.len().saturating_sub(count)).copied();
        let is_told = |session: &StoredSession| first.is_some_and(|first| session.time() >= first);
        let mut projects: Vec<ProjectWork> = self.projects.iter().filter_map(|project| self.work_of(project, is_told)).collect();
        projects.sort_by_key(|work| std::cmp::Reverse(work.sessions.len()));
        let Self { since, until, undigested, .. } = *self;
        WorkReport { since, until, branch: self.branch.clone(), projects, undigested }
    }

    fn work_of(&self, stored: &StoredProject, is_told: impl Fn(&StoredSession) -> bool) -> Option<ProjectWork> {
        let mut work = ProjectWork::of(stored.project.clone());
        for session in stored.sessions.iter().filter(|session| is_told(session)) {
            work.decided.extend_from_slice(&session.stated);
            work.add(session.account.clone(), &session.head, session.title.clone(), self.begin, self.branch.as_deref());
        }
        let of_pr = self.purpose == ReportFor::Pr;
        let first_at = work.sessions.iter().filter_map(|one| one.last_at).min().filter(|_| of_pr).unwrap_or(self.begin);
        work.open = stored.open.iter().filter(|line| line.last_at >= first_at).cloned().collect();
        (!work.sessions.is_empty()).then_some(work)
    }
}

impl StoredSession {
    /// By this sessions are told in order.
    fn time(&self) -> (Option<Millis>, &str) {
        (self.head.last_active(), &self.head.id)
    }
}

/// The branch that is checked out in a folder.
fn branch_of(folder: &Path, config: &Config) -> Result<String> {
    let root = folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    let git = root.and_then(|root| Git::at(root, &config.search_path, GIT_TIME));
    let answer = git.and_then(|git| git.ask(&["symbolic-ref", "--short", "HEAD"]));
    match answer.map(|answer| String::from_utf8_lossy(&answer.printed).trim().to_owned()).filter(|name| !name.is_empty()) {
        Some(branch) => Ok(branch),
        None => bail!("no branch is checked out in {}: name one with `--branch`", folder.display()),
    }
}

/// How long git may take to name the branch.
const GIT_TIME: Duration = Duration::from_secs(2);

/// Is it of the time that is asked for? What has no time of its own was when its session was active last.
fn is_since(at: Option<Millis>, begin: Millis) -> bool {
    at.is_none_or(|at| at >= begin)
}

/// Was a session on a branch, or did it commit there?
fn is_on(account: &SessionAccount, branch: &str) -> bool {
    account.branch.as_deref() == Some(branch)
        || account.commits.iter().any(|commit| commit.branch == branch && commit.elsewhere.is_none())
}

/// A shorter prompt only agrees, or says "commit": it does not say what is wanted, in words.
const MIN_ASKED_WORDS: usize = 4;

fn says_what(prompt: &str) -> bool {
    prompt.split_whitespace().nth(MIN_ASKED_WORDS - 1).is_some()
}

/// Was a turn for this branch? It was for that of the next commit, or for the session's last one.
fn is_for(account: &SessionAccount, turn: usize, branch: &str) -> bool {
    let next =
        account.commits.iter().filter(|commit| commit.turn >= turn && !commit.branch.is_empty() && commit.elsewhere.is_none());
    let next = next.min_by_key(|commit| commit.turn).map(|commit| commit.branch.as_str());
    next.or(account.branch.as_deref()) == Some(branch)
}

impl ProjectWork {
    /// Adds what a session did in the time. Sessions come in the order in which they ended.
    fn add(&mut self, account: SessionAccount, head: &SessionHead, title: String, begin: Millis, branch: Option<&str>) {
        let turns: Vec<_> = account.turns.iter().filter(|turn| is_since(turn.at, begin)).collect();
        let words = || turns.iter().flat_map(|turn| &turn.words);
        let is_for = |turn: usize| branch.is_none_or(|branch| is_for(&account, turn, branch));
        let of_branch = turns.iter().filter(|turn| is_for(turn.number));
        let prompts = of_branch.flat_map(|turn| &turn.words).filter(|word| word.kind == WordKind::Prompt);
        let asked = prompts.map(|word| word.text.clone()).filter(|text| says_what(text)).collect();
        self.sessions.push(WorkedSession {
            session: head.id.clone(),
            title,
            asked,
            last_at: head.last_active(),
            turns: turns.len(),
            goes_on: account.goes_on,
        });
        self.decided.extend(words().filter_map(|word| match &word.kind {
            WordKind::Answered { asked, .. } => Some(Decided::Answered { asked: asked.clone(), answer: word.text.clone() }),
            WordKind::Approved { plan } | WordKind::PlanGiven { plan } => Some(Decided::Planned { plan: plan.clone() }),
            _ => None,
        }));
        let on_branch = |commit: &Commit| {
            branch.is_none_or(|branch| (commit.branch.is_empty() || commit.branch == branch) && commit.elsewhere.is_none())
        };
        for commit in account.commits.iter().filter(|commit| is_since(commit.at, begin) && on_branch(commit)) {
            self.add_commit(commit.clone());
        }
        let edits = account.files.with_times().filter(|(_, at)| is_since(*at, begin) && is_for(account.turn_at(*at)));
        let (edited, mut edited_at): (Vec<&str>, Vec<Option<Millis>>) = edits.unzip();
        // A file may have been edited later for another branch.
        let of_turns = account.files.turns.iter().filter(|(turn, at)| *at >= begin && is_for(*turn));
        edited_at.extend(of_turns.map(|(_, at)| Some(*at)));
        // What passed before is not known to pass still. An edit without a time is at its session's end.
        let edited_after = |run: &LastRun| edited_at.iter().any(|at| at.is_none() || *at > run.at);
        self.checks.iter_mut().for_each(|run| run.edited_since |= edited_after(run));
        // Of a branch, what ran in another repository tells nothing.
        let is_meant = |run: &LastRun| is_for(run.turn) && (branch.is_none() || run.elsewhere.is_none());
        for run in account.runs.iter().filter(|run| is_since(run.at, begin) && is_meant(run)) {
            self.checks.retain(|known| known.commands != run.commands || known.elsewhere != run.elsewhere);
            // What the session edited for other branches does not count.
            let edited_since = run.edited_since && (branch.is_none() || edited_at.iter().any(|at| *at > run.at));
            self.checks.push(LastRun { edited_since, ..run.clone() });
        }
        for file in edited {
            if !self.files.iter().any(|known| known == file) {
                self.files.push(file.to_owned());
            }
        }
        for pull_request in account.pull_requests.into_iter().filter(|one| (one.made || one.merged) && is_since(one.at, begin)) {
            self.pull_requests.retain(|known| !known.is_same_as(&pull_request));
            self.pull_requests.push(pull_request);
        }
    }

    /// A commit that was told already was seen again, or made anew; one that another one undoes is none, and neither is the other.
    fn add_commit(&mut self, commit: Commit) {
        if let Some(at) = self.commits.iter().rposition(|known| undoes(&commit, known)) {
            self.commits.remove(at);
            return;
        }
        // Two repositories may have commits of one name.
        let is_same = |known: &&mut Commit| known.subject == commit.subject && known.elsewhere == commit.elsewhere;
        match self.commits.iter_mut().find(is_same) {
            Some(known) => *known = Commit { pushed: known.pushed || commit.pushed, ..commit },
            None => self.commits.push(commit),
        }
    }
}
