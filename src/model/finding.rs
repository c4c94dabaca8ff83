//! What a check of a part of the setup found, as `recall doctor` tells it.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Ok,
    /// Works, but not for long or not as well as it could.
    Warning,
    /// Something does not work.
    Problem,
}

/// The repair that `recall doctor --fix` makes for a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Repair {
    /// Repeats `recall install` for the hooks and the timer that are installed.
    Install,
    /// Closes the data folder to other users, and opens it to its owner.
    Permissions,
    /// Quarantines a damaged index and restores what can be restored.
    Index,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was checked: `hooks`, `timer` …
    pub(crate) about: &'static str,
    pub(crate) state: Severity,
    pub(crate) found: String,
    /// What to do, or what could be done; absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<Repair>,
    /// The change to a file that the advice would make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<String>,
    /// What of a finding has to stay the same for it to be the same finding; `None` for all it says.
    #[serde(skip)]
    pub(crate) same_while: Option<String>,
    /// A person has seen it, by `recall doctor --seen`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) seen: bool,
}

impl Finding {
    pub(crate) fn ok(about: &'static str, found: impl Into<String>) -> Self {
        Self {
            about,
            state: Severity::Ok,
            found: found.into(),
            advice: None,
            fix: None,
            difference: None,
            same_while: None,
            seen: false,
        }
    }

    pub(crate) fn warning(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: Severity::Warning, advice: Some(advice.into()), ..Self::ok(about, found) }
    }

    pub(crate) fn problem(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: Severity::Problem, ..Self::warning(about, found, advice) }
    }

    pub(crate) fn same_while(self, same: impl Into<String>) -> Self {
        Self { same_while: Some(same.into()), ..self }
    }

    /// How bad it is for somebody who has seen what was seen.
    pub(crate) fn alarm(&self) -> Severity {
        if self.seen { Severity::Ok } else { self.state }
    }

    pub(crate) fn fixed_by(self, fix: Repair) -> Self {
        Self { fix: Some(fix), ..self }
    }
}
