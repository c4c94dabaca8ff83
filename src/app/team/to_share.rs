//! What the team may have of a project: notes, commands and cures as `recall share` proposes them, rules that the user kept, what is open, what came of
//! sessions, and what they took.
//!
//! ## Invariants
//! It is made from what today's policy shows of that project alone, and passes the sanitizer again. No path of a home is in it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;
use serde_json::{Value, json};

use super::kept_back::kept_back;
use super::projects::TeamProject;
use super::state::ItemId;
use super::usage::SessionUsage;
use crate::analyze::rules::{Recurring, recurring, statements_of};
use crate::app::brief::brief_for;
use crate::app::close_items::{open_in, recent_since};
use crate::app::list::title_of_session;
use crate::app::open_memory::OpenMemory;
use crate::app::share::{shareable, why_not};
use crate::config::Config;
use crate::model::author::Author;
use crate::model::note::{Note, NoteKind};
use crate::model::session_head::SessionHead;
use crate::model::team_file::TeamFile;
use crate::policy::View;
use crate::render::quoted::Listener;
use text::clean::{id8, one_line, without_controls};
use text::paths::replace_path;
use transcripts::privacy::Sanitizer;
use transcripts::session::hash_parts;

/// The kind of what came of a session. The others are those of [`TeamFile`].
pub(super) const SESSION: &str = "session";
pub(super) use team::USAGE;
/// The kind of a convention that the user said again and again before they kept it: others are told a [`CONVENTION`].
const RULE: &str = "rule";
const CONVENTION: &str = NoteKind::Convention.name();

/// What a record of this kind is to those who read it.
pub(super) fn told_kind(kind: &str) -> &str {
    if kind == RULE { CONVENTION } else { kind }
}

/// What can be shared of the projects of this machine.
pub(super) struct ToShare<'a> {
    config: &'a Config,
    sanitizer: Sanitizer,
    /// Those of which something may be shared, each with the memory as it is shown there.
    projects: Vec<(TeamProject, OpenMemory)>,
    /// Sessions of which nothing goes there.
    kept_back: BTreeSet<String>,
    items: BTreeMap<ItemId, Candidate>,
    /// What cannot be shared, and why.
    pub(super) refused: BTreeMap<ItemId, String>,
}

/// Something that can be shared.
struct Candidate {
    /// Changes with what it says.
    hash: u64,
    source: Source,
}

enum Source {
    Statement(TeamFile),
    /// Of the project with this place in the list.
    Session(usize, SessionHead),
    /// What a session of the project with this place took, and what the team is told of that.
    Usage(usize, SessionHead, SessionUsage),
}

/// Something as the server keeps it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SharedText {
    pub(super) body: Value,
    /// The words by which it is found.
    pub(super) search: String,
}

impl<'a> ToShare<'a> {
    /// All that the team may have of these projects.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of(projects: &[TeamProject], config: &'a Config) -> Result<Self> {
        Self::with(projects, config, kept_back(&config.data_dir)?, |all, project, memory| {
            all.add_statements(project, memory)?;
            all.add_open_items(project, memory)?;
            if project.consent.sessions && project.consent.usage {
                all.add_usage(project, memory)?;
            }
            if project.consent.sessions { all.add_sessions(project, memory) } else { Ok(()) }
        })
    }

    /// What came of the sessions of these projects and what they took, and nothing else.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn sessions_of(projects: &[TeamProject], config: &'a Config) -> Result<Self> {
        Self::with(projects, config, BTreeSet::new(), |all, project, memory| {
            all.add_usage(project, memory)?;
            all.add_sessions(project, memory)
        })
    }

    fn with(
        projects: &[TeamProject],
        config: &'a Config,
        kept_back: BTreeSet<String>,
        add: impl Fn(&mut Self, &TeamProject, &OpenMemory) -> Result<()>,
    ) -> Result<Self> {
        let sanitizer = config.sanitizer()?;
        let mut all = Self { config, sanitizer, projects: Vec::new(), kept_back, items: BTreeMap::new(), refused: BTreeMap::new() };
        for project in projects.iter().filter(|project| project.consent.share) {
            let memory = OpenMemory::of(config, View::OnlyProject(&project.key))?;
            add(&mut all, project, &memory)?;
            all.projects.push((project.clone(), memory));
        }
        Ok(all)
    }

    fn add_statements(&mut self, project: &TeamProject, memory: &OpenMemory) -> Result<()> {
        let mut mentions = memory.0.rule_mentions(&project.key)?;
        mentions.retain(|said| !self.kept_back.contains(&said.session));
        let said_often = recurring(&mentions);
        for (mut file, why_not) in shareable(memory, self.config, &self.sanitizer, &project.key, &self.kept_back)? {
            if file.kind == CONVENTION
                && let Some(rule) = said_often.iter().find(|rule| rule.is_said_in(&statements_of(&file.text)))
            {
                RULE.clone_into(&mut file.kind);
                file.evidence = self.evidence_of(rule);
            }
            self.add_file(project, file, why_not);
        }
        Ok(())
    }

    fn evidence_of(&self, rule: &Recurring) -> String {
        let day = |at| self.config.local_time(Some(at), "%Y-%m-%d");
        let (times, sessions) = (rule.mentions.len(), rule.sessions());
        format!("said {times} times in {sessions} sessions, {} to {}", day(rule.first().at), day(rule.newest().at))
    }

    /// What `recall todo` tells as open without being asked for all. Where the team may not have what came of sessions, only what the user noted
    /// themself. What another machine of the user's left open, that one shares.
    fn add_open_items(&mut self, project: &TeamProject, memory: &OpenMemory) -> Result<()> {
        let store = &memory.0;
        let since = recent_since(self.config.now());
        let (noted, by_agents): (Vec<Note>, Vec<Note>) =
            store.notes_for(&project.key)?.into_iter().partition(|note| note.author.is_user());
        let noted: BTreeSet<String> = noted.into_iter().map(|note| note.id).collect();
        let is_kept_back =
            |author: &Author| matches!(author, Author::Agent { session: Some(session), .. } if self.kept_back.contains(session));
        let kept_back: BTreeSet<String> =
            by_agents.into_iter().filter(|note| is_kept_back(&note.author)).map(|note| note.id).collect();
        let from_here: BTreeSet<String> = store.sessions_from_here()?.into_iter().map(|head| head.id).collect();
        for line in open_in(memory, &project.key)?.into_iter().filter(|line| !line.is_of_all) {
            let may_go = project.consent.sessions || noted.contains(&line.id);
            let is_ours = match &line.session {
                Some(session) => from_here.contains(session) && !self.kept_back.contains(session),
                None => !kept_back.contains(&line.id),
            };
            if !may_go || !is_ours || line.last_at < since && line.due.is_none() {
                continue;
            }
            let text = self.without_places(project, &line.text);
            let day = self.config.local_time(Some(line.last_at), "%Y-%m-%d");
            let file = TeamFile { kind: line.kind, id: line.id, day, text, ..TeamFile::default() };
            let why_not = why_not(&file, self.config, &self.sanitizer);
            self.add_file(project, file, why_not);
        }
        Ok(())
    }

    fn add_file(&mut self, project: &TeamProject, file: TeamFile, why_not: Option<String>) {
        let id = ItemId { project: project.address.clone(), kind: file.kind.clone(), id: file.id.clone() };
        match why_not {
            Some(why) => _ = self.refused.insert(id, why),
            None => {
                let hash = hash_of(&[&file.text, &file.day, &file.evidence]);
                self.items.insert(id, Candidate { hash, source: Source::Statement(file) });
            }
        }
    }

    /// Paths as they are from anywhere: below the repository, or below `~`.
    fn without_places(&self, project: &TeamProject, text: &str) -> String {
        let text = replace_path(text, &project.root, "", &project.address);
        without_homes(&text, &self.config.home.to_string_lossy())
    }

    fn add_sessions(&mut self, project: &TeamProject, memory: &OpenMemory) -> Result<()> {
        let store = &memory.0;
        let rules = self.config.sanitizer_rules();
        for head in store.sessions_from_here()? {
            if head.project.key != project.key || store.digest_state(head.pk)?.is_none() || store.repeated_by(head.pk)?.is_some() {
                continue;
            }
            let id = ItemId { project: project.address.clone(), kind: SESSION.to_owned(), id: head.id.clone() };
            if self.kept_back.contains(&head.id) {
                let undo = format!("you withdrew it: `recall team withdraw --session {} --undo` shares it again", id8(&head.id));
                self.refused.insert(id, undo);
                continue;
            }
            let hash = hash_of(&[&store.told_hash(&head)?.to_string(), &rules]);
            self.items.insert(id, Candidate { hash, source: Source::Session(self.projects.len(), head) });
        }
        Ok(())
    }

    /// What each session took, also one that is too short for a digest: a sum would miss it.
    fn add_usage(&mut self, project: &TeamProject, memory: &OpenMemory) -> Result<()> {
        for head in memory.0.sessions_from_here()? {
            if head.project.key != project.key || self.kept_back.contains(&head.id) {
                continue;
            }
            let usage = SessionUsage::of(&memory.0, self.config, &self.sanitizer, &head)?;
            if !usage.is_empty() {
                let id = ItemId { project: project.address.clone(), kind: USAGE.to_owned(), id: head.id.clone() };
                let hash = hash_of(&[&usage.body().to_string()]);
                self.items.insert(id, Candidate { hash, source: Source::Usage(self.projects.len(), head, usage) });
            }
        }
        Ok(())
    }

    /// What of it is one session's, with what is known of that.
    pub(super) fn of_sessions(&self) -> impl Iterator<Item = (&ItemId, &SessionHead)> {
        self.items.iter().filter_map(|(id, one)| match &one.source {
            Source::Session(_, head) | Source::Usage(_, head, _) => Some((id, head)),
            Source::Statement(_) => None,
        })
    }

    /// All of it, with a hash that changes with what it says.
    pub(super) fn hashes(&self) -> impl Iterator<Item = (&ItemId, u64)> {
        self.items.iter().map(|(id, one)| (id, one.hash))
    }

    pub(super) fn contains(&self, id: &ItemId) -> bool {
        self.items.contains_key(id)
    }

    /// In one line, for whoever wants to see what is shared; `None` if it is not to be shared any more.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn in_words(&self, id: &ItemId) -> Result<Option<String>> {
        let text = match self.items.get(id).map(|one| &one.source) {
            None => return Ok(None),
            Some(Source::Statement(file)) => file.text.clone(),
            Some(Source::Session(project, head)) => {
                self.projects.get(*project).map(|(_, memory)| title(memory, head)).transpose()?.unwrap_or_default()
            }
            Some(Source::Usage(project, head, usage)) => {
                let title = self.projects.get(*project).map(|(_, memory)| title(memory, head)).transpose()?.unwrap_or_default();
                format!("{}: {title}", usage.in_words())
            }
        };
        Ok(Some(one_line(&without_controls(&text))))
    }

    /// What goes to the server; `None` if it is not to be shared any more, or nothing was said in the session.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn text(&self, id: &ItemId) -> Result<Option<SharedText>> {
        Ok(match self.items.get(id).map(|one| &one.source) {
            None => None,
            Some(Source::Statement(TeamFile { text, day, evidence, .. })) => {
                let body = json!({ "text": text, "day": day, "evidence": evidence });
                Some(SharedText { body, search: text.clone() })
            }
            // No words: nobody finds it by what was said.
            Some(Source::Usage(_, _, usage)) => Some(SharedText { body: usage.body(), search: String::new() }),
            Some(Source::Session(project, head)) => {
                let of_project = self.projects.get(*project);
                of_project.map(|(project, memory)| self.of_session(project, memory, head)).transpose()?.flatten()
            }
        })
    }

    fn of_session(&self, project: &TeamProject, memory: &OpenMemory, head: &SessionHead) -> Result<Option<SharedText>> {
        let Some(told) = brief_for(Listener::Assistant, &memory.0, self.config, head)? else { return Ok(None) };
        let clean = |text: &str| self.sanitizer.clean(self.without_places(project, text));
        let (title, text) = (clean(&title(memory, head)?), clean(&told));
        let day = self.config.local_time(head.last_active(), "%Y-%m-%d");
        let search = format!("{title}\n{text}");
        let body = json!({ "title": title, "day": day, "agent": head.client.key(), "text": text });
        Ok(Some(SharedText { body, search }))
    }
}

/// With `~` for this home, and for those of others: a session may name them, or come from another machine. A copy of this home elsewhere, such as
/// `/backup/home/anna`, is not named either. A path may stand behind the scheme of a URL (`file:///home/ben`) or the letter of an option
/// (`-I/home/ben`).
pub(super) fn without_homes(text: &str, home: &str) -> String {
    static HOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let begins = r"(?:^|[^\w./~-])";
        let option = format!(r"{begins}-(?:[A-Za-z]|i[a-z]+)");
        // Not of the web, where `/home/page` is a page.
        let url = r"\b(?:file|rsync|sftp|ssh|vscode[a-z-]*)://[\w.@:-]*";
        let slashes = r"(?:^|[^\w./~:-])/+|://+";
        let theirs = r#"/(?:home|Users)/[^/\s"'`<>:;,()\[\]]+"#;
        Regex::new(&format!(r"({slashes}){theirs}\b|({begins}|{url}|{option})(?:{theirs}|/root)\b")).ok()
    });
    let text = replace_path(text, home, "~/", "~");
    let mut told = String::with_capacity(text.len());
    let mut rest = &*text;
    // `/rooted` is not below `/root`; a full stop may end a sentence.
    while let Some((before, behind)) = rest.split_once(home).filter(|_| home.len() > 1) {
        let goes_on = behind.trim_start_matches('.').starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
        told.extend([before, if goes_on { home } else { "~" }]);
        rest = behind;
    }
    told += rest;
    // Those of others come last: the name of this home may go on where one of theirs ends.
    HOME.as_ref().map_or(Cow::Borrowed(&*told), |others| others.replace_all(&told, "${1}${2}~")).into_owned()
}

fn title(memory: &OpenMemory, head: &SessionHead) -> Result<String> {
    Ok(title_of_session(memory, &head.id)?.unwrap_or_default())
}

fn hash_of(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    u64::from_le_bytes(hash_parts(&parts).first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::without_homes;

    #[test]
    fn homes_of_others_are_not_named() {
        for (text, told) in [
            ("see /home/ben/work/a.rs and `/Users/eve`.", "see ~/work/a.rs and `~`."),
            ("/root/.ssh", "~/.ssh"),
            ("HOME=/home/ben", "HOME=~"),
            ("src/home/page.ts, /homes/ben, /rooted", "src/home/page.ts, /homes/ben, /rooted"),
            ("/home/anna/a.rs, /home/annabelle/b.rs, /backup/home/anna/c.rs", "~/a.rs, ~/b.rs, /backup~/c.rs"),
        ] {
            assert_eq!(without_homes(text, "/home/anna"), told);
        }
        for (text, told) in [
            ("file:///home/bob/x, file:///Users/eve and file:///root/.ssh", "file://~/x, file://~ and file://~/.ssh"),
            ("file://localhost/home/bob/x ssh://bob@nas:22/home/bob/x", "file://localhost~/x ssh://bob@nas:22~/x"),
            ("[a](vscode://file/home/bob/x.rs:1)", "[a](vscode://file~/x.rs:1)"),
            ("cc -I/home/bob/include -L/Users/eve/lib -isystem/root/x", "cc -I~/include -L~/lib -isystem~/x"),
            ("docker run -v/home/bob:/data", "docker run -v~:/data"),
            ("see //home/bob/x", "see /~/x"),
            ("-I/home/anna/include, file:///home/anna/x, -I/home/anna. And", "-I~/include, file://~/x, -I~. And"),
            ("-I/home/anna.old/x", "-I~/x"),
            // No homes.
            ("some-dir/home/page.ts, left-hand/home/page", "some-dir/home/page.ts, left-hand/home/page"),
            ("//root/item[1], s3://home/x", "//root/item[1], s3://home/x"),
            ("https://example.com/home/page", "https://example.com/home/page"),
        ] {
            assert_eq!(without_homes(text, "/home/anna"), told, "{text}");
        }
        assert_eq!(without_homes("-I/home/staff/anna/x, /home/staff/ben", "/home/staff/anna"), "-I~/x, ~/ben");
        assert_eq!(without_homes("see /srv", ""), "see /srv");
        assert_eq!(without_homes("see /srv", "/"), "see /srv");
        assert_eq!(without_homes("/rooted /mnt/root/x /root/y", "/root"), "/rooted /mnt~/x ~/y");
    }
}
