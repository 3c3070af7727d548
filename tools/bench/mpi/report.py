#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of the MPI benchmark for report.json, and a table.

usage: report.py RAW REPORT.JSON TABLE.TXT
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from records import write_report  # pylint: disable=wrong-import-position


def goal(case):
    """How much faster than Open MPI's TCP transport it shall be."""
    size = case.rsplit("-", 1)[1]
    if case.startswith(("mpi-osu", "mpi-coll", "mpi-neighbour", "mpi-comm")):
        return 1.0
    if case.startswith("mpi-network-skew"):
        return 1.3
    if case.startswith("mpi-network-uniform"):
        return 1.0
    return 1.5 if size in ("8", "64", "1k") else 1.0


def row(case, hosts, lane, transport, metric, unit, values, wanted):
    return {"case": case, "hosts": hosts, "lane": lane, "transport": transport,
            "metric": metric, "unit": unit, "runs": len(values),
            "median": round(statistics.median(values), 6), "min": round(min(values), 6),
            "max": round(max(values), 6), "goal": wanted}


def main():
    raw, report, table = sys.argv[1:]
    found, failed = {}, set()
    for line in open(raw):
        if not line.startswith("BENCH "):
            continue
        v = dict(w.split("=", 1) for w in line.split()[1:])
        key = (v["case"], int(v["hosts"]), v["lane"])
        if v["ok"] == "1":
            found.setdefault(key, {}).setdefault(v["transport"], []).append(int(v["ns"]))
        else:
            failed.add((key, v["transport"]))

    columns = ("shuffle", "ompi-tcp", "ompi-tcp-fifo", "mpich", "mpich-fifo",
               "shuffle-mpich")
    rows = []
    text = ["MPI_Alltoallv, microseconds of a call, median (least-most).",
            "faster: the better one of Open MPI's TCP / AF_SHUFFLE, of medians;",
            "m/s: the better one of MPICH's / AF_SHUFFLE", "",
            f"{'case':<33}{'hosts':>6}" + "".join(f"{c:>23}" for c in columns) +
            f"{'faster':>8}{'goal':>6}{'m/s':>6}"]
    for key, ways in found.items():
        cells = []
        for way in columns:
            if way not in ways:
                cells.append("failed" if (key, way) in failed else "-")
                continue
            times = [t / 1000 for t in ways[way]]
            rows.append(row(*key, way, "time", "ns", ways[way], None))
            cells.append(f"{statistics.median(times):.1f} ({min(times):.0f}-{max(times):.0f})")
        wanted, ratio = goal(key[0]), {}
        for name, others in (("ompi_tcp", columns[1:3]), ("mpich", columns[3:5])):
            tcp = [statistics.median(ways[w]) for w in others if w in ways]
            if "shuffle" in ways and tcp:
                ratios = [min(tcp) / t for t in ways["shuffle"]]
                rows.append(row(*key, "shuffle", f"faster_than_{name}", "1", ratios,
                                wanted if name == "ompi_tcp" else None))
                ratio[name] = f"{statistics.median(ratios):.2f}"
        text.append(f"{key[0]:<33}{key[1]:>6}" + "".join(f"{c:>23}" for c in cells) +
                    f"{ratio.get('ompi_tcp', '-'):>8}{wanted if wanted else '-':>6}"
                    f"{ratio.get('mpich', '-'):>6}")

    write_report(report, rows, lambda r: (r["case"], r["hosts"], r["lane"]) not in found)
    with open(table, "w") as f:
        f.write("\n".join(text) + "\n")
    print("\n".join(text))


main()
