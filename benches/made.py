"""Made sessions whose words are as common and as rare as in a language, and their index: for search.sh and serve.sh."""

import itertools
import json
import os
import random
import subprocess
import time
import uuid

dice = random.Random(1)

# 30,000 words; the n-th is said about 1/n as often as the first.
syllables = [c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "s")]
words = sorted({"".join(dice.choices(syllables, k=dice.choice((2, 2, 3)))) for _ in range(40000)})
dice.shuffle(words)
words = words[:30000]
weights = list(itertools.accumulate(1 / (n + 8) for n in range(len(words))))
common, usual, rare = words[:40], words[200:2000], words[5000:20000]


def say(n):
    return " ".join(dice.choices(words, cum_weights=weights, k=n)).capitalize() + "."


def text(sentences):
    return " ".join(say(dice.randint(6, 18)) for _ in range(sentences))


def environment(world):
    return {"PATH": "/usr/bin:/bin", "HOME": world, "CLAUDE_CONFIG_DIR": f"{world}/claude", "RECALL_DATA_DIR": f"{world}/data"}


def make(world, n, sessions, projects, now):
    cwd = f"{world}/src/project-{n % projects}"
    slug = f"{world}/claude/projects/p-{n % projects}"
    if n < projects:
        os.makedirs(cwd, exist_ok=True)
        os.makedirs(slug, exist_ok=True)
    sid, began, rows = str(uuid.UUID(int=dice.getrandbits(128))), now - (sessions - n) * 600, []
    for k in range(6):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began + k * 60))
        common = {"uuid": str(uuid.UUID(int=dice.getrandbits(128))), "sessionId": sid, "timestamp": at, "cwd": cwd, "gitBranch": "main"}
        if k % 2 == 0:
            rows.append(common | {"type": "user", "message": {"role": "user", "content": text(2)}})
        else:
            said = f"{text(5)} Decision: we keep {say(8)} because {say(8)}\n\nNext steps:\n- {say(10)}\n"
            rows.append(common | {"type": "assistant", "message": {"id": f"m{n}-{k}", "role": "assistant", "content": [{"type": "text", "text": said}]}})
    path = f"{slug}/{sid}.jsonl"
    with open(path, "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    os.utime(path, (began + 400, began + 400))


def index(recall, world, sessions, projects):
    """Makes the index, or takes the one that is there. Returns how many digests it holds."""
    env = environment(world)
    if not os.path.exists(f"{world}/data/recall.db"):
        now = int(time.time()) - 3600
        for n in range(sessions):
            make(world, n, sessions, projects, now)
        subprocess.run([recall, "digest", "--summarizer", "extract"], env=env, check=True, stdout=subprocess.DEVNULL)
    return json.loads(subprocess.run([recall, "status", "--json"], env=env, capture_output=True).stdout)["digests"]
