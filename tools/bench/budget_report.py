#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold what budget.sh has measured against the budget.

A boot is a file of results.  Medians of one boot differ from those of another; where there are
several, their middle counts.

usage: budget_report.py check BUDGET UPDATE BOOTS CASE...
       budget_report.py above BUDGET BOOT CASE...    names of cases that are measured again
       budget_report.py median BOOT

  BOOTS  files, as one word with blanks
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


class Case:
    """What has been measured of a case, beside its line of the budget."""

    def __init__(self, name, boots, entry):
        """boots: what measured() found in each; one that has none of the case did not measure it"""
        self.name = name
        self.failed = any(found.get(name) == [] for found in boots)
        self.boots = [found[name] for found in boots if found.get(name)]
        self.entry = entry
        self.medians = [statistics.median(runs) for runs in self.boots]
        self.got = statistics.median(self.medians) if self.medians else None

    def over(self):
        """Percent above the budget."""
        return 100 * (self.got / self.entry[0] - 1)

    def above(self):
        """Does the case cost more than it may?  None if nobody knows."""
        if self.failed or not self.medians or not self.entry:
            return None
        return self.over() > self.entry[1]

    def below(self):
        """Does the case cost so much less that the budget is to be lowered?"""
        return self.above() is False and self.over() < -self.entry[1]

    def text(self):
        """Got and want."""
        name = self.name
        if self.failed or not self.medians:
            return f"{name}: got no result, want a run that ends"
        unit = "ms" if self.got >= 10e6 else "us"
        runs = [ns for boot in self.boots for ns in boot]
        spread = f"{len(runs)} runs {show(min(runs), unit)} to {show(max(runs), unit)}"
        if len(self.medians) > 1:
            spread += ", boots " + ", ".join(show(m, unit) for m in self.medians)
        if not self.entry:
            return f"{name}: got {show(self.got, unit)}, {spread}; want a line in the budget"
        want, percent, unit = self.entry
        text = f"{name}: got {show(self.got, unit)}, budget {show(want, unit)}, {self.over():+.1f} %"
        if self.above():
            most = show(want * (1 + percent / 100), unit)
            return f"{text}; want {most} at most, {percent} % above; {spread}"
        return f"{text} of {percent} allowed; {spread}"


def rewrite(path, lines, got):
    """Put what was got into the file: case -> ns."""
    with open(path, "w", encoding="utf-8") as f:
        for line in lines:
            match = LINE.match(line)
            if match and match[1] in got:
                figure = show(got[match[1]], match[4])
                # the columns stay where they were
                old = f"{match[3]} {match[4]}"
                space = " " * max(len(match[2]) + len(old) - len(figure), 1)
                line = f"{match[1]}{space}{figure}{match[5]}{match[6]} %"
            f.write(line + "\n")


def check(path, update, boots, names):
    """Print TAP; the exit status."""
    budget, lines = read_budget(path)
    found = [measured(boot) for boot in boots]
    cases = [Case(name, found, budget.get(name)) for name in names]
    tests = Tap()
    for case in cases:
        tests.line(case.above() is False, f"budget {case.text()}")
        if case.below():
            diag(f"lower the budget: {case.name} {show(case.got, case.entry[2])} "
                 "(make budget UPDATE=1)")
    if update:
        got = {c.name: c.got for c in cases
               if c.below() or (update == "all" and c.above() is not None)}
        if got:
            rewrite(path, lines, got)
            diag(f"{path}: {', '.join(got)}")
    return tests.end()


def above(path, boot, names):
    """Print the cases that cost more than they may."""
    budget, _ = read_budget(path)
    found = [measured(boot)]
    for name in names:
        if Case(name, found, budget.get(name)).above():
            print(name)


def main():
    """One of three commands."""
    if len(sys.argv) > 5 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2], sys.argv[3], sys.argv[4].split(), sys.argv[5:]))
    if len(sys.argv) > 4 and sys.argv[1] == "above":
        above(sys.argv[2], sys.argv[3], sys.argv[4:])
        return
    if len(sys.argv) == 3 and sys.argv[1] == "median":
        runs = [ns for all_runs in measured(sys.argv[2]).values() for ns in all_runs]
        if not runs:
            sys.exit("budget_report.py: no run ended")
        print(f"{statistics.median(runs):.0f} {min(runs):.0f} {max(runs):.0f}")
        return
    sys.exit(__doc__)


main()
