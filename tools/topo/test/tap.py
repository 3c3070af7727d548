# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for the tests of shuffle-plan, and ways to call it."""

import json
import os
import shutil
import subprocess
import tempfile


class Tap:
    def __init__(self, plan, first=0):
        self.plan = plan
        self.n = first
        self.bad = 0
        self.dir = tempfile.mkdtemp(prefix="shuffle-plan-")

    def test(self, name, function, *args):
        self.n += 1
        try:
            function(self, *args)
            print("ok %d - plan: %s" % (self.n, name), flush=True)
        except (AssertionError, subprocess.SubprocessError, ValueError, OSError, KeyError) as e:
            self.bad += 1
            for line in (str(e) or repr(e)).splitlines():
                print("# " + line)
            print("not ok %d - plan: %s" % (self.n, name), flush=True)

    def end(self):
        shutil.rmtree(self.dir)
        print("1..%d" % self.n)
        return 1 if self.bad else 0

    def call(self, options, plan=None):
        """Exit status, standard output, standard error."""
        p = subprocess.run([plan or self.plan] + options.split(), capture_output=True, text=True,
                           timeout=600, check=False)
        assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr
        return p.returncode, p.stdout, p.stderr

    def good(self, options, plan=None):
        """Standard output of what must work without a word."""
        status, out, err = self.call(options, plan)
        assert status == 0 and not err, "%s: status %d: %s" % (options, status, err)
        return out

    def json(self, options, plan=None):
        return json.loads(self.good(options + " --json -", plan))

    def file(self, text, name="input"):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


def equal(got, want, what):
    assert got == want, "%s: got %r, want %r" % (what, got, want)


def near(got, want, what):
    assert abs(got - want) <= 1e-6 * max(1, abs(want)), "%s: got %r, want %r" % (what, got, want)


def within(got, low, high, what):
    assert low <= got <= high, "%s: got %r, want %r to %r" % (what, got, low, high)
