//! The file of rules that an agent reads in every session: a block of ours in it tells an agent that has our server, and no hook to be told
//! by, to ask the server. All other lines are its user's and stay byte for byte.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::agent_hosts::AgentHost;
use super::file::{FileSnapshot, retry_when_changed};
use super::manifest::{FileEdit, Manifest};
use super::marked_block::{Marks, Unclosed};
use super::strict_json::Shapes;
use super::{Host, InstallScope};

/// Comments of Markdown, so that the agent's user sees them and its model need not mind them.
const MARKS: Marks = Marks { begin: "<!-- >>> recall >>> -->", end: "<!-- <<< recall <<< -->" };
/// Who reads the file may have no server of ours: some agents share one file.
const BLOCK: &str = "\
<!-- >>> recall >>> -->
<!-- Written by `recall install`; `recall uninstall` takes it out. -->
If you have the tools of the MCP server `recall`: it remembers the earlier coding sessions on this machine, yours and those of other \
agents. At the start of a session, call its tool `recall` with what the user asks for. Before you look into an error, take a decision or \
try an approach, call `search` to see whether an earlier session did that, and open what it finds with `get`.
<!-- <<< recall <<< -->
";
/// Stands among the shapes of a file whose last line did not end, before the block came behind it.
const UNENDED: &str = "unended";

/// Where an agent reads rules for all its sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RulesFile {
    /// In the agent's folder.
    pub(crate) name: &'static str,
    /// How many characters of it the agent reads at most.
    pub(crate) max_chars: usize,
}

/// The edit of a file of rules.
#[derive(Debug)]
pub(crate) struct RulesEdit {
    pub(crate) file: FileSnapshot,
    pub(crate) after: String,
    shapes: Shapes,
    /// Had the file a block of ours?
    pub(crate) was_there: bool,
    /// Why the block is not written.
    pub(crate) refused: Option<String>,
    scope: InstallScope,
}

impl RulesEdit {
    pub(crate) fn changes(&self) -> bool {
        self.refused.is_none() && self.file.bytes.as_deref() != Some(self.after.as_bytes())
    }

    /// Records the edit and makes it.
    ///
    /// # Errors
    /// When the file cannot be written, or others write to it all the time.
    pub(crate) fn apply(self, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
        let scope = self.scope;
        let mut planned = Some(self);
        retry_when_changed(|| {
            let now = planned.take().map_or_else(|| plan(scope, host), |planned| Ok(Some(planned)))?;
            let Some(now) = now.filter(Self::changes) else { return Ok(()) };
            let edit = FileEdit {
                before: now.file.bytes.as_deref(),
                after: now.after.as_bytes(),
                fresh: !now.was_there,
                shapes: &now.shapes,
                copy: true,
            };
            manifest.write(&host.config.data_dir, &now.file, &edit)
        })
    }
}

/// The file of rules of an agent, if it has one of ours.
pub(crate) fn path(scope: InstallScope, host: &Host<'_>) -> Option<PathBuf> {
    AgentHost::of(scope.agent())?.rules_file(host).map(|(path, _)| path)
}

/// Works the edit out; `None` of an agent that has no such file.
///
/// # Errors
/// When the file cannot be read, or it cannot be told where our block in it ends.
pub(crate) fn plan(scope: InstallScope, host: &Host<'_>) -> Result<Option<RulesEdit>> {
    let Some((path, limit)) = AgentHost::of(scope.agent()).and_then(|agent| agent.rules_file(host)) else { return Ok(None) };
    let file = FileSnapshot::read(&path)?;
    let text = file.text()?;
    let was_there = MARKS.find(&text).is_some();
    let after = MARKS.add(&text, BLOCK).map_err(|unclosed| anyhow!("{}\nit is left as it is", located(&path, unclosed)))?;
    let ends = text.is_empty() || text.ends_with('\n');
    let shapes = if ends || was_there { Shapes::new() } else { Shapes::from([(UNENDED.to_owned(), String::new())]) };
    let chars = after.chars().count();
    let refused = (chars > limit && after != text).then(|| {
        let (path, name) = (path.display(), scope.agent().name());
        format!(
            "{path}: {name} reads {limit} characters of it, and with the rule of recall it would have {chars}: shorten it, and run `recall install {}` again",
            scope.option()
        )
    });
    Ok(Some(RulesEdit { file, after, shapes, was_there, refused, scope }))
}

/// The file without our block. `None` when there is none.
///
/// # Errors
/// When the file is no text, or it cannot be told where our block ends.
pub(crate) fn without_ours(file: &FileSnapshot, manifest: &Manifest) -> Result<Option<String>> {
    let bytes = file.bytes.as_deref().unwrap_or_default();
    // What has not our mark has nothing of ours, whatever else is wrong with it.
    if memchr::memmem::find(bytes, MARKS.begin.as_bytes()).is_none() {
        return Ok(None);
    }
    let text = file.text()?;
    let mut without = MARKS.remove(&text).map_err(|unclosed| anyhow!("{}", located(&file.path, unclosed)))?;
    let was_last = text.starts_with(&without);
    if was_last && manifest.shapes(&file.path).contains_key(UNENDED) && without != text {
        let _ = without.pop();
    }
    Ok((without != text).then_some(without))
}

fn located(path: &Path, unclosed: Unclosed) -> String {
    let (Marks { begin, end }, line) = (MARKS, unclosed.0);
    format!("{}:{line}: `{begin}` without `{end}` behind it: take the lines of recall out by hand", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_stands_between_its_marks_and_is_short() {
        assert_eq!(MARKS.find(&format!("theirs\n{BLOCK}more")).as_deref(), Some(BLOCK));
        assert!(BLOCK.chars().count() < 700, "{}", BLOCK.chars().count());
        assert_eq!(BLOCK.lines().count(), 4, "a rule is one paragraph");
    }
}
