//! The version of the shipped rules, and the test that says when to raise it.

/// The version of the shipped rules, raised whenever one of them changes. Store it with redacted texts, and redact them again when it has
/// been raised: secrets that only the new rules find are still in them.
pub const RULES_VERSION: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Redactor, harmless, keywords, secret_names};

    /// The fingerprint of each version of the rules, the newest last.
    const FINGERPRINTS: &[(u32, u64)] = &[
        (3, 0x97e2_3ea3_c0c6_6698),
        (4, 0xdbbe_1f3d_6ff1_7b54),
        (5, 0xf0d7_8b4d_1bcd_533a),
        (6, 0xb26a_96e6_1db1_ce8a),
        (7, 0x1804_d7f0_5605_b1f5),
    ];

    /// Values that some rules redact and others leave.
    const VALUES: [&str; 12] = [
        "hunter22",
        "hunter2hunter2",
        "changeme123",
        "letmeinplease",
        "k9!vQz7p",
        "correct-horse-staple-42",
        "f8fmv0wsogl7",
        "a7Kq2Zp9Lwx4Bn6Tr1Vs8Yd3Gh5Jm0Cf7Qe2Wu9",
        "3f9a1c7e5b2d8046f1e3a5c7092b4d6e",
        "renderTemplate",
        "sunflower7",
        "correcthorse",
    ];

    /// Hashes the formats, the word lists, and the redacted form of values behind each keyword and beside each word of the lists. Catches
    /// any change of these tables, and most changes of the code.
    fn fingerprint() -> u64 {
        let formats =
            include_str!("../formats.toml").lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lists = || secret_names::LISTS.iter().chain(&harmless::LISTS).flat_map(|list| list.each());
        let keywords = keywords::all(&crate::formats::TOKENS, &crate::formats::COMMANDS, &[]);
        let behind_keywords = keywords.flat_map(|(word, _)| ["=", " ", ": \"", "> ", "\n"].map(|sign| format!("{word}{sign}")));
        let beside_words =
            lists().flat_map(|word| [format!("{word}_key="), format!("password_{word} = '"), format!("the {word} token is ")]);
        let mut hash = Fnv::default();
        formats.chain(lists()).for_each(|text| hash.add(text));
        for head in behind_keywords.chain(beside_words) {
            for value in VALUES {
                hash.add(&Redactor::shipped().redact(&format!("{head}{value}\"\n")));
            }
        }
        hash.0
    }

    /// FNV-1a: the same on every machine and with every compiler.
    struct Fnv(u64);

    impl Default for Fnv {
        fn default() -> Self {
            Self(0xcbf2_9ce4_8422_2325)
        }
    }

    impl Fnv {
        fn add(&mut self, text: &str) {
            for byte in text.bytes().chain([0]) {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }

    #[test]
    fn the_version_is_raised_when_the_rules_change() {
        let now = fingerprint();
        let &(version, known) = FINGERPRINTS.last().expect("a version");
        assert!(
            now == known,
            "The shipped rules are no longer those of version {version}. Stored texts keep their secrets until RULES_VERSION is raised: \
             set it to {next} in crates/redact/src/version.rs and add `({next}, {now:#018x})` to FINGERPRINTS. If {version} has not \
             been on main yet, put {now:#018x} in its offset.",
            next = version + 1,
        );
        assert_eq!(version, RULES_VERSION, "the newest fingerprint is that of RULES_VERSION");
        assert!(FINGERPRINTS.is_sorted_by(|a, b| a.0 < b.0 && a.1 != b.1), "each version has rules of its own");
    }
}
