//! Any order of what machines do, with a carrier that fails anywhere.

use crate::support::{Fails, Held, Memory, Site, record_id};
use proptest::prelude::*;

const SITES: usize = 3;

#[derive(Clone, Debug)]
enum Act {
    /// A new record or a new version of one.
    Write {
        site: usize,
        id: u8,
        bytes: usize,
    },
    Gone {
        site: usize,
        id: u8,
    },
    Withdraw {
        site: usize,
        id: u8,
    },
    Publish {
        site: usize,
        fails: Option<(usize, Fails)>,
    },
    Read {
        site: usize,
        fails: Option<(usize, Fails)>,
        takes: usize,
    },
    LoseFile {
        which: usize,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let fails = || proptest::option::of((0..8_usize, prop_oneof![Just(Fails::Before), Just(Fails::After)]));
    let site = || 0..SITES;
    let act = prop_oneof![
        // Some are as large as a third of a segment, so that segments fill and are merged.
        4 => (site(), 0..12_u8, prop_oneof![4 => Just(10_usize), 1 => Just(1_500_000)]).prop_map(|(site, id, bytes)| Act::Write { site, id, bytes }),
        1 => (site(), 0..12_u8).prop_map(|(site, id)| Act::Gone { site, id }),
        2 => (site(), 0..12_u8).prop_map(|(site, id)| Act::Withdraw { site, id }),
        4 => (site(), fails()).prop_map(|(site, fails)| Act::Publish { site, fails }),
        4 => (site(), fails(), prop_oneof![Just(usize::MAX), 0..6_usize]).prop_map(|(site, fails, takes)| Act::Read { site, fails, takes }),
        1 => (0..64_usize).prop_map(|which| Act::LoseFile { which }),
    ];
    proptest::collection::vec(act, 0..40)
}

/// Every text says whose it is and which version, so that it can be looked for.
fn text(site: usize, id: u8, version: u64) -> String {
    format!("<text of {site} {id} {version}>")
}

fn act(memory: &Memory, sites: &mut [Site], act: &Act, version: &mut u64) {
    let fail = |fails: &Option<(usize, Fails)>| fails.iter().for_each(|(after, how)| memory.fail(*after, *how));
    match act {
        Act::Write { site, id, bytes } => {
            *version += 1;
            let text = text(*site, *id, *version) + &"x".repeat(*bytes);
            sites[*site].write(&id.to_string(), *version, &text);
        }
        Act::Gone { site, id } => {
            *version += 1;
            sites[*site].own.insert(record_id(&id.to_string()), (*version, None));
        }
        Act::Withdraw { site, id } => _ = sites[*site].own.remove(&record_id(&id.to_string())),
        Act::Publish { site, fails } => {
            fail(fails);
            // Only the carrier fails here; it went wrong in its own words.
            if let Err(error) = sites[*site].publish(memory) {
                assert!(error.to_string().contains("it was told to fail"), "{error}");
            }
        }
        Act::Read { site, fails, takes } => {
            fail(fails);
            if let Err(error) = sites[*site].read_up_to(memory, *takes) {
                assert!(error.to_string().contains("it was told to fail") || error.to_string().contains("no more"), "{error}");
            }
        }
        Act::LoseFile { which } => {
            let files = memory.files();
            files.keys().nth(*which).into_iter().for_each(|name| memory.lose(name));
        }
    }
    memory.recover();
}

/// What stands in the files of all machines, read without the crate: which texts, and the manifest's own words.
fn texts_in_files(memory: &Memory) -> String {
    let mut all = String::new();
    for file in memory.files().values() {
        let start = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        all.push_str(std::str::from_utf8(&zstd::decode_all(&file[start..]).unwrap()).unwrap());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn in_the_end_everybody_has_what_everybody_publishes(acts in acts()) {
        let memory = Memory::default();
        let mut sites: Vec<Site> = (0..SITES).map(Site::new).collect();
        let mut version = 0;
        acts.iter().for_each(|next| act(&memory, &mut sites, next, &mut version));

        for site in &mut sites {
            site.publish(&memory).unwrap();
        }
        for site in &mut sites {
            let taken = site.read(&memory).unwrap();
            prop_assert!(taken.incomplete.is_empty() && taken.set_aside.is_empty(), "{taken:?}");
        }
        for site in &sites {
            for other in sites.iter().filter(|other| other.me != site.me) {
                prop_assert_eq!(site.of(other), other.own.clone());
            }
        }
        let files = texts_in_files(&memory);
        let live = |held: &Held| held.values().filter(|(_, body)| body.is_some()).count();
        prop_assert_eq!(files.matches("<text of").count(), sites.iter().map(|site| live(&site.own)).sum::<usize>());
        for (number, site) in sites.iter().enumerate() {
            for (id, (version, body)) in &site.own {
                let id: u8 = id.id.parse().unwrap();
                prop_assert_eq!(files.contains(&text(number, id, *version)), body.is_some());
            }
        }
        // Nothing is left to do.
        let writes = memory.writes();
        for site in &mut sites {
            site.publish(&memory).unwrap();
            prop_assert_eq!(site.read(&memory).unwrap(), sync::Taken::default());
        }
        prop_assert_eq!(memory.writes(), writes);
    }
}
