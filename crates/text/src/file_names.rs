//! Words of a text that may name a file.

/// Without surrounding punctuation, and without the line behind a path. The dot of `.env` is part of the name.
pub fn file_names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|=".contains(c)).filter_map(|word| {
        let word = word.trim_start_matches(['*', '!', '?', ':', '@']).trim_end_matches(['.', ':', '*', '!', '?']);
        let word = word.trim_start_matches("./");
        let word = word.split_once(':').map_or(word, |(path, _)| path);
        // A leading ellipsis ("…and so on") names no file.
        let bare = if word.starts_with("..") && !word.starts_with("../") { word.trim_start_matches('.') } else { word };
        (bare.contains('.') || bare.contains('/')).then_some(bare)
    })
}
