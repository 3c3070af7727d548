#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Add what saba_guest.sh has measured to report.json, and print it.

usage: saba_report.py RAW FOLDER
"""
import statistics
import sys

from records import publish, reached, records

GOAL = 1.05     # times the exact optimum, of the sum of slowdowns


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


def row(case, hosts, mtu, transport, metric, values, goal=None):
    """One row of the report."""
    out = {"case": case, "hosts": hosts, "mtu": mtu, "lane": "uml-time", "transport": transport,
           "metric": metric, "unit": "1", "runs": len(values), "median": None, "min": None,
           "max": None, "goal": goal and round(goal, 4)}
    if values:
        out.update(median=round(statistics.median(values), 4), min=round(min(values), 4),
                   max=round(max(values), 4))
    return out


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


def main():
    """Reads, writes, prints."""
    if len(sys.argv) != 3:
        sys.exit("usage: saba_report.py RAW FOLDER")
    found = {}
    for v in records(sys.argv[1]):
        if v.get("ok") == 1 and "app" in v:
            key = (v["case"], int(v["hosts"]), int(v["mtu"]))
            of = found.setdefault(key, {}).setdefault(v["transport"], {})
            of.setdefault(v["app"], {})[int(v["run"])] = v["completion_ns"]
    rows = make_rows(found, read_curves(sys.argv[1]))
    if not rows:
        return 1
    publish(sys.argv[2], "saba", rows, make_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
