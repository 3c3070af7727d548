# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/evaluation-streams.rst is what the simulator makes: a part of it, again."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "../../../Documentation")
TESTS = ()
