//! Reads time zones from their own files: the library would first walk the whole zone database, which a hook cannot wait for.

use std::env;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use transcripts::session::short_id;

/// Where systems keep the zone database, by IANA name.
const DATABASE: &str = "/usr/share/zoneinfo";
/// The system's own zone, as a file in the format of that database.
const LOCAL: &str = "/etc/localtime";

/// The zone with this IANA name.
pub(crate) fn named(name: &str) -> Option<TimeZone> {
    let is_plain = !name.starts_with('/') && !name.split('/').any(|part| part.is_empty() || part == "..");
    let read = || from_file(name, &Path::new(DATABASE).join(name));
    is_plain.then(read).flatten().or_else(|| TimeZone::get(name).ok())
}

/// The user's zone: `TZ`, else the system's, else UTC.
pub(crate) fn local() -> TimeZone {
    let asked = env::var("TZ").ok().filter(|tz| !tz.is_empty());
    let read = match asked.as_deref().map(|tz| tz.trim_start_matches(':')) {
        None => from_file("Local", Path::new(LOCAL)),
        Some(name) => named(name),
    };
    read.unwrap_or_else(TimeZone::system)
}

/// Zones are compared by their transitions in this range (2020 to 2040), in seconds since the epoch. Nothing that is digested is older,
/// and a zone whose rules change later counts as another zone.
const COMPARED_SECONDS: std::ops::Range<i64> = 1_577_836_800..2_208_988_800;

/// Fingerprint of a zone's rules: its first offset and all transitions.
pub(crate) fn fingerprint(zone: &TimeZone) -> String {
    let from = Timestamp::from_second(COMPARED_SECONDS.start).unwrap_or_default();
    let mut said = zone.to_offset(from).to_string();
    for transition in zone.following(from).take_while(|t| t.timestamp().as_second() < COMPARED_SECONDS.end) {
        said += &format!(" {} {}", transition.timestamp().as_second(), transition.offset());
    }
    short_id("z", &[&said])
}

fn from_file(name: &str, path: &Path) -> Option<TimeZone> {
    TimeZone::tzif(name, &fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_told_apart_by_what_they_say() {
        let of = |name: &str| fingerprint(&named(name).expect(name));
        assert_eq!((of("Europe/Berlin"), of("UTC")), (of("Europe/Vienna"), of("Etc/UTC")));
        assert_ne!(of("Europe/Berlin"), of("Europe/London"));
        assert_ne!(of("America/New_York"), of("America/Havana"), "the hour and not the day of the change differs");
    }
}
