//! What must hold whatever the bytes: one function a boundary at which text of others comes in.
//!
//! Each takes bytes and panics where a promise is broken. `cargo fuzz` drives them (see `fuzz/`), and so does the plain test run, with the
//! inputs that fuzzing found worth keeping and with generated ones. They look at the program through what its library shows.

pub mod clean;
pub mod config;
pub mod delta;
pub mod page;
pub mod payload;
pub mod private;
pub mod query;
pub mod reply;
pub mod rows;
pub mod settings;
pub mod transfer;

use super::invisible;

/// A check of one boundary.
pub type Check = fn(&[u8]);

/// Every check by the name of its target and of its folder of inputs.
pub const ALL: [(&str, Check); 11] = [
    ("clean", clean::check),
    ("config", config::check),
    ("delta", delta::check),
    ("page", page::check),
    ("payload", payload::check),
    ("private", private::check),
    ("query", query::check),
    ("reply", reply::check),
    ("rows", rows::check),
    ("settings", settings::check),
    ("transfer", transfer::check),
];

/// Texts of an input: what stands between bytes that no UTF-8 has. There are always `N`; those that are missing are empty.
fn texts<const N: usize>(data: &[u8]) -> [String; N] {
    let mut parts = data.split(|byte| *byte == 0xff);
    std::array::from_fn(|_| parts.next().map(|part| String::from_utf8_lossy(part).into_owned()).unwrap_or_default())
}

/// Is it a character that a terminal or a viewer acts upon instead of showing it?
fn acts(c: char) -> bool {
    invisible::acts(c) && c != '\t'
}

/// Secrets of well-known forms. They are put together here, so that no file of the project looks as if it held one.
fn secrets() -> [String; 4] {
    let body = |len| "a7Kd93Lm0QzX5vBn2WsEd4RfTg6YhUj8IkOlP1MnBvC7xZaQwErTyU3iOpAsDfGh".chars().take(len).collect::<String>();
    [
        format!("{}{}", "gh", "p_") + &body(36),
        format!("{}{}", "AK", "IA")
            + &body(40).to_uppercase().chars().filter(|c| !"01890".contains(*c)).take(16).collect::<String>(),
        format!("{}{}", "sk-an", "t-api03-") + &body(60) + "AA",
        format!("{}{}", "np", "m_") + &body(36),
    ]
}
