//! Lines of type `user`: the user's own words, and much that only looks like them.
//!
//! Most `user` lines are tool results; others are slash-command echoes, local command output, caveats, compaction recaps, task
//! notices and messages between agents. None of those are the user's words.

use super::fields::{Attachment, Field, LineFields, RawContent};
use super::origin::{PromptOrigin, PromptSpeaker};
use super::{dialog, outcome};
use crate::privacy::raw::RawText;
use crate::privacy::{SanitizedText, is_meaningful};
use crate::session::{Evidence, Item, QueueEvent, TitleEvent, ToolUse, Turn, title_of_plan};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_RECAP_CHARS, MAX_TEXT_CHARS};
use crate::source::said::told_by_hook;
use text::clean::head_and_tail;

/// Slash commands that control the client and ask nothing of the model.
const BUILT_IN: &[&str] = &[
    "add-dir", "agents", "allowed-tools", "background", "bashes", "bug", "cd", "chrome", "clear", "color", "compact", "config",
    "context", "copy", "cost", "desktop", "diff", "doctor", "effort", "exit", "export", "extra-usage", "fast", "feedback", "fork",
    "help", "hooks", "ide", "install-github-app", "install-slack-app", "keybindings", "login", "logout", "mcp", "memory", "mobile",
    "model", "output-style", "permissions", "plan", "plugin", "plugins", "privacy-settings", "quit", "rate-limit-options",
    "release-notes", "reload-plugins", "remote-control", "remote-env", "rename", "reset", "resume", "rewind", "sandbox", "skills",
    "stats", "status", "statusline", "stickers", "tasks", "teleport", "terminal-setup", "theme", "todos", "upgrade", "usage",
    "vim", "voice", "branch", "btw", "insights", "exit-plan-mode",
];

/// Built-in commands whose arguments the client passes on to the model.
const BUILT_IN_REQUESTS: &[&str] = &["background", "branch", "btw", "fork", "plan", "statusline"];

pub(super) const RECAP_START: &str = "This session is being continued from a previous conversation";

/// The content of a line in the user's name.
#[derive(Debug, Default)]
pub(super) struct UserContent {
    pub items: Vec<Item>,
    pub turn: Turn,
    pub sign: Option<TitleEvent>,
    /// What the user marked as private in it.
    pub fenced: String,
    /// Ids of the tool uses whose results it holds.
    pub answered: Vec<String>,
}

pub(super) fn row(fields: &LineFields<'_>, agent: bool) -> UserContent {
    let in_row = content_in_line(fields);
    let content = fields.message.as_ref().map_or(in_row.as_ref(), |message| message.content.as_ref());
    let blocks = content.map_or(&[][..], |content| &content.blocks);
    let texts = content.map(RawContent::texts).unwrap_or_default();
    let wordless = texts.is_empty();
    let mut row = UserContent::default();
    // The prompt of a subagent is the assistant's text, which its parent's tool use already shows.
    if !agent && !fields.flag(Field::IsMeta) {
        let origin = PromptOrigin::of_row(fields);
        let begins_as_recap = texts.first().is_some_and(|text| text.tells(|text| text.trim_start().starts_with(RECAP_START)));
        let recap = fields.flag(Field::IsCompactSummary) || !origin.is_machines() && begins_as_recap;
        let passed =
            if recap { fields.sanitizer.pass(RawText::joined_or_only(texts, "\n\n")) } else { fields.sanitizer.pass_users(&texts) };
        let text = &passed.text;
        let said = match origin.speaker(text) {
            _ if recap => Some(Item::Recap(head_and_tail(recap_of(text), MAX_RECAP_CHARS))),
            PromptSpeaker::User(text) => {
                row.fenced.clone_from(&passed.fenced);
                said(&text)
            }
            PromptSpeaker::ThirdParty => None,
        };
        row.turn = match &said {
            // Checked first: what is left of a private prompt may look like a public one.
            _ if is_all_private(&passed) && !recap => Turn::BeginsPrivate,
            Some(Item::Prompt(_)) => Turn::Begins,
            // An image without text.
            None if wordless && !origin.is_machines() && blocks.iter().any(|block| block.is("image")) => Turn::Begins,
            _ => Turn::Continues,
        };
        let plan = said.as_ref().and_then(|said| plan_given(said, fields)).map(|plan| [plan.prompt, plan.plan]);
        match plan {
            Some(plan) => row.items.extend(plan),
            None => row.items.extend(said),
        }
    }
    for block in blocks.iter().filter(|block| block.is("tool_result")) {
        let (id, items) = outcome::items_of_block(block, fields);
        row.answered.push(id);
        row.items.extend(items);
    }
    let dialogs = dialog::said(blocks, fields);
    if dialog::all_private(&dialogs) {
        row.turn = Turn::BeginsPrivate;
    }
    dialogs.iter().for_each(|said| row.fenced.push_str(&said.fenced));
    row
}

/// How the client begins a prompt by which the user hands over a plan of the assistant's, and how it ends one.
const PLAN_GIVEN: &str = "Implement the following plan:";
const PLAN_TRAILER: &str = "\nIf you need specific details from before exiting plan mode";

/// A plan that the user agreed to, as the client hands it over.
struct GivenPlan {
    /// What the user asked for: that it be done.
    prompt: Item,
    /// The assistant's words.
    plan: Item,
}

/// Newer clients write the plan into a field as well; older ones begin it behind an empty line with its heading. A person who types the
/// same words does neither.
fn plan_given(said: &Item, fields: &LineFields<'_>) -> Option<GivenPlan> {
    let Item::Prompt(text) = said else { return None };
    let plan = text.strip_prefix(PLAN_GIVEN)?;
    if fields.raw(Field::PlanContent).is_none() && !plan.starts_with("\n\n#") {
        return None;
    }
    let plan = plan.split(PLAN_TRAILER).next().unwrap_or(plan).trim();
    (!plan.is_empty()).then(|| GivenPlan {
        prompt: Item::Prompt(format!("{PLAN_GIVEN} {}", title_of_plan(plan))),
        plan: Item::Plan(plan.to_owned()),
    })
}

/// Did the private blocks of a message leave nothing meaningful? For a command, its arguments decide.
fn is_all_private(passed: &SanitizedText) -> bool {
    if !passed.private {
        return false;
    }
    let arguments = || tagged(&passed.text, "command-args").unwrap_or_default();
    let says = match is_command(&passed.text) {
        true => is_meaningful(arguments()),
        false => is_meaningful(tagged(&passed.text, "bash-input").unwrap_or(&passed.text)),
    };
    !says
}

fn is_command(text: &str) -> bool {
    text.starts_with("<command-name>") || text.starts_with("<command-message>")
}

/// A recap without the client's words to the model around it. What older clients put before the summary, an analysis, took the
/// conversation's place as well.
fn recap_of(text: &str) -> &str {
    let behind = |mark: &str| text.find(mark).map(|at| at + mark.len());
    let begins = [behind("\nAnalysis:"), behind("\nSummary:")].into_iter().flatten().min().unwrap_or_default();
    let after = &text[begins..];
    after.split("\nIf you need specific details from before compaction").next().unwrap_or(after).trim()
}

/// What a client notes beside a conversation: a message typed while the assistant was busy, or what a hook told the session.
pub(super) fn parse_attachment(fields: &LineFields<'_>, agent: bool) -> UserContent {
    let is_of_hook = fields.attachment.kind.and_then(json::text).is_some_and(|kind| kind.is("hook_additional_context"));
    if is_of_hook { told(fields) } else { parse_queued(fields, agent) }
}

/// The names in what a hook of ours told.
fn told(fields: &LineFields<'_>) -> UserContent {
    let texts = fields.attachment.content.map(json::strings).unwrap_or_default();
    let items = told_by_hook(&texts, fields.sanitizer);
    UserContent { items: items.into_iter().collect(), ..UserContent::default() }
}

/// A message typed while the assistant was busy, and delivered in the middle of its turn.
fn parse_queued(fields: &LineFields<'_>, agent: bool) -> UserContent {
    let Attachment { kind, mode, prompt, .. } = fields.attachment;
    let is = |raw: Option<Raw<'_>>, what: &str| raw.and_then(json::text).is_some_and(|t| t.is(what));
    if !is(kind, "queued_command") || !is(mode, "prompt") || fields.flag(Field::IsMeta) {
        return UserContent::default();
    }
    let Some(prompt) = prompt else { return UserContent::default() };
    let passed = fields.sanitizer.pass_users(&RawContent::of(prompt).texts());
    let said = match PromptOrigin::of_queued(fields).speaker(&passed.text) {
        PromptSpeaker::User(text) => said(&text),
        PromptSpeaker::ThirdParty => return UserContent::default(),
    };
    let turn = match &said {
        _ if agent => Turn::Continues,
        _ if is_all_private(&passed) => Turn::BeginsPrivate,
        _ => Turn::Joins,
    };
    let joined = (turn == Turn::Joins && said.is_some()).then_some(Item::Evidence(Evidence::Joined));
    UserContent { items: said.into_iter().chain(joined).collect(), turn, fenced: passed.fenced, ..UserContent::default() }
}

/// What went into the queue of messages, or out of it: older clients write the words of a delivered message nowhere else. `None` for
/// what is no such event. What a machine queued keeps its place without its words.
pub(super) fn queue_operation(fields: &LineFields<'_>) -> Option<UserContent> {
    let passed = fields.text(Field::Content).map(|text| fields.sanitizer.pass_users(&[text]));
    let words = |text: &str| match PromptOrigin::default().speaker(text) {
        PromptSpeaker::User(text) if !text.starts_with('{') => match said(&text) {
            Some(Item::Prompt(text)) => text,
            _ => String::new(),
        },
        _ => String::new(),
    };
    let text = passed.as_ref().map(|passed| words(&passed.text));
    let event = match fields.text(Field::Operation)?.known(&["enqueue", "dequeue", "remove", "popAll"]) {
        "enqueue" => QueueEvent::Added(text?),
        "dequeue" | "remove" => QueueEvent::Delivered(text.filter(|text| !text.is_empty())),
        "popAll" => QueueEvent::TakenBack,
        _ => return None,
    };
    let fenced = passed.map(|passed| passed.fenced).unwrap_or_default();
    Some(UserContent { items: vec![Item::Evidence(Evidence::Queue(event))], fenced, ..UserContent::default() })
}

/// The oldest layout holds the message in the line itself.
fn content_in_line<'a>(fields: &LineFields<'a>) -> Option<RawContent<'a>> {
    let none = fields.message.is_none();
    fields.raw(Field::Message).or_else(|| fields.raw(Field::Content)).filter(|_| none).map(RawContent::of)
}

/// The item for the user's own message.
fn said(text: &str) -> Option<Item> {
    if text.is_empty() {
        return None;
    }
    if text.starts_with("[Request interrupted by user") {
        return Some(Item::Interrupted);
    }
    if is_command(text) {
        return slash_command(text).map(Item::Prompt);
    }
    if let Some(command) = tagged(text, "bash-input") {
        let line = format!("! {}", text::clean::one_line(command));
        return Some(Item::Tool(ToolUse::new("", "Bash", line, None)));
    }
    Some(Item::Prompt(head_and_tail(text, MAX_TEXT_CHARS)))
}

/// The request in a slash command: a command of the user's own always is one, a built-in command only if it has arguments for the
/// model.
fn slash_command(text: &str) -> Option<String> {
    let name = tagged(text, "command-name")?.trim().trim_start_matches('/');
    let arguments = tagged(text, "command-args").unwrap_or_default().trim();
    let asks = BUILT_IN_REQUESTS.contains(&name) && arguments.chars().any(char::is_alphanumeric);
    if name.is_empty() || BUILT_IN.contains(&name) && !asks {
        return None;
    }
    Some(format!("/{name} {arguments}").trim_end().to_owned())
}

pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(&format!("<{tag}>"))?;
    after.split_once(&format!("</{tag}>")).map(|(inner, _)| inner)
}
