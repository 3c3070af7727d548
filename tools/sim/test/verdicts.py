# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdicts of Documentation/evaluation.rst: each can fail.

test/verdicts/ holds medians of what the document was made from ("make figures" writes them).
A check must fail with some other curves: one in the place of all, two exchanged, or the points
in reverse order.
"""

import itertools
import os
import re
import sys

from tap import equal, has, true

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "figures"))

import checks  # noqa: E402
import disturbed  # noqa: E402
import ideal  # noqa: E402
import kept  # noqa: E402
import more  # noqa: E402
from figlib import throughput, wins  # noqa: E402
from sets import SETS  # noqa: E402

FOLDER = os.path.join(HERE, "verdicts")
FIGURES = ideal.FIGURES + disturbed.FIGURES + more.FIGURES


class Changed:
    """The tables of a figure with other rows in one of them."""

    def __init__(self, tables, name, rows):
        self.tables = dict(tables)
        old = tables[name]
        new = object.__new__(type(old))
        new.__dict__.update(old.__dict__)
        new.rows = rows
        self.tables[name] = new


def backwards(rows):
    if isinstance(rows, list):
        return [dict(a, time=b["time"]) for a, b in zip(reversed(rows), rows)]
    return dict(zip(sorted(rows), [rows[p] for p in sorted(rows, reverse=True)]))


def scaled(rows, factor):
    """Better or worse by a factor in all that is measured."""
    def other(row):
        same = ("time", "at", "of", "ratios")
        return {k: v if k in same else v * factor for k, v in row.items()}

    if isinstance(rows, list):
        return [other(r) for r in rows]
    return {p: [other(r) for r in runs] for p, runs in rows.items()}


def others(tables, names):
    """Tables in which something is not what its name says."""
    for name in names:
        rows = tables[name].rows
        for x in rows:
            yield Changed(tables, name, {c: rows[x] for c in rows}).tables
            for y in rows:
                if x < y:
                    swapped = dict(rows)
                    swapped[x], swapped[y] = rows[y], rows[x]
                    yield Changed(tables, name, swapped).tables
        yield Changed(tables, name, {c: backwards(r) for c, r in rows.items()}).tables
        if len(rows) == 1:
            for factor in (0.5, 2):
                yield Changed(tables, name,
                              {c: scaled(r, factor) for c, r in rows.items()}).tables


def foreign(tables, names):
    """A table with a curve of another set, with as many percentiles, in the place of all."""
    full = [n for n in tables if tables[n].full]
    for name in names:
        for other in full if name in full else ():
            for rows in tables[other].rows.values():
                yield Changed(tables, name, {c: rows for c in tables[name].rows}).tables


def can_fail(_, figure, tables):
    good = {c.what for c in figure.compare(tables).checks if c.ok}
    true(figure.compare(tables).checks, "no check")
    for other in itertools.chain(others(tables, figure.sets), foreign(tables, figure.sets)):
        if not good:
            return
        try:
            got = figure.compare(other).checks
        except (IndexError, ZeroDivisionError, KeyError):
            continue
        good -= {c.what for c in got if not c.ok}
    equal(good, set(), "checks that hold whatever is measured")


def document(_, tables):
    """The document says what the checks say of the same data."""
    with open(os.path.join(HERE, "../../../Documentation/evaluation.rst"), encoding="utf-8") as f:
        text = f.read()
    rows = text.splitlines()
    for figure in FIGURES:
        verdict = figure.compare(tables)
        mine = [row for row in rows if row.startswith(figure.number + " ")]
        line = [row for row in mine if figure.title in row]
        true(line, "%s: %s" % (figure.number, line))
        assert line[0].endswith("  " + verdict.agrees()), "%s: %s" % (figure.number, line)
        for check in verdict.checks:
            line = [row for row in mine if "  %s  " % check.what in row]
            true(line, "%s: %s" % (check.what, line))
            has(line[0], "  %s  " % check.source, "%s: %s" % (check.what, line))
            assert line[0].endswith("  yes" if check.ok else "  no"), line[0]
            # of runs over time fewer rows are kept than were drawn
            if not any(SETS[name].series for name in figure.sets):
                has(line[0], "  %s  " % check.ours, "%s: %s" % (check.ours, line[0]))


def tolerances(_, tables):
    """The document argues for each tolerance that is not the usual one."""
    with open(os.path.join(HERE, "../../../Documentation/evaluation.rst"), encoding="utf-8") as f:
        text = f.read()
    argued = text[text.index("\nTolerances\n==="):text.index("\nWhat differs from ")]
    for figure in FIGURES:
        for check in figure.compare(tables).checks:
            if check.tolerance.lstrip("+-") in ("10 %", "none"):
                continue
            assert re.search(r"[( ]%s[,)]" % re.escape(figure.number), argued), \
                "%s, %s: %s is not argued for" % (figure.number, check.what, check.tolerance)


def arithmetic(_):
    """Checks at their limits, and three verdicts."""
    near, most, least = checks.near, checks.at_most, checks.at_least
    equal([near("", 10, v).ok for v in (8.9, 9.0, 11.0, 11.1)], [False, True, True, False], "near")
    equal([most("", 10, v).ok for v in (0, 11.0, 11.1)], [True, True, False], "at most")
    equal([least("", 10, v).ok for v in (8.9, 9.0, 99)], [False, True, True], "at least")
    equal([most("", 0, v, slack=2).ok for v in (-5, 2, 2.1)], [True, True, False], "slack")
    equal([checks.between("", 20, 30, v).ok for v in (17.9, 18, 33, 33.1)],
          [False, True, True, False], "between")
    equal([checks.more("", a, 1).ok for a in (0, 1, 2)], [False, False, True], "more")
    equal([checks.everywhere("", n, 3).ok for n in (2, 3)], [False, True], "everywhere")
    yes, no = checks.more("", 1, 0), checks.more("", 0, 1)
    equal([checks.Verdict("", c).agrees() for c in ([yes, yes], [yes, no], [no])],
          ["agrees", "agrees in part", "differs"], "verdicts")


def orders(_, tables):
    """What is equal is not ahead; half a percent may be forgiven."""
    t = tables["preempt-40"]
    n = len(t.points("GRPF 20"))
    equal(wins(t, "GRPF 20", "GRPF 20", throughput), (0, n), "equal curves")
    equal(wins(t, "GRPF 20", "GRPF 20", throughput, 0.005), (n, n), "equal curves, forgiven")
    equal(wins(t, "Hadoop 20", "MADD 20", throughput, 0.005), (0, n), "the worse curve")


def add(tap):
    tables = kept.read(FOLDER)
    tap.test("checks at their limits", arithmetic)
    tap.test("a curve ahead of another", orders, tables)
    tap.test("the document's verdicts are those of its data", document, tables)
    tap.test("the document argues for its tolerances", tolerances, tables)
    for figure in FIGURES:
        tap.test("the verdict of figure %s can fail" % figure.number, can_fail, figure, tables)
