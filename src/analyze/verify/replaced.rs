//! The session's own words that prove what a model says: that it overtakes a statement of an earlier session.
//!
//! - They are a sentence of the user's, or of a reply that closed a turn, in a cited record or in the turn of one. What a tool printed, what
//!   somebody else wrote, and a plan are none.
//! - It states something: it does not ask, offer, announce, suppose, or leave something to do.
//! - It is about what the earlier statement is about, in the same part of the system, and holds enough of that, or of what the model says of the
//!   same records. It does not say the earlier one again, nor that it stays so, and nothing behind it in the session does.
//! - Of several the one that the model quotes, else the one that holds most.

use std::collections::BTreeSet;

use crate::analyze::account::all_turns;
use crate::analyze::distinct::normalized;
use crate::analyze::overtaken::sentence::{self, Sentence};
use crate::analyze::overtaken::{OfferedStatement, is_unit, sentence_id};
use crate::analyze::prose::own_in_any_case;
use crate::analyze::signal::{SentenceTopic, is_announcement, is_offer};
use crate::model::digest::{ClaimedReplacement, Digest};
use text::tokenize::covered_by;
use transcripts::session::{Item, RecordKey, Session};

/// The words of the earlier statement that a sentence holds count so much, as a share of all.
const SHARED: f64 = 1.5;
/// How far a sentence of a cited record is ahead of another of its turn.
const CITED: f64 = 0.4;
/// How far one is ahead that holds a name of the earlier statement.
const SAME_NAME: f64 = 0.3;
/// How far one is ahead that gives another value of the same kind.
const OTHER_VALUE: f64 = 0.4;
/// How far one is ahead that names something new, and one that tells of a change; and how far words of the user's are behind, which mostly ask
/// for what a reply then tells.
const NEW_NAME: f64 = 0.2;
const CHANGE: f64 = 0.2;
const OF_USER: f64 = -0.35;
/// How far one is ahead that denies something, where the earlier statement does not.
const DENIAL: f64 = 0.4;
/// What is worth less proves nothing.
const MIN_WORTH: f64 = 0.75;
/// What the model says of the same records counts so much, as far as a sentence holds it, and that is about the earlier statement; at least so
/// much of it counts.
const TOLD: f64 = 1.5;
const ASIDE: f64 = 0.2;
/// A sentence that shares no word with the earlier statement has to hold so much of what the model says.
const MIN_TOLD: f64 = 0.3;
/// A sentence is the one that the model quotes if it shares so much of its words with it.
const QUOTED: f64 = 0.6;
/// Words by which a sentence says that something is as it was.
const STAYS: [&str; 13] = [
    "keep", "keeps", "kept", "stay", "stays", "stayed", "remain", "remains", "remained", "same", "unchanged", "unaffected",
    "untouched",
];
/// A sentence that says so in its first words says nothing else.
const FIRST_WORDS: usize = 4;

/// Keeps what a model says is overtaken where words of the session prove it; the rest is left out. The statements of the digest are still the
/// model's own.
pub(crate) fn verify_replacements(digest: &mut Digest, session: &Session, offered: &[OfferedStatement]) {
    if digest.replaces_left_out.is_empty() {
        return;
    }
    let said = SaidInSession::of(session);
    for mut claimed in std::mem::take(&mut digest.replaces_left_out) {
        let statement = offered.iter().find(|one| one.id == claimed.id);
        let told: Vec<BTreeSet<String>> = digest
            .statements()
            .filter(|(_, claim)| claim.rows.iter().any(|row| claimed.rows.contains(row)))
            .map(|(_, claim)| terms(&claim.text))
            .collect();
        match statement.and_then(|one| said.proof(&one.text, &claimed, &told)) {
            Some(proof) => {
                claimed.by = Some(sentence_id(&session.id, &proof.sentence.text));
                claimed.rows = vec![proof.row];
                digest.replaces.push(claimed);
            }
            None => digest.replaces_left_out.push(claimed),
        }
    }
}

/// A sentence that somebody said who may say what holds.
struct SaidSentence {
    row: RecordKey,
    turn: usize,
    is_of_user: bool,
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
            let (text, is_of_user) = match &entry.item {
                Item::Prompt(text) => (text, true),
                Item::Answer(answer) => (&answer.said, true),
                Item::Reply(text) if closing.contains(&entry.key) => (text, false),
                _ => continue,
            };
            let stated = own_in_any_case(text).into_iter().filter(|said| said.under != Some(SentenceTopic::Next));
            said.sentences.extend(stated.map(|said| SaidSentence {
                row: entry.key,
                turn,
                is_of_user,
                terms: terms(&said.text),
                sentence: Sentence::of(said.text),
            }));
        }
        said
    }

    /// The sentence that proves that a statement no longer holds, for who claims that, and says that of the same records.
    fn proof(&self, statement: &str, claimed: &ClaimedReplacement, told: &[BTreeSet<String>]) -> Option<&SaidSentence> {
        let earlier = EarlierSentence::of(statement);
        let (cited, says) = (&claimed.rows, terms(&claimed.says));
        let turns: BTreeSet<usize> = self.turns.iter().filter(|(row, _)| cited.contains(row)).map(|(_, turn)| *turn).collect();
        let most_about = told.iter().map(|told| covered_by(&earlier.terms, told)).fold(f64::MIN_POSITIVE, f64::max);
        let worth = |one: &SaidSentence| {
            let told = told.iter().map(|told| {
                let about = covered_by(&earlier.terms, told) / most_about;
                alike(told, &one.terms) * about.max(ASIDE)
            });
            let told = told.fold(0.0, f64::max);
            let shared = SHARED * covered_by(&earlier.terms, &one.terms);
            let is_about = shared > 0.0 || told >= MIN_TOLD && self.is_turn_about(one.turn, &earlier);
            let ahead = [
                (cited.contains(&one.row), CITED),
                (one.sentence.shares_name(&earlier.sentence), SAME_NAME),
                (one.sentence.gives_other_value(&earlier.sentence), OTHER_VALUE),
                (one.sentence.names_beside(&earlier.sentence), NEW_NAME),
                (one.sentence.tells_change(), CHANGE),
                (one.sentence.is_denied() && !earlier.sentence.is_denied(), DENIAL),
                (one.is_of_user, OF_USER),
            ];
            let ahead: f64 = ahead.iter().filter(|(holds, _)| *holds).map(|(_, ahead)| ahead).sum();
            // Words of the earlier statement say most of what a sentence is about.
            let told = if shared > 0.0 { told } else { told * ASIDE };
            is_about.then_some(shared + TOLD * told + ahead)
        };
        let taken_back = self.sentences.iter().rposition(|one| says_again(&one.sentence, &earlier.sentence));
        let since = &self.sentences[taken_back.map_or(0, |back| back + 1)..];
        let stated = || since.iter().filter(|one| turns.contains(&one.turn) && one.states(&earlier.sentence));
        let is_about = |one: &SaidSentence| !one.terms.is_disjoint(&earlier.terms) || self.is_turn_about(one.turn, &earlier);
        // What ends in a colon says nothing without the lines below it.
        let is_whole = |one: &SaidSentence| !one.sentence.text.ends_with(':');
        let quoted =
            || stated().map(|one| (alike(&says, &one.terms), one)).filter(|(alike, one)| *alike >= QUOTED && is_whole(one));
        let proofs = stated().filter_map(|one| Some((worth(one)?, one))).filter(|(worth, _)| *worth >= MIN_WORTH);
        // Of equals the last one.
        let by_worth = |a: &(f64, &SaidSentence), b: &(f64, &SaidSentence)| a.0.total_cmp(&b.0);
        if let Some((_, about)) = quoted().filter(|(_, one)| is_about(one)).max_by(by_worth) {
            return Some(about);
        }
        // It shares no word with the earlier statement, and stands beside a proof: it may say better what holds.
        let (_, proof) = proofs.max_by(by_worth)?;
        Some(quoted().filter(|(_, one)| one.turn == proof.turn).max_by(by_worth).map_or(proof, |(_, one)| one))
    }

    /// Does a sentence of this turn say several words of the earlier statement? What the user asked for and what came of it are about the same.
    fn is_turn_about(&self, turn: usize, earlier: &EarlierSentence) -> bool {
        let mut of_turn = self.sentences.iter().filter(|one| one.turn == turn);
        of_turn.any(|one| one.terms.intersection(&earlier.terms).count() > 1)
    }
}

/// A statement that is held against a session.
struct EarlierSentence {
    sentence: Sentence,
    terms: BTreeSet<String>,
}

impl EarlierSentence {
    fn of(statement: &str) -> Self {
        Self { sentence: Sentence::of(statement.to_owned()), terms: terms(statement) }
    }
}

impl SaidSentence {
    /// Does it say that something is so, was done, or is to be so, and not that it is as it was?
    fn states(&self, earlier: &Sentence) -> bool {
        let text = &self.sentence.text;
        let says = !self.sentence.is_unsure && !self.sentence.names_line && !is_announcement(text) && !is_offer(text);
        let asks = self.is_of_user && self.sentence.asks_for_work();
        says && !asks
            && !self.sentence.is_of_another_place(earlier)
            && !self.says_it_stays(earlier)
            && !says_again(&self.sentence, earlier)
    }

    fn says_it_stays(&self, earlier: &Sentence) -> bool {
        let words = self.sentence.tokens.iter().filter(|token| token.is_word).map(|token| token.text.as_str());
        let Some(at) = words.clone().position(|word| STAYS.contains(&word)) else {
            return self.sentence.has_word("isn't") && self.sentence.has_word("affected");
        };
        at < FIRST_WORDS || !(self.sentence.tells_change() || self.sentence.names_beside(earlier))
    }
}

/// Does a sentence say what an earlier one says, in the same words or more?
fn says_again(later: &Sentence, earlier: &Sentence) -> bool {
    normalized(&later.text) == normalized(&earlier.text)
        || earlier.words().is_subset(later.words()) && later.is_denied() == earlier.is_denied() && !later.leaves_something()
}

/// How much of their words two sentences share, from 0 to 1.
fn alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    (covered_by(one, other) * covered_by(other, one)).sqrt()
}

/// The terms of a text without units: that both give seconds says nothing of what they are about.
fn terms(text: &str) -> BTreeSet<String> {
    let mut all = sentence::terms(text);
    all.retain(|word| !is_unit(word));
    all
}
