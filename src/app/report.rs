//! What was done over a time, put together from stored accounts: for a standup, a week, a pull request or a changelog. No model is asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::analyze::account::{Commit, SessionAccount, WordKind};
use crate::app::close_items::open_in;
use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::digest::is_by_model;
use crate::model::section::Section;
use crate::model::session::{Millis, Project};
use crate::model::session_head::SessionHead;
use crate::render::report::{Decided, LeftOpen, ProjectWork, ReportFor, WorkReport, WorkedSession};
use crate::store::Memory;
use crate::sys::git::Git;

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

/// # Errors
/// When the project or the time cannot be read, when no branch is known that is asked for, or the index cannot be read.
pub(crate) fn report(memory: &OpenMemory, config: &Config, asked: &ReportRequest<'_>, here: &Path) -> Result<WorkReport> {
    let since = asked.since.or(usual_since(asked.purpose));
    let since = since.map(|text| parse_since(Some(text), config)).transpose()?;
    let of_pr = asked.purpose == ReportFor::Pr;
    // A pull request is one project's: the folder's, where none is named.
    let own = (of_pr && asked.project.is_none()).then(|| config.project_keys().key_of(&here.to_string_lossy()));
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
        if head.last_active().is_some_and(|at| at >= begin) {
            projects.entry(head.project.key.clone()).or_default().push(head);
        }
    }
    let (mut reported, mut undigested) = (Vec::new(), 0);
    for (project, heads) in projects {
        let mut work = work_of(&memory.0, Project { key: project.clone() }, heads, begin, branch.as_deref())?;
        undigested += work.undigested;
        if work.sessions.is_empty() {
            continue;
        }
        let first_at = if of_pr { work.sessions.iter().filter_map(|one| one.last_at).min().unwrap_or(begin) } else { begin };
        let open = open_in(memory, &project)?.into_iter().filter(|line| line.last_at >= first_at && !line.is_of_all);
        work.open = open.map(|line| LeftOpen { id: line.id, kind: line.kind, text: line.text, last_at: line.last_at }).collect();
        reported.push(work);
    }
    reported.sort_by_key(|work| std::cmp::Reverse(work.sessions.len()));
    Ok(WorkReport { since, until: config.now(), branch, projects: reported, undigested })
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

fn work_of(
    memory: &Memory,
    project: Project,
    mut heads: Vec<SessionHead>,
    begin: Millis,
    branch: Option<&str>,
) -> Result<ProjectWork> {
    heads.sort_by(|a, b| (a.last_active(), &a.id).cmp(&(b.last_active(), &b.id)));
    let mut work = ProjectWork::of(project);
    for head in heads {
        // A later session holds all of it.
        if memory.repeated_by(head.pk)?.is_some() {
            continue;
        }
        let (Some(account), Some(stored)) = (memory.account_of(head.pk)?, memory.digest_of(head.pk)?) else {
            work.undigested += usize::from(head.has_grown());
            continue;
        };
        if branch.is_some_and(|branch| !is_on(&account, branch)) {
            continue;
        }
        if is_by_model(&stored.summarizer) {
            let overtaken = memory.overtaken_of(&head)?;
            let stands = |text: &str| overtaken.iter().all(|one| one.earlier.text != text);
            let told = stored.digest.told_in(Section::Decisions).filter(|claim| stands(&claim.text));
            work.decided.extend(told.map(|claim| Decided::Stated { text: claim.text.clone() }));
        }
        // What came of it stands among the commits.
        let asked = Some(account.title.asked.clone()).filter(|asked| !asked.is_empty());
        let title = if is_by_model(&stored.summarizer) { Some(stored.digest.title) } else { asked.or(account.title.text()) };
        work.add(account, &head, title.unwrap_or_default(), begin, branch);
    }
    Ok(work)
}

/// Was a session on a branch, or did it commit there?
fn is_on(account: &SessionAccount, branch: &str) -> bool {
    account.branch.as_deref() == Some(branch) || account.commits.iter().any(|commit| commit.branch == branch)
}

impl ProjectWork {
    /// Adds what a session did in the time. Sessions come in the order in which they ended.
    fn add(&mut self, account: SessionAccount, head: &SessionHead, title: String, begin: Millis, branch: Option<&str>) {
        let turns: Vec<_> = account.turns.iter().filter(|turn| is_since(turn.at, begin)).collect();
        let words = || turns.iter().flat_map(|turn| &turn.words);
        let asked = words().find(|word| word.kind == WordKind::Prompt && !word.text.trim().is_empty());
        self.sessions.push(WorkedSession {
            session: head.id.clone(),
            title,
            asked: asked.map(|word| word.text.clone()),
            last_at: head.last_active(),
            turns: turns.len(),
            goes_on: account.goes_on,
        });
        self.decided.extend(words().filter_map(|word| match &word.kind {
            WordKind::Answered { asked, .. } => Some(Decided::Answered { asked: asked.clone(), answer: word.text.clone() }),
            WordKind::Approved { plan } | WordKind::PlanGiven { plan } => Some(Decided::Planned { plan: plan.clone() }),
            _ => None,
        }));
        let on_branch = |commit: &Commit| branch.is_none_or(|branch| commit.branch.is_empty() || commit.branch == branch);
        for commit in account.commits.into_iter().filter(|commit| is_since(commit.at, begin) && on_branch(commit)) {
            self.add_commit(commit);
        }
        for pull_request in account.pull_requests.into_iter().filter(|one| (one.made || one.merged) && is_since(one.at, begin)) {
            self.pull_requests.retain(|known| known.number != pull_request.number);
            self.pull_requests.push(pull_request);
        }
        if !account.files.edited.is_empty() {
            // What passed before is not known to pass still.
            self.checks.iter_mut().for_each(|run| run.edited_since = true);
        }
        for run in account.runs.into_iter().filter(|run| is_since(run.at, begin)) {
            self.checks.retain(|known| known.commands != run.commands);
            self.checks.push(run);
        }
        for file in account.files.edited {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    /// A commit that was told already was seen again, or made anew; one that another one undoes is none, and neither is the other.
    fn add_commit(&mut self, commit: Commit) {
        if let Some(undone) = commit.subject.strip_prefix("Revert \"").and_then(|rest| rest.strip_suffix('"'))
            && let Some(at) = self.commits.iter().rposition(|known| known.subject == undone)
        {
            self.commits.remove(at);
            return;
        }
        match self.commits.iter_mut().find(|known| known.subject == commit.subject) {
            Some(known) => *known = Commit { pushed: known.pushed || commit.pushed, ..commit },
            None => self.commits.push(commit),
        }
    }
}
