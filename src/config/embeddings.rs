//! The optional embeddings endpoint: `[embeddings]`. Off until an address is configured.

use serde::{Deserialize, Serialize};

use crate::sys::http::check_address;

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingsConfig {
    /// The endpoint's address; empty turns embeddings off.
    pub(crate) endpoint: String,
    pub(crate) api: EndpointApi,
    /// The model's name at the endpoint.
    pub(crate) model: String,
    /// The variable that holds the key, if one is needed.
    pub(crate) key_env: String,
    /// The program that runs a model on this machine: a path, or a name that is looked for beside `recall` and on the PATH.
    pub(crate) program: String,
    /// Time limit for a whole request.
    pub(crate) timeout_seconds: u64,
    /// Weight of semantic similarity against words: 0 to 1.
    pub(crate) weight: f64,
    /// Texts per request.
    pub(crate) batch: usize,
    /// At most this many texts are sent in a run.
    pub(crate) max_texts: usize,
}

/// The API the endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndpointApi {
    Ollama,
    OpenAi,
}

impl Default for EmbeddingsConfig {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            api: EndpointApi::Ollama,
            model: String::new(),
            key_env: String::new(),
            program: "recall-embed".to_owned(),
            timeout_seconds: 10,
            weight: 0.3,
            batch: 32,
            max_texts: 20_000,
        }
    }
}

impl EmbeddingsConfig {
    pub(crate) fn is_on(&self) -> bool {
        !self.endpoint.is_empty()
    }

    /// # Errors
    /// The invalid key and the reason; never its value, which may be a secret in the wrong place.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        let ensure = |holds: bool, key: &'static str, why: &str| if holds { Ok(()) } else { Err((key, why.to_owned())) };
        ensure((1..=600).contains(&self.timeout_seconds), "embeddings.timeout_seconds", "must be 1 to 600")?;
        ensure((0.0..=1.0).contains(&self.weight), "embeddings.weight", "must be 0 to 1")?;
        ensure((1..=256).contains(&self.batch), "embeddings.batch", "must be 1 to 256")?;
        ensure(self.max_texts > 0, "embeddings.max_texts", "must be more than 0")?;
        let is_name = |name: &str| {
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        ensure(is_name(&self.key_env), "embeddings.key_env", "must be the name of a variable, not the key itself")?;
        if !self.is_on() {
            return Ok(());
        }
        check_address(&self.endpoint, !self.key_env.is_empty()).map_err(|why| ("embeddings.endpoint", why.to_owned()))?;
        ensure(!self.model.trim().is_empty(), "embeddings.model", "must name a model of the endpoint")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(endpoint: &str, key_env: &str) -> EmbeddingsConfig {
        EmbeddingsConfig { endpoint: endpoint.into(), model: "m".into(), key_env: key_env.into(), ..Default::default() }
    }

    #[test]
    fn addresses() {
        let table = [
            ("http://127.0.0.1:11434", "", None),
            ("http://localhost:11434/", "KEY", None),
            ("http://[::1]:11434", "KEY", None),
            ("http://192.168.1.7:11434", "", None),
            ("https://embeddings.example.com/v1", "KEY", None),
            ("http://192.168.1.7:11434", "KEY", Some("in the clear")),
            ("http://localhost.example.com", "KEY", Some("in the clear")),
            ("https://me:hunter2@example.com", "", Some("no name, password")),
            ("https://example.com/v1?api-key=hunter2", "", Some("no name, password")),
            ("https://example.com/v1#hunter2", "", Some("no name, password")),
            ("ftp://example.com", "", Some("an address like")),
            ("example.com", "", Some("an address like")),
            ("http://", "", Some("an address like")),
            ("127.0.0.1:11434", "", Some("an address like")),
        ];
        for (endpoint, key_env, wrong) in table {
            match (with(endpoint, key_env).check(), wrong) {
                (Ok(()), None) => {}
                (Err((key, why)), Some(part)) => {
                    assert_eq!(key, "embeddings.endpoint", "{endpoint}");
                    assert!(why.contains(part) && !why.contains("hunter2"), "{endpoint}: {why}");
                }
                (found, _) => panic!("{endpoint} {key_env}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_key_in_the_place_of_its_name_is_not_repeated() {
        let (key, why) = with("https://example.com", "sk-proj-1234567890").check().expect_err("no name");
        assert_eq!((key, why.contains("sk-proj")), ("embeddings.key_env", false));
    }

    #[test]
    fn without_an_address_nothing_else_is_needed() {
        assert_eq!(EmbeddingsConfig::default().check(), Ok(()));
        assert_eq!(
            EmbeddingsConfig { model: String::new(), ..with("http://127.0.0.1:1", "") }.check().map_err(|e| e.0),
            Err("embeddings.model")
        );
    }
}
