//! Digests and accounts as they are stored. All that can be made of them without the index is made here, by whoever made the digest, on any
//! thread: the thread that writes only stores it.

use std::ops::Deref;

use anyhow::Result;

use super::codec::{pack, pack_json};
use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::analyze::minhash::SessionWordSet;
use crate::analyze::rules::{instructions_in, passages_with};
use crate::model::digest::Digest;
use crate::model::section::Section;
use transcripts::session::Millis;

/// A digest with its stored form.
#[derive(Debug, Clone)]
pub(crate) struct PackedDigest {
    digest: Digest,
    /// As JSON: its id is made of it.
    pub(super) json: String,
    pub(super) body: Vec<u8>,
    /// By which near-duplicates are found, with what its account says.
    pub(super) words: SessionWordSet,
}

impl PackedDigest {
    /// `account` is that of the same session, where there is one.
    pub(crate) fn new(digest: Digest, account: Option<&PackedAccount>) -> Result<Self> {
        let json = serde_json::to_string(&digest)?;
        let body = pack_json(json.as_bytes())?;
        let words = SessionWordSet::of(&digest, account.map(|account| &account.stored.account));
        Ok(Self { digest, json, body, words })
    }
}

impl Deref for PackedDigest {
    type Target = Digest;

    fn deref(&self) -> &Digest {
        &self.digest
    }
}

/// An account with its stored form.
#[derive(Debug)]
pub(crate) struct PackedAccount {
    pub(super) stored: AccountToStore,
    pub(super) body: Vec<u8>,
    pub(super) instructions: Vec<Instruction>,
}

impl PackedAccount {
    pub(crate) fn new(stored: AccountToStore) -> Result<Self> {
        let (body, instructions) = (pack(&stored.account)?, Instruction::all_in(&stored.account));
        Ok(Self { stored, body, instructions })
    }
}

/// A standing instruction of the user's that an account quotes.
#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) at: Option<Millis>,
    pub(super) turn: usize,
    pub(super) text: String,
    /// What a model says it says, if a model named it.
    pub(super) wording: Option<String>,
}

impl Instruction {
    /// Those that rules find, in the order in which they were given.
    pub(super) fn all_in(account: &SessionAccount) -> Vec<Self> {
        let mut all = Vec::new();
        for turn in &account.turns {
            for word in turn.words.iter().filter(|word| word.is_correction()) {
                let texts = instructions_in(&word.text).into_iter();
                all.extend(texts.map(|text| Self { at: word.at.or(turn.at), turn: turn.number, text, wording: None }));
            }
        }
        all
    }

    /// Those that a model's digest names, as it is told, where the account quotes them. What is said twice counts where it was said last.
    pub(super) fn named_in(account: &SessionAccount, told: &Digest) -> Vec<Self> {
        let words = account.turns.iter().flat_map(|turn| turn.words.iter().map(move |word| (turn, word)));
        let said = words.filter(|(_, word)| word.is_correction());
        let named = told.told_in(Section::Instructions).filter_map(|claim| {
            let (turn, word) = said.clone().rfind(|(_, word)| passages_with(&word.text, &claim.text).contains(&claim.text))?;
            let wording = Some(claim.claimed().to_owned());
            Some(Self { at: word.at.or(turn.at), turn: turn.number, text: claim.text.clone(), wording })
        });
        named.collect()
    }
}
