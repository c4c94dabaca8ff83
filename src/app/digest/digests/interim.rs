//! Interim digests of live sessions: made after a certain amount of work, or when the session's context is compacted. They are
//! made without the model, and the final digest replaces them entirely.

use anyhow::Result;

use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::app::digest::maker::DigestMaker;
use crate::app::digest::report::Report;
use crate::model::digest::WITHOUT_MODEL;
use crate::model::session_head::SessionHead;
use crate::store::Writer;
use crate::store::digests::NewDigest;
use crate::store::packed::{PackedAccount, PackedDigest};
use crate::sys::shutdown;

impl DigestMaker<'_> {
    pub(super) fn make_interims(&self, store: &mut Writer, report: &mut Report, heads: &[SessionHead]) -> Result<()> {
        for head in heads.iter().take_while(|_| !shutdown::requested()) {
            let input = self.input_with(store, head, false)?;
            let account = SessionAccount::of(&input.session, true);
            let digest = self.digest_of(&input, &account);
            let account = PackedAccount::new(AccountToStore::new(&input.session, account))?;
            let new = NewDigest {
                summarizer: WITHOUT_MODEL,
                model: None,
                // Matches no input, so the digest is never taken as valid for what comes later.
                input_hash: [0; 32],
                made_at: self.now,
                cost_usd: None,
                queued: false,
                interim_until: Some(head.last_at.unwrap_or(head.grew_at)),
                basis: None,
                open: &input.open,
                digest: PackedDigest::new(digest, Some(&account))?,
                account: Some(&account),
            };
            store.save_digest(head, &new)?;
            report.sessions_digested += 1;
            report.digests_without_model += 1;
        }
        Ok(())
    }
}
