use proptest::prelude::*;

use super::*;

/// What is left of `text` in a session that marked the first text as private.
fn after(fenced: &str, said: &str) -> String {
    let mut private_words = PrivateWords::default();
    private_words.add("s", hashes("s", distinctive(fenced).iter().map(String::as_str)));
    private_words.clean(said).into_owned()
}

#[test]
fn words_are_known_however_they_are_written() {
    for (fenced, said, left) in [
        ("the customer is Globex", "Globex's list, GLOBEX and globex", "[private]'s list, [private] and [private]"),
        (
            "the customer is Globex",
            "src/globexImport.py, GlobexReport, my_globex_2",
            "src/[private]Import.py, [private]Report, my_[private]_2",
        ),
        ("the customer is Globex", "globexes or projectglobex", "[private] or [private]"),
        ("ask Zoë Müller", "zoe mueller or ZOË MULLER or Müllers", "[private] or [private] or [private]"),
        ("ask jane.doe@initech.example", "Jane Doe at Initech", "[private] at [private]"),
        ("for 4.2 million", "$4,200,000 or 4.2M or 4200000", "$[private] or [private]M or [private]"),
        ("call +49 151 234 5678", "I called 0151 2345678.", "I called [private]."),
        ("IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "DE[private]"),
        ("born on 14.03.1979", "the birthday is 1979-03-14", "the birthday is [private]"),
        ("the password is hunter2", "PASSWORD=hunter2", "PASSWORD=[private]"),
        ("the phrase is correct horse battery staple", "correct horse battery staple", "[private]"),
        ("the word is window paper green table", "the word: window paper green table", "the word: [private]"),
        (
            "Our contact there is Mark, of Target",
            "Mark of Target says: mark the target",
            "[private] of [private] says: mark the target",
        ),
        ("患者は田中太郎です", "田中さんと田中太郎", "[private]さんと[private]"),
        ("고객은 홍길동입니다", "홍길동에게 보냈습니다", "[private] 보냈습니다"),
        ("клиент Иванов", "написал Иванову", "написал [private]"),
    ] {
        assert_eq!(after(fenced, said), left, "{fenced}");
    }
}

#[test]
fn ordinary_words_stay() {
    let said =
        "I fixed the import: the customers are read from the list, the test passes and 3000 rows of 2026 are written on port 8080.";
    for fenced in [
        "fix the import for the customer",
        "please look at the list of rows",
        "the test of 2026 with 3000 rows",
        "ok thanks",
        "",
        "a b c 1 2 3",
        "Read The List Of Customers And Write It",
        "importing, reading and writing tests",
    ] {
        assert_eq!(after(fenced, said), said, "{fenced}");
    }
}

#[test]
fn what_nothing_is_left_of_is_left_out() {
    let mut private_words = PrivateWords::default();
    private_words.add("s", hashes("s", distinctive("Globex buys Initech").iter().map(String::as_str)));
    let title =
        |text: &str| Item::Title(crate::session::Title { text: text.into(), by: crate::session::TitleBy::Client, leaf: None });
    assert_eq!(private_words.clean_item(&title("Globex, Initech")), None);
    assert_eq!(private_words.clean_item(&title("Globex import mended")).as_deref(), Some(&title("[private] import mended")));
    assert!(matches!(private_words.clean_item(&title("The import")), Some(Cow::Borrowed(_))));
}

proptest! {
    #[test]
    fn no_text_is_a_panic_and_twice_is_as_once(fenced in "(\\PC|[a-z]{3,9} |[0-9,. ]|\n){0,40}", said in "(\\PC|[a-z]{3,9} |[0-9,. ]|\n){0,60}") {
        let once = after(&fenced, &said);
        prop_assert_eq!(after(&fenced, &once), once.clone());
        // Private words are removed when they are repeated verbatim.
        for name in distinctive(&fenced) {
            if let Some(word) = name.strip_prefix("w:") {
                let said = after(&fenced, &format!("a {word} b"));
                prop_assert!(!said.to_lowercase().contains(&format!(" {word} ")), "{}: {}", word, said);
            }
        }
    }
}
