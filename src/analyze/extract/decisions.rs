//! What was decided, and in whose words: the user's answers and corrections, approved plans, the assistant's choices.

use super::claim;
use super::statements::{MAX_STATEMENT_CHARS, SeenStatements, Statement, pick_claims};
use crate::analyze::prose::{own_words, unquoted};
use crate::analyze::signal::{REFUSED, SentenceTopic};
use crate::model::digest::Claim;
use crate::model::session::{Entry, Item, Session, title_of_plan};
use crate::text::clean::{one_line, shorten};
use crate::text::tokenize::distinctive_words;

/// A correction with fewer distinctive words makes no sense on its own.
const MIN_WORDS: usize = 3;

pub(super) fn decisions(session: &Session, pool: &[Statement], seen: &mut SeenStatements) -> Vec<Claim> {
    let mut all = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        match &entry.item {
            Item::Answer(answer) if entry.is_main() => {
                all.push(claim(format!("User: {}", answer.told(MAX_STATEMENT_CHARS)), entry));
            }
            Item::Plan(text) if was_approved(session, at) => all.push(plan("Plan approved", text, entry)),
            _ => {}
        }
    }
    all.extend(corrections(session));
    // After everything that was agreed: a refused plan is often proposed again with few changes.
    all.extend(refused(session));
    all.retain(|c| seen.is_new(&c.text));
    all.truncate(12);
    all.extend(pick_claims(pool, seen, 7, |s| !s.offer && !s.announces && s.about(SentenceTopic::Decision) && s.weight > 0.5));
    all
}

fn plan(label: &str, text: &str, entry: &Entry) -> Claim {
    claim(format!("{label}: {}", shorten(&one_line(title_of_plan(text)), 160)), entry)
}

/// Plans that the user turned down.
fn refused(session: &Session) -> Vec<Claim> {
    let by_user = |entry: &&Entry| entry.is_main() && entry.outcome.as_ref().is_some_and(|outcome| outcome.brief == REFUSED);
    let heading = |entry: &Entry| match &entry.item {
        Item::Plan(text) => Some(plan("Refused", text, entry)),
        _ => None,
    };
    session.entries.iter().filter(by_user).filter_map(heading).collect()
}

/// Was a plan approved: by its outcome, or because the work continued, where older clients and indexes record none?
fn was_approved(session: &Session, at: usize) -> bool {
    let plan = &session.entries[at];
    let is_own_use = |entry: &&Entry| entry.key == plan.key && matches!(entry.item, Item::Tool(_));
    let after = || session.entries[at + 1..].iter().filter(|entry| entry.is_main()).find(|entry| !is_own_use(entry));
    plan.is_main()
        && match &plan.outcome {
            Some(outcome) => outcome.ok,
            None => {
                after().is_some_and(|next| matches!(next.item, Item::Tool(_) | Item::Reply(_) | Item::Todos(_) | Item::Task(_)))
            }
        }
}

/// Short prompts after the first with which the user redirected the work.
fn corrections(session: &Session) -> Vec<Claim> {
    const STEERING: [&str; 22] = [
        " no,", " no ", " not ", " don't", " dont ", " do not", " instead", " rather", " revert", " undo", " keep ", " let's ",
        " lets ", " use ", " never ", " always ", " only ", " remove", " change ", " without", " should ", " must ",
    ];
    // A question asks for an answer; "can you …?" asks for an action.
    const ASKING: [&str; 14] = [
        " should it ", " should i ", " what ", " why ", " how ", " is ", " are ", " does ", " do you", " did ", " which ",
        " where ", " i wonder", " was ",
    ];
    let steers = |text: &str| {
        let lower = format!(" {} ", one_line(text).to_lowercase());
        let asks = text.trim_end().ends_with('?') && ASKING.iter().any(|mark| lower.starts_with(mark));
        // "Commit it" is not a choice that anyone asks about later.
        !asks && distinctive_words(text).len() >= MIN_WORDS && STEERING.iter().any(|mark| lower.contains(mark))
    };
    // Quotations in a prompt redirect nothing.
    let short = session.prompts().skip(1).filter(|(_, text)| (8..320).contains(&text.chars().count()));
    let said = short.map(|(entry, text)| (entry, own_words(text)));
    said.filter(|(_, text)| steers(&unquoted(text)))
        .map(|(entry, text)| claim(format!("User: {}", shorten(&one_line(&text), 200)), entry))
        .collect()
}
