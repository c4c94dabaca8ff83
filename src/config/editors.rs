//! Where editors keep what belongs to the user, the storage of extensions among it.

use std::path::{Path, PathBuf};

/// VS Code, and what was made of it.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/// Below the home: editors whose windows are on another machine or in a browser.
const SERVERS: [&str; 6] = [
    ".vscode-server/data", ".vscode-server-insiders/data", ".vscodium-server/data", ".cursor-server/data", ".windsurf-server/data",
    ".local/share/code-server",
];

/// Where VS Code itself keeps what belongs to the user: that of a release, or of the previews where only these were used.
pub(super) fn vs_code_folder(home: &Path, config_home: &Path) -> PathBuf {
    let all = || EDITORS[..2].iter().map(|editor| data_folder(home, config_home).join(editor).join("User"));
    all().find(|folder| folder.is_dir()).or_else(|| all().next()).unwrap_or_default()
}

/// Where programs with windows keep their data.
fn data_folder(home: &Path, config_home: &Path) -> PathBuf {
    if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config_home.to_owned() }
}

/// The folders of all editors that were used here. `config_home`: where programs of Linux keep their settings.
pub(super) fn user_folders(home: &Path, config_home: &Path) -> Vec<PathBuf> {
    let data = data_folder(home, config_home);
    let of_windows = EDITORS.iter().map(|editor| data.join(editor));
    let of_servers = SERVERS.iter().map(|server| home.join(server));
    let all = of_windows.chain(of_servers).map(|folder| folder.join("User"));
    all.filter(|folder| folder.is_absolute() && folder.is_dir()).collect()
}
