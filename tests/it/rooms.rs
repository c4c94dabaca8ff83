//! The rooms of `src/` and of `crates/transcripts/src/`: few, each on its floor, and imports go down only, by the table in `lib.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::files_below;

/// The folders with rooms: the program, and the sessions of coding agents.
const PROGRAM: &str = "src";
const TRANSCRIPTS: &str = "crates/transcripts/src";
const HOUSES: [&str; 2] = [PROGRAM, TRANSCRIPTS];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A room with its floor, and the rooms that it may not import although they are below.
struct Room {
    name: String,
    floor: usize,
    forbidden: Vec<String>,
}

/// The table of rooms in the `lib.rs` of a house.
fn rooms(house: &str) -> Vec<Room> {
    let lib = fs::read_to_string(root().join(house).join("lib.rs")).expect("UTF-8");
    let mut all = Vec::new();
    for row in lib.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let columns: Vec<&str> = row.trim_end_matches('|').split('|').collect();
        let [floor, names, _, rest @ ..] = &columns[..] else { continue };
        let Ok(floor) = floor.trim().parse() else { continue };
        let may_not = rest.first().copied().unwrap_or_default();
        let forbidden: Vec<String> = may_not.trim().strip_prefix("import ").map(quoted).unwrap_or_default();
        all.extend(quoted(names).into_iter().map(|name| Room { name, floor, forbidden: forbidden.clone() }));
    }
    assert!(all.len() > 5, "the table of rooms in the lib.rs of {house} is not found any more");
    all
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn room<'r>(rooms: &'r [Room], name: &str) -> &'r Room {
    rooms.iter().find(|room| room.name == name).unwrap_or_else(|| panic!("{name} stands in no row of lib.rs"))
}

/// A line of code, without its comment.
struct Code {
    house: &'static str,
    /// The file's path in the house.
    file: PathBuf,
    line: String,
}

impl Code {
    /// The room of its file, a folder or a file alone; a file that is no room belongs to all.
    fn room(&self) -> Option<&str> {
        let first = Path::new(self.file.iter().next()?);
        first.file_stem()?.to_str().filter(|name| !NO_ROOMS.contains(name))
    }

    fn is_of_source(&self) -> bool {
        self.house == TRANSCRIPTS && self.room() == Some("source")
    }
}

/// Files beside the rooms.
const NO_ROOMS: [&str; 3] = ["lib", "main", "testing"];

/// All code of both houses. Unit tests are none of it: they may build what they need with rooms above.
fn code() -> Vec<Code> {
    let is_code =
        |f: &PathBuf| f.extension().is_some_and(|e| e == "rs") && !f.iter().any(|part| part == "tests") && !f.ends_with("tests.rs");
    let mut all = Vec::new();
    for house in HOUSES {
        let src = root().join(house);
        for file in files_below(&src).into_iter().filter(is_code) {
            let text = fs::read_to_string(&file).expect("UTF-8");
            let file = file.strip_prefix(&src).expect("a file of the house");
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            all.extend(code.map(|line| Code { house, file: file.to_owned(), line: line.to_owned() }));
        }
    }
    assert!(all.len() > 10_000, "the code is not found any more: {} lines", all.len());
    all
}

/// Each room of a house with the rooms of it that its files name, and one file that does.
fn imports(house: &str) -> BTreeSet<(String, String, String)> {
    let mut all = BTreeSet::new();
    for code in code().into_iter().filter(|code| code.house == house) {
        let Some(room) = code.room() else { continue };
        for named in code.line.split("crate::").skip(1) {
            let name: String = named.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            if !name.is_empty() && name != room {
                all.insert((room.to_owned(), name, code.file.display().to_string()));
            }
        }
    }
    assert!(all.len() > 40, "imports are not found any more: {all:?}");
    all
}

#[test]
fn imports_go_down_only() {
    for house in HOUSES {
        let rooms = rooms(house);
        let floor = |name: &str| room(&rooms, name).floor;
        let up: Vec<_> = imports(house).into_iter().filter(|(from, to, _)| floor(from) <= floor(to)).collect();
        assert!(up.is_empty(), "these rooms of {house} import one that is not below them: {up:#?}");
    }
}

#[test]
fn what_lies_in_the_data_folder_has_its_name_from_one_list() {
    let named = code().into_iter().filter(|code| code.line.contains("data_dir.join(\""));
    let named: Vec<_> = named.map(|code| format!("{}: {}", code.file.display(), code.line.trim())).collect();
    assert!(named.is_empty(), "take these names from sys::data_folder, by which a purge knows them: {named:#?}");
}

#[test]
fn no_room_imports_what_the_table_forbids_it() {
    let rooms = rooms(PROGRAM);
    assert_eq!(room(&rooms, "cli").forbidden, ["store", "search"], "the last column is read");
    let past: Vec<_> = imports(PROGRAM).into_iter().filter(|(from, to, _)| room(&rooms, from).forbidden.contains(to)).collect();
    assert!(past.is_empty(), "the table in lib.rs forbids these: {past:#?}");
}

/// The folders of `source` that belong to a client each.
fn clients() -> Vec<PathBuf> {
    let source = root().join(TRANSCRIPTS).join("source");
    let all = fs::read_dir(source).expect("source").map(|entry| entry.expect("an entry").path());
    let all: Vec<PathBuf> = all.filter(|folder| folder.join("tools.rs").exists()).collect();
    assert!(
        all.len() > 4 && all.iter().any(|folder| folder.ends_with("claude_code")),
        "the clients are not found any more: {all:?}"
    );
    all
}

/// The names of the clients' tools, from the tables that say what they are for.
fn names_of_tools() -> Vec<String> {
    let of = |client: &PathBuf| {
        let text = fs::read_to_string(client.join("tools.rs")).expect("UTF-8");
        let table = text.split("const TOOLS: ").nth(1).and_then(|rest| rest.split("\n])").next()).expect("the table");
        table.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let names: Vec<String> = clients().iter().flat_map(of).collect();
    assert!(names.len() > 40 && names.iter().any(|name| name == "Bash"), "the names are not found any more: {names:?}");
    // A name in small letters is a word of English, too.
    names.into_iter().filter(|name| !name.bytes().all(|b| b.is_ascii_lowercase())).collect()
}

/// Does a line of code hold one of these names as a literal, or in a list within one? In a sentence it is a word.
fn quotes_one_of(line: &str, names: &[String]) -> bool {
    let literals = line.split('"').filter(|literal| line.contains('"') && !literal.contains(' '));
    let mut words = literals.flat_map(|literal| literal.trim_end_matches('\\').split([',', ':', '(', ')', '|']));
    words.any(|word| names.iter().any(|name| name == word))
}

#[test]
fn only_a_source_knows_the_names_of_its_clients_tools() {
    let names = names_of_tools();
    for (line, named) in [
        (r#"tool.name == "Bash""#, true),
        (r#"matches!(name, "Bash" | "PowerShell")"#, true),
        (r#"const ALL: &str = "Read,TodoWrite";"#, true),
        (r#"allowed("Bash(git:*)")"#, true),
        (r#"    "Grep","#, true),
        (r#"tool.class() == ToolClass::Read"#, false),
        (r#""Read the plan""#, false),
        (r#"" Task ""#, false),
    ] {
        assert_eq!(quotes_one_of(line, &names), named, "{line}");
    }
    let outside = code().into_iter().filter(|code| !code.is_of_source());
    let told: Vec<String> = outside
        .filter(|code| quotes_one_of(&code.line, &names))
        .map(|code| format!("{}: {}", code.file.display(), code.line.trim()))
        .collect();
    assert!(told.is_empty(), "these go by the name of a tool, and not by its class: {told:#?}");
}

#[test]
fn nobody_names_a_client_s_own_source() {
    let outside = code().into_iter().filter(|code| !code.is_of_source());
    let clients: Vec<String> =
        clients().iter().map(|folder| format!("source::{}", folder.file_name().expect("a name").to_string_lossy())).collect();
    let names = |line: &str, client: &str| line.split(client).skip(1).any(|rest| rest.starts_with("::") || rest.starts_with(';'));
    let told: Vec<String> = outside
        .filter(|code| {
            clients.iter().any(|client| names(&code.line, client))
                || code.line.contains("claude_code::")
                || code.line.contains("::claude_code")
        })
        .map(|code| format!("{}: {}", code.file.display(), code.line.trim()))
        .collect();
    assert!(told.is_empty(), "what is needed of it stands in `source`: {told:#?}");
}

/// Ways from a transcript to a plain text, past the type for raw ones: bytes made a text, JSON read by another reader, doors for others.
const PAST_RAW_TEXT: [&str; 6] = ["from_utf8", "serde_json::Value", "serde_json::from_", "RawValue", "in_made_line", "of_request"];

#[test]
fn what_makes_items_has_no_text_that_is_not_raw() {
    let mut makers: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for code in code().into_iter().filter(Code::is_of_source) {
        makers.entry(code.file).or_default().push(code.line);
    }
    let makes = |lines: &[String]| lines.iter().any(|line| line.contains("Item::") || line.contains("Said::"));
    // Compiled for tests alone, and the one file in which a line becomes a raw text.
    let is_exempt = |file: &Path| ["promises.rs", "test_rows.rs", "line.rs"].iter().any(|name| file.ends_with(name));
    makers.retain(|file, lines| !is_exempt(file) && makes(lines));
    assert!(
        makers.len() > 20 && makers.keys().any(|file| file.ends_with("pi/rows.rs")),
        "they are not found any more: {makers:#?}"
    );
    let past = |line: &String| PAST_RAW_TEXT.iter().any(|way| line.contains(way)) && !line.contains("from_str(&state.own)");
    let told: Vec<String> = makers
        .iter()
        .flat_map(|(file, lines)| lines.iter().filter(|line| past(line)).map(|line| format!("{}: {}", file.display(), line.trim())))
        .collect();
    assert!(told.is_empty(), "these see what the sanitizer has not passed: {told:#?}");
}

#[test]
fn each_door_out_of_a_raw_text_has_one_use() {
    let within = |code: &Code, door: &str| match door {
        "of_request" => code.house == PROGRAM && code.room() == Some("mcp"),
        // Lines are made there of what a client keeps in another form.
        "in_made_line" => ["document.rs", "storage.rs", "database.rs"].iter().any(|name| code.file.ends_with(name)),
        _ => false,
    };
    let code: Vec<Code> =
        code().into_iter().filter(|code| !(code.house == TRANSCRIPTS && code.file.starts_with("privacy/raw"))).collect();
    for door in ["of_request", "in_made_line", "seen_by_test"] {
        let uses: Vec<&Code> = code.iter().filter(|code| code.line.contains(door)).collect();
        assert_eq!(uses.is_empty(), door == "seen_by_test", "{door}");
        let told: Vec<_> = uses.iter().filter(|code| !within(code, door)).map(|code| code.file.display().to_string()).collect();
        assert!(told.is_empty(), "{door}: {told:?}");
    }
}

#[test]
fn everything_in_a_house_is_a_room_with_a_floor() {
    for house in HOUSES {
        let stem = |path: PathBuf| path.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8").to_owned();
        let there: BTreeSet<String> = fs::read_dir(root().join(house))
            .expect("the house")
            .map(|entry| stem(entry.expect("an entry").path()))
            .filter(|name| !NO_ROOMS.contains(&name.as_str()))
            .collect();
        let known: BTreeSet<String> = rooms(house).into_iter().map(|room| room.name).collect();
        assert_eq!(there, known, "{house}");
    }
}

/// Each entry of a folder of `src` with the other entries of it that its files import.
fn imports_within(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let path = format!("crate::{}::", folder.replace('/', "::"));
    let word = |rest: &str| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Code { file, line, .. } in code().into_iter().filter(|code| code.house == PROGRAM) {
        let Ok(inside) = file.strip_prefix(folder) else { continue };
        let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        let entry = parts[0].trim_end_matches(".rs").to_owned();
        if entry == "mod" {
            continue;
        }
        // Of files that lie deeper, `super` is the entry itself.
        let is_entry = parts.len() == 1 || parts[1..] == ["mod.rs"];
        let beside = line.split("use super::").skip(1).filter(|_| is_entry);
        let named: Vec<String> = line.split(&path).skip(1).chain(beside).map(word).collect();
        all.entry(entry.clone()).or_default().extend(named.into_iter().filter(|name| !name.is_empty() && *name != entry));
    }
    all
}

#[test]
fn the_phases_of_a_digest_stand_in_one_direction() {
    let mut left = imports_within("app/digest");
    assert!(left.values().map(BTreeSet::len).sum::<usize>() > 15, "imports are not found any more: {left:?}");
    // What imports nothing that is left goes, until nothing does.
    while let Some(last) =
        left.iter().find(|(_, named)| !named.iter().any(|name| left.contains_key(name))).map(|(entry, _)| entry.clone())
    {
        left.remove(&last);
    }
    assert!(left.is_empty(), "these import each other in a circle: {left:#?}");
}

/// The bodies of all `impl NAME {` of the files of a room.
fn impls(room: &str, name: &str) -> Vec<(String, String)> {
    let src = root().join(PROGRAM).join(room);
    let head = format!("\nimpl {name} {{\n");
    let mut all = Vec::new();
    for file in files_below(&src).into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let bodies = text.split(&head).skip(1).filter_map(|rest| rest.split("\n}\n").next());
        all.extend(bodies.map(|body| (file.display().to_string(), body.to_owned())));
    }
    all
}

/// What a connection is made to write by.
const WRITES: [&str; 8] =
    [".execute", "INSERT INTO", "UPDATE ", "DELETE FROM", "DROP ", ".transaction(", "Behavior::Immediate", "relax_durability"];

#[test]
fn whoever_only_reads_the_index_cannot_write_it() {
    let writes = |name: &str| -> Vec<String> {
        let bodies = impls("store", name);
        assert!(!bodies.is_empty(), "there is no {name} any more");
        let found = |(file, body): &(String, String)| {
            WRITES.into_iter().filter(|word| body.contains(*word)).map(|word| format!("{file}: {word}")).collect::<Vec<_>>()
        };
        bodies.iter().flat_map(found).collect()
    };
    assert!(writes("Writer").len() > 40, "what writes is not found any more");
    for reads in ["Reader", "Memory", "WholeIndex"] {
        assert!(writes(reads).is_empty(), "{reads} writes: {:#?}", writes(reads));
    }
    // What they deref to could write for them.
    let targets: Vec<_> =
        ["Memory", "WholeIndex"].into_iter().flat_map(|name| impls("store", &format!("Deref for {name}"))).collect();
    assert!(targets.len() == 2 && targets.iter().all(|(_, body)| body.contains("type Target = Reader;")), "{targets:?}");
}

/// The files in which those look who want to change something.
const GUIDES: [&str; 4] = ["src/lib.rs", "crates/transcripts/src/lib.rs", "CONTRIBUTING.md", "docs/src/adding-an-agent.md"];

/// Does a `pub use` name it?
fn is_exported(text: &str, name: &str) -> bool {
    let all = text.split("pub use ").skip(1).chain(text.split("pub(crate) use ").skip(1));
    all.filter_map(|rest| rest.split(';').next())
        .any(|list| list.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name))
}

/// The crates of ours whose modules guides name.
const CRATES: [&str; 2] = ["text", "transcripts"];

/// Does `a::b::c` name a file of a house or of a crate, or something that a file of it defines?
fn is_in_src(name: &str) -> bool {
    match name.split_once("::") {
        Some((of, rest)) if CRATES.contains(&of) => is_below(&root().join("crates").join(of).join("src"), rest),
        _ => HOUSES.into_iter().any(|house| is_below(&root().join(house), name)),
    }
}

fn is_below(src: &Path, name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let module = |parts: &[&str]| {
        if parts.is_empty() {
            return Some(src.join("lib.rs"));
        }
        let place = parts.iter().fold(src.to_owned(), |place, part| place.join(part));
        let file = place.with_extension("rs");
        if file.is_file() { Some(file) } else { Some(place.join("mod.rs")).filter(|file| file.is_file()) }
    };
    let (last, above) = parts.split_last().expect("a name");
    let defines = |file: &Path| {
        let text = fs::read_to_string(file).expect("UTF-8");
        let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "use"];
        text.contains(&format!(" {last};"))
            || kinds.iter().any(|kind| text.contains(&format!("{kind} {last}")))
            || is_exported(&text, last)
    };
    module(&parts).is_some() || module(above).is_some_and(|file| defines(&file))
}

#[test]
fn what_the_guides_name_is_there() {
    let of_houses = HOUSES.into_iter().flat_map(|house| rooms(house).into_iter().map(|room| room.name));
    let known: BTreeSet<String> = of_houses.chain(CRATES.map(str::to_owned)).collect();
    let mut missing = Vec::new();
    let mut seen = 0;
    for guide in GUIDES {
        let text = fs::read_to_string(root().join(guide)).expect("UTF-8");
        // Only the head of a file of code is a guide.
        let lines = text.lines().filter(|line| !guide.ends_with(".rs") || line.starts_with("//!"));
        for name in lines.flat_map(quoted) {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_:/.".contains(c)) && !name.contains("NNNN");
            let (is_module, is_path) = (name.contains("::"), name.contains('/') && !name.starts_with('/'));
            let is_of_src = name.split("::").next().is_some_and(|room| known.contains(room));
            let is_there = match (is_plain, is_module, is_path) {
                (true, true, _) if is_of_src => is_in_src(&name),
                (true, _, true) => root().join(&name).exists(),
                _ => continue,
            };
            seen += 1;
            if !is_there {
                missing.push(format!("{guide}: {name}"));
            }
        }
    }
    assert!(seen > 20, "names are not found any more: {seen}");
    assert!(missing.is_empty(), "these are not there: {missing:#?}");
}
