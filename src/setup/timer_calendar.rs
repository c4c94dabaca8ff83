//! The schedule in the syntax of each timer. Pure.

use jiff::{ToSpan, Zoned, civil::Time};

use crate::config::Schedule;

/// systemd's calendar event (systemd.time(7)).
pub(crate) fn on_calendar(schedule: Schedule) -> String {
    match schedule {
        Schedule::Minutes(n) => format!("*:0/{n}"),
        Schedule::Hours(1) => "hourly".into(),
        Schedule::Hours(n) => format!("0/{n}:00"),
        Schedule::Daily(hour, minute) => format!("{hour:02}:{minute:02}"),
    }
}

/// How far systemd may spread the runs, in seconds: a fifteenth of the distance between them, at most two minutes.
pub(crate) fn delay(schedule: Schedule) -> u64 {
    match schedule {
        Schedule::Minutes(n) => (u64::from(n) * 60 / 15).min(120),
        Schedule::Hours(_) | Schedule::Daily(..) => 120,
    }
}

/// launchd's calendar intervals; a key that is left out means any value (launchd.plist(5)).
pub(crate) fn intervals(schedule: Schedule) -> Vec<Vec<(&'static str, u8)>> {
    match schedule {
        Schedule::Minutes(1) => vec![Vec::new()],
        Schedule::Minutes(n) => (0..60).step_by(usize::from(n)).map(|minute| vec![("Minute", minute)]).collect(),
        Schedule::Hours(1) => vec![vec![("Minute", 0)]],
        Schedule::Hours(n) => (0..24).step_by(usize::from(n)).map(|hour| vec![("Hour", hour), ("Minute", 0)]).collect(),
        Schedule::Daily(hour, minute) => vec![vec![("Hour", hour), ("Minute", minute)]],
    }
}

/// The five time fields of a crontab's line (crontab(5)).
pub(crate) fn cron(schedule: Schedule) -> String {
    match schedule {
        Schedule::Minutes(1) => "* * * * *".into(),
        Schedule::Minutes(n) => format!("*/{n} * * * *"),
        Schedule::Hours(1) => "0 * * * *".into(),
        Schedule::Hours(n) => format!("0 */{n} * * *"),
        Schedule::Daily(hour, minute) => format!("{minute} {hour} * * *"),
    }
}

/// When the digest runs next, without the timer's own delay.
pub(crate) fn next(schedule: Schedule, now: &Zoned) -> Zoned {
    let minutes = |of: i16| of - (i16::from(now.hour()) * 60 + i16::from(now.minute())) % of;
    let wait = match schedule {
        Schedule::Minutes(n) => minutes(n.into()),
        Schedule::Hours(n) => minutes(i16::from(n) * 60),
        Schedule::Daily(hour, minute) => {
            let at = Time::constant(hour as i8, minute as i8, 0, 0);
            let today = now.with().time(at).build().unwrap_or_else(|_| now.clone());
            let tomorrow = || now.checked_add(1.day()).and_then(|day| day.with().time(at).build()).unwrap_or_else(|_| now.clone());
            return if today > *now { today } else { tomorrow() };
        }
    };
    // Timers follow local time, in which two days of the year have not 24 hours.
    let at = now.datetime().checked_add(i64::from(wait).minutes()).and_then(|at| at.with().second(0).subsec_nanosecond(0).build());
    at.and_then(|at| at.to_zoned(now.time_zone().clone())).unwrap_or_else(|_| now.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_says_the_same_in_its_own_words() {
        let cases = [
            ("every 1m", "*:0/1", 4, "* * * * *", 1, "01:16"),
            ("every 5m", "*:0/5", 20, "*/5 * * * *", 12, "01:20"),
            ("every 30m", "*:0/30", 120, "*/30 * * * *", 2, "01:30"),
            ("hourly", "hourly", 120, "0 * * * *", 1, "02:00"),
            ("every 6h", "0/6:00", 120, "0 */6 * * *", 4, "06:00"),
            ("03:05", "03:05", 120, "5 3 * * *", 1, "03:05"),
            ("01:15", "01:15", 120, "15 1 * * *", 1, "01:15"),
        ];
        let now: Zoned = "2026-11-21T01:15:30[Europe/Berlin]".parse().unwrap();
        for (text, calendar, spread, fields, times, at) in cases {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!((on_calendar(schedule).as_str(), delay(schedule)), (calendar, spread), "{text}");
            assert_eq!((cron(schedule).as_str(), intervals(schedule).len()), (fields, times), "{text}");
            assert_eq!(next(schedule, &now).strftime("%H:%M").to_string(), at, "{text}");
        }
        let daily: Schedule = "01:15".parse().unwrap();
        assert_eq!(next(daily, &now).to_string(), "2026-11-22T01:15:00+01:00[Europe/Berlin]");
    }

    #[test]
    fn the_clock_on_the_wall_counts_when_it_is_put_forward() {
        let now: Zoned = "2026-03-29T01:30:00[Europe/Berlin]".parse().unwrap();
        assert_eq!(next(Schedule::Hours(6), &now).to_string(), "2026-03-29T06:00:00+02:00[Europe/Berlin]");
        // Two o'clock does not exist on this day.
        assert_eq!(next(Schedule::Minutes(30), &now).to_string(), "2026-03-29T03:00:00+02:00[Europe/Berlin]");
    }

    #[test]
    fn launchd_gets_every_moment_of_the_day() {
        let of = |text: &str| intervals(text.parse().unwrap());
        assert_eq!(of("every 1m"), [vec![]]);
        assert_eq!(of("every 20m"), [vec![("Minute", 0)], vec![("Minute", 20)], vec![("Minute", 40)]]);
        assert_eq!(of("every 12h"), [vec![("Hour", 0), ("Minute", 0)], vec![("Hour", 12), ("Minute", 0)]]);
        assert_eq!(of("23:59"), [vec![("Hour", 23), ("Minute", 59)]]);
    }
}
