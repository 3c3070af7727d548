# SPDX-License-Identifier: GPL-2.0-or-later
"""What Guo et al. say, and why what is measured here differs where it does."""

TOLERANCE = 0.15

# The source's words, options of shuffle-plan.
METHODS = {
    "srs": "SRS",
    "irs": "incast (IRS)",
    "kmb": "Steiner",
    "unicast": "unicast",
}

# Mean savings against none, per cent: figure, method.
SAVINGS = {
    ("4a", "srs"): 32.87, ("4a", "irs"): 32.69, ("4a", "kmb"): 28.76, ("4a", "unicast"): 17.64,
    ("5a", "srs"): 55.33, ("5a", "irs"): 55.29, ("5a", "kmb"): 44.89, ("5a", "unicast"): 34.46,
}

# Figure 6: members of a side: mean saving of SRS for delta from 0 to 1, per cent.
FACTOR = {250: 28.78, 1000: 45.05}

# Table 1: traffic of 60 x 60 in BCube(6,k).
TABLE_1_K = (2, 3, 4, 5, 6, 7)
TABLE_1 = {
    "srs": (8544, 12250, 20102, 25608, 30806, 37754),
    "irs": (8730, 12298, 20098, 25606, 30806, 37754),
}

# Table 2: bits of a filter in BCube(6,k); the first is "less than 19".
TABLE_2 = {2: 19, 3: 19, 4: 38, 5: 58, 6: 79, 7: 102}
# For an expectation of a millionth instead of one, by the same formula.
MILLIONTH = {2: 173, 3: 249, 4: 325, 5: 403, 6: 482, 7: 562}

CHAIN = """A Steiner tree is a chain of members, most of which have data and one child. If such
a server merges its own data with its child's, as IRS's do in the source's figures 2(c) and 3(b),
the tree costs twice its hops, and these are no more than the minimum spanning tree's, which no
choice of the algorithm can change: the source's traffic is above that bound. By the text of its
section 4.1 a server waits for its children only; a chain then carries everything to its end, and
the column *children only* is what that costs. The order of the methods in the source is that of
this column. What a Steiner tree really pays is depth."""

AVERAGE = """The source does not say how it averages. Its mean is more than what is measured
here for the largest shuffle alone. Of all traffic together, where large shuffles count as much as
they carry, the saving is within its tolerance."""

PATHS = AVERAGE + """ Paths by BCube's own routing, from a random digit downwards (*rotate*), meet
more often than any shortest paths do, and are nearer to the source's."""

FACTOR_WHY = """Of the figure only the means are in the text, and its captions are not: the sizes
are those of figure 7. If delta is 1 nothing is gained and a move inside a stage costs two links, so
the saving there is below zero; a mean as large as the source's needs savings that hardly fall
until delta is near 1, which its own formula does not give in trees of this shape, where few flows
meet at most servers."""

WHY = {
    ("4a", "kmb"): CHAIN,
    ("5a", "kmb"): CHAIN,
    ("5a", "srs"): AVERAGE,
    ("5a", "irs"): AVERAGE,
    ("5a", "unicast"): PATHS,
    ("6", 250): FACTOR_WHY,
    ("6", 1000): FACTOR_WHY,
}

FILTERS_WHY = """The formula sums stages 1 to k - 1; a packet between servers all of whose digits
differ begins at stage k + 1 and asks for one link less than its stage at every server, so that
k (k + 1) / 2 links can be wrong, not k (k - 1) / 2; and hashes are whole numbers."""


def agrees(measured, source):
    return abs(measured / source - 1) <= TOLERANCE
