//! Who may look: whoever came by a link that was printed once, known by a cookie from then on, or holds the token of a file.
//!
//! | danger | what keeps it out |
//! |---|---|
//! | another user of this machine, another program | nothing is answered without the cookie or the token; both are 256 random bits, compared in constant time |
//! | a link that somebody reads later | it lets in once |
//! | another local server, to which browsers send the same cookies | the cookie belongs to a folder with a random name |
//! | a web page that calls us (cross-site requests) | the cookie is `SameSite=Strict`; another `Origin` is refused; what changes something needs a word from our own pages |
//! | a host name that begins to mean this machine (DNS rebinding) | `Host` has to be a name of this machine |

use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use crate::sys::random::random_hex;

/// The bytes of what nobody can guess.
const SECRET_BYTES: usize = 32;
/// Those of the folder's name: it need not be secret from whoever reads our pages.
const FOLDER_BYTES: usize = 8;
/// Links that may lie about unused; an older one goes.
const MAX_LINKS: usize = 8;
const COOKIE: &str = "recall";

/// What lets somebody in. Only its hash is kept, which compares in constant time.
#[derive(Debug, Clone, Copy)]
struct Secret(blake3::Hash);

impl Secret {
    fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()))
    }

    fn is(self, text: &str) -> bool {
        self.0 == blake3::hash(text.as_bytes())
    }
}

#[derive(Debug)]
pub(super) struct Access {
    folder: String,
    cookie: String,
    form_word: String,
    links: Mutex<Vec<Secret>>,
    token: Option<Secret>,
    /// `None` behind a socket of files, which has none.
    port: Option<u16>,
}

impl Access {
    /// With the token that other programs send, if there is one.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(super) fn new(port: Option<u16>, token: Option<&str>) -> Result<Self> {
        Ok(Self {
            folder: format!("/{}/", random_hex(FOLDER_BYTES)?),
            cookie: random_hex(SECRET_BYTES)?,
            form_word: random_hex(SECRET_BYTES)?,
            links: Mutex::default(),
            token: token.map(Secret::of),
            port,
        })
    }

    /// The path below which all pages lie, with a slash at both ends.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// What a form has to hold that changes something.
    pub(super) fn form_word(&self) -> &str {
        &self.form_word
    }

    /// A path that lets in once.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(super) fn new_link(&self) -> Result<String> {
        let word = random_hex(SECRET_BYTES)?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() >= MAX_LINKS {
            links.remove(0);
        }
        links.push(Secret::of(&word));
        Ok(format!("{}enter/{word}", self.folder))
    }

    /// Uses a link up. Returns the header that lets the browser in from now on, if it was one.
    pub(super) fn enter(&self, word: &str) -> Option<String> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let at = links.iter().position(|link| link.is(word))?;
        links.remove(at);
        Some(format!("{COOKIE}={}; Path={}; HttpOnly; SameSite=Strict", self.cookie, self.folder))
    }

    /// Does a `Cookie` header hold what [`Access::enter`] gave?
    pub(super) fn knows_cookie(&self, header: &str) -> bool {
        let mine = Secret::of(&self.cookie);
        header.split(';').filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('=')).any(|value| mine.is(value))
    }

    /// Does an `Authorization` header hold the token?
    pub(super) fn knows_token(&self, header: &str) -> bool {
        let (Some(token), Some((scheme, sent))) = (self.token, header.split_once(' ')) else { return false };
        scheme.eq_ignore_ascii_case("bearer") && token.is(sent.trim())
    }

    pub(super) fn is_form_word(&self, sent: &str) -> bool {
        Secret::of(&self.form_word).is(sent)
    }

    /// Is it a name of this machine, with our port?
    pub(super) fn is_our_host(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let is_local = ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known));
        // Whoever forwards a port to a socket chooses the port.
        is_local && port.is_some_and(|port: u16| self.port.is_none_or(|own| own == port))
    }

    /// Does this `Origin` header name one of our own pages, which were asked for by this `Host`?
    pub(super) fn is_our_origin(&self, origin: &str, host: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host)) && self.is_our_host(host)
    }
}

/// A new token for other programs.
///
/// # Errors
/// As [`random_hex`].
pub(super) fn new_token() -> Result<String> {
    random_hex(SECRET_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lets_in_once_and_the_cookie_from_then_on() {
        let access = Access::new(Some(80), None).unwrap();
        let link = access.new_link().unwrap();
        let word = link.strip_prefix(&format!("{}enter/", access.folder())).unwrap();
        let header = access.enter(word).unwrap();
        assert_eq!(access.enter(word), None);
        let cookie = header.split(';').next().unwrap();
        assert!(access.knows_cookie(cookie) && access.knows_cookie(&format!("a=b; {cookie}; c=d")));
        for other in ["", "recall=", "recall", &cookie[..cookie.len() - 1], &format!("x{cookie}"), &format!("{cookie}0")] {
            assert!(!access.knows_cookie(other), "{other}");
        }
        assert!(header.ends_with("; HttpOnly; SameSite=Strict") && header.contains(&format!("Path={};", access.folder())));
        assert!(!cookie.contains(word));
    }

    #[test]
    fn old_links_go() {
        let access = Access::new(Some(80), None).unwrap();
        let word = |link: &str| link.rsplit('/').next().unwrap().to_owned();
        let first = word(&access.new_link().unwrap());
        let last = (0..MAX_LINKS).map(|_| word(&access.new_link().unwrap())).last().unwrap();
        assert_eq!(access.enter(&first), None);
        assert!(access.enter(&last).is_some());
    }

    #[test]
    fn only_names_of_this_machine_are_ours() {
        let access = Access::new(Some(4711), None).unwrap();
        for host in ["127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711"] {
            assert!(access.is_our_host(host), "{host}");
        }
        for host in [
            "", "evil.example:4711", "127.0.0.1:80", "127.0.0.1", "localhost.evil.example:4711", "127.0.0.1:4711@x", "[::1]", "a:b",
        ] {
            assert!(!access.is_our_host(host), "{host}");
        }
        assert!(access.is_our_origin("http://127.0.0.1:4711", "127.0.0.1:4711"));
        for origin in ["null", "http://127.0.0.1:4712", "https://127.0.0.1:4711", "http://evil.example", "http://localhost:4711"] {
            assert!(!access.is_our_origin(origin, "127.0.0.1:4711"), "{origin}");
        }
        let socket = Access::new(None, None).unwrap();
        assert!(socket.is_our_host("localhost") && socket.is_our_host("localhost:9000") && !socket.is_our_host("evil.example"));
    }

    #[test]
    fn a_token_is_asked_for_only_where_there_is_one() {
        let access = Access::new(Some(1), Some("abc")).unwrap();
        assert!(access.knows_token("Bearer abc") && access.knows_token("bearer abc"));
        for header in ["abc", "Bearer", "Bearer ", "Bearer ab", "Basic abc", ""] {
            assert!(!access.knows_token(header), "{header}");
        }
        assert!(!Access::new(Some(1), None).unwrap().knows_token("Bearer "));
    }
}
