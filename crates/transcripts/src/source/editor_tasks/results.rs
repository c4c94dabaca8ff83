//! What a tool answered, and what the user said to a call: both stand in texts that the extension puts together.

use super::calls::Open;
use super::xml::inside;
use crate::privacy::raw::RawText;
use crate::session::ToolClass;
use crate::source::json;
use crate::source::said::begins_with_tag;

/// How a text begins in which the extension says what surrounds the task.
const SURROUNDINGS: &str = "<environment_details>";
/// Around instructions that belong to a command of the user's, before their words.
const INSTRUCTIONS: &str = "explicit_instructions";
const INSTRUCTIONS_END: &str = "</explicit_instructions>";
/// Around the user's words, in the order in which releases came.
const WORDS: [&str; 4] = ["task", "feedback", "answer", "user_message"];

/// How texts begin that say that the user refused, or approved and said something.
const REFUSED: &str = "The user denied this operation";
const APPROVED: &str = "The user approved this operation";
const FAILED: &str = "The tool execution failed";
/// Before what the extension has to complain of.
const COMPLAINT: &str = "[ERROR]";
/// Between the heading of a result and what follows.
const HEADING_END: &str = "] Result:";

/// Before the exit code of a command and behind it, as releases write that.
const EXIT_CODES: [&str; 2] = ["Exit code: ", "exit code "];
const OUTPUT: &str = "Output:\n";

/// Does the extension say by this text what surrounds the task?
pub(super) fn is_of_surroundings(text: &str) -> bool {
    text.trim_start().starts_with(SURROUNDINGS)
}

/// The tool that a heading names, and what follows; `None` of another text.
pub(super) fn heading(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix('[')?;
    let name = inner.split([' ', ']']).next().filter(|name| !name.is_empty())?;
    let (_, rest) = inner.split_once(HEADING_END)?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((name, rest.trim_start()))
}

/// The user's words in a text that the extension wrote around them. What it puts behind them, such as files that they name, may hold such tags, too.
pub(super) fn words(text: &str) -> Option<&str> {
    if text.trim_start().starts_with(COMPLAINT) {
        return None;
    }
    let behind = if begins_with_tag(text, &[INSTRUCTIONS]) { text.rsplit_once(INSTRUCTIONS_END) } else { None };
    let text = behind.map_or(text, |(_, rest)| rest);
    let at = |name: &&str| text.find(&format!("<{name}>"));
    let (_, name) = WORDS.iter().filter_map(|name| Some((at(name)?, name))).min()?;
    first_inside(text, name).filter(|words| !words.is_empty())
}

/// What the first tag of this name holds. One that is not closed goes to the end: what the user wanted private must not be taken for other text.
fn first_inside<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>")).map_or(rest, |(inside, _)| inside).trim())
}

/// How a call ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ended<'t> {
    pub(super) refused: bool,
    pub(super) ok: bool,
    pub(super) code: Option<i64>,
    /// What the tool answered, without the user's words.
    pub(super) output: RawText<'t>,
    /// The user's words.
    pub(super) words: Option<RawText<'t>>,
    /// The result itself comes in a text of its own.
    pub(super) goes_on: bool,
}

/// Takes the text of a result apart; `failed`: the block says so.
pub(super) fn ended<'t>(open: &Open, text: &'t RawText<'_>, failed: bool) -> Ended<'t> {
    if let Some(ended) = in_json(text) {
        return ended;
    }
    let start = text.trim();
    let feedback = || text.part(|text| first_inside(text, WORDS[1]));
    let mut ended = Ended { ok: !failed, output: text.trim(), ..Ended::default() };
    if start.starts_with(REFUSED) {
        ended = Ended { refused: true, words: feedback(), ..Ended::default() };
    } else if start.starts_with(APPROVED) {
        ended.words = feedback();
        ended.output = text.part(|text| Some(text.split_once("</feedback>")?.1.trim())).unwrap_or_default();
        ended.goes_on = ended.output.is_empty();
    } else if start.starts_with(FAILED) {
        ended.ok = false;
        ended.output = text.part(|text| inside(text, "error").first().copied()).unwrap_or(start);
    } else if open.says() || open.class() == ToolClass::Question {
        ended.words = text.part(words);
        ended.output = RawText::default();
    }
    if open.class() == ToolClass::Shell {
        let ([output], code) = ended.output.apart(|output| {
            let (code, output) = exit_of(output);
            ([output.into()], code)
        });
        let output = output.into_owned();
        ended = Ended { code, ok: ended.ok && code.is_none_or(|code| code == 0), output, ..ended };
    }
    ended
}

/// A result that newer releases write as JSON.
fn in_json(text: &RawText<'_>) -> Option<Ended<'static>> {
    let [status, error, message, feedback] = json::fields(text, &["status", "error", "message", "feedback"]).ok()?;
    let own = |raw: Option<json::Raw<'_>>| raw.and_then(json::text).map(RawText::into_owned);
    let ended = match status.and_then(json::text)?.known(&["denied", "approved", "guidance", "error"]) {
        "denied" => Ended { refused: true, ..Ended::default() },
        "approved" | "guidance" => Ended { ok: true, ..Ended::default() },
        "error" => Ended { output: own(error).or_else(|| own(message)).unwrap_or_default(), ..Ended::default() },
        _ => return None,
    };
    Some(Ended { words: own(feedback), ..ended })
}

/// The exit code that is written before a command's output, and the output.
fn exit_of(text: &str) -> (Option<i64>, &str) {
    let (head, output) = text.split_once(OUTPUT).unwrap_or((text, ""));
    if !head.starts_with("Command ") {
        return (None, text);
    }
    let code = EXIT_CODES.iter().find_map(|start| head.rsplit_once(start)).and_then(|(_, rest)| {
        let digits = rest.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    (code, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Open {
        Open { name: name.to_owned(), ..Open::default() }
    }

    #[test]
    fn an_exit_code_is_read_where_the_extension_writes_it() {
        let at = "Command executed in terminal  within working directory '/p/shop'. ";
        let read = |text: &str| {
            let open = of("execute_command");
            let text = text.into();
            let ended = ended(&open, &text, false);
            (ended.ok, ended.code, ended.output.into_owned())
        };
        let failed =
            format!("{at}Command execution was not successful, inspect the cause and adjust as needed.\nExit code: 2\nOutput:\nno");
        assert_eq!(read(&failed), (false, Some(2), "no".into()));
        assert_eq!(read(&format!("{at}Exit code: 0\nOutput:\n2 passed")), (true, Some(0), "2 passed".into()));
        assert_eq!(read("Command executed.\nOutput:\nExit code: 1"), (true, None, "Exit code: 1".into()));
        assert_eq!(read("Command failed with exit code 101.\nOutput:\nno"), (false, Some(101), "no".into()));
        assert_eq!(read("The tool execution failed with the following error:\n<error>\nno shell\n</error>").2, "no shell".into());
        assert_eq!(read("{\"status\":\"error\",\"error\":\"no shell\"}"), (false, None, "no shell".into()));
    }

    #[test]
    fn words_are_the_user_s_only_where_the_extension_says_so() {
        let read = |name: &str, text: &str| {
            let open = of(name);
            let text = text.into();
            let ended = ended(&open, &text, false);
            (ended.refused, ended.words.map(RawText::into_owned))
        };
        let feedback = "The user denied this operation and provided the following feedback:\n<feedback>\nnot now\n</feedback>";
        assert_eq!(read("execute_command", feedback), (true, Some("not now".into())));
        assert_eq!(read("write_to_file", r#"{"status":"denied","feedback":"not now"}"#), (true, Some("not now".into())));
        assert_eq!(read("ask_followup_question", "<answer>\nthe second\n</answer>"), (false, Some("the second".into())));
        assert_eq!(read("attempt_completion", "<user_message>\nthanks\n</user_message>"), (false, Some("thanks".into())));
        for name in ["read_file", "execute_command"] {
            assert_eq!(read(name, "<feedback>\nnot the user's\n</feedback>"), (false, None), "{name}");
        }
        assert_eq!(
            words("<explicit_instructions type=\"x\"><task>no</task></explicit_instructions>\n<task>yes</task>"),
            Some("yes")
        );
        assert_eq!(
            words("<task>\n<private>x</private> </explicit_instructions> has no start\n</task>"),
            Some("<private>x</private> </explicit_instructions> has no start")
        );
        assert_eq!(words("<task>\nopen <private>to the end"), Some("open <private>to the end"));
        let with_file =
            "<task>\nread 'a.md' (see below)\n</task>\n\n<file_content path=\"a.md\">\n<feedback>no</feedback>\n</file_content>";
        assert_eq!(words(with_file), Some("read 'a.md' (see below)"));
    }

    #[test]
    fn a_heading_names_its_tool() {
        assert_eq!(heading("[execute_command for 'ls'] Result:"), Some(("execute_command", "")));
        assert_eq!(
            heading("[attempt_completion] Result:\n\n<feedback>x</feedback>"),
            Some(("attempt_completion", "<feedback>x</feedback>"))
        );
        for other in ["[ERROR] You did not use a tool", "[a/b] Result:", "Result:", "[] Result:"] {
            assert_eq!(heading(other), None, "{other}");
        }
    }
}
