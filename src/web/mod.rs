//! `recall serve`: the memory in a browser, as long as somebody looks.
//!
//! Only translates: what pages say is made by `app` and `render`. The server answers on this machine alone, knows whom it lets in
//! ([`access`]), and ends by itself when nobody has looked for a while.
//!
//! ## Threads
//! One thread handles connections; requests read the index one after the other, on another.

mod access;
mod actions;
mod addresses;
mod answer;
mod api;
mod charts;
mod connections;
mod export;
mod export_folder;
mod layout;
mod live;
mod pages;
mod router;
mod viewer;

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::runtime::Builder;

use self::access::{Access, new_token};
use self::connections::Listener;
pub(crate) use self::export::export;
use self::router::{Server, router};
use crate::app::asker::Asker;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::sys::{data_folder, messages, private_files, shutdown};

/// Pages that are made at the same time. The allocator keeps what a page took for the thread that made it: with one thread, which stays, that
/// is the memory of one page, and one person looks at one page.
const READING_THREADS: usize = 1;

/// How the memory is to be served.
#[derive(Debug, Clone)]
pub(crate) struct ServeRequest {
    /// 0 is any port that is free.
    pub(crate) port: u16,
    /// In place of a port.
    pub(crate) socket: Option<PathBuf>,
    /// Start the browser.
    pub(crate) open: bool,
    /// Holds what other programs send to be let in; made if it is not there.
    pub(crate) token_file: Option<PathBuf>,
    /// How long nobody may have asked before the server ends; `None`: however long.
    pub(crate) idle_end: Option<Duration>,
}

/// Serves until it is told to end, or nobody has looked for a while.
///
/// # Errors
/// When there is no memory yet, or the port or the socket is taken.
pub(crate) fn serve(config: Config, asked: &ServeRequest, out: &mut impl Write) -> Result<()> {
    if !OpenMemory::is_there(&config)? {
        bail!("there is nothing to show yet: run `recall digest` first");
    }
    // A reader does not upgrade the index of an earlier program.
    drop(Asker::here(&config).memory()?);
    let token = asked.token_file.as_deref().map(token_in).transpose()?;
    let browser_page = asked.open.then(|| browser_page(&config));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(READING_THREADS)
        .thread_keep_alive(Duration::MAX)
        .build()
        .context("cannot start")?;
    let ended = runtime.block_on(serve_all(config, asked, token.as_deref(), out));
    if let Some(page) = &browser_page {
        let _ = fs::remove_file(page);
    }
    runtime.shutdown_background();
    ended
}

async fn serve_all(config: Config, asked: &ServeRequest, token: Option<&str>, out: &mut impl Write) -> Result<()> {
    let listener = match &asked.socket {
        Some(socket) => Listener::on_socket(socket)?,
        None => Listener::on_port(asked.port).await?,
    };
    let port = listener.port()?;
    let access = Access::new(port, token)?;
    let folder = std::env::current_dir().unwrap_or_default();
    let server = Server::new(config, folder, access);
    let place = match (&asked.socket, port) {
        (Some(socket), _) => format!("http://localhost (through {})", socket.display()),
        (None, port) => format!("http://127.0.0.1:{}", port.unwrap_or_default()),
    };
    let end = end_of(&server, asked.idle_end);
    announce(&server, &place, asked, out)?;
    connections::answer(listener, router(&server), end).await;
    Ok(())
}

/// Says where the memory is, starts the browser, and gives a new link whenever somebody presses Enter.
fn announce(server: &Server, place: &str, asked: &ServeRequest, out: &mut impl Write) -> Result<()> {
    let link = |server: &Server| Ok::<_, anyhow::Error>(format!("{place}{}", server.access().new_link()?));
    if asked.open && asked.socket.is_none() {
        open_browser(server.config(), &link(server)?)?;
    }
    writeln!(out, "{}", link(server)?)?;
    out.flush()?;
    let ends = match asked.idle_end {
        Some(limit) => format!("; the server stops after {} without a request", told(limit)),
        None => String::new(),
    };
    if !io::stdin().is_terminal() {
        messages::report(format!("open this link in a browser; the link works once{ends}"));
        return Ok(());
    }
    messages::report(format!("open this link in a browser; the link works once. Enter: a new link, Ctrl-C: stop{ends}"));
    let (server, place) = (server.clone(), place.to_owned());
    // Waits for the person until the process ends.
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let (Ok(_), Ok(link)) = (line, server.access().new_link()) else { return };
            let _ = writeln!(io::stdout(), "{place}{link}");
        }
    });
    Ok(())
}

fn told(limit: Duration) -> String {
    let seconds = limit.as_secs();
    if seconds >= 60 { format!("{} minutes", seconds / 60) } else { format!("{seconds} seconds") }
}

/// A signal, heard from now on, or nobody who looks.
fn end_of(server: &Server, idle_end: Option<Duration>) -> impl Future<Output = ()> + use<> {
    let server = server.clone();
    let stop = shutdown::first_signal();
    async move {
        let idle = async {
            match idle_end {
                Some(limit) => server.activity().idle_for(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.notified() => {}
            () = idle => messages::report("nobody has looked for a while: ended"),
        }
    }
}

/// The token in a file, which is made if it is not there, for its owner alone.
///
/// # Errors
/// When others can read the file, or it holds no token.
fn token_in(file: &Path) -> Result<String> {
    if !file.exists() {
        let token = new_token()?;
        private_files::replace(file, format!("{token}\n").as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(token);
    }
    if private_files::is_open_to_others(file) {
        bail!("others can read {}: `chmod 600` it", file.display());
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let token = text.trim();
    if token.len() < 32 {
        bail!("{} holds no token of at least 32 characters: delete it, and a new one is made", file.display());
    }
    Ok(token.to_owned())
}

/// The file that brings the link to the browser. It goes with the server, or with a later run.
fn browser_page(config: &Config) -> PathBuf {
    config.data_dir.join(data_folder::BROWSER_PAGE)
}

/// Opens the link through a file that only its owner reads: the arguments of a program are seen by all users.
fn open_browser(config: &Config, link: &str) -> Result<()> {
    let file = browser_page(config);
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>recall</title>"
    );
    private_files::replace(&file, page.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener).arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        messages::report(format!("`{opener}` cannot be started: open the link yourself"));
    }
    Ok(())
}
