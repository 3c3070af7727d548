#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Redraw the source's figures 6.1 to 6.26 and write Documentation/evaluation.rst.

Simulates what is missing in the raw folder, then draws.  Numbers of runs in the document
are those of the data that were drawn.
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


def section(figure, verdict, tables):
    head = figure.title
    if figure.number[0].isdigit():
        head = "Figure %s: %s" % (figure.number, head)
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


def summary(verdicts, tables):
    rows = [(f.number, f.title, v.agrees()) for f, v in verdicts]
    out = table(("Figure", "Subject", "Verdict"), rows)
    out += ["The numbers behind the verdicts.  A verdict is computed from nothing else.  Runs:",
            "at each point; of several sets of curves, the fewest and the most.", ""]
    rows = [(f.number, c.what, c.source, c.ours, c.tolerance, fewest(f, tables),
             "yes" if c.ok else "no")
            for f, v in verdicts for c in v.checks]
    return out + table(("Figure", "Number", "Source", "Here", "Tolerance", "Runs", "Holds"), rows)


def table(head, rows):
    widths = [max(len(r[i]) for r in rows + [head]) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    fmt = "  ".join("%%-%ds" % w for w in widths)
    out = [rule, (fmt % head).rstrip(), rule]
    return out + [(fmt % r).rstrip() for r in rows] + [rule, ""]


def kept_section(path, title):
    """A section as it is in the document: of a figure whose data are not there."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        text = f.read()
    begin = text.find("\n%s\n%s\n" % (title, "-" * len(title)))
    if begin < 0:
        return []
    end = re.compile(r"\n[^\n]+\n[-=]{3,}\n").search(text, begin + 2 * len(title) + 3)
    return text[begin + 1:end.start() if end else None].strip("\n").split("\n") + [""]


def document(verdicts, tables, path, head):
    past_source = []
    known = dict((f.number, v) for f, v in verdicts)
    for figure in beyond.FIGURES:
        if figure.number in known:
            past_source += past(figure, known[figure.number], tables)
        else:
            past_source += kept_section(path, figure.title)
    with open(head, encoding="utf-8") as f:
        out = f.read().rstrip("\n").split("\n")
    ours = [v for v in verdicts if v[0] not in beyond.FIGURES]
    out += ["", "Results in one table", "=" * 20, ""] + summary(ours, tables)
    for title, figures in (("An ideal environment", ideal.FIGURES),
                           ("Preemption, and limited core bandwidth", disturbed.FIGURES),
                           ("Outside the source's chapter 6", more.FIGURES)):
        out += [title, "=" * len(title), ""]
        for figure, verdict in verdicts:
            if figure in figures:
                out += section(figure, verdict, tables)
    out += ["Past the source", "=" * 15, ""] + past_source
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out).rstrip("\n") + "\n")


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sim", required=True, help="shuffle-sim")
    p.add_argument("--runs", type=int, default=100, help="for each point (100)")
    p.add_argument("--quick", action="store_true", help="5 runs at 4 skewnesses")
    p.add_argument("--points", help="skewnesses with commas (6 or 10, by set)")
    p.add_argument("--only", help="simulate these sets only, with commas; draw nothing")
    p.add_argument("--medians", help="folder for medians, from which verdicts are computed again")
    p.add_argument("--keep", action="store_true", help="take any data that are there")
    p.add_argument("--raw", required=True, help="folder for simulated data")
    p.add_argument("--figures", required=True, help="folder for SVG and CSV")
    p.add_argument("--document", required=True, help="evaluation.rst")
    return p.parse_args()


def main():
    args = arguments()
    plan, runs = {False: FINE, True: COARSE}, args.runs
    if args.quick:
        plan, runs = dict.fromkeys(plan, QUICK), 5
    if args.points:
        plan = dict.fromkeys(plan, [float(v) for v in args.points.split(",")])
    names = args.only.split(",") if args.only else list(SETS)
    if args.keep:
        tables = data.load_kept(names, args.raw, *([args.medians] if args.medians else []))
    else:
        tables = data.load(args.sim, names, runs, plan, args.raw)
    if args.only:
        return 0
    os.makedirs(args.figures, exist_ok=True)
    verdicts = []
    for figure in FIGURES:
        if not all(name in tables for name in figure.sets):
            print("figure %-10s has no data" % figure.number)
            continue
        # of what was kept alone the drawing is there, too
        if not all(tables[name].kept for name in figure.sets):
            draw(figure, tables, args.figures)
        verdicts.append((figure, figure.compare(tables)))
        print("figure %-10s %s" % (figure.number, verdicts[-1][1].agrees()
                                   if figure not in beyond.FIGURES else "is drawn"))
    if args.medians:
        kept.write(tables, args.medians)
    head = os.path.join(os.path.dirname(os.path.abspath(__file__)), "head.rst")
    document(verdicts, tables, args.document, head)
    return 0


sys.exit(main())
