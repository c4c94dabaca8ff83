//! Nothing private gets anywhere: what stands between `<private>` and `</private>`, what a private turn brought about, what lies in
//! private files, what the user's patterns and rules name.
//!
//! In these sessions every word that begins with `hush` must be nowhere after a digest, every word that begins with `loud` must be kept.

mod agents;
mod blocks;
mod closed_everywhere;
mod copies;
mod echoes;
mod excluded_everywhere;
mod files;
mod moved;
mod outputs;
mod overtaken_everywhere;
mod parts;
mod patterns;
mod saved_meanwhile;
mod slices;
mod turns;
