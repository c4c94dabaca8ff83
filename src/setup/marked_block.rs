//! A block of ours in a text of somebody else's, between two lines that mark it. Pure; every other line stays byte for byte.

/// The lines between which a block stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) begin: &'static str,
    pub(super) end: &'static str,
}

/// A block begins on this line, counted from 1, and it cannot be told where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclosed(pub(super) usize);

impl Marks {
    /// The text with this block, in the place of the one it has, else at the end.
    pub(super) fn add(self, text: &str, block: &str) -> Result<String, Unclosed> {
        let parts = self.parts(text)?;
        let (before, after) = match parts.first {
            Some(at) => parts.theirs.split_at(at),
            None => (text, ""),
        };
        let newline = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        Ok(format!("{before}{newline}{block}{after}"))
    }

    /// The text without our block.
    pub(super) fn remove(self, text: &str) -> Result<String, Unclosed> {
        Ok(self.parts(text)?.theirs)
    }

    /// The block that the text has.
    pub(super) fn find(self, text: &str) -> Option<String> {
        self.parts(text).ok().and_then(|parts| parts.ours.into_iter().next())
    }

    fn parts(self, text: &str) -> Result<Parts, Unclosed> {
        let mut parts = Parts { theirs: String::new(), ours: Vec::new(), first: None };
        let mut open = None;
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let mark = line.trim_end();
            if mark == self.begin {
                if open.is_some() {
                    break;
                }
                open = Some(Unclosed(at + 1));
                parts.first.get_or_insert(parts.theirs.len());
                parts.ours.push(String::new());
            }
            match parts.ours.last_mut().filter(|_| open.is_some()) {
                Some(block) => block.push_str(line),
                None => parts.theirs.push_str(line),
            }
            open = open.filter(|_| mark != self.end);
        }
        // The lines after an unclosed mark may be somebody else's.
        open.map_or(Ok(parts), Err)
    }
}

struct Parts {
    /// The lines of others.
    theirs: String,
    /// Blocks: one, unless the text was put together by hand.
    ours: Vec<String>,
    /// Where the first block stood among the lines of others.
    first: Option<usize>,
}
