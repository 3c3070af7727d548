#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of shuffle-plan, as TAP.

usage: check.py PLAN-WITH-SANITIZERS PLAN TESTS-OF-PORTABLE-FILES
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

import document  # noqa: E402
import errors  # noqa: E402
import failures  # noqa: E402
import golden  # noqa: E402
import mend  # noqa: E402
import outputs  # noqa: E402
import props  # noqa: E402
import tables  # noqa: E402
from call import Plan  # noqa: E402


def main():
    tap = Plan(sys.argv[1])
    tap.program([sys.argv[3]], "tests of portable files end")
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
