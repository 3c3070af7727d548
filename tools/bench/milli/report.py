#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of milli.sh: milli.json (all runs), milli.txt, milli.svg, and rows of report.json.

usage: report.py RAW COUNT FOLDER
"""
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from records import reached, write_report

LANE = "uml-time"
PHASES = ("sort", "partition", "shuffle", "place")
COLOURS = dict(zip(PHASES, ("#2166ac", "#b2182b", "#4d9221", "#f4a582")))
# Li, table 2.4: records in all, servers
SOURCE = {("sort", 1): (0.84e6, 120), ("q1", 1): (47.6e6, 280), ("q2", 1): (6.72e6, 140),
          ("q3", 1): (0.034e6, 60), ("sort", 10): (26e6, 280), ("q1", 10): (980e6, 280),
          ("q2", 10): (224e6, 280), ("q3", 10): (2.24e6, 280)}
# records that are to be reached in 1 ms with the source's costs, hosts
GOALS = {("sort", 1): (1.2e6, 120), ("q2", 1): (6e6, 120), ("q3", 1): (0.05e6, 120)}
# Li, table 2.5, mean us of 120 servers and of 240 with 7000 records each
SOURCE_PHASES = {120: (147.0, 200.5, 377.2, 128.1), 240: (137.8, 410.4, 738.9, 146.9)}
PARTITION_GOAL_NS = 80e3    # of network time, 120 hosts
SHUFFLE_GOAL = 1.10
# how many times faster than over Open MPI's TCP
MPI_GOALS = {"skewed": 1.3, "clustered": 1.3, "uniform": 1.0}
NAMES = {"sort": "MilliSort", "q1": "Q1", "q2": "Q2", "q3": "Q3"}


def read(path):
    """The results; a later one replaces an earlier one of the same thing."""
    found = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("MILLI "):
                d = json.loads(line[6:])
                found[(d["kind"], d["what"], d["hosts"], d["model"], d.get("label"),
                       d.get("budget_ns"), d["kind"] == "versus" and d["each"])] = d
    return list(found.values())


def kind_of(model, what="sort"):
    """Which of the two models: those of the source are round."""
    if model.startswith("source") or model in ("row=2.7", "row=12", "row=1200"):
        return "source"
    if what == "sort" and "pivot" not in model:
        return "network"
    return "counted"


def row(case, hosts, metric, unit, values, goal, transport="shuffle"):
    """One row of report.json."""
    return {"case": case, "hosts": hosts, "mtu": 9000, "lane": LANE, "transport": transport,
            "metric": metric, "unit": unit, "runs": len(values),
            "median": round(statistics.median(values), 4), "min": round(min(values), 4),
            "max": round(max(values), 4), "goal": goal}


def partition_ns(run):
    """From when the last host has sorted until all have the splitters."""
    p = run["phases"]["partition"]
    return p["end_ns"] - p["last_ns"]


def shuffle_ratio(run):
    """From when the last host can begin until all have all, over the bound."""
    p = run["phases"]["shuffle"]
    return (p["end_ns"] - p["last_ns"]) / run["bound_ns"]


def largest(found, rows, text):
    """Table of the largest numbers."""
    text += ["Records or rows in a time budget, in millions", "",
             f"{'':<10} {'budget':>6} {'costs':<8} {'hosts':>5} {'each':>9} {'here':>9} "
             f"{'source':>8} {'servers':>7} {'time us':>9}"]
    for d in sorted(found, key=lambda d: (d["budget_ns"], d["what"], d["hosts"], d["model"])):
        if not d["found"]:
            text.append(f"{NAMES[d['what']]:<10} {d['hosts']} hosts: nothing was measured")
            continue
        ms = d["budget_ns"] // 1000000
        source, servers = SOURCE[(d["what"], ms)]
        model = kind_of(d["model"], d["what"])
        goal, at = GOALS.get((d["what"], ms), (None, None))
        goal = goal if model == "source" and d["hosts"] == at else None
        r = row(f"milli-{d['what']}-{ms}ms-{model}", d["hosts"], "records", "records",
                [d["found"]["records"]], goal)
        r["runs"] = d["runs"]
        rows.append(r)
        verdict = ""
        if goal:
            verdict = f"  goal {goal / 1e6:g}: " + (
                "reached" if reached(r["metric"], r["median"], goal) else "MISSED")
        text.append(f"{NAMES[d['what']]:<10} {ms:>3} ms {model:<8} {d['hosts']:>5} {d['each']:>9} "
                    f"{d['found']['records'] / 1e6:>9.3f} {source / 1e6:>8.3f} {servers:>7} "
                    f"{d['found']['total_ns'] / 1e3:>9.1f}{verdict}")
    text.append("")


def partitioning(found, rows, text):
    """Network and whole time of the partitioning, and the shuffle beside its bound."""
    text += ["Partitioning, 7000 records a host, as many pivots as hosts; us from the last host's "
             "sorted keys", "", f"{'':<18} {'hosts':>5} {'us':>8} {'shuffle / bound':>16}"]
    for d in sorted(found, key=lambda d: (d["label"], d["hosts"])):
        times = [partition_ns(r) for r in d["found"]]
        ratios = [shuffle_ratio(r) for r in d["found"]]
        if not times:
            continue
        goal = PARTITION_GOAL_NS if (d["label"], d["hosts"]) == ("network-2-level", 120) else None
        case = f"milli-partition-{d['label']}"
        rows.append(row(case, d["hosts"], "partition", "ns", times, goal))
        rows.append(row(case, d["hosts"], "slowdown", "1", ratios,
                        SHUFFLE_GOAL if "2-level" in d["label"] else None))
        verdict = ""
        if goal:
            verdict = f"  goal {goal / 1e3:g}: " + (
                "reached" if statistics.median(times) <= goal else "MISSED")
        text.append(f"{d['label']:<18} {d['hosts']:>5} {statistics.median(times) / 1e3:>8.1f} "
                    f"{statistics.median(ratios):>16.3f}{verdict}")
    text.append("")


def versus(found, rows, text):
    """The same sort over MPI: the better one of its ways, by the median."""
    if not found:
        return
    text += ["The same sort over Open MPI's TCP (mpi_shuffle_sort), all phases, median us", "",
             f"{'keys':<10} {'costs':<8} {'hosts':>5} {'each':>7} {'shuffle':>9} {'messages':>9} "
             f"{'alltoallv':>9} {'faster':>7}"]
    for d in sorted(found, key=lambda d: (d["hosts"], d["each"], d["label"], d["model"])):
        times = {way: t for way, t in d["found"].items() if t}
        case = f"milli-mpi-{d['label']}-{d['each']}" + ("" if d["model"] == "none" else "-source")
        for way, t in times.items():
            rows.append(row(case, d["hosts"], "time", "ns", t, None, way))
        us = {way: statistics.median(t) / 1e3 for way, t in times.items()}
        verdict = "      -"
        if "shuffle" in us and len(us) > 1:
            best = min(us[way] for way in us if way != "shuffle") * 1e3
            ratios = [best / t for t in times["shuffle"]]
            goal = MPI_GOALS[d["label"]] if d["model"] == "none" else None
            rows.append(row(case, d["hosts"], "faster_than_ompi_tcp", "1", ratios, goal))
            ratio = statistics.median(ratios)
            verdict = f"{ratio:>7.2f}" + (
                f"  goal {goal}: " + ("reached" if ratio >= goal else "MISSED") if goal else "")
        text.append(f"{d['label']:<10} {d['model']:<8} {d['hosts']:>5} {d['each']:>7} " + " ".join(
            f"{us[w]:>9.1f}" if w in us else f"{'-':>9}"
            for w in ("shuffle", "ompi-tcp-messages", "ompi-tcp-alltoallv")) + f" {verdict}")
    text.append("")


def bars(found):
    """Mean time of each phase: (label, us of each)."""
    out = [(f"source, {n} servers", us) for n, us in SOURCE_PHASES.items()]
    for d in found:
        if d["kind"] == "once" and d["found"] and d["label"] in (
                "source-2-level", "source-messages"):
            run = d["found"][len(d["found"]) // 2]
            label = f"{d['hosts']} hosts, 7000 each"
            if d["label"] == "source-messages":
                label += ", and of messages"
        elif d["kind"] == "largest" and d["what"] == "sort" and d["found"] and \
                d["budget_ns"] == 1000000:
            run, label = d["found"], f"{d['hosts']} hosts, {d['each']} each, " \
                f"{kind_of(d['model'])} costs"
        else:
            continue
        out.append((label, [run["phases"][p]["mean_ns"] / 1e3 for p in PHASES]))
    return out


def slowest(found, text):
    """Mean and slowest host of each phase, as the source's table 2.5; medians of the runs."""
    for d in sorted(found, key=lambda d: (d["label"], d["hosts"])):
        if "2-level" not in d["label"] and d["label"] != "source-messages":
            continue
        if not d["found"]:
            continue
        text += [f"{d['label']}, {d['hosts']} hosts, {d['each']} records each, {d['runs']} runs",
                 "", f"{'':<12} {'mean us':>9} {'slowest':>9} {'of all':>7} {'slowest / fastest':>18}"]
        total = statistics.median(r["total_ns"] for r in d["found"])
        for p in PHASES:
            mean, most, least = (statistics.median(r["phases"][p][k] for r in d["found"])
                                 for k in ("mean_ns", "max_ns", "min_ns"))
            text.append(f"{p:<12} {mean / 1e3:>9.1f} {most / 1e3:>9.1f} "
                        f"{100 * most / total:>5.1f} % {most / max(least, 1):>18.2f}")
        text += [f"{'total':<12} {'':>9} {total / 1e3:>9.1f}", ""]


def phases_text(all_bars, text):
    """Shares of the phases."""
    text += ["Mean time of each phase in us, and its share", "",
             f"{'':<42}" + "".join(f"{p:>16}" for p in PHASES)]
    for label, us in all_bars:
        text.append(f"{label:<42}" + "".join(
            f"{v:>9.1f} {100 * v / sum(us):>4.0f} %" for v in us))
    text.append("")


def svg(all_bars, found):
    """Left: phases; right: time of the partitioning by hosts, the source's figure 2.9."""
    left, scale, step, y = 250, 0.28, 22, 50
    body = []
    for label, us in all_bars:
        x = left
        body.append(f'<text x="{left - 6}" y="{y + 13}" text-anchor="end">{label}</text>')
        for phase, value in zip(PHASES, us):
            body.append(f'<rect x="{x:.1f}" y="{y}" width="{value * scale:.1f}" '
                        f'height="{step - 5}" fill="{COLOURS[phase]}"/>')
            x += value * scale
        body.append(f'<text x="{x + 4:.1f}" y="{y + 13}">{sum(us):.0f} us</text>')
        y += step
    for i, phase in enumerate(PHASES):
        x = left + i * 90
        body.append(f'<rect x="{x}" y="30" width="10" height="10" fill="{COLOURS[phase]}"/>'
                    f'<text x="{x + 14}" y="39">{phase}</text>')
    x0, y0, width, height = 830, 250, 260, 200
    lines = {}
    for d in found:
        if d["kind"] == "once" and d["found"]:
            lines.setdefault(d["label"], []).append(
                (d["hosts"], statistics.median(partition_ns(r) for r in d["found"]) / 1e3))
    lines["Li, table 2.5, 2-level"] = [(n, us[1]) for n, us in SOURCE_PHASES.items()]
    top = max([v for line in lines.values() for _, v in line])
    colours = ("#b2182b", "#2166ac", "#f4a582", "#92c5de", "#000000")
    body.append(f'<rect x="{x0}" y="{y0 - height}" width="{width}" height="{height}" '
                'fill="none" stroke="#999"/>')
    for hosts in (40, 80, 120, 160, 240):
        body.append(f'<text x="{x0 + width * hosts / 250:.1f}" y="{y0 + 14}" '
                    f'text-anchor="middle">{hosts}</text>')
    body.append(f'<text x="{x0 + width / 2}" y="{y0 + 30}" text-anchor="middle">hosts</text>'
                f'<text x="{x0 - 4}" y="{y0 - height + 8}" text-anchor="end">{top:.0f} us</text>'
                f'<text x="{x0 - 4}" y="{y0}" text-anchor="end">0</text>'
                f'<text x="{x0}" y="{y0 - height - 8}">Partitioning</text>')
    for i, (label, points) in enumerate(sorted(lines.items())):
        at = [(x0 + width * n / 250, y0 - height * v / top) for n, v in sorted(points)]
        colour = colours[i % len(colours)]
        body.append('<polyline fill="none" stroke="%s" points="%s"/>' % (
            colour, " ".join(f"{a:.1f},{b:.1f}" for a, b in at)))
        body += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in at]
        body.append(f'<text x="{x0}" y="{y0 + 48 + 14 * i}" fill="{colour}">{label}</text>')
    bottom = max(y, y0 + 48 + 14 * len(lines))
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="1110" height="{bottom}" '
            'font-family="sans-serif" font-size="11">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            '<text x="8" y="18" font-size="14">Phases of a sort: mean time, computation charged to '
            'virtual time</text>']
    return "\n".join(head + body + ["</svg>"]) + "\n"


def main():
    """Read, write."""
    if len(sys.argv) != 4:
        sys.exit("usage: report.py RAW COUNT FOLDER")
    found = read(sys.argv[1])
    if not found:
        sys.exit("report.py: no results")
    with open(sys.argv[2], encoding="utf-8") as f:
        counts = [line.split()[1:] for line in f if line.startswith("COUNT ")]
    folder = sys.argv[3]
    rows, text = [], ["Flash bursts", "============", ""]
    largest([d for d in found if d["kind"] == "largest"], rows, text)
    partitioning([d for d in found if d["kind"] == "once"], rows, text)
    versus([d for d in found if d["kind"] == "versus"], rows, text)
    all_bars = bars(found)
    slowest([d for d in found if d["kind"] == "once"], text)
    phases_text(all_bars, text)
    text.append("Instructions: " + ", ".join(f"{k} {float(v) / 2:.0f}" for k, v in counts))
    with open(os.path.join(folder, "milli.json"), "w", encoding="utf-8") as f:
        json.dump({"counted": dict(counts), "results": found}, f, indent=1)
    with open(os.path.join(folder, "milli.svg"), "w", encoding="utf-8") as f:
        f.write(svg(all_bars, found))
    with open(os.path.join(folder, "milli.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n")
    write_report(os.path.join(folder, "report.json"), rows,
                 lambda r: not r["case"].startswith("milli-"))
    print("\n".join(text))


main()
