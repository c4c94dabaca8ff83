#!/usr/bin/env bash
# Times whole runs over a Claude Code config directory: a cold ingest, the digests, and a run with nothing new.
#
#     benches/whole.sh [CLAUDE_CONFIG_DIR]        (default: the fixtures)
#
# Reads the directory only; everything is written to a temporary folder. Needs nothing but the repository.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
config=$(cd "${1:-$root/fixtures/claude-code-2.1.197/plain}" && pwd)
cargo build --release --quiet --manifest-path "$root/Cargo.toml"
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT

run() {
    local label=$1 from to
    shift
    from=$(date +%s%N)
    env -i PATH=/usr/bin:/bin HOME="$world" CLAUDE_CONFIG_DIR="$config" RECALL_DATA_DIR="$world/data" \
        "$root/target/release/recall" digest --json --settle 0s "$@" > "$world/report" || [ $? -eq 1 ]
    to=$(date +%s%N)
    printf '%-14s %8d ms   %s\n' "$label" $(((to - from) / 1000000)) "$(cat "$world/report")"
}

# So that the first run does not pay for the disk.
find "$config" -name '*.jsonl' -exec cat {} + > /dev/null
run ingest --ingest-only
run digest --summarizer extract
run 'nothing new' --summarizer extract
printf '%-14s %8d bytes\n' recall.db "$(wc -c < "$world/data/recall.db")"
