//! A session or a note among its neighbours in the project: collected here, told by `render::timeline`.

use anyhow::Result;

use crate::analyze::account::SessionAccount;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::note::Note;
use crate::model::note::{EVERYWHERE, project_label};
use crate::model::session_head::SessionHead;
use crate::render::timeline::{MAX_SINCE_THEN_CHARS, TITLE, Timeline, TimelineEntry, course};
use crate::store::Memory;
use crate::store::came_since::CameSince;
use crate::store::neighbours::{OrderPosition, Side};
use text::clean::shorten;
use transcripts::client::Client;
use transcripts::session::{Millis, said};

/// Which session or note, and how many neighbours of it.
pub(crate) struct TimelineRequest<'a> {
    /// An id, or its start.
    pub(crate) id: &'a str,
    /// The most sessions before it, and after it.
    pub(crate) before: usize,
    pub(crate) after: usize,
}

/// # Errors
/// When no session and no note has such an id, or several sessions have.
pub(crate) fn timeline(memory: &OpenMemory, config: &Config, asked: &TimelineRequest<'_>) -> Result<Timeline> {
    let TimelineRequest { id, before, after } = *asked;
    let store = &memory.0;
    match store.look_up_note(id)? {
        Some(note) => of_note(store, config, &note, before, after),
        None => of_session(store, config, &store.find_session(id)?, before, after),
    }
}

/// A session with up to `before` earlier and `after` later sessions of its project.
fn of_session(store: &Memory, config: &Config, head: &SessionHead, before: usize, after: usize) -> Result<Timeline> {
    store.in_snapshot(|| {
        let at = OrderPosition { project: &head.project.key, began_at: head.started_at, id: &head.id };
        let session = store.load_session(head)?;
        let goes_on = match store.digest_state(head.pk)? {
            Some(digest) => digest.interim,
            None => session.end_reason.is_none(),
        };
        let account = SessionAccount::of(&session, goes_on);
        let since_then = CameSince::new(store).of_session(head, account.replies())?;
        let day = |at: Millis| config.local_time(Some(at), "%Y-%m-%d");
        let since_then = since_then.iter().map(|one| said(&one.line(day), MAX_SINCE_THEN_CHARS)).collect();
        let (course, steps_left_out) = course(&account, &config.time_zone);
        Ok(Timeline {
            course,
            since_then,
            steps_left_out,
            ..with_neighbours(store, config, &at, line_of(store, config, head)?, before, after)?
        })
    })
}

/// A note with the sessions of its project that began before and after it was written.
fn of_note(store: &Memory, config: &Config, note: &Note, before: usize, after: usize) -> Result<Timeline> {
    store.in_snapshot(|| {
        let everywhere = note.project.key == EVERYWHERE;
        let at = OrderPosition { project: &note.project.key, began_at: note.at, id: &note.id };
        let line = TimelineEntry {
            short_id: note.id.clone(),
            id: note.id.clone(),
            began_at: Some(note.at),
            when: config.local_time(Some(note.at), "%Y-%m-%d %H:%M"),
            title: format!("{}: {}", note.kind, note.text),
            client: Client::default(),
            by: Some(note.origin()),
            open: 0,
            goes_on: false,
            digested: true,
            is_note: true,
        };
        let told = with_neighbours(store, config, &at, line, before, after)?;
        Ok(Timeline { project: project_label(&told.project).to_owned(), no_neighbours: everywhere, ..told })
    })
}

/// A line with its neighbours.
fn with_neighbours(
    store: &Memory,
    config: &Config,
    at: &OrderPosition<'_>,
    middle: TimelineEntry,
    before: usize,
    after: usize,
) -> Result<Timeline> {
    let (mut earlier, all_before) = store.neighbours(at, Side::Before, before)?;
    let (later, all_after) = store.neighbours(at, Side::After, after)?;
    earlier.reverse();
    let lines = |heads: &[SessionHead]| heads.iter().map(|head| line_of(store, config, head)).collect::<Result<Vec<_>>>();
    Ok(Timeline {
        project: at.project.to_owned(),
        more_before: all_before - earlier.len(),
        more_after: all_after - later.len(),
        before: lines(&earlier)?,
        session: middle,
        course: Vec::new(),
        since_then: Vec::new(),
        steps_left_out: 0,
        after: lines(&later)?,
        no_neighbours: false,
    })
}

fn line_of(store: &Memory, config: &Config, head: &SessionHead) -> Result<TimelineEntry> {
    let title = store.title_of(head.pk)?;
    // Copies of another session's rows, or a command before the first prompt, may be older.
    let first_turn = store.account_of(head.pk)?.and_then(|account| account.turn_times().min());
    let began_at = first_turn.or(Some(head.started_at).filter(|at| *at != Millis::MAX));
    let closed = store.closed_item_ids(head.pk)?;
    Ok(TimelineEntry {
        short_id: store.short_id(&head.id)?,
        id: head.id.clone(),
        client: head.client,
        began_at,
        when: config.local_time(began_at, "%Y-%m-%d %H:%M"),
        open: store.open_items_of(head.pk)?.iter().filter(|item| item.verified && !closed.contains(&item.id)).count(),
        goes_on: store.digest_state(head.pk)?.is_some_and(|digest| digest.interim),
        digested: title.is_some(),
        is_note: false,
        by: None,
        title: match title {
            Some(title) => title,
            None => store.load_session(head)?.prompts().next().map(|(_, text)| shorten(text, TITLE)).unwrap_or_default(),
        },
    })
}
