//! Requests and responses of the two common embedding APIs. Pure.
//!
//! Ollama: `POST /api/embed {"model", "input": […]}` → `{"embeddings": [[…], …]}`.
//! OpenAI and compatible servers: `POST /v1/embeddings {"model", "input": […]}` → `{"data": [{"index", "embedding": […]}, …]}`.
//! A response is accepted only if it holds one usable vector per text, all of the same length.

use serde::Deserialize;
use serde_json::json;

use crate::config::EndpointApi;

/// The most dimensions accepted; common models have 384 to 4,096.
pub(crate) const MAX_DIMS: usize = 8_192;
/// An upper bound for the length of a number in JSON.
const BYTES_PER_NUMBER: u64 = 26;

#[derive(Deserialize)]
struct OllamaResponse {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct OpenAiResponse {
    data: Vec<OpenAiEmbedding>,
}

#[derive(Deserialize)]
struct OpenAiEmbedding {
    index: usize,
    embedding: Vec<f32>,
}

/// The URL of a request: the endpoint's path, completed as the API expects.
pub(crate) fn request_url(endpoint: &str, api: EndpointApi) -> String {
    let base = endpoint.trim_end_matches('/');
    match api {
        EndpointApi::Ollama if base.ends_with("/api/embed") => base.to_owned(),
        EndpointApi::Ollama if base.ends_with("/api") => format!("{base}/embed"),
        EndpointApi::Ollama => format!("{base}/api/embed"),
        EndpointApi::OpenAi if base.ends_with("/embeddings") => base.to_owned(),
        EndpointApi::OpenAi if base.ends_with("/v1") => format!("{base}/embeddings"),
        EndpointApi::OpenAi => format!("{base}/v1/embeddings"),
    }
}

/// The request body, the same for both APIs.
pub fn request(model: &str, texts: &[&str]) -> Vec<u8> {
    json!({"model": model, "input": texts}).to_string().into_bytes()
}

/// The longest response that is read, in bytes.
pub(crate) fn max_response_bytes(texts: usize) -> u64 {
    64 * 1024 + texts as u64 * MAX_DIMS as u64 * BYTES_PER_NUMBER
}

/// The vectors of a response, in the order of the texts.
///
/// # Errors
/// A short description of what is wrong with the response.
pub(crate) fn parse_vectors(api: EndpointApi, body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let unreadable = |e: serde_json::Error| format!("its answer cannot be read: {e}");
    let all = match api {
        EndpointApi::Ollama => serde_json::from_slice::<OllamaResponse>(body).map_err(unreadable)?.embeddings,
        EndpointApi::OpenAi => in_order(serde_json::from_slice::<OpenAiResponse>(body).map_err(unreadable)?.data)?,
    };
    check_vectors(all, texts)
}

/// The vectors, if there is a usable one for each text and all are of one length.
///
/// # Errors
/// A short description of what is wrong with them.
pub(crate) fn check_vectors(all: Vec<Vec<f32>>, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    if all.len() != texts {
        return Err(format!("it answered {} vectors for {texts} texts", all.len()));
    }
    let dims = all.first().map_or(0, Vec::len);
    if let Some(other) = all.iter().find(|vector| vector.len() != dims) {
        return Err(format!("its vectors have {dims} and {} dimensions", other.len()));
    }
    if texts > 0 && !(1..=MAX_DIMS).contains(&dims) {
        return Err(format!("its vectors have {dims} dimensions"));
    }
    if all.iter().any(|vector| !is_usable(vector)) {
        return Err("it answered a vector without a direction".to_owned());
    }
    Ok(all)
}

fn in_order(mut data: Vec<OpenAiEmbedding>) -> Result<Vec<Vec<f32>>, String> {
    data.sort_by_key(|one| one.index);
    if data.iter().enumerate().any(|(at, one)| one.index != at) {
        return Err("its answer does not tell which vector is whose".to_owned());
    }
    Ok(data.into_iter().map(|one| one.embedding).collect())
}

/// Can its direction be compared?
fn is_usable(vector: &[f32]) -> bool {
    let length: f32 = vector.iter().map(|x| x * x).sum();
    length.is_finite() && length > f32::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_may_be_named_with_or_without_its_path() {
        let table = [
            ("http://h:1", EndpointApi::Ollama, "http://h:1/api/embed"),
            ("http://h:1/", EndpointApi::Ollama, "http://h:1/api/embed"),
            ("http://h:1/api", EndpointApi::Ollama, "http://h:1/api/embed"),
            ("http://h:1/api/embed", EndpointApi::Ollama, "http://h:1/api/embed"),
            ("http://h:1/proxy/", EndpointApi::Ollama, "http://h:1/proxy/api/embed"),
            ("https://h", EndpointApi::OpenAi, "https://h/v1/embeddings"),
            ("https://h/v1/", EndpointApi::OpenAi, "https://h/v1/embeddings"),
            ("https://h/openai/v1/embeddings", EndpointApi::OpenAi, "https://h/openai/v1/embeddings"),
        ];
        for (endpoint, api, wanted) in table {
            assert_eq!(request_url(endpoint, api), wanted);
        }
    }

    #[test]
    fn the_same_is_asked_in_both_forms() {
        let body: serde_json::Value = serde_json::from_slice(&request("m", &["a \"b\"", "ü"])).expect("JSON");
        assert_eq!(body, json!({"model": "m", "input": ["a \"b\"", "ü"]}));
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let ollama = br#"{"model": "m", "embeddings": [[1, 0.5], [0, -2e-1]], "total_duration": 3}"#;
        assert_eq!(parse_vectors(EndpointApi::Ollama, ollama, 2), Ok(vec![vec![1.0, 0.5], vec![0.0, -0.2]]));
        let openai = br#"{"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2], "object": "embedding"}]}"#;
        assert_eq!(parse_vectors(EndpointApi::OpenAi, openai, 2), Ok(vec![vec![1.0, 2.0], vec![3.0, 4.0]]));
    }

    #[test]
    fn what_is_no_vector_for_every_text_is_not_believed() {
        let table = [
            ("", "cannot be read"),
            ("<html>", "cannot be read"),
            ("{}", "cannot be read"),
            (r#"{"embeddings": null}"#, "cannot be read"),
            (r#"{"embeddings": [[1, NaN], [1, 2]]}"#, "cannot be read"),
            (r#"{"embeddings": [[1, null], [1, 2]]}"#, "cannot be read"),
            (r#"{"embeddings": [["a"], [1]]}"#, "cannot be read"),
            (r#"{"embeddings": [[1, 2]]}"#, "1 vectors for 2 texts"),
            (r#"{"embeddings": [[1], [1], [1]]}"#, "3 vectors for 2 texts"),
            (r#"{"embeddings": [[1, 2], [1]]}"#, "2 and 1 dimensions"),
            (r#"{"embeddings": [[], []]}"#, "0 dimensions"),
            (r#"{"embeddings": [[0, 0], [1, 2]]}"#, "without a direction"),
            (r#"{"embeddings": [[1e300, 0], [1, 2]]}"#, "without a direction"),
            (r#"{"embeddings": [[1e30, 0], [1, 2]]}"#, "without a direction"),
        ];
        for (body, wanted) in table {
            let why = parse_vectors(EndpointApi::Ollama, body.as_bytes(), 2).expect_err(body);
            assert!(why.contains(wanted), "{body}: {why}");
        }
        let twice = br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}"#;
        assert!(parse_vectors(EndpointApi::OpenAi, twice, 2).is_err());
    }

    #[test]
    fn an_answer_is_as_long_as_the_longest_vectors_at_most() {
        let longest = serde_json::to_vec(&json!({"embeddings": [vec![f64::MIN_POSITIVE; MAX_DIMS]]})).expect("JSON");
        assert!((longest.len() as u64) < max_response_bytes(1), "{}", longest.len());
        assert!(max_response_bytes(32) < 8 << 20, "{}", max_response_bytes(32));
    }
}
