//! How the program is linked.
//!
//! On Linux at a fixed address: a program that may lie anywhere has some twenty thousand addresses to be filled in before it starts, on
//! a hundred pages that are copied for it. That takes a quarter of all the time of a hook. What it links to, its heap and its stack lie
//! anywhere all the same.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set.split(',').any(|one| one == value));
    // One that is linked to nothing is linked in another way.
    let is_static = is("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
