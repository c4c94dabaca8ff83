//! Finds private files in shell commands, by the paths that the commands name.
//!
//! A word is a path where a program takes one: an operand of a program that prints, copies or edits files, or the target of a
//! redirection. Arguments of other programs and words of sentences are not: `cargo test secret` and `git commit -m "drop .env"`
//! stay.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use globset::{Glob, GlobBuilder, GlobSet};

/// Programs that show, copy or change the content of their operands.
const FILE_PROGRAMS: &[&str] = &[
    "cat", "tac", "bat", "less", "more", "head", "tail", "nl", "sed", "awk", "grep", "egrep", "rg", "ag", "cut", "sort", "uniq",
    "tr", "diff", "cmp", "xxd", "hexdump", "od", "strings", "base64", "jq", "yq", "tee", "source", ".", "vim", "vi", "nano",
    "emacs", "code", "openssl", "dotenv-cli", "dotenvx", "gpg", "age", "sops", "ssh-keygen", "dotenv", "envsubst", "perl",
    "python", "python3", "node", "type", "Get-Content", "cp", "mv", "install", "dd", "rsync", "scp", "curl", "export", "set",
    "env", "git",
];
/// Longest path, in bytes.
const MAX_PATH: usize = 4096;
/// How deep commands nested in quoted arguments are followed.
const MAX_DEPTH: usize = 3;
/// Characters around a path within a quoted program text.
const PATH_DELIMITERS: [char; 9] = ['"', '\'', '(', ')', ',', ';', '=', '[', ']'];
/// Programs that run a quoted command.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "fish", "ssh", "su", "eval", "script", "watch"];
/// Programs that go to a folder: what runs then is about what is in it.
const GOES_TO: [&str; 2] = ["cd", "pushd"];
/// Words that may precede a program's name.
const PREFIXES: &[&str] = &["sudo", "command", "exec", "nohup", "time", "then", "do", "else", "xargs", "doas", "builtin"];

/// The most common names of private files, which shell patterns are tried on.
const COMMON_PRIVATE_FILES: &[&str] = &[
    ".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".pgpass", ".pypirc", ".htpasswd", ".bash_history",
    ".zsh_history", ".aws", "id_rsa", "id_ed25519", "id_ecdsa", "secrets", "secrets.yml", "secrets.json", "credentials",
    "credentials.json", "passwords.txt", "service-account.json", "shadow", "terraform.tfstate", "wp-config.php", "kubeconfig",
];
/// Commands that print something private without naming its file.
const REVEALING_COMMANDS: &[&str] = &[
    "docker compose config", "docker-compose config", "docker compose convert", "pass show ", "gopass show ", "op item get ",
    "op read ", "bw get ", "lpass show ", "security find-generic-password", "security find-internet-password",
    "secret-tool lookup", "gh auth token", "vault kv get ", "vault read ", "gcloud secrets versions access", "gcloud auth print-",
    "aws secretsmanager get-secret-value", "aws ecr get-login-password", "az keyvault secret show", "az account get-access-token",
    "terraform output -raw", "terraform output -json", "tofu output -raw", "tofu output -json", "heroku config:get",
    "ansible-vault view", "ansible-vault decrypt", "kubectl create token", "sops -d ", "sops --decrypt", "sops decrypt", "history",
];
/// Constructs that pass each word to another program, so that any word may be a path.
const LOOPS: [&str; 4] = ["xargs", "while read", "parallel ", "-exec"];

/// Files whose content is left out.
#[derive(Debug, Clone, Default)]
pub struct PrivateFiles {
    /// Globs.
    private: Vec<String>,
    /// The same, compiled when the first path is checked. Many callers never check one.
    ready: Arc<OnceLock<Option<GlobSet>>>,
    /// Files that match a private pattern but are explicitly allowed.
    allowed: GlobSet,
    /// Searches for substrings that each matching path must contain; `None` if a glob may match anything.
    signs: Arc<OnceLock<Option<AhoCorasick>>>,
}

/// A glob over paths of files. It ignores case, and `*` does not cross a `/`, so a pattern that matches a folder does not match the files in it.
/// A glob without a slash matches file names in any folder.
///
/// # Errors
/// When it is none.
pub fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    let anywhere = if pattern.contains('/') { "" } else { "**/" };
    GlobBuilder::new(&format!("{anywhere}{pattern}")).literal_separator(true).case_insensitive(true).build()
}

impl PrivateFiles {
    /// Both by globs that [`glob`] compiles.
    pub fn new(private: Vec<String>, allowed: GlobSet) -> Self {
        Self { private, ready: Arc::default(), allowed, signs: Arc::default() }
    }

    fn is_private(&self, path: &str) -> bool {
        let ready = || -> Result<GlobSet, globset::Error> {
            let mut set = GlobSet::builder();
            self.private.iter().try_for_each(|private| glob(private).map(|glob| _ = set.add(glob)))?;
            set.build()
        };
        // If the globs do not compile, every file counts as private.
        self.may_occur_in(path) && self.ready.get_or_init(|| ready().ok()).as_ref().is_none_or(|globs| globs.is_match(path))
    }

    /// May the path of a private file occur in this text? Most texts are dismissed by one search.
    fn may_occur_in(&self, text: &str) -> bool {
        let signs = || {
            let signs: Option<Vec<String>> = self.private.iter().map(|glob| required_substring(glob)).collect();
            AhoCorasick::builder().ascii_case_insensitive(true).build(signs?).ok()
        };
        !self.private.is_empty() && self.signs.get_or_init(signs).as_ref().is_none_or(|signs| signs.is_match(text))
    }

    /// The same for a command, in which the shell may expand patterns to such a path.
    fn may_be_named_in(&self, command: &str) -> bool {
        let expands = || memchr::memchr3(b'*', b'?', b'[', command.as_bytes()).is_some();
        !self.private.is_empty() && (expands() || self.may_occur_in(command))
    }

    /// Is this the path of a private file?
    pub fn holds(&self, path: &str) -> bool {
        let is_path = !path.is_empty() && path.len() <= MAX_PATH && !path.contains('\n');
        is_path && self.is_private(path) && !self.allowed.is_match(path)
    }

    /// The same for an argument that may be a sentence, which is not a path.
    pub(crate) fn matches_argument(&self, text: &str) -> bool {
        (text.starts_with(['/', '~', '.']) || !text.contains(char::is_whitespace)) && self.holds(text)
    }

    /// The same for a word of a command, which may be a quoted pattern or one that the shell expands.
    fn matches_word(&self, word: &str) -> bool {
        (word.contains('/') || !word.contains(char::is_whitespace)) && (self.holds(word) || self.may_expand_to_private(word))
    }

    /// Does a shell pattern such as `.e*` or `id_?sa` match a private file? Unspecific patterns such as `*.json` do not count.
    fn may_expand_to_private(&self, word: &str) -> bool {
        let (folder, name) = word.rsplit_once('/').map_or(("", word), |(folder, name)| (&word[..=folder.len()], name));
        let says = if name.starts_with('.') { name.len() > 1 } else { literal_chars(name) >= 3 && !name.starts_with("*.") };
        let is_pattern = says && name.len() < 64 && name.contains(['*', '?', '[']);
        let names = || {
            let glob = GlobBuilder::new(name).case_insensitive(true).build().ok()?.compile_matcher();
            COMMON_PRIVATE_FILES.iter().find(|often| glob.is_match(often) && self.holds(&format!("{folder}{often}")))
        };
        // A glob takes long to build, and most begin or end like none of the names.
        is_pattern && COMMON_PRIVATE_FILES.iter().any(|often| may_match(name, often)) && names().is_some()
    }
}

/// May a pattern match this ASCII name in any case, by the literal characters that the pattern begins and ends with?
fn may_match(pattern: &str, name: &str) -> bool {
    let is_literal = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let start = pattern.iter().take_while(|b| is_literal(b)).count();
    let end = pattern.iter().rev().take_while(|b| is_literal(b)).count();
    let (start, end) = (&pattern[..start], &pattern[pattern.len() - end..]);
    let begins = name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    begins && name.len().checked_sub(end.len()).is_some_and(|at| name[at..].eq_ignore_ascii_case(end))
}

/// How many characters of a pattern are literal.
fn literal_chars(name: &str) -> usize {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').count()
}

/// The longest substring that a path must contain to match the glob, if there is a usable one.
fn required_substring(glob: &str) -> Option<String> {
    let is_plain = glob.is_ascii() && !glob.contains(['[', '{', '\\']);
    let longest = glob.split(['*', '?', '/']).max_by_key(|part| part.len())?;
    (is_plain && longest.len() > 1).then(|| longest.to_owned())
}

/// Removes the lines that a search or a diff shows of private files: `.env:3:KEY=…`, `diff --git a/.env b/.env`.
pub(crate) fn without_lines_of<'t>(output: &'t str, files: &PrivateFiles) -> Cow<'t, str> {
    if !files.may_occur_in(output) {
        return Cow::Borrowed(output);
    }
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    let mut in_diff = false;
    for line in output.split_inclusive('\n') {
        if let Some(paths) = line.strip_prefix("diff --git ") {
            in_diff = paths.split_whitespace().any(|path| files.matches_argument(path));
        }
        if in_diff || is_line_of(line, files) {
            kept.push_str(&output[from..at]);
            from = at + line.len();
        }
        at += line.len();
    }
    if from == 0 {
        return Cow::Borrowed(output);
    }
    kept.push_str(&output[from..]);
    Cow::Owned(kept)
}

/// `path:…`, or `path-12-…` for context lines around a match
fn is_line_of(line: &str, files: &PrivateFiles) -> bool {
    let path = line.split(':').next().unwrap_or_default();
    let around = || path.rsplitn(3, '-').nth(2).unwrap_or_default();
    let is_path = |path: &str| path.len() < 256 && path.contains(['.', '/']) && !path.contains(char::is_whitespace);
    (path.len() < line.len() && is_path(path) && files.holds(path)) || is_path(around()) && files.holds(around())
}

/// Replaces what is withheld of a command.
pub(crate) const WITHHELD: &str = "…";

/// A private file named in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedFile<'c> {
    pub program: &'c str,
    /// How the shell passes the file to the program: empty for an operand, `<` or `>`.
    pub by: &'static str,
    pub path: &'c str,
}

/// The part of a command that prints something private without naming a file: `pass show …`, `docker compose config`.
pub fn reveals(command: &str, files: &PrivateFiles) -> Option<&'static str> {
    // A step that begins with such a command holds it: one search dismisses nearly every command.
    static ANY: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::new(REVEALING_COMMANDS.iter().map(|begin| begin.trim_end())).ok());
    if files.private.is_empty() || ANY.as_ref().is_some_and(|any| !any.is_match(command)) {
        return None;
    }
    let revealer = |step: &str| {
        let mut rest = step.trim_start();
        while let Some((word, after)) = rest.split_once(' ').filter(|(word, _)| is_assignment(word) || PREFIXES.contains(word)) {
            (_, rest) = (word, after.trim_start());
        }
        let begins = |begin: &&str| {
            let after = rest.strip_prefix(begin);
            after.is_some_and(|after| begin.ends_with('-') || after.is_empty() || after.starts_with(char::is_whitespace))
        };
        REVEALING_COMMANDS.iter().map(|begin| begin.trim_end()).find(begins)
    };
    steps(command).find_map(revealer)
}

/// The private files that a command reads or writes, in order of mention.
pub fn named_in<'c>(command: &'c str, files: &PrivateFiles) -> Vec<NamedFile<'c>> {
    let mut search = CommandScanner { files, found: Vec::new() };
    if files.may_be_named_in(command) {
        search.command(command, MAX_DEPTH);
    }
    search.found
}

struct CommandScanner<'f, 'c> {
    files: &'f PrivateFiles,
    found: Vec<NamedFile<'c>>,
}

impl<'c> CommandScanner<'_, 'c> {
    fn command(&mut self, command: &'c str, depth: usize) {
        // A heredoc feeds the program before it, and the list of a loop the program inside it.
        let is_loop = |step: &str| step.trim_start().starts_with("for ") || LOOPS.iter().any(|word| step.contains(word));
        let may_loop = || ["for "].iter().chain(&LOOPS).any(|word| command.contains(word));
        let takes_any = |step: &str| words(step).iter().any(|word| takes_files(word, step));
        let feeds_loop = || may_loop() && steps(command).any(is_loop) && steps(command).any(takes_any);
        // Found out for the first step that may need it: few commands have one.
        let mut is_fed = None;
        for step in outside_messages(command).into_iter().flat_map(steps) {
            // Few steps name such a file, or receive one in the lines that follow.
            let is_heredoc = step.contains("<<");
            if is_heredoc || self.files.may_be_named_in(step) {
                let fed = *is_fed.get_or_insert_with(feeds_loop);
                let takes_files = self.step(step, fed, depth);
                is_fed = Some(fed || takes_files && is_heredoc);
            }
        }
    }

    fn add(&mut self, named: NamedFile<'c>) {
        if !self.found.iter().any(|known| known.path == named.path) {
            self.found.push(named);
        }
    }

    /// Scans the words of a step. `fed`: the step may be heredoc text of a program that takes files. Returns whether it takes
    /// files.
    fn step(&mut self, step: &'c str, fed: bool, depth: usize) -> bool {
        let files = self.files;
        let words = words(step);
        if let [goes, ..] = words[..]
            && let program = goes.trim_start_matches('(')
            && GOES_TO.contains(&program)
            && let Some(folder) = words[1..].iter().find(|word| **word != WITHHELD && !word.starts_with('-'))
        {
            let folder = folder.trim_matches(['"', '\'', ')']);
            if files.holds(&format!("{}/.", folder.trim_end_matches('/'))) {
                self.add(NamedFile { program, by: "", path: folder });
            }
        }
        // The program that `sudo -u app`, `docker exec app` or `find -exec` run is one of the words.
        let taker = words.iter().find(|word| takes_files(word, step));
        let first = || words.iter().find(|w| !is_assignment(w) && !PREFIXES.contains(w));
        let program = taker.or_else(first).copied().unwrap_or_default();
        let takes_files = fed || taker.is_some() || words.contains(&WITHHELD);
        let runs_quoted = || words.iter().any(|word| SHELLS.contains(&name_of(word)));
        let (mut before, mut flag) = ("", "");
        for word in words.iter().copied() {
            let (by, path) = target(word, before);
            before = redirects_to_next(word);
            let path = path.trim_matches(['"', '\'', '(', ')', ',', ';', '@', '=']);
            let named = !by.is_empty() || is_assignment(word) || names_by_flag(word) || takes_file(flag);
            flag = word;
            if !files.may_be_named_in(word) {
                continue;
            }
            let within = if takes_files { path } else { "" }.split(PATH_DELIMITERS).filter(|part| part.contains(['.', '/']));
            let paths = Some(path).filter(|_| named || takes_files).into_iter().chain(within);
            for path in paths.filter(|path| *path != program && files.matches_word(path)) {
                self.add(NamedFile { program, by, path });
            }
            if depth > 0 && path.contains(char::is_whitespace) && runs_quoted() {
                self.command(path, depth - 1);
            }
        }
        takes_files
    }
}

fn name_of(word: &str) -> &str {
    let word = word.trim_start_matches('(');
    word.rsplit('/').next().unwrap_or(word)
}

/// Does a program show, copy or change its files? `git add`, `git commit` and the like only name them.
fn takes_files(word: &str, step: &str) -> bool {
    FILE_PROGRAMS.contains(&name_of(word)) && (word != "git" || shows_content(step))
}

/// A command without the messages that it gives to git or `gh`: they are neither commands nor names of files.
fn outside_messages(command: &str) -> Vec<&str> {
    const OPENS: &str = "$(cat <<";
    let (mut pieces, mut rest) = (Vec::new(), command);
    while let Some(at) = rest.find(OPENS) {
        let (before, behind) = (&rest[..at], &rest[at + OPENS.len()..]);
        let takes_message = takes_message(before.rsplit(['|', ';', '\n', '&', '`']).next().unwrap_or_default());
        let after = if takes_message { after_heredoc(behind, !command.contains('\n')) } else { None };
        pieces.push(before);
        // A new piece begins where a step does.
        rest = after.unwrap_or(&rest[at + 2..]);
    }
    pieces.push(rest);
    pieces
}

/// `git commit -m "`, `gh pr create --body="`
fn takes_message(step: &str) -> bool {
    let words = words(step);
    let says = matches!(words[..], ["git", "commit" | "tag", ..] | ["gh", "pr" | "issue" | "release", ..]);
    says && words.last().is_some_and(|last| *last == "\"" || last.ends_with("=\""))
}

/// What follows a heredoc in which the shell expands nothing, from its delimiter on. `folded`: its lines were joined.
fn after_heredoc(behind: &str, folded: bool) -> Option<&str> {
    let delimiter = behind.trim_start_matches('-').trim_start();
    let quote = ['\'', '"'].into_iter().find(|quote| delimiter.starts_with(*quote))?;
    let (end, text) = delimiter.strip_prefix(quote)?.split_once(quote)?;
    let lines = if folded { text.strip_prefix(' ')? } else { text.strip_prefix('\n')? };
    let between = if folded { ' ' } else { '\n' };
    let mut at = 0;
    for line in lines.split(between) {
        at += line.len();
        if line.trim() == end && !end.is_empty() {
            return Some(&lines[at..]);
        }
        at += between.len_utf8();
    }
    None
}

/// `--env-file .env`
fn takes_file(flag: &str) -> bool {
    flag.starts_with("--") && flag.contains("file") && !flag.contains('=')
}

fn shows_content(step: &str) -> bool {
    [" show", " diff", " log", " blame", " cat-file", " grep", " stash show"].iter().any(|verb| step.contains(verb))
}

/// The steps of a command, split at `|`, `;`, `&&`, `||`, newlines and command substitutions.
fn steps(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(command);
    std::iter::from_fn(move || {
        let text = rest?;
        let bytes = text.as_bytes();
        let end = (0..bytes.len()).find_map(|at| match bytes[at] {
            b'|' | b';' | b'\n' | b'&' | b'`' => Some((at, 1)),
            b'$' if bytes.get(at + 1) == Some(&b'(') => Some((at, 2)),
            _ => None,
        });
        rest = end.map(|(at, len)| &text[at + len..]);
        Some(end.map_or(text, |(at, _)| &text[..at]))
    })
}

fn words(step: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut quote: Option<char> = None;
    let mut start = None;
    for (at, c) in step.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                start = start.or(Some(at));
            }
            (Some(open), _) if open == c => quote = None,
            (None, c) if c.is_whitespace() => words.extend(start.take().map(|from: usize| &step[from..at])),
            _ => start = start.or(Some(at)),
        }
    }
    words.extend(start.map(|from| &step[from..]));
    words
}

/// The path in a word and the redirection it is the target of: `>.env`, `2>>.env`, or the word after `>`.
fn target<'w>(word: &'w str, before: &'static str) -> (&'static str, &'w str) {
    match word.rfind(['<', '>']) {
        Some(at) if word.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>']) => {
            (if word[at..].starts_with('>') { ">" } else { "<" }, &word[at + 1..])
        }
        _ => (before, word.rsplit('=').next().unwrap_or(word)),
    }
}

/// The redirection at the end of a word, whose target is the next word.
fn redirects_to_next(word: &str) -> &'static str {
    if word.ends_with('>') {
        ">"
    } else if word.ends_with('<') {
        "<"
    } else {
        ""
    }
}

/// `--env-file=.env`: the file is read, whatever the program.
fn names_by_flag(word: &str) -> bool {
    word.starts_with('-') && word.contains('=')
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

#[cfg(test)]
mod tests;
