//! Synonyms of the field, for a query that uses other words than the session did.
//!
//! A document lists the groups of its words in a column of low weight; a query searches for the groups beside its words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hashbrown::HashMap;

/// The name and the words of each group. A word is in at most one group.
const GROUPS: &[(&str, &str)] = &[
    (
        "auth",
        "auth authentication authenticate authenticated login logins logon signin signon sso oauth oidc saml password passwords anmeldung",
    ),
    ("paging", "pagination paginate paginated paging pager keyset"),
    ("caching", "cache caches cached caching memoize memoise memoization memoized"),
    ("deleting", "delete deletes deleted deleting deletion remove removes removed removing removal erase purge purged löschen"),
    (
        "speed",
        "slow slower slowness sluggish laggy performance perf latency speed faster optimise optimize optimisation optimization langsam",
    ),
    ("crashing", "crash crashes crashed crashing panic panics panicked segfault sigsegv abort aborts absturz"),
    ("hanging", "timeout timeouts deadline hang hangs hung hanging stuck freeze freezes frozen stall stalls"),
    ("flaky", "flaky flakiness intermittent intermittently sporadic sporadically nondeterministic unreliable"),
    ("releasing", "deploy deploys deployed deployment rollout release releases released releasing ship shipped publish published"),
    ("ci", "ci pipeline pipelines workflow workflows"),
    ("settings", "config configs configuration configure settings setting preferences einstellungen"),
    ("database", "db database databases sql"),
    ("migrating", "migration migrations migrate migrated migrating"),
    (
        "tidying",
        "refactor refactors refactored refactoring restructure rewrite rewrote cleanup tidy reorganize reorganise simplify simplified",
    ),
    ("retrying", "retry retries retried retrying backoff reattempt"),
    ("memory", "memory ram oom heap leak leaks leaking"),
    ("concurrency", "race races racy concurrency concurrent concurrently deadlock deadlocks mutex"),
    ("upgrading", "upgrade upgrades upgraded upgrading bump bumped bumping"),
    ("dependency", "dependency dependencies package packages library libraries crate crates module modules"),
    ("docs", "doc docs documentation documented readme manual dokumentation"),
    ("encryption", "encrypt encrypts encrypted encryption cipher tls ssl https certificate certificates cert certs"),
    ("mailing", "email emails mail mails smtp"),
    ("paying", "payment payments pay pays paid billing invoice invoices checkout charge charged charges"),
    ("time", "timezone timezones tz utc dst clock daylight"),
    ("language", "translation translations translate translated i18n l10n locale locales localization localisation"),
    ("logging", "log logs logging logger logged protocol"),
    ("queueing", "queue queues queued worker workers job jobs"),
    ("scheduling", "schedule schedules scheduled scheduler cron crontab timer timers nightly periodic"),
    ("permission", "permission permissions acl role roles privilege privileges forbidden unauthorized"),
    ("linting", "lint lints linter linting eslint clippy ruff prettier rustfmt formatter formatting"),
    ("validating", "validate validates validated validation validator sanitize sanitise sanitized"),
    ("duplicate", "duplicate duplicates duplicated dedupe dedup deduplicate deduplication idempotent idempotency twice"),
    ("encoding", "encoding encodings unicode utf8 utf charset mojibake"),
    ("styling", "css styling stylesheet layout responsive"),
    ("network", "network connection connections connectivity socket sockets"),
    ("rounding", "rounding round rounded precision decimal decimals float floats"),
    ("picture", "image images picture pictures photo photos thumbnail thumbnails bild bilder"),
    ("undoing", "revert reverts reverted rollback undo undone restore restored"),
    ("testing", "test tests tested testing spec specs unittest pytest"),
    (
        "failing",
        "bug bugs defect defects error errors exception exceptions failure failures fail fails failed failing broken fehler",
    ),
    ("limiting", "throttle throttled throttling ratelimit limiter quota quotas"),
    ("building", "build builds building compile compiles compiled compiling compilation compiler"),
    ("storing", "save saves saved saving persist persists persisted persistence store stored storage"),
    ("uploading", "upload uploads uploaded uploading attachment attachments"),
    ("notifying", "notification notifications notify notifies alert alerts alerting push"),
    ("backup", "backup backups snapshot snapshots"),
    ("searching", "search searches searching lookup"),
    ("renaming", "rename renames renamed renaming"),
    ("deprecated", "deprecate deprecated deprecation legacy obsolete outdated"),
    ("container", "docker dockerfile container containers podman"),
    ("parsing", "parse parses parsed parser parsing"),
    ("monitoring", "monitor monitoring metric metrics dashboard dashboards telemetry observability"),
];

static BY_WORD: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| GROUPS.iter().flat_map(|(group, words)| words.split(' ').map(move |word| (word, *group))).collect());

/// By the first byte of words: a bit for each length that one of them has. Most words are of no group, and this tells it of most of them.
static LENGTHS: LazyLock<[u32; 256]> = LazyLock::new(|| {
    let mut all = [0; 256];
    BY_WORD.keys().for_each(|word| all[first_byte(word)] |= bit_of_length(word));
    all
});

fn first_byte(word: &str) -> usize {
    word.bytes().next().map_or(0, usize::from)
}

/// All that are longer share the last bit.
fn bit_of_length(word: &str) -> u32 {
    1 << word.len().min(31)
}

/// The synonym group of a word in lower case.
pub fn group_of(word: &str) -> Option<&'static str> {
    let may_be = LENGTHS[first_byte(word)] & bit_of_length(word) != 0;
    if may_be { BY_WORD.get(word).copied() } else { None }
}

/// The words of a group.
pub fn words_of_group(group: &'static str) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(move |(name, _)| *name == group).flat_map(|(_, words)| words.split(' '))
}

/// How a marker begins; no word of a text looks like it.
const MARKER: &str = "zzgroup";

/// A group's name in the index.
pub fn marker(group: &str) -> String {
    format!("{MARKER}{group}")
}

/// Is a word the marker of a group?
pub fn is_marker(word: &str) -> bool {
    word.starts_with(MARKER)
}

/// The markers of all groups that words of the indexed texts belong to.
pub fn markers(indexed: &[&str]) -> String {
    let groups: BTreeSet<&str> = indexed.iter().flat_map(|text| text.split(' ')).filter_map(group_of).collect();
    groups.into_iter().map(marker).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_of_one_group() {
        let words: Vec<&str> = GROUPS.iter().flat_map(|(_, words)| words.split(' ')).collect();
        assert_eq!(BY_WORD.len(), words.len(), "a word stands in two groups");
        assert!(words.iter().all(|word| word.to_lowercase() == **word));
        assert!(words.iter().all(|word| group_of(word) == BY_WORD.get(word).copied()));
        assert!(["", "auths", "zzz", &"a".repeat(40), "über"].iter().all(|word| group_of(word).is_none()));
    }

    #[test]
    fn a_text_is_marked_by_what_its_words_mean() {
        assert_eq!(markers(&["the signin page", "memoize it"]), "zzgroupauth zzgroupcaching");
    }
}
