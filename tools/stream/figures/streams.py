#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw the figures of Salem et al. on time-slice building again, with shuffle-stream-sim, and write
Documentation/evaluation-streams.rst.

A difference without a reason, and a reason without a difference, is an error.
"""

import argparse
import csv
import io
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../sim/figures"))

import stream_runs as runs  # noqa: E402
import stream_source as source  # noqa: E402
from svgplot import FULL, Line, Panel, render  # noqa: E402

# Percentiles are those of thousands of time-slices, or looks at buffers, of a run.
COLOURS = {"dfs": "#1f77b4", "none": "#d62728", "bench": "#7f7f7f"}


# Figure 8: slow inputs, --change, name
RECOVERY = ((False, 10, "as usual"), (True, 0, "slower by 25 %: the source's rule"),
            (True, 10, "slower by 25 %: levels"))


class Unexplained(ValueError):
    """A difference has no reason, or a reason no difference."""


def table(head, rows):
    """A simple table."""
    rows = [[str(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    rule = " ".join("=" * w for w in widths)
    lines = [" ".join(v.ljust(w) for v, w in zip(row, widths)).rstrip() for row in [head] + rows]
    return [rule, lines[0], rule] + lines[1:] + [rule, ""]


def title(text, mark="="):
    return [text, mark * len(text), ""]


def wrap(text):
    return textwrap.wrap(" ".join(text.split()), 96) + [""]


def rows_csv(head, rows):
    f = io.StringIO()
    out = csv.writer(f, lineterminator="\n")
    out.writerow(head)
    out.writerows(rows)
    return f.getvalue()


def within(intervals, most):
    """How many it takes until all that follow take at most so long; None: they do not."""
    late = [n for n, i in enumerate(intervals) if i["actual_us"] > most]
    return None if late and late[-1] == len(intervals) - 1 else late[-1] + 2 if late else 1


class Document:
    """The document, its figures, and the reasons that were told."""

    def __init__(self, sim, args):
        self.sim = sim
        self.quick = args.quick
        self.folder = args.figures
        self.reasons = []

    def verdict(self, key, measured, said):
        """A difference needs a reason; the reason is told."""
        result = "agrees" if source.agrees(measured, said) else "differs"
        why = source.WHY.get(key)
        if not self.quick and (result == "differs") != bool(why):
            raise Unexplained("%s: %s (%g, source %g), and %s" % (
                key, result, measured, said, "there is a reason" if why else "there is no reason"))
        if why and why not in self.reasons:
            self.reasons.append(why)
        return result

    def why(self):
        out = []
        for reason in self.reasons:
            out += wrap("*Why it differs:* " + reason)
        self.reasons = []
        return out

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as f:
            f.write(text)

    def figure(self, name, alt, panels, text):
        self.write("stream-%s.svg" % name, render(panels, columns=2))
        self.write("stream-%s.csv" % name, text)
        return [".. image:: figures/stream-%s.svg" % name, "   :alt: " + alt, "",
                "`Values <figures/stream-%s.csv>`__." % name, ""]

    def gaps(self):
        """Figure 6."""
        keys = ("min", "p10", "p50", "p90", "max")
        rows, values, drawn = [], [], []
        for nodes in runs.NODES:
            r = self.sim.run(runs.figure_7(nodes, self.quick))
            factor = r["none"]["gap_us"]["p50"] / r["dfs"]["gap_us"]["p50"]
            step = 65643 * 8 / 25e3
            for name in ("dfs", "none"):
                gap = r[name]["gap_us"]
                values.append([nodes, name] + [gap[k] for k in keys])
                rows.append([nodes, name] + ["%.2f" % (gap[k] / 1e3) for k in keys] +
                            ([""] * 3 if name == "dfs" else
                             ["30 to 45", "%.1f" % factor,
                              self.verdict(("6", nodes), factor, source.FIGURE_6)]))
            rows.append(["", "least", "%.2f" % (step * (nodes // 2 - 1) / 1e3)] + [""] * 7)
        for name in ("dfs", "none"):
            of = [v for v in values if v[1] == name]
            drawn.append(Panel(name, "nodes", "gap, ms",
                               [Line("median", [(v[0], v[4] / 1e3) for v in of], FULL,
                                     [(v[0], v[3] / 1e3, v[5] / 1e3) for v in of],
                                     colour=COLOURS[name])], ymin=0))
        out = title("Figure 6: from the first to the last piece of a time-slice")
        out += wrap("Milliseconds. *Least*: a round without one step, which staggered rounds cannot "
                    "beat. *Factor*: of the medians.")
        out += self.figure("6", "gap of time-slices", drawn,
                           rows_csv(["nodes", "schedule"] + ["%s_us" % k for k in keys], values))
        return out + table(["Nodes", "Schedule", "Minimum", "10 %", "Median", "90 %", "Maximum",
                            "Source", "Factor", "Verdict"], rows) + self.why()

    def throughput(self):
        """Figure 7."""
        rows, values = [], []
        for nodes in runs.NODES:
            r = self.sim.run(runs.figure_7(nodes, self.quick))
            got = [100 * r[name]["of_bench"] for name in ("dfs", "none")]
            said = source.FIGURE_7[nodes]
            values.append([nodes, r["bench"]["throughput"]] + got)
            for i, name in enumerate(("dfs", "none")):
                rows.append([nodes, name, "%g %%" % said[i], "%.1f %%" % got[i],
                             "%+.1f %%" % (100 * (got[i] / said[i] - 1)),
                             self.verdict(("7", name, nodes), got[i], said[i])])
            a, b = got[0] / got[1], said[0] / said[1]
            rows.append([nodes, "dfs / none", "%.2f" % b, "%.2f" % a, "%+.1f %%" % (100 *
                         (a / b - 1)), self.verdict(("7", "ratio", nodes), a, b)])
        drawn = [Panel("of the benchmark, %", "nodes", "%",
                       [Line(name, [(v[0], v[2 + i]) for v in values], colour=COLOURS[name])
                        for i, name in enumerate(("dfs", "none"))] +
                       [Line("source, " + name, [(n, said[i]) for n, said in
                                                 sorted(source.FIGURE_7.items())],
                             dashed=True, colour=COLOURS[name])
                        for i, name in enumerate(("dfs", "none"))], ymin=0)]
        out = title("Figure 7: throughput")
        out += wrap("Of the benchmark, which here is %s of what the links carry." % ", ".join(
            "%.1f %%" % (100 * v[1]) for v in values))
        out += self.figure("7", "throughput", drawn,
                           rows_csv(["nodes", "bench_of_links", "dfs_percent", "none_percent"],
                                    values))
        return out + table(["Nodes", "Schedule", "Source", "Here", "Difference", "Verdict"],
                           rows) + self.why()

    def recovery(self):
        """Figure 8."""
        drawn, values, rows = [], [], []
        for slow, change, name in RECOVERY:
            r = self.sim.run(runs.figure_8(slow, change, self.quick))["dfs"]
            v = r["intervals"]
            values += [[int(slow), change, i["interval"], i["proposed_us"] or "", i["actual_us"]]
                       for i in v]
            drawn.append(Panel(name, "interval", "duration, ms",
                               [Line("proposed", [(i["interval"], i["proposed_us"] / 1e3)
                                                  for i in v if i["proposed_us"]],
                                     colour="#1f77b4"),
                                Line("actual", [(i["interval"], i["actual_us"] / 1e3) for i in v],
                                     colour="#d95f02")], ymin=0))
            before = v[14]["actual_us"]
            if not slow:
                continue
            back = [within(v[26:], before * (1 + p / 100)) for p in (15, 5)]
            if None in back and not self.quick:
                raise Unexplained("figure 8, %s: no recovery" % name)
            rows.append(["the source's" if not change else "levels", "%.2f" % (before / 1e3),
                         "%.2f" % (max(i["actual_us"] for i in v[15:26]) / 1e3)] + back +
                        ["%.2f" % (v[-1]["actual_us"] / 1e3), "%.3f" % r["throughput"],
                         "recovers", "agrees"])
        out = title("Figure 8: all inputs slower for a while")
        out += wrap("96 inputs, 96 builders. Median durations, ms; *within*: intervals after the "
                    "25th until all that follow are at most that much above interval 14. *Levels* "
                    "is what is used if nothing else is said, see `streams.rst "
                    "<networking/streams.rst#levels>`__; ``--change 0`` is the source's rule.")
        out += self.figure("8", "durations of intervals", drawn,
                           rows_csv(["slow", "change_percent", "interval", "proposed_us",
                                     "actual_us"], values))
        out += table(["Rule", "Interval 14", "Slowest", "Within 15 %", "Within 5 %", "Last",
                      "Of the links", "Source", "Verdict"], rows)
        return out + wrap(RECOVERS)

    def buffers(self):
        """Figure 9."""
        rows, values, drawn = [], [], []
        for nodes in runs.FILL_NODES:
            r = self.sim.run(runs.figure_7(nodes, self.quick))
            lines = []
            for name in ("dfs", "none"):
                ranks = r[name]["fill_by_rank"]
                values += [[nodes, name, i] + [v[k] for k in ("min", "p10", "p50", "p90", "max")]
                           for i, v in enumerate(ranks)]
                lines.append(Line(name, [(i, 100 * v["p50"]) for i, v in enumerate(ranks)], FULL,
                                  [(i, 100 * v["p10"], 100 * v["p90"])
                                   for i, v in enumerate(ranks)], colour=COLOURS[name]))
                fill = r[name]["fill"]
                rows.append([nodes, name] + ["%.1f" % (100 * fill[k])
                                             for k in ("p50", "p90", "p95", "max")] +
                            ["%.1f" % (100 * ranks[0]["p50"]),
                             "about 10" if name == "dfs" else "many full",
                             ("agrees" if fill["p95"] <= source.FIGURE_9 / 100 else "differs")
                             if name == "dfs" else
                             "agrees" if fill["p90"] >= 0.75 else "differs"])
            drawn.append(Panel("%d nodes" % nodes, "connection, fullest first", "full, %", lines,
                               ymin=0, ymax=100))
        if not self.quick and any(row[-1] == "differs" for row in rows):
            raise Unexplained("figure 9: %r" % rows)
        out = title("Figure 9: buffers")
        out += wrap("Per cent of a ring of 16, of all pairs at ten times an interval; 6.2 is one "
                    "piece. *Fullest*: the median of the fullest pair of a builder. With schedule "
                    "it agrees if 95 % are at most at 10, without if a tenth is at 75 or more.")
        out += self.figure("9", "fill of buffers", drawn,
                           rows_csv(["nodes", "schedule", "rank", "min", "p10", "p50", "p90",
                                     "max"], values))
        return out + table(["Nodes", "Schedule", "Median", "90 %", "95 %", "Maximum", "Fullest",
                            "Source", "Verdict"], rows)

    def networks(self):
        """Where a schedule is of use."""
        rows, values = [], []
        for name, options in runs.NETWORKS:
            r = self.sim.run(runs.network(options))
            dfs, none = r["dfs"], r["none"]
            ratio = dfs["throughput"] / none["throughput"]
            factor = none["gap_us"]["p50"] / dfs["gap_us"]["p50"]
            best = "schedule" if ratio > 1.02 else "no schedule" if ratio < 0.98 else "the same"
            values.append([name, options, dfs["of_bench"], none["of_bench"], dfs["gap_us"]["p50"],
                           none["gap_us"]["p50"], dfs["fill"]["p95"], none["fill"]["p95"]])
            rows.append([name, "%.3f" % dfs["of_bench"], "%.3f" % none["of_bench"],
                         "%.2f" % ratio, best, "%.1f" % factor,
                         "%.0f" % (100 * dfs["fill"]["p95"]),
                         "%.0f" % (100 * none["fill"]["p95"])])
        self.write("stream-networks.csv",
                   rows_csv(["network", "options", "dfs_of_bench", "none_of_bench", "dfs_gap_us",
                             "none_gap_us", "dfs_fill_p95", "none_fill_p95"], values))
        out = title("Where a schedule is of use")
        out += wrap("20 inputs, 20 builders, 2000 time-slices an interval. *In order*: an input's "
                    "link has one queue; *builders in turn*: one for each builder. *Pauses*: of "
                    "0.1 ms every 1 ms, both exponential. *Gap*: median without schedule divided "
                    "by that with. Throughputs within 2 % count as the same.")
        out += table(["Network", "dfs", "none", "dfs / none", "Better", "Gap", "Fill 95 %, dfs",
                      "none"], rows)
        return out + ["`Values <figures/stream-networks.csv>`__.", ""] + wrap(NETWORKS)

    def lengths(self):
        rows, values = [], []
        for slices, percent in runs.LENGTHS:
            r = self.sim.run(runs.length(slices, percent))
            excess = slices / 20 * percent / 100
            values.append([slices, percent, r["dfs"]["of_bench"], r["dfs"]["gap_us"]["p50"],
                           r["dfs"]["gap_us"]["p90"], r["dfs"]["fill"]["p95"]])
            rows.append([slices, slices // 20, "%g %%" % percent, "%.1f" % excess,
                         "%.3f" % r["dfs"]["of_bench"],
                         "%.2f" % (r["dfs"]["gap_us"]["p90"] / 1e3),
                         "%.0f" % (100 * r["dfs"]["fill"]["p95"])])
        self.write("stream-lengths.csv",
                   rows_csv(["slices", "speedup_percent", "of_bench", "gap_p50_us", "gap_p90_us",
                             "fill_p95"], values))
        out = title("How long an interval may be")
        out += wrap("The same 40 hosts, 100 intervals of which 59 are measured. *Excess*: rounds by "
                    "which an interval that is proposed 5 % (2 %) too short is behind at its end.")
        out += table(["Time-slices", "Rounds", "Speed-up", "Excess", "dfs / bench", "Gap 90 %, ms",
                      "Fill 95 %"], rows)
        return out + ["`Values <figures/stream-lengths.csv>`__.", ""] + wrap(LENGTHS)

    def clocks(self):
        rows, values = [], []
        for offset, drift in runs.CLOCKS:
            r = self.sim.run(runs.clocks(offset, drift))["dfs"]
            starts = sorted(i["starts_us"] for i in r["intervals"][30:])
            values.append([offset, drift, r["of_bench"], r["gap_us"]["p50"],
                           starts[len(starts) // 2], r["refused"], r["disagreed"]])
            rows.append(["%g s" % offset, "%g ppm" % drift, "%.4f" % r["of_bench"],
                         "%.3f" % (r["gap_us"]["p50"] / 1e3),
                         "%.1f" % starts[len(starts) // 2]])
        if any(abs(v[2] / values[0][2] - 1) > 0.02 for v in values):
            raise Unexplained("clocks: %r" % values)
        self.write("stream-clocks.csv",
                   rows_csv(["offset_s", "drift_ppm", "of_bench", "gap_p50_us", "starts_us",
                             "refused", "disagreed"], values))
        out = title("Wrong clocks")
        out += wrap("Clocks of all hosts off by up to this, and drifting by up to that, either way. "
                    "*Starts*: between the first and the last input's start of an interval, "
                    "median. All are within 2 % of perfect clocks.")
        return out + table(["Offset", "Drift", "dfs / bench", "Gap, ms", "Starts, us"], rows) + [
            "`Values <figures/stream-clocks.csv>`__.", ""]


RECOVERS = """The source's figure shows about ten intervals until then. The median of ten only
moves after five intervals, so while inputs become slower they are asked for more than they can; and
inputs that keep a proposal do not show how much faster they could be, so all of the way back goes
by steps of the speed-up. With levels two intervals are enough to follow, and one interval that
keeps its proposal is enough to try again what was possible before. Two intervals are under way when
it is seen, so three is the least that is possible."""

NETWORKS = """A schedule carries up to 1.4 times as much where one piece that cannot leave keeps
back others: tickets of a builder return to all inputs at once, so all of them send to that builder
next, and meet there. Where an input has a queue for each builder, as AF_SHUFFLE has, sending
whenever there is a ticket carries as much as the schedule does, or more; so it does if nothing
disturbs, or if all inputs begin their rounds with the same builder, whose queue then keeps them in
step. What the schedule still gives where inputs pause is a gap and buffers that are half as
large."""

LENGTHS = """At capacity the lag is constant, its deviation is 0 and the gate is open: proposals
stay 5 % faster than what is possible. The backlog that this leaves is absorbed by the tickets
while it is less than the ring of 16; with the source's 10 000 time-slices on few builders it is
more, inputs run out of tickets and meet at builders, and the interval takes much longer: the
schedule itself brings about what it is to prevent, and recovers for tens of intervals. So rounds
times speed-up should stay below half of the ring. A smaller speed-up also makes the beginning
slower."""


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sim", required=True, help="shuffle-stream-sim")
    p.add_argument("--figures", required=True, help="folder for SVG and CSV")
    p.add_argument("--document", required=True, help="evaluation-streams.rst")
    p.add_argument("--raw", help="results are kept in this file, and taken from it")
    p.add_argument("--quick", action="store_true", help="shorter intervals, no verdicts asked for")
    args = p.parse_args()
    os.makedirs(args.figures, exist_ok=True)
    d = Document(runs.Sim(args.sim, args.raw), args)
    with open(os.path.join(HERE, "head_streams.rst"), encoding="utf-8") as head:
        doc = head.read().rstrip("\n").split("\n") + [""]
    try:
        for part in (d.gaps, d.throughput, d.recovery, d.buffers, d.networks, d.lengths, d.clocks):
            doc += part()
    except Unexplained as e:
        print("streams: %s" % e, file=sys.stderr)
        return 1
    with open(args.document, "w", encoding="utf-8", newline="") as f:
        f.write("\n".join(doc).rstrip("\n") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
