//! The columns of the search index, each with its weight.

/// A column of the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchColumn {
    /// Titles of the session.
    Title,
    /// What the user asked and answered.
    Asked,
    /// Decisions, and notes.
    Decided,
    /// What was claimed, planned and committed.
    Noted,
    /// What the assistant said.
    Said,
    /// Paths.
    Files,
    /// Commands and what they printed.
    Did,
    /// Words that nobody said of the session: questions that it answers, the project's name, markers of synonyms.
    Extra,
    /// Names of tools.
    Tools,
    /// Names of branches.
    Branches,
}

impl SearchColumn {
    /// In the order of the FTS index.
    pub(crate) const ALL: [Self; 10] = [
        Self::Title,
        Self::Asked,
        Self::Decided,
        Self::Noted,
        Self::Said,
        Self::Files,
        Self::Did,
        Self::Extra,
        Self::Tools,
        Self::Branches,
    ];

    /// Its name in the index.
    pub(crate) fn name(self) -> &'static str {
        self.spec().0
    }

    /// Its weight in bm25.
    pub(crate) fn weight(self) -> f64 {
        self.spec().1
    }

    fn spec(self) -> (&'static str, f64) {
        match self {
            Self::Title => ("title", 4.0),
            Self::Asked => ("asked", 1.5),
            Self::Decided => ("decided", 2.0),
            Self::Noted => ("noted", 1.5),
            Self::Said => ("said", 1.0),
            Self::Files => ("files", 1.5),
            Self::Did => ("did", 1.0),
            Self::Extra => ("extra", 0.6),
            Self::Tools => ("tools", 0.3),
            Self::Branches => ("branches", 0.3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_lies_at_its_own_place() {
        for (place, column) in SearchColumn::ALL.into_iter().enumerate() {
            assert_eq!(column as usize, place, "{}", column.name());
        }
    }
}
