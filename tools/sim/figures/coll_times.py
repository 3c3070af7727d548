# SPDX-License-Identifier: GPL-2.0-or-later
"""How long plans take in four racks of ten: shuffle-sim --bytes, and beside it what the module
took, as Documentation/networking/collectives.rst has it.
"""

import os
import re

import coll_source as source

K, R = 10, 4
HOSTS = K * R
# that of tools/bench/rack.sh with an MTU of 9000
RACK = "--core 0.25 --packet 9000 --burst 9100"
MIB = 1 << 20
RTT = 4.0
MEASURED = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../../Documentation/networking/collectives.rst")

# how a row of the measured table is told apart: kind, bytes of a member's block or of a vector
CASES = {
    "barrier": ("barrier", 1), "reduce, 8 B": ("reduce", 8), "gather, 8 B": ("gather", 8),
    "all-gather, 24 B": ("all-gather", 24), "all-gather, 24 kB": ("all-gather", 24000),
    "all-reduce, 8 B": ("all-reduce", 8), "all-reduce, 1 KiB": ("all-reduce", 1024),
    "all-reduce, 8 KiB": ("all-reduce", 8192), "all-reduce, 1 MiB": ("all-reduce", MIB),
    "broadcast, 8 B": ("broadcast", 8), "broadcast, 1 MiB": ("broadcast", MIB),
    "reduce, 1 MiB": ("reduce", MIB),
}
# of spread, as libshuffle chooses them
SEGMENTS = {"all-reduce, 8 KiB": 1, "all-reduce, 1 MiB": 4, "broadcast, 1 MiB": 24,
            "reduce, 1 MiB": 24}
FOUND = re.compile(r"(\d+\.\d+)  ?(cool-p-p|cool-b-r|doubling|tree|gathered|flat|spread|ring)"
                   r"(?:, k = (\d+))?")


def bound(kind, size):
    """Of tools/bench/coll_bench.c, in us."""
    us = size * 8 / 25e3
    if kind == "barrier":
        return RTT
    if kind in ("broadcast", "reduce"):
        return us + RTT if size > 1500 else RTT / 2
    if kind in ("gather", "all-gather"):
        return us * (HOSTS - 1) + RTT
    return 2 * us * (HOSTS - 1) / HOSTS + RTT if size > 1500 else RTT


def measured():
    """(case, pattern, radix, us) of each time, but for spread without racks, another plan."""
    with open(MEASURED, encoding="utf-8") as f:
        text = f.read().split("CASE=coll-racks``")[1].split("::\n\n")[1].split("\n\n")[0]
    rows = []
    for line in text.splitlines()[1:]:
        case = re.split(r"\s{2,}", line.strip())[0]
        kind, size = CASES[case]
        found, seen = FOUND.findall(line), set()
        for slow, pattern, radix in found:
            if pattern not in seen:
                rows.append((case, pattern, int(radix or SEGMENTS.get(case, 2)),
                             float(slow) * bound(kind, size)))
            seen.add(pattern)
    return rows


def us(costs, kind, pattern, radix, size, net):
    options = "%s --pattern %s --radix %d --bytes %d %s" % (kind, pattern, max(radix, 2), size,
                                                            net)
    return costs.all_of(K, R, 0, options)[kind, pattern]["us"]


def beside(costs, table):
    """Text, and differences in percent of short and of long data."""
    lines, short, long = [], [], []
    for case, pattern, radix, was in measured():
        kind, size = CASES[case]
        if radix < 2:
            continue    # shuffle-sim has two segments at least
        total = size * HOSTS if kind in ("gather", "all-gather") else size
        ours = us(costs, kind, pattern, radix, total, RACK)
        more = round(100 * (was / ours - 1))
        (short if size <= 24 else long).append(more)
        lines.append([case, pattern, radix, "%.2f" % ours, "%.2f" % was, "%+d %%" % more])
    head = ["Case", "Pattern", "Radix", "Computed", "Module", "Difference"]
    return table(head, lines), short, long


def every(costs, table):
    lines = []
    for row in source.ROWS:
        if row.word == "Bruck":
            continue
        lines.append([row.kind, row.word] + [
            "%.2f" % us(costs, row.kind, row.pattern, 2, size, core)
            for size, core in ((8, ""), (MIB, ""), (MIB, "--core 0.25"))])
    return table(["Operation", "Pattern", "8 B", "1 MiB", "1 MiB, core 25 %"], lines), lines


def fastest(lines, column):
    """In how many operations COOL is the fastest of the source's patterns, and of how many."""
    kinds = sorted({line[0] for line in lines})
    best = [min((float(line[column]), line[1]) for line in lines if line[0] == kind)[1]
            for kind in kinds]
    return sum(word.startswith("COOL") for word in best), len(kinds)


def chapter(costs, forms):
    out = forms.title("How long they take", "=")
    text, lines = every(costs, forms.table)
    short, long = fastest(lines, 2), fastest(lines, 4)
    out += forms.wrap("The source counts steps, not time, and not bytes. ``shuffle-sim --plan all "
                      "--hosts 40 --racks 4 --bytes 8``, in microseconds: four racks of ten, 25 "
                      "Gb/s, a round trip of 4 us in a rack and 8 between racks, packets of 1500 "
                      "bytes; hosts take no time, and a multicast is sent as copies. A vector has "
                      "that many bytes; where each member has some, all have as many together. "
                      "COOL is the fastest pattern of %d of %d operations with 8 bytes, and of %d "
                      "with 1 MiB and a core of 25 %%, for a leader's link carries all."
                      % (*short, long[0])) + text
    text, near, far = beside(costs, forms.table)
    out += forms.title("Beside the module", "-")
    out += forms.wrap("What the module took in virtual time in racks of ten "
                      "(`networking/collectives.rst <networking/collectives.rst>`__, ``make bench CASE=coll-racks``), and "
                      "what is computed for that network: ``%s``. *Radix*: segments, of spread. Up "
                      "to 24 bytes of each member they differ by %+d to %+d %%, with more by %+d "
                      "to %+d %%. The module has headers of 82 bytes and ACKs, announces and "
                      "grants long messages, and messages of a step share a link, which go one "
                      "behind the other here; how much each of these costs was not measured."
                      % (RACK, min(near), max(near), min(far), max(far))) + text
    return out
