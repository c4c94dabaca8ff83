//! The names of the fields that somebody looks for. Most names in a row are none of them, and are told by their length.

/// Names that a field's name is looked for among.
pub trait Among<const N: usize> {
    /// Which of the names it is.
    fn position(&self, name: &str) -> Option<usize>;
}

/// A few, one after the other.
impl<const N: usize> Among<N> for [&str; N] {
    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|n| is(n, name))
    }
}

/// Few names begin alike and are of one length.
#[inline]
fn is(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.as_bytes().first() == other.as_bytes().first() && one == other
}

/// One more than the longest of [`Names`] is long, in bytes.
const LENGTHS: usize = 32;

/// Many, put in order when the program is compiled.
pub struct Names<const N: usize> {
    names: [&'static str; N],
    /// A bit for each name of a length.
    of_length: [u64; LENGTHS],
}

impl<const N: usize> Names<N> {
    /// # Panics
    /// When there are more than 64, or one is longer than 31 bytes.
    pub const fn of(names: [&'static str; N]) -> Self {
        assert!(N <= 64);
        let mut of_length = [0; LENGTHS];
        let mut n = 0;
        while n < N {
            of_length[names[n].len()] |= 1 << n;
            n += 1;
        }
        Self { names, of_length }
    }
}

impl<const N: usize> Among<N> for Names<N> {
    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        let mut left = *self.of_length.get(name.len())?;
        while left != 0 {
            let n = left.trailing_zeros() as usize;
            if is(self.names[n], name) {
                return Some(n);
            }
            left &= left - 1;
        }
        None
    }
}
