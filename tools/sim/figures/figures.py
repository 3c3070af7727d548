#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Redraw the source's figures 6.1 to 6.26 and write Documentation/evaluation.rst.

Simulates what is missing in the raw folder, then draws.  Numbers of runs in the document
are those of the data that were drawn.  What is not drawn again stays in the document as it is.
"""

import argparse
import csv
import os
import re
import sys
import textwrap

import beyond
import data
import disturbed
import ideal
import kept
import more
import svgplot
from figlib import stem
from sets import SETS

FIGURES = ideal.FIGURES + disturbed.FIGURES + more.FIGURES + beyond.FIGURES
FINE = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
COARSE = [0.05, 0.25, 0.45, 0.65, 0.85, 0.95]
QUICK = [0.05, 0.35, 0.65, 0.95]


def write_csv(path, panels):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["panel", "curve", "runs", "x", "p10", "y", "p90"])
        for panel in panels:
            for line in panel.lines:
                band = {b[0]: b[1:] for b in line.band}
                for x, y in line.points:
                    low, high = band.get(x, ("", ""))
                    row = [panel.title, line.label + (" (dashed)" if line.dashed else ""),
                           line.runs]
                    row += ["%.4g" % v if v != "" else "" for v in (x, low, y, high)]
                    out.writerow(row)


def draw(figure, tables, folder):
    panels = figure.draw(tables)
    with open(os.path.join(folder, stem(figure.number) + ".svg"), "w", encoding="utf-8") as f:
        f.write(svgplot.render(panels))
    write_csv(os.path.join(folder, stem(figure.number) + ".csv"), panels)


def wrap(text):
    return "\n".join(textwrap.wrap(" ".join(text.split()), 96, break_long_words=False,
                                   break_on_hyphens=False))


def runs_of(figure, tables):
    """Runs for each point, as measured."""
    parts = []
    for name in figure.sets:
        t = tables[name]
        if SETS[name].series:
            text = "one run"
        else:
            points = len(next(iter(t.rows.values())))
            text = "%d run%s at each of %d skewnesses" % (t.runs, "s" * (t.runs > 1), points)
            if SETS[name].matrix or points == 1:
                text = "%d run%s" % (t.runs, "s" * (t.runs > 1))
        if not any(text == p[1] for p in parts):
            parts.append((name, text))
    if len(parts) == 1:
        return parts[0][1] + " (``%s``)" % "``, ``".join(figure.sets)
    return "; ".join("``%s``: %s" % p for p in parts)


def heading(figure):
    if figure.number[0].isdigit():
        return "Figure %s: %s" % (figure.number, figure.title)
    return figure.title


def section(figure, verdict, tables):
    head = heading(figure)
    out = [head, "-" * len(head), "", ".. image:: figures/%s.svg" % stem(figure.number),
           "   :alt: " + head, "", wrap("Source: " + figure.claim), "",
           wrap("Here: " + verdict.ours), ""]
    text = "Verdict: **%s**." % verdict.agrees()
    failed = [c.what for c in verdict.checks if not c.ok]
    if failed:
        text += " What fails: %s." % "; ".join(failed)
    if figure.why:
        text += "  " + figure.why
    out += [wrap(text), ""]
    if figure.choice:
        out += [wrap("Chosen, where the source is silent: " + figure.choice), ""]
    out += [wrap("Data: " + runs_of(figure, tables) + "; `values <figures/%s.csv>`__."
                 % stem(figure.number)), ""]
    return out


def past(figure, verdict, tables):
    """A section without a claim to be checked."""
    out = [figure.title, "-" * len(figure.title), "",
           ".. image:: figures/%s.svg" % stem(figure.number), "   :alt: " + figure.title, "",
           wrap(figure.claim), "", wrap("Here: " + verdict.ours), ""]
    if figure.why:
        out += [wrap(figure.why), ""]
    out += [wrap("Data: " + runs_of(figure, tables) + "; `values <figures/%s.csv>`__."
                 % stem(figure.number)), ""]
    return out


def fewest(figure, tables):
    """Runs behind a figure's numbers: of the set with the fewest, and of that with the most."""
    runs = sorted(tables[name].runs for name in figure.sets)
    return "%d" % runs[0] if runs[0] == runs[-1] else "%d, %d" % (runs[0], runs[-1])


class Part:
    """A figure in the document: its rows in the two tables, its section."""

    def __init__(self, figure, rows, numbers, text):
        self.figure = figure
        self.rows = rows
        self.numbers = numbers
        self.text = text


def made(figure, verdict, tables):
    """The part of a figure that has been drawn."""
    if figure in beyond.FIGURES:
        return Part(figure, [], [], past(figure, verdict, tables))
    numbers = [(figure.number, c.what, c.source, c.ours, c.tolerance, fewest(figure, tables),
                "yes" if c.ok else "no") for c in verdict.checks]
    return Part(figure, [(figure.number, figure.title, verdict.agrees())], numbers,
                section(figure, verdict, tables))


class Written:
    """The document as it is: parts of figures that are not drawn again."""

    def __init__(self, path):
        self.lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.lines = f.read().split("\n")

    def rows(self, figure, head):
        """A figure's rows in the tables with such a head."""
        out, columns, ours = [], None, False
        for line in self.lines:
            if re.fullmatch("=+(  =+)+", line):
                columns = [m.span() for m in re.finditer("=+", line)]
            elif not line:
                columns, ours = None, False
            elif columns:
                cells = tuple(line[begin:end].strip() for begin, end in columns)
                ours = ours or cells == head
                if ours and cells[0] == figure.number:
                    out.append(cells)
        return out

    def section(self, title):
        """From its title to the next."""
        titles = [i for i, line in enumerate(self.lines[1:])
                  if re.fullmatch("-{3,}|={3,}", line) and self.lines[i]] + [len(self.lines)]
        for begin, end in zip(titles, titles[1:]):
            if self.lines[begin] == title:
                return "\n".join(self.lines[begin:end]).strip("\n").split("\n") + [""]
        return []

    def part(self, figure):
        """None: the document has none."""
        text = self.section(heading(figure))
        if not text:
            return None
        return Part(figure, self.rows(figure, RESULTS), self.rows(figure, NUMBERS), text)


RESULTS = ("Figure", "Subject", "Verdict")
NUMBERS = ("Figure", "Number", "Source", "Here", "Tolerance", "Runs", "Holds")


def table(head, rows):
    widths = [max(len(r[i]) for r in rows + [head]) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    fmt = "  ".join("%%-%ds" % w for w in widths)
    out = [rule, (fmt % head).rstrip(), rule]
    return out + [(fmt % r).rstrip() for r in rows] + [rule, ""]


def document(parts, path, head):
    with open(head, encoding="utf-8") as f:
        out = f.read().rstrip("\n").split("\n")
    out += ["", "Results in one table", "=" * 20, ""]
    out += table(RESULTS, [r for p in parts for r in p.rows])
    out += ["The numbers behind the verdicts.  A verdict is computed from nothing else.  Runs:",
            "at each point; of several sets of curves, the fewest and the most.", ""]
    out += table(NUMBERS, [r for p in parts for r in p.numbers])
    for title, figures in (("An ideal environment", ideal.FIGURES),
                           ("Preemption, and limited core bandwidth", disturbed.FIGURES),
                           ("Outside the source's chapter 6", more.FIGURES),
                           ("Past the source", beyond.FIGURES)):
        out += [title, "=" * len(title), ""]
        for part in parts:
            if part.figure in figures:
                out += part.text
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out).rstrip("\n") + "\n")


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sim", required=True, help="shuffle-sim")
    p.add_argument("--runs", type=int, default=100, help="for each point (100)")
    p.add_argument("--quick", action="store_true", help="5 runs at 4 skewnesses")
    p.add_argument("--points", help="skewnesses with commas (6 or 10, by set)")
    p.add_argument("--sets", default="", help="simulate these only, and draw their figures again; "
                   "with commas or spaces")
    p.add_argument("--medians", help="folder for medians, from which verdicts are computed again")
    p.add_argument("--keep", action="store_true", help="take any data that are there")
    p.add_argument("--raw", required=True, help="folder for simulated data")
    p.add_argument("--figures", required=True, help="folder for SVG and CSV")
    p.add_argument("--document", required=True, help="evaluation.rst")
    return p.parse_args()


def chosen(names, there):
    """Sets by their names; none: all.  Ends if figures of them need others that are not there."""
    sets = names.replace(",", " ").split()
    unknown = [n for n in sets if n not in SETS]
    if unknown:
        sys.exit("no set: %s; there are %s" % (" ".join(unknown), " ".join(SETS)))
    for figure in FIGURES if sets else ():
        # of runs over time fewer rows are kept than are drawn
        lacks = [n for n in figure.sets if n not in sets and (n not in there or SETS[n].series)]
        if lacks and set(sets) & set(figure.sets):
            sys.exit("figure %s needs these sets, too: %s" % (figure.number, " ".join(lacks)))
    return sets


def load(args, medians):
    """Tables by name, and the sets that were asked for."""
    plan, runs = {False: FINE, True: COARSE}, args.runs
    if args.quick:
        plan, runs = dict.fromkeys(plan, QUICK), 5
    if args.points:
        plan = dict.fromkeys(plan, [float(v) for v in args.points.split(",")])
    there = data.load_kept(list(SETS), *medians)
    sets = chosen(args.sets, there)
    names = sets or list(SETS)
    if args.keep:
        tables = data.load_kept(names, args.raw)
    else:
        tables = data.load(args.sim, names, runs, plan, args.raw)
    return dict(there, **tables), sets


def again(figure, tables, sets):
    """Whether a figure can be drawn again, and is to be."""
    if not all(n in tables for n in figure.sets) or (sets and not set(sets) & set(figure.sets)):
        return False
    return not any(SETS[n].series and tables[n].kept for n in figure.sets)


def main():
    args = arguments()
    tables, sets = load(args, [args.medians] if args.medians else [])
    os.makedirs(args.figures, exist_ok=True)
    written = Written(args.document)
    parts = []
    for figure in FIGURES:
        if not again(figure, tables, sets):
            part = written.part(figure)
            print("figure %-10s %s" % (figure.number, "is as it was" if part else "has no data"))
            parts += [part] if part else []
            continue
        # of what was kept alone the drawing is there, too
        if not all(tables[name].kept for name in figure.sets):
            draw(figure, tables, args.figures)
        verdict = figure.compare(tables)
        parts.append(made(figure, verdict, tables))
        print("figure %-10s %s" % (figure.number, verdict.agrees()
                                   if figure not in beyond.FIGURES else "is drawn"))
    if args.medians:
        kept.write(tables, args.medians)
    head = os.path.join(os.path.dirname(os.path.abspath(__file__)), "head.rst")
    document(parts, args.document, head)
    return 0


sys.exit(main())
