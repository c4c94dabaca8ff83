//! What nobody can guess.

use anyhow::{Context, Result};

/// So many random bytes, in hexadecimal digits.
///
/// # Errors
/// If the system gives none.
pub(crate) fn random_hex(bytes: usize) -> Result<String> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).context("the system gives no random bytes")?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
