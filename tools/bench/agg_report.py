#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Add what agg_guest.sh and agg_cpu_guest.sh have measured to report.json, and print it.

usage: agg_report.py RAW FOLDER
"""
import statistics
import sys

from records import good_runs, publish, reached

CPU = "agg-cpu"
# records are merged on the way
OURS = ("shuffle", "shuffle-table")
# times the plan's bound
GOALS = {"agg-bcube41-incast": 1.15, "agg-bcube41-shuffle": 1.2, "agg-rack-allreduce-1m": 1.25}
# of the factor that the two bounds predict
INCAST_SHARE = 0.9
ALLREDUCE_FASTER = 1.5
# merged per second, beside a hash table in user space, and sorted beside in a table
USER_HASH_SHARE = 0.5
SORTED_SHARE = 1.0


def group(case):
    """The case without its delta: what goes without aggregation is the same for all of them."""
    return case.rsplit("-", 1)[0] if case.startswith("agg-bcube41-shuffle-") else case


def row(key, transport, metric, unit, values, goal=None):
    """One row of the report; no values: all runs have failed."""
    out = {"case": key[0], "hosts": key[1], "mtu": key[2],
           "lane": "qemu-icount" if key[0] == CPU else "uml-time",
           "transport": transport, "metric": metric, "unit": unit, "runs": len(values),
           "median": None, "min": None, "max": None, "goal": goal and round(goal, 4)}
    if values:
        out.update(median=round(statistics.median(values), 4), min=round(min(values), 4),
                   max=round(max(values), 4))
    return out


def times(runs):
    """ns of all good runs."""
    return [r["completion_ns"] for r in runs.values()]


def faster(key, ours, transport, theirs, goal):
    """How many times faster we are, of the medians; the ends of their ranges."""
    middle = statistics.median(theirs) / statistics.median(ours)
    one = row(key, "shuffle", "faster_than_" + transport.replace("-", "_"), "1",
              [min(theirs) / max(ours), middle, max(theirs) / min(ours)], goal)
    one["runs"] = min(len(ours), len(theirs))
    return one


def network_rows(found, key, transports):
    """Rows of a case of the network's."""
    rows = []
    merged = transports.get("shuffle", {})
    # what goes without aggregation has a case of its own beside several deltas
    none_bound = [r["none_bound_ns"] for other, of in found.items()
                  if group(other[0]) == group(key[0]) and other[2] == key[2]
                  for r in of.get("shuffle", {}).values() if "none_bound_ns" in r]
    for transport, runs in transports.items():
        goal = GOALS.get(group(key[0])) if transport == "shuffle" else None
        own = transport in OURS or "allreduce" in key[0]
        bounds = [r["bound_ns"] if own or not none_bound else none_bound[0]
                  for r in runs.values()]
        if own or none_bound:
            rows.append(row(key, transport, "slowdown", "1",
                            [t / b for t, b in zip(times(runs), bounds)], goal))
        rows.append(row(key, transport, "completion", "ns", times(runs)))
    if not merged:
        return rows
    others = dict(transports)
    for case, hosts, mtu in found:
        if case == group(key[0]) and mtu == key[2]:
            others.update(found[case, hosts, mtu])
        # all-reduces without relays have fewer hosts
        elif case == key[0] and mtu == key[2] and hosts != key[1]:
            others.update(found[case, hosts, mtu])
    for transport, runs in others.items():
        if transport in OURS or not runs:
            continue
        goal = 1.0
        if "incast" in key[0]:
            bound = statistics.median(r["bound_ns"] for r in merged.values())
            goal = INCAST_SHARE * none_bound[0] / bound
        elif "allreduce" in key[0]:
            goal = ALLREDUCE_FASTER
        rows.append(faster(key, times(merged), transport, times(runs), goal))
    return rows


def cpu_rows(key, transports):
    """Records per second of one processor, which is all hosts; and of what the merge adds."""
    rows = []
    rate = {}
    for transport, runs in transports.items():
        values = [r["records"] * 1e9 / r["completion_ns"] for r in runs.values()]
        rows.append(row(key, transport, "records_per_s", "1/s", values))
        if values:
            rate[transport] = statistics.median(values)
    for transport in OURS:
        if transport not in rate:
            continue
        if "user-hash" in rate:
            rows.append(row(key, transport, "ratio_to_user_hash", "1",
                            [rate[transport] / rate["user-hash"]], USER_HASH_SHARE))
        if "shuffle-none" in rate:
            alone = 1 / (1 / rate[transport] - 1 / rate["shuffle-none"])
            rows.append(row(key, transport, "records_per_s_beyond_none", "1/s", [alone]))
    if "shuffle" in rate and "shuffle-table" in rate:
        rows.append(row(key, "shuffle", "ratio_to_table", "1",
                        [rate["shuffle"] / rate["shuffle-table"]], SORTED_SHARE))
    return rows


def make_rows(found):
    """All rows."""
    rows = []
    for key, transports in found.items():
        rows += cpu_rows(key, transports) if key[0] == CPU else \
            network_rows(found, key, transports)
    return rows


def make_text(rows):
    """A line for each row."""
    text = ["%-26s%6s  %-18s%-32s%14s%14s%14s %-4s" % (
        "case", "MTU", "transport", "figure", "median", "min", "max", "")]
    for r in rows:
        if r["median"] is None:
            text.append("%-26s%6d  %-18sFAILED" % (r["case"], r["mtu"], r["transport"]))
            continue
        said = reached(r["metric"], r["median"], r["goal"])
        said = "" if said is None else \
            "  goal %g: %s" % (r["goal"], "reached" if said else "MISSED")
        text.append("%-26s%6d  %-18s%-32s%14.5g%14.5g%14.5g %-4s%s" % (
            r["case"], r["mtu"], r["transport"], r["metric"], r["median"], r["min"], r["max"],
            r["unit"], said))
    return "\n".join(text) + "\n"


def main():
    """Reads, writes, prints."""
    if len(sys.argv) != 3:
        sys.exit("usage: agg_report.py RAW FOLDER")
    rows = make_rows(good_runs(sys.argv[1]))
    if not rows:
        return 1
    publish(sys.argv[2], "agg", rows, make_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
