//! What can go wrong.

use std::path::PathBuf;
use std::time::Duration;

/// Why something was not published or not read. Each text says what failed, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that names no carrier.
    #[error("{address}: {why}. A place is a folder (/path/to/it), ssh://[user@]host[:port]/path or s3://bucket/prefix")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A bucket was named, and this program is built without the feature for it.
    #[error("{address}: this program is built without support for S3. Build it with the feature `s3`, or use a folder or ssh://")]
    NoS3 {
        /// What was given.
        address: String,
    },
    /// A folder or a file in it.
    #[error("could not {what} {}: {source}. Check that the folder is there, mounted and yours", path.display())]
    Io {
        /// What was tried, as "read".
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A place at which this machine published does not exist.
    #[error("{place} is not there any more: is its disk mounted? Nothing was published. If the place was deleted, set it up again")]
    Gone {
        /// The folder, with its host.
        place: String,
    },
    /// A file that is no plain file, or too large, or that has an impossible name.
    #[error("{name}: {why}. Nothing was read from it; if none of your machines wrote it, remove it")]
    Refused {
        /// Its name on the carrier.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A host did not do what it was asked over ssh.
    #[error("could not {what} on {host}: {why}. Try `ssh -o BatchMode=yes {host} true`: it must succeed without asking anything")]
    Ssh {
        /// What was tried, as "list the files".
        what: &'static str,
        /// The host, with the user.
        host: String,
        /// The end of what ssh printed, or its exit code.
        why: String,
    },
    /// A host stopped answering.
    #[error("could not {what} on {host}: nothing came for {} s. Try again when the connection is better", patience.as_secs())]
    TimedOut {
        /// What was tried.
        what: &'static str,
        /// The host, with the user.
        host: String,
        /// How long nothing came.
        patience: Duration,
    },
    /// A bucket did not do what it was asked.
    #[error("could not {what} in {bucket}: {why}. Check the bucket, the endpoint and the credentials in the AWS_* variables")]
    S3 {
        /// What was tried.
        what: &'static str,
        /// The bucket with the prefix.
        bucket: String,
        /// What the library says.
        why: String,
    },
    /// Somebody else publishes under this machine's id: a copied disk, or an index from a backup.
    #[error(
        "{name} at the place was not published from here: another machine has the same id (a copied disk), or what this machine remembers \
         is from a backup. Nothing was published. Give this machine a new id; then remove the machine with the old id if it no longer exists"
    )]
    Doubled {
        /// The manifest.
        name: String,
    },
    /// The carrier is encrypted with another key, or is encrypted and should not be, or the reverse.
    #[error("{name}: {why}. Give all machines of the place the same key or none; to begin with another key, empty the place first")]
    WrongKey {
        /// The file that shows it.
        name: String,
        /// Which of the three.
        why: &'static str,
    },
    /// The manifest of this machine is the one that it wrote, and cannot be read all the same.
    #[error("{name}: {why}. Remove this file from the place: this machine then publishes everything again")]
    Manifest {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A machine that others would refuse.
    #[error("{why}. Give this machine another")]
    Machine {
        /// What is wrong with it.
        why: String,
    },
    /// A record that others would refuse, or not the one that was asked for.
    #[error("the record {id} cannot be published: {why}. Leave it out of what is published")]
    Record {
        /// Its kind and id.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// The callback that loads a record failed.
    #[error("could not load the record {id}: {source:#}. What was published before stands; publish again")]
    Load {
        /// Its kind and id.
        id: String,
        /// What the callback said.
        source: anyhow::Error,
    },
    /// The callback that saves an [`Outbox`](crate::Outbox) failed.
    #[error("could not save what was published: {source:#}. Publish again")]
    Save {
        /// What the callback said.
        source: anyhow::Error,
    },
    /// The callback that takes a change failed.
    #[error("could not take what {machine} published: {source:#}. Read again")]
    Take {
        /// The name of the machine.
        machine: String,
        /// What the callback said.
        source: anyhow::Error,
    },
    /// The system gave no random numbers.
    #[error("could not name a new file: the system gave no random numbers: {why}. Try again")]
    Random {
        /// What the system says.
        why: String,
    },
    /// A file could not be compressed or encrypted.
    #[error("could not write {name}: {why}. Try again; if it stays, there is not enough memory")]
    Seal {
        /// Its name on the carrier.
        name: String,
        /// What failed.
        why: String,
    },
}
