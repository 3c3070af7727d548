# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of collectives: AlSader's tables, and pictures."""

import json
import os
import tempfile
import xml.etree.ElementTree

from tap import above, below, equal, has

FIGURES = os.path.join(os.path.dirname(__file__), "../../../Documentation/figures")

# kind, pattern, hosts of a rack, racks: steps and those between racks, messages and those between
# racks, packets on links and on core links, load of a leader and of another member.  The closed
# forms of the source's tables, where they hold for its own sizes; cool.py compares all of them.
ROWS = [
    ("reduce", "cool-p-p", 4, 4, (3, 1, 16, 3, 38, 6, 3, 1)),
    ("gather", "cool-p-p", 4, 4, (3, 1, 16, 3, 38, 6, 3, 1)),
    ("scatter", "cool-p-p", 4, 4, (3, 1, 16, 3, 38, 6, 3, 1)),
    ("broadcast", "cool-p-p", 4, 4, (3, 1, 6, 1, 26, 4, 1, 1)),
    ("all-reduce", "cool-p-p", 4, 4, (3, 1, 20, 4, 72, 16, 4, 1)),
    ("all-gather", "cool-p-p", 4, 4, (3, 1, 20, 4, 72, 16, 4, 1)),
    ("all-reduce", "cool-b-r", 4, 4, (5, 2, 24, 8, 72, 16, 2, 1)),
    ("all-gather", "ring", 4, 4, (15, 15, 240, 60, 600, 120, 2, 2)),
    ("all-reduce", "doubling", 4, 4, (4, 2, 64, 32, 192, 64, 2, 2)),
    ("all-reduce", "rabenseifner", 4, 4, (8, 4, 128, 64, 384, 128, 2, 2)),
    ("reduce", "rabenseifner", 4, 4, (8, 4, 79, 35, 228, 70, 2, 2)),
    ("all-reduce", "cool-p-p", 2, 2, (3, 1, 6, 2, 16, 4, 2, 1)),
    ("all-reduce", "cool-p-p", 4, 2, (3, 1, 10, 2, 28, 4, 3, 1)),
    ("all-reduce", "cool-p-p", 2, 4, (3, 1, 12, 4, 48, 16, 4, 1)),
    ("all-reduce", "cool-p-p", 32, 32, (3, 1, 1056, 32, 5056, 1024, 32, 1)),
    ("all-reduce", "cool-b-r", 32, 32, (11, 5, 1184, 160, 3648, 320, 2, 1)),
    ("all-reduce", "doubling", 32, 32, (10, 5, 10240, 5120, 30720, 10240, 2, 2)),
    ("all-gather", "ring", 32, 32, (1023, 1023, 1047552, 32736, 2160576, 65472, 2, 2)),
]

NAMES = ("steps", "cross_steps", "messages", "cross_messages", "links", "cross_links",
         "leader_load", "other_load")

# Options, and microseconds by hand: 0.48 for a packet on a link of a host, 1 for each link.
TIMES = [
    ("broadcast --pattern flat --hosts 2 --bytes 1500", 2 * 0.48 + 2),
    ("broadcast --pattern flat --hosts 2 --bytes 750", 2 * 0.24 + 2),
    ("broadcast --pattern flat --hosts 2 --bytes 1501", 0.48 + 0.48 + 0.00032 + 2),
    # racks of one host: four links; links of racks at half the rate
    ("broadcast --pattern flat --hosts 2 --racks 2 --bytes 1500", 4 * 0.48 + 4),
    ("broadcast --pattern flat --hosts 2 --racks 2 --bytes 1500 --core 0.5", 6 * 0.48 + 4),
    # racks of two: a link of a rack has the rate of two hosts
    ("broadcast --pattern tree --hosts 4 --racks 2 --bytes 1500", 3 * 0.48 + 4 + 2 * 0.48 + 2),
    # four packets wait for one link
    ("gather --pattern flat --hosts 5 --bytes 7500", 0.48 + 4 * 0.48 + 2),
    # two packets, a whole message at a time
    ("broadcast --pattern chain --radix 1 --hosts 4 --bytes 3000", 3 * (3 * 0.48 + 2)),
    # in two segments: the second one is a packet behind the first
    ("broadcast --pattern chain --radix 2 --hosts 4 --bytes 3000", 3 * (2 * 0.48 + 2) + 0.48),
    ("all-gather --pattern ring --hosts 4 --bytes 6000", 3 * (2 * 0.48 + 2)),
    ("all-reduce --pattern doubling --hosts 8 --bytes 1500", 3 * (2 * 0.48 + 2)),
    ("all-reduce --pattern doubling --hosts 8 --bytes 9000 --packet 9000", 3 * (12 * 0.48 + 2)),
    # token buckets: of two packets at once one waits for half of its tokens, and again for none
    ("broadcast --pattern flat --hosts 2 --bytes 1500 --burst 1500", 2),
    ("broadcast --pattern flat --hosts 2 --bytes 3000 --burst 2250", 0.24 + 2),
    ("gather --pattern flat --hosts 5 --bytes 7500 --burst 3000", 2 * 0.48 + 2),
    # a byte of a barrier
    ("barrier --pattern doubling --hosts 2 --bytes 9000", 2 * 0.00032 + 2),
    ("barrier --pattern cool-p-p --hosts 2 --racks 2 --bytes 9000", 4 * 0.00032 + 4),
]

# file in Documentation/figures, and the options that draw it
PICTURES = [
    ("plan-broadcast-tree.svg", "broadcast --pattern tree --hosts 16 --radix 4"),
    ("plan-broadcast-spread.svg", "broadcast --pattern spread --hosts 5 --radix 3"),
    ("plan-broadcast-two-tree.svg", "broadcast --pattern two-tree --hosts 8 --radix 6"),
    ("plan-all-gather-doubling.svg", "all-gather --pattern doubling --hosts 7"),
    ("plan-all-reduce-cool-p-p.svg", "all-reduce --pattern cool-p-p --hosts 16 --racks 4"),
    ("plan-all-reduce-spread.svg",
     "all-reduce --pattern spread --hosts 9 --racks 3 --radix 2"),
    ("plan-all-reduce-cool-b-r.svg", "all-reduce --pattern cool-b-r --hosts 16 --racks 4"),
]

# what is in a file, and what is said of it
BAD_FILES = [
    ("", "no such kind"),
    ("kind gossip\n", "line 1: no such kind"),
    ("kind barrier\n", "no members"),
    ("kind broadcast\nmembers 2\n", "not the kind's number of blocks"),
    ("kind broadcast\nmembers 2\nblocks 1\n0 0 1 0 1 fetch\n", "line 4: store, before or after"),
    ("kind broadcast\nmembers 2\nblocks 1\n0 0 1 0 1\n", "line 4: neither"),
    ("kind broadcast\nmembers 2\nblocks 1\n0 0 1 0 1 store 7\n", "line 4: neither"),
    ("kind broadcast\nmembers 2\nroot 2\nblocks 1\n", "a root that is none"),
    ("kind broadcast\nmembers 2\nblocks 1\n0 0 2 0 1 store\n",
     "message 0 of step 0, member 2: not two members"),
    ("kind broadcast\nmembers 3\nblocks 1\n0 1 2 0 1 store\n0 2 1 0 1 store\n",
     "member 1, block 0: the sender does not have the block yet"),
    ("kind broadcast\nmembers 3\nblocks 2\n0 0 1 0 2 store\n1 1 2 0 1 store\n",
     "member 2, block 1: a member does not have the result in the end"),
    ("x" * 300, "line 1: too long"),
]

BAD = [
    ("--table /nowhere/at/all", "cannot be read"),
    ("--table /dev/null --plan reduce", "are those of the file"),
    ("--table /dev/null --hosts 4", "are those of the file"),
    ("--plan all --write-table /nowhere/at/all", "a table is of one plan"),
    ("--plan scan --pattern gathered --write-table /nowhere/at/all", "which no table has"),
    ("--write-table /nowhere/at/all", "--write-table goes with --plan"),
    ("--plan barrier --pattern tree --write-table /nowhere/at/all", "cannot be written"),
    ("--plan gossip", "there are all barrier broadcast"),
    ("--plan all --pattern star", "there are all flat tree"),
    ("--plan barrier --pattern chain", "there is no such pattern of barrier"),
    ("--plan barrier --hosts 4 --racks 5", "--racks 5"),
    ("--plan barrier --hosts 4 --racks 0", "--racks 0"),
    ("--plan reduce --hosts 4 --root 4", "counted from 0 on"),
    ("--plan barrier --radix 0", "--radix 0"),
    ("--plan barrier --mean 4", "--mean does not go with --plan"),
    ("--plan barrier --core 0.5", "--core does not go with --plan"),
    ("--plan barrier --bytes 8 --core 0", "--core 0: plans have"),
    ("--plan barrier --bytes 0", "--bytes 0"),
    ("--plan barrier --packet 9000", "--packet does not go with --plan, but with --bytes"),
    ("--bytes 8", "--bytes goes with --plan"),
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
        options = "%s --pattern %s --hosts %d --racks %d --root %d" % (kind, pattern, k * r, r,
                                                                      root)
        (got,) = json.loads(plan(tap, options + " --json -"))["plans"]
        equal(tuple(got[name] for name in NAMES), want, options)


def times(tap):
    for options, want in TIMES:
        (got,) = json.loads(plan(tap, options + " --json -"))["plans"]
        below(abs(got["us"] - want), 1e-6, "%s: %g us, by hand %g" % (options, got["us"], want))
        assert plan(tap, options).split("\n\n")[1].endswith(" %.2f" % want), options


def all_plans(tap):
    """Text and JSON have the same rows, of any number of hosts and uneven racks."""
    for options in ("all --hosts 2", "all --hosts 13 --racks 5 --root 12 --radix 3",
                    "all --hosts 13 --racks 13", "all --hosts 4096 --racks 7 --pattern tree"):
        rows = json.loads(plan(tap, options + " --json -"))["plans"]
        table = [line.split() for line in plan(tap, options).split("\n\n")[1].splitlines()[2:]]
        equal([[row["kind"], row["pattern"]] + ["%d" % row[name] for name in NAMES]
               for row in rows], table, options)
        for row in rows:
            above(row["messages"], 0, 'row["messages"]')
            below(row["cross_links"], row["links"], 'row["cross_links"]')
            equal("--racks" in options, row["cross_links"] > 0, '"--racks" in options')


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
        above(legend, 0, "legend")
        if "cool" in options:
            # each packet to several is an arrow for each of them: 3 leaders, or 3 of a rack
            equal(arrows - legend, 12 + {"p": 12, "r": 8}[options.split()[2][-1]] + 12, name)
        else:
            equal(arrows - legend, row["messages"], name)
        with open(os.path.join(FIGURES, name), encoding="utf-8") as f:
            equal(f.read(), svg,
                  "%s is not what shuffle-sim --plan %s --svg draws" % (name, options))


def tables_in_files(tap):
    """What is written is read again, is right, and costs the same; a comment changes nothing."""
    rows = json.loads(plan(tap, "all --hosts 7 --root 2 --radix 3 --json -"))["plans"]
    with tempfile.TemporaryDirectory() as work:
        name = os.path.join(work, "table")
        for row in rows:
            # what COOL sends to several is a message to each of them there
            if row["pattern"].startswith("cool") or row["pattern"] == "gathered":
                continue
            plan(tap, "%s --pattern %s --hosts 7 --root 2 --radix 3 --write-table %s" % (
                row["kind"], row["pattern"], name))
            with open(name, "a", encoding="utf-8") as f:
                f.write("  # that is all\n\n")
            status, out, err = tap.call("--json - --table " + name)
            equal(status, 0, "%s %s: %s" % (row["kind"], row["pattern"], err))
            (got,) = json.loads(out)["plans"]
            equal([got["kind"], got["pattern"]] + [got[k] for k in NAMES],
                  [row["kind"], "explicit"] + [row[k] for k in NAMES], row["pattern"])
        for text, want in BAD_FILES:
            with open(name, "w", encoding="utf-8") as f:
                f.write(text)
            refused(tap, "--table " + name, want)


def refused(tap, options, want):
    status, out, err = tap.call(options)
    equal(status, 2, "status of %s" % options)
    has(err, want, "%s: no %r in %r" % (options, want, err))
    equal(out, "", "standard output")


def add(tap):
    tap.test("plans cost what the tables of COOL say", tables)
    tap.test("all plans, as text and as JSON", all_plans)
    tap.test("times of plans", times)
    tap.test("pictures of plans", pictures)
    tap.test("tables in files", tables_in_files)
    for options, want in BAD:
        tap.test("refused: %s" % options, refused, options, want)
