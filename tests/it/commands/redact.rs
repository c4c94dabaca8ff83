//! `recall redact`: what it prints, and what it never does.

use crate::support::{Ran, World, fed};

fn redact(world: &World, args: &[&str], text: impl AsRef<[u8]>) -> Ran {
    let mut command = world.process();
    command.arg("redact").args(args);
    fed(command, text.as_ref())
}

#[test]
fn the_text_comes_back_without_its_secrets() {
    let world = World::new();
    let token = ["ghp_", &"a1B2c3D4e5".repeat(4)[..36]].concat();
    let text = format!("Étape 1\nexport DB_PASSWORD=hunter22 # {token}\nlet token = next();");
    let ran = redact(&world, &[], &text);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(ran.out, "Étape 1\nexport DB_PASSWORD=[REDACTED:password] # [REDACTED:github-token]\nlet token = next();");
    // What is redacted stays as it is.
    assert_eq!(redact(&world, &[], &ran.out).out, ran.out);
    assert!(!world.data_dir().exists());
}

#[test]
fn the_list_says_where_and_what_but_not_the_secret() {
    let world = World::new();
    let ran = redact(&world, &["--list"], "é password: \"hunter22\"\n\n  <password>k9!vQz7p</password> and cookie");
    assert_eq!((ran.code, ran.out.as_str()), (0, "1:14 password 8\n3:13 password 8\n"), "{ran:#?}");
    assert_eq!(redact(&world, &["--list"], "nothing to see").out, "");
}

#[test]
fn a_users_tokens_and_commands_are_written_as_the_shipped_ones() {
    let world = World::new();
    world.configure(
        "[[privacy.rules]]\nid = 'shop'\ntokens = ['shop_live_[a-z0-9]{8,}']\ncommands = ['shopctl ... --pin <secret>']\n\
         needs = 'digit'\n",
    );
    let ran = redact(&world, &[], "shop_live_k7f3m2p9, shop_live_examples; shopctl open --pin kq7wz2");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "[REDACTED:shop], shop_live_examples; shopctl open --pin [REDACTED:shop]"),
        "{ran:#?}"
    );
}

#[test]
fn what_is_no_text_is_read_all_the_same() {
    let ran = redact(&World::new(), &[], b"\xff\xfe password='hunter22'");
    assert_eq!((ran.code, ran.out.as_str()), (0, "\u{fffd}\u{fffd} password='[REDACTED:password]'"), "{ran:#?}");
}
