//! Whose memory comes first: the project the client works in.
//!
//! Clients start the server where they work, as Claude Code does; one that says what its roots are means those.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::{Peer, RoleServer};
use tokio::sync::Mutex;

/// How long a client has to tell its roots, once.
const PATIENCE: Duration = Duration::from_secs(2);

/// The folder the client works in, once it is known.
#[derive(Debug, Default)]
pub struct Place {
    known: Mutex<Option<PathBuf>>,
}

impl Place {
    /// The client's first root that is a folder here, else the server's own folder.
    pub async fn folder(&self, peer: &Peer<RoleServer>) -> PathBuf {
        let mut known = self.known.lock().await;
        if let Some(folder) = &*known {
            return folder.clone();
        }
        let folder = match of_roots(&roots(peer).await) {
            Some(folder) => folder,
            None => std::env::current_dir().unwrap_or_default(),
        };
        known.insert(folder).clone()
    }

    /// The client says that its roots are others now.
    pub async fn forget(&self) {
        *self.known.lock().await = None;
    }
}

/// The URIs of the client's roots, if it has any and says so in time.
#[expect(deprecated, reason = "newer revisions of the protocol have no roots; a client of one does not say that it has them")]
async fn roots(peer: &Peer<RoleServer>) -> Vec<String> {
    if peer.peer_info().is_none_or(|client| client.capabilities.roots.is_none()) {
        return Vec::new();
    }
    match tokio::time::timeout(PATIENCE, peer.list_roots()).await {
        Ok(Ok(told)) => told.roots.into_iter().map(|root| root.uri).collect(),
        _ => Vec::new(),
    }
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
