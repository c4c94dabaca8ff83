//! Damage of any kind at any place, as often as one likes: `RECALL_DAMAGES` (10), from `RECALL_SEED` on (1).

use std::collections::BTreeMap;
use std::fs;

use crate::damage::kinds::{PAGE, over};
use crate::damage::scene::{FORGOTTEN, GREW, SHORTENED, Scene, id, living};
use crate::support::Ran;
use crate::support::size::{Dice, number, seed};

/// Hits the index, sometimes its copies as well. Returns what was done, to be read by people.
fn hit(scene: &Scene, states: &[Vec<u8>], dice: &mut Dice) -> String {
    if dice.below(2) == 0 {
        return pages_of_an_older_state(scene, states, dice);
    }
    let file = match dice.below(6) {
        0 => scene.copy(),
        1 => scene.checked(),
        _ => scene.index(),
    };
    let len = fs::metadata(&file).map_or(0, |m| m.len());
    let at = dice.below(len);
    let bytes: Vec<u8> = (0..1 + dice.below(64)).map(|_| dice.next() as u8).collect();
    let kind = dice.below(6);
    match kind {
        0 => fs::File::options().write(true).open(&file).and_then(|f| f.set_len(at)).expect("cut short"),
        1 => over(&file, at / 4096 * 4096, &[0; 4096]),
        2 => over(&file, at / 4096 * 4096, &bytes),
        3 => over(&file, dice.below(100), &bytes[..1]),
        _ => over(&file, at, &bytes),
    }
    format!("{} of {len} bytes: kind {kind} at {at}, {} bytes", file.file_name().expect("a name").display(), bytes.len())
}

/// Gives some pages of the index what they held at an earlier moment, as writes that were lost leave them.
fn pages_of_an_older_state(scene: &Scene, states: &[Vec<u8>], dice: &mut Dice) -> String {
    let at = dice.below(states.len() as u64) as usize;
    let (now, pages) = (fs::read(scene.index()).expect("the index"), states[at].chunks_exact(PAGE as usize));
    let differ: Vec<(u64, &[u8])> =
        (0..).zip(pages).filter(|(n, page)| now.chunks_exact(PAGE as usize).nth(*n as usize) != Some(page)).collect();
    let chosen: Vec<_> = (0..=dice.below(6)).map(|_| differ[dice.below(differ.len() as u64) as usize]).collect();
    chosen.iter().for_each(|(n, page)| over(&scene.index(), n * PAGE, page));
    format!("the index: pages {:?} as in state {at}", chosen.iter().map(|(n, _)| n + 1).collect::<Vec<_>>())
}

/// What an index holds: of each session how many items, and the digest it has.
#[derive(Default)]
struct Held {
    items: BTreeMap<String, i64>,
    digests: BTreeMap<String, (i64, String, Vec<u8>)>,
}

impl Held {
    fn by(scene: &Scene) -> Self {
        let db = scene.world.database();
        let mut held = Self::default();
        let sql = "SELECT s.id, (SELECT coalesce(sum(items), 0) FROM bundle WHERE session = s.pk) FROM session s";
        let mut query = db.prepare(sql).expect("sessions");
        held.items.extend(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).expect("rows").map(|row| row.expect("a session")));
        let sql =
            "SELECT s.id, d.made_at, d.summarizer, d.body FROM digest d JOIN session s ON s.pk = d.session WHERE d.superseded = 0";
        let mut query = db.prepare(sql).expect("digests");
        let digests = query.query_map([], |r| Ok((r.get(0)?, (r.get(1)?, r.get(2)?, r.get(3)?)))).expect("rows");
        held.digests.extend(digests.map(|row| row.expect("a digest")));
        held
    }

    /// What is not there now: sessions, sessions with fewer items, and digests by the model.
    fn lost(&self, now: &Self) -> [usize; 3] {
        let gone = self.items.keys().filter(|id| !now.items.contains_key(*id)).count();
        let fewer = self.items.iter().filter(|(id, items)| now.items.get(*id).is_some_and(|now| now < items)).count();
        let paid = self.digests.iter().filter(|(id, digest)| digest.1 == "claude" && now.digests.get(*id) != Some(digest)).count();
        [gone, fewer, paid]
    }
}

/// What the doctor says is lost of the same; `None` where it says that it does not know.
fn told(ran: &Ran) -> [Option<usize>; 3] {
    let line = |begin: &str| ran.err.lines().find(|line| line.contains(begin));
    let unknown = line("it may have contained more").or_else(|| line("data stored since the last copy may be lost"));
    let lost = line("lost: ").unwrap_or_default();
    // The number before a word, as in `3 sessions`.
    let before =
        |word: &str| lost.split([',', ':', '(']).find_map(|part| part.trim().split_once(word)?.0.trim().parse().ok()).unwrap_or(0);
    let fewer = lost.split_once("records of ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).unwrap_or(0);
    let bare =
        line("left with the digest only").and_then(|line| line.split(' ').find_map(|word| word.parse::<usize>().ok())).unwrap_or(0);
    let no_digests = unknown.is_some_and(|line| line.contains("digests"));
    [
        unknown.is_none().then(|| before(" session")),
        unknown.is_none().then_some(fewer.max(bare)),
        (!no_digests).then(|| before(" of them by the model")),
    ]
}

/// What a session says, without where it is stored.
fn said(scene: &Scene) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for session in scene.world.exported().iter().filter(|line| line["session"].is_string()) {
        let sources = session["sources"].as_array().expect("sources").iter();
        let mut rows: Vec<String> =
            sources.flat_map(|s| s["rows"].as_array().expect("rows").iter().map(|r| r["item"].to_string())).collect();
        rows.sort();
        all.insert(session["session"].as_str().expect("an id").to_owned(), rows);
    }
    all
}

fn no_crash(ran: &Ran, what: &str) {
    assert!((0..=2).contains(&ran.code) && !ran.err.contains("panicked"), "{what}: {ran:#?}");
    assert!(!ran.err.contains("database is locked"), "{what}: {ran:#?}");
}

#[test]
fn whatever_was_hit_the_doctor_ends_with_an_index_that_has_all_living_sessions() {
    let (scene, states) = Scene::paid();
    let (good, held) = (said(&scene), Held::by(&scene));
    let (tries, first) = (number("RECALL_DAMAGES", 10), seed());
    let (mut found, mut unseen, mut newer) = (0, 0, 0);
    let (mut checked, mut losing, mut overstated, mut unnamed) = (0, 0, 0, Vec::new());
    for seed in first..first + tries {
        let mut dice = Dice(seed);
        scene.restore();
        let hits: Vec<String> = (0..=dice.below(3)).map(|_| hit(&scene, &states, &mut dice)).collect();
        let what = format!("RECALL_SEED={seed} RECALL_DAMAGES=1, {hits:#?}");
        for command in [&["search", "importer"][..], &["export"], &["status"], &["context", "--cwd", "/home/dev/src/shop"]] {
            no_crash(&scene.run(command), &what);
        }
        let is_written = dice.below(4) == 0;
        if is_written {
            no_crash(&scene.run(&["digest", "--summarizer", "extract"]), &what);
        }
        let fixed = scene.run(&["doctor", "--fix"]);
        no_crash(&fixed, &what);
        assert!(fixed.code < 2, "{what}: {fixed:#?}");
        if fixed.out.contains("written by a newer recall: upgrade recall") {
            // The number of the format was hit. Nothing tells it from a newer program's, which is left as it is.
            assert!(!fixed.out.contains("restored    "), "{what}: {fixed:#?}");
            newer += 1;
            continue;
        }
        scene.is_well();
        // Whoever wrote a damaged index may have lost something before the doctor came.
        if fixed.out.contains("restored    ") && !is_written {
            let lost = held.lost(&Held::by(&scene));
            checked += 1;
            losing += u64::from(lost != [0; 3]);
            overstated += u64::from(lost.iter().zip(told(&fixed)).any(|(lost, told)| told.is_some_and(|told| told > *lost)));
            if lost.iter().zip(told(&fixed)).any(|(lost, told)| told.is_some_and(|told| told < *lost)) {
                unnamed.push(format!("{lost:?} lost: {what}: {fixed:#?}"));
            }
        }
        let digest = scene.run(&["digest", "--summarizer", "extract"]);
        assert!(digest.code < 2, "{what}: {digest:#?}");
        let mended = fixed.out.contains("restored    ");
        found += u64::from(mended);
        let now = said(&scene);
        for session in living().into_iter().filter(|session| ![id(GREW), id(SHORTENED)].contains(session)) {
            let rows = now.get(&session).unwrap_or_else(|| panic!("{what}: {session} is not there: {fixed:#?}"));
            // What is other than it was can only be so where no check of the file's form sees it: in the middle of a text.
            unseen += u64::from(rows != &good[&session]);
            assert!(!mended || rows.len() >= good[&session].len(), "{what}: {session} has lost rows: {fixed:#?}");
        }
        let forgets = fixed.err.contains("forget them again");
        assert!(forgets || !now.contains_key(&id(FORGOTTEN)), "{what}: what was forgotten is back: {fixed:#?}");
    }
    println!(
        "{tries} damages from seed {first}: {found} found and mended, {newer} taken for a newer program's, {unseen} sessions with other bytes \
         in a text, which no check can see; of {checked} mended untouched {losing} lost something, {} in silence, and of {overstated} more is said to be lost than is",
        unnamed.len()
    );
    assert!(unnamed.is_empty(), "{} of {checked}: {unnamed:#?}", unnamed.len());
}
