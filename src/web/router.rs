//! Which address is answered by what, and who is let in at all.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::body::{Body, to_bytes};
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Form, Router};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

use crate::app::asker::Asker;
use crate::app::executor::{Executor, ReadHandle};
use crate::app::health::KnownTimers;
use crate::app::open_memory::explained;
use crate::config::Config;
use crate::model::page_path::parse_day;
use crate::web::access::Access;
use crate::web::actions::{Action, act};
use crate::web::addresses::{self, without_end};
use crate::web::connections::Activity;
use crate::web::layout::{Page, document};
use crate::web::pages::{self, search, sessions};
use crate::web::viewer::{Purpose, Viewer};
use crate::web::{answer, api, live};

/// The most bytes that a request may carry.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// For the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// For making a page.
const WORK_TIMEOUT: Duration = Duration::from_secs(60);

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/page.js");
const ICON: &str = include_str!("assets/icon.svg");

/// The files beside the pages, with what they are.
pub(super) const ASSETS: [(&str, &str, &str); 3] = [
    (addresses::STYLE, "text/css; charset=utf-8", STYLE),
    (addresses::SCRIPT, "text/javascript; charset=utf-8", SCRIPT),
    (addresses::ICON, "image/svg+xml", ICON),
];

/// What all requests share.
#[derive(Debug, Clone)]
pub(super) struct Server(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Of when the server started: for the places where things lie.
    config: Config,
    /// Where the server was started: what may be shown depends on it.
    folder: PathBuf,
    access: Access,
    workers: Executor,
    activity: Activity,
    timers: KnownTimers,
}

impl Server {
    pub(super) fn new(config: Config, folder: PathBuf, access: Access) -> Self {
        let (activity, timers) = (Activity::new(), KnownTimers::default());
        Self(Arc::new(Shared { config, folder, access, workers: Executor::default(), activity, timers }))
    }

    pub(super) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(super) fn access(&self) -> &Access {
        &self.0.access
    }

    pub(super) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// Reads the memory, on a thread for such work, by the config of this moment: what it leaves out may have been saved since the server
    /// started.
    ///
    /// # Errors
    /// Those of the work, when there is no memory yet, or when it takes too long.
    pub(super) async fn read<T: Send + 'static>(&self, work: impl FnOnce(&Viewer<'_>) -> Result<T> + Send + 'static) -> Result<T> {
        self.work(move |viewer| work(&viewer)).await
    }

    async fn work<T: Send + 'static>(&self, work: impl FnOnce(Viewer<'_>) -> Result<T> + Send + 'static) -> Result<T> {
        let shared = Arc::clone(&self.0);
        let purpose = Purpose::Served { word: shared.access.form_word().to_owned() };
        let work = move |reading: &ReadHandle| {
            let config = &Config::load()?;
            let asker = Asker::in_folder(config, &shared.folder);
            let made = reading
                .memory(config, &config.policy(asker.view()))
                .and_then(|memory| work(Viewer::new(config, &asker, memory, purpose, &shared.timers)));
            made.map_err(|e| explained(e, &config.database()))
        };
        self.0.workers.run(tokio::time::sleep(WORK_TIMEOUT), work).await
    }

    /// A page of the memory, whole.
    async fn page(&self, make: impl FnOnce(&Viewer<'_>) -> Result<Option<Page>> + Send + 'static) -> Response {
        let base = self.access().folder().to_owned();
        self.shown(move |viewer| Ok(make(viewer)?.map(|page| document(&page, &base, viewer)))).await
    }

    async fn shown(&self, make: impl FnOnce(&Viewer<'_>) -> Result<Option<Markup>> + Send + 'static) -> Response {
        match self.read(make).await {
            Ok(Some(page)) => answer::html_page(page),
            Ok(None) => self.failure(StatusCode::NOT_FOUND, "There is no such page."),
            Err(e) => self.failure(StatusCode::NOT_FOUND, &format!("{e:#}")),
        }
    }

    fn failure(&self, status: StatusCode, what: &str) -> Response {
        answer::failure(status, what, self.access().folder())
    }
}

/// All addresses. Those of pages lie below the folder of `access`; those of the interface for other programs are the same in every run.
pub(super) fn router(server: &Server) -> Router {
    let folder = server.access().folder().to_owned();
    let at = |address: &str| format!("{folder}{address}");
    let mut router = Router::new()
        .route(&at(""), get(first))
        .route(&at(addresses::DAYS), get(days))
        .route(&at("day/{file}"), get(day))
        .route(&at("week/{file}"), get(week))
        .route(&at(addresses::SESSIONS), get(session_list))
        .route(&at("session/{file}"), get(session))
        .route(&at("rows/{file}"), get(rows))
        .route(&at("note/{file}"), get(note))
        .route(&at(addresses::PROJECTS), get(projects))
        .route(&at("project/{file}"), get(project))
        .route(&at(addresses::OPEN_ITEMS), get(open_items))
        .route(&at(addresses::SEARCH), get(search_page))
        .route(&at(addresses::TOLD), get(told))
        .route(&at(addresses::STATUS), get(status))
        .route(&at("forget/{file}"), get(forget))
        .route(&at("enter/{word}"), get(enter))
        .route(&at("live"), get(events));
    for (address, kind, text) in ASSETS {
        router = router.route(&at(address), get(move || async move { answer::of(StatusCode::OK, kind, text) }));
    }
    for (address, action) in Action::ALL {
        let change = move |State(server): State<Server>, headers: HeaderMap, form: Result<Form<Change>, FormRejection>| {
            change(server, action, headers, form)
        };
        router = router.route(&at(address), post(change));
    }
    let api = api::routes();
    let router = router.nest(&at("api/v1"), api.clone()).nest("/api/v1", api).merge(api::aliases());
    router
        .fallback(|| async { answer::text(StatusCode::NOT_FOUND, "not found") })
        .layer(from_fn_with_state(server.clone(), guard))
        .with_state(server.clone())
}

/// Lets in who may come in, with a body that is short and came soon.
async fn guard(State(server): State<Server>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&server, request).await {
        Ok(request) => next.run(request).await,
        Err((status, why)) => answer::text(status, why),
    };
    answer::add_safety(response.headers_mut());
    response
}

/// With which status and words a request is refused.
type Refusal = (StatusCode, &'static str);

async fn admitted(server: &Server, request: Request) -> Result<Request, Refusal> {
    let (parts, body) = request.into_parts();
    check(server, &parts)?;
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(parts, Body::from(body))),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "too long")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "too slow")),
    }
}

/// May it come in, by its head alone?
fn check(server: &Server, request: &Parts) -> Result<(), Refusal> {
    let access = server.access();
    let header = |name: HeaderName| request.headers.get(name).and_then(|value| value.to_str().ok());
    let host = header(HOST).unwrap_or_default();
    if !access.is_our_host(host) {
        return Err((StatusCode::MISDIRECTED_REQUEST, "this is not a name of this machine"));
    }
    if request.headers.contains_key(ORIGIN) && !header(ORIGIN).is_some_and(|origin| access.is_our_origin(origin, host)) {
        return Err((StatusCode::FORBIDDEN, "asked by a page of somebody else"));
    }
    let path = request.uri.path();
    let below = path.strip_prefix(access.folder());
    let is_entry = below.is_some_and(|rest| rest.starts_with("enter/")) && request.method == Method::GET;
    let by_cookie = below.is_some() && header(COOKIE).is_some_and(|cookie| access.knows_cookie(cookie));
    let by_token = path.starts_with("/api/") && header(AUTHORIZATION).is_some_and(|sent| access.knows_token(sent));
    if !(is_entry || by_cookie || by_token) {
        return Err((StatusCode::UNAUTHORIZED, "open the link that `recall serve` printed"));
    }
    if !is_entry {
        server.activity().note();
    }
    Ok(())
}

/// Gives the cookie, and leads on by a page: a browser that was sent here by another program does not send a strict cookie with a redirect.
async fn enter(State(server): State<Server>, Path(word): Path<String>) -> Response {
    let access = server.access();
    let Some(cookie) = access.enter(&word) else {
        return answer::text(
            StatusCode::FORBIDDEN,
            "this link was used before: press Enter where `recall serve` runs for a new one",
        );
    };
    server.activity().note();
    let folder = access.folder();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content=(format!("0; url={folder}"));
                title { "recall" }
                link rel="icon" href=(format!("{folder}{}", addresses::ICON)) type="image/svg+xml";
            }
            body { p { a href=(folder) { "Go on to the memory" } } }
        }
    };
    let mut response = answer::html_page(page);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

async fn first(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::day::newest(viewer).map(Some)).await
}

async fn days(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::days::days(viewer).map(Some)).await
}

async fn day(State(server): State<Server>, Path(file): Path<String>) -> Response {
    let date = without_end(&file).and_then(parse_day);
    server.page(move |viewer| Ok(date.map(|date| pages::day::day(viewer, date)).transpose()?.flatten())).await
}

async fn week(State(server): State<Server>, Path(file): Path<String>) -> Response {
    let make = move |viewer: &Viewer<'_>| Ok(without_end(&file).map(|name| pages::week::week(viewer, name)).transpose()?.flatten());
    server.page(make).await
}

#[derive(Debug, Default, Deserialize)]
struct Listed {
    project: Option<String>,
    agent: Option<String>,
    #[serde(default)]
    skip: usize,
}

async fn session_list(State(server): State<Server>, Query(asked): Query<Listed>) -> Response {
    let narrowed = sessions::Narrowing { project: asked.project, agent: asked.agent, skip: asked.skip };
    server.page(move |viewer| sessions::sessions(viewer, &narrowed).map(Some)).await
}

/// A page about what has this name in addresses.
async fn about(server: Server, file: String, make: fn(&Viewer<'_>, &str) -> Result<Page>) -> Response {
    let make = move |viewer: &Viewer<'_>| {
        let id = without_end(&file).map(|name| viewer.id_of(name)).transpose()?.flatten();
        id.map(|id| make(viewer, &id)).transpose()
    };
    server.page(make).await
}

async fn session(State(server): State<Server>, Path(file): Path<String>) -> Response {
    about(server, file, pages::session::session).await
}

async fn rows(State(server): State<Server>, Path(file): Path<String>) -> Response {
    about(server, file, pages::rows::rows).await
}

async fn note(State(server): State<Server>, Path(file): Path<String>) -> Response {
    about(server, file, pages::note::note).await
}

async fn forget(State(server): State<Server>, Path(file): Path<String>) -> Response {
    about(server, file, pages::forget::question).await
}

async fn projects(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::projects::projects(viewer).map(Some)).await
}

async fn project(State(server): State<Server>, Path(file): Path<String>) -> Response {
    let make =
        move |viewer: &Viewer<'_>| Ok(without_end(&file).map(|name| pages::project::project(viewer, name)).transpose()?.flatten());
    server.page(make).await
}

async fn open_items(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::open_items::open_items(viewer).map(Some)).await
}

#[derive(Debug, Default, Deserialize)]
struct Searched {
    #[serde(default)]
    q: String,
    #[serde(default)]
    skip: usize,
    /// Only the results, as somebody types.
    part: Option<String>,
}

async fn search_page(State(server): State<Server>, Query(asked): Query<Searched>) -> Response {
    let is_part = asked.part.is_some();
    let asked = search::Asked { words: asked.q, skip: asked.skip, as_typed: is_part };
    if is_part {
        return server.shown(move |viewer| search::results(viewer, &asked).map(Some)).await;
    }
    server.page(move |viewer| search::page(viewer, &asked).map(Some)).await
}

async fn told(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::told::told(viewer).map(Some)).await
}

async fn status(State(server): State<Server>) -> Response {
    server.page(|viewer| pages::status::status_page(viewer).map(Some)).await
}

async fn events(State(server): State<Server>) -> Response {
    live::events(server)
}

/// What a form sends that changes something.
#[derive(Debug, Default, Deserialize)]
struct Change {
    /// From our own page.
    #[serde(default)]
    word: String,
    #[serde(default)]
    id: String,
    /// The page to go back to.
    #[serde(default)]
    back: String,
}

async fn change(server: Server, action: Action, headers: HeaderMap, form: Result<Form<Change>, FormRejection>) -> Response {
    let Ok(Form(asked)) = form else {
        return server.failure(StatusCode::BAD_REQUEST, "This form cannot be read.");
    };
    // A browser says where a form comes from; the word shows that it was a page of ours.
    let is_ours = server.access().is_form_word(&asked.word);
    let is_same_site = headers.get("sec-fetch-site").is_none_or(|from| from == "same-origin");
    if !is_ours || !is_same_site {
        return server
            .failure(StatusCode::FORBIDDEN, "This form is not of this server, or of an earlier run of it: load the page again.");
    }
    let id = asked.id;
    match server.work(move |viewer| act(action, &id, viewer)).await {
        Ok(told) if asked.back.is_empty() => {
            let body = html! { @for line in told.lines() { p { (line) } } };
            answer::bare_page(StatusCode::OK, "Done", server.access().folder(), &body)
        }
        Ok(_) => answer::see_other(&format!("{}{}", server.access().folder(), within(&asked.back))),
        Err(e) => server.failure(StatusCode::CONFLICT, &format!("{e:#}")),
    }
}

/// An address of ours: what does not look like one is the first page.
fn within(address: &str) -> &str {
    let is_plain = address.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./#".contains(&b));
    if is_plain && !address.starts_with('/') && !address.contains("..") { address } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_into_our_own_pages_only() {
        assert_eq!(within("session/a-1.html#wrong"), "session/a-1.html#wrong");
        for other in ["//evil.example", "/etc", "https://evil.example", "../x", "a\r\nSet-Cookie: x"] {
            assert_eq!(within(other), "", "{other}");
        }
    }
}
