#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what the module's plans cost with AlSader's tables, and write
Documentation/evaluation-collectives.rst.

Costs are those of shuffle-sim --plan.  A difference without a reason, and a reason without a
difference, is an error.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import textwrap

import coll_claims
import coll_source as source
import coll_times
from coll_claims import VERDICTS
from coll_source import METRICS, SIZES

HEAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "head_collectives.rst")


class Costs:
    """Of any plan, from the simulator, which computes all of a size at once."""

    def __init__(self, sim):
        self.sim = sim
        self.known = {}

    def all_of(self, k, r, root, options="all"):
        key = (k, r, root, options)
        if key not in self.known:
            text = subprocess.run(
                [self.sim, "--plan"] + options.split() + ["--hosts", str(k * r), "--racks", str(r),
                                                          "--root", str(root), "--json", "-"],
                check=True, stdout=subprocess.PIPE, text=True).stdout
            self.known[key] = {(p["kind"], p["pattern"]): p for p in json.loads(text)["plans"]}
        return self.known[key]

    def of(self, kind, pattern, k, r, root):
        """All metrics by name."""
        return self.all_of(k, r, root)[kind, pattern]


class Cell:
    """One number: what the source says and what was measured."""

    def __init__(self, row, metric, size, measured):
        self.row = row
        self.metric = metric
        self.size = size
        self.measured = measured

    @property
    def source(self):
        return source.value(self.row.formulas[self.metric], *self.size)

    @property
    def agrees(self):
        return self.measured == self.source

    @property
    def why(self):
        return self.row.why.get(self.metric, self.row.why.get(None))


class Unexplained(ValueError):
    """A difference has no reason, or a reason no difference."""


def measure(costs, rows):
    cells = []
    for row in rows:
        for k, r in row.sizes:
            cost = costs.of(row.kind, row.pattern, k, r, row.root(k))
            cells += [Cell(row, metric, (k, r), cost[metric]) for metric in METRICS]
    return cells


def check(cells):
    """Raise Unexplained if verdicts are not those that are explained."""
    for c in cells:
        if not c.agrees and not c.why:
            raise Unexplained("%s by %s, %d x %d, %s: measured %d, the source has %d, and no "
                              "reason is known" % (c.row.kind, c.row.word, *c.size, c.metric,
                                                   c.measured, c.source))
    for row in {c.row for c in cells}:
        for metric in row.why:
            if all(c.agrees for c in cells if c.row == row and metric in (None, c.metric)):
                raise Unexplained("%s by %s, %s: the reason of a difference, but there is none"
                                  % (row.kind, row.word, metric or "all"))


def verdict(cells):
    """Of one row and metric, or of many."""
    return VERDICTS[all(c.agrees for c in cells)]


def table(head, rows):
    """A simple table."""
    rows = [[str(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    rule = " ".join("=" * w for w in widths)
    lines = [" ".join(v.ljust(w) for v, w in zip(row, widths)).rstrip() for row in [head] + rows]
    return [rule, lines[0], rule] + lines[1:] + [rule, ""]


def title(text, mark):
    return [text, mark * len(text), ""]


def wrap(text):
    return textwrap.wrap(" ".join(text.split()), 96) + [""]


def of(cells, **want):
    return [c for c in cells if all(getattr(c, name) == v for name, v in want.items())]


def sizes_head(sizes):
    return ["%d x %d" % size for size in sizes]


def metric_table(cells, metric, rows, sizes):
    """Those that differ have two lines more."""
    lines = []
    for row in rows:
        mine = of(cells, row=row, metric=metric)
        lines.append([row.kind, row.word, source.shown(row.formulas[metric])] +
                     [c.measured for c in mine] + [verdict(mine)])
        if verdict(mine) == "differs":
            lines.append(["source's", "", ""] + [c.source for c in mine] + [""])
            lines.append(["difference", "", ""] + ["%+d" % (c.measured - c.source) for c in mine] +
                         [""])
    return table(["Operation", "Pattern", "Source"] + sizes_head(sizes) + ["Verdict"], lines)


def summary(cells):
    lines = []
    for row in source.ROWS:
        mine = of(cells, row=row)
        bad = [m for m in METRICS if verdict(of(mine, metric=m)) == "differs"]
        good = len(METRICS) - len(bad)
        lines.append([row.kind, row.word, "--plan %s --pattern %s" % (row.kind, row.pattern),
                      "%d of %d" % (good, len(METRICS)), verdict(mine)])
    return table(["Operation", "Pattern", "shuffle-sim", "Agree", "Verdict"], lines)


def reasons(cells):
    out = []
    for row in source.ROWS:
        for metric, why in row.why.items():
            bad = [m for m in METRICS if metric in (None, m)
                   and verdict(of(cells, row=row, metric=m)) == "differs"]
            names = ", ".join(METRICS[m][1] for m in bad)
            text = "*%s by %s* (%s): %s" % (row.kind.capitalize(), row.word, names, why)
            out += ["- " + "\n  ".join(textwrap.wrap(text, 96))]
    return out + [""]


def contradictions(cells):
    """Which of two formulas of the source holds, at all sizes."""
    lines = []
    for place, kind, word, metric, text, printed in source.CONTRADICTIONS:
        mine = [c for c in cells if (c.row.kind, c.row.word, c.metric) == (kind, word, metric)]
        holds = [all(c.measured == source.value(f, *c.size) for c in mine) for f in (text, printed)]
        if holds.count(True) != 1:
            raise Unexplained("%s by %s, %s: of %s and %s not one holds" % (kind, word, metric,
                                                                            text, printed))
        what = "%s, %s, %s" % (kind, word, METRICS[metric][1])
        for where, formula, right in (("text " + place, text, holds[0]),
                                      ("table " + METRICS[metric][2], printed, holds[1])):
            lines.append([where, what, source.shown(formula), source.value(formula, 4, 4),
                          VERDICTS[right]])
    return table(["Where", "What", "Says", "4 x 4", "Verdict"], lines)


def bruck_rule(costs):
    """Bruck's pattern by its rule, where the module goes in pairs; and the module's own."""
    row = [row for row in source.ROWS if row.word == "Bruck"][0]
    cells = [Cell(row, metric, size, v) for size in SIZES
             for metric, v in zip(METRICS, source.bruck(*size))]
    odd = measure(costs, source.ODD_ROWS)
    for c in cells + odd:
        if not c.agrees:
            raise Unexplained("Bruck's, %d x %d, %s: %d, the source has %d" % (
                *c.size, c.metric, c.measured, c.source))
    lines = []
    for metric in METRICS:
        mine = of(odd, metric=metric)
        mine += [c for c in of(cells, metric=metric) if c.size in SIZES[-2:]]
        lines.append([METRICS[metric][1], source.shown(row.formulas[metric])] +
                     [c.measured for c in mine] + [verdict(mine)])
    return table(["Bruck", "Source"] + sizes_head(source.ODD_SIZES) +
                 [size + " R" for size in sizes_head(SIZES[-2:])] + ["Verdict"], lines)


def document(costs, cells):
    check(cells)
    with open(HEAD, encoding="utf-8") as f:
        out = f.read().rstrip("\n").split("\n") + [""]
    out += title("Results in one table", "=") + summary(cells)
    good = sum(c.agrees for c in cells)
    out += wrap("Of %d numbers %d are the source's; the rest differ for these reasons:"
                % (len(cells), good)) + reasons(cells)
    last = None
    for metric, (name, _, number) in METRICS.items():
        if number != last:
            out += title("Table %s" % number, "=")
        last = number
        out += title(name, "-") + metric_table(cells, metric, source.ROWS, SIZES)
    out += title("Where the source says two things", "=")
    out += wrap("Formulas, and what they give for four racks of four. What agrees is what the "
                "plans cost at all five sizes.") + contradictions(cells)
    out += title("Bruck's pattern", "=")
    out += wrap("With three or 31 racks N is no power of two, and the module has Bruck's pattern "
                "itself; logarithms are rounded up. *R*: counted message by message by a "
                "script, from the rule and without the module's plans.") + bruck_rule(costs)
    forms = coll_claims.Forms(title, table, wrap)
    out += coll_claims.chapter(costs, cells, forms) + coll_times.chapter(costs, forms)
    return "\n".join(out).rstrip("\n") + "\n"


def values(cells):
    """All numbers, as CSV."""
    f = io.StringIO()
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["kind", "pattern", "source's pattern", "members of a rack", "racks", "cost",
                  "formula", "source", "measured", "difference", "verdict"])
    for c in cells:
        out.writerow([c.row.kind, c.row.pattern, c.row.word, *c.size, c.metric,
                      source.shown(c.row.formulas[c.metric]), c.source, c.measured,
                      c.measured - c.source, verdict([c])])
    return f.getvalue()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sim", required=True, help="shuffle-sim")
    p.add_argument("--figures", required=True, help="folder for the CSV")
    p.add_argument("--document", required=True, help="evaluation-collectives.rst")
    args = p.parse_args()
    costs = Costs(args.sim)
    cells = measure(costs, source.ROWS)
    try:
        text = document(costs, cells)
    except Unexplained as e:
        print("collectives: %s" % e, file=sys.stderr)
        return 1
    os.makedirs(args.figures, exist_ok=True)
    for path, what in ((os.path.join(args.figures, "coll-costs.csv"), values(cells)),
                       (args.document, text)):
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(what)
    print("collectives: %d of %d numbers are the source's" % (sum(c.agrees for c in cells),
                                                              len(cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
