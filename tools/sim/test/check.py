#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of shuffle-sim, as TAP.

usage: check.py SIM-WITH-SANITIZERS SIM SUITES-OF-THE-SCHEDULE
"""

import subprocess
import sys

import again
import costs
import drawings
import errors
import hand
import medians
import plans
import props
import verdicts
from tap import Tap


def tables(_, suites):
    """KUnit's tables, on the objects of the schedule that the simulator is linked with."""
    p = subprocess.run([suites], capture_output=True, text=True, timeout=1200, check=False)
    bad = [line for line in p.stdout.splitlines() if line.startswith("not ok")]
    assert not bad and p.returncode == 0, "\n".join(bad) + p.stderr
    assert p.stdout.count("\nok ") > 100, "too few cases"


def main():
    tap = Tap(sys.argv[1])
    tap.test("the module's tables of its schedule", tables, sys.argv[3])
    hand.add(tap)
    props.add(tap)
    errors.add(tap)
    plans.add(tap)
    verdicts.add(tap)
    drawings.add(tap)
    again.add(tap, sys.argv[2])
    costs.add(tap, sys.argv[2])
    medians.add(tap, sys.argv[2])
    return tap.end()


sys.exit(main())
