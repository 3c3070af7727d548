# SPDX-License-Identifier: GPL-2.0-or-later
"""What is simulated: sets of curves on the same matrices, each one call of shuffle-sim."""


class Set:
    """Options for all curves, curves (label, options); coarse: fewer skewnesses; points:
    skewnesses, None: those of the plan; series: one run of each curve, over time; matrix:
    packets of each message, instead of a generator's; most: runs, however many are asked for.
    """

    def __init__(self, options, curves, coarse=False, points=None, series=False, matrix=None,
                 most=None):
        self.options = options.split()
        self.curves = [(label, opts.split()) for label, opts in curves]
        self.coarse = coarse
        self.points = points
        self.series = series
        self.matrix = matrix
        self.most = most


BASE = "--unsched none --window const --randomise off "
INTERVALS = [1, 2, 5, 10, 20]
CORES = [25, 50, 75, 90]
STALES = [1, 3, 5, 10]
REDIRECTS = [1, 5, 25, 125]
OVERCOMMITS = [5, 10, 20, 40]

IDEAL_160 = "--hosts 160 --racks 4 --prio edge "
IDEAL_320 = "--hosts 320 --racks 8 --prio edge "
PIECES_160 = "--hosts 160 --racks 4 --prio none "
PREEMPT = "--hosts 40 --mean 400 --prio edge "


BEST = [("MADD", "--algo madd"), ("GRPF", ""), ("GRPF all announced", "--announce all")]


def hadoops(counts):
    return [("Hadoop-%d" % c, "--algo hadoop --connections %d" % c) for c in counts]


def policies(options):
    return [(a.upper(), "--algo %s %s%s" % (a, BASE, options)) for a in ("srpt", "grpt", "grpf")]


def steps_of_62():
    """The protocol put together piece by piece: figures 6.5, 6.7 and 6.8."""
    curves = [("base " + n, o) for n, o in policies("--overcommit 1")]
    curves += [("oc10 prio " + n, o) for n, o in policies("--overcommit 10 --prio edge")]
    for c in (2, 5, 20):
        curves.append(("oc%d" % c, BASE + "--overcommit %d" % c))
        curves.append(("oc%d prio" % c, BASE + "--overcommit %d --prio edge" % c))
    curves.append(("oc10", BASE + "--overcommit 10"))
    curves.append(("pro rata", "--unsched none --randomise off"))
    curves.append(("pro rata rand", "--unsched none"))
    return curves


def preempted():
    curves = []
    for i in INTERVALS:
        curves.append(("MADD %d" % i, "--algo madd --preempt %d" % i))
        curves.append(("GRPF %d" % i, "--preempt %d" % i))
        curves.append(("Hadoop %d" % i, "--algo hadoop --connections 10 --preempt %d" % i))
    for r in REDIRECTS:
        curves.append(("redirect %d" % r, "--preempt 20 --redirect %d" % (8 * r)))
    for c in OVERCOMMITS:
        if c != 10:
            curves.append(("overcommit %d" % c, "--preempt 20 --overcommit %d" % c))
    return curves


def global_sched():
    return [("Global %d" % c, "--core %g --prio core --global sched" % (c / 100)) for c in CORES]


def limited():
    curves = global_sched()
    for c in CORES:
        core = "--core %g " % (c / 100)
        curves.append(("Edge %d" % c, core + "--prio edge"))
        curves.append(("Core %d" % c, core + "--prio core"))
        curves.append(("Hadoop %d" % c, core + "--algo hadoop --connections 10"))
    return curves


def stale():
    curves = [("NoOpt", "--prio core --core 0.5"),
              ("Fresh", "--prio core --core 0.5 --global sched")]
    for x in STALES:
        curves.append(("Stale%d" % x, "--prio core --core 0.5 --global sched --stale %d" % x))
    curves.append(("Pro rata", "--prio core --core 0.5 --global total"))
    curves.append(("n = 1", "--prio core --core 0.5 --global sched --power 1"))
    return curves


SETS = {
    "ideal-160": Set(IDEAL_160, BEST + hadoops([3, 5, 10, 20, 1000]), coarse=True),
    "ideal-320": Set(IDEAL_320, BEST + hadoops([5, 20]), coarse=True),
    "pieces-160": Set(PIECES_160, steps_of_62(), coarse=True),
    "unsched-40": Set("--hosts 40 --prio none", [
        ("none", "--unsched none"), ("pro rata", ""), ("RTT each", "--unsched message")]),
    "preempt-40": Set(PREEMPT, preempted(), coarse=True),
    "bounds-160": Set("--hosts 160 --racks 4 --bounds",
                      [("%d%%" % c, "--core %g" % (c / 100)) for c in CORES]),
    "core-160": Set("--hosts 160 --racks 4", global_sched(), coarse=True),
    "core-320": Set("--hosts 320 --racks 8", limited(), coarse=True),
    "stale-160": Set("--hosts 160 --racks 4", stale()),
}

SETS["beyond-ideal"] = Set(IDEAL_160, [("MADD", "--algo madd"), ("rest", ""),
                                       ("all", "--announce all"),
                                       ("headroom", "--announce all --headroom 4")], coarse=True)
SETS["beyond-core"] = Set("--hosts 160 --racks 4 --core 0.5 --prio core ", [
    ("rest", ""), ("all", "--announce all"), ("headroom", "--announce all --headroom 2"),
    ("3.14", "--announce all --global sched"),
    ("3.14 n=1", "--announce all --global sched --power 1"),
    ("3.13", "--announce all --global sched --power 0"),
    ("3.13 stale", "--announce all --global sched --power 0 --stale 1"),
    ("3.14 stale", "--announce all --global sched --stale 1"),
    ("MADD", "--algo madd")], coarse=True)
GOSSIP_CORES = [25, 50, 75, 100]
SETS["beyond-gossip"] = Set("--hosts 160 --racks 4 --prio core --announce all ", [
    ("%s %d" % (name, c), "%s--core %g" % (opts, c / 100)) for c in GOSSIP_CORES
    for name, opts in (("all", ""), ("gossip", "--global gossip --power 0 "))],
    coarse=True)
SETS["beyond-preempt"] = Set(PREEMPT + "--preempt 20 ", [
    ("MADD", "--algo madd"), ("rest", ""), ("all", "--announce all"),
    ("headroom 2", "--announce all --headroom 2"), ("headroom", "--announce all --headroom 4"),
    ("overcommit 40", "--announce all --overcommit 40"),
    ("stall", "--announce all --stall 40")], coarse=True)
SPINES = "--hosts 160 --racks 4 --core 0.5 --prio core --announce all "
SETS["beyond-spines"] = Set(SPINES, [
    ("one core switch", ""), ("4 sprayed", "--spines 4 --spray on"),
    ("4 hashed", "--spines 4")], coarse=True)
SETS["beyond-buffers"] = Set("--hosts 40 --announce all --timeout 200 ", [
    ("%s %s" % (name, b or "any"), "%s --buffer %d" % (opts, b))
    for name, opts in (("overcommit 2", "--overcommit 2"), ("overcommit 10", ""),
                       ("MADD", "--algo madd"),
                       ("high-entropy", "--algo high-entropy --connections 10"))
    for b in (20, 80, 0)], coarse=True)
SETS["beyond-hosts"] = Set("--hosts 40 --announce all ", [
    ("as it is", ""), ("slow links", "--slow-share 0.2"), ("varying links", "--vary 20"),
    ("half a step a packet", "--cost-packet 0.45"),
    ("and 2 a message", "--cost-packet 0.45 --cost-message 2"),
    ("3 shuffles", "--shuffles 3"), ("3 staggered", "--shuffles 3 --stagger 300")],
    coarse=True)

for _skew, _tag in ((0.05, "low"), (0.5, "mid"), (0.95, "high")):
    SETS["time-hadoop-" + _tag] = Set(IDEAL_160, hadoops([3, 5, 10, 20, 1000])
                                      + [("GRPF", "")], points=[_skew], series=True)
SETS["time-hadoop-turned"] = Set(IDEAL_160 + "--transpose on", hadoops([1000]) + [("GRPF", "")],
                                 points=[0.5], series=True)
for _skew, _tag in ((0.05, "005"), (0.25, "025"), (0.5, "050")):
    SETS["time-rand-" + _tag] = Set("--hosts 40 --prio none --unsched none", [
        ("NoRand", "--randomise off"), ("Rand", "")], points=[_skew], series=True)
SETS["rand-40"] = Set("--hosts 40 --prio none --unsched none", [
    ("NoRand", "--randomise off"), ("Rand", "")], points=[0.05, 0.25, 0.5])
# Figure 3.10: nodes 0 to 3 in one rack, each sends to one of the other rack, node 0 three times
# as much
SETS["fig-3.10"] = Set("--racks 2 --core 0.5 --place in-order", [
    ("as it is", "--prio core"), ("pro rata", "--prio core --global total"),
    ("3.14", "--prio core --global sched")],
    matrix=[[(3000 if i == 0 else 1000) if k == i + 4 else 0 for k in range(8)]
            for i in range(8)], most=1)
SETS["sort-160"] = Set("--hosts 160 --racks 4 --workload sort", [
    ("MADD", "--algo madd"), ("GRPF", ""), ("Hadoop-5", "--algo hadoop"),
    ("Edge 50", "--core 0.5"), ("Core 50", "--core 0.5 --prio core"),
    ("Global 50", "--core 0.5 --prio core --global sched")], coarse=True)
SETS["large-1024"] = Set("--hosts 1024", [("GRPF", "")], points=[0.5, 0.95], most=1)
SETS["large-4096"] = Set("--hosts 4096 --mean 4 --threads 1", [("GRPF", "")], points=[0.5], most=1)
SETS["time-policy-base"] = Set(PIECES_160, policies("--overcommit 1"), points=[0.25],
                               series=True)
SETS["time-policy-oc10"] = Set(PIECES_160, policies("--overcommit 10 --prio edge"),
                               points=[0.25], series=True)
