//! With what a stored session is taken up again: its client finds it by its id, in the folder in which it began, as long as its transcript is
//! there.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::inputs::client_memory::folder_of;
use crate::model::session_head::SessionHead;
use text::clean::id8;
use transcripts::client::Client;
use transcripts::source::{ResumeCommand, can_resume};
use transcripts::source::{homes_of, is_there};

/// What starts the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resumption {
    client: Client,
    pub(crate) program: String,
    /// The whole id of the session.
    session: String,
    pub(crate) folder: String,
}

impl Resumption {
    pub(crate) fn command(&self) -> ResumeCommand<'_> {
        ResumeCommand { client: self.client, program: &self.program, session: &self.session, folder: Some(&self.folder) }
    }
}

/// # Errors
/// When the session is not known, or its transcript or its folder is gone, or no command continues it.
pub(crate) fn resumption(memory: &OpenMemory, config: &Config, id: &str) -> Result<Resumption> {
    let head = memory.0.find_session(id)?;
    let short = id8(&head.id);
    let name = head.client.name();
    if !can_resume(head.client, &head.id) {
        bail!("recall cannot resume sessions of {name}. To read this one, run `recall show {short} --full`");
    }
    if let Some(origin) = memory.0.origin_of(head.pk)? {
        bail!(
            "session {short} is on the machine {}: it can be continued there. To read it, run `recall show {short} --full`",
            origin.name
        );
    }
    let Some(file) = own_transcript(memory, &head)? else {
        bail!(
            "the transcript of session {short} is gone, and {name} needs it: `recall show {short} --full` shows what recall has kept"
        )
    };
    // `/cd` moves a transcript into the folder of the project where the session went on.
    let known = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let cwd = memory.0.first_folder(head.pk)?.unwrap_or_default();
    let folders = [cwd.as_str(), head.project.key.as_str()];
    let folder = folders.iter().find(|folder| folder_of(folder) == known).unwrap_or(&folders[0]);
    if folder.is_empty() {
        bail!(
            "nothing tells in which folder session {short} began, and {name} can continue it only there. Read it with `recall show {short} --full`"
        );
    }
    if !Path::new(folder).is_dir() {
        bail!(
            "session {short} began in {folder}, which is gone: {name} can continue it only there. Read it with `recall show {short} --full`"
        );
    }
    let program = if head.client.is_usual() { config.digest.claude.clone() } else { head.client.program().to_owned() };
    Ok(Resumption { client: head.client, program, folder: (*folder).to_owned(), session: head.id })
}

/// The transcript that has the session's id for a name, if it is still there.
fn own_transcript(memory: &OpenMemory, head: &SessionHead) -> Result<Option<PathBuf>> {
    let files =
        memory.0.source_files(head.pk)?.into_iter().filter(|file| file.agent.is_none()).map(|file| PathBuf::from(file.path));
    let is_own = |file: &PathBuf| homes_of(head.client, file, &head.id).next().is_some();
    Ok(files.filter(is_own).find(|file| is_there(file)))
}
