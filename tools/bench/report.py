#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn the BENCH lines of the benchmark into report.json, report.txt and report.svg.

usage: report.py RAW FOLDER
"""
import statistics
import sys

from records import add, reached, records, write_report

LANE = "uml-time"
HEADERS_1500 = 0.045    # what smaller packets may cost more than those of MTU 9000
# uniform and skewed rows of 40 hosts and more, by MTU; and their control packets, of all bytes
NEAR = {9000: 1.03, 1500: 1.06}
NEAR_CONTROL = 0.005
RTT_BYTES_FACTOR = 1.25


def parse(path):
    """All runs: (case, hosts, mtu) -> transport -> run -> values."""
    found = {}
    for values in records(path):
        # each of many shuffles: their mean has a line of its own
        if values.get("goal") == "coflow" and "+" in values["case"]:
            continue
        runs = add(found, values)
        # A failed run is announced twice: by the program and by the script.
        if "slowdown" in values or "p99_ns" in values or int(values["run"]) not in runs:
            runs[int(values["run"])] = values
    return found


# libraries whose collectives are measured beside ours: name -> how their transports begin
MPI = {"ompi_tcp": "ompi-tcp", "mpich": "mpich"}
MPI_MEAN_GOAL = 1.5
COFLOW_GOAL = 0.6667     # the mean time with op-order smallest, of that with fair

GRANT_DELAY = "qdisc-grant-delay"
GRANT_DELAY_GOAL = 0.2     # of the p99 without the qdisc


def rtt_ns(run):
    """The round trip of the rack."""
    return run.get("rtt", 4) * 1000


def goals(key, transport, run):
    """What this transport ought to reach: metric -> goal; a run tells its rack."""
    kind = run.get("goal", "-")
    # where round trips are what is bound, headers are not
    allowed = HEADERS_1500 if key[2] == 1500 and run.get("bound_ns", 0) > rtt_ns(run) else 0
    if key[0].endswith(("+alone", GRANT_DELAY)) or kind == "-" or not transport.startswith("shuffle"):
        return {}
    if kind == "coflow":
        return {"mean_of_fair": COFLOW_GOAL} if transport == "shuffle-smallest" else {}
    if kind == "auto":
        return {"slowdown": 1.10 + allowed}
    if kind == "first":
        return {"slowdown": 1.30}
    if kind == "api":
        return {"slowdown": 1.05 + allowed}
    if transport != "shuffle":
        return {}
    if kind == "near":
        return {"slowdown": NEAR[key[2]], "control_share": NEAR_CONTROL}
    if kind == "small":
        return {"slowdown": round(1.5 * (1 + rtt_ns(run) / run["bound_ns"]), 4)}
    if kind == "share":
        return {"share": 0.45, "flow_share": 0.30}
    if kind == "queue":
        over = run["overcommit"] - 1
        rtt_bytes = run["rate"] * rtt_ns(run) / 8
        return {"peak_port_queue": over * rtt_bytes * RTT_BYTES_FACTOR} if over else {}
    if kind in ("two", "two-first"):
        times = 3.0 if kind == "two" else 1.5
        return {"times_alone": times} if key[0].endswith("+small") else {"slowdown": 1.10 + allowed}
    out = {"slowdown": kind + allowed}
    if key[0].startswith("incast"):
        out["port_drops"] = 0
    return out


def metrics(run):
    """The figures of one good run: metric -> (unit, value)."""
    if run["case"] == GRANT_DELAY:
        return {"p99_grant_delay": ("ns", run["p99_ns"]), "p50_grant_delay": ("ns", run["p50_ns"]),
                "max_grant_delay": ("ns", run["max_ns"]), "grants_lost": ("packets", run["lost"])}
    if "mean_ns" in run:
        out = {"slowdown": ("1", run["slowdown"]), "mean": ("ns", run["mean_ns"]),
               "p95": ("ns", run["p95_ns"])}
        if "mean_of_fair" in run:
            out["mean_of_fair"] = ("1", run["mean_of_fair"])
        return out
    if "data_bytes" not in run:     # of a program that is not ours
        return {"slowdown": ("1", run["slowdown"]), "completion": ("ns", run["completion_ns"])}
    payload = (run["data_bytes"] + run["control_bytes"]) or 1
    out = {
        "slowdown": ("1", run["slowdown"]),
        "completion": ("ns", run["completion_ns"]),
        "port_drops": ("packets", run["port_drops"]),
        "host_drops": ("packets", run["host_drops"]),
        "peak_port_queue": ("B", run["peak_queue"]),
        "wire_bytes": ("B", payload),
    }
    if "trunk_p99" in run:
        out["p99_trunk_queue"] = ("B", run["trunk_p99"])
    if run["transport"].startswith("shuffle"):
        out["control_share"] = ("1", run["control_bytes"] / payload)
        out["retransmitted_share"] = (
            "1", run.get("RetransBytes", 0) / (run.get("DataBytesOut", 0) or 1))
    else:
        out["retransmitted_share"] = (
            "1", run.get("retrans_bytes", 0) / (run.get("sent_bytes", 0) or 1))
    if "flow_share" in run:
        out["share"] = ("1", 1 / run["slowdown"])
        out["flow_share"] = ("1", run["flow_share"])
    if "times_alone" in run:
        out["times_alone"] = ("1", run["times_alone"])
    return out


def summarise(key, transport, runs):
    """Rows of the report for one case and transport."""
    good = [r for r in runs.values() if r.get("ok") == 1]
    failed = len(runs) - len(good)
    base = {"case": key[0], "hosts": key[1], "mtu": key[2], "lane": LANE,
            "transport": transport}
    goal = goals(key, transport, good[0]) if good else {}
    rows = []
    if not good:
        return [dict(base, metric="slowdown", unit="1", runs=0, median=None, min=None,
                     max=None, goal=None, failed=failed)]
    figures = [metrics(r) for r in good]
    for metric, (unit, _) in figures[0].items():
        values = [f[metric][1] for f in figures if metric in f]
        row = dict(base, metric=metric, unit=unit, runs=len(values),
                   median=round(statistics.median(values), 6),
                   min=round(min(values), 6), max=round(max(values), 6),
                   goal=goal.get(metric))
        if metric == "slowdown":
            row["failed"] = failed
        rows.append(row)
    return rows


def pick(rows, key, transport, metric):
    """One row, or None."""
    for r in rows:
        if ((r["case"], r["hosts"], r["mtu"]) == key and r["transport"] == transport
                and r["metric"] == metric):
            return r
    return None


def median(rows, key, transport, metric="slowdown"):
    """Median of one row, or None."""
    row = pick(rows, key, transport, metric)
    return row["median"] if row else None


def best_tcp(rows, key, ways=("tcp-", *MPI.values())):
    """The TCP way with the smallest median among those that never failed."""
    ways = [r for r in rows if (r["case"], r["hosts"], r["mtu"]) == key
            and r["metric"] == "slowdown" and r["transport"].startswith(ways)
            and r["median"] is not None and not r["failed"]]
    return min(ways, key=lambda w: w["median"]) if ways else None


def compare_alone(found):
    """The second of two shuffles: how many times what it takes alone."""
    for key, transports in found.items():
        alone = found.get((key[0].replace("+small", "+alone"), *key[1:]))
        if not key[0].endswith("+small") or not alone:
            continue
        for transport, runs in transports.items():
            for number_, run in runs.items():
                other = alone.get(transport, {}).get(number_, {})
                if run.get("ok") == 1 and other.get("ok") == 1:
                    run["times_alone"] = run["completion_ns"] / other["completion_ns"]


def compare_fair(found):
    """Many shuffles in an order: the mean time, of that of shuffles that share evenly."""
    for transports in found.values():
        for number_, run in transports.get("shuffle-smallest", {}).items():
            fair = transports.get("shuffle", {}).get(number_, {})
            if "mean_ns" in run and fair.get("ok") == 1 and "mean_ns" in fair:
                run["mean_of_fair"] = run["mean_ns"] / fair["mean_ns"]


def make_rows(found):
    """The whole report, in the order of measurement."""
    rows = []
    compare_alone(found)
    compare_fair(found)
    keys = list(found)
    for key in keys:
        for transport, runs in found[key].items():
            rows += summarise(key, transport, runs)
        best = best_tcp(rows, key)
        if best and best["transport"].startswith("tcp-"):
            rows += [dict(r, transport="tcp", way=best["transport"], goal=None)
                     for r in list(rows) if (r["case"], r["hosts"], r["mtu"]) == key
                     and r["transport"] == best["transport"]]
    return keys, rows


def compare_mpi(keys, rows):
    """How many times faster than MPI libraries our collectives are; adds rows, returns text."""
    text, factors = [], {}
    for key in keys:
        ours = pick(rows, key, "shuffle", "slowdown")
        for library, ways in MPI.items():
            theirs = best_tcp(rows, key, ways)
            if not theirs or not ours or not ours["median"]:
                continue
            factor = theirs["median"] / ours["median"]
            factors.setdefault((key[1], key[2], library), []).append(factor)
            rows.append(dict(ours, metric=f"faster_than_{library}", median=round(factor, 6),
                             min=round(theirs["min"] / ours["max"], 6),
                             max=round(theirs["max"] / ours["min"], 6), goal=1.0))
            text.append(f"{key[0]:<27}{key[1]:>6}{key[2]:>6}  {library:<9}{number(factor, 2):>7}"
                        f"   goal 1.00 {'reached' if factor >= 1 else 'MISSED'}")
    for (hosts, mtu, library), values in factors.items():
        mean = statistics.geometric_mean(values)
        rows.append({"case": "coll-mean", "hosts": hosts, "mtu": mtu, "lane": LANE,
                     "transport": "shuffle", "metric": f"faster_than_{library}", "unit": "1",
                     "runs": len(values), "median": round(mean, 6), "min": round(min(values), 6),
                     "max": round(max(values), 6), "goal": MPI_MEAN_GOAL})
        verdict = "reached" if mean >= MPI_MEAN_GOAL else "MISSED"
        text.append(f"{'geometric mean':<27}{hosts:>6}{mtu:>6}  {library:<9}{number(mean, 2):>7}"
                    f"   goal {MPI_MEAN_GOAL:.2f} {verdict}")
    return ["Times of MPI libraries / ours:", *text] if text else []


def grant_delay(found, keys, rows):
    """Take the case with its own metric out of the tables; add its ratio to the rows."""
    text = []
    for key in [k for k in keys if k[0] == GRANT_DELAY]:
        keys.remove(key)
        runs = found[key]
        ratios = [r["p99_ns"] / runs["shuffle-noqdisc"][n]["p99_ns"]
                  for n, r in runs.get("shuffle", {}).items()
                  if r.get("ok") == 1 and runs.get("shuffle-noqdisc", {}).get(n, {}).get("ok") == 1]
        if not ratios:
            text.append(f"{GRANT_DELAY}: FAILED")
            continue
        mid = statistics.median(ratios)
        rows.append({"case": key[0], "hosts": key[1], "mtu": key[2], "lane": LANE,
                     "transport": "shuffle", "metric": "p99_grant_delay_ratio", "unit": "1",
                     "runs": len(ratios), "median": round(mid, 6), "min": round(min(ratios), 6),
                     "max": round(max(ratios), 6), "goal": GRANT_DELAY_GOAL})
        with_, without = (median(rows, key, t, "p99_grant_delay")
                          for t in ("shuffle", "shuffle-noqdisc"))
        text.append(f"{key[0]}, {key[1]} hosts, MTU {key[2]}: p99 {with_:.0f} ns with the qdisc, "
                    f"{without:.0f} ns without; ratio {mid:.3f}, goal {GRANT_DELAY_GOAL}: "
                    + ("reached" if mid <= GRANT_DELAY_GOAL else "MISSED"))
    return text


def number(value, digits=3):
    """A figure for the table."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if value < 10 else f"{value:.1f}"


def first_good(found, key, transport):
    """One of the runs that did not fail, or None."""
    return next((r for r in found[key].get(transport, {}).values() if r.get("ok") == 1), None)


def parts(found, key, rows):
    """Where the time of a shuffle goes beyond the bound, as text."""
    run = first_good(found, key, "shuffle")
    slow = median(rows, key, "shuffle")
    payload = run.get("DataBytesOut", 0) - run.get("RetransBytes", 0) if run else 0
    if not payload:
        return ""
    again = run.get("RetransBytes", 0) / payload
    headers = run["data_bytes"] / payload - 1 - again
    control = run["control_bytes"] / payload
    if run["matrix"].startswith("incast"):
        control = 0.0   # nearly all of it goes the other way
    if "flow_share" in run:
        return f"the TCP flow beside has {100 * run['flow_share']:.0f} % of the link"
    rest = slow - 1 - headers - control - again
    return (f"headers {100 * headers:.1f} %, control packets {100 * control:.1f} %, "
            + (f"sent again {100 * again:.1f} %, " if again else "")
            + f"waiting {100 * rest:.1f} %")


def verdicts(rows, key, transport):
    """Of all metrics with a goal: (metric, median, goal, reached)."""
    return [(r["metric"], r["median"], r["goal"], reached(r["metric"], r["median"], r["goal"]))
            for r in rows if (r["case"], r["hosts"], r["mtu"]) == key
            and r["transport"] == transport and r["goal"] is not None
            and r["median"] is not None]


def missed(metric, value, goal):
    """By how much, as text."""
    if metric == "peak_port_queue":
        return f"queue of {value / 1000:.0f} kB instead of {goal / 1000:.0f} kB"
    if metric == "port_drops":
        return f"{value:.0f} packets dropped"
    if metric == "slowdown":
        return f"{100 * (value - goal):.1f} % of the bound too slow"
    if metric == "control_share":
        return f"{100 * value:.1f} % control packets instead of {100 * goal:.1f} %"
    return f"{metric.replace('_', ' ')} {value:.2f} instead of {goal:.2f}"


def make_text(found, keys, rows):
    """The readable table."""
    out = [
        "Slowdown against the lower bound: completion of the last message divided by",
        "(most payload bytes out of or into one host / link rate + one round trip); where",
        "racks share a core, or hosts stop, the bound knows it.  Medians; hosts are network",
        "namespaces of one User-Mode Linux in virtual time: an emulation, not a product",
        "claim.  Goals are for the column shuffle; auto is the same without being told",
        "link rate and round trip; tcp is the best way of TCP, of collectives the faster MPI",
        "library over TCP.",
        "",
        f"{'case':<27}{'hosts':>6}{'MTU':>6}{'goal':>7}{'shuffle':>9}{'spread':>14}  "
        f"{'':<8}{'auto':>7}{'tcp':>8}  best way",
    ]
    notes = []
    for key in keys:
        row = pick(rows, key, "shuffle", "slowdown")
        goal = row["goal"] if row else None
        slow = row["median"] if row else None
        verdict, spread = "", ""
        checks = verdicts(rows, key, "shuffle")
        if slow is not None:
            spread = f"{number(row['min'])}-{number(row['max'])}"
        if checks:
            verdict = "reached" if all(c[3] for c in checks) else "MISSED"
        if row and row["failed"]:
            verdict = f"{row['failed']} FAIL"
        best = best_tcp(rows, key)
        if best and slow is not None and slow > best["median"] and verdict in ("", "reached"):
            verdict += "*"
        out.append(
            f"{key[0]:<27}{key[1]:>6}{key[2]:>6}{number(goal, 2):>7}{number(slow):>9}{spread:>14}  "
            f"{verdict:<8}{number(median(rows, key, 'shuffle-auto')):>7}"
            f"{number(best['median'] if best else None):>8}  "
            f"{best['transport'] if best else '-'}")
        if slow is not None and "+" not in key[0]:
            where = parts(found, key, rows)
            why = "; ".join(["; ".join(missed(*c[:3]) for c in checks if not c[3])
                             or ("reached" if checks else "no goal")]
                            + (["beyond the bound: " + where] if where else []))
            notes.append(f"{key[0]}, {key[1]} hosts, MTU {key[2]}: {why}")
        elif checks:
            notes.append(f"{key[0]}, {key[1]} hosts, MTU {key[2]}: "
                         + ("; ".join(missed(*c[:3]) for c in checks if not c[3]) or "reached"))
        auto = [c for c in verdicts(rows, key, "shuffle-auto") if not c[3]]
        if auto:
            notes.append(f"{key[0]}, {key[1]} hosts, MTU {key[2]}, auto: "
                         + "; ".join(missed(*c[:3]) for c in auto))
    out += ["", "* a TCP way is faster", "",
            f"{'case':<27}{'hosts':>6}{'MTU':>6}  {'transport':<15}{'slowdown':>9}{'spread':>14}"
            f"{'port drops':>11}{'sent again':>11}{'peak queue':>12}{'control':>9}{'failed':>7}"]
    for key in keys:
        for transport in found[key]:
            row = pick(rows, key, transport, "slowdown")
            if row["median"] is None:
                out.append(f"{key[0]:<27}{key[1]:>6}{key[2]:>6}  {transport:<15}{'-':>9}"
                           f"{row['failed']:>64}")
                continue
            begin = (f"{key[0]:<27}{key[1]:>6}{key[2]:>6}  {transport:<15}{number(row['median']):>9}"
                     f"{number(row['min']) + '-' + number(row['max']):>14}")
            if median(rows, key, transport, "port_drops") is None:
                out.append(f"{begin}{row['failed']:>50}")
                continue
            control = median(rows, key, transport, "control_share")
            queue = median(rows, key, transport, "peak_port_queue")
            out.append(
                f"{begin}{median(rows, key, transport, 'port_drops'):>11.0f}"
                f"{100 * median(rows, key, transport, 'retransmitted_share'):>9.2f} %"
                f"{queue / 1000:>9.0f} kB"
                f"{f'{100 * control:.2f} %' if control is not None else '-':>9}"
                f"{row['failed']:>7}")
    return "\n".join(out + ["", "What the time beyond the bound is:"] + notes) + "\n"


def make_svg(keys, rows):
    """One bar per transport, cut off at 3."""
    colours = {"shuffle": "#2166ac", "tcp-all": "#d6604d", "tcp-hadoop5": "#f4a582",
               "tcp-rotation": "#b2182b", "tcp-cold": "#bababa", "tcp-all-fifo": "#878787",
               "tcp-all-dctcp": "#c2a5cf", "tcp-all-nogso": "#9970ab", "shuffle-auto": "#67a9cf"}
    left, unit, step, y = 190, 230, 14, 46
    body = []
    for key in keys:
        ways = [w for w in colours if median(rows, key, w) is not None]
        goal = (pick(rows, key, "shuffle", "slowdown") or {}).get("goal")
        body.append(f'<text x="8" y="{y + 11}" font-weight="bold">{key[0]}</text>'
                    f'<text x="8" y="{y + 25}">{key[1]} hosts, MTU {key[2]}</text>')
        for i, way in enumerate(ways):
            slow = median(rows, key, way)
            width = (min(slow, 3.0) - 0.9) * unit
            label = f"{way} {number(slow)}" + (" (cut off)" if slow > 3 else "")
            body.append(f'<rect x="{left}" y="{y + i * step}" width="{max(width, 1):.1f}" '
                        f'height="{step - 3}" fill="{colours[way]}"/>'
                        f'<text x="{left + max(width, 1) + 4:.1f}" y="{y + i * step + 10}">{label}</text>')
        if goal:
            x = left + (goal - 0.9) * unit
            body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" '
                        f'y2="{y + len(ways) * step}" stroke="#000" stroke-dasharray="3,2"/>')
        y += max(len(ways), 2) * step + 12
    x = left + 0.1 * unit
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{y + 8}" '
            'font-family="sans-serif" font-size="11">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            '<text x="8" y="18" font-size="14">Slowdown against the lower bound (median; dashed: goal; '
            'grey line: 1.0)</text>',
            f'<line x1="{x}" x2="{x}" y1="34" y2="{y}" stroke="#999"/>']
    return "\n".join(head + body + ["</svg>"]) + "\n"


def main():
    """Read, write."""
    if len(sys.argv) != 3:
        sys.exit("usage: report.py RAW FOLDER")
    found = parse(sys.argv[1])
    if not found:
        sys.exit("report.py: no results")
    keys, rows = make_rows(found)
    extra = grant_delay(found, keys, rows) + compare_mpi(keys, rows)
    folder = sys.argv[2]
    write_report(f"{folder}/report.json", rows)
    with open(f"{folder}/report.txt", "w", encoding="utf-8") as f:
        f.write((make_text(found, keys, rows) if keys else "")
                + ("\n" + "\n".join(extra) + "\n" if extra else ""))
    with open(f"{folder}/report.svg", "w", encoding="utf-8") as f:
        f.write(make_svg(keys, rows))


main()
