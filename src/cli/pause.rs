//! `recall pause`: switches recall off for a while.

use std::io::Write;

use anyhow::{Context, Result};

use crate::app::Completion;
use crate::app::doctor::lacks_hooks;
use crate::cli::args::PauseArgs;
use crate::config::Config;
use crate::config::pause::{self, OffReason};
use crate::model::time_spec::parse_duration;
use crate::setup::Host;
use crate::sys::messages;

pub(crate) fn run(args: &PauseArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    if args.off {
        let ended = pause::end_pause(config)?;
        writeln!(out, "{}", if ended { "pause ended: sessions get context and are recorded again" } else { "it was not paused" })?;
        return Ok(Completion::Done);
    }
    if let Some(text) = &args.time {
        let until = config.now().checked_add(parse_duration(text)?).context("the time is out of range")?;
        pause::pause(config, until)?;
    }
    match pause::reason(config) {
        Some(OffReason::Paused(until)) => {
            let until = pause::describe_end(until, config);
            if lacks_hooks(&Host::new(config)?) {
                writeln!(out, "paused until {until}: sessions get no context")?;
                messages::report(
                    "no hooks are installed, so recall cannot tell which sessions start during the pause: the next digest records them, too",
                );
            } else {
                writeln!(
                    out,
                    "paused until {until}: sessions get no context, and sessions that start during the pause are never recorded"
                )?;
            }
            writeln!(
                out,
                "running sessions are still digested, unless you run `recall forget --this`; `recall pause --off` ends the pause"
            )?;
        }
        Some(OffReason::Session) => writeln!(out, "switched off for this session: RECALL_OFF is set")?,
        None => writeln!(out, "not paused: `recall pause 2h` pauses recall for two hours")?,
    }
    Ok(Completion::Done)
}
