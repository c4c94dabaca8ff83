//! What a page can change: close an open item, hide a statement or a reply, keep or dismiss a rule, forget a session. Each is what the
//! command of that name does for the person at the keyboard.

use anyhow::{Context, Result, bail};

use crate::app::close_items::ClosingRequest;
use crate::app::contributor::Contributor;
use crate::app::forget::{self, ForgetRequest, ForgetTarget};
use crate::app::rules;
use crate::app::show::whole_id;
use crate::app::wrong::{bring_back, change_replies, find, find_denials, find_replies, refuse_notes, take_out};
use crate::sys::messages::Ui;
use crate::web::addresses;
use crate::web::pages::session::read_reply_id;
use crate::web::viewer::Viewer;

/// What a form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Close,
    Wrong,
    NotWrong,
    Forget,
    KeepRule,
    DismissRule,
}

impl Action {
    pub(super) const ALL: [(&'static str, Self); 6] = [
        (addresses::CLOSE, Self::Close),
        (addresses::WRONG, Self::Wrong),
        (addresses::NOT_WRONG, Self::NotWrong),
        (addresses::FORGET, Self::Forget),
        (addresses::KEEP_RULE, Self::KeepRule),
        (addresses::DISMISS_RULE, Self::DismissRule),
    ];
}

/// Does it to what has this id. Returns what to tell.
///
/// # Errors
/// When nothing has this id, or another run is changing the memory.
pub(super) fn act(action: Action, id: &str, viewer: Viewer<'_>) -> Result<String> {
    let config = viewer.config;
    let memory = viewer.memory;
    let ids = [id.to_owned()];
    let ui = Ui::default();
    Ok(match action {
        Action::Close => {
            let writer = Contributor::user();
            let closing = ClosingRequest::resolve(&ids, &memory)?;
            closing.check(&writer, false, &memory)?;
            drop(memory);
            let done = closing.apply(&writer, false, config, &ui)?;
            let text = done.first().map(|one| one.text.clone()).unwrap_or_default();
            format!("Closed: {text}")
        }
        Action::Wrong | Action::NotWrong => {
            let undo = action == Action::NotWrong;
            if let Some((session, turn)) = read_reply_id(id) {
                let found = find_replies(&memory, session, &[turn], undo)?;
                drop(memory);
                change_replies(found, undo, config, &ui)?;
            } else if undo {
                let denials = find_denials(&memory, &ids)?;
                drop(memory);
                bring_back(&denials, config, &ui)?;
            } else {
                refuse_notes(&memory, &ids)?;
                let doomed = find(&memory, &ids)?;
                drop(memory);
                take_out(&doomed, config, &ui)?;
            }
            if undo { "Shown again.".to_owned() } else { "Hidden.".to_owned() }
        }
        Action::KeepRule => {
            let found = rules::find(&memory, config, id, false)?;
            drop(memory);
            rules::accept(&found, config)?;
            "Kept as a note.".to_owned()
        }
        Action::DismissRule => {
            let found = rules::find(&memory, config, id, false)?;
            rules::dismiss(&found, false, memory, config, &ui)?;
            "Dismissed.".to_owned()
        }
        Action::Forget => {
            // Of what may be seen only.
            let whole = whole_id(&memory, id)?;
            if whole != id {
                bail!("{id} is not the whole id of a session");
            }
            drop(memory);
            let mut told = Vec::new();
            let request = ForgetRequest { what: ForgetTarget::Session(whole), yes: true, dry_run: false };
            forget::run(&request, config, &mut told)?;
            String::from_utf8(told).context("cannot print what was deleted")?.trim().to_owned()
        }
    })
}
