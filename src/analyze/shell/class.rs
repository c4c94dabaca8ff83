//! What a command is for: which checks it makes, or that it runs, deploys or migrates something.

use serde::{Deserialize, Serialize};

use super::checks::{CheckKind, may_check};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CommandClass {
    Test,
    Lint,
    Types,
    Build,
    /// A check of another kind.
    Check,
    Run,
    Deploy,
    Migrate,
}

use CommandClass::{Build, Check, Deploy, Lint, Migrate, Run, Test, Types};

const NAMES: [(CommandClass, &str); 8] = [
    (Test, "test"),
    (Lint, "lint"),
    (Types, "types"),
    (Build, "build"),
    (Check, "check"),
    (Run, "run"),
    (Deploy, "deploy"),
    (Migrate, "migrate"),
];

/// The first words of commands that are no checks. `*` begins a part that a word holds.
const OTHERS: &[(CommandClass, &[&str])] = &[
    (Migrate, &["alembic", "upgrade"]),
    (Migrate, &["flyway", "migrate"]),
    (Migrate, &["sqlx", "migrate"]),
    (Migrate, &["prisma", "migrate"]),
    (Migrate, &["knex", "migrate"]),
    (Migrate, &["diesel", "migration"]),
    (Migrate, &["rails", "db:migrate"]),
    (Migrate, &["rake", "db:migrate"]),
    (Migrate, &["python", "migrate"]),
    (Migrate, &["python3", "migrate"]),
    (Migrate, &["make", "*migrate"]),
    (Migrate, &["just", "*migrate"]),
    (Migrate, &["npm", "run", "*migrate"]),
    (Migrate, &["pnpm", "*migrate"]),
    (Migrate, &["yarn", "*migrate"]),
    (Deploy, &["kubectl", "apply"]),
    (Deploy, &["helm", "upgrade"]),
    (Deploy, &["terraform", "apply"]),
    (Deploy, &["tofu", "apply"]),
    (Deploy, &["docker", "push"]),
    (Deploy, &["npm", "publish"]),
    (Deploy, &["cargo", "publish"]),
    (Deploy, &["*deploy"]),
    (Deploy, &["fly", "deploy"]),
    (Deploy, &["flyctl", "deploy"]),
    (Deploy, &["wrangler", "deploy"]),
    (Deploy, &["firebase", "deploy"]),
    (Deploy, &["make", "*deploy"]),
    (Deploy, &["just", "*deploy"]),
    (Deploy, &["npm", "run", "*deploy"]),
    (Deploy, &["pnpm", "*deploy"]),
    (Deploy, &["yarn", "*deploy"]),
    (Run, &["cargo", "run"]),
    (Run, &["go", "run"]),
    (Run, &["docker", "compose", "up"]),
    (Run, &["docker-compose", "up"]),
    (Run, &["make", "run"]),
    (Run, &["just", "run"]),
];

impl CommandClass {
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(class, _)| *class == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(class, _)| *class)
    }

    /// That a word names, in the singular or in the plural.
    pub(crate) fn meant_by(word: &str) -> Option<Self> {
        let bare = |word: &str| word.trim_end_matches('s').to_owned();
        NAMES.iter().find(|(_, known)| bare(known) == bare(word)).map(|(class, _)| *class)
    }

    /// Is the word the program of a command that is no check?
    pub(super) fn is_program(word: &str) -> bool {
        OTHERS.iter().any(|(_, pattern)| pattern[0] == word)
    }

    /// Of a check, by its program and the first words behind it.
    pub(crate) fn of_check(words: &[String]) -> Self {
        let first = first_words(words);
        // The third word is the name of a script, or what is checked.
        let told = if first.get(1) == Some(&"run") { 3 } else { 2 };
        let line = first[..first.len().min(told)].join(" ").to_lowercase();
        let checks = |kind| may_check(&line, kind);
        match () {
            () if line.contains("lint") || line.contains("vet") || line.contains("clippy") => Lint,
            () if line.contains("typecheck") || line.contains("type-check") || line.starts_with("tsc") => Types,
            () if line.contains("build") || line.contains("compile") => Build,
            // What a project's own script of that name does is not known; that of `make` tests.
            () if matches!(first.first(), Some(&("npm" | "pnpm" | "yarn" | "bun"))) && line.ends_with(" check") => Check,
            () if checks(CheckKind::Tests) => Test,
            () if checks(CheckKind::Lints) => Lint,
            () if checks(CheckKind::Types) => Types,
            () if checks(CheckKind::Builds) => Build,
            () => Check,
        }
    }

    /// Of a command that is no check.
    pub(crate) fn of_other(words: &[String]) -> Option<Self> {
        let first = first_words(words);
        let fits = |known: &&str, word: &str| known.strip_prefix('*').map_or(*known == word, |part| word.contains(part));
        let is =
            |pattern: &[&str]| pattern.len() <= first.len() && pattern.iter().zip(&first).all(|(known, word)| fits(known, word));
        OTHERS.iter().find(|(_, pattern)| is(pattern)).map(|(class, _)| *class)
    }
}

/// The program and the next words that are neither options nor paths.
fn first_words(words: &[String]) -> Vec<&str> {
    let program = words.first().map(|word| word.rsplit('/').next().unwrap_or_default());
    let behind = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains(['/', '.', '=']));
    program.into_iter().chain(behind.map(String::as_str)).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_is_told_by_its_first_words() {
        for (line, class) in [
            ("cargo test --locked", Test),
            ("pytest tests/api", Test),
            ("cargo clippy", Lint),
            ("npm run lint", Lint),
            ("npm run typecheck", Types),
            ("mypy src", Types),
            ("cargo build", Build),
            ("npm run build", Build),
            ("go vet ./...", Lint),
            ("go build ./...", Build),
            ("go test ./a -run TestBuild", Test),
            ("knip", Check),
            ("npm run check", Check),
            ("pnpm check", Check),
            ("make check", Test),
            ("ruff check .", Lint),
            ("tsc --noEmit", Types),
        ] {
            assert_eq!(CommandClass::of_check(&words(line)), class, "{line}");
        }
        for (line, class) in [
            ("docker compose up -d", Some(Run)),
            ("bin/deploy staging", Some(Deploy)),
            ("npm run deploy", Some(Deploy)),
            ("python manage.py migrate", Some(Migrate)),
            ("alembic upgrade head", Some(Migrate)),
            ("prisma migrate dev", Some(Migrate)),
            ("git push", None),
            ("cat deploy.md", None),
            ("rm -rf migrate", None),
            ("npm ci", None),
            ("git commit -m deploy", None),
        ] {
            assert_eq!(CommandClass::of_other(&words(line)), class, "{line}");
        }
    }
}
