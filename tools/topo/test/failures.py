# SPDX-License-Identifier: GPL-2.0-or-later
"""--without: plans use nothing that has failed, and there is one as long as there is a way."""

import random

from tap import equal, has, lacks, within

N = 4


def neighbours(server, dim):
    """Servers behind the same switch, and the switch."""
    base = server - server // N ** dim % N * N ** dim
    return [base + i * N ** dim for i in range(N)], "%d:%d" % (dim, base)


def links():
    return {(s, neighbours(s, d)[1]) for s in range(N * N) for d in range(2)}


def left(failed):
    """The links that are left of BCube(4,1)."""
    alive = links()
    for word in failed:
        if "/" in word:
            server, dim = word.split("/")
            alive.discard((int(server), neighbours(int(server), int(dim))[1]))
        else:
            alive = {(s, w) for s, w in alive if word not in (str(s), w)}
    return alive


def reached(alive, root):
    seen, queue = {root}, [root]
    for at in queue:
        for server, switch in alive:
            for one, other in ((server, switch), (switch, server)):
                if one == at and other not in seen:
                    seen.add(other)
                    queue.append(other)
    return seen


def one(tap, rng):
    members = rng.sample(range(N * N), 6)
    things = [str(s) for s in range(N * N)] + sorted({w for s, w in links()}) + \
        ["%d/%d" % (s, d) for s in range(N * N) for d in range(2)]
    failed = rng.sample(things, rng.randint(1, 8))
    alive = left(failed)
    topology = "--bcube 4,1 --without %s" % ",".join(failed)
    options = "%s --senders %s --receivers %d --method kmb --table - --quiet" % (
        topology, ",".join(map(str, members[1:])), members[0])
    status, out, err = tap.call(options)
    if not set(members) <= reached(alive, members[0]):
        equal(status, 2, options)
        has(err, "no links lead", "err")
        return 0
    equal((status, err), (0, ""), options)
    for line in out.splitlines()[3:]:
        server, parent, switch = line.split()[:3]
        if parent == "-":
            continue
        has(alive, (int(server), switch), "%s: %s" % (options, line))
        has(alive, (int(parent), switch), "%s: %s" % (options, line))
    table = tap.file(out, "failed.table")
    tap.good("--check %s %s" % (table, topology))
    return 1


def many(tap):
    rng = random.Random(7)
    plans = sum(one(tap, rng) for _ in range(60))
    within(plans, 10, 50, "%d plans of 60: not much of a test" % plans)


def racks(tap):
    options = "--racks 2x3 --senders r0h1,r1h0,r1h1 --receivers r0h0 --table - --quiet "
    out = tap.good(options + "--without r1h2")
    lacks(out, "r1h2", "out")
    status, _, err = tap.call(options + "--without core")
    equal(status, 2, "no core")
    has(err, "no links lead from server r1h0 to server r0h0", "err")


def add(tap):
    tap.test("nothing that has failed is used, as long as there is a way", many)
    tap.test("racks of which something has failed", racks)
