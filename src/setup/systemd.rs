//! systemd user units, made from the templates in `systemd/`. Pure.

use super::quote::systemd;
use super::timer_calendar::{delay, on_calendar};
use super::timer_job::TimerJob;

const SERVICE: &str = include_str!("../../systemd/recall-digest.service");
const TIMER: &str = include_str!("../../systemd/recall-digest.timer");
pub(crate) const SERVICE_NAME: &str = "recall-digest.service";
pub(crate) const TIMER_NAME: &str = "recall-digest.timer";
const HEAD: &str = "# Written by `recall install`, which overwrites changes: yours go into `systemctl --user edit`.\n";

/// Name and text of each unit.
///
/// # Errors
/// When systemd cannot run a program with this path.
pub(crate) fn units(job: &TimerJob) -> Result<[(&'static str, String); 2], String> {
    // Seen with systemd 252: "Executable name contains special characters", however they are escaped.
    if job.program.contains(['\'', '"', '\\']) {
        return Err(format!("systemd runs no program with a quote or a backslash in its path, {}", job.program));
    }
    let environment: Vec<_> = job.environment.iter().map(|(name, value)| systemd(&format!("{name}={value}"))).collect();
    let may_be_gone = std::iter::once(&job.claude_dir).chain(&job.sync_dirs).map(|dir| optional(dir));
    let writable: Vec<_> = std::iter::once(systemd(&job.data_dir)).chain(may_be_gone).collect();
    let service = with(SERVICE, "Environment", &environment.join(" "));
    let service = with(&service, "ExecStart", &format!("{} digest", systemd(&job.program)));
    let service = with(&service, "ReadWritePaths", &writable.join(" "));
    let timer = with(TIMER, "Description", &format!("Digest Claude Code sessions: {}", job.schedule));
    let timer = with(&timer, "OnCalendar", &on_calendar(job.schedule));
    let timer = with(&timer, "RandomizedDelaySec", &delay(job.schedule).to_string());
    Ok([(SERVICE_NAME, format!("{HEAD}{service}")), (TIMER_NAME, format!("{HEAD}{timer}"))])
}

/// A folder for `ReadWritePaths=` that need not be there.
fn optional(dir: &str) -> String {
    systemd(&format!("-{dir}"))
}

/// May the service write to this folder, which its job has beside its own?
pub(crate) fn lets_write(service: &str, dir: &str) -> bool {
    value(service, "ReadWritePaths").is_some_and(|folders| format!("{folders} ").contains(&format!(" {} ", optional(dir))))
}

/// The unit with another value for a key.
fn with(unit: &str, key: &str, value: &str) -> String {
    unit.split_inclusive('\n')
        .map(|line| match line.split_once('=') {
            Some((name, _)) if name == key => format!("{key}={value}\n"),
            _ => line.to_owned(),
        })
        .collect()
}

/// A key's value in a unit.
pub(crate) fn value<'t>(unit: &'t str, key: &str) -> Option<&'t str> {
    unit.lines().find_map(|line| line.split_once('=').filter(|(name, _)| *name == key)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::timer_job;

    #[test]
    fn values_go_into_the_units_that_ship() {
        let [(_, service), (_, timer)] = units(&TimerJob { program: "/opt/100% odd/recall".into(), ..timer_job::odd() }).unwrap();
        insta::assert_snapshot!(format!("{service}\n{timer}"));
    }

    #[test]
    fn a_dollar_in_the_programs_path_is_no_variable_and_is_not_doubled() {
        let [(_, service), _] = units(&TimerJob { program: "/opt/a$b/recall".into(), ..timer_job::odd() }).unwrap();
        assert_eq!(value(&service, "ExecStart"), Some("\"/opt/a$b/recall\" digest"));
    }

    #[test]
    fn a_program_systemd_would_not_run_is_refused() {
        for program in ["/opt/it's/recall", "/a\"b/recall", r"/a\b/recall"] {
            assert!(units(&TimerJob { program: program.into(), ..timer_job::odd() }).unwrap_err().contains(program));
        }
    }
}
