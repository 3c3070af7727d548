#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The longest times for which the module keeps bottom halves from running.

usage: bh_off.py [-n LINES] SYMBOLS <TRACE

SYMBOLS is /proc/kallsyms; TRACE is of the function tracer, with the functions that
bh_off_guest.sh names and with the events softirq_entry and softirq_exit.  Prints, longest
first, a line for each kind of section: where it begins, times in us.

  process    from spin_lock_bh() or local_bh_disable() to the end, in a process
  function   from the call of a function that runs in a softirq to the next such call, or to
             the end of the softirq: what the network stack does in between is counted, too
"""
import argparse
import collections
import re
import sys

LINE = re.compile(r"\s*.+-\d+\s+\[(\d+)\]\s+\S+\s+([0-9.]+): (\S+?):? (.*)")
LOCK, UNLOCK, ENABLE = "_raw_spin_lock_bh", "_raw_spin_unlock_bh", "__local_bh_enable_ip"
IN_SOFTIRQ = {"shuffle_input_packet", "timer_fires", "egress_run"}
FLUSH = "shuffle_output_flush"


def our_symbols(path):
    """Functions of the module."""
    with open(path, encoding="ascii") as f:
        return {line.split()[2] for line in f if line.rstrip().endswith("[shuffle]")}


class Cpu:
    """Sections that are open on one CPU."""

    def __init__(self, spans):
        self.spans = spans
        self.softirq = False
        self.depth = 0
        self.begin = None
        self.call = None

    def close_call(self, now):
        """The softirq's current function has ended."""
        if self.call:
            self.spans["function " + self.call[1]].append(now - self.call[0])
        self.call = None

    def process(self, now, step, name):
        """A section of a process begins (step 1) or ends (-1)."""
        if self.depth == 0 and step > 0:
            self.begin = (now, name)
        self.depth = max(self.depth + step, 0)
        if self.depth == 0 and self.begin and step < 0:
            self.spans["process " + self.begin[1]].append(now - self.begin[0])
            self.begin = None

    def event(self, now, name, rest, ours):
        """One line of the trace."""
        caller = rest[2:].strip() if rest.startswith("<-") else ""
        if name == "softirq_entry":
            self.softirq = True
        elif name == "softirq_exit":
            self.close_call(now)
            self.softirq = False
        elif self.softirq:
            if name in IN_SOFTIRQ:
                self.close_call(now)
                self.call = (now, name)
        elif name == LOCK and caller in ours:
            self.process(now, 1, caller)
        elif name == UNLOCK and caller in ours:
            self.process(now, -1, caller)
        elif name == FLUSH:
            self.process(now, 1, FLUSH)
        elif name == ENABLE and caller == FLUSH:
            self.process(now, -1, FLUSH)


def main():
    """Read, sort, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=12, metavar="LINES")
    parser.add_argument("symbols")
    args = parser.parse_args()
    ours = our_symbols(args.symbols)
    spans = collections.defaultdict(list)
    cpus = {}
    for line in sys.stdin:
        found = LINE.match(line)
        if found:
            cpu, now, name, rest = found.groups()
            cpu = cpus.setdefault(cpu, Cpu(spans))
            cpu.event(float(now) * 1e6, name, rest, ours)
    for where, times in sorted(spans.items(), key=lambda item: -max(item[1]))[:args.n]:
        times.sort()
        kind, name = where.split()
        print(f"kind={kind} begins={name} times={len(times)} max_us={times[-1]:.0f} "
              f"p99_us={times[len(times) * 99 // 100]:.0f} median_us={times[len(times) // 2]:.0f}")


main()
