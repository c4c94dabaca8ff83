//! Drops titles that were not given in this session. One that appears before the first prompt is inherited: from a session that `/clear`
//! ended, from a fork, or from a hook. The client repeats it as if the user had set it, until the user sets another.

use serde::{Deserialize, Serialize};

use crate::session::{Item, Record, TitleBy, TitleEvent, Turn, hash_parts};

/// What the records of a file have shown so far. Holds no text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TitleFilter {
    /// Hashes of inherited titles.
    brought: Vec<u32>,
    /// A prompt was seen.
    begun: bool,
    /// Records before the first prompt belong to a session that was cleared.
    cleared: bool,
    /// Hashes of titles set by hooks.
    hooked: Vec<u32>,
}

impl TitleFilter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Removes titles that were not given in the session from a record of the main conversation.
    pub fn pass(&mut self, row: &mut Record) {
        match &row.sign {
            Some(TitleEvent::Cleared) => self.cleared |= !self.begun,
            Some(TitleEvent::HookTitled(title)) => self.hooked.push(hash(title)),
            Some(TitleEvent::Renamed) => row.items.iter().filter_map(user_title).for_each(|title| {
                let renamed = hash(title);
                self.brought.retain(|brought| *brought != renamed);
                self.hooked.retain(|hooked| *hooked != renamed);
            }),
            None => {}
        }
        if !self.begun && matches!(row.turn, Turn::Begins | Turn::BeginsPrivate) {
            self.begun = true;
            // Set when the session was started (`--name`): the client will repeat it.
            if !self.cleared {
                self.brought.clear();
            }
        }
        let mut parts = std::mem::take(&mut row.parts).into_iter();
        row.items.retain(|item| {
            let stays = user_title(item).is_none_or(|title| row.sign.is_some() || self.is_own(title));
            row.parts.extend(parts.next().filter(|_| stays));
            stays
        });
    }

    fn is_own(&mut self, title: &str) -> bool {
        let title = hash(title);
        if !self.begun && !self.brought.contains(&title) {
            self.brought.push(title);
        }
        self.begun && !self.brought.contains(&title) && !self.hooked.contains(&title)
    }
}

/// The title, if the item is one that the user set.
fn user_title(item: &Item) -> Option<&str> {
    match item {
        Item::Title(title) if title.by == TitleBy::User => Some(&title.text),
        _ => None,
    }
}

fn hash(title: &str) -> u32 {
    let [a, b, c, d, ..] = hash_parts(&[b"title", title.as_bytes()]);
    u32::from_be_bytes([a, b, c, d])
}
