//! A connection that comes back, and a deadline for each call.
//!
//! A call whose connection is lost is done again on a new one, after a pause that grows, until its deadline. All that is called here may therefore be
//! done twice.

use crate::address::{Address, place};
use crate::error::{Error, Fate, fate};
use rustls::{ClientConfig, RootCertStore};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout_at;
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The first pause before a call is done again, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long ending a transaction has, before the connection is closed instead.
const ROLL_BACK: Duration = Duration::from_millis(100);

pub(crate) struct Link {
    // Before the runtime, on which the connection runs.
    session: Option<Session>,
    config: Config,
    tls: MakeRustlsConnect,
    runtime: Runtime,
}

/// A connection and what it has been told.
pub(crate) struct Session {
    pub(crate) client: Client,
    connection: JoinHandle<()>,
    limit: Option<Duration>,
    statements: HashMap<&'static str, Statement>,
    pub(crate) has_batch_table: bool,
}

impl Link {
    pub(crate) fn new(address: &Address) -> Result<Self, Error> {
        let machine = |error: std::io::Error| Error::Machine { why: error.to_string() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
        Ok(Self { session: None, config: address.config.clone(), tls: tls()?, runtime })
    }

    /// Does it, and again if the connection is lost, until the deadline.
    pub(crate) fn call<T>(
        &mut self,
        what: &'static str,
        deadline: Duration,
        work: impl AsyncFn(&mut Session) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Error> {
        self.call_until(what, deadline, Instant::now() + deadline, work)
    }

    /// As [`call`](Self::call), for a call that is a part of one whose deadline has an end.
    pub(crate) fn call_until<T>(
        &mut self,
        what: &'static str,
        deadline: Duration,
        end: Instant,
        work: impl AsyncFn(&mut Session) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Error> {
        let Self { session, config, tls, runtime } = self;
        let place = place(config);
        let too_late = |source| Error::TooLate { what, place: place.clone(), deadline, source };
        runtime.block_on(async {
            let mut pause = FIRST_PAUSE;
            let mut last = None;
            loop {
                let attempt = timeout_at(end.into(), async {
                    let session = match session {
                        Some(session) if !session.client.is_closed() => session,
                        _ => session.insert(Session::open(config, tls.clone()).await?),
                    };
                    session.limit_to(deadline).await?;
                    work(session).await
                });
                let error = match attempt.await {
                    Ok(Ok(done)) => return Ok(done),
                    Ok(Err(error)) => error,
                    Err(_) => {
                        // Nobody knows what the connection would answer next.
                        close(session).await;
                        return Err(too_late(last));
                    }
                };
                let fate = fate(&error);
                if fate == Fate::Reconnect || !roll_back(session.as_ref()).await {
                    close(session).await;
                }
                match fate {
                    Fate::Failed => return Err(Error::Server { what, source: error }),
                    Fate::TooLate => return Err(too_late(Some(error))),
                    Fate::Reconnect | Fate::Repeat => {}
                }
                let wait = jittered(pause);
                if Instant::now() + wait >= end {
                    return Err(too_late(Some(error)));
                }
                last = Some(error);
                tokio::time::sleep(wait).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        })
    }
}

impl Session {
    async fn open(config: &Config, tls: MakeRustlsConnect) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = config.connect(tls).await?;
        // What goes wrong is told to whoever waits for an answer.
        let connection = tokio::spawn(async { drop(connection.await) });
        // A look-up in a table of many partitions seems dear to the planner, and to compile it takes ten times as long as to do it.
        // The second is for a machine that is gone in the middle of a push.
        client.batch_execute("SET jit = off; SET idle_in_transaction_session_timeout = '60s'").await?;
        Ok(Self { client, connection, limit: None, statements: HashMap::new(), has_batch_table: false })
    }

    /// Has the server give up as well, so that it does no work that nobody waits for.
    async fn limit_to(&mut self, limit: Duration) -> Result<(), tokio_postgres::Error> {
        if self.limit != Some(limit) {
            self.client.batch_execute(&format!("SET statement_timeout = {}", limit.as_millis().max(1))).await?;
            self.limit = Some(limit);
        }
        Ok(())
    }

    /// The statement, which is prepared once a connection.
    pub(crate) async fn statement(&mut self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Ends a transaction that an error left open, and says whether it is ended. The client does so itself, but only when the runtime runs: until the next
/// call, the transaction would keep its locks.
async fn roll_back(session: Option<&Session>) -> bool {
    let Some(session) = session else { return true };
    matches!(tokio::time::timeout(ROLL_BACK, session.client.batch_execute("ROLLBACK")).await, Ok(Ok(())))
}

/// Closes the connection now, for the same reason. The server then ends what it is doing.
async fn close(session: &mut Option<Session>) {
    if let Some(Session { client, connection, .. }) = session.take() {
        connection.abort();
        drop(client);
        // Aborted, or ended before.
        let _ = connection.await;
    }
}

/// Between half of it and all of it: clients that lost the same server do not all come back at once.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 1000;
    pause / 2 + pause.mul_f64(random as f64 / 2000.0)
}

fn tls() -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Machine { why: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_at_least_half_and_at_most_all_of_it() {
        for _ in 0..1000 {
            let wait = jittered(FIRST_PAUSE);
            assert!(wait >= FIRST_PAUSE / 2 && wait <= FIRST_PAUSE, "{wait:?}");
        }
    }
}
