//! Parts shared by day and session pages: paragraphs and lists that are omitted when empty, and the lines for claims, open items
//! and near-duplicates.

use std::cell::LazyCell;
use std::fmt;
use std::path::Path;

use jiff::tz::TimeZone;

use super::date;
use crate::analyze::account::SessionAccount;
use crate::analyze::lives::SaidSentences;
use crate::model::digest::{Claim, Digest, is_by_model};
use crate::model::item_state::ItemStates;
use crate::model::page_path::{day_in_name, from_below};
use crate::model::section::{Section, Shown};
use crate::model::since_then::Overtaken;
use text::markdown::{code, inline};
use text::tokenize::distinctive_words;
use transcripts::session::{Answer, Millis};

/// A list under a heading.
pub(super) fn section(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    list(page, format_args!("## {title}"), lines);
}

/// A list under a bold label.
pub(super) fn bullets(page: &mut String, label: &str, lines: impl Iterator<Item = String>) {
    list(page, format_args!("**{label}**"), lines);
}

fn list(page: &mut String, head: fmt::Arguments<'_>, lines: impl Iterator<Item = String>) {
    for (at, line) in lines.enumerate() {
        if at == 0 {
            page.push_str(&format!("\n{head}\n\n"));
        }
        page.push_str(&format!("- {line}\n"));
    }
}

pub(super) fn paragraph(page: &mut String, label: &str, text: &str) {
    if !text.is_empty() {
        page.push_str(&format!("\n**{label}** {}\n", inline(text)));
    }
}

/// What older programs put behind a claim without rows.
pub(super) const UNVERIFIED: &str = " *(unverified)*";

/// What a digest says, and how its open items stand.
pub(super) struct ListedItems<'a> {
    pub(super) session: &'a str,
    pub(super) digest: &'a Digest,
    pub(super) items: &'a ItemStates,
    pub(super) summarizer: &'a str,
    pub(super) zone: &'a TimeZone,
}

impl ListedItems<'_> {
    /// The lines of a section in a view: what a model said, and open items with their ids.
    pub(super) fn lines(&self, section: Section, shown: &Shown, account: &SessionAccount) -> Vec<String> {
        let spec = section.spec();
        let by_model = is_by_model(self.summarizer);
        let lines: Vec<String> = match spec.open_kind() {
            Some(kind) => self.open_items(kind, shown, account),
            None if by_model => self.digest.told_in(section).map(|claim| claim_line(claim, shown.chars)).collect(),
            None => Vec::new(),
        };
        shown.within(lines)
    }

    /// All that a model found, else the tasks of a list that were not ticked off, and what somebody closed, which is struck through.
    fn open_items(&self, kind: &str, shown: &Shown, account: &SessionAccount) -> Vec<String> {
        let by_model = is_by_model(self.summarizer);
        let items = self.digest.open_items(self.session).filter(|(_, of, _)| *of == kind);
        let line = |(id, _, claim): (String, &str, &Claim)| {
            let text = claim_line(claim, shown.chars);
            let told = code(self.items.id_of(&id));
            let Some(closed) = self.items.closing_of(&id) else {
                return (by_model || account.has_task(&claim.text)).then(|| format!("{text} {told}"));
            };
            let origin = closed.origin(|at| date(at, self.zone));
            let done = if origin.is_empty() { "done".to_owned() } else { format!("done, {}", inline(&origin)) };
            // `~~~~` around empty text would open a code fence.
            let text = if text.is_empty() { format!("({done})") } else { format!("~~{text}~~ ({done})") };
            Some(format!("{text} {told}"))
        };
        items.filter_map(line).collect()
    }
}

fn claim_line(claim: &Claim, max: usize) -> String {
    let told = inline(&Answer::shorten_line(&claim.text, max));
    match told.strip_suffix(UNVERIFIED) {
        // These words are the claim's own.
        Some(rest) => format!("{rest} \\*(unverified)\\*"),
        None => told,
    }
}

/// What came since of what a session's replies still say, a line each.
pub(super) fn since_then(
    (items, overtaken): (&ItemStates, &[Overtaken]),
    last_at: Option<Millis>,
    account: &SessionAccount,
    zone: &TimeZone,
) -> String {
    let said = LazyCell::new(|| SaidSentences::of(account.replies()));
    let told = items.closed_since(last_at).filter(|closing| said.say(&distinctive_words(&closing.text)));
    let closed = told.map(|closing| closing.told(|at| date(at, zone)));
    let mut lines: Vec<String> = closed.chain(overtaken.iter().map(|one| one.later.told(|at| date(at, zone)))).collect();
    lines.dedup();
    lines.iter().map(|line| format!("\nSince then: {}\n", inline(line))).collect()
}

/// Paths, at most so many, and how many more there are.
pub(super) fn paths(all: &[String], most: usize) -> String {
    let names: Vec<String> = all.iter().take(most).map(|path| code(path)).collect();
    let more = all.len().saturating_sub(most);
    format!("{}{}", names.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
}

/// The session's title: a model's, else what was asked and what came of it.
pub(super) fn title(summarizer: &str, digest: &Digest, account: &SessionAccount) -> String {
    let own = || account.title.text().unwrap_or_else(|| digest.title.clone());
    if is_by_model(summarizer) { digest.title.clone() } else { own() }
}

/// The line that links a session to a later near-duplicate. `up` is the relative path to the folder of the months.
pub(super) fn repeated_line(session: &str, later: &str, up: &str) -> String {
    let day = day_in_name(Path::new(later)).unwrap_or_default();
    format!(
        "Almost the same as a later session ([{day}]({})). Full text: {}",
        from_below(later, up),
        code(&format!("recall show {} --full", text::clean::id8(session)))
    )
}
