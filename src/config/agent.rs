//! Detects the agent a command runs in, by the variables that agents set for the commands they start.
//!
//! A variable belongs in the table when an agent sets it for its children; not when a person sets it to configure an agent (a key, a
//! model's name), and not when an editor sets it for every terminal (`CURSOR_TRACE_ID`). If a person types in a terminal that has such a
//! variable all the same, the cost is one question; a model's note presented as the user's own would cost trust.
//!
//! Sources: what the clients were observed to set (Claude Code, Gemini CLI, Qwen Code, Copilot CLI), their documentation and their source
//! code.

use std::env;

use crate::model::author::Author;

struct KnownAgent {
    /// Name shown to people.
    name: &'static str,
    /// Prefix of the name its MCP client reports.
    client: &'static str,
    /// Variables that identify it, each with the required value if only one value does.
    marks: &'static [(&'static str, Option<&'static str>)],
    /// Variables that hold the id of its session.
    sessions: &'static [&'static str],
}

/// Forks come before the agents they derive from, because they set their variables as well.
const AGENTS: [KnownAgent; 20] = [
    KnownAgent {
        name: "Claude",
        client: "claude",
        marks: &[("CLAUDECODE", None), ("CLAUDE_CODE_CHILD_SESSION", None), ("CLAUDE_CODE_SESSION_ID", None)],
        sessions: &["CLAUDE_CODE_SESSION_ID"],
    },
    KnownAgent {
        name: "Codex",
        client: "codex",
        marks: &[
            ("CODEX_THREAD_ID", None),
            ("CODEX_SANDBOX", None),
            ("CODEX_SANDBOX_NETWORK_DISABLED", None),
            ("CODEX_CI", None),
            ("AGENT", Some("codex")),
        ],
        sessions: &["CODEX_THREAD_ID"],
    },
    KnownAgent {
        name: "Copilot",
        client: "github-copilot",
        marks: &[("COPILOT_CLI", None), ("COPILOT_AGENT_SESSION_ID", None), ("COPILOT_AGENT_JOB_ID", None)],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
    },
    KnownAgent {
        name: "Qwen Code",
        client: "qwen",
        marks: &[("QWEN_CODE", None), ("QWEN_CODE_SESSION_ID", None)],
        sessions: &["QWEN_CODE_SESSION_ID"],
    },
    KnownAgent { name: "iFlow", client: "iflow", marks: &[("IFLOW_CLI", None)], sessions: &[] },
    KnownAgent {
        name: "Gemini",
        client: "gemini",
        marks: &[("GEMINI_CLI", None), ("GEMINI_SESSION_ID", None)],
        sessions: &["GEMINI_SESSION_ID"],
    },
    KnownAgent { name: "Cursor", client: "cursor", marks: &[("CURSOR_AGENT", None)], sessions: &[] },
    KnownAgent { name: "Kilo Code", client: "kilo", marks: &[("KILOCODE_FEATURE", Some("cli"))], sessions: &[] },
    KnownAgent {
        name: "OpenCode",
        client: "opencode",
        marks: &[("OPENCODE", None), ("OPENCODE_SESSION_ID", None), ("AGENT", Some("opencode"))],
        sessions: &["OPENCODE_SESSION_ID"],
    },
    KnownAgent {
        name: "Amp",
        client: "amp",
        marks: &[("AMP_CURRENT_THREAD_ID", None), ("AGENT", Some("amp"))],
        sessions: &["AMP_CURRENT_THREAD_ID"],
    },
    KnownAgent {
        name: "Goose",
        client: "goose",
        marks: &[("GOOSE_TERMINAL", None), ("AGENT", Some("goose"))],
        sessions: &["AGENT_SESSION_ID"],
    },
    KnownAgent { name: "Cline", client: "cline", marks: &[("CLINE_ACTIVE", None)], sessions: &[] },
    KnownAgent { name: "Roo Code", client: "roo", marks: &[("ROO_ACTIVE", None), ("ROO_CLI_RUNTIME", None)], sessions: &[] },
    KnownAgent { name: "Pi", client: "pi-coding-agent", marks: &[("PI_CODING_AGENT", None)], sessions: &[] },
    KnownAgent { name: "Crush", client: "crush", marks: &[("CRUSH", None), ("AGENT", Some("crush"))], sessions: &[] },
    KnownAgent { name: "Augment", client: "augment", marks: &[("AUGMENT_AGENT", None)], sessions: &[] },
    KnownAgent { name: "Antigravity", client: "antigravity", marks: &[("ANTIGRAVITY_AGENT", None)], sessions: &[] },
    KnownAgent { name: "Windsurf", client: "windsurf", marks: &[("WINDSURF_CASCADE_TERMINAL", None)], sessions: &[] },
    KnownAgent { name: "Trae", client: "trae", marks: &[("TRAE_AI_SHELL_ID", None)], sessions: &[] },
    KnownAgent { name: "Grok", client: "grok", marks: &[("GROK_AGENT", Some("1"))], sessions: &[] },
];

/// Agents that are not in the table give their name here: a convention of several.
const FALLBACK_VARIABLE: &str = "AI_AGENT";

/// An agent that starts commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// The id of its session, if it provides one.
    pub(crate) session: Option<String>,
}

impl Agent {
    pub(crate) fn author(&self) -> Author {
        Author::agent(&self.name, self.session.as_deref())
    }
}

/// The agent that started this process, if any.
pub(crate) fn agent() -> Option<Agent> {
    detect_agent(|name| env::var(name).ok())
}

/// The agent whose MCP client reports this name.
pub(crate) fn agent_of_client(client: &str) -> Agent {
    let lower = client.to_lowercase();
    let known = AGENTS.iter().find(|known| lower.starts_with(known.client));
    Agent { name: known.map_or_else(|| client.to_owned(), |known| known.name.to_owned()), session: None }
}

fn detect_agent(variable: impl Fn(&str) -> Option<String>) -> Option<Agent> {
    let set = |name: &str| variable(name).filter(|value| !matches!(value.trim(), "" | "0" | "false"));
    let shows = |(name, value): &(&str, Option<&str>)| set(name).is_some_and(|is| value.is_none_or(|wanted| is == wanted));
    match AGENTS.iter().find(|known| known.marks.iter().any(shows)) {
        Some(known) => Some(Agent { name: known.name.to_owned(), session: known.sessions.iter().find_map(|name| set(name)) }),
        None => set(FALLBACK_VARIABLE).map(|name| Agent { name, session: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_the_table_shows_its_agent_and_a_persons_own_show_none() {
        for known in &AGENTS {
            for (name, value) in known.marks {
                let found = detect_agent(|asked| (asked == *name).then(|| value.unwrap_or("1").to_owned()));
                assert_eq!(found.map(|agent| agent.name).as_deref(), Some(known.name), "{name}");
            }
        }
        for name in ["ANTHROPIC_API_KEY", "CURSOR_TRACE_ID", "GEMINI_API_KEY", "COPILOT_MODEL", "TERM_PROGRAM", "AGENT"] {
            assert_eq!(detect_agent(|asked| (asked == name).then(|| "x".to_owned())), None, "{name}");
        }
        assert_eq!(detect_agent(|asked| (asked == "CLAUDECODE").then(|| "0".to_owned())), None);
    }

    #[test]
    fn an_agent_says_its_session_and_one_that_nobody_knows_its_name() {
        let claude = |asked: &str| match asked {
            "CLAUDECODE" => Some("1".to_owned()),
            "CLAUDE_CODE_SESSION_ID" => Some("64b0b6d9-1".to_owned()),
            _ => None,
        };
        assert_eq!(detect_agent(claude), Some(Agent { name: "Claude".into(), session: Some("64b0b6d9-1".into()) }));
        let other = detect_agent(|asked| (asked == FALLBACK_VARIABLE).then(|| "nestor@2".to_owned()));
        assert_eq!(other, Some(Agent { name: "nestor@2".into(), session: None }));
        assert_eq!(agent_of_client("claude-code").name, "Claude");
        assert_eq!(agent_of_client("my editor").name, "my editor");
    }
}
