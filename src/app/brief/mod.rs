//! Collects from the index what the brief and the page of one session tell; `render` writes them.

#[cfg(test)]
mod tests;

use anyhow::Result;

use crate::analyze::account::{LaterEvidence, OpenEnd, SessionAccount, is_task};
use crate::analyze::eligibility::permanent_skip;
use crate::analyze::without_model;
use crate::config::Config;
use crate::model::digest::{Digest, UNTITLED, claimed_by};
use crate::model::item_state::{ItemStates, TaskItem};
use crate::model::page_path::session_page_name;
use crate::model::price::costs_by_model;
use crate::model::session_head::SessionHead;
use crate::model::since_then::SinceThen;
use crate::model::stored_digest::StoredDigest;
use crate::render::brief::{BriefInput, DigestCoverage, FrameFacts, MAX_TOKENS, ModelClaims, write};
use crate::render::page::{PaidDigest, SessionPageInput, day_of, session_page};
use crate::render::quoted::Listener;
use crate::store::Memory;
use crate::store::came_since::CameSince;
use crate::store::neighbours::{OrderPosition, Side};
use text::clean::{id8, one_line, shorten, without_controls};
use transcripts::session::{Item, Millis, Session};

/// The longest title made from a session's first words, in characters.
const TITLE: usize = 90;

/// How many later sessions are asked what became of a session's commits.
const MAX_LATER: usize = 30;

/// The brief of a session in at most [`MAX_TOKENS`]; without a digest, straight from its records. `None` if nothing was said in it.
pub(crate) fn brief(store: &Memory, config: &Config, head: &SessionHead) -> Result<Option<String>> {
    brief_for(Listener::User, store, config, head)
}

/// The same, as it is told to somebody.
pub(crate) fn brief_for(listener: Listener, store: &Memory, config: &Config, head: &SessionHead) -> Result<Option<String>> {
    store.in_snapshot(|| {
        let session = store.load_session(head)?;
        let stored = store.digest_of(head.pk)?;
        if stored.is_none() && session.entries.is_empty() {
            return Ok(None);
        }
        let never = permanent_skip(&session).filter(|_| stored.is_none()).map(|why| why.to_string());
        let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
        let id = store.short_id(&head.id)?;
        let state = match &stored {
            None => DigestCoverage::Undigested,
            Some(stored) if stored.interim_until.is_some() => DigestCoverage::SoFar,
            Some(_) => DigestCoverage::Whole,
        };
        let goes_on = match state {
            DigestCoverage::Whole => false,
            DigestCoverage::SoFar => true,
            DigestCoverage::Undigested => session.end_reason.is_none(),
        };
        let open_items: Vec<(String, String)> = stored
            .iter()
            .flat_map(|stored| stored.digest.open_items(&session.id))
            .map(|(id, _, claim)| (id, claim.text.clone()))
            .collect();
        let is_told_by_model = stored.as_ref().is_some_and(StoredDigest::is_by_model);
        let by = stored.as_ref().map_or("a model", |stored| claimed_by(&stored.summarizer));
        let mut account = SessionAccount::of(&session, goes_on);
        let known = known_later(store, head)?;
        known.leave_out_undone(&mut account);
        let renamed = known.amend(&mut account);
        let digest = match stored {
            Some(stored) => stored.digest,
            None => with_fallback_title(without_model::digest(&session, &account), &session),
        };
        let items = store.item_states(head.pk)?;
        leave_out_closed(&mut account, store, head.pk)?;
        let task_ids = settle_tasks(&mut account, &open_items, |_| is_told_by_model);
        let mut task_ids: Vec<TaskItem> = task_ids.iter().map(|(task, own)| TaskItem::new(task, own, &items)).collect();
        if state == DigestCoverage::Undigested {
            let began_at = session.began_at().unwrap_or(head.started_at);
            task_ids = continue_lives(&mut account, store, &head.project.key, began_at)?;
        }
        let title = account.title.text().filter(|_| !is_told_by_model).unwrap_or_else(|| digest.title.clone());
        let said = statements_told(&account, is_told_by_model.then_some(&digest));
        let since_then = since_then(store, head, &items, &said)?;
        let told = BriefInput {
            facts: FrameFacts {
                session: &session,
                title: &title,
                state,
                never: never.as_deref(),
                repeated_by: later.map(|later| id8(&later.id)),
                id: &id,
            },
            claims: is_told_by_model.then_some(ModelClaims { digest: &digest, by, items: &items }),
            account: &account,
            task_ids: &task_ids,
            renamed: &renamed,
            since_then: &since_then,
        };
        Ok(Some(write(&told, &config.time_zone, listener, MAX_TOKENS)))
    })
}

/// What the sessions behind one in its project know of its commits and pull requests.
pub(crate) fn known_later(store: &Memory, head: &SessionHead) -> Result<LaterEvidence> {
    let at = OrderPosition { project: &head.project.key, began_at: head.started_at, id: &head.id };
    let (sessions, _) = store.neighbours(&at, Side::After, MAX_LATER)?;
    let mut later = LaterEvidence::default();
    // The newest knows best.
    for session in sessions.iter().rev() {
        store.account_of(session.pk)?.iter().for_each(|account| later.add(account));
    }
    Ok(later)
}

/// What came since: of what the session left open itself, and of what it still says.
fn since_then(store: &Memory, head: &SessionHead, items: &ItemStates, said: &[&str]) -> Result<Vec<SinceThen>> {
    let mut all: Vec<SinceThen> = items.closed_since(head.last_at).cloned().map(SinceThen::Closed).collect();
    all.extend(CameSince::new(store).of_opened(head, said.iter().copied())?);
    all.retain(|one| !one.words().is_empty());
    all.sort_by(|a, b| (a.at(), a.words()).cmp(&(b.at(), b.words())));
    all.dedup_by(|a, b| a.words() == b.words());
    Ok(all)
}

/// The texts in which a session states something: the user's words, the assistant's replies, a model's claims, tasks that are open, and its
/// branch.
pub(crate) fn statements_told<'a>(account: &'a SessionAccount, claims: Option<&'a Digest>) -> Vec<&'a str> {
    let words = account.turns.iter().flat_map(|turn| &turn.words).map(|word| word.text.as_str());
    let claims = claims.into_iter().flat_map(|digest| digest.told()).map(|(_, claim)| claim.text.as_str());
    let tasks = account.open.iter().filter_map(OpenEnd::task);
    words.chain(account.replies()).chain(claims).chain(tasks).chain(account.branch.as_deref()).collect()
}

/// The open items that tasks of a session without a digest are one with; tasks that were closed since it began are taken out.
pub(crate) fn continue_lives(
    account: &mut SessionAccount,
    store: &Memory,
    project: &str,
    began_at: Millis,
) -> Result<Vec<TaskItem>> {
    let Some(project) = store.project_pk(project)? else { return Ok(Vec::new()) };
    let tasks: Vec<String> = account.open.iter().filter_map(OpenEnd::task).map(str::to_owned).collect();
    let texts: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let states = store.continued_lives(project, began_at, &texts)?;
    let all = tasks.iter().zip(&states).filter_map(|(task, state)| Some((task, state.as_ref()?)));
    let (closed, open): (Vec<_>, Vec<_>) = all.partition(|(_, state)| state.closed.is_some());
    account.leave_out_tasks(|task| closed.iter().any(|(one, _)| *one == task));
    Ok(open.into_iter().map(|(task, state)| TaskItem::continuing(task, state)).collect())
}

/// Takes the tasks out of the account of a session that were closed.
pub(crate) fn leave_out_closed(account: &mut SessionAccount, store: &Memory, session: i64) -> Result<()> {
    let closed = store.closed_texts(session)?;
    account.leave_out_tasks(|task| closed.iter().any(|text| is_task(text, task)));
    Ok(())
}

/// Takes the tasks out of the account whose open item is settled: told as a model's. Returns the ids of those that are left, by their words.
fn settle_tasks(
    account: &mut SessionAccount,
    open_items: &[(String, String)],
    is_settled: impl Fn(&String) -> bool,
) -> Vec<(String, String)> {
    let id_of = |task: &str| open_items.iter().find(|(_, item)| is_task(item, task)).map(|(id, _)| id);
    account.leave_out_tasks(|task| id_of(task).is_some_and(&is_settled));
    let with_id = |task: &str| id_of(task).map(|id| (task.to_owned(), id.clone()));
    account.open.iter().filter_map(OpenEnd::task).filter_map(with_id).collect()
}

/// Without a prompt, the first words said become the title, as in search.
fn with_fallback_title(mut digest: Digest, session: &Session) -> Digest {
    let said = session.entries.iter().find_map(|entry| match &entry.item {
        Item::Reply(text) | Item::Recap(text) if !text.is_empty() => Some(text),
        _ => None,
    });
    if let Some(said) = said.filter(|_| digest.title == UNTITLED) {
        digest.title = shorten(&one_line(&without_controls(said)), TITLE);
    }
    digest
}

/// Why a session has no digest, and what to do about it.
pub(crate) fn no_digest_message(store: &Memory, head: &SessionHead) -> Result<String> {
    let id = &head.id;
    Ok(match permanent_skip(&store.load_session(head)?) {
        Some(why) => format!("session {id} gets no digest: {why}"),
        None => format!("session {id} has no digest yet: `recall digest --session {id}` makes one"),
    })
}

/// The whole page of a digested session, as `recall show --full` prints it.
pub(crate) fn page(
    store: &Memory,
    config: &Config,
    head: &SessionHead,
    stored: &StoredDigest,
    session: &Session,
) -> Result<String> {
    let day = day_of(session, &config.time_zone);
    let shown = SessionPageInput {
        session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        paid: PaidDigest::of(stored, head),
        goes_on: stored.interim_until.is_some(),
        items: &store.item_states(head.pk)?,
        overtaken: &store.overtaken_of(head)?,
        costs: costs_by_model(&session.usage, &config.prices),
        costs_by_day: Default::default(),
        // `--full` shows everything, even of a near-duplicate.
        repeated_by: None,
        page: session_page_name(&session.id, &session.project, &day, store.shares_id8(&session.id)?),
    };
    Ok(session_page(&shown, &config.time_zone))
}
