//! What Cline's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::editor_tasks;
use crate::source::tool_use::ToolTable;

/// Runs commands, reads files: each of them is a use of its own.
pub(super) const COMMANDS: &str = "run_commands";
pub(super) const READS: &str = "read_files";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &[COMMANDS]),
    (ToolClass::Edit, &["apply_patch", "editor"]),
    (ToolClass::Read, &[READS]),
    (ToolClass::Search, &["search_codebase"]),
    (ToolClass::Web, &["fetch_web_content", "web_search"]),
    (ToolClass::Subagent, &["spawn_agent", "team_run_task", "team_spawn_teammate"]),
    (ToolClass::Question, &["ask_question"]),
    (
        ToolClass::Bookkeeping,
        &[
            "skills", "submit_and_exit", "team_attach_outcome_fragment", "team_await_runs", "team_broadcast", "team_cancel_run",
            "team_cleanup", "team_create_outcome", "team_finalize_outcome", "team_list_outcomes", "team_list_runs",
            "team_mission_log", "team_read_mailbox", "team_review_outcome_fragment", "team_send_message", "team_shutdown_teammate",
            "team_status", "team_task",
        ],
    ),
])
.with(&editor_tasks::TOOLS);
