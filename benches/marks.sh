#!/usr/bin/env bash
# Many hooks at once: PROCESSES leave MARKS each; all must be there, whole, and nothing else.
#
#     benches/marks.sh [PROCESSES] [MARKS]        (default: 50 200)
#
# Needs python3. Set RECALL to try another binary.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${RECALL:-}" ]; then
    cargo build --profile dist --quiet --manifest-path "$root/Cargo.toml"
    RECALL="$root/target/dist/recall"
fi
processes=${1:-50}
marks=${2:-200}
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
mkdir -p "$world/claude/projects/p"

worker() {
    local n id
    for n in $(seq "$marks"); do
        id=$(printf '%08d-0000-4000-8000-%012d' "$1" "$n")
        printf '{"session_id":"%s","transcript_path":"%s","cwd":"/x","hook_event_name":"SessionEnd","reason":"other"}' \
            "$id" "$world/claude/projects/p/$id.jsonl" |
            env -i HOME="$world" CLAUDE_CONFIG_DIR="$world/claude" RECALL_DATA_DIR="$world/data" "$RECALL" hook session-end
    done
}
for n in $(seq "$processes"); do worker "$n" & done
wait
python3 - "$world/data" $((processes * marks)) <<'PYTHON'
import json, os, sys

data, expected = sys.argv[1], int(sys.argv[2])
folder = f"{data}/marks/new"
sessions = [json.load(open(f"{folder}/{name}"))["session"] for name in os.listdir(folder)]
print(f"{len(sessions)} marks of {len(set(sessions))} sessions, {len(os.listdir(data + '/marks/tmp'))} unfinished")
assert len(set(sessions)) == len(sessions) == expected and not os.path.exists(f"{data}/hooks.log")
PYTHON
