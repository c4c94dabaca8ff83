//! What was closed is told as open by no way out of the memory: the ways are those of `excluded_everywhere`.

use super::excluded_everywhere::{CLINIC, EXTRACT, SHOP, Scene, outputs};
use crate::support::{assistant, tasks, user};

/// Ways that give what was stored or said as it is, for who asks for just that, or takes it out.
fn is_raw(way: &str) -> bool {
    ["--raw", "--items", "recall export", "recall wrong"].iter().any(|part| way.contains(part))
}

/// Is it told as open before, or without, the word that it is closed?
fn is_told_as_open(told: &str, word: &str) -> bool {
    let Some(at) = told.find(word) else { return false };
    let line = told[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = told[at..].find('\n').map_or(told.len(), |end| at + end);
    let says_so =
        |text: &str| ["closed by the user", "\"by\": \"user\"", "~~", "closed already"].iter().any(|said| text.contains(said));
    let is_json = told.trim_start().starts_with(['{', '[']);
    let asked = told[at..].lines().chain(told[..at].lines()).any(|line| line.contains(word) && line.contains("not ticked off"));
    asked || !says_so(if is_json { told } else { &told[..end] }) && !says_so(&told[line..end])
}

#[test]
fn what_is_closed_is_told_as_open_by_no_way_out_and_a_reply_that_says_it_stands_below_its_closing() {
    let scene = Scene::bare();
    let left = "Paint the gauge of the hushquartz ledger blue before the audit of the ward";
    let reply = "The ledger is balanced. Still left: paint the gauge of the hushquartz ledger blue before the audit of the ward.";
    let rows = user(CLINIC, "u1", "2026-11-20T09:00:00Z", "Balance the ledger")
        + &tasks(CLINIC, "t1", "2026-11-20T09:01:00Z", &[left])
        + &assistant(CLINIC, "a1", "2026-11-20T09:02:00Z", reply);
    scene.world.transcript(
        &format!("-p/{CLINIC}.jsonl"),
        rows.replace("/home/dev/src/shop", scene.dir("clinic").to_str().expect("UTF-8")),
    );
    scene.world.transcript(
        &format!("-q/{SHOP}.jsonl"),
        scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt"),
    );
    scene.world.digest(&EXTRACT);
    let scene = scene.with_note("The ledger of the ward closes at noon.");
    let mut names = scene.names();
    let item = names.iter().find(|(name, _)| *name == "{item}").expect("its name").1.clone();
    // Ways that close and open again shall do so with another one.
    let other = names.iter().find(|(name, _)| *name == "{shop_item}").expect("its name").1.clone();
    names.iter_mut().filter(|(name, _)| *name == "{item}").for_each(|(_, value)| value.clone_from(&other));
    let is_open = |told: &str| is_told_as_open(told, "hushquartz");
    let before = outputs(&scene, &names);
    let open: Vec<&str> = before.iter().filter(|(way, told)| !is_raw(way) && is_open(told)).map(|(way, _)| way.as_str()).collect();
    assert!(open.len() > 15, "only {} ways show it while it is open: {open:#?}", open.len());

    assert_eq!(scene.world.recall(["close", &item]).code, 0);
    let after = outputs(&scene, &names);
    let open: Vec<_> = after.iter().filter(|(way, told)| !is_raw(way) && is_open(told)).collect();
    assert!(open.is_empty(), "{} ways tell it as open: {open:#?}", open.len());
    let quoting =
        ["recall show {clinic}", "recall show {clinic} --full", "recall timeline {clinic}", "recall search ledger", "the pages"];
    for (way, told) in after.iter().filter(|(way, _)| quoting.contains(&way.as_str())) {
        let closed = told.to_lowercase().find("since then: closed by the user, 2026-11-21: paint the gauge");
        let quote = told.find("Still left").unwrap_or(usize::MAX);
        assert!(closed.is_some_and(|closed| closed < quote), "{way}: {told}");
    }
}
