//! Little memory: a limit of the address space, under which threads cannot be started. Each of them reserves a stack and more.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::faults::scene::FIXTURES;
use crate::faults::sessions;
use crate::support::{Ran, World};

/// Runs a digest with many threads under a limit, in MiB. `None` where not even the program could be loaded.
fn limited(world: &World, mib: u64) -> Option<Ran> {
    let mut command = Command::new("/bin/sh");
    command.env_clear().envs(world.environment()).current_dir(world.root());
    command.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &(mib << 10).to_string(), world.program()]);
    let output = command.args(["digest", "--summarizer", "extract", "--jobs", "8"]).output().expect("a shell");
    let loaded = output.status.signal() != Some(11) && output.status.code() != Some(127);
    loaded.then(|| Ran::of(output))
}

#[test]
fn a_digest_that_cannot_start_threads_works_with_fewer_or_says_so() {
    let (mut done, mut refused) = (0, 0);
    for mib in (32..=560).step_by(12) {
        let world = World::with_fixtures(&FIXTURES);
        sessions::add(&world);
        let Some(ran) = limited(&world, mib) else { continue };
        assert!(!ran.err.contains("panicked"), "{mib} MiB: {ran:#?}");
        match ran.code {
            0 => done += 1,
            2 => {
                assert!(ran.err.contains("recall: ") && ran.err.contains("memory"), "{mib} MiB: {ran:#?}");
                refused += 1;
            }
            // What the allocator cannot have nobody can answer.
            _ => assert!(ran.err.contains("memory allocation of"), "{mib} MiB: {ran:#?}"),
        }
        let later = world.recall(["digest", "--summarizer", "extract"]);
        assert!(later.code == 0 && world.pages().len() > 10, "{mib} MiB, and then without a limit: {later:#?}");
    }
    println!("under a limit of memory: {done} digests done, {refused} refused");
    assert!(done > 10, "{done} done, {refused} refused");
}
