//! The list of all days that have a page, in the data folder. It names no project and no session, and is nobody's to write in.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::config::Config;
use crate::model::page_path;
use crate::render::page::{ListedDay, day_list_page};
use crate::store::Reader;
use crate::sys::private_files;

/// Writes it if its text differs; takes it away with the last page. To be called while the marker says that pages are written.
pub(super) fn write(config: &Config, store: &Reader) -> Result<()> {
    let mut days: BTreeMap<String, ListedDay> = BTreeMap::new();
    for page in store.pages()? {
        days.entry(page.day).or_default().began += usize::from(page.session.is_some());
    }
    for (day, went_on) in store.gone_on_by_day()? {
        days.entry(day).or_default().went_on = went_on;
    }
    let file = config.data_dir.join(page_path::DAY_LIST);
    if days.is_empty() {
        return Ok(private_files::remove(&file)?);
    }
    let text = day_list_page(&days);
    if std::fs::read(&file).is_ok_and(|before| before == text.as_bytes()) {
        return Ok(());
    }
    let half_written = page_path::pages_folder(&config.data_dir);
    private_files::replace_from(&half_written, &file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

/// Is there none?
pub(super) fn is_missing(config: &Config) -> bool {
    !config.data_dir.join(page_path::DAY_LIST).exists()
}
