//! The pages as files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::{SHOP, hostile, shop};
use crate::support::{Ran, World, age, files_below};

/// Where a link of a page leads, by the page's own base.
fn targets(page: &str, folder: &Path) -> Vec<std::path::PathBuf> {
    let base = page.split("<base href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a base");
    let all = ["href=\"", "src=\""].into_iter().flat_map(|attribute| page.split(attribute).skip(1));
    let links = all.filter_map(|rest| rest.split('"').next()).filter(|link| !link.starts_with("http") && *link != base);
    links.map(|link| folder.join(base).join(link.split('#').next().expect("a part"))).collect()
}

/// A run of `recall serve --export` into a folder.
fn exported(world: &World, folder: &Path) -> Ran {
    world.recall(["serve", "--export", folder.to_str().expect("UTF-8")])
}

#[test]
fn every_page_is_a_file_and_every_link_leads_to_one() {
    for world in [shop(), hostile()] {
        let folder = world.root().join("site");
        let ran = exported(&world, &folder);
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
        assert_eq!(exported(&world, &folder).code, 0);
    }
}

#[test]
fn a_folder_of_somebody_else_s_files_is_not_written_into() {
    let world = shop();
    let folder = world.root().join("mine");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("thesis.txt"), "words").expect("a file");
    let ran = exported(&world, &folder);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("name a new folder"), "{}", ran.err);
    assert_eq!(files_below(&folder).len(), 1);
}

#[test]
fn a_later_export_deletes_the_pages_of_what_was_forgotten_or_excluded_and_nothing_else() {
    for excluded in [false, true] {
        let world = shop();
        let folder = world.root().join("site");
        assert_eq!(exported(&world, &folder).code, 0);
        let pages = [folder.join(format!("session/{SHOP}.html")), folder.join(format!("rows/{SHOP}.html"))];
        assert!(pages.iter().all(|page| page.is_file()), "{:?}", files_below(&folder));
        fs::write(folder.join("README.md"), "words").expect("a file of the user's");
        fs::write(folder.join("session/mine.html"), "words").expect("a file of the user's");
        let forgotten = if excluded {
            world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/shop\"]\n");
            world.recall(["digest", "--summarizer", "extract"])
        } else {
            world.recall(["forget", "--yes", "--session", SHOP])
        };
        assert_eq!(forgotten.code, 0, "{forgotten:#?}");
        let ran = exported(&world, &folder);
        assert!(ran.code == 0 && ran.out.contains("deleted"), "{ran:#?}");
        for file in files_below(&folder) {
            let text = fs::read_to_string(&file).expect("a text");
            assert!(!text.contains(SHOP) && !text.contains("order list"), "{}", file.display());
        }
        assert!(folder.join("README.md").is_file() && folder.join("session/mine.html").is_file());
        let again = exported(&world, &folder);
        assert!(again.code == 0 && !again.out.contains("deleted"), "{again:#?}");
    }
}

#[test]
fn a_site_of_somebody_else_s_is_no_earlier_export() {
    let world = shop();
    let folder = world.root().join("site");
    fs::create_dir_all(folder.join("asset")).expect("a folder");
    for file in ["index.html", "asset/style.css"] {
        fs::write(folder.join(file), "mine").expect("a file");
    }
    let ran = exported(&world, &folder);
    assert!(ran.code == 2 && ran.err.contains("name a new folder"), "{ran:#?}");
    assert!(files_below(&folder).iter().all(|file| fs::read_to_string(file).expect("a text") == "mine"), "{ran:#?}");
}

#[test]
fn what_a_list_names_outside_of_its_folder_stays() {
    let world = shop();
    let folder = world.root().join("site");
    let outside = world.root().join("elsewhere");
    fs::create_dir(&outside).expect("a folder");
    let theirs = outside.join("theirs.html");
    fs::write(&theirs, "words").expect("a file");
    assert_eq!(exported(&world, &folder).code, 0);
    symlink(&outside, folder.join("linked")).expect("a link");
    fs::create_dir(folder.join("kept")).expect("a folder");
    let list = folder.join(".recall-export");
    let planted =
        format!("../elsewhere/theirs.html\n{}\nlinked/theirs.html\nday/../../elsewhere/theirs.html\nkept\n.\n\n", theirs.display());
    fs::write(&list, fs::read_to_string(&list).expect("the list") + &planted).expect("the list");
    let ran = exported(&world, &folder);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(theirs.is_file() && folder.join("kept").is_dir() && folder.join("index.html").is_file(), "{ran:#?}");
}

#[test]
fn an_export_that_was_cut_short_is_taken_up_by_the_next() {
    let world = shop();
    let folder = world.root().join("site");
    assert_eq!(exported(&world, &folder).code, 0);
    // As one leaves it that was killed: a page whose name is in the list, a name without its end, a file half written.
    let list = folder.join(".recall-export");
    fs::write(folder.join("session/gone.html"), "words").expect("a page");
    fs::write(folder.join("session/mine"), "words").expect("a file of the user's");
    fs::write(&list, fs::read_to_string(&list).expect("the list") + "session/gone.html\nsession/mine").expect("the list");
    let half = folder.join("session/.recall-tmp-abcdefABCDEF");
    fs::write(&half, "words").expect("half a page");
    age(&half, Duration::from_secs(7200));
    let ran = exported(&world, &folder);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!folder.join("session/gone.html").exists() && !half.exists(), "{:?}", files_below(&folder));
    assert!(folder.join("session/mine").is_file());
    // In a folder in which nothing is but what was half written.
    let begun = world.root().join("begun");
    fs::create_dir(&begun).expect("a folder");
    fs::write(begun.join(".recall-tmp-abcdefABCDEF"), "words").expect("half a list");
    assert_eq!(exported(&world, &begun).code, 0);
}
