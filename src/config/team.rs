//! What of the user's projects their team may see: `[team."PROJECT"]`.

#[cfg(feature = "team")]
use std::collections::BTreeMap;
#[cfg(feature = "team")]
use std::path::Path;

use serde::{Deserialize, Serialize};

#[cfg(feature = "team")]
use super::{expand_tilde, homes};

/// What of a project goes to the server of the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TeamConsent {
    /// Nothing leaves this machine without it.
    pub(crate) share: bool,
    /// Also what came of sessions and what they left open; else only notes, commands, cures and what the user noted as to do.
    pub(crate) sessions: bool,
    /// Also what those sessions took: tokens and costs, by day and model.
    pub(crate) usage: bool,
}

impl Default for TeamConsent {
    fn default() -> Self {
        Self { share: false, sessions: true, usage: true }
    }
}

/// What the config says of a project with this key and this address of its repository. Where several of its names stand there, all have to agree.
#[cfg(feature = "team")]
pub(super) fn consent(named: &BTreeMap<String, TeamConsent>, key: &str, remote: &str, home: &Path) -> TeamConsent {
    let mut all = named.iter().filter(|(name, _)| is_name_of(name, key, remote, home)).map(|(_, consent)| *consent);
    let Some(first) = all.next() else { return TeamConsent::default() };
    all.fold(first, |a, b| TeamConsent { share: a.share && b.share, sessions: a.sessions && b.sessions, usage: a.usage && b.usage })
}

/// The names that fit none of these projects, each by its key and the address of its repository.
#[cfg(feature = "team")]
pub(super) fn unknown(named: &BTreeMap<String, TeamConsent>, projects: &[(&str, &str)], home: &Path) -> Vec<String> {
    let fits = |name: &str| projects.iter().any(|(key, remote)| is_name_of(name, key, remote, home));
    named.keys().filter(|name| !fits(name)).cloned().collect()
}

#[cfg(feature = "team")]
fn is_name_of(name: &str, key: &str, remote: &str, home: &Path) -> bool {
    let path = |home: &Path| expand_tilde(name, home).trim_end_matches('/').to_owned();
    name == remote || homes(name, home).iter().any(|home| path(home) == key)
}

#[cfg(all(test, feature = "team"))]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shared_that_the_user_did_not_name_and_the_narrowest_word_counts() {
        let consent_of = |text: &str, key: &str| {
            let named: BTreeMap<String, TeamConsent> = toml::from_str(text).unwrap();
            let TeamConsent { share, sessions, .. } = consent(&named, key, "example.com/acme/shop", Path::new("/home/anna"));
            (share, sessions)
        };
        assert_eq!(consent_of("", "/home/anna/shop"), (false, true));
        let by_path = "[\"~/shop/\"]\nshare = true\n";
        assert_eq!(consent_of(by_path, "/home/anna/shop"), (true, true));
        assert_eq!(consent_of(by_path, "/home/anna/shop2"), (false, true));
        let by_address = "[\"example.com/acme/shop\"]\nshare = true\nsessions = false\n";
        assert_eq!(consent_of(by_address, "/srv/anything"), (true, false));
        assert_eq!(consent_of(&format!("{by_path}{by_address}"), "/home/anna/shop"), (true, false));
        assert_eq!(consent_of(&format!("{by_address}[\"/home/anna/shop\"]\nshare = false\n"), "/home/anna/shop"), (false, false));
    }
}
