//! Tables of texts that are redacted and of texts that stay, and properties of every text. Tokens are assembled at run time, so that the
//! source contains none.

use aho_corasick::AhoCorasick;
use proptest::prelude::*;

use super::*;

mod cost;
mod near;
mod stated;

/// Random characters, the same in every run.
fn body(set: &str, len: usize) -> String {
    let set: Vec<char> = set.chars().collect();
    let mut state = 0x2545_f491u32.wrapping_add(len as u32 * 77);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        set[state as usize % set.len()]
    };
    (0..len).map(|_| next()).collect()
}

fn alnum(len: usize) -> String {
    // Begins with both cases and a digit, so that short ones have them, too.
    format!("a7K{}", body("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789", len - 3))
}

fn hex(len: usize) -> String {
    body("0123456789abcdef", len)
}

fn upper(len: usize) -> String {
    format!("Q4{}", body("ABCDEFGHJKLMNPQRSTUVWXYZ234567", len - 2))
}

/// A UUID.
fn uuid() -> String {
    format!("{}-{}-{}-{}-{}", hex(8), &hex(16)[4..8], &hex(20)[4..8], &hex(24)[4..8], hex(12))
}

fn jwt() -> String {
    // {"alg":"HS256","typ":"JWT"}
    format!("{}{}.{}{}.{}", "eyJ", "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJ", alnum(80), alnum(43))
}

fn pem(label: &str, line_end: &str) -> String {
    let lines: Vec<String> = (0..6).map(|n| alnum(64 - usize::from(n == 5) * 30)).collect();
    format!("-----BEGIN {label}-----{line_end}{}{line_end}-----END {label}-----", lines.join(line_end))
}

/// Tokens of many providers, with the rules that find them.
fn tokens() -> Vec<(&'static str, String)> {
    let join = |parts: &[&str]| parts.concat();
    vec![
        ("aws-access-key", join(&["AKIA", &upper(16)])),
        ("google-api-key", join(&["AIza", &alnum(35)])),
        ("google-oauth-secret", join(&["GOCSPX-", &alnum(28)])),
        ("google-oauth-token", join(&["ya29.", &alnum(120)])),
        ("azure-client-secret", join(&["aB3", "8Q~", &alnum(34)])),
        ("digitalocean-token", join(&["dop_v1_", &hex(64)])),
        ("alibaba-access-key", join(&["LTAI", &alnum(20)])),
        ("heroku-key", join(&["HRKU-", &alnum(60)])),
        ("fly-token", join(&["fm2_", &alnum(120)])),
        ("netlify-token", join(&["nfp_", &alnum(36)])),
        ("supabase-secret", join(&["sb_secret_", &alnum(31)])),
        ("planetscale-token", join(&["pscale_tkn_", &alnum(43)])),
        ("databricks-token", join(&["dapi", &hex(32)])),
        ("doppler-token", join(&["dp.pt.", &alnum(43)])),
        ("vault-token", join(&["hvs.", &alnum(90)])),
        ("terraform-token", join(&[&alnum(14), ".atlasv1.", &alnum(67)])),
        ("pulumi-token", join(&["pul-", &hex(40)])),
        ("tailscale-key", join(&["tskey-auth-", &alnum(16), "-", &alnum(32)])),
        ("age-secret-key", join(&["AGE-SECRET-KEY-1", &upper(58)])),
        ("github-token", join(&["ghp_", &alnum(36)])),
        ("github-fine-grained-token", join(&["github_pat_", &alnum(22), "_", &alnum(59)])),
        ("gitlab-token", join(&["glpat-", &alnum(20)])),
        ("atlassian-token", join(&["ATATT3", &alnum(180)])),
        ("circleci-token", join(&["CCIPAT_", &alnum(22), "_", &hex(40)])),
        ("npm-token", join(&["npm_", &alnum(36)])),
        ("pypi-token", join(&["pypi-Ag", &alnum(150)])),
        ("crates-io-token", join(&["cio", &alnum(32)])),
        ("docker-token", join(&["dckr_pat_", &alnum(27)])),
        ("postman-key", join(&["PMAK-", &hex(24), "-", &hex(34)])),
        ("openai-key", join(&["sk-proj-", &alnum(100)])),
        ("anthropic-key", join(&["sk-ant-api03-", &alnum(95)])),
        ("huggingface-token", join(&["hf_", &alnum(34)])),
        ("replicate-token", join(&["r8_", &alnum(37)])),
        ("groq-key", join(&["gsk_", &alnum(52)])),
        ("langsmith-key", join(&["lsv2_pt_", &hex(32), "_", &hex(10)])),
        ("elevenlabs-key", join(&["sk_", &hex(48)])),
        ("langfuse-key", join(&["sk-lf-", &uuid()])),
        ("stripe-key", join(&["sk_live_", &alnum(24)])),
        ("stripe-webhook-secret", join(&["whsec_", &alnum(32)])),
        ("square-token", join(&["EAAA", &alnum(60)])),
        ("shopify-token", join(&["shpat_", &hex(32)])),
        ("plaid-token", join(&["access-production-", &uuid()])),
        ("slack-token", join(&["xoxb-", "123456789012-", &alnum(24)])),
        ("discord-bot-token", join(&["M", &alnum(23), ".", &alnum(6), ".", &alnum(30)])),
        ("telegram-bot-token", join(&["123456789", ":AA", &alnum(33)])),
        ("twilio-key", join(&["SK", &hex(32)])),
        ("sendgrid-key", join(&["SG.", &alnum(22), ".", &alnum(43)])),
        ("mailchimp-key", join(&[&hex(32), "-us12"])),
        ("mailgun-key", join(&["key-", &hex(32)])),
        ("hubspot-token", join(&["pat-na1-", &uuid()])),
        ("notion-token", join(&["ntn_", &alnum(46)])),
        ("airtable-token", join(&["pat", &alnum(14), ".", &hex(64)])),
        ("linear-key", join(&["lin_api_", &alnum(40)])),
        ("grafana-service-token", join(&["glsa_", &alnum(32), "_", &hex(8)])),
        ("new-relic-key", join(&["NRAK-", &upper(27)])),
        ("dynatrace-token", join(&["dt0c01.", &upper(24), ".", &upper(64)])),
        ("jwt", jwt()),
        ("private-key", pem("RSA PRIVATE KEY", "\n")),
        ("private-key", pem("ENCRYPTED PRIVATE KEY", "\\n")),
        ("private-key", pem("OPENSSH PRIVATE KEY", "\\\\n")),
        ("private-key", pem("PGP PRIVATE KEY BLOCK", "\n> ")),
        ("private-key", pem("EC PRIVATE KEY", "\n   12→")),
    ]
}

fn shipped_keywords() -> impl Iterator<Item = (&'static str, Detector)> {
    keywords::all(&formats::TOKENS, &formats::COMMANDS, &[])
}

fn redact(text: &str) -> String {
    Redactor::shipped().redact(text).into_owned()
}

#[test]
fn tokens_of_every_group_go_wherever_they_stand() {
    for (rule, token) in tokens() {
        let mark = format!("[REDACTED:{rule}]");
        for (before, after) in
            [("use ", " now"), ("", ""), ("(", ")"), ("\"", "\""), ("a\\n", "\\nb"), ("see ", "."), ("`", "`, and"), ("日本", "語")]
        {
            let redacted = redact(&format!("{before}{token}{after}"));
            assert_eq!(redacted, format!("{before}{mark}{after}"), "{token}");
        }
        assert!(!redact(&format!("{{\"text\":\"{{\\\"k\\\": \\\"{token}\\\"}}\"}}")).contains(&token), "{token}");
    }
}

#[test]
fn tokens_that_a_line_end_cuts_in_two_go() {
    // Formats with the key in their middle are read on one line only; a private key has lines of its own.
    for (rule, token) in tokens()
        .into_iter()
        .filter(|(rule, token)| token.len() > 24 && !matches!(*rule, "private-key" | "discord-bot-token" | "mailchimp-key"))
    {
        let cut = token.len() - 9;
        for line_end in ["\\\n", "\n", "\n> ", "\\n"] {
            let indent = "word ".repeat(12);
            let text = format!("{indent}{}{line_end}{} end", &token[..cut], &token[cut..]);
            let redacted = redact(&text);
            assert!(!redacted.contains(&token[..cut]), "{rule} over {line_end:?}: {redacted}");
        }
    }
}

#[test]
fn values_with_a_telling_name_go() {
    let words = [
        "DB_PASSWORD=§",
        "export DB_PASSWORD='§'",
        "{\"password\": \"§\"}",
        r#"{\"password\": \"§\"}"#,
        r#"{\\\"password\\\": \\\"§\\\", \\\"x\\\": 1}"#,
        "'password' => '§',",
        "password: §\nuser: me",
        "  password: §  # the old one",
        "let db_password: &str = \"§\";",
        "mysql --password=§ shop",
        "tool --password § x",
        "PGPASSWORD=§ psql -h db",
        "curl -u admin:§ https://x.y",
        "curl -s --user 'admin:§' https://x.y",
        "mysql -uroot -p§ shop",
        "sshpass -p '§' ssh host",
        "docker login -u me -p § reg.io",
        "postgres://me:§@db:5432/shop",
        "redis://:§@cache",
        "mongodb+srv://me:p%40§@c.mongodb.net/x",
        "app:§@tcp(db:3306)/shop",
        "Server=db;User Id=sa;Password=§;Encrypt=true",
        "jdbc:mysql://db/x?user=me&password=§",
        "machine api.x.y login me password §",
        "db.x.y:5432:shop:me:§",
        "*:*:*:me:§",
        "define('DB_PASSWORD', '§');",
        "- name: DB_PASSWORD\n  value: §",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"§\"}",
        "<password>§</password>",
        "the password is §.",
        "**Password:** §",
        "Password: `§`",
        "CREATE USER me WITH PASSWORD '§'",
        "config['password'] = '§'",
        "password=\"§\"",
        "if password == \"§\":",
        "spring.datasource.password=§",
        "requirepass §",
        "echo x\\nDB_PASSWORD=§\\n",
        "\"clientSecret\":\"§\"",
        "key=\"Password\" value=\"§\"",
        "$env:DB_PASSWORD = \"§\"",
        "password := \"§\"",
        "DB_PASSWORD ?= §",
        "Client.new(user: 'shop', password: '§')",
        "new Client({ user: 'shop', password: '§' });",
        "it's { user: 'shop', password: '§' }",
        "kubectl create secret generic x --from-literal=password=§",
        "psql \"host=db user=shop password=§ dbname=x\"",
        "variable \"db_password\" {\n  type    = string\n  default = \"§\"\n}",
        "echo '§' | sudo -S reboot",
        "echo § | docker login -u me --password-stdin reg.io",
        "printf '%s' '§' | podman login -u me --password-stdin reg.io",
        "echo 'me:§' | sudo chpasswd",
        "CREATE USER 'x'@'%' IDENTIFIED BY '§';",
        "ssh-keygen -t ed25519 -N '§' -f key",
        "htpasswd -b users me §",
        "htpasswd -nbB me §",
        "ALTER USER 'x' IDENTIFIED WITH caching_sha2_password BY '§';",
        "ansible-vault encrypt_string '§' --name x",
        "gh secret set API_KEY --body §",
        "npm config set //reg.x.y/:_password §",
        "ConvertTo-SecureString \"§\" -AsPlainText -Force",
        "psk=\"§\"",
        "https%3A%2F%2Fme%3A§%40git.x.y%2Fx.git",
        "Mot de passe : §",
        "Contraseña: §",
        "Пароль: §",
        "密码:§",
        "パスワード：§です",
    ];
    let random = [
        "Authorization: Bearer §",
        "\"Authorization\": \"token §\"",
        "X-Api-Key: §",
        "-H 'x-api-key: §'",
        "Cookie: sid=§; theme=dark",
        "Set-Cookie: sid=§; HttpOnly",
        "//registry.npmjs.org/:_authToken=§",
        "    token: §",
        "const apiKey = \"§\";",
        "apiKey: '§',",
        "ENV API_TOKEN §",
        "https://§@github.com/me/x.git",
        "aws_secret_access_key = §",
        "AccountKey=§==;EndpointSuffix=x",
        "?access_token=§&x=1",
        "SharedAccessKey=§",
        "tool --api-key § run",
        "Bearer §",
        "OPENAI_KEY=§",
        "SECRET_KEY_BASE: §",
        "aws configure set aws_secret_access_key §",
        "AUTH me §",
        "user: me\npass: §",
        "Log in with password §, please.",
    ];
    // Values without a digit, as one in twenty generated ones is.
    let letters = [
        "password = §\nport = 1", "password: §\nuser: x", "db.password=§\n", "X-Token: §", "Passwort: §", "pass: §",
        "POSTGRES_PASSWORD=§", "psql \"user=x password=§ y=z\"", "set -gx API_TOKEN §", "PAGERDUTY_API_KEY=u+§",
        "with password §, please",
    ];
    for (form, letters) in letters.iter().flat_map(|form| ["jbiLBuTtClMWoJlg", "OnttfqTWiyKUKobu"].map(|l| (form, l))) {
        let redacted = redact(&form.replace('§', letters));
        assert!(!redacted.contains(letters) && redacted.contains("[REDACTED:"), "{form} → {redacted}");
    }
    for form in ["{\"password\": \"§\"}", "PGPASSWORD=§ psql"] {
        for word in ["todoziwamuranuvu", "fakevikavakugifu"] {
            assert!(!redact(&form.replace('§', word)).contains(word), "{form} with {word}");
        }
    }
    let pair = "dXNlcjpwYXNzd29yZDEy"; // user:password12
    let pairs = ["-H \"Authorization: Basic §\"", "_auth=§", "\"auth\": \"§\""];
    let secrets = words.iter().flat_map(|form| [(form, "hunter22".to_owned()), (form, "k9!vQz7p".to_owned())]);
    let secrets =
        secrets.chain(random.iter().map(|form| (form, alnum(40)))).chain(pairs.iter().map(|form| (form, pair.to_owned())));
    for (form, secret) in secrets {
        let text = form.replace('§', &secret);
        let redacted = redact(&text);
        assert!(!redacted.contains(&secret) && redacted.contains("[REDACTED:"), "{text} → {redacted}");
    }
    assert!(!redact(r#"{"password": "correct horse"}"#).contains("horse"));
    // The key of AWS's documentation looks like any other.
    assert_eq!(redact("AKIAIOSFODNN7EXAMPLE"), "[REDACTED:aws-access-key]");
    for hash in [format!("root:$6${}${}:19000", alnum(8), alnum(86)), format!("me:$2y$10${}", alnum(53))] {
        assert!(redact(&hash).contains("[REDACTED:password-hash]"), "{hash}");
    }
}

#[test]
fn code_and_ordinary_words_stay() {
    let table = [
        "password: string",
        "password: str = None",
        "token = request.headers[\"x\"]",
        "const apiKey = process.env.API_KEY",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=${DB_PASSWORD:-none}",
        "token: ${{ secrets.TOKEN }}",
        "password=os.environ[\"DB_PASSWORD\"]",
        "token: Option<String>",
        "\"password\": \"********\"",
        "api_key = \"<your-api-key>\"",
        "API_KEY=YOUR_API_KEY",
        "API_KEY=xxx",
        "secret: xxxxxxxxxxxx",
        "\"sessionId\": \"64b0b6d9-e371-40e8-affe-78e0505dfb3f\"",
        "commit 27fa148c0a1be5d2f3a4b5c6d7e8f90123456789",
        "\"integrity\": \"sha512-9s8d7f6g5h4j3k2l1q0w9e8r7t6y5u4i3o2p1a0s9d8f7g6h5j4k3l2z1x0c9v8b7n6m==\"",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "src/auth/password_reset_token.rs",
        "test passwords::are_hashed ... ok",
        "def check_password(self, password):",
        "validate_token(token, secret=None)",
        "self.password = password",
        "input_tokens: 12345, output_tokens: 678",
        "max_tokens=4096",
        "the tokenizer counts 512 tokens",
        "git diff 3f2a1b..9c8d7e",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
        "grep -n \"-----BEGIN RSA PRIVATE KEY-----\" -r .",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7v me@host",
        "input(\"Enter Password: \")",
        "placeholder=\"Password\"",
        "type=\"password\" name=\"password\"",
        "\"password\": \"Enter your password\"",
        "password is required",
        "the token is invalid",
        "if token == nil {",
        "token := r.Header.Get(\"X-Token\")",
        "secretName: my-app-tls",
        "tokenUrl: https://auth.x.y/oauth/token",
        "http://localhost:8080/path@v2",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@host/db",
        "https://github.com/me/x",
        "git@github.com:me/x.git",
        "curl -u $USER:$PASS https://x.y",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "headers: {Authorization: `Bearer ${token}`}",
        "Cookie: a small text file",
        "key: value",
        "\"key\": \"abc123\"",
        "keyboard: qwerty1",
        "public_key = \"AAAA\"",
        "mkdir -p /run/secrets/db_password",
        "DB_PASSWORD_FILE=/run/secrets/db_password",
        "import { token } from './token'",
        "sk-learn",
        "task-management-system-for-everybody-who-works",
        "hf_hub_download(repo_id)",
        "re_compile_the_pattern_again_and_again",
        "npm_config_cache",
        "passed: 12, failed: 0",
        "color: #a1b2c3;",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-api03-your-key-here-and-nothing-else-in-it",
        "password: z.string().min(8)",
        "password: hashedPassword,",
        "\"tokenType\": \"Bearer\"",
        "--- PASS: TestRun_IntegrationV2FetchMalformedMidStreamFails (0.05s)",
        "        client_secret: env.AUTH0_CLIENT_SECRET,",
        "DEVSTAT_TYPE_PASS = 0x100,",
        "pub pw_passwd: *const c_char,",
        "token_range = \"%d,%d-%d,%d:\" % (1, 2)",
        "def match(ns_cookie, lookup=lookup):",
        "private_key: ed25519.Ed25519PrivateKey",
        "socks5h://<username>:<password>@proxy-host\"",
        "password = base64.b16encode(random_bytes[8:])",
        "user, password = HTTPPasswordMgr.find_user_password(self, realm)",
        "{\"ADMINSECRET\", \"BEARERSECRET2\"}",
        "auth: { user, pass }",
        "pass:  0.123s",
        "SERVER_AUTH = '1.3.6.1.5.5.7.3.1'",
        "old_password=Uwierzytelnianie kodu",
        "ssh_key_deletion_success=SSH-nyckeln har tagits bort",
        "connect(user=user, password=hashedPassword)",
        "const { password: hashedPassword, token: sha256Token } = user;",
        "{ password: sha256Hash, name }",
        "pass: TestRunV2FetchMalformed",
        "  pass: renderPass2D,",
        "psk: Option<Psk>",
        "PSK_KE_MODE=psk_dhe_ke",
        "the password field is hidden, with password hashing by argon2id, since v2",
        "with password SHA256Hash",
        "with password PBKDF2WithHmacSHA256",
        "the password `install` is used",
        "variable \"password_length\" {",
        "  default = \"thirty-two\"",
        "}",
        "variable \"db_password\" {",
        "  type = string",
        "}",
        "variable \"region\" {",
        "  default = \"eu-central-1\"",
        "}",
        "echo \"$PASSWORD\" | sudo -S apt update",
        "echo hello | sudo tee /etc/hosts",
        "cat token.txt | gh auth login --with-token",
        "objects are identified by \"name\" and version",
        "ssh-keygen -t ed25519 -N \"\" -f key",
        "htpasswd -c users deploy",
        "ConvertTo-SecureString $plain -AsPlainText -Force",
        "250-AUTH LOGIN PLAIN XOAUTH2",
        "redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcb",
        "\"mot de passe\": \"Mot de passe oublié ?\"",
        "密码: 必填",
        "密码: confirmPassword",
        "<input type=text name=password autocomplete=off>",
        "level=info user=bob token=expired",
        "secret: \"fakeSecret\"",
        "\"token\": \"mock_token\"",
        "secret_key = \"/var/lib/secrets/keyFile\"",
        "const TOKEN_KEY = 'myAppAuthToken';",
        "password = PBKDF2PasswordHasher",
        "users.password: \"VARCHAR(255)\"",
        "auth_token: JWTAuthTokenType",
        "x-auth-token: jwtTokenFromLogin",
    ];
    for text in table {
        assert_eq!(redact(text), text);
        assert!(matches!(Redactor::shipped().redact(text), Cow::Borrowed(_)));
    }
}

#[test]
fn rules_of_the_user_take_out_their_group() {
    let rule = |id: &str, pattern: &str, keywords: &[&str]| Rule {
        id: id.into(),
        pattern: Some(pattern.into()),
        keywords: keywords.iter().map(|k| (*k).into()).collect(),
        ..Rule::default()
    };
    let rules = [rule("badge", r"badge (\d{4})", &["badge"]), rule("codename", r"(?i)project\s+\w+", &[])];
    let redactor = Redactor::new(&rules).expect("the rules");
    assert_eq!(redactor.redact("Badge 1 badge 1234, Project Falcon"), "Badge 1 badge [REDACTED:badge], [REDACTED:codename]");
    assert_eq!(redactor.redact("DB_PASSWORD=hunter22"), "DB_PASSWORD=[REDACTED:password]");
    for (id, pattern, said) in [("a b", "x", "`a b`"), ("open", "(", "`open`"), ("all", "x*", "`all`")] {
        let error = Redactor::new(&[rule(id, pattern, &[])]).expect_err("no rule").to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// A user's rule with tokens and commands.
fn formats(tokens: &[&str], commands: &[&str], needs: Need) -> Rule {
    let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    Rule { id: "own".into(), tokens: owned(tokens), commands: owned(commands), needs, ..Rule::default() }
}

#[test]
fn a_users_tokens_and_commands_are_written_as_the_shipped_ones() {
    let redacted = |rule: Rule, text: &str| Redactor::new(&[rule]).expect("the rule").redact(text).into_owned();
    let token = |format: &str, text: &str| redacted(formats(&[format], &[], Need::None), text);
    assert_eq!(token("zz_[a-z]{6}", "a zz_kqwvbn b zz_kqwvbnx xzz_kqwvbn"), "a [REDACTED:own] b zz_kqwvbnx xzz_kqwvbn");
    assert_eq!(token("zz_[a-z]{6,}", "zz_kqwvbnx."), "[REDACTED:own].");
    assert_eq!(token("zz/([a-z]{6,8})", "zz/kqwvbn"), "zz/[REDACTED:own]");
    assert_eq!(token("[0-9]{3}zz[a-z]{6}-[0-9]{2}", "417zzkqwvbn-29"), "[REDACTED:own]");
    assert_eq!(token("[0-9]{3}zz", "417zz"), "[REDACTED:own]");
    assert_eq!(token(r"z\[[a-c\]-]{6}", "z[a]-cb]"), "[REDACTED:own]");
    assert_eq!(redacted(formats(&["zz_[a-z0-9]{6}"], &[], Need::Digit), "zz_kqwvbn zz_kqw7bn"), "zz_kqwvbn [REDACTED:own]");
    let command = |line: &str, text: &str| redacted(formats(&[], &[line], Need::None), text);
    for (line, text) in [
        ("zzctl ... --pin <secret>", "zzctl -v --pin §"),
        ("zzctl ... --pin<secret>", "zzctl -v --pin§"),
        ("zzctl open <secret>", "zzctl open §"),
        ("zzctl open <word> <secret>", "zzctl open me §"),
        ("zzctl ... -u <word>:<secret>", "zzctl -v -u me:§"),
        ("zzctl set <word>=<secret> ...", "zzctl set A=§ B=§"),
        ("zzctl set '<secret>'", "zzctl set '§'"),
        ("zzctl ... <secret>", "zzctl the words before §"),
        ("zzctl ... -b <file> <word> <secret>", "zzctl -b file me §"),
    ] {
        assert_eq!(command(line, &text.replace('§', "kQ7wz2Lm")), text.replace('§', "[REDACTED:own]"), "{line}");
    }
    assert_eq!(redacted(formats(&[], &["zzctl <secret>"], Need::Random), "zzctl kQ7wz2Lm"), "zzctl kQ7wz2Lm");
}

#[test]
fn a_token_or_a_command_that_cannot_be_read_is_an_error() {
    let error = |rule: &Rule| Redactor::new(std::slice::from_ref(rule)).expect_err("no rule").to_string();
    for format in [
        "", "a", "abc", "[a]{2}", "a[b]{2}", "ab[", "ab[]{2}", "ab[a", "ab[a]", "ab[a]{}", "ab[a]{0}", "ab[a]{3,2}", "ab[a]{5000}",
        "ab[z-a]{2}", "ab[é]{2}", "ab(", "ab()", "ab([a]{2}", "ab[a]{2})", "ab[a]{2}([b]{2})", "ab([a]{2})c", "[a]{1,2}bc", "ab]",
        "ab}", "ab\\",
    ] {
        let said = error(&formats(&[format], &[], Need::None));
        assert!(said.starts_with(&format!("rule `own`: `{format}`: ")), "{said}");
    }
    for line in ["", "zzctl", "<secret>", "z <secret>", "zz ... a ... b <secret>", "zz <secret> more", "zz <file> <secret>"] {
        let said = error(&formats(&[], &[line], Need::None));
        assert!(said.starts_with(&format!("rule `own`: `{line}`: ")), "{said}");
    }
    assert!(error(&formats(&[], &[], Need::None)).contains("`own`"));
    let keywords = Rule { keywords: vec!["zz_".into()], ..formats(&["zz_[a]{2}"], &[], Need::None) };
    assert!(error(&keywords).contains("belong to a `pattern`"));
}

#[test]
fn keywords_are_long_enough_for_the_prefilter() {
    assert!(shipped_keywords().all(|(word, _)| word.len() >= 2));
    let ids: std::collections::BTreeSet<&str> = formats::TOKENS.iter().map(|token| &*token.rule).collect();
    assert!(ids.len() > 200 && ids.iter().all(|id| marks::is_id(id)), "{} ids", ids.len());
}

#[test]
fn a_bots_token_goes_from_the_address_it_is_part_of() {
    let token = ["123456789", ":AA", &"h7Kq2Zp9Lw".repeat(4)[..33]].concat();
    let address = format!("https://api.telegram.org/bot{token}/sendMessage");
    assert_eq!(Redactor::shipped().redact(&address), "https://api.telegram.org/bot[REDACTED:telegram-bot-token]/sendMessage");
}

#[test]
fn headers_close_to_each_other_go_whole() {
    let pairs: Vec<String> = (0..40).map(|n| format!("n{n}={}", body("abcdefgh234567", 20))).collect();
    let text = format!("Cookie: {}\n", pairs.join("; ")).repeat(3);
    assert_eq!(redact(&text), "Cookie: [REDACTED:cookie]\n".repeat(3));
}

#[test]
fn every_value_of_a_kubernetes_secret_goes() {
    let values = ["c2hvcA==", "b3JkZXJz", "c3RvcmU="];
    for manifest in [
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  a: §\n  b: §\n  c: §\n",
        "apiVersion: v1\ndata:\n  a: §\n  b: §\nkind: Secret\nstringData:\n  c: §\n",
        "kind: Secret\ndata: {a: §, b: §, c: §}\n",
        "{\"kind\": \"Secret\", \"data\": {\"a\": \"§\", \"b\": \"§\"}, \"stringData\": {\"c\": \"§\"}}",
        "{\n  \"data\": {\n    \"a\": \"§\",\n    \"b\": \"§\",\n    \"c\": \"§\"\n  },\n  \"kind\": \"Secret\"\n}",
        "{\\n  \\\"data\\\": {\\n    \\\"a\\\": \\\"§\\\",\\n    \\\"b\\\": \\\"§\\\",\\n    \\\"c\\\": \\\"§\\\"\\n  },\\n  \\\"kind\\\": \\\"Secret\\\"\\n}",
        "kind: Secret\ndata:\n  a: §\n---\nkind: Secret\ndata:\n  b: §\n---\ndata:\n  c: §\nkind: Secret\n",
        "kind: Secret\nstringData:\n  a: §\n---\nkind: ConfigMap\ndata:\n  stays: as-it-is\n---\nkind: Secret\ndata:\n  b: §\n  c: §\n",
    ] {
        let text = values.iter().fold(manifest.to_owned(), |text, value| text.replacen('§', value, 1));
        let left = redact(&text);
        assert!(values.iter().all(|value| !left.contains(value)), "{text}\n{left}");
        assert_eq!(manifest.contains("stays"), left.contains("as-it-is"), "{left}");
    }
}

#[test]
fn a_text_is_weighed_by_what_went() {
    let weighed = |text: &str| Redactor::shipped().redact_weighed(text).1;
    assert!(weighed("password=hunter22!kX9pQ2vL7mN4"));
    assert!(!weighed("the login of the shop fails since the password=hunter22 was changed on Monday"));
    assert!(!weighed("[REDACTED:password]"), "what went before does not go again");
}

/// Texts of pieces of which many matter to the rules.
fn pieces() -> impl Strategy<Value = String> {
    let some = [
        "password", "token", "=", ": ", "\"", "'", "\\\"", "\\", "\n", " ", "[REDACTED:", "[REDACTED:jwt]", "]", "://", "@",
        "curl -u ", "a:b", "hunter22", "k9!vQz7p", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
        "Authorization: Bearer ", "Cookie: a=", "é", "→", "sk-", "_", "a1B2c3D4e5F6g7H8", "eyJhbGciOiJIUzI1NiJ9", ".", "value",
        "name", "secret", "<", ">", ",", "--", "is ", "$", "{", "}", "export ", "API_KEY", "n",
    ];
    let long: Vec<String> = tokens().into_iter().map(|(_, token)| token).collect();
    let piece = prop_oneof![
        6 => proptest::sample::select(some.to_vec()).prop_map(str::to_owned),
        1 => proptest::sample::select(long),
        1 => "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn the_beginning_of_a_token_hides_none_on_the_next_line() {
    for (rule, token) in tokens().into_iter().filter(|(_, token)| !token.contains(['\n', ' '])) {
        for cut in (2..token.len().min(16)).filter(|cut| token.is_char_boundary(*cut)) {
            for between in ["\n", "\r\n", "\\n", "\n\n"] {
                let text = format!("it begins with {}{between}{token}{between}end", &token[..cut]);
                assert!(!redact(&text).contains(&token), "{rule}: {text}");
            }
        }
    }
}

#[test]
fn the_beginning_of_a_token_and_punctuation_are_no_token() {
    for token in formats::TOKENS.iter().filter(|token| token.lead.is_none()) {
        for sign in ["-", ".", "_", "=", "/", "x", "\\", "\n", "\\\n"] {
            let text = format!("{}{}", token.key, sign.repeat(120));
            assert_eq!(redact(&text), text, "{}", token.rule);
        }
    }
}

#[test]
fn what_stands_on_the_next_line_hides_no_token() {
    for (rule, token) in tokens().into_iter().filter(|(_, token)| !token.contains(['\n', ' '])) {
        for next in ["klmnop62______xxxxxx\"hori1", "xxxxxxxxxxxx1", "abcdef1234567890abcdef12345678", "A1"] {
            let text = format!("it is\n{token}\n{next}\n");
            assert!(!redact(&text).contains(&token), "{rule}: {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn what_is_redacted_stays_as_it_is(text in pieces()) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn every_keyword_is_seen_wherever_it_stands(text in pieces()) {
        static WORDS: LazyLock<(Vec<&str>, AhoCorasick)> = LazyLock::new(|| {
            let words: Vec<&str> = shipped_keywords().map(|(word, _)| word).collect();
            let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).expect("the keywords");
            (words, finder)
        });
        let (words, finder) = &*WORDS;
        let mut seen = Vec::new();
        Prefilter::new(words).for_each_match(text.as_bytes(), |number, range| seen.push((number, range)));
        let mut there: Vec<_> = finder.find_overlapping_iter(&text).map(|hit| (hit.pattern().as_usize(), hit.range())).collect();
        seen.sort_by_key(|(number, range)| (range.start, *number));
        there.sort_by_key(|(number, range)| (range.start, *number));
        prop_assert_eq!(seen, there);
    }

    #[test]
    fn only_what_is_found_changes(text in pieces()) {
        let findings = Redactor::shipped().findings(&text);
        let mut rest = redact(&text);
        let mut kept = 0;
        for finding in &findings {
            prop_assert!(finding.range.start >= kept && !finding.range.is_empty());
            let head = format!("{}[REDACTED:{}]", &text[kept..finding.range.start], finding.rule);
            prop_assert!(rest.starts_with(&head));
            rest.drain(..head.len());
            kept = finding.range.end;
        }
        prop_assert_eq!(&rest, &text[kept..]);
        prop_assert_eq!(findings.is_empty(), matches!(Redactor::shipped().redact(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_makes_it_panic(text in "(\\PC|[\"'\\\\=:\n]){0,200}") {
        let _ = redact(&text);
    }
}
