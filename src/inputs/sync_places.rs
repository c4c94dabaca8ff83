//! The folders over which this machine exchanges with the user's others: `app::sync` keeps them, and a timer must let the digest write there.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::sys::data_folder;

#[derive(Deserialize)]
struct Places {
    places: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    address: String,
}

/// The file in which `app::sync` keeps what it knows.
pub(crate) fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::SYNC).join("state.json")
}

/// A place that is a folder of this machine, and no host or bucket.
pub(crate) fn is_folder(address: &str) -> bool {
    address.starts_with('/')
}

/// The folders that are set up; none where nothing can be read.
pub(crate) fn folders(data_dir: &Path) -> Vec<String> {
    let read = std::fs::read(file(data_dir)).ok().and_then(|text| serde_json::from_slice::<Places>(&text).ok());
    let addresses = read.into_iter().flat_map(|read| read.places).map(|place| place.address);
    addresses.filter(|address| is_folder(address)).collect()
}
