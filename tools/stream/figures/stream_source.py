# SPDX-License-Identifier: GPL-2.0-or-later
"""What Salem et al. measured, and why something differs."""

TOLERANCE = 0.15

# Figure 7: per cent of the libfabric benchmark; nodes: with schedule, without.
FIGURE_7 = {128: (80.0, 53.0), 192: (62.5, 45.0), 384: (67.0, 44.0)}

# Figure 6: the gap is shorter by this factor, at least.
FIGURE_6 = 30.0

# Figure 9: buffers with schedule, per cent.
FIGURE_9 = 10.0

NETWORK = """In the source all schedules share a network whose links inside are contended for, with
adaptive routing and other jobs beside, and hosts that spend time on every message of a few bytes.
Here the links of hosts are the only ones, so both schedules are nearer to the benchmark."""

FLOOR = """With staggered rounds the pieces of a time-slice are spread over a round: its
gap cannot be less than a round without one step. Without a schedule the ring bounds it: no input is
more than 16 rounds of a builder ahead of another one, and a round takes half as long again. So
about 25 is the most that is possible with these rings; how the source comes to 30 to 45 is not in
its text."""

WHY = {
    ("7", "dfs", 128): NETWORK,
    ("7", "dfs", 192): NETWORK,
    ("7", "dfs", 384): NETWORK,
    ("7", "none", 128): NETWORK,
    ("7", "none", 192): NETWORK,
    ("7", "none", 384): NETWORK,
    ("6", 128): FLOOR,
    ("6", 192): FLOOR,
    ("6", 384): FLOOR,
}


def agrees(measured, source):
    return abs(measured / source - 1) <= TOLERANCE
