//! The data folder, and the lock in it that admits one run at a time.

use anyhow::{Context, Result, bail};

use crate::config::Config;
use crate::sys::messages::Ui;
use crate::sys::{data_folder, private_files};

/// The lock that admits one run at a time.
pub(crate) fn run_lock(config: &Config) -> Result<fd_lock::RwLock<std::fs::File>> {
    let lock = config.data_dir.join(data_folder::RUN_LOCK);
    Ok(fd_lock::RwLock::new(private_files::open_lock(&lock).with_context(|| format!("cannot open {}", lock.display()))?))
}

/// Does what no run may be doing at the same time.
///
/// # Errors
/// When a run is under way, or the data folder cannot be written.
pub(crate) fn alone<T>(config: &Config, ui: &Ui, work: impl FnOnce() -> Result<T>) -> Result<T> {
    prepare_folder(config, ui)?;
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { return run_in_progress() };
    work()
}

/// What is said to whoever would have to wait for a run.
pub(crate) fn run_in_progress<T>() -> Result<T> {
    bail!("a run is under way: try again when it has ended")
}

/// Creates the data folder if it is missing, and warns if others can read it.
pub(crate) fn prepare_folder(config: &Config, ui: &Ui) -> Result<()> {
    let dir = &config.data_dir;
    private_files::create_dir(dir).with_context(|| format!("cannot create the data folder {}", dir.display()))?;
    if private_files::is_open_to_others(dir) {
        ui.warn(&format!("others can read {}: `chmod 700` it", dir.display()));
    }
    Ok(())
}
