//! Addresses of files, as some clients write paths: `file:///home/dev/my%20shop`.

use std::borrow::Cow;

/// The path in an address such as `file:///home/dev/my%20shop`; of one on another machine, the path there.
pub(super) fn path_of(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The path of a file on this disk, which some releases write as an address.
pub(super) fn local_path(path: &str) -> Cow<'_, str> {
    let Some(encoded) = path.strip_prefix("file://") else { return path.into() };
    path_of(path).map_or(encoded.into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_address_is_read() {
        assert_eq!(path_of("file:///home/dev/my%20shop").as_deref(), Some("/home/dev/my shop"));
        assert_eq!(path_of("vscode-remote://wsl%2Bubuntu/home/dev/%C3%A9t%C3%A9").as_deref(), Some("/home/dev/été"));
        assert_eq!(path_of("file:///a%2").as_deref(), Some("/a%2"));
        for other in ["/home/dev", "file://", "file:///%ff"] {
            assert_eq!(path_of(other), None, "{other}");
        }
    }
}
