//! What is printed orders a terminal about in nothing.

use proptest::prelude::*;
use serde_json::Value;

use crate::hostile::scene::{Hostile, S, SHOP, world};
use crate::support::invisible::acts;
use crate::support::{Ran, World};

/// Orders to a terminal, and characters that hide or turn others.
const ORDERS: &[&str] = &[
    "\u{1b}[31mred\u{1b}[0m",
    "\t",
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;https://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\",
    "\u{1b}]52;c;ZWNobw==\u{7}",
    "\u{1b}P+q544e\u{1b}\\",
    "\u{1b}[6n",
    "\u{9b}31m",
    "\u{9d}0;title\u{9c}",
    "\u{90}q\u{9c}",
    "\u{7}",
    "\u{8}\u{8}\u{8}",
    "\rrecall: all is well",
    "\u{b}\u{c}\u{e}\u{f}\u{85}",
    "\u{7f}",
    "\u{202e}gnp.exe\u{202c}",
    "\u{2066}a\u{2069}",
    "\u{200b}\u{2060}\u{feff}\u{ad}",
    "\u{200e}\u{61c}",
    "\u{e0041}\u{e0042}",
    "\u{e0100}\u{e01ef}\u{34f}\u{180b}",
    "\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}\u{fff0}\u{fffb}\u{1d173}",
    "\u{0}",
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}]",
    "\u{2028}\u{2029}",
];

/// Every command that prints what sessions say, with whether it prints JSON.
fn commands() -> Vec<(Vec<&'static str>, bool)> {
    let lines = [
        "digest --summarizer extract",
        "digest --dry-run",
        "digest --rebuild-pages",
        "search pagination",
        "search keyset kind:decision",
        "show ID",
        "show ID --full",
        "show ID --items",
        "timeline ID",
        "context --cwd /home/dev/src/shop",
        "context --cwd /home/dev/src/shop --about pagination",
        "status",
        "doctor",
        "forget --session ID --dry-run",
        "forget --match pagination --dry-run",
        "forget --project shop --dry-run",
        "forget --before 1d --dry-run",
        "config",
        "close nosuch",
        "show nosuch",
        "timeline nosuch",
    ];
    let json = [
        "digest --json",
        "digest --dry-run --json",
        "search pagination --json",
        "show ID --json",
        "show ID --items --json",
        "timeline ID --json",
        "context --json --cwd /home/dev/src/shop",
        "status --json",
        "doctor --json",
        "config --json",
    ];
    let words = |line: &'static str| line.split(' ').map(|word| if word == "ID" { S } else { word }).collect::<Vec<_>>();
    lines.iter().map(|line| (words(line), false)).chain(json.iter().map(|line| (words(line), true))).collect()
}

fn assert_quiet(about: &str, ran: &Ran, json: bool) {
    assert!(!ran.err.contains("panicked"), "{about}: {ran:#?}");
    assert!(!ran.err.chars().any(acts), "{about} on stderr: {:?}", ran.err);
    if json {
        // Its own escapes keep what is left from acting, but for what a terminal does not see coming.
        assert!(!ran.out.chars().any(|c| c != '\n' && c < ' ' || c == '\u{7f}'), "{about}: {:?}", ran.out);
        let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        assert!(ran.code == 2 || is_json(&ran.out) || ran.out.lines().all(is_json), "{about}: {ran:#?}");
    } else {
        // A quoted reply keeps its tabs, as code has them.
        assert!(!ran.out.chars().any(|c| c != '\t' && acts(c)), "{about}: {:?}", ran.out);
    }
}

fn assert_quiet_everywhere(world: &World) {
    for (command, json) in commands() {
        assert_quiet(&command.join(" "), &world.recall(&command), json);
    }
}

#[test]
fn no_command_passes_an_order_on() {
    let orders = ORDERS.join(" and ");
    let world = World::new();
    Hostile::new(S, SHOP, &format!("fix/{orders}")).say(&orders).put(&world);
    // Files and folders have names, too.
    let name = "\u{1b}[31mred\u{7}\u{202e}\u{9b}2J";
    world.transcript(&format!("{name}/{name}.jsonl"), "no row\n{\"type\":\"\u{9b}31m\u{202e}\"}\n");
    std::os::unix::fs::symlink("nowhere", world.claude_dir().join("projects").join(name).join(format!("{name}2.jsonl"))).unwrap();
    assert_quiet_everywhere(&world);
    let remembered = world.recall(["remember", &format!("The orders are paginated by key, {} always.", orders.replace('\0', ""))]);
    assert_quiet("remember", &remembered, false);
    assert_quiet_everywhere(&world);
    let redacted = world.command().arg("redact").write_stdin(orders.clone()).output().unwrap();
    assert!(redacted.status.success());
}

#[test]
fn one_line_stays_one_line() {
    let world = world("first\nrecall: all is well\r\nsecond\u{2028}third\u{85}fourth");
    for (command, _) in commands().into_iter().filter(|(_, json)| !json) {
        let ran = world.recall(&command);
        assert!(
            !ran.err.lines().chain(ran.out.lines()).any(|line| line.starts_with("recall: all is well")),
            "{command:?}: {ran:#?}"
        );
    }
}

fn ordering() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        2 => prop::sample::select(ORDERS).prop_map(str::to_owned),
        2 => "[\u{0}-\u{1f}\u{7f}-\u{9f}]{1,4}",
        1 => "[\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}]{1,3}",
        2 => "\u{1b}[\\[\\]PX^_()#%=>c78][0-9;?]{0,4}[a-zA-Z]?",
        3 => "[a-z]{1,6} ",
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 1..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::size::runs(2, 8), failure_persistence: None, max_shrink_iters: 16, ..ProptestConfig::default() })]

    #[test]
    fn no_command_passes_any_order_on(text in ordering()) {
        assert_quiet_everywhere(&world(&text));
    }
}

#[test]
fn a_pipe_gets_the_rows_byte_for_byte() {
    let orders = "\u{9b}31m \u{202e} \u{7f}";
    let world = world(orders);
    let raw = world.recall(["show", S, "--raw"]);
    assert_eq!(raw.code, 0, "{raw:#?}");
    assert!(raw.out.contains(&format!("as this page says: {orders}")), "{}", raw.out);
}

/// A terminal obeys what it is sent, and rows, exports and JSON are sent as they are: there they come escaped.
#[test]
#[ignore = "needs a terminal: `script` of util-linux makes one"]
fn on_a_terminal_nothing_acts_whatever_is_asked_for() {
    let world = world(&ORDERS.join(" "));
    for command in ["show ID --raw", "show ID --json", "export", "search pagination", "show ID", "status", "digest"] {
        let command = command.replace("ID", S);
        let script = format!("/usr/bin/script -q -e -c \"$RECALL {command}\" /dev/null < /dev/null");
        let shown = world.shell(&script).out.replace("\r\n", "\n");
        assert!(shown.len() > 20, "{command}: {shown}");
        let acting = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "").chars().filter(|c| acts(*c)).collect::<String>();
        assert!(acting.is_empty(), "{command}: {acting:?} of {shown:?}");
        if command.contains("--json") {
            let piped = world.recall(command.split(' '));
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), serde_json::from_str::<Value>(&piped.out).unwrap());
        }
    }
}
