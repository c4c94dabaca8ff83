//! `recall search`: sessions by words of their digests and prompts.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};

use anyhow::Result;
use serde_json::json;

use super::Ended;
use super::filter::{ProjectFilter, since};
use crate::clean::{id8, one_line, plain, shorten};
use crate::cli::SearchArgs;
use crate::config::Config;
use crate::prose::sentences;
use crate::store::Store;
use crate::store::search::{Hit, HitKind};
use crate::terms::{covered_by, match_any, words};

const PASSAGE: usize = 220;

pub fn run(args: &SearchArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let store = Store::open_read_only(&config.database())?;
    let (project, since) = (ProjectFilter::new(args.project.as_deref(), config)?, since(args.since.as_deref(), config)?);
    let text = args.words.join(" ");
    let hits = match match_any(&text) {
        Some(query) => store.search(&query, args.limit, |s| project.fits(&s.project) && s.started_at >= since)?,
        None => Vec::new(),
    };
    let wanted = words(&text);
    for hit in &hits {
        let passage = best_passage(hit, &wanted);
        let title = store.digest_of(hit.session.pk)?.map_or_else(|| passage.clone(), |d| d.digest.title);
        let day = config.local_time(Some(hit.session.started_at), "%Y-%m-%d");
        if args.json {
            let kind = if hit.kind == HitKind::Digest { "digest" } else { "prompt" };
            let value = json!({
                "session": hit.session.id, "project": hit.session.project.key, "day": day, "title": title,
                "found_in": kind, "passage": passage, "score": -hit.rank,
            });
            writeln!(out, "{value}")?;
        } else {
            writeln!(out, "{day}  {}  {}  {}", bold(&id8(&hit.session.id)), plain(hit.session.project.name()), plain(&title))?;
            writeln!(out, "            {passage}")?;
        }
    }
    if hits.is_empty() && !args.json {
        eprintln!("recall: nothing found");
    }
    Ok(Ended::Done)
}

fn bold(text: &str) -> String {
    let colour = std::io::stdout().is_terminal() && !crate::config::no_colour();
    if colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// The sentence that holds most of the words; of equals the first.
fn best_passage(hit: &Hit, wanted: &BTreeSet<String>) -> String {
    let all = sentences(&hit.text);
    let mut best = (0.0, hit.text.as_str());
    for sentence in &all {
        let share = covered_by(wanted, &words(sentence));
        if share > best.0 {
            best = (share, sentence);
        }
    }
    shorten(&one_line(&plain(best.1)), PASSAGE)
}
