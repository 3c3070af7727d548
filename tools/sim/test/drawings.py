# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles are drawn of 100 runs or more, whoever draws, and the document names the runs."""

import csv
import os
import re
import sys
import tempfile

from tap import at_most, equal, true

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "figures"))

import beyond  # noqa: E402
import data  # noqa: E402
import disturbed  # noqa: E402
import figlib  # noqa: E402
import ideal  # noqa: E402
import kept  # noqa: E402
import more  # noqa: E402
import svgplot  # noqa: E402
from figlib import stem  # noqa: E402

DOCUMENTS = os.path.join(HERE, "../../../Documentation")
FIGURES = ideal.FIGURES + disturbed.FIGURES + more.FIGURES + beyond.FIGURES
ENOUGH = 100


def table_of(runs, folder):
    """A set of one curve at two skewnesses."""
    path = os.path.join(folder, "some.csv")
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f)
        out.writerow(["curve", "point", "skewness", "throughput"])
        for point in (0.1, 0.9):
            for run in range(runs):
                out.writerow(["a", point, point, 20 + run / runs])
    return data.Table(path)


def refused(table):
    try:
        table.stat("a", 0.1, figlib.throughput, 0.1)
    except KeyError:
        return True
    return False


def enough(_):
    """A table of 99 runs has no percentiles, a line of it no band; with 100 both have."""
    area = [(0, 1, 2), (1, 1, 2)]
    equal([len(svgplot.Line("", [], n, area).band) for n in (1, ENOUGH - 1, ENOUGH)], [0, 0, 2],
          "bands of lines")
    equal(svgplot.Line("", [], band=area).band, [], "the band of a line without its runs")
    with tempfile.TemporaryDirectory() as folder:
        for runs in (1, ENOUGH - 1, ENOUGH):
            table = table_of(runs, folder)
            few = runs < ENOUGH
            panel = figlib.by_skewness("", table, ["a"], figlib.throughput, "")
            equal(len(panel.lines[0].band), 0 if few else 2, "band of %d runs" % runs)
            equal(svgplot.render([panel]).count("<polygon"), 0 if few else 1, "areas")
            equal(refused(table), few, "the tenth percentile of %d runs is refused" % runs)
            equal(kept.percentiles(table), (0.1, 0.5, 0.9, 1) if not few else
                  (0.5, 1) if runs > 1 else (0.5,), "kept percentiles of %d runs" % runs)


def named_runs(text, figure):
    """Numbers of runs below a figure in the document."""
    begin = text.index("figures/%s.svg\n" % stem(figure.number))
    line = re.search(r"^Data: (.*?);\s+`values\s", text[begin:], re.M | re.S)
    true(line, "no runs are named")
    return {1 if n == "one" else int(n) for n in re.findall(r"(\d+|one) runs?\b", line.group(1))}


def drawn(_, figure):
    """A figure's values and areas, as they are in the document."""
    with open(os.path.join(DOCUMENTS, "evaluation.rst"), encoding="utf-8") as f:
        named = named_runs(f.read(), figure)
    path = os.path.join(DOCUMENTS, "figures", stem(figure.number))
    with open(path + ".csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    true(rows, "no values, or no runs")
    true(named, "no values, or no runs")
    runs = {int(row["runs"]) for row in rows}
    at_most(runs, named, "values of %s runs, the document names %s" % (runs, named))
    shaded = {(row["panel"], row["curve"]) for row in rows if row["p10"] or row["p90"]}
    few = sorted(row["curve"] for row in rows
                 if (row["p10"] or row["p90"]) and int(row["runs"]) < ENOUGH)
    equal(few, [], "curves with percentiles of fewer than %d runs" % ENOUGH)
    with open(path + ".svg", encoding="utf-8") as f:
        equal(f.read().count("<polygon"), len(shaded), "shaded areas")


def add(tap):
    tap.test("percentiles need 100 runs", enough)
    for figure in FIGURES:
        tap.test("figure %s: runs, and percentiles of 100" % figure.number, drawn, figure)
