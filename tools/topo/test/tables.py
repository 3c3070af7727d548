# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables: what is written is right, and what is wrong is found, with its line."""

import random

from tap import above, equal, has, starts, true

GRAPH = """# two racks, and one server on both switches
server a b c
server d both
switch s1 s2
link a s1
link b s1
link c s2
link d s2
link both s1
link both s2
"""

HEAD = "shuffle-plan 1\ntopology bcube 4,1\n"
TREE = HEAD + """tree 0 senders 6 servers 8
0 - - 2 root
1 0 0 2 aggregate
2 0 0 3 aggregate
9 1 1 2 aggregate
5 1 1 1 sender
10 2 1 1 sender
14 2 1 1 sender
11 9 0 1 sender
"""

CORE = """server a b c d e
switch s1 s2 core
link a s1
link b s1
link c s2
link d s2
link e core
link s1 core
link s2 core
"""

# What is replaced by what; the line at fault; what is said about it.
FAULTS = [
    ("shuffle-plan 1", "shuffle-plan 2", 1, "begins with"),
    ("topology bcube 4,1\n", "", 2, "topology is missing"),
    ("topology bcube 4,1", "topology torus 4,1", 2, "topologies are"),
    ("topology bcube 4,1", "topology graph", 2, "--graph"),
    ("topology bcube 4,1", "topology bcube 1,1", 2, "1,1: N is 2 to 256"),
    ("topology bcube 4,1", "topology bcube 04,1", 2, "not the topology"),
    ("topology bcube 4,1", "topology racks 300x300", 2, "300x300: 1 to 16384 racks"),
    ("tree 0 senders", "tree 16 senders", 3, "no such server"),
    ("senders 6", "senders 5", 3, "number of senders"),
    ("senders 6", "senders -6", 3, "a number up to"),
    ("servers 8", "servers 7", 7, "is a sender"),
    ("11 9 0 1 sender", "11 9 0 1 sender\n12 0 1 1 sender", 12, "tree RECEIVER"),
    ("servers 8", "servers 9", 11, "ends after 8"),
    ("servers 8", "servers 99999999", 3, "a number up to"),
    ("servers 8", "servers 4000000", 11, "ends after 8"),
    ("servers 8", "servers 0", 3, "has a root"),
    ("tree 0", "tree 1", 4, "not the receiver"),
    ("0 - - 2 root", "0 - - 2 aggregate", 4, "no such server"),
    ("0 - - 2 root", "0 1 0 2 root", 4, "has no parent"),
    ("0 - - 2 root\n1 0 0 2 aggregate", "1 0 0 2 aggregate\n0 - - 2 root", 4,
     "first line is the root"),
    ("9 1 1 2", "9 1 0 2", 7, "link 0 does not lead"),
    ("9 1 1 2", "9 2 1 2", 7, "not one hop"),
    ("9 1 1 2", "9 9 1 2", 7, "its own parent"),
    ("9 1 1 2", "16 1 1 2", 7, "no such server"),
    ("9 1 1 2", "9 x 1 2", 7, "no such server"),
    ("9 1 1 2", "5 1 1 2", 8, "in the tree already"),
    ("9 1 1 2", "9 13 1 2", 7, "not in this tree"),
    ("9 1 1 2", "9 11 0 2", 7, "cycle"),
    ("9 1 1 2", "9 5 1 2", 7, "stands behind"),
    ("9 1 1 2", "9 1 1 3", 7, "more than its children"),
    ("9 1 1 2", "9 1 1 0", 7, "less than its children"),
    ("9 1 1 2", "9 1 1 two", 7, "a number up to"),
    ("9 1 1 2 aggregate", "9 1 1 1 aggregate", 7, "whose value is 1"),
    ("9 1 1 2 aggregate", "9 1 1 2 merge", 7, "roles are"),
    ("9 1 1 2 aggregate", "9 1 1 2", 7, "five words"),
    ("9 1 1 2 aggregate", "9 1 1 2 aggregate 7 8", 7, "more than 6 words"),
    ("9 1 1 2 aggregate", "9 1 1 2 sender", 7, "no mere sender"),
    ("5 1 1 1 sender", "5 1 1 1 forward", 8, "is a sender"),
    ("11 9 0 1 sender", "11 9 0 1 sender\n" + TREE[len(HEAD):].strip(), 12, "already"),
]


def fault(tap, old, new, line, said):
    assert TREE.count(old) == 1 or old == "tree 0", old
    path = tap.file(TREE.replace(old, new, 1))
    status, out, err = tap.call("--check " + path)
    equal((status, out), (1, ""), err)
    starts(err, "%s:%d: " % (path, line), "err")
    has(err, said, "err")


def long_line(tap):
    status, _, err = tap.call("--check " + tap.file(TREE + "#" * 600))
    equal(status, 1, "status")
    has(err, ":12: a line has at most", "err")


def other_topology(tap):
    path = tap.file(TREE)
    tap.good("--bcube 4,1 --check " + path)
    status, _, err = tap.call("--bcube 4,2 --check " + path)
    equal(status, 1, "status")
    has(err, "not the topology bcube 4,2", "err")


def back(tap, options):
    """Read what was written: the same costs."""
    path = tap.file("", "table")
    (m,) = tap.json("%s --table %s" % (options, path))["methods"]
    got = tap.json("--check " + path + (" --graph " + options.split()[1]
                                        if "--graph" in options else ""))
    equal((got["cost"], got["links"], got["aggregators"], got["depth"]),
          (m["cost"][0], m["links"], m["aggregators"], m["depth"]), options)


def graph(tap):
    path = tap.file(GRAPH, "graph")
    for options in ("--senders a,b,c,d --receivers both --method kmb",
                    "--senders a,c,both --receivers b,d --method unicast",
                    "--senders a,b,c,both --receivers d --method exact"):
        back(tap, "--graph %s %s" % (path, options))
    # One in each rack merges what the rack has, and sends one flow over three links.
    core = tap.file(CORE, "core")
    (m,) = tap.json("--graph %s --senders a,b,c,d --receivers e" % core)["methods"]
    equal((m["cost"], m["aggregators"], m["links"]), ([10], 2, 7), "Steiner tree")
    status, _, err = tap.call("--check " + tap.file(
        "shuffle-plan 1\ntopology graph\ntree a senders 1 servers 2\na - - 1 root\n"
        "c a s2 1 sender\n", "far") + " --graph " + path)
    equal(status, 1, "status")
    has(err, ":5: server c is not one hop from server a", "err")


def ways(tap):
    """The switches between a server and its parent, one hop away."""
    got = tap.good("--quiet --ways - --check " + tap.file(TREE)).splitlines()
    equal(got, ["1 0:0 0", "2 0:0 0", "9 1:1 1", "5 1:1 1", "10 1:2 2", "14 1:2 2", "11 0:8 9"],
          "ways in a BCube")
    plan = tap.file("", "plan")
    for topology in ("--racks 2x3", "--racks 2x3 --without r0h1/rack0"):
        tap.good("%s --senders r0h0,r0h2,r1h1 --receivers r1h0 --table %s" % (topology, plan))
        got = tap.good("%s --quiet --ways - --check %s" % (topology, plan)).splitlines()
        for way in got:
            end = way.split()
            equal(end[1:-1], ["rack" + end[0][1]] + ["core", "rack" + end[-1][1]] *
                  (end[0][1] != end[-1][1]), topology)
        equal(len(got), 3 + (len(got) > 3), "servers")
    status, _, err = tap.call("--bcube 4,1 --senders 1 --receivers 0 --ways -")
    equal(status, 2, "without --check")
    has(err, "--ways goes with --check", "err")


def mix(x):
    """The finaliser of splitmix64."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2 ** 64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2 ** 64
    return x ^ x >> 31


def carries(words, bits, hashes, salt, hop):
    """Is a hop in a filter?  As bloom.c says, written again."""
    x = mix(((hop[0] << 32 | hop[1]) + (salt + 1) * 0x9e3779b97f4a7c15) % 2 ** 64)
    for _ in range(hashes):
        at = (x >> 32) * bits >> 32
        if not words[at // 64] >> at % 64 & 1:
            return False
        x = mix((x + 0x9e3779b97f4a7c15) % 2 ** 64)
    return True


def follow(lines):
    """Where each packet goes that carries a filter of an overlay: [from, to, servers on the way]."""
    number, near, ways = {}, {}, []
    for word, server, *rest in map(str.split, lines):
        if word == "server":
            number[server] = int(rest[0])
        elif word == "neighbour":
            near.setdefault(server, {})[rest[0]] = int(rest[1])
        else:
            bits, hashes, salt = (int(rest[i]) for i in (4, 6, 8))
            words = [int(rest[10][i:i + 16], 16) for i in range(0, len(rest[10]), 16)]
            way = [server]
            while way[-1] != rest[0] and len(way) <= int(rest[2]):
                at = way[-1]
                way += [n for n, no in near[at].items() if carries(words, bits, hashes, salt, (number[at], no))] or [None]
                equal(len(way) - way.index(at), 2, "neighbours of %s in a filter" % at)
            ways.append((server, rest[0], way[1:-1]))
    return ways


def overlay(tap):
    """Filters lead over the servers that only pass on, both ways, and nowhere else."""
    plan = tap.file("", "plan")
    for line in ("--bcube 4,1 --senders 5,9,10,2 --receivers 0 --method unicast",
                 "--bcube 3,2 --senders 13,26,5 --receivers 0 --method unicast",
                 "--bcube 8,5 --random 20x1"):
        tap.good("%s --table %s" % (line, plan))
        with open(plan, encoding="ascii") as f:
            rows = {r[0]: r for r in map(str.split, f.read().splitlines()[3:])}
        want = []
        for server, row in rows.items():
            way, at = [], row[1]
            while at != "-" and rows[at][4] == "forward":
                way, at = way + [at], rows[at][1]
            if way and row[4] != "forward":
                want += [(server, at, way), (at, server, way[::-1])]
        true(want, "want")
        got = tap.good("--quiet --check %s --overlay -" % plan).splitlines()
        equal(sorted(follow(got)), sorted(want), line)
    tap.good("--bcube 3,2 --senders 26 --receivers 0 --table " + plan)
    status, _, err = tap.call("--check %s --overlay - --bloom 2" % plan)
    equal(status, 2, "2 bits")
    has(err, "no filter of 2 bits for a way of 3 hops", "err")
    got = tap.good("--quiet --check %s --overlay - --bloom 8 --bloom-form paper" % plan)
    equal(got.count(" bits 8 hashes 2 salt 0 "), 2, "the source's form has no salt")
    status, _, err = tap.call("--bcube 4,1 --senders 1 --receivers 0 --overlay -")
    equal(status, 2, "status")
    has(err, "--overlay goes with --check", "err")


def fuzz(tap):
    """A table with any character changed is right or refused, and never a crash."""
    rng = random.Random(1)
    refused = 0
    for _ in range(100):
        text = list(TREE)
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice("0123456789 -\n\tarst,\x7f")
        status, out, err = tap.call("--check " + tap.file("".join(text)))
        assert status in (0, 1, 2) and bool(status) == bool(err) == (not out), err
        refused += status != 0
    above(refused, 50, "refused")


def add(tap):
    for old, new, line, said in FAULTS:
        tap.test("table: line %d: %s" % (line, said), fault, old, new, line, said)
    tap.test("table: a line that is too long", long_line)
    tap.test("table: of another topology", other_topology)
    for options in ("--bcube 4,1 --random 6x3", "--bcube 8,5 --random 200x20 --method srs",
                    "--bcube 3,2 --random 9x9 --method kmb", "--racks 4x8 --random 9x4",
                    "--bcube 4,2 --random 20x9 --method srs --objective links",
                    "--bcube 256,3 --random 30x2", "--bcube 5,2 --random 9x2 --method unicast"):
        tap.test("table: read again: " + options[2:], back, options)
    tap.test("table: of a graph", graph)
    tap.test("table: ways of its servers", ways)
    tap.test("overlays", overlay)
    tap.test("table: changed characters", fuzz)
