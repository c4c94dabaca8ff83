//! Where files are carried: what a carrier can do, and which one an address means.

use crate::error::Error;
use crate::folder::Folder;
use crate::history::History;
use crate::ssh::Ssh;

/// The most bytes of a file that a carrier gives out. Nothing that is published comes near.
pub(crate) const FILE_BYTES: u64 = 96 << 20;

/// A file on a carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, below the prefix.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// Files with flat names below one prefix. A carrier may hold files of others; they are listed too, or not.
pub trait Carrier: Send {
    /// All files, in any order; none if the place does not exist yet. What a killed [`put`](Carrier::put) left may be among them, under the
    /// name `.<name>.part`.
    fn list(&self) -> Result<Vec<Entry>, Error>;

    /// [`Error::Gone`] if the place does not exist. A bucket always does.
    fn check_there(&self) -> Result<(), Error>;

    /// The contents of these files, in this order; `None` for one that is not there. [`Error::Refused`] if one of them is no plain file or has
    /// more than 96 MiB. A carrier need not give out more than that at once.
    fn get(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Error>;

    /// Writes a file, over one of the same name. It is whole under its name or not there, whenever this ends. The place is made if it does not
    /// exist.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Deletes these files. What is not there is no error.
    fn delete(&self, names: &[&str]) -> Result<(), Error>;

    /// What keeps the files that are deleted here, as far as the place shows it; `None` if nothing does. A bucket is written to and cleaned for
    /// this.
    fn history(&self) -> Result<Option<History>, Error>;
}

/// The carrier at `address`: `/path`, `ssh://[user@]host[:port]/path` or `s3://bucket/prefix` (with the feature `s3`). Nothing is opened yet.
pub fn carrier(address: &str) -> Result<Box<dyn Carrier>, Error> {
    if address.starts_with('/') {
        return Ok(Box::new(Folder::new(address)));
    }
    if address.starts_with("ssh://") {
        return Ok(Box::new(Ssh::new(address)?));
    }
    if address.starts_with("s3://") {
        return bucket(address);
    }
    let why = if address.contains("://") { "this kind of address is not known" } else { "this is no absolute path" };
    Err(Error::Address { address: address.into(), why: why.into() })
}

#[cfg(feature = "s3")]
fn bucket(address: &str) -> Result<Box<dyn Carrier>, Error> {
    Ok(Box::new(crate::bucket::Bucket::new(address)?))
}

#[cfg(not(feature = "s3"))]
fn bucket(address: &str) -> Result<Box<dyn Carrier>, Error> {
    Err(Error::NoS3 { address: address.into() })
}
