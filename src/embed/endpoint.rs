//! The endpoint: the only file that speaks HTTP.
//!
//! A request is bounded in time and in the bytes of its answer, follows no redirect, and goes to the host the config names, over a
//! proxy only where the environment has one and the host is not this machine. What is sent has passed the privacy gate. What an
//! endpoint complains of may repeat what it was sent, so that passes the gate as well, and never holds the key.

use std::time::Duration;

use ureq::{Agent, Error};

use super::wire;
use crate::clean::{one_line, plain, shorten};
use crate::config::{Api, Config, Key};
use crate::privacy::Gate;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// Characters of a complaint that are told.
const COMPLAINT: usize = 160;

/// Why there are no vectors: what went wrong and where, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("embeddings endpoint {host}: {why}")]
pub struct Failure {
    pub host: String,
    pub why: String,
    /// It was there and answered: with other texts it may do better.
    pub answered: bool,
}

pub struct Endpoint {
    agent: Agent,
    url: String,
    /// As it is shown to people.
    host: String,
    api: Api,
    model: String,
    key: Option<Key>,
    timeout: Duration,
    gate: Gate,
}

impl Endpoint {
    /// The endpoint the config names; `None` where it names none.
    ///
    /// # Errors
    /// When its key is not to be had.
    pub fn of(config: &Config, gate: Gate) -> Result<Option<Self>, Failure> {
        let settings = &config.embeddings;
        if !settings.is_on() {
            return Ok(None);
        }
        let url = wire::address(&settings.endpoint, settings.api);
        let host = host_of(&url);
        let key = config.embeddings_key().map_err(|e| Failure { host: host.clone(), why: format!("{e:#}"), answered: false })?;
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let agent = Agent::config_builder()
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT)))
            .max_redirects(0)
            .http_status_as_error(false)
            .https_only(url.starts_with("https:"))
            .proxy(config.embeddings_proxy())
            .max_response_header_size(16 << 10)
            .user_agent(concat!("recall/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build()
            .new_agent();
        Ok(Some(Self { agent, url, host, api: settings.api, model: settings.model.clone(), key, timeout, gate }))
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// A vector for every text, all of one length, in their order. One request.
    ///
    /// # Errors
    /// When the endpoint is not there, too slow, complains, or answers anything else.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let (status, body) = self.ask(texts).map_err(|e| {
            let too_long = matches!(e, Error::BodyExceedsLimit(_));
            self.failure(&self.reason(&e), too_long)
        })?;
        let why = match status {
            200 => match wire::vectors(self.api, &body, texts.len()) {
                Ok(vectors) => return Ok(vectors),
                Err(why) => why,
            },
            300..400 => format!("it answered {status}, and redirects are not followed"),
            _ => {
                wire::complaint(&body).map_or_else(|| format!("it answered {status}"), |why| format!("it answered {status}: {why}"))
            }
        };
        Err(self.failure(&why, true))
    }

    fn ask(&self, texts: &[&str]) -> Result<(u16, Vec<u8>), Error> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(Key(key)) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(&wire::request(&self.model, texts)[..])?;
        let body = response.body_mut().with_config().limit(wire::most_bytes(texts.len())).read_to_vec()?;
        Ok((response.status().as_u16(), body))
    }

    fn reason(&self, error: &Error) -> String {
        match error {
            Error::Timeout(_) => format!("no answer within {} seconds", self.timeout.as_secs()),
            Error::BodyExceedsLimit(_) => "its answer is too long".to_owned(),
            Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => {
                format!("no answer within {} seconds", self.timeout.as_secs())
            }
            other => other.to_string(),
        }
    }

    /// A failure in words that may be shown.
    pub fn failure(&self, why: &str, answered: bool) -> Failure {
        let without_key = match &self.key {
            Some(Key(key)) => why.replace(key.as_str(), "…"),
            None => why.to_owned(),
        };
        let why = shorten(&one_line(&plain(&self.gate.clean(&without_key))), COMPLAINT);
        Failure { host: self.host.clone(), why, answered }
    }
}

/// Host and port, without a path that may be long.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}
