//! What only looks like a secret stays as it was: a memory in which nothing can be read is none.

use serde_json::json;

use crate::secrets::generate::grow;
use crate::secrets::table::CONFIG;
use crate::support::World;
use crate::support::rows::{Rows, put};

/// Patterns of texts with nothing secret in them (see `grow`).
const ORDINARY: &[&str] = &[
    // Hashes and ids that people speak of.
    "commit {h40} broke the pagination of the orders list",
    "git show {h10} -- src/orders.py",
    "session {h8}-{h4?}-4{h3?}-8{h3?}-{h12} was resumed",
    "\"integrity\": \"sha512-{b86}==\"",
    "\"integrity\": \"sha1-{b27}=\"",
    "checksum = \"{h64}\"",
    "golang.org/x/net v0.30.0 h1:{b43}=",
    "FROM python:3.13-slim@sha256:{h64}",
    "index {h8}..{h8} 100644",
    "ETag: \"{h32}\"",
    "the container {h12} exited with 137",
    "pod shop-api-7d9c6b8f5-x2k4q restarted 3 times, trace id {h32}",
    "arn:aws:lambda:eu-central-1:123456789012:function:orders-{l8}",
    "tool use toolu_01{w22} of message msg_01{w22} failed",
    "the build 20261120.{d8} took 12 minutes",
    // Code about secrets.
    "pub struct Login {{ user: String, password: String }",
    "def login(user: str, password: str | None = None) -> Token:",
    "let token = tokens.next().ok_or(ParseError::UnexpectedEnd)?; // {h8}",
    "const apiKey = process.env.STRIPE_SECRET_KEY; // {h8}",
    "password = os.environ[\"DB_PASSWORD\"] # {h8}",
    "if password == confirm_password: raise_for_status() # {h8}",
    "type Token = {{ kind: TokenKind; text: string }; // {h8}",
    "secret: settings.session_secret, // {h8}",
    "password=getpass.getpass(), # {h8}",
    "token: ${{{{ secrets.GITHUB_TOKEN }} # {h8}",
    "the column users.password_hash is VARCHAR(255) since {h8}",
    "test_password_reset_token_is_single_use failed at {h8}",
    "tests/auth/test_secret_rotation.py::test_old_secret_is_refused PASSED {h8}",
    "max_tokens=4096, token_count=1290341, primary_key=True # {h8}",
    "cache-key: cargo-linux-x86_64-{h8}",
    "{{\"key\": \"created_at\", \"sort_key\": \"id\", \"version\": \"{h8}\"}",
    "public_key = load_public_key(path) # {h8}",
    "author = keyboard + monkey + turnkey + passenger + bypass # {h8}",
    "errors: {{ password: 'is too short', token: 'has expired' } // {h8}",
    "<input type=\"password\" name=\"password\" autocomplete=\"current-password\"> at {h8}",
    "password: z.string().min(8), // {h8}",
    "the schema of {h8} is {{ password: 'string', token: 'string' }",
    "UPDATE users SET password = crypt($1, salt) WHERE id = 7 -- {h8}",
    "secretKeyRef: {{ name: shop-db, key: password } # {h8}",
    "secretName: shop-tls # since {h8}",
    "apiKey: apiKeyFromVault(settings), // {h8}",
    "PASS: tests/test_orders.py::test_page_two_is_sorted, PASS: 14, FAIL: 2 at {h8}",
    "pass: 14, fail: 2, skip: 0 at {h8}",
    "AUTH failed for user shop, requirepass is not set in {h8}",
    // Placeholders, and ways to say where a secret is.
    "export API_KEY=<your-api-key> and start {h8}",
    "DB_PASSWORD=${{DB_PASSWORD} ./run.sh {h8}",
    "OPENAI_API_KEY=your-api-key-here ./run.sh {h8}",
    "password: \"********\" in the log of {h8}",
    "curl -u \"$USER:$PASS\" https://api.shop.example/{h8}",
    "curl -H \"Authorization: Bearer $TOKEN\" https://api.shop.example/{h8}",
    "DATABASE_URL=postgres://$DB_USER:$DB_PASSWORD@localhost/orders # {h8}",
    "echo $REGISTRY_TOKEN | docker login --password-stdin # {h8}",
    // Commands whose options only look alike.
    "docker run -p 8080:80 shop:{h12}",
    "ssh -p 2222 deploy@10.1.2.3 ./restart.sh {h8}",
    "cargo test -p token_store --lib -- {h8}",
    "mkdir -p src/secrets/store && cp -a config.toml backup-{h8}",
    "curl -A recall -a -o out-{h8}.json https://api.shop.example/v1/orders",
    // Prose.
    "the password reset mail was sent twice, see {h8}",
    "log in with password authentication disabled, as {h8} wants it",
    "passphrase: none is needed since {h8}",
    "bearer tokens expire after an hour, as {h8} says",
    "ghp_ is the prefix of personal tokens, npm_config_registry is none ({h8})",
    "the private key is read from the vault at start ({h8})",
    "basic authentication is enough for the staging server, see {h8}",
    "the cookie: it was forgotten on the way to {h8}",
    "Tokenization splits identifiers such as createdAtWithTimezoneUtcOffset at {h8}",
    "see /home/dev/src/shop/src/auth/token_store/password_policy.rs:{d8}",
    "https://git.shop.example/shop/orders/blob/main/docs/secrets.md#rotation-{h8}",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b60} is the logo",
];

#[test]
fn what_is_no_secret_stays_as_it_was() {
    let world = World::new();
    world.configure(CONFIG);
    let mut rows = Rows::new(1);
    let mut said = Vec::new();
    for pattern in ORDINARY {
        let text = grow(pattern, pattern).text;
        rows.user(json!(text));
        rows.assistant(&format!("I have read it. {text}"));
        rows.uses(1, &json!({"name": "Bash", "input": {"command": text}}));
        said.push(text);
    }
    put(&world, &rows.id, &rows.text);
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for (kind, lead) in [("prompt", ""), ("reply", "I have read it. ")] {
        let kept = world.texts(&rows.id, kind);
        let changed: Vec<_> = said.iter().filter(|text| !kept.contains(&format!("{lead}{text}"))).collect();
        let near = |text: &&String| kept.iter().position(|k| k.len() >= 8 && text.get(..8).is_some_and(|head| k.contains(head)));
        let told: Vec<_> = changed.iter().map(|text| (text, near(text).map(|at| &kept[at]))).collect();
        assert!(changed.is_empty(), "{} of {} in a {kind} are not as they were: {told:#?}", changed.len(), said.len());
    }
    let commands = world.texts(&rows.id, "tool").join("\n");
    let line = |text: &str| serde_json::to_string(text).expect("JSON").trim_matches('"').to_owned();
    let changed: Vec<_> = said.iter().filter(|text| !commands.contains(&line(text))).collect();
    assert!(changed.is_empty(), "in a command these are not as they were: {changed:#?}");
}
