//! The line of links at the foot of a page: a day's to the days beside it and to the list of all, a session's to its day.

use super::in_words;
use crate::model::page_path;

/// The days beside a day that have a page, `YYYY-MM-DD`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NeighbourDays {
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// The foot of a day's page.
pub(crate) fn day_links(beside: &NeighbourDays) -> String {
    let day =
        |day: &String, arrow: (&str, &str)| format!("{}[{}]({}){}", arrow.0, in_words(day), page_path::day_from_day(day), arrow.1);
    let before = beside.before.as_ref().map(|one| day(one, ("← ", "")));
    let after = beside.after.as_ref().map(|one| day(one, ("", " →")));
    let all = format!("[all days]({})", page_path::DAY_LIST_FROM_DAY);
    let links: Vec<String> = [before, Some(all), after].into_iter().flatten().collect();
    format!("\n{}\n", links.join(" · "))
}

/// The foot of the page of a session of this day.
pub(crate) fn session_links(day: &str) -> String {
    format!("\n← [{}]({})\n", in_words(day), page_path::day_from_session(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_links_to_the_days_beside_it_and_to_the_list() {
        let beside = NeighbourDays { before: Some("2026-10-30".into()), after: Some("2026-11-02".into()) };
        assert_eq!(
            day_links(&beside),
            "\n← [Friday, 30 October 2026](../2026-10/2026-10-30.md) · [all days](../../pages.md) · [Monday, 2 November 2026](../2026-11/2026-11-02.md) →\n"
        );
        assert_eq!(day_links(&NeighbourDays::default()), "\n[all days](../../pages.md)\n");
        assert_eq!(session_links("2026-11-02"), "\n← [Monday, 2 November 2026](../2026-11-02.md)\n");
    }
}
