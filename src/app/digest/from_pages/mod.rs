//! Restores from pages what the index lost: what stands on them alone comes back before a run writes any page anew.
//!
//! The index keeps a flag, from when it was made or repaired until a run has finished, so a killed run is repeated.

mod paid;

use anyhow::Result;

use self::paid::take_back;
use crate::app::digest::pages;
use crate::app::orphans;
use crate::app::page_facts::Pages;
use crate::config::Config;
use crate::store::Writer;
use crate::store::pages::UnreadPages;
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use transcripts::session::Millis;

pub(super) struct Outlived {
    pages: Pages,
    unread: UnreadPages,
}

/// Takes notes and settled items from the pages into the index, for a command other than a run that will write pages: before it changes
/// anything. The caller must hold the run lock. The next run takes the rest.
pub(crate) fn take_back_notes(config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    catch_up(config, store, ui)?;
    restore_notes(config, store, ui)
}

/// The same from pages as they are: where they were brought up to date before, and for a copy of the index, which writes none.
pub(crate) fn restore_notes(config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    Outlived::find(config, store)?.map_or(Ok(()), |outlived| outlived.pages.restore(store, config, ui))
}

/// Rewrites pages that a killed exchange or forgetting left out of date, before anything is taken from them: they still tell what the index
/// has deleted.
pub(super) fn catch_up(config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    match store.unread_pages()? {
        Some(why) if why == UnreadPages::AfterForget || store.pages_may_lag()? => pages::write(config, store, false, ui).map(drop),
        _ => Ok(()),
    }
}

impl Outlived {
    /// `None` where the pages are read, or hold nothing.
    pub(super) fn find(config: &Config, store: &Writer) -> Result<Option<Self>> {
        let Some(unread) = store.unread_pages()? else { return Ok(None) };
        let pages = Pages::read(config);
        if pages.told().is_none() {
            // Before this run writes some of its own.
            store.drop_unread_pages()?;
            return Ok(None);
        }
        Ok(Some(Self { pages, unread }))
    }

    /// Says what they hold and takes their notes into the new index: a page that is written from it would lose them.
    pub(super) fn take_back(&self, config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
        // After an import the index may know all of it.
        if self.unread == UnreadPages::OfAnother && self.pages.hold_more_than(store)? {
            let held = self.pages.told().unwrap_or_default();
            ui.warn(&format!(
                "the index is new, but pages of an older one hold {held}. Notes, closed items and digests by the model are restored from the pages. Sessions are read again from the transcripts, and their other digests are made again"
            ));
        }
        self.pages.restore(store, config, ui)
    }

    /// Takes back what was settled of sessions that the transcripts gave back, and their digests that were paid for. Returns how many.
    pub(super) fn take_back_digests(&self, config: &Config, ui: &Ui, now: Millis, store: &mut Writer) -> Result<u64> {
        self.pages.restore(store, config, ui)?;
        // What somebody had forgotten meanwhile may stand in a digest.
        if self.unread == UnreadPages::AfterForget { Ok(0) } else { take_back(&self.pages, config, ui, now, store) }
    }

    /// Names the sessions that the transcripts did not give back.
    pub(super) fn report(&self, config: &Config, store: &Writer, ui: &Ui) -> Result<()> {
        if shutdown::requested() {
            return Ok(());
        }
        if self.unread != UnreadPages::OfMended
            && let Some(told) = orphans::describe(&orphans::find(config, store)?)
        {
            ui.warn(&told);
        }
        store.drop_unread_pages()
    }
}
