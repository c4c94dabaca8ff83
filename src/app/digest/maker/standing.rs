//! What was said in earlier sessions of a project, for a model that says whether a session overtakes it.
//!
//! ## Cost
//! Sessions are found in the index of words, by rare words of the session; only the best of them are read.

use std::collections::HashMap;

use anyhow::Result;

use super::DigestMaker;
use crate::analyze::account::{Turn, all_turns};
use crate::analyze::denied::DeniedStatement;
use crate::analyze::overtaken::{EarlierText, OfferedStatement, offered};
use crate::model::note::NoteKind;
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use crate::store::search::FtsQuery;
use text::tokenize::{is_stop_word, words_of};
use transcripts::session::{Item, Millis, Session};

/// The most earlier sessions that are read, and the newest notes.
const MAX_SESSIONS: usize = 8;
const MAX_NOTES: usize = 50;
/// The most texts of one, the last ones; a longer prompt may be pasted for the most part, in bytes.
const MAX_TEXTS: usize = 40;
const MAX_TYPED_BYTES: usize = 2_000;
/// The most words of a session that are looked up, and that are searched for: the rarest, as long as no more documents hold them.
const MAX_LOOKED_UP: usize = 96;
const MAX_WORDS: usize = 40;
const MAX_MATCHES: u64 = 4_000;
/// A word that more documents hold says little, and takes time to search for: a share of all, and the bounds of their number.
const COMMON_SHARE: u64 = 10;
const COMMON: (u64, u64) = (50, 2_000);
/// Shorter words say little, in characters.
const MIN_WORD_CHARS: usize = 3;

impl DigestMaker<'_> {
    /// Sentences of earlier sessions and of notes that a session may overtake, the best first: as they stood when it began.
    pub(super) fn standing_statements(
        &self,
        store: &Reader,
        head: &SessionHead,
        session: &Session,
    ) -> Result<Vec<OfferedStatement>> {
        let Some(began) = session.began_at() else { return Ok(Vec::new()) };
        let about = self.sessions_about(store, head, session, began)?;
        let (mut earlier, mut denied) = (Vec::new(), HashMap::new());
        for known in &about {
            denied.insert(known.id.clone(), store.denied_of(known.pk)?);
            earlier.extend(said_in(&turns_of(store, known)?, known, began));
        }
        let mut notes = store.notes_for(&head.project.key)?;
        notes.retain(|note| note.kind != NoteKind::Todo.name() && note.project == head.project && note.at < began);
        notes.sort_by_key(|note| std::cmp::Reverse(note.at));
        notes.truncate(MAX_NOTES);
        earlier.extend(notes.into_iter().map(|note| EarlierText { place: note.id, at: note.at, text: note.text }));
        // What overtook it when the session began is known; what the session itself overtakes is asked again.
        let sessions: Vec<i64> = about.iter().map(|known| known.pk).collect();
        let overtaken = store.overtaken_before(&head.project.key, &sessions, began)?;
        let is_denied = |place: &str, text: &str| {
            denied.get(place).is_some_and(|denied: &Vec<DeniedStatement>| denied.iter().any(|one| one.is_said_by("", text)))
        };
        Ok(offered(session, &earlier, |place, text| {
            overtaken.contains(&(place.to_owned(), text.to_owned())) || is_denied(place, text)
        }))
    }

    /// Sessions that began before this one and share rare words with it, the best first; those of the last days in any case.
    fn sessions_about(&self, store: &Reader, head: &SessionHead, session: &Session, began: Millis) -> Result<Vec<SessionHead>> {
        let mut found = store.earlier_sessions(head)?;
        let words = rare_words(store, session)?;
        if let Some(project) = store.project_pk(&head.project.key)?
            && !words.is_empty()
        {
            let query = FtsQuery { any: words, projects: Some(vec![project]), before: Some(began), ..FtsQuery::default() };
            for hit in store.ask(&query, MAX_SESSIONS)? {
                if let Some(pk) = hit.session.filter(|pk| *pk != head.pk && found.iter().all(|known| known.pk != *pk)) {
                    found.push(store.session_head(pk)?);
                }
            }
        }
        let mut shown = Vec::new();
        for earlier in found {
            if self.config.sources.may_show_model(earlier.client) && !self.is_isolated_from(store, &earlier, head)? {
                shown.push(earlier);
            }
        }
        Ok(shown)
    }
}

/// Words of a session that few documents hold, as FTS5 phrases.
fn rare_words(store: &Reader, session: &Session) -> Result<Vec<String>> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let texts = session.entries.iter().filter(|entry| entry.is_main()).filter_map(|entry| match &entry.item {
        Item::Prompt(text) | Item::Reply(text) => Some(text.as_str()),
        Item::Answer(answer) => Some(answer.said.as_str()),
        _ => None,
    });
    for word in texts.flat_map(words_of).map(str::to_lowercase) {
        if word.chars().count() >= MIN_WORD_CHARS && !is_stop_word(&word) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut words: Vec<(String, usize)> = counts.into_iter().collect();
    words.sort_by(|(a, a_times), (b, b_times)| b_times.cmp(a_times).then(a.cmp(b)));
    let most = (store.document_count()? / COMMON_SHARE).clamp(COMMON.0, COMMON.1);
    let mut rare: Vec<(u64, String)> = Vec::new();
    for (word, _) in words.into_iter().take(MAX_LOOKED_UP) {
        let phrase = format!("\"{word}\"");
        let holding = store.count_documents(&phrase, most + 1)?;
        // A word of this session alone finds nothing.
        if (2..=most).contains(&holding) {
            rare.push((holding, phrase));
        }
    }
    rare.sort();
    let mut matches = 0;
    let few = rare.into_iter().take(MAX_WORDS).take_while(|(holding, _)| {
        matches += holding;
        matches <= MAX_MATCHES
    });
    Ok(few.map(|(_, phrase)| phrase).collect())
}

/// The turns of an earlier session, as its account has them where there is one.
fn turns_of(store: &Reader, head: &SessionHead) -> Result<Vec<Turn>> {
    match store.account_of(head.pk)? {
        Some(account) => Ok(account.turns),
        None => Ok(all_turns(&store.load_session(head)?)),
    }
}

/// What the user said in these turns before a time, and the replies that closed them: the last of it.
fn said_in(turns: &[Turn], head: &SessionHead, until: Millis) -> Vec<EarlierText> {
    let mut all = Vec::new();
    let mut add = |at: Option<Millis>, text: &str| {
        let at = at.filter(|at| *at < until);
        all.extend(at.map(|at| EarlierText { place: head.id.clone(), at, text: text.to_owned() }));
    };
    for turn in turns {
        let typed = turn.words.iter().filter(|word| word.text.len() <= MAX_TYPED_BYTES);
        typed.for_each(|word| add(word.at.or(turn.at), &word.text));
        if let Some(reply) = turn.reply.as_ref().filter(|reply| !reply.cut_off) {
            add(reply.at.or(turn.at), &reply.text);
        }
    }
    all.split_off(all.len().saturating_sub(MAX_TEXTS))
}
