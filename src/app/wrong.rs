//! Takes out what the user says is not so, a statement of a model's or a reply of Claude's: from all that is told of the session, also where
//! a later digest or an import says it again; and brings it back.

use anyhow::{Result, bail};

use crate::analyze::account::{Turn, all_turns};
use crate::analyze::denied::{DeniedStatement, is_instruction_id, is_reply_id};
use crate::app::digest::{accounts, open_to_change, refresh_pages, write_documents};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::digest::{statement_id, title_id};
use crate::model::session_head::SessionHead;
use crate::model::since_then::{Overtaken, StatedBy};
use crate::model::stored_digest::StoredDigest;
use crate::store::{Memory, Reader, Writer};
use crate::sys::messages::Ui;
use text::clean::id8;
use transcripts::session::RecordKey;

/// Something that a model said of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelStatement {
    /// The id that it is told by: of an open item that of its first mention.
    pub(crate) id: String,
    /// The id that derives from its session and words.
    own: String,
    /// `title`, or the kind of its section.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// The records whose words it tells; none if it tells a model's.
    quotes: Vec<RecordKey>,
}

/// What the user said is not so, with what it takes out.
#[derive(Debug)]
pub(crate) struct Denial {
    pub(crate) id: String,
    /// In the stored digest; none if its words are not in the index.
    pub(crate) hides: Vec<ModelStatement>,
    pub(crate) session: SessionHead,
}

/// A statement that is to be taken out, with its session.
pub(crate) struct DoomedStatement {
    pub(crate) statement: ModelStatement,
    session: SessionHead,
}

/// Turns of a session whose replies hold what a statement told, and are quoted without it, too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StillQuoted {
    pub(crate) session: String,
    pub(crate) turns: Vec<usize>,
}

/// Does it look like the id of a statement?
pub(crate) fn is_statement_id(id: &str) -> bool {
    DeniedStatement::is_id(id) && !is_reply_id(id) && !is_instruction_id(id)
}

/// What was said in a session or of it, by Claude and by a model, and can be taken out or brought back.
pub(crate) struct SaidOfSession {
    /// Nothing if no model digested it.
    pub(crate) statements: Vec<ModelStatement>,
    /// The replies that are quoted, and those that are taken out.
    pub(crate) replies: Vec<TurnReply>,
    pub(crate) denials: Vec<Denial>,
}

/// # Errors
/// When no session has this id, several begin with it, or nothing is told of it.
pub(crate) fn said_of(memory: &OpenMemory, session: &str) -> Result<SaidOfSession> {
    let store = &memory.0;
    let head = store.find_session(session)?;
    let said =
        SaidOfSession { statements: statements(store, &head)?, replies: replies(store, &head)?, denials: denials(store, &head)? };
    if said.statements.is_empty() && said.denials.is_empty() && said.replies.is_empty() {
        bail!("there is no statement or reply to hide in session {}", head.id);
    }
    Ok(said)
}

/// # Errors
/// When one of the ids is a note's: a person or an agent wrote it, and no digest says it again.
pub(crate) fn refuse_notes(memory: &OpenMemory, ids: &[String]) -> Result<()> {
    for id in ids {
        if let Some(note) = memory.0.look_up_note(id)? {
            let (id, author) = (&note.id, note.author.text());
            bail!("{id} is a note ({author}), and not what a model said: `recall forget --note {id}` deletes it");
        }
    }
    Ok(())
}

fn statements(memory: &Memory, head: &SessionHead) -> Result<Vec<ModelStatement>> {
    match memory.digest_of(head.pk)?.filter(StoredDigest::is_by_model) {
        Some(stored) => said(&stored, head, memory),
        None => Ok(Vec::new()),
    }
}

fn said(stored: &StoredDigest, head: &SessionHead, memory: &Memory) -> Result<Vec<ModelStatement>> {
    let items = memory.item_states(head.pk)?;
    let statement = |own: String, kind: &'static str, text: &str, quotes: Vec<RecordKey>| {
        // A note's id stands for the note, which no model said.
        let id = items.id_of(&own);
        let id = if DeniedStatement::is_id(id) { id.to_owned() } else { own.clone() };
        ModelStatement { id, own, kind, text: text.to_owned(), quotes }
    };
    let title = &stored.digest.title;
    let title = statement(title_id(&head.id, title), "title", title, Vec::new());
    let claims = stored.digest.told().map(|(section, claim)| {
        let own = statement_id(&head.id, section, &claim.text);
        let quotes = claim.claimed.as_ref().map_or(Vec::new(), |_| claim.rows.clone());
        statement(own, section.spec().kind.unwrap_or_default(), &claim.text, quotes)
    });
    Ok(std::iter::once(title).chain(claims).collect())
}

/// The statements with these ids; an open item that several sessions left, of all of them.
///
/// # Errors
/// When one has no statement: nothing is taken out then.
pub(crate) fn find(memory: &OpenMemory, ids: &[String]) -> Result<Vec<DoomedStatement>> {
    let memory = &memory.0;
    let mut found = Vec::new();
    for id in ids.iter().filter(|id| is_link_id(id)) {
        found.extend(memory.overtaken_with_id(id)?.map(|one| link(memory, one)).transpose()?);
    }
    for head in memory.session_heads()? {
        let Some(stored) = memory.digest_of(head.pk)?.filter(StoredDigest::is_by_model) else { continue };
        let all = said(&stored, &head, memory)?.into_iter();
        let named = all.filter(|statement| ids.contains(&statement.id) || ids.contains(&statement.own));
        found.extend(named.map(|statement| DoomedStatement { statement, session: head.clone() }));
    }
    if let Some(id) = ids.iter().find(|id| !found.iter().any(|one| [&one.statement.id, &one.statement.own].contains(id))) {
        if is_link_id(id) {
            bail!("no replaced statement `{id}`: `recall why WORDS` lists them with ids");
        }
        bail!("nothing that can be hidden has the id `{id}`: `recall wrong SESSION` lists what can, with ids");
    }
    Ok(found)
}

/// Does it stand for one statement's overtaking another?
pub(crate) fn is_link_id(id: &str) -> bool {
    is_statement_id(id) && id.starts_with('o')
}

/// That a statement overtakes another, which belongs to a session of one of them.
fn link(memory: &Memory, one: Overtaken) -> Result<DoomedStatement> {
    let text = format!("{} (now: {})", one.earlier.text, one.later.text);
    let statement = ModelStatement { id: one.id.clone(), own: one.id.clone(), kind: "overtaken", text, quotes: Vec::new() };
    let place = [&one.later.by, &one.earlier.by].into_iter().find(|by| !matches!(by, StatedBy::Note(..)));
    let Some(place) = place else {
        bail!("`{}` links two notes: `recall forget --note {}` deletes the later one", one.id, one.later.by.place())
    };
    Ok(DoomedStatement { statement, session: memory.find_session(place.place())? })
}

/// Where the words of these statements stay told, as a reply says them: by session, in the order of the statements.
pub(crate) fn still_quoted(memory: &OpenMemory, doomed: &[DoomedStatement]) -> Result<Vec<StillQuoted>> {
    let mut found: Vec<StillQuoted> = Vec::new();
    for DoomedStatement { statement, session } in doomed.iter().filter(|one| !one.statement.quotes.is_empty()) {
        // Replies of another machine's session are taken out there.
        if memory.0.origin_of(session.pk)?.is_some() {
            continue;
        }
        let replies = replies(&memory.0, session)?.into_iter();
        let holding = replies.filter(|reply| !reply.is_taken_out() && reply.rows.iter().any(|row| statement.quotes.contains(row)));
        let mut turns: Vec<usize> = holding.map(|reply| reply.turn).collect();
        match found.iter_mut().find(|known| known.session == session.id) {
            Some(known) => known.turns.append(&mut turns),
            None if turns.is_empty() => {}
            None => found.push(StillQuoted { session: session.id.clone(), turns }),
        }
    }
    for one in &mut found {
        one.turns.sort_unstable();
        one.turns.dedup();
    }
    Ok(found)
}

/// What the user said is not so of a session.
fn denials(memory: &Memory, head: &SessionHead) -> Result<Vec<Denial>> {
    let stored = memory.whole_digest_of(head.pk)?;
    let all = stored.map_or(Ok(Vec::new()), |stored| said(&stored, head, memory))?;
    let denial = |denied: DeniedStatement| {
        let hides = all.iter().filter(|one| denied.is_said_by(&one.own, &one.text)).cloned().collect();
        Denial { id: denied.id, hides, session: head.clone() }
    };
    Ok(memory
        .denied_of(head.pk)?
        .into_iter()
        .filter(|denied| !is_reply_id(&denied.id) && !is_instruction_id(&denied.id))
        .map(denial)
        .collect())
}

/// The denials with these ids, each with what was taken out together with it.
///
/// # Errors
/// When one denies nothing: nothing is brought back then.
pub(crate) fn find_denials(memory: &OpenMemory, ids: &[String]) -> Result<Vec<Denial>> {
    let memory = &memory.0;
    let mut found: Vec<Denial> = Vec::new();
    for id in ids {
        let together = memory.denied_together(id)?;
        if together.is_empty() {
            bail!("nothing with the id `{id}` is hidden: `recall wrong SESSION` lists what is, with ids");
        }
        for (head, denied) in together {
            let of_session = denials(memory, &head)?.into_iter().filter(|denial| denial.id == denied.id);
            found.extend(of_session);
        }
    }
    found.sort_by(|a, b| (a.session.started_at, &a.id).cmp(&(b.session.started_at, &b.id)));
    found.dedup_by(|a, b| (a.session.pk, &a.id) == (b.session.pk, &b.id));
    Ok(found)
}

/// Takes statements out, and brings the pages and the search up to date.
pub(crate) fn take_out(doomed: &[DoomedStatement], config: &Config, ui: &Ui) -> Result<()> {
    let mut store = open_to_change(config, ui)?;
    // One moment for all: what was taken out together is brought back together.
    let now = config.now();
    for DoomedStatement { statement, session } in doomed {
        store.deny(session, &[DeniedStatement::new(statement.own.clone(), &statement.text)], now)?;
    }
    bring_up_to_date(&mut store, config, ui)
}

/// Tells again what was taken out, and brings the pages and the search up to date.
pub(crate) fn bring_back(denials: &[Denial], config: &Config, ui: &Ui) -> Result<()> {
    let mut store = open_to_change(config, ui)?;
    for denial in denials {
        store.undeny(&denial.session, &[&denial.id])?;
    }
    bring_up_to_date(&mut store, config, ui)
}

/// Makes the search and the pages anew where something was taken out or brought back.
pub(crate) fn bring_up_to_date(store: &mut Writer, config: &Config, ui: &Ui) -> Result<()> {
    write_documents(store, ui)?;
    refresh_pages(config, store, ui)
}

/// The reply with which Claude closed a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnReply {
    pub(crate) turn: usize,
    /// What the user had said.
    pub(crate) to: String,
    /// Empty if it is taken out.
    pub(crate) text: String,
    rows: Vec<RecordKey>,
}

impl TurnReply {
    pub(crate) fn is_taken_out(&self) -> bool {
        self.text.is_empty()
    }
}

fn replies(store: &Reader, head: &SessionHead) -> Result<Vec<TurnReply>> {
    if let Some(origin) = store.origin_of(head.pk)? {
        bail!("session {} is on the machine {}: take its replies out there", head.id, origin.name);
    }
    let turns = all_turns(&store.load_session(head)?).into_iter().filter(|turn| !turn.reply_rows.is_empty());
    let reply = |turn: Turn| TurnReply {
        turn: turn.number,
        to: turn.words.first().map(|word| word.text.clone()).unwrap_or_default(),
        text: turn.reply.map(|reply| reply.text).unwrap_or_default(),
        rows: turn.reply_rows,
    };
    Ok(turns.map(reply).collect())
}

/// Replies that are to be taken out or brought back, with their session.
pub(crate) struct FoundReplies {
    session: SessionHead,
    replies: Vec<TurnReply>,
}

/// The replies of these turns, which are to be taken out, or with `undo` brought back.
///
/// # Errors
/// When there is no such session, or a turn has none: nothing is changed then.
pub(crate) fn find_replies(memory: &OpenMemory, session: &str, turns: &[usize], undo: bool) -> Result<FoundReplies> {
    let head = memory.0.find_session(session)?;
    let all = replies(&memory.0, &head)?;
    let session = id8(&head.id);
    let find = |turn: &usize| {
        let found = all.iter().find(|reply| reply.turn == *turn).cloned();
        match (found, undo) {
            (Some(reply), _) if reply.is_taken_out() == undo => Ok(reply),
            (_, true) => bail!("no reply of turn {turn} is hidden: `recall wrong {session}` lists what is"),
            (Some(_), false) => bail!("the reply of turn {turn} is already hidden"),
            (None, false) => {
                bail!("turn {turn} of session {session} has no quoted reply: `recall wrong {session}` lists the quoted ones")
            }
        }
    };
    let replies = turns.iter().map(find).collect::<Result<_>>()?;
    Ok(FoundReplies { replies, session: head })
}

/// Takes replies out, or with `undo` brings them back, with all that is told of them. Returns them as they were taken out, or are told now.
pub(crate) fn change_replies(found: FoundReplies, undo: bool, config: &Config, ui: &Ui) -> Result<Vec<TurnReply>> {
    let FoundReplies { session: head, replies: changed } = found;
    let mut store = open_to_change(config, ui)?;
    let denied: Vec<DeniedStatement> =
        changed.iter().flat_map(|reply| &reply.rows).map(|row| DeniedStatement::reply(*row)).collect();
    if undo {
        store.undeny(&head, &denied.iter().map(|one| one.id.as_str()).collect::<Vec<_>>())?;
    } else {
        store.deny(&head, &denied, config.now())?;
    }
    accounts::remake(&store, &head)?;
    bring_up_to_date(&mut store, config, ui)?;
    if !undo {
        return Ok(changed);
    }
    let turns: Vec<usize> = changed.iter().map(|reply| reply.turn).collect();
    Ok(replies(&store, &head)?.into_iter().filter(|reply| turns.contains(&reply.turn)).collect())
}
