# SPDX-License-Identifier: GPL-2.0-or-later
"""The source's examples: figures 2 and 3 and the group of section 3.3, in BCube(4,1)."""

from tap import at_most, equal, near

MEMBERS = "--bcube 4,1 --senders 2,5,9,10,11,14"

# What, options, cost, links (None: the source does not say).
COSTS = [
    ("figure 2(b), between stages only", "--receivers 0 --irs inter", 16, 12),
    ("figure 2(c)", "--receivers 0", 14, 11),
    ("figure 2(c), symbols by the stage before moves", "--receivers 0 --irs pre", 14, 11),
    ("figure 3(a)", "--receivers 3 --irs pre", 14, 11),
    ("receiver 3, symbols by the stage after moves", "--receivers 3", 12, None),
    ("figure 3(b)", "--receivers 8", 12, 9),
    ("optimum of receiver 0", "--receivers 0 --method exact", 12, None),
    ("optimum of receiver 3", "--receivers 3 --method exact", 12, None),
    ("optimum of receiver 8", "--receivers 8 --method exact", 12, None),
    ("no aggregation", "--receivers 0 --method none", 22, None),
]

# Child to parent.
TREES = [
    ("figure 2(b)", "--receivers 0 --irs inter",
     {5: 1, 9: 1, 10: 2, 14: 2, 11: 3, 1: 0, 2: 0, 3: 0}),
    ("figure 2(c)", "--receivers 0", {5: 1, 9: 1, 10: 2, 14: 2, 11: 9, 1: 0, 2: 0}),
    ("figure 3(b)", "--receivers 8", {2: 10, 14: 10, 5: 9, 9: 8, 10: 8, 11: 8}),
]

# Figure 2(a): five flows that never meet before the receiver.
UNICAST = """shuffle-plan 1
topology bcube 4,1
tree 0 senders 6 servers 12
0 - - 6 root
1 0 0 1 forward
3 0 0 1 forward
4 0 1 1 forward
8 0 1 1 forward
12 0 1 1 forward
2 0 0 1 sender
5 4 0 1 sender
9 1 1 1 sender
10 8 0 1 sender
11 3 1 1 sender
14 12 0 1 sender
"""


def cost(tap, options, want, links):
    (m,) = tap.json("%s %s --summary" % (MEMBERS, options))["methods"]
    equal(m["cost"], [want], "cost")
    if links is not None:
        equal(m["links"], links, "links")


def tree(tap, options, want):
    (t,) = tap.json("%s %s" % (MEMBERS, options))["trees"]
    got = {int(s["server"]): int(s["parent"]) for s in t["servers"] if "parent" in s}
    equal(got, want, "parents")


def unicast(tap):
    got = tap.json("--check " + tap.file(UNICAST))
    equal((got["cost"], got["links"], got["aggregators"]), (22, 18, 0), "figure 2(a)")


def value(tap):
    """Figure 3(b): v10 merges three flows, its own and two."""
    (t,) = tap.json(MEMBERS + " --receivers 8")["trees"]
    (ten,) = [s for s in t["servers"] if s["server"] == "10"]
    equal((ten["value"], ten["role"], ten["sender"], ten["label"]), (3, "aggregate", True, "22"),
          "server 10")


def group(tap, irs, entries, chosen, separate):
    got = tap.json("%s --receivers 0,3,8 --method srs --objective links --irs %s" % (MEMBERS, irs))
    (m,) = got["methods"]
    (g,) = m["group"]
    equal(g["receivers"], ["0", "3", "8"], "receivers, the head first")
    equal(g["entry_cost"], entries, "cost of each entry")
    equal((g["entry"], g["separate_cost"]), (chosen, separate), "entry")
    at_most(m["cost"][0], min(entries), "trees cost %r" % m["cost"])
    equal(m["shared"], 2, "shared trees")
    (m,) = tap.json("%s --receivers 0,3,8 --method srs --irs %s" % (MEMBERS, irs))["methods"]
    equal((m["group"][0]["entry"], m["cost"][0], m["shared"]), (None, separate, 0),
          "trees of their own are cheaper")


def entry(tap, server, want):
    """Of an entry that is given: its cost, as figured in section 3.3, is that of its trees."""
    got = tap.json("%s --receivers 0,3,8 --method srs --irs pre --entry %d" % (MEMBERS, server))
    (m,) = got["methods"]
    equal(m["group"][0]["entry"], str(server), "entry")
    near(m["cost"][0], want, "cost")


def add(tap):
    for name, options, want, links in COSTS:
        tap.test("golden: " + name, cost, options, want, links)
    for name, options, want in TREES:
        tap.test("golden: the tree of " + name, tree, options, want)
    tap.test("golden: figure 2(a), from a table", unicast)
    tap.test("golden: value of figure 3(b)", value)
    tap.test("golden: group of section 3.3", group, "pre", [46, 48, 42], "8", 40)
    tap.test("golden: the same, symbols after moves", group, "post", [46, 42, 42], "3", 38)
    # Trees share servers: entered at 3, one of the flows that go on to 0 and 8 need not turn back.
    for server, want in ((0, 46), (8, 42)):
        tap.test("golden: trees of the group entered at %d" % server, entry, server, want)
