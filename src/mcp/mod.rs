//! `recall mcp`: the memory for any client of the Model Context Protocol, on stdin and stdout.
//!
//! What is found, told and kept is other modules' work; here are the protocol's words for it. One thread talks, and every call works
//! on a thread of its own with its own connection, which but for `remember` only reads, so that none waits for another. stdout carries the protocol and nothing
//! else. The process ends with its client: at the end of stdin, or when it is told to.

mod days;
mod place;
mod prompts;
mod server;
mod text;
mod tools;
mod wire;
mod work;

use std::sync::Arc;

use anyhow::{Context, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::runtime::Builder;
use tokio::sync::Notify;

use crate::config::Config;
use server::Server;
use wire::Wire;

/// Threads beside those of the calls: one reads, one writes.
const TALKING: usize = 2;

/// Serves one client until it is gone.
///
/// # Errors
/// When no thread can be had, or the client begins with something else than the protocol.
pub fn serve(config: Config) -> Result<()> {
    let threads = work::THREADS + TALKING;
    let runtime = Builder::new_current_thread().enable_time().max_blocking_threads(threads).build().context("cannot start")?;
    let ended = runtime.block_on(talk(config));
    // Nobody can call off a read of stdin: it ends with the process.
    runtime.shutdown_background();
    ended
}

async fn talk(config: Config) -> Result<()> {
    let told_to_end = told_to_end();
    let serving = Server::new(config).serve(Wire::new());
    let running = tokio::select! {
        begun = serving => match begun {
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            begun => begun.context("the client did not begin as the protocol wants it")?,
        },
        () = told_to_end.notified() => return Ok(()),
    };
    let stop = running.cancellation_token();
    tokio::spawn(async move {
        told_to_end.notified().await;
        stop.cancel();
    });
    // What is under way has a moment to end.
    running.waiting().await.context("the server broke off")?;
    Ok(())
}

/// Notified by a first Ctrl-C, SIGTERM or SIGHUP; a second one ends the process at once.
fn told_to_end() -> Arc<Notify> {
    let told = Arc::new(Notify::new());
    let teller = Arc::clone(&told);
    let mut before = false;
    // Without a handler a signal ends the process, which leaves nothing half done either.
    let _ = ctrlc::set_handler(move || {
        if std::mem::replace(&mut before, true) {
            std::process::exit(130);
        }
        teller.notify_one();
    });
    told
}
