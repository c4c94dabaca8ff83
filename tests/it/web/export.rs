//! The pages as files.

use std::fs;
use std::path::Path;

use super::{hostile, shop};
use crate::support::files_below;

/// Where a link of a page leads, by the page's own base.
fn targets(page: &str, folder: &Path) -> Vec<std::path::PathBuf> {
    let base = page.split("<base href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a base");
    let all = ["href=\"", "src=\""].into_iter().flat_map(|attribute| page.split(attribute).skip(1));
    let links = all.filter_map(|rest| rest.split('"').next()).filter(|link| !link.starts_with("http") && *link != base);
    links.map(|link| folder.join(base).join(link.split('#').next().expect("a part"))).collect()
}

#[test]
fn every_page_is_a_file_and_every_link_leads_to_one() {
    for world in [shop(), hostile()] {
        let folder = world.root().join("site");
        let ran = world.recall(["serve", "--export", folder.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("index.html"), "{}", ran.out);
        let files = files_below(&folder);
        let pages: Vec<_> = files.iter().filter(|file| file.extension().is_some_and(|end| end == "html")).collect();
        assert!(ran.out.starts_with(&format!("wrote {} pages", pages.len())), "{}: {}", pages.len(), ran.out);
        for file in &pages {
            let page = fs::read_to_string(file).expect("a page");
            for target in targets(&page, file.parent().expect("a folder")) {
                assert!(target.is_file(), "{} leads to {}", file.display(), target.display());
            }
            assert!(!page.contains("<script") && !page.contains("<form"), "{}", file.display());
        }
        for begins in ["index.html", "day/2026-11-20.html", "session", "rows", "project", "week/2026-W47.html"] {
            assert!(pages.iter().any(|file| file.strip_prefix(&folder).expect("below").starts_with(begins)), "{begins}");
        }
        // Again, into the same folder.
        assert_eq!(world.recall(["serve", "--export", folder.to_str().expect("UTF-8")]).code, 0);
    }
}

#[test]
fn a_folder_of_somebody_else_s_files_is_not_written_into() {
    let world = shop();
    let folder = world.root().join("mine");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("thesis.txt"), "words").expect("a file");
    let ran = world.recall(["serve", "--export", folder.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("holds something else"), "{}", ran.err);
    assert_eq!(files_below(&folder).len(), 1);
}
