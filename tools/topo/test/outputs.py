# SPDX-License-Identifier: GPL-2.0-or-later
"""Text, JSON, drawings, filters, and memory of a large plan."""

import os
import xml.etree.ElementTree

from tap import above, at_most, below, differs, equal, has, near, starts, within

SVG = "{http://www.w3.org/2000/svg}"


def text(tap):
    out = tap.good("--bcube 4,1 --senders 2,5,9,10,11,14 --receivers 0 --method none,irs,exact")
    lines = out.splitlines()
    equal(lines[0], "bcube 4,1: 16 servers, 6 senders, 1 receivers, runs 1", "first line")
    assert any(line.split()[:4] == ["irs", "0", "14", "36.36"] for line in lines), out
    has(out, "cost / optimum: mean 1.1667, at most 1.1667", "out")
    equal(tap.good("--bcube 4,1 --random 3x1 --quiet"), "", "--quiet")


def names(tap):
    """Indexes and labels are the same servers."""
    a = tap.json("--bcube 4,1 --senders 2,5,9-11,14 --receivers 0")
    b = tap.json("--bcube 4,1 --senders 0.2,1.1,2.1,2.2,2.3,3.2 --receivers 0.0")
    equal(a, b, "plans")
    c = tap.json("--bcube 11,1 --senders 10.10,120 --receivers 0".replace("120", "119"))
    equal({s["label"] for s in c["trees"][0]["servers"] if s["sender"]}, {"10.9", "10.10"},
          "labels with points")


def drawing(tap):
    for options in ("--bcube 4,1 --senders 2,5,9,10,11,14 --receivers 3,0 --svg-tree 0",
                    "--racks 3x4 --random 7x1", "--bcube 8,5 --random 60x1"):
        path = tap.file("", "plan.svg")
        plan = tap.json("%s --svg %s" % (options, path))
        root = xml.etree.ElementTree.parse(path).getroot()
        tree = [t for t in plan["trees"] if t["receiver"] == "0"] if "svg-tree" in options \
            else plan["trees"]
        servers = tree[0]["servers"]
        # The background and four of the legend
        equal(len(root.findall(SVG + "rect")), len(servers) + 5, "rectangles")
        equal(len(root.findall(SVG + "line")), len(servers) - 1, "lines")
        shown = {t.text for t in root.findall(SVG + "text")}
        at_most({s["label"] for s in servers}, shown, "labels")
        has(shown,
            "%s, %s to %s" % (plan["topology"], plan["methods"][0]["method"], tree[0]["receiver"]),
            "shown")
        assert any(t and t.startswith("cost %.6g, %d hops" % (tree[0]["cost"], len(servers) - 1))
                   for t in shown), shown
        places = {(r.get("x"), r.get("y")) for r in root.findall(SVG + "rect")}
        equal(len(places), len(servers) + 5, "places of rectangles")


def runs(tap):
    """Means of runs are those of the runs."""
    alone = [tap.json("--bcube 4,2 --random 5x2 --method irs --runs %d --seed 3" % n)
             ["methods"][0]["cost"][0] for n in (1, 2)]
    differs(alone[0], alone[1], "the second run is like the first")
    near(alone[1] * 2 - alone[0], round(alone[1] * 2 - alone[0]), "cost of the second run")


def automatic(tap):
    """Moves in a stage do not pay where keys differ."""
    line = "--bcube 4,1 --senders 2,5,9,10,11,14 --receivers 0 --summary --delta "
    for delta, mode in (("0.49", "post"), ("0.5", "inter"), ("1,0", "inter"), ("0,1", "post")):
        equal(tap.json(line + delta), tap.json(line + delta + " --irs " + mode), delta)


def merge(tap):
    """Section 4.1's text: a sender with one child passes on two flows."""
    line = "--bcube 4,0 --senders 1,2 --receivers 0 --method exact"
    (m,) = tap.json(line + " --merge children --summary")["methods"]
    equal(m["cost"], [4], "siblings do not meet")
    path = "--bcube 2,1 --senders 1,3 --receivers 0 --method irs"
    for rule, want in (("all", 4), ("children", 6)):
        (m,) = tap.json("%s --merge %s --summary" % (path, rule))["methods"]
        equal(m["cost"], [want], rule)


def filters(tap):
    plan = tap.json("--bcube 4,1 --random 9x3 --bloom 64")
    (m,) = plan["methods"]
    equal(m["bloom"]["exact"], m["bloom"]["paths"], "all ways have a salt")
    sends = [s for t in plan["trees"] for s in t["servers"][1:]
             if s["sender"] or s["value"] > 1]
    equal(len(sends), m["bloom"]["paths"], "ways")
    assert all(len(s["filter"]) == 16 and 0 <= s["salt"] < 256 for s in sends), "filters"
    for bits in (128, 256):
        (m,) = tap.json("--bcube 8,5 --random 300x2 --bloom %d --summary" % bits)["methods"]
        equal(m["bloom"]["exact"], m["bloom"]["paths"], "all ways have a salt, %d bits" % bits)
    (m,) = tap.json("--bcube 8,5 --random 300x2 --bloom 20 --summary")["methods"]
    below(m["bloom"]["exact"], m["bloom"]["paths"], "20 bits cannot be enough")


def paper(tap):
    """Table 2: at its sizes about one packet in three or more goes wrong; at [D]'s none does."""
    for k, bits, enough in ((3, 19, 249), (5, 58, 403), (7, 102, 562)):
        line = "--bcube 6,%d --random 400x3 --method unicast --summary --bloom-form paper" % k
        (m,) = tap.json("%s --bloom %d" % (line, bits))["methods"]
        mean = m["bloom"]["wrong"] / m["bloom"]["paths"]
        within(mean, 0.3, 1.3, "BCube(6,%d), %d bits: mistakes of a packet" % (k, bits))
        below(m["bloom"]["exact"], 0.85 * m["bloom"]["paths"], 'm["bloom"]["exact"]')
        (m,) = tap.json("%s --bloom %d" % (line, enough))["methods"]
        equal(m["bloom"]["wrong"], 0, "BCube(6,%d), %d bits" % (k, enough))


def in_switches(tap):
    """Filters in servers and switches: as many mistakes as (1 - e^(-h n / m))^h says, and none by hand."""
    one = tap.json("--bcube 4,1 --senders 5 --receivers 0 --method unicast --bloom 64 --bloom-form switch --summary")
    (m,) = one["methods"]
    # a way of two hops; each hop leaves by a server and by a switch
    equal((m["bloom"]["interfaces"], m["bloom"]["trees"], m["bloom"]["tests"]), (4, 4, 0), "one tree")
    for bits in (64, 256, 1024):
        line = "--bcube 8,5 --random 60x100 --method irs,unicast --bloom %d --bloom-form switch --summary" % bits
        for m in tap.json(line)["methods"]:
            b = m["bloom"]
            above(b["tests"], 1000, 'b["tests"]')
            above(b["most_trees"], 10, 'b["most_trees"]')
            # the formula is a lower bound, and far from small filters
            within(b["wrong"], 0.9 * b["expected"] - 20, 1.15 * b["expected"] + 20, "mistakes, %d bits" % bits)


def progress(tap):
    status, _, err = tap.call("--bcube 8,5 --random 60x60 --method kmb,irs --progress on")
    equal(status, 0, "status")
    starts(err, "\n", "err")
    assert not err.strip("\n irskmb0123456789of"), repr(err)
    status, _, err = tap.call("--bcube 8,5 --random 60x60 --method kmb,irs")
    equal((status, err), (0, ""), "not on a terminal")


def memory(tap, plan):
    """Nothing grows with the servers of the topology, which has 2^32 of them."""
    pid = os.posix_spawn(plan, [plan, "--bcube", "256,3", "--random",
                                "300x40", "--method", "srs", "--quiet"], os.environ)
    _, status, usage = os.wait4(pid, 0)
    equal(status, 0, "status")
    below(usage.ru_maxrss, 200 * 1024, "%d KB" % usage.ru_maxrss)


def add(tap, plan):
    tap.test("text", text)
    tap.test("indexes and labels", names)
    tap.test("drawings", drawing)
    tap.test("filters in switches", in_switches)
    tap.test("means of runs", runs)
    tap.test("IRS by delta", automatic)
    tap.test("flows of children only", merge)
    tap.test("filters of plans", filters)
    tap.test("filters of the source's form", paper)
    tap.test("progress", progress)
    tap.test("memory does not grow with the topology", memory, plan)
