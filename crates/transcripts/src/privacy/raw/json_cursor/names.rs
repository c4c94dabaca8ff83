//! Looks up field names. Most names in a line are not wanted, and their length alone tells.

/// A set of names to look a field's name up in.
pub trait NameSet<const N: usize> {
    /// The index of a name in the set.
    fn position(&self, name: &str) -> Option<usize>;
}

/// Few names: compared one after the other.
impl<const N: usize> NameSet<N> for [&str; N] {
    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|n| same_name(n, name))
    }
}

/// Compares length and first byte first: few names share both.
#[inline]
fn same_name(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.as_bytes().first() == other.as_bytes().first() && one == other
}

/// One more than the length in bytes of the longest name in [`NameTable`].
const MAX_NAME_LENGTH: usize = 32;

/// Many names, indexed by length at compile time.
pub struct NameTable<const N: usize> {
    names: [&'static str; N],
    /// For each length, a bit per name of that length.
    of_length: [u64; MAX_NAME_LENGTH],
}

impl<const N: usize> NameTable<N> {
    /// # Panics
    /// When there are more than 64, or one is longer than 31 bytes.
    pub(crate) const fn of(names: [&'static str; N]) -> Self {
        assert!(N <= 64);
        let mut of_length = [0; MAX_NAME_LENGTH];
        let mut n = 0;
        while n < N {
            of_length[names[n].len()] |= 1 << n;
            n += 1;
        }
        Self { names, of_length }
    }
}

impl<const N: usize> NameSet<N> for NameTable<N> {
    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        let mut left = *self.of_length.get(name.len())?;
        while left != 0 {
            let n = left.trailing_zeros() as usize;
            if same_name(self.names[n], name) {
                return Some(n);
            }
            left &= left - 1;
        }
        None
    }
}
