//! Markdown pages for a browser, in sections by their headings, with links as the caller maps them. Pure.
//!
//! A page holds words of whoever wrote them: HTML in it is text, nothing is loaded, and a link leads only where the caller or the scheme says.

use pulldown_cmark::html::push_html;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::terminal::without_front_matter;

/// A page in parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HtmlPage {
    /// Of its heading of the first level, as text.
    pub(crate) title: String,
    /// HTML of what stands above the first section.
    pub(crate) lead: String,
    pub(crate) sections: Vec<HtmlSection>,
}

/// What stands below a heading of the second level.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HtmlSection {
    /// As text.
    pub(crate) title: String,
    /// HTML of the rest.
    pub(crate) body: String,
}

/// How a page's own references are told.
pub(crate) struct References<'a> {
    /// Where a relative link of the page leads now; `None` if nowhere: then its words are plain.
    pub(crate) link: &'a dyn Fn(&str) -> Option<String>,
}

/// The page as HTML.
pub(crate) fn html_page(markdown: &str, references: &References<'_>) -> HtmlPage {
    let mut page = HtmlPage::default();
    let mut events: Vec<Event<'_>> = Vec::new();
    // The words of the heading that is being read.
    let mut heading: Option<String> = None;
    for event in safe_events(markdown, references) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) => {
                page.end_section(&mut events);
                heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => page.title = heading.take().unwrap_or_default(),
            Event::End(TagEnd::Heading(HeadingLevel::H2)) => {
                page.sections.push(HtmlSection { title: heading.take().unwrap_or_default(), body: String::new() });
            }
            event => match (&mut heading, event) {
                (Some(title), Event::Text(text) | Event::Code(text)) => title.push_str(&text),
                // Links in a heading: their words are enough.
                (Some(_), _) => {}
                (None, event) => events.push(event),
            },
        }
    }
    page.end_section(&mut events);
    page
}

/// A text with markdown in it as HTML.
pub(crate) fn html(markdown: &str, references: &References<'_>) -> String {
    let mut out = String::new();
    push_html(&mut out, safe_events(markdown, references).into_iter());
    out
}

impl HtmlPage {
    /// Puts what was read into the section that was begun last, or above all.
    fn end_section(&mut self, events: &mut Vec<Event<'_>>) {
        let place = self.sections.last_mut().map_or(&mut self.lead, |section| &mut section.body);
        push_html(place, events.drain(..));
    }
}

/// What the markdown holds, without anything that a browser would run or load.
fn safe_events<'m>(markdown: &'m str, references: &References<'_>) -> Vec<Event<'m>> {
    let mut all = Vec::new();
    // Whether each link around is kept.
    let mut links: Vec<bool> = Vec::new();
    for event in Parser::new_ext(without_front_matter(markdown), Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES) {
        match event {
            // How its columns are aligned would be a style in the page, which browsers are told to refuse.
            Event::Start(Tag::Table(_)) => all.push(Event::Start(Tag::Table(Vec::new()))),
            Event::Html(text) | Event::InlineHtml(text) => all.push(Event::Text(text)),
            // A picture would be loaded: its words stand for it.
            Event::Start(Tag::Image { link_type, dest_url, title, id } | Tag::Link { link_type, dest_url, title, id }) => {
                let target = target(&dest_url, references);
                links.push(target.is_some());
                if let Some(target) = target {
                    all.push(Event::Start(Tag::Link { link_type, dest_url: CowStr::from(target), title, id }));
                }
            }
            Event::End(TagEnd::Image | TagEnd::Link) => {
                if links.pop() == Some(true) {
                    all.push(Event::End(TagEnd::Link));
                }
            }
            event => all.push(event),
        }
    }
    all
}

/// Where a link leads: out into the web as it is, within the pages as the caller says, anywhere else nowhere.
fn target(link: &str, references: &References<'_>) -> Option<String> {
    let web = |scheme: &str| link.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if web("https://") || web("http://") {
        return Some(link.to_owned());
    }
    (references.link)(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(markdown: &str) -> HtmlPage {
        let link = |link: &str| link.strip_suffix(".md").map(|name| format!("{name}.html"));
        html_page(markdown, &References { link: &link })
    }

    #[test]
    fn a_page_comes_in_sections() {
        let read = page("---\ndate: x\n---\n\n# A *day* `x`\n\nlead\n\n## Shop\n\none\n\n### 10:00 Title\n\n- two\n\n## Next\n");
        assert_eq!(read.title, "A day x");
        assert_eq!(read.lead, "<p>lead</p>\n");
        assert_eq!(read.sections.iter().map(|section| section.title.as_str()).collect::<Vec<_>>(), ["Shop", "Next"]);
        assert_eq!(read.sections[0].body, "<p>one</p>\n<h3>10:00 Title</h3>\n<ul>\n<li>two</li>\n</ul>\n");
    }

    #[test]
    fn what_a_browser_would_run_or_load_is_text() {
        for (markdown, shown) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"),
            ("![a picture](https://evil.example/x.png)", "<p><a href=\"https://evil.example/x.png\">a picture</a></p>\n"),
            ("[x](javascript:alert(1))", "<p>x</p>\n"),
            ("[x](JaVaScRiPt:alert(1))", "<p>x</p>\n"),
            ("[x](data:text/html;base64,AAAA)", "<p>x</p>\n"),
            ("[x](/etc/passwd)", "<p>x</p>\n"),
            ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>\n"),
            (
                "| a | b |\n|--:|---|\n| 1 | <b> |",
                "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>&lt;b&gt;</td></tr>\n</tbody></table>\n",
            ),
            ("[x](a.md)", "<p><a href=\"a.html\">x</a></p>\n"),
            ("[x](https://a.example/\"onclick=\"alert(1))", "<p><a href=\"https://a.example/%22onclick=%22alert(1)\">x</a></p>\n"),
        ] {
            assert_eq!(page(markdown).lead.trim_start_matches('\n'), shown, "{markdown}");
        }
    }
}
