//! Finds bytes of a kind, 64 at a time: each of them is a bit, so that the next one is found by counting zeros, however close they stand.

use std::marker::PhantomData;
use std::ops::BitOr;

use wide::u8x16;

/// How many bytes are looked at together.
const BLOCK_BYTES: usize = 64;

/// Bytes that are looked at together.
pub type Block = [u8; BLOCK_BYTES];

/// A kind of bytes. It is a type, so that the loop over blocks is compiled for it.
pub trait ByteKind {
    /// Which bytes of a block are of it, as [`bits`] tells.
    fn bits_in(block: &Block) -> u64;
}

/// Finds the bytes of a kind in a text, in order.
pub struct ByteFinder<'t, K> {
    bytes: &'t [u8],
    kind: PhantomData<K>,
    /// The block that was looked at last: where it begins, where it ends, and its bytes of the kind that are there.
    begin: usize,
    end: usize,
    found: u64,
}

impl<'t, K: ByteKind> ByteFinder<'t, K> {
    pub fn new(bytes: &'t [u8]) -> Self {
        Self { bytes, kind: PhantomData, begin: 0, end: 0, found: 0 }
    }

    /// The offset of the first byte of the kind at `from` or behind it. `from` must not be less than in the call before.
    #[inline]
    pub fn next(&mut self, from: usize) -> Option<usize> {
        if from < self.end {
            // Nothing was found before the block.
            let from = from.max(self.begin);
            let rest = self.found >> (from - self.begin);
            if rest != 0 {
                return Some(from + rest.trailing_zeros() as usize);
            }
        }
        self.next_in_blocks(from.max(self.end))
    }

    fn next_in_blocks(&mut self, from: usize) -> Option<usize> {
        let mut begin = from;
        let mut rest = self.bytes.get(begin..)?;
        while let Some((block, behind)) = rest.split_first_chunk() {
            let found = K::bits_in(block);
            if found != 0 {
                return self.found_in(begin, begin + BLOCK_BYTES, found);
            }
            (begin, rest) = (begin + BLOCK_BYTES, behind);
        }
        let found = match (rest, self.bytes.last_chunk()) {
            ([], _) => 0,
            // Without what was looked at before.
            (rest, Some(block)) => K::bits_in(block) >> (BLOCK_BYTES - rest.len()),
            (rest, None) => {
                let mut block = [0; BLOCK_BYTES];
                block[..rest.len()].copy_from_slice(rest);
                // Without the zeros behind the end.
                K::bits_in(&block) & ((1 << rest.len()) - 1)
            }
        };
        self.found_in(begin, self.bytes.len(), found)
    }

    /// Keeps what was found in a block, and tells the first of it.
    #[inline]
    fn found_in(&mut self, begin: usize, end: usize, found: u64) -> Option<usize> {
        (self.begin, self.end, self.found) = (begin, end, found);
        (found != 0).then(|| begin + found.trailing_zeros() as usize)
    }
}

/// Which of 64 bytes are of a kind: the lowest bit is the first byte.
#[inline]
pub fn bits(block: &Block, is_of_kind: impl Fn(Bytes) -> Bytes) -> u64 {
    let (sixteens, _) = block.as_chunks::<16>();
    let bits = |n: usize| u64::from(is_of_kind(Bytes(u8x16::new(sixteens[n]))).0.to_bitmask()) << (16 * n);
    bits(0) | bits(1) | bits(2) | bits(3)
}

/// Sixteen bytes that are compared at once, or what came of it: all bits of a byte are set, or none.
#[derive(Clone, Copy)]
pub struct Bytes(u8x16);

impl Bytes {
    #[inline]
    pub fn are(self, byte: u8) -> Self {
        Self(self.0.simd_eq(u8x16::splat(byte)))
    }

    #[inline]
    pub fn are_within(self, least: u8, most: u8) -> Self {
        Self(self.0.max(u8x16::splat(least)).min(u8x16::splat(most)).simd_eq(self.0))
    }
}

impl BitOr for Bytes {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Signs;

    impl ByteKind for Signs {
        fn bits_in(block: &Block) -> u64 {
            bits(block, |bytes| bytes.are(b'"') | bytes.are(0) | bytes.are_within(0x7f, 0xff) | bytes.are_within(b'0', b'9'))
        }
    }

    fn is_sign(byte: u8) -> bool {
        matches!(byte, b'"' | 0 | 0x7f.. | b'0'..=b'9')
    }

    proptest! {
        #[test]
        fn each_is_found_wherever_it_stands(
            parts in prop::collection::vec((0usize..70, any::<u8>()), 0..9), after in 0usize..70, skipped in 1usize..80,
        ) {
            let mut bytes: Vec<u8> = parts.into_iter().flat_map(|(before, byte)| [vec![b'x'; before], vec![byte]]).flatten().collect();
            bytes.extend(vec![b'x'; after]);
            for step in [1, skipped] {
                let mut finder = ByteFinder::<Signs>::new(&bytes);
                let mut from = 0;
                while from <= bytes.len() {
                    let expected = bytes[from..].iter().position(|b| is_sign(*b)).map(|at| from + at);
                    prop_assert_eq!(finder.next(from), expected);
                    from = expected.unwrap_or(from) + step;
                }
            }
        }
    }
}
