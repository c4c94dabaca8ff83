//! `recall import --from claude-mem`: what another tool remembers, told as what that tool said.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::support::data_folder::{assert_nowhere, texts};
use crate::support::{Ran, World, assistant, user};

const CACHE: &str = "c1aade00-1111-4111-8111-000000000001";
const CLINIC: &str = "c1aade00-1111-4111-8111-000000000002";
/// 2026-03-01 10:00 UTC.
const AT: i64 = 1_772_359_200_000;
const SECRET: &str = "ghp_hG7kQz2LpW9vXcT4mBn8sRd6fYj3aUe5iOq1";

/// As today's versions have it.
const NEW: &str = "
    CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL, memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active',
        worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
        type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
        investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);";

/// As the first versions with these tables had it.
const OLD: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL, sdk_session_id TEXT UNIQUE,
        project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
        completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active');
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT NOT NULL,
        type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT UNIQUE NOT NULL, project TEXT NOT NULL,
        request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);";

/// A database of claude-mem where it lies by default.
struct ClaudeMem {
    file: PathBuf,
    db: Connection,
}

impl ClaudeMem {
    fn new(world: &World, schema: &str) -> Self {
        let folder = world.home().join(".claude-mem");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("claude-mem.db");
        let db = Connection::open(&file).unwrap();
        db.execute_batch(schema).unwrap();
        Self { file, db }
    }

    fn session(&self, id: &str, project: &str) {
        let sql =
            "INSERT INTO sdk_sessions(content_session_id, memory_session_id, project, user_prompt, started_at, started_at_epoch)
             VALUES (?1, 'own-' || ?1, ?2, 'Make the product page fast', '2026-03-01T10:00:00.000Z', ?3)";
        self.db.execute(sql, params![id, project, AT]).unwrap();
    }

    fn prompt(&self, id: &str, number: i64, text: &str) {
        let sql = "INSERT INTO user_prompts(content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)
             VALUES (?1, ?2, ?3, '2026-03-01T10:00:00.000Z', ?4)";
        self.db.execute(sql, params![id, number, text, AT + number * 60_000]).unwrap();
    }

    fn observation(&self, id: &str, kind: &str, title: &str, narrative: &str, files: &str) {
        let sql = "INSERT INTO observations(memory_session_id, project, type, title, narrative, files_modified, generated_by_model, created_at,
             created_at_epoch) VALUES ('own-' || ?1, 'x', ?2, ?3, ?4, ?5, 'claude-sonnet-9', '2026-03-01T10:05:00.000Z', ?6)";
        self.db.execute(sql, params![id, kind, title, narrative, files, AT + 300_000]).unwrap();
    }

    fn summary(&self, id: &str, [request, investigated, learned, completed, next_steps]: [&str; 5], after: i64) {
        let sql = "INSERT INTO session_summaries(memory_session_id, project, request, investigated, learned, completed, next_steps, files_edited,
             created_at, created_at_epoch) VALUES ('own-' || ?1, 'x', ?2, ?3, ?4, ?5, ?6, '[\"src/cache.rs\"]', '2026-03-01T10:20:00.000Z', ?7)";
        self.db.execute(sql, params![id, request, investigated, learned, completed, next_steps, AT + after]).unwrap();
    }

    /// A session of which all is said.
    fn cache_session(&self, project: &str) {
        self.session(CACHE, project);
        self.prompt(CACHE, 1, "The product page takes four seconds, please make it fast");
        self.prompt(CACHE, 2, "Use Valkey for it, not Redis");
        self.observation(
            CACHE,
            "decision",
            "Valkey holds the page cache",
            "Its licence is free. It speaks the same protocol.",
            "[]",
        );
        self.observation(
            CACHE,
            "bugfix",
            "Stale prices after an import",
            "The import now drops the zanzibar keys.",
            r#"["src/import.rs"]"#,
        );
        self.observation(CACHE, "discovery", "Rendering asks the database 212 times", "", "[]");
        self.summary(
            CACHE,
            ["Make the product page fast", "The slow queries of the page.", "", "Measured the page.", "Pick a cache"],
            600_000,
        );
        let end = [
            "Cache the product page",
            "",
            "Each visit rendered the quokka template anew.",
            "The page answers in 80 ms. A test covers the cache.",
            "- Warm the cache after a deploy\n- Delete the old template",
        ];
        self.summary(CACHE, end, 1_200_000);
    }
}

/// What is there before an import.
type Prepare<'p> = &'p dyn Fn(&World, &ClaudeMem);

fn import(world: &World) -> Ran {
    world.recall(["import", "--from", "claude-mem"])
}

/// All files of a folder with what they hold and when they were written.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| (file.clone(), (fs::read(&file).unwrap(), file.metadata().unwrap().modified().unwrap()))).collect()
}

#[test]
fn sessions_come_in_as_what_claude_mem_said_of_them() {
    let world = World::new();
    ClaudeMem::new(&world, NEW).cache_session("shop");
    let ran = import(&world);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(ran.out.contains("imported 1 session, 0 were known\n"), "{ran:#?}");

    let shown = world.recall(["show", "c1aade00"]).out;
    for words in [
        "# Make the product page fast\n",
        "Asked, in claude-mem's words: Make the product page fast; Cache the product page\n",
        "Outcome, by claude-mem:\n- Stale prices after an import: The import now drops the zanzibar keys.\n- Measured the page.\n- The page answers in 80 ms. A test covers the cache.\n",
        "Decided, by claude-mem:\n- Valkey holds the page cache: Its licence is free.\n",
        "Learned, by claude-mem:\n- Rendering asks the database 212 times\n- Each visit rendered the quokka template anew.\n",
        " Warm the cache after a deploy\n",
        " Delete the old template\n",
        "Use Valkey for it, not Redis",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    // What was left to do earlier was done, or stands in the last one.
    assert!(!shown.contains("Pick a cache") && !shown.contains("by a model") && !shown.contains("no reply"), "{shown}");

    let data = world.show("c1aade00");
    assert_eq!((&data["summarizer"], &data["model"]), (&"claude-mem".into(), &"claude-sonnet-9".into()), "{data:#}");
    assert_eq!(
        (&data["project"], &data["began_at"], &data["prompts"]),
        (&"shop".into(), &(AT + 60_000).into(), &2.into()),
        "{data:#}"
    );
    let files: Vec<&str> = data["digest"]["files"].as_array().unwrap().iter().filter_map(|file| file["text"].as_str()).collect();
    assert_eq!(files, ["src/cache.rs", "src/import.rs"]);

    for words in ["quokka", "zanzibar", "valkey", "kind:decision licence", "file:import.rs", "project:shop four seconds"] {
        let found = world.recall(["search", words]);
        assert!(found.out.contains("c1aade00"), "{words}: {found:#?}");
    }
    let raw = world.recall(["show", "c1aade00", "--raw"]);
    assert!(raw.code == 2 && raw.err.contains("imported from claude-mem, which keeps no transcript"), "{raw:#?}");
    assert!(world.recall(["status"]).out.contains("1, 1 digested (0 by the model, 0 without it, 1 from claude-mem)"));
    assert!(world.recall(["list"]).out.contains("Make the product page fast"));
    assert!(world.recall(["todo", "--all", "--project", "shop"]).out.contains("Warm the cache after a deploy"));
    assert_eq!(world.recall(["digest", "--rebuild-pages"]).code, 0);
    let day = world.recall(["day", "2026-03-01"]);
    assert!(day.code == 0 && day.out.contains("Valkey holds the page cache"), "{day:#?}");
}

#[test]
fn later_digests_leave_it_as_it_is() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, NEW);
    tool.cache_session("shop");
    tool.session(CLINIC, "shop");
    tool.prompt(CLINIC, 1, "A session of which claude-mem kept the prompt alone");
    assert!(import(&world).out.contains("imported 2 sessions, 0 were known\n"));
    let before = world.show("c1aade00-1111-4111-8111-000000000001");
    for args in [
        &["--summarizer", "extract"][..],
        &["--summarizer", "extract", "--rebuild-pages"],
        &["--summarizer", "extract", "--session", CACHE],
    ] {
        world.digest(args);
        assert_eq!(world.show(CACHE), before, "{args:?}");
    }
    // An earlier session of the project that comes in has its neighbours looked at again.
    let text = user("aaaa0000-1111-4111-8111-000000000009", "u1", "2026-02-20T10:00:00Z", "Good morning, list the templates")
        + &assistant("aaaa0000-1111-4111-8111-000000000009", "a1", "2026-02-20T10:00:05Z", "There are three templates.");
    world.transcript("-p/aaaa0000-1111-4111-8111-000000000009.jsonl", text.replace("/home/dev/src/shop", "shop"));
    world.digest(&["--summarizer", "extract"]);
    let index = Connection::open(world.data_dir().join("recall.db")).unwrap();
    index.execute("UPDATE session SET dirty = 2", []).unwrap();
    drop(index);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.show(CACHE)["digest"], before["digest"]);
    let page = world.pages().into_iter().find(|(name, _)| name.contains("c1aade00")).unwrap().1;
    assert!(page.contains("summarizer: claude-mem\n") && page.contains("The page answers in 80 ms."), "{page}");
}

#[test]
fn importing_again_changes_nothing() {
    let world = World::new();
    ClaudeMem::new(&world, NEW).cache_session("shop");
    import(&world);
    let before = world.recall(["export"]).out;
    let again = import(&world);
    assert!(again.code == 0 && again.out.contains("imported 0 sessions, 1 were known\n"), "{again:#?}");
    assert_eq!(world.recall(["export"]).out, before);
    // It moves on like any other.
    let other = World::new();
    let file = other.root().join("all.jsonl");
    fs::write(&file, &before).unwrap();
    assert!(other.recall(["import", file.to_str().unwrap()]).out.contains("imported 1 session"));
    assert_eq!(other.recall(["export"]).out, before);
}

#[test]
fn a_database_of_an_older_version_is_read_and_what_it_lacks_is_told() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, OLD);
    tool.db
        .execute_batch(&format!(
            "INSERT INTO sdk_sessions(claude_session_id, sdk_session_id, project, user_prompt, started_at, started_at_epoch)
                 VALUES ('{CACHE}', 'own', 'shop', 'Make it fast, please', '2026-03-01T10:00:00.000Z', {AT});
             INSERT INTO observations(sdk_session_id, project, text, type, created_at, created_at_epoch)
                 VALUES ('own', 'shop', 'The pager counts twice. That is slow.', 'discovery', '2026-03-01T10:01:00.000Z', {AT});
             INSERT INTO session_summaries(sdk_session_id, project, request, completed, files_edited, created_at, created_at_epoch)
                 VALUES ('own', 'shop', 'Speed', 'The pager counts once.', 'src/pager.rs, src/list.rs', '2026-03-01T10:02:00.000Z', {AT});"
        ))
        .unwrap();
    let ran = import(&world);
    assert!(ran.code == 0 && ran.out.contains("imported 1 session, 0 were known"), "{ran:#?}");
    assert!(ran.err.contains("no title in observations") && ran.err.contains("no table user_prompts"), "{ran:#?}");
    let shown = world.recall(["show", CACHE]).out;
    for words in ["The pager counts twice. That is slow.", "The pager counts once.", "Make it fast, please"] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    let files = &world.show(CACHE)["digest"]["files"];
    assert_eq!((&files[0]["text"], &files[1]["text"]), (&"src/pager.rs".into(), &"src/list.rs".into()));
}

#[test]
fn a_session_that_is_known_stays_and_a_transcript_that_comes_later_goes_before() {
    let talk = user(CACHE, "u1", "2026-03-01T10:00:30Z", "The product page takes four seconds, please make it fast")
        + &assistant(CACHE, "a1", "2026-03-01T10:00:40Z", "The page asks the database 212 times, I will cache it.");
    let path = format!("-home-dev-src-shop/{CACHE}.jsonl");

    let world = World::new();
    world.transcript(&path, &talk);
    world.digest(&["--summarizer", "extract"]);
    ClaudeMem::new(&world, NEW).cache_session("shop");
    let before = world.recall(["export"]).out;
    let ran = import(&world);
    assert!(ran.out.contains("imported 0 sessions, 1 were known\n"), "{ran:#?}");
    assert_eq!(world.recall(["export"]).out, before);

    let later = World::new();
    ClaudeMem::new(&later, NEW).cache_session("elsewhere");
    import(&later);
    later.transcript(&path, &talk);
    later.digest(&["--summarizer", "extract"]);
    let (data, as_read) = (later.show(CACHE), world.show(CACHE));
    assert_eq!((&data["prompts"], &data["project"]), (&1.into(), &as_read["project"]), "{data:#}");
    assert_eq!(data["digest"], as_read["digest"]);
    assert_eq!((&data["summarizer"], &data["began_at"]), (&"extract".into(), &as_read["began_at"]));
    assert_eq!(later.count("SELECT count(*) FROM source"), 1);
}

#[test]
fn a_name_is_that_of_the_one_project_that_has_it() {
    let known = |world: &World, session: &str, folder: &str| {
        let text = user(session, "u1", "2026-11-01T10:00:00Z", "Good morning!")
            + &assistant(session, "a1", "2026-11-01T10:00:05Z", "Good morning.");
        world.transcript(&format!("-p{}/{session}.jsonl", &session[..4]), text.replace("/home/dev/src/shop", folder));
    };
    let project = |prepare: Prepare<'_>| {
        let world = World::new();
        let tool = ClaudeMem::new(&world, NEW);
        prepare(&world, &tool);
        world.digest(&["--summarizer", "extract"]);
        let ran = import(&world);
        assert!(ran.out.contains("imported 1 session,"), "{ran:#?}");
        (world.show(CACHE)["project"].as_str().unwrap().to_owned(), ran.out.contains("knows only the names"))
    };
    let (one, two) = ("aaaa0000-1111-4111-8111-000000000001", "bbbb0000-1111-4111-8111-000000000002");
    let cases: [(Prepare<'_>, &str); 7] = [
        (&|_, tool| tool.cache_session("shop"), "shop"),
        (
            &|world, tool| {
                known(world, one, "/home/dev/src/shop");
                tool.cache_session("shop");
            },
            "/home/dev/src/shop",
        ),
        (
            &|world, tool| {
                known(world, one, "/home/dev/src/shop");
                tool.cache_session("shop/fix-1");
            },
            "/home/dev/src/shop",
        ),
        (
            &|world, tool| {
                known(world, one, "/home/dev/src/shop");
                known(world, two, "/srv/shop");
                tool.cache_session("shop");
            },
            "shop",
        ),
        (
            &|world, tool| {
                known(world, one, "/home/dev/src/shop");
                tool.cache_session("shop");
                tool.observation(CACHE, "change", "Moved it", "", r#"["/srv/shop/src/lib.rs"]"#);
            },
            "/srv/shop",
        ),
        (&|_, tool| tool.cache_session("/srv/depot"), "/srv/depot"),
        (
            &|world, tool| {
                world.configure("[projects]\nshop = \"/srv/new/shop\"\n");
                tool.cache_session("shop");
            },
            "/srv/new/shop",
        ),
    ];
    for (prepare, key) in cases {
        assert_eq!(project(prepare), (key.to_owned(), !key.starts_with('/')), "{key}");
    }
}

#[test]
fn what_is_excluded_stays_out() {
    for (pattern, project, file) in [
        ("clinic", "clinic", "src/lib.rs"),
        ("~/work/clinic", "clinic", "src/lib.rs"),
        ("/srv/clinic/**", "/srv/clinic", "src/lib.rs"),
        ("/srv/clients/*", "acme", "/srv/clients/acme/src/lib.rs"),
        ("/srv/clients/*", "shop", "/srv/clients/acme/src/lib.rs"),
    ] {
        let world = World::new();
        world.configure(&format!("[privacy]\nexclude_projects = [\"{pattern}\"]\n"));
        let tool = ClaudeMem::new(&world, NEW);
        tool.cache_session("depot");
        tool.session(CLINIC, project);
        tool.prompt(CLINIC, 1, "The hushonyx valve leaks");
        tool.observation(CLINIC, "bugfix", "Mended the hushonyx valve", "", &format!("[\"{file}\"]"));
        let ran = import(&world);
        assert!(
            ran.out.contains("imported 1 session, 0 were known\nleft out 1 session of excluded projects\n"),
            "{pattern}: {ran:#?}"
        );
        assert_eq!(world.count("SELECT count(*) FROM session"), 1, "{pattern}");
        assert_nowhere(&world, &texts(&world), "hushonyx valve");
    }
}

#[test]
fn what_was_forgotten_stays_forgotten() {
    for args in [&["forget", "--session", CACHE][..], &["forget", "--before", "2026-05-01"], &["forget", "--match", "Valkey"]] {
        let world = World::new();
        ClaudeMem::new(&world, NEW).cache_session("shop");
        import(&world);
        let ran = world.recall(args.iter().copied().chain(["--yes"]));
        assert!(ran.code < 2, "{ran:#?}");
        let again = import(&world);
        assert!(again.out.contains("imported 0 sessions"), "{args:?} {again:#?}");
        assert!(!world.recall(["search", "valkey"]).out.contains("c1aade00"), "{args:?}");
    }
    let world = World::new();
    world.configure("[retention]\ndays = 30\n");
    ClaudeMem::new(&world, NEW).cache_session("shop");
    let ran = import(&world);
    assert!(ran.out.contains("imported 0 sessions, 0 were known\nleft out 1 session forgotten before, or too old"), "{ran:#?}");
}

#[test]
fn secrets_and_private_parts_stay_out() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, NEW);
    tool.session(CACHE, "shop");
    tool.prompt(CACHE, 1, &format!("Deploy with {SECRET} please <private>and hushonyx alone</private>"));
    tool.observation(CACHE, "discovery", "A token of the deploy", &format!("The token is {SECRET}. It ends in March."), "[]");
    // Where a statement would be cut.
    let long = format!("{} {SECRET} and more.", "So it went on and on, word by word, to the very end".repeat(11));
    tool.summary(CACHE, ["Deploy", "", &long, "Deployed. <private>hushonyx alone</private>", "None at this time"], 600_000);
    let ran = import(&world);
    assert!(ran.code == 0 && ran.out.contains("imported 1 session"), "{ran:#?}");
    for word in [&SECRET[..20], "hushonyx alone"] {
        assert_nowhere(&world, &texts(&world), word);
    }
    let shown = world.recall(["show", CACHE]).out;
    assert!(shown.contains("Deployed.") && !shown.contains("Open"), "{shown}");
}

/// A copy of the database with a log that nobody has open: as a backup of a running one, and one that was killed, leave it.
fn left_with_its_log(world: &World, tool: &ClaudeMem) -> PathBuf {
    let copied = world.root().join("copied");
    fs::create_dir_all(&copied).unwrap();
    for name in ["claude-mem.db", "claude-mem.db-wal"] {
        fs::copy(tool.file.with_file_name(name), copied.join(name)).unwrap();
        fs::set_permissions(copied.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    copied
}

#[test]
fn a_copy_that_a_killed_import_left_is_for_its_owner_alone_and_goes_with_the_next_run() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, NEW);
    tool.db.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
    tool.cache_session("shop");
    let file = left_with_its_log(&world, &tool).join("claude-mem.db");
    for next in [
        &["digest", "--summarizer", "extract"][..],
        &["forget", "--yes", "--match", "zzzz"],
        &["import", "--from", "claude-mem", file.to_str().unwrap()],
        &["uninstall", "--purge", "--yes"],
    ] {
        let other = World::digested(&["plain"]);
        let import = ["import", "--from", "claude-mem", file.to_str().unwrap()];
        let killed = other.recall_with(import, &[("RECALL_KILL_AT", "database copied:1")]);
        assert_eq!(killed.code, -1, "{killed:#?}");
        let copies = || -> Vec<PathBuf> {
            let all = fs::read_dir(other.data_dir()).into_iter().flatten().map(|entry| entry.unwrap().path());
            all.filter(|path| path.file_name().unwrap().to_string_lossy().contains("claude-mem")).collect()
        };
        let [left] = &copies()[..] else { panic!("{:?}", copies()) };
        let files: Vec<PathBuf> = fs::read_dir(left).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        for path in files.iter().chain([left]) {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
        }
        let ran = other.recall(next);
        assert_eq!(ran.code, 0, "{next:?}: {ran:#?}");
        assert!(copies().is_empty(), "{next:?}: {:?}", copies());
    }
}

#[test]
fn nothing_is_written_where_claude_mem_keeps_it() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, NEW);
    tool.db.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
    tool.cache_session("shop");
    let (file, folder) = (tool.file.clone(), tool.file.parent().unwrap().to_owned());
    let copied = left_with_its_log(&world, &tool);
    let before = state(&copied);
    let other = World::new();
    let ran = other.recall(["import", "--from", "claude-mem", copied.join("claude-mem.db").to_str().unwrap()]);
    assert!(ran.code == 0 && ran.out.contains("imported 1 session,"), "{ran:#?}");
    assert!(state(&copied) == before, "{:?}", state(&copied).keys());
    assert!(
        fs::read_dir(other.data_dir()).unwrap().all(|entry| !entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".claude-mem"))
    );

    // While it runs.
    let names = |folder: &Path| state(folder).into_keys().collect::<Vec<_>>();
    let (there, bytes) = (names(&folder), fs::read(&file).unwrap());
    let ran = import(&world);
    assert!(ran.code == 0 && ran.out.contains("imported 1 session,"), "{ran:#?}");
    assert!(names(&folder) == there && fs::read(&file).unwrap() == bytes);
    tool.session(CLINIC, "shop");
    tool.prompt(CLINIC, 1, "It still writes");

    // When it has ended.
    drop(tool);
    let before = state(&folder);
    assert_eq!(before.len(), 1, "{:?}", before.keys());
    let ran = import(&world);
    assert!(ran.code == 0 && ran.out.contains("imported 1 session, 1 were known"), "{ran:#?}");
    assert!(state(&folder) == before);
}

#[test]
fn what_is_not_there_or_is_none_is_refused_with_what_to_type() {
    let world = World::new();
    let ran = import(&world);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:#?}");
    assert!(
        ran.err.contains("home/.claude-mem/claude-mem.db") && ran.err.contains("recall import --from claude-mem FILE"),
        "{ran:#?}"
    );
    assert!(!world.home().join(".claude-mem").exists() && !world.data_dir().exists());
    let ran = world.recall_with(["import", "--from", "claude-mem"], &[("CLAUDE_MEM_DATA_DIR", "/no/such/folder")]);
    assert!(ran.code == 2 && ran.err.contains("/no/such/folder/claude-mem.db"), "{ran:#?}");

    let file = |name: &str| world.root().join(name);
    fs::write(file("text"), "no database\n").unwrap();
    fs::write(file("empty"), "").unwrap();
    fs::write(file("cut"), "SQLite format 3\0and no more").unwrap();
    Connection::open(file("other")).unwrap().execute_batch("CREATE TABLE orders(id)").unwrap();
    fs::create_dir(file("folder")).unwrap();
    for name in ["text", "empty", "cut", "other", "folder"] {
        let ran = world.recall(["import", "--from", "claude-mem", file(name).to_str().unwrap()]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}: {ran:#?}");
        assert!(ran.err.contains(file(name).to_str().unwrap()) && !ran.err.contains("doctor"), "{name}: {ran:#?}");
    }
    let ran = world.recall(["import", "--from", "claude-mem", "-"]);
    assert!(ran.code == 2 && ran.err.contains("stdin"), "{ran:#?}");
    let ran = world.recall(["import", "--from", "other"]);
    assert!(ran.code == 2 && ran.err.contains("claude-mem"), "{ran:#?}");
}

#[test]
fn rows_that_cannot_be_read_cost_themselves_only() {
    let world = World::new();
    let tool = ClaudeMem::new(&world, NEW);
    tool.cache_session("shop");
    tool.observation(CACHE, "change", "Overwritten below", "", "[]");
    tool.db
        .execute_batch(
            "UPDATE observations SET narrative = x'ff00' WHERE title = 'Overwritten below';
             INSERT INTO sdk_sessions(content_session_id, project, started_at, started_at_epoch) VALUES (x'00', 'shop', '', 1);
             INSERT INTO sdk_sessions(content_session_id, project, started_at, started_at_epoch) VALUES ('nothing-said', 'shop', '', 1);",
        )
        .unwrap();
    let ran = import(&world);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.out.contains("imported 1 session, 0 were known\nleft out 1 session of which nothing was said\n"), "{ran:#?}");
    for words in ["observations: 1 row cannot be read, skipped", "sdk_sessions: 1 row cannot be read, skipped"] {
        assert!(ran.err.contains(words), "{ran:#?}");
    }
    let shown = world.recall(["show", CACHE]).out;
    assert!(shown.contains("zanzibar") && !shown.contains("Overwritten"), "{shown}");
}

#[test]
fn a_session_s_start_says_whose_words_these_are() {
    let world = World::new();
    let folder = world.root().join("shop");
    fs::create_dir_all(&folder).unwrap();
    ClaudeMem::new(&world, NEW).cache_session(folder.canonicalize().unwrap().to_str().unwrap());
    import(&world);
    let told = world.recall(["context", "--project", folder.to_str().unwrap()]);
    let told = if told.code == 0 { told } else { Ran::of(world.command().current_dir(&folder).arg("context").output().unwrap()) };
    assert!(told.out.contains("Outcome, by claude-mem:") && !told.out.contains("by a model"), "{told:#?}");
    let json: Value = world.show(CACHE);
    assert_eq!(json["cwd"], folder.canonicalize().unwrap().to_str().unwrap());
}
