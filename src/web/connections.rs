//! Connections: how many at once, how long each may take, and when nobody has asked for so long that the server ends.

use std::fs;
use std::future::Future;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

use crate::sys::private_files;

/// Connections at the same time; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 256;
/// For the head of a request, and between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection ends then whatever it does: a browser makes another one.
const MAX_LIFE: Duration = Duration::from_secs(15 * 60);
/// The most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// After a failure to accept, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Where clients connect.
pub(super) enum Listener {
    Port(TcpListener),
    Socket { listener: UnixListener, _name: SocketName },
}

/// The name of a socket in the file system. It goes with the server, unless something else has it by then.
pub(super) struct SocketName {
    path: PathBuf,
    file: FileId,
}

/// Device and number on it.
type FileId = (u64, u64);

impl SocketName {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), file: Self::file_at(path)? })
    }

    fn file_at(path: &Path) -> io::Result<FileId> {
        path.symlink_metadata().map(|file| (file.dev(), file.ino()))
    }
}

impl Drop for SocketName {
    fn drop(&mut self) {
        if Self::file_at(&self.path).is_ok_and(|there| there == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    /// On this machine only; port 0 is any that is free.
    ///
    /// # Errors
    /// When the port is taken.
    pub(super) async fn on_port(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.with_context(|| format!("cannot listen on port {port}"))?;
        Ok(Self::Port(listener))
    }

    /// On a socket in the file system that only its owner can open.
    ///
    /// # Errors
    /// When something is there, or the folder cannot be written.
    pub(super) fn on_socket(path: &Path) -> Result<Self> {
        if let Ok(there) = path.symlink_metadata() {
            // Of a server that was killed.
            let is_refused = || UnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
            if !(there.file_type().is_socket() && is_refused()) {
                bail!("{} is there already", path.display());
            }
            fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))?;
        }
        let cannot = || format!("cannot listen on {}", path.display());
        let bound = private_files::bind_socket(path).with_context(cannot)?;
        let name = SocketName::of(path).with_context(cannot)?;
        bound.set_nonblocking(true).with_context(cannot)?;
        Ok(Self::Socket { listener: UnixListener::from_std(bound).with_context(cannot)?, _name: name })
    }

    /// # Errors
    /// If the system does not know the port.
    pub(super) fn port(&self) -> Result<Option<u16>> {
        Ok(match self {
            Self::Port(listener) => Some(listener.local_addr()?.port()),
            Self::Socket { .. } => None,
        })
    }

    async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Port(listener) => Box::new(listener.accept().await?.0),
            Self::Socket { listener, .. } => Box::new(listener.accept().await?.0),
        })
    }
}

/// When somebody who may look last asked for something.
#[derive(Debug)]
pub(super) struct Activity {
    start: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), last_ms: AtomicU64::new(0) }
    }

    pub(super) fn note(&self) {
        self.last_ms.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Ends when nobody has asked for so long.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            match (last + limit).checked_sub(self.start.elapsed()) {
                Some(rest) if !rest.is_zero() => tokio::time::sleep(rest).await,
                _ => return,
            }
        }
    }
}

/// Answers until `end`.
pub(super) async fn answer(listener: Listener, router: Router, end: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    tokio::pin!(end);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut end => return,
        };
        let Ok(stream) = stream else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let _place = place;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .max_buf_size(MAX_HEAD_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            // How a client's connection broke is nobody's concern.
            let _ = tokio::time::timeout(MAX_LIFE, connection).await;
        });
    }
}
