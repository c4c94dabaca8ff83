//! What a browser is shown.

use super::{SHOP, hostile, shop};
use crate::install::fakes;
use crate::support::web_client::WebServer;
use crate::support::{World, assistant, user};

const PAGES: [&str; 9] = [
    "", "days.html", "sessions.html", "projects.html", "open.html", "search.html", "told.html", "status.html",
    "day/2026-11-20.html",
];

/// The addresses that a page links to, without those of the web.
fn links(page: &str) -> Vec<String> {
    let all = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    all.filter(|link| !link.starts_with("http")).map(|link| link.replace("&amp;", "&")).collect()
}

#[test]
fn every_page_is_there_and_every_link_leads_to_one() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let mut waiting: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    let mut seen: Vec<String> = Vec::new();
    while let Some(address) = waiting.pop() {
        let file = address.split('#').next().expect("a part").trim_start_matches("./").to_owned();
        if seen.contains(&file) || file.contains('?') {
            continue;
        }
        let reply = server.get(&file);
        assert_eq!(reply.status, 200, "{file}: {}", reply.body);
        if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            waiting.extend(links(&reply.body).into_iter().filter(|link| *link != server.folder));
        }
        seen.push(file);
    }
    for begins in ["session/", "rows/", "project/", "forget/", "week/", "asset/"] {
        assert!(seen.iter().any(|page| page.starts_with(begins)), "{begins} in {seen:?}");
    }
}

#[test]
fn pages_say_what_the_memory_says() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let shows = |address: &str, words: &[&str]| {
        let page = server.get(address).body;
        words.iter().for_each(|word| assert!(page.contains(word), "{word} on {address}: {page}"));
    };
    shows("", &["Friday, 20 November 2026", "Today has no page yet", "Sort the order list", &format!("session/{SHOP}.html")]);
    shows(
        &format!("session/{SHOP}.html"),
        &["Sort the order list", "The order list is sorted by key now.", "quoted, without a model"],
    );
    shows(&format!("rows/{SHOP}.html"), &["id=\"11111111-0000-4000-8000-000000000001\"", "Sort the order list"]);
    shows("open.html", &["Paint the gauge blue", "Close"]);
    shows("search.html?q=order+list", &["<mark>order</mark>", &format!("session/{SHOP}.html")]);
    shows("search.html?q=nowhere", &["Nothing found."]);
    shows("status.html", &["1, 1 digest, 0 by a model", "digest.summarizer"]);
    shows("week/2026-W47.html", &["Week of 16 November 2026", "Friday, 20 November", "Sort the order list"]);
    let part = server.get("search.html?q=order+li&part=1").body;
    assert!(part.contains("<mark>order</mark>") && !part.contains("<html"), "{part}");
}

#[test]
fn what_is_not_there_is_said() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    for page in [
        "session/ffff.html", "session/..%2f..%2fetc%2fpasswd.html", "day/2026-11-19.html", "day/x.html", "project/x.html",
        "week/2026-W99.html", "nothing", "session/aaaa",
    ] {
        let reply = server.get(page);
        assert_eq!(reply.status, 404, "{page}: {}", reply.body);
    }
}

#[test]
fn without_a_memory_it_says_what_to_do() {
    let ran = World::new().recall(["serve"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("`recall digest`"), "{}", ran.err);
}

#[test]
fn a_text_of_a_transcript_is_never_more_than_a_text() {
    let world = hostile();
    let server = WebServer::entered(&world, world.root());
    let projects = server.get("projects.html").body;
    let project = links(&projects).into_iter().find(|link| link.starts_with("project/")).expect("a project");
    let mut held = 0;
    for page in PAGES.iter().map(|page| (*page).to_owned()).chain([
        format!("session/{SHOP}.html"),
        format!("rows/{SHOP}.html"),
        format!("forget/{SHOP}.html"),
        "week/2026-W47.html".into(),
        "search.html?q=sort".into(),
        "search.html?q=%3Cscript%3Ealert(7)%3C/script%3E".into(),
        "search.html?q=%22+onmouseover=%22alert(8)".into(),
        "search.html?q=sort&part=1".into(),
        project,
    ]) {
        let shown = server.get(&page).body;
        held += usize::from(shown.contains("alert("));
        assert!(!shown.contains("<script>") && !shown.contains("<img") && !shown.contains("<iframe"), "{page}: {shown}");
        assert!(!shown.contains("href=\"javascript:"), "{page}: {shown}");
        // Within a tag, a quote would begin another attribute.
        let tags = shown.split('<').skip(1).filter_map(|tag| tag.split('>').next());
        let mut names = tags.flat_map(|tag| tag.split('"').step_by(2));
        assert!(names.all(|outside| !outside.contains("onmouseover") && !outside.contains("onerror")), "{page}");
        assert_eq!(shown.matches("<script").count(), shown.matches("<script src=\"asset/page.js\" defer>").count(), "{page}");
    }
    assert!(held >= 8, "the attacks are shown nowhere any more: {held}");
}

#[test]
fn a_page_that_stays_open_hears_of_what_a_digest_adds() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let mut events = server.events();
    let first: serde_json::Value = serde_json::from_str(&events.next().expect("an event")).expect("JSON");
    assert_eq!((first["sessions"].as_i64(), first["digests"].as_i64()), (Some(1), Some(1)));
    let other = "bbbb1111-0000-4000-8000-000000000000";
    let at = "2026-11-20T11:00:00Z";
    let rows = user(other, "22222222-0000-4000-8000-000000000001", at, "Compare the two billing tables")
        + &assistant(other, "22222222-0000-4000-8000-000000000002", at, "They are the same but for one column.");
    world.transcript(&format!("-q/{other}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let is_whole = |event: &String| {
        let news: serde_json::Value = serde_json::from_str(event).expect("JSON");
        news["sessions"] == 2 && news["digests"] == 2
    };
    assert!(events.any(|event| is_whole(&event)));
}

#[test]
fn a_page_of_sessions_leads_to_the_older_ones() {
    let world = World::new();
    // One more than a page has.
    let id = |n: usize| format!("00000000-0000-4000-8000-{n:012}");
    for n in 0..251 {
        let at = format!("2026-11-20T{:02}:{:02}:00Z", 6 + n / 60, n % 60);
        world.transcript(&format!("-q/{}.jsonl", id(n)), user(&id(n), &id(1000 + n), &at, "Sort the order list by key"));
    }
    world.digest(&["--ingest-only"]);
    let server = WebServer::entered(&world, world.root());
    let listed = |page: &str| -> Vec<String> {
        let is_session = |link: &String| link.starts_with("session/");
        links(&server.get(page).body).into_iter().filter(is_session).collect()
    };
    let of = |n: usize| format!("session/{}.html", id(n));
    assert_eq!(listed("sessions.html"), (1..251).rev().map(of).collect::<Vec<_>>());
    let first = server.get("sessions.html").body;
    assert!(first.contains("name=\"skip\" value=\"250\"") && first.contains(">1 older<"), "{first}");
    assert_eq!(listed("sessions.html?skip=250"), [of(0)]);
    for page in ["sessions.html?", "search.html?q=shop&", "api/v1/sessions?", "api/v1/search?q=shop&"] {
        assert_eq!(server.get(&format!("{page}skip={}", usize::MAX)).status, 200, "{page}");
    }
    let last = server.get("sessions.html?skip=251").body;
    assert!(last.contains("There are no older ones.") && !last.contains("older<"), "{last}");
    let reply: serde_json::Value = serde_json::from_str(&server.get("api/v1/sessions?limit=1&skip=249").body).expect("JSON");
    assert_eq!((&reply["sessions"][0]["session"], &reply["more"]), (&id(1).into(), &1.into()));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "statements are listed by debug builds only")]
fn pages_read_no_more_sessions_than_they_show() {
    let world = shop();
    let file = world.root().join("statements");
    let listed = [("RECALL_STATEMENTS", file.to_str().expect("UTF-8"))];
    let mut server = WebServer::start_with(&world, world.root(), &[], &listed);
    server.enter();
    let projects = server.get("projects.html").body;
    let project = links(&projects).into_iter().find(|link| link.starts_with("project/")).expect("a project");
    // What reads several sessions, by what a session is known without its items.
    let read_for = |page: &str| {
        std::fs::remove_file(&file).expect("a list");
        assert_eq!(server.get(page).status, 200);
        let statements = std::fs::read_to_string(&file).expect("a list");
        let of_many = |line: &&str| line.starts_with("SELECT s.pk, s.id, p.key,") && !line.contains("WHERE s.pk = ?1");
        statements.lines().filter(of_many).map(str::to_owned).collect::<Vec<_>>()
    };
    let read = read_for(&project);
    assert!(read.len() == 1 && read[0].contains("WHERE s.project = ?1"), "{read:#?}");
    let read = read_for("");
    assert!(!read.is_empty() && read.iter().all(|one| one.contains("WHERE coalesce(s.last_at, s.started_at) >= ?1")), "{read:#?}");
}

#[test]
fn status_tells_the_last_runs_and_what_starts_them() {
    let world = shop();
    let server = WebServer::entered(&world, world.root());
    let status = server.get("status.html").body;
    assert!(status.contains("<dt>Timer</dt><dd>none: nothing starts the digest</dd>"), "{status}");
    // What it did, by its report: one new session, one digest, none by a model, no cost.
    let runs = |page: &str| -> Vec<String> {
        let table = page.split("<table class=\"runs\">").nth(1).expect("a table").split("</table>").next().expect("its end");
        table.split("<th scope=\"row\">").skip(1).map(|row| row.split_once("</th>").expect("a time").1.to_owned()).collect()
    };
    assert_eq!(runs(&status), ["<td>1</td><td>1</td><td>0</td><td>$0.00</td></tr></tbody>"]);
    let other = "bbbb1111-0000-4000-8000-000000000000";
    world.transcript(
        &format!("-q/{other}.jsonl"),
        user(other, "22222222-0000-4000-8000-000000000001", "2026-11-20T11:00:00Z", "Hello?"),
    );
    world.digest(&["--ingest-only"]);
    let two = runs(&server.get("status.html").body);
    assert!(two.len() == 2 && two[0].starts_with("<td>1</td><td>0</td>") && two[1].starts_with("<td>1</td><td>1</td>"), "{two:?}");
}

#[test]
fn status_asks_a_timers_manager_once_for_many_looks() {
    let world = shop();
    fakes::crontab(&world);
    let installed = fakes::install(&world, &["--timer", "cron"]);
    assert_eq!(installed.code, 0, "{installed:#?}");
    let server = WebServer::entered(&world, world.root());
    let timer =
        |page: &str| page.split("<dt>Timer</dt><dd>").nth(1).expect("a timer").split("</dd>").next().expect("its end").to_owned();
    let calls = world.root().join("calls");
    let asked = || std::fs::read_to_string(&calls).map_or(0, |calls| calls.lines().filter(|call| *call == "crontab -l").count());
    let before = asked();
    for _ in 0..3 {
        let shown = timer(&server.get("status.html").body);
        assert!(shown.starts_with("cron, every 30m, next "), "{shown}");
    }
    assert_eq!(asked() - before, 1);
}

#[test]
fn a_session_leads_to_its_project_whatever_its_folder_is_called_and_tells_no_more_than_is_known_of_its_cost() {
    let world = World::new();
    for (n, folder) in [r"C:\Users\me\shop", "/tmp/say \"hi\"", "/tmp/back\\slash"].into_iter().enumerate() {
        let id = format!("{n}1111111-0000-4000-8000-000000000000");
        let rows = user(&id, &format!("u{n}"), "2026-11-20T09:00:00Z", "Sort the order list")
            + &assistant(&id, &format!("a{n}"), "2026-11-20T09:01:00Z", "It is sorted.");
        // Some clients write down no tokens.
        let rows = rows.replace(r#","usage":{"input_tokens":10,"output_tokens":5}"#, "");
        let folder = serde_json::to_string(folder).expect("JSON");
        world.transcript(&format!("-p{n}/{id}.jsonl"), rows.replace("\"/home/dev/src/shop\"", &folder));
    }
    world.digest(&["--summarizer", "extract"]);
    let server = WebServer::entered(&world, world.root());
    for n in 0..3 {
        let page = server.get(&format!("session/{n}1111111-0000-4000-8000-000000000000.html")).body;
        let project = links(&page).into_iter().find(|link| link.contains("project/")).expect("a project");
        assert_eq!(server.get(project.trim_start_matches("../")).status, 200, "{project}: {page}");
        assert!(page.contains(" · cost unknown"), "{page}");
    }
    assert!(server.get("day/2026-11-20.html").body.contains("tokens, cost unknown"));
}
