#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of shuffle-query beside those of sqlite3 on the same random tables. TAP.

usage: sqlite.py PROGRAM [DATASETS]
"""
import csv
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

from tap import Tap, fail  # noqa: E402

TABLES = {
    "wiki": [("language", str), ("views", int)],
    "edits": [("contributor_ip", str)],
    "commits": [("repo_name", str), ("author", str)],
    "languages": [("repo_name", str), ("lang", str), ("lang_bytes", int)],
}
# strings that a reader of CSV or a comparison may get wrong
ODD = ["", " ", "a,b", 'say "x"', "two\nlines", "\u00e9t\u00e9", "Z", "z", "0", "-1",
       "\u00ff", "a\r\nb", "x" * 300, '"', ",", "NULL"]
ODD_NUMBERS = [0, -1, 1, 2**34 + 1, -2**34, 999, 1000, 2**31]


def sql_of_queries(program):
    lines = subprocess.run([program, "list"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {a.split()[0]: (a.split("tables: ")[1].split(), b.strip())
            for a, b in zip(lines[::2], lines[1::2])}


def key(rng, prefix, keys, skew):
    """The k-th key, small k more often; sometimes a string that is odd."""
    k = int(keys * rng.random() ** skew)
    return ODD[k] if k < len(ODD) and rng.random() < 0.3 else f"{prefix}{k}"


def make_tables(rng):
    rows = rng.choice([0, 1, 7, 50, 300])
    keys = rng.choice([1, 3, 20, 200])
    skew = rng.choice([1, 2, 6])
    lang = rng.choice([2, 5, 40])

    def number():
        return rng.choice(ODD_NUMBERS) if rng.random() < 0.1 else rng.randrange(5)

    def langs():
        return rng.choice(["C", "Go", "C++"]) if rng.random() < 0.5 else key(rng, "l", lang, 1)

    return {
        "wiki": [(key(rng, "w", keys, skew), number()) for _ in range(rows)],
        "edits": [(key(rng, "ip", keys, skew),) for _ in range(rows)],
        "commits": [(key(rng, "r", keys, skew), key(rng, "a", lang, 1)) for _ in range(rows)],
        "languages": [(key(rng, "r", keys, skew), langs(), number() * rng.choice([1, 700]))
                      for _ in range(rng.choice([rows, rows // 3]))],
    }


def write_csv(path, table, rows, rng):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f, lineterminator=rng.choice(["\n", "\r\n"]),
                       quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL,
                                           csv.QUOTE_NONNUMERIC]))
        w.writerow([name for name, _ in TABLES[table]])
        w.writerows(rows)


def write_tables(rng, program, folder, tables, parts):
    for table, rows in tables.items():
        # parts of any number, dealt as it happens, some empty; or one file for all
        shape = rng.choice(["whole", "parts"])
        count = 1 if shape == "whole" else rng.randrange(1, parts + 2)
        dealt = [[] for _ in range(count)]
        for row in rows:
            dealt[rng.randrange(count)].append(row)
        for i, some in enumerate(dealt):
            path = f"{folder}/{table}.csv" if shape == "whole" else f"{folder}/{table}.{i}.csv"
            write_csv(path, table, some, rng)
            if rng.random() < 0.4:
                columns = " ".join(n + (":int" if t is int else "") for n, t in TABLES[table])
                done = subprocess.run([program, "convert", "--columns", columns, path,
                                       path[:-3] + "shq"], capture_output=True)
                if done.returncode:
                    return done.stderr.decode()
                os.remove(path)
    return None


def by_sqlite(tables, sql):
    db = sqlite3.connect(":memory:")
    for table, columns in TABLES.items():
        types = ", ".join(f"{n} {'INTEGER' if t is int else 'TEXT'}" for n, t in columns)
        db.execute(f"CREATE TABLE {table} ({types})")
        marks = ", ".join("?" * len(columns))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", tables[table])
    return [list(row) for row in db.execute(sql)]


def by_program(program, query, folder, hosts, hot, types):
    got = subprocess.run([program, "run", query, "--tables", folder, "--local", "--hosts",
                          str(hosts), "--hot", hot], capture_output=True)
    if got.returncode:
        return got.stderr.decode()
    rows = list(csv.reader(got.stdout.decode().splitlines(keepends=True)))
    if types is None:
        return rows[1:]
    return [[t(v) for t, v in zip(types, row)] for row in rows[1:]]


def dataset(program, queries, seed):
    """Why it fails, or None."""
    rng = random.Random(seed)
    tables = make_tables(rng)
    hosts = rng.choice([1, 2, 3, 4, 7, 8, 16, 32])
    with tempfile.TemporaryDirectory() as folder:
        wrong = write_tables(rng, program, folder, tables, hosts)
        if wrong:
            return f"seed {seed}: {wrong}"
        for query, (_, sql) in queries.items():
            hot = rng.choice(["auto", "off", "on"])
            want = by_sqlite(tables, sql)
            types = [type(v) for v in want[0]] if want else None
            got = by_program(program, query, folder, hosts, hot, types)
            if got != want:
                return (f"seed {seed}: {query} on {hosts} hosts, --hot {hot}:\n"
                        f"want {str(want)[:300]}\ngot  {str(got)[:300]}")
    return None


def several(program, queries, first, last):
    why = [w for w in (dataset(program, queries, seed) for seed in range(first, last + 1)) if w]
    if why:
        fail("\n".join(why[:3]))


def main():
    program = sys.argv[1]
    datasets = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    queries = sql_of_queries(program)
    tap = Tap("query")
    group = 25
    for first in range(0, datasets, group):
        last = min(first + group, datasets) - 1
        tap.run_test(f"as sqlite3, data sets {first} to {last}", several, program, queries, first,
                     last)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
