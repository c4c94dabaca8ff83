//! Changes of files as `diff -u` prints them.

use std::io::Write;

use anyhow::Result;

use super::file::FileSnapshot;

/// Prints what a file is to become; `None`: it is deleted.
pub(crate) fn write_file_diff(out: &mut impl Write, file: &FileSnapshot, after: Option<&[u8]>) -> Result<()> {
    write_diff(out, &file.path.display().to_string(), file.bytes.as_deref(), after)
}

/// Prints the difference between two texts; `None` is a file that is not there.
pub(crate) fn write_diff(out: &mut impl Write, name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<()> {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let title = |bytes: Option<&[u8]>| if bytes.is_some() { name } else { "/dev/null" };
    let (old, new) = (text(before), text(after));
    let difference = similar::TextDiff::from_lines(&old, &new);
    write!(out, "{}", difference.unified_diff().header(title(before), title(after)))?;
    Ok(())
}
