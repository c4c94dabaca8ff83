//! Turns ranked documents into results: checks required phrases, picks passages, and computes how much of the query each result holds.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use super::passages::{CandidateSentences, Passage, best_passages, plain_line};
use super::query::Query;
use super::rank::RankedHits;
use super::{HitSource, SearchHit, SearchOptions};
use crate::analyze::account::SessionAccount;
use crate::model::digest::{Digest, UNTITLED};
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::model::since_then::SinceThen;
use crate::search::weights::QueryWords;
use crate::store::Reader;
use crate::store::came_since::CameSince;
use crate::store::search::TextKind;
use crate::store::search::{DocumentHit, SessionText, TextScope};
use text::clean::{one_line, without_controls};
use text::phrase::folded;
use text::tokenize::words_of;

/// How many times better a score must be to count as clearly better.
const CLEARLY_BETTER: f64 = 1.2;

/// Makes the results of a search, in ranking order.
pub(super) struct ResultBuilder<'a> {
    store: &'a Reader,
    query: &'a Query,
    wanted: &'a SearchOptions<'a>,
    words: QueryWords,
    hits: Vec<DocumentHit>,
    /// Documents already checked, and whether each contains all required phrases.
    accepted: HashMap<i64, bool>,
    came_since: CameSince<'a>,
}

impl<'a> ResultBuilder<'a> {
    pub(crate) fn new(store: &'a Reader, query: &'a Query, wanted: &'a SearchOptions<'a>, ranked: RankedHits) -> Self {
        Self {
            store,
            query,
            wanted,
            words: ranked.words,
            hits: ranked.hits,
            accepted: HashMap::new(),
            came_since: CameSince::new(store),
        }
    }

    /// The results that were asked for: `limit` of them after `skip`.
    pub(crate) fn results(mut self) -> Result<Vec<SearchHit>> {
        let mut results = Vec::new();
        let mut skipped = 0;
        for hit in self.hits.clone() {
            if results.len() >= self.wanted.limit {
                break;
            }
            if !self.accepts(&hit)? || self.is_repeated(&hit)? {
                continue;
            }
            let Some(found) = self.shown(&hit)? else { continue };
            if skipped < self.wanted.skip {
                skipped += 1;
            } else {
                results.push(found);
            }
        }
        Ok(results)
    }

    /// Is it a result at all? The index ignores stop words, but a phrase must occur as it was typed.
    fn accepts(&mut self, hit: &DocumentHit) -> Result<bool> {
        if let Some(known) = self.accepted.get(&hit.doc) {
            return Ok(*known);
        }
        let accepted = self.holds_phrases(hit)?;
        self.accepted.insert(hit.doc, accepted);
        Ok(accepted)
    }

    /// Of near-duplicate sessions only the last is shown, unless this one scores clearly higher.
    fn is_repeated(&mut self, hit: &DocumentHit) -> Result<bool> {
        let Some(session) = hit.session else { return Ok(false) };
        let Some(later) = self.store.repeated_by(session)? else { return Ok(false) };
        let later = self.hits.iter().find(|other| other.session == Some(later)).cloned();
        Ok(match later {
            Some(later) => hit.score < later.score * CLEARLY_BETTER && self.accepts(&later)?,
            None => false,
        })
    }

    fn holds_phrases(&self, hit: &DocumentHit) -> Result<bool> {
        if self.query.phrases.is_empty() {
            return Ok(true);
        }
        let Some(origin) = self.origin(hit)? else { return Ok(false) };
        let Some(shown) = self.kinds(&origin)? else { return Ok(false) };
        let mut missing: Vec<String> = self.query.phrases.iter().map(|phrase| fold(phrase)).collect();
        self.each_text(&origin, TextScope::All, |text| {
            if !missing.is_empty() && (shown.kinds.is_empty() || shown.may_show(text.kind)) {
                let folded = fold(&text.text);
                missing.retain(|phrase| !folded.contains(phrase));
            }
        })?;
        Ok(missing.is_empty())
    }

    fn origin(&self, hit: &DocumentHit) -> Result<Option<HitSource>> {
        Ok(match (hit.session, hit.note, hit.memory_file) {
            (Some(session), ..) => Some(HitSource::Session(self.store.session_head(session)?)),
            (None, Some(note), _) => Some(HitSource::Note(self.store.note(note)?)),
            (None, None, Some(file)) => Some(HitSource::MemoryFile(self.store.memory_file(file)?)),
            (None, None, None) => None,
        })
    }

    /// The result, or `None` if it holds nothing of the requested kinds.
    fn shown(&self, hit: &DocumentHit) -> Result<Option<SearchHit>> {
        let Some(origin) = self.origin(hit)? else { return Ok(None) };
        let Some(shown) = self.kinds(&origin)? else { return Ok(None) };
        let of_deeds = !self.query.phrases.is_empty() || self.query.filters.kinds.iter().any(|kind| kind.matches_actions_only());
        let extent = if of_deeds { TextScope::All } else { TextScope::Conversation(self.wanted.reads) };
        let (mut held, mut told) = (BTreeSet::new(), BTreeSet::new());
        let mut candidates = CandidateSentences::default();
        let mut first = FirstTexts::default();
        self.each_text(&origin, extent, |text| {
            let spots = self.words.highlighter.word_matches(&text.text);
            held.extend(spots.iter().map(|spot| spot.word));
            if text.kind == TextKind::Title {
                told.extend(spots.iter().map(|spot| spot.word));
            }
            if shown.may_show(text.kind) {
                candidates.add(&text, spots);
            }
            first.note(text, |text| shown.may_show(text.kind));
        })?;
        let (title, goes_on) = self.title(&origin, &first)?;
        let mut passages = best_passages(candidates, &self.words.weights, self.wanted.passages, &title, &mut told);
        if passages.is_empty() {
            if !shown.kinds.is_empty() && (self.query.has_words() || first.to_show.is_none()) {
                return Ok(None);
            }
            // Found by its files or by semantic similarity.
            passages.extend(first.to_show.as_ref().filter(|_| self.wanted.passages > 0).map(passage));
        }
        self.words.add_joined(&mut told);
        let since_then = self.since_then(&origin, &passages)?;
        Ok(Some(SearchHit {
            title,
            goes_on,
            without_claims: shown.without_claims,
            score: hit.score,
            covered: self.covered(&held, hit.doc)?,
            focus: self.words.share(&told),
            telling: self.words.distinctiveness(&told),
            passages,
            since_then,
            origin,
        }))
    }

    /// What came since of what the passages still say.
    fn since_then(&self, origin: &HitSource, passages: &[Passage]) -> Result<Vec<SinceThen>> {
        match origin {
            HitSource::Session(head) => self.came_since.of_session(head, passages.iter().map(|one| one.text.as_str())),
            HitSource::Note(note) => self.came_since.of_note(note),
            HitSource::MemoryFile(_) => Ok(Vec::new()),
        }
    }

    /// The statements of a digest, without open items that are closed: nobody is told of these as open.
    fn statements(&self, head: &SessionHead, digest: &Digest, extent: TextScope) -> Result<Vec<SessionText>> {
        let mut all = statements(digest, extent);
        if digest.open_items(&head.id).next().is_some() {
            let items = self.store.item_states(head.pk)?;
            let closed = digest.open_items(&head.id).filter(|(own, ..)| items.is_closed(own));
            let closed: Vec<&str> = closed.map(|(.., claim)| claim.text.as_str()).collect();
            let is_open_kind = |kind: TextKind| matches!(kind, TextKind::Claim(section) if section.spec().is_open);
            all.retain(|text| !(is_open_kind(text.kind) && closed.contains(&text.text.as_str())));
        }
        Ok(all)
    }

    /// The kinds that its passages may be of; `None` for a note of none of them, and for a session without claims where all claims are asked
    /// for: of what the user said, words have to choose.
    fn kinds(&self, origin: &HitSource) -> Result<Option<ShownKinds>> {
        let asked = &self.query.filters.kinds;
        let mut shown = ShownKinds::default();
        let tags = &self.query.filters.tags;
        match origin {
            HitSource::Note(note) if !tags.iter().all(|tag| note.has_tag(tag)) => return Ok(None),
            HitSource::MemoryFile(_) | HitSource::Session(_) if !tags.is_empty() => return Ok(None),
            HitSource::Note(_) if asked.is_empty() => {}
            HitSource::Note(note) if asked.iter().any(|kind| kind.takes_note(&note.kind)) => {
                shown.kinds.insert(TextKind::Note);
            }
            HitSource::MemoryFile(_) if asked.is_empty() || asked.iter().any(|kind| kind.said() == [TextKind::Memory]) => {
                shown.kinds.insert(TextKind::Memory);
            }
            HitSource::Note(_) | HitSource::MemoryFile(_) => return Ok(None),
            HitSource::Session(head) => {
                shown.kinds.extend(asked.iter().flat_map(|kind| kind.said()));
                if asked.iter().any(|kind| kind.is_claimed()) && !self.store.has_claims(head.pk)? {
                    if self.query.lists_claims() {
                        return Ok(None);
                    }
                    shown.without_claims = true;
                    shown.kinds.insert(TextKind::Prompt);
                }
            }
        }
        Ok(Some(shown))
    }

    /// Passes each text that may be shown to `each`, the digest's statements first.
    fn each_text(&self, origin: &HitSource, extent: TextScope, mut each: impl FnMut(SessionText)) -> Result<()> {
        let head: &SessionHead = match origin {
            HitSource::Note(note) => {
                each(SessionText { kind: TextKind::Note, text: note.text.clone(), at: Some(note.at) });
                return Ok(());
            }
            HitSource::MemoryFile(file) => {
                let (about, body) = file.parts();
                let texts = about.into_iter().chain([body]).filter(|text| !text.is_empty());
                texts.for_each(|text| each(SessionText { kind: TextKind::Memory, text: text.to_owned(), at: Some(file.at) }));
                return Ok(());
            }
            HitSource::Session(head) => head,
        };
        if let Some(stored) = self.store.digest_of(head.pk)? {
            self.statements(head, &stored.digest, extent)?.into_iter().for_each(&mut each);
            if !stored.is_by_model()
                && let Some(account) = self.store.account_of(head.pk)?
            {
                made(&account).for_each(&mut each);
            }
        }
        self.store.each_text(head, extent, each)
    }

    fn title(&self, origin: &HitSource, first: &FirstTexts) -> Result<(String, bool)> {
        if let HitSource::MemoryFile(file) = origin {
            return Ok((file.title(), false));
        }
        let HitSource::Session(head) = origin else {
            return Ok((first.of_all.as_ref().map(|text| one_line(&without_controls(&text.text))).unwrap_or_default(), false));
        };
        let titled = first.title.as_ref().or(first.prompt.as_ref()).or(first.of_all.as_ref());
        let title = titled.map_or_else(|| UNTITLED.to_owned(), |text| plain_line(&text.text));
        Ok((title, self.store.goes_on(head.pk)?))
    }

    /// The share of the query's words, by weight, that it holds: in its texts, or in its files, commands and names.
    fn covered(&self, held: &BTreeSet<usize>, doc: i64) -> Result<f64> {
        let words = &self.words.weighed;
        let total: f64 = words.iter().map(|word| word.weight).sum();
        let mut sum = 0.0;
        for (at, word) in words.iter().enumerate() {
            if held.contains(&at) || word.df > 0 && !self.wanted.telling_only && self.store.holds(doc, &word.expression)? {
                sum += word.weight;
            }
        }
        Ok(if total > 0.0 { sum / total } else { 0.0 })
    }
}

/// The kinds that passages of a result may be of.
#[derive(Default)]
struct ShownKinds {
    /// Any kind but the title if empty.
    kinds: BTreeSet<TextKind>,
    /// A kind of claims was asked for, and no model made any.
    without_claims: bool,
}

impl ShownKinds {
    fn may_show(&self, kind: TextKind) -> bool {
        if self.kinds.is_empty() { kind != TextKind::Title } else { self.kinds.contains(&kind) }
    }
}

/// The first text of each sort, as fallbacks for title and passage.
#[derive(Default)]
struct FirstTexts {
    of_all: Option<SessionText>,
    title: Option<SessionText>,
    prompt: Option<SessionText>,
    to_show: Option<SessionText>,
}

impl FirstTexts {
    fn note(&mut self, text: SessionText, may_show: impl Fn(&SessionText) -> bool) {
        let places = [
            (true, &mut self.of_all),
            (text.kind == TextKind::Title, &mut self.title),
            (text.kind == TextKind::Prompt, &mut self.prompt),
        ];
        for (_, place) in places.into_iter().filter(|(fits, place)| *fits && place.is_none()) {
            *place = Some(text.clone());
        }
        if self.to_show.is_none() && may_show(&text) {
            self.to_show = Some(text);
        }
    }
}

/// Its words without regard to case, with exactly one space between them.
fn fold(text: &str) -> String {
    words_of(text).map(folded).collect::<Vec<_>>().join(" ")
}

fn passage(text: &SessionText) -> Passage {
    Passage { kind: text.kind, text: plain_line(&text.text), at: text.at }
}

/// What came of a session, as git and `gh` told: commits that stand, pull requests.
fn made(account: &SessionAccount) -> impl Iterator<Item = SessionText> {
    let commits = account.commits.iter().map(|commit| (&commit.subject, commit.at));
    let requests = account.pull_requests.iter().filter(|pr| pr.made).map(|pr| (&pr.title, pr.at));
    let all = commits.chain(requests).filter(|(text, _)| !text.is_empty());
    all.map(|(text, at)| SessionText { kind: TextKind::Made, text: text.clone(), at })
}

/// The title and the statements of a digest; also the request and what else the session's own rows say, where all is asked for.
fn statements(digest: &Digest, extent: TextScope) -> Vec<SessionText> {
    let all = extent == TextScope::All;
    let told = |section: Section| match section {
        Section::Files => all.then_some(TextKind::File),
        _ => (section.spec().kind.is_some() && (all || !section.spec().repeats_rows)).then_some(TextKind::Claim(section)),
    };
    let claims = digest.findable().filter_map(|(section, claim)| Some((told(section)?, &claim.text)));
    let request = all.then_some((TextKind::Prompt, &digest.request));
    let all = std::iter::once((TextKind::Title, &digest.title)).chain(claims).chain(request);
    all.map(|(kind, text)| SessionText { kind, text: text.clone(), at: None }).collect()
}
