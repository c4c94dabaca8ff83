//! Notes: what a user or an agent wants remembered, independent of any session.
//!
//! A note passes the same sanitizer as session text: private text stays out, secrets are redacted, excluded projects have no notes. It
//! must say something of lasting use, and is stored once. Writing one takes a transaction of milliseconds and no run lock, so it works
//! while a digest runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::civil::Date;
use serde::Serialize;

use crate::analyze::prose::all_sentences;
use crate::analyze::signal::is_filler;
use crate::app::digest::{open_to_change, refresh_pages};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::author::Author;
use crate::model::note::{EVERYWHERE, Note, NoteKind, StoredNote, is_tag, project_label, with_marks};
use crate::store::Writer;
use crate::store::notes::NewNote;
use crate::store::transfer::ExportedNote;
use crate::sys::messages::Ui;
use crate::sys::paths::path_aliases;
use crate::sys::private_files;
use text::clean::{one_line, shorten, without_controls};
use text::disarm::disarm;
use text::tokenize::{is_unsegmented, tokens_of, words_of};
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

/// Characters shown of a rejected value.
const MAX_SHOWN: usize = 40;

/// The longest note, in characters: anything longer is a document and belongs in the project.
pub(crate) const MAX_LENGTH: usize = 2_000;
/// The least number of letters and digits. A character of a script without spaces counts as three.
const MIN_LETTERS: usize = 6;

/// The least share of a known note's words that a new text must have to count as the same note (numerator, denominator).
const SAME_NOTE_SHARE: (usize, usize) = (3, 4);

/// A note to be stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct RememberRequest {
    pub(crate) text: String,
    pub(crate) marks: NoteMarks,
    /// The name of a [`NoteKind`]; `None` means a fact.
    pub(crate) kind: Option<String>,
    pub(crate) audience: Audience,
    /// Who wrote it.
    pub(crate) author: Author,
    pub(crate) reach: WriteScope,
}

/// What is written into the text of a note besides what it says.
#[derive(Debug, Clone, Default)]
pub(crate) struct NoteMarks {
    pub(crate) tags: Vec<String>,
    /// When it is to be done.
    pub(crate) due: Option<Date>,
}

/// What is stored now: the note, or the one that said so already.
#[derive(Debug, Serialize)]
pub(crate) struct RememberReply {
    pub(crate) id: String,
    /// It was known already, in these words or nearly these; nothing was written, and the other fields are that note's.
    pub(crate) known: bool,
    /// The root of the project whose sessions are told, or `all projects`.
    pub(crate) project: String,
    /// Whose word it is, as it is shown with the note.
    pub(crate) by: String,
}

/// Whose sessions are told a note.
#[derive(Debug, Clone, Default)]
pub(crate) enum Audience {
    /// Those of all projects.
    #[default]
    Everywhere,
    /// Those of the project of the folder in which it was written.
    Here(PathBuf),
    /// Those of the project of a folder that was named.
    ProjectOf(PathBuf),
}

/// The projects for which the author may add or close notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum WriteScope {
    /// A person may write for every project.
    #[default]
    AllProjects,
    /// An agent may write only for the project with this key: something it read there may have told it to write.
    OneProject(String),
}

impl WriteScope {
    /// Checks that a project is within reach; gives a [`Refusal`] if it is not.
    pub(crate) fn check(&self, project: &str) -> Result<(), Refusal> {
        match self {
            Self::OneProject(own) if own != project => Err(Refusal::Elsewhere { project: project.to_owned(), own: own.clone() }),
            _ => Ok(()),
        }
    }
}

/// Why a note is refused, in words that tell the author what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is nothing in it to remember")]
    Empty,
    #[error("it is too short to be of use later: write a full sentence that says what is true")]
    TooShort,
    #[error("it has {0} characters and notes have at most {MAX_LENGTH}: say it shorter, or in several notes")]
    TooLong(usize),
    #[error("this is a question: keep the answer instead")]
    Question,
    #[error("it says nothing that still holds later")]
    Chatter,
    #[error("nothing of it may be kept: it is private, secret, or left out by `[privacy]` in the config")]
    Private,
    #[error("{} is not a project: run this in one, or use `recall remember --project FOLDER`", .0.display())]
    NoProject(PathBuf),
    #[error("the project {0} is excluded in the config")]
    Excluded(String),
    #[error("the note is for {}, but an agent may keep notes for its own project only, {own}", project_label(project))]
    Elsewhere { project: String, own: String },
    #[error("{0} was closed by the user: only the user can reopen it")]
    ClosedByUser(String),
    #[error("`{0}` is not a tag: use letters, digits, `-`, `_` and `/`")]
    Tag(String),
    #[error("`{0}` is not a kind of note: there are convention, preference, decision, todo and fact")]
    Kind(String),
}

/// Stores a note, unless an equivalent one is known.
///
/// # Errors
/// A [`Refusal`] if the note is not acceptable, told by [`not_remembered`]; otherwise a failure to write the index.
pub(crate) fn remember(config: &Config, new: &RememberRequest) -> Result<RememberReply> {
    let StoredNote { id, known, project, author } = store_note(config, new).map_err(not_remembered)?;
    Ok(RememberReply { id, known, project: project_label(&project).to_owned(), by: author.text() })
}

/// Says of a [`Refusal`] that nothing was stored; other errors stay as they are.
pub(crate) fn not_remembered(error: anyhow::Error) -> anyhow::Error {
    if error.is::<Refusal>() { error.context("not remembered") } else { error }
}

fn store_note(config: &Config, new: &RememberRequest) -> Result<StoredNote> {
    let kind = match &new.kind {
        Some(name) => NoteKind::named(name).ok_or_else(|| Refusal::Kind(name.clone()))?,
        None => NoteKind::default(),
    };
    let sanitizer = config.sanitizer()?;
    let text = accept_text(&marked(&new.text, &new.marks)?, &sanitizer)?;
    let project = match &new.audience {
        Audience::Everywhere => EVERYWHERE.to_owned(),
        Audience::Here(folder) => {
            check_is_project(folder, config)?;
            project_of(folder, &sanitizer, config)?
        }
        Audience::ProjectOf(folder) => project_of(folder, &sanitizer, config)?,
    };
    new.reach.check(&project)?;
    private_files::create_dir(&config.data_dir)
        .with_context(|| format!("cannot create the data folder {}", config.data_dir.display()))?;
    let author = new.author.with_clean_name(|text| sanitizer.clean(text));
    let note = NewNote { project, kind: kind.name().to_owned(), text, at: config.now(), author, closed: None };
    let mut store = Writer::open(&config.database())?;
    let stored = store.save_note(&note, |known| has_standing_of(kind, known) && is_same_note(&note.text, known))?;
    store.find_overtaken_by_notes()?;
    Ok(stored)
}

fn marked(text: &str, marks: &NoteMarks) -> Result<String, Refusal> {
    let tags: Vec<String> = marks.tags.iter().map(|tag| tag.trim_start_matches('#').to_owned()).collect();
    match tags.iter().find(|tag| !is_tag(tag)) {
        Some(tag) => Err(Refusal::Tag(tag.clone())),
        None => Ok(with_marks(text, &tags, marks.due)),
    }
}

/// Notes of a project and those for all projects, the newest first; or the latter alone.
pub(crate) struct NoteList {
    /// The project's key, or [`EVERYWHERE`].
    pub(crate) project: String,
    pub(crate) kind: Option<NoteKind>,
    /// All of which they have.
    pub(crate) tags: Vec<String>,
}

/// # Errors
/// When the index cannot be read.
pub(crate) fn list_notes(memory: &OpenMemory, asked: &NoteList) -> Result<Vec<Note>> {
    let mut notes = memory.0.notes_for(&asked.project)?;
    notes.retain(|note| asked.kind.is_none_or(|kind| NoteKind::named(&note.kind) == Some(kind)));
    notes.retain(|note| asked.tags.iter().all(|tag| note.has_tag(tag)));
    Ok(notes)
}

/// Changes the text of a note, or adds marks to the one it has.
///
/// # Errors
/// A [`Refusal`] if the text is not acceptable, when there is no such note, and when the index cannot be written.
pub(crate) fn edit_note(config: &Config, memory: OpenMemory, id: &str, text: &str, marks: &NoteMarks, ui: &Ui) -> Result<Note> {
    let Some(note) = memory.0.look_up_note(id)? else {
        bail!("no note with the id `{id}`: `recall remember` without a text lists those of this project")
    };
    drop(memory);
    if marks.due.is_some() && !is_todo(&note) {
        bail!("{} is a {}: only a todo can have a due day", note.id, note.kind);
    }
    let text = if text.trim().is_empty() { &note.text } else { text };
    let sanitizer = config.sanitizer()?;
    let text = marked(text, marks).and_then(|text| accept_text(&text, &sanitizer));
    let text = text.map_err(|refusal| not_remembered(refusal.into()))?;
    let mut store = open_to_change(config, ui)?;
    store.edit_note(&note, &text)?;
    store.find_overtaken_by_notes()?;
    refresh_pages(config, &mut store, ui)?;
    Ok(Note { text, ..note })
}

/// Rejects the home folder and `/`, where no work is done: clients start servers there, and people forget where they are.
fn check_is_project(folder: &Path, config: &Config) -> Result<(), Refusal> {
    let is_home = path_aliases(&config.home).iter().any(|home| home == folder);
    if is_home || folder.parent().is_none() { Err(Refusal::NoProject(folder.to_owned())) } else { Ok(()) }
}

/// Checks that notes may be stored for the project of a folder.
///
/// # Errors
/// A [`Refusal`] if the project is excluded; otherwise a folder whose name cannot be stored.
pub(crate) fn check_folder(folder: &Path, config: &Config) -> Result<()> {
    project_of(folder, &config.sanitizer()?, config).map(drop)
}

/// The full note, for people and models.
pub(crate) fn show(note: &Note, config: &Config) -> String {
    let line = |text: &str| one_line(&without_controls(text));
    let project = project_label(&note.project.key);
    let when = config.local_time(Some(note.at), "%Y-%m-%d %H:%M");
    let (kind, project, text) = (line(&note.kind), line(project), disarm(&without_controls(&note.text)));
    let (origin, id) = (line(&note.origin()), &note.id);
    let done = if note.closed.is_none() && is_todo(note) { format!("Done? `recall close {id}`. ") } else { String::new() };
    format!("# {kind} · {when} · {project} · {origin} · {id}\n\n{text}\n\n{done}Out of date? `recall forget --note {id}`\n")
}

/// Is it a to-do? Only those can be closed.
pub(crate) fn is_todo(note: &Note) -> bool {
    NoteKind::named(&note.kind) == Some(NoteKind::Todo)
}

/// A note as data. Times are milliseconds since the Unix epoch.
#[derive(Debug, Serialize)]
pub(crate) struct NoteRecord<'a> {
    note: &'a str,
    kind: &'a str,
    project: &'a str,
    at: Millis,
    author: &'a Author,
    closed: Option<NoteClosing<'a>>,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct NoteClosing<'a> {
    at: Millis,
    author: &'a Author,
}

impl<'a> NoteRecord<'a> {
    pub(crate) fn of(note: &'a Note) -> Self {
        Self {
            note: &note.id,
            kind: &note.kind,
            project: &note.project.key,
            at: note.at,
            author: &note.author,
            closed: note.closed.as_ref().map(|(at, author)| NoteClosing { at: *at, author }),
            text: &note.text,
        }
    }
}

/// The key of a folder's project, as its sessions have it.
fn project_of(folder: &Path, sanitizer: &Sanitizer, config: &Config) -> Result<String> {
    // A deleted folder still names its project.
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder))?;
    let folder = sanitizer.redact(folder.to_str().context("the folder's name is not UTF-8")?);
    let projects = config.project_keys();
    let key = projects.key_of(&folder);
    if config.excludes_folder(&folder, &projects) {
        return Err(Refusal::Excluded(key).into());
    }
    Ok(key)
}

/// The sanitized text of a note, if it is worth storing.
fn accept_text(raw: &str, sanitizer: &Sanitizer) -> Result<String, Refusal> {
    let given = raw.trim().chars().count();
    if given == 0 {
        return Err(Refusal::Empty);
    }
    if given > MAX_LENGTH {
        return Err(Refusal::TooLong(given));
    }
    let text = sanitizer.clean(raw);
    if text.is_empty() {
        return Err(Refusal::Private);
    }
    let letters: usize = text.chars().filter(|c| c.is_alphanumeric()).map(|c| if is_unsegmented(c) { 3 } else { 1 }).sum();
    if letters < MIN_LETTERS {
        return Err(Refusal::TooShort);
    }
    let all = all_sentences(&text);
    if !all.is_empty() && all.iter().all(|sentence| sentence.trim_end().ends_with(['?', '？'])) {
        return Err(Refusal::Question);
    }
    if all.iter().all(|sentence| is_filler(sentence) || is_acknowledgement(sentence)) && !all.is_empty() {
        return Err(Refusal::Chatter);
    }
    Ok(text)
}

/// Consists only of words of acknowledgement.
fn is_acknowledgement(sentence: &str) -> bool {
    const REPLIES: [&str; 14] =
        ["ok", "okay", "yes", "no", "done", "thanks", "thank", "please", "great", "good", "perfect", "sure", "nice", "you"];
    words_of(sentence).all(|word| REPLIES.contains(&word.to_lowercase().as_str()))
}

/// Can a known note stand for a new one of this kind? What is to be done again is open again, and no fact says that something is to be done.
fn has_standing_of(kind: NoteKind, known: &Note) -> bool {
    (kind == NoteKind::Todo) == is_todo(known) && known.closed.is_none()
}

/// Does a note say all that a text says, in the same order? A text with another name in it is new. So is one that changes, adds or drops
/// a number or a negating or limiting word.
pub(crate) fn is_same_note(text: &str, note: &Note) -> bool {
    let (new, known) = (stem_sequence(text), stem_sequence(&note.text));
    let mut left = known.iter();
    meaning_changers(text) == meaning_changers(&note.text)
        && new.iter().all(|word| left.any(|other| other == word))
        && new.len() * SAME_NOTE_SHARE.1 >= known.len() * SAME_NOTE_SHARE.0
}

/// Does a statement say all that a text says, in the same order, possibly among other things?
pub(crate) fn is_contained_in(text: &str, statement: &str) -> bool {
    /// A single word is a name, which many statements contain.
    const LEAST: usize = 2;
    let (new, known) = (stem_sequence(text), stem_sequence(statement));
    let mut left = known.iter();
    new.len() >= LEAST
        && meaning_changers(text) == meaning_changers(statement)
        && new.iter().all(|word| left.any(|other| other == word))
}

/// Have two texts the same numbers and limits, and as many negations, be they of other words?
pub(crate) fn has_same_limits(one: &str, other: &str) -> bool {
    const LIMITS: [&str; 5] = ["only", "except", "unless", "nur", "außer"];
    let of = |text: &str| -> (Vec<String>, usize) {
        let all = meaning_changers(text).into_iter();
        let (limits, negations): (Vec<String>, Vec<String>) =
            all.partition(|word| LIMITS.contains(&word.as_str()) || word.contains(char::is_numeric));
        (limits, negations.len())
    };
    of(one) == of(other)
}

/// The words that decide what a text means, however few they are: numbers, negations, limits.
fn meaning_changers(text: &str) -> Vec<String> {
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
    // `don't` is tokenized into `don` and `t`.
    let short = |token: String| if matches!(token.as_str(), "t" | "cannot") { "not".to_owned() } else { token };
    words_of(text).flat_map(tokens_of).map(|token| token.to_lowercase()).filter(is_turning).map(short).collect()
}

/// The distinctive words of a text, stemmed and in order.
fn stem_sequence(text: &str) -> Vec<String> {
    const FILLING: [&str; 24] = [
        "a", "an", "the", "is", "are", "was", "were", "be", "been", "we", "i", "it", "its", "this", "that", "to", "of", "our",
        "so", "have", "has", "had", "will", "please",
    ];
    let filling: BTreeSet<&str> = FILLING.into_iter().collect();
    let tokens = words_of(text).flat_map(tokens_of).filter(|token| !filling.contains(token.as_str()));
    tokens.map(|token| text::tokenize::stem(&token).to_owned()).collect()
}

/// Stores a note as far as it may be kept here. False if it is already known.
pub(crate) fn import_note(note: ExportedNote, sanitizer: &Sanitizer, store: &mut Writer, config: &Config) -> Result<bool> {
    let id = note.note.clone();
    store.import_note(&id, &as_kept_here(note, sanitizer, config)?)
}

/// A note from elsewhere as it may be kept here.
///
/// # Errors
/// When it may not: it is none, its project is excluded, or nothing of it is left.
pub(crate) fn as_kept_here(note: ExportedNote, sanitizer: &Sanitizer, config: &Config) -> Result<NewNote> {
    if !is_note_id(&note.note) {
        bail!("`{}` is not a note id", shorten(&note.note, MAX_SHOWN));
    }
    let kind = NoteKind::named(&note.kind).ok_or_else(|| Refusal::Kind(shorten(&note.kind, MAX_SHOWN)))?;
    let length = note.text.chars().count();
    if length > MAX_LENGTH {
        return Err(Refusal::TooLong(length).into());
    }
    if config.excludes_folder(&note.project, &config.project_keys()) {
        return Err(Refusal::Excluded(sanitizer.redact(&note.project)).into());
    }
    let text = sanitizer.clean(&note.text);
    if text.is_empty() {
        return Err(Refusal::Private.into());
    }
    let (author, closed) = (note.author.resanitized(), note.closed());
    let (project, kind) = (sanitizer.redact(&note.project), kind.name().to_owned());
    Ok(NewNote { project, kind, text, at: note.at, author, closed })
}

/// Whether the text is exactly the id of a note.
pub(crate) fn is_note_id(id: &str) -> bool {
    id.strip_prefix('m').is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
