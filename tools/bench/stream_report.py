#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of shuffle-stream as BENCH lines, and these as a report.

usage: stream_report.py run WAY LOGS CASE HOSTS RUN       counters: /tmp/before, /tmp/after
       stream_report.py report RAW FOLDER
"""
import glob
import json
import statistics
import sys

from records import add, reached, records, write_report

WARM = 14           # intervals that are not measured: the first proposals, and the speed-up
# Nor are the last ones: pieces count when they are whole, so what had come of others before the
# first interval must be outweighed by what has come of others behind the last one.
TAIL = 2
SLOW = (15, 25)     # intervals of the way "slow"
GOALS = {8: 0.95, 20: 0.95, 64: 0.90}
FASTER_THAN_NONE, FASTER_THAN_TCP, SHORTER_GAP, FILL = 1.0, 1.3, 30, 0.15


def lines(folder, kind):
    """All lines of the logs of a kind of member, by member."""
    out = []
    for name in sorted(glob.glob(f"{folder}/{kind}.*")):
        with open(name, encoding="utf-8") as f:
            out.append([v for v in map(json.loads, f) if "interval" in v])
    return out


def recovery(inputs):
    """Intervals behind the slow ones until all that follow take at most 5 % longer than what was
    before; one more than there are if they do not."""
    actual = {}
    for log in inputs:
        for v in log:
            actual.setdefault(v["interval"], []).append(v["actual_ns"])
    actual = {j: statistics.median(v) for j, v in actual.items()}
    before = statistics.median(actual[j] for j in range(SLOW[0] - 5, SLOW[0]))
    late = [j for j in actual if j > SLOW[1] and actual[j] > 1.05 * before]
    return max(late, default=SLOW[1]) + 1 - SLOW[1]


def counters(path):
    """Of all hosts, by name."""
    with open(path, encoding="utf-8") as f:
        return {k: int(v) for k, v in (line.strip().split("=") for line in f)}


def run(way, folder, case, hosts, number):
    """A line of one run."""
    builders = lines(folder, "builder")
    warm = min(WARM, len(builders[0]) // 2)
    rate, gap, fill, pieces, retrans = [], [], [], 0, 0
    for log in builders:
        log = log[warm:len(log) - min(TAIL, len(log) // 4)]
        rate.append(sum(v["gbit"] * v["ns"] for v in log) / sum(v["ns"] for v in log))
        gap += [v["gap_p50_ns"] for v in log]
        fill += [v["fill_p95"] for v in log]
    for name in glob.glob(f"{folder}/end.*"):
        with open(name, encoding="utf-8") as f:
            end = json.loads(f.readlines()[-1])
            pieces += end.get("pieces", 0)
            retrans += end.get("retrans", 0)
    before, after = counters("/tmp/before"), counters("/tmp/after")
    extra = "".join(f" {k}={(after[k] - before[k]) / max(pieces, 1):.3f}" for k in after)
    if way == "tcp":
        extra += f" retrans={retrans / max(pieces, 1):.1f}"
    if way.startswith("slow"):
        extra += f" recovery={recovery(lines(folder, 'input'))}"
    print(f"BENCH case={case} hosts={hosts} mtu=9000 transport={way} run={number} ok=1 "
          f"gbit={statistics.mean(rate):.4f} gap_ns={statistics.median(gap):.0f} "
          f"fill={statistics.median(fill):.4f}{extra}")


def median(ways, way, key):
    """Over the runs of a way that succeeded."""
    values = [r[key] for r in ways.get(way, {}).values() if r.get("ok") == 1 and key in r]
    return statistics.median(values) if values else None


def ratio(a, b):
    """None where there is nothing to divide."""
    return round(a / b, 4) if a is not None and b else None


def rows_of(key, ways):
    """Rows of a case: metric, value, goal."""
    dfs, none, bench = (median(ways, w, "gbit") for w in ("dfs", "none", "bench"))
    tcp, matrix, clocks, grants = (
        median(ways, w, "gbit") for w in ("tcp", "matrix", "clocks", "grants"))
    yield "throughput_share", ratio(dfs, bench), GOALS.get(key[1] // 2)
    yield "none_throughput_share", ratio(none, bench), None
    yield "grants_throughput_share", ratio(grants, bench), None
    yield "faster_than_none", ratio(dfs, none), FASTER_THAN_NONE
    yield "faster_than_grants", ratio(dfs, grants), FASTER_THAN_NONE
    yield "faster_than_tcp", ratio(dfs, tcp), FASTER_THAN_TCP
    yield "faster_than_matrix", ratio(dfs, matrix), None
    yield "clocks_throughput_share", ratio(clocks, dfs), 0.98
    yield "gap_ratio_to_none_share", ratio(median(ways, "none", "gap_ns"),
                                           median(ways, "dfs", "gap_ns")), SHORTER_GAP
    yield "gap_ns", median(ways, "dfs", "gap_ns"), None
    # without times, but with fewer tickets than 16; four are the program's default
    for way in sorted(w for w in ways if w.startswith("none-")):
        goal = GOALS.get(key[1] // 2) if way == "none-4" else None
        yield f"{way}_throughput_share", ratio(median(ways, way, "gbit"), bench), goal
        yield f"{way}_gap_ns", median(ways, way, "gap_ns"), None
        yield f"{way}_fill_p95", median(ways, way, "fill"), None
    yield "none_gap_ns", median(ways, "none", "gap_ns"), None
    yield "fill_p95", median(ways, "dfs", "fill"), FILL
    yield "grants_gap_ns", median(ways, "grants", "gap_ns"), None
    yield "grants_fill_p95", median(ways, "grants", "fill"), None
    yield "none_fill_p95", median(ways, "none", "fill"), None
    yield "tcp_gap_ns", median(ways, "tcp", "gap_ns"), None
    yield "tcp_fill_p95", median(ways, "tcp", "fill"), None
    yield "tcp_retrans_bytes_a_piece", median(ways, "tcp", "retrans"), None
    yield "recovery_intervals", median(ways, "slow", "recovery"), 3
    yield "recovery_intervals_median", median(ways, "slow-median", "recovery"), None
    for way in ways:
        yield f"{way}_gbit", median(ways, way, "gbit"), None
        for name in ("AnnounceOut", "GrantOut", "AckOut", "ResendOut", "CtrlPktsOut"):
            yield f"{way}_{name}_a_piece", median(ways, way, name), None


def report(raw, folder):
    """report-stream.json and .txt."""
    found, rows = {}, []
    for values in records(raw):
        add(found, values)[int(values["run"])] = values
    for key, ways in found.items():
        for metric, value, goal in rows_of(key, ways):
            if value is not None:
                rows.append({"case": key[0], "hosts": key[1], "mtu": key[2],
                             "lane": "uml-time", "metric": metric, "median": value,
                             "goal": goal})
    if not rows:
        sys.exit(1)
    write_report(f"{folder}/report-stream.json", rows)
    with open(f"{folder}/report-stream.txt", "w", encoding="utf-8") as f:
        for r in rows:
            ok = reached(r["metric"], r["median"], r["goal"])
            goal = "" if ok is None else f"  goal {r['goal']:g}: {'yes' if ok else 'NO'}"
            f.write(f"{r['case']:<14} {r['metric']:<34} {r['median']:>14,.4f}{goal}\n")


if len(sys.argv) == 7 and sys.argv[1] == "run":
    run(*sys.argv[2:])
elif len(sys.argv) == 4 and sys.argv[1] == "report":
    report(*sys.argv[2:])
else:
    sys.exit(__doc__)
