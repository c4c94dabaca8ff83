//! One machine whose index is lost again and again, with its transcripts or without: whatever is remembered, changed, closed, forgotten or killed
//! between that and the next digest, no note is lost, none that was forgotten comes back, and each is as it was left.
//!
//! `RECALL_SEED` and `PROPTEST_CASES` (histories); `RECALL_WHOLE=1`: more and longer ones.

use std::fs;

use serde_json::json;

use crate::support::data_folder::places_of;
use crate::support::rows::{Rows, put};
use crate::support::size::{Dice, is_whole, letters, runs, seed};
use crate::support::{World, files_below};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
/// Where a digest may be killed.
const OF_DIGEST: [&str; 6] = ["index open", "marks removed", "digests taken back", "digests made", "pages written", "exchanged"];
/// Where forgetting may be, and whether what was to be forgotten is gone then.
const OF_FORGETTING: [(&str, bool); 4] =
    [("taken in before forgetting", false), ("taken out", true), ("pages cleaned", true), ("traces dropped", true)];

struct Note {
    id: String,
    /// In what it says, whatever that is, and in nothing else.
    word: String,
    text: String,
    is_closed: bool,
    is_forgotten: bool,
}

struct Session {
    id: String,
    word: String,
    has_transcript: bool,
    is_forgotten: bool,
}

struct History {
    world: World,
    dice: Dice,
    notes: Vec<Note>,
    sessions: Vec<Session>,
    told: Vec<String>,
}

impl History {
    fn new(dice: Dice) -> Self {
        Self { world: World::new(), dice, notes: Vec::new(), sessions: Vec::new(), told: Vec::new() }
    }

    /// Whether it was done; it may not be where the index does not know the note.
    fn run(&mut self, args: &[&str], killed_at: Option<&str>) -> bool {
        let point = killed_at.map(|point| format!("{point}:1"));
        self.told.push(format!("{} {}", args.join(" "), point.as_deref().map(|at| format!("killed at {at}")).unwrap_or_default()));
        let kill: Vec<(&str, &str)> = point.iter().map(|at| ("RECALL_KILL_AT", at.as_str())).collect();
        let ran = self.world.recall_with(args, &kill);
        assert!(!ran.err.contains("panicked") && (ran.code >= 0 || killed_at.is_some()), "{:#?}\n{ran:#?}", self.told);
        ran.code == 0 || ran.code == 1
    }

    fn digest(&mut self) {
        self.run(&["digest", EXTRACT[0], EXTRACT[1]], None);
    }

    fn one_of(&mut self, all: usize) -> Option<usize> {
        (all > 0).then(|| self.dice.below(all as u64) as usize)
    }

    fn standing_note(&mut self) -> Option<usize> {
        let standing: Vec<usize> = (0..self.notes.len()).filter(|at| !self.notes[*at].is_forgotten).collect();
        self.one_of(standing.len()).map(|at| standing[at])
    }

    fn step(&mut self) {
        match self.dice.below(14) {
            0 => self.begin(),
            1..=2 => self.remember(),
            3 => self.edit(),
            4..=5 => self.close(),
            6 => self.forget_note(),
            7 => self.forget_killed(),
            8 => self.forget_session(),
            9 => self.lose_transcript(),
            10 => {
                let at = OF_DIGEST[self.dice.below(OF_DIGEST.len() as u64) as usize];
                self.run(&["digest", EXTRACT[0], EXTRACT[1]], Some(at));
            }
            11 => _ = self.run(&["forget", "--match", "no such words", "--yes"], None),
            12 => self.digest(),
            _ => self.lose_index(),
        }
    }

    fn begin(&mut self) {
        let n = self.sessions.len() + 1;
        let word = format!("quux{}zan", letters(n));
        let mut rows = Rows::new(n);
        rows.user(json!(format!("The {word} of the shop is wrong")));
        rows.assistant(&format!("The {word} is mended, and the tests of it pass again."));
        self.told.push(format!("session {word}"));
        put(&self.world, &rows.id, &rows.text);
        self.sessions.push(Session { id: rows.id, word, has_transcript: true, is_forgotten: false });
    }

    fn remember(&mut self) {
        let word = format!("nott{}zan", letters(self.notes.len() + 1));
        let text = format!("Look at the {word} once");
        assert!(self.run(&["remember", "--kind", "todo", "--everywhere", &text], None));
        let id = self.world.notes().into_iter().find(|(_, said, _)| *said == text).expect("it was remembered").0;
        self.notes.push(Note { id, word, text, is_closed: false, is_forgotten: false });
    }

    fn edit(&mut self) {
        let Some(at) = self.standing_note() else { return };
        let (id, text) = (self.notes[at].id.clone(), format!("Look at the {} {} times", self.notes[at].word, self.told.len()));
        if self.run(&["remember", "--edit", &id, &text], None) {
            self.notes[at].text = text;
        }
    }

    fn close(&mut self) {
        let Some(at) = self.standing_note() else { return };
        let (id, undo) = (self.notes[at].id.clone(), self.notes[at].is_closed);
        if self.run(&[&["close", id.as_str()][..], if undo { &["--undo"] } else { &[] }].concat(), None) {
            self.notes[at].is_closed = !undo;
        }
    }

    fn forget_note(&mut self) {
        let Some(at) = self.standing_note() else { return };
        let word = self.notes[at].word.clone();
        self.run(&["forget", "--match", &word, "--yes"], None);
        self.notes[at].is_forgotten = true;
    }

    fn forget_killed(&mut self) {
        let Some(at) = self.standing_note() else { return };
        let (point, is_gone) = OF_FORGETTING[self.dice.below(OF_FORGETTING.len() as u64) as usize];
        let word = self.notes[at].word.clone();
        self.run(&["forget", "--match", &word, "--yes"], Some(point));
        self.notes[at].is_forgotten = is_gone;
    }

    fn forget_session(&mut self) {
        let Some(at) = self.one_of(self.sessions.len()) else { return };
        let word = self.sessions[at].word.clone();
        self.run(&["forget", "--match", &word, "--yes"], None);
        self.sessions[at].is_forgotten = true;
    }

    /// As the client deletes them after a month. Its page is written before.
    fn lose_transcript(&mut self) {
        let Some(at) = self.one_of(self.sessions.len()) else { return };
        self.digest();
        self.told.push(format!("the transcript of {} goes", self.sessions[at].word));
        self.sessions[at].has_transcript = false;
        let id = self.sessions[at].id.clone();
        for file in files_below(&self.world.claude_dir()) {
            if file.to_string_lossy().contains(&id) {
                fs::remove_file(file).unwrap();
            }
        }
    }

    /// Everything is on pages by then: what is not would be lost. With the index goes the list of what was forgotten: transcripts that are there are
    /// read again.
    fn lose_index(&mut self) {
        self.digest();
        self.told.push("the index is lost".to_owned());
        self.sessions.iter_mut().filter(|session| session.has_transcript).for_each(|session| session.is_forgotten = false);
        self.world.lose_index();
    }

    fn end(&mut self) {
        self.digest();
        self.digest();
        let there = self.world.notes();
        let standing = self.notes.iter().filter(|note| !note.is_forgotten);
        let mut expected: Vec<_> = standing.map(|note| (note.id.clone(), note.text.clone(), note.is_closed)).collect();
        expected.sort();
        assert_eq!(there, expected, "{:#?}", self.told);
        let pages: String = self.world.pages().into_iter().map(|(_, text)| text).collect();
        for (_, text, _) in &expected {
            assert!(pages.contains(text), "`{text}` is on no page\n{:#?}\n{pages}", self.told);
        }
        for session in &self.sessions {
            let is_there = pages.contains(&session.word);
            assert_eq!(is_there, !session.is_forgotten, "{}\n{:#?}\n{pages}", session.word, self.told);
        }
        let gone = self.notes.iter().filter(|note| note.is_forgotten).map(|note| &note.word);
        for word in gone.chain(self.sessions.iter().filter(|one| one.is_forgotten).map(|one| &one.word)) {
            assert_eq!(places_of(&self.world, word), [""; 0], "{word}\n{:#?}", self.told);
        }
    }
}

#[test]
fn whatever_is_done_around_a_lost_index_notes_are_as_they_were_left() {
    let steps = if is_whole() { 60 } else { 24 };
    for n in 0..runs(4, 24) {
        let seed = seed().wrapping_mul(1_000).wrapping_add(u64::from(n));
        eprintln!("RECALL_SEED begins at {seed}");
        let mut history = History::new(Dice(seed));
        for _ in 0..steps {
            history.step();
        }
        history.end();
    }
}
