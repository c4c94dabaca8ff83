//! The key of a carrier: an age identity of kind X25519.

use age::secrecy::ExposeSecret;
use std::fmt;

/// With what the files of a carrier are encrypted: an age identity, `AGE-SECRET-KEY-1…`. All machines of a carrier have the same.
#[derive(Clone)]
pub struct Key(pub(crate) age::x25519::Identity);

/// Why a text is no key. It repeats nothing of the text.
#[derive(Debug, thiserror::Error)]
#[error("this is no key: expected an age identity, one line that begins with AGE-SECRET-KEY-1 ({why})")]
pub struct KeyError {
    why: &'static str,
}

impl Key {
    /// A new key, from the system's source of random numbers.
    pub fn generate() -> Self {
        Self(age::x25519::Identity::generate())
    }

    /// The key that `text` spells; spaces around it, empty lines and lines that begin with `#` do not matter, so that what `age-keygen` writes
    /// is one.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().ok_or(KeyError { why: "it is empty" })?;
        if lines.next().is_some() {
            return Err(KeyError { why: "it has more than one line" });
        }
        line.parse().map(Self).map_err(|why| KeyError { why })
    }

    /// The key as [`Key::parse`] reads it. Whoever has it reads and writes all.
    pub fn text(&self) -> String {
        self.0.to_string().expose_secret().to_owned()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("Key(…)")
    }
}
