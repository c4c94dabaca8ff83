//! Takes out what a model said of a session and the user says is not so: from the digest, the pages and the search, also where a later digest
//! or an import says it again.

use anyhow::{Result, bail};

use crate::analyze::denied::DeniedStatement;
use crate::app::digest::refresh_pages;
use crate::config::Config;
use crate::model::digest::{statement_id, title_id};
use crate::store::digests::StoredDigest;
use crate::store::load::SessionHead;
use crate::store::{Memory, Store};
use crate::sys::messages::Ui;

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
}

/// A statement that is to be taken out, with its session.
pub(crate) struct DoomedStatement {
    pub(crate) statement: ModelStatement,
    session: SessionHead,
}

/// Does it look like the id of a statement? Those of sessions have other lengths.
pub(crate) fn is_statement_id(id: &str) -> bool {
    id.len() == 9 && id.starts_with(['t', 'c', 'n', 'b']) && id[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

/// What a model said of a session and is told.
///
/// # Errors
/// When no model digested it.
pub(crate) fn statements(memory: &Memory, head: &SessionHead) -> Result<Vec<ModelStatement>> {
    match memory.digest_of(head.pk)?.filter(StoredDigest::is_by_model) {
        Some(stored) => said(&stored, head, memory),
        None => bail!("no model said anything of session {}: what is told of it was said and done in it", head.id),
    }
}

fn said(stored: &StoredDigest, head: &SessionHead, memory: &Memory) -> Result<Vec<ModelStatement>> {
    let items = memory.item_states(head.pk)?;
    let statement = |own: String, kind: &'static str, text: &str| {
        let id = items.id_of(&own).to_owned();
        ModelStatement { id, own, kind, text: text.to_owned() }
    };
    let title = &stored.digest.title;
    let title = statement(title_id(&head.id, title), "title", title);
    let claims = stored.digest.told().map(|(section, claim)| {
        let own = statement_id(&head.id, section, &claim.text);
        statement(own, section.spec().kind.unwrap_or_default(), &claim.text)
    });
    Ok(std::iter::once(title).chain(claims).collect())
}

/// The statements with these ids; an open item that several sessions left, of all of them.
///
/// # Errors
/// When one has no statement: nothing is taken out then.
pub(crate) fn find(memory: &Memory, ids: &[String]) -> Result<Vec<DoomedStatement>> {
    let mut found = Vec::new();
    for head in memory.session_heads()? {
        let Some(stored) = memory.digest_of(head.pk)?.filter(StoredDigest::is_by_model) else { continue };
        let all = said(&stored, &head, memory)?.into_iter();
        let named = all.filter(|statement| ids.contains(&statement.id) || ids.contains(&statement.own));
        found.extend(named.map(|statement| DoomedStatement { statement, session: head.clone() }));
    }
    if let Some(id) = ids.iter().find(|id| !found.iter().any(|one| [&one.statement.id, &one.statement.own].contains(id))) {
        bail!("no model said `{id}`: `recall wrong SESSION` lists what one said of a session, with ids");
    }
    Ok(found)
}

/// Takes them out, and brings the pages up to date.
pub(crate) fn take_out(doomed: &[DoomedStatement], config: &Config, ui: &Ui) -> Result<()> {
    let mut store = Store::open_existing(&config.database())?;
    for DoomedStatement { statement, session } in doomed {
        store.deny(session.pk, &DeniedStatement::new(statement.own.clone(), &statement.text), config.now())?;
    }
    for DoomedStatement { session, .. } in doomed {
        if let Some(stored) = store.digest_of(session.pk)? {
            store.remake_digest(session, &stored.digest)?;
        }
    }
    refresh_pages(config, &mut store, ui)
}
