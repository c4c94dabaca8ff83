use super::*;
use proptest::prelude::*;

fn files() -> PrivateFiles {
    PrivateFiles::new(["**/.env*", "**/*secret*", "**/id_rsa*"].map(str::to_owned).into(), GlobSet::empty())
}

#[test]
fn what_every_path_of_a_glob_holds_is_known_or_every_text_is_looked_at() {
    for (glob, sign) in [
        ("**/.env*", Some(".env")),
        ("**/.docker/config.json", Some("config.json")),
        ("*.pem", Some(".pem")),
        ("a/**/bc", Some("bc")),
        ("secrets/**", Some("secrets")),
        ("**", None),
        ("*a?b*", None),
        ("{a,bc}d", None),
        ("[ab]cd", None),
        ("ordner-ä", None),
        ("", None),
    ] {
        assert_eq!(required_substring(glob).as_deref(), sign, "{glob}");
    }
    let any = PrivateFiles::new(["**/.env", "**/*a*"].map(str::to_owned).into(), GlobSet::empty());
    assert!(any.may_occur_in("no path") && !files().may_occur_in("no path") && files().may_occur_in("cat ./.ENV"));
    assert!(!PrivateFiles::default().may_occur_in(".env"));
}

#[test]
fn lines_of_private_files_are_left_out_of_what_a_search_or_a_diff_shows() {
    for (output, left) in [
        ("src/a.rs:3:let x = 1;\n./.env:1:KEY=hush\nsrc/b.rs:4:y\n", "src/a.rs:3:let x = 1;\nsrc/b.rs:4:y\n"),
        ("app/.env-2-KEY=hush\nok\n", "ok\n"),
        ("diff --git a/.env b/.env\n+KEY=hush\ndiff --git a/a.rs b/a.rs\n+x\n", "diff --git a/a.rs b/a.rs\n+x\n"),
        ("error: the secret: none\nsee .env\n", "error: the secret: none\nsee .env\n"),
    ] {
        assert_eq!(without_lines_of(output, &files()), left);
    }
}

#[test]
fn commands_that_read_or_write_private_files_are_known_by_their_paths() {
    for (command, path) in [
        ("cat .env", ".env"),
        ("cd app && sudo cat ./config/.env.local | head -3", "./config/.env.local"),
        ("echo TOKEN=x >> .env", ".env"),
        ("cat > .env <<'EOF'\nTOKEN=x\nEOF", ".env"),
        ("TOKEN=x tee app/.env", "app/.env"),
        ("grep -n KEY \"deploy/secrets.yml\"", "deploy/secrets.yml"),
        ("head ~/.ssh/id_rsa", "~/.ssh/id_rsa"),
        ("git show HEAD:app/.env", "HEAD:app/.env"),
        ("psql <.env", ".env"),
        ("x=$(cat .env)", ".env"),
        ("docker run --env-file=.env img env", ".env"),
        ("git diff -- app/.env", "app/.env"),
        ("cat \"/home/dev/My Documents/.env\"", "/home/dev/My Documents/.env"),
        ("docker exec app cat /app/.env", "/app/.env"),
        ("kubectl exec p -- cat .env", ".env"),
        ("sudo -u app cat .env", ".env"),
        ("timeout 5 cat .env", ".env"),
        ("ssh box 'cat .env'", ".env"),
        ("bash -c \"cat .env | head\"", ".env"),
        ("find . -name .env -exec cat {} +", ".env"),
        ("docker compose --env-file .env config", ".env"),
        ("npx dotenv-cli -e .env -- env", ".env"),
        ("python3 -c \"print(open('.env').read())\"", ".env"),
        ("python3 - <<'EOF'\nopen('.env', 'w').write('A=1')\nEOF", ".env"),
        ("f=.env; cat $f", ".env"),
        ("(cat .env)", ".env"),
        ("node -e \"console.log(fs.readFileSync('.env', 'utf8'))\"", ".env"),
    ] {
        let named = named_in(command, &files());
        assert_eq!(named.iter().map(|n| n.path).collect::<Vec<_>>(), [path], "{command}");
    }
    for command in ["docker … .env", "git … app/.env", "cat … >.env"] {
        assert_eq!(named_in(command, &files()).len(), 1, "{command}");
    }
    for command in [
        "cargo test secret",
        "cargo test src/secret.rs",
        "git commit -m \"drop .env and the secret\"",
        "git add .env.example",
        "ls .env",
        "grep -rn 'the secret store' src",
        "echo the .environment is fine",
        "rm -f .env",
        "git add a && git commit -m \"$(cat <<'EOF'\nDrop it\n\nIt needs one more secret without value.\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' Drop it; it needs one more secret EOF )\" && git push",
        "gh pr create --title x --body=\"$(cat <<'EOF'\nNo secret in .env any more\nEOF\n)\"",
    ] {
        assert_eq!(named_in(command, &files()), [], "{command}");
    }
    for command in [
        "git commit -m \"$(cat <<'EOF'\nDrop it\nEOF\n)\" && cat .env",
        "git commit -m \"$(cat <<'EOF' Drop it EOF )\" && cat .env",
        "git commit -m \"$(cat <<'EOF' | tee .env\nDrop it\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' > .env\nDrop it\nEOF\n)\"",
        "git commit -m \"$(cat .env <<'EOF'\nDrop it\nEOF\n)\"",
        "git commit -m \"$(cat <<EOF\nDrop $(cat .env)\nEOF\n)\"",
        "x=\"$(cat <<'EOF'\na .env\nEOF\n)\"; cat $x",
        "git commit -m x && cat <<'EOF' | xargs cat\na .env\nEOF",
    ] {
        assert_eq!(named_in(command, &files()).len(), 1, "{command}");
    }
}

#[test]
fn patterns_of_the_shell_and_loops_name_private_files() {
    for (command, path) in [
        ("cat .e*", ".e*"),
        ("head -2 app/.en?", "app/.en?"),
        ("cat .*", ".*"),
        ("cat ~/.ssh/id_*", "~/.ssh/id_*"),
        ("for f in .env*; do echo \"$f\"; cat \"$f\"; done", ".env*"),
        ("ls -1 .env* | xargs cat", ".env*"),
        ("find . -name '.env*' | xargs -n1 cat", ".env*"),
        ("find . -name '.env.local' | while read f; do cat $f; done", ".env.local"),
    ] {
        let named = named_in(command, &files());
        assert_eq!(named.iter().map(|n| n.path).collect::<Vec<_>>(), [path], "{command}");
    }
    for command in [
        "cat src/*.rs",
        "cat *.json",
        "cat *",
        "ls .e*",
        "for f in src/*; do cat $f; done",
        "git commit -m 'wait for .env' && cat README.md",
    ] {
        assert_eq!(named_in(command, &files()), [], "{command}");
    }
}

#[test]
fn commands_that_print_secrets_are_known_where_they_begin() {
    for (command, what) in [
        ("pass show shop/db", "pass show"),
        ("cd app && docker compose config | head", "docker compose config"),
        ("X=1 sudo vault kv get secret/shop", "vault kv get"),
        ("x=$(op read op://shop/db/password)", "op read"),
        ("gcloud auth print-access-token", "gcloud auth print-"),
        ("history | tail", "history"),
        ("pass show …", "pass show"),
    ] {
        assert_eq!(reveals(command, &files()), Some(what), "{command}");
    }
    for command in
        ["git commit -m 'use pass show'", "docker compose config-x", "history.sh", "docker compose up", "cargo test history"]
    {
        assert_eq!(reveals(command, &files()), None, "{command}");
    }
    assert_eq!(reveals("pass show shop", &PrivateFiles::default()), None);
}

#[test]
fn a_command_is_split_at_every_sign_between_steps() {
    let all = |command: &str| steps(command).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(all(""), [""]);
    assert_eq!(all("a | b;c\n&d`e`"), ["a ", " b", "c", "", "d", "e", ""]);
    assert_eq!(all("x $(y $$(z) $ (é)"), ["x ", "y $", "z) $ (é)"]);
    assert_eq!(all("a$("), ["a", ""]);
}

proptest! {
    #[test]
    fn a_pattern_that_matches_a_name_begins_and_ends_like_it(
        pattern in "(\\.e|\\.E|nv|id|_|rsa|RSA|s|secrets|\\.y|ml|json|-|\\*|\\?|\\[a-z\\.]|\\[!x]|\\{rsa,env\\}|\\\\|\\}|,|!|é){1,6}",
    ) {
        if let Ok(glob) = GlobBuilder::new(&pattern).case_insensitive(true).build() {
            let glob = glob.compile_matcher();
            for name in COMMON_PRIVATE_FILES.iter().filter(|name| glob.is_match(name)) {
                prop_assert!(may_match(&pattern, name), "{} {}", pattern, name);
            }
        }
    }
}
