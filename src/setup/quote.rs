//! Quotes a value for the language it is written into. Pure; each function is the inverse of how that language reads.

/// One word of a POSIX shell, always in single quotes, so that what is written does not depend on a library's taste.
pub(crate) fn shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// One word of a systemd unit: specifiers and escapes are taken literally (systemd.unit(5), systemd.syntax(7)). In `Environment=` and
/// in the path of a command a `$` names no variable.
pub(crate) fn systemd(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
}

/// The text of an XML element.
pub(crate) fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A command as the sixth field of a crontab, where `%` would end it (crontab(5)).
pub(crate) fn cron(command: &str) -> String {
    command.replace('%', r"\%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_gets_its_own_escapes() {
        let odd = r#"/a b/it's "50%" $HOME\&<x>"#;
        assert_eq!(shell(odd), r#"'/a b/it'\''s "50%" $HOME\&<x>'"#);
        assert_eq!(systemd(odd), r#""/a b/it's \"50%%\" $HOME\\&<x>""#);
        assert_eq!(xml("a<b>&c"), "a&lt;b&gt;&amp;c");
        assert_eq!(cron("date +%H"), r"date +\%H");
    }

    proptest::proptest! {
        #[test]
        fn a_shell_reads_the_word_that_was_quoted(word in "[ -~äß\t]{0,20}") {
            let said = std::process::Command::new("/bin/sh").args(["-c", &format!("printf %s {}", shell(&word))]).output().unwrap();
            proptest::prop_assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
        }
    }
}
