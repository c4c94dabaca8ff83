//! The list of all days that have a page, the newest first.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::model::page_path::of_day;
use text::clean::counted;

/// The sessions of a day, as the list counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ListedDay {
    /// Those that began on it and have a page.
    pub(crate) began: usize,
    /// Those that began earlier and went on.
    pub(crate) went_on: usize,
}

impl ListedDay {
    fn told(self) -> String {
        match (self.began, self.went_on) {
            // Notes alone keep a page as well.
            (0, 0) => "notes".to_owned(),
            (began, 0) => counted(began, "session"),
            (0, went_on) => format!("{} that went on", counted(went_on, "session")),
            (began, went_on) => format!("{}, {went_on} more went on", counted(began, "session")),
        }
    }
}

/// `days`: by `YYYY-MM-DD`.
pub(crate) fn day_list_page(days: &BTreeMap<String, ListedDay>) -> String {
    let mut text = "# Pages\n".to_owned();
    let mut month = String::new();
    for (day, listed) in days.iter().rev() {
        let Ok(date) = day.parse::<Date>() else { continue };
        let of = date.strftime("%B %Y").to_string();
        if of != month {
            text.push_str(&format!("\n## {of}\n\n"));
            month = of;
        }
        text.push_str(&format!("- [{}]({}): {}\n", date.strftime("%A, %-d %B"), of_day(day), listed.told()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_stand_below_their_months_the_newest_first() {
        let days = [("2026-10-30", 2, 1), ("2026-10-31", 2, 0), ("2026-11-18", 0, 1), ("2026-11-19", 0, 0)]
            .map(|(day, began, went_on)| (day.to_owned(), ListedDay { began, went_on }));
        assert_eq!(
            day_list_page(&days.into_iter().collect()),
            "# Pages\n\n## November 2026\n\n- [Thursday, 19 November](daily/2026-11/2026-11-19.md): notes\n- [Wednesday, 18 November](daily/2026-11/2026-11-18.md): 1 session that went on\n\n\
             ## October 2026\n\n- [Saturday, 31 October](daily/2026-10/2026-10-31.md): 2 sessions\n- [Friday, 30 October](daily/2026-10/2026-10-30.md): 2 sessions, 1 more went on\n"
        );
    }
}
