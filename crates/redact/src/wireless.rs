//! Keys of wireless networks, as systems print and take them: `Key Content : …` of netsh, `wifi-sec.psk` of nmcli, `<keyMaterial>`, and the text
//! of a QR code, `WIFI:S:…;P:…;`.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, byte_at, byte_before};
use super::harmless::{is_code, is_path_or_url, is_placeholder};
use super::value::{opening_quote, quoted_end};

/// What stands before a key; in several languages as netsh prints it.
pub(crate) const NAMES: [&str; 9] = [
    "key content", "schlüsselinhalt", "contenu de la clé", "contenido de la clave", "contenuto chiave", "keymaterial",
    "wifi-sec.psk", "wireless-security.psk", "sec.wep-key0",
];
pub(crate) const CODE: &str = "wifi:";
/// The bytes of a key: of the shortest one of WEP, and of the longest one of WPA.
const LEN: Range<usize> = 5..65;

/// The key behind the name at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let closed = bytes::run_end(text, hit.end, ByteSet::of("\"' \t"), 32);
    let sign = byte_at(text, closed);
    let is_signed = matches!(sign, b':' | b'=' | b'>');
    // Only nmcli separates them by a space.
    if !is_signed && (byte_before(text, hit.end) | 32 == b't' || byte_before(text, hit.end) | 32 == b'l' || closed == hit.end) {
        return None;
    }
    let after = bytes::run_end(text, closed + usize::from(is_signed), BLANK, 32);
    let range = match opening_quote(text, if is_signed { after } else { hit.end + 1 }) {
        Some((quote, inside)) => inside..quoted_end(text, inside, quote, LEN.end)?,
        None if is_signed => {
            after..bytes::find_byte(text, after, LEN.end, |b| matches!(b, b'\n' | b'\r' | b'<' | b'\\' | b'"' | b'\'')).0
        }
        None => after..bytes::find_byte(text, after, LEN.end, |b| b <= b' ' || b == b'\\').0,
    };
    let value = text[range.clone()].trim_ascii_end();
    let is_key = LEN.contains(&value.len())
        && !is_placeholder(value)
        && !is_code(value)
        && !is_path_or_url(value)
        && !b"$%{<-".contains(&value[0]);
    is_key.then(|| range.start..range.start + value.len())
}

/// The key of the QR code whose text begins at `hit`.
pub(crate) fn code(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let stop = bytes::find_byte(text, hit.end, 240, |b| b < b' ' || b == b'"').0;
    let line = &text[hit.end..stop];
    let has_network = line.starts_with(b"S:") || bytes::find(line, b";S:").is_some();
    let from = if line.starts_with(b"P:") { 2 } else { bytes::find(line, b";P:")? + 3 };
    let len = line[from..].iter().enumerate().position(|(n, b)| *b == b';' && line[from + n - 1] != b'\\')?;
    let value = &line[from..from + len];
    (has_network && value.len() >= LEN.start && !is_placeholder(value)).then(|| hit.end + from..hit.end + from + len)
}
