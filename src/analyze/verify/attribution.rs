//! How a statement says that it is the user's: by a label, or in a sentence.

use std::collections::BTreeSet;

use crate::analyze::prose::sentences_in_any_case;
use crate::analyze::without_model::UNANSWERED;
use text::tokenize::distinctive_words;
use transcripts::session::Answer;

/// How a claim is attributed to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserAttribution {
    Unattributed,
    /// By a label of this many bytes: "User: ".
    Label(usize),
    /// In its own words: "The user wants …".
    Sentence,
}

/// A text without the label that attributes it to the user.
pub(super) fn label_free(text: &str, of_user: UserAttribution) -> &str {
    match of_user {
        UserAttribution::Label(label) => &text[label..],
        _ => text,
    }
}

/// The words of a claim that an entry has to hold, without those that only say who said it.
pub(super) fn claim_words(text: &str, of_user: UserAttribution) -> BTreeSet<String> {
    match of_user {
        UserAttribution::Label(label) => distinctive_words(Answer::without_question(&text[label..])),
        UserAttribution::Sentence => {
            let mut all = distinctive_words(text);
            for of_the_telling in ["user", "want", "ask", "decid", "said", "say", "request", "chos", "prefer"] {
                all.remove(of_the_telling);
            }
            all
        }
        UserAttribution::Unattributed => distinctive_words(
            [UNANSWERED, "Plan approved: ", "Refused: "].into_iter().find_map(|who| text.strip_prefix(who)).unwrap_or(text),
        ),
    }
}

/// Does a line or sentence of a text say that it is the user's, or what they said?
pub(crate) fn speaks_for_user(text: &str) -> bool {
    let sentences = sentences_in_any_case(text);
    let said = text.lines().chain(sentences.iter().map(String::as_str));
    said.map(|said| said.trim_start_matches('#')).any(|said| user_attribution(said) != UserAttribution::Unattributed)
}

/// How does a text attribute itself to the user?
pub(super) fn user_attribution(text: &str) -> UserAttribution {
    const LABELS: [&str; 14] = [
        "the user:", "user:", "users:", "you:", "user (", "der nutzer:", "nutzer:", "nutzerin:", "benutzer:", "anwender:",
        "utilisateur:", "usuario:", "用户:", "用户：",
    ];
    const TOLD: [&str; 33] = [
        "user asked", "user asks", "user wants", "user wanted", "user decided", "user decides", "user chose", "user said",
        "user says", "user insisted", "user insists", "user prefers", "user preferred", "user requested", "user requests",
        "user rejected", "user refused", "user confirmed", "user approved", "user agreed", "user declined", "user told",
        "user instructed", "user's request", "user's decision", "user's wish", "requested by the user", "decided by the user",
        "chosen by the user", "approved by the user", "wanted by the user", "refused by the user", "rejected by the user",
    ];
    const TOLD_FIRST: [&str; 16] = [
        "you asked", "you want", "you decided", "you chose", "you said", "you told", "you requested", "you prefer",
        "you confirmed", "you approved", "der nutzer ", "der benutzer ", "die nutzerin ", "l'utilisateur ", "el usuario ", "用户",
    ];
    let bare = text.trim_start_matches(['*', '_', '"', '“', '-', '•', ' ', '[', '(']);
    let skipped = text.len() - bare.len();
    let lower = bare.to_lowercase().replace('\u{2019}', "'");
    if let Some(label) = LABELS.iter().find(|label| lower.starts_with(**label)) {
        // The label ends with its colon, whatever comes before it.
        let end = text[skipped..]
            .find([':', '：'])
            .map_or(label.len(), |at| at + text[skipped + at..].chars().next().map_or(1, char::len_utf8));
        let rest = &text[skipped + end..];
        return UserAttribution::Label(text.len() - rest.trim_start_matches(['*', '_', ' ', ']', ')', '"', '”']).len());
    }
    let supposed =
        ["if the user", "whether the user", "unless the user", "should the user"].iter().any(|start| lower.contains(start));
    let told = TOLD_FIRST.iter().any(|start| lower.starts_with(start)) || TOLD.iter().any(|phrase| lower.contains(phrase));
    let told = told && !supposed;
    if told { UserAttribution::Sentence } else { UserAttribution::Unattributed }
}
