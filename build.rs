//! Linker settings, the version with its commit, and the names of the tools of `recall mcp` for rooms below it.
//!
//! On Linux the program is linked at a fixed address (`-no-pie`): a position-independent one has about twenty thousand addresses to
//! relocate at start, on a hundred pages that must be copied for it, which takes a quarter of a hook's time. Shared libraries, heap and
//! stack are still placed at random. What unwinds panics is linked in where the C compiler has it as an archive: a shared library less is
//! loaded at each start.
//!
//! `recall --version` names the commit in what is released: of the clone, of the package, or what `RECALL_COMMIT` says. While developing it
//! does not, since each commit would compile everything anew.
//!
//! What the tools reply is not taken in again, so the sanitizer knows their names. It may not import `mcp`: the names are read from the
//! files of `src/mcp/tools`, where each stands once.

use std::path::{Path, PathBuf};
use std::process::Command;
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
        if has_unwinder() {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
    println!("cargo::rerun-if-env-changed=RECALL_COMMIT");
    let commit = if is("PROFILE", "release") { commit() } else { None };
    let commit = commit.map(|hash| format!(" ({hash})")).unwrap_or_default();
    println!("cargo::rustc-env=RECALL_VERSION={}{commit}", env::var("CARGO_PKG_VERSION").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("own_tools.rs"), format!("&{:?}", names_of_tools())).expect("the output folder is writable");
}

/// Can the C compiler that links for this target find the archive? It says the name alone if not.
fn has_unwinder() -> bool {
    let is_native = env::var("HOST") == env::var("TARGET");
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    is_native && asked.is_ok_and(|said| said.status.success() && String::from_utf8_lossy(&said.stdout).trim().contains('/'))
}

/// The first ten digits of the commit that is built, where it is known.
fn commit() -> Option<String> {
    // Written by `cargo package`.
    let of_package =
        || fs::read_to_string(".cargo_vcs_info.json").ok()?.split_once("\"sha1\": \"").map(|(_, rest)| rest.to_owned());
    let of_clone = || {
        // A folder above may be the clone of something else.
        fs::symlink_metadata(".git").ok()?;
        println!("cargo::rerun-if-changed=.git/HEAD");
        println!("cargo::rerun-if-changed=.git/logs/HEAD");
        let said = Command::new("git").args(["rev-parse", "HEAD"]).output().ok()?;
        String::from_utf8(said.stdout).ok()
    };
    let hash = env::var("RECALL_COMMIT").ok().or_else(of_package).or_else(of_clone)?;
    let hash: String = hash.chars().take_while(char::is_ascii_hexdigit).take(10).collect();
    (!hash.is_empty()).then_some(hash)
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
