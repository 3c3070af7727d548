# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold for every shuffle: conservation, bounds, monotonicity, determinism."""

import json
import os

from tap import below, differs, equal, within

ALGOS = ["grpf", "srpt", "grpt", "hadoop", "madd", "lockstep", "high-entropy", "sequential",
         "round-robin"]
NETWORKS = [
    ("one rack", ""),
    ("no priorities", "--prio none"),
    ("four racks", "--racks 4 --core 0.5"),
    ("four racks, priorities everywhere", "--racks 4 --core 0.3 --prio core"),
    ("hashed flows", "--racks 4 --core 0.5 --spines 3"),
    ("sprayed packets", "--racks 4 --core 0.5 --spines 3 --spray on"),
    ("preemption", "--preempt 5"),
    ("varying links", "--vary 5"),
    ("slow links", "--slow-share 0.3 --slow-rate 0.4"),
    ("busy hosts", "--cost-packet 0.4 --cost-message 3"),
    ("no latency", "--hop 0"),
    ("three shuffles", "--shuffles 3 --stagger 40"),
    ("small buffers", "--buffer 6 --timeout 150"),
    ("small shared buffers, two racks", "--racks 2 --switch-buffer 40 --timeout 150"),
]
MODES = [
    ("const windows", "--window const"),
    ("nothing unscheduled", "--unsched none"),
    ("RTT of each message unscheduled", "--unsched message"),
    ("not randomised", "--randomise off"),
    ("little redirection", "--redirect 4 --preempt 5"),
    ("pro rata overcommitment", "--racks 2 --core 0.5 --global total"),
    ("global schedule", "--racks 2 --core 0.5 --prio core --global sched"),
    ("stale global schedule", "--racks 2 --core 0.5 --prio core --global sched --stale 2"),
    ("gossip", "--racks 2 --core 0.5 --prio core --global gossip --power 0"),
    ("gossip, squared", "--racks 2 --core 0.5 --prio core --global gossip"),
    ("all announced, headroom", "--announce all --headroom 4 --preempt 10"),
    ("stalled senders", "--preempt 10 --stall 20"),
    ("grants of several packets", "--grant-units 4"),
    ("shuffles that start at random, smallest first", "--shuffles 5 --load 0.7 --sigma 1 "
     "--op-order smallest"),
    ("shuffles that start at random, omniscient", "--shuffles 5 --load 0.7 --sigma 1 "
     "--op-order omniscient"),
    ("alternating preemption", "--preempt 5 --preempt-order alternate"),
    ("senders and receivers exchanged", "--transpose on"),
]


def whole(tap, algo, network):
    """The simulator itself checks that each packet of each message came once."""
    for r in tap.run("--hosts 12 --mean 6 --runs 3 --skewness 0.15,0.65 --algo %s %s"
                     % (algo, network)):
        equal(r["ended"], True, "ended")
        for i in range(r["runs"]):
            sent, packets = r["sent"]["all"][i], r["packets"]["all"][i]
            if "buffer" in network:
                within(sent, packets, 1e9, "sent")
            else:
                equal(sent, packets, "sent")
                equal(r["dropped"]["all"][i], 0, "dropped")
            if "vary" not in network:
                within(r["steps"]["all"][i], r["bound"]["all"][i], 1e9, "time")
            for k in ("send", "receive", "message"):
                within(r["oracle_" + k]["all"][i], 0, r["steps"]["all"][i], k)


def mode(tap, options):
    for r in tap.run("--hosts 12 --mean 6 --runs 3 --skewness 0.15,0.65 " + options):
        equal(r["ended"], True, "ended")


def grows(tap, name, values, metric, options, falls=False):
    got = [tap.one("%s --%s %g" % (options, name, v))[metric] for v in values]
    if falls:
        got.reverse()
    equal(got, sorted(got), "%s by %s %s" % (metric, name, values))
    below(got[0], got[-1], "%s does not depend on %s: %r" % (metric, name, got))


def queue_bound(tap, overcommit):
    """Figure 6.18: (overcommit - 1) RTT; a single RTT may come all in one step."""
    r = tap.one("--hosts 20 --mean 60 --runs 4 --skewness 0.3 --preempt 10 --unsched none "
                "--overcommit %d" % overcommit)
    within(r["port_max"], 1, max(7, (overcommit - 1) * 8 + 2), "longest queue")


def grants_bound(tap, overcommit):
    r = tap.one("--hosts 20 --mean 30 --skewness 0.3 --unsched none --overcommit %d" % overcommit)
    within(r["grants_max"], 1, 20 * overcommit * 8, "grants")


def threads(tap):
    options = "--hosts 16 --runs 9 --skewness 0.2,0.7 --preempt 4 --curve a --curve b --algo hadoop"
    status, one, _ = tap.call("--threads 1 --json - --all " + options)
    equal(status, 0, "status")
    for n in (2, 5):
        equal(tap.call("--threads %d --json - --all %s" % (n, options))[1], one,
              "output of %d threads" % n)
    other = tap.call("--seed 2 --threads 2 --json - --all " + options)[1]
    differs(other, one, "the seed changes nothing")


def outputs(tap):
    out, series = (os.path.join(tap.dir, n) for n in ("out.csv", "series.csv"))
    status, text, err = tap.call("--hosts 10 --runs 2 --skewness 0.3 --csv %s --series %s "
                                 "--curve A --curve B --algo madd" % (out, series))
    equal((status, err), (0, ""), "status")
    equal(text.count("skewness 0.3"), 2, 'text.count("skewness 0.3")')
    with open(out, encoding="utf-8") as f:
        lines = f.read().splitlines()
    equal(len(lines), 5, "lines of CSV")
    equal({len(line.split(",")) for line in lines}, {len(lines[0].split(","))}, "columns")
    steps = lines[0].split(",").index("steps")
    with open(series, encoding="utf-8") as f:
        parts = f.read().split("# ")[1:]
    equal([p.split(",")[0] for p in parts], ["A", "B"], "curves of the series")
    for part, line in zip(parts, (lines[1], lines[3])):
        last = part.splitlines()[-1].split(",")
        equal(last[0], line.split(",")[steps], "last step")
        equal(float(last[4]), 1.0, "messages completed")
    json.loads(tap.call("--hosts 10 --quiet --json -")[1])


def transposed(tap):
    """The matrix, transposed by hand, is the same as --transpose; 3.10's racks are as asked."""
    rows = [[0, 3, 9, 1], [7, 0, 0, 2], [0, 30, 0, 5], [4, 4, 4, 0]]
    equal(tap.run("--transpose on", rows), tap.run("", [list(c) for c in zip(*rows)]), "results")


def figure_310(tap):
    """Figure 3.10: even shares take 4/3 of the bound, pro rata overcommitment takes it all."""
    rows = [[(900 if i == 0 else 300) if k == i + 4 else 0 for k in range(8)] for i in range(8)]
    base = "--racks 2 --core 0.5 --place in-order --prio core "
    equal(tap.one(base, rows)["bound"], 900, "bound")
    within(tap.one(base, rows)["steps"], 1180, 1240, "even shares")
    within(tap.one(base + "--global total", rows)["steps"], 900, 1060, "pro rata")


def powers(tap):
    """Equation 3.14 with a power of nearly none is 3.13, whether all-reduce takes time or not."""
    base = "--hosts 80 --racks 4 --core 0.5 --prio core --mean 8 --skewness 0.3 "
    none = tap.one(base)["optimality"]
    for more in ("--global sched ", "--global sched --stale 1 "):
        first, tiny, cube = (tap.one(base + more + "--power " + n)["optimality"]
                             for n in ("0", "0.001", "2"))
        within(tiny, first - 0.005, first + 0.005, more + "a small power")
        within(first, none + 0.03, 1, more + "3.13")
        within(cube, 0.85, first - 0.02, more + "the cube")


def starts_fair(tap):
    """Hadoop chooses among all senders, also those that are preempted at the first step."""
    h, g = (tap.one("--hosts 20 --mean 100 --preempt 20 --preempt-order alternate --runs 3 "
                    "--skewness 0.05 " + a)["optimality"]
            for a in ("--algo hadoop --connections 10", ""))
    within(h / g, 0.85, 1.1, "Hadoop-10 in GRPF")


def stale_snapshot(tap):
    """What all-reduce told is compared with what was left then: stale costs little."""
    base = "--hosts 80 --racks 4 --core 0.5 --prio core --mean 4 --skewness 0.5 --runs 3 "
    fresh, stale = (tap.one(base + "--global sched" + x)["optimality"]
                    for x in ("", " --stale 3"))
    within(fresh - stale, -0.05, 0.05, "loss by stale information")


WINDOWS = [
    "", "--prio none", "--racks 4 --core 0.5", "--racks 4 --core 0.3 --prio core --spines 3",
    "--racks 4 --core 0.5 --spines 2 --spray on", "--algo hadoop --racks 2",
    "--racks 2 --core 0.5 --global total", "--hop 1 --window const", "--hop 5 --grant-units 4",
    "--max-steps 61 --racks 2 --core 0.4",
]


def windows(tap, options):
    """Windows of several steps, one host after the other, change nothing: what is recorded over
    time is simulated step by step.
    """
    base = "--hosts 24 --mean 8 --skewness 0.4 --quiet --csv - %s" % options
    rows = [tap.call(base + extra)[1].splitlines()[1].split(",")
            for extra in ("", " --series " + os.path.join(tap.dir, "series.csv"))]
    # the last column is memory
    equal(rows[0][:-1], rows[1][:-1], "results")


def long_series(tap):
    """More steps than the series has rows: they are joined, nothing is lost."""
    series = os.path.join(tap.dir, "series.csv")
    status, _, err = tap.call("--hosts 4 --mean 700 --quiet --workload uniform --series " + series)
    equal((status, err), (0, ""), "status")
    with open(series, encoding="utf-8") as f:
        rows = [line.split(",") for line in f.read().splitlines()[2:]]
    within(len(rows), 250, 512, "rows")
    sent, last = 0.0, 0
    for row in rows:
        sent += float(row[1]) * (int(row[0]) - last) * 4
        last = int(row[0])
    within(sent, 4 * 3 * 700 * 0.999, 4 * 3 * 700 * 1.001, "packets sent")


def add(tap):
    for algo in ALGOS:
        for name, network in NETWORKS:
            tap.test("conservation: %s, %s" % (algo, name), whole, algo, network)
    for name, options in MODES:
        tap.test("conservation: grpf, " + name, mode, options)
    for algo in ("grpf", "madd", "hadoop"):
        base = "--hosts 16 --seed 3 --algo %s " % algo
        tap.test("monotonicity: %s, mean" % algo, grows, "mean", (4, 8, 16, 32), "steps",
                 base + "--skewness 0.3")
        tap.test("monotonicity: %s, core" % algo, grows, "core", (0.25, 0.5, 0.75), "steps",
                 base + "--racks 4 --prio core --skewness 0.3", True)
        # Hadoop's windows are a round trip: the least latency has windows that are too small
        hops = (2, 4, 8) if algo == "hadoop" else (1, 2, 4, 8)
        tap.test("monotonicity: %s, latency" % algo, grows, "hop", hops, "steps",
                 base + "--mean 4 --skewness 0.3")
    for overcommit in (1, 2, 5, 10):
        tap.test("queue of a port, overcommit %d" % overcommit, queue_bound, overcommit)
        tap.test("grants outstanding, overcommit %d" % overcommit, grants_bound, overcommit)
    tap.test("the number of threads changes nothing", threads)
    tap.test("text, CSV and series", outputs)
    tap.test("a series of many steps", long_series)
    for options in WINDOWS:
        tap.test("windows of steps: " + (options or "one rack"), windows, options)
    tap.test("the transposed matrix", transposed)
    tap.test("figure 3.10", figure_310)
    tap.test("equations 3.13 and 3.14", powers)
    tap.test("Hadoop begins with any senders", starts_fair)
    tap.test("stale information is of one time", stale_snapshot)
