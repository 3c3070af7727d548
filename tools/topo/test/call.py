# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to call shuffle-plan, for its tests."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

from tap import Tap, equal, false, lacks  # noqa: E402


class Plan(Tap):
    """Tests of the program at a path."""

    def __init__(self, plan):
        super().__init__("plan")
        self.plan = plan

    def call(self, options, plan=None):
        """Exit status, standard output, standard error."""
        p = subprocess.run([plan or self.plan] + options.split(), capture_output=True, text=True,
                           timeout=600, check=False)
        lacks(p.stderr, "Sanitizer", "p.stderr")
        lacks(p.stderr, "runtime error", "p.stderr")
        return p.returncode, p.stdout, p.stderr

    def good(self, options, plan=None):
        """Standard output of what must work without a word."""
        status, out, err = self.call(options, plan)
        equal(status, 0, "%s: status %d: %s" % (options, status, err))
        false(err, "%s: status %d: %s" % (options, status, err))
        return out

    def json(self, options, plan=None):
        return json.loads(self.good(options + " --json -", plan))

    def file(self, text, name="input"):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path
