//! The privacy settings, and the sanitizer built from them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use globset::{Glob, GlobBuilder, GlobSetBuilder, escape};
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use crate::analyze::use_of_told::names_in;
use crate::policy::HOME_NAMES;
use redact::{Redactor, Rule};
use transcripts::privacy::{OwnWords, PrivateFiles, Sanitizer, SkippedTools, glob};

/// The tools of `recall mcp`: `build.rs` reads the names in its files.
pub(crate) const OWN_TOOLS: &[&str] = include!(concat!(env!("OUT_DIR"), "/own_tools.rs"));

/// By what our own words are known in a transcript: what the memory says about earlier sessions is not ingested again.
const OWN_WORDS: OwnWords = OwnWords { tools: OWN_TOOLS, names_in };

/// Files whose content is never stored, whatever the config says.
pub(crate) const PRIVATE_FILES: [&str; 70] = [
    "**/.env*", "**/*.env", "**/*secret*", "**/*credential*", "**/id_rsa*", "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*",
    "**/*.pem", "**/*.key", "**/*.p8", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore", "**/*.kdbx", "**/*.ovpn",
    "**/*.tfvars", "**/.netrc", "**/_netrc", "**/.pgpass", "**/.npmrc", "**/.pypirc", "**/.htpasswd", "**/.aws/**",
    "**/.kube/config", "**/.docker/config.json", "**/.secrets/**", "**/env.prod*", "**/env.stag*", "**/env.local", "**/env.dev*",
    "**/service-account*.json", "**/service_account*.json", "**/serviceaccount*.json", "**/passwords.*", "**/password.txt",
    "**/passwd.txt", "**/hosts.yml", "**/etc/shadow*", "**/etc/gshadow*", "**/wp-config*.php", "**/application-*.properties",
    "**/application-*.yml", "**/application-*.yaml", "**/appsettings.*.json", "**/local.settings.json", "**/.m2/settings*.xml",
    "**/.*_history", "**/fish_history", "**/ConsoleHost_history.txt", "**/*.tfstate*", "**/kubeconfig*", "**/*.kubeconfig",
    "**/.dockercfg", "**/.my.cnf", "**/.mylogin.cnf", "**/.s3cfg", "**/.boto", "**/rclone.conf", "**/.vault-token", "**/.gnupg/**",
    "**/.password-store/**", "**/sasl_passwd*", "**/htpasswd", "**/*.keytab", "**/wallet.dat", "**/ssh_host_*_key",
    "**/cookies.txt", "**/wg0.conf",
];

/// A pattern that matches each of these matches every text, as far as anybody writes one.
const ANY_TEXT: [&str; 5] = ["Fix the login page", "cargo test", "12 passed", "Ja, bitte.", "修复登录"];

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrivacyConfig {
    /// Globs of files and folders whose content is left out, in addition to the built-in ones; `!glob` makes an exception.
    pub exclude_paths: Vec<String>,
    /// Excluded projects: names, paths or globs of their folders, including everything below.
    pub exclude_projects: Vec<String>,
    /// Projects whose sessions are shown only within the project itself, in the same notation.
    pub isolate: Vec<String>,
    /// Globs over the paths of transcripts that are not read.
    pub exclude_transcripts: Vec<String>,
    /// Regular expressions; a message, command or output that matches is left out.
    pub exclude_patterns: Vec<String>,
    /// The user's own kinds of secrets.
    pub rules: Vec<Rule>,
}

impl PrivacyConfig {
    /// # Errors
    /// The invalid key and the reason.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        for pattern in &self.exclude_paths {
            GlobBuilder::new(pattern.trim_start_matches('!')).build().map_err(|e| ("privacy.exclude_paths", e.to_string()))?;
        }
        // Every hook checks its config: building even an empty set takes as long as all else that it does, and asks how many cores there are.
        if !self.exclude_patterns.is_empty() {
            let key = "privacy.exclude_patterns";
            let patterns = self.patterns().map_err(|e| (key, e.to_string()))?;
            let matches_all = |at: &usize| ANY_TEXT.iter().all(|text| patterns.matches(text).matched(*at));
            if let Some(at) = (0..patterns.len()).find(matches_all) {
                return Err((
                    key,
                    format!("`{}` matches every text: all that is stored would be deleted", self.exclude_patterns[at]),
                ));
            }
        }
        // The built-in rules are valid and need no check.
        if !self.rules.is_empty() {
            Redactor::new(&self.rules).map_err(|e| ("privacy.rules", e.to_string()))?;
        }
        Ok(())
    }

    fn patterns(&self) -> Result<RegexSet, regex::Error> {
        if self.exclude_patterns.is_empty() { Ok(RegexSet::empty()) } else { RegexSetBuilder::new(&self.exclude_patterns).build() }
    }

    /// # Errors
    /// When a rule is invalid; `check` names it.
    pub(crate) fn redactor(&self) -> Result<Redactor> {
        let shipped = self.rules.is_empty();
        Ok(if shipped { Redactor::shipped().clone() } else { Redactor::new(&self.rules)? })
    }

    /// The globs of `exclude_paths` with all that they stand for: `homes` are the paths of the user's home. Exceptions begin with `!`.
    pub(crate) fn path_globs(&self, homes: &[PathBuf]) -> Vec<String> {
        self.exclude_paths.iter().flat_map(|pattern| globs_of(pattern, homes)).collect()
    }

    /// # Errors
    /// When a glob, pattern or rule is invalid; `check` names it.
    pub fn sanitizer(&self, skip_tools: SkippedTools, homes: &[PathBuf]) -> Result<Sanitizer> {
        let redactor = self.redactor()?;
        // The built-in ones are valid, and compiled where a path is asked about.
        let mut private: Vec<String> = PRIVATE_FILES.map(str::to_owned).into();
        let mut allowed = GlobSetBuilder::new();
        for pattern in self.path_globs(homes) {
            match pattern.strip_prefix('!') {
                Some(exception) => _ = allowed.add(compiled(exception)?),
                None => {
                    compiled(&pattern)?;
                    private.push(pattern);
                }
            }
        }
        Ok(Sanitizer::new(redactor, self.patterns()?, PrivateFiles::new(private, allowed.build()?), skip_tools).knowing(OWN_WORDS))
    }
}

/// How a home is written at the start of a path. A `?` stands for a brace, which means something else in a glob.
const HOMES_IN_COMMANDS: [&str; 3] = ["~", "$HOME", "$?HOME?"];

/// The globs of a pattern. One that lies in the home stands for each way in which a command may name that; of a folder that is private, all
/// that is in it is, too.
fn globs_of(pattern: &str, homes: &[PathBuf]) -> Vec<String> {
    let (mark, path) = pattern.strip_prefix('!').map_or(("", pattern), |exception| ("!", exception));
    let written = homes.iter().map(|home| escape(&home.to_string_lossy()));
    let known: Vec<String> = HOMES_IN_COMMANDS.iter().map(|home| (*home).to_owned()).chain(written).collect();
    let below = |home: &str| path.strip_prefix(home).filter(|rest| rest.starts_with('/'));
    let plain = homes.iter().find_map(|home| below(home.to_str()?));
    let spelled = match HOME_NAMES.into_iter().find_map(below).or(plain) {
        Some(rest) => known.iter().map(|home| format!("{home}{rest}")).collect(),
        None => vec![path.to_owned()],
    };
    // Without a slash it is a name in any folder.
    let anywhere = if path.contains('/') { "" } else { "**/" };
    let in_folder = |path: &String| format!("{anywhere}{}/**", path.trim_end_matches('/'));
    let is_folder = mark.is_empty() && !path.ends_with("/**");
    let inside: Vec<String> = spelled.iter().filter(|_| is_folder).map(in_folder).collect();
    [spelled, inside].concat().into_iter().map(|glob| format!("{mark}{glob}")).collect()
}

fn compiled(pattern: &str) -> Result<Glob> {
    glob(pattern).with_context(|| format!("`{pattern}` is not a glob"))
}
