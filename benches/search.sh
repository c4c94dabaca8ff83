#!/usr/bin/env bash
# Whole-process time of `recall search` and of the hook at the prompt, over /bin/true measured in turn in the same run.
#
#     benches/search.sh [SESSIONS] [PROJECTS] [RUNS]        (default: 10000 50 100)
#
# Makes an index of made sessions in a temporary folder, whose words are as common and as rare as in a language; needs python3. Set
# RECALL to time another binary, WORLD to a folder to make the world there or use the one that is there, ONLY to the start of a name.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${RECALL:-}" ]; then
    cargo build --profile dist --quiet --manifest-path "$root/Cargo.toml"
    RECALL="$root/target/dist/recall"
fi
world=${WORLD:-$(mktemp -d)}
[ -n "${WORLD:-}" ] || trap 'rm -rf "$world"' EXIT
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/benches" python3 - "$RECALL" "$world" "${1:-10000}" "${2:-50}" "${3:-100}" <<'PYTHON'
import json, os, statistics, sys, time, uuid

import made
from made import common, dice, rare, usual

recall, world, sessions, projects, runs = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
env = made.environment(world)
print("digests", made.index(recall, world, sessions, projects))

def timed(argv, stdin):
    with open(f"{world}/stdin", "w") as file:
        file.write(stdin)
    actions = [(os.POSIX_SPAWN_OPEN, 0, f"{world}/stdin", os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, f"{world}/stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    begun = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    os.waitpid(pid, 0)
    return (time.perf_counter_ns() - begun) / 1e6

def prompt(n, text):
    sid = str(uuid.UUID(int=n + 1))
    path = f"{world}/claude/projects/p-0/{sid}.jsonl"
    return json.dumps({"session_id": sid, "transcript_path": path, "cwd": f"{world}/src/project-0", "hook_event_name": "UserPromptSubmit",
                       "prompt": text})

def search(*what):
    return lambda n: ([recall, "search", *what], "", True)

def hook(text, speaks):
    return lambda n: ([recall, "hook", "user-prompt-submit"], prompt(n, text), speaks)

question = dice.sample(common, 6) + dice.sample(usual, 4) + dice.sample(rare, 2)
rounds = {
    "/bin/true": lambda n: (["/bin/true"], "", False),
    "search: a rare word": search(rare[0]),
    "search: three words": search(common[20], usual[100], rare[100]),
    "search: common words": search(*common[:4]),
    "search: a question": search(" ".join(question)),
    "search: filters": search(common[30], "kind:decision", "project:project-3", "since:30d"),
    "hook: the past": hook(f"where did we leave off on {usual[5]} {rare[7]}", None),
    "hook: a prompt": hook(" ".join(question), None),
    "hook: nothing": hook("xylophonic quetzal zephyr wyvern", False),
}
only = os.environ.get("ONLY", "")
rounds = {name: call for name, call in rounds.items() if name == "/bin/true" or name.startswith(only)}
times = {name: [] for name in rounds}
for n in range(runs + 10):
    for name, make_call in rounds.items():
        argv, stdin, speaks = make_call(n)
        took = timed(argv, stdin)
        if n >= 10:
            times[name].append(took)
        said = os.path.getsize(f"{world}/stdout") > 0
        assert speaks is None or said == speaks, f"{name}: {'nothing' if speaks else 'something'} was said"
base = statistics.median(times["/bin/true"])
for name, all in times.items():
    median = statistics.median(all)
    print(f"{name:22} {median:8.2f} ms  {median - base:+8.2f} ms  {median / base:6.1f} x")
PYTHON
