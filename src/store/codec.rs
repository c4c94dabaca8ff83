//! The stored format of bodies: a tag byte, then JSON, compressed with zstd where that is smaller.
//!
//! Each form has a checksum: a digit that became another is still JSON. Bodies that older programs wrote have none.

use std::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// In bytes of JSON. A zstd frame of less saves less than it adds.
const MIN_COMPRESSED_BYTES: usize = 160;
/// zstd level. Higher levels gain nothing on bodies of a few hundred bytes.
const LEVEL: i32 = 3;
/// As older programs wrote it, without a checksum.
const PLAIN: u8 = 0;
/// Its checksum is the frame's own.
const ZSTD: u8 = 1;
/// The checksum lies between tag and JSON.
const SUMMED: u8 = 2;
const SUM_BYTES: usize = 4;
/// In bytes. A larger claim means damage: stored texts are bounded far below this.
const MAX_BODY_BYTES: usize = 64 << 20;

pub(crate) fn pack<T: Serialize>(value: &T) -> anyhow::Result<Vec<u8>> {
    pack_json(&serde_json::to_vec(value)?)
}

/// Packs a value that is already JSON.
pub(crate) fn pack_json(json: &[u8]) -> anyhow::Result<Vec<u8>> {
    if json.len() >= MIN_COMPRESSED_BYTES {
        let packed = compress(json)?;
        if packed.len() + 4 < json.len() {
            let mut body = vec![ZSTD];
            body.extend_from_slice(&(json.len() as u32).to_le_bytes());
            body.extend(packed);
            return Ok(body);
        }
    }
    let mut body = vec![SUMMED];
    body.extend(sum(json));
    body.extend(json);
    Ok(body)
}

fn sum(json: &[u8]) -> [u8; SUM_BYTES] {
    let [a, b, c, d, ..] = *blake3::hash(json).as_bytes();
    [a, b, c, d]
}

/// A body that this program never writes: the file is damaged.
#[derive(Debug, thiserror::Error)]
#[error("a stored body cannot be read: {0}")]
pub(crate) struct UnreadableBody(String);

impl UnreadableBody {
    pub(crate) fn because(error: &anyhow::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

/// Length of a body's JSON in bytes, without unpacking it.
pub(crate) fn unpacked_len(body: &[u8]) -> usize {
    match body {
        [ZSTD, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
        [SUMMED, ..] => body.len().saturating_sub(1 + SUM_BYTES),
        _ => body.len().saturating_sub(1),
    }
}

/// Does a body have a checksum, so that it is what was packed if it can be unpacked?
pub(crate) fn has_checksum(body: &[u8]) -> bool {
    match body {
        // In a frame's header, behind its four magic bytes, the third bit says so.
        [ZSTD, _, _, _, _, _, _, _, _, descriptor, ..] => descriptor & 0b100 != 0,
        [SUMMED, ..] => true,
        _ => false,
    }
}

pub(crate) fn unpack<T: DeserializeOwned>(body: &[u8]) -> anyhow::Result<T> {
    unpack_as_it_is(body).map_err(|e| UnreadableBody::because(&e).into())
}

/// Parses a list of strings that is stored as plain JSON.
pub(crate) fn list(json: &str) -> anyhow::Result<Vec<String>> {
    serde_json::from_str(json).map_err(|e| UnreadableBody(e.to_string()).into())
}

fn unpack_as_it_is<T: DeserializeOwned>(body: &[u8]) -> anyhow::Result<T> {
    match body.split_first() {
        Some((&PLAIN, json)) => of_json(json),
        Some((&SUMMED, rest)) if rest.len() > SUM_BYTES => {
            let (known, json) = rest.split_at(SUM_BYTES);
            anyhow::ensure!(known == sum(json), "a stored body is not what was stored");
            of_json(json)
        }
        Some((&ZSTD, rest)) if rest.len() > 4 => {
            let (size, frame) = rest.split_at(4);
            let size = u32::from_le_bytes(size.try_into()?) as usize;
            anyhow::ensure!(size <= MAX_BODY_BYTES, "a stored body claims {size} bytes");
            of_json(&decompress(frame, size)?)
        }
        _ => anyhow::bail!("a stored body has an unknown form"),
    }
}

/// That it is UTF-8 is checked for the whole, not string by string.
fn of_json<T: DeserializeOwned>(json: &[u8]) -> anyhow::Result<T> {
    Ok(serde_json::from_str(std::str::from_utf8(json)?)?)
}

/// Creating a context is expensive compared with compressing a small body, so each thread reuses one.
fn compress(json: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static CONTEXT: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    }
    CONTEXT.with_borrow_mut(|slot| match slot {
        Some(context) => context.compress(json),
        None => {
            let mut context = zstd::bulk::Compressor::new(LEVEL)?;
            context.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
            slot.insert(context).compress(json)
        }
    })
}

fn decompress(frame: &[u8], size: usize) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static CONTEXT: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    CONTEXT.with_borrow_mut(|slot| match slot {
        Some(context) => context.decompress(frame, size),
        None => slot.insert(zstd::bulk::Decompressor::new()?).decompress(frame, size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_packed_today_has_a_checksum_and_what_older_programs_packed_has_none() {
        for json in [vec![b'[', b']'], format!("\"{}\"", "a text ".repeat(200)).into_bytes()] {
            assert!(has_checksum(&pack_json(&json).unwrap()));
            let plain: Vec<u8> = [PLAIN].into_iter().chain(json.iter().copied()).collect();
            let frame = zstd::bulk::compress(&json, LEVEL).unwrap();
            let packed: Vec<u8> =
                [ZSTD].into_iter().chain((json.len() as u32).to_le_bytes()).chain(frame.iter().copied()).collect();
            assert!(!has_checksum(&plain) && !has_checksum(&packed));
            assert_eq!(unpack::<serde_json::Value>(&packed).unwrap(), unpack::<serde_json::Value>(&plain).unwrap());
        }
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(text in "\\PC{0,40}", times in 1usize..60) {
            let long = text.repeat(times);
            prop_assert_eq!(unpack::<String>(&pack(&long).unwrap()).unwrap(), long);
        }

        #[test]
        fn a_changed_byte_is_an_error_or_changes_nothing(numbers in prop::collection::vec(0u32..100_000, 1..120), at in any::<prop::sample::Index>(), to in 1u8..) {
            let mut body = pack(&numbers).unwrap();
            let at = at.index(body.len());
            body[at] ^= to;
            // A claimed size may be larger than needed, and a frame's header may say the same in another way.
            prop_assert!(unpack::<Vec<u32>>(&body).map_or(true, |read| read == numbers), "{} of {}", at, body.len());
        }

        #[test]
        fn garbage_is_an_error_and_no_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = unpack::<String>(&body);
        }
    }
}
