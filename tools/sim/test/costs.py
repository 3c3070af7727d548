# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/evaluation-collectives.rst: verdicts are those of the plans, and can change."""

import copy
import os
import stat
import subprocess
import sys

from tap import equal, has

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = os.path.join(HERE, "../figures")
DOCUMENTATION = os.path.join(HERE, "../../../Documentation")
sys.path.insert(0, FIGURES)

import coll_claims  # noqa: E402 pylint: disable=wrong-import-position
import coll_source  # noqa: E402 pylint: disable=wrong-import-position
import collectives  # noqa: E402 pylint: disable=wrong-import-position

# Prints what the simulator does, but for one number.
WRONG = """#!/usr/bin/env python3
import json, subprocess, sys
p = json.loads(subprocess.run([%r] + sys.argv[1:], check=True, capture_output=True).stdout)
for plan in p["plans"]:
    if p["hosts"] == 8 and p["racks"] == 4 and (plan["kind"], plan["pattern"]) == (%r, %r):
        plan[%r] += %d
print(json.dumps(p))
"""


def kept(name):
    with open(os.path.join(DOCUMENTATION, name), encoding="utf-8", newline="") as f:
        return f.read()


def explained(cells):
    try:
        collectives.check(cells)
    except collectives.Unexplained:
        return False
    return True


def is_current(_, costs, cells):
    equal(collectives.document(costs, cells), kept("evaluation-collectives.rst"),
          "not what 'make figures-coll' writes")
    equal(collectives.values(cells), kept("figures/coll-costs.csv"), "nor its values")


def every_number(_, cells):
    """Change each of them: its verdict must, and so must that of its row and metric."""
    agree = 0
    for cell in cells:
        row = [c for c in cells if c.row == cell.row]
        mine = [c for c in row if c.metric == cell.metric]
        was, right = collectives.verdict([cell]), cell.measured
        equal(was, "agrees" if cell.measured == cell.source else "differs", "verdict")
        what = "%s by %s, %s, %d x %d" % (cell.row.kind, cell.row.word, cell.metric, *cell.size)
        if was == "agrees":
            agree += 1
            for wrong in (right + 1, right - 1):
                cell.measured = wrong
                equal(collectives.verdict([cell]), "differs", what)
                equal(collectives.verdict(mine), "differs", what)
                equal(explained(row), cell.why is not None, what + ": a reason")
        else:
            cell.measured = cell.source
            equal(collectives.verdict([cell]), "agrees", what)
        cell.measured = right
    equal((len(cells), agree), (720, 660), "numbers, and those that agree")


def needless_reasons(_, cells):
    """A reason for what does not differ is refused."""
    for row in (row for row in coll_source.ROWS if row.why):
        mine = [copy.copy(c) for c in cells if c.row == row]
        assert explained(mine), row.word
        for c in mine:
            c.measured = c.source
        assert not explained(mine), "%s by %s: a needless reason" % (row.kind, row.word)


def two_formulas(_, cells):
    """The text's number instead of the table's, or the other way round, turns both verdicts."""
    want = collectives.contradictions(cells)
    for place, kind, word, metric, text, printed in coll_source.CONTRADICTIONS:
        changed = [copy.copy(c) for c in cells]
        mine = [c for c in changed if (c.row.kind, c.row.word, c.metric) == (kind, word, metric)]
        for c in mine:
            now = printed if c.measured == coll_source.value(text, *c.size) else text
            c.measured = coll_source.value(now, *c.size)
        got = collectives.contradictions(changed)
        equal(sum(a != b for a, b in zip(want, got)), 2, "%s: verdicts that turn" % place)
        mine[0].measured += 1000
        try:
            collectives.contradictions(changed)
        except collectives.Unexplained:
            continue
        raise AssertionError("%s: neither formula holds, and nothing is said" % place)


def conclusions(_, costs, cells):
    """One that agrees, one that does in part: with other numbers they do not."""
    def verdicts(cells):
        return [coll_claims.VERDICTS[c.agrees] for c in coll_claims.claims(costs, cells)]

    def changed(metric, change):
        new = [copy.copy(c) for c in cells]
        for c in new:
            if c.row.word == "COOL-P-P" and c.metric == metric:
                c.measured = change(c.measured)
        return verdicts(new)

    part, whole = "agrees in part", "agrees"
    equal(verdicts(cells), [whole, part, part, part, part, part, whole, part], "verdicts")
    equal(changed("steps", lambda n: n + 1)[0], "differs", "three steps")
    equal(changed("steps", lambda n: 1)[1], "agrees", "latency")
    equal(changed("messages", lambda n: 2 * n)[2], "differs", "messages")
    equal(changed("cross_messages", lambda n: 1)[3], "agrees", "messages between racks")
    equal(changed("links", lambda n: 9 * n)[4], "differs", "load")
    equal(changed("links", lambda n: 9 * n)[5], "differs", "broadcast")
    equal(changed("leader_load", lambda n: n + 2)[6], "differs", "leaders")


def wrong_simulator(tap, right, kind, pattern, metric, more, says):
    """The whole program, with a simulator that has one number wrong."""
    sim = os.path.join(tap.dir, "wrong-sim")
    document = os.path.join(tap.dir, "wrong.rst")
    with open(sim, "w", encoding="utf-8") as f:
        f.write(WRONG % (os.path.abspath(right), kind, pattern, metric, more))
    os.chmod(sim, stat.S_IRWXU)
    p = subprocess.run([sys.executable, "-B", os.path.join(FIGURES, "collectives.py"), "--sim", sim,
                        "--figures", tap.dir, "--document", document],
                       capture_output=True, text=True, timeout=600, check=False)
    equal(p.returncode, 1, "exit status, " + p.stderr)
    has(p.stderr, says, "%r not in %r" % (says, p.stderr))
    assert not os.path.exists(document), "a document is written"


def add(tap, sim):
    costs = collectives.Costs(sim)
    cells = collectives.measure(costs, coll_source.ROWS)
    tap.test("the evaluation of collectives is up to date", is_current, costs, cells)
    tap.test("each number of it can turn its verdict", every_number, cells)
    tap.test("its reasons are needed", needless_reasons, cells)
    tap.test("its verdicts on what the source says twice turn", two_formulas, cells)
    tap.test("its verdicts on conclusions turn", conclusions, costs, cells)
    tap.test("it is not made of a wrong number", wrong_simulator, sim, "all-reduce", "cool-p-p",
             "cross_links", -1, "all-reduce by COOL-P-P, 2 x 4, cross_links: measured 15, the "
             "source has 16, and no reason is known")
