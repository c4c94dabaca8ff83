//! What git said of what sessions and notes name. Each observation goes with the digest or the note that names it, and is told only while
//! that stands.

use std::collections::HashMap;

use anyhow::Result;
use rusqlite::{Row, Transaction, params};

use super::{Reader, Writer};
use crate::analyze::account::SessionAccount;
use crate::analyze::repository::Naming;
use crate::model::digest::{Digest, is_by_model};
use crate::model::observation::{Observation, ObservedKind};
use crate::store::codec::unpack;
use transcripts::session::{Millis, Project};

/// Prefix of facts that say how a project's repository looked, and what was known of the project, when git was last asked.
const LOOK_FACT: &str = "repository:";

/// Who names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// A session, by the number of its digest.
    Digest(i64),
    /// A note, by its number.
    Note(i64),
}

/// A project whose sessions or notes may name what git knows.
pub(crate) struct NamingProject {
    pub(crate) pk: i64,
    pub(crate) project: Project,
    /// What is known of the project: another value where a digest or a note came or went.
    pub(crate) known: String,
    /// What was stored as [`Writer::save_observations`] was given it last.
    pub(crate) seen: Option<String>,
}

impl Reader {
    /// What became of what the sessions and notes of a project name, by the whole ids of these. Few sessions have any, so it begins there.
    pub(crate) fn observed_in(&self, project: &str) -> Result<HashMap<String, Vec<Observation>>> {
        let sql = "SELECT coalesce(s.id, n.id), o.kind, o.name, o.fate, o.seen_at FROM observation o
             LEFT JOIN digest d ON d.pk = o.digest AND d.superseded = 0 AND d.account IS NOT NULL LEFT JOIN session s ON s.pk = d.session
             LEFT JOIN note n ON n.pk = o.note
             WHERE coalesce(s.project, n.project) = (SELECT pk FROM project WHERE key = ?1)";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([project])?;
        let mut all: HashMap<String, Vec<Observation>> = HashMap::new();
        while let Some(r) = rows.next()? {
            // A kind or a fate that another program stored says nothing.
            if let Some(one) = observation(r)? {
                all.entry(r.get(0)?).or_default().push(one);
            }
        }
        Ok(all)
    }

    /// Projects with a session that ended since then.
    pub(crate) fn naming_projects(&self, since: Millis) -> Result<Vec<NamingProject>> {
        let sql = "SELECT p.pk, p.key, f.value,
                 (SELECT max(d.pk) || '/' || count(*) FROM session s JOIN digest d ON d.session = s.pk AND d.superseded = 0
                     AND d.account IS NOT NULL WHERE s.project = p.pk AND s.last_at >= ?1),
                 (SELECT max(at) || '/' || count(*) FROM note WHERE project = p.pk AND at >= ?1)
             FROM project p LEFT JOIN fact f ON f.name = ?2 || p.pk
             WHERE EXISTS (SELECT 1 FROM session WHERE project = p.pk AND last_at >= ?1) ORDER BY p.pk";
        let mut query = self.db.prepare_cached(sql)?;
        let projects = query.query_map(params![since, LOOK_FACT], |r| {
            let (digests, notes): (Option<String>, Option<String>) = (r.get(3)?, r.get(4)?);
            let known = format!("{} {}", digests.unwrap_or_default(), notes.unwrap_or_default());
            Ok(NamingProject { pk: r.get(0)?, project: Project { key: r.get(1)? }, seen: r.get(2)?, known })
        })?;
        Ok(projects.collect::<rusqlite::Result<_>>()?)
    }

    /// What the sessions and the open notes of a project say since then, and who says it.
    pub(crate) fn namings(&self, project: i64, since: Millis) -> Result<Vec<(NamedBy, Naming)>> {
        let mut all = Vec::new();
        let sql = "SELECT d.pk, s.last_at, d.summarizer, d.body, d.account FROM session s JOIN digest d ON d.session = s.pk
             AND d.superseded = 0 AND d.account IS NOT NULL WHERE s.project = ?1 AND s.last_at >= ?2 ORDER BY s.last_at, s.id";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([project, since])?;
        while let Some(r) = rows.next()? {
            let account: SessionAccount = unpack(&r.get::<_, Vec<u8>>(4)?)?;
            let digest: Digest = unpack(&r.get::<_, Vec<u8>>(3)?)?;
            let claims = is_by_model(&r.get::<_, String>(2)?).then_some(&digest);
            all.push((NamedBy::Digest(r.get(0)?), naming(r.get(1)?, account, claims.unwrap_or(&digest))));
        }
        let sql = "SELECT pk, at, text FROM note WHERE project = ?1 AND at >= ?2 AND closed_at IS NULL ORDER BY at, id";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([project, since])?;
        while let Some(r) = rows.next()? {
            all.push((NamedBy::Note(r.get(0)?), Naming { at: r.get(1)?, texts: vec![r.get(2)?], ..Naming::default() }));
        }
        Ok(all)
    }
}

/// The words of a session: the user's, the assistant's replies, and what its digest states and leaves open.
fn naming(at: Millis, account: SessionAccount, digest: &Digest) -> Naming {
    let claims: Vec<String> = digest.told().map(|(_, claim)| claim.text.clone()).collect();
    let turns = account.turns.into_iter().flat_map(|turn| {
        let reply = turn.reply.map(|reply| reply.text);
        turn.words.into_iter().map(|word| word.text).chain(reply)
    });
    Naming {
        at,
        texts: turns.chain(claims).collect(),
        branch: account.branch,
        commits: account.commits.into_iter().map(|commit| commit.hash).collect(),
    }
}

fn observation(r: &Row<'_>) -> rusqlite::Result<Option<Observation>> {
    let kind = ObservedKind::of_word(&r.get::<_, String>(1)?);
    let fate = serde_json::from_str(&r.get::<_, String>(3)?).ok();
    let (name, seen_at) = (r.get(2)?, r.get(4)?);
    Ok(kind.zip(fate).map(|(kind, fate)| Observation { kind, name, fate, seen_at }))
}

impl Writer {
    /// Puts these observations in place of all that were made of a project. `seen`: how it looked, for [`NamingProject::seen`].
    pub(crate) fn save_observations(&mut self, project: i64, all: &[(NamedBy, Observation)], seen: &str) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        let old = "DELETE FROM observation WHERE digest IN (SELECT d.pk FROM session s JOIN digest d ON d.session = s.pk WHERE s.project = ?1)
             OR note IN (SELECT pk FROM note WHERE project = ?1)";
        tx.execute(old, [project])?;
        let new = "INSERT INTO observation(digest, note, kind, name, fate, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        for (by, one) in all {
            let (digest, note) = match by {
                NamedBy::Digest(pk) => (Some(pk), None),
                NamedBy::Note(pk) => (None, Some(pk)),
            };
            let fate = serde_json::to_string(&one.fate)?;
            tx.prepare_cached(new)?.execute(params![digest, note, one.kind.word(), one.name, fate, one.seen_at])?;
        }
        let fact = "INSERT INTO fact VALUES (?1 || ?2, ?3) ON CONFLICT DO UPDATE SET value = ?3";
        tx.execute(fact, params![LOOK_FACT, project, seen])?;
        Ok(tx.commit()?)
    }
}

/// Removes all of them; the next digest asks git again.
pub(super) fn remove_all(tx: &Transaction<'_>) -> Result<()> {
    tx.execute("DELETE FROM observation", [])?;
    tx.execute("DELETE FROM fact WHERE name GLOB ?1 || '*'", [LOOK_FACT])?;
    Ok(())
}
