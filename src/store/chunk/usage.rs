//! Token usage by message, stored beside the items of the records that report it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::model::price::of_one_message;
use crate::model::session_head::SessionHead;
use crate::store::chunk::forks;
use crate::store::codec::{pack, unpack};
use transcripts::session::Tokens;

/// A message, identified by a hash of the client's id for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MessageHash(i64);

impl MessageHash {
    pub(crate) fn of_id(id: &str) -> Self {
        let hash = blake3::hash(id.as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
        Self(i64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    /// Parses a message from an index or export: our own `#…` form, else the client's id.
    pub(crate) fn of_text(text: &str) -> Self {
        let ours = text.strip_prefix('#').filter(|hash| hash.len() == 16).and_then(|hash| u64::from_str_radix(hash, 16).ok());
        ours.map_or_else(|| Self::of_id(text), |key| Self(key as i64))
    }

    /// The part of it by which other sessions are searched.
    pub(super) fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl fmt::Display for MessageHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:016x}", self.0)
    }
}

/// Token usage of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredUsage {
    pub(crate) message: MessageHash,
    /// Shared: most messages of a chunk have the same model.
    pub(crate) model: Arc<str>,
    pub(crate) tokens: Tokens,
    /// When the client wrote it first, in minutes since the Unix epoch; `None` where that is not known, as in an older index.
    pub(crate) minute: Option<i64>,
}

/// The larger value of each field. Cache writes are compared as a whole: records of one message may divide them differently, or not
/// divide them at all.
pub(super) fn larger(a: &Tokens, b: &Tokens) -> Tokens {
    let written = |t: &Tokens| (t.cache_write.saturating_add(t.cache_write_hour), t.cache_write_hour);
    let Tokens { cache_write, cache_write_hour, .. } = if written(a) < written(b) { *b } else { *a };
    let (input, output, cache_read) = (a.input.max(b.input), a.output.max(b.output), a.cache_read.max(b.cache_read));
    let stated_cost = a.stated_cost.max(b.stated_cost);
    Tokens { input, output, cache_write, cache_write_hour, cache_read, stated_cost, ..Tokens::default() }
}

/// The stored form: model names; for each message its hash, the index of its model, and the five counts; the minute of each message,
/// as the difference to the one before it; and what the client says that each cost, if it says that of any.
#[derive(Serialize, Deserialize)]
struct PackedUsage {
    models: Vec<String>,
    messages: Vec<(i64, usize, u64, u64, u64, u64, u64)>,
    #[serde(default)]
    minutes: Vec<Option<i64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    costs: Vec<u64>,
}

pub(super) fn write(used: &[StoredUsage]) -> Result<Vec<u8>> {
    if used.is_empty() {
        return Ok(Vec::new());
    }
    let mut models: Vec<String> = Vec::new();
    let mut messages = Vec::with_capacity(used.len());
    let mut minutes = Vec::with_capacity(used.len());
    let mut last = 0;
    for StoredUsage { message, model, tokens: t, minute } in used {
        let at = models.iter().position(|known| **known == **model).unwrap_or_else(|| {
            models.push(model.to_string());
            models.len() - 1
        });
        messages.push((message.0, at, t.input, t.output, t.cache_write, t.cache_write_hour, t.cache_read));
        minutes.push(minute.map(|minute| minute - std::mem::replace(&mut last, minute)));
    }
    let costs: Vec<u64> = used.iter().map(|used| used.tokens.stated_cost).collect();
    let costs = if costs.iter().any(|cost| *cost > 0) { costs } else { Vec::new() };
    pack(&PackedUsage { models, messages, minutes, costs })
}

pub(super) fn read(packed: &[u8]) -> Result<Vec<StoredUsage>> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let PackedUsage { models, messages, minutes, costs } = unpack(packed)?;
    let mut costs = costs.into_iter();
    let models: Vec<Arc<str>> = models.into_iter().map(Arc::from).collect();
    let mut last: i64 = 0;
    let mut minutes = minutes.into_iter().map(|since| {
        last = last.saturating_add(since?);
        Some(last)
    });
    let used = messages.into_iter().map(|(message, model, input, output, cache_write, cache_write_hour, cache_read)| StoredUsage {
        message: MessageHash(message),
        model: models.get(model).cloned().unwrap_or_else(|| "".into()),
        tokens: Tokens {
            input,
            output,
            cache_write,
            cache_write_hour,
            cache_read,
            stated_cost: costs.next().unwrap_or_default(),
            ..Tokens::default()
        },
        minute: minutes.next().flatten(),
    });
    Ok(used.collect())
}

impl StoredUsage {
    /// Usage of the messages of a session, each once, with the largest figures known.
    pub(crate) fn of_session(db: &Connection, session: i64) -> Result<BTreeMap<MessageHash, Self>> {
        let mut query = db.prepare_cached("SELECT used FROM bundle WHERE session = ?1 AND used <> x'' ORDER BY pk")?;
        let mut found = query.query([session])?;
        let mut all: BTreeMap<MessageHash, Self> = BTreeMap::new();
        while let Some(r) = found.next()? {
            for used in read(r.get_ref(0)?.as_blob()?)? {
                match all.entry(used.message) {
                    Entry::Vacant(place) => _ = place.insert(used),
                    Entry::Occupied(mut known) => known.get_mut().add(&used),
                }
            }
        }
        Ok(all)
    }

    /// Takes in what another record of the message says.
    fn add(&mut self, other: &Self) {
        self.tokens = larger(&self.tokens, &other.tokens);
        self.minute = self.minute.into_iter().chain(other.minute).min();
    }

    /// Tokens by model, of [`StoredUsage::owned_messages`].
    pub(crate) fn owned_by(db: &Connection, head: &SessionHead) -> Result<BTreeMap<String, Tokens>> {
        let mut by_model: BTreeMap<String, Tokens> = BTreeMap::new();
        for used in Self::owned_messages(db, head)? {
            *by_model.entry(used.model.to_string()).or_default() += of_one_message(used.tokens, &used.model);
        }
        Ok(by_model)
    }

    /// The messages of a session. One that several sessions hold belongs to the one that started first, with the largest figures any of
    /// them has.
    pub(crate) fn owned_messages(db: &Connection, head: &SessionHead) -> Result<impl Iterator<Item = Self> + use<>> {
        let mut own = Self::of_session(db, head.pk)?;
        let forks = forks::forks_of(db, head.pk)?;
        let earlier = if forks.is_empty() { Vec::new() } else { forks::earlier_forks(db, head)? };
        for kin in forks {
            for (message, used) in Self::of_session(db, kin)? {
                if earlier.contains(&kin) {
                    own.remove(&message);
                } else if let Some(known) = own.get_mut(&message) {
                    known.add(&used);
                }
            }
        }
        Ok(own.into_values())
    }
}
