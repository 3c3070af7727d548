#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the table of cases and print what is wanted, one line a row of the report.

usage: cases.py TABLE [REGEX]       GROUP NAME MATRIX HOSTS MTU GOAL RACK CASE
       cases.py TABLE --groups      the groups, how many rows each has

The regular expression has to match the beginning of the group, the name, or name, hosts
and MTU ("uniform-24k-40-1500"); without one the group "default" is meant.  RACK
and CASE are options as words joined by commas.  Rows of one rack are together.
"""
import itertools
import re
import sys

RACK = {"rate": "25", "rtt": "4", "loss": "0", "racks": "1", "core": "100", "nic": "0",
        "prio": "1"}
CASE = {"overcommit": "10", "window": "pro-rata", "order": "fair", "unsched": "0",
        "stop": "0", "flows": "0", "beside": "", "late": "0", "cold": "0",
        "coll": "", "load": "", "ways": ""}


def fail(number, what):
    """The table is wrong."""
    sys.exit(f"cases.py: line {number}: {what}")


def expand(number, line):
    """All rows of one line."""
    words = line.split()
    if len(words) < 6:
        fail(number, "GROUP NAME MATRIX HOSTS MTUS GOAL [OPTION=VALUE ...]")
    group, name, matrices, hosts, mtus, goal = words[:6]
    lists = {"matrix": matrices.split(","), "hosts": hosts.split(","), "mtu": mtus.split(",")}
    for word in words[6:]:
        key, _, value = word.partition("=")
        if key not in RACK and key not in CASE:
            fail(number, f"unknown option {key}")
        lists[key] = value.split(",")
    for values in itertools.product(*lists.values()):
        row = {**RACK, **CASE, **dict(zip(lists, values))}
        row.update(group=group, goal=goal, name=name.format(**row))
        yield row


def read(path):
    """All rows of the table."""
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.strip() and not line.startswith("#"):
                yield from expand(number, line)


def wanted(row, regex):
    """Does the user mean this row?"""
    if not regex:
        return row["group"] == "default"
    return any(re.match(regex, text) for text in (
        row["group"], row["name"], f"{row['name']}-{row['hosts']}-{row['mtu']}"))


def main():
    """Print."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rows = list(read(sys.argv[1]))
    regex = sys.argv[2] if len(sys.argv) > 2 else ""
    if regex == "--groups":
        for group in dict.fromkeys(r["group"] for r in rows):
            mine = [r for r in rows if r["group"] == group]
            racks = {tuple(r[k] for k in (*RACK, "hosts", "mtu")) for r in mine}
            names = list(dict.fromkeys(r["name"] for r in mine))
            more = "" if len(names) < 6 else f" ... ({len(names)})"
            print(f"{group:<11} {len(mine):>3} rows, {len(racks):>2} racks: "
                  f"{' '.join(names[:5])}{more}")
        return
    if regex == "all":
        regex = "."
    try:
        rows = [r for r in rows if wanted(r, regex)]
    except re.error as error:
        sys.exit(f"cases.py: {regex}: {error}")
    if not rows:
        sys.exit(f"cases.py: no case matches '{regex}'; 'list' shows the groups")
    racks = {}
    for row in rows:
        rack = ",".join(f"{k}={row[k]}" for k in RACK)
        key = (row["group"] == "qdisc", int(row["hosts"]), int(row["mtu"]), rack)
        racks.setdefault(key, []).append(row)
    for (_, hosts, mtu, rack), mine in racks.items():
        for row in mine:
            case = ",".join(f"{k}={row[k]}" for k in CASE)
            print(row["group"], row["name"], row["matrix"], hosts, mtu, row["goal"], rack, case)


main()
