#!/usr/bin/env bash
# `recall serve` over an index of made sessions: how soon it answers, how long each page takes, and its memory.
#
#     benches/serve.sh [SESSIONS] [PROJECTS] [RUNS]        (default: 10000 50 15)
#
# Times are told over a whole `recall search` for three words, measured in turn in the same run. Needs python3 and Linux. Set RECALL to
# measure another binary, WORLD to a folder to make the world there or use the one that is there, REQUESTS to how many are sent while the
# memory is watched.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${RECALL:-}" ]; then
    cargo build --profile dist --quiet --manifest-path "$root/Cargo.toml"
    RECALL="$root/target/dist/recall"
fi
world=${WORLD:-$(mktemp -d)}
[ -n "${WORLD:-}" ] || trap 'rm -rf "$world"' EXIT
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/benches" python3 - "$RECALL" "$world" "${1:-10000}" "${2:-50}" "${3:-15}" "${REQUESTS:-250}" <<'PYTHON'
import http.client, os, re, statistics, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

import made
from made import common, dice, rare, usual

recall, world, sessions, projects, runs, requests = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7])
env = made.environment(world)
print("digests", made.index(recall, world, sessions, projects))
if not os.path.exists(f"{world}/noted"):
    subprocess.run([recall, "remember", "--everywhere", made.say(8)], env=env, cwd=world, check=True, stdout=subprocess.DEVNULL)
    open(f"{world}/noted", "w").close()

class Server:
    def __init__(self):
        self.process = subprocess.Popen([recall, "serve", "--token-file", f"{world}/token"], env=env, cwd=world, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.host, enter = re.match(r"http://([^/]+)(/.*)", self.process.stdout.readline().strip()).groups()
        self.folder = enter[:enter.index("enter/")]
        with open(f"{world}/token") as file:
            self.headers = {"Authorization": f"Bearer {file.read().strip()}"}
        self.headers["Cookie"] = self.ask(enter, {})[1].split(";")[0]

    def ask(self, path, headers):
        connection = http.client.HTTPConnection(self.host)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == 200, f"{path}: {answer.status} {body[:200]}"
        return body, answer.headers["Set-Cookie"]

    def get(self, address):
        """A page by its address below the folder, or what begins with a slash."""
        return self.ask(address if address.startswith("/") else self.folder + address, self.headers)[0]

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return " ".join(f"{name} {int(lines[name].split()[0]) / 1024:.1f} MB" for name in ("VmHWM", "VmRSS"))

    def end(self):
        self.process.terminate()
        self.process.wait()

def three():
    return [dice.choice(common[10:]), dice.choice(usual[:500]), dice.choice(rare[:1000])]

def search():
    subprocess.run([recall, "search", *three()], env=env, cwd=world, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)

def start():
    server = Server()
    server.get("")
    return server

def timed(work):
    begun = time.perf_counter_ns()
    result = work()
    return (time.perf_counter_ns() - begun) / 1e6, result

searches, starts = [], []
for n in range(runs + 1):
    took, _ = timed(search)
    began, server = timed(start)
    server.end()
    if n > 0:
        searches.append(took)
        starts.append(began)
base = statistics.median(searches)
print(f"{'recall search':28} {base:8.1f} ms")
print(f"{'start, to the first page':28} {statistics.median(starts):8.1f} ms {statistics.median(starts) / base:6.2f} x")

# What there is, by the links of the pages that name it.
server = start()
found = {}
def follow(page):
    for link in re.findall(r'href="([^"#?]+)', server.get(page).decode()):
        kind = link.split("/")[0]
        if "/" in link and kind in ("day", "week", "session", "rows", "project", "note", "forget"):
            found.setdefault(kind, set()).add(link)
for page in ("days.html", "sessions.html", f"sessions.html?skip={sessions // 2}", "projects.html", "open.html", "search.html?q=kind:note"):
    follow(page)
for kind in ("day", "session"):
    for link in sorted(found[kind])[:10]:
        follow(link)
of = lambda kind: lambda: dice.choice(sorted(found[kind]))
query = lambda: "+".join(three())
pages = {
    "Today": lambda: "", "Days": lambda: "days.html", "Sessions": lambda: "sessions.html",
    "Sessions, older ones": lambda: f"sessions.html?skip={sessions // 2}", "Projects": lambda: "projects.html",
    "Open items": lambda: "open.html", "Told": lambda: "told.html", "Status": lambda: "status.html",
    **{f"a page of {kind}": of(kind) for kind in sorted(found)},
    "Search": lambda: f"search.html?q={query()}", "Search as one types": lambda: f"search.html?q={dice.choice(usual)[:3]}&part=1",
    "Search with a filter": lambda: f"search.html?q={dice.choice(common)}+kind:decision",
}
def request(path):
    return lambda: f"/api/v1/{path.replace('WORDS', query()).replace('ID', of('session')()[len('session/'):-len('.html')])}"
api = {f"api: {path.split('?')[0]}": request(path) for path in (
    "sessions", "search?q=WORDS", "context/start", "context/topic?q=WORDS", "context/prompt?q=WORDS", "notes", "open", "session/ID",
    "timeline/ID", "stats", "status")}
everything = pages | api
times = {name: [] for name in everything}
searches = []
for n in range(runs + 1):
    took, _ = timed(search)
    searches.append(took)
    for name, address in everything.items():
        took, body = timed(lambda: server.get(address()))
        if n > 0:
            times[name].append(took)
server.end()
base = statistics.median(searches[1:])
print(f"{'recall search':28} {base:8.1f} ms")
for name, all in sorted(times.items(), key=lambda one: -statistics.median(one[1])):
    print(f"{name:28} {statistics.median(all):8.1f} ms {statistics.median(all) / base:6.2f} x")

server = start()
print(f"memory after the first page: {server.memory()}")
asked = [address() for address in (list(everything.values()) * (requests // len(everything) + 1))[:requests]]
dice.shuffle(asked)
for address in asked:
    server.get(address)
print(f"after {requests} requests, one after the other: {server.memory()}")
with ThreadPoolExecutor(6) as six:
    list(six.map(server.get, asked))
print(f"after {requests} more, six at a time: {server.memory()}")
server.end()
PYTHON
