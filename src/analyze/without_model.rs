//! The digest of a session that no model read: what can be counted, and nothing that would have to be judged. All else is told by the
//! session's account. Pure.

use std::collections::{BTreeSet, HashSet};

use crate::analyze::account::{SessionAccount, Task, tasks};
use crate::analyze::distinct::normalized;
use crate::model::digest::{Claim, Digest, OpenItem, UNTITLED, is_item_id};
use crate::model::section::Section;
use text::clean::{one_line, shorten};
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::{Item, Session};

/// An open item is closed if one thing that was done later holds this share of its distinctive words, of which it has at least two.
const CLOSED_SHARE: f64 = 0.75;
const MIN_CLOSED_WORDS: usize = 2;
/// The most tasks that can be closed by an id, and the most characters of each.
const MAX_TASKS: usize = 8;
const MAX_TASK_CHARS: usize = 260;
const MAX_UNANSWERED_CHARS: usize = 200;
/// A shorter prompt is no task: "thanks", "go on".
const MIN_UNANSWERED_CHARS: usize = 13;
/// The most files; longer lists are not read.
const MAX_FILES: usize = 24;
/// How an item begins that stands for a prompt without a reply.
pub(crate) const UNANSWERED: &str = "Unanswered: ";

/// The digest of a session with this account. It closes nothing yet: [`closed_items`] tells what.
pub fn digest(session: &Session, account: &SessionAccount) -> Digest {
    let title = account.title.text().unwrap_or_else(|| UNTITLED.to_owned());
    Digest { title, request: request(session), ..Digest::default() }
        .with(Section::Files, account.files.edited.iter().take(MAX_FILES).map(Claim::new))
        .with(Section::NextSteps, left_open(session))
}

/// What stands of a stored digest that other rules made; of a session without rows it is all there is.
pub(crate) fn made_anew(stored: Digest, session: &Session, account: &SessionAccount) -> Digest {
    if session.entries.is_empty() {
        let files = stored[Section::Files].clone();
        let Digest { title, request, closes, .. } = stored;
        return Digest { title, request, closes, ..Digest::default() }.with(Section::Files, files);
    }
    Digest { closes: stored.closes, ..digest(session, account) }
}

/// What the user asked for: the first prompt, and later ones in brief.
pub(crate) fn request(session: &Session) -> String {
    let mut asked = HashSet::new();
    let prompts = session.prompts().map(|(_, text)| text).filter(|t| t.chars().count() > 3);
    let prompts: Vec<&str> = prompts.filter(|text| asked.insert(normalized(text))).collect();
    let Some((first, later)) = prompts.split_first() else { return String::new() };
    let mut request = shorten(&one_line(first), 500);
    let telling: Vec<String> = later.iter().filter(|t| t.chars().count() > 12).map(|t| shorten(&one_line(t), 140)).collect();
    if !telling.is_empty() {
        let shown = telling.len().min(12);
        // The first ones direct the work, the last ones tell where it ended.
        let list: Vec<&str> =
            telling[..shown / 2].iter().chain(&telling[telling.len() - (shown - shown / 2)..]).map(String::as_str).collect();
        request.push_str(" Then: ");
        request.push_str(&list.join(" · "));
    }
    request
}

/// What a session leaves open: tasks that its lists do not tick off, and a last prompt without a reply.
pub(crate) fn left_open(session: &Session) -> Vec<Claim> {
    let open = tasks(session).into_iter().filter(Task::is_open).take(MAX_TASKS);
    let open = open.map(|task| Claim::supported(shorten(&task.text, MAX_TASK_CHARS), vec![task.row]));
    let mut all: Vec<Claim> = open.chain(unanswered(session)).collect();
    let mut seen = HashSet::new();
    all.retain(|claim| seen.insert(claim.text.clone()));
    all
}

/// The user's last prompt, if nothing answered it.
fn unanswered(session: &Session) -> Option<Claim> {
    let at = session.entries.iter().rposition(|e| matches!(e.item, Item::Prompt(_)) && e.is_main())?;
    let rest = &session.entries[at + 1..];
    let answered = rest.iter().any(|e| matches!(e.item, Item::Reply(_) | Item::Tool(_) | Item::Plan(_)));
    let Item::Prompt(text) = &session.entries[at].item else { return None };
    // The client answers these in another session, or beside the conversation.
    let elsewhere = ["/background ", "/branch ", "/btw ", "/fork "].iter().any(|command| text.starts_with(command));
    let tells = !answered && !elsewhere && text.chars().count() >= MIN_UNANSWERED_CHARS;
    let said = || format!("{UNANSWERED}{}", shorten(&one_line(text), MAX_UNANSWERED_CHARS));
    tells.then(|| Claim::supported(said(), vec![session.entries[at].key]))
}

/// What a session did, as far as it can be counted: commits with their messages, pull requests it made, tasks that were ticked off.
pub(crate) fn deeds(session: &Session, account: &SessionAccount) -> Vec<String> {
    let commits = account.commits.iter().map(|commit| format!("{} {}", commit.subject, commit.body));
    let requests = account.pull_requests.iter().filter(|pr| pr.made).map(|pr| pr.title.clone());
    let ticked_off = tasks(session).into_iter().filter(Task::is_done).map(|task| task.text);
    commits.chain(requests).chain(ticked_off).collect()
}

/// The ids that deeds close: of open items of earlier sessions that they cover, and all that they name, whether or not that is open.
pub(crate) fn closed_items(open: &[OpenItem], deeds: &[String]) -> Vec<String> {
    let words: Vec<BTreeSet<String>> = deeds.iter().map(|deed| distinctive_words(deed)).collect();
    let is_covered = |item: &&OpenItem| {
        let wanted = distinctive_words(&item.text);
        wanted.len() >= MIN_CLOSED_WORDS && words.iter().any(|deed| covered_by(&wanted, deed) >= CLOSED_SHARE)
    };
    let covered = open.iter().filter(is_covered).map(|item| item.id.clone());
    let all: BTreeSet<String> = covered.chain(named_items(deeds)).collect();
    all.into_iter().collect()
}

/// The ids of items that a commit, a pull request or a task that was ticked off names.
pub(crate) fn named_items(deeds: &[String]) -> impl Iterator<Item = String> {
    let words = deeds.iter().flat_map(|deed| deed.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| is_item_id(word)).map(str::to_owned)
}
