# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of some sets are drawn again; all else in the document stays as it is."""

import os
import shutil
import subprocess
import sys
import tempfile

from tap import equal, has

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "../figures/figures.py")
DOCUMENTATION = os.path.join(HERE, "../../../Documentation")
VERDICTS = os.path.join(HERE, "verdicts")
DRAWN = "fig-3.10.csv"


def content(*path):
    with open(os.path.join(*path), encoding="utf-8", newline="") as f:
        return f.read()


def replaced(path, *pairs):
    text = content(path)
    for old, new in pairs:
        has(text, old, "%s: no %r" % (path, old))
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


class Copy:
    """A copy of the document, its figures and medians."""

    def __init__(self, sim):
        self.sim = sim
        self.dir = tempfile.mkdtemp(prefix="shuffle-again-")
        self.document = os.path.join(self.dir, "evaluation.rst")
        self.figures = os.path.join(self.dir, "figures")
        self.medians = os.path.join(self.dir, "medians")

    def __enter__(self):
        shutil.copy(os.path.join(DOCUMENTATION, "evaluation.rst"), self.document)
        shutil.copytree(os.path.join(DOCUMENTATION, "figures"), self.figures)
        shutil.copytree(VERDICTS, self.medians)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)

    def files(self, skip=()):
        return {(d, n): content(self.dir, d, n) for d in ("figures", "medians")
                for n in os.listdir(os.path.join(self.dir, d)) if n not in skip}

    def run(self, *options):
        p = subprocess.run([sys.executable, "-B", PROGRAM, "--sim", self.sim,
                            "--raw", os.path.join(self.dir, "raw"), "--medians", self.medians,
                            "--figures", self.figures, "--document", self.document]
                           + list(options), capture_output=True, text=True, timeout=600,
                           check=False)
        return p.returncode, p.stderr


def as_made(_, sim):
    """The document is what its head, its program and its data make."""
    with Copy(sim) as c:
        before = c.files()
        equal(c.run("--keep"), (0, ""), "status and errors")
        equal(content(c.document), content(DOCUMENTATION, "evaluation.rst"),
              "the document")
        equal(c.files(), before, "a figure or median has changed")


def one_set(_, sim):
    """The rows and the section of figure 3.10 are made again; what else was changed stays so."""
    others = (("Announcing every message changes", "Announcing none changes"),
              ("MADD, least                                25 Gb/s     24.8 Gb/s",
               "MADD, least                                25 Gb/s     24.7 Gb/s"),
              ("Hadoop-1000's time in that of Hadoop-10    1           0.946",
               "Hadoop-1000's time in that of Hadoop-10    1           0.947"))
    mine = (("pro rata 1.050, 3.14 1.009", "pro rata 1.051, 3.14 1.010"),
            ("as it is                                   1.33        1.34",
             "as it is                                   1.33        1.35"))
    with Copy(sim) as c:
        replaced(c.document, *others)
        want = content(c.document)
        replaced(c.document, *mine)
        before = c.files()
        for d in (c.figures, c.medians):
            replaced(os.path.join(d, DRAWN), ("1", "2"))
        status, err = c.run("--sets", "fig-3.10")
        equal(status, 0, err)
        equal(content(c.document), want, "the document")
        equal(c.files(), before, "a figure or median is not what it was")


def several(_):
    """What a figure of a set needs beside it is asked for before anything is simulated."""
    for sets, needed in (("beyond-core", "beyond-ideal beyond-preempt"),
                         ("rand-40", "time-rand-005 time-rand-025 time-rand-050"),
                         ("no-such-set", "no set: no-such-set")):
        with Copy("/no/such/program") as c:
            status, err = c.run("--sets", sets)
            equal(status, 1, "%s: status %d: %s" % (sets, status, err))
            has(err, needed, "%s: status %d: %s" % (sets, status, err))
            equal(content(c.document), content(DOCUMENTATION, "evaluation.rst"), "the document")


def add(tap, sim):
    tap.test("the evaluation is what its data make", as_made, sim)
    tap.test("figures of one set alone are made again", one_set, sim)
    tap.test("sets that a figure needs, too", several)
