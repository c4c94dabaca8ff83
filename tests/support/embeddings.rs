//! A loopback stand-in for an embeddings endpoint, in both forms that `recall` speaks.
//!
//! A text's vector is the sum of its words', each a direction of its own that comes from the word; words of one line of `MEANINGS` are one
//! word. So what is near is known beforehand, and so is what another model makes of it. It keeps every request.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response};

use crate::support::loopback::Loopback;

/// Words that mean the same to the model and to nothing else.
const MEANINGS: [&[&str]; 3] = [&["zebra", "stripes"], &["invoice", "faktura"], &["hedgehog", "spines"]];

/// What the endpoint does from now on.
#[derive(Debug, Clone)]
pub enum Does {
    /// Answers vectors of this length, of the model with this number.
    Embed { model: u64, dims: usize },
    /// As the first model, but complains of every request with this word in it.
    Refuse(&'static str),
    /// Answers with this status and body.
    Say(u16, Vec<u8>),
    /// Leads elsewhere.
    Redirect(String),
    /// Takes requests and never answers.
    Hang,
}

pub const FIRST: Does = Does::Embed { model: 1, dims: 64 };

/// A request.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub model: String,
    pub texts: Vec<String>,
    /// All of it as it came: headers, then the body.
    pub raw: String,
}

/// The stand-in. It ends when it is dropped.
pub struct Endpoint {
    server: Loopback,
    asked: Arc<Mutex<Vec<Asked>>>,
    does: Arc<Mutex<Does>>,
}

impl Endpoint {
    pub fn start() -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let does = Arc::new(Mutex::new(FIRST));
        let (log, doing) = (Arc::clone(&asked), Arc::clone(&does));
        // Requests that are never answered.
        let mut kept = Vec::new();
        let server = Loopback::serving(move |request| {
            let does = doing.lock().expect("what it does").clone();
            kept.extend(serve(request, &log, &does));
        });
        Self { server, asked, does }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The config that names it.
    pub fn config(&self) -> String {
        format!("[embeddings]\nendpoint = \"{}\"\nmodel = \"words\"\n", self.url())
    }

    pub fn behave(&self, does: Does) {
        *self.does.lock().expect("what it does") = does;
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("the log").clone()
    }

    /// All texts it was sent so far, and forgets them.
    pub fn take_texts(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("the log")).into_iter().flat_map(|asked| asked.texts).collect()
    }
}

/// An address at which nobody listens.
pub fn nobody() -> String {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    format!("http://{}", taken.local_addr().expect("its address"))
}

/// Answers a request, or gives it back when it is to wait for ever.
fn serve(mut request: Request, log: &Mutex<Vec<Asked>>, does: &Does) -> Option<Request> {
    let mut body = String::new();
    let _ = request.as_reader().read_to_string(&mut body);
    let headers: String = request.headers().iter().map(|h| format!("{}: {}\n", h.field, h.value)).collect();
    let value: Value = serde_json::from_str(&body).unwrap_or_default();
    let texts = value["input"].as_array().map(|all| all.iter().filter_map(|t| t.as_str().map(str::to_owned)).collect());
    let asked = Asked {
        path: request.url().to_owned(),
        model: value["model"].as_str().unwrap_or_default().to_owned(),
        texts: texts.unwrap_or_default(),
        raw: headers + &body,
    };
    log.lock().expect("the log").push(asked.clone());
    let (status, answer) = match does {
        Does::Hang => return Some(request),
        Does::Embed { model, dims } => (200, vectors(&asked, *model, *dims)),
        Does::Refuse(word) if body.contains(word) => (400, format!(r#"{{"error": "cannot embed {word}"}}"#).into_bytes()),
        Does::Refuse(_) => (200, vectors(&asked, 1, 64)),
        Does::Say(status, body) => (*status, body.clone()),
        Does::Redirect(to) => (307, to.clone().into_bytes()),
    };
    let mut response = Response::from_data(answer).with_status_code(status);
    if let Does::Redirect(to) = does {
        response.add_header(Header::from_bytes("location", to.as_str()).expect("a header"));
    }
    // The client may have hung up.
    let _ = request.respond(response);
    None
}

fn vectors(asked: &Asked, model: u64, dims: usize) -> Vec<u8> {
    let all: Vec<Vec<f32>> = asked.texts.iter().map(|text| vector(text, model, dims)).collect();
    let answer = match asked.path.as_str() {
        "/api/embed" => json!({"model": asked.model, "embeddings": all}),
        "/v1/embeddings" => {
            // Out of order, as the form allows.
            let data: Vec<Value> =
                all.iter().enumerate().rev().map(|(at, v)| json!({"object": "embedding", "index": at, "embedding": v})).collect();
            json!({"object": "list", "model": asked.model, "data": data})
        }
        other => json!({"error": format!("nothing at {other}")}),
    };
    answer.to_string().into_bytes()
}

fn vector(text: &str, model: u64, dims: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dims];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = MEANINGS.iter().find(|same| same.contains(&word)).map_or(word, |same| same[0]);
        // FNV-1a, then a step of xorshift for every dimension.
        let mut state =
            word.bytes().fold(0xcbf2_9ce4_8422_2325 ^ model, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)) | 1;
        for part in &mut sum {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *part += (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
        }
    }
    sum
}
