//! A hook on a failing disk, or killed: the client never notices, and the digest copes with what is left.

use serde_json::json;

use crate::faults::disk::some;
use crate::faults::interposer::{Fault, interpose, record, recorded};
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::Scene;
use crate::faults::sessions::{GROWS, later_run};
use crate::support::{Ran, fed};

fn hook(scene: &Scene, event: &str, fault: Fault, recording: Option<&std::path::Path>) -> Ran {
    let mut command = scene.world.process();
    command.args(["hook", event]);
    interpose(&mut command, scene.folder(), fault);
    if let Some(folder) = recording {
        record(&mut command, &folder.join("log"), folder);
    }
    let name = if event == "session-end" { "SessionEnd" } else { "SessionStart" };
    let transcript = scene.world.claude_dir().join(format!("projects/-home-dev-src-mill/{GROWS}.jsonl"));
    let payload = json!({
        "session_id": GROWS, "transcript_path": transcript, "cwd": "/home/dev/src/mill", "hook_event_name": name,
        "reason": "other", "source": "startup",
    });
    fed(command, payload.to_string().as_bytes())
}

#[test]
fn a_hook_on_a_failing_disk_is_silent_and_the_digest_goes_on() {
    let mut sample = Sample::new("hooks on a failing disk");
    let (scene, _) = later_run("extract");
    for event in ["session-end", "session-start"] {
        scene.reset();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let wanted = hook(&scene, event, Fault::Nothing, Some(folder.path()));
        let calls = recorded(&folder.path().join("log"));
        assert!(!calls.is_empty(), "{event} writes");
        let some = some(&calls, part(10), &mut sample);
        for fault in &some {
            scene.reset();
            let ran = hook(&scene, event, *fault, None);
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{event}, {fault:?}: {ran:#?}");
            // The start of a session may go without notes, and never says anything but them.
            assert!(ran.out.is_empty() || ran.out == wanted.out, "{event}, {fault:?}: {ran:#?}");
            scene.finish(&format!("{event}, {fault:?}"));
        }
        add(&format!("hook {event}"), Tried { errors: some.len(), ..Tried::default() });
    }
}
