#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Add what a part of saba.sh has measured to report.json, and print it.

usage: saba_report.py PART RAW FOLDER
"""
import json
import statistics
import sys

from records import publish, reached, records

GOAL = 1.05     # times the exact optimum, of the sum of slowdowns
SOURCE_S = {1: .43, 2: .72, 3: 1.13}    # the source's controller, by degree (thesis, 4.6.5)
LESS = .1       # of that, the goal
# speed-ups over max-min by flow that are the goals: of the mean and of the worst set-up, and, of
# 1944 servers, those of the source (thesis, 4.6.4)
SPEEDUP, LEAST = 1.5, .94
SOURCE_UP = {"saba-2-queues": 1.12, "saba-8-queues": 1.27, "saba-unlimited": 1.33, "jobs": 1.14,
             "homa": 1.12, "sincronia": 1.19}


def read_curves(path):
    """Slowdowns with 1 to 100 % of the bandwidth, as the workloads' model says: by application."""
    curves = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["CURVE"]:
                curves[words[1]] = [float(w) for w in words[2:]]
    return curves


def optimum(curves):
    """The least sum of slowdowns of fixed shares in steps of 1 % that sum up to the link."""
    best = {0: 0.0}
    for slowdown in curves:
        after = {}
        for used, cost in best.items():
            for share in range(1, 101 - used):
                total = cost + slowdown[share - 1]
                if total < after.get(used + share, float("inf")):
                    after[used + share] = total
        best = after
    return min(best.values())


def row(case, hosts, mtu, transport, metric, values, goal=None, unit="1", lane="uml-time"):
    """One row of the report."""
    out = {"case": case, "hosts": hosts, "mtu": mtu, "lane": lane, "transport": transport,
           "metric": metric, "unit": unit, "runs": len(values), "median": None, "min": None,
           "max": None, "goal": goal and round(goal, 4)}
    if values:
        out.update(median=round(statistics.median(values), 4), min=round(min(values), 4),
                   max=round(max(values), 4))
    return out


def objects(path):
    """Lines of JSON."""
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def controller_rows(path):
    """Seconds of processor time for all ports of 1944 servers, and over those of the source."""
    times = {}
    for v in objects(path):
        times.setdefault(v["degree"], []).append(v)
    rows = []
    for degree, of in sorted(times.items()):
        source = SOURCE_S.get(degree)
        p99 = [v["p99_s"] for v in of]
        for metric, values, goal, unit in (
                ("median_s", [v["median_s"] for v in of], None, "s"),
                ("p99_s", p99, source, "s"),
                ("p99_of_source", [v / source for v in p99] if source else [], LESS, "1")):
            if values:
                rows.append(row("saba-controller", 1944, None, "degree-%d" % degree, metric, values,
                                goal, unit, "host"))
    return rows


def sim_rows(path):
    """Speed-ups over max-min by flow, each a geometric mean over the applications of a set-up: of
    all set-ups the median, their geometric mean, and the least one."""
    found = {}
    for v in objects(path):
        if "run" not in v or v["policy"] == "flows":
            continue
        name = v["policy"]
        if name == "saba":
            name += "-" + v["model"]
        found.setdefault((v["hosts"], name), []).append(v["speedup"])
    rows = []
    for (hosts, name), ups in found.items():
        saba = name.startswith("saba")
        mean_goal = SOURCE_UP.get(name) if hosts == 1944 else SPEEDUP if saba else None
        least_goal = LEAST if saba and hosts != 1944 else None
        mean = statistics.geometric_mean(ups)
        for metric, values, goal in (("speedup", ups, None), ("speedup_mean", [mean], mean_goal),
                                     ("speedup_least", [min(ups)], least_goal)):
            rows.append({**row("saba-sim", hosts, None, name, metric, values, goal,
                               lane="simulator"), "runs": len(ups)})
    return rows


def rack_rows(path):
    """Of all runs that ended well."""
    found = {}
    for v in records(path):
        if v.get("ok") == 1 and "app" in v:
            key = (v["case"], int(v["hosts"]), int(v["mtu"]))
            of = found.setdefault(key, {}).setdefault(v["transport"], {})
            of.setdefault(v["app"], {})[int(v["run"])] = v["completion_ns"]
    return make_rows(found, read_curves(path))


def make_rows(found, curves):
    """Slowdowns against being alone with the same transport; found: (case, hosts, mtu) ->
    transport -> application -> run -> ns."""
    rows = []
    for (case, hosts, mtu), transports in found.items():
        for transport, apps in transports.items():
            mode, _, way = transport.partition("-")
            alone = transports.get(mode + "-alone", {})
            if way == "alone":
                continue
            sums = {}
            for app, runs in sorted(apps.items()):
                values = {run: ns / alone[app][run] for run, ns in runs.items()
                          if run in alone.get(app, {})}
                rows.append(row(case, hosts, mtu, transport, "slowdown_" + app,
                                list(values.values())))
                for run, value in values.items():
                    sums.setdefault(run, {})[app] = value
            # a run counts only if all applications have ended
            whole = [sum(of.values()) for of in sums.values() if len(of) == len(curves)]
            goal = GOAL * optimum([curves[app] for app in sorted(curves)])
            rows.append(row(case, hosts, mtu, transport, "slowdown_sum", whole, goal))
    return rows


def make_text(rows):
    """A line for each row."""
    text = ["%-18s%6s  %-18s%-14s%10s%10s%10s" % (
        "case", "hosts", "transport", "figure", "median", "min", "max")]
    for r in rows:
        if r["median"] is None:
            text.append("%-18s%6d  %-18s%-14sFAILED" % (r["case"], r["hosts"], r["transport"],
                                                        r["metric"]))
            continue
        said = reached(r["metric"], r["median"], r["goal"])
        said = "" if said is None else \
            "  goal %g: %s" % (r["goal"], "reached" if said else "MISSED")
        text.append("%-18s%6d  %-18s%-14s%10.4f%10.4f%10.4f%s" % (
            r["case"], r["hosts"], r["transport"], r["metric"], r["median"], r["min"], r["max"],
            said))
    return "\n".join(text) + "\n"


PARTS = {"saba-rack": rack_rows, "saba-controller": controller_rows, "saba-sim": sim_rows}


def main():
    """Reads, writes, prints."""
    if len(sys.argv) != 4 or sys.argv[1] not in PARTS:
        sys.exit("usage: saba_report.py PART RAW FOLDER")
    rows = PARTS[sys.argv[1]](sys.argv[2])
    if not rows:
        return 1
    publish(sys.argv[3], sys.argv[1], rows, make_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
