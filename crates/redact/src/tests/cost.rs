//! The bytes that are examined grow no faster than the text, whatever the text: beginnings of everything that a rule looks for, over and over.

use proptest::prelude::*;

use super::*;
use crate::syntax::{Command, FlagValue, Part};

/// The most bytes examined for each byte of a text.
const MOST_PER_BYTE: usize = 700;

/// What begins something that a rule reads on from, or makes it read on.
const OPENINGS: &[&str] = &[
    // Kubernetes and YAML.
    "kind: Secret\ndata:\n",
    "kind: Secret\ndata: {",
    "kind: Secret\n",
    "\"kind\": \"Secret\", \"data\": {\"a\": \"",
    "kind: Secret\nstringData:\n  a: bcde\n",
    "data:\n",
    "data:\n  a: bcdefgh\n",
    "key: |\n",
    "password: |\n",
    "password: >-\n  ",
    "- name: DB_PASSWORD\n  value: ",
    "\"name\": \"DB_PASSWORD\", \"value\": \"",
    "---\n",
    // Private keys.
    "-----BEGIN X PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\n",
    "-----BEGIN PRIVATE KEY-----\nVersion: 1\n",
    "-----BEGIN PRIVATE KEY-----\nabcdefghijklmnopqrstuvwxyz0123456789\n",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq",
    "-----BEGIN PRIVATE KEY-----\n-----END ",
    "-----BEGIN ",
    "-----",
    "PuTTY-User-Key-File-",
    "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 9\n",
    "Private-Lines:\nab\n",
    "LS0tLS1CRUdJTi",
    " LS0tLS1CRUdJTi",
    // JSON Web Tokens and base64.
    "eyJ",
    "eyJ.",
    "eyJhbGciOiJIUzI1NiJ9.",
    "eyJhbGciOiJIUzI1NiJ9\n",
    " eyJhbGciOiJIUzI1NiJ9\\\n",
    "eyJ................................................................................................",
    " eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0..........",
    // Names with their signs, and quotes that do not close.
    "password",
    "password=",
    "password:",
    "password:\n",
    "password:\"",
    "password \"",
    "password=\"a\\\"",
    "password=$(",
    "password=日",
    "password is ",
    "password, ",
    "password;",
    "password|",
    "password  ",
    "password\t",
    "| password |\n",
    "| password | a |\n| --- | --- |\n",
    "user,password\na,b\n",
    "│ password │\n",
    "┃ password ┃\n│ a │\n",
    "┃┃━━",
    "| contraseña |\n",
    "| contraseña | a |\n| --- | --- |\n",
    "password  user\na  b\n",
    "<password>",
    "<td>password</td>",
    "<dt>Password</dt> <dd>",
    "token = \"",
    "token = '",
    "token=`",
    "token=abc\\\n",
    "token.",
    "token(",
    "\"token\": {",
    "\"token\": \"",
    "\\\"token\\\": \\\"",
    "secret='\n",
    "key=\"",
    "the key is ",
    "AUTH ",
    "with password ",
    "with password 'a ",
    "password ' ",
    "password `a",
    "password for the \"",
    "use a as the password ",
    "passphrase: a b ",
    "machine x login y password ",
    "login password x ",
    "variable \"password\" {",
    "output \"password\" {",
    "\"password\": { \"value\"",
    "config set password ",
    "a=b password=",
    "x password=",
    "?token=",
    "&token=a",
    ";Password=a",
    "--password ",
    "--password=",
    "--token '",
    "--set password=",
    "PASSWORD=",
    "export API_KEY=",
    "process.env.TOKEN ?? ",
    "password:-",
    "密码:",
    "密码 ' ",
    "密码 \"",
    "密码 a b c ",
    "пароль",
    "contraseña ",
    "キーは",
    "「a1B2c3d4」がパスワード",
    "a es la contraseña ",
    "şifresi ",
    "Passwort aB12 ist das Passwort ",
    "with the password aB12 ",
    "use a b 1 as the ",
    "use a b 1 as the passphrase ",
    "login",
    "login a / ",
    "login a@b / a1B2c3d4 ",
    "login a@b:",
    "log in as a with a1B2 ",
    "a@b pass ",
    "user a pass a1B2 ",
    "USER a\nPASS ",
    "log in as ",
    "log in as a with ",
    "generated for a: ",
    "wifi key is ",
    "key is A1-bcdefg ",
    // Calls, lists and rows.
    "fernet('",
    "jwt.sign('a', ",
    "jwt.sign('A1-bcdefg', ",
    ".fill('",
    ".fill('#password', 'a",
    "passwords:\n",
    "passwords:\n  - a\n",
    "passwords:\n  a: b\n",
    "passwords:\n  - a: b\n    c: d\n",
    "passwords:\\n  - a\\n",
    "credentials:\n",
    "credentials:\n  a: b\n",
    "[passwords]\n",
    "[passwords]\na = 'b'\n",
    "passwords = [",
    "passwords = [{a: 'b', ",
    "\"passwords\": {\"a\": ",
    "a=b,password=",
    "(password) values",
    "(password) values (",
    "(password) values ('a'), ",
    "(a, password) values\n(1, 'b'),\n",
    "(password) from stdin;\n",
    "(a, password) from stdin;\na\tb\n",
    // Keys beside words.
    "2fa ",
    "otp JBSW Y3DP ",
    "2fa ABCDEFGHIJKLMNOP ",
    "wif K",
    "AKIA",
    "AKIAABCDEFGHIJKLMNOP ",
    "pk 0x",
    "accounts: [",
    "private keys\n",
    "private keys 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef ",
    "master.key ",
    "master.key\n",
    "master.key 0123456789abcdef0123456789abcdef ",
    "erlang.cookie\n",
    "334 UGFzc3dvcmQ6\n",
    "UGFzc3dvcmQ6 YWJj ",
    "auth plain\n",
    "auth plain AGFiYwBhYmM= ",
    "key content : ",
    "keymaterial>",
    "wifi-sec.psk ",
    "wifi:",
    "wifi:s:a;p:b",
    "/reset/a/b/",
    "https://a/reset/a/",
    "https://a/passwords/a1B2:",
    "/invite/",
    "https://a/invite/a1B2",
    "kinit <<< '",
    "<<< A1-bcdefg ",
    "echo a | kinit ",
    "password (A1-bcdefg ",
    // Addresses.
    "://",
    "://a:",
    "https://a:b",
    "https://a:b@",
    "https://a",
    "x://a:b/",
    "@tcp(",
    "a@tcp(",
    "a:b@tcp(",
    ":thin:",
    ":thin:a/",
    "%3a%2f%2f",
    "%3a%2f%2fa%3a",
    "%253a%252f%252fa",
    "?code=",
    "&sig=a1B2",
    // Headers.
    "authorization: ",
    "authorization:",
    "authorization: bearer ",
    "authorization: AWS4-HMAC-SHA256 ",
    "cookie: a=",
    "set-cookie: a=bcdef;",
    "bearer ",
    "basic ",
    "basic YTpi",
    "\tTRUE\t",
    "a\tFALSE\t/\tTRUE\t1\ta\t",
    // Commands and what they print.
    "curl ",
    "curl -u a:b ",
    "curl \\\n",
    "mysql -p ",
    "docker login ",
    "chpasswd",
    "|chpasswd",
    "echo a:b | chpasswd",
    "echo a | sudo -S ",
    "echo 'a | sudo -S ",
    "| base64",
    "identified by '",
    "htpasswd -b a b c ",
    "net use ",
    "pass show ",
    "openssl rand \n",
    "printenv \\n",
    "login(\"",
    "login(\"a\", ",
    "connect('",
    "pymysql.connect('",
    "pymysql.connect('a', ",
    // Files of passwords.
    "$2a$",
    "$6$",
    "$argon2",
    "{SSHA}",
    ":5432:",
    ":*:*:",
    "a:5432:b:",
    // Seeds and codes.
    "mnemonic ",
    "seed: abandon ",
    "wallet abandon ability able about ",
    "axis small album exist ",
    "axis small album exist oyster journey various transfer nasty mirror coyote muscle ",
    "axis small album exist oyster journey various transfer nasty mirror coyote muscle. ",
    "axis\n",
    "1. axis\n",
    "recovery code ",
    "recovery code a1b2c3 ",
    "recovery code\n\n",
    // Tokens.
    "sk-",
    "sk-ant-",
    "ghp_",
    "ghp_a1\n",
    "ghp_a1\\\n",
    "=ops_eyJ",
    "hooks.slack.com/services/",
    "M1.abcdef.",
    "MTA1MTA1MTA1MTA1MTA1MTA1.abcdef.",
    "1/0/",
    "01/0\n",
    // Marks.
    "[REDACTED:",
    "[REDACTED:x]",
    "[REDACTED:x] password=hunter22\n",
    "[REDACTED:x] https://a:k9!vQz7p@b \n",
    "password=hunter22\n",
    "password=hunter22 ",
    "password=hunter22\\\n",
    // What has no meaning alone.
    "<private>",
    "{{{",
    "=",
    ":",
    "A",
    "a1B2c3D4",
    "(",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\n",
    "\n",
    " ",
    ".",
    "日",
    "a b=c:d;e,f ",
];

/// The bytes examined in a pass over a text. There are at most `MAX_PASSES` of them, and marks count as text in the later ones.
fn work(text: &str) -> usize {
    let from = bytes::steps_taken();
    let _ = Redactor::shipped().pass(text);
    bytes::steps_taken() - from
}

/// How the work for this many bytes of a repeated unit grows too fast, if it does.
fn too_much(unit: &str, bytes: usize) -> Option<String> {
    let (one, two) = (work(&unit.repeat(bytes / unit.len())), work(&unit.repeat(2 * (bytes / unit.len()))));
    let grows = two * 10 > one * 22;
    (grows || two > 2 * bytes * MOST_PER_BYTE)
        .then(|| format!("{:6} a byte, {:5.2} times for twice the text: {unit:?}", two / (2 * bytes), two as f64 / one as f64))
}

fn all_are_linear(units: impl Iterator<Item = String>, bytes: usize) {
    let mut wrong: Vec<String> = units.filter_map(|unit| too_much(&unit, bytes)).collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn openings_of_every_kind_take_no_more_than_their_length() {
    all_are_linear(OPENINGS.iter().map(|unit| (*unit).to_owned()), 1 << 15);
}

#[test]
fn the_opening_of_one_text_in_another_takes_no_more() {
    // What precedes is read once, however long it is.
    let texts = OPENINGS.iter().flat_map(|one| ["\n", "\"", "="].map(|sign| format!("{one}{sign}")));
    all_are_linear(texts, 1 << 13);
}

#[test]
fn keywords_over_and_over_take_no_more_than_their_length() {
    let signs = |detector| match detector {
        Detector::Token(_) => &["", "="][..],
        _ => &["", " ", "=", ": ", ":\n", " = \"", "('"],
    };
    let texts = shipped_keywords().flat_map(|(word, detector)| signs(detector).iter().map(move |sign| format!("{word}{sign}")));
    all_are_linear(texts, 1 << 13);
}

#[test]
fn what_goes_on_for_long_takes_no_more_than_its_length() {
    for filler in [
        ".", "a", "a1B2", "=", " ", "\n", "a\n", "\\\n", "a\\\n", "'", "\"", "\\", "-", "a ", "a: b\n", "a.b", "日",
        "[REDACTED:x] ",
    ] {
        for opening in OPENINGS {
            let text = |len: usize| format!("{opening}{}{opening}", filler.repeat(len / filler.len()));
            let (one, two) = (work(&text(1 << 13)), work(&text(1 << 14)));
            let most = (one * 22 / 10).max((1 << 14) * 20);
            assert!(two <= most, "{one} steps, then {two}: {opening:?} and {filler:?}");
        }
    }
}

#[test]
fn texts_are_searched_where_it_is_counted() {
    let sources = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("the sources");
    let others = sources.map(|entry| entry.expect("a file").path()).filter(|path| path.is_file() && !path.ends_with("bytes.rs"));
    for path in others {
        let source = std::fs::read_to_string(&path).expect("a source");
        assert!(!source.contains(concat!("memchr", "::")), "{}: search with the functions of `bytes`", path.display());
    }
}

/// A token of this format, with the least characters of each set.
fn example(token: &Token) -> String {
    let run = |set: &syntax::ByteSet, len: usize| {
        let all: Vec<u8> = (b'!'..0x7f).filter(|b| set.has(*b)).collect();
        (0..len).map(|n| char::from(all[n * 7 % all.len()])).collect::<String>()
    };
    let lead = token.lead.as_ref().map(|(set, len)| run(set, *len)).unwrap_or_default();
    let parts = token.parts.iter().map(|part| match part {
        Part::Literal(text) => text.to_string(),
        Part::Run { set, min, .. } => run(set, *min),
    });
    format!("{lead}{}{}", token.key, parts.collect::<String>())
}

/// A command line with each of its flags.
fn lines(command: &Command) -> impl Iterator<Item = String> {
    command.flags.iter().map(|flag| {
        let value = match flag.value {
            FlagValue::Pair(sign) => format!(" me{}k9!vQz7p", char::from(sign)),
            FlagValue::Pairs => " me=k9!vQz7p".to_owned(),
            FlagValue::Quoted => " 'k9!vQz7p'".to_owned(),
            FlagValue::Glued => "k9!vQz7p".to_owned(),
            FlagValue::Last => "b file me k9!vQz7p".to_owned(),
            FlagValue::After(_) | FlagValue::Word | FlagValue::Any => " me k9!vQz7p".to_owned(),
        };
        format!("{} -v {}{value}", command.name, flag.name)
    })
}

#[test]
fn every_format_cut_in_half_and_whole_takes_no_more_than_its_length() {
    let whole = formats::TOKENS.iter().map(example).chain(formats::COMMANDS.iter().flat_map(lines));
    let texts = whole.flat_map(|text| {
        let half = text[..text.floor_char_boundary(text.len() / 2)].to_owned();
        [half.clone(), format!("{half}\n"), format!("{text} "), text]
    });
    all_are_linear(texts.filter(|text| !text.is_empty()), 1 << 13);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_of_them_takes_no_more_than_its_length(
        parts in proptest::collection::vec(proptest::sample::select(OPENINGS.to_vec()), 1..4),
        signs in "[ \"'\n=:a\\\\]{0,3}",
    ) {
        let unit = format!("{}{signs}", parts.concat());
        prop_assert_eq!(too_much(&unit, 1 << 13), None);
    }
}
