# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of shuffle-stream-sim for the figures, kept in a raw file if there is one."""

import json
import os
import subprocess
import sys

# Half of the nodes are inputs, as in the source.
NODES = (128, 192, 384)
FILL_NODES = (64, 128, 192)
SLOW = "15-25,25"


def size(nodes):
    return "--inputs %d --builders %d" % (nodes // 2, nodes // 2)


def figure_7(nodes, quick):
    """Of figures 6 and 7, and 9: one run for all of them."""
    return size(nodes) + " --slices %d --intervals 40" % (800 if quick else 2500)


def figure_8(slow, change, quick):
    options = size(192) + " --schedule dfs --change %d" % change
    options += " --slices %d --intervals 80" % (400 if quick else 2500)
    return options + (" --slow %s,96" % SLOW if slow else "")


# What a network is like: name, options.
NETWORKS = (
    ("as above: in order, 16 KiB", ""),
    ("in order, 64 KiB", "--port-buffer 65643"),
    ("in order, any number of bytes", "--port-buffer 0"),
    ("builders in turn, 16 KiB", "--nic round-robin"),
    ("builders in turn, any number of bytes", "--nic round-robin --port-buffer 0"),
    ("the same, no noise", "--nic round-robin --port-buffer 0 --noise 0"),
    ("the same, pauses", "--nic round-robin --port-buffer 0 --noise 0 --pause 1000,100"),
    ("in order, 16 KiB, pauses", "--noise 0 --pause 1000,100"),
    ("in order, 16 KiB, no noise", "--noise 0"),
    ("rounds begin with one builder", "--order same"),
)

# Intervals and speed-ups: time-slices, per cent.
LENGTHS = tuple((n, p) for n in (500, 2000, 5000, 10000) for p in (5, 2))

# Clocks: offset in s, drift in ppm.
CLOCKS = ((0, 0), (10, 0), (10, 50), (10, 100))

SMALL = "--inputs 20 --builders 20"


def network(options):
    return (SMALL + " --slices 2000 --intervals 60 --warmup 30 " + options).strip()


def length(slices, percent):
    return "%s --slices %d --speedup %g --intervals 100 --warmup 40 --schedule dfs,bench" % (
        SMALL, slices, percent)


def clocks(offset, drift):
    return "%s --slices 2000 --intervals 60 --warmup 30 --offset %g --drift %g" % (
        SMALL, offset, drift) + " --schedule dfs,bench"


class Sim:
    """shuffle-stream-sim, with a word about what it does."""

    def __init__(self, path, raw=None):
        self.path = path
        self.raw = raw
        self.known = {}
        if raw and os.path.exists(raw):
            with open(raw, encoding="utf-8") as f:
                self.known = json.load(f)

    def run(self, options):
        """Results by schedule."""
        if options not in self.known:
            print("shuffle-stream-sim " + options, file=sys.stderr, flush=True)
            p = subprocess.run([self.path] + options.split() + ["--json", "-", "--progress", "off"],
                               check=True, stdout=subprocess.PIPE, text=True)
            self.known[options] = {r["schedule"]: r for r in json.loads(p.stdout)["runs"]}
            if self.raw:
                with open(self.raw, "w", encoding="utf-8") as f:
                    json.dump(self.known, f)
        return self.known[options]
