//! Whether two runs are runs of the same check.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::{always_checks, from_program, is_assignment, is_check};
use super::class::{CommandClass, is_work};
use super::steps::{Then, steps};

/// Options that change how much a check prints, and not what it checks.
const ABOUT_OUTPUT: &[&str] = &[
    "--", "-v", "-vv", "-vvv", "-q", "-qq", "-s", "-x", "--verbose", "--quiet", "--silent", "--tb=", "-count=1", "--no-header",
    "--color", "--no-color", "--locked", "--offline", "--nocapture", "--maxfail=", "--message-format=", "--reporter=", "-ra",
    "--pretty", "--output-format=", "--progress=", "--no-progress", "--durations=", "-p=no:cacheprovider",
];
/// Variables that change what is printed, and not what is done.
const VARIABLES_ABOUT_OUTPUT: &[&str] = &[
    "CARGO_TERM_COLOR", "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "DEBUG", "FORCE_COLOR", "LINES", "LOG_LEVEL",
    "NODE_NO_WARNINGS", "NO_COLOR", "PAGER", "PYTHONUNBUFFERED", "PYTHONWARNINGS", "RUST_BACKTRACE", "RUST_LOG", "TERM", "VERBOSE",
];
/// Options by which a check looks at more: what passes with them passes without them.
const ABOUT_MORE: &[&str] = &["-race", "--all-features", "--all-targets", "--workspace", "--strict", "-am", "--also-make"];
/// Options by which a check looks at less: what passes without them passes with them.
const ABOUT_LESS: &[&str] = &[
    "-k", "-t", "-g", "-run", "-R", "-L", "-E", "--filter", "--grep", "--only", "--test", "--lib", "--tests", "--testNamePattern",
    "--lf",
];
/// Programs that check something else where no path is named.
const CHECKS_HERE_WITHOUT_PATH: &[&str] = &["go", "tsc", "shellcheck", "actionlint"];

/// By what runs of a check are known again, however they are written: its program, what it is given, its options but for those about its
/// output, and its folder. Variables, and what starts the program, tell nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SameRun {
    program: String,
    words: Vec<String>,
    options: BTreeSet<String>,
    /// Those of its words that stand behind an option, with that.
    given: BTreeMap<String, String>,
    folder: String,
}

impl SameRun {
    /// Of the words of a step in a folder; `relative` writes paths as seen from the session's folder.
    pub fn of(line: &str, folder: &str, relative: impl Fn(&str) -> String) -> Self {
        let all = shlex::split(line).unwrap_or_else(|| line.split(' ').map(str::to_owned).collect());
        let given = all.iter().take_while(|word| is_assignment(word)).count();
        let rest = from_program(&all[given..]);
        let (program, rest) = rest.split_first().map_or(("", rest), |(program, rest)| (program.as_str(), rest));
        let program = program.rsplit('/').next().unwrap_or_default();
        // `npm run lint` is `npm lint` of others, `./mvnw` the project's own `mvn`.
        let rest = match rest {
            [run, script @ ..] if run.starts_with("run") && matches!(program, "npm" | "pnpm" | "yarn") && !script.is_empty() => {
                script
            }
            rest => rest,
        };
        let program = if matches!(program, "mvnw" | "gradlew") { program.trim_end_matches('w') } else { program };
        let write = |word: &String| if word.contains('/') { relative(word) } else { word.clone() };
        let given = rest
            .windows(2)
            .filter(|pair| pair[0].starts_with('-') && !pair[1].starts_with('-'))
            .map(|pair| (write(&pair[1]), pair[0].clone()));
        let given = given.collect();
        let (options, words): (Vec<String>, Vec<String>) = rest.iter().cloned().partition(|word| word.starts_with('-'));
        let about_output =
            |option: &String| ABOUT_OUTPUT.iter().any(|known| option == known || known.ends_with('=') && option.starts_with(known));
        Self {
            program: program.to_owned(),
            words: words.iter().map(write).collect(),
            options: options.into_iter().filter(|option| !about_output(option)).collect(),
            given,
            folder: relative(folder),
        }
    }

    /// Its program and what that is given, without options.
    pub fn words(&self) -> Vec<String> {
        [&self.program].into_iter().chain(&self.words).cloned().collect()
    }

    /// Does it run what a file of the project says?
    pub fn is_task_runner(&self) -> bool {
        CommandClass::is_task_runner(&self.program)
    }

    /// The same in one line.
    pub fn text(&self) -> String {
        let options = self.options.iter().map(String::as_str);
        let all =
            [self.folder.as_str(), self.program.as_str()].into_iter().chain(self.words.iter().map(String::as_str)).chain(options);
        all.collect::<Vec<_>>().join("\u{1f}")
    }

    /// Does a later run of this tell how that one would have ended: is it the same, or does it look at more? Of what is no check: is it the same,
    /// with more options?
    pub fn covers(&self, earlier: &Self) -> bool {
        // The shell may still be where the earlier command went.
        let there = self.folder == earlier.folder || self.folder.is_empty();
        if self.program != earlier.program || self.program.is_empty() || !there {
            return false;
        }
        let is_check = is_check(&self.words()) && is_check(&earlier.words());
        let narrowed = earlier.options.difference(&self.options).collect::<Vec<_>>();
        let about = |option: &String, known: &[&str]| known.contains(&option.split('=').next().unwrap_or_default());
        let options_cover = narrowed.iter().all(|option| about(option, ABOUT_LESS))
            && (!is_check || self.options.difference(&earlier.options).all(|option| about(option, ABOUT_MORE)));
        let earlier_words: Vec<&String> = earlier
            .words
            .iter()
            .filter(|word| narrowed.is_empty() || self.words.contains(word) || !earlier.given.contains_key(*word))
            .collect();
        let same = self.words.iter().eq(earlier_words.iter().copied());
        let all = match is_check {
            _ if same => true,
            // A target or a script is another check.
            true if self.is_task_runner() => false,
            true => {
                let less = !CHECKS_HERE_WITHOUT_PATH.contains(&self.program.as_str()) && self.options.is_empty();
                less && self.words.iter().all(|word| earlier.words.contains(word)) || self.covers_paths(earlier)
            }
            false => {
                let (own, more): (Vec<&String>, Vec<&String>) = self.words.iter().partition(|word| earlier.words.contains(word));
                own.into_iter().eq(&earlier.words)
                    && more.iter().all(|word| self.given.get(*word).is_some_and(|option| !earlier.options.contains(option)))
            }
        };
        options_cover && all
    }

    /// Is it told the same, and to check all that the earlier one checked: `go test ./...` after `go test ./cmd/...`?
    fn covers_paths(&self, earlier: &Self) -> bool {
        let is_path = |word: &&String| word.contains('/') || word.contains('.');
        let [(paths, told), (earlier_paths, earlier_told)] =
            [self, earlier].map(|run| run.words.iter().partition::<Vec<&String>, _>(is_path));
        let covers = |whole: &str, part: &str| {
            let folder = whole.strip_suffix("...").map_or(whole, |whole| whole.trim_end_matches('/')).trim_start_matches("./");
            let part = part.trim_start_matches("./");
            let is_below =
                folder.is_empty() || folder == "." || part.strip_prefix(folder).is_some_and(|rest| rest.starts_with(['/', ':']));
            // `./cmd` is one package of Go, `./cmd/...` all below it.
            whole == part || is_below && (whole.ends_with("...") || self.program != "go")
        };
        told == earlier_told
            && !earlier_paths.is_empty()
            && earlier_paths.iter().all(|part| paths.iter().any(|whole| covers(whole, part)))
    }
}

/// The checks and the other work of a line that ran in a folder; `relative` writes paths as seen from the project.
pub fn work_of(line: &str, folder: &str, relative: impl Fn(&str) -> String) -> Vec<SameRun> {
    let mut folder = folder.to_owned();
    let mut work = Vec::new();
    for step in steps(line) {
        match &step.words[..] {
            [cd, to] if cd == "cd" => folder.clone_from(to),
            words if is_work(from_program(words)) => {
                work.push(SameRun::of(&step.typed.join(" "), &folder, &relative));
            }
            _ => {}
        }
    }
    work
}

/// A command line without what only makes it ready, the folder that it goes to and what is staged; `None` if its exit code is not that of all its steps, or if it starts something
/// that goes on.
pub fn whole_line(line: &str) -> Option<String> {
    const GOES_ON: &[&str] = &["dev", "serve", "server", "start", "watch", "preview", "nohup", "sleep"];
    let all = steps(line);
    let last = all.len().checked_sub(1)?;
    let is_whole = all[..last].iter().all(|step| step.then == Then::And) && all[last].then == Then::End;
    let goes_on = all.iter().flat_map(|step| &step.words).any(|word| GOES_ON.contains(&word.as_str()));
    let readies = |words: &[String]| {
        matches!(words.first().map(String::as_str), Some("cd" | "export")) || words.starts_with(&["git".into(), "add".into()])
    };
    let told = all.iter().filter(|step| !readies(&step.words));
    let line = told.map(|step| step.words.join(" ")).collect::<Vec<_>>().join(" && ");
    (is_whole && !goes_on && !line.is_empty() && !line.ends_with('…')).then_some(line)
}

/// Does a line run as many steps that are kept, and nothing else that may fail: no more than a change of folder before them, and what cuts
/// their output behind?
pub fn runs_alone(line: &str, kept: usize) -> bool {
    const ASIDE: &[&str] = &[
        "cd", "export", "source", ".", "tail", "head", "grep", "rg", "tee", "cat", "sort", "echo", "true", "wc", "sed", "awk",
        "set", "sleep", "mkdir", "pushd", "popd", "date", "eval",
    ];
    let all = steps(line);
    let others = all.iter().filter(|step| {
        let words = from_program(&step.words);
        let first = words.first().or(step.words.first()).map(String::as_str).unwrap_or_default();
        !ASIDE.contains(&first) && !is_assignment(first)
    });
    others.count() <= kept
}

/// The first steps of a line that make the shell ready for what stands behind them: `source .venv/bin/activate`, `eval $(opam env)`. Without
/// them that may not be found.
pub fn activation(line: &str) -> Option<String> {
    let activates = |words: &[String]| match words {
        [by, script] if by == "source" || by == "." => {
            script.ends_with("/activate") || script.ends_with(".sh") || script.ends_with("env")
        }
        [by, of, ..] => {
            by == "eval" && of.starts_with(['$', '`']) || by == "export" && is_assignment(of) || by == "nvm" && of == "use"
        }
        _ => false,
    };
    let mut told: Vec<String> = Vec::new();
    for step in steps(line).iter().filter(|step| activates(&step.words)) {
        let step = step.typed.join(" ");
        if !told.contains(&step) {
            told.push(step);
        }
    }
    (!told.is_empty()).then(|| told.join(" && "))
}

/// The variables that a command gets, by what makes the shell ready and by its own line, but for those about its output: with others it is another
/// command.
pub fn variables(activation: Option<&str>, line: &str) -> String {
    let exports = steps(activation.unwrap_or_default()).into_iter().filter(|step| step.words[0] == "export");
    let exported = exports.flat_map(|step| step.words[1..].to_vec());
    let words = shlex::split(line).unwrap_or_default();
    let given = words.into_iter().skip_while(|word| word == "env").take_while(|word| is_assignment(word));
    let tells = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        is_assignment(word) && !VARIABLES_ABOUT_OUTPUT.contains(&name)
    };
    let all: BTreeSet<String> = exported.chain(given).filter(tells).collect();
    all.into_iter().collect::<Vec<_>>().join(" ")
}

/// Does a line, as far as it is kept, run git and nothing else, each step only if the one before it succeeded?
pub fn runs_git_alone(line: &str) -> bool {
    let all = steps(line);
    let is_git = |words: &[String]| matches!(words.first().map(String::as_str), Some("cd" | "export" | "git"));
    let behind = all.len().saturating_sub(1);
    all.iter().all(|step| is_git(&step.words)) && all[..behind].iter().all(|step| step.then == Then::And)
}

/// The words from the program on of a line that is a single step.
pub fn single_step(line: &str) -> Option<Vec<String>> {
    match &steps(line)[..] {
        [step] if step.then == Then::End => Some(from_program(&step.words).to_vec()),
        _ => None,
    }
}

/// The program of a line's last step with its subcommand, or with the target or script that it names.
pub fn subject(line: &str) -> String {
    let all = steps(line);
    let words = all.last().map(|step| from_program(&step.words)).unwrap_or_default();
    let is_word = |word: &&String| !word.starts_with('-') && !word.contains(['/', '=', '.']);
    let mut behind = words.iter().skip(1).filter(is_word).map(String::as_str).filter(|word| *word != "run");
    let program = words.first().map(|word| word.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    let subcommand = behind.next().filter(|_| !always_checks(program)).unwrap_or_default();
    format!("{program} {subcommand}")
}

/// Is it a single step that checks the work?
pub fn is_check_line(line: &str) -> bool {
    single_step(line).is_some_and(|words| is_check(&words))
}

/// Does one of its steps check the work?
pub fn has_check(line: &str) -> bool {
    steps(line).iter().any(|step| is_check(from_program(&step.words)))
}

/// The programs of a line, each with its first word: without what is assigned, and what only runs others.
pub fn programs(line: &str) -> String {
    let programs = steps(line)
        .iter()
        .map(|step| from_program(&step.words).iter().take(2).cloned().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>();
    programs.join("; ")
}

/// Is the output cut so that failures may be missing?
pub fn may_hide_failures(line: &str) -> bool {
    steps(line).iter().any(|step| matches!(step.words.first().map(String::as_str), Some("head" | "grep" | "rg" | "sed" | "awk")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> SameRun {
        SameRun::of(line, "", |path| path.trim_start_matches("/r/").to_owned())
    }

    #[test]
    fn a_later_run_covers_what_is_the_same_or_less() {
        for (later, earlier) in [
            ("cargo test --locked", "RUST_LOG=1 cargo test"),
            ("pytest", "uv run pytest tests/api -v"),
            ("npm run build", "npm run build"),
            ("pytest /r/tests/api", "pytest tests/api -q"),
            ("npx tsc --noEmit", "tsc --noEmit"),
            ("cargo test", "cargo test cart"),
            ("go test ./...", "go test ./... -run TestOne"),
            ("ctest --test-dir out", "ctest --test-dir out -R border"),
            ("npm lint", "npm run lint"),
            ("./mvnw test", "mvn test"),
            ("just train tiny", "DATA=x just train tiny"),
            ("helm upgrade api charts/api -f values.yaml --wait", "helm upgrade api charts/api"),
            ("docker compose run --rm web alembic upgrade head", "docker compose run web alembic upgrade head"),
        ] {
            assert!(run(later).covers(&run(earlier)), "{later}: {earlier}");
        }
        for (later, earlier) in [
            ("pytest tests/api", "pytest"),
            ("go test", "go test ./..."),
            ("cargo clippy", "cargo clippy -- -D warnings"),
            ("pytest -k one", "pytest -k two"),
            ("npm run test", "npm run build"),
            ("mypy", "mypy --strict"),
            ("go test ./a", "go test ./b"),
            ("make test", "make test lint"),
            ("docker compose up -d web", "docker compose up -d"),
            ("java -jar b.jar", "java -jar a.jar"),
            ("docker compose up", "docker compose up web"),
        ] {
            assert!(!run(later).covers(&run(earlier)), "{later}: {earlier}");
        }
        let there = SameRun::of("npm test", "web", str::to_owned);
        assert!(!there.covers(&run("npm test")) && run("npm test").covers(&there));
    }

    #[test]
    fn a_line_is_whole_if_its_exit_code_is() {
        assert_eq!(whole_line("cd x && npm ci").as_deref(), Some("npm ci"));
        for line in ["npm ci | tail", "npm ci; ls", "npm run dev", "npm ci || true", "npm ci &"] {
            assert_eq!(whole_line(line), None, "{line}");
        }
        assert_eq!(programs("A=$(pwd) && sudo grep -rn 'a|b' x | wc -l"), "; grep -rn; wc -l");
        assert!(runs_alone("cd x && pytest 2>&1 | tail -5", 1) && !runs_alone("npm ci && npm test", 1));
    }
}
