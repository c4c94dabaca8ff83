//! Stand-ins for the programs that timers are told with, and looks at what recall did to them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::support::{Ran, World, files_below};

/// Puts a shell script on the search path, which notes how it is called before it does anything.
fn fake(world: &World, name: &str, script: &str) {
    let (path, root) = (world.bin().join(name), world.root().display().to_string());
    let head = format!("#!/bin/sh\nPATH=/usr/bin:/bin\ncd '{root}'\necho \"{name} $*\" >>calls\n");
    fs::write(&path, format!("{head}{script}")).expect("the script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its permissions");
}

/// A user's systemd: it knows what is enabled and what runs.
pub fn systemctl(world: &World) {
    fake(
        world,
        "systemctl",
        r#"[ -e systemd.gone ] && { echo 'Failed to connect to bus: No medium found' >&2; exit 1; }
case "$*" in
*UnitPath*) [ ! -e unit.path ] || cat unit.path ;;
*is-active*) test -e active ;;
*is-enabled*) test -e enabled ;;
*disable*) rm -f enabled active ;;
*enable*) touch enabled ;;
*restart*) touch active ;;
esac
"#,
    );
}

pub fn crontab(world: &World) {
    fake(
        world,
        "crontab",
        r#"[ -e crontab.locked ] && { echo 'you are not allowed to use this program' >&2; exit 1; }
case "$1" in
-l) [ -e crontab ] && exec cat crontab; echo 'no crontab for me' >&2; exit 1 ;;
-) exec cat >crontab ;;
-r) rm crontab ;;
esac
"#,
    );
}

pub fn launchctl(world: &World) {
    fake(world, "launchctl", "case \"$1\" in\nprint) test -e loaded ;;\nbootstrap) touch loaded ;;\nbootout) rm loaded ;;\nesac\n");
}

/// Runs `recall install` with more arguments.
pub fn install(world: &World, args: &[&str]) -> Ran {
    world.recall(["install"].iter().chain(args))
}

/// What was called so far, without the questions, and forgets it.
pub fn told(world: &World) -> Vec<String> {
    let path = world.root().join("calls");
    let calls = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(path);
    let questions = [" show ", " print ", " -l", " is-active ", " is-enabled "];
    calls.lines().filter(|call| !questions.iter().any(|q| call.contains(q))).map(str::to_owned).collect()
}

/// The world's crontab.
pub fn table(world: &World) -> Option<String> {
    fs::read_to_string(world.root().join("crontab")).ok()
}

/// Every file and link of the world with its bytes, but for what the fakes note.
pub fn everything(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let noted = ["calls", "enabled", "active", "loaded"].map(|name| world.root().join(name));
    let files = files_below(world.root()).into_iter().filter(|file| !noted.contains(file));
    files.map(|file| (file.clone(), fs::read(&file).expect("a file"))).collect()
}

/// Text with what differs between machines and runs named.
pub fn tidy(world: &World, text: &str) -> String {
    let program = world.process().get_program().to_str().expect("UTF-8").to_owned();
    let folder = program.trim_end_matches("/recall").to_owned();
    text.replace(&program, "/RECALL/recall").replace(&folder, "/RECALL").replace(world.root().to_str().expect("UTF-8"), "/WORLD")
}

/// Puts a link to the program on the search path, in a folder of this name.
pub fn linked(world: &World, folder: &str) -> PathBuf {
    let dir = world.root().join(folder);
    fs::create_dir_all(&dir).expect("a folder");
    symlink(world.process().get_program(), dir.join("recall")).expect("a link");
    dir
}
