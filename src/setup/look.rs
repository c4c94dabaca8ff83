//! What is installed and how it stands, for those who only want to know.

use std::path::PathBuf;

use super::command::Form;
use super::file::File;
use super::job::Job;
use super::manifest::Manifest;
use super::plan::{form, located, settings_file, text_of};
use super::servers::{self, Server};
use super::settings::{self, State};
use super::timer::{agent, agent_file, is_active, is_loaded, systemd_folder};
use super::{Host, Scope, Timer, cron, launchd, register, schedule, systemd};

/// A settings file that is there.
#[derive(Debug)]
pub struct Settings {
    pub scope: Scope,
    pub path: PathBuf,
    /// What of ours it holds, or where it is broken.
    pub state: Result<State, String>,
    /// How `recall install` would call the program there.
    pub form: Option<Form>,
}

/// A timer that is there.
#[derive(Debug)]
pub struct Installed {
    pub timer: Timer,
    /// Where it is written down.
    pub place: String,
    /// Its times, in its own words.
    pub schedule: String,
    /// Is it what `recall install` would write now?
    pub current: bool,
    /// Does its manager know it and wait for its time? cron cannot be asked.
    pub active: Option<bool>,
    /// As its manager says them.
    pub last: Option<String>,
    pub next: Option<String>,
    /// How the last run ended, when it failed.
    pub failure: Option<String>,
}

/// The settings files that hold hooks for sessions here, where they are there.
pub fn settings(host: &Host<'_>) -> Vec<Settings> {
    let mut all = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let Ok(path) = settings_file(scope, host) else { continue };
        let read = File::read(&path).and_then(|file| Ok((file.bytes.is_some(), text_of(&file)?)));
        let state = match read {
            Ok((false, _)) => continue,
            Ok((true, text)) => settings::state(&text).map_err(|broken| located(&path, &broken)),
            Err(e) => Err(format!("{e:#}")),
        };
        all.push(Settings { scope, state, form: form(scope, host).ok(), path });
    }
    all
}

/// A server of ours that the client knows.
#[derive(Debug)]
pub struct Registered {
    pub scope: Scope,
    pub path: PathBuf,
    /// What it runs, or where the file is broken.
    pub server: Result<Server, String>,
    /// Is it what an install would write now?
    pub current: bool,
}

/// The servers of ours for sessions here. A broken file counts only where its text names us.
pub fn servers(host: &Host<'_>) -> Vec<Registered> {
    let mut all = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let (path, place) = register::site(scope, host);
        let Ok(text) = File::read(&path).and_then(|file| text_of(&file)) else { continue };
        let server = match servers::state(&text, &place, &|program| register::is_known(program, host)) {
            Ok(None) => continue,
            Ok(Some(server)) => Ok(server),
            Err(_) if !text.contains("recall") => continue,
            Err(broken) => Err(register::located(&path, &broken)),
        };
        let current = form(scope, host).is_ok_and(|form| server.as_ref().is_ok_and(|server| server.is_as(&form)));
        all.push(Registered { scope, path, server, current });
    }
    all
}

/// The client's own file, where a server was registered in it and taken back.
pub fn server_taken_back(host: &Host<'_>) -> Option<PathBuf> {
    let manifest = Manifest::load(&host.config.data_dir).ok()?;
    register::is_taken_back(&manifest, host).then(|| register::client_file(host))
}

/// The timers that are there: one, if all is well.
pub fn timers(host: &Host<'_>) -> Vec<Installed> {
    let job = Job::new(host).ok();
    Timer::ALL
        .into_iter()
        .filter_map(|timer| match timer {
            Timer::Systemd => of_systemd(job.as_ref(), host),
            Timer::Launchd => of_launchd(job.as_ref(), host),
            Timer::Cron => of_cron(job.as_ref(), host),
            Timer::None => None,
        })
        .collect()
}

/// Do the user's timers run while they are not logged in? `None` when systemd does not say.
pub fn lingers(host: &Host<'_>) -> Option<bool> {
    let user = rustix::process::getuid().as_raw().to_string();
    let said = host.tools().ask(&["loginctl", "show-user", &user, "--property=Linger", "--value"], None).ok()?;
    said.succeeded.then(|| String::from_utf8_lossy(&said.stdout).trim() == "yes")
}

fn of_systemd(job: Option<&Job>, host: &Host<'_>) -> Option<Installed> {
    let folder = systemd_folder(host);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let timer = read(systemd::TIMER_NAME)?;
    let wanted = job.and_then(|job| systemd::units(job).ok());
    let current = wanted.is_some_and(|units| units.iter().all(|(name, text)| read(name).as_ref() == Some(text)));
    let said = host.tools().ask(
        &[
            "systemctl",
            "--user",
            "show",
            systemd::TIMER_NAME,
            systemd::SERVICE_NAME,
            "--property=LastTriggerUSec,NextElapseUSecRealtime,Result",
        ],
        None,
    );
    let said = said.map(|s| String::from_utf8_lossy(&s.stdout).into_owned()).unwrap_or_default();
    let value = |key: &str| systemd::value(&said, key).filter(|v| !v.is_empty() && *v != "n/a").map(str::to_owned);
    let results = said.lines().filter_map(|line| line.strip_prefix("Result="));
    Some(Installed {
        timer: Timer::Systemd,
        place: folder.join(systemd::TIMER_NAME).display().to_string(),
        schedule: systemd::value(&timer, "OnCalendar").unwrap_or_default().to_owned(),
        current,
        active: Some(is_active(host)),
        last: value("LastTriggerUSec"),
        next: value("NextElapseUSecRealtime"),
        failure: results.filter(|result| *result != "success").map(str::to_owned).next(),
    })
}

fn of_launchd(job: Option<&Job>, host: &Host<'_>) -> Option<Installed> {
    let path = agent_file(host);
    let text = std::fs::read_to_string(&path).ok()?;
    let said = host.tools().ask(&["launchctl", "print", &agent()], None).ok();
    let said = said.map(|s| String::from_utf8_lossy(&s.stdout).into_owned()).unwrap_or_default();
    let code = said.lines().find_map(|line| line.trim().strip_prefix("last exit code = "));
    let current = job.is_some_and(|job| launchd::plist(job) == text);
    Some(Installed {
        timer: Timer::Launchd,
        place: path.display().to_string(),
        // The plist says it in many lines; when it is the current one, it is the config's.
        schedule: if current { host.config.schedule.to_string() } else { String::new() },
        current,
        active: Some(is_loaded(host)),
        last: None,
        next: None,
        failure: code
            .filter(|c| c.starts_with(|d: char| d.is_ascii_digit()) && !matches!(*c, "0" | "1"))
            .map(|c| format!("exit code {c}")),
    })
}

fn of_cron(job: Option<&Job>, host: &Host<'_>) -> Option<Installed> {
    let table = host.tools().crontab().ok()??;
    let block = cron::find(&table)?;
    let fields = cron::fields(&block).unwrap_or_default();
    let now = jiff::Timestamp::from_millisecond(host.config.now()).ok()?.to_zoned(jiff::tz::TimeZone::system());
    let current = job.is_some_and(|job| cron::block(job).is_ok_and(|now| now == block));
    Some(Installed {
        timer: Timer::Cron,
        place: "crontab".to_owned(),
        next: current.then(|| schedule::next(host.config.schedule, &now).strftime("%Y-%m-%d %H:%M").to_string()),
        schedule: fields,
        current,
        active: None,
        last: None,
        failure: None,
    })
}
