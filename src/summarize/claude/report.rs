//! Parses the output of `claude -p --output-format json` and decides what follows from it. Pure.

use std::borrow::Cow;

use serde_json::Value;

use super::limit::names_limit;
use crate::summarize::{Attempt, ModelAnswer, ReplyParser, SummaryFailure};
use text::clean::{one_line, shorten, without_controls};
use transcripts::privacy::Sanitizer;

/// In US dollars. A reported cost above this is treated as not reported.
const MAX_COST: f64 = 1_000.0;
/// Longest name of a model, in characters.
const MAX_NAME: usize = 100;

/// At how many positions a report is searched for, in output that is not JSON as a whole.
const MAX_POSITIONS: usize = 10_000;

/// The client's report within its output, which may also contain a byte order mark, a wrapper's line or an update notice. A client set to
/// verbose prints a list; the report is the last one in it.
pub fn find(printed: &[u8]) -> Option<Value> {
    let printed = &without_odd_numbers(printed)[..];
    match serde_json::from_slice::<Value>(printed) {
        Ok(Value::Array(list)) => list.into_iter().rev().find(is_report),
        Ok(value) => Some(value).filter(|value| value.is_object()),
        Err(_) => find_within(printed),
    }
}

/// The output with `null` for numbers that JSON does not know or that are too large for it: an answer is paid for, whatever its cost is
/// said to be.
fn without_odd_numbers(printed: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let (mut at, mut kept, mut in_text) = (0, 0, false);
    while at < printed.len() {
        match printed[at] {
            b'"' => in_text = !in_text,
            b'\\' if in_text => at += 1,
            b'N' | b'I' | b'-' | b'0'..=b'9' if !in_text => {
                let word =
                    printed[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')).count();
                if is_odd_number(&printed[at..at + word]) {
                    let out = out.get_or_insert_default();
                    out.extend_from_slice(&printed[kept..at]);
                    out.extend_from_slice(b"null");
                    kept = at + word;
                }
                at += word;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    match out {
        Some(mut out) => {
            out.extend_from_slice(&printed[kept..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(printed),
    }
}

/// `NaN`, `-Infinity`, `1e999`
fn is_odd_number(word: &[u8]) -> bool {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    number.is_some_and(|number| !number.is_finite())
}

/// The last report among the values that begin at a bracket. Brackets inside a parsed value are skipped.
fn find_within(printed: &[u8]) -> Option<Value> {
    let (mut at, mut found) = (0, None);
    for _ in 0..MAX_POSITIONS {
        let Some(next) = printed[at..].iter().position(|b| matches!(b, b'{' | b'[')) else { break };
        at += next;
        let mut values = serde_json::Deserializer::from_slice(&printed[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at += values.byte_offset();
                let list = if let Value::Array(list) = value { list } else { vec![value] };
                found = list.into_iter().rev().find(is_report).or(found);
            }
            _ => at += 1,
        }
    }
    found
}

fn is_report(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("result")
}

/// The client's output with secrets redacted in every string, because a model may say what it was never given. Everything around the
/// report is dropped.
pub fn redacted(stdout: &[u8], sanitizer: &Sanitizer) -> Vec<u8> {
    match find(stdout) {
        Some(report) => redacted_value(report, sanitizer).to_string().into_bytes(),
        None => sanitizer.redact(String::from_utf8_lossy(stdout)).into_bytes(),
    }
}

fn redacted_value(value: Value, sanitizer: &Sanitizer) -> Value {
    match value {
        Value::String(text) => Value::String(sanitizer.redact(&text)),
        Value::Array(list) => list.into_iter().map(|v| redacted_value(v, sanitizer)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, v)| (sanitizer.redact(&name), redacted_value(v, sanitizer))).collect()
        }
        other => other,
    }
}

/// Is there a complete report?
pub(crate) fn is_whole(stdout: &[u8]) -> bool {
    find(stdout).is_some_and(|report| report.get("result").is_some())
}

/// Parses the client's report and the model's reply in it.
pub fn read(stdout: &[u8], read: ReplyParser<'_, ()>, asked: &str) -> Attempt {
    let Some(report) = find(stdout) else {
        let said = shorten(&one_line(&without_controls(&String::from_utf8_lossy(stdout))), 80);
        let what = if serde_json::from_slice::<Value>(stdout).is_ok() { "printed no report" } else { "did not print JSON" };
        return session_with(format!("claude {what}: {said}"), None);
    };
    let cost_usd = report.get("total_cost_usd").and_then(Value::as_f64).filter(|usd| (0.0..=MAX_COST).contains(usd));
    let said = report.get("result").and_then(Value::as_str).unwrap_or_default();
    if report.get("is_error").and_then(Value::as_bool) != Some(false) {
        return refused(&report, said, cost_usd);
    }
    match read(said) {
        Ok(value) => {
            let model = answered_by(&report).unwrap_or_else(|| asked.to_owned());
            Attempt::Answered(ModelAnswer { value, model, cost_usd })
        }
        // A limit notice arrives as an ordinary reply with exit code 0. If it was billed, it is a model's own words.
        Err(_) if is_limit_notice(said) && cost_usd.is_none_or(|usd| usd == 0.0) => {
            Attempt::Failed(SummaryFailure::Unavailable { what: shorten(&one_line(&without_controls(said)), 160), cost_usd })
        }
        Err(what) if ends_early(&report) => declined(what, cost_usd),
        Err(what) => session_with(what, cost_usd),
    }
}

/// Did the model refuse, or its answer end where it became too long?
fn ends_early(report: &Value) -> bool {
    matches!(report.get("stop_reason").and_then(Value::as_str), Some("refusal" | "max_tokens" | "model_context_window_exceeded"))
}

/// Is a reported error one that the same request would bring again? By the client's kinds, and by its words for an answer that was refused
/// or became too long.
fn would_repeat(report: &Value, said: &str) -> bool {
    const KINDS: [&str; 3] = ["error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"];
    const WORDS: [&str; 4] = ["output token maximum", "usage policy", "prompt is too long", "context limit"];
    let kind = report.get("subtype").and_then(Value::as_str).unwrap_or_default();
    let lower = said.to_lowercase();
    ends_early(report) || KINDS.contains(&kind) || WORDS.iter().any(|words| lower.contains(words))
}

fn declined(what: String, cost_usd: Option<f64>) -> Attempt {
    // What was not billed may be asked again for nothing.
    let paid = cost_usd != Some(0.0);
    Attempt::Failed(if paid { SummaryFailure::Declined { what, cost_usd } } else { SummaryFailure::Session { what, cost_usd } })
}

/// The model that answered. If the client used several, the most expensive one.
pub(crate) fn answered_by(report: &Value) -> Option<String> {
    let all = report.get("modelUsage")?.as_object()?;
    let cost = |used: &Value| used.get("costUSD").and_then(Value::as_f64).unwrap_or(0.0);
    let (name, _) = all.iter().reduce(|most, one| if cost(one.1) > cost(most.1) { one } else { most })?;
    Some(shorten(&one_line(&without_controls(name)), MAX_NAME)).filter(|name| !name.is_empty())
}

fn session_with(what: String, cost_usd: Option<f64>) -> Attempt {
    Attempt::Failed(SummaryFailure::Session { what, cost_usd })
}

/// The client's or the model's own words, as the reason of a failure.
fn quoted(said: &str) -> String {
    let said = shorten(&one_line(&without_controls(said)), 160);
    if said.is_empty() { "claude failed and does not say why".into() } else { format!("claude says: {said}") }
}

/// What a reported error means for this session and the following ones.
fn refused(report: &Value, said: &str, cost_usd: Option<f64>) -> Attempt {
    let status = report.get("api_error_status").and_then(Value::as_u64);
    let subtype = report.get("subtype").and_then(Value::as_str).unwrap_or_default();
    let what = quoted(if said.is_empty() { subtype } else { said });
    let passing = matches!(status, Some(408 | 409 | 500..=599))
        || said.contains("Unable to connect")
        || said.contains("Connection error")
        || said.contains("Overloaded");
    if would_repeat(report, said) {
        declined(what, cost_usd)
    } else if is_unavailable(said) || matches!(status, Some(401 | 402 | 403 | 429)) {
        Attempt::Failed(SummaryFailure::Unavailable { what, cost_usd })
    } else if passing && cost_usd == Some(0.0) {
        Attempt::Retry(what)
    } else if passing {
        // The reservation covers one call, and this one was billed or may have been.
        Attempt::Failed(SummaryFailure::Unavailable { what, cost_usd })
    } else {
        session_with(what, cost_usd)
    }
}

/// Is an ordinary reply the client's limit notice? A model's prose may mention limits too, but not in one short line.
fn is_limit_notice(said: &str) -> bool {
    const NOTICES: [&str; 2] = ["credit balance is too low", "please run /login"];
    let lower = said.to_lowercase();
    let is_notice = names_limit(&lower) || NOTICES.iter().any(|notice| lower.contains(notice));
    said.len() < 200 && said.trim().lines().count() < 3 && is_notice
}

/// Not logged in, or over a limit: the next call would fail the same way.
fn is_unavailable(said: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "not logged in", "please run /login", "invalid api key", "authentication", "oauth token", "usage limit", "session limit",
        "weekly limit", "credit balance", "rate limit",
    ];
    let lower = said.to_lowercase();
    names_limit(&lower) || SIGNS.iter().any(|sign| lower.contains(sign))
}
