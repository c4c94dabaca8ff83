//! One question to the team's server, which somebody waits for.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use anyhow::{Result, bail};
use team::{Client, Deadlines};

use super::PATIENCE;
use super::state::TeamState;
use text::clean::{one_line, without_controls};

/// Asks it, until then.
///
/// # Errors
/// When it cannot be reached, or has not answered by then.
pub(super) fn ask<T: Send + 'static>(
    state: TeamState,
    until: Instant,
    question: impl FnOnce(&mut Client) -> Result<T, team::Error> + Send + 'static,
) -> Result<T> {
    let (found, answer) = channel();
    // Apart: to look up the name of a server may take longer than anybody waits.
    thread::spawn(move || {
        let deadlines = Deadlines { ask: PATIENCE, search: PATIENCE, ..Deadlines::default() };
        let asked = Client::join(&state.url, &state.machine, deadlines).and_then(|mut client| question(&mut client));
        // Nobody may be waiting any more.
        let _ = found.send(asked);
    });
    match answer.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(e)) => bail!("your team's server: {}", one_line(&without_controls(&e.to_string()))),
        Err(_) => bail!("your team's server: no answer within {} s", PATIENCE.as_secs()),
    }
}

/// The projects of which the user may read what others share.
pub(super) fn readable(client: &Client) -> Vec<String> {
    client.listed_projects().iter().filter(|one| one.may_read).map(|one| one.name.clone()).collect()
}
