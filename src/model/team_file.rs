//! A statement that a team keeps in its repository, as a file has it: some lines of what it is, and its text. Pure.

use std::fmt::Write;

use jiff::civil::Date;

/// The folder of these files, as it stands in their paths.
const IN_FOLDER: &str = "/.recall/";
/// The folder of those that came from a server, as it stands in their paths, below the data folder.
const FROM_SERVER: &str = "/team/projects/";
/// The kinds of what is open: `next` and `blocker` as sessions left it, `todo` as somebody noted it. Only a server has these.
const OPEN_KINDS: [&str; 3] = ["next", "blocker", "todo"];
/// The kinds of statements that hold.
const KINDS: [&str; 5] = ["convention", "decision", FACT, "command", "cure"];
const FACT: &str = "fact";
/// The most characters of its text that are told.
pub(crate) const MAX_CHARS: usize = 600;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TeamFile {
    /// What it is: `convention`, `decision`, `fact`, `command`, `cure`.
    pub(crate) kind: String,
    /// The id of what it was made from.
    pub(crate) id: String,
    /// Who shared it.
    pub(crate) by: String,
    /// A day: `2026-11-19`.
    pub(crate) day: String,
    /// By what it stands.
    pub(crate) evidence: String,
    pub(crate) text: String,
}

/// Is this the kind of something that is open?
pub(crate) fn is_open_kind(kind: &str) -> bool {
    OPEN_KINDS.contains(&kind)
}

/// Is a file at this path one of a team's?
pub(crate) fn is_team_file(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, _)| format!("{folder}/").ends_with(IN_FOLDER))
}

/// Is a file at this path one that the server of a team gave? None that lies in the repository with this root is, wherever that lies: whoever can write
/// to the repository wrote it.
pub(crate) fn is_from_server(path: &str, root: &str) -> bool {
    let is_in_repository = path.strip_prefix(root).is_some_and(|rest| rest.starts_with(IN_FOLDER));
    is_team_file(path) && path.contains(FROM_SERVER) && !is_in_repository
}

impl TeamFile {
    /// What a file says. One without a head is all text.
    pub(crate) fn read(text: &str) -> Self {
        let mut file = Self::default();
        let split = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let (head, body) = split.unwrap_or(("", text));
        for (key, value) in head.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim().to_owned();
            match key.trim() {
                "kind" => file.kind = value,
                "id" => file.id = value,
                "by" => file.by = value,
                "day" => file.day = value,
                "evidence" => file.evidence = value,
                _ => {}
            }
        }
        body.trim().clone_into(&mut file.text);
        file
    }

    /// The file that says so.
    pub(crate) fn write(&self) -> String {
        let mut file = "---\n".to_owned();
        let lines = [("kind", &self.kind), ("id", &self.id), ("by", &self.by), ("day", &self.day), ("evidence", &self.evidence)];
        for (key, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = writeln!(file, "{key}: {value}");
        }
        file + "---\n\n" + self.text.trim() + "\n"
    }

    /// The day of which it is, if it says one.
    pub(crate) fn date(&self) -> Option<Date> {
        self.day.parse().ok()
    }

    /// What it is; a fact if it says nothing that a statement can be.
    pub(crate) fn told_kind(&self) -> &'static str {
        KINDS.into_iter().find(|kind| *kind == self.kind).unwrap_or(FACT)
    }

    /// Its name: the same for the same statement, and readable in a list of changes.
    pub(crate) fn name(&self) -> String {
        const MAX_SLUG_CHARS: usize = 48;
        let mut slug = String::new();
        for c in self.text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }) {
            if slug.len() == MAX_SLUG_CHARS {
                break;
            }
            if c != '-' || !slug.is_empty() && !slug.ends_with('-') {
                slug.push(c);
            }
        }
        format!("{}-{}-{}.md", self.kind, slug.trim_end_matches('-'), self.id)
    }

    /// Is this the name of a file that [`Self::write`] made, of a statement with this kind and id? Its words may have changed since.
    pub(crate) fn is_written_as(&self, name: &str) -> bool {
        let is_plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let slug = name.strip_prefix(&format!("{}-", self.kind)).and_then(|rest| rest.strip_suffix(&format!("{}.md", self.id)));
        is_plain(&self.kind) && is_plain(&self.id) && slug.is_some_and(|slug| slug == "-" || is_plain(slug) && slug.ends_with('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let file = TeamFile {
            kind: "convention".into(),
            id: "m12345678".into(),
            by: "Anna".into(),
            day: "2026-11-19".into(),
            evidence: "session 64b0b6d9".into(),
            text: "We use pnpm, never npm.\n\nSee the --- in the docs.".into(),
        };
        assert_eq!(TeamFile::read(&file.write()), file);
        assert_eq!(file.name(), "convention-we-use-pnpm-never-npm-see-the-in-the-docs-m12345678.md");
    }

    #[test]
    fn a_file_is_known_by_its_form() {
        let file = TeamFile { kind: "fact".into(), id: "m12345678".into(), text: "pnpm".into(), ..TeamFile::default() };
        let wordless = TeamFile { text: "…".into(), ..file.clone() };
        for name in [file.name(), wordless.name(), "fact-in-other-words-m12345678.md".to_owned()] {
            assert!(file.is_written_as(&name), "{name}");
        }
        for name in ["fact-pnpm.md", "notes.md", "fact-m12345678.md", "decision-pnpm-m12345678.md", "fact-a b-m12345678.md"] {
            assert!(!file.is_written_as(name), "{name}");
        }
        assert!(!TeamFile::default().is_written_as("-pnpm-.md"));
    }

    #[test]
    fn a_file_that_somebody_wrote_by_hand_is_text() {
        for text in ["Use pnpm.", "---\nkind: convention\nUse pnpm.", ""] {
            assert_eq!(TeamFile::read(text), TeamFile { text: text.into(), ..TeamFile::default() });
        }
    }

    #[test]
    fn only_files_in_the_folder_itself_are_the_team_s() {
        assert!(is_team_file("/home/dev/shop/.recall/convention-x.md"));
        assert!(!is_team_file("/home/dev/shop/.recall/old/x.md"));
        assert!(!is_team_file("/home/dev/.claude/projects/-home-dev-shop/memory/x.md"));
    }
}
