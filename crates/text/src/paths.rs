//! Paths in a text.

/// Replaces a folder's path in a text, also where it begins a longer path: by `below`, with what follows its last slash, or by `itself`. A path that
/// merely contains the same characters is left as it is, such as that of a sibling whose name begins alike, or of a copy in another folder.
pub fn replace_path(text: &str, path: &str, below: &str, itself: &str) -> String {
    let path = path.trim_end_matches('/');
    let (mut told, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(path).filter(|_| !path.is_empty()) {
        let rest = &text[at + path.len()..];
        if goes_before(&text[..at]) || goes_on(rest) {
            continue;
        }
        told += &text[from..at];
        from = at + path.len();
        if rest.strip_prefix('/').is_some_and(begins_with_name) {
            told += below;
            from += 1;
        } else {
            told += itself;
            // A full stop behind a dot would read as another folder.
            if itself.ends_with('.') && rest.starts_with('.') {
                told.push('/');
            }
        }
    }
    told + &text[from..]
}

/// Does a path go on up to the end of this text, so that what follows is a part of it? `:` ends the name of a host.
fn goes_before(text: &str) -> bool {
    text.ends_with(|c: char| is_of_name(c) || matches!(c, '/' | ':' | '}'))
}

/// Does the last name of a path go on in what follows? A full stop may end a sentence.
fn goes_on(rest: &str) -> bool {
    rest.trim_start_matches('.').starts_with(|c: char| is_of_name(c) || matches!(c, '@' | '+' | '%' | '\\' | '$' | '{' | '*'))
        || rest.starts_with('.') && rest.trim_start_matches('.').starts_with('/')
}

fn begins_with_name(rest: &str) -> bool {
    rest.starts_with(|c: char| !c.is_whitespace() && !"/`'\"()[]<>,;:|!?".contains(c) && c != '.')
        || rest.starts_with('.') && goes_on(rest)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_replaced_at_its_borders_only() {
        let root = "/srv/shop";
        for (text, told) in [
            ("see /srv/shop/db/schema.sql, `/srv/shop/db` and (/srv/shop/a.rs:12)", "see db/schema.sql, `db` and (a.rs:12)"),
            ("/srv/shop", "."),
            ("in /srv/shop, \"/srv/shop\" or **/srv/shop/x**", "in ., \".\" or **x**"),
            ("cd /srv/shop && make", "cd . && make"),
            ("The root is /srv/shop. It is /srv/shop/.", "The root is ./. It is ./."),
            ("`/srv/shop/` and /srv/shop/", "`./` and ./"),
            ("/srv/shop/.env and /srv/shop/../x, /srv/shop/*.rs", ".env and ../x, *.rs"),
            ("DIR=/srv/shop; @/srv/shop/a.rs", "DIR=.; @a.rs"),
            ("file in /srv/shop/ä.md", "file in ä.md"),
        ] {
            assert_eq!(replace_path(text, root, "", "."), told, "{text}");
            assert_eq!(replace_path(text, "/srv/shop/", "", "."), told, "{text}");
        }
        for text in [
            "/backup/srv/shop/db", "/srv/shop-admin/bin", "/srv/shopping", "/srv/shop.git", "/srv/shop_old/x", "/srv/shop~",
            "../srv/shop", "~/srv/shop/x", "web:/srv/shop/x", "${ROOT}/srv/shop/x", "/srv/shop{,-old}", "/srv/shop*",
            "file:///srv/shop/x", "/srv/shopä", "/srv/shop..old/x", "/srv/sho", "",
        ] {
            assert_eq!(replace_path(text, root, "", "."), text);
        }
        assert_eq!(replace_path("/home/anna/x /home/anna /home/annabelle", "/home/anna", "~/", "~"), "~/x ~ /home/annabelle");
        assert_eq!(replace_path("a /b c", "", "", "."), "a /b c");
        assert_eq!(replace_path("a /b c", "/", "", "."), "a /b c");
    }
}
