# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of results: "BENCH case=NAME hosts=N ...", as the guest scripts print them; and the
rows of report.json, which three reports write."""
import json
import os


def records(path):
    """The values of each line, as a dictionary; what is a number is a float."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("BENCH "):
                continue
            values = {}
            for word in line.split()[1:]:
                key, _, value = word.partition("=")
                try:
                    values[key] = float(value)
                except ValueError:
                    values[key] = value
            yield values


def add(found, values):
    """The runs of its case and transport; found: (case, hosts, mtu) -> transport -> run -> values."""
    key = (values["case"], int(values["hosts"]), int(values["mtu"]))
    return found.setdefault(key, {}).setdefault(values["transport"], {})


def good_runs(path):
    """All good runs: (case, hosts, mtu) -> transport -> run -> values."""
    found = {}
    for values in records(path):
        runs = add(found, values)
        if values.get("ok") == 1:
            runs[int(values["run"])] = values
    return found


def reached(metric, value, goal):
    """Has a metric reached its goal?  Shares of a link, numbers of records, speed-ups and how many
    times faster we are ought to be large, all else small.  None where there is nothing to compare."""
    if value is None or goal is None:
        return None
    if metric == "control_share":
        return value <= goal
    if metric.endswith("share") or metric.startswith(("ratio_to", "packets_ratio_to", "faster_than",
                                                       "records", "speedup")):
        return value >= goal
    return value <= goal


def write_report(path, rows, others=lambda row: False):
    """Write report.json; of the rows that are there already those stay that others() names."""
    old = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            old = [r for r in json.load(f) if others(r)]
    rows = old + [{**r, "reached": reached(r["metric"], r["median"], r["goal"])} for r in rows]
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def publish(folder, name, rows, text):
    """Rows of the cases NAME-... in report.json, beside those of others; report-NAME.txt; print it."""
    write_report(os.path.join(folder, "report.json"), rows,
                 lambda r: r["case"] != name and not r["case"].startswith(name + "-"))
    with open(os.path.join(folder, f"report-{name}.txt"), "w", encoding="utf-8") as f:
        f.write(text)
    print(text, end="")
