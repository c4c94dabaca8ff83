use super::*;

/// Does the later text overtake the earlier one?
fn overtakes(earlier: &str, later: &str) -> bool {
    let said = [Said { of: 0, at: 1, text: earlier }, Said { of: 1, at: 2, text: later }];
    !overtakings(&said).is_empty()
}

#[test]
fn who_says_what_is_left_overtakes_what_said_it() {
    for (earlier, later) in [
        (
            "The session cache uses Redis, so that both workers share it.",
            "The session cache no longer uses Redis, it is an in-process LRU.",
        ),
        ("Sessions are kept in Redis.", "Switched the sessions from Redis to an in-process LRU."),
        ("We install everything with npm.", "from now on use pnpm, not npm, to install"),
        ("The upload timeout is 30 s.", "Raised the upload timeout to 60 s."),
        ("Search goes through Elasticsearch.", "Replaced Elasticsearch with Postgres full text for the search."),
        ("The importer writes rows through the ORM.", "Dropped the ORM in the importer: plain COPY now."),
    ] {
        assert!(overtakes(earlier, later), "{earlier} / {later}");
        assert!(!overtakes(later, earlier), "{later} / {earlier}");
    }
}

#[test]
fn what_only_sounds_like_it_overtakes_nothing() {
    for (earlier, later) in [
        ("The API caches sessions in Redis.", "The worker no longer uses Redis for its queue."),
        ("The session cache uses Redis.", "Should the session cache no longer use Redis?"),
        ("The session cache uses Redis.", "I considered replacing Redis in the session cache with an LRU but kept Redis."),
        ("The session cache uses Redis.", "The session test no longer fails."),
        ("The session cache uses Redis.", "The session cache uses Redis, not memcached."),
        ("The session cache does not use Redis.", "The session cache no longer uses Redis."),
        ("The upload timeout is 30 s.", "The download timeout is 60 s now."),
    ] {
        assert!(!overtakes(earlier, later), "{earlier} / {later}");
    }
}
