//! The session's own words that prove what a model says: that it overtakes a statement of an earlier session.
//!
//! - They are a sentence of the user's, or of a reply that closed a turn, in a cited record or in the turn of one. What a tool printed, what
//!   somebody else wrote, and a plan are none.
//! - It states something: it does not ask, offer, announce, suppose, or leave something to do.
//! - It is about what the earlier statement is about, does not say that again, and nothing behind it in the session takes it back.

use std::collections::BTreeSet;

use crate::analyze::account::all_turns;
use crate::analyze::distinct::normalized;
use crate::analyze::overtaken::sentence::{Sentence, content_words};
use crate::analyze::overtaken::{OfferedStatement, sentence_id};
use crate::analyze::prose::own_in_any_case;
use crate::analyze::signal::{SentenceTopic, is_announcement, is_offer};
use crate::model::digest::Digest;
use crate::model::session::{Item, RecordKey, Session};
use crate::text::synonyms::group_of;
use crate::text::tokenize::words_of;

/// How far a sentence of a cited record is ahead of another of its turn, in words that both statements hold.
const CITED: f64 = 1.5;
/// How far one that names something new is ahead.
const NEW_NAME: f64 = 0.5;

/// Keeps what a model says is overtaken where words of the session prove it; the rest is left out.
pub(crate) fn verify_replacements(digest: &mut Digest, session: &Session, offered: &[OfferedStatement]) {
    if digest.replaces_left_out.is_empty() {
        return;
    }
    let said = SaidInSession::of(session);
    for mut claimed in std::mem::take(&mut digest.replaces_left_out) {
        let statement = offered.iter().find(|one| one.id == claimed.id);
        match statement.and_then(|one| said.proof(&one.text, &claimed.rows)) {
            Some(proof) => {
                claimed.by = Some(sentence_id(&session.id, &proof.text));
                claimed.rows = vec![proof.row];
                digest.replaces.push(claimed);
            }
            None => digest.replaces_left_out.push(claimed),
        }
    }
}

/// A sentence that somebody said who may say what holds.
struct SaidSentence {
    text: String,
    row: RecordKey,
    turn: usize,
    sentence: Sentence,
    /// Its words, and the names of what they may also be called.
    terms: BTreeSet<String>,
}

/// The sentences of a session, in order, and the turn of each record.
struct SaidInSession {
    sentences: Vec<SaidSentence>,
    turns: Vec<(RecordKey, usize)>,
}

impl SaidInSession {
    fn of(session: &Session) -> Self {
        let closing: Vec<RecordKey> = all_turns(session)
            .into_iter()
            .filter(|turn| turn.reply.as_ref().is_some_and(|reply| !reply.cut_off))
            .flat_map(|turn| turn.reply_rows)
            .collect();
        let (mut said, mut turn) = (Self { sentences: Vec::new(), turns: Vec::new() }, 0);
        for entry in session.entries.iter().filter(|entry| entry.is_main()) {
            turn += usize::from(matches!(entry.item, Item::Prompt(_)));
            said.turns.push((entry.key, turn));
            let text = match &entry.item {
                Item::Prompt(text) => text,
                Item::Answer(answer) => &answer.said,
                Item::Reply(text) if closing.contains(&entry.key) => text,
                _ => continue,
            };
            let stated = own_in_any_case(text).into_iter().filter(|said| said.under != Some(SentenceTopic::Next));
            said.sentences.extend(stated.map(|said| SaidSentence {
                row: entry.key,
                turn,
                sentence: Sentence::of(said.text.clone()),
                terms: terms(&said.text),
                text: said.text,
            }));
        }
        said
    }

    /// The sentence that proves that a statement no longer holds, for who cites these records.
    fn proof(&self, statement: &str, cited: &[RecordKey]) -> Option<&SaidSentence> {
        let earlier = Sentence::of(statement.to_owned());
        let about = terms(statement);
        let turns: BTreeSet<usize> = self.turns.iter().filter(|(row, _)| cited.contains(row)).map(|(_, turn)| *turn).collect();
        let shared = |one: &SaidSentence| one.terms.intersection(&about).count();
        // What the user asked for and what came of it are about the same.
        let is_about =
            |one: &SaidSentence| shared(one) > 0 || self.sentences.iter().any(|other| other.turn == one.turn && shared(other) > 1);
        let may_prove = |(_, one): &(usize, &SaidSentence)| {
            turns.contains(&one.turn) && one.states() && is_about(one) && !says_again(&one.sentence, &earlier)
        };
        let taken_back = self.sentences.iter().rposition(|one| says_again(&one.sentence, &earlier));
        let score = |one: &SaidSentence| {
            let is_cited = if cited.contains(&one.row) { CITED } else { 0.0 };
            let is_new = if one.sentence.names_beside(&earlier) { NEW_NAME } else { 0.0 };
            shared(one) as f64 + is_cited + is_new
        };
        let proofs = self.sentences.iter().enumerate().filter(may_prove);
        let proofs = proofs.filter(|(at, _)| taken_back.is_none_or(|back| *at > back));
        // Of equals the last one.
        proofs.map(|(_, one)| one).max_by(|a, b| score(a).total_cmp(&score(b)))
    }
}

impl SaidSentence {
    /// Does it say that something is so, was done, or is to be so?
    fn states(&self) -> bool {
        !self.sentence.is_unsure && !self.sentence.names_line && !is_announcement(&self.text) && !is_offer(&self.text)
    }
}

/// Does a sentence say what an earlier one says, in the same words or more?
fn says_again(later: &Sentence, earlier: &Sentence) -> bool {
    normalized(&later.text) == normalized(&earlier.text)
        || earlier.words.is_subset(&later.words) && later.is_denied() == earlier.is_denied() && !later.leaves_something()
}

/// The words that tell what a text is about, and the names of groups of what they may also be called.
fn terms(text: &str) -> BTreeSet<String> {
    let mut all = content_words(text);
    all.extend(words_of(&text.to_lowercase()).filter_map(group_of).map(|group| format!("~{group}")));
    all
}
