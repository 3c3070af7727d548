#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold what budget.sh has measured against the budget.

usage: budget_report.py check BUDGET RAW UPDATE CASE...
       budget_report.py median RAW
"""
import os
import re
import statistics
import sys

from records import records

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
from tap import Tap, diag  # noqa: E402

NS = {"us": 1e3, "ms": 1e6}
LINE = re.compile(r"(\S+)(\s+)([\d.]+) (us|ms)(\s+)(\d+) %$")


def measured(path):
    """case -> ns of its runs, none if one of them failed; run 0 only makes ready for them"""
    found, failed = {}, set()
    for values in records(path):
        runs = found.setdefault(values["case"], [])
        if values.get("ok") != 1:
            failed.add(values["case"])
        elif values["run"] > 0:
            runs.append(values["completion_ns"])
    return {case: [] if case in failed else runs for case, runs in found.items()}


def read_budget(path):
    """case -> (ns, percent allowed, unit), and the lines of the file"""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    budget = {}
    for line in lines:
        match = LINE.match(line)
        if match:
            name, _, figure, unit, _, percent = match.groups()
            budget[name] = (float(figure) * NS[unit], int(percent), unit)
        elif line and not line.startswith("#"):
            sys.exit(f"{path}: cannot read '{line}'")
    return budget, lines


def show(ns, unit):
    """Four figures at least, and no more than a thousandth."""
    value = ns / NS[unit]
    return f"{value:.{1 if value >= 100 else 2}f} {unit}"


def verdict(name, runs, entry):
    """(is it good, text, is it below what the budget allows for)"""
    if not runs:
        return False, f"{name}: got no result, want a run that ends", False
    got = statistics.median(runs)
    unit = "ms" if got >= 10e6 else "us"
    spread = f"{len(runs)} runs {show(min(runs), unit)} to {show(max(runs), unit)}"
    if not entry:
        return False, f"{name}: got {show(got, unit)}, {spread}; want a line in the budget", False
    want, percent, unit = entry
    over = 100 * (got / want - 1)
    text = f"{name}: got {show(got, unit)}, budget {show(want, unit)}, {over:+.1f} %"
    if over > percent:
        most = show(want * (1 + percent / 100), unit)
        return False, f"{text}; want {most} at most, {percent} % above; {spread}", False
    return True, f"{text} of {percent} allowed; {spread}", over < -percent


def rewrite(path, lines, found, names):
    """Put the medians of these cases into the file."""
    with open(path, "w", encoding="utf-8") as f:
        for line in lines:
            match = LINE.match(line)
            if match and match[1] in names:
                figure = show(statistics.median(found[match[1]]), match[4])
                # the columns stay where they were
                old = f"{match[3]} {match[4]}"
                space = " " * max(len(match[2]) + len(old) - len(figure), 1)
                line = f"{match[1]}{space}{figure}{match[5]}{match[6]} %"
            f.write(line + "\n")


def check(path, raw, update, names):
    """Print TAP; the exit status."""
    budget, lines = read_budget(path)
    found = measured(raw)
    lower = []
    tests = Tap()
    for name in names:
        good, text, below = verdict(name, found.get(name), budget.get(name))
        tests.line(good, f"budget {text}")
        if below:
            lower.append(name)
            got = show(statistics.median(found[name]), budget[name][2])
            diag(f"lower the budget: {name} {got} (make budget UPDATE=1)")
    if update == "all":
        lower = [n for n in names if found.get(n) and n in budget]
    if update and lower:
        rewrite(path, lines, found, lower)
        diag(f"{path}: {', '.join(lower)}")
    return tests.end()


def main():
    """One of two commands."""
    if len(sys.argv) > 5 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
    if len(sys.argv) == 3 and sys.argv[1] == "median":
        runs = [ns for all_runs in measured(sys.argv[2]).values() for ns in all_runs]
        if not runs:
            sys.exit("budget_report.py: no run ended")
        print(f"{statistics.median(runs):.0f} {min(runs):.0f} {max(runs):.0f}")
        return
    sys.exit(__doc__)


main()
