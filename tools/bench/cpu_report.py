#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Add the CPU-limited cases to report.json and report.txt, and print them.

usage: cpu_report.py RAW FOLDER
"""
import os
import statistics
import sys

from records import good_runs, reached, write_report

LANE = "qemu-icount"
MARK = "CPU-limited cases"

# case: compared with transport -> goal for the quotient of throughputs
GOALS = {
    "cpu-1pair-64m": {"tcp-all": 1.3, "tcp-nogso": 3.0, "iperf3": None, "memcpy": None},
    "cpu-8x1m": {"tcp-all": 1.0, "tcp-rotation": None, "tcp-nogso": None, "tcp-cold": None},
    "cpu-32x8k": {"tcp-all": 1.5, "tcp-rotation": None, "tcp-nogso": None, "tcp-cold": 5.0},
    "cpu-64x64b": {"tcp-all": 2.0, "tcp-rotation": None, "tcp-nogso": None, "tcp-cold": 8.0},
    "cpu-scale-1k": {"tcp-all": None},
    # what the kernel's engine buys beside the same plans in user space
    "coll-cpu-barrier-0": {"shuffle-user": 1.5},
    "coll-cpu-bcast-8": {"shuffle-user": 1.5},
    "coll-cpu-allreduce-8": {"shuffle-user": 1.5},
}
PACKETS_GOAL = {"cpu-64x64b": 3.0}
GROWTH_GOAL = 1.10
KEY_GOAL = 1.05
# of metrics that belong to one case each
METRIC_GOALS = {"bh_off_longest": 100e3, "local_share": 0.30}


def size(key, run):
    """Messages and bytes of a case; those of a host to itself are empty."""
    if "bytes" in run:
        return 1, run["bytes"]
    shape, _, length = run["matrix"].rpartition("-")
    units = {"k": 1 << 10, "m": 1 << 20}
    one = int(length.rstrip("km")) * units.get(length[-1], 1)
    n = key[1]
    messages = n - 1 if shape == "incast" else n * (n - 1)
    return messages, messages * one


def metrics(key, run):
    """The figures of one run: metric -> (unit, value)."""
    if key[0] == "cpu-sched":
        return {"tx_packet": ("ns", run["tx_ns"]), "rx_packet": ("ns", run["rx_ns"])}
    if key[0] == "cpu-bh-off":
        return {"bh_off_longest": ("ns", run["bh_off_ns"])}
    out = {"completion": ("ns", run["completion_ns"])}
    if key[0].startswith("cpu-sort"):
        # of the CPU, what a local sort of the same records would take
        out["local_share"] = ("1", run["local_ns"] / run["completion_ns"])
        out["per_record"] = ("ns", run["completion_ns"] / run["records"] / key[1])
        return out
    # of a collective the matrix only says how many hosts there are
    if not key[0].startswith("coll-cpu"):
        messages, total = size(key, run)
        out["per_message"] = ("ns", run["completion_ns"] / messages)
        out["per_byte"] = ("ns", run["completion_ns"] / total)
    if "packets" in run:
        out["packets"] = ("packets", run["packets"])
    return out


def row(key, transport, metric, unit, values, goal=None):
    """One row of the report."""
    return {"case": key[0], "hosts": key[1], "mtu": key[2], "lane": LANE,
            "transport": transport, "metric": metric, "unit": unit, "runs": len(values),
            "median": round(statistics.median(values), 4), "min": round(min(values), 4),
            "max": round(max(values), 4), "goal": goal}


def ratios(key, found, metric, goals, suffix):
    """Others' figure divided by ours, of the medians; the ends of their ranges."""
    ours = [metrics(key, r)[metric][1] for r in found[key].get("shuffle", {}).values()]
    rows = []
    for other, goal in goals.items():
        theirs = [metrics(key, r)[metric][1] for r in found[key].get(other, {}).values()]
        if not ours or not theirs:
            continue
        middle = statistics.median(theirs) / statistics.median(ours)
        one = row(key, "shuffle", f"{suffix}_{other}", "1",
                  [min(theirs) / max(ours), middle, max(theirs) / min(ours)], goal)
        one["runs"] = min(len(ours), len(theirs))
        rows.append(one)
    return rows


def make_rows(found):
    """All rows, cases in the order of the table."""
    rows = []
    before = {}
    for key in sorted(found):
        for transport, runs in found[key].items():
            if not runs:
                rows.append({"case": key[0], "hosts": key[1], "mtu": key[2], "lane": LANE,
                             "transport": transport, "metric": "completion", "unit": "ns",
                             "runs": 0, "median": None, "min": None, "max": None, "goal": None})
                continue
            figures = [metrics(key, r) for r in runs.values()]
            for metric, (unit, _) in figures[0].items():
                goal = METRIC_GOALS.get(metric)
                rows.append(row(key, transport, metric, unit, [f[metric][1] for f in figures],
                                goal))
        if key[0] in ("cpu-sched", "cpu-bh-off"):
            continue
        rows += ratios(key, found, "completion", GOALS.get(key[0], {}), "ratio_to")
        rows += [{**r, "transport": "shuffle-key", "metric": "cost_of_key"}
                 for r in ratios(key, found, "completion", {"shuffle-key": KEY_GOAL}, "")]
        if key[0] in PACKETS_GOAL:
            rows += ratios(key, found, "packets", {"tcp-all": PACKETS_GOAL[key[0]],
                                                   "tcp-cold": None}, "packets_ratio_to")
        if key[0].startswith("cpu-scale") and found[key].get("shuffle"):
            cost = [metrics(key, r)["per_message"][1] for r in found[key]["shuffle"].values()]
            last = before.get(key[0])
            if last and last[0] * 2 == key[1]:
                rows.append(row(key, "shuffle", "growth_per_doubling", "1",
                                [c / last[1] for c in cost], GROWTH_GOAL))
            before[key[0]] = (key[1], statistics.median(cost))
    return rows


def number(value):
    """A figure for the table."""
    if value is None:
        return "failed"
    if value >= 10000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def make_text(rows):
    """The readable table."""
    out = [MARK, "=" * len(MARK), "",
           "One emulated CPU whose time is counted, 2 ns an instruction, is all hosts; racks",
           "without queues.  Medians.  Ratios: TCP's time (packets) divided by ours.", ""]
    last = None
    for r in rows:
        if (r["case"], r["hosts"], r["mtu"]) != last:
            last = (r["case"], r["hosts"], r["mtu"])
            out.append(f"{r['case']}, {r['hosts']} hosts, MTU {r['mtu']}")
        verdict = ""
        if r["goal"] is not None:
            good = reached(r["metric"], r["median"], r["goal"])
            verdict = f"  goal {r['goal']:g}: {'reached' if good else 'MISSED'}"
        spread = ""
        if r["runs"] > 1:
            spread = f"  ({number(r['min'])} to {number(r['max'])}, {r['runs']} runs)"
        unit = "" if r["unit"] == "1" else f" {r['unit']}"
        out.append(f"    {r['transport']:<14}{r['metric']:<28}{number(r['median']):>14}"
                   f"{unit:<8}{verdict}{spread}")
    return "\n".join(out) + "\n"


def main():
    """Read, merge, write."""
    if len(sys.argv) != 3:
        sys.exit("usage: cpu_report.py RAW FOLDER")
    found = good_runs(sys.argv[1])
    if not found:
        sys.exit("cpu_report.py: no results")
    rows = make_rows(found)
    write_report(os.path.join(sys.argv[2], "report.json"), rows,
                 lambda r: r["lane"] != LANE or r["case"].startswith(("mpi-", "agg-")))
    path = os.path.join(sys.argv[2], "report.txt")
    head = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            head = f.read().split(MARK)[0].rstrip("\n")
    text = make_text(rows)
    with open(path, "w", encoding="utf-8") as f:
        f.write((head + "\n\n" if head else "") + text)
    print(text)


main()
