# SPDX-License-Identifier: GPL-2.0-or-later
"""What AlSader, "Optimizing MPI Collective Operations for Cloud Deployments", says that
collectives cost: tables 4.2 to 4.5, what its text says otherwise, and why ours differ.

Formulas are expressions of k members of a rack, r racks, N = k r, and the binary logarithms LN,
Lk and Lr, rounded up.  A multicast is one message.
"""

import functools

# name in shuffle-sim's JSON: title, short one, table of the source
METRICS = {
    "steps": ("Steps", "steps", "4.2"),
    "cross_steps": ("Steps between racks", "cross steps", "4.2"),
    "messages": ("Messages", "messages", "4.3"),
    "cross_messages": ("Messages between racks", "cross messages", "4.3"),
    "links": ("Packets on links", "links", "4.4"),
    "cross_links": ("Packets on core links", "core links", "4.4"),
    "leader_load": ("Load of a leader", "leader", "4.5"),
    "other_load": ("Load of another member", "other", "4.5"),
}

# members of a rack, racks
SIZES = [(2, 2), (4, 2), (2, 4), (4, 4), (32, 32)]
# of Bruck's pattern itself: our doubling goes in pairs where N is a power of two
ODD_SIZES = [(2, 3), (4, 3), (32, 31)]


class Row:
    """An operation by a pattern: name of both in shuffle-sim, the source's word for the
    pattern, formulas in order of METRICS; why: metric, or None for the rest of those that
    differ, and the reason.
    """

    def __init__(self, kind, pattern, word, formulas, why=None, sizes=None):
        self.kind = kind
        self.pattern = pattern
        self.word = word
        self.formulas = dict(zip(METRICS, formulas))
        self.why = why or {}
        self.sizes = sizes or SIZES
        assert len(formulas) == len(METRICS), kind + " " + pattern

    def root(self, k):
        """COOL's is not the leader of its rack; that of a tree is the first member."""
        return k + k // 2 if self.pattern == "cool-p-p" else 0


def to_root(core_links):
    return ["3", "1", "N", "r - 1", "2*N + 2*r - 2", core_links, "max(r - 1, k - 1)", "1"]


TREE = ["LN", "Lr", "N - 1", "r - 1", "2*N + 2*r - 4", "2*r - 2", "1", "1"]
TO_ALL = ["3", "1", "N - r + r + r", "r", "3*N + 2*r**2 - 2*r", "r**2", "max(r, k - 1)", "1"]
RING = ["N - 1", "N - 1", "N*(N - 1)", "r*(N - 1)", "2*(N + r)*(N - 1)", "2*r*(N - 1)", "2", "2"]
DOUBLING = ["LN", "Lr", "N*LN", "N*Lr", "2*N*LN + 2*N*Lr", "2*N*Lr", "2", "2"]
BRUCK = ["LN", "LN", "N*LN", "N*Lr + N - r", "2*N*LN + 2*N*Lr + 2*N - 2*r",
         "2*N*Lr + 2*N - 2*r", "2", "2"]

PRINTED = {"cross_links": "Section 4.3.7 derives 2 r - 2, and each of r - 1 messages crosses 2 "
                          "core links; the table has 2 r - 1."}
TWICE = {None: "The module's ring combines a part of the vector at each member, and then gathers "
               "the parts: twice as many messages, each of 1/N of the vector. The source's "
               "gathers all vectors, as all-gather's ring does."}
PAIRS = {None: "Where N is a power of two the module's doubling goes in pairs, so that an ACK goes "
               "with the next message; that is recursive doubling, which crosses racks less."}

ROWS = [
    Row("reduce", "cool-p-p", "COOL-P-P", to_root("2*r - 1"), PRINTED),
    Row("reduce", "tree", "binomial tree", TREE),
    Row("reduce", "rabenseifner", "Rabenseifner",
        ["2*LN", "2*Lr", "N*LN + N - 1", "N*Lr + r - 1", "2*N*LN + 2*N*Lr + 2*N + 2*r - 4",
         "2*N*Lr + 2*r - 2", "2", "2"]),
    Row("all-reduce", "cool-p-p", "COOL-P-P", TO_ALL),
    Row("all-reduce", "cool-b-r", "COOL-B-R",
        ["LN + 1", "Lr", "N - r + r*Lr + r", "r*Lr", "3*N + 4*r*Lr - 2*r", "2*r*Lr", "2", "1"]),
    Row("all-reduce", "ring", "ring", RING, TWICE),
    Row("all-reduce", "doubling", "doubling", DOUBLING),
    Row("all-reduce", "rabenseifner", "Rabenseifner",
        ["2*LN", "2*Lr", "2*N*LN", "2*N*Lr", "4*N*LN + 4*N*Lr", "4*N*Lr", "2", "2"]),
    Row("gather", "cool-p-p", "COOL-P-P", to_root("2*r - 1"), PRINTED),
    Row("gather", "tree", "binomial tree", TREE),
    Row("all-gather", "cool-p-p", "COOL-P-P", TO_ALL),
    Row("all-gather", "ring", "ring", RING),
    Row("all-gather", "doubling", "doubling", DOUBLING),
    Row("all-gather", "doubling", "Bruck", BRUCK, PAIRS),
    Row("broadcast", "cool-p-p", "COOL-P-P",
        ["3", "1", "1 + 1 + r", "1", "N + 2*r + 2", "r", "1", "1"]),
    Row("broadcast", "tree", "binomial tree", TREE),
    Row("scatter", "cool-p-p", "COOL-P-P", to_root("2*r - 2")),
    Row("scatter", "tree", "binomial tree", TREE),
]

ODD_ROWS = [Row("all-gather", "doubling", "Bruck", BRUCK, sizes=ODD_SIZES)]

# Where the source says two things: place, row, metric, formula there, and in its tables.
CONTRADICTIONS = [
    ("4.3.7", "reduce", "COOL-P-P", "cross_links", "2*r - 2", "2*r - 1"),
    ("4.3.5", "reduce", "Rabenseifner", "cross_messages", "N*Lr + N - r", "N*Lr + r - 1"),
    ("4.3.5", "reduce", "Rabenseifner", "links", "2*N*LN + 2*N*Lr + 4*N - 2*r - 2",
     "2*N*LN + 2*N*Lr + 2*N + 2*r - 4"),
    ("4.3.5", "reduce", "Rabenseifner", "cross_links", "2*N*Lr + 2*N - 2*r",
     "2*N*Lr + 2*r - 2"),
    ("2.3.4", "reduce", "Rabenseifner", "messages", "N + N*LN", "N*LN + N - 1"),
    # steps that cross racks: distances above k, where it is k and more
    ("4.3.3", "all-reduce", "doubling", "cross_steps", "Lr - 1", "Lr"),
    # leaders are said to be done after log N steps
    ("4.3.10", "all-reduce", "COOL-B-R", "steps", "Lk + LN + 1", "LN + 1"),
    # no more than r - 1 messages between racks, for all operations
    ("4.4.2", "all-reduce", "COOL-P-P", "cross_messages", "r - 1", "r"),
    # the least number of messages is N, for broadcast too
    ("4.4.2", "broadcast", "COOL-P-P", "messages", "N", "1 + 1 + r"),
]


def log2_up(n):
    return (n - 1).bit_length()


def value(formula, k, r):
    names = {"k": k, "r": r, "N": k * r, "LN": log2_up(k * r), "Lk": log2_up(k), "Lr": log2_up(r),
             "max": max, "__builtins__": {}}
    return eval(formula, names)  # pylint: disable=eval-used


def shown(formula):
    """As in the document."""
    return formula.replace("**2", "\u00b2").replace("*", " ")


def binomial_far_first(k, r):
    """Messages between racks of a binomial gather in the order of the source's text, the far half
    of the ranks first, where ranks are counted rack by rack.
    """
    n, cross = k * r, 0
    for i in range(1, log2_up(n) + 1):
        half = n >> i
        cross += sum(p // k != (p - half) // k for p in range(half, 2 * half))
    return cross


@functools.lru_cache(maxsize=None)
def bruck(k, r):
    """Costs of Bruck's pattern by its rule, message by message, in order of METRICS."""
    n, steps, across, messages, cross, load, d = k * r, 0, 0, 0, 0, 0, 1
    while d < n:
        sent = [(p, (p + d) % n) for p in range(n)]
        ends = [p for message in sent for p in message]
        crossing = sum(a // k != b // k for a, b in sent)
        steps += 1
        across += crossing > 0
        messages += len(sent)
        cross += crossing
        load = max(load, len(ends) // n)
        d *= 2
    return (steps, across, messages, cross, 2 * messages + 2 * cross, 2 * cross, load, load)
