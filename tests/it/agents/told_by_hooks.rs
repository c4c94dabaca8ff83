//! What hooks and tools of ours told a session, where a client that has no place of its own for it would write it: behind a prompt, and at the end of
//! what a command printed. Those of Codex, Copilot CLI, Gemini CLI, OpenCode and Qwen Code have places, of which their own tests tell.

use super::cline::CLINE;
use super::copilot::{self, COPILOT as COPILOT_CLI};
use super::cowork::{self, COWORK};
use super::cursor::{self, CURSOR};
use super::editor_tasks;
use super::gemini::GEMINI;
use super::pi::{LARDER, PI};
use super::qwen::QWEN;
use super::recorded::Recorded;
use super::vscode_copilot::{self, COPILOT};
use crate::support::files_below;

/// As JSON has it. Of the last line something would be kept if it were a command's.
const NOTES: &str =
    "<recall-context>\\nNotes from earlier sessions.\\n- the moonstone is blue\\nFAILED: 14 moonstones\\n</recall-context>\\n";
/// How Copilot CLI names the tool of a server.
const COPILOT_CALL: &str = r#""toolName":"recall-search","mcpServerName":"recall","mcpToolName":"search""#;
const PRINTED: &str = "FAILED (failures=1)";

#[test]
fn none_of_it_is_read_as_said_or_printed() {
    // What it is written behind, and what is kept of the user's words.
    let mut all: Vec<(&Recorded, &str, &str, &str)> = vec![
        (&PI, LARDER, "The recipe reader takes", "The recipe reader takes"),
        (&COPILOT, vscode_copilot::VERSION, "Which units are left?", "Which units are left?"),
        (&CURSOR, cursor::VERSION, "</user_query>", "Which units are left to do?"),
        (&COWORK, cowork::VERSION, "Which units are left to do?", "Which units are left to do?"),
    ];
    all.extend(
        editor_tasks::ALL
            .iter()
            .map(|(client, version)| (client, *version, "Find out why, and cure it.", "Find out why, and cure it.")),
    );
    for (client, version, place, kept) in all {
        let changes = [(place, format!("{place}\\n\\n{NOTES}")), (PRINTED, format!("{PRINTED}\\n\\n{NOTES}"))];
        let world = client.world_with(version, &changes);
        let report = world.digest(&[]);
        assert_eq!(report["rows_bad"], 0, "{}: {report}", client.agent);
        let told = world.recall(["export"]).out + &world.recall(["search", "moonstone"]).out;
        assert!(told.contains(kept), "{}: {told}", client.agent);
        assert!(!told.contains("moonstone"), "{}: {told}", client.agent);
        let holds = |file: &std::path::Path| memchr::memmem::find(&std::fs::read(file).expect("a file"), b"moonstone").is_some();
        let held: Vec<_> = files_below(&world.data_dir()).into_iter().filter(|file| holds(file)).collect();
        assert!(held.is_empty(), "{}: {held:?}", client.agent);
    }
}

#[test]
fn what_our_own_tools_answered_is_not_read_again() {
    // The tool whose calls become calls of ours, as the client writes its name.
    let all: [(&Recorded, &str, &str, &str); 7] = [
        (&CLINE, "3.0.65", "\"name\": \"run_commands\"", "\"name\": \"recall__search\""),
        (&COPILOT_CLI, copilot::VERSION, "\"toolName\":\"bash\"", COPILOT_CALL),
        (&COPILOT, vscode_copilot::VERSION, "\"run_in_terminal\"", "\"mcp_recall_search\""),
        (&CURSOR, cursor::VERSION, "\"name\":\"Shell\"", "\"name\":\"mcp_recall_search\""),
        (&COWORK, cowork::VERSION, "\"name\":\"Bash\"", "\"name\":\"mcp__recall__search\""),
        (&GEMINI, "0.61.0", "\"name\":\"run_shell_command\"", "\"name\":\"mcp_recall_search\""),
        (&QWEN, "larder-0.24.4", "\"name\":\"run_shell_command\"", "\"name\":\"mcp__recall__search\""),
    ];
    for (client, version, name, ours) in all {
        let changes = [(name, ours.to_owned()), (PRINTED, "FAILED: 14 moonstones".to_owned())];
        let world = client.world_with(version, &changes);
        world.digest(&[]);
        let told = world.recall(["export"]).out;
        assert!(!told.contains("moonstone") && !told.contains("recall__search"), "{}: {told}", client.agent);
    }
}
