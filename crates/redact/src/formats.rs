//! The shipped formats of tokens and the shipped commands: `formats.toml`, as `build.rs` made Rust of it.

use std::borrow::Cow;

use super::rule::Need;
use super::syntax::{ByteSet, Command, Flag, FlagValue, Part, Token};

include!(concat!(env!("OUT_DIR"), "/formats.rs"));
