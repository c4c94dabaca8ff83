//! `recall install` edits a file of somebody else's: killed anywhere, at a power failure and on a failing disk it is as it was or as it
//! is to be, and can be given back.

use std::fs;

use crate::faults::disk::{ends_well, some};
use crate::faults::interposer::{Call, Fault, When};
use crate::faults::power::each_failure;
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::Scene;
use crate::support::World;

const THEIRS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []}\n}\n";

/// The whole world, because it is more than the data folder that changes.
fn scene() -> Scene {
    let world = World::new();
    fs::write(world.claude_dir().join("settings.json"), THEIRS).expect("the settings");
    for empty in [world.home(), world.claude_dir().join("projects"), world.bin()] {
        fs::write(empty.join("kept"), "").expect("a file, so that the folder comes back");
    }
    Scene::in_folder(world.root().to_owned(), world, &["install", "--timer", "none"]).named("install")
}

struct Whole {
    scene: Scene,
    installed: String,
}

impl Whole {
    fn new() -> Self {
        let scene = scene();
        scene.undisturbed();
        let installed = settings(&scene);
        assert_ne!(installed, THEIRS);
        Self { scene, installed }
    }

    /// The settings are theirs or ours and nothing between; installing ends it, and uninstalling gives every byte back.
    fn is_whole(&self, how: &str) {
        let now = settings(&self.scene);
        assert!(now == THEIRS || now == self.installed, "{how}: {now}");
        self.scene.finish(how);
        assert_eq!(settings(&self.scene), self.installed, "{how}");
        let ran = self.scene.world.recall(["uninstall"]);
        assert_eq!(ran.code, 0, "{how}: {ran:#?}");
        let left = self.scene.state();
        let wanted = self.scene.at_start();
        assert_eq!(left.differs_from(&wanted), None, "{how}");
    }
}

fn settings(scene: &Scene) -> String {
    fs::read_to_string(scene.world.claude_dir().join("settings.json")).expect("the settings are there")
}

fn calls(scene: &Scene) -> Vec<Call> {
    scene.reset();
    let blobs = tempfile::tempdir().expect("a temporary folder");
    scene.recorded(blobs.path())
}

#[test]
fn an_install_that_is_killed_leaves_the_settings_whole() {
    let whole = Whole::new();
    let calls = calls(&whole.scene);
    let all: Vec<Fault> =
        (1..=calls.len()).flat_map(|n| [When::Before, When::Half, When::After].map(|when| Fault::Kill(n, when))).collect();
    let some = Sample::new("install, killed").of(&all, part(20));
    for fault in &some {
        whole.scene.reset();
        assert!(whole.scene.disturbed(*fault).killed, "{fault:?}");
        whole.is_whole(&format!("{fault:?} of {}", calls.len()));
    }
    add(&whole.scene.name, Tried { kills: some.len(), ..Tried::default() });
}

#[test]
fn an_install_at_a_power_failure_leaves_the_settings_whole() {
    let whole = Whole::new();
    let mut sample = Sample::new("install at a power failure");
    each_failure(&whole.scene, part(20), &mut sample, |how| whole.is_whole(how));
}

#[test]
fn an_install_on_a_failing_disk_leaves_the_settings_whole() {
    let whole = Whole::new();
    let calls = calls(&whole.scene);
    let some = some(&calls, part(20), &mut Sample::new("install on a failing disk"));
    for fault in &some {
        whole.scene.reset();
        let ended = whole.scene.disturbed(*fault);
        let how = format!("{fault:?} of {}: {ended:#?}", calls.len());
        ends_well(&ended, *fault, whole.scene.world.root(), &how);
        assert!(ended.ran.code != 0 || settings(&whole.scene) == whole.installed, "{how}: it said that all was done");
        whole.is_whole(&how);
    }
    add(&whole.scene.name, Tried { errors: some.len(), ..Tried::default() });
}
