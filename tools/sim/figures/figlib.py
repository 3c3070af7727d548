# SPDX-License-Identifier: GPL-2.0-or-later
"""What figures are made of: panels from data, comparisons with the source's claims."""

from svgplot import COLOURS, Line, Panel

SKEW = "message skewness"
RATE = 25.0
PACKET_MB = 1500e-6


def throughput(row):
    return row["throughput"]


def optimality(row):
    return row["optimality"]


def mb(column):
    return lambda row: row[column] * PACKET_MB


class Figure:
    """number: of the source; sets: that it needs; draw(data): panels;
    compare(data): a Verdict; why: explains a difference; choice: parameters that the
    source does not give.
    """

    def __init__(self, number, title, claim, sets, draw, compare, why="", choice=""):
        self.number = number
        self.title = title
        self.claim = claim
        self.sets = sets
        self.draw = draw
        self.compare = compare
        self.why = why
        self.choice = choice


def stem(number):
    """6.1 is fig-6.01: names in the order of figures."""
    if "." not in number:
        return "fig-" + number
    chapter, n = number.split(".")
    return "fig-%s.%02d" % (chapter, int(n))


def lines(table, curves, value, band=True, scale=1.0, labels=None, dashed=False):
    """A line of medians for each curve, with its band of p10 to p90 if there are enough runs."""
    out = []
    for i, curve in enumerate(curves):
        rows = table.spread(curve, value)
        area = [(x, lo * scale, hi * scale) for x, lo, _, hi in rows] if band and table.full else ()
        out.append(Line(labels[i] if labels else curve, [(x, m * scale) for x, _, m, _ in rows],
                        table.runs, area, dashed, COLOURS[i % len(COLOURS)]))
    return out


def by_skewness(title, table, curves, value, ylabel, labels=None, ymin=None, ymax=None,
                scale=1.0):
    return Panel(title, SKEW, ylabel, lines(table, curves, value, labels=labels, scale=scale),
                 ymin, ymax)


def over_time(title, series, columns, ylabel, width=4, ymin=0, ymax=None):
    """columns: (curve, column, label, dashed, colour index)."""
    out = []
    for curve, column, label, dashed, colour in columns:
        out.append(Line(label, series.line(curve, column, width), dashed=dashed,
                        colour=COLOURS[colour % len(COLOURS)]))
    return Panel(title, "time / bound", ylabel, out, ymin, ymax)


def medians(table, curve, value, low=0.0, high=1.0):
    """Medians of the points between two skewnesses."""
    return [table.stat(curve, p, value, 0.5) for p in table.points(curve) if low <= p <= high]


def worst_gap(table, curve, other, value, at=0.5):
    """(greatest loss of the median of paired ratios, where)."""
    gaps = [(1 - table.paired(curve, other, p, value, at), p) for p in table.points(curve)]
    return max(gaps)


def percent(x, digits=1):
    return "%.*f %%" % (digits, 100 * x)


def span(values, scale=100.0, unit=" %", digits=1):
    return "%.*f to %.*f%s" % (digits, min(values) * scale, digits, max(values) * scale, unit)


def wins(table, better, worse, value, slack=0.0):
    """At how many points a median is above another less slack, and of how many."""
    points = table.points(better)
    good = sum(table.stat(better, p, value, 0.5) > table.stat(worse, p, value, 0.5) * (1 - slack)
               for p in points)
    return good, len(points)
