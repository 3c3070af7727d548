#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn the BENCH lines of the benchmark into report.json, report.txt and report.svg.

usage: report.py RAW FOLDER
"""
import json
import statistics
import sys

LANE = "uml-time"
TCP_WAYS = ("tcp-all", "tcp-hadoop5", "tcp-rotation", "tcp-cold", "tcp-all-fifo",
            "tcp-pairwise", "tcp-hadoop5-fifo", "tcp-rotation-fifo")

# case, hosts: goal at MTU 1500, at MTU 9000
GOALS = {
    ("uniform-256k", 8): {1500: 1.10, 9000: 1.06},
    ("uniform-256k", 40): {1500: 1.10, 9000: 1.06},
    ("uniform-24k", 40): {1500: 1.10, 9000: 1.06},
    ("skew50-24k", 40): {1500: 1.15, 9000: 1.12},
    ("incast-256k", 40): {1500: 1.08, 9000: 1.04},
}
ORDER = list(GOALS)


def parse(path):
    """All runs: (case, hosts, mtu) -> transport -> run -> values."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            values = {}
            for word in line.split()[1:]:
                key, _, value = word.partition("=")
                try:
                    values[key] = float(value)
                except ValueError:
                    values[key] = value
            key = (values["case"], int(values["hosts"]), int(values["mtu"]))
            runs = found.setdefault(key, {}).setdefault(values["transport"], {})
            # A failed run is announced twice: by the program and by the script.
            if "slowdown" in values or "p99_ns" in values or int(values["run"]) not in runs:
                runs[int(values["run"])] = values
    return found


GRANT_DELAY = "qdisc-grant-delay"
GRANT_DELAY_GOAL = 0.2     # of the p99 without the qdisc


def metrics(run):
    """The figures of one good run: metric -> (unit, value)."""
    if run["case"] == GRANT_DELAY:
        return {"p99_grant_delay": ("ns", run["p99_ns"]), "p50_grant_delay": ("ns", run["p50_ns"]),
                "max_grant_delay": ("ns", run["max_ns"]), "grants_lost": ("packets", run["lost"])}
    payload = (run["data_bytes"] + run["control_bytes"]) or 1
    out = {
        "slowdown": ("1", run["slowdown"]),
        "completion": ("ns", run["completion_ns"]),
        "port_drops": ("packets", run["port_drops"]),
        "host_drops": ("packets", run["host_drops"]),
        "peak_port_queue": ("B", run["peak_queue"]),
        "wire_bytes": ("B", payload),
    }
    if run["transport"].startswith("shuffle"):
        out["control_share"] = ("1", run["control_bytes"] / payload)
        out["retransmitted_share"] = (
            "1", run.get("RetransBytes", 0) / (run.get("DataBytesOut", 0) or 1))
    else:
        out["retransmitted_share"] = (
            "1", run.get("retrans_bytes", 0) / (run.get("sent_bytes", 0) or 1))
    return out


def summarise(key, transport, runs, goal):
    """Rows of the report for one case and transport."""
    good = [r for r in runs.values() if r.get("ok") == 1]
    failed = len(runs) - len(good)
    base = {"case": key[0], "hosts": key[1], "mtu": key[2], "lane": LANE,
            "transport": transport}
    rows = []
    if not good:
        return [dict(base, metric="slowdown", unit="1", runs=0, median=None, min=None,
                     max=None, goal=goal, failed=failed)]
    figures = [metrics(r) for r in good]
    for metric, (unit, _) in figures[0].items():
        values = [f[metric][1] for f in figures]
        row = dict(base, metric=metric, unit=unit, runs=len(values),
                   median=round(statistics.median(values), 6),
                   min=round(min(values), 6), max=round(max(values), 6),
                   goal=goal if metric == "slowdown" else None)
        if metric == "slowdown":
            row["failed"] = failed
        if metric == "port_drops" and transport == "shuffle" and key[0].startswith("incast"):
            row["goal"] = 0
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


def best_tcp(rows, key):
    """The TCP way with the smallest median among those that never failed."""
    ways = [pick(rows, key, w, "slowdown") for w in TCP_WAYS]
    ways = [w for w in ways if w and w["median"] is not None and not w["failed"]]
    return min(ways, key=lambda w: w["median"]) if ways else None


def make_rows(found):
    """The whole report, in the order of the issue's table."""
    rows = []
    keys = sorted(found, key=lambda k: (ORDER.index(k[:2]) if k[:2] in ORDER else 99, k))
    for key in keys:
        goal = GOALS.get(key[:2], {}).get(key[2])
        for transport, runs in found[key].items():
            rows += summarise(key, transport, runs, goal if transport == "shuffle" else None)
        best = best_tcp(rows, key)
        if best:
            rows += [dict(r, transport="tcp", way=best["transport"]) for r in list(rows)
                     if (r["case"], r["hosts"], r["mtu"]) == key
                     and r["transport"] == best["transport"]]
    return keys, rows


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


def parts(found, key, rows):
    """Where the time of a shuffle goes beyond the bound, as text."""
    run = next((r for r in found[key].get("shuffle", {}).values() if r.get("ok") == 1), None)
    slow = median(rows, key, "shuffle")
    payload = run.get("DataBytesOut", 0) if run else 0
    if not payload:
        return ""
    headers = run["data_bytes"] / payload - 1
    control = run["control_bytes"] / payload
    if key[0].startswith("incast"):
        control = 0.0   # nearly all of it goes the other way
    rest = slow - 1 - headers - control
    return (f"headers {100 * headers:.1f} %, control packets {100 * control:.1f} %, "
            f"waiting {100 * rest:.1f} %")


def make_text(found, keys, rows):
    """The readable table."""
    out = [
        "Slowdown against the lower bound: completion of the last message divided by",
        "(most payload bytes out of or into one host / 25 Gb/s + one 4 us round trip).",
        "Medians; hosts are network namespaces of one User-Mode Linux in virtual time:",
        "an emulation, not a product claim.  Goals are for the column shuffle; auto is",
        "the same without being told link rate and round trip.  TCP: warm connections",
        "(but cold) and fq in the hosts; all-fifo: all at once with FIFOs there.",
        "",
        f"{'case':<13}{'hosts':>6}{'MTU':>6}{'goal':>7}{'shuffle':>9}{'spread':>15}  "
        f"{'':<7}{'auto':>7}{'tcp':>8}  {'best way':<13}{'all':>7}{'hadoop5':>9}"
        f"{'rotation':>10}{'cold':>7}{'all-fifo':>10}",
    ]
    notes = []
    for key in keys:
        row = pick(rows, key, "shuffle", "slowdown")
        goal = row["goal"] if row else None
        slow = row["median"] if row else None
        verdict, spread = "", ""
        if slow is not None:
            spread = f"{number(row['min'])}-{number(row['max'])}"
            if goal:
                verdict = "reached" if slow <= goal else "MISSED"
        if row and row["failed"]:
            verdict = f"{row['failed']} FAIL"
        best = best_tcp(rows, key)
        out.append(
            f"{key[0]:<13}{key[1]:>6}{key[2]:>6}{number(goal, 2):>7}{number(slow):>9}{spread:>15}  "
            f"{verdict:<7}{number(median(rows, key, 'shuffle-auto')):>7}"
            f"{number(best['median'] if best else None):>8}  "
            f"{best['transport'] if best else '-':<13}"
            f"{number(median(rows, key, 'tcp-all')):>7}"
            f"{number(median(rows, key, 'tcp-hadoop5')):>9}"
            f"{number(median(rows, key, 'tcp-rotation')):>10}"
            f"{number(median(rows, key, 'tcp-cold')):>7}"
            f"{number(median(rows, key, 'tcp-all-fifo')):>10}")
        if goal and slow is not None:
            why = parts(found, key, rows)
            notes.append(f"{key[0]}, {key[1]} hosts, MTU {key[2]}: {verdict}"
                         + (f"; beyond the bound: {why}" if why else ""))
    out += ["", f"{'case':<13}{'hosts':>6}{'MTU':>6}  {'transport':<14}{'port drops':>11}"
            f"{'host drops':>11}{'retransmitted':>15}{'peak queue':>12}{'control':>9}{'failed':>8}"]
    for key in keys:
        for transport in found[key]:
            if median(rows, key, transport) is None:
                continue
            control = median(rows, key, transport, "control_share")
            queue = median(rows, key, transport, "peak_port_queue")
            out.append(
                f"{key[0]:<13}{key[1]:>6}{key[2]:>6}  {transport:<14}"
                f"{median(rows, key, transport, 'port_drops'):>11.0f}"
                f"{median(rows, key, transport, 'host_drops'):>11.0f}"
                f"{100 * median(rows, key, transport, 'retransmitted_share'):>13.2f} %"
                f"{queue / 1000:>9.0f} kB"
                f"{f'{100 * control:.2f} %' if control is not None else '-':>9}"
                f"{pick(rows, key, transport, 'slowdown')['failed']:>8}")
    return "\n".join(out + ["", "What the time beyond the bound is:"] + notes) + "\n"


def make_svg(keys, rows):
    """One bar per transport, cut off at 3."""
    colours = {"shuffle": "#2166ac", "tcp-all": "#d6604d", "tcp-hadoop5": "#f4a582",
               "tcp-rotation": "#b2182b", "tcp-cold": "#bababa", "tcp-all-fifo": "#878787"}
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
    extra = grant_delay(found, keys, rows)
    folder = sys.argv[2]
    with open(f"{folder}/report.json", "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    with open(f"{folder}/report.txt", "w", encoding="utf-8") as f:
        f.write((make_text(found, keys, rows) if keys else "")
                + ("\n" + "\n".join(extra) + "\n" if extra else ""))
    with open(f"{folder}/report.svg", "w", encoding="utf-8") as f:
        f.write(make_svg(keys, rows))


main()
