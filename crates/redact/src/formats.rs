//! The shipped tokens and commands: static tables that `build.rs` generates from `formats.toml`.

use std::borrow::Cow;

use super::rule::Need;
use super::syntax::{ByteSet, Command, Flag, FlagValue, Part, Token};

include!(concat!(env!("OUT_DIR"), "/formats.rs"));
