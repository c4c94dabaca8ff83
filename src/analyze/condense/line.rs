//! Single lines: a tool use with its outcome, and the gist of a text.

use crate::analyze::prose::{all_sentences, sentences};
use crate::analyze::signal::{has_failed, weight};
use text::clean::{one_line, shorten};
use transcripts::session::{FileTouch, Outcome, Session, ToolUse, Touch};

/// A tool use with its outcome, in one line of about `cap` characters.
pub(crate) fn tool_line(session: &Session, tool: &ToolUse, outcome: Option<&Outcome>, repeats: usize, cap: usize) -> String {
    let deed = match &tool.file {
        Some(file) => file_line(session, file, repeats),
        None if tool.is_shell() => format!("$ {}", tool.line),
        None if tool.line.is_empty() => tool.name.clone(),
        None => format!("{}: {}", tool.name, tool.line),
    };
    let deed = shorten(&one_line(&deed), cap * 2 / 3);
    match outcome {
        Some(o) if has_failed(o) => format!("{deed} → FAILED {}", shorten(&o.brief, cap / 2)),
        Some(o) if !o.brief.is_empty() => format!("{deed} → {}", shorten(&o.brief, cap / 2)),
        _ => deed,
    }
}

fn file_line(session: &Session, file: &FileTouch, repeats: usize) -> String {
    let verb = match file.how {
        Touch::Read => "read",
        Touch::Edited => "edited",
        Touch::Written => "wrote",
    };
    let times = if repeats > 0 { format!(" ({} times)", repeats + 1) } else { String::new() };
    format!("{verb} {}{times}", session.relative(&file.path))
}

/// The most informative sentences of a text, in order, within `max` characters; the writer's own if there are any.
pub(crate) fn gist(text: &str, max: usize) -> String {
    let own = sentences(text);
    let all = if own.is_empty() { all_sentences(text) } else { own };
    let whole = all.join(" ");
    if whole.chars().count() <= max {
        return whole;
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    let value = |(at, sentence): (usize, &String)| weight(sentence) + if at == 0 { 0.1 } else { 0.0 };
    let values: Vec<f64> = all.iter().enumerate().map(value).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    let mut kept = vec![false; all.len()];
    let mut used = 0;
    for at in order {
        let size = all[at].chars().count() + 1;
        if used + size <= max {
            used += size;
            kept[at] = true;
        }
    }
    if used == 0 {
        return shorten(&whole, max);
    }
    all.iter().zip(kept).filter(|(_, keep)| *keep).map(|(s, _)| s.as_str()).collect::<Vec<_>>().join(" ")
}
