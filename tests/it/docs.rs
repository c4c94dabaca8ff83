//! The README, the book in `docs/` and the files beside them: links lead somewhere, chapters are listed, the README stays short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::support::files_below;

const BOOK: &str = "docs/src";
const SUMMARY: &str = "docs/src/SUMMARY.md";
const BESIDE: [&str; 12] = [
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "tests/README.md", "benches/README.md", "fuzz/README.md",
    "fixtures/README.md", "crates/redact/README.md", "crates/sync/README.md", "crates/team/README.md", "contrib/spark/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The files of the book, by their paths in the repository.
fn chapters() -> BTreeSet<String> {
    let all: BTreeSet<String> = files_below(&root().join(BOOK))
        .iter()
        .map(|file| file.strip_prefix(root()).expect("below the root").to_str().expect("UTF-8").to_owned())
        .collect();
    assert!(all.len() > 8, "the book is not found any more: {all:?}");
    all
}

/// A markdown file: the anchors of its headings, its title, and where its links lead, each with its text.
struct Page {
    anchors: BTreeSet<String>,
    title: Option<String>,
    links: Vec<(String, String)>,
}

/// An anchor, as GitHub and mdBook make it of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn parse(text: &str) -> Page {
    let mut page = Page { anchors: BTreeSet::new(), title: None, links: Vec::new() };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut heading, mut link): (Option<String>, Option<(String, String)>) = (None, None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let text = heading.take().unwrap_or_default();
                let name = anchor(&text);
                let times = seen.entry(name.clone()).or_default();
                page.anchors.insert(if *times == 0 { name } else { format!("{name}-{times}") });
                *times += 1;
                page.title.get_or_insert(text);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                link = Some((dest_url.into_string(), String::new()))
            }
            Event::End(TagEnd::Link | TagEnd::Image) => page.links.extend(link.take()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
                if let Some((_, named)) = &mut link {
                    named.push_str(&text);
                }
            }
            _ => {}
        }
    }
    page
}

/// A path without `.` and `..`; `None` when it leads out of the repository.
fn resolved(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let path = folder.join(link);
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => parts.pop().map(drop)?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// What is wrong with a link; `None` when it leads to something that is there.
fn wrong(from: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, name) = link.split_once('#').map_or((link, None), |(path, name)| (path, Some(name)));
    let target = if path.is_empty() { Some(from.to_owned()) } else { resolved(from, path) };
    let Some(target) = target.filter(|target| root().join(target).exists()) else { return Some("there is no such file".into()) };
    // A built book has its own files only.
    if from.starts_with(BOOK) && !target.starts_with(BOOK) {
        return Some("it leads out of the book: name the file instead".into());
    }
    let name = name?;
    let is_there = target.ends_with(".md") && parse(&read(&target)).anchors.contains(name);
    (!is_there).then(|| "there is no such heading".into())
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let mut links = 0;
    let mut broken = Vec::new();
    for file in BESIDE.into_iter().map(str::to_owned).chain(chapters()).filter(|file| file.ends_with(".md")) {
        for (link, _) in parse(&read(&file)).links {
            links += 1;
            broken.extend(wrong(&file, &link).map(|why| format!("{file}: {link}: {why}")));
        }
    }
    assert!(links > 30, "links are not found any more: {links}");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    for (from, link, is_wrong) in [
        ("README.md", "LICENSE", false),
        ("README.md", "LICENCE", true),
        ("README.md", "../README.md", true),
        ("README.md", "/LICENSE", true),
        ("README.md", "https://example.com/nothing", false),
        ("README.md", "CONTRIBUTING.md#style", false),
        ("README.md", "CONTRIBUTING.md#no-such-heading", true),
        ("README.md", "#recall", false),
        (SUMMARY, "../../LICENSE", true),
    ] {
        assert_eq!(wrong(from, link).is_some(), is_wrong, "{from}: {link}: {:?}", wrong(from, link));
    }
    assert_eq!(anchor("What it costs, in time and room"), "what-it-costs-in-time-and-room");
    let twice = parse("# A `b`\n\n## A b\n\n```\n# no heading\n```\n");
    assert_eq!(twice.anchors.into_iter().collect::<Vec<_>>(), ["a-b", "a-b-1"]);
}

#[test]
fn the_summary_lists_every_chapter_once_by_its_title() {
    let mut listed = BTreeSet::new();
    for (link, named) in parse(&read(SUMMARY)).links {
        let file = resolved(SUMMARY, &link).expect("a path in the repository");
        let title = parse(&read(&file)).title;
        assert_eq!(title.as_deref(), Some(named.as_str()), "the title of {file}");
        assert!(listed.insert(file.clone()), "{file} is listed twice");
    }
    let mut there = chapters();
    there.remove(SUMMARY);
    // A picture is no chapter.
    there.retain(|file| file.ends_with(".md"));
    assert_eq!(listed, there);
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 200, "README.md has {lines} lines: what is more than a first look belongs into {BOOK}");
}

/// The README is an overview of the book: each chapter that is no part of another can be reached from it.
#[test]
fn the_readme_links_to_the_chapters() {
    let linked: BTreeSet<String> =
        parse(&read("README.md")).links.iter().filter_map(|(link, _)| resolved("README.md", link.split('#').next()?)).collect();
    let missing: Vec<String> = chapters()
        .into_iter()
        .filter(|file| {
            file.ends_with(".md") && file != SUMMARY && Path::new(file).parent() == Some(Path::new(BOOK)) && !linked.contains(file)
        })
        .collect();
    assert!(missing.is_empty(), "README.md links to none of these: {missing:?}");
}
