#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw the figures of Guo et al. on in-network aggregation again, with shuffle-plan, and write
Documentation/evaluation-aggregation.rst.

A difference without a reason, and a reason without a difference, is an error.
"""

import argparse
import csv
import io
import json
import os
import random
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../sim/figures"))

import agg_source as source  # noqa: E402
from svgplot import Line, Panel, render  # noqa: E402

ORDER = ("none", "unicast", "kmb", "irs", "srs")
NAMES = dict(source.METHODS, none="none")


class Unexplained(ValueError):
    """A difference has no reason, or a reason no difference."""


class Planner:
    """shuffle-plan, with a word about what it does."""

    def __init__(self, path, raw):
        self.path = path
        self.raw = raw
        self.known = {}
        if raw and os.path.exists(raw):
            with open(raw, encoding="utf-8") as f:
                self.known = json.load(f)

    def run(self, options):
        """Results by method; kept in the raw file, if there is one."""
        if options not in self.known:
            self.known[options] = self.plan(options)
            if self.raw:
                write(self.raw, json.dumps(self.known))
        return self.known[options]

    def plan(self, options):
        print("shuffle-plan " + options[:140], file=sys.stderr, flush=True)
        p = subprocess.run([self.path] + options.split() + ["--json", "-", "--summary", "--progress",
                                                            "off"],
                           check=True, stdout=subprocess.PIPE, text=True)
        return {m["method"]: m for m in json.loads(p.stdout)["methods"]}


class Curves:
    """Results of all methods over one axis, under both rules of merging."""

    def __init__(self, planner, points, options):
        methods = " --objective links --method " + ",".join(ORDER)
        self.points = points
        self.all = [planner.run(options(x) + methods) for x in points]
        self.children = [planner.run(options(x) + methods + " --merge children") for x in points]
        self.rotate = [planner.run(options(x) + " --paths rotate --method none,unicast")
                       for x in points]

    @staticmethod
    def mean(results, method):
        """Of the savings at all points, per cent."""
        return 100 * sum(1 - r[method]["cost"][0] / r["none"]["cost"][0]
                         for r in results) / len(results)

    @staticmethod
    def together(results, method):
        """Of the traffic of all points."""
        return 100 * (1 - sum(r[method]["cost"][0] for r in results) /
                      sum(r["none"]["cost"][0] for r in results))


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


def verdict(measured, said):
    return "agrees" if source.agrees(measured, said) else "differs"


def explain(key, result, reasons):
    """A difference needs a reason; the reason is told."""
    why = source.WHY.get(key)
    if (result == "differs") != bool(why):
        raise Unexplained("%s: %s, and %s" % (key, result, "there is a reason for a difference"
                                              if why else "no reason is known"))
    if why and why not in reasons:
        reasons.append(why)


def savings(figure, curves, strict):
    rows, reasons = [], []
    for method, word in source.METHODS.items():
        said = source.SAVINGS[figure, method]
        got = curves.mean(curves.all, method)
        result = verdict(got, said)
        if strict:
            explain((figure, method), result, reasons)
        rows.append([word, "%.2f" % said, "%.2f" % got, "%+.1f %%" % (100 * (got / said - 1)),
                     result, "%.2f" % curves.together(curves.all, method),
                     "%.2f" % curves.mean(curves.children, method)])
    rows.append(["unicast, rotate", "%.2f" % source.SAVINGS[figure, "unicast"],
                 "%.2f" % curves.mean(curves.rotate, "unicast"), "", "",
                 "%.2f" % curves.together(curves.rotate, "unicast"), ""])
    out = table(["Method", "Source %", "Here %", "Difference", "Verdict", "All traffic %",
                 "Children only %"], rows)
    for why in reasons:
        out += wrap("*Why it differs:* " + why)
    return out


def panels(curves, xlabel):
    """The four panels of figures 4 and 5."""
    def lines(of, methods):
        return [Line(NAMES[m], [(x, of(r[m])) for x, r in zip(curves.points, curves.all)],
                     colour=COLOURS[m]) for m in methods]

    cost = lines(lambda m: m["cost"][0] / 1e3, ORDER)
    cost.append(Line("Steiner, children only",
                     [(x, r["kmb"]["cost"][0] / 1e3)
                      for x, r in zip(curves.points, curves.children)],
                     dashed=True, colour=COLOURS["kmb"]))
    return [Panel("(a) traffic, thousands of flows and links", xlabel, "traffic", cost, ymin=0),
            Panel("(b) links in use, thousands", xlabel, "links",
                  lines(lambda m: m["links"] / 1e3, ORDER), ymin=0),
            Panel("(c) aggregating servers", xlabel, "servers",
                  lines(lambda m: m["aggregators"], ORDER[1:]), ymin=0),
            Panel("(d) input of receivers, thousands", xlabel, "flows",
                  lines(lambda m: m["input"][0] / 1e3, ORDER), ymin=0)]


COLOURS = {"none": "#7f7f7f", "unicast": "#1f77b4", "kmb": "#2ca02c", "irs": "#ff7f0e",
           "srs": "#d62728"}


def curves_csv(axis, curves):
    f = io.StringIO()
    out = csv.writer(f, lineterminator="\n")
    out.writerow([axis, "rule", "method", "traffic", "links", "aggregators", "input", "depth"])
    for rule, results in (("all", curves.all), ("children", curves.children),
                          ("all, rotate", curves.rotate)):
        for x, r in zip(curves.points, results):
            for name, m in r.items():
                out.writerow([x, rule, name, m["cost"][0], m["links"], m.get("aggregators", ""),
                              m["input"][0], m.get("depth", "")])
    return f.getvalue()


def table_1(curves, pre, strict):
    rows = []
    for method, said in source.TABLE_1.items():
        got = [r[method]["cost"][0] for x, r in zip(curves.points, curves.all)
               if x in source.TABLE_1_K]
        results = [verdict(a, b) for a, b in zip(got, said)]
        if strict and "differs" in results:
            raise Unexplained("table 1, %s: %r, and no reason is known" % (method, results))
        rows.append([NAMES[method], "source"] + list(said) + [""])
        rows.append(["", "here"] + ["%.0f" % v for v in got] +
                    ["agrees" if "differs" not in results else "differs"])
        rows.append(["", "difference"] + ["%+.1f %%" % (100 * (a / b - 1))
                                          for a, b in zip(got, said)] + [""])
        rows.append(["", "pre"] + ["%.0f" % r[method]["cost"][0] for r in pre] + [""])
    return table(["Method", ""] + ["k = %d" % k for k in source.TABLE_1_K] + ["Verdict"], rows)


def factor(planner, args, strict):
    """Figure 6: panels, CSV rows, and the table."""
    step = 5 if args.quick else 1
    deltas = [i * step / 20 for i in range(20 // step + 1)]
    drawn, rows, values, reasons = [], [], [], []
    for members, said in source.FACTOR.items():
        shown = members // 10 if args.quick else members
        r = planner.run("--bcube 8,5 --random %dx%d --irs post --objective links --method "
                        "none,unicast,srs --delta %s" % (shown, shown,
                                                         ",".join("%g" % d for d in deltas)))
        planned = planner.run("--bcube 8,5 --random %dx%d --objective links --irs inter --method "
                              "none,srs --delta %s" % (shown, shown,
                                                       ",".join("%g" % d for d in deltas)))
        drawn.append(Panel("m = n = %d" % shown, "delta", "traffic, millions",
                           [Line(NAMES[m], [(d, c / 1e6) for d, c in zip(deltas, r[m]["cost"])],
                                 colour=COLOURS[m]) for m in ("none", "unicast", "srs")] +
                           [Line("SRS without moves", [(d, c / 1e6) for d, c in
                                                       zip(deltas, planned["srs"]["cost"])],
                                 dashed=True, colour=COLOURS["srs"])], ymin=0))
        for name, of in (("none", r), ("unicast", r), ("srs", r), ("srs inter", planned)):
            values += [[shown, d, name, c] for d, c in zip(deltas, of[name.split()[0]]["cost"])]
        saving = [100 * (1 - a / b) for a, b in zip(r["srs"]["cost"], r["none"]["cost"])]
        mean = (sum(saving) - (saving[0] + saving[-1]) / 2) / (len(saving) - 1)
        result = verdict(mean, said)
        if strict:
            explain(("6", members), result, reasons)
        rows.append(["%d x %d" % (shown, shown), "%.2f" % said, "%.2f" % mean,
                     "%+.1f %%" % (100 * (mean / said - 1)), result, "%.2f" % saving[0],
                     "%.2f" % saving[len(saving) // 2], "%.2f" % saving[-1]])
    out = table(["Members", "Source %", "Here %", "Difference", "Verdict", "delta 0", "delta 0.5",
                 "delta 1"], rows)
    for why in reasons:
        out += wrap("*Why it differs:* " + why)
    return drawn, values, out


def far_members(k, n, seed):
    """Receiver 0, and senders all of whose digits differ from it."""
    rng = random.Random(seed)
    labels = set()
    while len(labels) < n:
        labels.add(".".join(str(rng.randint(1, 5)) for _ in range(k + 1)))
    return "--bcube 6,%d --receivers 0 --senders %s" % (k, ",".join(sorted(labels)))


def filters(planner, args):
    """Table 2: mistakes of a packet, and exact filters."""
    rows = []
    for k, bits in source.TABLE_2.items():
        members = far_members(k, 100 if k == 2 else 100 if args.quick else 500, 6)
        got = []
        for size in (bits, source.MILLIONTH[k]):
            b = planner.run("%s --method unicast --bloom-form paper --bloom %d"
                            % (members, size))["unicast"]["bloom"]
            got.append((b["wrong"] / b["paths"], 100 * (1 - b["exact"] / b["paths"])))
        exact = []
        for size in (64, 128, 256):
            b = planner.run("%s --method irs --bloom %d" % (members, size))["irs"]["bloom"]
            exact.append("%.1f" % b["salts"] if b["exact"] == b["paths"] else
                         "%.1f %%" % (100 * b["exact"] / b["paths"]))
        formula = 0.6185 ** (bits / (2 * (k + 1))) * k * (k - 1) / 2
        rows.append([k, bits, "%.2f" % formula, "%.2f" % got[0][0], "%.0f %%" % got[0][1],
                     source.MILLIONTH[k], "%.4f" % got[1][0]] + exact)
    return table(["k", "Bits", "Formula", "Mistakes", "Packets", "Bits, 1e-6", "Mistakes",
                  "64 exact", "128 exact", "256 exact"], rows)


EXAMPLES = [
    ("figure 2(b)", "--receivers 0 --irs inter --method irs", 16, 12),
    ("figure 2(c)", "--receivers 0 --irs post --method irs", 14, 11),
    ("figure 3(a)", "--receivers 3 --irs pre --method irs", 14, 11),
    ("figure 3(b)", "--receivers 8 --irs post --method irs", 12, 9),
]


def examples(planner, figures):
    rows = []
    for name, options, cost, links in EXAMPLES:
        (m,) = planner.run("--bcube 4,1 --senders 2,5,9,10,11,14 " + options).values()
        if (m["cost"][0], m["links"]) != (cost, links):
            raise Unexplained("%s: %r" % (name, m))
        rows.append([name, options.split(" --method")[0], cost, links, "%g" % m["cost"][0],
                     m["links"], "agrees"])
    subprocess.run([planner.path, "--bcube", "4,1", "--senders", "2,5,9,10,11,14", "--receivers",
                    "0", "--quiet", "--svg", os.path.join(figures, "agg-tree.svg")], check=True)
    return table(["Example", "Options", "Cost", "Links", "Here", "Links", "Verdict"], rows) + [
        "Figure 2(c), as ``--svg`` draws it; numbers at lines are dimensions.", "",
        ".. image:: figures/agg-tree.svg", "   :alt: an aggregation tree in BCube(4,1)", ""]


def optimum(planner, args):
    rows = []
    for cube in ("4,1", "2,3", "3,2", "4,2"):
        for members in (3, 6, 9):
            got = planner.run("--bcube %s --random %dx1 --runs %d --method unicast,kmb,irs,exact"
                              % (cube, members, 20 if args.quick else 1000))
            refined = planner.run("--bcube %s --random %dx1 --runs %d --method irs,exact --refine"
                                  % (cube, members, 20 if args.quick else 1000))["irs"]
            rows.append(["BCube(%s)" % cube, members] +
                        [v for m in (got["unicast"], got["kmb"], got["irs"], refined) for v in
                         ("%.3f" % m["ratio_mean"], "%.2f" % m["ratio_max"])])
    return table(["Topology", "Senders", "unicast", "max", "kmb", "max", "irs", "max", "refined",
                  "max"], rows)


def refined(planner, args):
    """What --refine gains where there is no optimum to be had."""
    rows = []
    for members in (50, 250) if args.quick else (50, 250, 500, 1000, 1500):
        line = "--bcube 8,5 --random %dx%d --method " % (members, members)
        irs = planner.run(line + "irs")["irs"]
        better = planner.run(line + "irs --refine")["irs"]
        kmb = planner.run(line + "kmb")["kmb"]
        rows.append([members] + [v for m in (irs, better, kmb)
                                 for v in ("%.0f" % m["cost"][0], m["depth"])] +
                    ["%+.1f %%" % (100 * (better["cost"][0] / irs["cost"][0] - 1))])
    return table(["Members", "irs", "depth", "refined", "depth", "kmb", "depth", "Gain"], rows)


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def document(planner, args):
    strict = not args.quick
    runs = 5 if args.quick else 100
    ks = list(range(2, 9))
    sizes = [50, 150, 250] if args.quick else [50 * i for i in range(1, 31)]
    four = Curves(planner, ks, lambda k: "--bcube 6,%d --random 60x60 --runs %d" % (k, runs))
    pre = [planner.run("--bcube 6,%d --random 60x60 --runs %d --irs pre --objective links "
                       "--method irs,srs" % (k, runs)) for k in source.TABLE_1_K]
    five = Curves(planner, sizes, lambda n: "--bcube 8,5 --random %dx%d" % (n, n))
    drawn, values, six = factor(planner, args, strict)

    def figure(name, what, text):
        write(os.path.join(args.figures, "agg-%s.svg" % name), render(what, columns=2))
        write(os.path.join(args.figures, "agg-%s.csv" % name), text)
        return [".. image:: figures/agg-%s.svg" % name, "   :alt: figure %s" % name, "",
                "`Values <figures/agg-%s.csv>`__." % name, ""]

    f = io.StringIO()
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["members", "delta", "method", "traffic"])
    out.writerows(values)
    with open(os.path.join(HERE, "head_aggregation.rst"), encoding="utf-8") as head:
        doc = head.read().rstrip("\n").split("\n") + [""]
    doc += title("Examples of the source") + examples(planner, args.figures)
    doc += title("Figure 4: size of the data center")
    doc += wrap("60 senders and 60 receivers in BCube(6,k), means of %d rounds. *All traffic* is "
                "the saving of all sizes' traffic together." % runs)
    doc += figure("4", panels(four, "k"), curves_csv("k", four))
    doc += savings("4a", four, strict)
    doc += title("Table 1")
    doc += wrap("Traffic of the same shuffles. *pre*: routing symbols chosen before moves in a "
                "stage.") + table_1(four, pre, strict)
    doc += title("Figure 5: size of the shuffle")
    doc += wrap("BCube(8,5), 262144 servers; as many senders as receivers, 50 to 1500.")
    doc += figure("5", panels(five, "senders"), curves_csv("members", five))
    doc += savings("5a", five, strict)
    doc += title("Figure 6: aggregation ratio")
    doc += wrap("BCube(8,5). *SRS without moves*: --irs inter, which shuffle-plan takes by itself "
                "where delta is 0.5 or more.")
    doc += figure("6", drawn, f.getvalue()) + six
    doc += title("Table 2: filters in packets")
    doc += wrap("BCube(6,k), packets between servers all of whose digits differ. *Formula*: the "
                "source's expectation of mistakes at its bits; *Mistakes*, *Packets*: measured, and "
                "how many packets make any; then the same at the bits with which the formula gives "
                "a millionth. *Exact*: salts tried with IRS's trees in filters of 64, 128, 256 bits "
                "until forwarding makes no mistake; or for how many ways a salt was found.")
    doc += filters(planner, args) + wrap(source.FILTERS_WHY)
    doc += title("Beside the optimum")
    doc += wrap("Cost divided by that of the cheapest tree, mean and maximum of %d random incasts "
                "each; delta 0." % (20 if args.quick else 1000)) + optimum(planner, args)
    doc += title("Refined trees")
    doc += wrap("What ``--refine``, which is not of the source, makes of IRS's trees in BCube(8,5): "
                "traffic and depth in server hops, beside the Steiner trees. A deep tree waits at "
                "every server, and its last servers carry what all others depend on.")
    doc += refined(planner, args)
    return "\n".join(doc).rstrip("\n") + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--plan", required=True, help="shuffle-plan")
    p.add_argument("--figures", required=True, help="folder for SVG and CSV")
    p.add_argument("--document", required=True, help="evaluation-aggregation.rst")
    p.add_argument("--raw", help="results are kept in this file, and taken from it")
    p.add_argument("--quick", action="store_true", help="few rounds, no verdicts asked for")
    args = p.parse_args()
    os.makedirs(args.figures, exist_ok=True)
    try:
        text = document(Planner(args.plan, args.raw), args)
    except Unexplained as e:
        print("aggregation: %s" % e, file=sys.stderr)
        return 1
    write(args.document, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
