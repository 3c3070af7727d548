# SPDX-License-Identifier: GPL-2.0-or-later
"""Medians of small versions of the figures: they may move by 2 %, or somebody must say why."""

import csv
import os
import sys

from call import Sim
from tap import within

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "medians.csv")
TOLERANCE = 0.02
BASE = "--unsched none --window const --randomise off "

# name, options for all, curves: as in figures/sets.py, with fewer hosts and shorter messages
SMALL = [
    ("6.1", "--hosts 40", [("MADD", "--algo madd"), ("GRPF", ""),
                           ("Hadoop-5", "--algo hadoop")]),
    ("6.5", "--hosts 40 --prio none " + BASE + "--overcommit 1",
     [("GRPF", ""), ("GRPT", "--algo grpt"), ("SRPT", "--algo srpt")]),
    ("6.7", "--hosts 40 " + BASE, [("OverCommit10", "--prio none"), ("+Prio", "--prio edge")]),
    ("6.8", "--hosts 40 --prio none --unsched none",
     [("ProRata", "--randomise off"), ("+Rand", "")]),
    ("6.10", "--hosts 40", [("none", "--unsched none"), ("each", "--unsched message")]),
    ("6.13", "--hosts 20 --mean 100 --preempt 10",
     [("MADD", "--algo madd"), ("GRPF", ""), ("headroom", "--headroom 4"),
      ("alternate", "--preempt-order alternate"),
      ("Hadoop-10", "--algo hadoop --connections 10")]),
    ("6.21", "--hosts 80 --racks 4 --core 0.5 --prio core",
     [("Edge", "--prio edge"), ("Core", ""), ("GlobalSched", "--global sched"),
      ("Stale1", "--global sched --stale 1"),
      ("total", "--global total"), ("n=1", "--global sched --power 1"), ("all announced", "--announce all"),
      ("gossip", "--announce all --global gossip --power 0")]),
]


def measure(tap, options, curves):
    opts = options + " --runs 5 --skewness 0.1,0.5,0.9"
    for label, more in curves:
        opts += " --curve %s %s" % (label.replace(" ", "_"), more)
    out = {}
    for r in tap.run(opts):
        out.setdefault(r["curve"], []).append(r["optimality"]["p50"])
    return out


def compare(tap, name, got):
    with open(PATH, encoding="utf-8", newline="") as f:
        want = {(row[0], row[1]): [float(v) for v in row[2:]] for row in csv.reader(f)
                if row and not row[0].startswith("#")}
    for curve, values in got.items():
        for value, old in zip(values, want[(name, curve)]):
            within(value, old * (1 - TOLERANCE), old * (1 + TOLERANCE), "%s, %s" % (name, curve))


def regression(tap, sim, name, options, curves):
    slow, tap.sim = tap.sim, sim
    try:
        compare(tap, name, measure(tap, options, curves))
    finally:
        tap.sim = slow


def add(tap, sim):
    for name, options, curves in SMALL:
        tap.test("medians like those of figure " + name, regression, sim, name, options, curves)


def write(sim):
    """medians.py PROGRAM: new medians, when they have moved for a reason."""
    tap = Sim(sim)
    with open(PATH, "w", encoding="utf-8", newline="") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0-or-later\n"
                "# figure, curve, shares of the bound at skewness 0.1, 0.5, 0.9; see medians.py\n")
        out = csv.writer(f, lineterminator="\n")
        for name, options, curves in SMALL:
            for curve, values in measure(tap, options, curves).items():
                out.writerow([name, curve] + ["%.4f" % v for v in values])
    tap.end()


if __name__ == "__main__":
    write(sys.argv[1])
