//! What the tools of Copilot Chat are for: by the names under which the model knows them, and by those that the editor has for them.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Runs a command in a terminal.
pub(super) const RUN: &str = "run_in_terminal";
/// Writes a file whole.
pub(super) const CREATE: &str = "create_file";
/// A patch, in the form of OpenAI's models.
pub(super) const PATCH: &str = "apply_patch";
/// Changes several places.
pub(super) const MULTI: &str = "multi_replace_string_in_file";
/// The list of what is to be done.
pub(super) const TODOS: &str = "manage_todo_list";
/// What the editor changed for an answer without a call.
pub(super) const EDIT_BY_EDITOR: &str = "vscode_editFile_internal";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &[RUN, "copilot_runInTerminal"]),
    (
        ToolClass::Edit,
        &[
            CREATE, EDIT_BY_EDITOR, MULTI, PATCH, "copilot_applyPatch", "copilot_createFile", "copilot_editNotebook",
            "copilot_insertEdit", "copilot_multiReplaceString", "copilot_replaceString", "edit_notebook_file",
            "insert_edit_into_file", "replace_string_in_file",
        ],
    ),
    (ToolClass::Read, &["copilot_readFile", "read_file"]),
    (
        ToolClass::Search,
        &[
            "copilot_findFiles", "copilot_findTextInFiles", "copilot_listCodeUsages", "copilot_listDirectory",
            "copilot_searchCodebase", "copilot_searchWorkspaceSymbols", "copilot_testSearch", "file_search", "grep_search",
            "list_code_usages", "list_dir", "semantic_search", "test_search",
        ],
    ),
    (
        ToolClass::Web,
        &["copilot_fetchWebPage", "copilot_githubRepo", "fetch_webpage", "github_repo", "vscode_fetchWebPage_internal"],
    ),
    (ToolClass::Subagent, &["runSubagent", "search_subagent"]),
    (ToolClass::Todo, &[TODOS]),
    (ToolClass::Question, &["ask_questions", "vscode_askQuestions"]),
    (
        ToolClass::Bookkeeping,
        &[
            "copilot_getChangedFiles", "copilot_getErrors", "copilot_getVSCodeAPI", "copilot_memory", "copilot_think",
            "get_changed_files", "get_errors", "get_project_setup_info", "get_task_output", "get_terminal_output",
            "get_vscode_api", "install_extension", "kill_terminal", "memory", "open_simple_browser", "recall_topic",
            "run_vscode_command", "terminal_last_command", "terminal_selection", "think", "tool_search",
        ],
    ),
]);
