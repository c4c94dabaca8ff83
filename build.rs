//! Linker settings, and the names of the tools of `recall mcp` for rooms below it.
//!
//! On Linux the program is linked at a fixed address (`-no-pie`): a position-independent one has about twenty thousand addresses to
//! relocate at start, on a hundred pages that must be copied for it, which takes a quarter of a hook's time. Shared libraries, heap and
//! stack are still placed at random.
//!
//! What the tools reply is not taken in again, so the sanitizer knows their names. It may not import `mcp`: the names are read from the
//! files of `src/mcp/tools`, where each stands once.

use std::path::{Path, PathBuf};
use std::{env, fs};

const TOOLS: &str = "src/mcp/tools";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={TOOLS}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|set| set.split(',').any(|one| one == value));
    // A static program is linked in another way.
    let is_static = is("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("own_tools.rs"), format!("&{:?}", names_of_tools())).expect("the output folder is writable");
}

/// The name of each tool, in the order of the alphabet. A file without one is none of a tool.
fn names_of_tools() -> Vec<String> {
    let files = fs::read_dir(Path::new(TOOLS)).expect("the tools");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("UTF-8"));
    let name = |text: String| Some(text.split_once("const NAME: &'static str = \"")?.1.split_once('"')?.0.to_owned());
    let mut names: Vec<String> = texts.filter_map(name).collect();
    names.sort();
    names
}
