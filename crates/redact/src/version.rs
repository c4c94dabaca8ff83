//! The version of the shipped rules.

/// The version of the shipped rules, raised whenever one of them changes. Store it with redacted texts, and redact them again when it is
/// raised: what only the new rules know is still in them.
pub const RULES_VERSION: u32 = 3;
