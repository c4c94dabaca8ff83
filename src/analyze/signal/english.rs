//! English phrases for what is worth remembering. Classes are in capitals; `language` explains how phrases are written.

use super::MemoryKind::{Cause, Change, Check, Configuration, Convention, Decision, Error, Remember, Solution, Workaround};
use super::language::{Language, PhraseRule};

pub(crate) static ENGLISH: Language = Language {
    numbers: &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozens", "several", "many"],
    supposing: &[
        "if", "whether", "unless", "until", "should", "would", "could", "might", "may", "can", "sure", "ensure", "ensures",
        "verify", "checks", "asserts", "asserting", "suppose", "assuming", "case", "simulate", "handle", "handles", "handling",
        "expect", "must", "once", "try", "please", "shows", "show", "when", "whenever",
    ],
    announcing: &[
        "^ let me", "^ now let me", "^ let's", "^ now let's", "^ i'll", "^ now i'll", "^ i will", "^ now i will", "^ i need to",
        "^ now i need to", "^ next , i'll", "^ first , let me", "^ first , i'll", "^ i'm going to", "^ i want to", "^ we need to",
        "^ let us", "^ then i'll", "^ i'd like", "^ time to", "^ good , now", "^ next , let me",
    ],
    classes: &[
        (
            "SUITE",
            &[
                "test", "tests", "suite", "suites", "spec", "specs", "ci", "build", "builds", "build's", "pipeline", "pipelines",
                "job", "jobs", "workflow", "check", "checks", "lint", "linter", "linting", "compilation", "compile", "typecheck",
                "type-check", "deploy", "deployment", "migration", "migrations", "release", "install", "installation", "e2e",
                "run", "runs", "case", "cases", "assertion", "assertions", "snapshot", "snapshots", "action", "actions",
                "benchmark", "benchmarks", "validation", "verification", "rebase", "merge", "push", "upload", "smoke",
                "formatting", "checking", "checker", "types", "compiler", "linker", "bundle", "bundling", "integration", "{TOOL}",
            ],
        ),
        (
            "TOOL",
            &[
                "clippy", "eslint", "tsc", "mypy", "pytest", "cargo", "npm", "yarn", "pnpm", "jest", "vitest", "ruff",
                "golangci-lint", "rustc", "gcc", "clang", "webpack", "vite", "docker", "terraform", "gradle", "maven", "mvn",
                "make", "rustfmt", "prettier", "biome", "pip", "poetry", "go", "javac", "msbuild", "dotnet", "bundler", "rspec",
                "rubocop", "phpunit", "shellcheck", "pyright", "playwright", "cypress", "ctest", "cmake", "bazel", "nox", "tox",
                "helm",
            ],
        ),
        (
            "BROKE",
            &[
                "fail", "fails", "failed", "failing", "broken", "broke", "breaks", "breaking", "red", "busted", "borked", "hosed",
                "crash", "crashes", "crashed", "crashing", "died", "dies", "exploded", "explodes", "errored", "choked", "chokes",
                "stuck", "hang", "hangs", "hung", "hanging", "bombed", "bombs", "unhappy", "regressed", "regresses", "flaky",
                "unstable", "aborted", "aborts", "toast", "kaput", "barfed", "barfs", "tanked", "wedged", "down", "blew up",
                "blows up", "blowing up", "errors out", "errored out", "times out", "timed out", "timing out", "bails out",
                "bailed out", "falls over", "fell over", "in flames", "on fire", "is dead", "flaked", "flakes", "trips over",
                "tripped over", "goes boom", "went boom", "fall over", "blow up", "time out", "throws", "threw",
            ],
        ),
        // Said of anything that went wrong, not only of tests.
        (
            "WENT_WRONG",
            &[
                "crashed", "crashes", "segfaults", "segfaulted", "panics", "panicked", "panicking", "deadlocks", "deadlocked",
                "regressed", "exploded", "hangs", "hung", "blew up", "blows up", "bails out", "bailed out", "errors out",
                "errored out", "times out", "timed out", "timing out", "falls over", "fell over", "dies with", "died with",
                "core dumped", "fails with", "failed with", "failing with", "fails on", "fails again", "failed again",
                "failing again", "broke again", "breaks again", "crashing", "segfaulting", "stack overflow", "went down",
                "goes down", "oomkilled", "sigsegv", "sigkill", "sigabrt", "use-after-free", "livelocked", "fails because",
                "failed because",
            ],
        ),
        (
            "BE",
            &[
                "is", "are", "was", "were", "am", "be", "been", "it's", "that's", "remains", "remain", "stays", "'s", "seems",
                "looks",
            ],
        ),
        (
            "DOWN",
            &[
                "broken", "busted", "borked", "hosed", "dead", "stuck", "kaput", "down", "in flames", "on fire", "toast",
                "unusable", "wedged", "unreachable", "corrupted", "corrupt",
            ],
        ),
        (
            "NOT",
            &[
                "doesn't", "didn't", "won't", "can't", "cannot", "couldn't", "isn't", "aren't", "wasn't", "weren't", "does not",
                "did not", "will not", "is not", "are not", "can not", "could not", "fails to", "failed to", "failing to",
                "refuses to", "refused to", "no longer", "never", "doesnt", "didnt", "wont", "cant", "unable to", "not able to",
                "wouldn't", "would not",
            ],
        ),
        (
            "WORK",
            &[
                "work", "works", "working", "compile", "compiles", "build", "builds", "start", "starts", "load", "loads", "apply",
                "applies", "connect", "connects", "boot", "boots", "respond", "responds", "parse", "resolve", "link", "links",
                "render", "renders", "deploy", "install", "typecheck", "hold", "holds", "pass", "passes", "passing", "come up",
                "go through", "launch", "reproduce", "authenticate", "succeed", "succeeds", "green", "happy", "mount", "converge",
                "match", "find", "finds", "open", "opens", "save", "saves", "appear", "appears", "show up", "scroll", "sync",
                "log in", "sign in", "arrive", "arrives", "complete", "completes", "update", "upload", "download", "stop", "exit",
                "return", "finish", "terminate", "import",
            ],
        ),
        (
            "GET",
            &[
                "get", "gets", "got", "getting", "see", "sees", "seeing", "saw", "hit", "hits", "hitting", "gives", "gave",
                "giving", "throws", "threw", "throwing", "raises", "raised", "returns", "returned", "returning", "responds",
                "responded", "answers", "answered", "shows", "produces", "produced", "reports", "reported", "prints", "printed",
                "receives", "received", "there's", "there is", "there are", "yields",
            ],
        ),
        (
            "HTTP",
            &[
                "400", "401", "403", "404", "405", "408", "409", "413", "422", "429", "500", "501", "502", "503", "504", "4xx",
                "5xx",
            ],
        ),
        (
            "ERRNO",
            &[
                "econnrefused", "econnreset", "etimedout", "enoent", "eacces", "eresolve", "enospc", "eaddrinuse", "epipe",
                "eperm", "sigsegv", "nullpointerexception", "nan", "enotfound", "emfile",
            ],
        ),
        (
            "TROUBLE",
            &[
                "error", "errors", "exception", "exceptions", "failure", "failures", "panic", "panics", "segfault", "segfaults",
                "traceback", "crash", "crashes", "timeout", "timeouts", "deadlock", "warning", "conflict", "conflicts",
                "stack trace", "stacktrace", "backtrace", "regression", "regressions",
            ],
        ),
        (
            "DEED",
            &[
                "crashing", "failing", "restarting", "dying", "hanging", "timing out", "breaking", "throwing", "flapping",
                "panicking", "erroring", "disconnecting", "dropping",
            ],
        ),
        (
            "PASS",
            &[
                "pass", "passes", "passed", "passing", "green", "succeeds", "succeeded", "succeed", "clean", "happy", "ok",
                "went through", "goes through", "go through", "successful", "successfully",
            ],
        ),
        (
            "DID",
            &[
                "added", "created", "implemented", "updated", "removed", "renamed", "refactored", "replaced", "migrated", "moved",
                "wrote", "introduced", "installed", "changed", "extracted", "extended", "rewrote", "deleted", "simplified",
                "split", "ported", "converted", "bumped", "adjusted", "edited", "dropped", "switched", "rewritten", "written",
                "wired", "put", "inlined", "deduplicated", "documented", "upgraded", "downgraded", "cleaned", "tightened",
                "generated", "restored", "registered", "folded", "collapsed", "merged",
            ],
        ),
        ("ISSUE", &["issue", "problem", "bug", "failure", "error", "crash", "regression", "trouble", "leak", "mismatch", "race"]),
        ("I", &["i", "we", "i've", "we've", "they", "he", "she"]),
        (
            "CURE",
            &[
                "fixed", "fixes", "solved", "solves", "resolved", "resolves", "cured", "cures", "mended", "mends", "did the trick",
                "does the trick", "unblocked", "unblocks", "repaired",
            ],
        ),
        (
            "FAIL",
            &[
                "fail", "fails", "failed", "failing", "crash", "crashes", "crashed", "crashing", "hang", "hangs", "break",
                "breaks", "broken", "panic", "panics", "panicked", "segfaults", "leak", "leaks", "times out", "time out", "throws",
                "red", "flaky", "errors", "blocked",
            ],
        ),
    ],
    rules: &[
        PhraseRule { name: "only looks like it", kind: None, importance: 0.0, phrases: NEUTRAL },
        PhraseRule { name: "something failed", kind: Some(Error), importance: 1.0, phrases: ERROR },
        PhraseRule { name: "told to remember", kind: Some(Remember), importance: 0.95, phrases: REMEMBER },
        PhraseRule { name: "a cause", kind: Some(Cause), importance: 0.9, phrases: CAUSE },
        PhraseRule { name: "a test or build outcome", kind: Some(Check), importance: 0.9, phrases: CHECK },
        PhraseRule { name: "a decision", kind: Some(Decision), importance: 0.85, phrases: DECISION },
        PhraseRule { name: "a solution", kind: Some(Solution), importance: 0.85, phrases: SOLUTION },
        PhraseRule { name: "a workaround", kind: Some(Workaround), importance: 0.75, phrases: WORKAROUND },
        PhraseRule { name: "a choice", kind: Some(Decision), importance: 0.75, phrases: CHOICE },
        PhraseRule { name: "a reason", kind: Some(Cause), importance: 0.7, phrases: REASON },
        PhraseRule { name: "a change", kind: Some(Change), importance: 0.7, phrases: CHANGE },
        PhraseRule { name: "a convention", kind: Some(Convention), importance: 0.65, phrases: CONVENTION },
        PhraseRule { name: "a configuration", kind: Some(Configuration), importance: 0.6, phrases: CONFIGURATION },
    ],
};

const ERROR: &[&str] = &[
    "{SUITE} ~ {BROKE}", "{WENT_WRONG}", "{BE} ~ {DOWN}", "{BE} still {BROKE}", "still {BROKE}", "still {DOWN}", "back to red",
    "went red", "turned red", "goes red", "all red", "{NOT} ~ {WORK}", "{SUITE} don't {WORK}", "they don't {WORK}", "tests don't",
    "{SUITE} ~ unhappy", "# {TROUBLE}", "# failed", "# failing", "# broken", "# errored", "# of # ~ {BROKE}", "# ~ red",
    "same {TROUBLE}", "same {ISSUE}", "same ~ {TROUBLE}", "{GET} an {TROUBLE}", "{GET} a {TROUBLE}", "{GET} a {HTTP}",
    "{GET} {HTTP}", "{GET} ~ {HTTP}", "http {HTTP}", "{GET} {ERRNO}", "with {ERRNO}", "{GET} ~ {ERRNO}", "{GET} ~ %error",
    "{GET} ~ %exception", "this {TROUBLE}", "these {TROUBLE}", "following {TROUBLE}", "broke the", "broke our", "broke my",
    "broke it", "breaks the {SUITE}", "breaks {SUITE}", "breaks our", "keeps {DEED}", "keep {DEED}", "kept {DEED}", "was killed",
    "got killed", "were killed", "out of memory", "exits with ~ #", "exited with ~ #", "exit code #", "exit status #",
    "non-zero exit", "permission denied", "access denied", "command not found", "module not found", "no such file",
    "connection refused", "{SUITE} ~ complains", "{SUITE} ~ complaining", "{SUITE} ~ complained", "complains about",
    "complained about", "no dice", "no luck", "didn't help", "did not help", "didn't fix", "did not fix", "isn't fixed",
    "is not fixed", "not fixed", "no green", "reproduce ~ green", "{NOT} ~ green", "not green", "wrong result", "wrong results",
    "wrong output", "wrong answer", "wrong total", "still fails", "still fail", "still happens", "still happening",
    "still the same", "same again", "happened again", "{TROUBLE} is back", "{TROUBLE} are back", "{ISSUE} is back", "now fails",
    "now fail", "now failing", "but ~ fails", "but ~ fail", "{ISSUE} persists", "{TROUBLE} persists", "syntax error", "type error",
    "compile error", "compilation error", "build error", "merge conflict", "merge conflicts", "data loss", "lost data",
    "{NOT} reproduce", "nothing works", "nothing {WORK}", "gives up", "gave up", "{BE} cancelled", "{BE} canceled",
    "blows the stack", "blew the stack", "worse", "{BE} failing", "failing {SUITE}", "failed {SUITE}", "{SUITE} failure",
    "{SUITE} failures",
];

const CHECK: &[&str] = &[
    "{SUITE} ~ {PASS}", "{TOOL} ~ {PASS}", "# passed", "# passing", "# pass", "all pass", "all passed", "all passing", "all green",
    "everything passes", "everything compiles", "everything builds", "everything ~ green", "everything ~ works", "now passes",
    "compiles cleanly", "compiles fine", "compiles again", "compiles without", "compiles now", "builds cleanly", "builds fine",
    "builds again", "builds without", "it compiles", "^ compiles", "^ builds", "code compiles", "back to green", "^ committed",
    "{I} committed", "committed as", "committed and pushed", "{BE} committed", "pushed to", "{BE} pushed", "{BE} merged", "pr #",
    "pull request created", "opened a pull request", "opened pr", "created pr", "verified that", "^ verified", "{BE} verified",
    "0 issues", "0 warnings", "no warnings", "no issues", "no vulnerabilities", "deployed to", "{BE} deployed", "published to",
    "tests passing", "exit code 0", "exits 0", "{BE} green", "{BE} clean", "no regressions", "lint clean", "and pushed",
    "{SUITE} : # passed",
];

const DECISION: &[&str] = &[
    "decided to", "decided on", "decided against", "decided that", "decided not", "{I} decided", "decision:", "the decision is",
    "the decision was", "design decision", "{I} went with", "{I} go with", "let's go with", "let's use", "let's keep", "let's not",
    "going with", "we'll go with", "i'll go with", "^ go with", "user chose", "{I} chose", "chose to", "{BE} chosen", "{I} picked",
    "voted for", "voted against", "{I} agreed", "agreed to", "agreed on", "agreed that", "opted for", "opted to", "opted against",
    "settled on", "{BE} dropping", "dropping support", "dropped support", "{BE} rejected", "rejected the", "rejected because",
    "user rejected", "user declined", "user prefers", "user refused", "turned down", "ruled out", "rules out", "on purpose",
    "deliberately", "intentionally", "by design", "left as is", "left as-is", "left alone", "won't fix", "postponed", "deferred",
    "{BE} reverted", "reverted the", "reverted to", "{I} reverted", "stick with", "sticking with", "sticks with", "stuck with the",
    "the plan is", "we don't need",
];

/// Words of choice, which do not tell whether a choice was made.
const CHOICE: &[&str] = &[
    "rather than", "instead of", "in favor of", "in favour of", "over the alternative", "trade-off", "tradeoff", "trade-offs",
    "tradeoffs", "prefer to", "{I} prefer", "keeping the", "kept as", "left unchanged", "out of scope", "not worth", "option a",
    "option b", "option c", "switch to", "switching to", "switched to", "recommend", "recommendation:", "my recommendation",
    "approach:", "not needed", "{BE} fine as", "user asked", "user wants", "user wanted", "{I} kept", "opted in", "opted out",
];

const CAUSE: &[&str] = &[
    "root cause", "root-cause", "turned out", "turns out", "happens because", "happened because", "happens when", "occurs when",
    "the bug is", "the bug was", "the issue is", "the issue was", "the problem is", "the problem was", "the culprit", "culprit is",
    "culprit was", "came from", "caused by", "{BE} caused", "caused the", "that explains", "this explains", "which explains",
    "explains why", "that's why", "that is why", "this is why", "the reason", "{ISSUE} is that", "{ISSUE} was that",
    "{FAIL} because", "{ISSUE} is in", "{ISSUE} was in", "race condition", "a race", "memory leak", "traced to", "traced it to",
    "tracked down", "boils down to", "stems from", "broken by", "broke because", "the actual problem", "the real problem",
    "the real issue", "the actual issue", "wrong because", "to blame", "the trigger is", "the trigger was", "underlying {ISSUE}",
];

/// Why something is so, which need not be the cause that was sought.
const REASON: &[&str] = &[
    "because of", "due to", "{BE} missing", "{BE} never", "mismatch between", "silently", "{BE} because", "since the",
    "because the", "it was the", "comes from", "introduced by", "introduced in", "guilty", "causes the", "causing the",
    "explains the", "because", "off by one", "off-by-one",
];

const SOLUTION: &[&str] = &[
    "^ fixed", "{I} fixed", "fixed by", "fixed in", "fixed the", "{BE} fixed", "now fixed", "fixes the", "fixes it", "fix is",
    "fix was", "{CURE} it", "{CURE} the", "{CURE} by", "{CURE} that", "{CURE} this", "did the trick", "does the trick",
    "{BE} resolved", "{BE} solved", "made the ~ pass", "made ~ pass", "makes ~ pass", "made it work", "made it pass",
    "the trick was", "the trick is", "the solution", "works again", "works now", "now works", "work again", "no longer {FAIL}",
    "not ~ {FAIL} anymore", "doesn't {FAIL} anymore", "doesn't {FAIL} any more", "stopped {DEED}", "the cure", "the remedy",
    "the answer was", "goes away", "went away", "go away", "{TROUBLE} ~ gone", "{ISSUE} ~ gone", "now passes", "now compiles",
    "now builds", "now starts", "now loads", "runs through", "no more {FAIL}", "helped:", "unblocked by", "was enough to",
    "{BE} unblocked", "now handles", "now correctly", "now returns",
];

const REMEMBER: &[&str] = &[
    "^ remember", "please remember", "remember:", "remember that", "remember to", "note for later", "note to self", "keep in mind",
    "don't forget", "do not forget", "never forget", "important:", "for the record", "from now on", "for future reference",
    "bear in mind", "in future", "in the future , always", "note that", "note:", "make a note", "take note", "nota bene",
    "worth remembering", "worth knowing", "lesson learned", "lesson:", "gotcha:", "gotcha", "caveat:", "beware", "watch out",
    "going forward", "for next time", "mind you", "never again", "next time ,",
];

const CHANGE: &[&str] = &[
    "^ {DID}", "{I} {DID}", "{I} also {DID}", "{I} have {DID}", "{I} then {DID}", "i've also {DID}", "{BE} {DID}",
    "has been {DID}", "have been {DID}", "{BE} now {DID}", "^ also {DID}", "^ new file", "^ new:", "^ changes:", "^ changed:",
    "now {DID}", "now supports", "now uses", "now use", "{BE} implemented", "and {DID} the", "and {DID} a", "^ # files changed",
    "files changed",
];

const CONVENTION: &[&str] = &[
    "by convention", "the convention", "conventions", "conventional", "{I} always", "{I} never", "^ always", "^ never",
    "must always", "must never", "should always", "should never", "all ~ must", "every ~ must", "all ~ should", "rule of thumb",
    "the rule is", "is the rule", "house rule", "house style", "coding style", "style guide", "naming scheme", "project uses",
    "repo uses", "repository uses", "codebase uses", "we use", "we name", "^ don't use", "^ do not use", "must not", "must be",
    "never use", "always use", "best practice", "the pattern here", "policy",
];

const WORKAROUND: &[&str] = &[
    "workaround", "workarounds", "work around", "works around", "worked around", "for now", "temporary", "temporarily", "a hack",
    "hacky", "stopgap", "stop-gap", "gets around", "get around", "got around", "sidestep", "sidesteps", "sidestepped", "bypass",
    "bypasses", "bypassed", "band-aid", "quick fix", "until that is released", "until it is fixed", "until upstream", "side-step",
    "paper over", "papering over", "papers over", "stubbed out",
];

const CONFIGURATION: &[&str] = &[
    "is set to", "are set to", "{I} set", "set to #", "defaults to", "default is", "default was", "default ~ is", "feature flag",
    "flag is on", "enabled the", "disabled the", "{BE} enabled", "{BE} disabled", "{I} enabled", "{I} disabled", "^ enabled",
    "^ disabled", "environment variable", "env var", "must point to", "points to", "configured", "configure ~ to",
    "{BE} configured", "listens on", "runs on port", "port #", "in ~ %.toml", "in ~ %.yaml", "in ~ %.yml", "in ~ %.ini",
    "in ~ %.env", "config option", "by default", "switched ~ on", "switched ~ off", "turned ~ on", "turned ~ off",
];

/// Phrases that contain the words of a memory but are none.
const NEUTRAL: &[&str] = &[
    "^ returns an {TROUBLE}", "returns an {TROUBLE}", "returns a {TROUBLE}", "return an {TROUBLE}", "returned {TROUBLE}",
    "{TROUBLE} return", "{TROUBLE} returns", "{TROUBLE} information", "{TROUBLE} details", "{TROUBLE} log", "{TROUBLE} logs",
    "{TROUBLE} count", "{TROUBLE} rate", "{TROUBLE} boundary", "{TROUBLE} recovery", "{TROUBLE} response", "{TROUBLE} responses",
    "{TROUBLE} value", "{TROUBLE} values", "{TROUBLE} string", "{TROUBLE} class", "{TROUBLE} classes", "{TROUBLE} wrapping",
    "{TROUBLE} resolution", "prints a warning", "print a warning", "^ returns a {TROUBLE}", "no {TROUBLE}", "no more {TROUBLE}",
    "no new {TROUBLE}", "without {TROUBLE}", "without any {TROUBLE}", "without an {TROUBLE}", "without a {TROUBLE}", "0 {TROUBLE}",
    "zero {TROUBLE}", "0 failed", "zero failed", "0 failures", "none failed", "none of the ~ {BROKE}", "no {SUITE} ~ {BROKE}",
    "none {BROKE}", "nothing {BROKE}", "nothing is {BROKE}", "nothing {BE} {BROKE}", "nothing breaks", "nothing broke",
    "error handling", "error message", "error messages", "error case", "error cases", "error path", "error paths", "error code",
    "error codes", "error type", "error types", "error state", "error page", "error-prone", "error reporting",
    "{TROUBLE} handling", "{TROUBLE} handler", "{TROUBLE} message", "{TROUBLE} messages", "{TROUBLE} type", "{TROUBLE} types",
    "{TROUBLE} test", "{TROUBLE} tests", "failure mode", "failure modes", "failed login", "failed logins", "failed login attempts",
    "bug report", "bug reports", "on error", "on failure", "in error", "breaking change", "breaking changes", "breaking api",
    "a failing test first", "failing test comes first", "a failing test comes", "failing test case", "don't break", "not break",
    "doesn't break", "didn't break", "won't break", "did not break", "does not break", "won't fail", "doesn't fail", "don't fail",
    "didn't fail", "does not fail", "did not fail", "not fail", "never fail", "never fails", "a test for ~ {BROKE}",
    "tests for ~ {BROKE}", "test for ~ {BROKE}", "test that ~ {BROKE}", "tests that ~ {BROKE}", "test that ~ broken pipe",
    "broken pipe", "{SUITE} to fail", "expected to fail", "expected failure", "should fail", "must fail", "fail fast",
    "fails fast", "fail-fast", "fail open", "fails open", "fail closed", "fails closed", "broken link", "broken links",
    "broken window", "scroll down", "page down", "break down", "breaks down", "shut down", "shuts down", "drop down", "drill down",
    "write down", "narrow down", "narrowed down", "slow down", "slows down", "cut down", "sit down", "down to",
    "nothing to complain", "to fail with", "that fails", "which fails", "which failed", "that failed", "a crash reporter",
    "crash reporter", "crash reporting", "timeout of", "timeout is", "the timeout", "conflict resolution", "hard failed",
    "regression test", "regression tests", "user chooses", "decision tree", "decision table", "policy file", "test case ~ when",
    "dead code", "{BE} dead code", "you can't {WORK}", "you cannot {WORK}", "doesn't match how", "same ~ {TROUBLE} handling",
    "same ~ {TROUBLE} message", "minor note:", "side note:", "error value", "no failing", "no failed", "stack traces into",
    "stack trace into", "failed jobs in", "failed job", "mark ~ as failed", "as failed", "status failed", "policy engine",
];
