# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for every tree, checked by other code than the planner's."""

import itertools
import random

from tap import at_least, at_most, below, equal, has, near, true, within

DELTAS = (0, 0.3, 1)
TOPOLOGIES = ("--bcube 4,1", "--bcube 2,4", "--bcube 3,3", "--bcube 11,1", "--bcube 6,2",
              "--bcube 8,5", "--bcube 2,15", "--bcube 4,2", "--bcube 2,6")
METHODS = ("unicast", "kmb", "irs", "irs --irs pre", "irs --irs inter", "irs --refine", "srs",
           "srs --refine --objective links",
           "srs --objective links", "unicast --paths rotate")
# Where members are more than half of all servers
MEMBERS = {"--bcube 4,2": ((6, "44x20"),), "--bcube 2,6": ((7, "80x30"),)}
RACKS = ("--racks 1x9", "--racks 4x8", "--racks 9x3")
# topology, senders: where the optimum is quick
SMALL = [(b, m) for b in ("4,1", "2,2", "2,3", "3,2", "4,2") for m in (2, 3, 4, 5, 6)]


def topology(option):
    """Digits of a label: how many, below which."""
    n, k = option.split()[1].split(",")
    return int(n), int(k) + 1


def digits(index, n, dims):
    return [index // n ** i % n for i in range(dims)]


def hop(option, server, parent):
    """The dimension of a hop between two servers of a BCube."""
    n, dims = topology(option)
    a, b = digits(int(server), n, dims), digits(int(parent), n, dims)
    (dim,) = [i for i in range(dims) if a[i] != b[i]]
    return dim


def load(tree, flows, delta):
    """What each server sends, and what the root has, from the senders on."""
    children = {}
    for s in tree["servers"]:
        children.setdefault(s.get("parent"), []).append(s)

    def of(s):
        got = [of(c) for c in children.get(s["server"], [])]
        if s["sender"]:
            got.append(flows[s["server"]])
        out[s["server"]] = max(got) + delta * (sum(got) - max(got))
        return out[s["server"]]

    out = {}
    of(tree["servers"][0])
    return out


def check_tree(option, plan, tree, links):
    """Structure; links that are used are added, as (server, dimension); returns costs."""
    flows = dict(zip(plan["senders"], plan["flows"]))
    by = {s["server"]: s for s in tree["servers"]}
    equal(len(by), len(tree["servers"]), "servers are there once")
    root = tree["servers"][0]
    equal((root["server"], "parent" in root, root["role"]), (tree["receiver"], False, "root"),
          "root")
    seen = set()
    children = {}
    for s in tree["servers"]:
        if "parent" in s:
            has(seen, s["parent"], "%s stands before its parent" % s["server"])
            children[s["parent"]] = children.get(s["parent"], 0) + 1
        seen.add(s["server"])
    for sender in plan["senders"]:
        at, steps = by[sender], 0
        true(at["sender"], 'at["sender"]')
        while "parent" in at:
            at, steps = by[at["parent"]], steps + 1
            below(steps, len(by), "a cycle")
        equal(at["server"], tree["receiver"], "the way of %s" % sender)
    for s in tree["servers"]:
        equal(s["sender"], s["server"] in flows, "sender")
        equal(s["value"], children.get(s["server"], 0) + s["sender"], "value of " + s["server"])
        assert s["value"] or s is root, "%s leads nowhere" % s["server"]
        if "parent" in s and option.startswith("--bcube"):
            dim = hop(option, s["server"], s["parent"])
            equal((s["link"], s["links"]), (str(dim), 2), "link of " + s["server"])
            links |= {(s["server"], dim), (s["parent"], dim)}
    costs = []
    for delta in plan["delta"]:
        out = load(tree, flows, delta)
        costs.append(sum(out[s["server"]] * s["links"] for s in tree["servers"][1:]))
    near(tree["cost"], costs[0], "cost of a tree")
    return costs


def structure(tap, option, method):
    delta = ",".join(str(d) for d in DELTAS)
    few = option in ("--bcube 4,1", "--racks 1x9")
    usual = ((1, "5x4"), (3, "1x3"), (4, "6x3" if few else "9x6"))
    for seed, members in MEMBERS.get(option, usual):
        plan = tap.json("%s --random %s --seed %d --method %s --delta %s"
                        % (option, members, seed, method, delta))
        links, costs = set(), [0] * len(DELTAS)
        equal(sorted(t["receiver"] for t in plan["trees"]), sorted(plan["receivers"]), "receivers")
        for tree in plan["trees"]:
            costs = [a + b for a, b in zip(costs, check_tree(option, plan, tree, links))]
        (m,) = plan["methods"]
        for i, cost in enumerate(costs):
            near(m["cost"][i], cost, "cost, delta %s" % DELTAS[i])
        if option.startswith("--bcube"):
            equal(m["links"], len(links), "links")
        if not method.startswith("unicast"):
            continue
        (none,) = tap.json("%s --random %s --seed %d --method none --summary"
                           % (option, members, seed))["methods"]
        if option.startswith("--bcube"):
            n, dims = topology(option)
            far = sum(2 for s in plan["senders"] for r in plan["receivers"]
                      for a, b in zip(digits(int(s), n, dims), digits(int(r), n, dims)) if a != b)
            equal(none["cost"], [far], "cost without aggregation")
        near(m["cost"][-1], none["cost"][0], "delta 1: nothing is gained")


def flows(tap):
    """Flows of any size, and receivers that send."""
    senders = tap.file("# server flow\n0 2\n7 0.5\n\n26 4 # the last\n1\n13 3\n", "senders")
    for method in ("unicast", "kmb", "irs", "srs --objective links", "exact"):
        for delta in DELTAS:
            plan = tap.json("--bcube 3,2 --senders @%s --receivers 13,0,2,9 --flow 1.5 --method %s "
                            "--delta %s" % (senders, method, delta))
            equal(dict(zip(plan["senders"], plan["flows"])),
                  {"0": 2, "1": 1.5, "7": 0.5, "13": 3, "26": 4}, "flows")
            total = 0
            for tree in plan["trees"]:
                total += check_tree("--bcube 3,2", plan, tree, set())[0]
            near(plan["methods"][0]["cost"][0], total, "cost")


def brute(tap, option, n, members, seed):
    """The optimum, by trying all sets of servers."""
    plan = tap.json("--bcube %s --random %dx1 --seed %d --method exact" % (option, members, seed))
    n_ports, dims = topology("--bcube " + option)
    labels = [digits(i, n_ports, dims) for i in range(n)]
    near_of = [{j for j in range(n) if sum(a != b for a, b in zip(labels[i], labels[j])) == 1}
               for i in range(n)]
    must = {int(s) for s in plan["senders"] + plan["receivers"]}
    others = [i for i in range(n) if i not in must]

    def connected(chosen):
        seen, todo = set(), [min(chosen)]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += near_of[at] & chosen
        return seen == chosen

    for more in range(len(others) + 1):
        if any(connected(must | set(c)) for c in itertools.combinations(others, more)):
            equal(plan["methods"][0]["cost"], [2 * (len(must) + more - 1)], "optimum")
            return


def optimum(tap):
    for seed in range(1, 9):
        brute(tap, "2,2", 8, 2 + seed % 4, seed)
        brute(tap, "3,1", 9, 2 + seed % 5, seed)
        brute(tap, "4,1", 16, 2 + seed % 6, seed)


def ratio(tap, plan):
    """IRS costs at most twice the optimum, and 1.06 times on average."""
    total, compared = 0, 0
    for option, members in SMALL:
        methods = {m["method"]: m for m in tap.json(
            "--bcube %s --random %dx1 --runs 60 --seed 5 --method unicast,kmb,irs,exact"
            % (option, members), plan)["methods"]}
        equal(methods["exact"]["ratio_max"], 1, "optimum")
        for name in ("unicast", "kmb", "irs"):
            within(methods[name]["ratio_mean"], 1, methods[name]["ratio_max"], name)
        within(methods["irs"]["ratio_max"], 1, 2, "IRS, worst of BCube(%s)" % option)
        within(methods["kmb"]["ratio_max"], 1, 2, "Steiner tree, worst of BCube(%s)" % option)
        total += methods["irs"]["ratio_mean"] * methods["irs"]["compared"]
        compared += methods["irs"]["compared"]
    at_least(compared, 1000, "compared")
    within(total / compared, 1, 1.06, "IRS to optimum, mean of %d incasts" % compared)


def refined(tap, plan):
    """Never dearer nor too deep, and on average much cheaper."""
    total, compared = 0, 0
    for option, dims in (("4,1", 2), ("2,3", 4), ("3,2", 3), ("4,2", 3)):
        for members in (3, 6, 9):
            line = "--bcube %s --random %dx1 --runs 60 --seed 8 --method irs,exact" % (option,
                                                                                       members)
            m = [tap.json(line + more, plan)["methods"] for more in ("", " --refine")]
            (before, best), (after, again) = m
            equal(best, again, "the optimum")
            at_most(after["cost"][0], before["cost"][0], 'after["cost"][0]')
            within(after["depth"], 1, 2 * dims - 1, "depth")
            within(after["ratio_max"], 1, before["ratio_max"], "worst ratio")
            total += after["ratio_mean"] * after["compared"]
            compared += after["compared"]
    within(total / compared, 1, 1.05, "refined to optimum, mean of %d incasts" % compared)
    # Two receivers to which a height that was not raised again once let a tree grow to 12.
    senders = tap.json("--bcube 8,5 --random 1500x1 --method irs --summary", plan)["senders"]
    path = tap.file("\n".join(senders), "senders")
    (m,) = tap.json("--bcube 8,5 --senders @%s --receivers 160484,151070 --refine --summary" % path,
                    plan)["methods"]
    within(m["depth"], 1, 11, "depth in BCube(8,5), 1500 senders")
    line = "--bcube 8,5 --random 500x10 --method irs"
    cost = [tap.json(line + more, plan)["methods"][0] for more in ("", " --refine")]
    within(cost[1]["cost"][0] / cost[0]["cost"][0], 0.5, 0.95, "gain in BCube(8,5)")
    within(cost[1]["depth"], 1, 11, "depth in BCube(8,5)")


def same(tap, plan):
    """Compiled otherwise, the same plans."""
    for method in ("unicast", "kmb", "irs", "srs --refine"):
        options = "--bcube 6,3 --random 30x20 --method %s --table -" % method
        equal(tap.good(options, plan), tap.good(options), method)


def groups(tap):
    """Algorithm 1 by other code: heads, members, and order."""
    plan = tap.json("--bcube 3,2 --random 5x14 --method srs --seed 9")
    left = [int(r) for r in plan["receivers"]]
    near_of = {a: [b for b in left if sum(x != y for x, y in zip(
        digits(a, 3, 3), digits(b, 3, 3))) == 1] for a in left}
    want = []
    while left:
        degree = {a: len([b for b in near_of[a] if b in left]) for a in left}
        head = min(left, key=lambda a: (-degree[a], a))
        members = [head] + [b for b in left if b in near_of[head]]
        left = [b for b in left if b not in members]
        want.append((head, sorted(members)))
    got = [(int(g["receivers"][0]), sorted(int(r) for r in g["receivers"]))
           for g in plan["methods"][0]["group"]]
    equal(got, want, "groups")
    assert any(len(members) > 2 for _, members in want), "no group to speak of"


def entries(tap):
    """A group's cost, as figured, is not less than that of its trees."""
    rng = random.Random(4)
    for seed in range(1, 6):
        plan = tap.json("--bcube 4,2 --random %dx12 --method srs --seed %d --objective links"
                        % (rng.randint(3, 20), seed))
        for g in plan["methods"][0]["group"]:
            if len(g["receivers"]) < 2:
                continue
            figured = g["entry_cost"][g["receivers"].index(g["entry"])]
            equal(figured, min(g["entry_cost"]), "the cheapest entry")
            cost = sum(t["cost"] for t in plan["trees"] if t["receiver"] in g["receivers"])
            at_most(cost, figured + 1e-9, "%s: %g, figured %g" % (g["receivers"], cost, figured))


def add(tap, plan):
    for option in TOPOLOGIES:
        for method in METHODS:
            tap.test("trees: %s, %s" % (option[2:], method), structure, option, method)
    for option in RACKS:
        for method in ("unicast", "kmb"):
            tap.test("trees: %s, %s" % (option[2:], method), structure, option, method)
    tap.test("trees: exact", structure, "--bcube 3,2", "exact")
    tap.test("trees: exact on racks", structure, "--racks 4x8", "exact")
    tap.test("flows of any size, receivers that send", flows)
    tap.test("the optimum is one", optimum)
    tap.test("IRS beside the optimum, 1500 incasts", ratio, plan)
    tap.test("refined trees", refined, plan)
    tap.test("groups of receivers", groups)
    tap.test("entries of groups", entries)
    tap.test("other compiler options, same plans", same, plan)
