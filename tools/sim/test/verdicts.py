# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdicts of Documentation/evaluation.rst: each can fail.

test/verdicts/ holds medians of what the document was made from ("make figures" writes them).
A check must fail with some other curves: one in the place of all, two exchanged, or the points
in reverse order.
"""

import os
import sys

from tap import equal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "figures"))

import checks  # noqa: E402
import disturbed  # noqa: E402
import ideal  # noqa: E402
import kept  # noqa: E402
import more  # noqa: E402

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
    if isinstance(rows, list):
        return [{k: v if k == "time" else v * factor for k, v in r.items()} for r in rows]
    return {p: [{k: v * factor for k, v in r.items()} for r in runs] for p, runs in rows.items()}


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


def can_fail(_, figure, tables):
    good = {c.what for c in figure.compare(tables).checks if c.ok}
    assert figure.compare(tables).checks, "no check"
    for other in others(tables, figure.sets):
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
    for figure in FIGURES:
        verdict = figure.compare(tables).agrees()
        line = [row for row in text.splitlines() if row.startswith(figure.number + " ")
                and figure.title in row]
        assert line and line[0].endswith("  " + verdict), "%s: %s" % (figure.number, line)


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


def add(tap):
    tables = kept.read(FOLDER)
    tap.test("checks at their limits", arithmetic)
    tap.test("the document's verdicts are those of its data", document, tables)
    for figure in FIGURES:
        tap.test("the verdict of figure %s can fail" % figure.number, can_fail, figure, tables)
