#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of shuffle-plan, as TAP.

usage: check.py PLAN-WITH-SANITIZERS PLAN TESTS-OF-PORTABLE-FILES
"""

import subprocess
import sys

import document
import errors
import failures
import golden
import mend
import outputs
import props
import tables
from tap import Tap


def portable(program):
    """Of the portable files, in C: how many tests, and whether any failed."""
    p = subprocess.run([program], capture_output=True, text=True, timeout=600, check=False)
    lines = p.stdout.splitlines()
    print("\n".join(line for line in lines if not line.startswith("1..")), flush=True)
    n = len([line for line in lines if line.startswith(("ok ", "not ok "))])
    if p.returncode or not n or lines[-1] != "1..%d" % n:
        n += 1
        print("not ok %d - plan: tests of portable files end\n# %s" % (n, p.stderr))
        return n, 1
    return n, 0


def main():
    n, bad = portable(sys.argv[3])
    tap = Tap(sys.argv[1], n)
    tap.bad = bad
    golden.add(tap)
    props.add(tap, sys.argv[2])
    tables.add(tap)
    errors.add(tap)
    failures.add(tap)
    mend.add(tap)
    outputs.add(tap, sys.argv[2])
    document.add(tap, sys.argv[2])
    return tap.end()


sys.exit(main())
