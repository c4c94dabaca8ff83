//! A memory file that Claude Code keeps of its own for a project, or one that a team keeps in its repository. Pure.

use jiff::civil::Date;

use crate::model::team_file::{TeamFile, is_from_server, is_open_kind, is_team_file};
use transcripts::session::{Millis, Project};

/// A memory file as a digest read it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    pub pk: i64,
    pub id: String,
    pub project: Project,
    /// Where it lies.
    pub path: String,
    /// When it was last written.
    pub at: Millis,
    /// As far as it was read, sanitized.
    pub text: String,
}

impl MemoryFile {
    /// `deploy.md`
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Did the server of the team give it?
    pub(crate) fn is_from_server(&self) -> bool {
        is_from_server(&self.path, &self.project.key)
    }

    /// `Claude's memory file deploy.md`
    pub(crate) fn title(&self) -> String {
        if self.is_from_server() {
            // Its name says nothing to anybody.
            let TeamFile { kind, by, .. } = TeamFile::read(&self.text);
            let kind = if is_open_kind(&kind) { "open item" } else { &kind };
            return format!("{kind} of your team, by {by}");
        }
        match is_team_file(&self.path) {
            true => format!("team file {}", self.name()),
            false => format!("Claude's memory file {}", self.name()),
        }
    }

    /// The day of which a statement of a team's is, if it says one: its file is as old as the clone.
    pub(crate) fn said_on(&self) -> Option<Date> {
        is_team_file(&self.path).then(|| TeamFile::read(&self.text).date())?
    }

    /// What it says, if that is an open item which the server of the team gave.
    pub(crate) fn open_item_of_team(&self) -> Option<TeamFile> {
        let said = self.is_from_server().then(|| TeamFile::read(&self.text))?;
        is_open_kind(&said.kind).then_some(said)
    }

    /// Its name and its description, as its head has them, and the text behind that.
    pub(crate) fn parts(&self) -> (Vec<&str>, &str) {
        let Some((head, body)) = self.text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) else {
            return (Vec::new(), &self.text);
        };
        let said =
            head.lines().filter_map(|line| line.split_once(':')).filter(|(key, _)| matches!(key.trim(), "name" | "description"));
        let said = said.map(|(_, value)| value.trim().trim_matches(['"', '\'']));
        (said.collect(), body.trim_start_matches('-').trim_start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_a_team_says_what_it_is_and_whose() {
        let text = "---\nkind: decision\nby: anna\n---\n\nThe cache is an LRU";
        let file = |path: &str| MemoryFile {
            pk: 1,
            id: "k1".into(),
            project: Project { key: "/p".into() },
            path: path.into(),
            at: 0,
            text: text.into(),
        };
        assert_eq!(file("/data/team/projects/shop-1/.recall/decision-12.md").title(), "decision of your team, by anna");
        assert_eq!(file("/home/anna/shop/.recall/decision-lru.md").title(), "team file decision-lru.md");
    }

    #[test]
    fn only_what_a_server_gave_is_an_open_item_of_the_team() {
        let file = |path: &str, kind: &str| MemoryFile {
            pk: 1,
            id: "k1".into(),
            project: Project { key: "/p".into() },
            path: path.into(),
            at: 0,
            text: format!("---\nkind: {kind}\nby: anna\n---\n\nRenew the certificate"),
        };
        let given = "/data/team/projects/shop-1/open/.recall/todo-12.md";
        assert_eq!(file(given, "todo").open_item_of_team().map(|said| said.text), Some("Renew the certificate".into()));
        assert_eq!(file(given, "next").title(), "open item of your team, by anna");
        assert_eq!(file(given, "fact").open_item_of_team(), None);
        assert_eq!(file("/home/anna/shop/.recall/todo-12.md", "todo").open_item_of_team(), None);
        let forged = MemoryFile {
            project: Project { key: "/home/anna/team/projects/shop".into() },
            ..file("/home/anna/team/projects/shop/.recall/todo-12.md", "todo")
        };
        assert_eq!((forged.open_item_of_team(), forged.title().as_str()), (None, "team file todo-12.md"));
    }

    #[test]
    fn the_head_of_a_file_says_what_it_is_about() {
        let file = |text: &str| MemoryFile {
            pk: 1,
            id: "k1".into(),
            project: Project { key: "/p".into() },
            path: "/c/projects/-p/memory/deploy.md".into(),
            at: 0,
            text: text.into(),
        };
        let of_topic = file("---\nname: deploys\ndescription: \"How we deploy\"\ntype: project\n---\n\nRun make ship.\n");
        assert_eq!(of_topic.parts(), (vec!["deploys", "How we deploy"], "Run make ship.\n"));
        assert_eq!(of_topic.title(), "Claude's memory file deploy.md");
        for text in ["# Memory\n\n- one\n", "---\nname: x", ""] {
            assert_eq!(file(text).parts(), (Vec::new(), text));
        }
    }
}
