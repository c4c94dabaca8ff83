//! A second language is a second table.

use super::super::MemoryKind::{Check, Decision, Error};
use super::super::language::{Language, PhraseRule};

pub(crate) static GERMAN: Language = Language {
    numbers: &["zwei", "drei", "vier"],
    supposing: &["wenn", "falls", "ob"],
    announcing: &["^ ich werde", "^ lass uns"],
    classes: &[
        ("PRÜFUNG", &["test", "tests", "build", "lauf", "prüfung"]),
        ("KAPUTT", &["fehlgeschlagen", "rot", "kaputt", "abgestürzt", "schlägt fehl", "schlagen fehl"]),
    ],
    rules: &[
        PhraseRule { name: "sieht nur so aus", kind: None, importance: 0.0, phrases: &["kein {PRÜFUNG} ~ {KAPUTT}"] },
        PhraseRule { name: "fehlgeschlagen", kind: Some(Error), importance: 1.0, phrases: &["{PRÜFUNG} ~ {KAPUTT}", "# fehler"] },
        PhraseRule { name: "ergebnis", kind: Some(Check), importance: 0.9, phrases: &["{PRÜFUNG} ~ grün"] },
        PhraseRule { name: "entscheidung", kind: Some(Decision), importance: 0.85, phrases: &["wir nehmen", "entschieden für"] },
    ],
};
