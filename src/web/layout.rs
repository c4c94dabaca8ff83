//! What stands around every page.

use maud::{DOCTYPE, Markup, html};

use crate::app::status::RunProgress;
use crate::model::note::{EVERYWHERE, project_label};
use crate::web::addresses;
use crate::web::viewer::{Purpose, Viewer};

/// A page without what stands around it.
pub(super) struct Page {
    /// One line.
    pub(super) title: String,
    /// Its own address.
    pub(super) address: String,
    /// The address of the entry in the navigation that it belongs to.
    pub(super) place: &'static str,
    pub(super) body: Markup,
}

const NAVIGATION: [(&str, &str); 7] = [
    ("", "Today"),
    (addresses::DAYS, "Days"),
    (addresses::SESSIONS, "Sessions"),
    (addresses::PROJECTS, "Projects"),
    (addresses::OPEN_ITEMS, "Open items"),
    (addresses::TOLD, "Context"),
    (addresses::STATUS, "Status"),
];

/// The whole document. All addresses in it are relative to `base`.
pub(super) fn document(page: &Page, base: &str, viewer: &Viewer<'_>) -> Markup {
    let is_served = viewer.is_served();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="same-origin";
                @if !is_served {
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' file:; img-src 'self' file:";
                }
                base href=(base);
                title { (page.title) " · recall" }
                link rel="icon" href=(addresses::ICON) type="image/svg+xml";
                link rel="stylesheet" href=(addresses::STYLE);
                @if is_served { script src=(addresses::SCRIPT) defer {} }
            }
            body {
                a .skip href=(format!("{}#content", page.address)) { "Skip to the content" }
                header .top {
                    a .brand href=(home(is_served)) { "recall" }
                    nav aria-label="Pages" {
                        @for (address, name) in NAVIGATION {
                            @let is_here = address == page.place;
                            a href=(if address.is_empty() { home(is_served) } else { address }) aria-current=[is_here.then_some("page")] { (name) }
                        }
                    }
                    @if is_served && page.place != addresses::SEARCH {
                        form .find role="search" action=(addresses::SEARCH) method="get" {
                            input type="search" name="q" aria-label="Search the memory" placeholder="Search  /" autocomplete="off";
                        }
                    }
                }
                @if is_served { p #news role="status" hidden {} }
                main #content tabindex="-1" { (page.body) }
            }
        }
    }
}

/// The digest under way, if there is one. Scripts bring it up to date; of files nobody is told what runs.
pub(super) fn running_digest(viewer: &Viewer<'_>) -> Markup {
    let running = RunProgress::read(&viewer.config.data_dir);
    html! {
        @if viewer.is_served() {
            p #running .hint hidden[running.is_none()] { @if let Some(running) = &running { (running.in_words()) } }
        }
    }
}

/// The first page: served, it is the newest day; a file is named.
pub(super) fn home(is_served: bool) -> &'static str {
    if is_served { "./" } else { "index.html" }
}

/// A project by a name of it, which leads to its page. What belongs to all projects has none.
pub(super) fn project_link(key: &str, name: &str) -> Markup {
    let is_of_all = key == EVERYWHERE || key == project_label(EVERYWHERE);
    html! { @if is_of_all { (name) } @else { a href=(addresses::project(key)) { (name) } } }
}

/// A text in which some words stand in backticks, as messages do.
pub(super) fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) { (text) } @else {
            @for (at, part) in parts.iter().enumerate() { @if at.is_multiple_of(2) { (part) } @else { code { (part) } } }
        }
    }
}

/// A button that changes something.
pub(super) fn button(viewer: &Viewer<'_>, address: &str, id: &str, back: &str, words: &str, label: &str) -> Markup {
    html! {
        @if let Purpose::Served { word } = &viewer.purpose {
            " "
            form .act method="post" action=(address) {
                input type="hidden" name="word" value=(word);
                input type="hidden" name="id" value=(id);
                input type="hidden" name="back" value=(back);
                button type="submit" aria-label=(label) { (words) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_backticks_are_code() {
        assert_eq!(with_code("`a<b`: or `c`").into_string(), "<code>a&lt;b</code>: or <code>c</code>");
        assert_eq!(with_code("one ` alone").into_string(), "one ` alone");
    }
}
