//! The encoding of a chunk's item headers, stored beside the texts.
//!
//! One byte for the format, then for each item: a byte with its kind and flags (same record as the previous item; has a time), the key
//! (unless it is the same record), the part, offset and time (both as differences from the previous ones), and the checksum. Integers
//! have a variable length.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use transcripts::session::{Item, Millis, RecordKey};

/// Format version: the first byte.
const FORMAT: u8 = 1;
const SAME_RECORD: u8 = 0x20;
const HAS_TIME: u8 = 0x40;
const KIND_MASK: u8 = 0x1f;

/// Kind of an item. The numbers are stored: do not change them. Read from the name that a stored text has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub(crate) enum ItemKind {
    Prompt,
    Answer,
    Reply,
    Plan,
    Tool,
    Outcome,
    Todos,
    Task,
    Title,
    Recap,
    Away,
    PullRequest,
    Interrupted,
    /// Evidence of what was said. Texts name both alike.
    #[serde(rename = "evidence")]
    WordEvidence,
    /// Evidence of what was done.
    WorkEvidence,
}

const KINDS: [ItemKind; 15] = [
    ItemKind::Prompt,
    ItemKind::Answer,
    ItemKind::Reply,
    ItemKind::Plan,
    ItemKind::Tool,
    ItemKind::Outcome,
    ItemKind::Todos,
    ItemKind::Task,
    ItemKind::Title,
    ItemKind::Recap,
    ItemKind::Away,
    ItemKind::PullRequest,
    ItemKind::Interrupted,
    ItemKind::WordEvidence,
    ItemKind::WorkEvidence,
];

impl ItemKind {
    pub(crate) fn of(item: &Item) -> Self {
        match item {
            Item::Prompt(_) => ItemKind::Prompt,
            Item::Answer(_) => ItemKind::Answer,
            Item::Reply(_) => ItemKind::Reply,
            Item::Plan(_) => ItemKind::Plan,
            Item::Tool(_) => ItemKind::Tool,
            Item::Outcome(_) => ItemKind::Outcome,
            Item::Todos(_) => ItemKind::Todos,
            Item::Task(_) => ItemKind::Task,
            Item::Title(_) => ItemKind::Title,
            Item::Recap(_) => ItemKind::Recap,
            Item::Away(_) => ItemKind::Away,
            Item::PullRequest(_) => ItemKind::PullRequest,
            Item::Interrupted => ItemKind::Interrupted,
            Item::Evidence(evidence) if evidence.is_of_work() => ItemKind::WorkEvidence,
            Item::Evidence(_) => ItemKind::WordEvidence,
        }
    }

    /// May a text that names this kind be of that one?
    pub(crate) fn is_named_as(self, other: Self) -> bool {
        self == other || self.is_evidence() && other.is_evidence()
    }

    pub(crate) fn is_evidence(self) -> bool {
        matches!(self, ItemKind::WordEvidence | ItemKind::WorkEvidence)
    }

    /// Is its text stored with what was done, rather than with what was said?
    pub(crate) fn is_done(self) -> bool {
        matches!(self, ItemKind::Tool | ItemKind::Outcome | ItemKind::WorkEvidence)
    }
}

/// An item without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemHeader {
    pub(crate) key: RecordKey,
    /// Position among everything the record says.
    pub(crate) part: i64,
    /// Where its line begins in the file, in bytes.
    pub(crate) offset: i64,
    pub(crate) at: Option<Millis>,
    pub(crate) kind: ItemKind,
    /// Checksum of the text, by which copies of an item are told from other texts under the same key.
    pub(crate) sum: u32,
}

/// Encodes headers.
pub(crate) fn encode(lines: &[ItemHeader]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + lines.len() * 28);
    out.push(FORMAT);
    let (mut key, mut offset, mut at) = (None, 0_i64, 0_i64);
    for line in lines {
        let same = key == Some(line.key);
        let flags = if same { SAME_RECORD } else { 0 } | if line.at.is_some() { HAS_TIME } else { 0 };
        out.push(line.kind as u8 | flags);
        if !same {
            out.extend_from_slice(&line.key.0);
        }
        put_varint(&mut out, line.part);
        put_varint(&mut out, line.offset.wrapping_sub(offset));
        if let Some(time) = line.at {
            put_varint(&mut out, time.wrapping_sub(at));
            at = time;
        }
        out.extend_from_slice(&line.sum.to_le_bytes());
        (key, offset) = (Some(line.key), line.offset);
    }
    out
}

/// Decodes headers.
///
/// # Errors
/// When the bytes are not a valid encoding.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<ItemHeader>> {
    let Some((&FORMAT, mut rest)) = bytes.split_first() else { anyhow::bail!("an unknown form") };
    let mut lines = Vec::with_capacity(rest.len() / 24);
    let (mut key, mut offset, mut at) = (None, 0_i64, 0_i64);
    while let Some((head, more)) = rest.split_first() {
        rest = more;
        if head & SAME_RECORD == 0 {
            key = Some(RecordKey(take_array(&mut rest)?));
        }
        let part = take_varint(&mut rest)?;
        offset = offset.wrapping_add(take_varint(&mut rest)?);
        let timed = head & HAS_TIME != 0;
        if timed {
            at = at.wrapping_add(take_varint(&mut rest)?);
        }
        ensure!(head & !(KIND_MASK | SAME_RECORD | HAS_TIME) == 0, "an unknown mark");
        lines.push(ItemHeader {
            key: key.context("a record without a key")?,
            part,
            offset,
            at: timed.then_some(at),
            kind: *KINDS.get(usize::from(head & KIND_MASK)).context("an unknown kind")?,
            sum: u32::from_le_bytes(take_array(&mut rest)?),
        });
    }
    Ok(lines)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (head, more) = rest.split_first_chunk::<N>().context("it ends too early")?;
    *rest = more;
    Ok(*head)
}

/// Zigzag varint: seven bits a byte, lowest first, so that small numbers of either sign are short.
fn put_varint(out: &mut Vec<u8>, number: i64) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    while left > 0x7f {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

fn take_varint(rest: &mut &[u8]) -> Result<i64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let [byte] = take_array(rest)?;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((number >> 1) as i64 ^ -((number & 1) as i64));
        }
    }
    anyhow::bail!("a number without an end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line() -> impl Strategy<Value = ItemHeader> {
        let key = prop_oneof![any::<[u8; 16]>(), (0u8..3).prop_map(|n| [n; 16])];
        let near = || prop_oneof![0i64..5000, any::<i64>()];
        (key, near(), near(), prop::option::of(near()), 0..KINDS.len(), any::<u32>()).prop_map(
            |(key, part, offset, at, kind, sum)| ItemHeader { key: RecordKey(key), part, offset, at, kind: KINDS[kind], sum },
        )
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(lines in prop::collection::vec(line(), 0..40)) {
            prop_assert_eq!(decode(&encode(&lines)).unwrap(), lines);
        }

        #[test]
        fn garbage_is_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), cut in 0usize..400) {
            let _ = decode(&bytes);
            let whole = encode(&[ItemHeader { key: RecordKey([1; 16]), part: 3, offset: 1 << 40, at: Some(-5), kind: ItemKind::Plan, sum: 9 }]);
            prop_assert_eq!(decode(&whole[..cut.min(whole.len())]).is_ok(), cut == 1 || cut >= whole.len());
        }
    }

    #[test]
    fn numbers_of_kinds_stay_as_they_are() {
        for (number, kind) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, number);
        }
        assert_eq!((ItemKind::Prompt as u8, ItemKind::Outcome as u8, ItemKind::Interrupted as u8), (0, 5, 12));
        assert_eq!((ItemKind::WordEvidence as u8, ItemKind::WorkEvidence as u8), (13, 14));
    }
}
