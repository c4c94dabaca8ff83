//! Linker settings.
//!
//! On Linux the program is linked at a fixed address (`-no-pie`): a position-independent one has about twenty thousand addresses to
//! relocate at start, on a hundred pages that must be copied for it, which takes a quarter of a hook's time. Shared libraries, heap and
//! stack are still placed at random.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set.split(',').any(|one| one == value));
    // A static program is linked in another way.
    let is_static = is("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
