//! Who is at a place, without reading what they tell.

use crate::carrier::Carrier;
use crate::error::Error;
use crate::key::Key;
use crate::manifest::{Manifest, batches, get_each};
use crate::names;
use crate::record::Machine;

/// The machines whose manifests lie on the carrier and can be read with this key, by id. Files that cannot be read are left out.
pub fn machines_at(carrier: &dyn Carrier, key: Option<&Key>) -> Result<Vec<Machine>, Error> {
    let listed = carrier.list()?;
    let manifests =
        listed.iter().filter_map(|entry| Some((entry.name.as_str(), entry.bytes, names::machine_of_manifest(&entry.name)?)));
    let mut machines = Vec::new();
    for batch in batches(manifests, |(_, bytes, _)| *bytes) {
        let names: Vec<&str> = batch.iter().map(|(name, ..)| *name).collect();
        for ((.., id), file) in batch.iter().zip(get_each(carrier, &names)?) {
            let Ok(Some(file)) = file else { continue };
            machines.extend(Manifest::open(&file, id, key).ok().map(|manifest| manifest.machine));
        }
    }
    machines.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(machines)
}
