//! The fixed parts of a brief: which session it is, and how to see more. Pure.

use jiff::tz::TimeZone;

use crate::render::page::{day_of, span};
use transcripts::session::{Session, said};

/// The most characters of each text.
const TITLE: usize = 160;
const MAX_PLACE_CHARS: usize = 120;
const MAX_BRANCH_CHARS: usize = 60;

/// How much of the session its digest covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigestCoverage {
    Whole,
    /// The session was still running when it was digested.
    SoFar,
    /// There is no digest; the brief comes straight from the session's records.
    Undigested,
}

/// What every brief says of its session.
#[derive(Debug, Clone)]
pub(crate) struct FrameFacts<'a> {
    pub(crate) session: &'a Session,
    pub(crate) title: &'a str,
    pub(crate) state: DigestCoverage,
    /// Why the session never gets a digest.
    pub(crate) never: Option<&'a str>,
    /// A later near-duplicate session.
    pub(crate) repeated_by: Option<String>,
    /// The shortest unique id.
    pub(crate) id: &'a str,
}

pub(super) struct BriefFrame {
    pub(super) head: String,
    pub(super) foot: String,
}

impl BriefFrame {
    pub(super) fn of(told: &FrameFacts<'_>, zone: &TimeZone) -> Self {
        let session = told.session;
        let id = said(told.id, MAX_PLACE_CHARS);
        let mut when = format!("{} {}", day_of(session, zone), span(session, zone));
        if told.state == DigestCoverage::SoFar {
            when.push_str(" so far, it goes on");
        }
        let mut facts = vec![when, said(&session.project.key, MAX_PLACE_CHARS)];
        facts.extend(session.branches.last().map(|branch| format!("branch {}", said(branch, MAX_BRANCH_CHARS))));
        facts.extend(session.told.as_ref().map(|told| format!("on {}", said(&told.machine, MAX_PLACE_CHARS))));
        facts.push(format!("session {}", said(&session.id, MAX_PLACE_CHARS)));
        let mut head = format!("# {}\n{}\n", said(told.title, TITLE), facts.join(" · "));
        if told.state == DigestCoverage::Undigested && told.never.is_none() {
            head.push_str(&format!(
                "No digest yet: this text is made directly from the session's records. `recall digest --session {id}` makes one\n"
            ));
        }
        if let Some(why) = told.never {
            head.push_str(&format!("No digest is made of it ({why}): this text is made directly from the session's records\n"));
        }
        if let Some(later) = &told.repeated_by {
            head.push_str(&format!("Almost the same as a later session: {}\n", said(later, MAX_PLACE_CHARS)));
        }
        let foot = match told.state {
            _ if session.told.is_some() => format!("\nMore: `recall show {id} --full` (all of it), `recall timeline {id}`\n"),
            DigestCoverage::Undigested => format!("\nMore: `recall show {id} --raw` (the transcript), `recall timeline {id}`\n"),
            _ => format!("\nMore: `recall show {id} --full` (all of it), `--raw` (the transcript), `recall timeline {id}`\n"),
        };
        Self { head, foot }
    }
}
