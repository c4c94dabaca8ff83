//! The list of all days that have a page, the newest first.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::model::page_path::of_day;
use crate::text::clean::counted;

/// `days`: `YYYY-MM-DD` with the number of sessions that have a page.
pub(crate) fn day_list_page(days: &BTreeMap<String, usize>) -> String {
    let mut text = "# Pages\n".to_owned();
    let mut month = String::new();
    for (day, sessions) in days.iter().rev() {
        let Ok(date) = day.parse::<Date>() else { continue };
        let of = date.strftime("%B %Y").to_string();
        if of != month {
            text.push_str(&format!("\n## {of}\n\n"));
            month = of;
        }
        // Notes alone keep a page as well.
        let sessions = if *sessions == 0 { "notes".to_owned() } else { counted(*sessions, "session") };
        text.push_str(&format!("- [{}]({}): {sessions}\n", date.strftime("%A, %-d %B"), of_day(day)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_stand_below_their_months_the_newest_first() {
        let days = [("2026-10-31", 2), ("2026-11-18", 1), ("2026-11-19", 0)].map(|(day, sessions)| (day.to_owned(), sessions));
        assert_eq!(
            day_list_page(&days.into_iter().collect()),
            "# Pages\n\n## November 2026\n\n- [Thursday, 19 November](daily/2026-11/2026-11-19.md): notes\n- [Wednesday, 18 November](daily/2026-11/2026-11-18.md): 1 session\n\n\
             ## October 2026\n\n- [Saturday, 31 October](daily/2026-10/2026-10-31.md): 2 sessions\n"
        );
    }
}
