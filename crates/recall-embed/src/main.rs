//! The command line.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use recall_embed::model::{Model, ModelFolder, Role};
use recall_embed::protocol::serve;

/// Runs a small sentence transformer on the CPU
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer requests on stdin with vectors on stdout, one line of JSON each
    Run {
        /// The folder with config.json, tokenizer.json and model.safetensors
        #[arg(long, value_name = "DIR")]
        model: PathBuf,
        /// How many threads compute (default: one for each core)
        #[arg(long, value_name = "N")]
        threads: Option<usize>,
    },
    /// Show what a model is and how fast it runs here
    Check {
        /// The folder with the model
        #[arg(long, value_name = "DIR")]
        model: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("recall-embed: {e:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Run { model, threads } => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or_default());
            pool.build_global().context("cannot start threads")?;
            let folder = ModelFolder::open(&model)?;
            let weights = folder.weights()?;
            serve(&folder, &Model::of(&folder, &weights)?, io::stdin().lock(), io::stdout().lock())
        }
        Command::Check { model } => check(&model),
    }
}

/// A text of 900 characters, as long as the pieces that `recall` embeds.
const PIECE_CHARS: usize = 900;
const PIECES: usize = 64;

fn check(folder: &Path) -> Result<()> {
    let began = Instant::now();
    let folder = ModelFolder::open(folder)?;
    let weights = folder.weights()?;
    let model = Model::of(&folder, &weights)?;
    println!("model       {}", folder.name);
    println!("hash        {}", folder.hash);
    println!("dimensions  {}", folder.shapes.hidden_size);
    println!("tokens      at most {} of a text", folder.max_tokens);
    model.embed(&["How long does a question take?"], Role::Query)?;
    println!("question    {} ms, with the start", began.elapsed().as_millis());
    let text = "The index was rebuilt after the migration, because two workers wrote to one table at once. ".repeat(10);
    let piece = &text[..text.floor_char_boundary(PIECE_CHARS)];
    let began = Instant::now();
    model.embed(&[piece; PIECES], Role::Passage)?;
    println!("speed       {:.1} pieces of {PIECE_CHARS} characters a second", PIECES as f64 / began.elapsed().as_secs_f64());
    Ok(())
}
