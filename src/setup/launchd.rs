//! The launchd agent, made from the template in `launchd/`. Pure.

use super::quote::xml;
use super::timer_calendar::intervals;
use super::timer_job::TimerJob;

const AGENT: &str = include_str!("../../launchd/recall.digest.plist");
pub(crate) const LABEL: &str = "recall.digest";
pub(crate) const FILE: &str = "Library/LaunchAgents/recall.digest.plist";

/// The agent's property list.
pub(crate) fn plist(job: &TimerJob) -> String {
    let text = |value: &str| format!("<string>{}</string>", xml(value));
    let pairs: String =
        job.environment.iter().map(|(name, value)| format!("\t\t<key>{name}</key>\n\t\t{}\n", text(value))).collect();
    let program = format!("<array>\n\t\t{}\n\t\t<string>digest</string>\n\t</array>", text(&job.program));
    // launchd writes no log of its own; errors are printed on stderr.
    let log = format!("{}\n\t<key>StandardErrorPath</key>\n\t{}", program, text(&format!("{}/Library/Logs/recall.log", job.home)));
    let agent = with(AGENT, "ProgramArguments", &log);
    let agent = with(&agent, "EnvironmentVariables", &format!("<dict>\n{pairs}\t</dict>"));
    let times: String = intervals(job.schedule).iter().map(|interval| format!("\t\t{}\n", dictionary(interval))).collect();
    with(&agent, "StartCalendarInterval", &format!("<array>\n{times}\t</array>"))
}

fn dictionary(interval: &[(&str, u8)]) -> String {
    let pairs: String = interval.iter().map(|(key, value)| format!("<key>{key}</key><integer>{value}</integer>")).collect();
    format!("<dict>{pairs}</dict>")
}

/// The list with another value for a key of the outermost dictionary.
fn with(plist: &str, key: &str, value: &str) -> String {
    let name = format!("\t<key>{key}</key>\n\t");
    let Some((before, rest)) = plist.split_once(&name) else { return plist.to_owned() };
    // The outermost values end at the indentation they begin with.
    let end = rest.find("\n\t<key>").or_else(|| rest.find("\n</dict>")).unwrap_or(rest.len());
    format!("{before}{name}{value}{}", &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::timer_job;

    #[test]
    fn values_go_into_the_agent_that_ships() {
        insta::assert_snapshot!(plist(&timer_job::odd()));
    }
}
