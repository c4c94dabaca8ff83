//! How a step says that a tool ended. There is no field for it in most releases: the client writes it for its model, in English.

use std::borrow::Cow;

/// The client's lines before what a tool printed.
const HEADS: [&str; 2] = ["Created At: ", "Completed At: "];
const SUCCEEDED: &str = "The command completed successfully.";
/// Before the exit code, by release.
const EXITED: [&str; 2] = ["The command exited with code ", "The command failed with exit code: "];
/// The client's lines between those and what a command printed, and the indentation of its first ones.
const LABELS: [&str; 3] = ["Output:", "Stdout:", "Stderr:"];
const INDENTATION: &str = "\t\t\t\t";
/// Before the id of a task that goes on while others begin.
const IN_BACKGROUND: &str = "Tool is running as a background task with task id: ";
/// Around what the client tells its model, and between them.
const MESSAGE: &str = "\n<SYSTEM_MESSAGE>\n[Message] ";
const MESSAGE_END: &str = "</SYSTEM_MESSAGE>";

/// What became of a call, as far as the text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A command's, with its exit code.
    Command(i64),
    InBackground,
    Other,
}

/// What a tool printed without the client's lines, and the id of a task in the background.
pub(super) fn of_step(text: &str) -> ([Cow<'_, str>; 2], End) {
    let mut body = text.trim_start_matches('\n');
    while let Some((_, rest)) = body.split_once('\n').filter(|(line, _)| HEADS.iter().any(|head| line.starts_with(head))) {
        body = rest;
    }
    let body = body.trim_matches('\n');
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let first = first.trim();
    if let Some(task) = first.strip_prefix(IN_BACKGROUND) {
        return ([Cow::Borrowed(""), task.trim().into()], End::InBackground);
    }
    match exit_code(first) {
        Some(code) => ([own_output(rest).into(), "".into()], End::Command(code)),
        None => ([body.into(), "".into()], End::Other),
    }
}

fn exit_code(line: &str) -> Option<i64> {
    if line == SUCCEEDED {
        return Some(0);
    }
    EXITED.iter().find_map(|start| line.strip_prefix(start))?.trim_end_matches('.').trim().parse().ok()
}

fn own_output(text: &str) -> String {
    let own = text.lines().filter(|line| !LABELS.contains(&line.trim()));
    own.map(|line| line.strip_prefix(INDENTATION).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The id of a task in the background of which a message of the client tells that it ended, and what it printed; whether it ran to its end. A
/// task's own output may quote such a message: only the head of one that the client wrote counts.
pub(super) fn of_task(text: &str) -> ([Cow<'_, str>; 2], Option<bool>) {
    told_of_task(text)
        .map_or(([Cow::Borrowed(""), "".into()], None), |(task, printed, ran)| ([task.into(), printed.into()], Some(ran)))
}

fn told_of_task(text: &str) -> Option<(&str, &str, bool)> {
    let (head, rest) = text.split_once(MESSAGE)?.1.split_once('\n')?;
    let (fields, told) = head.split_once(" content=")?;
    let (task, how) = told.strip_prefix("Task id \"")?.split_once("\" ")?;
    let sender = fields.split(' ').find_map(|field| field.strip_prefix("sender="))?;
    let how = how.strip_suffix(" with result:").filter(|_| sender == task)?;
    Some((task, rest.rsplit_once(MESSAGE_END).map_or(rest, |(printed, _)| printed), how == "finished"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_s_end_is_read_in_the_words_of_every_release() {
        let end = |text: &str| {
            let ([output, _], end) = of_step(text);
            (output.into_owned(), end)
        };
        let heads = "Created At: 2026-08-22T03:21:26-05:00\nCompleted At: 2026-08-22T03:21:27-05:00\n\n";
        assert_eq!(end(&format!("{heads}The command exited with code 7.\nOutput:\nboom\n\n")), ("boom".into(), End::Command(7)));
        let old = "\t\t\t\tThe command completed successfully.\n\t\t\t\tOutput:\n\t\t\t\t\tone\ntwo\n";
        assert_eq!(end(&format!("{heads}{old}")), ("\tone\ntwo".into(), End::Command(0)));
        let parted = "\t\t\t\tThe command failed with exit code: 1\n\t\t\tStdout:\n\t\t\t\n\t\t\tStderr:\n\t\t\tno\n";
        assert_eq!(end(parted).1, End::Command(1));
        assert_eq!(end(&format!("{heads}File Path: `file:///a`\n1: The command exited with code 2.")).1, End::Other);
        assert_eq!(end(""), (String::new(), End::Other));
    }

    #[test]
    fn a_task_is_followed_from_its_start_to_its_end() {
        let ([_, task], end) = of_step(
            "Created At: 2026-08-02T14:38:08Z\nTool is running as a background task with task id: c1/task-7\nTask Description: npm test",
        );
        assert_eq!((&*task, end), ("c1/task-7", End::InBackground));
        let message = |sender: &str, told: &str| {
            format!(
                "The following is a <SYSTEM_MESSAGE> not actually sent by the user.\n\n<SYSTEM_MESSAGE>\n[Message] timestamp=2026-08-02T14:39:00Z sender={sender} priority=MESSAGE_PRIORITY_HIGH content={told}\n\nThe command exited with code 1.\nOutput:\nno\n</SYSTEM_MESSAGE>"
            )
        };
        let of = |text: &str| {
            let ([task, printed], ran) = of_task(text);
            (task.into_owned(), of_step(&printed).1, ran)
        };
        let done = "Task id \"c1/task-7\" finished with result:";
        assert_eq!(of(&message("c1/task-7", done)), ("c1/task-7".into(), End::Command(1), Some(true)));
        assert_eq!(of(&message("c1/task-7", &done.replace("finished", "was canceled"))).2, Some(false));
        assert_eq!(of(&message("c1/task-8", done)).2, None, "of another");
        assert_eq!(of(&format!("A log:\n{done}\n")).2, None, "quoted");
    }
}
