//! What is released and how it comes onto a machine: `packaging/`, with stand-ins for the program and, on loopback, for the place of the
//! download.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use tiny_http::Response;

use crate::support::loopback::Loopback;
use crate::support::{Ran, World, files_below};

const SYSTEM_PATH: &str = "/usr/bin:/bin";
const GNU: &str = "x86_64-unknown-linux-gnu";
const MUSL: &str = "x86_64-unknown-linux-musl";
/// What a release has archives for.
const TARGETS: [&str; 6] =
    [GNU, MUSL, "aarch64-unknown-linux-gnu", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn installer() -> String {
    fs::read_to_string(repository().join("packaging/install.sh")).expect("the installer")
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

fn has(tools: &[&str]) -> bool {
    let is_there = |tool: &&str| SYSTEM_PATH.split(':').any(|folder| Path::new(folder).join(tool).exists());
    let all = tools.iter().all(is_there);
    if !all {
        eprintln!("LEFT OUT: not all of {tools:?} are here");
    }
    all
}

/// Runs a command in the world's environment, with the system's tools behind the world's own.
fn run(world: &World, command: &mut Command, variables: &[(&str, &str)]) -> Ran {
    let path = format!("{}:{SYSTEM_PATH}", world.bin().display());
    command.env_clear().envs(world.environment()).env("PATH", path).envs(variables.iter().copied()).current_dir(world.root());
    Ran::of(command.output().expect("it runs"))
}

fn script(world: &World, name: &str, args: &[&str]) -> Ran {
    run(world, Command::new(repository().join("packaging").join(name)).args(args), &[])
}

/// The place of a download: a folder, and what was asked of it.
struct Place {
    server: Loopback,
    folder: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Place {
    /// Serves the folder `release` of a world.
    fn new(world: &World) -> Self {
        let (folder, asked) = (world.root().join("release"), Arc::new(Mutex::new(Vec::new())));
        fs::create_dir_all(&folder).expect("a folder");
        let (from, keep) = (folder.clone(), asked.clone());
        let server = Loopback::serving(move |request| {
            let name = request.url().trim_start_matches('/').to_owned();
            keep.lock().expect("no panic").push(name.clone());
            let _ = match fs::read(from.join(name)) {
                Ok(bytes) => request.respond(Response::from_data(bytes)),
                Err(_) => request.respond(Response::empty(404)),
            };
        });
        Self { server, folder, asked }
    }

    fn url(&self) -> String {
        self.server.url()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }

    /// Puts an archive for a target there whose `recall` is this script, and a line of sums for it.
    fn offer(&self, target: &str, program: &str) {
        self.offer_both(target, program, Some(EMBED));
    }

    /// The same with this `recall-embed`, or without one.
    fn offer_both(&self, target: &str, program: &str, embed: Option<&str>) {
        let name = format!("recall-9.9.9-{target}");
        let folder = self.folder.join(&name);
        fs::create_dir_all(&folder).expect("a folder");
        executable(&folder.join("recall"), program);
        if let Some(embed) = embed {
            executable(&folder.join("recall-embed"), embed);
        }
        let mut tar = Command::new("tar");
        let made = tar.current_dir(&self.folder).args(["-czf", &format!("{name}.tar.gz"), &name]).status().expect("tar");
        assert!(made.success());
        fs::remove_dir_all(folder).expect("packed");
        let sum = sum(&self.folder.join(format!("{name}.tar.gz")));
        let sums = self.folder.join("SHA256SUMS");
        let before = fs::read_to_string(&sums).unwrap_or_default();
        let others: String = before.split_inclusive('\n').filter(|line| !line.contains(&name)).collect();
        fs::write(sums, format!("{others}{sum}  {name}.tar.gz\n")).expect("the sums");
    }
}

fn sum(file: &Path) -> String {
    let (tool, args): (_, &[&str]) = if has(&["sha256sum"]) { ("sha256sum", &[]) } else { ("shasum", &["-a", "256"]) };
    let said = Ran::of(Command::new(tool).args(args).arg(file).output().expect("a tool for sums"));
    said.out.split(' ').next().expect("a sum").to_owned()
}

/// A machine that says this of itself.
fn machine(world: &World, system: &str, processor: &str, libc: &str) {
    executable(&world.bin().join("uname"), &format!("#!/bin/sh\n[ \"$1\" = -s ] && echo {system} || echo {processor}\n"));
    executable(&world.bin().join("getconf"), &format!("#!/bin/sh\n[ -n '{libc}' ] && echo '{libc}'\n"));
    executable(&world.bin().join("sysctl"), "#!/bin/sh\nexit 1\n");
}

/// A world that is an x86-64 machine with a new glibc; `None` where nothing can download.
fn linux() -> Option<World> {
    let world = World::new();
    machine(&world, "Linux", "x86_64", "glibc 2.41");
    has(&["curl"]).then_some(world)
}

fn install(world: &World, url: &str, variables: &[(&str, &str)]) -> Ran {
    let variables = [&[("RECALL_DOWNLOAD_URL", url)], variables].concat();
    run(world, Command::new("sh").arg(repository().join("packaging/install.sh")), &variables)
}

/// All files in the home, by their paths there.
fn in_home(world: &World) -> Vec<PathBuf> {
    let home = world.home();
    files_below(&home).iter().map(|file| file.strip_prefix(&home).expect("below it").to_owned()).collect()
}

const PROGRAM: &str = "#!/bin/sh\necho \"recall 9.9.9\"\n";
const EMBED: &str = "#!/bin/sh\necho \"recall-embed 9.9.9\"\n";
/// What the installer makes below the home: `recall`, and what it starts from beside itself.
const INSTALLED: [&str; 2] = [".local/bin/recall", ".local/bin/recall-embed"];
/// Says where it ran, for what must not run.
const TELLTALE: &str = "#!/bin/sh\n: >\"$HOME/ran\"\necho \"recall 9.9.9\"\n";

#[test]
fn the_installer_puts_both_programs_into_one_folder_and_says_what_is_next() {
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    TARGETS.iter().for_each(|target| place.offer(target, PROGRAM));
    let ran = install(&world, &place.url(), &[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let program = world.home().join(".local/bin/recall");
    for (name, text) in INSTALLED.into_iter().zip([PROGRAM, EMBED]) {
        let file = world.home().join(name);
        assert_eq!(fs::read_to_string(&file).expect("installed"), text);
        assert_eq!(fs::metadata(&file).expect("installed").permissions().mode() & 0o777, 0o755);
    }
    assert_eq!(in_home(&world), INSTALLED.map(PathBuf::from), "and nothing else, no file of a shell");
    assert_eq!(place.asked(), ["SHA256SUMS".to_owned(), format!("recall-9.9.9-{GNU}.tar.gz")]);
    assert!(ran.out.contains("Installed recall 9.9.9") && ran.out.contains("not on your PATH"), "{}", ran.out);
    assert!(ran.out.contains(&format!("{} install --dry-run", program.display())), "{}", ran.out);
}

#[test]
fn the_installer_replaces_programs_only_by_ones_that_run_here() {
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    let folder = world.bin().display().to_string();
    let old = world.bin().join("recall");
    executable(&old, "#!/bin/sh\necho old\n");
    let broken = "#!/bin/sh\nexit 127\n";
    for (program, embed, why) in
        [(broken, Some(EMBED), "do not run here"), (PROGRAM, Some(broken), "do not run here"), (PROGRAM, None, "holds no ")]
    {
        place.offer_both(GNU, program, embed);
        let ran = install(&world, &place.url(), &[("RECALL_INSTALL_DIR", &folder)]);
        assert!(ran.code == 1 && ran.err.contains(why), "{ran:#?}");
        assert_eq!(fs::read_to_string(&old).expect("still there"), "#!/bin/sh\necho old\n");
        assert!(!world.bin().join("recall-embed").exists(), "one of them alone: {why}");
    }
    place.offer(MUSL, PROGRAM);
    let ran = install(&world, &format!("{}/", place.url()), &[("RECALL_INSTALL_DIR", &folder), ("RECALL_TARGET", MUSL)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(fs::read_to_string(&old).expect("there"), PROGRAM);
    assert_eq!(fs::read_to_string(world.bin().join("recall-embed")).expect("there"), EMBED);
    assert!(ran.out.ends_with(": recall install --dry-run\n"), "it is on the PATH: {}", ran.out);
    let is_left = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".recall"));
    let left: Vec<PathBuf> = files_below(&world.bin()).into_iter().filter(is_left).collect();
    assert!(left.is_empty() && in_home(&world).is_empty(), "nothing is left beside them: {left:?}");
}

#[test]
fn the_installer_uses_nothing_of_an_archive_with_another_sum() {
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    place.offer(GNU, TELLTALE);
    let sums = place.folder.join("SHA256SUMS");
    let right = fs::read_to_string(&sums).expect("the sums");
    let (sum, name) = right.split_once(' ').expect("a sum");
    fs::write(&sums, format!("{} {name}", sum.chars().rev().collect::<String>())).expect("another sum");
    let ran = install(&world, &place.url(), &[]);
    assert!(ran.code == 1 && ran.err.contains(sum) && ran.err.contains("recall is not installed"), "{ran:#?}");
    assert!(in_home(&world).is_empty(), "{:?}", in_home(&world));
    // The same with the sum it has.
    fs::write(&sums, &right).expect("the sums");
    assert_eq!(install(&world, &place.url(), &[]).code, 0);
    assert_eq!(in_home(&world), [INSTALLED[0], INSTALLED[1], "ran"].map(PathBuf::from));
}

#[test]
fn the_installer_says_which_download_is_missing() {
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    let ran = install(&world, &place.url(), &[]);
    assert!(ran.code == 1 && ran.err.contains(&format!("cannot fetch {}/SHA256SUMS", place.url())), "{ran:#?}");
    place.offer(MUSL, PROGRAM);
    let ran = install(&world, &place.url(), &[]);
    assert!(ran.code == 1 && ran.err.contains(&format!("lists no archive for {GNU}")), "{ran:#?}");
    place.offer(GNU, PROGRAM);
    let archive = format!("recall-9.9.9-{GNU}.tar.gz");
    fs::remove_file(place.folder.join(&archive)).expect("gone");
    let ran = install(&world, &place.url(), &[]);
    assert!(ran.code == 1 && ran.err.contains(&format!("cannot fetch {}/{archive}", place.url())), "{ran:#?}");
    let sums = place.folder.join("SHA256SUMS");
    let twice = fs::read_to_string(&sums).expect("the sums");
    fs::write(&sums, twice.replace("9.9.9", "9.9.8") + &twice).expect("the sums");
    let ran = install(&world, &place.url(), &[]);
    assert!(ran.code == 1 && ran.err.contains("more than one"), "{ran:#?}");
    assert!(in_home(&world).is_empty(), "{:?}", in_home(&world));
}

#[test]
fn the_installer_takes_the_archive_that_the_machine_can_run_and_downloads_nothing_for_another() {
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    TARGETS.iter().for_each(|target| place.offer(target, PROGRAM));
    let mut taken = BTreeSet::new();
    for (system, processor, libc, target) in [
        ("Linux", "x86_64", "glibc 2.34", GNU),
        ("Linux", "x86_64", "glibc 2.33", MUSL),
        ("Linux", "amd64", "", MUSL),
        ("Linux", "aarch64", "glibc 2.36", "aarch64-unknown-linux-gnu"),
        ("Linux", "arm64", "", "aarch64-unknown-linux-musl"),
        ("Darwin", "arm64", "", "aarch64-apple-darwin"),
        ("Darwin", "x86_64", "", "x86_64-apple-darwin"),
    ] {
        machine(&world, system, processor, libc);
        let ran = install(&world, &place.url(), &[]);
        assert_eq!(ran.code, 0, "{system} {processor} {libc}: {ran:#?}");
        assert_eq!(place.asked().last(), Some(&format!("recall-9.9.9-{target}.tar.gz")), "{system} {processor} {libc}");
        taken.insert(target);
    }
    assert_eq!(taken, TARGETS.into());
    // Where a shell is translated, the machine is another.
    executable(&world.bin().join("sysctl"), "#!/bin/sh\necho 1\n");
    assert_eq!(install(&world, &place.url(), &[]).code, 0);
    assert_eq!(place.asked().last().map(String::as_str), Some("recall-9.9.9-aarch64-apple-darwin.tar.gz"));

    let before = place.asked().len();
    for (system, processor) in [("FreeBSD", "amd64"), ("Linux", "riscv64"), ("Linux", "armv7l"), ("MINGW64_NT-10.0", "x86_64")] {
        machine(&world, system, processor, "");
        let ran = install(&world, &place.url(), &[]);
        assert!(ran.code == 1 && ran.err.contains("there is no archive for the ") && ran.err.contains(system), "{ran:#?}");
    }
    assert_eq!(place.asked().len(), before);
}

#[test]
fn the_installer_asks_no_other_machine_in_the_clear_and_does_nothing_in_part() {
    let world = World::new();
    machine(&world, "Linux", "x86_64", "glibc 2.41");
    for tool in ["curl", "wget"] {
        executable(&world.bin().join(tool), "#!/bin/sh\n: >\"$HOME/ran\"\n");
    }
    for url in ["", "http://recall.example", "http://127.0.0.1.recall.example/", "ftp://recall.example", "file:///tmp"] {
        let ran = install(&world, url, &[]);
        assert!(ran.code == 1 && ran.err.contains("RECALL_DOWNLOAD_URL"), "{url}: {ran:#?}");
    }
    let whole = installer();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 80, "{}", lines.len());
    for end in 0..lines.len() {
        // All lines but the last, `main`.
        let part = world.root().join("part.sh");
        fs::write(&part, lines[..end].concat()).expect("a part");
        run(&world, Command::new("sh").arg(&part), &[("RECALL_DOWNLOAD_URL", "https://recall.example")]);
        assert!(in_home(&world).is_empty(), "the first {end} lines: {:?}", in_home(&world));
    }
}

/// The archive that the real program gives.
#[test]
fn the_archive_holds_both_programs_with_the_manual_completions_and_licences() {
    if !has(&["bash", "tar", "gzip"]) {
        return;
    }
    let world = World::new();
    // Small, and as good: it is the program's own pages that count.
    let programs = world.root().join("programs");
    fs::create_dir_all(&programs).expect("a folder");
    let program = programs.join("recall");
    executable(&program, &format!("#!/bin/sh\nexec '{}' \"$@\"\n", world.program()));
    let embed = programs.join("recall-embed");
    executable(&embed, concat!("#!/bin/sh\necho recall-embed ", env!("CARGO_PKG_VERSION"), "\n"));
    fs::write(world.root().join("notices"), "A licence.\n").expect("notices");
    let made = script(&world, "tarball.sh", &["programs", MUSL, "notices", "out"]);
    assert_eq!(made.code, 0, "{made:#?}");
    let name = format!("recall-{}-{MUSL}", env!("CARGO_PKG_VERSION"));
    assert_eq!(made.out, format!("out/{name}.tar.gz\n"));
    let unpacked = run(&world, Command::new("tar").args(["-xzf", made.out.trim()]), &[]);
    assert_eq!(unpacked.code, 0, "{unpacked:#?}");
    let root = world.root().join(&name);
    let mut there: BTreeSet<String> =
        files_below(&root).iter().map(|file| file.strip_prefix(&root).expect("below").display().to_string()).collect();
    for command in world.commands() {
        assert!(there.remove(&format!("man/man1/recall-{command}.1")) || command == "help", "no page of {command}: {there:?}");
    }
    // Pages of what stands below a command.
    there.retain(|file| !file.starts_with("man/man1/recall-"));
    let rest = [
        "LICENSE", "NOTICES", "README.md", "completions/_recall", "completions/recall.bash", "completions/recall.fish",
        "man/man1/recall.1", "recall", "recall-embed",
    ];
    assert_eq!(there.iter().map(String::as_str).collect::<Vec<_>>(), rest);

    for (file, name) in [(&embed, "recall-embed"), (&program, "recall")] {
        executable(file, &format!("#!/bin/sh\necho {name} 0.0.7\n"));
        let made = script(&world, "tarball.sh", &["programs", MUSL, "notices", "out"]);
        assert!(made.code == 1 && made.err.contains(&format!("'{name} 0.0.7'")), "a program of another version: {made:#?}");
    }
    fs::remove_file(&embed).expect("gone");
    assert_ne!(script(&world, "tarball.sh", &["programs", MUSL, "notices", "out"]).code, 0, "without one of them");
}

#[test]
fn the_package_for_debian_puts_everything_where_debian_looks_and_runs_nothing() {
    if !has(&["bash", "dpkg-deb", "objdump", "tar", "gzip"]) {
        return;
    }
    let world = World::new();
    let name = "recall-1.2.0-rc.1-x86_64-unknown-linux-gnu";
    let stage = world.root().join(name);
    for folder in ["man/man1", "completions"] {
        fs::create_dir_all(stage.join(folder)).expect("a folder");
    }
    // Some programs that need glibc.
    fs::copy("/bin/gzip", stage.join("recall")).expect("a program");
    fs::copy("/bin/true", stage.join("recall-embed")).expect("a program");
    let texts = [
        "man/man1/recall.1", "man/man1/recall-day.1", "completions/recall.bash", "completions/_recall", "completions/recall.fish",
        "LICENSE", "README.md", "NOTICES",
    ];
    texts.iter().for_each(|file| fs::write(stage.join(file), file).expect("a text"));
    assert_eq!(run(&world, Command::new("tar").args(["-czf", &format!("{name}.tar.gz"), name]), &[]).code, 0);
    let made = script(&world, "deb.sh", &[&format!("{name}.tar.gz"), "out"]);
    assert_eq!((made.code, made.out.as_str()), (0, "out/recall_1.2.0-rc.1_amd64.deb\n"), "{made:#?}");
    let ask = |args: &[&str]| run(&world, Command::new("dpkg-deb").args(args).arg(made.out.trim()), &[]).out;

    let control = ask(&["--field"]);
    assert!(control.contains("Version: 1.2.0~rc.1\n") && control.contains("Architecture: amd64\n"), "{control}");
    let floors = ["recall", "recall-embed"].map(|program| {
        let floor = script(&world, "glibc-floor.sh", &[&format!("{name}/{program}")]).out;
        floor.trim().strip_prefix("2.").and_then(|minor| minor.parse::<u32>().ok()).expect("a version")
    });
    let depends = format!("Depends: libc6 (>= 2.{})", floors[0].max(floors[1]));
    assert!(control.lines().any(|line| line == depends), "both need {floors:?}: {control}");
    let listed = ask(&["--contents"]);
    assert!(listed.lines().all(|line| line.contains(" root/root ")), "{listed}");
    let files: BTreeSet<&str> =
        listed.lines().filter(|line| !line.starts_with('d')).filter_map(|line| line.split(" ./").nth(1)).collect();
    let expected = [
        "usr/bin/recall",
        "usr/bin/recall-embed",
        "usr/share/bash-completion/completions/recall",
        "usr/share/doc/recall/NOTICES.gz",
        "usr/share/doc/recall/README.md",
        "usr/share/doc/recall/changelog.gz",
        "usr/share/doc/recall/copyright",
        "usr/share/doc/recall/examples/recall-digest.service",
        "usr/share/doc/recall/examples/recall-digest.timer",
        "usr/share/fish/vendor_completions.d/recall.fish",
        "usr/share/man/man1/recall-day.1.gz",
        "usr/share/man/man1/recall.1.gz",
        "usr/share/zsh/vendor-completions/_recall",
    ];
    assert_eq!(files, expected.into());
    assert_eq!(run(&world, Command::new("dpkg-deb").args(["-R", made.out.trim(), "deb"]), &[]).code, 0);
    let root = world.root().join("deb");
    let of_package: Vec<PathBuf> = files_below(&root.join("DEBIAN"));
    assert_eq!(
        of_package.iter().filter_map(|f| f.file_name()).collect::<BTreeSet<_>>(),
        ["control".as_ref(), "md5sums".as_ref()].into()
    );
    let unit = fs::read_to_string(root.join("usr/share/doc/recall/examples/recall-digest.service")).expect("the unit");
    assert!(unit.contains("\nExecStart=/usr/bin/recall digest\n") && !unit.contains(".cargo/bin/recall"), "{unit}");
}

#[test]
fn a_release_has_a_sum_of_each_archive_an_installer_that_knows_its_place_and_a_formula() {
    if !has(&["bash", "sha256sum"]) {
        return;
    }
    let Some(world) = linux() else { return };
    let place = Place::new(&world);
    let version = env!("CARGO_PKG_VERSION");
    for target in TARGETS {
        fs::write(place.folder.join(format!("recall-{version}-{target}.tar.gz")), target).expect("an archive");
    }
    for arch in ["amd64", "arm64"] {
        fs::write(place.folder.join(format!("recall_{version}_{arch}.deb")), arch).expect("a package");
    }
    let made = script(&world, "release.sh", &["release", "https://recall.example", "https://recall.example/releases/"]);
    assert_eq!(made.code, 0, "{made:#?}");
    let read = |name: &str| fs::read_to_string(place.folder.join(name)).expect("a file of the release");
    assert_eq!(read("SHA256SUMS").lines().count(), TARGETS.len() + 2);

    let downloads = format!("https://recall.example/releases/v{version}");
    let formula = read("recall.rb");
    for target in TARGETS {
        let archive = format!("recall-{version}-{target}.tar.gz");
        let lines = format!("url \"{downloads}/{archive}\"\n      sha256 \"{}\"\n", sum(&place.folder.join(&archive)));
        assert_eq!(formula.contains(&lines), !target.ends_with("musl"), "{target}: {formula}");
    }
    let filled = read("install.sh");
    assert_eq!(filled.replace(&format!("released_at='{downloads}'"), "released_at=''"), installer());
    // What it asks for, without asking.
    executable(&world.bin().join("curl"), "#!/bin/sh\nfor last; do :; done\necho \"asked for $last\" >&2\nexit 22\n");
    let ran = run(&world, Command::new("sh").arg(place.folder.join("install.sh")), &[]);
    assert!(ran.code == 1 && ran.err.contains(&format!("asked for {downloads}/SHA256SUMS")), "{ran:#?}");
}

/// What the workflow builds is what the installer asks for, and what `cargo binstall` would find has the name it would ask for.
#[test]
fn the_workflow_builds_each_target_once_and_pins_what_it_runs() {
    let workflow = fs::read_to_string(repository().join(".github/workflows/release.yml")).expect("the workflow");
    let after = |start: &'static str| workflow.lines().filter_map(move |line| line.trim().strip_prefix(start));
    let targets: Vec<&str> = after("- { target: ").filter_map(|rest| rest.split(',').next()).collect();
    assert_eq!((targets.len(), targets.into_iter().collect::<BTreeSet<_>>()), (TARGETS.len(), TARGETS.into()));
    let actions: Vec<&str> = after("- uses: ").collect();
    assert!(actions.len() > 5, "{actions:?}");
    for action in actions {
        let (_, pinned) = action.split_once('@').expect("a version");
        let (commit, version) = pinned.split_once(" # v").expect("a comment with the version");
        assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()) && !version.is_empty(), "{action}");
    }
    for crate_of in ["", "crates/recall-embed"] {
        let manifest = fs::read_to_string(repository().join(crate_of).join("Cargo.toml")).expect("Cargo.toml");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let package = &manifest["package"];
        assert_eq!(package["version"]["workspace"].as_bool(), Some(true), "one version, as both are in one archive");
        let binstall = &package["metadata"]["binstall"];
        let filled = |key: &str| binstall[key].as_str().expect("text").replace("{ version }", "9.9.9").replace("{ target }", GNU);
        assert_eq!(filled("pkg-url"), format!("{{ repo }}/releases/download/v9.9.9/recall-9.9.9-{GNU}.tar.gz"));
        assert_eq!(filled("bin-dir"), format!("recall-9.9.9-{GNU}/{{ bin }}"));
    }
}
