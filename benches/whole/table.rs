//! The results as a Markdown table.

use std::fs;
use std::thread::available_parallelism;

use jiff::Zoned;

#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 4]>,
    left_out: Vec<String>,
}

impl Table {
    /// Adds a time in milliseconds with its ratio to another.
    pub fn ratio(&mut self, what: &str, took: f64, against: &str, other: f64) {
        self.row(what, &time(took), &format!("{against}, {}", time(other)), &format!("{:.2} ×", took / other));
    }

    pub fn row(&mut self, what: &str, measured: &str, against: &str, says: &str) {
        // Print at once: a run may take minutes.
        eprintln!("{what}: {measured}; {against}: {says}");
        self.rows.push([what, measured, against, says].map(str::to_owned));
    }

    pub fn left_out(&mut self, name: &str) {
        self.left_out.push(name.to_owned());
    }

    pub fn print(&self, args: &[String]) {
        let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "--bench").collect();
        let separator = if args.is_empty() { "" } else { " -- " };
        println!("`cargo bench --bench whole{separator}{}`, {}, {}\n", args.join(" "), Zoned::now().date(), machine());
        println!("| what | took | against | ratio |\n|---|---|---|---|");
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
        if !self.left_out.is_empty() {
            println!("\nLEFT OUT, because not found: {}", self.left_out.join(", "));
        }
    }
}

fn time(ms: f64) -> String {
    match ms {
        ..10.0 => format!("{ms:.2} ms"),
        10.0..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}

pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn machine() -> String {
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, model)| model.trim().to_owned()));
    let cores = available_parallelism().map_or(0, usize::from);
    format!("{cores} cores of {}", model.unwrap_or_else(|| "an unknown kind".into()))
}
