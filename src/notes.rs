//! Notes: what somebody wants remembered, apart from any session.
//!
//! A note passes the same gates as what is kept of sessions: what is private stays out, secrets are taken out, excluded projects have no
//! notes. It has to say something that is of use later, and is kept once. Writing one takes a transaction of milliseconds and no run
//! lock, so it works while a digest runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;

use crate::author::Author;
use crate::clean::{one_line, plain};
use crate::config::Config;
use crate::privacy::{Gate, disarm};
use crate::private;
use crate::prose::all_sentences;
use crate::signal::is_chatter;
use crate::store::Store;
use crate::store::notes::{NewNote, Note};
use crate::terms::{is_unsegmented, tokens_of, words_of};

/// The longest note, in characters: more is a document, which belongs into the project.
pub const MAX_LENGTH: usize = 2_000;
/// The shortest, in letters and digits. One of a script without spaces says as much as three others.
const MIN_LETTERS: usize = 6;
/// The project of notes that hold for all of them: no folder's path.
pub const EVERYWHERE: &str = "*";
/// A note that says no more than this share of another is not worth a line of its own; one that says less of it is another note.
const SAME: (usize, usize) = (3, 4);

/// What a note is about, the weightiest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// How things are done here.
    Convention,
    /// What the user likes.
    Preference,
    /// What was decided, and why.
    Decision,
    /// What is to be done.
    Todo,
    /// What is the case.
    #[default]
    Fact,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Convention, Self::Preference, Self::Decision, Self::Todo, Self::Fact];

    pub fn name(self) -> &'static str {
        match self {
            Self::Convention => "convention",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Todo => "todo",
            Self::Fact => "fact",
        }
    }

    /// The kind of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// What is to be remembered.
#[derive(Debug, Clone, Default)]
pub struct New {
    pub text: String,
    /// The name of a [`Kind`]; a fact where none is given.
    pub kind: Option<String>,
    /// A folder of the project it is for; for all projects where none is given.
    pub project: Option<PathBuf>,
    /// Who says so.
    pub author: Author,
    pub reach: Reach,
}

/// For which projects something may be remembered, or closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reach {
    /// A person's word counts everywhere.
    #[default]
    Anywhere,
    /// An agent's only for the project of this key: it may have been told to by what it read there.
    Only(String),
}

impl Reach {
    /// # Errors
    /// When a project is beyond it.
    pub fn check(&self, project: &str) -> Result<(), Refused> {
        match self {
            Self::Only(own) if own != project => Err(Refused::Elsewhere { project: project.to_owned(), own: own.clone() }),
            _ => Ok(()),
        }
    }
}

/// A note as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub id: String,
    /// It was known already, in these words or nearly these: the id and the project are that note's.
    pub known: bool,
    /// The key of the project it is for, or [`EVERYWHERE`].
    pub project: String,
}

/// Why something is not remembered. Whoever asked can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is nothing in it to remember")]
    Empty,
    #[error("it is too short to be of use later: say in a sentence what holds")]
    TooShort,
    #[error("it has {0} characters and notes have at most {MAX_LENGTH}: say it shorter, or in several notes")]
    TooLong(usize),
    #[error("it only asks: remember the answer")]
    Question,
    #[error("it says nothing that still holds later")]
    Chatter,
    #[error("nothing of it may be kept: it is private, secret, or left out by `[privacy]` in the config")]
    Private,
    #[error("the project {0} is excluded in the config")]
    Excluded(String),
    #[error("it is for {}, and an agent writes for its own project only, {own}", told_project(project))]
    Elsewhere { project: String, own: String },
    #[error("{0} was closed by the user, who alone opens it again")]
    ClosedByUser(String),
    #[error("`{0}` is no kind of note: there are convention, preference, decision, todo and fact")]
    Kind(String),
}

/// Remembers something.
///
/// # Errors
/// A [`Refused`] when it is not fit to be kept; else when the index cannot be written.
pub fn remember(config: &Config, new: &New) -> Result<Kept> {
    let kind = match &new.kind {
        Some(name) => Kind::named(name).ok_or_else(|| Refused::Kind(name.clone()))?,
        None => Kind::default(),
    };
    let gate = config.gate()?;
    let text = admitted(&new.text, &gate)?;
    let project = match &new.project {
        Some(folder) => project_of(folder, &gate, config)?,
        None => EVERYWHERE.to_owned(),
    };
    new.reach.check(&project)?;
    private::create_dir(&config.data_dir)
        .with_context(|| format!("cannot create the data folder {}", config.data_dir.display()))?;
    let author = new.author.passing(|text| gate.clean(text));
    let note = NewNote { project, kind: kind.name().to_owned(), text, at: config.now(), author, closed: None };
    Store::open(&config.database())?.keep_note(&note, |known| is_known(&note.text, known))
}

/// Is nothing to be remembered that is said in a folder?
///
/// # Errors
/// A [`Refused`] when its project is excluded; else when the folder has no name that can be kept.
pub fn check_folder(folder: &Path, config: &Config) -> Result<()> {
    project_of(folder, &config.gate()?, config).map(drop)
}

/// A note, whole, for people and models.
pub fn show(note: &Note, config: &Config) -> String {
    let line = |text: &str| one_line(&plain(text));
    let project = told_project(&note.project.key);
    let when = config.local_time(Some(note.at), "%Y-%m-%d %H:%M");
    let (kind, project, text) = (line(&note.kind), line(project), disarm(&plain(&note.text)));
    let (origin, id) = (line(&note.origin()), &note.id);
    let done = if note.closed.is_none() && is_todo(note) { format!("Done? `recall close {id}`. ") } else { String::new() };
    format!("# {kind} · {when} · {project} · {origin} · {id}\n\n{text}\n\n{done}Out of date? `recall forget --note {id}`\n")
}

/// Does it say what is to be done? Then it can be closed.
pub fn is_todo(note: &Note) -> bool {
    Kind::named(&note.kind) == Some(Kind::Todo)
}

/// A project's key as it is told.
pub fn told_project(key: &str) -> &str {
    if key == EVERYWHERE { "all projects" } else { key }
}

/// A note as JSON has it.
pub fn as_json(note: &Note) -> serde_json::Value {
    let closed = note.closed.as_ref().map(|(at, by)| json!({"at": at, "author": by}));
    json!({
        "note": note.id, "kind": note.kind, "project": note.project.key, "at": note.at, "author": note.author, "closed": closed,
        "text": note.text,
    })
}

/// The project's key, as its sessions have it.
fn project_of(folder: &Path, gate: &Gate, config: &Config) -> Result<String> {
    // One that is gone still names its project.
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder))?;
    let folder = gate.redact(folder.to_str().context("the folder's name is not UTF-8")?);
    let projects = config.project_keys();
    let key = projects.key_of(&folder);
    if config.excludes_folder(&folder, &projects) {
        return Err(Refused::Excluded(key).into());
    }
    Ok(key)
}

/// The text as it may be kept, if it is worth it.
fn admitted(raw: &str, gate: &Gate) -> Result<String, Refused> {
    let given = raw.trim().chars().count();
    if given == 0 {
        return Err(Refused::Empty);
    }
    if given > MAX_LENGTH {
        return Err(Refused::TooLong(given));
    }
    let text = gate.clean(raw);
    if text.is_empty() {
        return Err(Refused::Private);
    }
    let letters: usize = text.chars().filter(|c| c.is_alphanumeric()).map(|c| if is_unsegmented(c) { 3 } else { 1 }).sum();
    if letters < MIN_LETTERS {
        return Err(Refused::TooShort);
    }
    let all = all_sentences(&text);
    if !all.is_empty() && all.iter().all(|sentence| sentence.trim_end().ends_with(['?', '？'])) {
        return Err(Refused::Question);
    }
    if all.iter().all(|sentence| is_chatter(sentence) || is_reply(sentence)) && !all.is_empty() {
        return Err(Refused::Chatter);
    }
    Ok(text)
}

/// Words that only answer.
fn is_reply(sentence: &str) -> bool {
    const REPLIES: [&str; 14] =
        ["ok", "okay", "yes", "no", "done", "thanks", "thank", "please", "great", "good", "perfect", "sure", "nice", "you"];
    words_of(sentence).all(|word| REPLIES.contains(&word.to_lowercase().as_str()))
}

/// Does a note say all that a text says, in the same order? A text that changes a name says something new; one that changes, adds or
/// leaves out a number or a word that turns or limits what is said, says something else.
pub fn is_known(text: &str, note: &Note) -> bool {
    let (new, known) = (sequence(text), sequence(&note.text));
    let mut left = known.iter();
    turning(text) == turning(&note.text)
        && new.iter().all(|word| left.any(|other| other == word))
        && new.len() * SAME.1 >= known.len() * SAME.0
}

/// Does a statement say all that a text says, in the same order, whatever else it says?
pub fn is_said_in(text: &str, statement: &str) -> bool {
    /// One word is a name, which many statements hold.
    const LEAST: usize = 2;
    let (new, known) = (sequence(text), sequence(statement));
    let mut left = known.iter();
    new.len() >= LEAST && turning(text) == turning(statement) && new.iter().all(|word| left.any(|other| other == word))
}

/// What decides on what a text says, however few of its words it is: numbers, negations, limits.
fn turning(text: &str) -> Vec<String> {
    const TURNS: [&str; 30] = [
        "not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "without", "except", "unless", "only", "instead", "t",
        "cannot", "stop", "avoid", "nicht", "nie", "niemals", "nichts", "ohne", "nur", "außer", "pas", "jamais", "sans", "nunca",
        "sin", "ない",
    ];
    const TURNING_CHARACTERS: [char; 9] = ['不', '没', '沒', '無', '无', '未', '勿', '別', '别'];
    let is_turning = |token: &String| {
        TURNS.contains(&token.as_str())
            || token.starts_with("kein")
            || token.contains(|c: char| c.is_numeric() || TURNING_CHARACTERS.contains(&c))
    };
    // What is left of `don't` behind the apostrophe is a word of its own.
    let short = |token: String| if matches!(token.as_str(), "t" | "cannot") { "not".to_owned() } else { token };
    words_of(text).flat_map(tokens_of).map(|token| token.to_lowercase()).filter(is_turning).map(short).collect()
}

/// The telling words of a text in their order, without the endings that tell forms of a word apart.
fn sequence(text: &str) -> Vec<String> {
    const FILLING: [&str; 24] = [
        "a", "an", "the", "is", "are", "was", "were", "be", "been", "we", "i", "it", "its", "this", "that", "to", "of", "our",
        "so", "have", "has", "had", "will", "please",
    ];
    let filling: BTreeSet<&str> = FILLING.into_iter().collect();
    let tokens = words_of(text).flat_map(tokens_of).filter(|token| !filling.contains(token.as_str()));
    tokens.map(|token| crate::terms::stem(&token).to_owned()).collect()
}

#[cfg(test)]
mod tests;
