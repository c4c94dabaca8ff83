//! A damaged index of which the head or the list of tables cannot be read, while what lies in the tables is there.
//!
//! A copy that is nobody else's gets a head of ours, and where that is not enough a list of tables of ours: tables begin at the same pages
//! in every index that was made in one go, and in every one that was written anew. It is believed only where what is then read is what
//! such tables hold. The damaged index stays as it is; the copy is named so that `forget` removes it, and goes with the [`Unearthed`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rusqlite::{Connection, Row};

use super::{Store, copy};
use crate::model::digest::Digest;
use crate::store::codec::unpack;
use crate::sys::private_files;

/// Both begin as [`copy::MENDING`].
const DUG: &str = ".mending-unearthed";
const FORM: &str = ".mending-form";

/// What every index of ours is made of: <https://www.sqlite.org/fileformat2.html>.
const PAGE: usize = 4096;
const HEAD: usize = 100;
const INTERIOR: u8 = 5;
/// A list of tables has a handful of pages, one below the other.
const MAX_LIST: usize = 64;
const MAX_DEPTH: usize = 4;
/// Nothing of ours is older, in milliseconds.
const FIRST_MOMENT: i64 = 100_000_000_000;

/// A damaged index to be read.
pub struct Unearthed {
    pub store: Store,
    _copy: Option<Dug>,
}

impl Unearthed {
    /// Opens a damaged index, in a mended copy where it cannot be read as it is.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn open(index: &Path) -> Result<Self> {
        let dug = Dug(copy::beside(index, DUG));
        dug.clear()?;
        let as_it_is = Store::open_aside(index);
        let readable = as_it_is.as_ref().is_ok_and(|store| store.db.prepare("SELECT 1 FROM session").is_ok());
        if !(readable && head_is_sound(index)) {
            // What a full disk or the like stops is no worse than without it.
            if let Ok(Some(store)) = dug.read(index) {
                return Ok(Self { store, _copy: Some(dug) });
            }
        }
        Ok(Self { store: as_it_is?, _copy: None })
    }
}

impl Unearthed {
    /// Opens it anew, where it is read as it is: for who holds it by now, so that nothing is written that this does not see. Files of an
    /// index that a process holds may not be opened and closed by other means: the system would let go of its locks.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub fn opened_anew(self, index: &Path) -> Result<Self> {
        match self._copy {
            Some(_) => Ok(self),
            None => Ok(Self { store: Store::open_aside(index)?, _copy: None }),
        }
    }
}

fn head_is_sound(index: &Path) -> bool {
    let mut head = [0; HEAD];
    File::open(index).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head.starts_with(b"SQLite format 3\0\x10\0")
        && head[18..20].iter().all(|form| [1, 2].contains(form))
        && head[20..24] == [0, 64, 32, 32]
        && head[44..48] == [0, 0, 0, 4]
        && head[56..60] == [0, 0, 0, 1]
}

/// The copy that is read instead.
struct Dug(PathBuf);

impl Drop for Dug {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

impl Dug {
    fn clear(&self) -> io::Result<()> {
        copy::LOGS
            .iter()
            .map(|log| copy::beside(&self.0, log))
            .chain([self.0.clone()])
            .try_for_each(|file| private_files::remove(&file))
    }

    fn read(&self, index: &Path) -> Result<Option<Store>> {
        let log = copy::beside(index, "-wal");
        if fs::metadata(index)?.len() < 2 * PAGE as u64 {
            return Ok(None);
        }
        copied(index, &self.0)?;
        if !copy::is_at_rest(index) {
            copied(&log, &copy::beside(&self.0, "-wal"))?;
        }
        let lists = Lists::all(index)?;
        let Some(ours) = lists.first() else { return Ok(None) };
        let mut head = ours.page(1)?;
        head.truncate(HEAD);
        self.fold(&head)?;
        let own = page_of(&File::open(&self.0)?, 1)?;
        let pages = fs::metadata(&self.0)?.len() / PAGE as u64;
        let mut best: Option<(usize, Option<&Lists>)> = None;
        for list in [None].into_iter().chain(lists.iter().map(Some)) {
            if self.lay(&head, &own, list, pages as u32).is_err() {
                continue;
            }
            let sense = Store::open_aside(&self.0).map_or(0, |store| store.sense());
            if sense > best.map_or(0, |(most, _)| most) {
                best = Some((sense, list));
            }
        }
        let Some((_, list)) = best else { return Ok(None) };
        self.lay(&head, &own, list, pages as u32)?;
        Store::open_aside(&self.0).map(Some)
    }

    /// Brings in what the log holds: SQLite does, when the last one closes that has it open.
    fn fold(&self, head: &[u8]) -> Result<()> {
        if copy::is_at_rest(&self.0) {
            return Ok(());
        }
        let file = File::options().read(true).write(true).open(&self.0)?;
        let mut first = page_of(&file, 1)?;
        put_head(&mut first, head, (file.metadata()?.len() / PAGE as u64) as u32);
        first[18..20].copy_from_slice(&[2, 2]);
        file.write_all_at(&first, 0)?;
        let read = Connection::open(&self.0).and_then(|db| db.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0)));
        // One that is none is left out.
        let _ = read;
        for log in copy::LOGS {
            private_files::remove(&copy::beside(&self.0, log))?;
        }
        Ok(())
    }

    /// Gives the copy a head of ours and, in place of its own, a list of tables. Its pages go behind all others: nothing is written over.
    fn lay(&self, head: &[u8], own: &[u8], list: Option<&Lists>, pages: u32) -> io::Result<()> {
        let file = File::options().write(true).open(&self.0)?;
        file.set_len(u64::from(pages) * PAGE as u64)?;
        let (mut first, mut more) = (own.to_owned(), Vec::new());
        if let Some(list) = list {
            first = list.page(1)?;
            list.graft(&mut first, HEAD, pages, &mut more, 0)?;
        }
        put_head(&mut first, head, pages + more.len() as u32);
        file.write_all_at(&first, 0)?;
        file.write_all_at(&more.concat(), u64::from(pages) * PAGE as u64)
    }
}

/// Without free pages, a log, or a map of who leads to which page: that is for who writes.
fn put_head(first: &mut [u8], head: &[u8], pages: u32) {
    first[..HEAD].copy_from_slice(head);
    first[18..20].copy_from_slice(&[1, 1]);
    for (at, value) in [(24, 1), (28, pages), (32, 0), (36, 0), (52, 0), (64, 0), (92, 1)] {
        first[at..at + 4].copy_from_slice(&u32::to_be_bytes(value));
    }
}

fn page_of(file: &File, number: u32) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE];
    file.read_exact_at(&mut page, (u64::from(number).max(1) - 1) * PAGE as u64)?;
    Ok(page)
}

fn copied(from: &Path, to: &Path) -> io::Result<u64> {
    let mut to = OpenOptions::new().create_new(true).write(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut to)
}

/// An index with a list of tables that can be taken over.
struct Lists(File);

impl Lists {
    /// An empty index as it is made, the same written anew, and the copy, in which there may be something else.
    fn all(index: &Path) -> Result<Vec<Self>> {
        let form = Dug(copy::beside(index, FORM));
        let mut all = Vec::new();
        for anew in [false, true] {
            form.clear()?;
            let store = Store::open(&form.0)?;
            if anew {
                store.db.execute_batch("VACUUM")?;
            }
            store.tidy()?;
            drop(store);
            all.push(Self(File::open(&form.0)?));
        }
        all.extend(File::open(copy::beside(index, copy::COPY)).map(Self));
        Ok(all)
    }

    fn page(&self, number: u32) -> io::Result<Vec<u8>> {
        page_of(&self.0, number)
    }

    /// Takes over what a page of the list leads to, and has it lead there: behind the last page.
    fn graft(&self, page: &mut [u8], at: usize, last: u32, more: &mut Vec<Vec<u8>>, depth: usize) -> io::Result<()> {
        if page[at] != INTERIOR {
            return Ok(());
        }
        let strange = || Error::new(ErrorKind::InvalidData, "no list of tables");
        let two = |page: &[u8], at: usize| page.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
        let cells = two(page, at + 3).ok_or_else(strange)?;
        for cell in 0..=cells {
            let link = if cell == cells { at + 8 } else { two(page, at + 12 + 2 * cell).ok_or_else(strange)? };
            let to = page.get(link..link + 4).ok_or_else(strange)?;
            let mut child = self.page(u32::from_be_bytes([to[0], to[1], to[2], to[3]]))?;
            if more.len() >= MAX_LIST || depth >= MAX_DEPTH {
                return Err(strange());
            }
            self.graft(&mut child, 0, last, more, depth + 1)?;
            more.push(child);
            page[link..link + 4].copy_from_slice(&(last + more.len() as u32).to_be_bytes());
        }
        Ok(())
    }
}

/// By what a row of a table is known.
struct Sign {
    table: &'static str,
    columns: &'static str,
    order: &'static str,
    fits: fn(&Row<'_>) -> rusqlite::Result<bool>,
}

const SIGNS: [Sign; 7] = [
    Sign {
        table: "session",
        columns: "id, grew_at, typeof(project)",
        order: "pk",
        fits: |r| Ok(is_id(r, 0)? && r.get::<_, i64>(1)? > FIRST_MOMENT && r.get::<_, String>(2)? == "integer"),
    },
    Sign { table: "digest", columns: "body", order: "pk", fits: |r| Ok(unpack::<Digest>(r.get_ref(0)?.as_blob()?).is_ok()) },
    Sign {
        table: "note",
        columns: "id, at, typeof(text)",
        order: "pk",
        fits: |r| Ok(is_id(r, 0)? && r.get::<_, i64>(1)? > FIRST_MOMENT && r.get::<_, String>(2)? == "text"),
    },
    Sign {
        table: "spend",
        columns: "model, at, reserved_usd",
        order: "pk",
        fits: |r| Ok(!r.get::<_, String>(0)?.is_empty() && r.get::<_, i64>(1)? > FIRST_MOMENT && r.get::<_, f64>(2)? >= 0.0),
    },
    Sign { table: "forgotten_session", columns: "id", order: "id", fits: |r| is_id(r, 0) },
    Sign { table: "excluded_session", columns: "id", order: "id", fits: |r| is_id(r, 0) },
    Sign {
        table: "forgotten_row",
        columns: "private, typeof(key)",
        order: "key",
        fits: |r| Ok([0, 1].contains(&r.get::<_, i64>(0)?) && r.get::<_, String>(1)? == "blob"),
    },
];

/// No path, no sentence.
fn is_id(row: &Row<'_>, at: usize) -> rusqlite::Result<bool> {
    let id: String = row.get(at)?;
    Ok(!id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)))
}

impl Store {
    /// How many rows are what they should be; none where a table holds something else.
    fn sense(&self) -> usize {
        let mut all = 0;
        for sign in &SIGNS {
            // A value of another kind than the column's is nothing of ours, and no reason to stop.
            let fits = |row: &Row<'_>| Ok((sign.fits)(row).unwrap_or(false));
            let (rows, _) = self.rows_from_both_ends(sign.columns, sign.table, sign.order, fits);
            let good = rows.iter().filter(|fits| **fits).count();
            if (rows.len() - good) * 4 > rows.len() {
                return 0;
            }
            all += good;
        }
        all
    }
}
