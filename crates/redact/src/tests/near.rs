//! Secrets that only words near them tell: prose in several languages, calls, lists, commands, addresses. And what such words leave.

use super::*;

/// Fails with all texts of which the secret, between `«` and `»`, stays.
pub(super) fn all_go(texts: &[&str]) {
    let stays = |text: &&&str| {
        let (start, end) = (text.find('«').expect("a secret") + '«'.len_utf8(), text.find('»').expect("its end"));
        redact(&text.replace(['«', '»'], "")).contains(&text[start..end])
    };
    let left: Vec<_> = texts.iter().filter(stays).collect();
    assert!(left.is_empty(), "{} stay:\n{left:#?}", left.len());
}

pub(super) fn all_stay(texts: &[&str]) {
    let changed: Vec<_> = texts.iter().map(|text| (redact(text), text)).filter(|(left, text)| left != *text).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn made_up_passwords_in_prose_go() {
    all_go(&[
        "open it with `ssh mia@10.0.0.7` (password: «apfel-Mus81»).",
        "I changed Tom's password to «Basalt.Otter.402» and told him.",
        "The password for the build box is «Sturmhut_7713», sign in as ci.",
        "set the admin password to «Kelp-Ridge-55» please",
        "Das Passwort von der Kasse lautet «Holunder_4410».",
        "Setz das Kennwort auf «Moos-Stein_77» und starte neu.",
        "Le mot de passe est «Ronce_Vert88».",
        "l'utilisateur a le mot de passe `«Grès-17-Érable»` maintenant",
        "con la contraseña `«tr4pecio_Mar_81»` y ya",
        "La contraseña es «Olivo.Gris.551».",
        "la password del server è «Cervo_Blu_318»",
        "usuário: root, senha: «Ipe.Roxo.704»",
        "Kullanıcı: root, parola: «Kara.Deniz.219»",
        "şifre: «Mor_Lale_42»",
        "ユーザー名は root、パスワードは `«Sora_Kumo_55»` です",
        "пароль: «Zima.Sneg.604»",
        "log in as admin with «Velvet-Crane-90» and look",
        "login as root / «Marble_Fox_28»",
        "Melde dich als admin mit «Eiben-Holz_61» an",
        "use «heron velvet 73 teapot» as the passphrase when it asks",
        "the wifi \"Lager\" has the key «88-Dachs-kiesel»",
        "WLAN key is «88-Dachs-kiesel»",
        "[Note] A temporary password is generated for root@localhost: «q>8Lm/tBx)4w»",
    ]);
    all_stay(&[
        "the password for `App_User1` is rotated daily",
        "passwords are hashed with Argon2id, since version Ubuntu-22.04",
        "The password hash is computed by Claude-3-Opus on Python-3.12",
        "the key is Sonnet-4.5",
        "use the same value as the password",
        "log in as admin with the new account",
        "log in as deploy with Firefox-128.0",
        "I sent the password to Anna",
        "wifi key is !",
    ]);
}

#[test]
fn keys_and_passwords_that_calls_take_go() {
    let (hex64, base64, base32) = (hex(64), format!("{}=", alnum(43)), upper(16));
    let keys = [
        format!("c = createCipheriv('aes-256-cbc', Buffer.from('«{hex64}»', 'hex'), iv)"),
        format!("createDecipheriv(\"aes-128-gcm\", Buffer.from(\"«{}»\", 'hex'), iv)", hex(32)),
        format!("createHmac('sha256', '«{hex64}»').update(body)"),
        format!("f = Fernet(b'«{base64}»')"),
        format!("pyotp.TOTP(\"«{base32}»\").now()"),
        format!("new OTPAuth.TOTP({{ issuer: 'x', secret: '«{base32}»' }})"),
        format!("hmac.new(b'«{}»', body, hashlib.sha256)", alnum(32)),
        format!("AES.new(bytes.fromhex('«{hex64}»'), AES.MODE_GCM)"),
        format!("Account.from_key('0x«{hex64}»')"),
        format!("new ethers.Wallet('0x«{hex64}»', provider)"),
        format!("new SecretKeySpec(\"«{}»\".getBytes(), \"AES\")", alnum(32)),
    ];
    all_go(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    all_go(&[
        "jwt.sign({ id }, '«Kief-Birke-salt3»', { expiresIn: '1h' })",
        "jwt.verify(token, '«m0osbett!Kiefer»')",
        "jwt.decode(token, \"«Tannen-Zapfen77»\", algorithms=[\"HS256\"])",
        "await page.fill('input[name=\"password\"]', '«Deich-im-Wind4»');",
        "await page.getByLabel('Password').fill('«Deich-im-Wind4»');",
        "await page.locator('#password').fill('«Deich-im-Wind4»')",
        "cy.get('#password').type('«Deich-im-Wind4»{enter}')",
        "driver.find_element(By.ID, \"password\").send_keys(\"«Deich-im-Wind4»\")",
        "user.set_password('«Deich-im-Wind4»')",
        "User.objects.create_user('mia', 'mia@x.y', '«Deich-im-Wind4»')",
        "DriverManager.getConnection(url, \"hr\", \"«Deich_im9»\")",
        "db.auth('root', '«Deich_im9Wind»')",
        "ssh.connect('10.0.0.4', username='pi', password='«Deich_im9Wind»')",
        "client.login('mia@x.y', '«Deich-im-Wind4»')",
    ]);
    all_stay(&[
        "createHmac('sha256', key).update('hello world 2024')",
        "assert.equal(createHash('sha256').update(x).digest('hex'), want)",
        "jwt.sign(payload, process.env.JWT_SECRET, { expiresIn: '1h' })",
        "jwt.verify(token, publicKey, { algorithms: ['RS256'], issuer: 'https://sso.x.y' })",
        "await page.fill('#email', 'Anna-Maria_22@x.y')",
        "await page.fill('#release', 'Ubuntu-22.04')",
        "await page.locator('#city').fill('Neu-Ulm_89231')",
        "hmac.new(key, msg, hashlib.sha256).hexdigest()",
        "Fernet(key)",
    ]);
}

#[test]
fn secrets_in_lists_and_rows_go() {
    let key = alnum(32);
    let keys = [
        format!("api_keys:\n  - «{key}»\n"),
        format!("tokens = [\"«{key}»\"]"),
        format!("\"apiKeys\": [\"«{key}»\", \"x\"]"),
        format!("INSERT INTO clients (id, api_token) VALUES (3, '«{key}»');"),
    ];
    all_go(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    all_go(&[
        "passwords:\n  - «hunter2!Moor»\n",
        "passwords:\n  - hunter2!Moor\n  - «Quark-und-Senf3»\n",
        "passwords:\n  mia: «Quark-und-Senf3»\n",
        "passwords:\n  mia: Quark-und-Senf3\n  tom: «Rettich_814x»\n",
        "\"passwords\": {\"mia\": \"«Quark-und-Senf3»\"}",
        "passwords = [\"Quark-und-Senf3\", \"«Rettich_814x»\"]",
        "//nas/m /mnt/m cifs username=tv,password=«Lehm_Haus9»,uid=1000 0 0",
        "mount -t cifs //nas/m /mnt/m -o user=tv,pass=«Lehm_Haus9»,vers=3.0",
        "INSERT INTO `users` (`id`,`login`,`password`,`at`) VALUES (7,'mia','«Lehm-Haus_94»','2025-11-02 09:12:44');",
        "INSERT INTO users (login, pwd) VALUES ('mia', 'x1!yMoor9'), ('tom', '«Lehm-Haus_94»');",
        "INSERT INTO users(login,password)\nVALUES\n  ('mia','Torf-Stich_31'),\n  ('tom','«Lehm-Haus_94»');",
        "COPY users (id, login, password) FROM stdin;\n1\tmia\t«Lehm-Haus_94»\n",
        "login,password\nmia,«Lehm-Haus_94»\n",
        "UPDATE users SET password = '«Lehm-Haus_94»' WHERE id = 7;",
    ]);
    all_stay(&[
        "passwords:\n  - must be long\n  - must have 12 characters\n",
        "tokens: [\"select\", \"from\"]\n",
        "passwords:\n  minLength: 12\n  policy: strict-v2\n",
        "tokens = [Token::Ident(\"a1\"), Token::Plus]",
        "INSERT INTO users (id, name, created) VALUES (7, 'Lehm-Haus_94', now())",
        "INSERT INTO users (id, password) VALUES (?, ?), ($1, $2)",
        "connect(user=user,password=hashedPassword2)",
        "match kind { Kind::Values(a) => values (1, 2) }",
    ]);
}

#[test]
fn secrets_beside_commands_and_in_addresses_go() {
    let (secret, long, key) = (format!("{}/{}", alnum(19), alnum(20)), alnum(32), ["AKIA", &upper(16)].concat());
    let wif = format!("K{}", body("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 51));
    let seed = upper(32);
    let texts = [
        format!("$ aws iam create-access-key --output text\n{key}\t«{secret}»\n"),
        format!("the pair is `{key}` / `«{secret}»`"),
        format!("$ kubectl -n x get secret y -o jsonpath='{{.data.password}}' | base64 -d; echo\n«{}»", alnum(16)),
        format!("$ bitcoin-cli dumpprivkey bc1qxyz\n«{wif}»"),
        format!("import this WIF: «{wif}»"),
        format!("the account has 2fa on, seed is «{seed}» for oathtool"),
        format!("TOTP secret for the bot: «{seed}»"),
        format!("scan the code or enter {} in your authenticator app", "«JBSW Y3DP EHPK 3PXP»"),
        format!("oathtool --totp -b «{seed}»"),
        format!("https://storage.x.y/r.pdf?X-Goog-Expires=3600&X-Goog-Signature=«{}»", hex(256)),
        format!("https://cdn.x.y/v.mp4?Expires=1&Signature=«{long}~a_»&Key-Pair-Id=K1"),
        format!("https://app.x.y/invite/«{long}»"),
        format!("https://app.x.y/reset-password/«{long}»"),
        format!("https://app.x.y/account/verify-email/«{long}»?x=1"),
        format!("https://app.x.y/magic?link_token=«{long}»"),
        format!("https://app.x.y/unsubscribe/«{}»", hex(40)),
        format!("https://app.x.y/invitations/«{}»/accept", uuid()),
        format!("https://app.x.y/auth?mode=resetPassword&oobCode=«{long}»"),
    ];
    all_go(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    all_go(&[
        "echo '«M0or!Etl#77»' | kinit svc@X.Y && klist",
        "echo -n '«Moor-Etl_77»' | cryptsetup luksOpen /dev/sda2 x -",
        "echo \"«Moor-Etl_77»\" | su - postgres -c id",
        "printf '«Moor-Etl_77»' | gpg --batch --passphrase-fd 0 -d x.gpg",
        "kinit svc@X.Y <<< '«Moor-Etl_77»'",
        "sudo -S apt update <<< \"«Moor-Etl_77»\"",
        "echo «Moor-Etl_77» | vault login -",
        "$ echo $DB_PASSWORD\n«Moor-Etl_77»",
        "$ cat /run/secrets/db_password\n«Moor-Etl_77»",
    ]);
    all_stay(&[
        "https://app.x.y/reset/styles-2024-settings-page-layout",
        "https://github.com/x/y/verify/README",
        "https://app.x.y/docs/verify-email/how-it-works-2",
        "see src/invite/handlers_v2_with_long_names.rs",
        "cat notes.txt | kinit me@X.Y",
        "echo hello-world-2 | tee x | su",
        "grep x <<< 'Moor-Etl_77'",
        "the seed is 20240101 for all runs",
        "the OTP module ERLANG_OTP_26 SUPPORTEDRELEASE27 is used",
        "the 2FA MODULE_NAME_IS_LONG_AND_UPPER works",
        "level=info msg=\"token refreshed\" trace_id=cf218603d3efa5211551ed1d248a6efc span_id=ec0acc80736eb5c1",
        "new token issued, request_id=cf218603d3efa5211551ed1d248a6efc",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "echo -n x | base64 -d\nUbuntu-22.04",
    ]);
}

#[test]
fn what_people_choose_goes_where_a_password_is_given() {
    all_go(&[
        "utente mario, password «Gelso.Nero.447»",
        "ssh into pi@10.0.0.3 with password «himb33rsaft»",
        "user mia password «Drossel-Ast5»",
        "creds for staging: qa / «Plover-Reed-77»",
        "credentials: admin:«Plover-Reed-77»",
        "credentials are admin/«Plover-Reed-77»",
        "my passphrase for the key is \"«lantern gravel 9 mosaic»\"",
        "passphrase: «lantern gravel 9 mosaic»",
        "I've set the initial password to `«Sommer2Garten»`.",
        "the root pw on that box is still «toor4Ever»",
        "Key        Value\n---        -----\npassword   «Drossel-Ast5»\n",
        "<property name=\"hibernate.connection.password\">«Drossel-Ast5»</property>",
        "bcrypt.hash(\"«Drossel-Ast5»\", 10)",
        "crypto.scryptSync('«Kiefer-Nadel77»', 'salt', 32)",
        "new Sequelize('db', 'user', '«Drossel-Ast5»', { dialect: 'mysql' })",
        "mosquitto_pub -h h -u me -P «DrosselAst55» -t x",
        "nmcli dev wifi connect Lager password «DrosselAst55»",
        "plink -ssh mia@h -pw «DrosselAst55»",
        "# mkpasswd -l 14\n«w3Yq!hmPzk7ra»",
    ]);
    all_stay(&[
        "with password sha256sum",
        "set the password to `Http2Server`'s default",
        "the password must have \"at least 8 good characters\"",
        "password   required   since v2",
        "Password  Strength2",
        "credentials: admin/users",
        "<label for=\"password\">Password2</label>",
    ]);
}

#[test]
fn what_only_looks_like_a_printed_secret_stays() {
    all_stay(&[
        "$ docker run -d -e POSTGRES_PASSWORD_FILE=/run/secrets/pg postgres:16\n1a71f3680edad71aad39831aea53adfaa8318f17fd138d27c9c6d01394204f8d",
        "ED25519 key fingerprint is SHA256:nvsxGN8Jjnc5srxSrlTC9ko1h978RldtF3XsC84zJU0.",
    ]);
    all_go(&["$ cat /run/secrets/pg\n«bG47OA4iWYurVS3MzQ»"]);
}

#[test]
fn every_element_of_a_list_of_secrets_goes() {
    let (one, two) = (alnum(32), alnum(36));
    let keys = [
        format!("api_keys:\n  - name: ci\n    value: «{one}»\n  - name: ops\n    value: {two}\n"),
        format!("api_keys:\n  - name: ci\n    value: {one}\n  - name: ops\n    value: «{two}»\n"),
        format!("tokens:\n- id: ci # the first\n  token: x\n- id: ops\n  value: \"«{two}»\" # the second\n"),
        format!("api_keys:\n  - {one} # ci\n  - «{two}»\n"),
        format!("apiKeys: [{{ name: 'ci', value: '{one}' }}, {{ name: 'ops', value: '«{two}»' }}]"),
        format!("\"tokens\": [{{\"name\": \"ci\", \"value\": \"«{two}»\"}}]"),
    ];
    all_go(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    all_go(&[
        "passwords:\n  - Bluff-Heron-12\n  - «stoveRally#9»\n  - p1neTar_Loft\n",
        "passwords:\n  - Bluff-Heron-12\n  - stoveRally#9\n  - «p1neTar_Loft»\n",
        "passwords:\n  - Bluff-Heron-12 # mia\n\n  - \"«haferFlocke_31»\"  # tom\n",
        "    12→passwords:\n    13→  - Bluff-Heron-12\n    14→  - «p1neTar_Loft»\n",
        "+passwords:\n+  mia: Bluff-Heron-12\n+  tom: «p1neTar_Loft»\n",
        "passwords:\\n  - Bluff-Heron-12\\n  - «haferFlocke_31»\\n",
        "db:\n  passwords:\n    app: haferFlocke_31\n    report: «velvetOtter93»\n",
        "credentials:\n  mara: Erle-und-Esche4\n  jonas: «haferFlocke_31»\n",
        "credentials:\n  - mara:«haferFlocke_31»\n",
        "credentials:\n  - user: mara\n    value: «haferFlocke_31»\n",
        "\"credentials\": {\"mara\": \"Erle-und-Esche4\", \"jonas\": \"«haferFlocke_31»\"}",
        "credentials = { mara: 'Erle-und-Esche4', jonas: '«haferFlocke_31»' }",
        "[passwords]\nmara = \"Erle-und-Esche4\"\njonas = \"«haferFlocke_31»\"\n",
        "[credentials]\njonas = «haferFlocke_31»\n",
    ]);
    all_stay(&[
        "credentials:\n  username: Deploy-Bot2\n  host: db1.internal\n  region: eu-central-1\n  type: Oauth2\n",
        "credentials:\n  provider: Vault-v2\n  projectId: Lumen-412309\nservers:\n  web: Nginx-Box31\n",
        "db:\n  passwords:\n    minLength: 12\n  servers:\n    web: Nginx_Box31\n",
        "passwords:\n  policy: strict-v2\n  algorithm: Argon2id_v19\n  hasher: BcryptV2\n",
        "passwords:\n- are hashed with Argon2id-19\n- HmacDrbg3 of v2 is used\n",
        "imagePullSecrets:\n  - name: regcred-v2\n",
        "secrets:\n  db_password:\n    file: ./db_password2.txt\n",
        "tokens:\n  - id: 64b0b6d9-e371-40e8-affe-78e0505dfb3f\n    scope: read\n",
        "Needs credentials:\n- see docs/Setup2.md\n- run ./Login2.sh\n",
        "credentials: { accessKeyId: process.env.KEY2, region: 'eu-west-1' }",
        "[credentials]\nprovider = \"Vault-v2\"\npath = ~/x2\n",
    ]);
}

#[test]
fn passwords_in_columns_go_even_if_they_read_like_names() {
    all_go(&[
        " id | email      | password      | role\n----+------------+---------------+------\n  1 | rhea@x.io  | «velvetOtter93» | admin\n(1 row)\n",
        "+----+---------------+-------+\n| id | password      | role  |\n+----+---------------+-------+\n|  1 | «velvetOtter93» | admin |\n",
        "| user | password |\n|---|---|\n| mia | kleeblatt11x |\n| tom | «haferFlocke_31» |\n",
        "┏━━━━━━┳━━━━━━━━━━━━━━━┓\n┃ user ┃ password      ┃\n┡━━━━━━╇━━━━━━━━━━━━━━━┩\n│ mia  │ «velvetOtter93» │\n└──────┴───────────────┘\n",
        "user   password        host\nmia    «haferFlocke_31»  db1\n",
        "name\tpassword\nmia\t«velvetOtter93»\n",
        "email,password,plan\nlou@x.io,«velvetOtter93»,pro\n",
        "| Benutzer | Kennwort |\n|---|---|\n| mia | «haferFlocke_31» |\n",
        "| usuario | contraseña |\n|---|---|\n| mia | «haferFlocke_31» |\n",
        "| user | pass |\n|---|---|\n| mia | «haferFlocke_31» |\n",
        "-[ RECORD 1 ]----\nid       | 1\npassword | «velvetOtter93»\n",
    ]);
    all_stay(&[
        " Column   | Type\n----------+------\n id       | text\n password | text\n address1 | text\n line_2a  | text\n",
        "| Field | Type |\n|---|---|\n| password | text |\n| oauth2_id | text |\n| md5hash | text |\n",
        "| password | hash |\n|---|---|\n| varchar(255) | bcrypt |\n| required | Argon2id_v19 |\n",
        "user  password  valid\nmia   x         2026-01-31\n",
    ]);
}

#[test]
fn passwords_that_connections_take_by_position_go() {
    all_go(&[
        "$db = mysqli_connect('localhost', 'shop', '«Fenster9Kitt»', 'shop_live');",
        "$db = mysqli_connect($host, 'shop', '«geheim»');",
        "$db = new mysqli(\"db1\", \"shop\", \"«Fenster9Kitt»\", \"live\");",
        "mysql_real_connect(conn, \"db1\", \"shop\", \"«Fenster9Kitt»\", \"live\", 0, NULL, 0);",
        "conn = pymysql.connect(\"db1\", \"shop\", \"«Fenster9Kitt»\", \"live\")",
        "conn = pymysql.connect(\n    'db1',\n    'shop',\n    '«Fenster9Kitt»',\n)",
        "db = MySQLdb.connect('db1','shop','«Fenster9Kitt»','live')",
        "new PDO(\"mysql:host=$h;dbname=x\", \"shop\", \"«Fenster9Kitt»\")",
        "DriverManager.getConnection(URL, \"shop\", \"«Fenster9Kitt»\")",
        "oracledb.connect('hr', '«Fenster9Kitt»', 'ora1/xe')",
        "DBI->connect(\"dbi:Pg:dbname=x\", 'shop', '«Fenster9Kitt»')",
        "l.simple_bind_s('cn=admin,dc=x', '«Fenster9Kitt»')",
        "ldap_bind($ds, 'cn=admin,dc=x', '«Fenster9Kitt»');",
        "ftp_login($ftp, 'web', '«Fenster9Kitt»');",
        "AuthTokens.basic(\"neo4j\", \"«Fenster9Kitt»\")",
        "text: \"$db = mysqli_connect(\\\"h\\\", \\\"shop\\\", \\\"«Fenster9Kitt»\\\");\"",
    ]);
    all_stay(&[
        "mysqli_connect('localhost', 'shop', $password, 'shop_live');",
        "mysqli_connect('localhost', 'shop', getenv('DB_PASS_2'), 'shop_live');",
        "mysqli_connect('host', 'user', 'password', 'database')",
        "mysqli_connect('host', 'user', 'your_password', 'database')",
        "pymysql.connect(host='db1.Internal9x', user='shop', password=pw, database='shopLive2x')",
        "pymysql.connect(host, user, pw, 'shopLive2x')",
        "DriverManager.getConnection(\"jdbc:h2:mem:Test9Base\")",
        "getConnection(pool, function (error, connection) { emit('someEvent2x') })",
    ]);
}

#[test]
fn keys_of_accounts_and_files_go() {
    let (key, other, rails) = (hex(64), body("fedcba9876543210", 64), hex(32));
    let texts = [
        format!("deploy with this account, pk 0x«{key}», rpc is https://x.y"),
        format!("pk: 0x«{key}»"),
        format!("PK=0x«{key}»"),
        format!("const pk = \"0x«{key}»\""),
        format!("the pk for the deployer is 0x«{key}»"),
        format!("private key e.g. «{key}»"),
        format!("privkey 0x«{key}»"),
        format!("Private Keys\n==================\n\n(0) 0x{other}\n(1) 0x«{key}»\n"),
        format!("sepolia: {{ url: u, accounts: [`0x«{key}»`] }}"),
        format!("`config/master.key` was missing; I copied `«{rails}»` over"),
        format!("$ cat config/master.key\n«{rails}»"),
        format!("$ cat config/credentials/production.key\n«{rails}»\n"),
        format!("echo «{rails}» > config/master.key"),
        format!("$ cat ~/.erlang.cookie\n«{}»\n", "QXZRTPLMWKDJFHGBVNCA"),
        format!("$ cat .vault_pass\n«{}»\n", "Zinnober-Ast-51"),
    ];
    all_go(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let texts = [
        format!("pk is the primary key; the tx hash is 0x{key}"),
        format!("Contract pk 1, address 0x{}", hex(40)),
        format!("md5 of config/master.key: {rails}"),
        format!("config/master.key was added in commit {}", hex(40)),
        format!("the private key's sha256 fingerprint: {key}"),
        format!("apk 0x{key}"),
        "$ ls .erlang.cookie config\nREADME\n".to_owned(),
    ];
    all_stay(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_a_mail_client_answers_goes() {
    all_go(&[
        "C: AUTH LOGIN\nS: 334 VXNlcm5hbWU6\nC: bWFpbGVyQHgueQ==\nS: 334 UGFzc3dvcmQ6\nC: «Wmlubm9iZXItQXN0LTUx»\nS: 235 2.7.0 ok",
        " <-  334 UGFzc3dvcmQ6\r\n -> «Wmlubm9iZXItQXN0LTUx»\r\n <-  235 ok",
        "SERVER -> CLIENT: 334 UGFzc3dvcmQ6\nCLIENT -> SERVER: «Wmlubm9iZXItQXN0LTUx»",
        r"reply: b'334 UGFzc3dvcmQ6\r\n' send: '«Wmlubm9iZXItQXN0LTUx»\r\n'",
        "reply: b'334 UGFzc3dvcmQ6\\r\\n'\nsend: '«Wmlubm9iZXItQXN0LTUx»\\r\\n'",
        "C: AUTH PLAIN\nS: 334 \nC: «AG5vcmVwbHlAbm9ydGhsdW1lLmlvAFdhbC1OdXNzPTkwYg==»",
        "a1 AUTHENTICATE PLAIN\n+ \n«AG5vcmVwbHlAbm9ydGhsdW1lLmlvAFdhbC1OdXNzPTkwYg==»\n",
    ]);
    all_stay(&[
        "250-AUTH PLAIN LOGIN\n250-ENHANCEDSTATUSCODES\n250 8BITMIME",
        "S: 334 UGFzc3dvcmQ6\nC: *\nS: 501 5.7.0 Authentication aborted",
        "base64 of `Password:` is UGFzc3dvcmQ6, which servers send",
    ]);
}

#[test]
fn keys_of_wireless_networks_go() {
    all_go(&[
        "    Security key           : Present\n    Key Content            : «Treppe88Wolke»\n",
        "    Key Content            : «drei kleine treppen»\r\n",
        "    Schlüsselinhalt         : «treppenwolke»\n",
        "    Contenu de la clé       : «treppenwolke»\n",
        "802-11-wireless-security.psk:           «treppenwolke»\n",
        "nmcli con modify Lager wifi-sec.psk «treppenwolke»",
        "nmcli con modify Lager wifi-sec.psk \"«drei kleine treppen»\"",
        "nmcli con modify Lager 802-11-wireless-security.psk '«treppenwolke»' && nmcli con up Lager",
        "<keyMaterial>«treppenwolke»</keyMaterial>",
        "netsh wlan set profileparameter name=Lager keyMaterial=«treppenwolke»",
        "WIFI:T:WPA;S:Lager;P:«treppen wolke»;;",
        "qrencode \"WIFI:S:Lager;T:WPA;P:«Treppe88Wolke»;H:false;;\"",
    ]);
    all_stay(&[
        "    Security key           : Present\n    Key Content            : <hidden>\n",
        "key content is encrypted at rest",
        "wifi-sec.psk-flags 0",
        "802-11-wireless-security.psk-flags:     0 (none)",
        "802-11-wireless-security.psk:           <hidden>",
        "const keyMaterial = await subtle.importKey('raw', x)",
        "wifi: the network is down; P: see below",
    ]);
}

#[test]
fn links_of_web_frameworks_that_reset_a_password_go() {
    let (long, sha) = (hex(32), hex(40));
    let texts = [
        format!("http://localhost:8000/accounts/reset/MTI/«cn3uib-{long}»/"),
        format!("GET /accounts/reset/MTI/«cn3uib-{long}»/ HTTP/1.1"),
        format!("https://x.y/password-reset/confirm/MQ/«cn3uib-{long}»/"),
        format!("https://x.y/accounts/password/reset/key/«1-cn3uib-{long}»/"),
        format!("https://x.y/accounts/confirm-email/«MTI:1tVqk3:{}»/", alnum(32)),
        format!("https://x.y/password_resets/«{}»/edit?email=a%40b.c", alnum(22)),
        format!("https://x.y/passwords/«eyJfcmFpbHMiOnsiZGF0YSI6WzEsIiRQRE9ZMHVVNG0iXX19--{sha}»/edit"),
        format!("https://x.y/user/reset/1/1767700000/«{}»/login", alnum(43)),
        format!("https://x.y/email/verify/1/«{sha}»?expires=1767700000&signature=x"),
        format!("https://x.y/u/activate-account/«{long}»"),
        format!("https://x.y/session/email-login/«{long}»."),
        format!("https://x.y/lostpassword/reset/form/«{}»/mia", alnum(21)),
    ];
    all_go(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    all_stay(&[
        "https://x.y/docs/reset/v2/how-it-works-2024-01-31-long",
        "https://x.y/static/reset/css/main-3f9a1c7e5b2d8046f1e3a5c7.css",
        "https://github.com/x/verify/blob/main/src/verify_signature_v2.rs",
        "https://x.y/docs/passwords/policy-2024-settings-page-layout",
        "src/reset/MTI/handlers_v2_with_long_names.rs",
    ]);
}

#[test]
fn seed_phrases_without_a_word_before_them_go() {
    let twelve = "axis small album exist oyster journey various transfer nasty mirror coyote muscle";
    let other = "cruel velvet garage hungry orbit pistol twelve wagon raven clown dizzy maple";
    let texts = [
        format!("derive the first 3 addresses from\n«{twelve}»"),
        format!("«{twelve}»"),
        format!("these are mine: «{twelve} {other}», do not lose them"),
        format!("«{twelve}\n{other}»\n"),
        format!("[\"«{}»\"]", twelve.replace(' ', "\", \"")),
        format!("«{}»\n", twelve.replace(' ', "\n")),
        format!(
            "1. «axis{}»\n",
            twelve[4..]
                .split(' ')
                .enumerate()
                .map(|(n, word)| if n == 0 { String::new() } else { format!("\n{}. {word}", n + 1) })
                .collect::<String>()
        ),
        format!("{{\"text\": \"use\\n«{twelve}»\\nfor it\"}}"),
        format!("use «{twelve}» here"),
        format!("MNEMO='«{twelve}»'"),
    ];
    all_go(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let list = include_str!("../bip39.txt");
    let first = list.lines().take(12).collect::<Vec<_>>().join(" ");
    let texts = [
        list.lines().take(1000).collect::<Vec<_>>().join("\n"),
        format!("the list begins with {first} and so on"),
        format!("{} junk", ["test"; 11].join(" ")),
        format!("{} about", ["abandon"; 11].join(" ")),
        format!("only eleven: {}", &twelve[..74]),
        twelve.replace(' ', "_"),
        twelve.replace(' ', "-"),
    ];
    all_stay(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn passwords_of_joined_words_go_in_the_word_order_of_each_language() {
    all_go(&[
        "usa la contraseña «Jilguero.9083» con el usuario soporte",
        "con contraseña «jilguero9083» entra",
        "«Jilguero.9083» es la contraseña del panel",
        "Ich habe das Passwort von `postgres` auf `«HafenKran_7714»` geändert.",
        "«HafenKran_7714» ist das Passwort für postgres",
        "nimm es, «Hafen-Kran_7714» ist das neue Passwort",
        "das Passwort lautet «hafenKran7714»",
        "Passwort ist jetzt «HafenKran_7714»",
        "Neues Passwort «HafenKran_7714» gesetzt",
        "veritabanı şifresi «kirmiziVapur4127», kullanıcı postgres",
        "«Kirmizi.Vapur.41» şifresiyle giriş yap",
        "şifreyi «Kirmizi.Vapur.41» yap",
        "ステージング環境のパスワードは「«Hotaru8mGx2»」です。",
        "パスワードは«Hotaru8mGx2»です",
        "「«Hotaru8mGx2»」がパスワードです",
        "パスワードを「«Hotaru8mGx2»」に変更しました",
        "密码是«Hotaru8mGx2»",
        "管理员密码为「«Hotaru8mGx2»」",
        "비밀번호는 «Hotaru8mGx2» 입니다",
        "пароль от базы «zimaSneg604»",
        "«Zima.Sneg.604» — пароль от базы",
        "le mot de passe root c'est «ronceVerte88»",
        "«Ronce_Vert88» est le mot de passe",
        "a senha «ipeRoxo704» não funciona",
        "«Ipe.Roxo.704» é a senha",
        "la password «cervoBlu318» non va",
        "hasło «zielonyKot77» nie działa",
        "set the password to «hafenKran7714»",
        "changed the postgres password to `«HafenKran_7714»` and restarted",
        "«HafenKran_7714» is the password",
        "log in with the password «velvetOtter93» now",
    ]);
    all_stay(&[
        "the password hasher moved from BcryptSha_256 to Argon2id_19",
        "パスワードは8文字以上を設定画面から変更できます。",
        "パスワードはSHA256でハッシュ化されます",
        "密码使用Argon2id加密",
        "la contraseña usa Sha256Hash",
        "el campo contraseña Http2Server",
        "şifre Base64Encoder ile",
        "das Passwort wird mit BcryptHasher12 gehasht",
        "Ubuntu-22.04 is the password manager host",
        "Keepass-Box_22 is the password manager host",
        "the password for `AppUser12` is rotated daily",
        "with password inputField",
        "Passwort vergessen? Nutze OAuth2",
    ]);
}

#[test]
fn passwords_beside_their_account_go() {
    all_go(&[
        "log into the admin page (ops@x.io / «tr0ubleBarge77») and take a screenshot",
        "login: ops@x.io / «tr0ubleBarge77»",
        "login ops@x.io:«tr0ubleBarge77»",
        "credentials for the panel: `ops` / `«tr0ubleBarge77»`",
        "you can log in with **ops@x.io** / **«brindle-Copper-6620»**",
        "Log in at http://localhost:8000/admin/ as **admin** with **«brindle-Copper-6620»**.",
        "Log in at http://localhost:8000/admin/ as `admin` / `«tr0ubleBarge77»`.",
        "sign in with ops@x.io and «tr0ubleBarge77»",
        "test user is qa@x.io / «velvetOtter9»",
        "Zugang: ops@x.io / «tr0ubleBarge77»",
        "melde dich mit ops@x.io / «tr0ubleBarge77» an",
        "connecte-toi avec ops@x.io / «tr0ubleBarge77»",
        "creds: ops / «tr0ubleBarge77»",
        "root@10.20.4.17 pass «Zw4rteKatz3» — it's the old one",
        "root@10.20.4.17 password «velvetOtter93»",
        "ssh root@10.20.4.17, pass «velvetOtter93»",
        "ssh root@10.20.4.17 (pass: «velvetOtter93»)",
        "root@10.20.4.17 Passwort «velvetOtter93»",
        "10.20.4.17, pw «velvetOtter93»",
        "user root pass «velvetOtter93»",
        "user: root, pass: «velvetOtter93»",
        "USER mailer@x.io\n+OK\nPASS «Zinnober51»\n",
        "---> USER web\n<--- 331 Password required\n---> PASS «Zinnober51»",
    ]);
    all_stay(&[
        "login page is src/pages/Login2 / Http2Server",
        "log into the box / Debian-12 and see",
        "to account for verbatim / LaTeX-like / and R-like areas",
        "log into the box with Debian-12 on it",
        "the login flow uses oauth2 / oidc2fa",
        "login: GET /api / POST /api2v",
        "sign in with GitHub / Google / Okta2",
        "the account is on Plan / Tier-Pro",
        "login as admin with the new account",
        "PR by me@x.io and reviewed2 by others for login",
        "the git@github.com pass was merged",
        "user tests pass phase2 of ci",
        "10.20.4.17 pass 12ms",
        "all 12 tests of user login pass (v2.1)",
    ]);
}

#[test]
fn passwords_of_words_joined_by_dots_go_where_they_are_given() {
    all_go(&[
        "Config(host='es01', password='«Teapot.Shelf4»', verify=False)",
        "{\"user\": \"mia\", \"password\": \"«Teapot.Shelf4»\"}",
        "jdbc:mysql://db4:3306/cms?user=cms&password=«Teapot.Shelf4»&useSSL=false",
        "net user mia T3apot.«Shelf» /add",
        "hasło: «czajnik.83Q». Zaloguj się",
        "mot de passe : «Théière_bleue-52» (à changer)",
        "contraseña: «Tetera-Año_52»",
    ]);
    all_stay(&[
        "password: 'Login.Password.Step2'", "password='auth.errors.step2'", "password = Config.Users2",
        "f(password=settings.Default2)", "https://x.y/?password=auth.field2&x=1", "hasło: user.name2. Dalej",
        "net user mia /domain",
    ]);
}

#[test]
fn made_up_passwords_behind_an_equals_sign_go_wherever_it_stands() {
    all_go(&[
        "helm upgrade x y/x --set adminUser=a --set adminPassword=«Kettle-Lane7»",
        "failed for User[dn=uid=a,ou=b, credentials=«Kettle-Lane37»]",
        "Settings(user=a, password=«Kettle-Lane37»)",
        "connect(\"DRIVER={ODBC Driver 18};SERVER=h;UID=bi;PWD={«Loam;Kiln}}31»}\")",
        "Driver={x};Pwd={«loam-kiln;31»};",
    ]);
    all_stay(&[
        "Settings(user=a, password=Option_A)", "creds=[User-Agent]", "password={password};host={host}", "PWD={cwd};",
        "f(\"PWD={0};UID={1}\", a, b)",
    ]);
}

#[test]
fn recovery_codes_of_two_groups_go() {
    all_go(&[
        "Save these backup codes:\n\n1. 3396 8283\n2. «1856 2404»\n3. 3709 4912",
        "Recovery codes:\n3396 8283\n«1856 2404»\n",
        "recovery codes:\n- ab3x9 k2m4p\n- «zz8q1 m3n5r»\n",
    ]);
    all_stay(&["recovery codes: see chapter 12 2024 for them", "backup codes were used 3 times in 2024\n"]);
}

#[test]
fn links_that_sign_in_go() {
    let token = alnum(36);
    let texts = [
        format!("sent link https://x.y/signin/«{token}» to a***@x.y"),
        format!("open https://x.y/sign-in/«{token}»"),
        format!("https://x.y/auth/login/«{token}»?next=/"),
        format!("https://x.y/passwordless/«{token}»"),
    ];
    all_go(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    all_stay(&["https://x.y/login/with-github-and-many-other-providers", "https://x.y/signin/oauth2/authorize-with-provider"]);
}

#[test]
fn passwords_before_an_arrow_and_phrases_in_a_sentence_go() {
    all_go(&[
        "«Kelp$Anchor41» <- thats the db pass, dont commit it",
        "`«Kelp-Anchor41»` <-- this is the password",
        "«Kelp-Anchor41» ← the admin password",
        "the wifi is \"Lager\" and the passphrase is «vier große Anker 41», make a label",
        "My passphrase is «vier Große Anker 41».",
    ]);
    all_stay(&[
        "df$col41 <- the_password",
        "x41.y <- get_password(a)",
        "db$Anchor41 <- password",
        "Chapter-41 <- the part on how passwords are hashed",
        "the passphrase is one of the 41 words",
        "the passphrase is changed every release since 2024",
        "the passphrase is longer than most words under 41",
        "the passphrase is stored in the file 3 times, encrypted",
        "The passphrase is read from stdin on line 2.",
    ]);
}
