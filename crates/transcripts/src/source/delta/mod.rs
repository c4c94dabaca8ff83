//! Reads a file from a checkpoint to its end, line by line: the only module that seeks.
//!
//! ## Checkpoints
//! A transcript normally only grows. A checkpoint is a fingerprint of the file's head and the offset just past the last stored
//! line. If the head or the stored end differs, or the file is shorter, the file was replaced and is read again from the start.
//! Between the two only samples are compared: a change of a few bytes in the middle may go unnoticed.

mod lines;
mod made;
mod private;

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

pub use self::lines::MAX_LINE_BYTES;
pub use self::lines::{LineReader, RawLine};
pub use self::made::{LineNumbers, MadeLine};
pub use self::made::{MadeLines, TranscriptLines};
pub(crate) use self::private::holds_private_before;
pub use self::private::opens_private;

/// How much of a file's start identifies it, in bytes: past the first line, which holds the session's id.
const HEAD_BYTES: u64 = 4096;
/// Number and length in bytes of the samples between the head and the tail of what is stored. If much of the middle was replaced,
/// one of them differs; a change between two samples goes unnoticed.
const SAMPLES: u64 = 15;
const SAMPLE_BYTES: usize = 512;
/// Bytes per read.
const READ_BYTES: usize = 256 << 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    pub head_len: u64,
    pub head_hash: [u8; 32],
    pub offset: u64,
    /// Hash of the bytes right before the offset and of the samples between them and the head: a rewritten file normally differs
    /// there.
    pub tail_hash: [u8; 32],
}

/// A file opened at its checkpoint.
pub struct OpenTranscript {
    pub lines: TranscriptLines,
    /// A second handle to the same file, to look back with; none of one that is packed, and of made lines.
    pub probe: Option<File>,
    /// The checkpoint no longer applies: the content it described is gone.
    pub replaced: bool,
    /// Where reading begins.
    pub start: u64,
    pub head_len: u64,
    pub head_hash: [u8; 32],
}

impl OpenTranscript {
    /// One that is read from its beginning whenever it changed.
    pub fn anew(lines: TranscriptLines) -> Self {
        Self { lines, probe: None, replaced: false, start: 0, head_len: 0, head_hash: [0; 32] }
    }

    /// The checkpoint from which to go on behind what was read up to an offset.
    pub fn checkpoint_at(&self, offset: u64) -> io::Result<Checkpoint> {
        let tail_hash = match &self.probe {
            // What was read is the head.
            Some(_) if offset == self.head_len => self.head_hash,
            Some(probe) => tail_hash(probe, offset)?,
            None => [0; 32],
        };
        Ok(Checkpoint { head_len: self.head_len, head_hash: self.head_hash, offset, tail_hash })
    }
}

impl Checkpoint {
    /// How much of a file of `size` bytes lies behind it. All of one that is shorter: it was replaced.
    pub fn unread_of(&self, size: u64) -> u64 {
        size.checked_sub(self.offset).unwrap_or(size)
    }
}

/// What a file holds: as it is, or unpacked.
pub enum TranscriptBytes {
    Plain(File),
    Packed(Box<zstd::Decoder<'static, BufReader<File>>>),
}

impl TranscriptBytes {
    /// The bytes of a regular file from its beginning. One that is called `.zst` is unpacked.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        if is_packed(path) { Ok(Self::Packed(Box::new(zstd::Decoder::new(file)?))) } else { Ok(Self::Plain(file)) }
    }
}

/// So many bytes of a file's beginning, unpacked.
///
/// # Errors
/// When it cannot be read.
pub(super) fn head_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    TranscriptBytes::open(path)?.take(most).read_to_end(&mut head)?;
    Ok(head)
}

impl Read for TranscriptBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Packed(unpacked) => unpacked.read(buffer),
        }
    }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

/// Opens `path` and seeks to the first byte that is not stored yet. A packed file that changed is read again from its beginning: its rows are
/// known by their keys.
pub fn open(path: &Path, checkpoint: Option<&Checkpoint>) -> io::Result<OpenTranscript> {
    if is_packed(path) {
        return Ok(OpenTranscript::anew(TranscriptLines::Read(LineReader::new(TranscriptBytes::open(path)?, 0))));
    }
    let mut file = open_regular(path)?;
    let meta = file.metadata()?;
    let mut head = Vec::with_capacity(HEAD_BYTES as usize);
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head)?;
    let probe = file.try_clone()?;
    let same = |c: &&Checkpoint| {
        let known = head.get(..c.head_len as usize);
        meta.len() >= c.offset
            && known.is_some_and(|bytes| hash(bytes) == c.head_hash)
            && (tail_hash(&probe, c.offset).is_ok_and(|hash| hash == c.tail_hash)
                // A checkpoint from before samples were hashed.
                || tail(&probe, c.offset).is_ok_and(|tail| hash(&tail) == c.tail_hash))
    };
    let start = checkpoint.filter(same).map_or(0, |c| c.offset);
    file.seek(SeekFrom::Start(start))?;
    Ok(OpenTranscript {
        replaced: checkpoint.is_some_and(|c| c.offset > 0) && start == 0,
        start,
        head_len: head.len() as u64,
        head_hash: hash(&head),
        lines: TranscriptLines::Read(LineReader::new(TranscriptBytes::Plain(file), start)),
        probe: Some(probe),
    })
}

/// Opens a regular file. A pipe or device that has taken its place since discovery is refused, without blocking.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// The complete lines among the last `most` bytes of a file, and what may be half a line at its end.
pub fn last_lines(path: &Path, most: u64) -> io::Result<LineReader<File>> {
    let mut file = open_regular(path)?;
    let start = file.metadata()?.len().saturating_sub(most);
    // From the byte before: if a line begins exactly at `start`, only its predecessor's newline is skipped.
    file.seek(SeekFrom::Start(start.saturating_sub(1)))?;
    let mut lines = LineReader::new(file, start.saturating_sub(1));
    if start > 0 {
        lines.next_line()?;
    }
    Ok(lines)
}

/// Hashes the last bytes before `offset` and the samples between them and the head.
pub fn tail_hash(file: &File, offset: u64) -> io::Result<[u8; 32]> {
    let mut seen = tail(file, offset)?;
    let middle = offset.saturating_sub(2 * HEAD_BYTES);
    let mut sample = vec![0; (middle.div_ceil(SAMPLES) as usize).min(SAMPLE_BYTES)];
    for n in (0..SAMPLES).filter(|_| middle > SAMPLES) {
        file.read_exact_at(&mut sample, HEAD_BYTES + middle / SAMPLES * n)?;
        seen.extend_from_slice(&sample);
    }
    Ok(hash(&seen))
}

fn tail(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let from = offset.saturating_sub(HEAD_BYTES);
    let mut tail = vec![0; (offset - from) as usize];
    file.read_exact_at(&mut tail, from)?;
    Ok(tail)
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

#[cfg(test)]
mod tests;
