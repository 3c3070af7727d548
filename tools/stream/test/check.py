#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the engines and of shuffle-stream-sim, as TAP.

usage: check.py SIM-WITH-SANITIZERS SIM TESTS-OF-ENGINES RANDOM-INPUTS
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

import document  # noqa: E402
from tap import Tap, above, at_most, differs, equal, false, has, lacks, near  # noqa: E402

# A network without noise, whose links need 1 us for a piece.
IDEAL = "--piece 1000 --rate 8 --noise 0 --control-noise 0 --nic round-robin --port-buffer 0"


class Stream(Tap):
    """Calls of the simulator."""

    def __init__(self, sanitized, sim):
        super().__init__("stream")
        self.sanitized = sanitized
        self.sim = sim

    def call(self, options, sim=None):
        p = subprocess.run([sim or self.sanitized] + options.split(), capture_output=True,
                           text=True, timeout=600, check=False)
        lacks(p.stderr, "Sanitizer", "p.stderr")
        lacks(p.stderr, "runtime error", "p.stderr")
        return p.returncode, p.stdout, p.stderr

    def good(self, options, sim=None):
        status, out, err = self.call(options, sim)
        equal(status, 0, "%s: status %d: %s" % (options, status, err))
        false(err, "%s: status %d: %s" % (options, status, err))
        return out

    def run(self, options, sim=None):
        """Results by schedule."""
        out = json.loads(self.good(options + " --json -", sim))
        return {r["schedule"]: r for r in out["runs"]}


def golden(tap):
    """simulator: golden values of an ideal network"""
    r = tap.run(IDEAL + " --inputs 2 --builders 2 --slices 200 --latency 1")
    for name in ("bench", "none"):
        near(r[name]["throughput"], 1, name, 1e-3)
    # Of a time-slice one input sends in the first half of a round, the other in the second.
    near(r["none"]["gap_us"]["p50"], 1, "gap", 1e-3)
    # 200 pieces of 1 us, 2 us until the last acknowledgment
    near(r["dfs"]["intervals"][0]["actual_us"], 202, "first interval", 1e-3)
    equal(r["dfs"]["intervals"][1]["proposed_us"], None, "a proposal too early")
    near(r["dfs"]["intervals"][2]["proposed_us"], 0.95 * 202, "proposal: 5 % faster", 0.01)
    r = tap.run(IDEAL + " --inputs 4 --builders 1 --slices 100 --ddes 1")
    near(r["bench"]["throughput"], 1, "four inputs, one builder: its link", 1e-3)
    near(r["bench"]["time_us"], 15 * 400, "15 intervals of 400 pieces of 1 us", 1e-3)


def settles(tap):
    """simulator: durations settle at what the network can do, proposals 5 % below"""
    r = tap.run(IDEAL + " --inputs 8 --builders 8 --slices 1600 --schedule dfs")["dfs"]
    for v in r["intervals"][25:38]:
        near(v["actual_us"], 1600, "actual", 0.01)
        near(v["proposed_us"], 1520, "proposed", 0.01)
    above(r["throughput"], 0.98, 'r["throughput"]')


def same_again(tap):
    """simulator: the same seed, the same results, with sanitizers as without"""
    options = "--inputs 5 --builders 7 --slices 70 --pause 500,50 --drift 50 --offset 10"
    one = tap.good(options + " --json -")
    equal(one, tap.good(options + " --json -", tap.sim), "another result")
    differs(one, tap.good(options + " --seed 2 --json -", tap.sim), "the seed does nothing")


def wrong_clocks(tap):
    """clocks off by 10 s that drift by 100 ppm: throughput within 2 % of perfect clocks"""
    options = "--inputs 8 --builders 8 --slices 400 --schedule dfs"
    perfect = tap.run(options, tap.sim)["dfs"]
    wrong = tap.run(options + " --offset 10 --drift 100", tap.sim)["dfs"]
    equal(wrong["refused"], 0, "%r messages refused" % wrong["refused"])
    near(wrong["throughput"], perfect["throughput"], "throughput", 0.02)
    at_most(wrong["gap_us"]["p50"], 1.1 * perfect["gap_us"]["p50"], "gap")


def replicas(tap):
    """replicas propose the same durations, also after a restart of one"""
    for more in ("", " --restart 15"):
        r = tap.run("--inputs 6 --builders 6 --slices 300 --ddes 4 --drift 50 --pause 900,90 "
                    "--schedule dfs" + more)["dfs"]
        equal(r["disagreed"], 0, "%r proposals differ" % r["disagreed"])
        equal(r["refused"], 0, "%r messages refused" % r["refused"])


def alone(tap):
    """the only engine is restarted: inputs go on, and have proposals again"""
    r = tap.run("--inputs 6 --builders 6 --slices 300 --ddes 1 --restart 15 --intervals 50 "
                "--schedule dfs")["dfs"]
    proposed = [v["proposed_us"] for v in r["intervals"]]
    # The last proposal is repeated until there is a history again.
    equal(len(set(proposed[19:26])), 1, "len(set(proposed[19:26]))")
    above(len(set(proposed[30:48])), 1, "len(set(proposed[30:48]))")


def input_fails(tap):
    """an input dies: all engines drop it after a second, the others go on as fast as before"""
    r = tap.run("--inputs 6 --builders 6 --slices 300 --ddes 3 --fail 20 --intervals 60 "
                "--offset 10 --drift 50 --schedule dfs")["dfs"]
    equal(r["dropped"], 3, "%r engines dropped it" % r["dropped"])
    equal(r["disagreed"], 0, 'r["disagreed"]')
    equal(r["refused"], 0, 'r["refused"]')
    v = r["intervals"]
    gap = v[22]["start_us"] - v[20]["start_us"]
    assert 1e6 < gap < 1.2e6, "others waited for %r us" % gap
    near(v[55]["actual_us"], v[18]["actual_us"], "afterwards", 0.05)


def recovers(tap):
    """intervals 15 to 25 slower by a quarter: afterwards as fast as before"""
    options = "--inputs 8 --builders 8 --slices 400 --intervals 80 --schedule dfs --slow 15-25,25"
    for n in (1, 8):
        v = [i["actual_us"] for i in tap.run("%s,%d" % (options, n), tap.sim)["dfs"]["intervals"]]
        above(min(v[17:25]), 1.15 * v[14], "not slower: %r" % v)
        near(sum(v[72:78]) / 6, v[14], "afterwards", 0.03)


def three(tap):
    """all inputs slower by a quarter: as fast as before within three intervals; replicas agree"""
    options = ("--inputs 20 --builders 20 --slices 400 --intervals 60 --schedule dfs --ddes 4 "
               "--slow 15-25,25,20")
    for more in ("", " --noise 2", " --restart 20", " --offset 10 --drift 100"):
        r = tap.run(options + more, tap.sim)["dfs"]
        equal(r["disagreed"], 0, "%s: %r" % (more, r["disagreed"]))
        equal(r["refused"], 0, "%s: %r" % (more, r["disagreed"]))
        v = [i["actual_us"] for i in r["intervals"]]
        at_most(max(v[28:50]), 1.05 * v[14], "from 28 on" + more)
    v = tap.run(options + " --change 0", tap.sim)["dfs"]["intervals"]
    above(v[35]["actual_us"], 1.15 * v[14]["actual_us"], "the source's rule")


def meet(tap):
    """without schedule inputs meet at builders: gaps, full buffers, throughput"""
    r = tap.run("--inputs 16 --builders 16 --slices 1600", tap.sim)
    dfs, none = r["dfs"], r["none"]
    above(none["gap_us"]["p50"], 10 * dfs["gap_us"]["p50"], "gaps")
    at_most(dfs["fill"]["p95"], 0.15, "buffers with a schedule")
    above(none["fill"]["p95"], 0.8, "buffers without")
    above(dfs["throughput"], 1.25 * none["throughput"], "throughput")
    r = tap.run("--inputs 16 --builders 16 --slices 1600 --nic round-robin --port-buffer 0",
                tap.sim)
    near(r["none"]["of_bench"], 1, "without head-of-line blocking no schedule is needed", 0.01)


def outputs(tap):
    """simulator: JSON, SVG, text, help"""
    with tempfile.TemporaryDirectory() as d:
        svg = os.path.join(d, "a.svg")
        out = tap.good("--inputs 3 --builders 3 --slices 9 --svg %s --json -" % svg)
        equal(len(json.loads(out)["runs"][0]["intervals"]), 39, "intervals")
        assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg"), "not SVG"
    out = tap.good("--inputs 3 --builders 3 --slices 9")
    has(out, "bench", "out")
    has(out, "interval", "out")
    known = [w for w in tap.good("--help").split() if w.startswith("--")]
    man = os.path.join(document.DOCS, "man", "shuffle-stream-sim.1")
    with open(man, encoding="utf-8") as f:
        text = f.read().replace("\\-", "-")
    for option in known:
        has(text, option, "%s is not in the manual page" % option)


def errors(tap):
    """simulator: wrong options are refused with a word about them"""
    for options, word in (
            ("--inputs 0", "1 to 512"), ("--inputs x", "number"), ("--slices 1.5", "whole"),
            ("--schedule foo", "dfs none bench"), ("--schedule ,", "nothing to do"),
            ("--slow 3", "A-B"), ("--slow 5-4,1", "number"), ("--pause 10", "EVERY,US"),
            ("--warmup 39", "nothing to measure"), ("--ddes 16 --builders 4", "engines"),
            ("--nic lifo", "fifo round-robin"), ("--drift 1001", "0 to 1000"), ("more", "more"),
            ("--intervals 1000000 --inputs 500 --slices 100000", "2 000 000 000"),
            ("--slow 1-2,3,400", "more slow inputs"), ("--fail 39", "--fail"), ("--schedule none --svg x", "dfs"),
            ("--json /nonexistent/x --inputs 2 --builders 2 --slices 4", "cannot be written"),
            ("--frobnicate", "frobnicate")):
        status, _, err = tap.call(options)
        equal(status, 2, "%s: status %d: %s" % (options, status, err))
        has(err, word, "%s: status %d: %s" % (options, status, err))


def main():
    tap = Stream(sys.argv[1], sys.argv[2])
    tap.program(sys.argv[3:5], "tests of the engines end")
    for test in (golden, settles, same_again, wrong_clocks, replicas, alone, input_fails, recovers, three,
                 meet, outputs, errors) + document.TESTS:
        tap.test(test.__doc__, test)
    return tap.end()


sys.exit(main())
