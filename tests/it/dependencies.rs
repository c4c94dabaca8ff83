//! What the program is built of is counted, and each part says what it is there for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINUX: &str = "x86_64-unknown-linux-gnu";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn manifest() -> toml::Table {
    read("Cargo.toml").parse().expect("Cargo.toml is TOML")
}

/// The crates of others in a table of `Cargo.toml`, in its order, each with the comment above it.
fn direct(table: &str) -> Vec<(String, String)> {
    let text = read("Cargo.toml");
    let lines = text.lines().skip_while(|line| *line != format!("[{table}]")).skip(1).take_while(|line| !line.starts_with('['));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let mut all = Vec::new();
    for pair in lines.chunks(2) {
        let [reason, dependency] = pair else { panic!("a comment above each dependency: {pair:?}") };
        let reason = reason.strip_prefix("# ").unwrap_or_else(|| panic!("a comment above `{dependency}`"));
        let name = dependency.split_once(" = ").map(|(name, _)| name).unwrap_or_else(|| panic!("a dependency: {dependency}"));
        if !dependency.contains("path = ") {
            all.push((name.to_owned(), reason.to_owned()));
        }
    }
    all
}

fn cargo(args: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(args).args(["--locked", "--offline"]).current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The crates of others in the program for Linux.
fn in_the_program() -> usize {
    let tree = cargo(&["tree", "-e", "normal", "--prefix", "none", "--format", "{p}", "--target", LINUX]);
    let crates: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)").trim_end_matches(" (proc-macro)")).collect();
    // Ours have a path behind their version.
    crates.iter().filter(|name| !name.is_empty() && !name.ends_with(')')).count()
}

fn locked() -> usize {
    let lock: toml::Table = read("Cargo.lock").parse().expect("Cargo.lock is TOML");
    lock["package"].as_array().expect("packages").iter().filter(|package| package.get("source").is_some()).count()
}

#[test]
fn the_table_says_what_each_is_there_for() {
    let (program, tests) = (direct("dependencies"), direct("dev-dependencies"));
    let row = |(name, reason): &(String, String)| format!("| `{name}` | {reason} |\n");
    let table = |rows: &[(String, String)]| rows.iter().map(row).collect::<String>();
    let text = format!(
        "## What it is built of\n\n\
         {} crates are named in `Cargo.toml`; with what those need, {} are in the program on Linux. The tests name {}, `rustix` again. `Cargo.lock`\n\
         has {} in all, those for tests and for other systems among them.\n\n\
         | crate | what it is there for |\n|---|---|\n{}\n| for the tests | |\n|---|---|\n{}\n## ",
        program.len(),
        in_the_program(),
        tests.len(),
        locked(),
        table(&program),
        table(&tests),
    );
    assert!(read("docs/src/internals.md").contains(&text), "write this into docs/src/internals.md:\n{text}");
}

#[test]
fn the_readme_says_what_a_build_needs() {
    let readme = read("README.md");
    let manifest = manifest();
    let stated = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version").to_owned();
    for needed in [format!("Rust {stated} or newer"), format!("{} crates", in_the_program()), "C compiler".to_owned()] {
        assert!(readme.contains(&needed), "README.md does not say: {needed}");
    }
}

#[test]
fn every_dependency_is_used() {
    let mut sources = String::new();
    for entry in ["src", "tests", "benches"].into_iter().flat_map(|folder| walkdir::WalkDir::new(root().join(folder))) {
        let entry = entry.expect("an entry");
        if entry.path().extension().is_some_and(|end| end == "rs") {
            sources.push_str(&fs::read_to_string(entry.path()).expect("a source"));
        }
    }
    for (name, _) in direct("dependencies").into_iter().chain(direct("dev-dependencies")) {
        let name = name.replace('-', "_");
        let used = [format!("{name}::"), format!("use {name};")].iter().any(|use_| sources.contains(use_.as_str()));
        assert!(used, "nothing uses `{name}`");
    }
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_is_stated() {
    let version = |text: &str| -> Vec<u32> { text.split('.').map(|part| part.parse().expect("a number")).collect() };
    let stated = version(manifest()["workspace"]["package"]["rust-version"].as_str().expect("a version"));
    // The sources for other systems may not be on this disk.
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", LINUX];
    let metadata: serde_json::Value = serde_json::from_str(&cargo(&arguments)).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100);
    for package in packages {
        let needs = package["rust_version"].as_str().map(version).unwrap_or_default();
        assert!(needs <= stated, "{} needs Rust {needs:?}", package["name"]);
    }
}

#[test]
fn there_is_no_unsafe_code_and_a_panic_unwinds() {
    for file in [
        "src/lib.rs", "src/main.rs", "crates/redact/src/lib.rs", "crates/sync/src/lib.rs", "crates/text/src/lib.rs",
        "crates/transcripts/src/lib.rs",
    ] {
        assert!(read(file).contains("#![forbid(unsafe_code)]"), "{file}");
    }
    // The one exception: a file of weights is mapped into memory, with the reason beside it.
    let code = |file: PathBuf| fs::read_to_string(file).expect("UTF-8").matches("unsafe {").count();
    let embed = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/recall-embed/src");
    assert_eq!(crate::support::files_below(&embed).into_iter().map(code).sum::<usize>(), 1);
    assert_eq!(manifest()["profile"]["release"]["panic"].as_str(), Some("unwind"), "hooks catch panics");
}
