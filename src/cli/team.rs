//! `recall team`: what a company's developers share over a PostgreSQL server.

#[cfg(feature = "team")]
pub(super) use with_server::{TeamSearch, is_joined, run, show, stats};
#[cfg(not(feature = "team"))]
pub(super) use without_server::{TeamSearch, is_joined, run, show, stats};

#[cfg(not(feature = "team"))]
mod without_server {
    use std::io::Write;

    use anyhow::{Result, bail, ensure};
    use serde_json::Value;

    use crate::app::Completion;
    use crate::app::asker::Asker;
    use crate::app::search::SearchReply;
    use crate::cli::args::{SearchArgs, ShowArgs, StatsArgs, TeamArgs};
    use crate::config::Config;

    const NOT_BUILT: &str =
        "this program was built without the client for a team's server: build it with `cargo install --path . --features team`";

    pub(crate) fn run(_: &TeamArgs, _: &Config, _: &mut impl Write) -> Result<Completion> {
        bail!(NOT_BUILT)
    }

    pub(crate) fn is_joined(_: &Config) -> bool {
        false
    }

    pub(crate) fn show(_: &str, _: &ShowArgs, _: &Config, _: &mut impl Write) -> Result<(Completion, Option<Value>)> {
        bail!(NOT_BUILT)
    }

    pub(crate) fn stats(_: &StatsArgs, _: &Config, _: &mut impl Write) -> Result<Completion> {
        bail!(NOT_BUILT)
    }

    /// No search of a server.
    pub(crate) struct TeamSearch;

    impl TeamSearch {
        pub(crate) fn ask(args: &SearchArgs, _: &Asker<'_>, _: &Config) -> Result<Self> {
            ensure!(!args.team, NOT_BUILT);
            Ok(Self)
        }

        pub(crate) fn print(self, _: &SearchReply, _: bool, _: &mut impl Write) -> Result<(bool, Completion)> {
            Ok((false, Completion::Done))
        }
    }
}

#[cfg(feature = "team")]
mod with_server {
    use std::fs::File;
    use std::io::{BufReader, Write, stdin};

    use anyhow::{Context, Result};
    use serde_json::Value;

    use crate::app::Completion;
    use crate::app::asker::Asker;
    use crate::app::consent;
    use crate::app::filter::parse_since;
    use crate::app::search::SearchReply;
    use crate::app::stats::Figures;
    use crate::app::team::{
        self, AskedTeam, Joined, PlannedProject, ProjectStatus, PushedLines, RecordsRequest, TeamHit, TeamStatus,
    };
    use crate::cli::args::{SearchArgs, ShowArgs, StatsArgs, TeamAction, TeamArgs};
    use crate::cli::reading::{print_hanging, print_page};
    use crate::cli::search::{INDENT, PASSAGE_CHARS, TITLE, bold, char_limit, highlighted};
    use crate::cli::stats::{print_table, report_left_out};
    use crate::config::Config;
    use crate::sys::messages::{self, Ui};
    use text::clean::{counted, id8, one_line, shorten, without_controls};
    use text::disarm::disarm;

    /// The most characters of a statement in a list, and how many of a kind are listed.
    const MAX_CHARS: usize = 80;
    const MAX_LISTED: usize = 10;
    /// The same where somebody wants to see all.
    const MAX_PLANNED: usize = usize::MAX;

    pub(crate) fn run(args: &TeamArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
        let ui = Ui::default();
        let mut completion = Completion::Done;
        match &args.action {
            None if args.dry_run => show_planned(&team::planned(config)?, MAX_PLANNED, out)?,
            None => {
                let agreed = ask_first(args.yes, config, out)?;
                let (done, ended) = team::run(config, &agreed, &ui)?;
                writeln!(out, "{}", done.in_words())?;
                if done.shares_nothing {
                    messages::report(
                        "you share no project: `share = true` under `[team.\"PATH\"]` in your config shares the one at PATH",
                    );
                }
                completion = ended;
            }
            Some(TeamAction::Join { url }) => show_joined(&team::join(config, &address(url)?)?, out)?,
            Some(TeamAction::Status { json: true }) => {
                serde_json::to_writer_pretty(&mut *out, &team::status(config)?)?;
                writeln!(out)?;
            }
            Some(TeamAction::Status { json: false }) => show_status(&team::status(config)?, out)?,
            Some(TeamAction::Leave { only_here }) => {
                team::leave(config, *only_here, &ui)?;
                match only_here {
                    true => {
                        writeln!(
                            out,
                            "This machine is in no team any more. The server keeps what you shared: to erase it, join again and leave."
                        )?;
                    }
                    false => {
                        writeln!(out, "You left the team. What you shared is erased there; what others shared is removed here.")?;
                        writeln!(out, "To come back, ask an administrator to add your login again.")?;
                    }
                }
            }
            Some(TeamAction::Withdraw { session: Some(session), undo, .. }) => {
                completion = keep_back(session, *undo, config, &ui, out)?;
            }
            Some(TeamAction::Withdraw { installation, .. }) => {
                let count = team::withdraw(config, installation.as_deref().unwrap_or_default())?;
                writeln!(
                    out,
                    "withdrew {}. If that installation is still in use, it shares again what changes there.",
                    counted(count, "record")
                )?;
            }
            Some(TeamAction::Records { paths, projects, jobs }) => {
                completion = team::records(&RecordsRequest { paths, projects: projects.as_deref(), jobs: *jobs }, config, out)?;
            }
            Some(TeamAction::Push { url, file, machine }) => {
                let url = address(url)?;
                let PushedLines { stored, unchanged, refused } = match file {
                    None => team::push_lines(&url, machine, &mut stdin().lock(), &ui)?,
                    Some(file) => {
                        let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
                        team::push_lines(&url, machine, &mut BufReader::new(opened), &ui)?
                    }
                };
                writeln!(out, "stored {stored}, unchanged {unchanged}, refused {refused}")?;
                if refused > 0 {
                    completion = Completion::Partly;
                }
            }
            Some(TeamAction::Prepare { url }) => {
                team::prepare(&address(url)?)?;
                writeln!(
                    out,
                    "The database is ready. In psql, add a team, its projects and members, each with a role of their own:"
                )?;
                for line in [
                    "CREATE ROLE anna LOGIN PASSWORD '…';",
                    "SELECT recall_team.add_team('core');",
                    "SELECT recall_team.add_project('core', 'example.com/acme/shop');",
                    "SELECT recall_team.add_member('core', 'anna');",
                    "SELECT recall_team.set_access('core', 'anna', 'example.com/acme/shop', true, true);",
                ] {
                    writeln!(out, "  {line}")?;
                }
            }
        }
        ui.finish();
        Ok(completion)
    }

    /// Is there a server that could be asked?
    pub(crate) fn is_joined(config: &Config) -> bool {
        team::is_set_up(&config.data_dir)
    }

    /// What colleagues shared under this id, as theirs. With `--json` it is returned.
    pub(crate) fn show(id: &str, args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<(Completion, Option<Value>)> {
        let all = team::of_colleagues(config, &Asker::here(config), id)?;
        if args.json {
            let value = if let [one] = all.as_slice() { serde_json::to_value(one)? } else { serde_json::to_value(&all)? };
            return Ok((Completion::Done, Some(value)));
        }
        for one in &all {
            let TeamHit { team, kind, project, day, text, .. } = one;
            let head = format!("> {kind} {} of {project}, {day}, as {team} of your team shared it", id8(&one.id));
            print_page(&format!("{head}\n\n{}\n", disarm(text).trim_end()), out)?;
        }
        Ok((Completion::Done, None))
    }

    /// What the sessions took that the team shares.
    pub(crate) fn stats(args: &StatsArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
        let reply = team::team_usage(config, args.by, args.project.as_deref(), &args.since)?;
        if args.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
            return Ok(Completion::Done);
        }
        let rows: Vec<Figures> = reply.rows.iter().map(|row| row.figures()).collect();
        let (total, since) = (reply.total.figures(), parse_since(Some(&args.since), config)?);
        print_table(&rows, &total, args, &format!("since {}", config.short_day(since)), out)?;
        report_left_out(&rows, &total, args);
        Ok(Completion::Done)
    }

    /// Keeps a session from the team, or lets it have that again, and tells the server.
    fn keep_back(session: &str, undo: bool, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<Completion> {
        if undo {
            let id = id8(&team::share_again(config, session)?);
            writeln!(out, "Session {id} is shared again, if its project is.")?;
        } else {
            let id = id8(&team::keep_back(config, session)?);
            writeln!(out, "The team gets nothing of session {id}. `recall team withdraw --session {id} --undo` shares it again.")?;
        }
        if !team::is_set_up(&config.data_dir) {
            return Ok(Completion::Done);
        }
        let (done, ended) = team::run(config, &[], ui)
            .context("this is kept, but the server did not hear of it yet: the next exchange tells it")?;
        writeln!(out, "{}", done.in_words())?;
        Ok(ended)
    }

    /// As it was typed, or from standard input: a command line is seen by others.
    fn address(url: &str) -> Result<String> {
        if url != "-" {
            return Ok(url.to_owned());
        }
        let mut line = String::new();
        stdin().read_line(&mut line).context("cannot read the address from standard input")?;
        Ok(line.trim().to_owned())
    }

    fn show_joined(joined: &Joined, out: &mut impl Write) -> Result<()> {
        writeln!(out, "You are in the team at {}.", shown(&joined.address))?;
        if joined.projects.is_empty() {
            return Ok(writeln!(out, "It lets you see no project yet: ask its administrator.")?);
        }
        writeln!(out, "Its projects:")?;
        for (address, may_share) in &joined.projects {
            writeln!(out, "  {}{}", shown(address), if *may_share { "" } else { " (you are not allowed to share there)" })?;
        }
        for key in &joined.shared {
            writeln!(out, "Your config shares {}: `recall team` lists what would go and asks you.", shown(key))?;
        }
        if !joined.shared.is_empty() {
            return Ok(());
        }
        writeln!(out, "Nothing of yours is shared yet. To share a project, add to your config:")?;
        let example = joined.here.first().map_or("~/work/shop", String::as_str);
        writeln!(out, "  [team.{:?}]", shown(example))?;
        writeln!(out, "  share = true")?;
        writeln!(out, "`recall team` then lists what would go and asks you; after that, every `recall digest` exchanges.")?;
        Ok(())
    }

    /// Shows what would leave of projects that the user newly lets the team have, and asks. Returns those that they agree to. Where nobody can be
    /// asked, nothing of them leaves.
    fn ask_first(yes: bool, config: &Config, out: &mut impl Write) -> Result<Vec<String>> {
        let new: Vec<PlannedProject> = team::planned(config)?.into_iter().filter(|one| !one.is_confirmed).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        show_planned(&new, MAX_LISTED, out)?;
        out.flush()?;
        let agrees = yes || consent::has_terminal() && consent::agrees("Share this, and what comes to it later?")?;
        if !agrees {
            messages::report("nothing of this was shared: `recall team` asks on a terminal, `--yes` agrees without asking");
            return Ok(Vec::new());
        }
        Ok(new.into_iter().map(|one| one.address).collect())
    }

    fn show_planned(planned: &[PlannedProject], most: usize, out: &mut impl Write) -> Result<()> {
        for one in planned {
            let count = counted(one.to_send.len(), "record");
            let new = if one.is_confirmed { "" } else { ", the first time" };
            writeln!(out, "{}: {count} to share{new}", shown(&one.address))?;
            show_kinds(&one.to_send, most, out)?;
            for (kind, why, count) in &one.kept {
                writeln!(out, "  {kind:10}  {} kept here: {}", counted(*count, "record"), shown(why))?;
            }
            if one.to_withdraw > 0 {
                writeln!(out, "  {} to withdraw", counted(one.to_withdraw, "record"))?;
            }
        }
        if planned.is_empty() {
            writeln!(out, "nothing would be sent")?;
        }
        Ok(())
    }

    /// Some of each kind. Kind and text.
    fn show_kinds(lines: &[(String, String)], most: usize, out: &mut impl Write) -> Result<()> {
        for of_kind in lines.chunk_by(|a, b| a.0 == b.0) {
            for (kind, text) in of_kind.iter().take(most) {
                writeln!(out, "  {kind:10}  {}", shorten(&shown(text), MAX_CHARS))?;
            }
            if of_kind.len() > most {
                writeln!(out, "  {:10}  … and {} more: `recall team --dry-run` lists all", of_kind[0].0, of_kind.len() - most)?;
            }
        }
        Ok(())
    }

    fn show_status(status: &TeamStatus, out: &mut impl Write) -> Result<()> {
        writeln!(out, "server   {}", shown(&status.server))?;
        writeln!(out, "reached  {}", status.reached.as_deref().unwrap_or("not yet"))?;
        if let Some(why) = &status.failure {
            writeln!(out, "failed   {}", shown(why))?;
        }
        for project in &status.projects {
            show_project(project, out)?;
        }
        for one in &status.installations {
            writeln!(out, "\nfrom another installation of yours, {}: {}", shown(&one.name), counted(one.shared.len(), "record"))?;
            for shared in one.shared.iter().take(MAX_LISTED) {
                writeln!(out, "  {:10}  {}", shown(&shared.kind), shorten(&shown(&shared.text), MAX_CHARS))?;
            }
            if one.shared.len() > MAX_LISTED {
                writeln!(out, "  … and {} more: --json lists all", one.shared.len() - MAX_LISTED)?;
            }
            let name: String = shown(&one.name).chars().take(12).collect();
            writeln!(out, "  `recall team withdraw {name}` erases them on the server")?;
        }
        for name in &status.unknown {
            writeln!(out, "\n[team.{name:?}] in your config fits no project of this machine")?;
        }
        Ok(())
    }

    fn show_project(project: &ProjectStatus, out: &mut impl Write) -> Result<()> {
        let what = match (project.share, project.sessions) {
            (false, _) if project.project.is_empty() => "excluded, or not on this machine any more",
            (false, _) => "not shared",
            (true, _) if !project.confirmed => "not shared until you agree: `recall team` lists what would go",
            (true, false) => "shared, without sessions",
            (true, true) => "shared",
        };
        writeln!(out, "\n{}  {what}", shown(&project.address))?;
        if !project.project.is_empty() {
            writeln!(out, "  {}", shown(&project.project))?;
        }
        let line = |out: &mut dyn Write, kind: &str, text: &str| writeln!(out, "  {kind:10}  {}", shorten(&shown(text), MAX_CHARS));
        for of_kind in project.shared.chunk_by(|a, b| a.kind == b.kind) {
            for one in of_kind.iter().take(MAX_LISTED) {
                let to_withdraw = if one.to_withdraw { "(to withdraw) " } else { "" };
                line(out, &one.kind, &format!("{to_withdraw}{}", one.text))?;
            }
            if of_kind.len() > MAX_LISTED {
                writeln!(out, "  {:10}  … and {} more: --json lists all", of_kind[0].kind, of_kind.len() - MAX_LISTED)?;
            }
        }
        for alike in project.refused.chunk_by(|a, b| (&a.kind, &a.why) == (&b.kind, &b.why)) {
            for one in alike.iter().take(MAX_LISTED) {
                writeln!(out, "  not shared: {} {}: {}", shown(&one.kind), shown(&one.id), shown(&one.why))?;
            }
            if alike.len() > MAX_LISTED {
                writeln!(out, "  not shared: … and {} more {}: --json lists all", alike.len() - MAX_LISTED, shown(&alike[0].kind))?;
            }
        }
        for (count, what) in [(project.waiting, "to share"), (project.to_withdraw, "to withdraw")] {
            if count > 0 {
                writeln!(out, "  {} {what}: `recall team` does so now", counted(count, "record"))?;
            }
        }
        if project.from_others > 0 {
            writeln!(out, "  {} received, also from your other machines", counted(project.from_others, "statement"))?;
        }
        Ok(())
    }

    /// A search that may have gone to the server as well.
    pub(crate) struct TeamSearch(Option<AskedTeam>);

    impl TeamSearch {
        /// Asks the server, if the user wants that.
        pub(crate) fn ask(args: &SearchArgs, asker: &Asker<'_>, config: &Config) -> Result<Self> {
            let asked = args.team.then(|| AskedTeam::ask(config, asker, &args.words.join(" "), args.limit));
            Ok(Self(asked.transpose()?))
        }

        /// Prints what the server found, beside what was found here. Returns whether that is anything, and whether the server answered.
        pub(crate) fn print(self, found: &SearchReply, json: bool, out: &mut impl Write) -> Result<(bool, Completion)> {
            let Some(asked) = self.0 else { return Ok((false, Completion::Done)) };
            let reply = asked.reply();
            for hit in &reply.results {
                if json {
                    writeln!(out, "{}", serde_json::to_string(hit)?)?;
                } else {
                    print_hit(hit, found, out)?;
                }
            }
            reply.notice.iter().for_each(messages::report);
            let ended = if reply.is_missing { Completion::Partly } else { Completion::Done };
            Ok((!reply.results.is_empty(), ended))
        }
    }

    fn print_hit(hit: &TeamHit, found: &SearchReply, out: &mut impl Write) -> Result<()> {
        let name = hit.project.rsplit('/').next().unwrap_or_default();
        let title = shorten(&hit.title, char_limit(&hit.title, TITLE));
        let id = id8(&hit.id);
        writeln!(out, "{}  {} {}  {name}  {title}  (your team: {})", hit.day, hit.kind, bold(&id), hit.team)?;
        // The line that has most of the words.
        let line = hit.text.lines().max_by_key(|line| (found.marks(line).len(), std::cmp::Reverse(line.len()))).unwrap_or_default();
        let passage = found.excerpt(line, char_limit(line, PASSAGE_CHARS));
        if !passage.is_empty() && !title.contains(&passage) {
            print_hanging(INDENT, INDENT, &highlighted(&passage, found), out)?;
        }
        Ok(())
    }

    fn shown(text: &str) -> String {
        one_line(&without_controls(text))
    }
}
