//! The pages, one file each: what the memory says, as HTML.

pub(super) mod day;
pub(super) mod days;
pub(super) mod forget;
pub(super) mod note;
pub(super) mod open_items;
pub(super) mod project;
pub(super) mod projects;
pub(super) mod rows;
pub(super) mod search;
pub(super) mod session;
pub(super) mod sessions;
pub(super) mod status;
pub(super) mod told;
pub(super) mod week;
