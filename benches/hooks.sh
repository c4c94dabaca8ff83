#!/usr/bin/env bash
# Whole-process time of the hooks, as a ratio to /bin/true measured in turn in the same run.
#
#     benches/hooks.sh [SESSIONS] [PROJECTS] [RUNS]        (default: 10000 50 200)
#
# Makes an index of made sessions in a temporary folder; needs python3. Set RECALL to time another binary.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${RECALL:-}" ]; then
    cargo build --release --quiet --manifest-path "$root/Cargo.toml"
    RECALL="$root/target/release/recall"
fi
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
python3 - "$RECALL" "$world" "${1:-10000}" "${2:-50}" "${3:-200}" <<'PYTHON'
import json, os, statistics, subprocess, sys, time, uuid, random

recall, world, sessions, projects, runs = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
env = {"PATH": "/usr/bin:/bin", "HOME": world, "CLAUDE_CONFIG_DIR": f"{world}/claude", "RECALL_DATA_DIR": f"{world}/data"}
dice = random.Random(1)
nouns = "order cache index parser queue worker schema migration token session cursor invoice report upload search login".split()
verbs = "fixed rewrote removed measured renamed split merged cached indexed validated".split()

def say(n):
    return " ".join(f"{dice.choice(verbs)} the {dice.choice(nouns)} {dice.choice(nouns)} in src/{dice.choice(nouns)}.rs." for _ in range(n))

now = int(time.time()) - 3600
for n in range(sessions):
    cwd = f"{world}/src/project-{n % projects}"
    os.makedirs(cwd, exist_ok=True)
    slug = f"{world}/claude/projects/p-{n % projects}"
    os.makedirs(slug, exist_ok=True)
    sid = str(uuid.UUID(int=dice.getrandbits(128)))
    began = now - (sessions - n) * 600
    rows = []
    # Of the last session something is said that no other says.
    rare = " The zanzibar rates of the lighthouse drift." if n == sessions - 1 else ""
    for k in range(6):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began + k * 60))
        common = {"uuid": str(uuid.UUID(int=dice.getrandbits(128))), "sessionId": sid, "timestamp": at, "cwd": cwd, "gitBranch": "main"}
        if k % 2 == 0:
            rows.append(common | {"type": "user", "message": {"role": "user", "content": f"Please look at the {dice.choice(nouns)} {k}: {say(2)}{rare}"}})
        else:
            text = f"Done: {say(4)} Decision: we keep the {dice.choice(nouns)} because {say(1)}\n\nNext steps:\n- migrate the {dice.choice(nouns)} {n}\n"
            rows.append(common | {"type": "assistant", "message": {"id": f"m{n}-{k}", "role": "assistant", "content": [{"type": "text", "text": text}]}})
    path = f"{slug}/{sid}.jsonl"
    with open(path, "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    os.utime(path, (began + 400, began + 400))
    last = (sid, path, cwd)

subprocess.run([recall, "digest", "--summarizer", "extract"], env=env, check=True, stdout=subprocess.DEVNULL)
print("digests", json.loads(subprocess.run([recall, "status", "--json"], env=env, capture_output=True).stdout)["digests"])

def timed(argv, stdin):
    with open(f"{world}/stdin", "w") as file:
        file.write(stdin)
    actions = [(os.POSIX_SPAWN_OPEN, 0, f"{world}/stdin", os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, f"{world}/stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    begun = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    os.waitpid(pid, 0)
    return (time.perf_counter_ns() - begun) / 1e6

def payload(event, n, **more):
    sid = str(uuid.UUID(int=n + 1)) if event == "SessionStart" else last[0]
    path = os.path.join(os.path.dirname(last[1]), sid + ".jsonl")
    return json.dumps({"session_id": sid, "transcript_path": path, "cwd": last[2], "hook_event_name": event} | more)

def prompt_of(name, n):
    sid = str(uuid.UUID(int=10**9 + 10 * n + list(prompts).index(name)))
    return json.dumps({"session_id": sid, "transcript_path": f"{os.path.dirname(last[1])}/{sid}.jsonl", "cwd": last[2],
                       "hook_event_name": "UserPromptSubmit", "prompt_id": sid, "prompt": prompts[name]})

# A prompt that a session bears on, and one that none does.
bears = "Find out why the zanzibar rates of the lighthouse drift by a cent"
prompts = {"prompt, notice": bears, "prompt, asks": "What did we decide about the zanzibar rates?",
           "prompt, nothing": "Paint the green harbour of Rotterdam with its order queue and login parser in winter"}
times = {name: [] for name in ["/bin/true", "session-end", "session-start", *prompts]}
for n in range(runs + 20):
    round = [("/bin/true", ["/bin/true"], ""),
             ("session-end", [recall, "hook", "session-end"], payload("SessionEnd", n, reason="other")),
             ("session-start", [recall, "hook", "session-start"], payload("SessionStart", n, source="startup"))]
    # Each from a session of its own: it is told of a thing once.
    round += [(name, [recall, "hook", "user-prompt-submit"], prompt_of(name, n)) for name in prompts]
    for name, argv, stdin in round:
        took = timed(argv, stdin)
        if n >= 20:
            times[name].append(took)
        size = os.path.getsize(f"{world}/stdout")
        if name == "session-start":
            assert size > 2000, "nothing was injected"
        if name in prompts:
            assert (size > 0) == (name != "prompt, nothing"), f"{name}: {size} bytes"
    # Marks that wait would be looked at by the next start.
    for mark in os.scandir(f"{world}/data/marks/new"):
        os.remove(mark)
base = statistics.median(times["/bin/true"])
for name, all in times.items():
    print(f"{name:16} {statistics.median(all):7.3f} ms   {statistics.median(all) / base:5.2f} x")
if os.environ.get("KEEP"):
    os.rename(f"{world}", os.environ["KEEP"])
    os.makedirs(world)
PYTHON
