//! `recall close`: the user's word that something is done.

use std::io::Write;

use anyhow::Result;

use super::Ended;
use super::digest::refresh_pages;
use crate::clean::plain;
use crate::cli::CloseArgs;
use crate::config::Config;
use crate::store::Store;
use crate::ui::Ui;

pub fn run(args: &CloseArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let mut store = Store::open_existing(&config.database())?;
    // All ids are looked up first: a typing mistake changes nothing.
    let items = args.ids.iter().map(|id| store.find_item(id)).collect::<Result<Vec<_>>>()?;
    let mut any = false;
    for item in items {
        let (changed, done, already) = match args.undo {
            true => (store.reopen_item(&item)?, "open again", "was not closed by you"),
            false => (store.close_item(&item, config.now())?, "closed", "was closed already"),
        };
        any |= changed;
        writeln!(out, "{} {}: {}", item.id, if changed { done } else { already }, plain(&item.text))?;
    }
    let ui = Ui::default();
    if any {
        refresh_pages(config, &mut store, &ui)?;
    }
    Ok(if ui.warned() { Ended::Partly } else { Ended::Done })
}
