//! How the rows of a bundle are written down beside their texts: what each is known by, where and when it stood.
//!
//! Row by row: a byte for the kind, and whether the row is that of the item before and whether it tells a time; the key; the part; the
//! offset and the time as steps from those before; the sum. Numbers take as many bytes as they need.

use anyhow::{Context, Result, ensure};

use crate::session::{Item, Millis, RowKey};

/// The first byte of all.
const FORM: u8 = 1;
const SAME_ROW: u8 = 0x20;
const TIMED: u8 = 0x40;
const KIND: u8 = 0x1f;

/// What an item is. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
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
}

const KINDS: [Kind; 13] = [
    Kind::Prompt,
    Kind::Answer,
    Kind::Reply,
    Kind::Plan,
    Kind::Tool,
    Kind::Outcome,
    Kind::Todos,
    Kind::Task,
    Kind::Title,
    Kind::Recap,
    Kind::Away,
    Kind::PullRequest,
    Kind::Interrupted,
];

impl Kind {
    pub fn of(item: &Item) -> Self {
        match item {
            Item::Prompt(_) => Kind::Prompt,
            Item::Answer(_) => Kind::Answer,
            Item::Reply(_) => Kind::Reply,
            Item::Plan(_) => Kind::Plan,
            Item::Tool(_) => Kind::Tool,
            Item::Outcome(_) => Kind::Outcome,
            Item::Todos(_) => Kind::Todos,
            Item::Task(_) => Kind::Task,
            Item::Title(_) => Kind::Title,
            Item::Recap(_) => Kind::Recap,
            Item::Away(_) => Kind::Away,
            Item::PullRequest(_) => Kind::PullRequest,
            Item::Interrupted => Kind::Interrupted,
        }
    }

    /// Is its text among what was done, apart from what was said?
    pub fn is_done(self) -> bool {
        matches!(self, Kind::Tool | Kind::Outcome)
    }
}

/// An item without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub key: RowKey,
    /// Its place among all that the row says.
    pub part: i64,
    /// Where in the file the row begins.
    pub offset: i64,
    pub at: Option<Millis>,
    pub kind: Kind,
    /// By which copies of a row know each other: of its text.
    pub sum: u32,
}

/// Writes lines down.
pub fn write(lines: &[Line]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + lines.len() * 28);
    out.push(FORM);
    let (mut key, mut offset, mut at) = (None, 0_i64, 0_i64);
    for line in lines {
        let same = key == Some(line.key);
        let flags = if same { SAME_ROW } else { 0 } | if line.at.is_some() { TIMED } else { 0 };
        out.push(line.kind as u8 | flags);
        if !same {
            out.extend_from_slice(&line.key.0);
        }
        put(&mut out, line.part);
        put(&mut out, line.offset.wrapping_sub(offset));
        if let Some(time) = line.at {
            put(&mut out, time.wrapping_sub(at));
            at = time;
        }
        out.extend_from_slice(&line.sum.to_le_bytes());
        (key, offset) = (Some(line.key), line.offset);
    }
    out
}

/// Reads them again.
///
/// # Errors
/// When these are no lines.
pub fn read(bytes: &[u8]) -> Result<Vec<Line>> {
    let Some((&FORM, mut rest)) = bytes.split_first() else { anyhow::bail!("an unknown form") };
    let mut lines = Vec::with_capacity(rest.len() / 24);
    let (mut key, mut offset, mut at) = (None, 0_i64, 0_i64);
    while let Some((head, more)) = rest.split_first() {
        rest = more;
        if head & SAME_ROW == 0 {
            key = Some(RowKey(array(&mut rest)?));
        }
        let part = take(&mut rest)?;
        offset = offset.wrapping_add(take(&mut rest)?);
        let timed = head & TIMED != 0;
        if timed {
            at = at.wrapping_add(take(&mut rest)?);
        }
        ensure!(head & !(KIND | SAME_ROW | TIMED) == 0, "an unknown mark");
        lines.push(Line {
            key: key.context("a row without a key")?,
            part,
            offset,
            at: timed.then_some(at),
            kind: *KINDS.get(usize::from(head & KIND)).context("an unknown kind")?,
            sum: u32::from_le_bytes(array(&mut rest)?),
        });
    }
    Ok(lines)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (head, more) = rest.split_first_chunk::<N>().context("it ends too early")?;
    *rest = more;
    Ok(*head)
}

/// Seven bits a byte, the lowest first; small numbers of either sign are short.
fn put(out: &mut Vec<u8>, number: i64) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    while left > 0x7f {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

fn take(rest: &mut &[u8]) -> Result<i64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let [byte] = array(rest)?;
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

    fn line() -> impl Strategy<Value = Line> {
        let key = prop_oneof![any::<[u8; 16]>(), (0u8..3).prop_map(|n| [n; 16])];
        let near = || prop_oneof![0i64..5000, any::<i64>()];
        (key, near(), near(), prop::option::of(near()), 0..KINDS.len(), any::<u32>())
            .prop_map(|(key, part, offset, at, kind, sum)| Line { key: RowKey(key), part, offset, at, kind: KINDS[kind], sum })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(lines in prop::collection::vec(line(), 0..40)) {
            prop_assert_eq!(read(&write(&lines)).unwrap(), lines);
        }

        #[test]
        fn garbage_is_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), cut in 0usize..400) {
            let _ = read(&bytes);
            let whole = write(&[Line { key: RowKey([1; 16]), part: 3, offset: 1 << 40, at: Some(-5), kind: Kind::Plan, sum: 9 }]);
            prop_assert_eq!(read(&whole[..cut.min(whole.len())]).is_ok(), cut == 1 || cut >= whole.len());
        }
    }

    #[test]
    fn numbers_of_kinds_stay_as_they_are() {
        for (number, kind) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, number);
        }
        assert_eq!((Kind::Prompt as u8, Kind::Outcome as u8, Kind::Interrupted as u8), (0, 5, 12));
    }
}
