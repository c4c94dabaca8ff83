//! The power fails: of what was written since the last sync nothing is there any more.
//!
//! One run is recorded, call by call, with the content of each file as it is synced. What the disk holds after any of these calls is put
//! together from that, the data folder is made so, and the next run has to cope. Two kinds of disks: one keeps the names of files at
//! once, so that a file may be there without its content; the other keeps them once their folder is synced. Folders are always kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::faults::interposer::Call;
use crate::faults::paid_calls::Paid;
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::{Scene, State};
use crate::faults::sessions::{first_run, later_run};
use crate::support::files_below;

/// When the name of a file outlives a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    AtOnce,
    WithTheirFolder,
}

/// A disk, as it would be found after a power failure.
struct Disk {
    names_last: Names,
    /// Files by number, as they are and as they were last synced.
    now: BTreeMap<PathBuf, usize>,
    kept: BTreeMap<PathBuf, usize>,
    /// What was synced of each file.
    content: Vec<Vec<u8>>,
    numbers: BTreeMap<u64, usize>,
    folders: BTreeSet<PathBuf>,
}

impl Disk {
    /// All that lies below a folder, synced.
    fn of(folder: &Path, names_last: Names) -> Self {
        let (now, folders) = (BTreeMap::new(), BTreeSet::from([folder.to_owned()]));
        let mut disk = Self { names_last, now, kept: BTreeMap::new(), content: Vec::new(), numbers: BTreeMap::new(), folders };
        for file in files_below(folder) {
            let inode = fs::metadata(&file).expect("a file").ino();
            let number = disk.new_file(inode, fs::read(&file).expect("a file"));
            disk.now.insert(file, number);
        }
        disk.kept = disk.now.clone();
        disk
    }

    fn new_file(&mut self, inode: u64, content: Vec<u8>) -> usize {
        self.content.push(content);
        let number = self.content.len() - 1;
        self.numbers.insert(inode, number);
        number
    }

    fn apply(&mut self, call: &Call, blobs: &Path) {
        match call.what.as_str() {
            "create" => {
                let number = self.new_file(call.inode, Vec::new());
                self.now.insert(call.path.clone(), number);
            }
            "rename" => {
                let moved = self.now.remove(&call.path).unwrap_or_else(|| panic!("a file that is not known was renamed: {call:?}"));
                self.now.insert(call.other.clone(), moved);
            }
            "link" => _ = self.now.get(&call.path).copied().map(|file| self.now.insert(call.other.clone(), file)),
            "unlink" => _ = self.now.remove(&call.path),
            "mkdir" => _ = self.folders.insert(call.path.clone()),
            "rmdir" => _ = self.folders.remove(&call.path),
            "sync" => self.sync(call, blobs),
            _ => return,
        }
        if self.names_last == Names::AtOnce {
            self.kept = self.now.clone();
        }
    }

    fn sync(&mut self, call: &Call, blobs: &Path) {
        match self.numbers.get(&call.inode) {
            Some(number) => self.content[*number] = fs::read(blobs.join(call.number.to_string())).expect("what was synced"),
            None => {
                let inside = |file: &Path| file.parent() == Some(&call.path);
                self.kept.retain(|file, _| !inside(file));
                self.kept.extend(self.now.iter().filter(|(file, _)| inside(file)).map(|(file, number)| (file.clone(), *number)));
            }
        }
    }

    /// Files by their paths below the folder, as they would be found. The index's shared memory is no file in truth.
    fn found<'d>(&'d self, folder: &'d Path) -> impl Iterator<Item = (&'d Path, &'d [u8])> {
        let below =
            self.kept.iter().filter_map(move |(file, number)| Some((file.strip_prefix(folder).ok()?, &self.content[*number][..])));
        below.filter(|(file, _)| !file.to_string_lossy().ends_with("-shm"))
    }

    fn write(&self, folder: &Path, to: &Path) {
        for made in self.folders.iter().filter_map(|f| f.strip_prefix(folder).ok()) {
            fs::create_dir_all(to.join(made)).expect("a folder");
        }
        for (file, content) in self.found(folder) {
            fs::create_dir_all(to.join(file).parent().expect("a parent")).expect("a folder");
            fs::write(to.join(file), content).expect("a file");
        }
    }
}

/// What was answered and lies on the disk as a reply.
fn answers(disk: &Disk, data: &Path) -> BTreeSet<String> {
    let replies = disk.found(data).filter(|(file, _)| file.starts_with("replies") && file.extension().is_some_and(|e| e == "json"));
    let sum = |text: &[u8]| Some(String::from_utf8_lossy(text).split_once("Work number ")?.1.split_once(' ')?.0.to_owned());
    replies.filter_map(|(_, text)| sum(text)).collect()
}

pub fn fails_anywhere(scene: &Scene, paid: Option<&Paid>, most: usize, sample: &mut Sample) {
    let wanted = scene.undisturbed();
    // Answers that were kept at any time before, by the disk.
    let stored = RefCell::new(BTreeSet::new());
    let look = |disk: &Disk, calls: usize| {
        let mut stored = stored.borrow_mut();
        if calls == 0 {
            stored.clear();
        }
        stored.extend(answers(disk, scene.folder()));
    };
    walk(scene, most, sample, look, |how| goes_on(scene, paid, &wanted, &stored.borrow(), how));
}

/// Records a run and puts the folder into each state that a power failure may leave on each kind of disk, `most` at most.
pub fn each_failure(scene: &Scene, most: usize, sample: &mut Sample, then: impl FnMut(&str)) {
    walk(scene, most, sample, |_, _| {}, then);
}

fn walk(scene: &Scene, most: usize, sample: &mut Sample, look: impl Fn(&Disk, usize), mut then: impl FnMut(&str)) {
    scene.reset();
    let disks = [Names::AtOnce, Names::WithTheirFolder].map(|names| Disk::of(scene.folder(), names));
    let blobs = tempfile::tempdir().expect("a temporary folder");
    let calls = scene.recorded(blobs.path());
    let numbers: Vec<usize> = calls.iter().map(|call| call.number).collect();
    for mut disk in disks {
        let chosen: BTreeSet<usize> = sample.of(&numbers, most).into_iter().collect();
        look(&disk, 0);
        for (n, call) in calls.iter().enumerate() {
            disk.apply(call, blobs.path());
            look(&disk, n + 1);
            if chosen.contains(&call.number) {
                let left = tempfile::tempdir().expect("a temporary folder");
                disk.write(scene.folder(), left.path());
                scene.put(left.path());
                then(&format!("{:?}, after {call:?} of {}", disk.names_last, calls.len()));
            }
        }
        add(&scene.name, Tried { power_failures: chosen.len(), ..Tried::default() });
    }
}

fn goes_on(scene: &Scene, paid: Option<&Paid>, wanted: &State, stored: &BTreeSet<String>, how: &str) {
    if let Some(paid) = paid {
        paid.reset();
    }
    scene.finish(how);
    if let Some(difference) = scene.differs_from(wanted) {
        panic!("{how}: {difference}");
    }
    scene.holds_nothing_forgotten(how);
    let Some(paid) = paid else { return };
    for sum in stored {
        assert!(!paid.asked().contains_key(sum), "{how}: {sum} was paid for again, and its answer had been stored");
        assert!(paid.sums_reserved(scene, sum) > 0, "{how}: that {sum} was paid for is not on record");
    }
}

#[test]
fn a_power_failure_takes_nothing_that_is_not_made_again_and_no_answer() {
    let mut sample = Sample::new("a power failure");
    for summarizer in ["extract", "claude"] {
        for (scene, paid) in [first_run(summarizer), later_run(summarizer)] {
            fails_anywhere(&scene, paid.as_ref(), part(3), &mut sample);
        }
    }
}
