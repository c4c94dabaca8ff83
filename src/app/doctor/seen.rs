//! Findings that a person has seen: told by the doctor all the same, and no alarm until they say something new.
//!
//! Only warnings: a problem stays one until it is mended. Kept are hashes, no text of a finding.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Finding, Severity};
use crate::sys::{data_folder, private_files};

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::SEEN_FINDINGS)
}

/// Marks the findings that were seen.
pub(super) fn apply(findings: &mut [Finding], data_dir: &Path) {
    // A file that cannot be read has marked nothing: the worst is that something is told once more.
    let seen: BTreeSet<String> =
        fs::read(file(data_dir)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    for finding in findings {
        finding.seen = can_be_seen(finding) && seen.contains(&hash(finding));
    }
}

/// Notes these findings as seen, and no others: what went and comes back is new. Returns how many.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn note(findings: &[Finding], data_dir: &Path) -> Result<usize> {
    let seen: BTreeSet<String> = findings.iter().filter(|finding| can_be_seen(finding)).map(hash).collect();
    let file = file(data_dir);
    private_files::replace(&file, &serde_json::to_vec(&seen)?).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(seen.len())
}

fn can_be_seen(finding: &Finding) -> bool {
    finding.state == Severity::Warning
}

fn hash(finding: &Finding) -> String {
    let says = finding.same_while.as_deref().unwrap_or(&finding.found);
    blake3::hash(format!("{}\n{says}", finding.about).as_bytes()).to_hex().to_string()
}
