//! What the environment says for an endpoint that the user chose: its key and a proxy.
//!
//! The config never holds a key, only the name of the variable that does. The key is read when needed and not stored.

use std::env;

use anyhow::{Context, Result, ensure};
use ureq::Proxy;

use crate::sys::http::{ApiKey, is_on_this_machine};

/// The key for an endpoint, if the config names a variable for it; `setting` is the one that names it, for messages.
///
/// # Errors
/// When that variable is not set, or its value cannot be a key.
pub(crate) fn api_key(variable: &str, setting: &str) -> Result<Option<ApiKey>> {
    if variable.is_empty() {
        return Ok(None);
    }
    let key = env::var(variable).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    let key = key.with_context(|| format!("${variable}, which `{setting}` names, is not set"))?;
    ensure!(key.bytes().all(|b| b.is_ascii_graphic()), "${variable}, which `{setting}` names, holds more than a key");
    Ok(Some(ApiKey(key)))
}

/// The proxy from the environment, for remote endpoints. Never for this machine: the proxy would resolve the address to itself.
pub(crate) fn proxy_for(address: &str) -> Option<Proxy> {
    if is_on_this_machine(address) { None } else { Proxy::try_from_env() }
}
