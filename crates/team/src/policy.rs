//! What the policies of the team let in, asked before anything is sent. The server has the last word.

use crate::client::{Client, Me};
use crate::error::Error;
use crate::record::{Record, RecordId};
use crate::team::Policy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The policies of a team, as far as they hold for the projects of the member. By default nothing is forbidden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policies(Vec<Rule>);

/// A policy, and the project that it is for; `None` for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    project: Option<String>,
    policy: Policy,
}

const POLICIES: &str = "SELECT p.remote, y.kinds, y.body_max, y.closed
    FROM recall_team.policy y LEFT JOIN recall_team.project p ON p.team = y.team AND p.id = y.project
    WHERE y.team = $1 AND (y.project = 0 OR p.id IS NOT NULL) ORDER BY y.project";

impl Client {
    /// Asks for the policies that hold now.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn policies(&mut self) -> Result<Policies, Error> {
        let Me { team, .. } = self.me;
        let rows = self.link.call("read the policy of the team", self.deadlines.ask, async |session| {
            let statement = session.statement(POLICIES).await?;
            session.client.query(&statement, &[&team]).await
        })?;
        let rule = |row: &tokio_postgres::Row| Rule {
            project: row.get(0),
            policy: Policy { kinds: row.get(1), body_max: row.get(2), closed: row.get(3) },
        };
        Ok(Policies(rows.iter().map(rule).collect()))
    }
}

impl Policies {
    fn of(&self, id: &RecordId) -> impl Iterator<Item = &Policy> {
        self.0.iter().filter(|rule| rule.project.as_ref().is_none_or(|project| *project == id.project)).map(|rule| &rule.policy)
    }

    /// Why no record of this project and kind is let in, whatever it says; `None` if one may be.
    #[must_use]
    pub fn refusal(&self, id: &RecordId) -> Option<String> {
        self.of(id).find_map(|policy| match &policy.kinds {
            _ if policy.closed => Some("the policy of the team lets nothing new in".to_owned()),
            Some(kinds) if !kinds.contains(&id.kind) => {
                Some(format!("the policy of the team lets no records of kind \"{}\" in", id.kind))
            }
            _ => None,
        })
    }

    /// Whether bodies of this project can be too large.
    #[must_use]
    pub fn limits_size(&self, id: &RecordId) -> bool {
        self.of(id).any(|policy| policy.body_max.is_some())
    }

    /// Why this record is not let in; `None` if it is.
    #[must_use]
    pub fn refusal_of(&self, record: &Record) -> Option<String> {
        self.refusal(&record.id).or_else(|| {
            let most = self.of(&record.id).filter_map(|policy| policy.body_max).min()?;
            (bytes_there(&record.body) > usize::try_from(most).unwrap_or(0))
                .then(|| format!("the policy of the team lets no body of more than {most} bytes in"))
        })
    }
}

/// The bytes of a body in the form that PostgreSQL gives it: with a space behind each comma and colon.
fn bytes_there(value: &Value) -> usize {
    let between = |count: usize| 2 * count.saturating_sub(1);
    match value {
        Value::Array(values) => 2 + between(values.len()) + values.iter().map(bytes_there).sum::<usize>(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| Value::from(key.as_str()).to_string().len() + 2 + bytes_there(value);
            2 + between(fields.len()) + fields.iter().map(field).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_body_is_measured_as_postgresql_writes_it() {
        for (body, written) in [
            (json!({"b": [1, 2, {}], "a": "x\n\"é"}), r#"{"a": "x\n\"é", "b": [1, 2, {}]}"#),
            (json!([]), "[]"),
            (json!({"a": null, "b": true}), r#"{"a": null, "b": true}"#),
        ] {
            assert_eq!(bytes_there(&body), written.len(), "{written}");
        }
    }

    #[test]
    fn each_policy_that_fits_narrows() {
        let rule = |project: Option<&str>, policy: Policy| Rule { project: project.map(str::to_owned), policy };
        let kinds = |kinds: &[&str]| Some(kinds.iter().map(|kind| (*kind).to_owned()).collect());
        let all = Policies(vec![
            rule(None, Policy { kinds: kinds(&["note", "session"]), ..Policy::default() }),
            rule(Some("shop"), Policy { kinds: kinds(&["note"]), body_max: Some(20), ..Policy::default() }),
            rule(Some("bank"), Policy { closed: true, ..Policy::default() }),
        ]);
        let record = |project: &str, kind: &str, text: &str| Record {
            id: RecordId { project: project.into(), kind: kind.into(), id: "1".into() },
            version: 1,
            body: json!({ "text": text }),
            search: String::new(),
        };
        for (project, kind, text, fits) in [
            ("shop", "note", "short", true),
            ("shop", "note", "as long as no body may be", false),
            ("shop", "session", "short", false),
            ("garden", "session", "as long as no body may be", true),
            ("garden", "usage", "", false),
            ("bank", "note", "", false),
        ] {
            assert_eq!(all.refusal_of(&record(project, kind, text)).is_none(), fits, "{project} {kind} {text}");
            assert_eq!(Policies::default().refusal_of(&record(project, kind, text)), None);
        }
    }
}
