//! A loopback stand-in for the services of other clients' models: the Responses API, that of chat completions, and Gemini's. It says one
//! sentence, and keeps every request.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response};

use crate::support::loopback::Loopback;

/// The stand-in. It ends when it is dropped.
pub struct ModelApi {
    server: Loopback,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ModelApi {
    /// Answers every request with this sentence.
    pub fn saying(sentence: &'static str) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // The client may hang up before it has its answer.
        let server = Loopback::serving(move |request| drop(serve(request, &log, sentence)));
        Self { server, asked }
    }

    pub fn url(&self) -> String {
        format!("{}/v1", self.server.url())
    }

    /// The same for clients that put the version into the path themselves.
    pub fn root(&self) -> String {
        self.server.url()
    }

    /// The bodies of the requests since the last time, and forgets them.
    pub fn take_asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().expect("the log"))
    }
}

fn serve(mut request: Request, log: &Mutex<Vec<Value>>, sentence: &str) -> std::io::Result<()> {
    let mut raw = Vec::new();
    request.as_reader().read_to_end(&mut raw)?;
    let events = match request.url().split('?').next() {
        Some("/v1/responses") => responses(sentence),
        Some("/v1/chat/completions") => completions(sentence),
        Some(path) if path.ends_with(":streamGenerateContent") => format!("data: {}\n\n", contents(sentence)),
        // Before a turn it asks a smaller model which one is to take it.
        Some(path) if path.ends_with(":generateContent") => {
            let choice =
                json!({"complexity_reasoning": sentence, "complexity_score": 1, "reasoning": sentence, "model_choice": "flash"});
            return request.respond(Response::from_string(contents(&choice.to_string()).to_string()));
        }
        _ => return request.respond(Response::from_string("{}")),
    };
    log.lock().expect("the log").push(serde_json::from_slice(&raw).unwrap_or_default());
    let kind = Header::from_bytes("content-type", "text/event-stream").expect("a header");
    request.respond(Response::from_string(events).with_header(kind))
}

fn responses(sentence: &str) -> String {
    let part = json!({"type": "output_text", "text": sentence, "annotations": []});
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]});
    let usage = json!({"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 200}, "output_tokens": 60,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1260});
    let whole = |status: &str, output: &[&Value]| json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "stand-in", "status": status, "output": output, "usage": usage});
    let events = [
        json!({"type": "response.created", "response": whole("in_progress", &[])}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": sentence}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": whole("completed", &[&item])}),
    ];
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect()
}

fn completions(sentence: &str) -> String {
    let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in", "choices": choices});
    let mut last = chunk(json!([]));
    last["usage"] = json!({"prompt_tokens": 1200, "completion_tokens": 60, "total_tokens": 1260});
    let events = [
        chunk(json!([{"index": 0, "delta": {"role": "assistant", "content": sentence}, "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": "stop"}])),
        last,
    ];
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn contents(sentence: &str) -> Value {
    let usage = json!({"promptTokenCount": 1200, "candidatesTokenCount": 60, "totalTokenCount": 1260});
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": sentence}]}, "finishReason": "STOP"}],
        "usageMetadata": usage, "modelVersion": "stand-in"})
}
