"""Tries backfill.py on a small cluster: two workers of one core each, with a program that fails in every way where a folder's name asks for it.

    RECALL_BIN=target/debug/recall python test_backfill.py

It needs pyspark, a JDK, a `recall` with the client for a team's server, and the programs of PostgreSQL. Everything lies in a temporary folder.
"""

import glob
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

from pyspark.sql import SparkSession

HERE = os.path.dirname(os.path.abspath(__file__))
RECALL = os.path.abspath(os.environ["RECALL_BIN"])
CLUSTER = "local-cluster[2,1,1024]"
SHOP = "example.com/acme/shop"
MODEL = "claude-haiku-4-5-20251001"

# The worker in place of `recall`: what it does is asked for by the last part of the folder's name.
WORKER = """#!/bin/bash
folder=${@: -1}
case $folder in
*-hangs) sleep 600 ;;
*-fails) echo 'the disk is on fire' >&2 && exit 3 ;;
*-dies) kill -9 $$ ;;
*-babbles) echo '{"id": 1}' ;;
*-takes-the-jvm-along)
    if mkdir "$KILLED" 2>/dev/null; then
        parent=$PPID
        until grep -qz CoarseGrainedExecutorBackend "/proc/$parent/cmdline"; do
            parent=$(sed 's/.*) . //; s/ .*//' "/proc/$parent/stat")
            [ "$parent" -gt 1 ] || exit 4
        done
        echo "$parent" >"$KILLED/pid"
        kill -9 "$parent"
        exit 5
    fi
    exec RECALL "$@" ;;
*) exec RECALL "$@" ;;
esac
""".replace("RECALL", f"'{RECALL}'")


class Company:
    """The transcripts of several people, in a temporary folder."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="recall-spark-")
        os.chmod(self.folder, 0o755)
        self.input, self.out, self.killed = self.path("input"), self.path("out"), self.path("killed")
        self.write("projects.toml", f'"/home/dev/src/shop" = "{SHOP}"\n')
        os.chmod(self.write("worker", WORKER), 0o755)
        os.mkdir(self.path("home"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def session(self, person, folder, n, more=""):
        session = f"{n:08}-5ec0-4000-8000-000000000000"
        rows = ""
        for at, (kind, text) in enumerate([("user", f"Mend part {n}"), ("assistant", f"Part {n} is mended.{more}")]):
            content = text if kind == "user" else [{"type": "text", "text": text}]
            of_model = {"id": f"msg_{n}", "model": MODEL, "usage": {"input_tokens": 10, "output_tokens": 5}}
            message = {"role": kind, "content": content, **({} if kind == "user" else of_model)}
            row = {"type": kind, "sessionId": session, "uuid": f"{session[:-1]}{at}", "timestamp": f"2026-11-{1 + n % 20:02}T08:00:0{at}Z"}
            rows += json.dumps({**row, "cwd": "/home/dev/src/shop", "version": "2.1.197", "message": message}) + "\n"
        return self.write(f"input/{person}/projects/{folder}/{session}.jsonl", rows)

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": self.path("home"), "TMPDIR": self.folder, "KILLED": self.killed}

    def recall(self, *words):
        ran = subprocess.run([RECALL, *words], env=self.environment(), capture_output=True, text=True, timeout=300)
        assert ran.returncode in (0, 1), ran
        return ran.stdout

    def one_process(self):
        people = sorted(glob.glob(f"{self.input}/*/projects"))
        return self.recall("team", "records", *people, "--projects", self.path("projects.toml")).splitlines()

    def spark(self, *words, stdin=""):
        """Runs the backfill on the cluster. Returns its exit code and output."""
        environment = {
            **self.environment(),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": f"--master {CLUSTER} --conf spark.ui.enabled=false --conf spark.driver.bindAddress=127.0.0.1 pyspark-shell",
        }
        command = [sys.executable, os.path.join(HERE, "backfill.py"), self.input, "--out", self.out]
        command += ["--projects", self.path("projects.toml"), "--recall", self.path("worker"), *words]
        ran = subprocess.run(command, env=environment, cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=600)
        assert ran.returncode in (0, 1), ran.stderr[-5000:]
        return ran.returncode, ran.stdout

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def programs():
    """Where initdb, pg_ctl and psql are."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb")]
    return os.path.dirname(found[-1])


class Postgres:
    """A server of its own, over a socket in a temporary folder, with a team, a project and a member called backfill."""

    def __init__(self, company):
        self.folder = company.path("pg")
        os.mkdir(self.folder)
        # It does not run as root.
        self.user = next((user for user in ("postgres", "nobody") if os.geteuid() == 0 and user in {one.pw_name for one in pwd.getpwall()}), None)
        if self.user:
            shutil.chown(self.folder, self.user)
        self.run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", f"-k {self.folder} -c listen_addresses= -c fsync=off", "start")
        self.sql("CREATE DATABASE team", "postgres")
        company.recall("team", "prepare", self.address("postgres"))
        self.sql(f"SELECT recall_team.add_team('core'); SELECT recall_team.add_project('core', '{SHOP}'); CREATE ROLE backfill LOGIN")
        self.sql(f"SELECT recall_team.add_member('core', 'backfill'); SELECT recall_team.set_access('core', 'backfill', '{SHOP}', true, true)")

    def run(self, program, *words):
        # Files and not pipes: the server keeps them open.
        with tempfile.TemporaryFile("w+") as out:
            command = [os.path.join(programs(), program), *words]
            ran = subprocess.run(command, cwd=self.folder, env={}, user=self.user, stdout=out, stderr=subprocess.STDOUT, timeout=120)
            out.seek(0)
            text = out.read()
            assert ran.returncode == 0, text
            return text

    def address(self, login):
        return f"postgres://{login}@{self.folder.replace('/', '%2F')}/team"

    def sql(self, sql, database="team"):
        return self.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d", database, "-c", sql).splitlines()

    def stop(self):
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")


class Backfill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reader = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        cls.reader.sparkContext.setLogLevel("ERROR")

    @classmethod
    def tearDownClass(cls):
        cls.reader.stop()

    def setUp(self):
        self.company = Company()
        self.addCleanup(self.company.remove)
        for n in range(1, 4):
            self.company.session("anna", "-home-dev-src-shop", n)
        self.company.session("ben", "-home-dev-src-shop", 4)
        self.company.session("ben", "-home-ben-other", 5)

    def records(self):
        rows = [row.asDict() for row in self.reader.read.parquet(f"{self.company.out}/records").collect()]
        records = [{key: row[key] for key in ("project", "kind", "id", "version", "search")} | {"body": json.loads(row["body"])} for row in rows]
        return sorted(records, key=lambda record: (record["id"], record["kind"]))

    def errors(self):
        return {row["unit"]: row["error"] for row in self.reader.read.parquet(f"{self.company.out}/errors").collect()}

    def one_process(self):
        return [json.loads(line) for line in self.company.one_process()]

    def test_two_workers_give_the_records_of_one_process_again_and_again(self):
        wanted = self.one_process()
        self.assertEqual([record["kind"] for record in wanted], 5 * ["session", "usage"])
        for _ in range(2):
            self.assertEqual(self.company.spark(), (0, "units 3, records 10, errors 0\n"))
            self.assertEqual(self.records(), wanted)
            self.assertEqual(self.errors(), {})
        # One unit has more, one has nothing any more, one is gone.
        self.company.session("anna", "-home-dev-src-shop", 3, " One screw is left.")
        os.remove(glob.glob(f"{self.company.input}/ben/projects/-home-ben-other/*.jsonl")[0])
        shutil.rmtree(f"{self.company.input}/ben/projects/-home-dev-src-shop")
        self.assertEqual(self.company.spark(), (0, "units 2, records 6, errors 0\n"))
        self.assertEqual(self.records(), self.one_process())
        self.assertIn("One screw is left", self.records()[4]["search"])

    def test_a_unit_that_fails_hangs_or_babbles_costs_the_others_nothing(self):
        wanted = self.one_process()
        for n, folder in enumerate(["-fails", "-hangs", "-dies", "-babbles"], 10):
            self.company.session("carl", folder, n)
        broken = self.company.session("dora", "-broken", 20)
        with open(broken, "a") as file:
            file.write('{"type": "user", "mess\n')
        of_broken = self.company.recall("team", "records", broken, "--projects", self.company.path("projects.toml"))
        wanted += [json.loads(line) for line in of_broken.splitlines()]
        code, told = self.company.spark("--timeout", "60")
        self.assertEqual((code, told), (1, "units 8, records 12, errors 5\n"))
        self.assertEqual(self.records(), wanted)
        errors = self.errors()
        self.assertEqual(sorted(errors), ["carl/-babbles", "carl/-dies", "carl/-fails", "carl/-hangs", "dora/-broken"])
        self.assertIn("the disk is on fire", errors["carl/-fails"])
        self.assertIn("TimeoutExpired", errors["carl/-hangs"])
        self.assertIn(os.path.basename(broken), errors["dora/-broken"])
        # What failed is made good by the next run.
        for folder in glob.glob(f"{self.company.input}/carl/projects/*"):
            shutil.rmtree(folder)
        self.company.session("dora", "-broken", 20)
        self.assertEqual(self.company.spark(), (0, "units 4, records 12, errors 0\n"))
        self.assertEqual(self.errors(), {})

    def test_a_worker_that_is_killed_in_the_middle_changes_nothing(self):
        self.company.session("carl", "-takes-the-jvm-along", 10)
        wanted = self.one_process()
        self.assertEqual(self.company.spark(), (0, "units 4, records 12, errors 0\n"))
        self.assertEqual(self.records(), wanted)
        self.assertTrue(os.path.exists(f"{self.company.killed}/pid"), "a JVM was killed")

    def test_what_is_pushed_twice_is_on_the_server_once(self):
        server = Postgres(self.company)
        self.addCleanup(server.stop)
        address = server.address("backfill")
        everything = "SELECT row_to_json(r) FROM (SELECT kind, id, version, body, search FROM recall_team.record ORDER BY id, kind) r"
        self.assertEqual(self.company.spark("--push", address), (0, "units 3, records 10, errors 0\nstored 10, unchanged 0, refused 0\n"))
        there = server.sql(everything)
        self.assertEqual(len(there), 10)
        code, told = self.company.spark("--push", "-", stdin=f"{address}\n")
        self.assertEqual((code, told), (0, "units 3, records 10, errors 0\nstored 0, unchanged 10, refused 0\n"))
        self.assertEqual(server.sql(everything), there)
        server.sql(f"SELECT recall_team.set_access('core', 'backfill', '{SHOP}', true, false)")
        self.company.session("anna", "-home-dev-src-shop", 6)
        code, told = self.company.spark("--push", address)
        self.assertEqual(code, 1)
        self.assertIn("refused 12", told)
        self.assertIn("refused: session 00000006-", told)
        self.assertEqual(server.sql(everything), there)


if __name__ == "__main__":
    unittest.main()
