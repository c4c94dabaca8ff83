//! The names of files. A file whose name has none of these forms is none of ours.

use crate::error::Error;

const MANIFEST: &str = ".manifest";
const SEGMENT: &str = ".segment";
const PART: &str = ".part";

/// Whether `text` is so many hexadecimal digits in lower case.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The manifest of a machine.
pub(crate) fn manifest(machine: &str) -> String {
    format!("{machine}{MANIFEST}")
}

/// The name of a segment that no other has.
pub(crate) fn segment(machine: &str) -> Result<String, Error> {
    Ok(format!("{machine}.{}{SEGMENT}", random_hex::<8>()?))
}

/// So many random bytes in hexadecimal digits.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, Error> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|source| Error::Random { why: source.to_string() })?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a carrier writes before it is whole and gets the name `name`.
pub(crate) fn part(name: &str) -> String {
    format!(".{name}{PART}")
}

/// The machine of which `name` is the manifest.
pub(crate) fn machine_of_manifest(name: &str) -> Option<&str> {
    name.strip_suffix(MANIFEST).filter(|machine| is_hex(machine, 32))
}

/// Whether `name` is that of a segment of `machine`.
pub(crate) fn is_segment_of(name: &str, machine: &str) -> bool {
    let random = name.strip_suffix(SEGMENT).and_then(|name| name.strip_prefix(machine)).and_then(|name| name.strip_prefix('.'));
    random.is_some_and(|random| is_hex(random, 16))
}

/// Whether `name` is a segment of `machine` or what a killed run left of any file of it.
pub(crate) fn is_segment_or_part_of(name: &str, machine: &str) -> bool {
    let part = name.strip_suffix(PART).and_then(|name| name.strip_prefix('.'));
    is_segment_of(name, machine)
        || part.is_some_and(|whole| is_segment_of(whole, machine) || machine_of_manifest(whole) == Some(machine))
}

/// An empty file that shows whether a bucket has versions. Others ignore it, and the next look takes away what a killed one left.
#[cfg(feature = "s3")]
pub(crate) const VERSIONS: &str = ".versions.part";

/// Refuses a name that could lead out of the folder or be an option of a program.
pub(crate) fn check(name: &str) -> Result<(), Error> {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if name.is_empty() || name.len() > 200 || name.contains("..") || name.starts_with('-') || !name.bytes().all(harmless) {
        return Err(Error::Refused { name: name.escape_debug().to_string(), why: "a carrier has no file of such a name".into() });
    }
    Ok(())
}
