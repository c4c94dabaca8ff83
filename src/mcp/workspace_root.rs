//! Workspace root: the folder in which the client works, whose project comes first.
//!
//! Clients start the server in that folder, as Claude Code does. If a client reports roots, those take precedence.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;

/// How long calls wait for a client to report its roots. A late reply is still used for later calls.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(2);

/// The folder in which the client works, once known.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceRoot {
    asked: Arc<Mutex<RootsRequest>>,
}

/// State of the roots request. The client is asked once, and every call before its reply waits for the same request.
#[derive(Debug, Clone, Default)]
enum RootsRequest {
    #[default]
    NotSent,
    Waiting(Arc<Notify>),
    /// The wait timed out, so calls no longer wait.
    Late(Arc<Notify>),
    /// The client's first root that is a folder on this machine, if any.
    Known(Option<PathBuf>),
}

impl RootsRequest {
    /// Whether the state belongs to this request.
    fn is(&self, question: &Arc<Notify>) -> bool {
        matches!(self, Self::Waiting(asked) | Self::Late(asked) if Arc::ptr_eq(asked, question))
    }
}

impl WorkspaceRoot {
    /// The client's first root that is a folder on this machine, else the server's own folder.
    pub(crate) async fn folder(&self, peer: &Peer<RoleServer>) -> PathBuf {
        let own = || std::env::current_dir().unwrap_or_default();
        if !has_roots(peer) {
            return own();
        }
        let asked = self.asked().clone();
        let question = match asked {
            RootsRequest::Known(root) => return root.unwrap_or_else(own),
            RootsRequest::Late(_) => return own(),
            RootsRequest::Waiting(question) => question,
            RootsRequest::NotSent => self.ask(peer.clone()),
        };
        let told = question.notified();
        // The reply may have arrived in between.
        if self.asked().is(&question) && tokio::time::timeout(ROOTS_TIMEOUT, told).await.is_err() {
            let mut asked = self.asked();
            if asked.is(&question) {
                *asked = RootsRequest::Late(question);
            }
        }
        match &*self.asked() {
            RootsRequest::Known(Some(root)) => root.clone(),
            _ => own(),
        }
    }

    /// Sends the roots request. A late reply is still used, unless the client has reported changed roots since.
    fn ask(&self, peer: Peer<RoleServer>) -> Arc<Notify> {
        let question = Arc::new(Notify::new());
        *self.asked() = RootsRequest::Waiting(Arc::clone(&question));
        let (asked, waiting) = (Arc::clone(&self.asked), Arc::clone(&question));
        tokio::spawn(async move {
            let root = first_folder(&roots(&peer).await);
            let mut asked = lock(&asked);
            if asked.is(&waiting) {
                *asked = RootsRequest::Known(root);
            }
            waiting.notify_waiters();
        });
        question
    }

    /// Forgets the roots, because the client reported that they changed.
    pub(crate) fn forget(&self) {
        *self.asked() = RootsRequest::NotSent;
    }

    fn asked(&self) -> MutexGuard<'_, RootsRequest> {
        lock(&self.asked)
    }
}

fn lock(asked: &Mutex<RootsRequest>) -> MutexGuard<'_, RootsRequest> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

fn has_roots(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some())
}

/// The URIs of the client's roots.
#[expect(deprecated, reason = "newer revisions of the protocol have no roots; a client of one does not say that it has them")]
async fn roots(peer: &Peer<RoleServer>) -> Vec<String> {
    let told = peer.list_roots().await;
    told.map(|told| told.roots.into_iter().map(|root| root.uri).collect()).unwrap_or_default()
}

fn first_folder(roots: &[String]) -> Option<PathBuf> {
    roots.iter().filter_map(|uri| path_of(uri)).find(|path| path.is_dir())
}

/// The path of a `file:` URI on this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let host = &rest[..rest.len() - path.len()];
    (host.is_empty() || host == "localhost").then(|| percent_decoded(path)).flatten().map(PathBuf::from)
}

/// Decodes percent escapes such as `%41`.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_folder_of_this_machine() {
        let cases = [
            ("file:///home/dev/my%20shop", Some("/home/dev/my shop")),
            ("file://localhost/srv", Some("/srv")),
            ("file:///caf%C3%A9", Some("/café")),
            ("file://elsewhere/srv", None),
            ("file:///bad%2", None),
            ("file:///bad%zz", None),
            ("https://example.org/", None),
            ("file://", None),
            ("", None),
        ];
        for (uri, path) in cases {
            assert_eq!(path_of(uri), path.map(PathBuf::from), "{uri}");
        }
        let roots = ["https://x/", "file:///not/there", "file:///usr"].map(str::to_owned);
        assert_eq!(first_folder(&roots), Some(PathBuf::from("/usr")));
        assert_eq!(first_folder(&[]), None);
    }
}
