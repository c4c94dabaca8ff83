//! What the config says about privacy, and the gate that comes of it.

use anyhow::{Context, Result};
use globset::{Glob, GlobBuilder, GlobSetBuilder};
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use crate::privacy::{Files, Gate};
use crate::redact::{Redactor, UserRule};

/// Files whose content is never kept, whatever the config says besides.
pub const PRIVATE_FILES: [&str; 70] = [
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

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrivacyConfig {
    /// Globs over files whose content is left out, beside those that always are; `!glob` lets some in again.
    pub exclude_paths: Vec<String>,
    /// Projects that are left out: names, paths or globs of their folders, with what lies below.
    pub exclude_projects: Vec<String>,
    /// Projects whose sessions are shown in themselves and nowhere else, in the same forms.
    pub isolate: Vec<String>,
    /// Globs over the paths of transcripts that are not read.
    pub exclude_transcripts: Vec<String>,
    /// Regular expressions; a message, command or output that matches is left out.
    pub exclude_patterns: Vec<String>,
    /// Secrets of the user's own kinds.
    pub rules: Vec<UserRule>,
}

impl PrivacyConfig {
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        for glob in &self.exclude_paths {
            GlobBuilder::new(glob.trim_start_matches('!')).build().map_err(|e| ("privacy.exclude_paths", e.to_string()))?;
        }
        self.patterns().map_err(|e| ("privacy.exclude_patterns", e.to_string()))?;
        // The shipped rules need no compiling; a config seldom has rules.
        if !self.rules.is_empty() {
            Redactor::new(&self.rules).map_err(|e| ("privacy.rules", e.to_string()))?;
        }
        Ok(())
    }

    fn patterns(&self) -> Result<RegexSet, regex::Error> {
        // Also none at all are put together, which takes as long as all else that a hook does.
        if self.exclude_patterns.is_empty() { Ok(RegexSet::empty()) } else { RegexSetBuilder::new(&self.exclude_patterns).build() }
    }

    /// # Errors
    /// When a glob, a pattern or a rule is none; `check` has told which.
    pub fn redactor(&self) -> Result<Redactor> {
        let shipped = self.rules.is_empty();
        Ok(if shipped { Redactor::shipped().clone() } else { Redactor::new(&self.rules)? })
    }

    /// # Errors
    /// When a glob, a pattern or a rule is none; `check` has told which.
    pub fn gate(&self, skip_tools: &[String]) -> Result<Gate> {
        let redactor = self.redactor()?;
        let own = |allowed: bool| {
            self.exclude_paths
                .iter()
                .filter_map(move |g| if allowed { g.strip_prefix('!') } else { Some(g.as_str()).filter(|g| !g.starts_with('!')) })
        };
        let private = globs(PRIVATE_FILES.into_iter().chain(own(false)))?;
        let mut allowed = GlobSetBuilder::new();
        globs(own(true))?.into_iter().for_each(|glob| _ = allowed.add(glob));
        Ok(Gate::new(redactor, self.patterns()?, Files::new(private, allowed.build()?), skip_tools.to_vec()))
    }
}

/// File names are compared without case, and a folder's name says nothing about the files in it. A glob without a slash is one of
/// names, wherever they are.
fn globs<'g>(patterns: impl Iterator<Item = &'g str>) -> Result<Vec<Glob>> {
    let glob = |pattern: &str| {
        let anywhere = if pattern.contains('/') { "" } else { "**/" };
        let glob = GlobBuilder::new(&format!("{anywhere}{pattern}")).literal_separator(true).case_insensitive(true).build();
        glob.with_context(|| format!("`{pattern}` is no glob"))
    };
    patterns.map(glob).collect()
}
