//! What turns texts into vectors: the model that is installed on this machine, or the endpoint that the config names.

use super::local_model::{self, LocalModel};
use super::{EmbeddingError, Endpoint};
use crate::config::Config;
use transcripts::privacy::Sanitizer;

/// How many texts go to a local model at once: it is started anew for each request.
const LOCAL_BATCH: usize = 128;

/// Some models read a question in another way than a text that may answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextRole {
    Query,
    Passage,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TextToEmbed<'a> {
    pub(crate) role: TextRole,
    pub(crate) text: &'a str,
}

impl<'a> TextToEmbed<'a> {
    pub(crate) fn query(text: &'a str) -> Self {
        Self { role: TextRole::Query, text }
    }

    pub(crate) fn passage(text: &'a str) -> Self {
        Self { role: TextRole::Passage, text }
    }
}

pub(crate) enum Embedder {
    Endpoint(Endpoint),
    Local(LocalModel, Sanitizer),
}

impl Embedder {
    /// The endpoint of the config; without one, the installed model; `None` if there is neither.
    ///
    /// # Errors
    /// When the endpoint's API key cannot be obtained.
    pub(crate) fn of(config: &Config, sanitizer: Sanitizer) -> Result<Option<Self>, EmbeddingError> {
        match LocalModel::of(config) {
            Some(local) => Ok(Some(Self::Local(local, sanitizer))),
            None => Ok(Endpoint::of(config, sanitizer)?.map(Self::Endpoint)),
        }
    }

    /// Whether there is one.
    pub(crate) fn is_on(config: &Config) -> bool {
        Self::model(config).is_some()
    }

    /// The model's name, if there is one.
    pub(crate) fn model(config: &Config) -> Option<String> {
        match config.local_model() {
            Some(folder) => Some(local_model::name_of(&folder)),
            None => config.embeddings.is_on().then(|| config.embeddings.model.clone()),
        }
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Endpoint(endpoint) => endpoint.host(),
            Self::Local(local, _) => local.program_name(),
        }
    }

    /// How many texts go into a request.
    pub(crate) fn batch(&self, config: &Config) -> usize {
        match self {
            Self::Endpoint(_) => config.embeddings.batch,
            Self::Local(..) => LOCAL_BATCH,
        }
    }

    /// How many texts a run embeds at most. On this machine only time is limited.
    pub(crate) fn most_texts(&self, config: &Config) -> usize {
        match self {
            Self::Endpoint(_) => config.embeddings.max_texts,
            Self::Local(..) => usize::MAX,
        }
    }

    /// A vector for each text, in their order and all of one length. Sends one request.
    ///
    /// # Errors
    /// When the model cannot be reached, is too slow, reports an error or gives an invalid response.
    pub(crate) fn embed(&self, texts: &[TextToEmbed<'_>]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        match self {
            Self::Endpoint(endpoint) => endpoint.embed(&texts.iter().map(|one| one.text).collect::<Vec<_>>()),
            Self::Local(local, _) => local.embed(texts).map_err(|(why, answered)| self.failure(&why, answered)),
        }
    }

    /// A failure whose message is safe to show.
    pub(crate) fn failure(&self, why: &str, answered: bool) -> EmbeddingError {
        match self {
            Self::Endpoint(endpoint) => endpoint.failure(why, answered),
            Self::Local(local, sanitizer) => EmbeddingError::cleaned(format!("model {}", local.name()), why, answered, sanitizer),
        }
    }
}
