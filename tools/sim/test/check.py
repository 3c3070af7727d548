#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of shuffle-sim, as TAP.

usage: check.py SIM-WITH-SANITIZERS SIM SUITES-OF-THE-SCHEDULE
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

import again  # noqa: E402
import costs  # noqa: E402
import drawings  # noqa: E402
import errors  # noqa: E402
import hand  # noqa: E402
import medians  # noqa: E402
import plans  # noqa: E402
import props  # noqa: E402
import verdicts  # noqa: E402
from call import Sim  # noqa: E402
from tap import above, equal, false  # noqa: E402


def tables(_, suites):
    """KUnit's tables, on the objects of the schedule that the simulator is linked with."""
    p = subprocess.run([suites], capture_output=True, text=True, timeout=1200, check=False)
    bad = [line for line in p.stdout.splitlines() if line.startswith("not ok")]
    false(bad, p.stderr + "cases that fail")
    equal(p.returncode, 0, p.stderr + "status")
    above(p.stdout.count("\nok "), 100, "cases")


def main():
    tap = Sim(sys.argv[1])
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
