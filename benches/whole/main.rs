//! Times whole runs of `recall`, over generated sessions or a given folder, against programs that do less over the same files.
//!
//!     cargo bench --bench whole                                  1 GB in 1,000 files, 50,000 small files, 10,000 digests, 40,000 prompts
//!     cargo bench --bench whole -- --megabytes 100 --small-files 5000 --digests 1000
//!     cargo bench --bench whole -- --grow                        ten times as much as well
//!     cargo bench --bench whole -- --instructions                what runs of one thread cost in instructions, against benches/history.csv
//!     cargo bench --bench whole -- --tree DIR                    a Claude Code config directory, which is only read (and copied)
//!
//! Needs nothing but the repository. `rg` and `ccusage` take part if installed; missing ones are named. Everything is written below the
//! target folder and removed afterwards.

mod baseline;
mod clock;
mod corpus;
mod instructions;
mod scenes;
#[path = "../../tests/support/size.rs"]
#[allow(dead_code, reason = "only the dice are used here")]
mod size;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

use clap::Parser;

use self::scenes::Bench;

#[derive(Parser)]
struct Args {
    /// Size of the tree of sessions.
    #[arg(long, default_value_t = 1000)]
    megabytes: u64,
    /// Files in it.
    #[arg(long, default_value_t = 1000)]
    files: u64,
    /// Read this Claude Code config directory instead of a made one.
    #[arg(long)]
    tree: Option<PathBuf>,
    /// Files of the tree of small files; 0 leaves it out.
    #[arg(long, default_value_t = 50_000)]
    small_files: u64,
    /// Digests in the index that the hooks ask; 0 leaves them out.
    #[arg(long, default_value_t = 10_000)]
    digests: u64,
    /// Megabytes of a file that is read alone, for its memory; 0 leaves it out.
    #[arg(long, default_value_t = 0)]
    large_file: u64,
    /// Prompts of a session that is read alone, and of one a tenth as long; 0 leaves them out.
    #[arg(long, default_value_t = 40_000)]
    prompts: u64,
    /// Also measure ten times the tree and ten times the digests.
    #[arg(long)]
    grow: bool,
    /// Instead, count instructions of small runs with one thread (needs valgrind), and fail where one takes over a tenth more than was kept last.
    #[arg(long)]
    instructions: bool,
    /// With `--instructions`: keep the counts under this name, such as that of a commit.
    #[arg(long, value_name = "COMMIT", requires = "instructions")]
    record: Option<String>,
    /// Where counts are kept.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/history.csv"))]
    history: PathBuf,
    /// Rounds of each comparison; hooks have forty times as many.
    #[arg(long, default_value_t = 5)]
    rounds: u64,
    /// The program to measure, instead of the one built from here.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_recall"))]
    recall: PathBuf,
    /// Where the sessions are made.
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    folder: PathBuf,
    /// Leave there what was made.
    #[arg(long)]
    keep: bool,
    /// What cargo says to a benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let words: Vec<String> = env::args().collect();
    if let [_, word, folder] = words.as_slice()
        && baseline::run(word, Path::new(folder))
    {
        return;
    }
    let args = Args::parse();
    let mut bench = Bench::new(&args);
    if args.instructions {
        let has_grown = bench.instructions();
        bench.table.print(&words[1..]);
        exit(i32::from(has_grown));
    }
    bench.reading();
    if args.small_files > 0 {
        bench.small_files();
    }
    if args.large_file > 0 {
        bench.large_file();
    }
    if args.prompts > 0 {
        bench.prompts();
    }
    if args.digests > 0 {
        bench.hooks();
    }
    if args.grow {
        bench.growth();
    }
    bench.table.print(&words[1..]);
}
