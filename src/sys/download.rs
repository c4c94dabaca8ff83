//! Downloads of files that the user asked for. Unlike requests to an endpoint they follow redirects, as hubs serve large files from elsewhere;
//! whoever reads the body checks what it is.

use std::io::Read;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use ureq::{Agent, Proxy};

use super::http::{check_address, is_on_this_machine};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the answer may take to begin.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a file may take. A later run goes on where this one ended.
const BODY_TIMEOUT: Duration = Duration::from_secs(3 * 3600);
const MAX_REDIRECTS: u32 = 5;

/// The body of a file, from where it was asked for.
pub(crate) struct Download {
    pub(crate) body: Box<dyn Read>,
    /// It begins where it was asked to, not at the file's beginning.
    pub(crate) resumed: bool,
}

impl Download {
    /// Asks for a file from a byte on, through a proxy only if one is given.
    ///
    /// # Errors
    /// When it cannot be had.
    pub(crate) fn open(url: &str, from: u64, proxy: Option<Proxy>) -> Result<Self> {
        let agent: Agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .timeout_recv_body(Some(BODY_TIMEOUT))
            .max_redirects(MAX_REDIRECTS)
            .http_status_as_error(false)
            .https_only(url.starts_with("https:"))
            .proxy(proxy)
            .user_agent(concat!("recall/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let mut request = agent.get(url);
        if from > 0 {
            request = request.header("range", format!("bytes={from}-"));
        }
        let response = request.call()?;
        let resumed = match response.status().as_u16() {
            200 => false,
            206 => true,
            other => bail!("the server answered {other}"),
        };
        ensure!(!resumed || from > 0, "the server answered with a part that was not asked for");
        Ok(Self { body: Box::new(response.into_body().into_reader()), resumed })
    }
}

/// # Errors
/// When files cannot be fetched from there: an address of another kind, or an unencrypted one elsewhere than on this machine.
pub(crate) fn check_hub(address: &str) -> Result<()> {
    if let Err(why) = check_address(address, false) {
        bail!("{why}");
    }
    ensure!(address.starts_with("https:") || is_on_this_machine(address), "must be https, unless it is on this machine");
    Ok(())
}
