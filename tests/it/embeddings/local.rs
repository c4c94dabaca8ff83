//! A model on this machine: how it is installed, what it is given, and that search works without it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::scene::{INVOICES, STRIPES, digest, docs, docs_with_vectors, found, three_sessions};
use crate::support::World;

/// Stands in for the program that runs models: speaks its protocol, knows that a zebra has stripes, and notes what it was given.
const STAND_IN: &str = r#"#!/bin/sh
[ "$1 $2" = "run --model" ] || { echo "not asked as agreed: $*" >&2; exit 2; }
[ -z "$HOME$PATH_SEEN" ] || { echo "it has variables" >&2; exit 2; }
[ -f "$3/broken" ] && { echo "model.safetensors is damaged" >&2; exit 2; }
echo '{"model": "m", "hash": "h", "dimensions": 3, "max_tokens": 256}'
/usr/bin/tee -a "{seen}" | /usr/bin/awk '{
    sub(/^.*"texts":\[/, ""); n = split($0, texts, /","/); all = ""
    for (i = 1; i <= n; i++) {
        v = "[0,0,1]"
        if (texts[i] ~ /[sS]tripe|zebra/) v = "[1,0,0.1]"
        if (texts[i] ~ /[iI]nvoice|money/) v = "[0,1,0.1]"
        all = all (i > 1 ? "," : "") v
    }
    print "{\"vectors\":[" all "]}"
}'
"#;

/// A folder that looks like a model.
fn model(world: &World, name: &str) -> PathBuf {
    let folder = world.root().join("download").join(name);
    fs::create_dir_all(folder.join("1_Pooling")).expect("a folder");
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        fs::write(folder.join(file), "{}").expect("a file");
    }
    folder
}

/// Puts the stand-in on the search path; what it is given is in the file.
fn program(world: &World) -> PathBuf {
    let seen = world.root().join("seen.jsonl");
    let path = world.bin().join("recall-embed");
    fs::write(&path, STAND_IN.replace("{seen}", seen.to_str().expect("UTF-8"))).expect("the program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its permissions");
    world.configure(&settings(&path));
    seen
}

/// The one of this name that was built beside the program under test is not meant.
fn settings(program: &Path) -> String {
    format!("[embeddings]\nprogram = \"{}\"\n", program.display())
}

/// A world with three sessions and a model that is installed and has embedded them.
fn embedded() -> (World, PathBuf) {
    let world = three_sessions();
    let seen = program(&world);
    let ran = world.recall(["embed", "install", model(&world, "tiny").to_str().expect("UTF-8")]);
    assert!(ran.code == 0 && ran.out.starts_with("tiny is installed."), "{ran:#?}");
    let report = world.digest(&super::scene::EXTRACT);
    assert_eq!(report["documents_embedded"], 3, "{report}");
    (world, seen)
}

#[test]
fn one_command_makes_search_compare_meaning() {
    let (world, seen) = embedded();
    assert_eq!(found(&world, "zebra").0[0], STRIPES);
    assert_eq!(found(&world, "money").0[0], INVOICES);
    assert_eq!(docs_with_vectors(&world), docs(&world));
    let asked = fs::read_to_string(&seen).expect("what was asked");
    assert!(asked.contains(r#"{"kind":"query","texts":["money"]}"#), "{asked}");
    assert!(asked.lines().filter(|line| line.contains("Tidy the changelog")).all(|line| line.starts_with(r#"{"kind":"passage""#)));
    let shown = world.recall(["embed"]);
    assert!(shown.out.contains("model     tiny") && shown.out.contains("3 of 3 sessions and notes"), "{shown:#?}");
    let doctor = world.recall(["doctor"]);
    assert!(doctor.out.contains("recall-embed answers, 3 of 3 sessions and notes embedded by tiny"), "{doctor:#?}");
}

#[test]
fn no_hook_starts_it() {
    let (world, seen) = embedded();
    fs::remove_file(&seen).expect("what was asked");
    let event = json!({
        "session_id": "eeee5555", "transcript_path": "/x.jsonl", "cwd": "/home/dev/src/shop", "source": "startup", "reason": "other",
        "prompt": "where did we leave off on the stripes of the banner?", "trigger": "manual",
    });
    for hook in ["session-start", "user-prompt-submit", "session-end", "pre-compact", "stop", "post-compact"] {
        let mut event = event.clone();
        event["hook_event_name"] = json!(hook);
        world.hook(hook, event.to_string());
    }
    for arguments in [&["context", "--cwd", "/home/dev/src/shop"][..], &["show", "aaaa1111"], &["status"], &["config"], &["export"]]
    {
        world.recall(arguments);
    }
    assert!(!seen.exists(), "{}", fs::read_to_string(&seen).unwrap_or_default());
    found(&world, "zebra");
    assert!(seen.exists());
}

#[test]
fn without_the_program_words_find_and_search_says_why() {
    let (world, _) = embedded();
    fs::remove_file(world.bin().join("recall-embed")).expect("the program");
    let (ids, said) = found(&world, "stripes");
    assert_eq!(ids, [STRIPES]);
    let why = format!(
        "searched by words only, not by meaning: model tiny: `{}` was not found",
        world.bin().join("recall-embed").display()
    );
    assert!(said.contains(&why), "{said}");
    super::scene::session(&world, "dddd4444-0000-4000-8000-000000000004", 11, "Mend the sluice", "Mended.");
    let ran = digest(&world);
    assert!(ran.code == 1 && ran.err.contains("1 sessions and notes are found only by words"), "{ran:#?}");
}

#[test]
fn what_is_removed_takes_its_vectors_along() {
    let (world, _) = embedded();
    let ran = world.recall(["embed", "remove"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "The model is deleted. The next `recall digest` deletes its vectors.\n"));
    world.digest(&super::scene::EXTRACT);
    assert_eq!(docs_with_vectors(&world), [] as [i64; 0]);
    assert_eq!(found(&world, "zebra").0, [] as [&str; 0]);
    assert_eq!(world.recall(["embed", "remove"]).out, "No model is installed.\n");
    let shown = world.recall(["embed"]);
    assert!(shown.out.contains("all-MiniLM-L6-v2") && shown.out.contains("multilingual-e5-small"), "{shown:#?}");
}

#[test]
fn a_model_that_does_not_work_leaves_the_one_before_in_use() {
    let (world, _) = embedded();
    let broken = model(&world, "broken");
    fs::write(broken.join("model.safetensors"), "").expect("a file");
    let installed = world.data_dir().join("models/broken");
    fs::create_dir_all(&installed).expect("a folder");
    let refuses = STAND_IN.replace("$3/broken", "$3/config.json").replace("{seen}", "/dev/null");
    fs::write(world.bin().join("recall-embed"), refuses).expect("the program");
    let ran = world.recall(["embed", "install", broken.to_str().expect("UTF-8")]);
    assert!(ran.code == 2 && ran.err.contains("cannot be used: model.safetensors is damaged"), "{ran:#?}");
    program(&world);
    assert_eq!(found(&world, "zebra").0[0], STRIPES);
}

#[test]
fn a_model_of_the_same_name_that_does_not_work_leaves_the_one_before_as_it_was() {
    let (world, _) = embedded();
    let models = world.data_dir().join("models");
    let installed = || fs::read_to_string(models.join("tiny/model.safetensors")).expect("the model");
    let listed = || {
        let entries = fs::read_dir(&models).expect("the models").map(|entry| entry.expect("an entry").file_name());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let (before, names) = (installed(), listed());
    let tiny = model(&world, "tiny");
    let program = world.bin().join("recall-embed");
    let text = fs::read_to_string(&program).expect("the program");
    let refuses = text.replace("[ -f \"$3/broken\" ]", "/usr/bin/grep -q broken \"$3/model.safetensors\"");
    fs::write(&program, refuses).expect("the program");
    fs::write(tiny.join("model.safetensors"), "broken").expect("a file");
    let ran = world.recall(["embed", "install", tiny.to_str().expect("UTF-8")]);
    let why = format!("{} cannot be used: model.safetensors is damaged", tiny.display());
    assert!(ran.code == 2 && ran.err.contains(&why), "{ran:#?}");
    assert_eq!((installed(), listed()), (before, names));
    assert_eq!(found(&world, "zebra").0[0], STRIPES);
    // One that works takes its place.
    fs::write(tiny.join("model.safetensors"), "better").expect("a file");
    let ran = world.recall(["embed", "install", tiny.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, installed().as_str()), (0, "better"), "{ran:#?}");
}

#[test]
fn what_is_no_model_is_refused_with_what_there_is() {
    let world = World::new();
    world.configure(&settings(&world.bin().join("recall-embed")));
    let ran = world.recall(["embed", "install"]);
    assert!(ran.code == 2 && ran.err.contains("recall-embed`, which runs the model, was not found"), "{ran:#?}");
    program(&world);
    let ran = world.recall(["embed", "install", "nomic"]);
    assert!(ran.code == 2 && ran.err.contains("no model is called `nomic`: `all-MiniLM-L6-v2`, `bge-small-en-v1.5`"), "{ran:#?}");
    let folder = world.root().join("empty");
    fs::create_dir_all(&folder).expect("a folder");
    let ran = world.recall(["embed", "install", folder.to_str().expect("UTF-8")]);
    assert!(ran.code == 2 && ran.err.contains("is not a model folder as Hugging Face has them: it has no config.json"), "{ran:#?}");
    world.configure("[embeddings]\nendpoint = \"http://127.0.0.1:1\"\nmodel = \"m\"\n");
    let ran = world.recall(["embed", "install", folder.to_str().expect("UTF-8")]);
    assert!(ran.code == 2 && ran.err.contains("names an endpoint for embeddings"), "{ran:#?}");
}

/// A hub on loopback that serves wrong content, and notes the requests.
fn hub(body: &'static [u8]) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let (mut request, mut byte) = (Vec::new(), [0]);
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                request.push(byte[0]);
            }
            noted.lock().expect("the requests").push(String::from_utf8_lossy(&request).into_owned());
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    (address, requests)
}

fn partial(world: &World) -> Option<Vec<u8>> {
    fs::read(world.data_dir().join("models/all-MiniLM-L6-v2/config.partial")).ok()
}

#[test]
fn what_the_hub_sends_is_checked_and_an_interrupted_file_is_continued() {
    let world = World::new();
    program(&world);
    // As long as the file is, but something else.
    let (address, requests) = hub(&[b'x'; 612]);
    let ran = world.recall_with(["embed", "install"], &[("HF_ENDPOINT", address.as_str())]);
    assert!(ran.code == 2 && ran.err.contains("its content is not the expected one (SHA-256)"), "{ran:#?}");
    assert!(ran.err.contains("fetching all-MiniLM-L6-v2 (91 MB) from http://127.0.0.1"), "{ran:#?}");
    assert_eq!(partial(&world), None, "nothing of it is kept");
    let asked = requests.lock().expect("the requests").remove(0);
    assert!(
        asked.starts_with(
            "GET /sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41/config.json "
        )
    );
    // Half of it: kept, and the next run asks for the rest.
    let (address, _) = hub(&[b'x'; 300]);
    let ran = world.recall_with(["embed", "install"], &[("HF_ENDPOINT", address.as_str())]);
    assert!(ran.code == 2 && ran.err.contains("it ended after 300 of 612 bytes: run the command again to go on"), "{ran:#?}");
    assert_eq!(partial(&world).map(|bytes| bytes.len()), Some(300));
    let (address, requests) = hub(&[b'x'; 612]);
    world.recall_with(["embed", "install"], &[("HF_ENDPOINT", address.as_str())]);
    assert!(requests.lock().expect("the requests")[0].to_ascii_lowercase().contains("range: bytes=300-"));
    let ran = world.recall_with(["embed", "install"], &[("HF_ENDPOINT", "http://hub.example.com")]);
    assert!(ran.code == 2 && ran.err.contains("must be https"), "{ran:#?}");
    let shown = world.recall(["embed"]);
    assert!(shown.out.contains("No model is installed"), "{shown:#?}");
}

#[test]
fn a_purge_deletes_the_model_too() {
    let (world, _) = embedded();
    assert!(Path::new(&world.data_dir()).join("models/tiny/config.json").is_file());
    let ran = world.recall(["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!world.data_dir().exists());
}
