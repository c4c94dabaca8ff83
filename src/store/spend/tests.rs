//! What counts for a day, whatever calls cost, whatever the clock does, and whatever other processes reserve meanwhile.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// How many random histories are tried; more in a long run.
fn cases() -> u32 {
    std::env::var("RECALL_SPENDS").ok().and_then(|n| n.parse().ok()).unwrap_or(16)
}

const DAY: Millis = 86_400_000;
const CAP: f64 = 1.0;
const WIDE: Budget = Budget { run_usd: f64::INFINITY, day_usd: CAP };

fn store() -> (tempfile::TempDir, Writer) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Writer::open(&folder.path().join("recall.db")).expect("a new index");
    (folder, store)
}

fn call(at: Millis, worst_usd: f64) -> PlannedCall<'static> {
    let from = at.div_euclid(DAY) * DAY;
    PlannedCall { at, day: from..from + DAY, name: "s", model: "m", worst_usd, spent_run: 0.0 }
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy)]
enum Came {
    /// It reported its cost, as a share of the worst case.
    To(f64),
    /// It was killed or reported nothing.
    Unknown,
}

fn came(dearest: f64) -> impl Strategy<Value = Came> {
    prop_oneof![3 => (0.0..=dearest).prop_map(Came::To), 1 => Just(Came::To(0.0)), 1 => Just(Came::Unknown)]
}

/// Reserves and settles; returns the money that is gone, if the call was made.
fn pay(store: &mut Writer, at: Millis, worst: f64, came: Came) -> Option<f64> {
    let reserved = store.reserve(&call(at, worst), &WIDE).expect("an index that works").ok()?;
    Some(match came {
        Came::Unknown => reserved.usd,
        Came::To(share) => {
            store.settle(reserved.pk, share * worst).expect("settled");
            share * worst
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_day_never_costs_more_than_its_cap(
        calls in proptest::collection::vec((0..DAY / 3, 0.001..0.7f64, came(1.0)), 1..60)
    ) {
        let (_folder, mut store) = store();
        let (mut now, mut days) = (20_000 * DAY, std::collections::BTreeMap::<Millis, f64>::new());
        for (passed, worst, came) in calls {
            now += passed;
            let sum = days.entry(now / DAY).or_default();
            let left = CAP - *sum;
            match pay(&mut store, now, worst, came) {
                Some(paid) => *sum += paid,
                None => prop_assert!(worst > left - 1e-6, "there was room: {left} for {worst}"),
            }
            prop_assert!(*sum <= CAP + 1e-6, "{sum}");
        }
    }

    #[test]
    fn calls_that_cost_more_than_their_worst_pass_the_cap_once(
        calls in proptest::collection::vec((0.001..0.3f64, came(9.0)), 1..40)
    ) {
        let (_folder, mut store) = store();
        let (mut sum, mut dearest) = (0.0, 0.0f64);
        for (worst, came) in calls {
            let Some(paid) = pay(&mut store, 20_000 * DAY, worst, came) else { continue };
            prop_assert!(sum < CAP + 1e-6, "the cap had been passed before: {sum}");
            sum += paid;
            dearest = dearest.max(paid);
        }
        prop_assert!(sum <= CAP + dearest, "{sum}, the dearest {dearest}");
    }

    #[test]
    fn no_clock_gives_a_day_twice_or_holds_the_model_up_for_ever(
        calls in proptest::collection::vec((prop_oneof![4 => -2i64..4, 1 => -9_000i64..9_000], 0.1..0.9f64, came(1.0)), 1..40)
    ) {
        let (_folder, mut store) = store();
        let (mut day, mut seen, mut spent) = (20_000, BTreeSet::new(), 0.0);
        for (days, worst, came) in calls {
            day = (day + days).max(0);
            seen.insert(day);
            spent += pay(&mut store, day * DAY + 5, worst, came).unwrap_or(0.0);
            prop_assert!(spent <= CAP * seen.len() as f64 + 1e-6, "{spent} on {} days", seen.len());
        }
        // The clock is right again and advances normally.
        let _ = store.reserve(&call(day * DAY, 0.9), &WIDE).expect("an index that works");
        let fresh = (day + 1..).find(|day| !seen.contains(day)).expect("a day");
        prop_assert!(store.reserve(&call(fresh * DAY, CAP), &WIDE).expect("an index that works").is_ok(), "held up on {fresh}");
    }
}

#[test]
fn what_a_clock_that_was_ahead_spent_counts_until_the_next_day_and_no_longer() {
    let (_folder, mut store) = store();
    let today = 20_000 * DAY;
    assert!(pay(&mut store, today + 3_650 * DAY, 0.9, Came::To(1.0)).is_some());
    assert_eq!(pay(&mut store, today, 0.2, Came::To(1.0)), None, "no second budget");
    assert_eq!(pay(&mut store, today + DAY - 1, 0.2, Came::To(1.0)), None);
    assert!(pay(&mut store, today + DAY, 0.9, Came::To(1.0)).is_some(), "and no ten years' wait");
    assert_eq!(store.spent().expect("a sum"), 1.8);
}

#[test]
fn an_excursion_into_the_past_does_not_give_today_back() {
    let (_folder, mut store) = store();
    let today = 20_000 * DAY;
    assert!(pay(&mut store, today, 0.6, Came::To(1.0)).is_some());
    // A machine without a battery starts in 1970 until it has synchronised its clock.
    assert!(pay(&mut store, 7, 0.3, Came::To(1.0)).is_some(), "there is room for it");
    assert_eq!(pay(&mut store, 8, 0.2, Came::To(1.0)), None, "what lies in the future counts");
    assert_eq!(pay(&mut store, today + 9, 0.2, Came::To(1.0)), None, "so does what was spent meanwhile");
    assert!(pay(&mut store, today + DAY, 0.9, Came::To(1.0)).is_some());
}

#[test]
fn what_cost_more_than_its_worst_case_raises_what_is_reserved_until_the_next_day() {
    let (_folder, mut store) = store();
    assert!(pay(&mut store, DAY, 0.1, Came::To(3.0)).is_some());
    let again = store.reserve(&call(DAY, 0.1), &WIDE).expect("an index that works").expect("room");
    assert!((again.usd - 0.3).abs() < 1e-9, "{again:?}");
    assert_eq!(store.reserve(&call(DAY, 0.2), &WIDE).expect("an index that works"), Err(SkipReason::DayBudget));
    let tomorrow = store.reserve(&call(2 * DAY, 0.1), &WIDE).expect("an index that works").expect("room");
    assert!((tomorrow.usd - 0.1).abs() < 1e-9, "{tomorrow:?}");
}

#[test]
fn many_at_once_reserve_what_there_is_and_no_more() {
    let (folder, store) = store();
    drop(store);
    let path = folder.path().join("recall.db");
    let reserve = || {
        let mut store = Writer::open(&path).expect("the index");
        (0..20).filter(|_| store.reserve(&call(DAY, 0.03), &WIDE).expect("an index that works").is_ok()).count()
    };
    let made: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(reserve)).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    assert_eq!(made, 33, "33 times 3 cents fit into a dollar");
    let store = Writer::open(&path).expect("the index");
    assert!(store.spent().expect("a sum") <= CAP);
}

#[test]
fn a_reservation_before_one_that_was_settled_is_no_open_one() {
    let (_folder, mut store) = store();
    let mut reserve = || store.reserve(&call(DAY, 0.1), &WIDE).expect("an index that works").expect("room");
    let (_killed, answered) = (reserve(), reserve());
    assert_eq!(store.open_reservation("s").expect("an index that works"), Some(answered));
    store.settle(answered.pk, 0.01).expect("settled");
    assert_eq!(store.open_reservation("s").expect("an index that works"), None, "what the killed one reserved stays spent");
}
