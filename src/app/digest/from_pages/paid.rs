//! Digests that were paid for and stand on pages alone, after the index was lost or mended: taken back instead of being bought a second time.
//!
//! A page is a file that anybody may have edited: its digest passes the sanitizer, and its claims need rows of the stored session as those of a
//! model's reply do. What the session has gained since the page was written is digested as ever, by the model.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Result;

use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::analyze::verify::{restore_user_words, verify};
use crate::app::digest::maker::DigestMaker;
use crate::app::digest::request::{DigestRequest, DigestSelection};
use crate::app::page_facts::{PageFacts, Pages};
use crate::config::Config;
use crate::model::digest::is_by_model;
use crate::model::page_path::is_session_page_name;
use crate::model::session_head::SessionHead;
use crate::render::page::read;
use crate::store::Writer;
use crate::store::digests::NewDigest;
use crate::store::packed::{PackedAccount, PackedDigest};
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use transcripts::session::Millis;

/// Takes back the digests of sessions that are stored, and what all digests on pages cost. Returns how many digests came back.
pub(crate) fn take_back(pages: &Pages, config: &Config, ui: &Ui, now: Millis, store: &mut Writer) -> Result<u64> {
    let mut of_session: BTreeMap<&str, Vec<&PageFacts>> = BTreeMap::new();
    for page in pages.paid() {
        of_session.entry(&page.session).or_default().push(page);
    }
    if of_session.is_empty() {
        return Ok(0);
    }
    let wanted = DigestSelection::of(&DigestRequest::default(), config)?;
    let maker = DigestMaker::without_model(config, ui, now, &wanted)?;
    maker.book(pages, store)?;
    let mut taken = 0;
    for (session, mut pages) in of_session {
        if shutdown::requested() {
            break;
        }
        let Some(pk) = store.session_pk(session)? else { continue };
        let head = store.session_head(pk)?;
        pages.sort_by_key(|page| (page.ended_at, &page.file));
        for page in pages.into_iter().rev() {
            if maker.take_one(store, &head, page)? {
                taken += 1;
                break;
            }
        }
    }
    Ok(taken)
}

impl DigestMaker<'_> {
    /// Books what the digests cost on the days of their sessions. In the order of time: what is booked behind an entry of today counts for
    /// today's budget.
    fn book(&self, pages: &Pages, store: &Writer) -> Result<()> {
        let cost = |page: &PageFacts| Some((page.ended_at?.min(self.now), page.session.clone(), page.cost_usd?));
        let mut costs: Vec<_> = pages.paid().filter_map(cost).collect();
        costs.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        for (at, session, usd) in costs {
            if !store.is_shut_out(&session)? {
                store.book_again(at, &session, &self.config.digest.model, usd)?;
            }
        }
        Ok(())
    }

    /// False where the page holds no digest of this session, or the index holds one that is as good, or the page may tell what the session did
    /// in an excluded folder.
    fn take_one(&self, store: &mut Writer, head: &SessionHead, page: &PageFacts) -> Result<bool> {
        if store.is_excluded(&head.id)? {
            return Ok(false);
        }
        let stored = store.digest_state(head.pk)?;
        let is_paid = stored.as_ref().is_some_and(|stored| is_by_model(&stored.summarizer));
        if is_paid && !head.dirty {
            return Ok(false);
        }
        let Ok(text) = fs::read_to_string(&page.file) else { return Ok(false) };
        let name = page.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !is_session_page_name(name, &head.id) || !read::holds_digest(&text, &head.id) {
            return Ok(false);
        }
        let input = self.input_with(store, head, true)?;
        let Some(on_page) = read::digest(&text, &input.session) else { return Ok(false) };
        let lacks = on_page.lacks(input.session.last_at());
        let older = store.digest_of(head.pk)?;
        let has_it = is_paid && older.as_ref().is_some_and(|stored| on_page.id.as_ref() == Some(&stored.id));
        if has_it || lacks && stored.is_some() {
            return Ok(false);
        }
        let mut digest = self.passed(on_page.digest);
        restore_user_words(&mut digest, &input.session);
        verify(&mut digest, &input.session);
        let account = AccountToStore::new(&input.session, SessionAccount::of(&input.session, lacks));
        let account = PackedAccount::new(account)?;
        let new = NewDigest {
            summarizer: page.summarizer,
            model: on_page.model.and_then(|model| self.sanitizer.name(&model)),
            // Of what the model would be given now: as long as that stays, it is not asked.
            input_hash: if lacks { [0; 32] } else { input.request.hash(page.summarizer, &self.config.digest.model) },
            // No page tells it; what it takes the place of is older.
            made_at: on_page.ended_at.max(older.map(|stored| stored.made_at)).unwrap_or(self.now).min(self.now),
            cost_usd: on_page.cost_usd,
            queued: false,
            interim_until: None,
            basis: None,
            open: &[],
            digest: PackedDigest::new(self.passed(digest), Some(&account))?,
            account: Some(&account),
        };
        store.save_digest_again(head, &new, on_page.id.as_deref(), lacks)?;
        Ok(true)
    }
}
