//! Whatever the umask: files are 0600 and folders 0700, whichever command wrote them.

use std::os::unix::fs::PermissionsExt;

use crate::forget::scene::{EXTRACT, OTHER, TELLS, TEXT, path_of, write};
use crate::support::World;

/// The modes of what lies in the data folder, by path.
fn modes(world: &World) -> Vec<(String, u32)> {
    let all = walkdir::WalkDir::new(world.data_dir()).sort_by_file_name().into_iter().map(|e| e.expect("an entry"));
    all.map(|e| (e.path().display().to_string(), e.metadata().expect("its mode").permissions().mode() & 0o7777)).collect()
}

#[test]
fn all_that_is_written_is_the_users_alone() {
    for umask in ["000", "022", "077"] {
        let world = World::new();
        write(&world);
        world.fake_claude("#!/bin/sh\ncat > /dev/null\necho not now\nexit 1\n");
        std::fs::write(
            world.root().join("session.json"),
            serde_json::json!({
                "session_id": OTHER, "transcript_path": world.claude_dir().join("projects").join(path_of(OTHER)),
                "cwd": "/home/dev/src/shop", "hook_event_name": "SessionEnd", "reason": "exit", "source": "startup",
            })
            .to_string(),
        )
        .unwrap();
        let script = format!(
            "umask {umask}
            \"$RECALL\" hook session-start < session.json
            \"$RECALL\" hook nonsense < session.json
            \"$RECALL\" digest --ingest-only
            \"$RECALL\" digest --summarizer claude
            \"$RECALL\" digest --summarizer {}
            \"$RECALL\" hook session-start < session.json
            \"$RECALL\" search importer
            \"$RECALL\" show {TELLS}
            \"$RECALL\" close $(\"$RECALL\" context --cwd /home/dev/src/shop | grep -o 'n[0-9a-f]\\{{8\\}}' | head -n 1)
            \"$RECALL\" export > all.jsonl
            \"$RECALL\" import all.jsonl
            \"$RECALL\" install --timer none
            \"$RECALL\" forget --yes --match '{TEXT}'
            \"$RECALL\" uninstall
            \"$RECALL\" hook session-end < session.json",
            EXTRACT[1],
        );
        let ran = world.shell(&script);
        assert!(ran.out.contains("forgot parts of 2 sessions"), "{ran:#?}");
        let modes = modes(&world);
        for name in ["recall.db", "hooks.log", "last-run.json", "lock", "/marks/new/", "/sessions/", ".md"] {
            assert!(modes.iter().any(|(path, _)| path.contains(name)), "{name} was written: {modes:#?}");
        }
        let open: Vec<_> =
            modes.iter().filter(|(path, mode)| *mode != if std::path::Path::new(path).is_dir() { 0o700 } else { 0o600 }).collect();
        assert!(open.is_empty(), "with umask {umask}: {open:#?}");
    }
}

#[test]
fn a_folder_that_others_can_read_is_reported() {
    let world = World::new();
    write(&world);
    world.digest(&EXTRACT);
    std::fs::set_permissions(world.data_dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [&["digest"][..], &["forget", "--yes", "--match", "no such text"]] {
        let ran = world.recall(arguments);
        assert_eq!(ran.code, 1, "{ran:#?}");
        assert!(ran.err.contains("others can read"), "{ran:#?}");
    }
    assert!(world.findings("permissions", &[])[0].starts_with("warning: others can read"));
}
