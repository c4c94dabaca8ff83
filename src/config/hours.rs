//! A daily span of hours in the user's zone: `09:00-18:00`. A span that ends before it begins extends past midnight.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Both in minutes since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Hours {
    from: u16,
    until: u16,
}

impl Hours {
    pub(crate) fn contains(self, time: jiff::civil::Time) -> bool {
        let now = u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
        if self.from <= self.until { (self.from..self.until).contains(&now) } else { now >= self.from || now < self.until }
    }
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minutes = |time: &str| {
            let (hour, minute) = time.trim().split_once(':')?;
            let number = |digits: &str| {
                Some(digits).filter(|d| d.len() == 2 && d.bytes().all(|b| b.is_ascii_digit())).and_then(|d| d.parse::<u16>().ok())
            };
            let (hour, minute) = (number(hour)?, number(minute)?);
            (hour < 24 && minute < 60 || hour == 24 && minute == 0).then_some(hour * 60 + minute)
        };
        let both = text.split_once('-').and_then(|(from, until)| Some((minutes(from)?, minutes(until)?)));
        let hours = both.filter(|(from, until)| from != until).map(|(from, until)| Self { from, until });
        hours.ok_or_else(|| format!("`{text}` is no span of hours like `09:00-18:00`"))
    }
}

impl TryFrom<String> for Hours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Hours> for String {
    fn from(hours: Hours) -> Self {
        hours.to_string()
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, until } = self;
        write!(out, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, until / 60, until % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_hold_from_their_beginning_to_their_end_also_over_midnight() {
        let holds = |hours: &str, time: &str| hours.parse::<Hours>().unwrap().contains(time.parse().unwrap());
        for (hours, time, held) in [
            ("09:00-18:00", "09:00:00", true),
            ("09:00-18:00", "17:59:59", true),
            ("09:00-18:00", "18:00:00", false),
            ("09:00-18:00", "08:59:59", false),
            ("22:30-06:00", "23:00:00", true),
            ("22:30-06:00", "05:59:00", true),
            ("22:30-06:00", "06:00:00", false),
            ("18:00-24:00", "23:59:59", true),
        ] {
            assert_eq!(holds(hours, time), held, "{hours} {time}");
        }
        assert_eq!("09:00 - 18:00".parse::<Hours>().unwrap().to_string(), "09:00-18:00");
        for none in ["", "9-18", "09:00", "09:00-25:00", "09:60-10:00", "09:00-09:00", "a:b-c:d", "+9:00-10:00"] {
            assert!(none.parse::<Hours>().is_err(), "{none}");
        }
    }
}
