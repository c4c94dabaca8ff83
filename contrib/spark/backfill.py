"""Makes records of the transcripts of a company with Spark, and pushes them to the server of a team: see README.md beside this file."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from pyspark.sql import SparkSession

# A unit has one row without an id, with what the worker said or why it failed, and one for each record.
SCHEMA = "unit string, project string, kind string, id string, version long, body string, search string, said string, error string"
RECORD = {"project": str, "kind": str, "id": str, "version": int, "body": dict, "search": str}
PUSHERS = 8


def units_below(root):
    """The folders of transcripts in ROOT/<person>/projects, as name, path and size; the largest first, so that none of them begins last."""
    units = []
    for person in os.listdir(root):
        projects = os.path.join(root, person, "projects")
        try:
            folders = os.listdir(projects) if os.path.isdir(projects) else []
        except OSError:
            # The worker says why.
            folders = [""]
        for folder in (os.path.join(projects, name) for name in folders):
            if os.path.isdir(folder):
                files = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
                size = sum(os.stat(file).st_size for file in files if os.path.isfile(file))
                name = os.fsencode(f"{person}/{os.path.basename(folder)}").decode(errors="backslashreplace")
                units.append((name, os.fsencode(os.path.abspath(folder)), size))
    return sorted(units, key=lambda unit: (-unit[2], unit[0]))


def run(command, stdin, timeout):
    """Exit code, output and stderr of a program. Files and not pipes: what it leaves running cannot hold up the unit."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        with open(f"{scratch}/out", "w+b") as out, open(f"{scratch}/err", "w+b") as err:
            environment = {**os.environ, "TMPDIR": scratch}
            ran = subprocess.run(command, stdin=given, stdout=out, stderr=err, timeout=timeout, env=environment)
            out.seek(0)
            err.seek(0)
            return ran.returncode, out.read(), err.read().decode(errors="replace").strip()


def rows_of(unit, folder, recall, projects, timeout):
    """The rows of a unit. Whatever goes wrong in it is a row, too: it costs no other unit anything."""
    records, said, error = [], None, None
    try:
        with tempfile.NamedTemporaryFile() as named:
            named.write(projects)
            named.flush()
            command = [recall, "team", "records", "--jobs", "1", "--projects", named.name, folder]
            code, out, said = run(command, b"", timeout)
        if code not in (0, 1):
            raise RuntimeError(f"exit code {code}")
        for line in out.splitlines():
            record = json.loads(line)
            if {key: type(value) for key, value in record.items()} != RECORD:
                raise ValueError("a line is no record")
            body = json.dumps(record["body"], ensure_ascii=False)
            records.append((unit, *(record[key] for key in ("project", "kind", "id", "version")), body, record["search"], None, None))
        error = "not all could be read" if code == 1 else None
    except Exception as e:
        records, error = [], f"{type(e).__name__}: {e}"
    return [(unit, None, None, None, None, None, None, said, error), *records]


def push(rows, recall, url, timeout):
    """Pushes the records of a partition; if that fails, Spark tries the partition again, which pushes nothing twice."""
    lines = [json.dumps({**row.asDict(), "body": json.loads(row["body"])}, ensure_ascii=False) for row in rows]
    if lines:
        code, out, said = run([recall, "team", "push", "-"], "\n".join([url, *lines]).encode(), timeout)
        if code not in (0, 1):
            raise RuntimeError(f"recall team push: exit code {code}: {said}")
        yield [int(word) for word in out.decode().replace(",", "").split()[1::2]], said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", help="folder with <person>/projects/<folder>/….jsonl, at the same path on every worker")
    parser.add_argument("--out", required=True, help="folder for Parquet: units, records, errors")
    parser.add_argument("--projects", help='file with lines like "/home/anna/work/shop" = "example.com/acme/shop"')
    parser.add_argument("--push", metavar="URL", help="address of the team's server; - reads it from standard input")
    parser.add_argument("--recall", default="recall", help="the program, built with --features team, on every worker")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one unit")
    given = parser.parse_args()
    url = sys.stdin.readline().strip() if given.push == "-" else given.push
    projects = open(given.projects, "rb").read() if given.projects else b""
    recall, timeout, units = given.recall, given.timeout, units_below(given.input)
    if not units:
        sys.exit(f"{given.input} has no folder <person>/projects/<folder>")
    spark = SparkSession.builder.appName("recall backfill").getOrCreate()
    # A unit that is made again replaces what it was; names stay as they are.
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    # A task for each unit, so that a slow one holds up no other.
    rows = spark.sparkContext.parallelize(units, len(units)).flatMap(lambda unit: rows_of(unit[0], unit[1], recall, projects, timeout))
    spark.createDataFrame(rows, SCHEMA).write.mode("overwrite").partitionBy("unit").parquet(f"{given.out}/units")
    there = spark.createDataFrame([(unit[0],) for unit in units], "unit string")
    made = spark.read.schema(SCHEMA).parquet(f"{given.out}/units").join(there, "unit", "left_semi")
    columns = list(RECORD)
    made.where("id is not null").select("unit", *columns).write.mode("overwrite").parquet(f"{given.out}/records")
    made.where("error is not null").selectExpr("unit", "concat_ws(': ', error, said) error").write.mode("overwrite").parquet(f"{given.out}/errors")
    records, errors = (spark.read.parquet(f"{given.out}/{name}") for name in ("records", "errors"))
    failed = errors.count()
    print(f"units {len(units)}, records {records.count()}, errors {failed}")
    if url:
        # On the server, pushes to one project follow one another.
        by_project = records.select(*columns).repartition(PUSHERS, "project")
        pushed = by_project.rdd.mapPartitions(lambda rows: push(rows, recall, url, timeout)).collect()
        stored, unchanged, refused = (sum(counts[at] for counts, _ in pushed) for at in range(3))
        print(f"stored {stored}, unchanged {unchanged}, refused {refused}", *(said for _, said in pushed if said), sep="\n")
        failed += refused
    spark.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
