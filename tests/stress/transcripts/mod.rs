//! Transcripts in a world that moves: they grow while they are read, shrink, are replaced, moved, taken away and put back, and things lie
//! beside them that are none. No session is lost while its transcript lives, nothing is stored twice, and no run waits for anything.

mod changing;
mod lines;
mod sizes;
mod stray_files;
mod timestamps;
mod vanishing;

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::{World, age, assistant, user};

pub const S: &str = "55555555-aaaa-4aaa-8aaa-555555555555";

/// The `n`th question and its answer.
pub fn asked(session: &str, n: usize) -> String {
    let at = |second: usize| format!("2026-11-20T10:{:02}:{second:02}Z", n % 60);
    user(session, &format!("{session}-u{n}"), &at(0), &format!("Question {n}: why is the import of {n} rows slow?"))
        + &assistant(
            session,
            &format!("{session}-a{n}"),
            &at(5),
            &format!("Answer {n}: the rates are read for each of the {n} rows."),
        )
}

/// The first `count` questions with their answers.
pub fn conversation(session: &str, count: usize) -> String {
    (0..count).map(|n| asked(session, n)).collect()
}

/// The questions that are stored, in order.
pub fn questions(world: &World) -> Vec<String> {
    world.texts(S, "prompt").iter().map(|text| text.split(':').next().unwrap_or_default().to_owned()).collect()
}

pub fn numbered(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|n| format!("Question {n}")).collect()
}

/// Writes a file in place, as long ago as a settled one.
pub fn write(file: &Path, bytes: impl AsRef<[u8]>) {
    fs::write(file, bytes).expect("the transcript");
    age(file, Duration::from_secs(3600));
}
