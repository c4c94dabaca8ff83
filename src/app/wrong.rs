//! Takes out what a model said of a session and the user says is not so: from the digest, the pages and the search, also where a later digest
//! or an import says it again; and brings it back.

use anyhow::{Context, Result, bail};

use crate::analyze::denied::DeniedStatement;
use crate::app::digest::{refresh_pages, write_documents};
use crate::config::Config;
use crate::model::digest::{statement_id, title_id};
use crate::store::digests::StoredDigest;
use crate::store::load::SessionHead;
use crate::store::{Memory, Store};
use crate::sys::messages::Ui;

/// Something that a model said of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelStatement {
    pub(crate) id: String,
    /// `title`, or the kind of its section.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
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
        Some(stored) => Ok(said(&stored, head)),
        None => bail!("no model said anything of session {}: what is told of it was said and done in it", head.id),
    }
}

fn said(stored: &StoredDigest, head: &SessionHead) -> Vec<ModelStatement> {
    let title = &stored.digest.title;
    let title = ModelStatement { id: title_id(&head.id, title), kind: "title", text: title.clone() };
    let claims = stored.digest.told().map(|(section, claim)| ModelStatement {
        id: statement_id(&head.id, section, &claim.text),
        kind: section.spec().kind.unwrap_or_default(),
        text: claim.text.clone(),
    });
    std::iter::once(title).chain(claims).collect()
}

/// The statements with these ids.
///
/// # Errors
/// When one has no statement: nothing is taken out then.
pub(crate) fn find(memory: &Memory, ids: &[String]) -> Result<Vec<DoomedStatement>> {
    let mut found = Vec::new();
    for head in memory.session_heads()? {
        let Some(stored) = memory.digest_of(head.pk)?.filter(StoredDigest::is_by_model) else { continue };
        let named = said(&stored, &head).into_iter().filter(|statement| ids.contains(&statement.id));
        found.extend(named.map(|statement| DoomedStatement { statement, session: head.clone() }));
    }
    if let Some(id) = ids.iter().find(|id| !found.iter().any(|one| one.statement.id == **id)) {
        bail!("no model said `{id}`: `recall wrong SESSION` lists what one said of a session, with ids");
    }
    Ok(found)
}

/// What the user said is not so of a session.
pub(crate) fn denials(memory: &Memory, head: &SessionHead) -> Result<Vec<Denial>> {
    let stored = memory.whole_digest_of(head.pk)?;
    let all: Vec<ModelStatement> = stored.iter().flat_map(|stored| said(stored, head)).collect();
    let denial = |denied: DeniedStatement| {
        let hides = all.iter().filter(|one| denied.is_said_by(&one.id, &one.text)).cloned().collect();
        Denial { id: denied.id, hides, session: head.clone() }
    };
    Ok(memory.denied_of(head.pk)?.into_iter().map(denial).collect())
}

/// The denials with these ids.
///
/// # Errors
/// When one denies nothing: nothing is brought back then.
pub(crate) fn find_denials(memory: &Memory, ids: &[String]) -> Result<Vec<Denial>> {
    let find = |id: &String| {
        let of = memory.session_denying(id)?.map(|head| denials(memory, &head)).transpose()?.unwrap_or_default();
        let unknown = || format!("nothing was taken out as `{id}`: `recall wrong SESSION` lists what was, with ids");
        of.into_iter().find(|denial| denial.id == *id).with_context(unknown)
    };
    ids.iter().map(find).collect()
}

/// Takes statements out, and brings the pages and the search up to date.
pub(crate) fn take_out(doomed: &[DoomedStatement], config: &Config, ui: &Ui) -> Result<()> {
    let mut store = Store::open_existing(&config.database())?;
    for DoomedStatement { statement, session } in doomed {
        store.deny(session, &DeniedStatement::new(statement.id.clone(), &statement.text), config.now())?;
    }
    write_documents(&mut store, ui)?;
    refresh_pages(config, &mut store, ui)
}

/// Tells again what was taken out, and brings the pages and the search up to date.
pub(crate) fn bring_back(denials: &[Denial], config: &Config, ui: &Ui) -> Result<()> {
    let mut store = Store::open_existing(&config.database())?;
    for denial in denials {
        store.undeny(&denial.session, &denial.id)?;
    }
    write_documents(&mut store, ui)?;
    refresh_pages(config, &mut store, ui)
}
