# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures 6.11 to 6.26: preemption, and limited core bandwidth."""

from checks import Verdict, at_least, at_most, between, everywhere, more, near
from figlib import (Figure, PACKET_MB, SKEW, by_skewness, lines, mb, medians, optimality,
                    percent, span, throughput, wins, worst_gap)
from sets import CORES, INTERVALS, OVERCOMMITS, REDIRECTS, STALES
from svgplot import COLOURS, Line, Panel

GBPS = "Gb/s"
RTTS = ["%d RTT" % i for i in INTERVALS]


def intervals(table, algo, value, ylabel, ymin=None, ymax=None, title=""):
    return by_skewness(title or algo, table, ["%s %d" % (algo, i) for i in INTERVALS], value,
                       ylabel, RTTS, ymin, ymax)


def draw_611(d):
    return [intervals(d["preempt-40"], "MADD", throughput, GBPS, 9, 13)]


def compare_611(d):
    t = d["preempt-40"]
    first, last = medians(t, "MADD 1", throughput), medians(t, "MADD 20", throughput)
    return Verdict("Medians are %s with intervals of 1 RTT and %s with 20 RTT."
                   % (span(first, 1, " Gb/s", 2), span(last, 1, " Gb/s", 2)),
                   [near("1 RTT, least", 12.5, min(first), "Gb/s", 0.05),
                    near("20 RTT, highest skewness", 10.5, last[-1], "Gb/s"),
                    more("1 RTT above 20 RTT", min(first), max(last), "Gb/s")])


def draw_612(d):
    return [intervals(d["preempt-40"], "MADD", optimality, "of the oracles' bound", 0.9, 1.0)]


def compare_612(d):
    t = d["preempt-40"]
    values = [v for i in INTERVALS for v in medians(t, "MADD %d" % i, optimality)]
    good = sum(v >= 0.985 for v in values)
    checks = [at_most("loss of a median, most", 1.5, 100 * (1 - min(values)), "%")]
    if t.full:
        tail = [t.stat("MADD %d" % i, p, optimality, 0.1) for i in INTERVALS
                for p in t.points("MADD %d" % i)]
        checks.append(at_most("loss at p10, most", 5, 100 * (1 - min(tail)), "%"))
    return Verdict("%d of %d medians are within 1.5 %% of the bound, the worst is %s below it."
                   % (good, len(values), percent(1 - min(values))), checks)


def draw_613(d):
    return [intervals(d["preempt-40"], "GRPF", throughput, GBPS, 5, 13)]


def compare_613(d):
    t = d["preempt-40"]
    low = max((1 - v, p) for i in INTERVALS for v, p in
              ((t.paired("GRPF %d" % i, "MADD %d" % i, p, throughput, 0.5), p)
               for p in t.points("GRPF 1") if p <= 0.5))
    high = worst_gap(t, "GRPF 20", "MADD 20", throughput)
    last = medians(t, "GRPF 20", throughput)[-1]
    return Verdict("Up to a skewness of 0.5 GRPF-10 loses %s against MADD at most; with 20 RTT it "
                   "loses %s at %.2f." % (percent(max(low[0], 0)), percent(high[0]), high[1]),
                   [at_most("loss against MADD up to 0.5", 0, 100 * low[0], "%", slack=2),
                    near("20 RTT, highest skewness", 7.5, last, "Gb/s"),
                    near("loss there against MADD", 28.6, 100 * high[0], "%")])


def share(column):
    return lambda row: row[column] / (2 * row["bound"])


def draw_614(d):
    t = d["preempt-40"]
    return [intervals(t, "GRPF", share("slowest_preempted"), "time / (2 bound)", 0.3, 1.0,
                      "slowest sender: preempted"),
            intervals(t, "GRPF", share("slowest_idle"), "time / (2 bound)", 0, None,
                      "slowest sender: no grants")]


def compare_614(d):
    t = d["preempt-40"]
    short = [v for i in INTERVALS if i < 5 for v in medians(t, "GRPF %d" % i,
                                                            share("slowest_idle"))]
    long = medians(t, "GRPF 20", share("slowest_idle"))
    pre = medians(t, "GRPF 1", share("slowest_preempted"))
    return Verdict("The slowest sender is preempted for %s of twice the bound with 1 RTT. It lacks "
                   "grants for %s of it below 5 RTT, and for %s at the lowest and %s at the "
                   "highest skewness with 20 RTT."
                   % (span(pre), span(short), percent(long[0]), percent(long[-1])),
                   [near("preempted, 1 RTT, most", 0.5, max(pre)),
                    at_most("without grants below 5 RTT, most", 0, max(short), slack=0.02),
                    more("no grants, 20 RTT: highest above lowest", long[-1],
                         long[0])])


def draw_615(d):
    t = d["preempt-40"]
    curves = ["redirect %d" % r for r in REDIRECTS] + ["GRPF 20", "MADD 20"]
    names = ["%d" % r for r in REDIRECTS] + ["any distance", "MADD"]
    return [by_skewness("intervals of 20 RTT", t, curves, throughput, GBPS, names, 0, 13)]


def compare_615(d):
    t = d["preempt-40"]
    text = []
    means = []
    for r in REDIRECTS:
        part = medians(t, "redirect %d" % r, throughput, 0, 0.5)
        means.append(sum(part) / len(part))
        text.append("%d: %.1f" % (r, means[-1]))
    free = medians(t, "GRPF 20", throughput, 0, 0.5)
    free = sum(free) / len(free)
    return Verdict("Mean of the medians up to a skewness of 0.5 by distance in RTTpackets: %s; "
                   "without a limit %.1f Gb/s." % (", ".join(text), free),
                   [everywhere("each distance better than the last",
                               sum(b > a for a, b in zip(means, means[1:])), len(means) - 1),
                    more("no limit above a distance of 1", free, means[0], "Gb/s"),
                    near("a distance of 125 in no limit", 1, means[-1] / free)])


def draw_616(d):
    t = d["preempt-40"]
    curves = ["GRPF 20" if c == 10 else "overcommit %d" % c for c in OVERCOMMITS] + ["MADD 20"]
    names = ["overcommit %d" % c for c in OVERCOMMITS] + ["MADD"]
    return [by_skewness("intervals of 20 RTT", t, curves, throughput, GBPS, names, 5, 13)]


def compare_616(d):
    t = d["preempt-40"]
    point = t.points("GRPF 20")[-1]
    got = [t.stat("GRPF 20" if c == 10 else "overcommit %d" % c, point, throughput, 0.5)
           for c in OVERCOMMITS]
    gap, _ = worst_gap(t, "overcommit 40", "MADD 20", throughput)
    return Verdict("At skewness %.2f overcommits %s reach %s Gb/s; 40 is never more than %s below "
                   "MADD." % (point, ", ".join(map(str, OVERCOMMITS)),
                              ", ".join("%.1f" % v for v in got), percent(max(gap, 0))),
                   [everywhere("each overcommit better than the last",
                               sum(b > a for a, b in zip(got, got[1:])), len(got) - 1),
                    at_most("40: loss against MADD", 0, 100 * gap, "%", slack=10)])


def draw_617(d):
    return [intervals(d["preempt-40"], "Hadoop", throughput, GBPS, 4, 13, "Hadoop-10")]


def compare_617(d):
    t = d["preempt-40"]
    scores = [wins(t, "GRPF %d" % i, "Hadoop %d" % i, throughput) for i in INTERVALS]
    gap, where = worst_gap(t, "Hadoop 20", "GRPF 20", throughput)
    last = medians(t, "Hadoop 20", throughput)[-1]
    grpf = medians(t, "GRPF 20", throughput)[-1]
    return Verdict("GRPF-10 is ahead at %d of %d points; with 20 RTT Hadoop-10 is up to %s behind "
                   "(skewness %.2f)." % (sum(s[0] for s in scores), sum(s[1] for s in scores),
                                         percent(gap), where),
                   [everywhere("GRPF-10 above Hadoop-10", sum(s[0] for s in scores),
                               sum(s[1] for s in scores)),
                    near("20 RTT, highest skewness", 5, last, "Gb/s"),
                    near("loss there against GRPF-10", 33.3, 100 * (1 - last / grpf), "%")])


def draw_618(d):
    t = d["preempt-40"]
    return [intervals(t, "GRPF", mb("tor_max"), "MB", 0, None, "(a) switch"),
            intervals(t, "GRPF", mb("port_max"), "MB", 0, 0.12, "(b) longest port")]


def compare_618(d):
    t = d["preempt-40"]
    most = max(r["port_max"] for c in t.rows if c.startswith("GRPF ")
               for p in t.rows[c].values() for r in p)
    five, ten = (medians(t, "GRPF %d" % i, mb("tor_max"), 0, 0.7) for i in (5, 10))
    return Verdict("The longest queue of a port in any run is %d packets (%.3f MB; 9 RTT are 72 "
                   "packets, 0.108 MB). The switch holds %s with 5 RTT, %s with 10 RTT (skewness "
                   "up to 0.7)." % (most, most * PACKET_MB, span(five, 1, " MB", 2),
                                    span(ten, 1, " MB", 2)),
                   [at_most("longest queue, packets", 72, most, slack=1),
                    more("switch: 10 RTT above 1.2 times 5 RTT", sum(ten) / len(ten),
                         1.2 * sum(five) / len(five), "MB")])


def core_load(row):
    # the bound is load / (core share of 40 hosts): the average rack has 160 x 16 x 40 packets
    return row["bound_core"] / 2560.0


def draw_619(d):
    return [by_skewness("160 hosts", d["bounds-160"], ["%d%%" % c for c in CORES], throughput, GBPS,
                        ymin=0, ymax=27)]


def compare_619(d):
    t = d["bounds-160"]
    first = t.points("75%")[0]
    at75, at50 = (t.stat(c, first, throughput, 0.5) for c in ("75%", "50%"))
    falls = medians(t, "50%", throughput)
    return Verdict("At the lowest skewness 75 %% of core bandwidth bound it to %.1f Gb/s, 50 %% to "
                   "%.1f; with 50 %% it falls to %.1f." % (at75, at50, falls[-1]),
                   [near("75 %, lowest skewness", 25, at75, "Gb/s", 0.02),
                    near("50 %, lowest skewness", 16.7, at50, "Gb/s", 0.02),
                    more("50 %: lowest above highest skewness", falls[0], falls[-1], "Gb/s")])


def draw_620(d):
    t = d["bounds-160"]
    return [Panel("most loaded core link", SKEW, "% of a rack's data",
                  lines(t, ["25%"], core_load, scale=25.0, labels=["160 hosts, 4 racks"]))]


def compare_620(d):
    got = [25 * v for v in medians(d["bounds-160"], "25%", core_load)]
    return Verdict("The median load grows from %.0f to %.0f %%." % (got[0], got[-1]),
                   [near("at the lowest skewness", 75, got[0], "%", 0.03),
                    more("highest skewness above lowest", got[-1], got[0], "%")])


GLOBALS = ["Global %d" % c for c in CORES]
CORE_NAMES = ["%d %%" % c for c in CORES]


def draw_621(d):
    return [by_skewness("4 racks of 40", d["core-160"], GLOBALS, optimality, "of the bound",
                        CORE_NAMES, 0.9, 1.0),
            by_skewness("8 racks of 40", d["core-320"], GLOBALS, optimality, "of the bound",
                        CORE_NAMES, 0.9, 1.0)]


def compare_621(d):
    text, checks = [], []
    for name in ("core-160", "core-320"):
        t = d[name]
        mids = [v for c in GLOBALS for v in medians(t, c, optimality)]
        mean = 1 - sum(mids) / len(mids)
        text.append("%s hosts: medians lose %s on average and %s at most"
                    % (name[5:], percent(mean), percent(1 - min(mids))))
        checks.append(near(name[5:] + " hosts: mean loss", 1, 100 * mean, "%", slack=0.5))
        if t.full:
            tail = [t.stat(c, p, optimality, 0.1) for c in GLOBALS for p in t.points(c)]
            checks.append(at_most(name[5:] + " hosts: loss at p10", 4.1, 100 * (1 - min(tail)),
                                  "%"))
    return Verdict("; ".join(text) + ".", checks)


def draw_622(d):
    t = d["core-320"]
    out = []
    for title, new, old in (("(a) Edge to Core", "Core", "Edge"),
                            ("(b) Core to GlobalSched", "Global", "Core")):
        from_lines = []
        for i, c in enumerate(CORES):
            points = [(t.skewness("%s %d" % (new, c), p),
                       100 * (t.paired("%s %d" % (new, c), "%s %d" % (old, c), p, throughput, 0.5)
                              - 1)) for p in t.points("%s %d" % (new, c))]
            from_lines.append((i, points))
        out.append(Panel(title, SKEW, "speedup, %",
                         [Line(CORE_NAMES[i], pts, t.runs, colour=COLOURS[i])
                          for i, pts in from_lines]))
    return out


def compare_622(d):
    t = d["core-320"]

    def gains(new, old):
        return [t.paired("%s %d" % (new, c), "%s %d" % (old, c), p, throughput, 0.5) - 1
                for c in CORES for p in t.points("Core %d" % c)]

    a, b = gains("Core", "Edge"), gains("Global", "Core")
    return Verdict("Priority in the core changes the throughput by %s, global scheduling by %s "
                   "(medians of ratios on the same matrices)." % (span(a), span(b)),
                   [more("priority in the core, mean gain above 0", 100 * mean_of(a), 0, "%"),
                    everywhere("global scheduling gains", sum(v > 0 for v in b), len(b))])


STALE = ["NoOpt", "Pro rata", "Fresh", "n = 1"] + ["Stale%d" % x for x in STALES]


def draw_623(d):
    return [by_skewness("160 hosts, 50 % core", d["stale-160"], STALE, optimality, "of the bound",
                        ymin=0.8, ymax=1.0)]


def compare_623(d):
    t = d["stale-160"]

    def loss(curve):
        return max(medians(t, "Fresh", optimality)[i] - v
                   for i, v in enumerate(medians(t, curve, optimality)))

    mean = {c: sum(medians(t, c, optimality)) / len(medians(t, c, optimality)) for c in STALE}
    return Verdict("Stale1 is up to %s below Fresh, Stale3 up to %s; means of the medians: %s."
                   % (percent(loss("Stale1")), percent(loss("Stale3")),
                      ", ".join("%s %.3f" % (c, mean[c]) for c in STALE)),
                   [at_most("Stale1 below Fresh, most", 3, 100 * loss("Stale1"), "%"),
                    at_most("Stale3 below Fresh, most", 3, 100 * loss("Stale3"), "%"),
                    more("Fresh above NoOpt", 100 * mean["Fresh"], 100 * mean["NoOpt"], "%")])


HADOOP = ["Hadoop %d" % c for c in CORES]


def draw_624(d):
    t = d["core-320"]
    return [by_skewness("Hadoop-10, 320 hosts", t, HADOOP, throughput, GBPS, CORE_NAMES, 0, 26),
            by_skewness("Hadoop-10, of the bound", t, HADOOP, optimality, "of the bound",
                        CORE_NAMES, 0.5, 1.0)]


def compare_624(d):
    t = d["core-320"]
    loss = [1 - v for c in HADOOP for v in medians(t, c, optimality)]
    scores = [wins(t, g, h, throughput) for g, h in zip(GLOBALS, HADOOP)]
    good, n = sum(s[0] for s in scores), sum(s[1] for s in scores)
    return Verdict("Hadoop-10 leaves %s of the bound; GRPF+GlobalSched is ahead at %d of %d points."
                   % (span(loss), good, n),
                   [everywhere("below GRPF+GlobalSched", good, n),
                    between("loss, most", 20, 30, 100 * max(loss), "%")])


VERSIONS = [("Edge", "(a) Prio@Edge"), ("Core", "(b) Prio@Core"), ("Global", "(c) GlobalSched")]


def buffers(table, most, mean, scale=1.0):
    out = []
    for version, title in VERSIONS:
        curves = ["%s %d" % (version, c) for c in CORES]
        panel = by_skewness(title, table, curves, mb(most), "MB", CORE_NAMES, 0, None, scale)
        panel.lines += lines(table, curves, mb(mean), False, labels=[""] * len(curves),
                             dashed=True, scale=scale)
        out.append(panel)
    return out


def draw_625(d):
    return buffers(d["core-320"], "tor_max", "tor_mean")


def mean_of(values):
    return sum(values) / len(values)


def compare_625(d):
    t = d["core-320"]
    most = max(r["tor_max"] for c in t.rows if not c.startswith("Hadoop")
               for p in t.rows[c].values() for r in p) * PACKET_MB
    means = {}
    for version, _ in VERSIONS:
        means[version] = mean_of([v for c in CORES if c < 90 for v in
                                  medians(t, "%s %d" % (version, c), mb("tor_mean"))])
    up = mean_of([v for c in CORES if c < 90 for v in
                  medians(t, "Core %d" % c, lambda r: r["tor_up_share"])])
    return Verdict("No switch of a rack ever holds more than %.1f MB. On average (below 90 %%) "
                   "Edge holds %.2f, Core %.2f, GlobalSched %.2f MB; %s of it waits for the core."
                   % (most, means["Edge"], means["Core"], means["Global"], percent(up, 0)),
                   [at_most("most in a switch", 16, most, "MB", tolerance=0),
                    more("Core above Edge", means["Core"], means["Edge"], "MB"),
                    more("Core above GlobalSched", means["Core"], means["Global"], "MB"),
                    at_least("waits for the core", 90, 100 * up, "%")])


def draw_626(d):
    return buffers(d["core-320"], "core_max", "core_mean")


def compare_626(d):
    t = d["core-320"]

    def mean(version, column):
        return mean_of([v for c in CORES if c < 90
                        for v in medians(t, "%s %d" % (version, c), mb(column))])

    core, tor = ([mean(v, c) for v, _ in VERSIONS] for c in ("core_max", "tor_max"))
    low = [mean_of([v for c in CORES if c < 90 for v in
                    medians(t, "%s %d" % (version, c), mb("core_max"), 0, 0.5)])
           for version, _ in VERSIONS]
    return Verdict("Means of the medians of the greatest occupancy below 90 %%, Edge, Core, "
                   "GlobalSched: core %.1f, %.1f, %.1f MB; a rack's switch %.1f, %.1f, %.1f MB. Up "
                   "to a skewness of 0.5 the core holds %.1f, %.1f, %.1f MB."
                   % tuple(core + tor + low),
                   [at_most("core in a rack's switch", 1, max(a / b for a, b in
                                                              zip(core[1:], tor[1:])),
                            tolerance=0.5),
                    more("up to 0.5: Edge above Core", low[0], low[1], "MB"),
                    more("up to 0.5: GlobalSched above Core", low[2], low[1], "MB")])


PRE = ["preempt-40"]
CORE8 = ["core-320"]

FIGURES = [
    Figure("6.11", "Preemption: MADD", "Close to 12.5 Gb/s with short intervals, slightly less "
           "with longer ones.", PRE, draw_611, compare_611,
           choice="A host starts at a random place of an interval; each interval is preempted with "
           "probability 1/2 (inferred).  MADD sends whatever it has, earliest due first."),
    Figure("6.12", "Preemption: MADD against the oracles",
           "Within 1.5 % of the bound at the median, 5 % in most cases.", PRE, draw_612,
           compare_612,
           "Only intervals of 20 RTT miss it, by half a percent.  What is lost is a time, not a "
           "share: with messages four times as long it is 0.3 to 0.8 % of the run instead of 1.2 "
           "to 3.9 (8 runs).  A run has about 200 intervals of 20 RTT, so that chance preempts "
           "some hosts more than others; with intervals that alternate the loss is 0.3 to 0.7 %.  "
           "Receivers that catch up faster change nothing (``--catchup 1000``).  The source "
           "says of its bound that it is not tight."),
    Figure("6.13", "Preemption: GRPF, overcommit 10",
           "No loss against MADD at low and medium skewness; more than 25 % at the highest with "
           "20 RTT.", PRE, draw_613, compare_613,
           "The cause is the source's, nothing to redirect bandwidth to, but it is a few senders' "
           "and not the matrix's: of 16 matrices at 0.45 the seven in which a sender has more "
           "than 80 % of its data in one message lose 15 to 27 %, the nine others 0 to 11 %, "
           "though those have more messages a host (11 to 35) than most of these.  Our generator "
           "draws each row's distribution by itself, and the slowest sender counts.  At the "
           "highest skewness GRPF's throughput is 3 % below the source's and MADD's 2 % above it, "
           "10.7 instead of 10.5 Gb/s: together they make the loss greater."),
    Figure("6.14", "Preemption: the slowest sender",
           "Preempted for a little more than half of the time; it practically never lacks grants "
           "below 5 RTT, and more so the longer the interval and the higher the skewness.", PRE,
           draw_614, compare_614),
    Figure("6.15", "Preemption: how far bandwidth is redirected",
           "A large distance is needed at low and medium skewness.", PRE, draw_615, compare_615,
           choice="Distances of 1, 5, 25 and 125 RTTpackets; the source names 125."),
    Figure("6.16", "Preemption: more overcommit",
           "Helps at medium and high skewness with diminishing return; twice the interval is as "
           "good as MADD.", PRE, draw_616, compare_616),
    Figure("6.17", "Preemption: Hadoop-10", "Always worse than GRPF-10, by almost a third at the "
           "highest skewness and 20 RTT.", PRE, draw_617, compare_617,
           "Hadoop's window is a round trip, 8 packets, and a grant turns in the round trip and "
           "two steps, 10.  With windows of 9 packets Hadoop-10 has 4.8 Gb/s at the highest "
           "skewness, with 10 it has 5.3, a loss of 27 % (``--rtt``, 16 runs).  In the source's "
           "simulator the turn may be shorter; an independent model of the same text has 4.4 "
           "Gb/s."),
    Figure("6.18", "Preemption: buffers",
           "A port holds (overcommit - 1) RTT at most, 0.108 MB; the switch holds more the longer "
           "the interval, with a jump from 5 to 10 RTT.", PRE, draw_618, compare_618),
    Figure("6.19", "Limited core: bound of the throughput",
           "75 % are just enough without skewness, 50 % give 16.7 Gb/s; it falls with skewness.",
           ["bounds-160"], draw_619, compare_619,
           choice="Whole racks at random; the load of a core link is what its rack sends out or "
           "receives from outside."),
    Figure("6.20", "Limited core: load of the worst link",
           "Grows from 75 % about linearly with skewness.", ["bounds-160"], draw_620, compare_620),
    Figure("6.21", "Limited core: GRPF+GlobalSched",
           "About 1 % below the bound at the median, 4.1 % at the 90th percentile.",
           ["core-160", "core-320"], draw_621, compare_621,
           choice="Equation 3.14 with n = 2 for its last term, which the source's experiments "
           "chose: the limit of a receiver is multiplied with the cube of (remaining / greatest "
           "remaining).  The 90th percentile of the loss is the 10th of the share, and is compared "
           "from 100 runs on."),
    Figure("6.22", "Limited core: speedups, 320 hosts",
           "Priority in the core helps at low and medium skewness, with some losses at very high; "
           "global scheduling helps everywhere.", CORE8, draw_622, compare_622,
           "Global scheduling loses a little where there is little to gain: 0.1 % with 25 and 50 % "
           "at the lowest skewness, and up to 0.5 % with 90 %, which is more than the 87.5 % that "
           "racks send to others, up to a skewness of 0.45.  Smaller limits of all but the slowest "
           "receiver cost that: with 90 % and overcommit 20, or with the first power (3.13), "
           "nothing is lost at 0.05 and 0.25 (2 runs)."),
    Figure("6.23", "Limited core: stale information",
           "At most 2 to 3 % worse than fresh between Stale1 and Stale3.", ["stale-160"], draw_623,
           compare_623,
           "Up to a skewness of 0.3 what is stale costs nothing; Stale3 costs most at 0.65.  An "
           "all-reduce takes 64 steps, 1.6 % of a run, Stale3's 192, and what receivers compare is "
           "one to two of them old; the cube of a ratio that has changed is too small or too great "
           "by three times the change.  With lower powers Stale3 loses less: 2.4 % at most with n "
           "= 1, 0.8 % with equation 3.13 (``--power 1``, ``0``; 4 runs at 5 skewnesses).  In a "
           "simulator changed so that an all-reduce begins in each step, and nothing is older than "
           "one of them, Stale1 loses 0.9 % and Stale3 3.7 % at most.",
           "50 % of core bandwidth, 160 hosts; Stale5 and Stale10 added."),
    Figure("6.24", "Limited core: Hadoop-10",
           "Always worse than GRPF+GlobalSched; 20 to 30 % below the bound in the worst case.",
           CORE8, draw_624, compare_624),
    Figure("6.25", "Limited core: buffers of rack switches",
           "Far from 16 MB; more with priority in the core, then a little less with global "
           "scheduling; more than 90 % waits for the core.", CORE8, draw_625, compare_625,
           choice="Solid: the most in any switch of a run; dashed: mean of switches and time."),
    Figure("6.26", "Limited core: buffers of the core",
           "Total not much above that of a single rack switch; less with priority in the core "
           "than without in many cases, then a little more with global scheduling.", CORE8,
           draw_626, compare_626),
]
