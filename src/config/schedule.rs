//! When the batch runs: one notation for systemd, launchd and cron.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Divisors of an hour and of a day, because every kind of timer can express these.
const MINUTES: [u8; 10] = [1, 2, 3, 5, 6, 10, 12, 15, 20, 30];
const HOURS: [u8; 7] = [1, 2, 3, 4, 6, 8, 12];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// At every multiple of this many minutes.
    Minutes(u8),
    /// At every multiple of this many hours.
    Hours(u8),
    /// Once a day, at a local hour and minute.
    Daily(u8, u8),
}

impl Schedule {
    /// Time between two runs, in milliseconds.
    pub(crate) fn period(self) -> i64 {
        match self {
            Self::Minutes(n) => i64::from(n) * 60_000,
            Self::Hours(n) => i64::from(n) * 3_600_000,
            Self::Daily(..) => 24 * 3_600_000,
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Minutes(30)
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = |digits: &str| digits.parse::<u8>().ok();
        let every = text.strip_prefix("every ").map(str::trim);
        let found = match every.map(|e| e.split_at(e.len() - e.chars().next_back().map_or(0, char::len_utf8))) {
            Some((n, "m")) => number(n).filter(|n| MINUTES.contains(n)).map(Self::Minutes),
            Some((n, "h")) => number(n).filter(|n| HOURS.contains(n)).map(Self::Hours),
            Some(_) => None,
            None if text == "hourly" => Some(Self::Hours(1)),
            None => text
                .split_once(':')
                .and_then(|(h, m)| Some((number(h)?, number(m)?)))
                .filter(|(h, m)| *h < 24 && *m < 60)
                .map(|(h, m)| Self::Daily(h, m)),
        };
        found.ok_or_else(|| {
            format!(
                "`{text}` is not a schedule: `every Nm` (N at most 30, a divisor of 60), `every Nh` (N at most 12, a divisor of 24), `hourly` or a time like `03:15`"
            )
        })
    }
}

impl TryFrom<String> for Schedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(n) => write!(out, "every {n}m"),
            Self::Hours(1) => out.write_str("hourly"),
            Self::Hours(n) => write!(out, "every {n}h"),
            Self::Daily(h, m) => write!(out, "{h:02}:{m:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_timer_can_say_is_read_and_said_again() {
        for text in ["every 30m", "every 1m", "every 6h", "hourly", "03:15", "00:00", "23:59"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("every 1h".parse(), Ok(Schedule::Hours(1)));
        for text in ["", "every", "every 7m", "every 60m", "every 5h", "every é", "24:00", "3:60", "daily", "every -5m", "12:"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
