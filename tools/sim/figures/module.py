#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The module's own runs beside the simulator's: figures 6.1, 6.5, 6.7, 6.8 and 6.18.

Reads what tools/bench measured of the cases "circle" (lines "BENCH name=value ..."), simulates the
same matrices with the same settings, draws both, and writes Documentation/evaluation-module.rst.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import svgplot
from svgplot import COLOURS, Line, Panel

HEAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "head_module.rst")
HOSTS = 40
PACKET = 1500
STEP_NS = 480	# 1500 bytes at 25 Gb/s
RATE = 25.0
PAIRS = "circle.csv"
# Measured when the module had these policies, which only the simulator has now.
RIVALS = "circle-rivals.csv"
FIELDS = ["policy", "overcommit", "window", "prio", "stop", "unsched", "matrix", "run"]
VALUES = ["module", "simulator", "module_queue", "simulator_queue", "headers", "control",
          "module_ns", "simulator_steps"]


class Case:
    """A setting, a matrix and a run: what the module did, and what the simulator does."""

    def __init__(self, row):
        for k in FIELDS:
            setattr(self, k, row[k])
        for k in VALUES:
            setattr(self, k, float(row[k]))

    def skewness(self):
        return int(re.match(r"general(\d\d)-", self.matrix).group(1)) / 100

    def of(self, settings):
        return all(getattr(self, k) == v for k, v in settings.items())


def settings_of(v):
    """Of a result line: the settings, by the name of the case."""
    usual = {"policy": "grpf", "overcommit": "10", "window": "pro-rata", "prio": v["prio"],
             "stop": "0", "unsched": "0"}
    m = re.match(r"stop(\d+)-oc10-", v["case"])
    if m:
        return dict(usual, stop=m.group(1))
    m = re.match(r"unsched(\d+)-", v["case"])
    if m:
        return dict(usual, unsched=m.group(1))
    m = re.match(r"grpf-oc(\d+)-(pro-rata|constant)-", v["case"])
    if not m:
        raise ValueError("case %s: no setting is known by this name" % v["case"])
    return dict(usual, overcommit=m.group(1), window=m.group(2))


def simulator_options(s):
    out = ["--algo", s["policy"], "--overcommit", s["overcommit"],
           "--window", "const" if s["window"] == "constant" else "pro-rata",
           "--prio", "edge" if s["prio"] == "1" else "none"]
    if s["unsched"] != "0":
        out += ["--unsched", "none" if s["unsched"] == "1" else "message"]
    if s["stop"] != "0":
        out += ["--preempt", s["stop"], "--preempt-order", "alternate"]
    return out


def simulate(args, s, matrix, run, folder):
    """The simulator's row of the same matrix: the same generator, workload and seed."""
    path = os.path.join(folder, "%s.%s" % (matrix, run))
    if not os.path.exists(path):
        subprocess.run([args.workload, "generate", matrix, "-n", str(HOSTS), "-S", run,
                        "-o", path], check=True)
    out = subprocess.run([args.sim, "--matrix", path, "--packet", str(PACKET), "--quiet",
                          "--threads", "1", "--csv", "-"] + simulator_options(s),
                         check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return next(csv.DictReader(out.splitlines()))


def bound_of(row, stopped):
    """Steps: of the busiest link; where hosts stop, of the best oracle."""
    names = ["bound"] + (["oracle_send", "oracle_receive", "oracle_message"] if stopped else [])
    return max(float(row[n]) for n in names)


def pair(args, v, folder):
    """A result line becomes a row of PAIRS."""
    s = settings_of(v)
    row = simulate(args, s, v["matrix"], v["run"], folder)
    size = re.search(r"-(\d+)k$", v["matrix"])
    payload = int(size.group(1)) * 1000 * HOSTS * (HOSTS - 1)
    headers = (float(v["data_bytes"]) - float(v.get("RetransBytes", 0))) / payload - 1
    # what no link can do better: the bytes of a row, each with its headers, and a round trip
    bound = float(v["bound_ns"])
    if s["stop"] == "0":
        bound = payload / HOSTS * 8 / RATE * (1 + headers)
    return dict(s, matrix=v["matrix"], run=v["run"],
                module=bound / float(v["completion_ns"]),
                simulator=bound_of(row, s["stop"] != "0") / float(row["steps"]),
                module_queue=float(v["peak_queue"]) / PACKET,
                simulator_queue=float(row["port_max"]), headers=headers,
                control=float(v["control_bytes"]) / payload,
                module_ns=float(v["completion_ns"]), simulator_steps=float(row["steps"]))


def count_control_apart(rows):
    """Without priorities ports count control packets among data: headers are as with them."""
    known = [r for r in rows if r["prio"] == "1" and r["stop"] == "0"]
    for row in rows:
        if row["prio"] == "1" or not known:
            continue
        same = [r["headers"] for r in known if r["matrix"] == row["matrix"]]
        headers = median(same or [r["headers"] for r in known])
        row["control"] = row["headers"] - headers
        row["module"] *= (1 + headers) / (1 + row["headers"])
        row["headers"] = headers


def read_raw(args):
    """Rows of PAIRS, of the last result of each case and run."""
    rows = {}
    with open(args.raw, encoding="utf-8") as f, tempfile.TemporaryDirectory() as folder:
        for line in f:
            v = dict(w.split("=", 1) for w in line.split()[1:] if "=" in w)
            if not v.get("group", "").startswith("circle"):
                continue
            if v.get("ok") != "1":
                print("module: %s, run %s failed" % (v["case"], v["run"]), file=sys.stderr)
                continue
            row = pair(args, v, folder)
            rows[tuple(row[k] for k in FIELDS)] = row
    rows = [rows[k] for k in sorted(rows)]
    count_control_apart(rows)
    return rows


def write_pairs(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(FIELDS + VALUES)
        for row in rows:
            out.writerow([row[k] for k in FIELDS] + ["%.5g" % row[k] for k in VALUES])


def read_pairs(path):
    with open(path, encoding="utf-8", newline="") as f:
        return [Case(row) for row in csv.DictReader(f)]


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2


def by_x(cases, x, value):
    """Points (x, median of the runs)."""
    groups = {}
    for c in cases:
        groups.setdefault(x(c), []).append(value(c))
    return [(k, median(groups[k])) for k in sorted(groups)]


class Curve:
    """A label and the settings behind it."""

    def __init__(self, label, policy="grpf", overcommit="10", window="pro-rata", prio="1", **more):
        self.label = label
        self.settings = dict(policy=policy, overcommit=overcommit, window=window, prio=prio,
                             stop="0", unsched="0")
        self.settings.update(more)

    def cases(self, cases):
        return [c for c in cases if c.of(self.settings)]


CONST = {"window": "constant"}
BASE = {"window": "constant", "overcommit": "1", "prio": "0"}
POLICIES = ("srpt", "grpt", "grpf")
FIGURES = [
    ("6.1", "GRPF and Hadoop-5", [("pro rata windows, overcommit 10, priority", [
        Curve("GRPF"), Curve("Hadoop-5", "hadoop")])]),
    ("6.5", "Policies", [
        ("(a) baseline", [Curve(p.upper(), p, **BASE) for p in POLICIES]),
        ("(b) overcommit 10, priority", [Curve(p.upper(), p, **CONST) for p in POLICIES])]),
    ("6.7", "Overcommit, constant windows", [
        ("(a) without priority", [Curve("overcommit 1", **BASE)] +
         [Curve("overcommit " + o, overcommit=o, prio="0", **CONST) for o in ("2", "10")]),
        ("(b) with priority", [Curve("overcommit " + o, overcommit=o, **CONST)
                               for o in ("2", "10")])]),
    ("6.8", "Pro rata windows, overcommit 10, no priority", [
        ("", [Curve("constant", prio="0", **CONST), Curve("pro rata", prio="0")])]),
    ("6.10", "Unscheduled packets", [("", [
        Curve("none", unsched="1"), Curve("pro rata, RTT"),
        Curve("RTT of each", unsched="487500")])]),
]
STOPS = ("1", "5", "20")


def both(cases, label, colour, x, of):
    """The simulator's line, and the module's, dashed."""
    return [Line(label, by_x(cases, x, lambda c: getattr(c, "simulator" + of)), colour=colour),
            Line(label + ", module", by_x(cases, x, lambda c: getattr(c, "module" + of)),
                 colour=colour, dashed=True)]


def panels_of(parts, cases):
    out = []
    for title, curves in parts:
        lines = []
        for i, curve in enumerate(curves):
            mine = curve.cases(cases)
            if mine:
                lines += both(mine, curve.label, COLOURS[i], Case.skewness, "")
        if lines:
            out.append(Panel(title, "message skewness", "of the bound", lines, 0.5, 1.0))
    return out


def panels_618(cases):
    out = []
    for of, ylabel in (("_queue", "longest queue, packets"), ("", "of the bound")):
        lines = []
        for i, matrix in enumerate(sorted({c.matrix for c in cases if c.stop != "0"})):
            mine = [c for c in cases if c.stop != "0" and c.matrix == matrix]
            lines += both(mine, "skewness 0." + matrix[7:9], COLOURS[i], lambda c: float(c.stop),
                          of)
        out.append(Panel("", "mean interval, RTT", ylabel, lines, 0))
    return out


def stem(number):
    chapter, n = number.split(".")
    return "module-%s.%02d" % (chapter, int(n))


def wrap(text):
    return textwrap.wrap(" ".join(text.split()), 96) + [""]


def table(head, rows):
    widths = [max(len(r[i]) for r in rows + [head]) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    fmt = "  ".join("%%-%ds" % w for w in widths)
    return [rule, (fmt % tuple(head)).rstrip(), rule] + [(fmt % tuple(r)).rstrip()
                                                         for r in rows] + [rule, ""]


def differences(cases, parts):
    """A line for each curve: medians over all matrices, and the greatest difference."""
    rows = []
    for title, curves in parts:
        for curve in curves:
            mine = curve.cases(cases)
            if not mine:
                continue
            worst = max(mine, key=lambda c: abs(c.module - c.simulator))
            rows.append([(title + ": " if title else "") + curve.label,
                         "%.3f" % median([c.simulator for c in mine]),
                         "%.3f" % median([c.module for c in mine]),
                         "%+.3f at %.2f" % (worst.module - worst.simulator, worst.skewness()),
                         str(len(mine))])
    return table(["Curve", "Simulator", "Module", "Greatest difference", "Runs"], rows)


def queues(cases):
    rows = []
    for c in cases:
        if c.stop != "0":
            rows.append([c.stop, "%.2f" % c.skewness(), "%.0f" % c.simulator_queue,
                         "%.0f" % c.module_queue, "%.3f" % c.simulator, "%.3f" % c.module])
    rows.sort(key=lambda r: (int(r[0]), r[1]))
    return table(["Interval, RTT", "Skewness", "Queue, simulator", "Module",
                  "Of the bound, simulator", "Module"], rows)


def draw(folder, number, panels):
    with open(os.path.join(folder, stem(number) + ".svg"), "w", encoding="utf-8") as f:
        f.write(svgplot.render(panels))


def heading(text):
    return [text, "-" * len(text), ""]


def image(number, text):
    return [".. image:: figures/%s.svg" % stem(number), "   :alt: " + text, ""]


def document(cases, figures):
    with open(HEAD, encoding="utf-8") as f:
        out = f.read().rstrip("\n").split("\n") + [""]
    for number, title, parts in FIGURES:
        panels = panels_of(parts, cases)
        if not panels:
            continue
        draw(figures, number, panels)
        text = "Figure %s: %s" % (number, title)
        out += heading(text) + image(number, text) + differences(cases, parts)
    if any(c.stop != "0" for c in cases):
        draw(figures, "6.18", panels_618(cases))
        text = "Figure 6.18: longest queue of a port, preempted hosts, 100 packets a message"
        out += heading(text) + image("6.18", text) + queues(cases)
    plain = [c for c in cases if c.stop == "0"]
    out += wrap("Headers were %.1f %% of the payload, and control packets, which cost the "
                "simulator's links nothing, %.1f %% (medians)."
                % (100 * median([c.headers for c in plain]),
                   100 * median([c.control for c in plain])))
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sim", required=True, help="shuffle-sim")
    p.add_argument("--workload", required=True, help="shuffle-workload")
    p.add_argument("--raw", help="what tools/bench measured; without: the data that are kept")
    p.add_argument("--figures", required=True, help="folder for SVG and %s" % PAIRS)
    p.add_argument("--document", required=True, help="evaluation-module.rst")
    args = p.parse_args()
    path = os.path.join(args.figures, PAIRS)
    os.makedirs(args.figures, exist_ok=True)
    if args.raw:
        rows = read_raw(args)
        if not rows:
            print("module: %s has no results of the group \"circle\"" % args.raw, file=sys.stderr)
            return 1
        write_pairs(path, rows)
    rivals = os.path.join(args.figures, RIVALS)
    text = document(read_pairs(path) + read_pairs(rivals), args.figures)
    with open(args.document, "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
