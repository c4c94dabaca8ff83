//! `recall mcp`: the memory for any client of the Model Context Protocol, on stdin and stdout.
//!
//! Only translates to and from the protocol; searching, rendering and storing are done by other modules. stdout carries nothing
//! but the protocol.
//!
//! ## Threads
//! One thread handles the protocol. Every call runs on a thread of its own with its own connection, so that none waits for
//! another. Connections are read-only, except for `remember` and `close`.
//!
//! ## Lifetime
//! The process ends with its client: at the end of stdin, or on a signal.

pub(crate) mod day_pages;
mod prompts;
mod server;
mod text;
mod tools;
mod wire;
pub(crate) mod workspace_root;

use anyhow::{Context, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::runtime::Builder;

use crate::app::executor::MAX_THREADS;
use crate::config::Config;
use crate::sys::shutdown;
use server::Server;
use wire::StdioTransport;

/// Threads beside those of the calls: one reads stdin, one writes stdout.
const PROTOCOL_THREADS: usize = 2;

/// Serves one client until it disconnects.
///
/// # Errors
/// If the runtime cannot start, or the client does not open with the protocol.
pub(crate) fn serve(config: Config) -> Result<()> {
    let threads = MAX_THREADS + PROTOCOL_THREADS;
    let runtime = Builder::new_current_thread().enable_time().max_blocking_threads(threads).build().context("cannot start")?;
    let ended = runtime.block_on(serve_client(config));
    // A blocking read of stdin cannot be cancelled; it ends with the process.
    runtime.shutdown_background();
    ended
}

async fn serve_client(config: Config) -> Result<()> {
    let told_to_end = shutdown::first_signal();
    let serving = Server::new(&config).serve(StdioTransport::new());
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
    // Lets calls in flight finish briefly.
    running.waiting().await.context("the server broke off")?;
    Ok(())
}
