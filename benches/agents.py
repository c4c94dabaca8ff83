#!/usr/bin/env python3
"""How fast sessions of other agents are read, against reading the same bytes and nothing else.

    benches/agents.py [RECALL] [--mb 300] [--runs 3]

The recordings in `fixtures` are multiplied: each copy has ids of its own, and a session of files has its rows four times over. Times are user
and system time of a first `recall digest --ingest-only`, the least of the runs; compare the ratios.
"""

import argparse
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CALLS = re.compile(rb"\b(call|toolu|fc|msg)_[A-Za-z0-9]+")
IN_DATABASE = re.compile(r"\b(ses|msg|prt|evt)_[A-Za-z0-9]+")
TIMES = re.compile(r"\b1[78]\d{11}\b")
# How often the rows of a recorded session stand in a file, with calls of their own.
ROUNDS = 4


def renamed(text, copy):
    """The text with ids that no other copy has."""
    return UUID.sub(lambda m: m[0][:-6] + b"%06x" % (int(m[0][-6:], 16) ^ copy), text)


def files(source, target, ending, wanted):
    """Copies of all files of a client below `target`, until they have so many bytes."""
    recorded = [(path, path.read_bytes()) for path in sorted(source.rglob(f"*{ending}"))]
    copy = written = 0
    while written < wanted:
        copy += 1
        for path, text in recorded:
            head, _, rows = text.partition(b"\n")
            all_rows = b"".join(CALLS.sub(lambda m: m[0] + b"%d" % n, rows) for n in range(ROUNDS))
            below = Path(*path.relative_to(source).parts[1:])
            place = target / os.fsdecode(renamed(os.fsencode(below), copy))
            place.parent.mkdir(parents=True, exist_ok=True)
            whole = renamed(head + b"\n" + all_rows, copy)
            place.write_bytes(whole)
            written += len(whole)
    return written


def of_copy(value, copy):
    """A value with ids that no other copy has, an hour earlier than the copy before: what a fork copies has the same times."""
    earlier = copy * 3_600_000
    if isinstance(value, int) and TIMES.fullmatch(str(value)):
        return value - earlier
    if not isinstance(value, str):
        return value
    return TIMES.sub(lambda m: str(int(m[0]) - earlier), IN_DATABASE.sub(lambda m: f"{m[0]}x{copy}", value))


def database(source, target, wanted):
    """A copy of a database with its sessions many times over."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    db = sqlite3.connect(target)
    db.execute("PRAGMA foreign_keys = OFF")
    tables = []
    for table in ("session", "message", "part", "event_sequence"):
        rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
        tables.append((table, rows))
    copy = 0
    while target.stat().st_size < wanted:
        copy += 1
        own = lambda value: of_copy(value, copy)
        for table, rows in tables:
            marks = ",".join("?" * len(rows[0]))
            db.executemany(f'INSERT INTO "{table}" VALUES ({marks})', [[own(value) for value in row] for row in rows])
        db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return target.stat().st_size


def environment(world):
    return {"PATH": "/usr/bin:/bin", "HOME": str(world), "CLAUDE_CONFIG_DIR": f"{world}/.claude", "RECALL_DATA_DIR": f"{world}/data"}


def spent(command, world):
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, env=environment(world), capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command}: {ran.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("recall", nargs="?", default=str(ROOT / "target/release/recall"))
    parse.add_argument("--mb", type=int, default=300)
    parse.add_argument("--runs", type=int, default=3)
    asked = parse.parse_args()
    wanted = asked.mb * 1_000_000
    fixtures = ROOT / "fixtures"
    rows = "SELECT data FROM message; SELECT data FROM part;"
    clients = {
        "Claude Code": (".claude", lambda to: files(fixtures / "claude-code-2.1.197", to, ".jsonl", wanted)),
        "Codex": (".codex", lambda to: files(fixtures / "codex", to, ".jsonl", wanted)),
        "OpenCode": (
            ".local/share/opencode",
            lambda to: database(fixtures / "opencode/1.18.33/opencode.db", to / "opencode.db", wanted),
        ),
    }
    print("| sessions of | MB | sessions | bare reading | recall | ratio | MB a second |\n|---|---|---|---|---|---|---|")
    for name, (home, make) in clients.items():
        with tempfile.TemporaryDirectory() as folder:
            world = Path(folder)
            size = make(world / home)
            if name == "OpenCode":
                bare = [sys.executable, "-c", f"import sqlite3\ndb = sqlite3.connect('{world}/{home}/opencode.db')\n"
                        f"for sql in {rows!r}.split('; '): sum(len(r[0]) for r in db.execute(sql.strip(';')))"]
            else:
                bare = ["sh", "-c", f"find {world}/{home} -type f -exec cat {{}} + | wc -c"]
            least = min(spent(bare, world) for _ in range(asked.runs))
            times = []
            for _ in range(asked.runs):
                shutil.rmtree(world / "data", ignore_errors=True)
                times.append(spent([asked.recall, "digest", "--ingest-only"], world))
            count = json.loads(subprocess.run([asked.recall, "status", "--json"], env=environment(world), capture_output=True).stdout)["sessions"]
            took = min(times)
            print(f"| {name} | {size / 1e6:.0f} | {count} | {least:.2f} s | {took:.2f} s | {took / least:.1f} × | {size / 1e6 / took:.0f} |", flush=True)


main()
