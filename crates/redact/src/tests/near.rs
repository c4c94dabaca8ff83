//! Secrets that only words near them tell: prose in several languages, calls, lists, commands, addresses. And what such words leave.

use super::*;

/// Fails with all texts of which the secret, between `«` and `»`, stays.
fn all_go(texts: &[&str]) {
    let stays = |text: &&&str| {
        let (start, end) = (text.find('«').expect("a secret") + '«'.len_utf8(), text.find('»').expect("its end"));
        redact(&text.replace(['«', '»'], "")).contains(&text[start..end])
    };
    let left: Vec<_> = texts.iter().filter(stays).collect();
    assert!(left.is_empty(), "{} stay:\n{left:#?}", left.len());
}

fn all_stay(texts: &[&str]) {
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
