//! The library misses no call: what it noted is what the kernel was asked to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::faults::interposer::{Fault, interpose, record, recorded};
use crate::faults::sessions::later_run;

/// System calls that change files, by the names the library has for them.
const CALLS: [(&str, &[&str]); 11] = [
    ("open", &["open", "openat", "openat2", "creat"]),
    ("write", &["write", "writev", "pwrite64", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice"]),
    ("truncate", &["truncate", "ftruncate"]),
    ("allocate", &["fallocate"]),
    ("sync", &["fsync", "fdatasync", "sync_file_range"]),
    ("rename", &["rename", "renameat", "renameat2"]),
    ("link", &["link", "linkat", "symlink", "symlinkat"]),
    ("unlink", &["unlink", "unlinkat", "rmdir"]),
    ("mkdir", &["mkdir", "mkdirat", "mknod", "mknodat"]),
    ("chmod", &["chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat"]),
    ("touch", &["utimensat", "utime", "utimes", "futimesat"]),
];

type Counts = BTreeMap<&'static str, usize>;

fn count(counts: &mut Counts, call: &str) {
    let (name, _) = CALLS.iter().find(|(name, calls)| *name == call || calls.contains(&call)).unwrap_or_else(|| panic!("{call}?"));
    *counts.entry(name).or_default() += 1;
}

/// What a trace says of calls on files below the folder. A call that was broken off to show another comes in two lines.
fn traced(trace: &str, folder: &str) -> Counts {
    let (mut counts, mut begun) = (Counts::new(), BTreeMap::new());
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread");
        let call = call.trim_start();
        let whole = if let Some(start) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, start);
            continue;
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            format!("{}{end}", begun.remove(thread).unwrap_or_default())
        } else {
            call.to_owned()
        };
        let Some((name, arguments)) = whole.split_once('(') else { continue };
        let arguments = arguments.rsplit_once(" = ").map_or(arguments, |(arguments, _)| arguments);
        // Where the caller stands says nothing of a path from the root.
        let arguments =
            if arguments.starts_with("AT_FDCWD<") { arguments.split_once(", ").map_or("", |(_, rest)| rest) } else { arguments };
        let reads = name.starts_with("open") && !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|f| arguments.contains(f));
        // The bytes that are written may hold paths, too.
        let place = if name.contains("write") { arguments.split(", ").next().unwrap_or_default() } else { arguments };
        let below = ["<{}/", "<{}>", "\"{}"].iter().any(|start| place.contains(&start.replace("{}", folder)));
        if !reads && below {
            count(&mut counts, name);
        }
    }
    counts
}

#[test]
#[ignore = "needs strace"]
fn no_call_that_changes_a_file_is_missed() {
    for summarizer in ["extract", "claude"] {
        let (scene, _) = later_run(summarizer);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [log, trace] = ["log", "trace"].map(|name| folder.path().join(name));
        let mut recall = scene.world.process();
        interpose(&mut recall, scene.folder(), Fault::Nothing);
        record(&mut recall, &log, Path::new(""));
        let calls: Vec<&str> = CALLS.iter().flat_map(|(_, calls)| calls.iter().copied()).collect();
        let mut strace = Command::new("strace");
        // Of the machine's environment the path of strace alone; what it starts gets the world's, below.
        strace.env_clear().env("PATH", "/usr/bin:/bin").current_dir(scene.world.root());
        strace.args(["-f", "-y", "-qq", "-s", "200", "-e"]).arg(format!("trace={}", calls.join(","))).arg("-o").arg(&trace);
        // The library is put in front of what is traced, not of strace.
        for (name, value) in recall.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?))) {
            strace.arg("-E").arg(format!("{name}={value}"));
        }
        strace.arg(scene.world.program()).args(&scene.args);
        let ran = strace.output().expect("strace starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

        let mut noted = Counts::new();
        for call in recorded(&log) {
            let what = call.what.split(' ').next().unwrap_or_default();
            count(&mut noted, if what == "create" { "open" } else { what });
        }
        let data = scene.folder().to_str().expect("UTF-8");
        assert_eq!(noted, traced(&fs::read_to_string(&trace).expect("the trace"), data), "{summarizer}");
        assert!(noted["write"] > 100 && noted["sync"] > 5, "{noted:?}");
    }
}
