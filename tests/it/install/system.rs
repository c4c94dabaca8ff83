//! With the system's own programs: systemd and Python read what was written, Debian's cron runs it, and the real client works in a
//! sandbox like the unit's.
//!
//! `.ci/install-tools` installs what they need. cron and the sandbox run in mount namespaces of their own, which takes root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::fakes;
use crate::support::messages_api::{Asked, Block, MessagesApi};
use crate::support::{Ran, World, copy_tree, files_below, fixtures};

/// Runs a script with the system's commands, in a world's environment. The machine's `crontab` is among them: outside of a namespace
/// `recall install` gets the world's search path alone.
fn system(world: &World, script: &str, variables: &[(&str, &str)]) -> Ran {
    std::env::var_os("RECALL_TEST_SYSTEM")
        .expect("RECALL_TEST_SYSTEM says that cron and systemd are installed, and that this is root");
    let mut command = Command::new("/bin/sh");
    command.env_clear().envs(world.environment()).env_remove("RECALL_NOW");
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("RECALL", world.process().get_program()).env("W", world.root()).envs(variables.iter().copied());
    Ran::of(command.args(["-euc", script]).current_dir(world.root()).output().expect("a shell"))
}

/// Makes transcripts an hour old by the machine's clock.
fn settle(dir: PathBuf) {
    let at = SystemTime::now() - Duration::from_secs(3600);
    for file in files_below(&dir) {
        fs::File::options().write(true).open(file).and_then(|f| f.set_modified(at)).expect("the file's time");
    }
}

#[test]
#[ignore = "needs systemd-analyze: set RECALL_TEST_SYSTEM"]
fn systemd_accepts_the_units_and_every_schedule() {
    let world = World::new();
    fakes::systemctl(&world);
    let units = world.home().join(".config/systemd/user");
    for schedule in ["every 1m", "every 30m", "hourly", "every 6h", "03:15"] {
        world.configure(&format!("schedule = \"{schedule}\"\n"));
        assert_eq!(world.recall(["install", "--timer", "systemd"]).code, 0);
        let timer = fs::read_to_string(units.join("recall-digest.timer")).unwrap();
        let calendar = timer.lines().find_map(|line| line.strip_prefix("OnCalendar=")).expect("a calendar event");
        let ran = system(&world, &format!("systemd-analyze calendar '{calendar}'"), &[]);
        assert!(ran.code == 0 && ran.out.contains("Next elapse"), "{schedule}: {ran:#?}");
        let ran = verify(&world, &units);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{schedule}: {ran:#?}");
    }
    // Whatever the folders are called.
    let odd = fakes::linked(&world, "50% $off");
    let data = world.root().join("50% \"da$ta\" \\x").display().to_string();
    let ran = world.recall_with(
        ["install", "--timer", "systemd"],
        &[("PATH", &format!("{}:{}", odd.display(), world.bin().display())), ("RECALL_DATA_DIR", &data)],
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    let ran = verify(&world, &units);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    // The ones that ship are for copying by hand: they name a program below the home.
    let shipped = world.root().join("shipped");
    copy_tree(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systemd"), &shipped);
    fs::create_dir_all(world.home().join(".cargo/bin")).unwrap();
    symlink(world.process().get_program(), world.home().join(".cargo/bin/recall")).unwrap();
    let ran = verify(&world, &shipped);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    // And the check finds what is wrong.
    let service = shipped.join("recall-digest.service");
    fs::write(&service, fs::read_to_string(&service).unwrap().replace("ProtectSystem=strict", "ProtectSystem=very")).unwrap();
    let found = verify(&world, &shipped).err;
    assert!(found.contains("protect system"), "{found}");
}

fn verify(world: &World, units: &std::path::Path) -> Ran {
    let script = "export XDG_RUNTIME_DIR=\"$W\"; systemd-analyze verify --user --man=no \"$1\"/recall-digest.service \"$1\"/recall-digest.timer";
    system(world, &script.replace("\"$1\"", &format!("'{}'", units.display())), &[])
}

#[test]
#[ignore = "needs python3: set RECALL_TEST_SYSTEM"]
fn the_agent_is_a_property_list_with_the_keys_launchd_knows() {
    let world = World::new();
    fakes::launchctl(&world);
    assert_eq!(world.recall(["install", "--timer", "launchd"]).code, 0);
    let parse = "python3 -c 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], \"rb\"))))' ";
    let read = |path: PathBuf| -> serde_json::Value {
        let ran = system(&world, &format!("{parse}'{}'", path.display()), &[]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    };
    let agent = read(world.home().join("Library/LaunchAgents/recall.digest.plist"));
    let program = world.process().get_program().to_str().unwrap().to_owned();
    assert_eq!(agent["Label"], "recall.digest");
    assert_eq!(agent["ProgramArguments"], json!([program, "digest"]));
    assert_eq!(agent["StartCalendarInterval"], json!([{"Minute": 0}, {"Minute": 30}]));
    assert_eq!((&agent["LowPriorityIO"], &agent["Nice"]), (&json!(true), &json!(10)));
    assert_eq!(agent["EnvironmentVariables"]["CLAUDE_CONFIG_DIR"], world.claude_dir().to_str().unwrap());
    let home = world.home().display().to_string();
    assert_eq!(agent["StandardErrorPath"], format!("{home}/Library/Logs/recall.log"));
    let shipped = read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("launchd/recall.digest.plist"));
    assert_eq!(shipped["StartCalendarInterval"], agent["StartCalendarInterval"]);
}

#[test]
#[ignore = "needs root: set RECALL_TEST_SYSTEM"]
fn a_file_of_another_owner_stays_theirs() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    fs::write(&file, "{}").unwrap();
    chown(&file, Some(4711), Some(4712)).unwrap();
    let ran = system(&world, "PATH=\"$W/bin\" exec \"$RECALL\" install --timer none", &[]);
    let meta = fs::metadata(&file).unwrap();
    assert_eq!((ran.code, meta.uid(), meta.gid()), (0, 4711, 4712), "{ran:#?}");
    assert!(fs::read_to_string(&file).unwrap().contains("hook session-end"));
}

#[test]
#[ignore = "needs `script` of util-linux: set RECALL_TEST_SYSTEM"]
fn on_a_terminal_the_data_folder_goes_only_after_a_yes() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let before = fakes::everything(&world);
    let answer = |word: &str| {
        let asked = format!("echo {word} | PATH=/usr/bin:/bin script -qec \"env PATH=$W/bin $RECALL uninstall --purge\" /dev/null");
        system(&world, &asked, &[])
    };
    let ran = answer("n");
    assert!(ran.code == 2 && ran.out.contains("your notes") && ran.out.contains("nothing was changed"), "{ran:#?}");
    assert_eq!(fakes::everything(&world), before);
    assert_eq!(answer("y").code, 0);
    assert!(!world.data_dir().exists());
}

/// A mount namespace in which cron finds no table but the one that is installed in it, and nothing of the machine's is written.
const CRON: &str = r#"
exec unshare --mount --pid --fork --kill-child --mount-proc /bin/sh -euc '
mkdir "$W/spool"
mount --bind "$W/spool" /var/spool/cron/crontabs
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /etc/cron.d
: >"$W/none"; mount --bind "$W/none" /etc/crontab
printf "MAILTO=\"\"\n# mine\n" | crontab -
PATH="$W/100% odd:$PATH" "$W/100% odd/recall" install --timer cron
cron -f &
tries=0
until [ -e "$W/data/recall.db" ] && ls "$W"/data/daily/*/*.md >/dev/null 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 900 ]
    sleep 0.1
done
"$RECALL" uninstall
crontab -l
'"#;

#[test]
#[ignore = "needs cron and root: set RECALL_TEST_SYSTEM"]
fn debians_cron_runs_the_installed_line_and_a_digest_happens() {
    let world = World::with_fixtures(&["plain"]);
    settle(world.claude_dir());
    world.configure("schedule = \"every 1m\"\n[digest]\nsummarizer = \"extract\"\n");
    fakes::linked(&world, "100% odd");
    let ran = system(&world, CRON, &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("cron: every 1m"), "{ran:#?}");
    assert!(ran.out.ends_with("# mine\n"), "the table is as it was: {ran:#?}");
    assert_eq!(world.count("SELECT count(*) FROM digest"), 1);
    assert!(world.pages().iter().any(|(path, _)| path.ends_with("2026-11-17.md")), "{:?}", world.pages());
    assert_eq!(fs::read_dir(world.root().join("spool")).unwrap().count(), 1, "the tables are the namespace's own");
}

/// Everything is read-only but the folders the unit names and a private /tmp, and no privilege can be gained. The world and the
/// programs stay where they are, should that be below /tmp.
const SANDBOX: &str = r#"
unset CLAUDE_CONFIG_DIR RECALL_DATA_DIR
exec unshare --mount /bin/sh -euc '
mount --make-rprivate /
client=$(dirname "$(readlink -f "$W/bin/claude")")
set -- "$W" "$(dirname "$RECALL")" "$client"
mount -t tmpfs tmpfs /mnt
n=0; for folder; do n=$((n + 1)); mkdir /mnt/$n; mount --bind "$folder" /mnt/$n; done
mount -t tmpfs tmpfs /tmp
n=0; for folder; do n=$((n + 1)); mkdir -p "$folder"; mount --bind /mnt/$n "$folder"; done
mount -o remount,bind,ro "$W"
for folder in $WRITABLE; do mount --bind "$folder" "$folder"; mount -o remount,bind,rw "$folder"; done
mount -o remount,bind,ro /
cd /
if touch "$HOME/probe" 2>/dev/null; then echo "the home is writable"; exit 9; fi
exec setpriv --no-new-privs "$RECALL" digest --summarizer claude --json
'"#;

#[test]
#[ignore = "needs the real client and root: set RECALL_TEST_CLAUDE and RECALL_TEST_SYSTEM"]
fn the_client_works_in_a_sandbox_like_the_units() {
    let world = World::new();
    let client = std::env::var_os("RECALL_TEST_CLAUDE").expect("RECALL_TEST_CLAUDE names the client's binary");
    symlink(client, world.bin().join("claude")).unwrap();
    copy_tree(&fixtures().join("claude-code-2.1.197/plain"), &world.home().join(".claude"));
    settle(world.home().join(".claude"));
    fs::write(world.home().join(".claude.json"), r#"{"hasCompletedOnboarding": true, "numStartups": 3}"#).unwrap();
    fakes::systemctl(&world);
    let ran = system(&world, "unset CLAUDE_CONFIG_DIR RECALL_DATA_DIR; PATH=\"$W/bin\" exec \"$RECALL\" install", &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let unit = fs::read_to_string(world.home().join(".config/systemd/user/recall-digest.service")).unwrap();
    let writable = unit.lines().find_map(|line| line.strip_prefix("ReadWritePaths=")).expect("the folders");
    let writable = writable.replace('"', "").replace(" -", " ");
    assert_eq!(writable, format!("{0}/.local/share/recall {0}/.claude", world.home().display()));

    let api = MessagesApi::start(|_: &Asked| {
        let form = json!({"title": "Pages by key", "request": "Find out why orders go missing", "completed": ["Orders no longer go missing"]});
        vec![Block::Text(form.to_string())]
    });
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", world.bin().display());
    let variables = [
        ("PATH", path.as_str()),
        ("WRITABLE", &writable),
        ("ANTHROPIC_BASE_URL", &api.url()),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy-not-real"),
    ];
    let ran = system(&world, SANDBOX, &variables);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    assert_eq!((ran.code, &report["sessions_digested"], &report["sessions_failed"]), (0, &json!(1), &json!(0)), "{ran:#?}");
    assert_eq!(api.asked().len(), 1, "the client has asked: {ran:#?}");
    let told = fs::read_to_string(world.home().join(".claude.json")).unwrap();
    assert!(told.contains("\"numStartups\": 3"), "it is left as it was: {told}");
}
