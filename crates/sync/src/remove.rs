//! Removing a machine that no longer exists.

use crate::carrier::Carrier;
use crate::error::Error;
use crate::names;

/// Removes all that a machine which no longer exists has on the carrier, and says how many files that were. Machines that have read it keep its
/// records. If it does exist, it publishes everything again.
pub fn remove_machine(carrier: &dyn Carrier, id: &str) -> Result<usize, Error> {
    if !names::is_hex(id, 32) {
        return Err(Error::Machine { why: format!("{} is not 32 hexadecimal digits in lower case", id.escape_debug()) });
    }
    let listed = carrier.list()?;
    let manifest = names::manifest(id);
    let of_it = |name: &&str| *name == manifest || names::is_segment_or_part_of(name, id);
    let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).filter(of_it).collect();
    // Without its manifest nobody looks for the rest.
    for group in [true, false] {
        let group: Vec<&str> = names.iter().copied().filter(|name| (*name == manifest) == group).collect();
        if !group.is_empty() {
            carrier.delete(&group)?;
        }
    }
    Ok(names.len())
}
