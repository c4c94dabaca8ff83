//! The embeddings endpoint: the only file that speaks HTTP.
//!
//! A request is bounded in time and response size, follows no redirects and goes only to the configured host; through a proxy only if the
//! environment names one and the host is not this machine. Everything sent has passed the sanitizer. Error messages of the endpoint may
//! repeat what was sent, so they are sanitized as well and never contain the API key.

use std::time::Duration;

use ureq::{Agent, Error};

use super::wire;
use crate::config::{ApiKey, Config, EndpointApi};
use crate::privacy::Sanitizer;
use crate::text::clean::{one_line, shorten, without_controls};

/// The longest time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The most characters shown of the endpoint's error message.
const MAX_MESSAGE_CHARS: usize = 160;

/// Why there are no vectors, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("embeddings endpoint {host}: {why}")]
pub(crate) struct EmbeddingError {
    pub(crate) host: String,
    pub(crate) why: String,
    /// The endpoint responded: it may succeed with other texts.
    pub(crate) answered: bool,
}

pub(crate) struct Endpoint {
    agent: Agent,
    url: String,
    /// Host and port as shown to people.
    host: String,
    api: EndpointApi,
    model: String,
    key: Option<ApiKey>,
    timeout: Duration,
    sanitizer: Sanitizer,
}

impl Endpoint {
    /// The configured endpoint, or `None` if there is none.
    ///
    /// # Errors
    /// When its API key cannot be obtained.
    pub(crate) fn of(config: &Config, sanitizer: Sanitizer) -> Result<Option<Self>, EmbeddingError> {
        let settings = &config.embeddings;
        if !settings.is_on() {
            return Ok(None);
        }
        let url = wire::request_url(&settings.endpoint, settings.api);
        let host = host_of(&url);
        let key =
            config.embeddings_key().map_err(|e| EmbeddingError { host: host.clone(), why: format!("{e:#}"), answered: false })?;
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let agent = Agent::config_builder()
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT)))
            .max_redirects(0)
            .http_status_as_error(false)
            .https_only(url.starts_with("https:"))
            .proxy(config.embeddings_proxy())
            .max_response_header_size(16 << 10)
            .user_agent(concat!("recall/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build()
            .new_agent();
        Ok(Some(Self { agent, url, host, api: settings.api, model: settings.model.clone(), key, timeout, sanitizer }))
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// One vector per text, in their order and all of one length. Sends one request.
    ///
    /// # Errors
    /// When the endpoint is unreachable, too slow, reports an error or gives an invalid response.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let (status, body) = self.ask(texts).map_err(|e| {
            let too_long = matches!(e, Error::BodyExceedsLimit(_));
            self.failure(&self.reason(&e), too_long)
        })?;
        let why = match status {
            200 => match wire::parse_vectors(self.api, &body, texts.len()) {
                Ok(vectors) => return Ok(vectors),
                Err(why) => why,
            },
            300..400 => format!("it answered {status}, and redirects are not followed"),
            _ => wire::error_message(&body)
                .map_or_else(|| format!("it answered {status}"), |why| format!("it answered {status}: {why}")),
        };
        Err(self.failure(&why, true))
    }

    fn ask(&self, texts: &[&str]) -> Result<(u16, Vec<u8>), Error> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(&wire::request(&self.model, texts)[..])?;
        let body = response.body_mut().with_config().limit(wire::max_response_bytes(texts.len())).read_to_vec()?;
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

    /// A failure whose message is safe to show: without the key, sanitized and shortened.
    pub(crate) fn failure(&self, why: &str, answered: bool) -> EmbeddingError {
        let without_key = match &self.key {
            Some(ApiKey(key)) => why.replace(key.as_str(), "…"),
            None => why.to_owned(),
        };
        let why = shorten(&one_line(&without_controls(&self.sanitizer.clean(&without_key))), MAX_MESSAGE_CHARS);
        EmbeddingError { host: self.host.clone(), why, answered }
    }
}

/// Host and port of a URL, without its path.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}
