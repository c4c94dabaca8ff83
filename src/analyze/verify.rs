//! Checks a digest against its session: the files it names, and the entries behind its claims.
//!
//! This is the only module that decides whether an entry may carry a claim of a section. Tool output, and what someone in the
//! conversation merely quotes, does not carry a decision or a next step; a claim attributed to the user needs words of the user.

use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::account::SessionAccount;
use crate::analyze::prose::{others_words, own_words, unquoted};
use crate::analyze::without_model::{UNANSWERED, request};
use crate::model::digest::{Claim, Digest, UNTITLED};
use crate::model::section::{Carriers, Section};
use crate::model::session::{Answer, Entry, Item, RecordKey, Session, ToolUse};
use crate::text::clean::one_line;
use crate::text::tokenize::{covered_by, distinctive_words};

/// An entry supports a claim if it holds at least this share of the claim's distinctive words.
const MIN_SUPPORT: f64 = 0.34;
/// An entry that was not cited as evidence must hold this share.
const MIN_FOUND_SUPPORT: f64 = 0.6;
/// A claim of at least `MIN_ECHO_WORDS` distinctive words merely echoes an output that holds this share of them. The share is higher for
/// a next step, which names what failed and adds little.
const MIN_ECHO_WORDS: usize = 3;
const DECISION_ECHO_SHARE: f64 = 0.8;
const NEXT_ECHO_SHARE: f64 = 0.9;
const MAX_ROWS: usize = 3;

/// Marks files the session supports, drops cited entries that cannot carry their claim, and searches for one where none is left.
/// Claims that only a tool's output or a quotation states are removed, and so are those falsely attributed to the user.
pub fn verify(digest: &mut Digest, session: &Session) {
    let said = EntryWords::of(session);
    // Lazy, because most files were touched and their mention need not be looked up.
    let mentioned = LazyCell::new(|| mentioned_names(session));
    for section in Section::all() {
        let claims = &mut digest[section];
        match section.spec().carriers {
            Carriers::Speakers | Carriers::SpeakersAndTools => claims.retain_mut(|claim| said.find_support(section, claim)),
            Carriers::Mentions => claims.iter_mut().for_each(|file| file.rows = naming(session, &file.text, || &mentioned)),
            Carriers::Unchecked => claims.iter_mut().for_each(|claim| said.drop_user_label(&mut claim.text)),
        }
    }
}

/// Replaces a request or a title that a model took from tool output by the user's own words: both are presented as what the user
/// asked.
pub(crate) fn restore_user_words(digest: &mut Digest, session: &Session) {
    let said = EntryWords::of(session);
    if said.is_others_text(&digest.request) {
        digest.request = request(session);
    }
    if said.is_others_text(&digest.title) {
        digest.title = SessionAccount::of(session, false).title.text().unwrap_or_else(|| UNTITLED.to_owned());
    }
}

/// Whose words an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    /// The user: a prompt or an answer of the main conversation.
    User,
    /// The assistant and its subagents (words, plans, lists, tool uses) and the client's summaries, which a model wrote.
    Assistant,
    /// The output of a tool.
    Output,
    /// Someone whom a participant quotes.
    Quoted,
}

/// May words of this speaker carry a claim of this section? `of_user`: the claim is attributed to the user.
fn accepts(section: Section, speaker: Speaker, of_user: bool) -> bool {
    match speaker {
        Speaker::User => true,
        Speaker::Assistant => !of_user,
        Speaker::Output => section.spec().carriers == Carriers::SpeakersAndTools && !of_user,
        Speaker::Quoted => false,
    }
}

/// How a claim is attributed to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UserAttribution {
    Unattributed,
    /// By a label of this many bytes: "User: ".
    Label(usize),
    /// In its own words: "The user wants …".
    Sentence,
}

/// The distinctive words of each entry by speaker, computed on demand: most claims cite the entries behind them.
struct EntryWords<'s> {
    entries: &'s [Entry],
    words: Vec<OnceCell<BTreeSet<String>>>,
    outputs: Vec<OnceCell<BTreeSet<String>>>,
    quoted: Vec<OnceCell<BTreeSet<String>>>,
}

impl<'s> EntryWords<'s> {
    fn of(session: &'s Session) -> Self {
        let empty = || vec![OnceCell::new(); session.entries.len()];
        Self { entries: &session.entries, words: empty(), outputs: empty(), quoted: empty() }
    }

    /// The words a speaker says in an entry; `None` if the entry has another speaker.
    fn words_of(&self, at: usize, speaker: Speaker) -> Option<&BTreeSet<String>> {
        let entry = &self.entries[at];
        match speaker {
            Speaker::Output => {
                let brief = entry.outcome.as_ref().map(|outcome| outcome.brief.as_str()).filter(|brief| !brief.is_empty())?;
                Some(self.outputs[at].get_or_init(|| distinctive_words(brief)))
            }
            Speaker::Quoted => {
                let text = prose_of(entry)?;
                Some(self.quoted[at].get_or_init(|| distinctive_words(&others_words(text))))
            }
            _ => (speaker_of(entry)? == speaker).then(|| self.words[at].get_or_init(|| distinctive_words(&said_by(entry)))),
        }
    }

    /// The largest share of a claim's words that an entry holds, among speakers who may carry the claim.
    fn share(&self, section: Section, of_user: bool, wanted: &BTreeSet<String>, at: usize) -> f64 {
        let speakers = [Speaker::User, Speaker::Assistant, Speaker::Output].into_iter().filter(|s| accepts(section, *s, of_user));
        let shares = speakers.filter_map(|speaker| self.words_of(at, speaker)).map(|words| covered_by(wanted, words));
        let best = shares.fold(0.0, f64::max);
        // An output repeated verbatim is still the tool's statement.
        let may_echo =
            best >= MIN_SUPPORT && section != Section::Blockers && speaker_of(&self.entries[at]) == Some(Speaker::Assistant);
        let share = if section == Section::Decisions { DECISION_ECHO_SHARE } else { NEXT_ECHO_SHARE };
        if may_echo && self.is_echo(wanted, at, share) { 0.0 } else { best }
    }

    /// Does a claim only repeat what a tool printed earlier, and what no one had said before that?
    fn is_echo(&self, wanted: &BTreeSet<String>, at: usize, share: f64) -> bool {
        let holds = |at: usize, speaker| self.words_of(at, speaker).is_some_and(|words| covered_by(wanted, words) >= share);
        let printed = || (0..at).find(|at| holds(*at, Speaker::Output));
        // A commit's output repeats its message, which is part of its command.
        let said = |until: usize| (0..=until).any(|at| holds(at, Speaker::User) || holds(at, Speaker::Assistant));
        wanted.len() >= MIN_ECHO_WORDS && printed().is_some_and(|at| !said(at))
    }

    /// Sets the entries that carry a claim. Returns false if the claim must be dropped.
    fn find_support(&self, section: Section, claim: &mut Claim) -> bool {
        let of_user = user_attribution(&claim.text);
        if of_user != UserAttribution::Unattributed {
            if self.find_rows(section, claim, of_user) {
                return true;
            }
            // Without words of the user, a label is dropped and the rest stands on its own; a sentence that names the user cannot
            // be repaired.
            let UserAttribution::Label(label) = of_user else { return false };
            claim.text = claim.text[label..].trim_start().to_owned();
            if user_attribution(&claim.text) != UserAttribution::Unattributed || claim.text.is_empty() {
                return false;
            }
        }
        self.find_rows(section, claim, UserAttribution::Unattributed) || !self.is_hearsay(claim)
    }

    /// Finds the entries that carry a claim: those of the cited ones that do, or else the best match in the session.
    fn find_rows(&self, section: Section, claim: &mut Claim, of_user: UserAttribution) -> bool {
        let wanted = claim_words(&claim.text, of_user);
        let text = one_line(label_free(&claim.text, of_user));
        let share = |at: usize| match is_answer(&self.entries[at], &text) {
            true => 1.0,
            false => self.share(section, of_user != UserAttribution::Unattributed, &wanted, at),
        };
        let is_cited = |key: &RecordKey| (0..self.entries.len()).any(|at| self.entries[at].key == *key && share(at) >= MIN_SUPPORT);
        let mut rows: Vec<RecordKey> = claim.rows.iter().copied().filter(is_cited).collect();
        rows.dedup();
        rows.truncate(MAX_ROWS);
        if rows.is_empty() {
            // A report of the user's wish seldom uses the user's own words, so the lower threshold applies.
            let least = if of_user == UserAttribution::Sentence { MIN_SUPPORT } else { MIN_FOUND_SUPPORT };
            // Of equal matches the last one: what was said last holds.
            let best = (0..self.entries.len()).map(|at| (share(at), at)).max_by(|a, b| a.0.total_cmp(&b.0));
            rows.extend(best.filter(|(share, _)| *share >= least).map(|(_, at)| self.entries[at].key));
        }
        let carried = !rows.is_empty();
        if carried || of_user == UserAttribution::Unattributed {
            claim.rows = rows;
        }
        carried
    }

    /// Is a claim that no speaker's words carry taken from tool output or from a quotation?
    fn is_hearsay(&self, claim: &Claim) -> bool {
        self.hearsay_share(&distinctive_words(&claim.text)) >= MIN_FOUND_SUPPORT
    }

    /// The largest share of these words that a single output or quotation holds.
    fn hearsay_share(&self, wanted: &BTreeSet<String>) -> f64 {
        let of = |speaker| (0..self.entries.len()).filter_map(move |at| self.words_of(at, speaker));
        of(Speaker::Output).chain(of(Speaker::Quoted)).map(|said| covered_by(wanted, said)).fold(0.0, f64::max)
    }

    /// Does a text presented as the user's request come from tool output or a quotation, with little of it said by the user?
    fn is_others_text(&self, text: &str) -> bool {
        let wanted = distinctive_words(text);
        let asked = (0..self.entries.len()).filter_map(|at| self.words_of(at, Speaker::User));
        let asked: BTreeSet<String> = asked.flatten().filter(|word| wanted.contains(*word)).cloned().collect();
        covered_by(&wanted, &asked) < MIN_SUPPORT && self.hearsay_share(&wanted) >= MIN_FOUND_SUPPORT
    }

    /// Removes the label that attributes a statement to the user if no words of the user carry it.
    fn drop_user_label(&self, text: &mut String) {
        let UserAttribution::Label(label) = user_attribution(text) else { return };
        let wanted = claim_words(text, UserAttribution::Label(label));
        let said = (0..self.entries.len()).filter_map(|at| self.words_of(at, Speaker::User));
        if !said.into_iter().any(|said| covered_by(&wanted, said) >= MIN_FOUND_SUPPORT) {
            *text = text[label..].trim_start().to_owned();
        }
    }
}

/// A text without the label that attributes it to the user.
fn label_free(text: &str, of_user: UserAttribution) -> &str {
    match of_user {
        UserAttribution::Label(label) => &text[label..],
        _ => text,
    }
}

/// Is a text an answer of the user, verbatim, with or without its question?
fn is_answer(entry: &Entry, text: &str) -> bool {
    let Item::Answer(answer) = &entry.item else { return false };
    entry.is_main() && !answer.said.trim().is_empty() && (text == one_line(&answer.said) || answer.matches_line(text))
}

/// The words of a claim that an entry has to hold, without those that only say who said it.
fn claim_words(text: &str, of_user: UserAttribution) -> BTreeSet<String> {
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

/// How does a text attribute itself to the user?
fn user_attribution(text: &str) -> UserAttribution {
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
    let told = TOLD_FIRST.iter().any(|start| lower.starts_with(start)) || TOLD.iter().any(|phrase| lower.contains(phrase));
    if told { UserAttribution::Sentence } else { UserAttribution::Unattributed }
}

/// Whose words an entry holds, apart from tool output.
fn speaker_of(entry: &Entry) -> Option<Speaker> {
    match &entry.item {
        Item::Prompt(_) | Item::Answer(_) if entry.is_main() => Some(Speaker::User),
        // A refused plan binds no one.
        Item::Plan(_) if entry.is_refused_plan() => None,
        Item::Prompt(_) | Item::Answer(_) | Item::Outcome(_) | Item::Title(_) | Item::PullRequest(_) | Item::Interrupted => None,
        Item::Evidence(_) => None,
        Item::Reply(_) | Item::Plan(_) | Item::Recap(_) | Item::Away(_) | Item::Tool(_) | Item::Todos(_) | Item::Task(_) => {
            Some(Speaker::Assistant)
        }
    }
}

/// The text of an entry that is prose and may quote others.
fn prose_of(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) => Some(text),
        _ => None,
    }
}

/// What the entry's speaker says, without quotations and tool output.
fn said_by(entry: &Entry) -> String {
    match (&entry.item, prose_of(entry)) {
        (_, Some(text)) => own_words(text).lines().map(unquoted).collect::<Vec<_>>().join("\n"),
        (Item::Tool(tool), _) => {
            let path = tool.file.as_ref().map_or("", |f| f.path.as_str());
            format!("{} {} {path}", tool.name, tool.line)
        }
        // The question is the assistant's.
        (Item::Answer(answer), _) => answer.said.clone(),
        _ => text_of(entry),
    }
}

/// All text of an entry.
fn text_of(entry: &Entry) -> String {
    match &entry.item {
        Item::Answer(answer) => answer.whole(),
        Item::Prompt(t) | Item::Reply(t) | Item::Plan(t) | Item::Recap(t) | Item::Away(t) | Item::PullRequest(t) => t.clone(),
        Item::Tool(tool) => {
            let path = tool.file.as_ref().map_or("", |f| f.path.as_str());
            let brief = entry.outcome.as_ref().map_or("", |o| o.brief.as_str());
            format!("{} {} {path} {brief}", tool.name, tool.line)
        }
        Item::Todos(todos) => todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("\n"),
        Item::Task(todo) => todo.text.clone(),
        Item::Title(title) => title.text.clone(),
        Item::Outcome(_) | Item::Interrupted | Item::Evidence(_) => String::new(),
    }
}

/// The entry that touched a file, else one that names it.
fn naming<'m>(session: &Session, path: &str, mentioned: impl FnOnce() -> &'m BTreeMap<String, RecordKey>) -> Vec<RecordKey> {
    let touched = session.entries.iter().find(|entry| touches(entry, path)).map(|entry| entry.key);
    touched.or_else(|| mention(path, mentioned())).into_iter().collect()
}

/// `src/a.rs` matches `/home/me/repo/src/a.rs`, but not `/home/me/repo/lib/src/aa.rs`.
fn touches(entry: &Entry, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    let Item::Tool(ToolUse { file: Some(file), .. }) = &entry.item else { return false };
    file.path == path || file.path.strip_suffix(path).is_some_and(|before| before.ends_with('/'))
}

/// Every word of the session that looks like a file name, with the first entry that holds it, without surrounding punctuation. The dot of `.env` is part of the name.
fn mentioned_names(session: &Session) -> BTreeMap<String, RecordKey> {
    let mut names = BTreeMap::new();
    for entry in &session.entries {
        for word in text_of(entry).split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|=".contains(c)) {
            let word = word.trim_start_matches(['*', '!', '?', ':', '@']).trim_end_matches(['.', ':', '*', '!', '?']);
            let word = word.trim_start_matches("./");
            let word = word.split_once(':').map_or(word, |(path, _)| path);
            // A leading ellipsis ("…and so on") names no file.
            let bare = if word.starts_with("..") && !word.starts_with("../") { word.trim_start_matches('.') } else { word };
            if bare.contains('.') || bare.contains('/') {
                names.entry(bare.to_owned()).or_insert(entry.key);
            }
        }
    }
    names
}

fn mention(path: &str, names: &BTreeMap<String, RecordKey>) -> Option<RecordKey> {
    let path = path.trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    // A bare name matches its file; a path must match as a whole or as a suffix.
    let names_it = |said: &str| {
        said == path
            || said == name
            || said.strip_suffix(path).is_some_and(|b| b.ends_with('/'))
            || path.strip_suffix(said).is_some_and(|b| b.ends_with('/'))
    };
    names.iter().find(|(said, _)| names_it(said)).map(|(_, key)| *key)
}
