//! What lies in private files is not kept, that they were touched may be; a word in a sentence is not a path.

use serde_json::json;

use crate::private::outputs::{CONFIG, check, check_with, digest_and_listen, listener, turn};
use crate::support::rows::{Rows, SHOP, bash, put};

const PRIVATE: [&str; 22] = [
    ".env", ".env.production", "config/.env.local", "config/secrets.yaml", "deploy/secret-store/../my_secret.txt", "keys/id_rsa",
    "keys/id_ed25519", "tls/server.pem", "tls/server.key", "k8s/db-credentials.yml", ".npmrc", "home/.aws/credentials",
    "keys/service-account.json", "docs/passwords.txt", ".config/gh/hosts.yml", "root/etc/shadow", "www/wp-config.php",
    "conf/application-prod.properties", "appsettings.Production.json", "deploy/env.production", ".m2/settings.xml",
    ".bash_history",
];

/// A session in which this path is read and written in every way.
fn touching(rows: &mut Rows, path: &str, n: usize, word: &str) {
    let tool = |k: usize| 100 + n * 20 + k;
    let full = format!("{SHOP}/{path}");
    for (k, command) in [
        format!("cat {path}"),
        format!("head -5 ./{path}"),
        format!("grep -n PORT '{full}'"),
        format!("cd {SHOP} && cat \"{path}\" | sort"),
        format!("docker run --env-file={path} shop:latest env"),
        format!("source {path} && env"),
        format!("git diff -- {path}"),
    ]
    .into_iter()
    .enumerate()
    {
        rows.uses(tool(k), &bash(&command));
        rows.result(tool(k), &format!("Exit code 1\nPORT={word}{n}a{k}\nerror: {word}{n}b{k} is no number\n3 errors"), true);
    }
    for (k, command) in [
        format!("cat > {path} <<'EOF'\nPORT={word}{n}c\nEOF"),
        format!("echo 'PORT={word}{n}d' >> {path}"),
        format!("printf 'PORT={word}{n}e' | tee {path}"),
        format!("sed -i 's/PORT=.*/PORT={word}{n}f/' {path}"),
    ]
    .into_iter()
    .enumerate()
    {
        rows.uses(tool(8 + k), &bash(&command));
        rows.result(tool(8 + k), "", false);
    }
    for (k, (name, input)) in [
        ("Read", json!({"file_path": full})),
        ("Edit", json!({"file_path": full, "old_string": format!("PORT={word}{n}g"), "new_string": format!("PORT={word}{n}h")})),
        ("Write", json!({"file_path": full, "content": format!("PORT={word}{n}i")})),
        ("mcp__files__write", json!({"path": full, "text": format!("PORT={word}{n}j")})),
    ]
    .into_iter()
    .enumerate()
    {
        rows.uses(tool(13 + k), &json!({"name": name, "input": input}));
        rows.result(
            tool(13 + k),
            &format!("<tool_use_error>String to replace not found in file.\nString: PORT={word}{n}l{k}</tool_use_error>"),
            true,
        );
    }
}

#[test]
fn what_is_read_from_private_files_or_written_to_them_is_not_kept() {
    let mut rows = turn(1, "Mend loud1, please.", "I look.");
    for (n, path) in PRIVATE.into_iter().enumerate() {
        touching(&mut rows, path, n, "hush");
    }
    rows.assistant("loud2 is mended.");
    check(&rows);
}

#[test]
fn nor_is_what_a_command_prints_of_them_without_their_names() {
    let mut rows = turn(1, "Mend loud1, please.", "I look.");
    for (n, command) in [
        "cat .e*",
        "head config/.en?.local",
        "for f in .env*; do cat \"$f\"; done",
        "ls -1 .env* | xargs cat",
        "find . -name '.env*' -exec cat {} +",
        "cat ~/.ssh/id_*",
        "docker compose config",
        "docker-compose config | head",
        "pass show shop/db",
        "op item get Shop --reveal",
        "vault kv get secret/shop",
        "gh auth token",
        "aws secretsmanager get-secret-value --secret-id shop",
        "terraform output -json",
        "heroku config:get PORT",
        "history | tail -3",
    ]
    .into_iter()
    .enumerate()
    {
        rows.uses(10 + n, &bash(command));
        rows.result(10 + n, &format!("Exit code 1\nPORT=hush{n}a\nerror: hush{n}b is no number\n3 errors"), true);
    }
    rows.assistant("loud2 is mended.");
    check(&rows);
}

#[test]
fn the_users_own_globs_count_too() {
    let config = "[privacy]\nexclude_paths = [\"**/payroll/**\", \"*.ledger\"]\n";
    let mut rows = turn(1, "Mend loud1, please.", "I look.");
    touching(&mut rows, "payroll/2026/november.csv", 1, "hush");
    touching(&mut rows, "books/shop.ledger", 2, "hush");
    touching(&mut rows, ".env", 3, "hush");
    rows.assistant("loud2 is mended.");
    check_with(config, &rows);
}

#[test]
fn a_glob_in_the_home_counts_however_a_command_writes_the_home() {
    for (written, glob) in [("~", "payroll/**"), ("$HOME", "payroll"), ("${HOME}", "payroll/"), ("", "pay*/november.csv")] {
        let listener = listener("");
        let home = listener.world.home().display().to_string();
        let mut rows = turn(1, "Mend loud1, please.", "I look.");
        for (n, home) in ["~", "$HOME", "${HOME}", &home].into_iter().enumerate() {
            rows.uses(10 + n, &bash(&format!("cat {home}/payroll/november.csv | sort")));
            rows.result(10 + n, &format!("Exit code 1\nerror: hush{n} is no number\n3 errors"), true);
        }
        rows.uses(20, &bash("cat ~/payrolls.txt"));
        rows.result(20, "Exit code 1\nerror: loud3 is no number\n3 errors", true);
        rows.assistant("loud2 is mended.");
        put(&listener.world, &rows.id, &rows.text);
        let written = if written.is_empty() { &home } else { written };
        listener.world.configure(&format!("{CONFIG}[privacy]\nexclude_paths = ['{written}/{glob}']\n"));
        digest_and_listen(&listener);
    }
}

/// That it went there is kept, and nothing of what it saw there.
#[test]
fn what_is_seen_in_a_private_folder_is_not_kept() {
    for excluded in ["ledgers", "~/src/ledgers", "~/src/ledgers/**", "{home}/src/ledgers"] {
        let listener = listener("");
        let home = listener.world.home().display().to_string();
        let excluded = excluded.replace("{home}", &home);
        listener.world.configure(&format!("{CONFIG}[privacy]\nexclude_paths = ['{excluded}']\n"));
        let mut rows = turn(1, "Mend loud1, please.", "I look.");
        for (n, command) in [
            "cd ~/src/ledgers && pytest -q",
            &format!("(cd {home}/src/ledgers; pytest -q)"),
            "cd -- ~/src/ledgers/ && pytest -q",
            "pushd $HOME/src/ledgers/api && pytest -q",
            "cat ~/src/ledgers/november.txt",
        ]
        .into_iter()
        .enumerate()
        {
            rows.uses(10 + n, &bash(command));
            rows.result(10 + n, &format!("Exit code 1\nFAILED hush{n} test - boom\nerror: hush{n}b is no number"), true);
        }
        rows.uses(20, &json!({"name": "Read", "input": {"file_path": format!("{home}/src/ledgers/a.py")}}));
        rows.result(20, "1\thush9 = 1", false);
        rows.uses(21, &bash("cd ~/src/shop && pytest -q"));
        rows.result(21, "Exit code 1\nerror: loud3 is no number\n3 errors", true);
        rows.assistant("loud2 is mended.");
        put(&listener.world, &rows.id, &rows.text);
        digest_and_listen(&listener);
    }
}

#[test]
fn other_files_are_kept_as_ever() {
    let mut rows = turn(1, "Mend loud1, please.", "I look.");
    let failing = |rows: &mut Rows, n: usize, command: &str| {
        rows.uses(n, &bash(command));
        rows.result(n, &format!("Exit code 1\nerror: loud{n}b is no number"), true);
    };
    for (n, command) in [
        "cat src/environment.rs loud10a",
        "python -m envtest loud11a",
        "cat src/keys.rs loud12a",
        "./run.sh --keep loud13a",
        "cat docs/monkey.txt loud14a",
        "sed -n 1,5p config/app.yaml loud15a",
        "cat src/*.rs loud16a",
        "cat *.json loud17a",
        "for f in src/*; do cat $f; done; echo loud18a",
        "docker compose up loud19a",
        "cat src/history.rs loud20a",
    ]
    .into_iter()
    .enumerate()
    {
        failing(&mut rows, 10 + n, command);
    }
    rows.assistant("loud2 is mended.");
    check(&rows);
}

#[test]
fn a_word_in_a_sentence_is_no_path() {
    let mut rows = turn(
        1,
        "The .env file lacks loud1. Our secret sauce is loud2: see id_rsa and server.pem, or ask for the credentials of loud3.",
        "The secret of loud4 is that config/secrets.yaml and .env.production differ; loud5 is mended.",
    );
    for (n, command) in [
        "git commit -m 'Rotate the secret of loud6'",
        "git commit -m \"Read .env before loud7\"",
        "gh pr create --title 'No credentials in loud8'",
    ]
    .into_iter()
    .enumerate()
    {
        rows.uses(n, &bash(command));
        rows.result(n, &format!("Exit code 1\nerror: loud{}x says no", 20 + n), true);
    }
    rows.uses(9, &json!({"name": "TodoWrite", "input": {"todos": [{"content": "Move the secrets of loud9 into .env", "status": "pending"}]}}));
    rows.row(json!({"type": "ai-title", "aiTitle": "Move secrets to .env in loud10"}));
    rows.assistant("Done.");
    check(&rows);
}

#[test]
fn that_a_private_file_was_changed_is_told() {
    let listener = crate::private::outputs::listener("");
    let mut rows = turn(1, "Mend loud1, please.", "I look.");
    rows.uses(1, &json!({"name": "Edit", "input": {"file_path": format!("{SHOP}/.env.local"), "old_string": "PORT=hush1", "new_string": "PORT=hush2"}}));
    rows.result(1, "The file has been updated.", false);
    rows.assistant("loud2 is mended.");
    crate::support::rows::put(&listener.world, &rows.id, &rows.text);
    crate::private::outputs::digest_and_listen(&listener);
    let tools = listener.world.texts(&rows.id, "tool");
    assert!(tools.iter().any(|tool| tool.contains(".env.local")), "{tools:#?}");
}
