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
mod slices;
mod transcripts;
