//! Cookie files of curl and wget: seven fields separated by tabs, the value last.

use std::ops::Range;

use super::bytes::{self, byte_before};
use super::randomness::has_digit;

/// The second and fourth fields: whether a cookie is for all subdomains, and whether for secure connections only.
pub(crate) const FLAGS: [&str; 2] = ["\tTRUE\t", "\tFALSE\t"];
const MAX_BYTES: usize = 4096;

/// The value of the cookie on the line with this flag.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let mut offset = hit.end;
    let mut fields = [(0, 0); 4];
    for field in &mut fields {
        let (end, found) = bytes::find_byte(text, offset, MAX_BYTES, |b| b == b'\t' || b == b'\n' || b == b'\r');
        *field = (offset, end);
        if !found || text[end] != b'\t' {
            break;
        }
        offset = end + 1;
    }
    // Behind the fourth field: expiry, name, value. A hit on the second field is found again on the fourth.
    let [date, name, value, _] = fields.map(|(from, to)| &text[from..to]);
    let is_date = !date.is_empty() && date.iter().all(u8::is_ascii_digit);
    let is_line = is_date && !name.is_empty() && value.len() >= 8 && has_digit(value) && byte_before(text, hit.start) > b' ';
    is_line.then(|| fields[2].0..fields[2].1)
}
