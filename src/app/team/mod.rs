//! `recall team`: what a company's developers share over a PostgreSQL server, by project.
//!
//! Notes, commands, cures, open items, what came of sessions and what they took go there, of the projects for which the user's config says `share = true`; never a
//! transcript. What others share comes into the data folder as files, which a digest takes in as those of a repository; what came of their
//! sessions stays on the server, which `recall search --team` asks. Crate `team` talks to the server.
//!
//! Nothing of this is opened unless the user joined a team. A company's backlog takes another way: `records` makes records of transcripts that lie in
//! its storage, and `push_lines` pushes them.

mod asked;
mod colleague;
mod elsewhere;
mod exchange;
mod inbox;
mod kept_back;
mod meaning;
mod outbox;
mod planned;
mod projects;
mod push_lines;
mod records;
mod search;
mod state;
mod status;
mod to_share;
mod usage;

use std::time::Duration;

pub(crate) use self::colleague::of_colleagues;
pub(crate) use self::elsewhere::withdraw;
pub(crate) use self::exchange::{Joined, exchange, join, leave, prepare, run};
pub(crate) use self::inbox::files_of;
pub(crate) use self::kept_back::{keep_back, share_again};
pub(crate) use self::planned::{PlannedProject, planned};
pub(crate) use self::push_lines::{PushedLines, push_lines};
pub(crate) use self::records::{RecordsRequest, records};
pub(crate) use self::search::{AskedTeam, TeamHit};
pub(crate) use self::state::is_set_up;
pub(crate) use self::status::{ProjectStatus, TeamStatus, health, status, unknown};
pub(crate) use self::usage::team_usage;

/// How long somebody waits for a search of the team's server at most.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
