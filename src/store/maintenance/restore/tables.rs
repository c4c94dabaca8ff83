//! Tables whose rows go from a damaged index into a restored one as they are.

/// A table, and how its rows are read and written.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) order: &'static str,
    pub(crate) insert: &'static str,
}

/// What must not come back.
pub(crate) const FORGOTTEN: [Table; 7] = [
    Table { name: "forgotten_session", columns: "id", order: "id", insert: "INSERT OR IGNORE INTO forgotten_session VALUES (?1)" },
    Table {
        name: "forgotten_row",
        columns: "key, private, everywhere",
        order: "key",
        insert: "INSERT OR IGNORE INTO forgotten_row VALUES (?1, ?2, ?3)",
    },
    // What is stored of them may come from a copy of before: it is taken out and read again.
    Table {
        name: "excluded_session",
        columns: "id",
        order: "id",
        insert: "INSERT INTO excluded_session(id) VALUES (?1) ON CONFLICT DO UPDATE SET kept = 0",
    },
    Table {
        name: "session_folder",
        columns: "folder, session",
        order: "folder, session",
        insert: "INSERT INTO session_folder(folder, session) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET since = 0",
    },
    Table {
        name: "private_turn",
        columns: "session, from_at, until_at, prompt",
        order: "session, from_at",
        insert: "INSERT OR REPLACE INTO private_turn VALUES (?1, ?2, ?3, ?4)",
    },
    Table {
        name: "private_word",
        columns: "session, word",
        order: "session, word",
        insert: "INSERT OR IGNORE INTO private_word VALUES (?1, ?2)",
    },
    Table {
        name: "asked",
        columns: "session, file, key, parent, follows, offset, at",
        order: "session, file, key",
        insert: "INSERT OR IGNORE INTO asked VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    },
];
/// Spend: budgets also hold after a repair.
pub(crate) const SPEND: Table = Table {
    name: "spend",
    columns: "pk, at, session, model, reserved_usd, actual_usd",
    order: "pk",
    insert: "INSERT OR REPLACE INTO spend VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
};
pub(crate) const PAGES: Table = Table {
    name: "page p JOIN session s ON s.pk = p.session",
    columns: "p.path, s.id, p.day",
    order: "p.path",
    insert: "INSERT OR IGNORE INTO page(path, session, day) SELECT ?1, pk, ?3 FROM session WHERE id = ?2",
};
pub(crate) const DAYS: Table = Table {
    name: "page WHERE session IS NULL",
    columns: "path, day",
    order: "path",
    insert: "INSERT OR IGNORE INTO page(path, session, day) VALUES (?1, NULL, ?2)",
};
pub(crate) const LATER_DAYS: Table = Table {
    name: "later_day l JOIN session s ON s.pk = l.session",
    columns: "s.id, l.day",
    order: "s.id, l.day",
    insert: "INSERT OR IGNORE INTO later_day(session, day) SELECT pk, ?2 FROM session WHERE id = ?1",
};
pub(crate) const FORMER: Table = Table {
    name: "former_digest f JOIN session s ON s.pk = f.session",
    columns: "f.id, s.id",
    order: "f.id",
    insert: "INSERT OR IGNORE INTO former_digest SELECT ?1, pk FROM session WHERE id = ?2",
};
