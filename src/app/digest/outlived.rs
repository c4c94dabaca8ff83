//! Pages that outlived their index: a run that begins a new one says what stands on them alone, before it writes any page anew.

use anyhow::Result;

use crate::app::orphans;
use crate::app::repair::pages::Pages;
use crate::config::Config;
use crate::store::Store;
use crate::sys::messages::Ui;

pub(super) struct Outlived(Pages);

impl Outlived {
    /// `None` where there is an index, or nothing on any page.
    pub(super) fn find(config: &Config) -> Option<Self> {
        if config.database().exists() {
            return None;
        }
        let pages = Pages::read(config);
        pages.told().is_some().then_some(Self(pages))
    }

    /// Says what they hold and takes their notes into the new index: a page that is written from it would lose them.
    pub(super) fn take_back(&self, config: &Config, store: &mut Store, ui: &Ui) -> Result<()> {
        let held = self.0.told().unwrap_or_default();
        ui.warn(&format!(
            "there is no index, but pages of one, which hold {held}: notes and settled items are taken back from them, sessions are read from \
             their transcripts, and digests of these are made anew"
        ));
        self.0.restore(store, config, ui)
    }

    /// Takes back what was settled of sessions that the transcripts gave back, and names those that they did not.
    pub(super) fn report(&self, config: &Config, store: &mut Store, ui: &Ui) -> Result<()> {
        self.0.restore(store, config, ui)?;
        if let Some(told) = orphans::describe(&orphans::find(config, store)?) {
            ui.warn(&told);
        }
        Ok(())
    }
}
