# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of collectives: AlSader's tables, and pictures."""

import json
import os
import xml.etree.ElementTree

from tap import equal

FIGURES = os.path.join(os.path.dirname(__file__), "../../../Documentation/figures")

# kind, pattern, hosts of a rack, racks: steps, messages, between racks, on links, on core links,
# busiest member.  The closed forms of the source's tables, where they hold for its own sizes.
ROWS = [
    ("reduce", "cool-p-p", 4, 4, (3, 16, 3, 38, 6, 3)),
    ("gather", "cool-p-p", 4, 4, (3, 16, 3, 38, 6, 3)),
    ("scatter", "cool-p-p", 4, 4, (3, 16, 3, 38, 6, 3)),
    ("broadcast", "cool-p-p", 4, 4, (3, 6, 1, 26, 4, 1)),
    ("all-reduce", "cool-p-p", 4, 4, (3, 20, 4, 72, 16, 4)),
    ("all-gather", "cool-p-p", 4, 4, (3, 20, 4, 72, 16, 4)),
    ("all-reduce", "cool-b-r", 4, 4, (5, 24, 8, 72, 16, 2)),
    ("all-gather", "ring", 4, 4, (15, 240, 60, 600, 120, 2)),
    ("all-reduce", "doubling", 4, 4, (4, 64, 32, 192, 64, 2)),
    ("all-reduce", "rabenseifner", 4, 4, (8, 128, 64, 384, 128, 2)),
    ("reduce", "rabenseifner", 4, 4, (8, 79, 35, 228, 70, 2)),
    ("all-reduce", "cool-p-p", 2, 2, (3, 6, 2, 16, 4, 2)),
    ("all-reduce", "cool-p-p", 4, 2, (3, 10, 2, 28, 4, 3)),
    ("all-reduce", "cool-p-p", 2, 4, (3, 12, 4, 48, 16, 4)),
    ("all-reduce", "cool-p-p", 32, 32, (3, 1056, 32, 5056, 1024, 32)),
    ("all-reduce", "cool-b-r", 32, 32, (11, 1184, 160, 3648, 320, 2)),
    ("all-reduce", "doubling", 32, 32, (10, 10240, 5120, 30720, 10240, 2)),
    ("all-gather", "ring", 32, 32, (1023, 1047552, 32736, 2160576, 65472, 2)),
]

NAMES = ("steps", "messages", "cross_messages", "links", "cross_links", "load")

# file in Documentation/figures, and the options that draw it
PICTURES = [
    ("plan-broadcast-tree.svg", "broadcast --pattern tree --hosts 16 --radix 4"),
    ("plan-broadcast-spread.svg", "broadcast --pattern spread --hosts 5 --radix 3"),
    ("plan-all-gather-doubling.svg", "all-gather --pattern doubling --hosts 7"),
    ("plan-all-reduce-cool-p-p.svg", "all-reduce --pattern cool-p-p --hosts 16 --racks 4"),
    ("plan-all-reduce-spread.svg",
     "all-reduce --pattern spread --hosts 9 --racks 3 --radix 2"),
    ("plan-all-reduce-cool-b-r.svg", "all-reduce --pattern cool-b-r --hosts 16 --racks 4"),
]

BAD = [
    ("--plan gossip", "there are all barrier broadcast"),
    ("--plan all --pattern star", "there are all flat tree"),
    ("--plan barrier --pattern chain", "there is no such pattern of barrier"),
    ("--plan barrier --hosts 4 --racks 5", "--racks 5"),
    ("--plan barrier --hosts 4 --racks 0", "--racks 0"),
    ("--plan reduce --hosts 4 --root 4", "counted from 0 on"),
    ("--plan barrier --radix 1", "--radix 1"),
    ("--plan barrier --mean 4", "--mean does not go with --plan"),
    ("--plan barrier --core 0.5", "--core does not go with --plan"),
    ("--plan barrier --curve a", "--curve does not go with --plan"),
    ("--pattern tree", "--pattern goes with --plan"),
    ("--plan barrier --svg /nowhere/at/all", "a picture is of one plan"),
    ("--plan barrier --pattern tree --hosts 65 --svg /nowhere/at/all", "at most 64 hosts"),
    ("--plan barrier --pattern tree --svg /nowhere/at/all", "cannot be written"),
    ("--plan barrier --json /dev/full", "cannot be written"),
    ("--plan barrier --pattern tree --json - --svg -", "only one of them"),
]


def plan(tap, options):
    status, out, err = tap.call("--plan " + options)
    equal(status, 0, "%s: status, %s" % (options, err))
    equal(err, "", "standard error of " + options)
    return out


def tables(tap):
    for kind, pattern, k, r, want in ROWS:
        # COOL's root is no leader; that of a tree is the first
        root = k + k // 2 if pattern == "cool-p-p" else 0
        options = "%s --pattern %s --hosts %d --racks %d --root %d" % (kind, pattern, k * r, r, root)
        (got,) = json.loads(plan(tap, options + " --json -"))["plans"]
        equal(tuple(got[name] for name in NAMES), want, options)


def all_plans(tap):
    """Text and JSON have the same rows, of any number of hosts and uneven racks."""
    for options in ("all --hosts 2", "all --hosts 13 --racks 5 --root 12 --radix 3",
                    "all --hosts 13 --racks 13", "all --hosts 4096 --racks 7 --pattern tree"):
        rows = json.loads(plan(tap, options + " --json -"))["plans"]
        table = [line.split() for line in plan(tap, options).split("\n\n")[1].splitlines()[2:]]
        equal([[row["kind"], row["pattern"]] + ["%d" % row[name] for name in NAMES]
               for row in rows], table, options)
        for row in rows:
            assert row["messages"] > 0 and row["cross_links"] < row["links"], row
            assert ("--racks" in options) == (row["cross_links"] > 0), row


def pictures(tap):
    """One arrow for each message, and those of the documentation are of this program."""
    for name, options in PICTURES:
        svg = plan(tap, options + " --svg -")
        root = xml.etree.ElementTree.fromstring(svg)
        lines = root.findall("{http://www.w3.org/2000/svg}line")
        arrows = sum(1 for line in lines if line.get("marker-end"))
        legend = sum(1 for t in root.findall("{http://www.w3.org/2000/svg}text")
                     if t.text in ("stored", "combined", "one packet to several"))
        (row,) = json.loads(plan(tap, options + " --json -"))["plans"]
        assert legend > 0, name
        if "cool" in options:
            # each packet to several is an arrow for each of them: 3 leaders, or 3 of a rack
            equal(arrows - legend, 12 + {"p": 12, "r": 8}[options.split()[2][-1]] + 12, name)
        else:
            equal(arrows - legend, row["messages"], name)
        with open(os.path.join(FIGURES, name), encoding="utf-8") as f:
            assert f.read() == svg, "%s is not what shuffle-sim --plan %s --svg draws" % (
                name, options)


def refused(tap, options, want):
    status, out, err = tap.call(options)
    equal(status, 2, "status of %s" % options)
    assert want in err, "%s: no %r in %r" % (options, want, err)
    equal(out, "", "standard output")


def add(tap):
    tap.test("plans cost what the tables of COOL say", tables)
    tap.test("all plans, as text and as JSON", all_plans)
    tap.test("pictures of plans", pictures)
    for options, want in BAD:
        tap.test("refused: %s" % options, refused, options, want)
