# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for all test programs in Python.

A test is a function that raises where something is not as expected; equal() and the others
below say what was got and what was wanted.
"""

import shutil
import subprocess
import tempfile
import traceback

SHOWN = 600     # characters of a value, at most
# What may go wrong in a test; anything else is a mistake in the test itself, and shown as such.
WRONG = (AssertionError, subprocess.SubprocessError, ValueError, OSError, LookupError)


def diag(text):
    """Lines that begin with "# "; a test's stand before its own line."""
    for line in str(text).splitlines():
        print(line if line.startswith("# ") else "# " + line, flush=True)


class Tap:
    """Tests that count.  "dir" is a folder for all of them, which end() takes away."""

    def __init__(self, prefix=None):
        self.prefix = prefix
        self.count = 0
        self.failed = 0
        self.dir = tempfile.mkdtemp(prefix="shuffle-test-")

    def line(self, good, name):
        """A test's line, for those that run in a way of their own."""
        self.count += 1
        self.failed += not good
        print("%sok %d - %s%s" % ("" if good else "not ", self.count,
                                  self.prefix + ": " if self.prefix else "", name), flush=True)

    def run_test(self, name, function, *args):
        """One test: function(*args)."""
        try:
            function(*args)
        except WRONG as e:
            diag(str(e) or place(e))
            self.line(False, name)
        except Exception:   # pylint: disable=broad-except
            diag(traceback.format_exc())
            self.line(False, name)
        else:
            self.line(True, name)

    def test(self, name, function, *args):
        """One test: function(self, *args)."""
        self.run_test(name, function, self, *args)

    def program(self, command, what):
        """A program whose tests are the next ones here: its lines, counted."""
        p = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
        lines = p.stdout.splitlines()
        print("\n".join(line for line in lines if not line.startswith("1..")), flush=True)
        n = len([line for line in lines if line.startswith(("ok ", "not ok "))])
        bad = len([line for line in lines if line.startswith("not ok ")])
        self.count += n
        self.failed += bad
        plan = lines[-1] if lines else ""
        if p.returncode != (bad > 0) or not n or plan != "1..%d" % n:
            diag("got status %d, %d tests of which %d failed, and '%s' at the end, want 1..%d\n%s"
                 % (p.returncode, n, bad, plan, n, p.stderr))
            self.line(False, what)

    def end(self):
        """The plan.  Returns the exit status."""
        shutil.rmtree(self.dir)
        print("1..%d" % self.count, flush=True)
        return 1 if self.failed else 0


def place(e):
    """Of an assertion that says nothing: its line."""
    last = traceback.extract_tb(e.__traceback__)[-1]
    return "%s:%d: %r: %s" % (last.filename.rsplit("/", 1)[-1], last.lineno, e, last.line)


def show(value):
    """A value, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def fail(text):
    """The test ends here."""
    raise AssertionError(text)


def wrong(what, got, wanted):
    """The test ends here: "wanted" is a text."""
    fail("%s: got %s, want %s" % (what, show(got), wanted))


def true(got, what):
    """What is not empty, zero or None."""
    if not got:
        wrong(what, got, "something")


def false(got, what):
    """What is empty, zero or None."""
    if got:
        wrong(what, got, "nothing")


def equal(got, wanted, what):
    """The same value."""
    if got == wanted:
        return
    if isinstance(got, str) and isinstance(wanted, str):
        # of long texts the first lines that differ
        lines = got.splitlines(), wanted.splitlines()
        for i, (a, b) in enumerate(zip(*lines)):
            if a != b:
                wrong("%s: line %d" % (what, i + 1), a, show(b))
        if min(map(len, lines)) > 1:
            wrong("%s: lines" % what, len(lines[0]), len(lines[1]))
    wrong(what, got, show(wanted))


def differs(got, other, what):
    """Another value."""
    if got == other:
        wrong(what, got, "anything else")


def near(got, wanted, what, part=1e-6, least=1e-12):
    """Within a part of it."""
    if not abs(got - wanted) <= part * abs(wanted) + least:
        wrong(what, got, "%r +- %g" % (wanted, part * abs(wanted) + least))


def within(got, low, high, what):
    """Both ends allowed."""
    if not low <= got <= high:
        wrong(what, got, "%r to %r" % (low, high))


def at_most(got, most, what):
    """That or less."""
    if not got <= most:
        wrong(what, got, "%r at most" % (most,))


def at_least(got, least, what):
    """That or more."""
    if not got >= least:
        wrong(what, got, "%r at least" % (least,))


def below(got, limit, what):
    """Less than that."""
    if not got < limit:
        wrong(what, got, "less than %r" % (limit,))


def above(got, limit, what):
    """More than that."""
    if not got > limit:
        wrong(what, got, "more than %r" % (limit,))


def has(got, part, what):
    """A text that is in it, or a member."""
    if part not in got:
        wrong(what, got, "%s in it" % show(part))


def lacks(got, part, what):
    """A text that is not in it, or no member."""
    if part in got:
        wrong(what, got, "no %s in it" % show(part))


def starts(got, head, what):
    """A text, or bytes, that begins so."""
    if not got.startswith(head):
        wrong(what, got, "%s first" % show(head))
