#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a second CPU gives: rows smp-... of report.json, and report-smp.txt.

usage: smp_report.py RAW FOLDER
"""
import statistics
import sys

from records import publish, reached, records

# of how many times the throughput of one CPU
GOALS = {("smp-sockets", "shuffle"): 1.8, ("smp-receive", "shuffle"): 1.4}
# Of the time of both CPUs, waiting for locks that the module takes.
LOCK_GOAL = .05
MARK = "Two CPUs"


def throughputs(path):
    """(case, transport) -> run -> programs' rounds in a second, all together."""
    found, bad = {}, set()
    for r in records(path):
        if r["case"].endswith("-locks"):
            continue
        runs = found.setdefault((r["case"], r["transport"]), {})
        run = int(r["run"])
        if r["ok"] != 1:
            bad.add((r["case"], r["transport"], run))
            continue
        runs[run] = runs.get(run, 0) + 1e9 / r["completion_ns"]
    for case, transport, run in bad:
        found[case, transport].pop(run, None)
    return found


def make_rows(found):
    """Two CPUs over one, run by run."""
    rows = []
    for case in ("smp-sockets", "smp-receive"):
        for transport in ("shuffle", "tcp"):
            one = found.get((case + "-one", transport), {})
            two = found.get((case + "-two", transport), {})
            times = [two[r] / one[r] for r in one if r in two]
            if not times:
                continue
            rows.append({"case": case, "hosts": 3 if case == "smp-receive" else 2, "mtu": 1500,
                         "lane": "qemu-smp", "transport": transport,
                         "metric": "faster_than_one_cpu", "unit": "1", "runs": len(times),
                         "median": round(statistics.median(times), 3),
                         "min": round(min(times), 3), "max": round(max(times), 3),
                         "goal": GOALS.get((case, transport))})
    return rows


def make_lock_rows(lines):
    """How much of the two CPUs' time waits for locks, of each run."""
    runs = {}
    for r in lines:
        if r["case"].endswith("-locks"):
            runs.setdefault(r["case"], {}).setdefault(r["run"], []).append(r)
    rows = []
    for case, by_run in runs.items():
        parts = []
        for lines_of_run in by_run.values():
            waits = [r for r in lines_of_run if r["part"] == "locks"]
            programs = [r for r in lines_of_run if r["part"] != "locks"]
            if all(r["ok"] == 1 for r in lines_of_run) and waits and programs:
                took = max(r["completion_ns"] for r in programs) * waits[0]["rounds"]
                parts.append(waits[0]["wait_ns"] / (2 * took))
        if parts:
            rows.append({"case": case, "hosts": 3 if "receive" in case else 2, "mtu": 1500,
                         "lane": "qemu-smp", "transport": "shuffle", "metric": "lock_wait",
                         "unit": "1", "runs": len(parts),
                         "median": round(statistics.median(parts), 4),
                         "min": round(min(parts), 4), "max": round(max(parts), 4),
                         "goal": LOCK_GOAL})
    return rows


def make_text(rows):
    """The readable table."""
    out = [MARK, "=" * len(MARK), "",
           "Throughput of two emulated CPUs over that of one, medians of the runs; -locks: what part of",
           "both CPUs' time waits for locks that the module takes.", ""]
    for r in rows:
        good = reached(r["metric"], r["median"], r["goal"])
        verdict = "" if good is None else f"  goal {r['goal']}: {'reached' if good else 'MISSED'}"
        out.append(f"    {r['case']:<20}{r['transport']:<10}{r['median']:7.3f}"
                   f"  ({r['min']:.3f} to {r['max']:.3f}, {r['runs']} runs){verdict}")
    return "\n".join(out) + "\n"


def main():
    """Read, compute, write."""
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    rows = make_rows(throughputs(sys.argv[1])) + make_lock_rows(records(sys.argv[1]))
    if not rows:
        sys.exit("smp_report.py: no results")
    publish(sys.argv[2], "smp", rows, make_text(rows))


main()
