//! What records mean, as vectors that a model made of them: kept beside them, and compared, where the server has the extension `vector`.

use crate::client::{Client, Me};
use crate::error::Error;
use crate::record::RecordId;
use crate::search::{Hit, hit};
use std::collections::HashMap;
use std::time::Instant;

/// The most vectors of a record, and the most dimensions, that the server keeps.
const MAX_PIECES: usize = 64;
const MAX_DIMENSIONS: usize = 16_000;
/// How many vectors go to the server at once.
const BATCH_VECTORS: usize = 1000;

/// What a record means.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// A record that this machine shared.
    pub id: RecordId,
    /// Its version: the server keeps nothing for another one, and forgets this with it.
    pub version: i64,
    /// A vector for each piece of it: at most 64, of at most 16,000 dimensions. Their length does not matter.
    pub vectors: Vec<Vec<f32>>,
}

const PUT: &str = "SELECT recall_team.put_meaning($1, $2, $3, $4, $5, $6, $7, $8)";
const SEARCH: &str = "SELECT f.member, m.login::text, f.author, f.kind, f.id, f.version, f.seq, f.body, f.project, f.rank
    FROM recall_team.search_meaning($1, $2, $3, $4, $5) f LEFT JOIN recall_team.member m ON m.team = $1 AND m.id = f.member
    ORDER BY f.rank DESC, f.seq DESC";

impl Client {
    /// Whether the server keeps and compares vectors: it has the extension `vector`, and the database was prepared since.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn has_meaning(&mut self) -> Result<bool, Error> {
        self.link.call("ask for vectors", self.deadlines.ask, async |session| {
            Ok(session.client.query_one("SELECT recall_team.has_meaning()", &[]).await?.get(0))
        })
    }

    /// Keeps what records mean, in place of what was kept of them, under the name of the model that made the vectors. Returns how many vectors the
    /// server kept: none of a record that does not stand there in this version. Vectors that it cannot keep are left out.
    ///
    /// # Errors
    /// [`Error::Server`] where [`has_meaning`](Self::has_meaning) says no.
    pub fn put_meanings(&mut self, model: &str, meanings: &[Meaning]) -> Result<u64, Error> {
        let Me { team, .. } = self.me;
        let mut kept = 0;
        let mut rest = meanings;
        while !rest.is_empty() {
            let mut vectors = 0;
            let fits = rest.iter().take_while(|one| {
                vectors += one.vectors.len().min(MAX_PIECES);
                vectors <= BATCH_VECTORS
            });
            let (batch, others) = rest.split_at(fits.count().max(1));
            rest = others;
            let (mut projects, mut kinds, mut ids, mut versions, mut directions) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for one in batch {
                let Some(project) = self.projects.get(&one.id.project).copied() else { continue };
                for vector in one.vectors.iter().take(MAX_PIECES).filter(|vector| is_direction(vector)) {
                    projects.push(project);
                    kinds.push(one.id.kind.as_str());
                    ids.push(one.id.id.as_str());
                    versions.push(one.version);
                    directions.push(in_text(vector));
                }
            }
            if projects.is_empty() {
                continue;
            }
            let machine = self.machine.clone();
            let stored: i64 = self.link.call("push vectors", self.deadlines.push, async |session| {
                let statement = session.statement(PUT).await?;
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
                    [&team, &machine, &model, &projects, &kinds, &ids, &versions, &directions];
                Ok(session.client.query_one(&statement, &values).await?.get(0))
            })?;
            kept += u64::try_from(stored).unwrap_or(0);
        }
        Ok(kept)
    }

    /// The records of these projects of which a piece is nearest to a vector of this model, nearest first; `rank` is the cosine. Vectors of other models
    /// are not compared. Ends at [`Deadlines::search`](crate::Deadlines), or at `until` if that is earlier: a part of a longer search.
    ///
    /// # Errors
    /// [`Error::TooLate`] when there was no time for it; [`Error::Server`] where [`has_meaning`](Self::has_meaning) says no.
    pub fn search_meaning(
        &mut self,
        projects: &[&str],
        model: &str,
        vector: &[f32],
        limit: usize,
        until: Instant,
    ) -> Result<Vec<Hit>, Error> {
        let names: HashMap<i64, &str> = projects.iter().filter_map(|name| Some((*self.projects.get(*name)?, *name))).collect();
        if names.is_empty() || !is_direction(vector) {
            return Ok(Vec::new());
        }
        let Me { team, .. } = self.me;
        let numbers: Vec<i64> = names.keys().copied().collect();
        let most = i32::try_from(limit).unwrap_or(i32::MAX);
        let wanted = in_text(vector);
        let end = until.min(Instant::now() + self.deadlines.search);
        let rows = self.link.call_until("search by meaning", self.deadlines.search, end, async |session| {
            let statement = session.statement(SEARCH).await?;
            session.client.query(&statement, &[&team, &numbers, &model, &wanted, &most]).await
        })?;
        Ok(rows.iter().map(|row| hit(row, &names, false)).collect())
    }
}

/// Whether a vector points anywhere, and the server can keep it.
fn is_direction(vector: &[f32]) -> bool {
    vector.len() <= MAX_DIMENSIONS && vector.iter().all(|part| part.is_finite()) && vector.iter().any(|part| *part != 0.0)
}

/// As the extension reads it.
fn in_text(vector: &[f32]) -> String {
    let parts: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_points_somewhere_is_sent() {
        assert!(is_direction(&[0.0, -0.5]));
        for vector in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY], &[1.0; MAX_DIMENSIONS + 1]] {
            assert!(!is_direction(vector), "{}", vector.len());
        }
        assert_eq!(in_text(&[1.0, -0.5, 3e-9]), "[1,-0.5,0.000000003]");
    }
}
