//! The library that stands between `recall` and the system.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// When in a call the process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Before,
    /// Half of the bytes of a write are written.
    Half,
    After,
}

/// What happens at the calls that change files below a folder, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Nothing,
    Kill(usize, When),
    /// This error at one call, the first from that number on that can fail so, or from it on.
    Error {
        at: usize,
        errno: i32,
        stays: bool,
    },
}

/// One call that changed a file, or was to.
#[derive(Debug, Clone)]
pub struct Call {
    pub number: usize,
    pub what: String,
    pub inode: u64,
    pub path: PathBuf,
    pub other: PathBuf,
}

/// Puts the library in front of a command.
pub fn interpose(command: &mut Command, below: &Path, fault: Fault) {
    command.env("LD_PRELOAD", library()).env("FAULT_BELOW", below);
    match fault {
        Fault::Nothing => {}
        Fault::Kill(at, when) => {
            command.env("FAULT_AT", at.to_string()).env("FAULT_WHEN", format!("{when:?}").to_lowercase());
        }
        Fault::Error { at, errno, stays } => {
            command.env("FAULT_AT", at.to_string()).env("FAULT_ERRNO", errno.to_string());
            if stays {
                command.env("FAULT_STAYS", "1");
            }
        }
    }
}

/// Has the calls written to a file, and synced content to a folder.
pub fn record(command: &mut Command, log: &Path, blobs: &Path) {
    command.env("FAULT_LOG", log).env("FAULT_BLOBS", blobs);
}

/// What `record` had written.
pub fn recorded(log: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(call).collect()
}

fn call(line: &str) -> Call {
    let fields: Vec<&str> = line.split('\t').collect();
    let [number, what, inode, path, other] = fields[..] else { panic!("no call: {line}") };
    let number = number.parse().expect("a number");
    let inode = inode.parse().expect("an inode");
    Call { number, what: what.to_owned(), inode, path: path.into(), other: other.into() }
}

/// Compiled once. SQLite comes as C, too: where `recall` was built there is a compiler.
fn library() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = folder.path().join("interpose.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stress/faults/interpose.c");
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).args(["-ldl", "-lpthread"]);
        let built = cc.output().expect("a C compiler called cc");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        (folder, library)
    });
    library
}
