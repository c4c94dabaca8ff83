#!/usr/bin/env bash
# Times `recall redact` over a text, against a plain copy of the same bytes, and over text made to be slow.
#
#     benches/redact.sh [FILE]        (default: the fixtures' transcripts)
#
# Takes the best of five runs, as processor time. What stays constant, the start of the program, is shown by an empty text.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cargo build --profile dist --quiet --manifest-path "$root/Cargo.toml"
target=${CARGO_TARGET_DIR:-$root/target}
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
if [ $# -gt 0 ]; then cp "$1" "$world/text"; else
    find "$root/fixtures" -name '*.jsonl' -exec cat {} + > "$world/once"
    for _ in $(seq 40); do cat "$world/once"; done > "$world/text"
fi

# best LABEL FILE COMMAND…: milliseconds of processor time, and megabytes a second
best() {
    local label=$1 file=$2 least=999999 spent bytes
    shift 2
    for _ in 1 2 3 4 5; do
        TIMEFORMAT='%U %S'
        spent=$({ time env -i HOME="$world" "$@" < "$file" > /dev/null; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 }')
        if [ "$spent" -lt "$least" ]; then least=$spent; fi
    done
    bytes=$(wc -c < "$file")
    printf '%-26s %10d bytes %6d ms %8d MB/s\n' "$label" "$bytes" "$least" $((bytes / 1000 / (least + 1)))
}

: > "$world/empty"
best 'plain copy' "$world/text" /bin/cat
best 'redact' "$world/text" "$target/dist/recall" redact
best 'redact, empty text' "$world/empty" "$target/dist/recall" redact
for unit in '<private>' '=' ':' '(' 'a1B2c3D4' 'password' 'password=' '-----BEGIN ' 'eyJ.' '://' '"' '\'; do
    # A megabyte of it.
    yes -- "$unit" | tr -d '\n' | head -c 1048576 > "$world/slow" || true
    best "1 MB of $unit" "$world/slow" "$target/dist/recall" redact
done
