//! What a command is for: which checks it makes, or that it formats, builds, runs, deploys or migrates something. Its words tell: a subcommand, or
//! the name of a script or of a target.

use serde::{Deserialize, Serialize};

use super::checks::{CheckKind, from_program, is_assignment, is_check, may_check};
use super::steps::steps;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandClass {
    Test,
    Lint,
    Format,
    Types,
    Build,
    /// A check of another kind.
    Check,
    Run,
    Deploy,
    Migrate,
}

use CommandClass::{Build, Check, Deploy, Format, Lint, Migrate, Run, Test, Types};

const NAMES: [(CommandClass, &str); 9] = [
    (Test, "test"),
    (Lint, "lint"),
    (Format, "format"),
    (Types, "types"),
    (Build, "build"),
    (Check, "check"),
    (Run, "run"),
    (Deploy, "deploy"),
    (Migrate, "migrate"),
];

/// What a word says that a command does, as a subcommand or as a part of a script's name.
const VERBS: &[(CommandClass, &[&str])] = &[
    (Migrate, &["migrate", "migrations", "migration"]),
    (Deploy, &["deploy", "publish", "release", "upload", "ship", "flash"]),
    (Test, &["test", "tests", "spec", "specs", "e2e", "smoke", "unittest", "unittests", "pytest", "jest", "vitest"]),
    (Format, &["format", "fmt", "reformat", "scalafmt", "spotless"]),
    (Lint, &["lint", "lints", "linters", "clippy", "vet", "eslint"]),
    (Types, &["typecheck", "types"]),
    (Build, &["build", "rebuild", "compile", "bundle", "assemble", "assembly", "generate", "codegen", "dist"]),
    (Run, &["run", "start", "serve", "server", "dev", "up", "watch", "runserver", "exec"]),
];
/// Subcommands that look, set up or take away, whatever stands behind them; behind a verb they make it one of these.
const ASIDE: &[&str] = &[
    "add", "cancel", "clean", "config", "create", "current", "delete", "describe", "destroy", "diff", "doc", "docs", "down",
    "edit", "env", "get", "heads", "help", "history", "images", "info", "init", "inspect", "install", "kill", "list", "log",
    "login", "logout", "logs", "ls", "new", "ps", "pull", "remove", "reset", "resolve", "revert", "revision", "rm", "rollback",
    "scale", "search", "set", "show", "status", "stop", "uninstall", "version", "view", "whoami",
];
/// Programs that look, wait, print or prepare, and words of the shell.
const LOOKS: &[&str] = &[
    ".", "[", "[[", ":", "ack", "ag", "awk", "basename", "break", "case", "cat", "cd", "clear", "column", "command", "continue",
    "cut", "date", "df", "diff", "dirname", "done", "du", "echo", "egrep", "esac", "exit", "export", "false", "fd", "fi", "file",
    "find", "for", "gh", "git", "glab", "grep", "head", "jobs", "jq", "kill", "killall", "less", "ls", "lsof", "man", "mkdir",
    "nl", "pgrep", "pkill", "popd", "printf", "ps", "pushd", "pwd", "read", "readlink", "realpath", "return", "rg", "sed", "seq",
    "set", "shift", "sleep", "sort", "source", "ss", "stat", "tail", "tee", "test", "touch", "tr", "tree", "true", "type",
    "ulimit", "umask", "uname", "uniq", "unset", "unzip", "wait", "wc", "which", "whoami", "xargs", "}",
];
/// Programs whose words say nothing of the project's work: they install, move files, or talk to others.
const NO_WORK: &[&str] = &[
    "apt", "apt-get", "brew", "chmod", "chown", "code", "conda", "cp", "curl", "eval", "gem", "ln", "mv", "mysql", "nvm", "open",
    "opam", "pip", "pip3", "pipx", "psql", "rm", "rmdir", "rsync", "rustup", "scp", "service", "sqlite3", "ssh", "systemctl",
    "tar", "vim", "watch", "wget", "zip",
];
/// Programs that run what their first word names in a project's own file.
const TASK_RUNNERS: &[&str] = &[
    "make", "gmake", "just", "task", "rake", "mage", "inv", "invoke", "npm", "pnpm", "yarn", "bun", "poe", "mise", "gradle",
    "gradlew", "mvn", "mvnw", "sbt", "ant", "composer", "nx", "turbo", "lerna", "hatch", "pdm", "pixi", "devbox", "fastlane",
    "xtask",
];
/// Those of which each word is such a name.
const RUNS_TARGETS: &[&str] =
    &["make", "gmake", "just", "task", "rake", "mage", "inv", "invoke", "gradle", "gradlew", "ant", "xtask"];
/// Programs with subcommands of subcommands.
const NESTED: &[&str] = &[
    "aws", "az", "cargo", "deno", "docker", "docker-compose", "dotnet", "firebase", "flask", "gcloud", "helm", "podman", "prisma",
    "rails", "sam", "supabase", "wrangler",
];
/// Programs that run a script.
const INTERPRETERS: &[&str] = &[
    "python", "python3", "node", "ruby", "php", "perl", "bash", "sh", "zsh", "Rscript", "julia", "lua", "elixir", "tsx", "ts-node",
];
/// Names of scripts that start the program.
const ENTRIES: &[&str] = &["app", "index", "main"];
/// Programs with the first words behind them, where these words alone do not tell.
const KNOWN: &[(CommandClass, &[&str])] = &[
    (Migrate, &["alembic", "upgrade"]),
    (Migrate, &["flask", "db", "upgrade"]),
    (Migrate, &["dotnet", "ef", "database", "update"]),
    (Migrate, &["prisma", "db", "push"]),
    (Migrate, &["supabase", "db", "push"]),
    (Migrate, &["drizzle-kit", "push"]),
    (Migrate, &["atlas", "schema", "apply"]),
    (Migrate, &["liquibase", "update"]),
    (Migrate, &["dbmate", "up"]),
    (Migrate, &["goose", "up"]),
    (Migrate, &["migrate", "up"]),
    (Migrate, &["sqitch", "deploy"]),
    (Deploy, &["kubectl", "apply"]),
    (Deploy, &["kubectl", "rollout", "restart"]),
    (Deploy, &["helm", "upgrade"]),
    (Deploy, &["terraform", "apply"]),
    (Deploy, &["tofu", "apply"]),
    (Deploy, &["terragrunt", "apply"]),
    (Deploy, &["pulumi", "up"]),
    (Deploy, &["railway", "up"]),
    (Deploy, &["docker", "push"]),
    (Deploy, &["docker", "compose", "push"]),
    (Deploy, &["podman", "push"]),
    (Deploy, &["gem", "push"]),
    (Deploy, &["clasp", "push"]),
    (Deploy, &["cf", "push"]),
    (Deploy, &["aws", "s3", "sync"]),
    (Deploy, &["ansible-playbook"]),
    (Deploy, &["nixos-rebuild", "switch"]),
    (Build, &["dotnet", "publish"]),
    (Build, &["maturin", "develop"]),
    (Build, &["sphinx-build"]),
    (Build, &["mkdocs", "build"]),
    (Build, &["cmake"]),
    (Build, &["ninja"]),
    (Build, &["gcc"]),
    (Build, &["g++"]),
    (Build, &["clang"]),
    (Build, &["clang++"]),
    (Build, &["protoc"]),
    (Build, &["webpack"]),
    (Build, &["rollup"]),
    (Build, &["esbuild"]),
    (Build, &["tsup"]),
    (Build, &["pyinstaller"]),
    (Build, &["latexmk"]),
    (Build, &["pdflatex"]),
    (Build, &["mvn", "package"]),
    (Build, &["mvnw", "package"]),
    (Test, &["bats"]),
    (Test, &["busted"]),
    (Test, &["prove"]),
    (Test, &["gotestsum"]),
    (Test, &["behave"]),
    (Lint, &["pre-commit", "run"]),
    (Lint, &["clang-tidy"]),
    (Lint, &["cppcheck"]),
    (Lint, &["flutter", "analyze"]),
    (Lint, &["dart", "analyze"]),
    (Run, &["uvicorn"]),
    (Run, &["gunicorn"]),
    (Run, &["hypercorn"]),
    (Run, &["daphne"]),
    (Run, &["puma"]),
    (Run, &["rackup"]),
    (Run, &["nodemon"]),
    (Run, &["java"]),
    (Run, &["spark-submit"]),
    (Run, &["rails", "s"]),
    (Run, &["celery", "worker"]),
];
/// Programs that deploy if they are given no subcommand.
const DEPLOY_ALONE: &[&str] = &["vercel", "flyctl"];
/// Programs that people call by their name, which means nothing else.
const CALLED_BY_NAME: &[&str] = &[
    "alembic", "aws", "diesel", "docker", "docker-compose", "firebase", "fly", "flyctl", "flyway", "gcloud", "helm", "knex",
    "kubectl", "prisma", "pulumi", "python", "python3", "rails", "rake", "sqlx", "terraform", "tofu", "uvicorn", "vercel",
    "wrangler",
];
/// How many words behind the program are looked at.
const LOOKED_AT: usize = 3;

impl CommandClass {
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(class, _)| *class == self).map_or("", |(_, name)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(class, _)| *class)
    }

    /// That a word names, in the singular or in the plural.
    pub fn meant_by(word: &str) -> Option<Self> {
        let bare = |word: &str| word.trim_end_matches('s').to_owned();
        NAMES.iter().find(|(_, known)| bare(known) == bare(word)).map(|(class, _)| *class)
    }

    /// Is the word the program of a command that is no check, and no word of a sentence?
    pub(super) fn is_program(word: &str) -> bool {
        CALLED_BY_NAME.contains(&word)
    }

    /// Does the program run what a file of the project says?
    pub(super) fn is_task_runner(program: &str) -> bool {
        TASK_RUNNERS.contains(&program)
    }

    /// Is it told by lines of results how such a command ended?
    pub fn counts_results(self) -> bool {
        matches!(self, Test | Lint | Types | Build | Check)
    }

    /// The same of a step in one line.
    pub fn of_line(line: &str) -> Option<Self> {
        steps(line).first().and_then(|step| Self::of(from_program(&step.words)))
    }

    /// Of a command, by its program and the words behind it; `None` for one that only looks, sets up, or does what its words do not tell.
    pub fn of(words: &[String]) -> Option<Self> {
        let program = program_of(words)?;
        if let Some(class) = inside(program, words).and_then(|inside| Self::of(&inside)) {
            return Some(class);
        }
        let is_temporary = |word: &String| ["/tmp/", "/private/tmp/", "/var/folders/"].iter().any(|start| word.starts_with(start));
        let made_for_once =
            is_temporary(&words[0]) || words.get(1).is_some_and(|word| word == "run") && words.iter().any(is_temporary);
        if made_for_once
            || NO_WORK.contains(&program)
            || LOOKS.contains(&program)
            || program.starts_with("create-")
            || words.iter().any(|word| tells_of_itself(word))
        {
            return None;
        }
        let words_behind = behind(&words[1..]);
        if INTERPRETERS.contains(&program) || words_behind.first().is_some_and(|word| ASIDE.contains(word)) {
            return None;
        }
        let by_name = || runs_formatter(program, words).then_some(Format).or_else(|| of_target(program, &words_behind));
        if is_check(words) {
            return by_name().or_else(|| Some(of_check(words)));
        }
        let known = by_name().or_else(|| of_known(program, &words_behind));
        known.or_else(|| match TASK_RUNNERS.contains(&program) {
            true => runs_other_target(program, &words_behind).then_some(Run),
            false => of_words(words, program, &words_behind),
        })
    }
}

/// Does a step do something, and not only look, wait, print or prepare? `words` begin with the program.
pub(super) fn is_work(words: &[String]) -> bool {
    let Some(program) = program_of(words) else { return false };
    let gives_code =
        INTERPRETERS.contains(&program) && words.get(1).is_none_or(|word| matches!(word.as_str(), "-" | "-c" | "-e" | "-p"));
    let is_name =
        program.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')) && !program.contains(char::is_whitespace);
    is_name && !gives_code && !LOOKS.contains(&program) && !is_assignment(&words[0])
}

/// The name of the program, without its folder.
fn program_of(words: &[String]) -> Option<&str> {
    words.first().map(|word| word.rsplit('/').next().unwrap_or_default()).filter(|name| !name.is_empty())
}

/// Options by which a program tells of itself, or of what it would do.
fn tells_of_itself(word: &str) -> bool {
    matches!(word, "--help" | "-h" | "--version" | "-V" | "--dry-run" | "--list" | "--diff")
}

/// The words behind a program that are neither options, nor what these are given, nor paths, nor texts.
fn behind(words: &[String]) -> Vec<&str> {
    const WITH_WORD: &[&str] = &[
        "-C", "-F", "-f", "-n", "-p", "-t", "-w", "--cwd", "--dir", "--directory", "--env", "--file", "--filter", "--namespace",
        "--package", "--prefix", "--profile", "--project", "--region", "--workspace",
    ];
    let given = |at: usize| at > 0 && WITH_WORD.contains(&words[at - 1].as_str());
    let tells = |word: &str| {
        !word.starts_with(['-', '$', '`']) && !word.contains(['/', '=']) && !word.contains(char::is_whitespace) && !word.is_empty()
    };
    let all = words.iter().enumerate().filter(|(at, word)| !given(*at) && tells(word));
    all.map(|(_, word)| word.as_str()).take(LOOKED_AT + 1).collect()
}

/// The command that another one runs elsewhere: in a container, in a shell, with variables.
fn inside(program: &str, words: &[String]) -> Option<Vec<String>> {
    const ELSEWHERE: &[&str] = &["docker", "docker-compose", "podman", "heroku", "conda", "direnv", "dart", "flutter"];
    let runs = |word: &String| matches!(word.as_str(), "run" | "exec");
    if INTERPRETERS.contains(&program) {
        return script(program, &words[1..]);
    }
    if let Some(at) = words.iter().position(|word| word == "--")
        && (words[1..at].iter().any(runs) && !matches!(program, "cargo" | "go" | "npm" | "dotnet") || program == "dotenv")
    {
        return Some(from_program(&words[at + 1..]).to_vec()).filter(|inside| !inside.is_empty());
    }
    let from = words.iter().take(LOOKED_AT).position(runs).filter(|_| ELSEWHERE.contains(&program))? + 1;
    let parts = (from..words.len()).filter(|at| !words[*at].starts_with('-')).map(|at| from_program(&words[at..]));
    parts.into_iter().find(|part| is_check(part) || part.len() > 1 && CommandClass::of(part).is_some()).map(<[String]>::to_vec)
}

/// The script that an interpreter runs, or the command that a shell is given, with what follows it.
fn script(program: &str, behind: &[String]) -> Option<Vec<String>> {
    let is_shell = program.ends_with("sh");
    if let Some(at) = behind.iter().position(|word| is_shell && word.starts_with('-') && word.ends_with('c')) {
        let inside = steps(behind.get(at + 1)?);
        return inside.last().map(|step| from_program(&step.words).to_vec());
    }
    let first = behind.first().filter(|word| !word.starts_with('-'))?;
    let names_file = first.contains(['/', '.']) || first == "artisan";
    names_file.then(|| behind.to_vec())
}

/// Does the program lay out code, and write it or say whether it is laid out so?
fn runs_formatter(program: &str, words: &[String]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match program {
        "gofmt" | "goimports" | "shfmt" => has(&["-w"]) && !has(&["-l", "-d"]),
        "clang-format" | "yapf" | "autopep8" => has(&["-i", "--in-place"]),
        "ruff" | "biome" | "mix" | "dart" | "cargo" | "terraform" | "zig" | "deno" | "buf" | "dune" | "nix" => {
            words.get(1).is_some_and(|word| matches!(word.as_str(), "fmt" | "format"))
        }
        _ => {
            program.contains("fmt")
                || program.contains("format")
                || matches!(program, "black" | "isort" | "prettier" | "stylua" | "pint")
        }
    }
}

/// By the target or the script that a task runner is given.
fn of_target(program: &str, behind: &[&str]) -> Option<CommandClass> {
    if !TASK_RUNNERS.contains(&program) {
        return None;
    }
    let names = match behind {
        ["run" | "run-script" | "task" | "exec" | "x", names @ ..] if !RUNS_TARGETS.contains(&program) => names,
        names => names,
    };
    if matches!(program, "make" | "gmake") && matches!(names, [] | ["all", ..]) {
        return Some(Build);
    }
    if names.first().is_some_and(|name| ASIDE.contains(name)) {
        return None;
    }
    let classes = || names.iter().filter_map(|name| of_name(name));
    classes().find(|class| *class != Run).or_else(|| classes().next())
}

/// Is it a script or a target of the project, of a name that tells nothing, and that does more than to prepare?
fn runs_other_target(program: &str, behind: &[&str]) -> bool {
    const PREPARES: &[&str] = &[
        "all", "bootstrap", "clean", "deps", "distclean", "doctor", "fix", "fixup", "precommit", "prepare", "postinstall", "setup",
        "sync", "tidy", "tools", "update", "upgrade",
    ];
    let name = match behind {
        ["run" | "run-script", name, ..] if !RUNS_TARGETS.contains(&program) => name,
        [name, ..] if RUNS_TARGETS.contains(&program) && !program.starts_with("gradle") => name,
        _ => return false,
    };
    !parts_of(name).iter().any(|part| PREPARES.contains(&part.as_str()) || ASIDE.contains(&part.as_str()))
}

/// By the first words behind the program that are known.
fn of_known(program: &str, behind: &[&str]) -> Option<CommandClass> {
    let fits = |pattern: &[&str]| {
        let mut rest = behind.iter();
        pattern[0] == program && pattern[1..].iter().all(|known| rest.any(|word| word == known))
    };
    let alone = behind.is_empty() && DEPLOY_ALONE.contains(&program);
    alone.then_some(Deploy).or_else(|| KNOWN.iter().find(|(_, pattern)| fits(pattern)).map(|(class, _)| *class))
}

/// By the name of the program, or by its subcommand.
fn of_words(words: &[String], program: &str, behind: &[&str]) -> Option<CommandClass> {
    let is_script = words[0].contains('/') || script_name(program) != program;
    let by_name = of_name(script_name(program)).filter(|class| is_script || *class != Run);
    if by_name.is_some() {
        // `golangci-lint migrate` is about its own settings.
        let own = behind.first().and_then(|word| of_name(word)).filter(|_| !is_script);
        return by_name.filter(|class| own.is_none_or(|own| own == *class || !matches!(own, Migrate | Deploy)));
    }
    let ends = [("lint", Lint), ("test", Test), ("server", Run)];
    if let Some((_, class)) = ends.iter().find(|(end, _)| !is_script && program.ends_with(end)) {
        return Some(*class);
    }
    let deep = if NESTED.contains(&program) { LOOKED_AT } else { 1 };
    let looked_at = behind.iter().take(LOOKED_AT).take_while(|word| !ASIDE.contains(word));
    // No other word says as much as "migrate".
    let is_verb = |word: &str| word.split(':').any(|part| VERBS.iter().any(|(_, verbs)| verbs.contains(&part)));
    let tells = |(at, word): (usize, &&str)| {
        of_name(word).is_some_and(|class| (at < deep || class == Migrate) && (at == 0 || is_verb(word)))
    };
    let Some(at) = looked_at.enumerate().position(tells) else {
        return (is_script && (is_built(&words[0]) || ENTRIES.contains(&script_name(program)))).then_some(Run);
    };
    let class = of_name(behind[at])?;
    let names_what = || behind.get(at + 1).is_some() && behind[at] == "generate";
    let runs_elsewhere = behind[at] == "exec" && ["docker", "docker-compose", "podman", "kubectl"].contains(&program);
    if names_what() || runs_elsewhere || class == Build && behind[at].contains(':') {
        return None;
    }
    let next = behind.get(at + 1);
    if next.is_some_and(|word| ASIDE.contains(word)) {
        return None;
    }
    let more = [next.and_then(|word| of_name(word)), of_run_path(words)].into_iter().flatten();
    let mut more = more.filter(|more| class != Migrate && matches!(more, Migrate | Deploy));
    Some(more.next().unwrap_or(class))
}

/// Is it a program that the project's own build made?
fn is_built(path: &str) -> bool {
    const BUILT: &[&str] = &["build", "debug", "dist", "out", "release", "target"];
    let is_inside = !path.starts_with(['/', '~', '$']) && !path.starts_with("../");
    is_inside && path.split('/').rev().skip(1).any(|folder| BUILT.contains(&folder)) && !path.contains("node_modules")
}

/// Of `run ./cmd/migrate` by what is run.
fn of_run_path(words: &[String]) -> Option<CommandClass> {
    let at = words.iter().position(|word| word == "run")?;
    words.get(at + 1).filter(|path| path.contains('/')).and_then(|path| of_name(path.rsplit('/').next().unwrap_or_default()))
}

/// A script without its extension.
fn script_name(program: &str) -> &str {
    const EXTENSIONS: &[&str] =
        &[".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php", ".pl", ".lua", ".exs", ".R", ".jl", ".bash"];
    EXTENSIONS.iter().find_map(|end| program.strip_suffix(end)).unwrap_or(program)
}

/// By the parts of a name: what it is about comes before that it runs.
fn of_name(name: &str) -> Option<CommandClass> {
    let class = |part: &str| VERBS.iter().find(|(_, verbs)| verbs.contains(&part)).map(|(class, _)| *class);
    // An extension makes it a file.
    if name.rsplit_once('.').is_some_and(|(_, end)| class(end).is_none()) {
        return None;
    }
    let parts = parts_of(name);
    // `make:migration`
    if parts.len() > 1 && parts.iter().any(|part| part == "make" || ASIDE.contains(&part.as_str())) {
        return None;
    }
    let all = || parts.iter().filter_map(|part| class(part));
    all().find(|class| *class != Run).or_else(|| all().next())
}

/// `test:unit`, `db-migrate`, `assembleDebug` in parts, in lower case.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase() {
            parts.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        before = c;
    }
    parts
}

/// Of a check, by its program and the first words behind it.
fn of_check(words: &[String]) -> CommandClass {
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

/// The program and the next words that are neither options nor paths.
fn first_words(words: &[String]) -> Vec<&str> {
    let behind = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains(['/', '.', '=']));
    program_of(words).into_iter().chain(behind.map(String::as_str)).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_by_its_words() {
        let mut wrong = Vec::new();
        for (class, lines) in [
            (
                Some(Test),
                &[
                    "cargo test --locked", "pytest tests/api", "go test ./a -run TestBuild", "make check", "make e2e",
                    "./run_tests.sh", "docker compose exec web pytest -q", "python manage.py test", "flutter test",
                    "docker compose run --rm web npm test", "./gradlew :app:testDebugUnitTest", "kubectl exec api -- pytest",
                    "npm run test:e2e", "bash -c 'cd x && pytest'", "cargo test deploy", "./scripts/smoke.sh", "sbt test",
                    "php artisan test --parallel", "./mvnw -q test -pl a -am", "dune test",
                ][..],
            ),
            (
                Some(Lint),
                &[
                    "cargo clippy", "golangci-lint run --fix", "npm run lint", "go vet ./...", "ruff check .", "tflint",
                    "buf lint", "npm run lint:fix",
                ],
            ),
            (
                Some(Format),
                &[
                    "cargo fmt", "cargo fmt --check", "black --check .", "npm run format:check", "sbt scalafmtCheckAll",
                    "ruff format .", "npm run format", "make fmt", "gofmt -w .", "vendor/bin/pint", "dune fmt",
                    "prettier --write src", "mix format", "just fmt", "clang-format -i a.c",
                ],
            ),
            (Some(Types), &["npm run typecheck", "mypy src", "tsc --noEmit", "npm run check:types"]),
            (
                Some(Build),
                &[
                    "cargo build", "npm run build", "go build ./...", "buf generate", "docker build -t x .", "make",
                    "make docker-build", "./gradlew assembleDebug", "protoc --go_out=. a.proto", "go generate ./...",
                    "pnpm --filter test-app build", "docker compose build", "./scripts/build.sh", "sbt assembly",
                    "flutter build ios", "dart run build_runner build", "cmake --preset dev", "prisma generate",
                ],
            ),
            (Some(Check), &["knip", "npm run check", "pnpm check"]),
            (
                Some(Run),
                &[
                    "docker compose up -d", "make run", "uvicorn app:app --reload", "npm start", "npm run dev", "cargo run",
                    "go run ./cmd/api", "python manage.py runserver", "flask run", "node server.js", "mix phx.server",
                    "python app.py", "php artisan serve", "docker run --rm -p 80:80 web", "next dev", "./start.sh",
                    "out/dev/bin/game --world a.w", "java -jar target/a.jar --port 1", "dune exec nimbus -- a.nb",
                    "just train tiny", "cargo run --release", "python -m http.server",
                ],
            ),
            (
                Some(Deploy),
                &[
                    "bin/deploy staging", "npm run deploy", "vercel deploy --prod", "vercel --prod", "fly deploy",
                    "kubectl apply -f k8s/", "make deploy-prod", "gcloud run deploy api", "terraform apply", "cargo publish",
                    "npm publish", "twine upload dist/x", "wrangler pages deploy dist", "bash scripts/deploy.sh",
                    "docker push x/y:1", "just flash", "helm upgrade --install x y",
                ],
            ),
            (
                Some(Migrate),
                &[
                    "python manage.py migrate",
                    "alembic upgrade head",
                    "prisma migrate dev",
                    "prisma migrate deploy",
                    "rails db:migrate",
                    "./vendor/bin/sail artisan migrate",
                    "docker compose run --rm web alembic upgrade head",
                    "npm run db:migrate",
                    "make migrate",
                    "mix ecto.migrate",
                    "go run ./cmd/migrate up",
                    "flask db upgrade",
                    "sqlx migrate run",
                    "docker compose exec web python manage.py migrate",
                    "knex migrate:latest",
                    "cargo run --bin migrate",
                    "wrangler d1 migrations apply x",
                ],
            ),
            (
                None,
                &[
                    "git push", "cat deploy.md", "rm -rf migrate", "npm ci", "git commit -m deploy", "ls build",
                    "kubectl get deploy", "prisma migrate status", "npm install test", "cargo add serve",
                    "docker compose logs web", "make clean", "echo build", "docker compose down", "python scripts/seed.py",
                    "python manage.py makemigrations", "npx create-next-app build", "vercel ls", "terraform apply --help",
                    "alembic revision --autogenerate", "kubectl scale deploy x", "mytool 'run the tests'", "gofmt -l .",
                    "docker compose ps", "npm run", "make setup", "just", "./gradlew dependencies", "helm list", "watch ls",
                    "python -c 'run()'", "cargo new test", "docker stop test", "php artisan make:migration add_x",
                    "php artisan key:generate", "rails generate migration x", "docker exec -it db psql", "node_modules/.bin/x",
                    "/usr/local/bin/x", "opam install build", "eval x", "bin/rails db:prepare", "systemctl start x",
                    "docker images x-e2e", "/tmp/x-test a", "go run /tmp/a.go", "command -v golangci-lint",
                    "golangci-lint migrate",
                ],
            ),
        ] {
            for line in lines {
                let words = shlex::split(line).expect("words");
                let told = CommandClass::of(from_program(&words));
                wrong.extend((told != class).then_some((line, told)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
