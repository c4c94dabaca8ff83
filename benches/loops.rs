//! The inner loops of ingesting: `cargo bench --bench loops [NAME]`. Needs nothing but the repository.
//!
//! Each reports its throughput in bytes per second, to compare loops with each other and with a disk.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recall::testing::privacy::Sanitizer;
use recall::testing::source::delta::LineReader;
use recall::testing::source::{TranscriptIdentity, parse_line};
use recall::testing::text::clean::{fold_lines, without_controls};
use redact::Redactor;
use serde_json::{Value, json};

/// The text repeated to about a megabyte.
fn megabyte(text: &str) -> String {
    text.repeat((1 << 20) / text.len() + 1)
}

/// All lines of the recorded sessions.
fn recorded() -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude-code-2.1.197");
    let files = walkdir::WalkDir::new(fixtures).sort_by_file_name().into_iter().map(|entry| entry.expect("an entry"));
    let transcripts = files.filter(|file| file.path().extension().is_some_and(|end| end == "jsonl"));
    let text: String = transcripts.map(|file| std::fs::read_to_string(file.path()).expect("a transcript")).collect();
    assert!(text.lines().count() > 20, "there are recorded sessions");
    text
}

fn place() -> TranscriptIdentity {
    TranscriptIdentity { session: "s".into(), ..TranscriptIdentity::default() }
}

fn lines(c: &mut Criterion) {
    let text = megabyte(&recorded());
    let mut group = c.benchmark_group("lines");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("of a file", |b| {
        b.iter(|| {
            let mut lines = LineReader::new(text.as_bytes(), 0);
            let mut count = 0;
            while let Some(piece) = lines.next_line().expect("memory can be read") {
                black_box(piece);
                count += 1;
            }
            count
        });
    });
    group.finish();
}

/// Recorded lines, by record type.
fn rows(c: &mut Criterion) {
    let (text, gate, place) = (recorded(), Sanitizer::shipped(), place());
    let kind_of = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a recorded row is JSON");
        row["type"].as_str().unwrap_or("(none)").to_owned()
    };
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let kind = kind_of(line);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, rows)) => rows.push(line),
            None => kinds.push((kind, vec![line])),
        }
    }
    let mut group = c.benchmark_group("rows");
    for (kind, rows) in &kinds {
        group.throughput(Throughput::Bytes(rows.iter().map(|row| row.len() as u64).sum()));
        group.bench_with_input(BenchmarkId::from_parameter(kind), rows, |b, rows| {
            b.iter(|| rows.iter().for_each(|row| _ = black_box(parse_line(row.as_bytes(), &place, &gate))));
        });
    }
    group.finish();
}

/// Tool output, which is most of every transcript.
fn outputs(c: &mut Criterion) {
    let code = "    12→    let found = rows.iter().filter(|row| row.kind == \"user\").map(|row| <Row as Known>::of(row, 7));\n";
    let tests = "test source::cursor::tests::what_is_no_json_is_told ... ok\n";
    let long = |line: &str, end: &str| line.repeat(40_000 / line.len()) + end;
    let (gate, place) = (Sanitizer::shipped(), place());
    let mut group = c.benchmark_group("outputs");
    for (name, failed, output) in [
        ("that tells nothing", false, long(code, "")),
        ("of a test run", false, long(tests, "test result: ok. 530 passed; 0 failed; finished in 2.31s\n")),
        ("of a failure", true, long(tests, "error: test failed, to rerun pass `--lib`\n")),
    ] {
        let block = json!({"type": "tool_result", "tool_use_id": "t", "is_error": failed, "content": output});
        let row = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": [block]}}).to_string();
        group.throughput(Throughput::Bytes(row.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(name), &row, |b, row| {
            b.iter(|| parse_line(row.as_bytes(), &place, &gate));
        });
    }
    group.finish();
}

fn texts(c: &mut Criterion) {
    let prose = megabyte(
        "Reading goes from left to right, and what is skipped is counted.\nWhy it is so stands in the head of each file.\n",
    );
    let coloured = megabyte("\x1b[32m ok\x1b[0m  the tests of this crate  \r\n\r\n\r\n");
    let redactor = Redactor::shipped();
    let mut group = c.benchmark_group("texts");
    group.throughput(Throughput::Bytes(prose.len() as u64));
    group.bench_function("without secrets", |b| b.iter(|| redactor.redact(&prose).len()));
    group.bench_function("made plain that are plain", |b| b.iter(|| without_controls(&prose).len()));
    group.bench_function("folded that are folded", |b| b.iter(|| fold_lines(&prose).len()));
    group.throughput(Throughput::Bytes(coloured.len() as u64));
    group.bench_function("made plain and folded", |b| b.iter(|| fold_lines(&without_controls(&coloured)).len()));
    group.finish();
}

criterion_group!(loops, lines, rows, outputs, texts);
criterion_main!(loops);
