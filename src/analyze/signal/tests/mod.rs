mod german;
mod held_out;
mod table;

use super::*;

#[test]
fn sentences_fall_under_the_kind_they_are() {
    let mut wrong = Vec::new();
    for (kind, sentences) in table::MEMORY {
        for sentence in *sentences {
            let found = signal_of_sentence(sentence).map(|s| s.kind);
            if found != Some(*kind) {
                wrong.push(format!("{sentence:60} {kind:?}, found {found:?}"));
            }
        }
    }
    for sentence in table::NO_MEMORY {
        if let Some(found) = signal_of_sentence(sentence) {
            wrong.push(format!("{sentence:60} none, found {:?}", found.kind));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

use proptest::prelude::*;

#[test]
fn sentences_know_their_topics() {
    for (sentence, topic) in [
        ("The root cause was the OFFSET query.", SentenceTopic::Cause),
        ("I decided on keyset pagination.", SentenceTopic::Decision),
        ("The admin export still needs the same change; not yet done.", SentenceTopic::Next),
        ("All 12 tests pass.", SentenceTopic::Outcome),
        ("I'm blocked: the deploy key has no access.", SentenceTopic::Blocker),
    ] {
        assert!(is_about(sentence, topic), "{sentence}");
    }
    assert!(!is_about("Store the value in a map.", SentenceTopic::Decision));
    assert!(is_filler("Let me look at the tests."));
}

#[test]
fn a_failure_is_one_in_any_count_and_none_in_no_count() {
    let outcome = |ok, brief: &str| Outcome { tool: String::new(), ok, brief: brief.into() };
    assert!(has_failed(&outcome(true, "2 failed, 10 passed")));
    assert!(has_failed(&outcome(false, "")));
    assert!(!has_failed(&outcome(true, "0 failed, 12 passed")));
    assert!(!has_failed(&outcome(true, "test result: ok. 12 passed; 0 failed")));
    assert!(!has_failed(&outcome(false, REFUSED)));
}

proptest! {
    #[test]
    fn weights_are_shares_whatever_the_text(text in "\\PC{0,200}") {
        for sentence in sentences(&text) {
            prop_assert!((0.0..=1.0).contains(&weight(&sentence)));
        }
    }
}

/// How many held-out sentences match some rule, and how many the right one.
#[test]
fn most_sentences_in_other_words_are_told_from_those_that_are_no_memory() {
    let kind = |sentence: &str| signal_of_sentence(sentence).map(|s| s.kind);
    let found = held_out::MEMORY.iter().filter(|(_, sentence)| kind(sentence).is_some()).count();
    let right = held_out::MEMORY.iter().filter(|(of, sentence)| kind(sentence) == Some(*of)).count();
    let wrong: Vec<&&str> = held_out::NO_MEMORY.iter().filter(|sentence| kind(sentence).is_some()).collect();
    let all = held_out::MEMORY.len();
    assert!(found * 100 >= all * 85 && right * 100 >= all * 75, "{found} found, {right} of the right kind, of {all}");
    assert!(wrong.len() * 10 <= held_out::NO_MEMORY.len(), "{wrong:?}");
}

#[test]
fn another_language_is_another_table() {
    let both = [Matcher::new(&english::ENGLISH), Matcher::new(&german::GERMAN)];
    for (sentence, kind) in [
        ("Der Test ist wieder fehlgeschlagen.", Some(MemoryKind::Error)),
        ("Zwei Tests schlagen fehl.", Some(MemoryKind::Error)),
        ("Es gibt drei Fehler im Build.", Some(MemoryKind::Error)),
        ("Kein Test ist fehlgeschlagen.", None),
        ("Falls der Build kaputt ist, melde dich.", None),
        ("Ich werde den roten Test ansehen.", None),
        ("Jetzt sind die Tests alle grün.", Some(MemoryKind::Check)),
        ("Wir nehmen SQLite.", Some(MemoryKind::Decision)),
        ("The tests failed again.", Some(MemoryKind::Error)),
        ("Speichere den Wert in einer Map.", None),
    ] {
        assert_eq!(signal_in(&both, sentence).map(|s| s.kind), kind, "{sentence}");
    }
    assert_eq!(signal_of_sentence("Der Test ist wieder fehlgeschlagen."), None);
}

/// Every phrase of a table is found in a sentence made from it, so that none is written in a way that cannot match.
#[test]
fn every_phrase_of_the_tables_can_be_found() {
    for language in [&english::ENGLISH, &german::GERMAN] {
        assert_eq!(language.mistakes(), [] as [String; 0]);
    }
}
