# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for the tests of shuffle-sim, and one way to call it."""

import json
import os
import subprocess
import tempfile


class Tap:
    def __init__(self, sim):
        self.sim = sim
        self.n = 0
        self.bad = 0
        self.dir = tempfile.mkdtemp(prefix="shuffle-sim-")

    def test(self, name, function, *args):
        self.n += 1
        try:
            function(self, *args)
            print("ok %d - sim: %s" % (self.n, name), flush=True)
        except (AssertionError, subprocess.SubprocessError, ValueError, OSError, KeyError) as e:
            self.bad += 1
            for line in str(e).splitlines():
                print("# " + line)
            print("not ok %d - sim: %s" % (self.n, name), flush=True)

    def end(self):
        for name in os.listdir(self.dir):
            os.unlink(os.path.join(self.dir, name))
        os.rmdir(self.dir)
        print("1..%d" % self.n)
        return 1 if self.bad else 0

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
        assert status == 0, "%s: status %d: %s" % (options, status, err)
        assert not err, err
        return json.loads(out)

    def one(self, options, rows=None):
        """Medians of the only result."""
        (result,) = self.run(options, rows)
        assert result["ended"], options
        return {k: v["p50"] if isinstance(v, dict) else v for k, v in result.items()}


def equal(got, want, what):
    assert got == want, "%s: got %r, want %r" % (what, got, want)


def within(got, low, high, what):
    assert low <= got <= high, "%s: got %r, want %r to %r" % (what, got, low, high)
