//! The embeddings endpoint. Everything sent has passed the sanitizer, and so has everything that is shown of its answers.

use std::time::Duration;

use super::wire;
use crate::config::{Config, EndpointApi, api_key, proxy_for};
use crate::sys::http::{HttpEndpoint, host_of};
use text::clean::{one_line, shorten, without_controls};
use transcripts::privacy::Sanitizer;

/// The most characters shown of the endpoint's error message.
const MAX_MESSAGE_CHARS: usize = 160;

/// Why there are no vectors, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{by}: {why}")]
pub(crate) struct EmbeddingError {
    /// Whose failure it is.
    pub(crate) by: String,
    pub(crate) why: String,
    /// The endpoint responded: it may succeed with other texts.
    pub(crate) answered: bool,
}

impl EmbeddingError {
    /// A failure whose message is safe to show: sanitized and shortened.
    pub(super) fn cleaned(by: String, why: &str, answered: bool, sanitizer: &Sanitizer) -> Self {
        let why = shorten(&one_line(&without_controls(&sanitizer.clean(why))), MAX_MESSAGE_CHARS);
        Self { by, why, answered }
    }
}

pub(crate) struct Endpoint {
    http: HttpEndpoint,
    /// Host and port as shown to people.
    host: String,
    api: EndpointApi,
    model: String,
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
        let key = api_key(&settings.key_env, "embeddings.key_env").map_err(|e| EmbeddingError {
            by: named(&host),
            why: format!("{e:#}"),
            answered: false,
        })?;
        let http = HttpEndpoint::new(url, key, Duration::from_secs(settings.timeout_seconds), proxy_for(&settings.endpoint));
        Ok(Some(Self { http, host, api: settings.api, model: settings.model.clone(), sanitizer }))
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// One vector per text, in their order and all of one length. Sends one request.
    ///
    /// # Errors
    /// When the endpoint is unreachable, too slow, reports an error or gives an invalid response.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let body = self.http.post(&wire::request(&self.model, texts), wire::max_response_bytes(texts.len()));
        let body = body.map_err(|failed| self.failure(&failed.why, failed.status.is_some()))?;
        wire::parse_vectors(self.api, &body, texts.len()).map_err(|why| self.failure(&why, true))
    }

    /// A failure whose message is safe to show, also without the key.
    pub(crate) fn failure(&self, why: &str, answered: bool) -> EmbeddingError {
        EmbeddingError::cleaned(named(&self.host), &self.http.without_key(why), answered, &self.sanitizer)
    }
}

fn named(host: &str) -> String {
    format!("embeddings endpoint {host}")
}
