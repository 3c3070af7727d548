# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/evaluation-aggregation.rst is what this planner makes: its quick parts, again."""

import csv
import os
import sys

from tap import equal, has, near, starts

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "../../../Documentation")
sys.path.insert(0, os.path.join(HERE, "../figures"))

import agg_source as source  # noqa: E402
import aggregation  # noqa: E402

# File, its first column, what is run again: value of that column, options.
AGAIN = [
    ("agg-4.csv", "k", [(k, "--bcube 6,%d --random 60x60 --runs 100" % k) for k in (2, 3)]),
    ("agg-5.csv", "members", [(n, "--bcube 8,5 --random %dx%d" % (n, n)) for n in (50, 200)]),
]


def rows(name):
    with open(os.path.join(DOCS, "figures", name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def values(tap, plan, name, column, runs):
    found = rows(name)
    for x, options in runs:
        for rule in ("all", "children"):
            got = tap.json("%s --objective links --method none,unicast,kmb,irs,srs --merge %s"
                           % (options, rule), plan)
            for m in got["methods"]:
                (row,) = [r for r in found if (r[column], r["rule"], r["method"]) ==
                          (str(x), rule, m["method"])]
                near(m["cost"][0], float(row["traffic"]), "%s, %s, traffic" % (name, row))
                near(m["links"], float(row["links"]), "%s, %s, links" % (name, row))
                near(m["input"][0], float(row["input"]), "%s, %s, input" % (name, row))


def factor(tap, plan):
    """Figure 6, at 250."""
    found = {(float(r["delta"]), r["method"]): float(r["traffic"])
             for r in rows("agg-6.csv") if r["members"] == "250"}
    got = tap.json("--bcube 8,5 --random 250x250 --irs post --objective links --method "
                   "none,unicast,srs --summary --delta 0,0.25,0.5,1", plan)
    for m in got["methods"]:
        for delta, cost in zip(got["delta"], m["cost"]):
            near(cost, found[delta, m["method"]], "%s, delta %g" % (m["method"], delta))


def verdicts(_):
    """A difference needs a reason, and a reason a difference."""
    for key, result in ((("4a", "srs"), "differs"), (("4a", "kmb"), "agrees")):
        try:
            aggregation.explain(key, result, [])
        except aggregation.Unexplained:
            continue
        raise AssertionError("%r, %s: nobody complains" % (key, result))
    equal([source.agrees(v, 100) for v in (84.9, 85.1, 114.9, 115.1)],
          [False, True, True, False], "tolerance")


def text(_):
    """The document has what its tables need."""
    with open(os.path.join(DOCS, "evaluation-aggregation.rst"), encoding="utf-8") as f:
        doc = f.read()
    with open(os.path.join(HERE, "../figures/head_aggregation.rst"), encoding="utf-8") as f:
        starts(doc, f.read().rstrip("\n"), "its head is another one")
    for figure, method in source.SAVINGS:
        has(doc, "%.2f" % source.SAVINGS[figure, method], "doc")
    four = {(int(r["k"]), r["method"]): float(r["traffic"]) for r in rows("agg-4.csv")
            if r["rule"] == "all"}
    for method in source.TABLE_1:
        for k in source.TABLE_1_K:
            has(doc, " %.0f " % four[k, method], "table 1: %s, k = %d" % (method, k))


def add(tap, plan):
    for name, column, runs in AGAIN:
        tap.test("document: values of " + name, values, plan, name, column, runs)
    tap.test("document: values of agg-6.csv", factor, plan)
    tap.test("document: verdicts need reasons", verdicts)
    tap.test("document: its tables", text)
