//! Fetches the files of a model from the hub, each into a file beside its place that a later run goes on with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use super::known::{KnownFile, KnownModel};
use crate::config::proxy_for;
use crate::sys::download::Download;
use crate::sys::progress::Progress;
use crate::sys::shutdown;

const BUFFER: usize = 1 << 16;

/// Fetches what is missing of a model into a folder.
///
/// # Errors
/// When a file cannot be fetched, or is not the one that is expected. What was fetched stays, so that a later run goes on.
pub(super) fn fetch(model: &KnownModel, hub: &str, folder: &Path) -> Result<()> {
    let bar = Progress::of_bytes("fetching", model.bytes());
    for file in model.files {
        let path = folder.join(file.name);
        if path.metadata().is_ok_and(|meta| meta.len() == file.bytes) && hash_of(&path)? == file.sha256 {
            bar.advance(file.bytes);
            continue;
        }
        let url = format!("{}/{}/resolve/{}/{}", hub.trim_end_matches('/'), model.repository, model.revision, file.name);
        fetch_file(&url, &file, &path, &bar).with_context(|| format!("cannot fetch {url}"))?;
    }
    Ok(())
}

fn fetch_file(url: &str, file: &KnownFile, path: &Path, bar: &Progress) -> Result<()> {
    let partial = path.with_extension("partial");
    // More than the whole is of something else.
    let there = partial.metadata().map_or(0, |meta| meta.len());
    let from = if there < file.bytes { there } else { 0 };
    let mut download = Download::open(url, from, proxy_for(url))?;
    let from = if download.resumed { from } else { 0 };
    bar.advance(from);
    let mut out = OpenOptions::new().create(true).append(from > 0).write(true).truncate(from == 0).open(&partial)?;
    // One byte more than is expected, so that a longer file is noticed.
    let taken = copy(&mut download.body, &mut out, file.bytes - from + 1, bar)?;
    out.sync_all()?;
    ensure!(from + taken >= file.bytes, "it ended after {} of {} bytes: run the command again to go on", from + taken, file.bytes);
    if hash_of(&partial)? != file.sha256 {
        fs::remove_file(&partial)?;
        bail!("its content is not the expected one (SHA-256): nothing of it was kept");
    }
    Ok(fs::rename(&partial, path)?)
}

/// Copies at most so many bytes; returns how many.
fn copy(from: &mut impl Read, to: &mut File, most: u64, bar: &Progress) -> Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut taken = 0;
    let mut from = from.take(most);
    loop {
        if shutdown::requested() {
            bail!("stopped: run the command again to go on");
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(taken),
            Ok(read) => {
                to.write_all(&buffer[..read])?;
                taken += read as u64;
                bar.advance(read as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e).context("the connection broke off: run the command again to go on"),
        }
    }
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(&buffer[..read]);
    }
}
