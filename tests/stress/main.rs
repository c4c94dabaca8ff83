//! What tries to break `recall`: kills, power failures, failing disks, damage, crowds, files that change, hostile input, the real client.
//!
//! A plain run tries a little of everything with fixed seeds; `tests/README.md` names the variables that make it large or random.

#[path = "../support/mod.rs"]
mod support;

mod crowd;
mod damage;
#[cfg(all(target_os = "linux", target_env = "gnu", debug_assertions))]
mod faults;
mod fuzzing;
mod live;
mod lost_index;
#[cfg(feature = "sync")]
mod machines;
mod slices;
mod transcripts;
mod web;

/// The tests of `faults` are built for one system, with debug assertions. Anywhere else this one says that they were left out.
#[cfg(not(all(target_os = "linux", target_env = "gnu", debug_assertions)))]
#[test]
#[ignore = "LEFT OUT: all of tests/stress/faults, which needs Linux with the GNU C library, and debug assertions (no --release)"]
fn kills_power_failures_and_failing_disks_are_tried_where_they_can_be() {
    panic!("faults cannot run here");
}
