//! The schema, step by step. A step that was published never changes: a change is a further step.

use crate::link::Session;
use tokio_postgres::error::SqlState;

/// Each step with its name. Its number is its place, from 1.
pub(crate) const MIGRATIONS: [(&str, &str); 12] = [
    ("roles", include_str!("../migrations/0001_roles.sql")),
    ("tables", include_str!("../migrations/0002_tables.sql")),
    ("who", include_str!("../migrations/0003_who.sql")),
    ("rows", include_str!("../migrations/0004_rows.sql")),
    ("members", include_str!("../migrations/0005_members.sql")),
    ("administration", include_str!("../migrations/0006_administration.sql")),
    ("search", include_str!("../migrations/0007_search.sql")),
    ("meaning", include_str!("../migrations/0008_meaning.sql")),
    ("addresses", include_str!("../migrations/0009_addresses.sql")),
    ("usage", include_str!("../migrations/0010_usage.sql")),
    ("named", include_str!("../migrations/0011_named.sql")),
    ("machines", include_str!("../migrations/0012_machines.sql")),
];

/// Any number, the same for all that prepare a database: one at a time.
const LOCK: i64 = 0x7265_6361_6c6c;

/// Does the steps that are missing, each in a transaction of its own.
pub(crate) async fn migrate(session: &mut Session) -> Result<(), tokio_postgres::Error> {
    for (number, (name, sql)) in (1_i32..).zip(MIGRATIONS) {
        let step = session.client.transaction().await?;
        step.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        if done(&step).await? < number {
            step.batch_execute(sql).await?;
            step.batch_execute("RESET ROLE; RESET search_path").await?;
            step.execute("INSERT INTO recall_team.migration (number, name) VALUES ($1, $2)", &[&number, &name]).await?;
        }
        step.commit().await?;
    }
    // Each time: the extension may have come since.
    let step = session.client.transaction().await?;
    step.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    step.execute("SELECT recall_team.prepare_meaning()", &[]).await?;
    step.commit().await
}

async fn done(step: &tokio_postgres::Transaction<'_>) -> Result<i32, tokio_postgres::Error> {
    let there = step.query_one("SELECT to_regclass('recall_team.migration') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(0);
    }
    Ok(step.query_one("SELECT coalesce(max(number), 0) FROM recall_team.migration", &[]).await?.get(0))
}

/// Whether the server says that there is no such schema, or none that this login may see.
pub(crate) fn is_missing(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::INVALID_SCHEMA_NAME | &SqlState::UNDEFINED_FUNCTION | &SqlState::UNDEFINED_TABLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_step_under_its_number() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let steps: Vec<String> = (1..).zip(MIGRATIONS).map(|(number, (name, _))| format!("{number:04}_{name}.sql")).collect();
        assert_eq!(files, steps);
    }
}
