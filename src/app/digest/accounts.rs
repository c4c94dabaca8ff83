//! Accounts of digested sessions that have none by today's rules: after an upgrade, an import, or a change that its digest outlived.

use anyhow::Result;

use crate::analyze::account::SessionAccount;
use crate::store::Store;
use crate::store::load::SessionHead;
use crate::store::worker_pool::BATCH_SESSIONS;
use crate::sys::messages::Ui;
use crate::sys::shutdown;

/// Makes them from what is stored. A session that cannot be read is named and keeps none.
pub(crate) fn make_missing(store: &Store, ui: &Ui) -> Result<()> {
    let make = |store: &Store, head: &SessionHead| {
        let goes_on = head.dirty || store.goes_on(head.pk)?;
        Ok(SessionAccount::of(&store.load_session(head)?, goes_on).shortened())
    };
    store.without_account()?.chunks(BATCH_SESSIONS).try_for_each(|part| {
        store.map_in_order(shutdown::requested, part, make, |head, made| match made {
            Ok(account) => store.save_account(head.pk, &account),
            Err(e) => {
                ui.warn(&format!("session {}: {:#}: its start tells no more than its title", head.id, store.explained(e)));
                Ok(())
            }
        })
    })
}
