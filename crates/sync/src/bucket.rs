//! A bucket of S3 or of whatever speaks its protocol.

use crate::carrier::{Carrier, Entry, FILE_BYTES};
use crate::error::Error;
use crate::history::History;
use crate::names;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, ObjectStoreExt, RetryConfig};
use std::fmt::Display;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long one request may take: a full segment over a slow line.
const REQUEST: &str = "600 seconds";
const CONNECT: &str = "10 seconds";
/// After an answer that asks to try again.
const RETRIES: usize = 4;
const RETRY_FOR: Duration = Duration::from_secs(60);
/// Files that are fetched at a time.
const AT_A_TIME: usize = 4;

/// Objects below a prefix of a bucket. It must exist. Calls block, and must not be made from within a tokio runtime.
#[derive(Debug)]
pub struct Bucket {
    store: AmazonS3,
    prefix: Path,
    address: String,
    runtime: Runtime,
}

impl Bucket {
    /// What `s3://bucket/prefix` names, with credentials, region and endpoint as the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL` … say; `AWS_ALLOW_HTTP=true` lets an endpoint be without TLS. Nothing is opened yet.
    pub fn new(address: &str) -> Result<Self, Error> {
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::with_variables(address, variables)
    }

    /// The same with these variables in place of the environment's.
    pub fn with_variables(address: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let refuse = |why: String| Error::Address { address: address.into(), why };
        let rest = address.strip_prefix("s3://").ok_or_else(|| refuse("it does not begin with s3://".into()))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || !bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')) {
            return Err(refuse("this is no bucket".into()));
        }
        let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|error| refuse(error.to_string()))?;
        let failed = |error: &dyn Display| Error::S3 { what: "use the settings", bucket: address.into(), why: short(error) };

        // reqwest has no TLS of its own here. Another part of the program may have chosen the same library before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::new()
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), REQUEST)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::ConnectTimeout), CONNECT)
            .with_retry(RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() })
            // There are few files, and some services do not know the other way.
            .with_disable_bulk_delete(true);
        for (name, value) in variables.into_iter().filter(|(name, _)| name.starts_with("AWS_")) {
            // Those that are not for S3 are none of its keys.
            if let Ok(key) = name.to_ascii_lowercase().parse() {
                builder = builder.with_config(key, value);
            }
        }
        let store = builder.with_bucket_name(bucket).build().map_err(|error| failed(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
        Ok(Self { store, prefix, address: address.into(), runtime })
    }

    fn path(&self, name: &str) -> Result<Path, Error> {
        names::check(name)?;
        Ok(self.prefix.clone().join(name))
    }

    fn wait<T>(&self, what: &'static str, act: impl Future<Output = object_store::Result<T>>) -> Result<T, Error> {
        self.runtime.block_on(act).map_err(|error| Error::S3 { what, bucket: self.address.clone(), why: short(&error) })
    }

    /// Nothing if it is not there, or why it is refused.
    async fn get_one(&self, name: &str, path: Path) -> object_store::Result<Result<Option<Vec<u8>>, Error>> {
        let found = match self.store.get(&path).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(Ok(None)),
            found => found?,
        };
        if found.meta.size > FILE_BYTES {
            let why = "it is larger than any file that is published".into();
            return Ok(Err(Error::Refused { name: name.into(), why }));
        }
        Ok(Ok(Some(found.bytes().await?.to_vec())))
    }
}

impl Carrier for Bucket {
    fn list(&self) -> Result<Vec<Entry>, Error> {
        let prefix = Some(&self.prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let found = self.wait("list the files", self.store.list_with_delimiter(prefix))?;
        let entry = |object: object_store::ObjectMeta| Some(Entry { name: object.location.filename()?.into(), bytes: object.size });
        Ok(found.objects.into_iter().filter_map(entry).collect())
    }

    fn check_there(&self) -> Result<(), Error> {
        Ok(())
    }

    fn get(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let paths = names.iter().map(|name| Ok((*name, self.path(name)?))).collect::<Result<Vec<_>, Error>>()?;
        let files = stream::iter(paths).map(|(name, path)| self.get_one(name, path)).buffered(AT_A_TIME).try_collect::<Vec<_>>();
        self.wait("read files", files)?.into_iter().collect()
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(name)?;
        self.wait("write a file", self.store.put(&path, bytes.to_vec().into())).map(|_| ())
    }

    fn delete(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            let path = self.path(name)?;
            let delete = async {
                match self.store.delete(&path).await {
                    Err(object_store::Error::NotFound { .. }) => Ok(()),
                    done => done,
                }
            };
            self.wait("delete a file", delete)?;
        }
        Ok(())
    }

    /// What is stored where versions are kept has one. Where they were once, and are not any more, all have the version `null`, which the next of the
    /// same name replaces.
    fn history(&self) -> Result<Option<History>, Error> {
        let stored = self.wait("write a file", self.store.put(&self.path(names::VERSIONS)?, Vec::new().into()))?;
        self.delete(&[names::VERSIONS])?;
        Ok(stored.version.filter(|version| version != "null").map(|_| History::Bucket))
    }
}

/// An answer of a service may be a page.
fn short(error: &dyn Display) -> String {
    error.to_string().chars().take(600).collect::<String>().trim_end_matches('.').escape_debug().to_string()
}
