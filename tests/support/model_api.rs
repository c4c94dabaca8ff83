//! A loopback stand-in for the services of other clients' models: the Responses API, that of chat completions, and Gemini's. It says one
//! sentence, calls a tool of our server first if a test wants that, and keeps every request.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response};

use crate::support::loopback::Loopback;

/// The stand-in. It ends when it is dropped.
pub struct ModelApi {
    server: Loopback,
    asked: Arc<Mutex<Vec<Value>>>,
    wanted: Arc<Mutex<Option<Value>>>,
}

/// What the stand-in answers to a request.
enum Answer {
    Says(String),
    /// Calls this tool, with the namespace in which it was offered.
    Calls(String, Option<String>, Value),
    /// Asks the client for tools that it did not offer.
    Finds(Value),
}

/// The tool of our server that is called, and how clients name it to their models.
const SEARCH: &str = "search";
const NAMES: [&str; 5] = ["recall-search", "recall_search", "recall__search", "mcp_recall_search", SEARCH_OF_SERVER];
const SEARCH_OF_SERVER: &str = "mcp__recall__search";

impl ModelApi {
    /// Answers every request with this sentence.
    pub fn saying(sentence: &'static str) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let wanted = Arc::new(Mutex::new(None));
        let (log, call) = (Arc::clone(&asked), Arc::clone(&wanted));
        // The client may hang up before it has its answer.
        let server = Loopback::serving(move |request| drop(serve(request, &log, &call, sentence)));
        Self { server, asked, wanted }
    }

    /// Has our tool `search` called with this the next time that the client offers it.
    pub fn searches(&self, query: &str) {
        *self.wanted.lock().expect("the call") = Some(json!({"query": query}));
    }

    /// Is the call still to come?
    pub fn still_searches(&self) -> bool {
        self.wanted.lock().expect("the call").is_some()
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

fn serve(mut request: Request, log: &Mutex<Vec<Value>>, wanted: &Mutex<Option<Value>>, sentence: &str) -> std::io::Result<()> {
    let mut raw = Vec::new();
    request.as_reader().read_to_end(&mut raw)?;
    let body: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let answer = || answer(&body, &mut wanted.lock().expect("the call"), sentence);
    let events = match request.url().split('?').next() {
        Some("/v1/responses") => responses(&answer()),
        Some("/v1/chat/completions") => completions(&answer()),
        Some(path) if path.ends_with(":streamGenerateContent") => format!("data: {}\n\n", contents(&answer())),
        // Before a turn it asks a smaller model which one is to take it.
        Some(path) if path.ends_with(":generateContent") => {
            let choice =
                json!({"complexity_reasoning": sentence, "complexity_score": 1, "reasoning": sentence, "model_choice": "flash"});
            return request.respond(Response::from_string(contents(&Answer::Says(choice.to_string())).to_string()));
        }
        _ => return request.respond(Response::from_string("{}")),
    };
    log.lock().expect("the log").push(body);
    let kind = Header::from_bytes("content-type", "text/event-stream").expect("a header");
    request.respond(Response::from_string(events).with_header(kind))
}

/// The call that is wanted, if the client offers that tool or has told of it when it was asked; else the sentence.
fn answer(body: &Value, wanted: &mut Option<Value>, sentence: &str) -> Answer {
    let says = || Answer::Says(sentence.to_owned());
    let Some(given) = wanted.clone() else { return says() };
    let offered: Vec<&str> = tools(body).iter().filter_map(|tool| name_of(tool)).collect();
    let found = || body["input"].as_array().into_iter().flatten().filter(|item| item["type"] == "tool_search_output");
    // In a namespace each has the name that our server gave it.
    let in_namespace = found().flat_map(tools).find(|tool| tools(tool).iter().any(|tool| name_of(tool) == Some(SEARCH)));
    let answer = if let Some(name) = NAMES.iter().find(|name| offered.contains(name)) {
        Answer::Calls((*name).to_owned(), None, given)
    } else if let Some(namespace) = in_namespace {
        Answer::Calls(SEARCH.to_owned(), name_of(namespace).map(str::to_owned), given)
    } else if offered.contains(&"tool_call") && body["messages"].to_string().contains("<functions>") {
        Answer::Calls("tool_call".to_owned(), None, json!({"name": SEARCH_OF_SERVER, "arguments": given}))
    } else if offered.contains(&"tool_call") {
        return Answer::Calls("tool_search".to_owned(), None, json!({"query": format!("select:{SEARCH_OF_SERVER}")}));
    } else if tools(body).iter().any(|tool| tool["type"] == "tool_search") && found().next().is_none() {
        return Answer::Finds(json!({"query": "search earlier coding sessions", "limit": 8}));
    } else {
        return says();
    };
    *wanted = None;
    answer
}

fn tools(of: &Value) -> &[Value] {
    let all = of["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    match all {
        // Those of Gemini are in one list.
        [one] if one["functionDeclarations"].is_array() => {
            one["functionDeclarations"].as_array().map(Vec::as_slice).unwrap_or_default()
        }
        all => all,
    }
}

fn name_of(tool: &Value) -> Option<&str> {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str())
}

/// What tools have returned, as a request holds it.
pub fn results(body: &Value) -> Vec<String> {
    let items = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let responses = items("input").into_iter().filter(|item| item["type"] == "function_call_output");
    let completions = items("messages").into_iter().filter(|message| message["role"] == "tool");
    let contents = items("contents").into_iter().flat_map(|content| content["parts"].as_array().cloned().unwrap_or_default());
    let of_gemini = contents.filter(|part| part["functionResponse"].is_object());
    responses.chain(completions).chain(of_gemini).map(|item| item.to_string()).collect()
}

fn responses(answer: &Answer) -> String {
    let (item, text) = match answer {
        Answer::Says(sentence) => {
            let part = json!({"type": "output_text", "text": sentence, "annotations": []});
            (
                json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}),
                Some(sentence),
            )
        }
        Answer::Calls(name, namespace, given) => {
            let mut call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", "name": name, "arguments": given.to_string()});
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            (call, None)
        }
        Answer::Finds(given) => (
            json!({"type": "tool_search_call", "id": "ts_1", "call_id": "call_0", "execution": "client", "status": "completed", "arguments": given}),
            None,
        ),
    };
    let usage = json!({"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 200}, "output_tokens": 60,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1260});
    let whole = |status: &str, output: &[&Value]| json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "stand-in", "status": status, "output": output, "usage": usage});
    let delta = text.map(|text| json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}));
    let events = [
        Some(json!({"type": "response.created", "response": whole("in_progress", &[])})),
        Some(json!({"type": "response.output_item.added", "output_index": 0, "item": item})),
        delta,
        Some(json!({"type": "response.output_item.done", "output_index": 0, "item": item})),
        Some(json!({"type": "response.completed", "response": whole("completed", &[&item])})),
    ];
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().flatten().map(event).collect()
}

fn completions(answer: &Answer) -> String {
    let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in", "choices": choices});
    let mut last = chunk(json!([]));
    last["usage"] = json!({"prompt_tokens": 1200, "completion_tokens": 60, "total_tokens": 1260});
    let (delta, end) = match answer {
        Answer::Says(sentence) => (json!({"role": "assistant", "content": sentence}), "stop"),
        Answer::Calls(name, _, given) => {
            // Two calls of one turn are told apart.
            let call = json!({"index": 0, "id": format!("call_{name}"), "type": "function", "function": {"name": name, "arguments": given.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        Answer::Finds(_) => unreachable!("no tool of chat completions"),
    };
    let events = [
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": end}])),
        last,
    ];
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn contents(answer: &Answer) -> Value {
    let part = match answer {
        Answer::Says(sentence) => json!({"text": sentence}),
        Answer::Calls(name, _, given) => json!({"functionCall": {"id": "call_1", "name": name, "args": given}}),
        Answer::Finds(_) => unreachable!("no tool of Gemini's"),
    };
    let usage = json!({"promptTokenCount": 1200, "candidatesTokenCount": 60, "totalTokenCount": 1260});
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": usage, "modelVersion": "stand-in"})
}
