# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to call shuffle-sim, for its tests."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

from tap import Tap, equal, false, true  # noqa: E402


class Sim(Tap):
    """Tests of the program at a path."""

    def __init__(self, sim):
        super().__init__("sim")
        self.sim = sim

    def call(self, options):
        """Exit status, standard output, standard error."""
        p = subprocess.run([self.sim] + options.split(), capture_output=True, text=True,
                           timeout=1200, check=False)
        return p.returncode, p.stdout, p.stderr

    def matrix(self, rows, name="matrix.csv"):
        """A file with a matrix of packets."""
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            for row in rows:
                f.write(",".join(str(v * 1500) for v in row) + "\n")
        return path

    def run(self, options, rows=None):
        """Results as a list: a dictionary for each curve and skewness."""
        if rows is not None:
            options = "--matrix %s %s" % (self.matrix(rows), options)
        status, out, err = self.call("--json - --all " + options)
        equal(status, 0, "%s: status %d: %s" % (options, status, err))
        false(err, "err")
        return json.loads(out)

    def one(self, options, rows=None):
        """Medians of the only result."""
        (result,) = self.run(options, rows)
        true(result["ended"], "%s: it ends" % options)
        return {k: v["p50"] if isinstance(v, dict) else v for k, v in result.items()}
