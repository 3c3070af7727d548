# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/evaluation-streams.rst is what the simulator makes: a part of it, again."""

import csv
import os
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "../../../Documentation")
FIGURES = os.path.join(HERE, "../figures")
sys.path.insert(0, FIGURES)

import stream_runs as runs  # noqa: E402
import stream_source as source  # noqa: E402
import streams  # noqa: E402
from tap import at_most, equal, has, starts  # noqa: E402


def rows(name):
    with open(os.path.join(DOCS, "figures", name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def text():
    with open(os.path.join(DOCS, "evaluation-streams.rst"), encoding="utf-8") as f:
        return f.read()


def again(tap):
    """document: a row of stream-lengths.csv again"""
    got = tap.run(runs.length(500, 5), tap.sim)["dfs"]
    (row,) = [r for r in rows("stream-lengths.csv")
              if (r["slices"], r["speedup_percent"]) == ("500", "5")]
    for key, value in (("of_bench", got["of_bench"]), ("gap_p50_us", got["gap_us"]["p50"]),
                       ("gap_p90_us", got["gap_us"]["p90"]), ("fill_p95", got["fill"]["p95"])):
        at_most(abs(float(row[key]) - value), 1e-6 * value, "%s: %r, %r" % (key, row, value))


def verdicts(_):
    """document: a difference needs a reason, and a reason a difference"""
    d = streams.Document(None, SimpleNamespace(quick=False, figures="."))
    for key, measured, said in ((("7", "dfs", 128), 80, 80), (("7", "ratio", 128), 2, 1)):
        try:
            d.verdict(key, measured, said)
        except streams.Unexplained:
            continue
        raise AssertionError("%r: nobody complains" % (key,))
    got = [source.agrees(v, 100) for v in (84.9, 85.1, 114.9, 115.1)]
    equal(got, [False, True, True, False], "tolerance: %r" % got)


def tables(_):
    """document: its head, and its tables have what the files have"""
    doc = text()
    with open(os.path.join(FIGURES, "head_streams.rst"), encoding="utf-8") as f:
        starts(doc, f.read().rstrip("\n"), "its head is another one")
    for row in rows("stream-7.csv"):
        for name in ("dfs", "none"):
            has(doc, "%.1f %%" % float(row[name + "_percent"]), "doc")
        has(source.FIGURE_7, int(row["nodes"]), "source.FIGURE_7")
    for row in rows("stream-networks.csv"):
        has(doc, row["network"], "doc")
        has(doc, "%.3f" % float(row["none_of_bench"]), "doc")
    listed = [(r["network"], r["options"]) for r in rows("stream-networks.csv")]
    equal(listed, list(runs.NETWORKS), "other networks")


TESTS = (again, verdicts, tables)
