//! Makes accounts, and digests without a model, anew where rules or records have changed since: after an upgrade, an import, or when
//! something was taken out.

use anyhow::Result;

use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::analyze::verify::checked_anew;
use crate::analyze::without_model::made_anew;
use crate::model::digest::{CLAUDE_MEM, Digest};
use crate::model::session_head::SessionHead;
use crate::store::packed::PackedAccount;
use crate::store::worker_pool::BATCH_SESSIONS;
use crate::store::{Reader, Writer};
use crate::sys::messages::Ui;
use crate::sys::shutdown;

/// Makes them from what is stored. A session that cannot be read is named and keeps none.
pub(crate) fn make_missing(store: &Writer, ui: &Ui) -> Result<()> {
    store.without_account()?.chunks(BATCH_SESSIONS).try_for_each(|part| {
        store.map_in_order(shutdown::requested, part, make, |head, made| match made {
            Ok((account, digest)) => {
                digest.iter().try_for_each(|digest| store.remake_digest(head, digest))?;
                store.save_account(head.pk, &account)
            }
            Err(e) => {
                ui.warn(&format!(
                    "session {}: {:#}: the context at a start shows only the title of this session",
                    head.id,
                    store.explained(e)
                ));
                Ok(())
            }
        })
    })
}

/// Makes the account of a session anew, and a digest without a model, after a reply was taken out or brought back. What a model said stays
/// as it is: each of its statements can be taken out for itself.
pub(crate) fn remake(store: &Writer, head: &SessionHead) -> Result<()> {
    let session = store.load_session(head)?;
    let account = SessionAccount::of(&session, head.dirty || store.goes_on(head.pk)?);
    if let Some(stored) = store.whole_digest_of(head.pk)?.filter(|stored| !stored.is_by_model() && session.told.is_none()) {
        store.remake_digest(head, &made_anew(stored.digest, &session, &account))?;
    }
    store.save_account(head.pk, &PackedAccount::new(AccountToStore::new(&session, account))?)
}

/// The account of a session, and its digest if today's rules make another one without a model, or find other rows behind a model's
/// statements.
fn make(store: &Reader, head: &SessionHead) -> Result<(PackedAccount, Option<Digest>)> {
    let goes_on = head.dirty || store.goes_on(head.pk)?;
    let session = store.load_session(head)?;
    let account = SessionAccount::of(&session, goes_on);
    let stored = store.whole_digest_of(head.pk)?;
    let anew = stored.as_ref().map(|stored| match stored.is_by_model() {
        // Its rows are in the database of that tool, and not here.
        true if stored.summarizer == CLAUDE_MEM => stored.digest.clone(),
        // On another machine.
        _ if session.told.is_some() => stored.digest.clone(),
        true => checked_anew(stored.digest.clone(), &session),
        false => made_anew(stored.digest.clone(), &session, &account),
    });
    let anew = anew.filter(|anew| stored.is_none_or(|stored| stored.digest != *anew));
    Ok((PackedAccount::new(AccountToStore::new(&session, account))?, anew))
}
