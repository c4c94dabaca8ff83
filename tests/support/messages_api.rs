//! A loopback stand-in for the Messages API: as much of it as the real client needs, with replies from a script.
//!
//! It keeps every request.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response};

use crate::support::loopback::Loopback;

/// Tokens of every reply, the same at its beginning and at its end.
pub const INPUT_TOKENS: u64 = 120;
pub const OUTPUT_TOKENS: u64 = 30;

/// More requests than any test makes. A script that does not know where it is would call its tool for ever.
const MOST_REQUESTS: usize = 300;

/// A part of a reply.
pub enum Block {
    Text(String),
    /// The name of a tool and its input.
    Tool(&'static str, Value),
}

/// A request for a message.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The length of the body as it came.
    pub bytes: usize,
    pub body: Value,
}

impl Asked {
    /// Names of the tools that are offered.
    pub fn tools(&self) -> Vec<&str> {
        self.body["tools"].as_array().map(|tools| tools.iter().filter_map(|t| t["name"].as_str()).collect()).unwrap_or_default()
    }

    /// The system prompt's parts.
    pub fn system(&self) -> Vec<&str> {
        texts(&self.body["system"])
    }

    /// The texts of the last message between user and model; none when it holds a tool's result.
    pub fn prompt(&self) -> String {
        self.conversation().last().map(|last| texts(&last["content"]).join("\n")).unwrap_or_default()
    }

    /// The messages of user and model. Newer clients put what they themselves say between them, in the role `system`.
    fn conversation(&self) -> Vec<&Value> {
        self.body["messages"].as_array().into_iter().flatten().filter(|m| m["role"] != "system").collect()
    }

    /// All messages: who speaks, and the texts.
    pub fn messages(&self) -> Vec<(&str, Vec<&str>)> {
        let all = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|m| (m["role"].as_str().unwrap_or_default(), texts(&m["content"]))).collect()
    }

    /// Replies since the last message that is a prompt and not a tool's result.
    pub fn step(&self) -> usize {
        let is_reply = |m: &&Value| m["role"] == "assistant";
        let is_result = |m: &Value| m["content"].as_array().is_some_and(|c| c.iter().any(|b| b["type"] == "tool_result"));
        self.conversation().into_iter().rev().take_while(|m| m["role"] == "assistant" || is_result(m)).filter(is_reply).count()
    }
}

fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter(|b| b["type"] == "text").filter_map(|b| b["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The stand-in. It ends when it is dropped.
pub struct MessagesApi {
    server: Loopback,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl MessagesApi {
    /// Answers every request for a message with what the script makes of it.
    pub fn start(script: impl Fn(&Asked) -> Vec<Block> + Send + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // The client may hang up before it has its answer.
        let server = Loopback::serving(move |request| drop(serve(request, &log, &script)));
        Self { server, asked }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// All requests for messages so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("the log").clone()
    }
}

fn serve(mut request: Request, log: &Mutex<Vec<Asked>>, script: &impl Fn(&Asked) -> Vec<Block>) -> std::io::Result<()> {
    let mut raw = Vec::new();
    request.as_reader().read_to_end(&mut raw)?;
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    match (request.method(), path.as_str()) {
        (Method::Post, "/v1/messages/count_tokens") => {
            respond(request, "application/json", &json!({"input_tokens": INPUT_TOKENS}).to_string())
        }
        (Method::Post, "/v1/messages") => {
            let asked = Asked { bytes: raw.len(), body: serde_json::from_slice(&raw).unwrap_or_default() };
            let id = {
                let mut log = log.lock().expect("the log");
                log.push(asked.clone());
                log.len()
            };
            let blocks = if id > MOST_REQUESTS { vec![Block::Text("The script does not end.".into())] } else { script(&asked) };
            let message = message(id, &asked, &blocks);
            if asked.body["stream"] == true {
                respond(request, "text/event-stream", &events(&message))
            } else {
                respond(request, "application/json", &message.to_string())
            }
        }
        _ => respond(request, "application/json", "{}"),
    }
}

fn respond(request: Request, kind: &str, text: &str) -> std::io::Result<()> {
    let kind = Header::from_bytes("content-type", kind).expect("a header");
    request.respond(Response::from_string(text).with_header(kind))
}

fn message(id: usize, asked: &Asked, blocks: &[Block]) -> Value {
    let uses_tool = blocks.iter().any(|b| matches!(b, Block::Tool(..)));
    let content: Vec<Value> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Tool(name, input) => {
                json!({"type": "tool_use", "id": format!("toolu_{id:04}_{at}"), "name": name, "input": input})
            }
        })
        .collect();
    json!({
        "id": format!("msg_{id:04}"), "type": "message", "role": "assistant", "model": asked.body["model"], "content": content,
        "stop_reason": if uses_tool { "tool_use" } else { "end_turn" }, "stop_sequence": null,
        "usage": {"input_tokens": INPUT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": OUTPUT_TOKENS},
    })
}

/// A whole message as the events of a stream.
fn events(message: &Value) -> String {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    let mut all = vec![json!({"type": "message_start", "message": opening})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (mut empty, delta) = (block.clone(), delta(block));
        if block["type"] == "text" {
            empty["text"] = json!("");
        } else {
            empty["input"] = json!({});
        }
        all.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    all.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": OUTPUT_TOKENS}}));
    all.push(json!({"type": "message_stop"}));
    all.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())).collect()
}

fn delta(block: &Value) -> Value {
    if block["type"] == "text" {
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    }
}
