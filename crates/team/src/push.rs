//! What a member shares and withdraws.
//!
//! A batch is one transaction: copied into a temporary table, and from there into the records, where what is older than what stands is left out. A
//! batch that is sent again, after a connection was lost, changes nothing the second time.

use crate::client::{Client, Me};
use crate::error::Error;
use crate::link::Session;
use crate::record::{Record, RecordId, Withdrawal};
use serde_json::Value;
use std::collections::HashMap;
use std::pin::pin;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// The most records of a batch, and the most bytes of their bodies and words, but for a single one that is larger.
const BATCH_RECORDS: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// What became of the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// How many are new or newer than what the server had. After a lost connection some of them are counted as `unchanged`.
    pub stored: usize,
    /// How many the server has already, in this version or a higher one.
    pub unchanged: usize,
    /// Those that it does not take, and why. They would be refused the next time as well, until the access or the policy changes.
    pub refused: Vec<(RecordId, String)>,
}

impl Client {
    /// Shares records, in batches. Records that cannot be shared do not keep others from it. Of records with one id, the highest version counts.
    ///
    /// # Errors
    /// [`Error::TooLate`] when a batch did not go through: those before it did, and all may be pushed again. [`Error::NoMember`] after the member was
    /// removed.
    pub fn push(&mut self, records: &[Record]) -> Result<Pushed, Error> {
        let items = records.iter().map(|record| Item {
            id: &record.id,
            version: record.version,
            share: Some((&record.body, record.search.as_str())),
            refusal: record.refusal(),
        });
        self.send(items)
    }

    /// Withdraws records: their bodies and words are gone from the tables when this returns, and others hear of it when they pull. Records that were
    /// never pushed are noted as withdrawn, so that a push that comes late changes nothing.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn withdraw(&mut self, records: &[Withdrawal]) -> Result<Pushed, Error> {
        let items = records.iter().map(|record| Item {
            id: &record.id,
            version: record.version,
            share: None,
            refusal: record.id.refusal(),
        });
        self.send(items)
    }

    fn send<'r>(&mut self, items: impl Iterator<Item = Item<'r>>) -> Result<Pushed, Error> {
        let mut pushed = Pushed::default();
        let mut numbers = HashMap::new();
        let mut batch = Vec::new();
        let mut bytes = 0;
        for item in items {
            if let Some(why) = item.refusal {
                pushed.refused.push((item.id.clone(), why));
                continue;
            }
            let Some(project) = self.number_to_push_to(&item, &mut numbers)? else {
                let error = Error::NoProject { project: item.id.project.clone() };
                pushed.refused.push((item.id.clone(), error.to_string()));
                continue;
            };
            let size = item.share.map_or(0, |(body, search)| body.to_string().len() + search.len());
            if !batch.is_empty() && (batch.len() >= BATCH_RECORDS || bytes + size > BATCH_BYTES) {
                self.send_batch(&std::mem::take(&mut batch), &mut pushed)?;
                bytes = 0;
            }
            bytes += size;
            batch.push((project, item));
        }
        if !batch.is_empty() {
            self.send_batch(&batch, &mut pushed)?;
        }
        Ok(pushed)
    }

    /// `None` for a project that the member has not. From one to which they no longer have access they still withdraw what they shared.
    fn number_to_push_to<'r>(
        &mut self,
        item: &Item<'r>,
        asked: &mut HashMap<(&'r str, bool), Option<i64>>,
    ) -> Result<Option<i64>, Error> {
        let name = item.id.project.as_str();
        let key = (name, item.share.is_some());
        if let Some(number) = asked.get(&key) {
            return Ok(*number);
        }
        let number = match self.project_number(name) {
            Ok(number) => Some(number),
            Err(Error::NoProject { .. }) if item.share.is_none() => {
                let team = self.me.team;
                self.link.call("look for a project", self.deadlines.ask, async |session| {
                    let sql = "SELECT recall_team.shared_project($1, $2)";
                    Ok(session.client.query_one(sql, &[&team, &name]).await?.get(0))
                })?
            }
            Err(Error::NoProject { .. }) => None,
            Err(error) => return Err(error),
        };
        asked.insert(key, number);
        Ok(number)
    }

    /// One batch. If the server refuses it because of one record, halves of it are sent, until that record is found.
    fn send_batch(&mut self, batch: &[(i64, Item<'_>)], pushed: &mut Pushed) -> Result<(), Error> {
        let me = self.me;
        let machine = self.machine.clone();
        let sent = self.link.call("push records", self.deadlines.push, async |session| store(session, me, &machine, batch).await);
        let source = match sent {
            Ok(stored) if stored.refused.len() == batch.len() && !self.is_member()? => return Err(self.no_member()),
            Ok(stored) => {
                pushed.stored += stored.stored;
                pushed.unchanged += batch.len() - stored.stored - stored.refused.len();
                let refused = stored.refused.into_iter().map(|(place, why)| (batch[place].1.id.clone(), why));
                pushed.refused.extend(refused);
                return Ok(());
            }
            Err(Error::Server { source, .. }) if is_about_records(&source) => source,
            Err(error) => return Err(error),
        };
        if !self.is_member()? {
            return Err(self.no_member());
        }
        match batch {
            [(_, one)] => {
                let why = source.as_db_error().map_or_else(|| source.to_string(), |db| db.message().to_owned());
                pushed.refused.push((one.id.clone(), why));
                Ok(())
            }
            _ => {
                let (first, second) = batch.split_at(batch.len() / 2);
                self.send_batch(first, pushed)?;
                self.send_batch(second, pushed)
            }
        }
    }

    fn is_member(&mut self) -> Result<bool, Error> {
        let Me { team, member } = self.me;
        self.link.call("ask for your membership", self.deadlines.ask, async |session| {
            let sql = "SELECT EXISTS (SELECT FROM recall_team.mine() f WHERE f.team = $1 AND f.member = $2)";
            Ok(session.client.query_one(sql, &[&team, &member]).await?.get(0))
        })
    }
}

struct Item<'r> {
    id: &'r RecordId,
    version: i64,
    /// Body and words; `None` to withdraw it.
    share: Option<(&'r Value, &'r str)>,
    refusal: Option<String>,
}

struct Stored {
    stored: usize,
    /// By their place in the batch.
    refused: Vec<(usize, String)>,
}

const BATCH_TABLE: &str = "CREATE TEMP TABLE IF NOT EXISTS recall_batch (
    place int, project bigint, kind text, id text, version bigint, body jsonb, search text
) ON COMMIT DELETE ROWS";
const COPY: &str = "COPY pg_temp.recall_batch FROM STDIN (FORMAT binary)";
/// What the rows of the server's policies would refuse, with the reason.
const REFUSALS: &str = "SELECT b.place, CASE
        WHEN (b.project) IN (SELECT f.project FROM recall_team.writable() f WHERE f.team = $1)
        THEN CASE WHEN b.body IS NOT NULL THEN recall_team.refusal($1, b.project, b.kind, b.body) END
        WHEN b.body IS NOT NULL OR NOT recall_team.shared($1, b.project, $2, b.kind, b.id)
        THEN 'you may not share in this project'
    END AS why FROM pg_temp.recall_batch b";
const REMOVE_REFUSED: &str = "DELETE FROM pg_temp.recall_batch WHERE place = ANY ($1)";
/// Numbers are taken for what is newer than what stands, of one project after the other in the same order in every batch. The subquery is one look-up in
/// the primary key for each record: as a join, it could become a scan of all records.
const STORE: &str = "WITH newer AS MATERIALIZED (
        SELECT b.* FROM (
            SELECT DISTINCT ON (project, kind, id) * FROM pg_temp.recall_batch
            ORDER BY project, kind, id, version DESC, (body IS NULL) DESC
        ) b
        WHERE (
            SELECT (o.version, o.deleted) < (b.version, b.body IS NULL) FROM recall_team.record o
            WHERE o.team = $1 AND o.project = b.project AND o.member = $2 AND o.author = $3 AND o.kind = b.kind AND o.id = b.id
        ) IS NOT FALSE
    ), taken AS MATERIALIZED (
        SELECT c.project, c.records, recall_team.take_numbers($1, c.project, c.records) AS last
        FROM (SELECT project, count(*) AS records FROM newer GROUP BY project ORDER BY project) c
    )
    INSERT INTO recall_team.record AS r (team, project, author, kind, id, version, seq, deleted, body, search)
    SELECT $1, n.project, $3, n.kind, n.id, n.version,
        t.last - t.records + row_number() OVER (PARTITION BY n.project ORDER BY n.place), n.body IS NULL, n.body, n.search
    FROM newer n JOIN taken t ON t.project = n.project
    ON CONFLICT (team, project, member, author, kind, id) DO UPDATE
    SET version = excluded.version, seq = excluded.seq, deleted = excluded.deleted, body = excluded.body, search = excluded.search
    WHERE (r.version, r.deleted) < (excluded.version, excluded.deleted)";

async fn store(session: &mut Session, me: Me, machine: &str, batch: &[(i64, Item<'_>)]) -> Result<Stored, tokio_postgres::Error> {
    if !session.has_batch_table {
        session.client.batch_execute(BATCH_TABLE).await?;
        session.has_batch_table = true;
    }
    let copy = session.statement(COPY).await?;
    let refusals = session.statement(REFUSALS).await?;
    let store = session.statement(STORE).await?;
    let transaction = session.client.transaction().await?;
    let types = [Type::INT4, Type::INT8, Type::TEXT, Type::TEXT, Type::INT8, Type::JSONB, Type::TEXT];
    let mut writer = pin!(BinaryCopyInWriter::new(transaction.copy_in(&copy).await?, &types));
    for (place, (project, item)) in (0_i32..).zip(batch) {
        let (body, search) = item.share.unzip();
        writer.as_mut().write(&[&place, project, &item.id.kind, &item.id.id, &item.version, &body, &search]).await?;
    }
    writer.finish().await?;
    let mut refused = Vec::new();
    let mut places = Vec::new();
    for row in transaction.query(&refusals, &[&me.team, &machine]).await? {
        if let Some(why) = row.get::<_, Option<String>>(1) {
            let place: i32 = row.get(0);
            places.push(place);
            refused.push((usize::try_from(place).unwrap_or(0), why));
        }
    }
    if !places.is_empty() {
        transaction.execute(REMOVE_REFUSED, &[&places]).await?;
    }
    let stored = transaction.execute(&store, &[&me.team, &me.member, &machine]).await?;
    transaction.commit().await?;
    Ok(Stored { stored: usize::try_from(stored).unwrap_or(usize::MAX), refused })
}

/// Whether another batch could do better: the data, a constraint, a policy.
fn is_about_records(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        code == &SqlState::INSUFFICIENT_PRIVILEGE
            || code == &SqlState::PROGRAM_LIMIT_EXCEEDED
            || ["22", "23"].iter().any(|class| code.code().starts_with(class))
    })
}
