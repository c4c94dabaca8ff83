//! Import files: a line that is read is taken in once, gives back what it brought, and nothing in it stops what is made of it later.

use std::cell::RefCell;

use jiff::tz::TimeZone;
use recall::testing::analyze::account::SessionAccount;
use recall::testing::analyze::without_model;
use recall::testing::model::item_state::ItemStates;
use recall::testing::model::price::costs_by_model;
use recall::testing::model::session::Item;
use recall::testing::model::session_facts::SessionFacts;
use recall::testing::privacy::Sanitizer;
use recall::testing::render::page::{
    DayEntry, SessionPageInput, UndigestedTotals, day_of, day_page, session_page, session_page_name,
};
use recall::testing::store::Writer;
use recall::testing::store::transfer::Exported;

/// Inputs for which one index is used.
const USES: usize = 500;

thread_local! {
    static INDEX: RefCell<Option<(tempfile::TempDir, Writer, usize)>> = const { RefCell::new(None) };
}

pub fn check(data: &[u8]) {
    let Ok(mut session) = serde_json::from_slice::<Exported>(data) else { return };
    let written = serde_json::to_vec(&session).expect("an export is JSON");
    assert_eq!(serde_json::from_slice::<Exported>(&written).ok().as_ref(), Some(&session), "what is exported is read again");
    session.pass(&Sanitizer::shipped());
    INDEX.with_borrow_mut(|index| {
        if index.as_ref().is_none_or(|(.., uses)| *uses >= USES) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Writer::open(&folder.path().join("recall.db")).expect("an index");
            *index = Some((folder, store, 0));
        }
        let (_, store, uses) = index.as_mut().expect("it was made");
        *uses += 1;
        // The index is used for many inputs: each is a session of its own.
        session.session.push_str(&format!("-{uses}"));
        taken_in(store, &session);
    });
}

fn taken_in(store: &mut Writer, session: &Exported) {
    let Ok(new) = store.import_session(session.clone()) else { return };
    assert!(new, "it was not there");
    assert!(!store.import_session(session.clone()).expect("it was taken in before"), "the second time brings nothing");
    let pk = store.session_pk(&session.session).expect("it is read").expect("it is there");
    let head = store.session_head(pk).expect("it is there");
    let exported = store.export_session(&head).expect("it is written");
    assert_eq!(exported.session, session.session);
    let texts = |exported: &Exported| -> usize {
        exported.sources.iter().flat_map(|source| &source.rows).flat_map(|row| row.item.texts()).map(str::len).sum()
    };
    assert!(texts(&exported) <= texts(session), "nothing is added");
    let zone = TimeZone::UTC;
    let loaded = store.load_session(&head).expect("what was taken in is read");
    let stored = store.digest_of(pk).expect("it is read").map(|stored| stored.digest);
    let digest = stored.unwrap_or_else(|| without_model::digest(&loaded, &SessionAccount::of(&loaded, false)));
    let day = day_of(&loaded, &zone);
    let shown = SessionPageInput {
        session: &loaded,
        digest: &digest,
        digest_id: "d0000000",
        summarizer: "extract",
        paid: None,
        goes_on: false,
        items: &ItemStates::default(),
        overtaken: &[],
        costs: costs_by_model(&loaded.usage, &Default::default()),
        costs_by_day: Default::default(),
        repeated_by: None,
        page: session_page_name(&loaded.id, &loaded.project, &day, false),
    };
    assert!(session_page(&shown, &zone).starts_with("---\n"));
    assert!(
        day_page(
            &day,
            DayEntry::on(&day, &shown, &SessionFacts::of(&loaded), &zone).into_iter().collect(),
            UndigestedTotals::default(),
            &[],
            &zone
        )
        .starts_with("---\n")
    );
    assert!(loaded.entries.iter().all(|entry| !matches!(entry.item, Item::Outcome(_))));
    assert!(store.write_documents().expect("documents are written").failed.is_empty());
}
