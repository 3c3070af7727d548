# SPDX-License-Identifier: GPL-2.0-or-later
"""Small copies of what was simulated, with which tests compute the verdicts again."""

import os

import data
from sets import SETS

COLUMNS = ["skewness", "throughput", "optimality", "steps", "bound", "bound_core", "port_max",
           "tor_max", "tor_mean", "tor_up_share", "core_max", "slowest_preempted",
           "slowest_idle", "memory"]
OVER_TIME = ["step", "uplink", "downlink", "started", "completed", "in_min", "in_max", "out_min",
             "out_max"]
ROWS = 64	# of a run over time


def write_series(series, f):
    for curve, rows in series.rows.items():
        # the number of steps of the bound, as Series reads it
        f.write("# %s, skewness, bound %d\n%s\n"
                % (curve, round(rows[-1]["step"] / rows[-1]["time"]), ",".join(OVER_TIME)))
        every = -(-len(rows) // ROWS)
        for i in range(0, len(rows), every):
            part = rows[i:i + every]
            row = dict(part[-1])
            for k in ("uplink", "downlink"):
                row[k] = sum(r[k] for r in part) / len(part)
            f.write(",".join("%.5g" % row[k] for k in OVER_TIME) + "\n")


def percentiles(table):
    """Which are kept: the least is there from enough runs on only; 1: the greatest."""
    if table.full:
        return (0.1, 0.5, 0.9, 1)
    return (0.5, 1) if table.runs > 1 else (0.5,)


def write_table(table, f):
    f.write("# %d runs\ncurve,point,at,%s,ratios\n" % (table.runs, ",".join(COLUMNS)))
    for curve in table.rows:
        for point in table.points(curve):
            for at in percentiles(table):
                # all curves are drawn at the mean skewness of their matrices
                values = ["%.6g" % table.skewness(curve, point)]
                values += ["%.6g" % table.stat(curve, point, lambda row, c=c: row[c], at)
                           for c in COLUMNS[1:]]
                ratios = table.ratios.get((curve, point), {}) if at == 0.5 else {}
                values.append(";".join("%s:%.9g" % r for r in ratios.items()))
                f.write("%s,%g,%g,%s\n" % (curve, point, at, ",".join(values)))


def write(tables, folder):
    """One file a set: percentiles of the runs and what verdicts asked of pairs of them, or
    fewer rows of a run over time.
    """
    os.makedirs(folder, exist_ok=True)
    for name, table in tables.items():
        if name.startswith("beyond") or table.kept:
            continue
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
            (write_series if SETS[name].series else write_table)(table, f)


def read(folder):
    return data.load_kept([n for n in SETS if not n.startswith("beyond")], folder)
