//! What changed meanwhile, as events for a page that stays open: what a digest under way has added, and what still waits for it.

use std::convert::Infallible;
use std::fs;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::app::status::{RunProgress, status};
use crate::config::Config;
use crate::sys::failpoints::patience;
use crate::web::router::Server;
use crate::web::viewer::Viewer;

/// How often is looked.
const EVERY: Duration = Duration::from_secs(1);

/// How far the memory is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct News {
    sessions: i64,
    digests: i64,
    waiting: i64,
    /// The digest under way, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<String>,
}

/// The stream of events; it ends with its client.
pub(super) fn events(server: Server) -> Response {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut told: Option<News> = None;
        let mut stamp = None;
        loop {
            let now = index_stamp(server.config());
            let mut news = told.clone();
            if told.is_none() || stamp.as_ref() != Some(&now) {
                let counted = server.read(counts).await.ok();
                // What cannot be read now is read at the next look.
                stamp = counted.is_some().then_some(now);
                news = counted.or(news);
            }
            if let Some(news) = &mut news {
                news.running = RunProgress::read(&server.config().data_dir).map(|run| run.in_words());
            }
            if news.is_some() && told != news {
                let data = serde_json::to_string(&news).unwrap_or_default();
                told = news;
                if sender.send(Ok::<_, Infallible>(Event::default().data(data))).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = sender.closed() => return,
                () = tokio::time::sleep(patience(EVERY)) => {}
            }
        }
    });
    Sse::new(Receiver(receiver)).keep_alive(KeepAlive::default()).into_response()
}

fn counts(viewer: &Viewer<'_>) -> Result<News> {
    let found = status(Some(&viewer.memory), viewer.config, 0)?;
    Ok(News { sessions: found.sessions, digests: found.digests, waiting: found.waiting_for_digest, running: None })
}

/// By what is seen that somebody wrote the index.
fn index_stamp(config: &Config) -> [Option<(SystemTime, u64)>; 2] {
    let database = config.database();
    let log = database.with_extension("db-wal");
    [database, log].map(|file| fs::metadata(file).ok().and_then(|meta| Some((meta.modified().ok()?, meta.len()))))
}

/// A channel as a stream.
struct Receiver(mpsc::Receiver<Result<Event, Infallible>>);

impl Stream for Receiver {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
