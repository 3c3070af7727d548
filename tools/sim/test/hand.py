# SPDX-License-Identifier: GPL-2.0-or-later
"""Small shuffles whose steps were counted by hand."""

from tap import equal, has, within

# Options, matrix in packets, steps.  A packet sent in step t is at its rack's switch two
# steps later and at the host after four; the step in which the last one comes counts.
CASES = [
    ("one packet: 4 steps on its way", "", [[0, 1], [0, 0]], 5),
    ("five, unscheduled: one a step", "", [[0, 5], [0, 0]], 9),
    # steps 0-7 unscheduled; a grant leaves in 5, is there in 9; 10-21 the rest
    ("twenty: unscheduled, then granted", "", [[0, 20], [0, 0]], 26),
    # announced in 0, granted in 5; 10-17 and 20-27: a window takes ten steps to come back
    ("sixteen, one window, nothing unscheduled", "--unsched none --overcommit 1",
     [[0, 16], [0, 0]], 32),
    ("sixteen, two windows, nothing unscheduled", "--unsched none --overcommit 2",
     [[0, 16], [0, 0]], 30),
    ("a pair of messages does not disturb each other", "", [[0, 20], [20, 0]], 26),
    ("another rack: 8 steps", "--racks 2 --algo sequential", [[0, 1], [0, 0]], 9),
    ("two senders, one link: it has the last of 8 packets in step 11",
     "--algo sequential", [[0, 0, 4], [0, 0, 4], [0, 0, 0]], 12),
    # 8 packets cross the uplink in steps 2-9, are at the host 6 steps later
    ("a core link of one packet a step", "--racks 2 --core 0.5 --algo sequential",
     None, 16),
    ("an empty matrix takes no time", "", [[0, 0], [0, 0]], 0),
    ("nothing but messages to oneself", "", [[7, 0], [0, 7]], 0),
    ("figure 3.3: sequential", "--algo sequential --hop 0 --local on",
     [[4] * 4] * 4, 28),
    ("figure 3.4: round robin", "--algo round-robin --hop 0 --local on",
     [[4] * 4] * 4, 19),
    # a grant leaves in 0, is there in 4; sent in 5-8, the last one is there in 12
    ("Hadoop: a message to oneself that crosses links", "--algo hadoop --local on",
     [[4, 0], [0, 0]], 13),
    # sent in 5-12; the first is there in 9, its grant leaves in 10: 15-22, as with a policy
    ("Hadoop: sixteen, a window takes ten steps to come back", "--algo hadoop",
     [[0, 16], [0, 0]], 27),
    # sent in 0-3, there in 7, seen in 8; a barrier of 10; sent in 18-21, there in 25
    ("lockstep of three hosts", "--algo lockstep --barrier 10",
     [[0, 4, 4], [4, 0, 4], [4, 4, 0]], 26),
    ("half a link takes twice the time", "--algo sequential --slow-share 1 --hop 0",
     [[0, 10], [0, 0]], 21),
    ("a host that needs 3 steps for a packet", "--algo sequential --hop 0 --cost-packet 3",
     [[0, 4], [0, 0]], 10),
]

# S1..S5 are hosts 0..4, R1 and R2 are 5 and 6; S3 has twice as much as the others for each
FIGURE_35 = [(0, 5, 1), (1, 5, 1), (2, 5, 2), (2, 6, 2), (3, 6, 1), (4, 6, 1)]


def pairs(racks_of):
    """Both hosts of one rack send 4 packets to the other rack, wherever they are."""
    rows = [[0] * 4 for _ in range(4)]
    first = [h for h in range(4) if racks_of[h] == racks_of[0]]
    others = [h for h in range(4) if h not in first]
    for a, b in zip(first, others):
        rows[a][b] = 4
    return rows


def exact(tap, options, rows, steps):
    if rows is None:
        # hosts are placed at random: one of the three ways to pair them crosses the core
        # on one link only
        got = set()
        for other in (1, 2, 3):
            racks = [0] + [0 if h == other else 1 for h in (1, 2, 3)]
            got.add(tap.run(options, pairs(racks))[0]["steps"]["p50"])
        has(got, steps, "steps %s, want %d" % (got, steps))
        equal(max(got), steps, "steps %s, want %d" % (got, steps))
        return
    (result,) = tap.run(options, rows)
    equal(result["steps"]["p50"], steps, "steps")


def figure_35(tap, x):
    rows = [[0] * 7 for _ in range(7)]
    for a, b, n in FIGURE_35:
        rows[a][b] = n * x
    equal(tap.one("--algo madd", rows)["bound"], 4 * x, "bound")
    # pro rata: all end together after 4x, and the latency
    within(tap.one("--algo madd", rows)["steps"], 4 * x, 4 * x + 12, "MADD")
    within(tap.one("", rows)["steps"], 4 * x, 4 * x + 12, "GRPF")
    # equal shares: S3 has 2x left after 3x
    within(tap.one("--algo hadoop --connections 3", rows)["steps"], 5 * x - 12, 5 * x + 30,
           "equal shares")


def queues(tap):
    r = tap.one("--algo sequential", [[0, 0, 4], [0, 0, 4], [0, 0, 0]])
    equal(r["port_max"], 4, "longest queue")
    equal(r["tor_max"], 4, "packets in the switch")


def drops(tap):
    # of the four that come in a step, one leaves, one waits, two find no room; those of
    # step 2 on find one that waits: one leaves, one is taken
    rows = [[0, 0, 0, 0, 2]] * 4 + [[0] * 5]
    r = tap.one("--algo sequential --buffer 1 --timeout 100", rows)
    equal(r["packets"], 8, "packets")
    within(r["dropped"], 4, 40, "dropped")
    within(r["sent"], r["packets"] + r["dropped"], 60, "sent")


def add(tap):
    for name, options, rows, steps in CASES:
        tap.test("by hand: " + name, exact, options, rows, steps)
    for x in (100, 1000):
        tap.test("figure 3.5, x = %d: 4x and 5x" % x, figure_35, x)
    tap.test("by hand: queue of two senders", queues)
    tap.test("by hand: a port with room for one", drops)
