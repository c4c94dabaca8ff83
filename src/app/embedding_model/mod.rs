//! The model that search by meaning uses on this machine: fetched by name from the Hugging Face hub or copied from a folder, tried once, and
//! then selected. Nothing is fetched without being asked for.
//!
//! Models lie in `models/NAME` in the data folder; `models/current` names the one in use.

mod fetch;
mod known;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use self::known::{KNOWN, KnownModel};
use crate::config::{CURRENT_MODEL, Config};
use crate::search::semantic::{LocalModel, PROBE, TextToEmbed, local_program};
use crate::store::WholeIndex;
use crate::sys::download::check_hub;
use crate::sys::private_files;

/// Where models come from, unless `HF_ENDPOINT` names a mirror.
const HUB: &str = "https://huggingface.co";
const HUB_VARIABLE: &str = "HF_ENDPOINT";
/// What a model needs, and what it may have, in the layout of the hub.
const NEEDED: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
const OPTIONAL: [&str; 3] = ["1_Pooling/config.json", "modules.json", "sentence_bert_config.json"];

/// What is installed, for people.
pub(crate) struct InstalledModel {
    pub(crate) name: String,
    /// Sessions and notes with vectors of it, and all of them.
    pub(crate) embedded: Option<(u64, u64)>,
    pub(crate) program: Option<PathBuf>,
}

/// Names and sizes of the models that can be fetched, with what each is good for.
pub(crate) fn known() -> impl Iterator<Item = (&'static str, u64, &'static str)> {
    KNOWN.iter().map(|model| (model.name, model.bytes(), model.about))
}

/// The installed model, if there is one in use.
pub(crate) fn installed(config: &Config) -> Result<Option<InstalledModel>> {
    let Some(name) = LocalModel::of(config).map(|model| model.name()) else { return Ok(None) };
    let store = WholeIndex::open_if_there(&config.database())?;
    let embedded = store.map(|store| store.count_embedded()).transpose()?;
    Ok(Some(InstalledModel { name, embedded, program: local_program(config) }))
}

/// Installs a model, a name or a folder, and selects it. `begin` is told what will be fetched from where. Returns its name.
///
/// # Errors
/// When the config names an endpoint, the program that runs models is missing, or the model cannot be had or does not work. The model in use
/// before stays in use.
pub(crate) fn install(config: &Config, wanted: Option<&str>, begin: impl FnOnce(&str)) -> Result<String> {
    ensure!(
        !config.embeddings.is_on(),
        "{} names an endpoint for embeddings: remove `embeddings.endpoint` from it to use a model on this machine",
        config.config_file.display()
    );
    ensure!(
        local_program(config).is_some(),
        "`{}`, which runs the model, was not found beside `recall` or on the PATH. It is in the archive and the package of `recall`; from the source: \
         `cargo install --path crates/recall-embed`",
        config.embeddings.program
    );
    let models = config.models_dir();
    private_files::create_dir(&models).with_context(|| format!("cannot make {}", models.display()))?;
    let known = wanted.map_or(Some(&KNOWN[0]), KnownModel::named);
    let name = match (known, wanted) {
        (Some(model), _) => {
            let name = fetched(model, &models, begin)?;
            let folder = models.join(&name);
            try_out(config, &folder, &folder)?;
            name
        }
        (None, Some(folder)) if Path::new(folder).is_dir() => copied(config, Path::new(folder), &models)?,
        (None, wanted) => bail!("no model is called `{}`: {}, or a folder with a model", wanted.unwrap_or_default(), names()),
    };
    private_files::replace(&models.join(CURRENT_MODEL), name.as_bytes())?;
    Ok(name)
}

/// Deletes all models. Their vectors go with the next digest. False if there was none.
pub(crate) fn remove(config: &Config) -> Result<bool> {
    let models = config.models_dir();
    if !models.exists() {
        return Ok(false);
    }
    fs::remove_dir_all(&models).with_context(|| format!("cannot delete {}", models.display()))?;
    Ok(true)
}

fn names() -> String {
    KNOWN.map(|model| format!("`{}`", model.name)).join(", ")
}

/// Fetches a known model, unless it is there. Returns its name.
fn fetched(model: &KnownModel, models: &Path, begin: impl FnOnce(&str)) -> Result<String> {
    let folder = models.join(model.name);
    private_files::create_dir(&folder)?;
    let hub = env::var(HUB_VARIABLE).ok().filter(|hub| !hub.trim().is_empty()).unwrap_or_else(|| HUB.to_owned());
    check_hub(&hub).with_context(|| format!("${HUB_VARIABLE}"))?;
    begin(&format!("{} ({} MB) from {hub}", model.name, model.bytes() / 1_000_000));
    fetch::fetch(model, &hub, &folder)?;
    let pooling = json!({"pooling_mode_mean_tokens": model.mean, "pooling_mode_cls_token": !model.mean});
    private_files::create_dir(&folder.join("1_Pooling"))?;
    private_files::replace(&folder.join("1_Pooling/config.json"), pooling.to_string().as_bytes())?;
    let limits = json!({"max_seq_length": model.max_tokens});
    private_files::replace(&folder.join("sentence_bert_config.json"), limits.to_string().as_bytes())?;
    Ok(model.name.to_owned())
}

/// Copies a model from a folder, so that it does not go when the folder does. One of the same name goes when the copy has been tried. Returns its name.
fn copied(config: &Config, from: &Path, models: &Path) -> Result<String> {
    for name in NEEDED {
        ensure!(from.join(name).is_file(), "{} is not a model folder as Hugging Face has them: it has no {name}", from.display());
    }
    let whole = from.canonicalize()?;
    let name = from.file_name().or_else(|| whole.file_name()).and_then(|name| name.to_str()).filter(|name| *name != CURRENT_MODEL);
    let name = name.with_context(|| format!("{}: the folder's name cannot be that of a model", from.display()))?;
    let folder = models.join(name);
    if folder == whole {
        try_out(config, &folder, from)?;
        return Ok(name.to_owned());
    }
    // Beside its place first: a copy that is cut short is none.
    let partial = models.join(format!(".tmp-{name}"));
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    let tried = copy_files(from, &partial).and_then(|()| try_out(config, &partial, from));
    if tried.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    tried?;
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::rename(&partial, &folder)?;
    Ok(name.to_owned())
}

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    private_files::create_dir(to)?;
    for file in NEEDED.iter().chain(&OPTIONAL).filter(|file| from.join(file).is_file()) {
        let to = to.join(file);
        to.parent().map_or(Ok(()), private_files::create_dir)?;
        fs::copy(from.join(file), &to).with_context(|| format!("cannot copy {}", from.join(file).display()))?;
    }
    Ok(())
}

/// Runs the model in `folder` once, which the user knows as `called`.
fn try_out(config: &Config, folder: &Path, called: &Path) -> Result<()> {
    let model = LocalModel::in_folder(config, folder.to_owned());
    match model.embed(&[TextToEmbed::passage(PROBE)]) {
        Ok(_) => Ok(()),
        Err((why, _)) => bail!("{} cannot be used: {why}", called.display()),
    }
}
