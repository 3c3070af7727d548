# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the sets and reads what came out."""

import csv
import hashlib
import os
import subprocess
import sys
import time

from sets import SETS
from svgplot import FULL


def runs_of(name, runs):
    """Runs of a set when so many are asked for."""
    s = SETS[name]
    return 1 if s.series else min(runs, s.most or runs)


def points_of(name, plan):
    """Skewnesses of which each is a call; [None]: one call."""
    s = SETS[name]
    if s.matrix or s.series:
        return [None]
    return s.points if s.points is not None else plan[s.coarse]


def command(sim, name, point, runs, raw):
    s = SETS[name]
    args = [sim] + s.options + ["--runs", str(runs_of(name, runs)), "--quiet"]
    if s.matrix:
        args += ["--matrix", write_matrix(s.matrix, raw)]
    else:
        skew = s.points if point is None else [point]
        args += ["--skewness", ",".join("%g" % p for p in skew)]
    args += ["--series" if s.series else "--csv", raw]
    for label, opts in s.curves:
        args += ["--curve", label] + opts
    return args


def option(options, name, default):
    return float(options[options.index(name) + 1]) if name in options else default


def work(name, runs):
    """Packets that a call simulates, of all its curves and runs."""
    s = SETS[name]
    if s.matrix:
        return sum(map(sum, s.matrix)) * len(s.curves)
    if "--bounds" in s.options:
        return 1
    hosts = option(s.options, "--hosts", 40)
    packets = hosts * hosts * option(s.options, "--mean", 16)
    return packets * runs_of(name, runs) * sum(option(o, "--shuffles", 1) for _, o in s.curves)


def write_matrix(rows, raw):
    """A file with a matrix of packets, for --matrix."""
    path = raw + ".matrix"
    with open(path, "w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([v * 1500 for v in row] for row in rows)
    return path


class Progress:
    """How long all calls that are still to come will take, by those that have ended."""

    def __init__(self, names, runs, plan):
        self.left = sum(work(n, runs) * len(points_of(n, plan)) for n in names)
        self.calls = sum(len(points_of(n, plan)) for n in names)
        self.call = 0
        self.done = 0
        self.seconds = 0.0

    def rate(self):
        """Packets a second; before the first call has ended, that of a core or two."""
        if self.seconds > 5:
            return self.done / self.seconds
        return 3e6 * (os.cpu_count() or 1)

    def begin(self, what):
        left = self.left / self.rate() / 60
        print("%s (call %d of %d; all: about %d:%02d h left)"
              % (what, self.call, self.calls, left // 60, left % 60), file=sys.stderr)

    def end(self, packets, seconds, kept):
        self.left -= packets
        if not kept:
            self.done += packets
            self.seconds += seconds


def call(sim, name, point, runs, raw, progress):
    """One call; results of an earlier one with the same program and options are kept."""
    args = command(sim, name, point, runs, raw)
    with open(sim, "rb") as f:
        tag = hashlib.sha256(f.read()).hexdigest() + "\n" + " ".join(args[1:]) + "\n"
    note = raw + ".made-by"
    begin = time.monotonic()
    progress.call += 1
    kept = False
    if os.path.exists(raw) and os.path.exists(note):
        with open(note, encoding="utf-8") as f:
            kept = f.read() == tag
    if not kept:
        progress.begin("simulating %s%s: %d curves" % (name, "" if point is None else
                                                       " at %g" % point,
                                                       len(SETS[name].curves)))
        subprocess.run(args, check=True)
        with open(note, "w", encoding="utf-8") as f:
            f.write(tag)
    progress.end(work(name, runs), time.monotonic() - begin, kept)


def simulate(sim, name, runs, plan, folder, progress):
    """One set, a call for each skewness: an interrupted set goes on with the next of them."""
    raw = os.path.join(folder, name + ".csv")
    points = points_of(name, plan)
    if points == [None]:
        call(sim, name, None, runs, raw, progress)
        return raw
    parts = []
    for point in points:
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        parts.append(os.path.join(folder, name, "%g.csv" % point))
        call(sim, name, point, runs, parts[-1], progress)
    with open(raw, "w", encoding="utf-8") as out:
        for i, part in enumerate(parts):
            with open(part, encoding="utf-8") as f:
                head = f.readline()
                out.write("" if i else head)
                out.writelines(f)
    return raw


def percentile(values, at):
    values = sorted(values)
    pos = at * (len(values) - 1)
    low = int(pos)
    high = min(low + 1, len(values) - 1)
    return values[low] + (pos - low) * (values[high] - values[low])


class Table:
    """Results by curve and skewness; runs: the fewest at a point."""

    def __init__(self, path):
        self.rows = {}
        self.runs = 0
        self.ratios = {}
        with open(path, encoding="utf-8", newline="") as f:
            first = f.readline()
            # percentiles of so many runs, see kept.py
            self.kept = first.startswith("# ")
            if self.kept:
                self.runs = int(first.split()[1])
            else:
                f.seek(0)
            for row in csv.DictReader(f):
                curve, point = row.pop("curve"), float(row.pop("point"))
                ratios = row.pop("ratios", None)
                values = {k: float(v) for k, v in row.items()}
                if self.kept:
                    values["of"] = curve
                    values["ratios"] = dict(r.split(":") for r in (ratios or "").split(";") if r)
                self.rows.setdefault(curve, {}).setdefault(point, []).append(values)
        each = [runs for points in self.rows.values() for runs in points.values()]
        if not self.kept:
            self.runs = min(len(runs) for runs in each)
        # what is less than all runs has no percentiles
        self.full = self.runs >= FULL and (not self.kept or
                                           all(r[0]["at"] < 0.5 for r in each))

    def points(self, curve):
        return sorted(self.rows[curve])

    def skewness(self, curve, point):
        runs = self.runs_of(curve, point)
        return sum(r["skewness"] for r in runs) / len(runs)

    def runs_of(self, curve, point):
        """The runs; of kept percentiles the median."""
        return [r for r in self.rows[curve][point] if r.get("at", 0.5) == 0.5]

    def stat(self, curve, point, value, at):
        """A percentile of value(row), over the runs; of few only the median and the greatest."""
        if at not in (0.5, 1) and not self.full:
            raise KeyError("percentile %g of %d runs" % (at, self.runs))
        if self.kept:
            got = [value(r) for r in self.rows[curve][point] if r["at"] == at]
            if not got:
                raise KeyError("percentile %g of %s at %g was not kept" % (at, curve, point))
            return got[0]
        return percentile([value(r) for r in self.rows[curve][point]], at)

    def paired(self, curve, other, point, value, at):
        """The same of the ratio to another curve on the same matrices.

        Medians are remembered, for kept.py: they are not the ratios of medians.
        """
        ours, others = self.runs_of(curve, point), self.runs_of(other, point)
        if self.kept and others[0]["of"] in ours[0]["ratios"]:
            return float(ours[0]["ratios"][others[0]["of"]])
        got = percentile([value(a) / value(b) for a, b in zip(ours, others)], at)
        if at == 0.5:
            self.ratios.setdefault((curve, point), {})[other] = got
        return got

    def spread(self, curve, value):
        """(skewness, p10, p50, p90) for each point; without percentiles all three are p50."""
        out = []
        for p in self.points(curve):
            out.append((self.skewness(curve, p),) +
                       tuple(self.stat(curve, p, value, at if self.full else 0.5)
                             for at in (0.1, 0.5, 0.9)))
        return out


class Series:
    """Runs over time: curve -> list of rows, with the time as a share of the bound."""

    def __init__(self, path):
        self.rows = {}
        self.runs = 1
        self.full = False
        self.kept = False
        name, bound, names = None, 1, None
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith("# "):
                    head = line[2:].strip().split(", ")
                    name = head[0]
                    bound = int(head[2].split()[1])
                    names = None
                    self.rows[name] = []
                elif names is None:
                    names = line.strip().split(",")
                    # fewer columns and rows, see kept.py
                    self.kept = "in_median" not in names
                else:
                    row = dict(zip(names, (float(v) for v in line.split(","))))
                    row["time"] = row["step"] / bound
                    self.rows[name].append(row)

    def line(self, curve, column, width=1):
        """Points (time, value), means of some rows."""
        rows = self.rows[curve]
        out = []
        for i in range(0, len(rows), width):
            part = rows[i:i + width]
            out.append((part[-1]["time"], sum(r[column] for r in part) / len(part)))
        return out


def load(sim, names, runs, plan, folder):
    """plan: skewnesses of a set by its "coarse"."""
    os.makedirs(folder, exist_ok=True)
    out = {}
    progress = Progress(names, runs, plan)
    for name in names:
        raw = simulate(sim, name, runs, plan, folder, progress)
        out[name] = (Series if SETS[name].series else Table)(raw)
    return out


def load_kept(names, *folders):
    """What is there, whatever made it: of a set, that of the first folder that has it."""
    out = {}
    for name in names:
        for folder in folders:
            path = os.path.join(folder, name + ".csv")
            if name not in out and os.path.exists(path):
                out[name] = (Series if SETS[name].series else Table)(path)
    return out
