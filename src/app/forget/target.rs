//! What to forget, as given on the command line.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::{ForgetRequest, ForgetTarget};
use crate::app::filter::{ProjectFilter, parse_time};
use crate::app::forget::current_session::{self, CurrentSession};
use crate::app::forget::files::is_said_on;
use crate::app::orphans;
use crate::app::orphans::SessionPage;
use crate::config::Config;
use crate::model::memory_file::MemoryFile;
use crate::model::note::Note;
use crate::store::forget::{RemovalPlan, folder_of};
use crate::store::{Reader, Writer};
use crate::sys::paths::path_aliases;
use text::phrase::PhraseMatcher;
use transcripts::session::Millis;
use transcripts::source::discover::{TranscriptFile, discover};
use transcripts::source::{look_into_all, source_of};

/// Shorter texts occur nearly everywhere.
const MIN_TEXT_CHARS: usize = 2;

pub(crate) enum ForgetSelection {
    /// The session in which the command runs, by its full id.
    This(CurrentSession),
    /// A session id, or a prefix of one.
    Session(String),
    /// A note id, or a prefix of one.
    Note(String),
    Project(ProjectFilter),
    Before(Millis),
    Text(PhraseMatcher),
}

impl ForgetSelection {
    /// # Errors
    /// When a date, a glob or a text means nothing, or there is no session to be meant by `--this`.
    pub(crate) fn from_args(request: &ForgetRequest, config: &Config) -> Result<Self> {
        Ok(match &request.what {
            ForgetTarget::This => Self::This(current_session::session(request.dry_run, config)?),
            ForgetTarget::Session(id) => Self::Session(id.clone()),
            ForgetTarget::Note(id) => Self::Note(id.clone()),
            ForgetTarget::Project(glob) => Self::Project(ProjectFilter::new(Some(glob), config)?),
            ForgetTarget::Before(text) => Self::Before(parse_time("--before", text, config)?),
            ForgetTarget::Matching(text) => Self::Text(checked_phrase(text, config)?),
        })
    }

    /// # Errors
    /// If an id is ambiguous.
    pub(crate) fn find(&self, config: &Config, store: &Reader) -> Result<RemovalPlan> {
        let whole = match self {
            Self::Text(phrase) => {
                let named = in_folders_named(phrase, config);
                return store.find_text(phrase, |session| named.contains(session));
            }
            Self::Session(id) | Self::This(CurrentSession { id, .. }) => {
                store.look_up_session(id)?.into_iter().map(|head| head.pk).collect()
            }
            Self::Note(_) => BTreeSet::new(),
            Self::Before(parse_time) => store.inactive_since(*parse_time)?,
            Self::Project(filter) => store.session_heads()?.iter().filter(|h| filter.fits(&h.project)).map(|h| h.pk).collect(),
        };
        let notes = self.find_notes(store)?;
        let memory_files = self.find_memory_files(store)?;
        Ok(RemovalPlan { whole, notes, memory_files, ..RemovalPlan::default() })
    }

    fn find_memory_files(&self, store: &Reader) -> Result<BTreeSet<i64>> {
        let fits = |file: &MemoryFile| match self {
            Self::Before(parse_time) => file.at < *parse_time,
            Self::Project(filter) => filter.fits(&file.project),
            Self::Note(_) | Self::Session(_) | Self::This(_) | Self::Text(_) => false,
        };
        Ok(store.memory_files()?.into_iter().filter(fits).map(|file| file.pk).collect())
    }

    fn find_notes(&self, store: &Reader) -> Result<BTreeSet<i64>> {
        let one = match self {
            Self::Note(id) => store.look_up_note(id)?,
            _ => None,
        };
        let fits = |note: &Note| match self {
            Self::Note(_) => one.as_ref() == Some(note),
            Self::Before(parse_time) => note.at < *parse_time,
            Self::Project(filter) => filter.fits(&note.project),
            Self::Session(_) | Self::This(_) | Self::Text(_) => false,
        };
        Ok(store.notes()?.into_iter().filter(fits).map(|note| note.pk).collect())
    }

    /// Orphan pages that match.
    ///
    /// # Errors
    /// If an id is ambiguous.
    pub(crate) fn find_orphans(&self, config: &Config, store: &Reader) -> Result<Vec<SessionPage>> {
        let mut all = orphans::find(config, store)?;
        match self {
            Self::This(CurrentSession { id, .. }) => all.retain(|page| page.session == *id),
            Self::Session(id) if all.iter().any(|page| page.session == *id) => all.retain(|page| page.session == *id),
            // A prefix refers to a session that the index knows, if there is one.
            Self::Session(id) if store.look_up_session(id)?.is_none() => all.retain(|page| page.session.starts_with(id)),
            Self::Session(_) | Self::Note(_) => all.clear(),
            // Nothing else is left of what the session said: the page goes as a whole.
            Self::Text(phrase) => all.retain(|page| is_said_on(&page.file, phrase)),
            Self::Project(filter) => all.retain(|page| filter.fits(&page.project)),
            Self::Before(parse_time) => all.retain(|page| page.is_older_than(*parse_time, &config.time_zone)),
        }
        let ids: BTreeSet<&str> = all.iter().map(|page| page.session.as_str()).collect();
        if let Self::Session(id) = self
            && ids.len() > 1
        {
            let ids: Vec<&str> = ids.into_iter().collect();
            bail!("`{id}` matches several sessions: {}", ids.join(", "));
        }
        Ok(all)
    }

    /// Shuts out a session that has a transcript but is not stored yet, so that it never will be. Returns how many there are.
    pub(crate) fn shut_out_unread(&self, config: &Config, store: &Writer) -> Result<usize> {
        let (Self::Session(id) | Self::This(CurrentSession { id, .. })) = self else { return Ok(0) };
        let known = store.look_up_session(id)?.is_some() || store.forgotten_sessions()?.contains(id);
        // The live session may have no transcript yet.
        let is_there = || {
            matches!(self, Self::This(_))
                || transcripts(config).iter().any(|file| source_of(file.place.client).is_of(&file.place, id))
        };
        if known || !is_there() {
            return Ok(0);
        }
        store.shut_out(id)?;
        Ok(1)
    }

    /// Shuts out sessions that are not stored and whose transcripts lie in a folder whose name contains the text. Returns how
    /// many.
    pub(crate) fn shut_out_by_name(&self, config: &Config, store: &Writer) -> Result<usize> {
        let Self::Text(phrase) = self else { return Ok(0) };
        let mut named = in_folders_named(phrase, config);
        let known = store.session_heads()?.into_iter().map(|head| head.id).chain(store.forgotten_sessions()?);
        known.for_each(|id| _ = named.remove(&id));
        for session in &named {
            store.shut_out(session)?;
        }
        Ok(named.len())
    }

    /// Whether a log line contains the text to forget.
    pub(crate) fn is_in(&self, line: &str) -> bool {
        matches!(self, Self::Text(phrase) if phrase.is_in(line))
    }
}

fn transcripts(config: &Config) -> Vec<TranscriptFile> {
    discover(&config.client_folders(), &config.exclude_transcripts).files
}

/// Sessions with a transcript in a folder whose name contains the text.
fn in_folders_named(phrase: &PhraseMatcher, config: &Config) -> BTreeSet<String> {
    let folder = |file: &TranscriptFile| folder_of(&file.path.to_string_lossy(), &file.place.session);
    let mut named: Vec<_> = transcripts(config).into_iter().filter(|file| phrase.is_in(&folder(file))).collect();
    look_into_all(named.iter_mut());
    named.into_iter().map(|file| file.place.session).collect()
}

/// Rejects a text that is part of every path: it would delete everything, which nobody means.
fn checked_phrase(text: &str, config: &Config) -> Result<PhraseMatcher> {
    let phrase = PhraseMatcher::new(text).filter(|phrase| phrase.length() >= MIN_TEXT_CHARS);
    let Some(phrase) = phrase else { bail!("--match needs a text of at least {MIN_TEXT_CHARS} characters") };
    let homes = path_aliases(&config.home);
    for dir in homes.iter().chain(&config.claude_dirs) {
        if phrase.is_in(&dir.to_string_lossy()) {
            bail!("`{text}` is part of the path {}, so nearly everything contains it: give a longer text", dir.display());
        }
    }
    Ok(phrase)
}
