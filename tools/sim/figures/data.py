# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the sets and reads what came out."""

import csv
import hashlib
import os
import subprocess
import sys

from sets import SETS


def command(sim, name, runs, plan, raw):
    s = SETS[name]
    skew = s.points if s.points is not None else plan[s.coarse]
    n = 1 if s.series else max(1, round(runs * s.share))
    n = min(n, s.most or n)
    args = [sim] + s.options + ["--runs", str(n), "--quiet"]
    if s.matrix:
        args += ["--matrix", write_matrix(s.matrix, raw)]
    else:
        args += ["--skewness", ",".join("%g" % p for p in skew)]
    args += ["--series" if s.series else "--csv", raw]
    for label, opts in s.curves:
        args += ["--curve", label] + opts
    return args


def write_matrix(rows, raw):
    """A file with a matrix of packets, for --matrix."""
    path = raw + ".matrix"
    with open(path, "w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([v * 1500 for v in row] for row in rows)
    return path


def simulate(sim, name, runs, plan, folder):
    """One set; results of an earlier call with the same program and options are kept."""
    raw = os.path.join(folder, name + ".csv")
    args = command(sim, name, runs, plan, raw)
    with open(sim, "rb") as f:
        tag = hashlib.sha256(f.read()).hexdigest() + "\n" + " ".join(args[1:]) + "\n"
    note = raw + ".made-by"
    if os.path.exists(raw) and os.path.exists(note):
        with open(note, encoding="utf-8") as f:
            if f.read() == tag:
                return raw
    print("simulating %s: %d curves" % (name, len(SETS[name].curves)), file=sys.stderr)
    subprocess.run(args, check=True)
    with open(note, "w", encoding="utf-8") as f:
        f.write(tag)
    return raw


def percentile(values, at):
    values = sorted(values)
    pos = at * (len(values) - 1)
    low = int(pos)
    high = min(low + 1, len(values) - 1)
    return values[low] + (pos - low) * (values[high] - values[low])


class Table:
    """Results by curve and skewness."""

    def __init__(self, path):
        self.rows = {}
        self.runs = 0
        with open(path, encoding="utf-8", newline="") as f:
            first = f.readline()
            # medians of so many runs, see kept.py
            self.kept = first.startswith("# ")
            if self.kept:
                self.runs = int(first.split()[1])
            else:
                f.seek(0)
            for row in csv.DictReader(f):
                curve, point = row.pop("curve"), float(row.pop("point"))
                values = {k: float(v) for k, v in row.items()}
                self.rows.setdefault(curve, {}).setdefault(point, []).append(values)
        for points in self.rows.values():
            for runs in points.values():
                self.runs = max(self.runs, len(runs))

    def points(self, curve):
        return sorted(self.rows[curve])

    def skewness(self, curve, point):
        runs = self.rows[curve][point]
        return sum(r["skewness"] for r in runs) / len(runs)

    def stat(self, curve, point, value, at):
        """A percentile of value(row), over the runs."""
        return percentile([value(r) for r in self.rows[curve][point]], at)

    def paired(self, curve, other, point, value, at):
        """The same of the ratio to another curve on the same matrices."""
        pairs = zip(self.rows[curve][point], self.rows[other][point])
        return percentile([value(a) / value(b) for a, b in pairs], at)

    def spread(self, curve, value):
        """(skewness, p10, p50, p90) for each point."""
        out = []
        for p in self.points(curve):
            out.append((self.skewness(curve, p),) + tuple(self.stat(curve, p, value, at)
                                                          for at in (0.1, 0.5, 0.9)))
        return out


class Series:
    """Runs over time: curve -> list of rows, with the time as a share of the bound."""

    def __init__(self, path):
        self.rows = {}
        self.runs = 1
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
    for name in names:
        raw = simulate(sim, name, runs, plan, folder)
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
