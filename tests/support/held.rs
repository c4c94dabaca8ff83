//! A run that waits at a named point while something else is done.

use std::ffi::OsString;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;
use std::thread;

use super::timeout::ended;
use super::{Ran, World};

pub fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo starts").success());
}

/// Runs `recall` with these arguments; at the point it waits until `done` is done. Named points are built into debug builds only.
pub fn held_at(world: &World, point: &str, args: &[&str], done: impl FnOnce()) -> Ran {
    let pipe = world.root().join("held");
    mkfifo(&pipe);
    let mut asked = OsString::from(format!("{point}:"));
    asked.push(&pipe);
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut command = world.process();
            command.args(args).env("RECALL_HOLD_AT", asked);
            let ran = catch_unwind(AssertUnwindSafe(|| ended(command, "", &format!("{args:?}"))));
            // Who still waits for a run that ended without passing the point would wait for ever.
            drop(File::options().read(true).write(true).open(&pipe));
            ran.unwrap_or_else(|why| resume_unwind(why))
        });
        // Opened once the run is at the point, which it leaves when this is closed.
        let held = File::options().write(true).open(&pipe).expect("the run's pipe");
        done();
        drop(held);
        run.join().unwrap_or_else(|why| resume_unwind(why))
    })
}
