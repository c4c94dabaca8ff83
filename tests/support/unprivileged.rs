//! Somebody for whom permissions count, whoever runs the tests.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use super::timeout::ended;
use super::{Ran, World, copy_program};

/// Somebody who is not root.
const SOMEBODY: u32 = 65_534;

/// Runs `recall` as somebody for whom permissions count: ourselves, or where we are root somebody else who owns the world.
pub struct Plain<'a> {
    world: &'a World,
    program: PathBuf,
    pub is_root: bool,
}

impl<'a> Plain<'a> {
    pub fn new(world: &'a World) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        // Where the program was built nobody else may be let in.
        let program = world.root().join("the-program");
        copy_program(world.program().as_ref(), &program);
        let plain = Self { world, program, is_root };
        plain.own();
        plain
    }

    /// All of the world is his.
    pub fn own(&self) {
        if self.is_root {
            for entry in walkdir::WalkDir::new(self.world.root()).into_iter().flatten() {
                chown(entry.path(), Some(SOMEBODY), Some(SOMEBODY)).expect("another owner");
            }
        }
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        let mut command = std::process::Command::new(&self.program);
        command.env_clear().envs(self.world.environment()).current_dir(self.world.root()).args(args);
        if self.is_root {
            command.uid(SOMEBODY).gid(SOMEBODY);
        }
        ended(command, "", &format!("{args:?}"))
    }
}

pub fn permit(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("permissions");
}
