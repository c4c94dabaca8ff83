//! Secrets, taken out of what is kept. (Placeholder until the rules are merged.)

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub const RULES_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    pub id: String,
    pub pattern: String,
    #[serde(default)]
    pub keywords: Vec<String>,
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("rule `{0}`: {1}")]
pub struct RuleError(String, String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: String,
    pub range: Range<usize>,
}

#[derive(Debug, Clone)]
pub struct Redactor;

impl Redactor {
    pub fn new(_: &[UserRule]) -> Result<Self, RuleError> {
        Ok(Self)
    }

    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Redactor> = LazyLock::new(|| Redactor);
        &SHIPPED
    }

    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    pub fn findings(&self, _: &str) -> Vec<Finding> {
        Vec::new()
    }
}

pub fn is_mostly_redacted(_: &str) -> bool {
    false
}
