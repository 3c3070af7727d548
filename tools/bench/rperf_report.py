#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Add what rperf_guest.sh has measured to report.json, and print it.

usage: rperf_report.py RAW FOLDER
"""
import json
import os
import re
import statistics
import sys

from records import publish

LANE = "uml-time"
LINE = re.compile(r"RPERF case=(\S+) mode=(\S+) run=(\d+)(?: failed| median=(\S+) p999=(\S+) (.*))")
# shares of the truth, and what is too little to count, ns
GOALS = {"p50": (0.01, 100), "p99.9": (0.02, 100)}
MODES = {"tstamp": "rperf", "loopback": "rperf-loopback", "pingpong": "ping-pong"}


def read(path):
    """(case, mode) -> list of (truths, instance, Gb/s of the flows), None for a failed run."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            hit = LINE.match(line)
            if not hit:
                continue
            runs = found.setdefault((hit[1], hit[2]), [])
            if not hit[6]:
                runs.append(None)
                continue
            run = json.loads(hit[6])
            truth = {"p50": hit[4], "p99.9": hit[5]}
            runs.append((truth, run["instances"][0], [x["bit_s"] / 1e9 for x in run["flows"]]))
    return found


def make_rows(found):
    """A row for each figure; beside a truth one for the error, in parts of what is allowed."""
    rows = []
    for (case, mode), all_runs in found.items():
        runs = [r for r in all_runs if r and "p50_ns" in r[1]]
        base = {"case": "rperf-" + case, "hosts": 5, "mtu": 1500, "lane": LANE,
                "transport": MODES[mode], "runs": len(runs)}
        if len(runs) < len(all_runs) or not runs:
            rows.append({**base, "metric": "p50", "unit": "ns", "median": None, "min": None,
                         "max": None, "goal": None})
            continue
        for metric, (share, least) in GOALS.items():
            values = [r[1][metric + "_ns"] for r in runs]
            rows.append({**base, "metric": metric, "unit": "ns", "goal": None,
                         "median": statistics.median(values), "min": min(values),
                         "max": max(values)})
            truth = runs[0][0][metric]
            if truth == "-":
                continue
            allowed = max(share * int(truth), least)
            errors = [abs(v - int(truth)) / allowed for v in values]
            rows.append({**base, "metric": metric + "_error", "unit": "1", "truth_ns": int(truth),
                         "goal": 1.0 if mode == "tstamp" else None,
                         "median": statistics.median(errors), "min": min(errors),
                         "max": max(errors)})
        for i in range(len(runs[0][2])):
            values = [r[2][i] for r in runs]
            rows.append({**base, "metric": "flow_%d" % i, "unit": "Gb/s", "goal": None,
                         "median": statistics.median(values), "min": min(values),
                         "max": max(values)})
    return rows


def make_text(rows):
    """A line for each row."""
    text = ["%-22s %-15s %-12s %14s %14s %14s  %s" % (
        "case", "by", "figure", "median", "min", "max", "unit")]
    for r in rows:
        if r["median"] is None:
            text.append("%-22s %-15s failed" % (r["case"], r["transport"]))
            continue
        said = "" if r["goal"] is None else "  ok" if r["median"] <= r["goal"] else "  MISSED"
        text.append("%-22s %-15s %-12s %14.4g %14.4g %14.4g  %s%s" % (
            r["case"], r["transport"], r["metric"], r["median"], r["min"], r["max"], r["unit"],
            said))
    return "\n".join(text) + "\n"


def main():
    """Reads, writes, prints."""
    rows = make_rows(read(sys.argv[1]))
    if not rows:
        return 1
    publish(sys.argv[2], "rperf", rows, make_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
