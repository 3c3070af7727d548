# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts: what the source says as numbers, what was measured, how far apart they may be.

A figure agrees if all its checks hold, in part if some do, and differs if none does.  Nothing
else decides.
"""

USUAL = 0.1	# tolerance, of the source's number, unless a check argues for another


class Check:
    """One number: what it is, the source's, ours, the tolerance; ok: it holds."""

    def __init__(self, what, source, ours, tolerance, ok):
        self.what = what
        self.source = source
        self.ours = ours
        self.tolerance = tolerance
        self.ok = bool(ok)


def text_of(value, unit):
    return ("%.3g %s" % (value, unit)).strip()


def room(tolerance, slack, unit):
    return text_of(slack, unit) if slack else "%g %%" % (100 * tolerance)


def near(what, source, ours, unit="", tolerance=USUAL, slack=0.0):
    """Ours is the source's number; slack: tolerance in the number's own unit."""
    return Check(what, text_of(source, unit), text_of(ours, unit),
                 "+-" + room(tolerance, slack, unit),
                 abs(ours - source) <= (slack or tolerance * abs(source)))


def at_most(what, source, ours, unit="", tolerance=USUAL, slack=0.0):
    return Check(what, "<= " + text_of(source, unit), text_of(ours, unit),
                 "+" + room(tolerance, slack, unit),
                 ours <= source + (slack or tolerance * abs(source)))


def at_least(what, source, ours, unit="", tolerance=USUAL, slack=0.0):
    return Check(what, ">= " + text_of(source, unit), text_of(ours, unit),
                 "-" + room(tolerance, slack, unit),
                 ours >= source - (slack or tolerance * abs(source)))


def between(what, low, high, ours, unit="", tolerance=USUAL):
    return Check(what, "%.3g to %s" % (low, text_of(high, unit)), text_of(ours, unit),
                 "+-%g %%" % (100 * tolerance),
                 low * (1 - tolerance) <= ours <= high * (1 + tolerance))


def more(what, greater, less, unit=""):
    """An order without a number: equal ones do not pass."""
    return Check(what, "more", "%s, %s" % (text_of(greater, unit), text_of(less, unit)), "none",
                 greater > less)


def everywhere(what, good, points, slack=0.0):
    """An order at every point; slack: the part by which it was allowed to be missed."""
    return Check(what, "all", "%d of %d" % (good, points),
                 "-%g %%" % (100 * slack) if slack else "none", good == points)


class Verdict:
    """What was measured, in words, and the checks."""

    def __init__(self, ours, checks=()):
        self.ours = ours
        self.checks = list(checks)

    def agrees(self):
        good = sum(c.ok for c in self.checks)
        if good == len(self.checks):
            return "agrees"
        return "agrees in part" if good else "differs"
