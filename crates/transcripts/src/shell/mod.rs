//! Shell commands and what they print, as evidence. Knows shells, git and checks, and no agent's transcripts.

mod begun;
mod checks;
mod class;
mod error_line;
mod evidence;
mod git;
mod same;
mod steps;

pub use self::begun::{begun, is_program};
pub use self::checks::{
    CheckKind, counts_failures, from_program, is_assignment, is_rated_by, may_check, only_lists, proves_passing, tells_failure,
};
pub(crate) use self::checks::{may_be_counted, may_begin_result, without_signs};
pub use self::class::CommandClass;
pub use self::error_line::{Rank, rank, whole};
pub use self::evidence::{printed, run};
pub use self::git::{SHORT_HASH, is_hash};
pub use self::same::{
    SameRun, activation, has_check, is_check_line, may_hide_failures, programs, runs_alone, runs_git_alone, single_step, subject,
    variables, whole_line, work_of,
};
