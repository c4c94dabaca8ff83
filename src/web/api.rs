//! The memory as JSON, in the replies that `--json` prints: for our own pages, for editors, and with a token for other programs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path as PathOf, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::close_items::{open_everywhere, recent_since};
use crate::app::list::{ListRequest, list};
use crate::app::notes::{NoteList, NoteRecord, list_notes};
use crate::app::project_overview::known_projects;
use crate::app::prompt::{PromptRequest, at_prompt};
use crate::app::search::{SearchRequest, search};
use crate::app::session_start::{FreshStart, FreshStartRequest, fresh_start};
use crate::app::show::as_data;
use crate::app::stats::{GroupBy, StatsRequest, stats};
use crate::app::status::status;
use crate::app::timeline::{TimelineRequest, timeline};
use crate::app::topic::{Topic, TopicRequest, find_topic};
use crate::web::answer;
use crate::web::router::Server;
use crate::web::viewer::Viewer;
use transcripts::client::Client;

/// Where nobody says how many.
const LIMIT: usize = 20;
const MAX_LIMIT: usize = 1_000;
const MAX_TOKENS: usize = 800;
/// Neighbours of a session, before and after it.
const NEIGHBOURS: usize = 5;
/// For the notes of a start, as `recall context` has it.
const START_LIMIT: Duration = Duration::from_secs(10);
/// No session has this name, and no transcript.
const NO_SESSION: &str = "no-session";

/// What may be asked; each address reads what concerns it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Asked {
    /// Words, in `search`.
    q: Option<String>,
    /// The same, as others call it.
    query: Option<String>,
    project: Option<String>,
    agent: Option<String>,
    since: Option<String>,
    limit: Option<usize>,
    /// How many of the newest sessions are left out.
    skip: usize,
    max_tokens: Option<usize>,
    /// What `stats` groups by: `day`, `project` …
    by: Option<String>,
}

impl Asked {
    fn words(&self) -> &str {
        self.q.as_deref().or(self.query.as_deref()).unwrap_or_default()
    }

    fn limit(&self) -> usize {
        self.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT)
    }
}

type Answering = fn(&Viewer<'_>, &Asked) -> Result<Value>;

/// Below `/api/v1`.
pub(super) fn routes() -> Router<Server> {
    let all: [(&'static str, Answering); 9] = [
        ("/sessions", sessions),
        ("/search", found),
        ("/context/start", start),
        ("/context/prompt", prompt),
        ("/context/topic", topic),
        ("/notes", notes),
        ("/open", open),
        ("/stats", figures),
        ("/status", state),
    ];
    let mut router = Router::new();
    for (path, answering) in all {
        router = router.route(path, answered_by(answering));
    }
    router.route("/session/{id}", get(session)).route("/timeline/{id}", get(neighbours))
}

/// Addresses that readers of claude-mem ask.
pub(super) fn aliases() -> Router<Server> {
    Router::new().route("/api/search", answered_by(found)).route("/api/context/inject", get(inject))
}

fn answered_by(answering: Answering) -> MethodRouter<Server> {
    get(move |State(server): State<Server>, asked: Result<Query<Asked>, QueryRejection>| async move {
        match asked {
            Ok(Query(asked)) => json_of(server, move |viewer| answering(viewer, &asked)).await,
            Err(e) => refused(&e.body_text()),
        }
    })
}

async fn json_of(server: Server, make: impl FnOnce(&Viewer<'_>) -> Result<Value> + Send + 'static) -> Response {
    match server.read(make).await {
        Ok(value) => answer::of(StatusCode::OK, answer::JSON, value.to_string()),
        Err(e) => refused(&format!("{e:#}")),
    }
}

fn refused(why: &str) -> Response {
    answer::of(StatusCode::BAD_REQUEST, answer::JSON, json!({ "error": why }).to_string())
}

fn value(of: impl Serialize) -> Result<Value> {
    serde_json::to_value(of).context("cannot be written as JSON")
}

fn sessions(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let client = asked.agent.as_deref().map(|name| Client::named(name).with_context(|| format!("no agent is called `{name}`")));
    let request = ListRequest {
        project: asked.project.as_deref(),
        client: client.transpose()?,
        since: asked.since.as_deref(),
        skip: asked.skip,
        limit: asked.limit(),
    };
    let reply = list(&viewer.memory, viewer.config, &request)?;
    Ok(json!({ "sessions": value(reply.sessions)?, "more": reply.more }))
}

fn found(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let own = viewer.asker.project();
    let request = SearchRequest {
        words: asked.words(),
        project: asked.project.as_deref(),
        own: &own,
        limit: asked.limit(),
        ..SearchRequest::default()
    };
    let reply = search(&viewer.memory, viewer.config, &request)?;
    Ok(json!({ "results": value(&reply.results)?, "notices": reply.notices }))
}

/// What a session of a project starts with.
fn start(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    value(start_of(viewer, asked)?)
}

fn start_of(viewer: &Viewer<'_>, asked: &Asked) -> Result<FreshStart> {
    let own = viewer.asker.project();
    let folder = match asked.project.as_deref() {
        None => own,
        Some(name) => {
            let known = known_projects(&viewer.memory)?.into_iter().find(|one| one.key == name || one.name == name);
            known.with_context(|| format!("no project is called `{name}`"))?.key
        }
    };
    let request = FreshStartRequest { cwd: &folder, max_tokens: asked.max_tokens, until: Instant::now() + START_LIMIT };
    fresh_start(viewer.config, Some(&viewer.memory), &request)
}

/// What a new session of the project in which the server was started would be told at a prompt. In another project more might be shown
/// than here.
fn prompt(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let own = viewer.asker.project();
    let request = PromptRequest {
        client: Client::default(),
        prompt: asked.words(),
        session: NO_SESSION,
        cwd: &own,
        transcript: Path::new(NO_SESSION),
    };
    let told = at_prompt(&request, viewer.config)?;
    let (text, ids) = told.map(|told| (told.text, told.ids)).unwrap_or_default();
    Ok(json!({ "text": text, "sources": ids }))
}

fn topic(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let own = viewer.asker.project();
    let request = TopicRequest { words: asked.words(), project: asked.project.as_deref(), own: &own };
    let found = find_topic(&viewer.memory, viewer.config, &request)?;
    let topic = Topic::of(found.sources, asked.max_tokens.unwrap_or(MAX_TOKENS));
    let sources: Vec<&String> = topic.sources.iter().map(|source| &source.id).collect();
    Ok(json!({ "text": topic.render(), "sources": sources, "notices": found.notices }))
}

fn notes(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let project = asked.project.clone().unwrap_or_else(|| viewer.asker.project());
    let all = list_notes(&viewer.memory, &NoteList { project, kind: None, tags: Vec::new() })?;
    value(all.iter().map(NoteRecord::of).collect::<Vec<_>>())
}

fn open(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    value(open_everywhere(&viewer.memory, viewer.config, asked.project.as_deref(), recent_since(viewer.config.now()))?)
}

fn figures(viewer: &Viewer<'_>, asked: &Asked) -> Result<Value> {
    let by = asked.by.as_deref().unwrap_or("day");
    let by = <GroupBy as clap::ValueEnum>::from_str(by, true).ok().with_context(|| format!("cannot group by `{by}`"))?;
    let since = asked.since.as_deref().unwrap_or("30d");
    let request = StatsRequest { by, project: asked.project.as_deref(), since: Some(since), before: None };
    value(stats(&viewer.memory, viewer.config, &request)?)
}

fn state(viewer: &Viewer<'_>, _: &Asked) -> Result<Value> {
    value(status(Some(&viewer.memory), viewer.config, 0)?)
}

async fn session(State(server): State<Server>, PathOf(id): PathOf<String>) -> Response {
    json_of(server, move |viewer| as_data(&viewer.memory, viewer.config, &id, None)).await
}

async fn neighbours(State(server): State<Server>, PathOf(id): PathOf<String>) -> Response {
    let make = move |viewer: &Viewer<'_>| {
        value(timeline(&viewer.memory, viewer.config, &TimelineRequest { id: &id, before: NEIGHBOURS, after: NEIGHBOURS })?)
    };
    json_of(server, make).await
}

async fn inject(State(server): State<Server>, Query(asked): Query<Asked>) -> Response {
    match server.read(move |viewer| Ok(start_of(viewer, &asked)?.context.text)).await {
        Ok(text) => answer::of(StatusCode::OK, "text/plain; charset=utf-8", text),
        Err(e) => answer::of(StatusCode::BAD_REQUEST, answer::JSON, json!({ "error": format!("{e:#}") }).to_string()),
    }
}
