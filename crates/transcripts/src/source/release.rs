//! Releases of clients, and their order.

use std::fmt;

/// A release by its three numbers, as in `2.1.330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub(super) [u32; 3]);

impl Release {
    /// The release at the start of a text such as `2.1.330 (Claude Code)`; `None` if there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let version = text.split_whitespace().next()?.split(['-', '+']).next()?;
        let numbers: Vec<u32> = version.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self(numbers.try_into().ok()?))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(out, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let of = |text| Release::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert!(of("2.1.330 (Claude Code)") > of("2.1.49"));
        assert!(of("10.0.0") > of("9.99.99") && of("2.1.5-beta.1") == of("2.1.5"));
        for text in ["", "claude", "2.1", "2.1.x", "2.1.3.4", "2.1.-3"] {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }
}
