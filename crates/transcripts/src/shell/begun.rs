//! The programs that a command was sure to start.

use super::checks::{is_assignment, is_known_program};
use super::class::CommandClass;
use super::git;
use super::steps::steps;

/// Programs that run the program behind them and are not what somebody means who forbids a program.
const ASIDE: [&str; 5] = ["sudo", "time", "command", "nohup", "env"];

/// The words of each step that began if the line did, from its program on. The line is a whole command in one line: what stands behind a
/// heredoc's mark may be its text, and what stands behind `||` runs only if something failed.
pub fn begun(line: &str) -> Vec<Vec<String>> {
    let line = line.split("<<").next().unwrap_or_default();
    let line = line.split("||").next().unwrap_or_default();
    let from_program = |words: Vec<String>| {
        let is_aside = |word: &&String| is_assignment(word) || ASIDE.contains(&word.as_str());
        let from = words.iter().take_while(is_aside).count();
        git::command(&words[from..]).unwrap_or_else(|| words[from..].to_vec())
    };
    let all = steps(line).into_iter().map(|step| from_program(step.words));
    all.filter(|words| !words.is_empty()).collect()
}

/// Is the word the name of a program, and of one that is known for what it does here?
pub fn is_program(word: &str) -> bool {
    matches!(word, "git" | "gh") || is_known_program(word) || CommandClass::is_program(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_have_run_is_left_out() {
        let told = |line: &str| begun(line).iter().map(|words| words.join(" ")).collect::<Vec<_>>();
        assert_eq!(told("cd web && CI=1 npm ci; sudo make x"), ["cd web", "npm ci", "make x"]);
        assert_eq!(told("pnpm i || npm i"), ["pnpm i"]);
        assert_eq!(told("cat > a.md <<'EOF' # A; npm i EOF"), ["cat"]);
        assert_eq!(told("git -C /x push origin main"), ["git push origin main"]);
        assert_eq!(
            told("git commit -m 'a; npm i' && if npm i; then x; fi").iter().filter(|line| line.starts_with("npm")).count(),
            0
        );
        assert!(is_program("npm") && is_program("just") && !is_program("spaces") && !is_program("test"));
    }
}
