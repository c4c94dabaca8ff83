//! A session or statement of a colleague's that only the server has, by its id.

use std::collections::HashSet;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use team::{Shared, USAGE};

use super::PATIENCE;
use super::asked::{ask, readable};
use super::exchange::NO_TEAM;
use super::search::{TeamHit, told};
use super::state::TeamState;
use crate::app::asker::Asker;
use crate::config::Config;

/// The fewest and the most characters of an id that somebody types.
const MIN_CHARS: usize = 4;
const MAX_CHARS: usize = 128;
/// How many records are read of which an id begins like this.
const MAX_HITS: usize = 50;

/// What others shared under this id; one only, whoever shared it, unless several people shared the same.
///
/// # Errors
/// When the user is in no team, the server does not answer within a second, nothing there begins with this id, or several do.
pub(crate) fn of_colleagues(config: &Config, asker: &Asker<'_>, id: &str) -> Result<Vec<TeamHit>> {
    let until = Instant::now() + PATIENCE;
    let Some(state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
    ensure!(!asker.is_excluded(), "your team's server was not asked: your config excludes this folder");
    let is_id = (MIN_CHARS..=MAX_CHARS).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    ensure!(is_id, "`{id}` is no id: your team's server was not asked");
    let sanitizer = config.sanitizer()?;
    let (machine, wanted) = (state.machine.clone(), id.to_owned());
    let mut hits = ask(state, until, move |client| {
        let readable = readable(client);
        let readable: Vec<&str> = readable.iter().map(String::as_str).collect();
        client.named(&readable, &wanted, MAX_HITS, until)
    })?;
    hits.retain(|hit| hit.record.machine != machine && hit.record.kind != USAGE);
    // Of what two machines of somebody shared, the one that changed last.
    let mut known = HashSet::new();
    hits.retain(|hit| {
        let Shared { member, kind, id, .. } = &hit.record;
        known.insert((*member, hit.project.clone(), kind.clone(), id.clone()))
    });
    let mut all: Vec<TeamHit> = hits.into_iter().filter_map(told).collect();
    for text in all.iter_mut().flat_map(|hit| [&mut hit.title, &mut hit.text]) {
        *text = sanitizer.clean(text.as_str());
    }
    let mut ids: Vec<&str> = all.iter().map(|hit| hit.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    match ids.as_slice() {
        [] => bail!("neither this machine nor your team's server has anything with the id `{id}`"),
        [_] => Ok(all),
        several => bail!("`{id}` matches several ids that your team shares: {}", several.join(", ")),
    }
}
