//! Killed in one time zone, and started again in another: days are other days there, and no page of the first is left.

use std::fs;
use std::os::unix::fs::DirBuilderExt;

use crate::faults::interposer::{Fault, When, interpose, record, recorded};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::FIXTURES;
use crate::faults::sessions;
use crate::support::{World, copy_tree};

const EAST: &str = "Pacific/Kiritimati";
const WEST: &str = "Pacific/Pago_Pago";
const DIGEST: [&str; 3] = ["digest", "--summarizer", "extract"];

struct Trial {
    world: World,
    start: tempfile::TempDir,
}

impl Trial {
    /// `before`: the zone of a digest that was whole.
    fn new(before: Option<&str>) -> Self {
        let world = World::with_fixtures(&FIXTURES);
        sessions::add(&world);
        if let Some(zone) = before {
            assert_eq!(world.recall_with(DIGEST, &[("TZ", zone)]).code, 0);
            sessions::grow(&world);
        }
        let start = tempfile::tempdir().expect("a temporary folder");
        if world.data_dir().exists() {
            copy_tree(&world.data_dir(), start.path());
        }
        Self { world, start }
    }

    fn reset(&self) {
        let folder = self.world.data_dir();
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("the folder goes");
        }
        fs::DirBuilder::new().mode(0o700).create(&folder).expect("the folder");
        copy_tree(self.start.path(), &folder);
    }

    /// The pages after a run in this zone.
    fn pages_in(&self, zone: &str, how: &str) -> Vec<(String, String)> {
        let ran = self.world.recall_with(DIGEST, &[("TZ", zone)]);
        assert_eq!(ran.code, 0, "{how}: {ran:#?}");
        self.world.pages()
    }

    /// Runs in this zone with a fault, and says whether it was killed; the number of calls of an undisturbed run is noted in `log`.
    fn disturbed(&self, zone: &str, fault: Fault, log: &std::path::Path) -> bool {
        let mut command = self.world.process();
        command.args(DIGEST).env("TZ", zone);
        interpose(&mut command, self.world.root(), fault);
        record(&mut command, log, std::path::Path::new(""));
        command.output().expect("recall starts").status.code().is_none()
    }

    /// The calls with which a run in this zone writes pages, its index and what stands beside them from the first page on.
    fn calls(&self, zone: &str) -> Vec<usize> {
        self.reset();
        let log = tempfile::NamedTempFile::new().expect("a temporary file");
        self.disturbed(zone, Fault::Nothing, log.path());
        let calls = recorded(log.path());
        let first = calls.iter().position(|call| call.path.components().any(|part| part.as_os_str() == "writing"));
        calls[first.expect("pages are written")..].iter().map(|call| call.number).collect()
    }

    /// Kills a run in one zone all over the writing of its pages, and runs in another. Returns how often.
    fn tries(&self, killed: &str, next: &str, most: usize, sample: &mut Sample) -> usize {
        self.reset();
        let wanted = self.pages_in(next, "undisturbed");
        let log = tempfile::NamedTempFile::new().expect("a temporary file");
        let moments = sample.of(&self.calls(killed), most);
        for at in &moments {
            let how = format!("killed in {killed} before call {at}, then run in {next}");
            self.reset();
            assert!(self.disturbed(killed, Fault::Kill(*at, When::Before), log.path()), "{how}");
            let pages = self.pages_in(next, &how);
            let names = |pages: &[(String, String)]| pages.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&pages), names(&wanted), "{how}");
            assert_eq!(pages, wanted, "{how}");
        }
        moments.len()
    }
}

#[test]
fn no_page_of_a_run_that_is_killed_in_another_time_zone_is_left() {
    let mut sample = Sample::new("killed in another time zone");
    let most = part(100).max(10);
    let mut tried = Trial::new(None).tries(EAST, WEST, most, &mut sample);
    let moved = Trial::new(Some(WEST));
    tried += moved.tries(EAST, WEST, most, &mut sample);
    tried += moved.tries(EAST, "UTC", most.div_ceil(2), &mut sample);
    assert!(tried >= 20, "{tried}");
}
