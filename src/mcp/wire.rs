//! Message frames of the protocol on stdin and stdout: one line per message.
//!
//! The library silently drops lines that are too long or not JSON, and a client would wait for its reply forever. Here each such
//! line gets an error, under its id if one can be found. A notification never gets one.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use transcripts::source::json::{fields, fields_before_cut, number, text};

/// Largest accepted frame in bytes; the library's limit is the same.
const MAX_FRAME: usize = 16 << 20;

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

pub(crate) struct StdioTransport {
    from: BufReader<Stdin>,
    /// The frame being received. Kept across calls because `receive` is cancelled whenever something else happens, and then
    /// resumes.
    frame: MessageFrame,
    to: Arc<Mutex<Stdout>>,
    /// The error being written. Reading waits for it, so a client that sends garbage without reading replies blocks itself.
    telling: Option<JoinHandle<io::Result<()>>>,
}

/// A received line.
#[derive(Default)]
struct MessageFrame {
    bytes: Vec<u8>,
    /// The line was too long, and only its beginning is kept.
    cut: bool,
}

impl StdioTransport {
    pub(crate) fn new() -> Self {
        let to = Arc::new(Mutex::new(tokio::io::stdout()));
        Self { from: BufReader::new(tokio::io::stdin()), frame: MessageFrame::default(), to, telling: None }
    }

    /// The next frame; `None` at the end of stdin, where a partial frame is dropped.
    async fn next_frame(&mut self) -> Option<MessageFrame> {
        loop {
            let came = self.from.fill_buf().await.ok().filter(|came| !came.is_empty())?;
            let end = memchr::memchr(b'\n', came);
            // No await between copying the bytes and consuming them, so that cancellation loses nothing.
            self.frame.take(&came[..end.unwrap_or(came.len())]);
            let taken = end.map_or(came.len(), |end| end + 1);
            self.from.consume(taken);
            if end.is_some() {
                return Some(std::mem::take(&mut self.frame));
            }
        }
    }
}

impl MessageFrame {
    fn take(&mut self, bytes: &[u8]) {
        let room = MAX_FRAME - self.bytes.len();
        self.cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Parses the frame; `None` if it is blank or an unknown notification.
    ///
    /// # Errors
    /// The reply to send if it is not a message.
    fn read(&self) -> Result<Option<Incoming>, Box<Outgoing>> {
        let line = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes).trim_ascii();
        if self.cut {
            let why = format!("this message is longer than {} MiB", MAX_FRAME >> 20);
            return Err(refused(ErrorCode::INVALID_REQUEST, why, line));
        }
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(line) {
            Ok(heard) => Ok(Some(heard)),
            Err(_) if is_notification(line) => Ok(None),
            Err(_) if serde_json::from_slice::<IgnoredAny>(line).is_ok() => {
                Err(refused(ErrorCode::INVALID_REQUEST, "this is no message of the protocol".to_owned(), line))
            }
            Err(_) => Err(refused(ErrorCode::PARSE_ERROR, "this line is no JSON".to_owned(), b"")),
        }
    }
}

/// Whether the line is a notification of an unknown kind, which is never answered.
fn is_notification(line: &[u8]) -> bool {
    let named = std::str::from_utf8(line).ok().and_then(|line| fields(line, &["method", "id"]).ok());
    matches!(named, Some([Some(method), None]) if text(method).is_some())
}

/// The error reply to a line, under its id if it has a valid one.
fn refused(code: ErrorCode, why: String, line: &[u8]) -> Box<Outgoing> {
    let readable = std::str::from_utf8(line).unwrap_or_else(|e| std::str::from_utf8(&line[..e.valid_up_to()]).unwrap_or_default());
    let [id] = fields_before_cut(readable, &["id"]);
    let id = id.and_then(|id| {
        let name = text(id).map(|name| RequestId::String(name.of_request().into()));
        name.or_else(|| number(Some(id)).and_then(|n| i64::try_from(n).ok()).map(RequestId::Number))
    });
    Box::new(Outgoing::error(ErrorData::new(code, why, None), id))
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(&mut self, said: Outgoing) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = Arc::clone(&self.to);
        async move {
            let mut line = serde_json::to_vec(&said)?;
            line.push(b'\n');
            let mut to = to.lock().await;
            to.write_all(&line).await?;
            to.flush().await
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            if let Some(telling) = &mut self.telling {
                let told = telling.await;
                self.telling = None;
                told.ok()?.ok()?;
            }
            match self.next_frame().await?.read() {
                Ok(Some(heard)) => return Some(heard),
                Ok(None) => {}
                // Spawned, so that cancelling `receive` cannot leave it half written.
                Err(said) => self.telling = Some(tokio::spawn(self.send(*said))),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.to.lock().await.flush().await
    }
}
