//! Requests to an HTTP endpoint that the user chose: the only file that speaks HTTP.
//!
//! A request is bounded in time and response size, follows no redirects and goes only to the given host; through a proxy only if one is
//! given. Error messages of an endpoint may repeat what was sent: whoever shows one sanitizes it.

use std::time::Duration;

use ureq::http::Uri;
use ureq::{Agent, Error, Proxy};

/// The longest time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Authorizes requests. Never shown, not even by `Debug`.
#[derive(Clone)]
pub(crate) struct ApiKey(pub(crate) String);

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Why there is no answer, without the key, and not yet sanitized.
#[derive(Debug)]
pub(crate) struct HttpFailure {
    pub(crate) why: String,
    /// What the endpoint responded with; `None` when it did not.
    pub(crate) status: Option<u16>,
}

pub(crate) struct HttpEndpoint {
    agent: Agent,
    url: String,
    key: Option<ApiKey>,
    timeout: Duration,
}

impl HttpEndpoint {
    /// `timeout` bounds a whole request.
    pub(crate) fn new(url: String, key: Option<ApiKey>, timeout: Duration, proxy: Option<Proxy>) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT)))
            .max_redirects(0)
            .http_status_as_error(false)
            .https_only(url.starts_with("https:"))
            .proxy(proxy)
            .max_response_header_size(16 << 10)
            .user_agent(concat!("recall/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build()
            .new_agent();
        Self { agent, url, key, timeout }
    }

    /// Posts JSON and returns the body of the answer, which may be so many bytes long. Sends one request.
    ///
    /// # Errors
    /// When the endpoint is unreachable or too slow, or answers too much or with another status than 200.
    pub(crate) fn post(&self, json: &[u8], max_response_bytes: u64) -> Result<Vec<u8>, HttpFailure> {
        let (status, body) = self.send(json, max_response_bytes)?;
        let why = match status {
            200 => return Ok(body),
            300..400 => format!("it answered {status}, and redirects are not followed"),
            _ => error_message(&body)
                .map_or_else(|| format!("it answered {status}"), |why| format!("it answered {status}: {}", self.without_key(&why))),
        };
        Err(HttpFailure { why, status: Some(status) })
    }

    fn send(&self, json: &[u8], max_response_bytes: u64) -> Result<(u16, Vec<u8>), HttpFailure> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(json).map_err(|e| HttpFailure { why: self.reason(&e), status: None })?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(max_response_bytes).read_to_vec();
        let body = body.map_err(|e| {
            // Of an answer that breaks off nobody knows what it would have been.
            let status = matches!(e, Error::BodyExceedsLimit(_)).then_some(status);
            HttpFailure { why: self.reason(&e), status }
        })?;
        Ok((status, body))
    }

    fn reason(&self, error: &Error) -> String {
        match error {
            Error::Timeout(_) => format!("no answer within {} seconds", self.timeout.as_secs()),
            Error::BodyExceedsLimit(_) => "its answer is too long".to_owned(),
            Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => {
                format!("no answer within {} seconds", self.timeout.as_secs())
            }
            other => self.without_key(&other.to_string()),
        }
    }

    /// A text of the endpoint's, which may repeat the key it was given.
    pub(crate) fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(ApiKey(key)) => text.replace(key.as_str(), "…"),
            None => text.to_owned(),
        }
    }
}

/// The error message in a response: `{"error": "…"}` or `{"error": {"message": "…"}}`.
fn error_message(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let error = &value["error"];
    error.as_str().or_else(|| error["message"].as_str()).map(str::to_owned)
}

/// Host and port of a URL, without its path.
pub(crate) fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// May requests go to this address, with or without a key?
///
/// # Errors
/// Why not; never the address, which may hold a secret in the wrong place.
pub(crate) fn check_address(address: &str, has_key: bool) -> Result<(), &'static str> {
    let form = "must be an address like http://127.0.0.1:11434 or https://embeddings.example.com";
    let uri: Uri = address.parse().map_err(|_| form)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(form) };
    if !["http", "https"].contains(&scheme) || authority.host().is_empty() {
        return Err(form);
    }
    if authority.as_str().contains('@') || uri.query().is_some() || address.contains('#') {
        return Err("must hold no name, password or query: `key_env` names the variable with the key");
    }
    if scheme == "http" && has_key && !is_loopback(authority.host()) {
        return Err("must begin with https:// or be on this machine: a key is not sent in the clear");
    }
    Ok(())
}

/// Is an address one of this machine?
pub(crate) fn is_on_this_machine(address: &str) -> bool {
    address.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(is_loopback))
}

/// Is the host this machine, by name or by number?
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_itself_to_nobody() {
        assert_eq!(format!("{:?}", ApiKey("hunter2".into())), "Key(…)");
    }

    #[test]
    fn complaints_of_both_kinds_are_understood() {
        assert_eq!(error_message(br#"{"error": "model \"x\" not found"}"#).as_deref(), Some("model \"x\" not found"));
        assert_eq!(error_message(br#"{"error": {"message": "no such model", "code": 404}}"#).as_deref(), Some("no such model"));
        assert_eq!(error_message(b"<html>"), None);
    }
}
