//! A browser's cookies in a file, as curl and wget write them: seven fields with tabs between, the value last.

use std::ops::Range;

use super::bytes::{self, byte_before};
use super::randomness::has_digit;

/// Whether a cookie is for the whole domain, or for safe connections only: the second and the fourth field.
pub(crate) const FLAGS: [&str; 2] = ["\tTRUE\t", "\tFALSE\t"];
const MAX_BYTES: usize = 4096;

/// The value of the cookie whose line holds the flag here.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let mut place = hit.end;
    let mut fields = [(0, 0); 4];
    for field in &mut fields {
        let (end, found) = bytes::find_byte(text, place, MAX_BYTES, |b| b == b'\t' || b == b'\n' || b == b'\r');
        *field = (place, end);
        if !found || text[end] != b'\t' {
            break;
        }
        place = end + 1;
    }
    // Behind the fourth field: the date, the name, the value. A hit at the second field is found again at the fourth.
    let [date, name, value, _] = fields.map(|(from, to)| &text[from..to]);
    let is_date = !date.is_empty() && date.iter().all(u8::is_ascii_digit);
    let is_line = is_date && !name.is_empty() && value.len() >= 8 && has_digit(value) && byte_before(text, hit.start) > b' ';
    is_line.then(|| fields[2].0..fields[2].1)
}
