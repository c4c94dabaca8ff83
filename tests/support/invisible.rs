//! What a terminal or a viewer acts upon instead of showing it, and what shows nothing: one list for all tests, and none of the program's.

/// Characters that nobody sees: they turn others, or text can be hidden in them. Joiners and the selectors of emoji are not among them.
const UNSEEN: [(char, char); 18] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200b}'),
    ('\u{200e}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e007f}'),
    ('\u{e0080}', '\u{e00ff}'),
    ('\u{e0100}', '\u{e01ef}'),
];

pub fn is_unseen(c: char) -> bool {
    UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Is it unseen, or an order to a terminal? A line's end is neither.
pub fn acts(c: char) -> bool {
    c.is_control() && c != '\n' || is_unseen(c)
}
