//! Whose memory comes first: the project the client works in.
//!
//! Clients start the server where they work, as Claude Code does; one that says what its roots are means those.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;

/// How long calls wait for a client to tell its roots. One that is slower is taken at its word once it has told them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The folder the client works in, once it is known.
#[derive(Debug, Default)]
pub struct Place {
    asked: Arc<Mutex<Asked>>,
}

/// The client is asked once; every call that comes before its answer waits for the same one.
#[derive(Debug, Clone, Default)]
enum Asked {
    #[default]
    NotYet,
    Waiting(Arc<Notify>),
    /// Nobody waits any more.
    Late(Arc<Notify>),
    /// The first of its roots that is a folder here, if any is.
    Told(Option<PathBuf>),
}

impl Asked {
    /// Is this the question whose answer this notifies of?
    fn is(&self, question: &Arc<Notify>) -> bool {
        matches!(self, Self::Waiting(asked) | Self::Late(asked) if Arc::ptr_eq(asked, question))
    }
}

impl Place {
    /// The client's first root that is a folder here, else the server's own folder.
    pub async fn folder(&self, peer: &Peer<RoleServer>) -> PathBuf {
        let own = || std::env::current_dir().unwrap_or_default();
        if !has_roots(peer) {
            return own();
        }
        let asked = self.asked().clone();
        let question = match asked {
            Asked::Told(root) => return root.unwrap_or_else(own),
            Asked::Late(_) => return own(),
            Asked::Waiting(question) => question,
            Asked::NotYet => self.ask(peer.clone()),
        };
        let told = question.notified();
        // It may have come in between.
        if self.asked().is(&question) && tokio::time::timeout(PATIENCE, told).await.is_err() {
            let mut asked = self.asked();
            if asked.is(&question) {
                *asked = Asked::Late(question);
            }
        }
        match &*self.asked() {
            Asked::Told(Some(root)) => root.clone(),
            _ => own(),
        }
    }

    /// Asks; the answer counts whenever it comes, unless the client has said since that it is another one now.
    fn ask(&self, peer: Peer<RoleServer>) -> Arc<Notify> {
        let question = Arc::new(Notify::new());
        *self.asked() = Asked::Waiting(Arc::clone(&question));
        let (asked, waiting) = (Arc::clone(&self.asked), Arc::clone(&question));
        tokio::spawn(async move {
            let root = of_roots(&roots(&peer).await);
            let mut asked = lock(&asked);
            if asked.is(&waiting) {
                *asked = Asked::Told(root);
            }
            waiting.notify_waiters();
        });
        question
    }

    /// The client says that its roots are others now.
    pub fn forget(&self) {
        *self.asked() = Asked::NotYet;
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        lock(&self.asked)
    }
}

fn lock(asked: &Mutex<Asked>) -> MutexGuard<'_, Asked> {
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

fn of_roots(roots: &[String]) -> Option<PathBuf> {
    roots.iter().filter_map(|uri| path_of(uri)).find(|path| path.is_dir())
}

/// The path of a `file:` URI of this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let host = &rest[..rest.len() - path.len()];
    (host.is_empty() || host == "localhost").then(|| unescaped(path)).flatten().map(PathBuf::from)
}

/// A text with its `%41` as characters.
fn unescaped(text: &str) -> Option<String> {
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
        assert_eq!(of_roots(&roots), Some(PathBuf::from("/usr")));
        assert_eq!(of_roots(&[]), None);
    }
}
