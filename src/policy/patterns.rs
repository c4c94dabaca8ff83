//! Project patterns of the config: by name, by path, by glob.
//!
//! A pattern that matches less than its author meant would leave private things in, so patterns are read generously: a name is
//! that of a folder anywhere below the home; a folder includes everything below it; a folder behind a link matches by both paths,
//! as a client records the resolved one. What cannot be read this way is refused.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{Glob, GlobSet, GlobSetBuilder, escape};

use crate::sys::paths::{RealPaths, path_aliases};

/// Characters that end the literal part of a pattern.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// How people write their home at the start of a path.
pub(crate) const HOME_NAMES: [&str; 3] = ["~", "$HOME", "${HOME}"];

/// A list of patterns.
#[derive(Debug, Clone, Default)]
pub struct ProjectPatterns {
    all: Arc<Vec<ProjectPattern>>,
    homes: Vec<PathBuf>,
    /// Results by folder, so that links are resolved only once per folder.
    known: Arc<Mutex<HashMap<String, bool>>>,
    real: RealPaths,
}

#[derive(Debug)]
struct ProjectPattern {
    written: String,
    /// Matched against whole paths.
    paths: GlobSet,
    /// Matched against the part of a path below the home, or against all of it elsewhere.
    names: GlobSet,
}

impl ProjectPatterns {
    /// Parses patterns. A bare name is that of a folder, `~` and `$HOME` are the home, `*` and `?` also match `/`.
    ///
    /// # Errors
    /// Names the pattern that cannot be meant, and why.
    pub fn read(written: &[String], home: &Path) -> Result<Self, String> {
        let homes = path_aliases(home);
        let read = |text: &String| ProjectPattern::read(text, &homes).map_err(|why| format!("`{text}` {why}"));
        let all = written.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { all: Arc::new(all), homes, known: Arc::default(), real: RealPaths::default() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Does any pattern match a folder or one of its parents?
    pub fn fit(&self, folder: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fits) = known.get(folder) {
            return *fits;
        }
        let fits = self.all.iter().any(|pattern| self.fits(pattern, folder));
        known.insert(folder.to_owned(), fits);
        fits
    }

    /// Does any pattern end in this name? For a project of which no more is known.
    pub(crate) fn fit_name(&self, name: &str) -> bool {
        let ends = |pattern: &ProjectPattern| {
            let written = pattern.written.trim();
            let last = written.strip_suffix("/**").unwrap_or(written).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            // Stars alone mean all that is in a folder.
            let is_name = last.contains(|c: char| !matches!(c, '*' | '?'));
            is_name && Glob::new(last).is_ok_and(|glob| glob.compile_matcher().is_match(name))
        };
        self.all.iter().any(ends)
    }

    /// The first pattern, as written, that matches a folder or one of its parents.
    pub(crate) fn fitting(&self, folder: &str) -> Option<&str> {
        self.all.iter().find(|pattern| self.fits(pattern, folder)).map(|pattern| pattern.written.as_str())
    }

    fn fits(&self, pattern: &ProjectPattern, folder: &str) -> bool {
        let names = self.real.aliases(Path::new(folder));
        names.iter().any(|name| pattern.paths.is_match(name) || pattern.names.is_match(self.below_home(name)))
    }

    /// The patterns, as written, that match none of these folders.
    pub(crate) fn unmatched<'a>(&'a self, folders: &'a [String]) -> impl Iterator<Item = &'a str> {
        let idle = |pattern: &&ProjectPattern| !folders.iter().any(|folder| self.fits(pattern, folder));
        self.all.iter().filter(idle).map(|pattern| pattern.written.as_str())
    }

    /// The part of a path that may be a project's name: not the folders above the home, which contain everything.
    fn below_home(&self, path: &Path) -> PathBuf {
        let below = self.homes.iter().find_map(|home| path.strip_prefix(home).ok());
        below.map_or_else(|| path.to_owned(), |below| Path::new("/").join(below))
    }
}

impl ProjectPattern {
    fn read(text: &str, homes: &[PathBuf]) -> Result<Self, String> {
        let (mut paths, mut names) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for base in bases(text, homes)? {
            let is_path = base.starts_with(['/', '*']);
            let base = if is_path { base } else { format!("**/{base}") };
            for glob in [base.clone(), format!("{base}/**")] {
                let glob = Glob::new(&glob).map_err(|e| format!("is not a glob: {}", e.kind()))?;
                if is_path {
                    paths.add(glob)
                } else {
                    names.add(glob)
                };
            }
        }
        let built = |set: GlobSetBuilder| set.build().map_err(|e| format!("is not a glob: {}", e.kind()));
        Ok(Self { written: text.to_owned(), paths: built(paths)?, names: built(names)? })
    }
}

/// The pattern without a home prefix and without a trailing "and all below", once for each path of its folder.
fn bases(text: &str, homes: &[PathBuf]) -> Result<Vec<String>, String> {
    let rest = text.trim();
    let below = rest.strip_suffix("/**").unwrap_or(rest).trim_end_matches('/');
    if below.is_empty() {
        return Err("would mean every project".to_owned());
    }
    let at_home = HOME_NAMES.into_iter().find_map(|home| below.strip_prefix(home));
    let written = match at_home {
        Some("") => return Err("would mean every project in the home: name the folders".to_owned()),
        Some(rest) if rest.starts_with('/') => homes.iter().map(|home| format!("{}{rest}", escaped(home))).collect(),
        Some(_) if below.starts_with('~') => return Err("names another user's home: write the whole path".to_owned()),
        _ => vec![below.to_owned()],
    };
    if written.iter().any(|path| names_variable(path)) {
        return Err(
            "names a variable, which may say something else where hooks and timers run: write the path, `~` or `$HOME`".to_owned()
        );
    }
    let real = written.iter().filter_map(|path| with_real_head(path)).collect::<Vec<_>>();
    Ok([written, real].concat())
}

fn escaped(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

fn names_variable(path: &str) -> bool {
    let begins = |at: usize| path[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '{');
    path.match_indices('$').any(|(at, _)| begins(at))
}

/// The pattern with links resolved in the folders before its first wildcard, if that changes it.
fn with_real_head(pattern: &str) -> Option<String> {
    if !pattern.starts_with('/') {
        return None;
    }
    let literal = pattern.find(WILDCARDS).map_or(pattern.len(), |at| pattern[..at].rfind('/').unwrap_or(0));
    let (head, tail) = pattern.split_at(literal);
    // A folder that does not exist yet may still lie behind a link.
    let mut there = Path::new(head);
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(_) => there = there.parent()?,
        }
    };
    let gone = Path::new(head).strip_prefix(there).ok()?;
    let real = if gone.as_os_str().is_empty() { real } else { real.join(gone) };
    (real != Path::new(head)).then(|| format!("{}{tail}", escaped(&real)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn read(patterns: &[&str], home: &Path) -> ProjectPatterns {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        ProjectPatterns::read(&patterns, home).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn names_paths_and_globs_mean_a_folder_and_what_lies_below() {
        let home = Path::new("/home/dev");
        for (pattern, fitting, others) in [
            (
                "shop",
                vec!["/home/dev/src/shop", "/home/dev/shop/api", "/srv/shop"],
                vec!["/home/dev/src/shop-2", "/home/dev/src/bishop"],
            ),
            ("shop*", vec!["/home/dev/src/shop-2"], vec!["/home/dev/src/bishop"]),
            // The home itself has this name, which must not match everything in it.
            ("dev", vec!["/home/dev/src/dev", "/srv/dev"], vec!["/home/dev/src/shop", "/home/dev"]),
            ("clients/acme", vec!["/home/dev/clients/acme/api"], vec!["/home/dev/clients/other", "/home/dev/acme"]),
            ("~/clients/**", vec!["/home/dev/clients/acme", "/home/dev/clients"], vec!["/home/dev/clients2", "/srv/clients/acme"]),
            ("$HOME/clients/**", vec!["/home/dev/clients/acme"], vec!["/home/dev/src"]),
            ("${HOME}/clients/", vec!["/home/dev/clients/acme"], vec!["/home/dev/src"]),
            ("/srv/{a,b}/*", vec!["/srv/a/x", "/srv/b/x/y"], vec!["/srv/c/x"]),
            ("**/personal/*", vec!["/home/dev/personal/diary"], vec!["/home/dev/personality"]),
        ] {
            let patterns = read(&[pattern], home);
            fitting.iter().for_each(|folder| assert!(patterns.fit(folder), "{pattern} means {folder}"));
            others.iter().for_each(|folder| assert!(!patterns.fit(folder), "{pattern} does not mean {folder}"));
        }
    }

    #[test]
    fn a_name_alone_is_held_against_the_ends_of_patterns() {
        for (pattern, fits) in [
            ("shop", true),
            ("sho*", true),
            ("~/src/shop", true),
            ("/srv/shop/**", true),
            ("clients/shop/", true),
            ("shop/api", false),
            ("~/clients/*", false),
            ("~/clients/**", false),
            ("shopping", false),
        ] {
            assert_eq!(read(&[pattern], Path::new("/home/dev")).fit_name("shop"), fits, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_reason() {
        for (pattern, why) in [
            ("", "every project"),
            ("/", "every project"),
            ("/**", "every project"),
            ("~", "in the home"),
            ("~/", "in the home"),
            ("~bob/clients", "another user's home"),
            ("$CLIENTS/**", "a variable"),
            ("/srv/${TEAM}/x", "a variable"),
            ("a{", "is not a glob"),
        ] {
            let refused = ProjectPatterns::read(&[pattern.to_owned()], Path::new("/home/dev")).expect_err(pattern);
            assert!(refused.contains(why) && refused.starts_with(&format!("`{pattern}`")), "{refused}");
        }
    }

    #[test]
    fn a_folder_behind_a_link_is_known_by_both_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let (home, disk) = (base.join("home"), base.join("disk [1]"));
        fs::create_dir_all(disk.join("clients/acme")).expect("folders");
        fs::create_dir_all(&home).expect("a home");
        symlink(disk.join("clients"), home.join("clients")).expect("a link");
        let named = |folder: &Path| folder.to_str().expect("UTF-8").to_owned();
        for pattern in ["~/clients/**", "~/clients/ac*", "~/clients/acme", "~/clients"] {
            let patterns = read(&[pattern], &home);
            assert!(patterns.fit(&named(&disk.join("clients/acme"))), "{pattern}: as the client notes it");
            assert!(patterns.fit(&named(&home.join("clients/acme"))), "{pattern}: as it is written");
            assert!(!patterns.fit(&named(&disk.join("other"))), "{pattern}");
        }
        // A folder that is created later.
        assert!(read(&["~/clients/later/**"], &home).fit(&named(&disk.join("clients/later/api"))));
        // Written as on disk, recorded by the link's path.
        let patterns = read(&[&format!("{}/**", escape(&named(&disk.join("clients"))))], &home);
        assert!(patterns.fit(&named(&home.join("clients/acme"))));
    }

    #[test]
    fn patterns_that_mean_nothing_are_named() {
        let patterns = read(&["shop", "shpo", "/srv/**"], Path::new("/home/dev"));
        let known = ["/home/dev/src/shop".to_owned(), "/home/dev/notes".to_owned()];
        assert_eq!(patterns.unmatched(&known).collect::<Vec<_>>(), ["shpo", "/srv/**"]);
    }
}
