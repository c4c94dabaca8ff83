//! Reads a model's digest back from its session's page.
//!
//! What a page does not show is left empty: the files a model named, the questions, the items of other sessions that it closed. Rows come back
//! where the evidence names them. Anybody may have edited the page: its texts are no more trusted than those of a transcript.

use super::{list, settled_text, with_id};
use crate::model::digest::{Claim, Digest, item_id};
use crate::model::section::{SECTION_COUNT, Section, View};
use crate::render::page::evidence::rows_on;
use crate::render::page::lines::UNVERIFIED;
use text::clean::shorten;
use text::markdown::{unescaped, unescaped_heading};
use transcripts::session::{Millis, Session};

/// Far above what a model's digest holds, in characters and elements.
const MAX_TEXT_CHARS: usize = 2_000;
const MAX_LIST: usize = 100;
/// No call costs more, in US dollars.
const MAX_COST_USD: f64 = 1_000.0;

/// A digest, and what the head of its page says of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DigestPage {
    pub(crate) digest: Digest,
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    /// In US dollars.
    pub(crate) cost_usd: Option<f64>,
    /// The session's last record when the page was written, in whole seconds.
    pub(crate) ended_at: Option<Millis>,
    /// The session had more by then, or was still running.
    pub(crate) is_outdated: bool,
}

impl DigestPage {
    /// Whether a session whose last record is of this time has more than the digest was made of.
    pub(crate) fn lacks(&self, last_at: Option<Millis>) -> bool {
        let is_later = |at: Millis, than: Millis| at.div_euclid(1000) > than.div_euclid(1000);
        self.is_outdated || last_at.is_some_and(|last| self.ended_at.is_none_or(|ended| is_later(last, ended)))
    }
}

/// Whether a page of this session holds a digest. That of a near-duplicate holds a link to the later session and no digest.
pub(crate) fn holds_digest(page: &str, session: &str) -> bool {
    sections(page, session).is_some()
}

/// The digest on the page of a session.
pub(crate) fn digest(page: &str, session: &Session) -> Option<DigestPage> {
    let mut digest = sections(page, &session.id)?;
    find_rows(&mut digest, page, session);
    Some(DigestPage {
        digest,
        id: head(page, "digest").map(str::to_owned),
        model: head(page, "digest_model").and_then(|model| serde_json::from_str(model).ok()),
        cost_usd: cost(page),
        ended_at: head(page, "ended").and_then(|at| Some(at.parse::<jiff::Timestamp>().ok()?.as_millisecond())),
        is_outdated: ["interim", "digest_outdated"].iter().any(|name| head(page, name).is_some()),
    })
}

/// What the digest of a page cost in US dollars, whether or not it stands there.
pub(crate) fn cost(page: &str) -> Option<f64> {
    head(page, "digest_cost_usd")?.parse().ok().filter(|usd| (0.0..=MAX_COST_USD).contains(usd))
}

/// A value of the page's head.
pub(crate) fn head<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let mut lines = page.lines();
    (lines.next()? == "---").then_some(())?;
    lines.take_while(|line| *line != "---").find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The digest without rows. `None` if the page says nothing of the session.
fn sections(page: &str, session: &str) -> Option<Digest> {
    let mut above = page.lines().skip(1).skip_while(|line| *line != "---").skip(1).take_while(|line| !line.starts_with("## "));
    let title = above.by_ref().find_map(|line| line.strip_prefix("# "))?;
    let request = above.find_map(|line| line.strip_prefix("**Asked** ")).unwrap_or_default();
    let mut digest = Digest { title: cut(unescaped_heading(title)), request: text(request), ..Digest::default() };
    for (section, shown) in Section::all().filter_map(|section| Some((section, section.shown(View::Page)?))) {
        let heading = format!("## {}", shown.label);
        let texts = list(page, &heading).filter_map(|line| match section.spec().open_kind() {
            Some(kind) => item(line, session, kind),
            None => Some(claim(line)),
        });
        digest[section] = texts.filter(|text| !text.is_empty()).take(MAX_LIST).map(Claim::new).collect();
    }
    // The first text is the title.
    let says = digest.texts().skip(1).any(|text| !text.is_empty());
    says.then_some(digest)
}

/// Claims and their evidence stand in the same order; either may have been edited.
fn find_rows(digest: &mut Digest, page: &str, session: &Session) {
    let lines: Vec<&str> = list(page, "## Evidence").take(SECTION_COUNT * MAX_LIST).collect();
    let mut rest = &lines[..];
    for section in Section::all() {
        for claim in &mut digest[section] {
            let found = rest.iter().enumerate().find_map(|(at, line)| Some((at, rows_on(line, &claim.text, session)?)));
            if let Some((at, rows)) = found {
                (claim.rows, rest) = (rows, &rest[at + 1..]);
            }
        }
    }
}

fn text(line: &str) -> String {
    cut(unescaped(line.trim()))
}

fn cut(text: String) -> String {
    shorten(&text, MAX_TEXT_CHARS)
}

fn claim(line: &str) -> String {
    text(line.strip_suffix(UNVERIFIED).unwrap_or(line))
}

/// An open item or a settled one. Its id tells whether what looks like a settled one is the text of an open one.
pub(super) fn item(line: &str, session: &str, kind: &str) -> Option<String> {
    let (rest, id) = with_id(line)?;
    let open = claim(rest);
    let told = if item_id(session, kind, &open) == id {
        open
    } else {
        settled_text(rest, id, session, kind).map_or(open, |(text, _)| claim(text))
    };
    (!told.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests;
