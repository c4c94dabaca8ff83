//! What machines are called here. Their users name them, so two may have one name: the start of the id then tells them apart.

use std::collections::BTreeMap;

use sync::Machine;

use super::state::Place;
use text::clean::shorten;

/// The most characters of a name.
pub(super) const MAX_NAME_CHARS: usize = 60;
/// So many digits of an id tell machines of one name apart.
pub(super) const ID_CHARS: usize = 8;

/// What machines are called here, by id: this one and all that it knows.
#[derive(Debug)]
pub(super) struct MachineNames(BTreeMap<String, String>);

impl MachineNames {
    /// `stored`: ids and names of the machines of sessions in the index; those that a place tells of now count more. `clean` is what a name
    /// passes before it is shown.
    pub(super) fn of(me: &Machine, places: &[Place], stored: Vec<(String, String)>, clean: impl Fn(&str) -> String) -> Self {
        let mut names: BTreeMap<String, String> =
            stored.into_iter().map(|(id, name)| (id.clone(), plain(&name, &id).to_owned())).collect();
        let told = places.iter().flat_map(|place| place.inbox.machines()).map(|(machine, _)| machine);
        for machine in told.chain([me]) {
            names.insert(machine.id.clone(), clean(&shorten(&machine.name, MAX_NAME_CHARS)));
        }
        let mut bearers: BTreeMap<&str, usize> = BTreeMap::new();
        names.values().for_each(|name| *bearers.entry(name).or_default() += 1);
        let called = |(id, name): (&String, &String)| {
            let is_alone = bearers.get(name.as_str()).is_none_or(|count| *count < 2);
            (id.clone(), if is_alone { name.clone() } else { with_id(name, id) })
        };
        Self(names.iter().map(called).collect())
    }

    /// What a machine is called; of one that is not known yet its name, with the start of its id if a known one has that name.
    pub(super) fn called(&self, machine: &Machine) -> String {
        let is_taken = || self.0.iter().any(|(id, name)| plain(name, id) == machine.name);
        match self.0.get(&machine.id) {
            Some(name) => name.clone(),
            None if is_taken() => with_id(&machine.name, &machine.id),
            None => machine.name.clone(),
        }
    }

    /// Every machine: id, name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }
}

/// A name with the start of the id.
fn with_id(name: &str, id: &str) -> String {
    format!("{name} {}", start(id))
}

/// A name without the start of the id, which it has if there were two of that name.
fn plain<'a>(name: &'a str, id: &str) -> &'a str {
    name.strip_suffix(start(id)).and_then(|name| name.strip_suffix(' ')).unwrap_or(name)
}

fn start(id: &str) -> &str {
    id.get(..ID_CHARS).unwrap_or(id)
}

/// Does what somebody typed mean this machine: its name, its id or the start of that, or its name with the start of its id?
pub(super) fn means(typed: &str, machine: &Machine) -> bool {
    let is_start = typed.len() >= ID_CHARS && machine.id.starts_with(typed);
    machine.name == typed || is_start || with_id(&machine.name, &machine.id) == typed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(digit: char, name: &str) -> Machine {
        Machine { id: digit.to_string().repeat(32), name: name.to_owned() }
    }

    fn names(me: &Machine, stored: &[(&Machine, &str)]) -> MachineNames {
        let stored = stored.iter().map(|(machine, name)| (machine.id.clone(), (*name).to_owned())).collect();
        MachineNames::of(me, &[], stored, str::to_owned)
    }

    #[test]
    fn the_start_of_the_id_stands_where_two_have_one_name_and_goes_when_one_is_left() {
        let (me, one, two) = (machine('a', "tower"), machine('b', "laptop"), machine('c', "laptop"));
        let both = names(&me, &[(&one, "laptop"), (&two, "laptop")]);
        assert_eq!(both.called(&one), "laptop bbbbbbbb");
        assert_eq!(both.called(&two), "laptop cccccccc");
        assert_eq!(both.called(&me), "tower");
        assert_eq!(names(&me, &[(&one, "laptop bbbbbbbb")]).called(&one), "laptop");
        // This machine counts, too.
        assert_eq!(names(&machine('a', "laptop"), &[(&one, "laptop")]).called(&one), "laptop bbbbbbbb");
        // Also one of which nothing is known yet.
        assert_eq!(names(&machine('a', "laptop"), &[]).called(&one), "laptop bbbbbbbb");
        assert_eq!(names(&me, &[]).called(&one), "laptop");
    }

    #[test]
    fn a_machine_is_meant_by_its_name_or_enough_of_its_id() {
        let one = machine('b', "laptop");
        for typed in ["laptop", "bbbbbbbb", "laptop bbbbbbbb", one.id.as_str()] {
            assert!(means(typed, &one), "{typed}");
        }
        for typed in ["lap", "bbb", "cccccccc", "laptop cccccccc", ""] {
            assert!(!means(typed, &one), "{typed}");
        }
    }
}
